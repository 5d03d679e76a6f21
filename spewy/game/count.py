"""How large a betting tree is, without building it.

What follows a deal depends on the round, the chips put in so far and whether who starts may donk, not on the line that
led there; within a round, on the chips, the smallest raise and the number of actions and raises. So lines that meet
are followed once, with their number: the work grows with the different amounts, not with the tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.moves import is_donk, raise_totals
from spewy.game.names import SEAT_NAMES
from spewy.game.treeconfig import TreeConfig

__all__ = [
    "MAX_NODES",
    "RoundCount",
    "TreeCount",
    "count_tree",
    "require_buildable",
    "require_sizes_used",
]

MAX_NODES = 1_000_000
"""Decisions and ends of the largest tree that is built: in memory a node and its place in a layout take 1 KiB."""


@dataclass
class RoundCount:
    """Nodes of one round; pairs are of players 0 and 1.

    Attributes:
        lines: that enter the round, those of all-in calls included: its chunks on each board.
        decisions: by who acts.
        slots: actions of those decisions.
        folds, showdowns: ends.
        deals: chance nodes at the round's end.
    """

    lines: int = 0
    decisions: list[int] = field(default_factory=lambda: [0, 0])
    slots: list[int] = field(default_factory=lambda: [0, 0])
    folds: int = 0
    showdowns: int = 0
    deals: int = 0

    @property
    def nodes(self) -> int:
        """Decisions and ends."""
        return sum(self.decisions) + self.folds + self.showdowns


@dataclass(frozen=True)
class TreeCount:
    """Counts by round from the root's; lower bounds where the tree is not ``complete``."""

    rounds: Sequence[RoundCount]
    complete: bool
    bets: bool
    """Whether anybody can bet or raise."""

    @property
    def nodes(self) -> int:
        """Decisions and ends (folds and showdowns): ``betting_nodes`` of the JSON form."""
        return sum(one.nodes for one in self.rounds)


def count_tree(config: TreeConfig, limit: int = MAX_NODES) -> TreeCount:
    """Count the nodes of a configuration's tree; stop where there are more than ``limit`` decisions and ends."""
    return _Counter(config, limit).count()


def require_buildable(count: TreeCount) -> None:
    """Refuse a tree that is too large to be built.

    Raises:
        InputError: it has more than `MAX_NODES` decisions and ends.
    """
    if not count.complete:
        raise InputError(
            f"betting tree: expected at most {MAX_NODES:,} decisions and ends, found more; "
            "fewer bet sizes, or a larger tree.merge or tree.force_allin, make it smaller"
        )


def require_sizes_used(config: TreeConfig, count: TreeCount) -> None:
    """Refuse sizes that give nobody anything to bet.

    Raises:
        InputError: there are some, and the tree has no bet.
    """
    keys = [
        f"bets.{config.game.round_names[r]}.{name}.{key}"
        for r, players in enumerate(config.sizes, start=config.start_round)
        for name, player in zip(SEAT_NAMES, players, strict=True)
        for key, row in (("bet", player.bet), ("raise", player.raises), ("donk", player.donk))
        if row
    ]
    if keys and not count.bets:
        raise InputError(
            f"{keys[0]}: expected bet sizes that make a legal action, found none in the whole tree"
        )


_Key = TypeVar("_Key")
_Start = tuple[int, bool]
"""Chips that each player has put in where a round starts, and whether a donk bet is possible."""

_Meeting = tuple[tuple[int, int], int | None, int, int]
_Level = dict[_Meeting, tuple[Betting, int]]
"""Decisions of a round after as many actions, and on how many lines each is met."""


class _Counter:
    """Goes through a tree round by round, each round once for all lines that start it with the same chips."""

    def __init__(self, config: TreeConfig, limit: int) -> None:
        self.config, self.limit = config, limit
        self.rounds = [RoundCount() for _ in range(config.rules.num_rounds)]
        self.nodes, self.bets = 0, False
        self.starts: list[dict[_Start, tuple[Betting, int]]] = [{} for _ in self.rounds]

    def count(self) -> TreeCount:
        state = self.config.start()
        self.rounds[0].lines = 1
        if state.is_over:
            self.run_out(0, 1)
        else:
            self.meet(self.starts[0], (self.config.start_base, False), state, 1)
        for starts in self.starts:
            # The most frequent first: where there are too many nodes, that shows the sooner.
            for (base, donk), (state, times) in sorted(starts.items(), key=lambda start: -start[1][1]):
                if not self.follow(state, base, donk, times):
                    return TreeCount(self.rounds, False, self.bets)
        return TreeCount(self.rounds, True, self.bets)

    def follow(self, state: Betting, base: int, donk: bool, times: int) -> bool:
        """Count a round from its start, on so many lines; False where the limit is passed."""
        level = {_meeting(state): (state, times)}
        while level and self.nodes <= self.limit:
            level, donk = self.step(level, base, donk), False
        return self.nodes <= self.limit

    def step(self, level: _Level, base: int, donk: bool) -> _Level:
        """Count a round's decisions after so many actions, and give those after one more."""
        after: _Level = {}
        for state, times in level.values():
            player, folds = state.to_act, state.can_fold
            assert player is not None
            totals = raise_totals(self.config, state, base, donk)
            found = self.rounds[state.round]
            found.slots[player] += times * (1 + folds + len(totals))
            found.folds += times * folds
            self.nodes += times * folds
            self.bets = self.bets or bool(totals)
            for total in totals:
                raised = state.raised(total)
                self.meet(after, _meeting(raised), raised, times)
            if self.nodes > self.limit:
                break
            called = state.called()
            if called.is_over:
                self.run_out(state.round, times)
            elif called.round == state.round:
                self.meet(after, _meeting(called), called, times)
            else:
                self.enter(called, is_donk(state, called), times)
        return after

    def enter(self, state: Betting, donk: bool, times: int) -> None:
        """Let lines wait at the start of the next round."""
        self.rounds[state.round - 1].deals += times
        self.rounds[state.round].lines += times
        self.meet(self.starts[state.round], (state.spent[0], donk), state, times)

    def meet(self, found: dict[_Key, tuple[Betting, int]], key: _Key, state: Betting, times: int) -> None:
        """Let lines wait at a decision. It is counted already: that shows the sooner where there are too many."""
        assert state.to_act is not None
        first, so_far = found.get(key, (state, 0))
        found[key] = first, so_far + times
        self.rounds[state.round].decisions[state.to_act] += times
        self.nodes += times

    def run_out(self, ended: int, times: int) -> None:
        """Count the deals and the showdown after a round in which nobody is left to act."""
        for r in range(ended, len(self.rounds) - 1):
            self.rounds[r].deals += times
            self.rounds[r + 1].lines += times
        self.rounds[-1].showdowns += times
        self.nodes += times


def _meeting(state: Betting) -> _Meeting:
    """All that what follows depends on, among states of a round after as many actions."""
    return state.spent, state.to_act, state.raise_by, state.num_raises
