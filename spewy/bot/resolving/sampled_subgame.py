"""A subgame of one betting round, which the bot re-solves by sampling the cards of later rounds."""

from __future__ import annotations

import hashlib

from spewy.bot.resolving.resolve import Limits
from spewy.bot.resolving.sampled import sample
from spewy.bot.resolving.solution import Solution
from spewy.bot.resolving.subgame import Subgame
from spewy.errors import InputError
from spewy.game.betting import Betting

LATER_BOARDS = 48
"""Number of boards that the estimated size of a sampled solve assumes; the time bank divides time by sizes."""


class SampledSubgame(Subgame):
    """A betting round that is re-solved for both players by sampling the cards of later rounds (`resolving.sampled`).

    The bot plays its strategy in this round only; when the next cards come, a new subgame begins. The strategy is not
    compared with the blueprint, since best responses would take as long as an exact solve.
    """

    ends_with_round = True

    @property
    def size(self) -> int:
        """Estimated size of the solve as a number of strategy entries, by which the time bank divides time."""
        return self._builder.n_actions(self.root) * self._builder.n_hands * LATER_BOARDS

    def covers(self, betting: Betting) -> bool:
        """Whether the hand is still in the subgame's round, and the tree has a decision after the hand's betting."""
        return betting.round == self.root.round and super().covers(betting)

    def _solve(self, player: int) -> Solution:
        """Solve the round for both players at once; ``player`` makes no difference."""
        options, abstraction = self._options, self._context.blueprint.abstraction
        if abstraction is None:
            raise InputError("sampled subgame: the stored strategy has no board buckets")
        assert self.ranges is not None
        limits = Limits(options.deals, self._context.budget.deadline, options.n_threads)
        text = f"{self._context.seed} {self.begun} {self.board}"
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
        return sample(self._builder, abstraction, self.root, self.board, self.ranges, seed, limits, self.kept)

    def _solved_for(self, player: int) -> int:
        """Return 0, the player in the cache key of a solve that serves both players."""
        return 0

    def _is_comparable(self, player: int) -> bool:
        """Return False: the strategy is played without a comparison with the blueprint."""
        return False
