"""How large a betting tree is, without building it.

What follows a deal depends on the round, the chips put in so far and whether who starts may donk, not on the line that
led there. So lines that meet are followed once, with their number, and rounds are done one after another: the work
grows with the different amounts at each round's start, not with the tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from .betting import Betting
from .moves import is_donk, raise_totals
from .treeconfig import TreeConfig

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
        for name, player in zip(("oop", "ip"), players, strict=True)
        for key, row in (("bet", player.bet), ("raise", player.raises), ("donk", player.donk))
        if row
    ]
    if keys and not count.bets:
        raise InputError(
            f"{keys[0]}: expected bet sizes that make a legal action, found none in the whole tree"
        )


_Start = tuple[int, bool]
"""Chips that each player has put in where a round starts, and whether a donk bet is possible."""


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
            self.starts[0][self.config.start_base, False] = state, 1
        for starts in self.starts:
            # The most frequent first: where there are too many nodes, that shows the sooner.
            for (base, donk), (state, times) in sorted(starts.items(), key=lambda start: -start[1][1]):
                if not self.follow(state, base, donk, times):
                    return TreeCount(self.rounds, False, self.bets)
        return TreeCount(self.rounds, True, self.bets)

    def follow(self, state: Betting, base: int, donk: bool, times: int) -> bool:
        """Count a round from its start, on so many lines; False where the limit is passed."""
        found = self.rounds[state.round]
        pending = [(state, donk)]
        while pending and self.nodes <= self.limit:
            state, donk = pending.pop()
            player, folds = state.to_act, state.can_fold
            assert player is not None
            totals = raise_totals(self.config, state, base, donk)
            found.decisions[player] += times
            found.slots[player] += times * (1 + folds + len(totals))
            found.folds += times * folds
            self.nodes += times * (1 + folds)
            self.bets = self.bets or bool(totals)
            pending += [(state.raised(total), False) for total in totals]
            after = state.called()
            if after.is_over:
                self.run_out(state.round, times)
            elif after.round == state.round:
                pending.append((after, False))
            else:
                self.enter(after, is_donk(state, after), times)
        return self.nodes <= self.limit

    def enter(self, state: Betting, donk: bool, times: int) -> None:
        """Let lines wait at the start of the next round."""
        self.rounds[state.round - 1].deals += times
        self.rounds[state.round].lines += times
        starts, key = self.starts[state.round], (state.spent[0], donk)
        first, so_far = starts.get(key, (state, 0))
        starts[key] = first, so_far + times

    def run_out(self, ended: int, times: int) -> None:
        """Count the deals and the showdown after a round in which nobody is left to act."""
        for r in range(ended, len(self.rounds) - 1):
            self.rounds[r].deals += times
            self.rounds[r + 1].lines += times
        self.rounds[-1].showdowns += times
        self.nodes += times
