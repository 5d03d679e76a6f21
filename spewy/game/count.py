"""Size of a betting tree, counted without building the tree.

Many lines lead to decisions with equal subtrees: the same round, chips, smallest raise, number of actions and number of
raises. The count follows one decision for all these lines, and multiplies by their number. So the work grows with the
number of different amounts and not with the size of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spewy.errors import InputError
from spewy.game.betting import raise_bounds
from spewy.game.names import SEAT_NAMES
from spewy.game.treeconfig import TreeConfig, raise_totals, raises_within
from spewy.system.tools import collection_put_off

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
    """Count a tree's nodes; above ``limit`` decisions, folds and showdowns the count ends and is not ``complete``."""
    with collection_put_off():
        return _count_lines(config, limit) if config.lines else _Counter(config).count(limit)


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


class _Decision(NamedTuple):
    """Key of a decision within its round: equal keys and equal numbers of earlier actions give equal subtrees."""

    player: int
    own: int
    """Chips that the player to act has put in since the root."""
    other: int
    raise_by: int
    num_raises: int
    put_in_before: int
    """Chips that each player had put in before this round."""
    donk: bool
    """Whether the player starts the round after calling the last bet of the round before."""


_Lines = dict[_Decision, int]
"""Number of lines that lead to each decision."""


class _Counter:
    """Counts the nodes of a tree, round by round and action by action.

    A decision or a showdown counts as soon as an action leads to it, so that the count of too large a tree ends soon.
    `raise_bounds` says which bets and raises are legal; checks and calls have code of their own here, because a
    `Betting` for each decision would take four times as long.
    """

    def __init__(self, config: TreeConfig) -> None:
        self.config, self.start = config, config.start()
        self.rounds = [RoundCount() for _ in range(config.rules.num_rounds)]
        self.starts: list[_Lines] = [{} for _ in self.rounds]
        self.stacks = self.start.stack(0), self.start.stack(1)
        self.nodes, self.bets = 0, False

    def count(self, limit: int) -> TreeCount:
        start, player = self.start, self.start.to_act
        self.rounds[0].lines = 1
        if player is None:
            self.run_out(0, 1)
        else:
            own, other = start.spent[player], start.spent[1 - player]
            root = _Decision(player, own, other, start.raise_by, 0, self.config.antes, False)
            self.enter(0, root, 1, self.starts[0])
        for r, decisions in enumerate(self.starts):
            # All lines to a decision have equally many actions in its round, so all are known before it is followed.
            depth = 0
            while decisions and self.nodes <= limit:
                after: _Lines = {}
                for decision, lines in sorted(decisions.items(), key=lambda item: -item[1]):
                    self.follow(r, depth, decision, lines, after)
                    if self.nodes > limit:
                        break
                decisions, depth = after, depth + 1
        return TreeCount(self.rounds, self.nodes <= limit, self.bets)

    def follow(self, r: int, depth: int, decision: _Decision, lines: int, after: _Lines) -> None:
        """Count a decision's actions on ``lines`` lines, after ``depth`` actions; add the next decisions to `after`."""
        player, own, other, raise_by, num_raises, before, donk = decision
        count, stack, opposing = self.rounds[r], self.stacks[player], self.stacks[1 - player]
        highest, can_fold = max(own, other), own < other and own < stack
        spent = (own, other) if player == 0 else (other, own)
        bounds = raise_bounds(self.config.rules, r, player, spent, raise_by, num_raises, depth)
        totals = raises_within(self.config, r, player, highest, bounds, raise_by, num_raises, before, donk)
        count.slots[player] += lines * (can_fold + 1 + len(totals))
        if can_fold:
            count.folds += lines
            self.nodes += lines
        for total in totals:
            if total == stack:
                self.go_all_in(r, 1 - player, lines)
                continue
            by = max(raise_by, total - highest)
            raised = _Decision(1 - player, other, total, by, num_raises + 1, before, False)
            self.enter(r, raised, lines, after)
        self.bets |= bool(totals)
        paid = min(highest, stack)
        if depth == 0 and other < opposing:
            checked = _Decision(1 - player, other, paid, raise_by, num_raises, before, False)
            self.enter(r, checked, lines, after)
        elif (
            paid == stack
            or other == opposing
            or r == len(self.rounds) - 1
            or self.config.is_checked_down(r + 1)
        ):
            self.run_out(r, lines)
        else:
            self.deal(r, lines)
            first = self.config.rules.first_player[r + 1]
            may_donk = can_fold and first == player
            entered = _Decision(first, paid, paid, self.start.min_bet, 0, paid, may_donk)
            self.enter(r + 1, entered, lines, self.starts[r + 1])

    def enter(self, r: int, decision: _Decision, lines: int, decisions: _Lines) -> None:
        self.nodes += lines
        self.rounds[r].decisions[decision.player] += lines
        decisions[decision] = decisions.get(decision, 0) + lines

    def go_all_in(self, r: int, answering: int, lines: int) -> None:
        count = self.rounds[r]
        count.decisions[answering] += lines
        count.slots[answering] += 2 * lines
        count.folds += lines
        self.nodes += 2 * lines
        self.run_out(r, lines)

    def run_out(self, r: int, lines: int) -> None:
        """Count the showdown after the last action of a hand, in round ``r``, and the chance nodes before it."""
        for ended in range(r, len(self.rounds) - 1):
            self.deal(ended, lines)
        self.rounds[-1].showdowns += lines
        self.nodes += lines

    def deal(self, ended: int, lines: int) -> None:
        self.rounds[ended].deals += lines
        self.rounds[ended + 1].lines += lines


def _count_lines(config: TreeConfig, limit: int) -> TreeCount:
    """Count the nodes of a tree whose bets are listed (`TreeConfig.lines`), decision by decision."""
    counter, pending = _Counter(config), [config.start()]
    counter.rounds[0].lines = 1
    while pending and counter.nodes <= limit:
        state = pending.pop()
        player, r, totals = state.to_act, state.round, raise_totals(config, state, 0, False)
        assert player is not None
        count = counter.rounds[r]
        count.decisions[player] += 1
        count.slots[player] += state.can_fold + 1 + len(totals)
        count.folds += state.can_fold
        counter.nodes += 1 + state.can_fold
        counter.bets |= bool(totals)
        pending += map(state.raised, totals)
        called = state.called()
        if called.is_over:
            counter.run_out(r, 1)
            continue
        if called.round != r:
            counter.deal(r, 1)
        pending.append(called)
    return TreeCount(counter.rounds, counter.nodes <= limit, counter.bets)
