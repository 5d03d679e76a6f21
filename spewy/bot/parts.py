"""Sub-games that a hand comes to: solved when they are asked for, and kept until the hand is over or they are many.

Where one is solved safely, the other player's values are those of what would be played without it: of the sub-game that
its root lies in, or of the locker. The locker's may be of another pot, where bets were translated; its values are then
scaled.

**What is worse is not played.** After few iterations a strategy is far worse than what a locker has, and how many are
few depends on both. So where the same sub-game could be played without it, best responses of the range that is believed
are asked: if they win more of what was solved, it is played as it would be without it.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from lockers import LockerError
from solvers.tree import Floats
from spewy.bot.book import Book
from spewy.bot.options import Options
from spewy.bot.other_bets import taken_over
from spewy.bot.pace import OutOfTimeError
from spewy.bot.resolve import (
    Limits,
    Plays,
    Resolved,
    best_elsewhere,
    resolve,
    resolve_safely,
)
from spewy.bot.subgames import Root, SubGames, shifted, tokens
from spewy.bot.tally import Tally, is_expected
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.nodes import entry_line
from spewy.records.policy import Stacked

LOG = logging.getLogger(__name__)
READING = 0.5
"""Of a decision's time, that may go into reading what is played without a sub-game."""
BEFORE = 0.5
"""Of the time that a sub-game's solve has, that may go into solving others that it needs first."""
MOST_HELD = 1 << 30
"""Bytes of sub-games that are kept for a hand; older ones are solved again where they are asked for."""


@dataclass(eq=False)
class Part:
    """A sub-game of a hand.

    Attributes:
        root: its betting, with the actual bets.
        betting: of the hand at its root.
        board: at its root.
        stored: the root's line in the locker's tree; None: it has none.
        ranges: a player's range at the root.
        outer: the sub-game that the root lies in, which is played on where this one is not solved.
        failed: players for whom it could not be solved.
        elsewhere: by player: what the other's hands make of what that one plays without it; None: it is not known.
        slow: players of whom there was no time to know it.
        worse: by player: whether that one loses more by playing as was solved than without it.
        read: what players do without it, by player, lines and board, while it is being solved.
    """

    root: Root
    betting: Betting
    board: tuple[int, ...]
    stored: str | None
    ranges: Callable[[int], Floats]
    outer: Part | None
    failed: set[int] = field(default_factory=set)
    elsewhere: dict[int, Floats | None] = field(default_factory=dict)
    slow: set[int] = field(default_factory=set)
    worse: dict[int, bool] = field(default_factory=dict)
    read: dict[tuple[int, tuple[str, ...], tuple[int, ...]], Stacked] = field(default_factory=dict)

    def line(self, betting: Betting) -> str:
        """The line of the sub-game that leads to a betting of the hand."""
        rounds = betting.rounds[self.root.round :]
        return shifted("/".join("".join(actions) for actions in rounds), -self.root.base)


