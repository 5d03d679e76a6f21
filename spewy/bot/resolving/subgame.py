"""Subgames of one hand, which the bot solves when it needs them and compares with the blueprint.

A `Subgame` is solved exactly, to the end of the hand. A `QuickSubgame` or `SampledSubgame` is one betting round alone,
solved with few bets on later rounds, or by sampling their cards. All give a `Solution`. The subgames of a hand share a
`HandContext`.

A safe solve needs the opponent's best-response values against the strategy that the bot would play without the solve.
This is the strategy of the enclosing re-solved subgame, or the blueprint. If bets were translated, the blueprint's
subgame may have another pot; its values are then scaled.

**The bot does not play a worse strategy.** After few iterations a re-solved strategy can be far worse than the
blueprint. So after fewer than `TRUSTED` iterations the bot computes best responses of the opponent's estimated range to
both strategies, and plays the re-solved strategy only if it does not lose more than the blueprint.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lockers import LockerError
from solvers.tree import Floats
from spewy.bot.bet_translation import legal_actions
from spewy.bot.bot import Answer
from spewy.bot.options import Options
from spewy.bot.resolving.budget import Budget, OutOfTimeError
from spewy.bot.resolving.builder import FEWEST, FEWEST_DEALS, PlayerStrategy, Root, SubgameBuilder, add_chips
from spewy.bot.resolving.preflop import PreflopSolver, rounded
from spewy.bot.resolving.resolve import (
    Limits,
    Resolved,
    Safety,
    Start,
    best_responses,
    resolve,
    resolve_round,
    round_ranges,
)
from spewy.bot.resolving.sampled import sample
from spewy.bot.resolving.translation import Blueprint, KnownStrategy, Read, stored_strategy, translate_subgame
from spewy.bot.tally import Tally, is_expected
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.nodes import entry_line
from spewy.records.policy import Stacked

LOG = logging.getLogger(__name__)
MOST_KEPT = 1 << 30
"""Memory limit in bytes for the cached subgames of a hand; a dropped subgame is solved again when it is needed."""
READING = 0.5
"""Largest share of a decision's time for best responses to the blueprint."""
TRUSTED = 60
"""Number of iterations after which a re-solved strategy is played without a comparison with the blueprint.

Even without a warm start, re-solved turns then lose a fraction of what stored turns lose
(`docs/research/re-solving.md`). The comparison would cost the time of many more iterations: the
blueprint must be read on all boards.
"""
BEFORE = 0.5
"""Largest share of a solve's time for solves of enclosing subgames, which must come first."""
HURRIED_DEALS = 64
"""Number of deals of a sampled solve that is late (`Subgame.late_answer`)."""
FEWEST_QUICK = 20
"""Number of iterations for which a round that is solved with few bets later must have time."""
LATER_BOARDS = 48
"""Number of boards that the estimated size of a sampled solve assumes (`SampledSubgame.size`)."""


class Solution(Protocol):
    """A solved subgame, from which the bot reads strategies and best-response values."""

    @property
    def iterations(self) -> int:
        """Number of iterations, not counting a warm start; in a sampled solve, number of deals."""
        ...

    @property
    def n_bytes(self) -> int:
        """Size of the regrets and strategy sums in bytes."""
        ...

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """Return the average strategy after a line of the subgame, ``[action, hand of the deck]``.

        A hand that never reaches the decision plays by its regrets. Hands that the board blocks have frequencies 0.

        Raises:
            KeyError: the solution does not cover the line or the board.
        """
        ...

    def best_values(self, player: int) -> Floats:
        """Return a player's best-response value ``[hand of the deck]`` against the opponent's strategy.

        Raises:
            KeyError: the player's best response was not computed.
        """
        ...


_SolveKey = tuple[str, str, tuple[int, ...], int]


@dataclass(frozen=True)
class HandContext:
    """Settings and caches that all subgames of one hand share.

    Attributes:
        preflop: solves the betting before the flop; None: the bot translates bets there.
        tally: counts re-solves that fail.
        solved: solved subgames, the most recently used last. A key has four entries: the hand's betting line at the
            subgame's root, the hand's betting line when the subgame was made, the board at the root, and the player for
            whom it was solved (0 if it was solved for both).
    """

    blueprint: Blueprint
    builder: SubgameBuilder
    options: Options
    tally: Tally
    budget: Budget
    seed: int = 0
    preflop: PreflopSolver | None = None
    solved: OrderedDict[_SolveKey, Solution] = field(default_factory=OrderedDict)

    def keep(self, key: _SolveKey, resolved: Solution) -> Solution:
        """Cache a solved subgame and return it; drop the least recently used subgames beyond `MOST_KEPT` bytes."""
        self.solved[key] = resolved
        self.solved.move_to_end(key)
        while sum(each.n_bytes for each in self.solved.values()) > MOST_KEPT and len(self.solved) > 1:
            self.solved.popitem(last=False)
        return resolved


