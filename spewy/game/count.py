"""Size of a betting tree, counted without building the tree.

Many lines lead to decisions with equal subtrees: the same round, chips, smallest raise, number of actions and number of
raises. The count follows one decision for all these lines, and multiplies by their number. So the work grows with the
number of different amounts and not with the size of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.names import SEAT_NAMES
from spewy.game.treeconfig import TreeConfig, may_donk, raise_totals

__all__ = [
    "MAX_NODES",
    "RoundCount",
    "TreeCount",
    "count_tree",
    "require_buildable",
    "require_sizes_used",
]

MAX_NODES = 1_000_000
"""Largest number of decisions, folds and showdowns of a tree that may be built; each takes 1 KiB of memory."""


@dataclass
class RoundCount:
    """Numbers of a tree's nodes in one round.

    Attributes:
        lines: number of betting lines that lead to the round, including lines that are all-in before it.
        decisions: ``[player]``, number of decisions.
        slots: ``[player]``, number of actions of all decisions together.
        folds: number of folds.
        showdowns: number of showdowns.
        deals: number of chance nodes at the end of the round.
    """

    lines: int = 0
    decisions: list[int] = field(default_factory=lambda: [0, 0])
    slots: list[int] = field(default_factory=lambda: [0, 0])
    folds: int = 0
    showdowns: int = 0
    deals: int = 0

    @property
    def nodes(self) -> int:
        return sum(self.decisions) + self.folds + self.showdowns


@dataclass(frozen=True)
class TreeCount:
    """Numbers of nodes in a betting tree, for each round."""

    rounds: Sequence[RoundCount]
    """Numbers of each round, the root's first."""
    complete: bool
    """Whether all nodes were counted; if not, the numbers are lower bounds."""
    bets: bool
    """Whether the tree has a bet or a raise."""

    @property
    def nodes(self) -> int:
        """Number of decisions, folds and showdowns of all rounds."""
        return sum(count.nodes for count in self.rounds)


def count_tree(config: TreeConfig, limit: int = MAX_NODES) -> TreeCount:
    """Count the nodes of a configuration's tree; stop if there are more than `limit` decisions, folds and showdowns."""
    return _Counter(config).count(limit)


def require_buildable(count: TreeCount) -> None:
    """Check that a tree is small enough to build."""
    if not count.complete:
        raise InputError(
            f"betting tree: expected at most {MAX_NODES:,} decisions and ends, found more; "
            "use fewer bet sizes, or a larger tree.merge or tree.force_allin"
        )


def require_sizes_used(config: TreeConfig, count: TreeCount) -> None:
    """Check that the bet sizes of a configuration lead to at least one legal bet."""
    keys = [
        f"bets.{config.game.round_names[r]}.{name}.{key}"
        for r, players in enumerate(config.sizes, start=config.start_round)
        for name, player in zip(SEAT_NAMES, players, strict=True)
        for key, row in (("bet", player.bet), ("raise", player.raises), ("donk", player.donk))
        if row
    ]
    if keys and not count.bets:
        raise InputError(
            f"{keys[0]}: expected bet sizes that lead to a legal bet, found no bet in the whole tree"
        )


@dataclass(slots=True)
class _Place:
    """A decision, and the number of lines that lead to it or to a decision with an equal subtree."""

    state: Betting
    put_in_before: int
    donk: bool
    lines: int


_Places = dict[tuple[object, ...], _Place]


class _Counter:
    """Counts the nodes of a tree, round by round and action by action.

    A decision or a showdown counts as soon as an action leads to it, so that a tree that is too large is noticed soon.
    """

    def __init__(self, config: TreeConfig) -> None:
        self.config = config
        self.rounds = [RoundCount() for _ in range(config.rules.num_rounds)]
        self.starts: list[_Places] = [{} for _ in self.rounds]
        self.nodes, self.bets = 0, False

    def count(self, limit: int) -> TreeCount:
        self.rounds[0].lines = 1
        self.enter(0, self.config.start(), self.config.antes, False, 1, self.starts[0])
        for places in self.starts:
            # All lines to a decision have equally many actions in its round, so all are known before it is followed.
            while places and self.nodes <= limit:
                after: _Places = {}
                for place in sorted(places.values(), key=lambda place: -place.lines):
                    self.follow(place, after)
                    if self.nodes > limit:
                        break
                places = after
        return TreeCount(self.rounds, self.nodes <= limit, self.bets)

    def follow(self, place: _Place, after: _Places) -> None:
        """Count the actions of a decision; add the decisions that they lead to in the same round to `after`."""
        state, before, lines = place.state, place.put_in_before, place.lines
        r, count, totals = (
            state.round,
            self.rounds[state.round],
            raise_totals(self.config, state, before, place.donk),
        )
        assert state.to_act is not None
        count.slots[state.to_act] += lines * (state.can_fold + 1 + len(totals))
        if state.can_fold:
            count.folds += lines
            self.nodes += lines
        for total in totals:
            self.enter(r, state.raised(total), before, False, lines, after)
        self.bets |= bool(totals)
        called = state.called()
        if called.is_over or called.round == r:
            self.enter(r, called, before, False, lines, after)
        else:
            self.deal(r, lines)
            donk = may_donk(state, called)
            self.enter(r + 1, called, called.spent[0], donk, lines, self.starts[r + 1])

    def enter(
        self, r: int, state: Betting, put_in_before: int, donk: bool, lines: int, places: _Places
    ) -> None:
        """Count the decision or the showdown that an action in round ``r`` leads to; add a decision to `places`."""
        self.nodes += lines
        if state.to_act is None:
            for ended in range(r, len(self.rounds) - 1):
                self.deal(ended, lines)
            self.rounds[-1].showdowns += lines
            return
        self.rounds[r].decisions[state.to_act] += lines
        key = state.spent, state.raise_by, state.num_raises, put_in_before, donk
        place = places.get(key)
        if place is None:
            places[key] = _Place(state, put_in_before, donk, lines)
        else:
            place.lines += lines

    def deal(self, ended: int, lines: int) -> None:
        self.rounds[ended].deals += lines
        self.rounds[ended + 1].lines += lines