class Parts:
    """Solves the sub-games of one hand.

    Args:
        book: the stored strategy, which is played without re-solving.
        games: makes sub-games.
        options: how to re-solve.
        tally: counts re-solves that fail.

    Attributes:
        deadline: deadline of the decision, on the clock of `time.monotonic`; None for no limit.
    """

    def __init__(self, book: Book, games: SubGames, options: Options, tally: Tally) -> None:
        self._book, self._games, self._options, self._tally = book, games, options, tally
        self._held: OrderedDict[tuple[Part, int], Resolved] = OrderedDict()
        self.deadline: float | None = None

    def forget(self) -> None:
        """Give up what was solved: hands and their sub-games know each other, and would stay until they are found."""
        self._held.clear()

    def within_budget(self) -> None:
        """A decision's time begins to run."""
        seconds = self._options.seconds
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def _share(self, share: float) -> float | None:
        """When a share of what is left of the decision's time is over."""
        now = time.monotonic()
        return None if self.deadline is None else now + share * (self.deadline - now)

    @contextmanager
    def _before(self) -> Iterator[None]:
        """What is solved in here leaves time for what needs it."""
        deadline, self.deadline = self.deadline, self._share(BEFORE)
        try:
            yield
        finally:
            self.deadline = deadline

    def covers(self, part: Part, betting: Betting) -> bool:
        """Whether a sub-game has the decision of a betting."""
        return self._games.decision(part.root, part.line(betting)) is not None

    def menu(self, part: Part, betting: Betting) -> tuple[str, ...]:
        """The actions of a decision that a sub-game has."""
        found = self._games.decision(part.root, part.line(betting))
        assert found is not None
        return tuple(shifted(action.acpc, part.root.base) for action in found[2].actions)

    def frequencies(self, part: Part, betting: Betting, board: tuple[int, ...]) -> Floats | None:
        """``[action of the menu, hand of the deck]``; None: it does not go there, or is not solved, or too badly."""
        player = betting.to_act
        assert player is not None
        mine = self._mine(player)
        if not self.covers(part, betting) or mine in part.failed:
            return None
        try:
            if self._is_worse(part, player):
                return None
            return self._solved(part, mine).frequencies(part.line(betting), board)
        except Exception as error:
            # The hand goes on: the lockers still have an answer.
            if self._options.strict and not is_expected(error):
                raise
            trace = not is_expected(error)
            LOG.warning("line %r: re-solving failed: %s", part.betting.line, error, exc_info=trace)
            self._tally.failed(part.betting.line, error)
            part.failed.add(mine)
            return None

    def best_values(self, part: Part, player: int) -> Floats:
        """``[hand of the deck]``: best responses of a player to what the other plays in a sub-game.

        As `spewy.bot.resolve.Resolved.best_values` has them.

        Raises:
            InputError: as `spewy.bot.resolve.resolve`.
            solvers.errors.SolverError: as there.
            lockers.LockerError: it shall be solved safely, and what is played without it is damaged.
        """
        other = 1 - player
        elsewhere = part.elsewhere[other] if self._is_worse(part, other) else None
        return self._solved(part, self._mine(other)).best_values(player) if elsewhere is None else elsewhere

    def _is_worse(self, part: Part, player: int) -> bool:
        """Whether a player loses more to the range that is believed by playing as was solved than without it."""
        if player not in part.worse:
            part.worse[player] = self._is_comparable(part, player) and self._compared(part, player)
        return part.worse[player]

    def _is_comparable(self, part: Part, player: int) -> bool:
        """Whether the same sub-game is played without it; one with more bets is not, and none is solved to know it."""
        otherwise = None if part.root.more else self._otherwise(part, player)
        return otherwise is not None and otherwise[0] == part.root

    def _compared(self, part: Part, player: int) -> bool:
        """Whether best responses win more of what was solved, or there is no time to tell."""
        elsewhere, other = self._elsewhere(part, player), 1 - player  # which takes of the solve's time
        if player in part.slow:
            LOG.info("line %r: too large to be solved in time", part.betting.line)
            part.read.clear()
            return True
        if elsewhere is None:
            return False
        solved, believed = self._solved(part, self._mine(player)), part.ranges(other)
        worse = bool(believed @ solved.best_values(other) > believed @ elsewhere)
        if worse:
            told = "line %r: solved in %s iterations, which is worse than what is played without it"
            LOG.info(told, part.betting.line, solved.iterations)
        return worse

    def _mine(self, player: int) -> int:
        """Whom a sub-game is solved for: each player safely, or both at once."""
        return player if self._options.safe is not None else 0

    def _solved(self, part: Part, mine: int) -> Resolved:
        key = part, mine
        try:
            if key not in self._held:
                self._held[key] = self._solve(part, mine)
        finally:
            part.read.clear()
        self._held.move_to_end(key)
        while sum(each.n_bytes for each in self._held.values()) > MOST_HELD and len(self._held) > 1:
            self._held.popitem(last=False)
        return self._held[key]

    def _solve(self, part: Part, mine: int) -> Resolved:
        safe = self._options.safe
        limits = Limits(self._options.iterations, self.deadline, self._options.threads)
        elsewhere = None if safe is None else self._elsewhere(part, mine)
        with self._before():
            ranges, plays = (part.ranges(0), part.ranges(1)), self._begins_with(part)
        if safe is not None and elsewhere is None:
            LOG.info("line %r: solved unsafely: what is played otherwise is not known", part.betting.line)
        if safe is None or elsewhere is None:
            return resolve(self._games, part.root, part.board, ranges, limits, plays)
        return resolve_safely(
            self._games, part.root, part.board, mine, ranges, elsewhere, safe, limits, plays
        )

    def _begins_with(self, part: Part) -> tuple[Plays, Plays] | None:
        """What both players do without a sub-game; None: it is not known."""
        if not self._options.warm:
            return None
        first, second = self._instead(part, 0), self._instead(part, 1)
        return None if first is None or second is None else (first, second)

    def _elsewhere(self, part: Part, mine: int) -> Floats | None:
        """What the other's hands make of what mine would play without this sub-game; None: nothing is known of it."""
        if mine not in part.elsewhere:
            part.elsewhere[mine] = self._found_elsewhere(part, mine)
        return part.elsewhere[mine]

    def _found_elsewhere(self, part: Part, mine: int) -> Floats | None:
        with self._before():
            found, reach = self._otherwise(part, mine), part.ranges(mine)
        if found is None:
            return None
        root, plays = found
        try:
            until = self._share(READING)
            values = best_elsewhere(self._games, root, part.board, mine, reach, plays, until)
        except OutOfTimeError as error:
            LOG.info("line %r: %s", part.betting.line, error)
            self._tally.failed(part.betting.line, error)
            part.slow.add(mine)
            return None
        except (InputError, LockerError) as error:
            if self._options.safe is not None and isinstance(error, LockerError):
                raise  # what is damaged does not let it be solved unsafely
            LOG.info("line %r: not known what is played without solving: %s", part.betting.line, error)
            self._tally.failed(part.betting.line, error)
            return None
        return values * (part.root.base / root.base)

    def _instead(self, part: Part, mine: int) -> Plays | None:
        """What mine does in a sub-game without it, bets that are not in what it plays taken for others; None: nothing.

        Where there are such bets it is the locker's, for which nothing has to be solved.
        """
        found = self._otherwise(part, mine, solved=not part.root.more)
        if found is None:
            return None
        root, plays = found
        try:
            return plays if root == part.root else taken_over(self._games, part.root, root, plays)
        except InputError as error:
            LOG.info("line %r: not known what its bets are taken for: %s", part.betting.line, error)
            return None

    def _otherwise(self, part: Part, mine: int, solved: bool = True) -> tuple[Root, Plays] | None:
        """The same sub-game where it is played otherwise, maybe of another pot, and how mine plays there.

        Args:
            part: the sub-game.
            mine: the player.
            solved: whether that may be another one that is solved.
        """
        outer = part.outer if solved else None
        found = None if outer is None else self._outer_solve(outer, part, mine)
        if outer is not None and found is not None:
            before = entry_line(outer.line(part.betting))
            by = part.root.base - outer.root.base
            root = replace(part.root, more=())
            return root, _kept(
                part,
                mine,
                lambda lines, board: Stacked.by_hand(
                    np.concatenate([found.frequencies(before + shifted(line, by), board) for line in lines])
                ),
            )
        if part.stored is None:
            return None
        begun = entry_line(part.stored)
        base = self._book.node(begun).put_in[0]
        least = self._book.smallest_stack
        actions = tokens(shifted(part.stored[len(begun) :], -base))
        stack = None if least is None else least - base
        root = replace(part.root, base=base, stack=stack, actions=actions, more=())
        return root, _kept(
            part,
            mine,
            lambda lines, board: self._book.several([begun + shifted(line, base) for line in lines], board),
        )

    def _outer_solve(self, outer: Part, part: Part, mine: int) -> Resolved | None:
        """The solve of ``outer``, the sub-game that contains ``part``; None if the player does not play by that."""
        key = self._mine(mine)
        if key in outer.failed or not self.covers(outer, part.betting):
            return None
        try:
            return None if self._is_worse(outer, mine) else self._solved(outer, key)
        except OutOfTimeError as error:
            LOG.info("line %r: %s", outer.betting.line, error)
            self._tally.failed(outer.betting.line, error)
            outer.failed.add(key)
            return None


def _kept(part: Part, mine: int, plays: Plays) -> Plays:
    """The same, asked once for each board while a sub-game is being solved."""

    def kept(lines: list[str], board: tuple[int, ...]) -> Stacked:
        key = mine, tuple(lines), board
        if key not in part.read:
            part.read[key] = plays(lines, board)
        return part.read[key]

    return kept