class Subgame:
    """A public state of a hand and everything that can follow it, in a tree that has the bets really made.

    Args:
        root: betting at the root; amounts are chips put in since the round began.
        betting: betting of the hand at the root.
        board: public cards at the root.
        blueprint_line: the root's line in the blueprint's tree; None if the tree has no such line.
        outer: the enclosing subgame, which the bot plays where this subgame has no acceptable strategy; None: none.
        begun: betting line of the hand when the subgame was made; longer than the root's line if the round is solved
            again after a bet.

    Attributes:
        ranges: both players' ranges at the root, each ``[hand of the deck]``; set before the first solve.
        kept: decisions between the root and ``begun`` that stay as they were played: by their line in the subgame, the
            frequencies ``[action, hand of the deck]``. Set before the first solve.
        ends_with_round: whether the subgame ends with its first round, not with the hand.
    """

    ends_with_round = False

    def __init__(
        self,
        context: HandContext,
        root: Root,
        betting: Betting,
        board: tuple[int, ...],
        blueprint_line: str | None,
        outer: Subgame | None,
        begun: str,
    ) -> None:
        self.root, self.betting, self.board, self.outer, self.begun = root, betting, board, outer, begun
        self.kept: dict[str, Floats] = {}
        self.ranges: tuple[Floats, Floats] | None = None
        self._context, self._builder, self._options = context, context.builder, context.options
        self._blueprint_line = blueprint_line
        self._failed = set[int]()
        self._out_of_time = set[int]()
        self._late = set[int]()
        """Players whose solve had no time."""
        self._hurried = False
        self._values = dict[int, Floats | None]()
        self._worse = dict[int, bool]()
        self._read: tuple[Read, Read] = {}, {}

    @property
    def size(self) -> int:
        return self._builder.size(self.root)

    def covers(self, betting: Betting) -> bool:
        """Whether the subgame's tree has the decision that follows the betting of a hand."""
        return self._builder.decision(self.root, self.line(betting)) is not None

    def actions(self, betting: Betting) -> tuple[str, ...]:
        """Return the tree's actions after a hand's betting, which must be covered, as ACPC actions of the hand."""
        decision = self._builder.decision(self.root, self.line(betting))
        assert decision is not None
        return tuple(add_chips(action.acpc, self.root.put_in_before) for action in decision[2].actions)

    def can_answer(self, betting: Betting, player: int) -> bool:
        """Whether the tree has the decision after a hand's betting, and no solve for the player has failed."""
        return self.covers(betting) and self._solved_for(player) not in self._failed

    def answer(self, betting: Betting, board: tuple[int, ...]) -> Answer | None:
        """Return the re-solved strategy of the player to act; solve the subgame unless it is solved.

        None means that the solve failed, or that the re-solved strategy loses more than the blueprint.
        """
        player = betting.to_act
        assert player is not None
        try:
            if self._is_worse(player):
                return None
            frequencies = self._resolved(player).frequencies(self.line(betting), board)
            return Answer(self.actions(betting), frequencies, "re-solved")
        except Exception as error:
            # The hand goes on with the blueprint.
            if self._options.strict and not is_expected(error):
                raise
            trace, level = not is_expected(error), logging.WARNING
            if isinstance(error, OutOfTimeError):  # the score of a match counts these
                level = logging.INFO
            LOG.log(level, "line %r: re-solving failed: %s", self.betting.line, error, exc_info=trace)
            self._fail(player, error)
            return None

    def late_answer(self, betting: Betting, board: tuple[int, ...]) -> Answer | None:
        """Make a short solve, after a solve that had no time, and return its strategy; None if it fails too."""
        player = betting.to_act
        if player not in self._late:
            return None
        self._hurried = True
        self._late.discard(player)
        self._failed.discard(self._solved_for(player))
        self._worse[player] = False
        with self._context.budget.unlimited():
            return self.answer(betting, board)

    def best_values(self, player: int) -> Floats:
        """Return a player's best-response value ``[hand of the deck]`` against the strategy that the opponent plays.

        The opponent plays the re-solved strategy, or the blueprint if the re-solved strategy is worse. The values are
        weighted by the opponent's range, whose largest weight is scaled to 1.
        """
        opponent = 1 - player
        values = self._values[opponent] if self._is_worse(opponent) else None
        return self._resolved(opponent).best_values(player) if values is None else values

    def blueprint_values(self, player: int) -> Floats | None:
        """Return the opponent's best-response values ``[hand of the deck]`` against a player who does not re-solve.

        None if the player's `blueprint_strategy` is unknown, or if there was no time.
        """
        if player not in self._values:
            with self._context.budget.limited(BEFORE):
                blueprint = self.blueprint_strategy(player)
            self._values[player] = None if blueprint is None else self._values_against(player, blueprint)
        return self._values[player]

    def blueprint_strategy(self, player: int, *, enclosing: bool = True) -> KnownStrategy | None:
        """Return the strategy that a player would follow without re-solving this subgame; None if it is unknown.

        Args:
            enclosing: whether to take the strategy of the enclosing re-solved subgame, if there is one. This may solve
                the enclosing subgame.
        """
        outer = self.outer if enclosing else None
        solved = None if outer is None else outer._played(player, self.betting)
        if outer is None or solved is None:
            if self._blueprint_line is None:
                return None
            return stored_strategy(
                self._context.blueprint, self.root, self._blueprint_line, self._read[player]
            )

        def read(lines: list[str], board: tuple[int, ...]) -> Stacked:
            return Stacked.by_hand(np.concatenate([solved.frequencies(line, board) for line in lines]))

        before = entry_line(outer.line(self.betting))
        chips = self.root.put_in_before - outer.root.put_in_before
        same_round = outer.root.round == self.root.round
        root = outer.root if same_round else replace(self.root, extra_bets=(), menu=outer.root.menu)
        return KnownStrategy(root, read, before, chips, cache=self._read[player])

    # Re-solving

    def _resolved(self, player: int) -> Solution:
        key = self._key(player)
        try:
            resolved = self._context.solved.get(key) or self._solve(self._solved_for(player))
        finally:
            self._forget_read()
        return self._context.keep(key, resolved)

    def _key(self, player: int) -> _SolveKey:
        return self.betting.line, self.begun, self.board, self._solved_for(player)

    def _solve(self, player: int) -> Solution:
        gadget, budget = self._options.safe, self._context.budget
        iterations = min(self._options.iterations, FEWEST if self._hurried else self._options.iterations)
        limits = Limits(iterations, budget.deadline, self._options.n_threads)
        values = None if gadget is None else self.blueprint_values(player)
        with budget.limited(BEFORE):
            start = self._warm_start(player)
        if gadget is not None and values is None:
            LOG.info("line %r: solved unsafely: the blueprint's values are not known", self.betting.line)
        safety = None if gadget is None or values is None else Safety(player, values, gadget)
        assert self.ranges is not None
        return resolve(self._builder, self.root, self.board, self.ranges, limits, start, safety, self.kept)

    def _solved_for(self, player: int) -> int:
        """Return the player in a solve's cache key: ``player`` for a safe solve, 0 for a solve for both players."""
        return player if self._options.safe is not None else 0

    def _warm_start(self, player: int) -> Start | None:
        """Return the strategies or the solve from which a solve for a player starts; None: it starts from zero.

        The round's earlier solve comes first, unless lost or worse than the blueprint; then both blueprint strategies.
        """
        if not self._options.warm:
            return None
        outer = self.outer
        if outer is not None and outer.root.round == self.root.round and not any(outer._worse.values()):
            earlier = self._context.solved.get(outer._key(player))
            if isinstance(earlier, Resolved):
                return earlier
        first, second = self._translated_strategy(0), self._translated_strategy(1)
        return None if first is None or second is None else (first, second)

    def _played(self, player: int, betting: Betting) -> Solution | None:
        """Return the solve that a player follows after a hand's betting; None if the player follows the blueprint."""
        if not self.can_answer(betting, player):
            return None
        try:
            return None if self._is_worse(player) else self._resolved(player)
        except OutOfTimeError as error:
            LOG.info("line %r: %s", self.betting.line, error)
            self._fail(player, error)
            return None

    def _forget_read(self) -> None:
        for read in self._read:
            read.clear()

    def _fail(self, player: int, error: Exception) -> None:
        self._context.tally.failed(self.betting.line, error)
        self._failed.add(self._solved_for(player))
        if isinstance(error, OutOfTimeError):
            self._late.add(player)

    # Comparing with the blueprint

    def _is_worse(self, player: int) -> bool:
        """Whether the opponent's estimated range wins more against the re-solved strategy than against the blueprint.

        False after `TRUSTED` iterations or if the blueprint's values are unknown; True if there is no time to compare.
        """
        if player in self._worse:
            return self._worse[player]
        worse = False
        if self._is_comparable(player) and not self._is_trusted(player):
            values, opponent = self.blueprint_values(player), 1 - player  # this uses some of the solve's time
            if player in self._out_of_time:
                LOG.info("line %r: too large to be solved in time", self.betting.line)
                self._forget_read()
                worse = True
            elif values is not None:
                resolved = self._resolved(player)
                assert self.ranges is not None
                estimated = self.ranges[opponent]
                worse = bool(estimated @ resolved.best_values(opponent) > estimated @ values)
                if worse:
                    text = "line %r: solved in %s iterations, which is worse than the blueprint"
                    LOG.info(text, self.betting.line, resolved.iterations)
        self._worse[player] = worse
        return worse

    def _is_comparable(self, player: int) -> bool:
        """Whether the blueprint has this subgame with the same betting at the root; later bet sizes may differ."""
        blueprint = None if self.root.extra_bets else self.blueprint_strategy(player)
        return blueprint is not None and replace(blueprint.root, menu=self.root.menu) == self.root

    def _is_trusted(self, player: int) -> bool:
        """Whether a player's solve has `TRUSTED` iterations; if the limits allow too few, False without a solve."""
        left = self._context.budget.left
        if self._options.iterations < 2 * TRUSTED:
            return False
        if left is not None and self._builder.pace.iterations(self.size, left) < 2 * TRUSTED:
            return False
        return self._resolved(player).iterations >= TRUSTED

    def _values_against(self, player: int, blueprint: KnownStrategy) -> Floats | None:
        """Return the opponent's best-response values ``[hand of the deck]``; None if ``blueprint`` cannot be read."""
        context = self._context
        if self.ranges is None:
            return None
        reach, deadline = self.ranges[player], context.budget.after(READING)
        try:
            # the pot stays that of the blueprint's root
            root, strategy = replace(blueprint.root, menu=self.root.menu), blueprint
            if root != blueprint.root:
                strategy = translate_subgame(self._builder, root, blueprint.root, blueprint)
            values = best_responses(self._builder, root, self.board, player, reach, strategy, deadline)
        except OutOfTimeError as error:
            LOG.info("line %r: %s", self.betting.line, error)
            context.tally.failed(self.betting.line, error)
            self._out_of_time.add(player)
            return None
        except (InputError, LockerError) as error:
            if self._options.safe is not None and isinstance(error, LockerError):
                raise  # a damaged blueprint must not make the solve an unsafe one
            LOG.info("line %r: the blueprint's values are not known: %s", self.betting.line, error)
            context.tally.failed(self.betting.line, error)
            return None
        return values * (self.root.put_in_before / root.put_in_before)

    # The blueprint's strategy

    def _translated_strategy(self, player: int) -> PlayerStrategy | None:
        """Return a player's stored strategy, translated to this subgame's bets; None if it is unknown."""
        enclosing = self.outer is not None and self.outer.root.round < self.root.round
        blueprint = self.blueprint_strategy(player, enclosing=enclosing)
        if blueprint is None:
            return None
        try:
            same = blueprint.root == self.root
            return (
                blueprint if same else translate_subgame(self._builder, self.root, blueprint.root, blueprint)
            )
        except InputError as error:
            LOG.info("line %r: the blueprint cannot be translated: %s", self.betting.line, error)
            return None

    def line(self, betting: Betting) -> str:
        """Convert a hand's betting to a line of this subgame's tree, which begins with the subgame's round."""
        rounds = betting.rounds[self.root.round :]
        return add_chips("/".join("".join(actions) for actions in rounds), -self.root.put_in_before)


