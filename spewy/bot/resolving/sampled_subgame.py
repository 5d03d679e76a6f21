"""A betting round of a hand that is re-solved by sampling the later rounds."""

from __future__ import annotations

import hashlib

from spewy.bot.resolving.resolve import Limits
from spewy.bot.resolving.sampled import sample
from spewy.bot.resolving.solution import Solution
from spewy.bot.resolving.subgame import Subgame
from spewy.errors import InputError
from spewy.game.betting import Betting

LATER_BOARDS = 48
"""Number of boards of each later round that a sampled solve counts as, when the time of a match is divided."""


class SampledSubgame(Subgame):
    """A betting round that is re-solved for both players by sampling the cards of later rounds (`resolving.sampled`).

    The bot plays its strategy in this round only; when the next cards come, a new subgame begins. The strategy is not
    compared with the blueprint, since best responses would take as long as an exact solve.
    """

    ends_with_round = True

    @property
    def size(self) -> int:
        """Number of strategy entries that the solve counts as in the division of time."""
        return self._builder.n_actions(self.root) * self._builder.n_hands * LATER_BOARDS

    def covers(self, betting: Betting) -> bool:
        """Whether the subgame's round has a decision after a betting of the hand."""
        return betting.round == self.root.round and super().covers(betting)

    def _solve(self, player: int) -> Solution:
        """Solve the round for both players, whichever player is to be re-solved."""
        options, abstraction = self._options, self._context.blueprint.abstraction
        if abstraction is None:
            raise InputError("sampled subgame: the stored strategy has no board buckets")
        assert self.ranges is not None
        limits = Limits(options.deals, self._context.budget.deadline, options.threads)
        text = f"{self._context.seed} {self.begun} {self.board}"
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
        return sample(self._builder, abstraction, self.root, self.board, self.ranges, seed, limits, self.kept)

    def _solved_for(self, player: int) -> int:
        """Return 0, since the solve is one for both players."""
        return 0

    def _is_comparable(self, player: int) -> bool:
        """Return False: the strategy is played without a comparison with the blueprint."""
        return False