class SampledSubgame(Subgame):
    """A betting round that is re-solved for both players by sampling the cards of later rounds (`resolving.sampled`).

    The bot plays its strategy in this round only; when the next cards come, a new subgame begins. The strategy is not
    compared with the blueprint, since best responses would take as long as an exact solve.
    """

    ends_with_round = True

    @property
    def size(self) -> int:
        """Estimated number of strategy entries of a solve, which sets the solve's share of the time bank."""
        return self._builder.n_actions(self.root) * self._builder.n_hands * LATER_BOARDS

    def covers(self, betting: Betting) -> bool:
        """Whether the hand is still in the subgame's round, and the tree has a decision after the hand's betting."""
        return betting.round == self.root.round and super().covers(betting)

    def _solve(self, player: int) -> Solution:
        options, abstraction = self._options, self._context.blueprint.abstraction
        if abstraction is None:
            raise InputError("sampled subgame: the stored strategy has no board buckets")
        assert self.ranges is not None
        deals = min(options.deals, HURRIED_DEALS if self._hurried else options.deals)
        limits = Limits(deals, self._context.budget.deadline, options.n_threads)
        text = f"{self._context.seed} {self.begun} {self.board}"
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
        # where the options leave the round to the stored strategy, it has none, and few deals are better than pot odds
        fewest = 1 if options.flops == "stored" else FEWEST_DEALS
        return sample(
            self._builder, abstraction, self.root, self.board, self.ranges, seed, limits, self.kept, fewest
        )

    def _solved_for(self, player: int) -> int:
        return 0

    def _is_comparable(self, player: int) -> bool:
        return False


class QuickSubgame(SampledSubgame):
    """A betting round that is re-solved on all later boards, with few bets there (`resolve.resolve_round`).

    If there is no memory, or no time for `FEWEST_QUICK` iterations, the round is solved by sampling.
    """

    def _solve(self, player: int) -> Solution:
        assert self.ranges is not None
        options, few = self._options, replace(self.root, few_bets=True)
        if self._hurried or not self._fits(few):
            return super()._solve(player)
        limits = Limits(options.iterations, self._context.budget.deadline, options.n_threads)
        return resolve_round(self._builder, few, self.board, self.ranges, limits, self.kept)

    def _fits(self, root: Root) -> bool:
        assert self.ranges is not None
        pace, left = self._builder.pace, self._context.budget.left
        size = self._builder.held_size(root, round_ranges(self.ranges))
        if 8 * size > self._builder.most_bytes:
            return False
        iterations = min(FEWEST_QUICK, self._options.iterations) - 1
        needed = (
            pace.seconds("lay", size)
            + pace.seconds("first", size)
            + iterations * pace.seconds("iterate", size)
        )
        return left is None or needed <= left


class PreflopSubgame(Subgame):
    """The betting round before the flop, re-solved for both players with the stored strategy's payoffs after it.

    The bets that were made stand in the tree as rounded bets (`resolving.preflop.rounded`).

    Args:
        made: the real actions of the round so far; ``root`` has the rounded bets.
    """

    ends_with_round = True

    def __init__(
        self, context: HandContext, root: Root, betting: Betting, made: tuple[str, ...], outer: Subgame | None
    ) -> None:
        super().__init__(context, root, betting, (), None, outer, "".join(made))
        self._made, self._rounded = made, rounded(made, betting)

    @property
    def size(self) -> int:
        return self._builder.n_actions(self.root) * self._builder.n_hands

    def covers(self, betting: Betting) -> bool:
        return betting.round == 0 and self._followed(betting) is not None

    def actions(self, betting: Betting) -> tuple[str, ...]:
        followed = self._followed(betting)
        assert followed is not None
        return followed[1]

    def line(self, betting: Betting) -> str:
        followed = self._followed(betting)
        assert followed is not None
        return followed[0]

    def _followed(self, betting: Betting) -> tuple[str, tuple[str, ...]] | None:
        """Return the tree's line for the real betting, and the real actions there; None: the tree lacks the betting."""
        node, real = self._builder.tree(self.root).root, self.betting
        for n, action in enumerate((*betting.rounds[0], None)):
            if node.kind != "decision":
                return None
            names, place = legal_actions(node, real), None
            if n < len(self._made) and betting.rounds[0][:n] == self._made[:n]:
                place = [each.acpc for each in node.actions].index(self._rounded[n])
                names[place] = self._made[n]
            names = _distinct(names, place, real)
            if action is None:
                return node.line, tuple(names)
            if action not in names:
                return None
            node, real = node.children[names.index(action)], real.apply(action)
        raise AssertionError("the last action is None")

    def _solve(self, player: int) -> Solution:
        assert self._context.preflop is not None
        return self._context.preflop.solve(self.root, self.kept, self._context.budget.deadline)

    def _solved_for(self, player: int) -> int:
        return 0

    def _is_comparable(self, player: int) -> bool:
        return False


def _distinct(actions: Sequence[str], fixed: int | None, betting: Betting) -> list[str]:
    """Change raises by few chips so that no two are equal; the action with the index ``fixed`` stays as it is."""
    out, bounds = list(actions), betting.raise_bounds()
    for i, action in enumerate(out):
        others = {*out[:i], *([] if fixed is None else [out[fixed]])}
        if action[0] == "r" and i != fixed and action in others and bounds is not None:
            at, taken = int(action[1:]), {*out}
            free = [
                abs(total - at) * 2 + (total > at)
                for total in range(bounds[0], bounds[1] + 1)
                if f"r{total}" not in taken
            ]
            if free:
                steps, up = divmod(min(free), 2)
                out[i] = f"r{at + steps if up else at - steps}"
    return out
