"""Size of a betting tree, counted without building the tree.

Many lines lead to decisions with equal subtrees: the same round, chips, smallest raise, number of actions and number of
raises. The count follows one decision for all these lines, and multiplies by their number. So the work grows with the
number of different amounts and not with the size of the tree. All decisions after the same number of actions in a round
are computed together, in arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from buckets.types import Ints
from spewy.errors import InputError
from spewy.game.betting import MAX_ACTIONS, UNLIMITED
from spewy.game.names import SEAT_NAMES
from spewy.game.sizes import Size
from spewy.game.sizing import Stake, bet_amounts
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
"""Largest number of decisions, folds and showdowns of a tree that may be built; each takes 1 KiB of memory."""


Flags = NDArray[np.bool_]
Part = slice | NDArray[np.integer] | Flags


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
        """Number of decisions, folds and showdowns."""
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
    return _Counter(config, limit).count()


def require_buildable(count: TreeCount) -> None:
    """Check that a tree is small enough to build.

    Raises:
        InputError: the tree has more than `MAX_NODES` decisions, folds and showdowns.
    """
    if not count.complete:
        raise InputError(
            f"betting tree: expected at most {MAX_NODES:,} decisions and ends, found more; "
            "use fewer bet sizes, or a larger tree.merge or tree.force_allin"
        )


def require_sizes_used(config: TreeConfig, count: TreeCount) -> None:
    """Check that the bet sizes of a configuration lead to at least one legal bet.

    Raises:
        InputError: the configuration has bet sizes, but the tree has no bet.
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
            f"{keys[0]}: expected bet sizes that lead to a legal bet, found no bet in the whole tree"
        )


BLOCK = 4096
"""Number of decisions in a batch; the limit is checked after each batch."""


@dataclass(frozen=True)
class _States:
    """Decisions of one player after the same number of actions in a round; each array has an entry per decision."""

    spent: Ints
    """``[player, decision]``: chips put in since the root."""
    raise_by: Ints
    """Smallest number of chips by which a raise exceeds the bet."""
    raises: Ints
    """Number of bets and raises in this round so far."""
    base: Ints
    """Chips that each player had put in before this round."""
    donk: Ints
    """1 if the player starts the round after calling the last bet of the round before, otherwise 0."""
    times: Ints
    """Number of lines that lead to the decision."""

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: Part) -> "_States":
        return _States(self.spent[:, part], *(column[part] for column in self._columns()))

    @classmethod
    def of(cls, keys: Ints, times: Ints) -> "_States":
        raise_by, raises, base, donk = keys[2:]
        return cls(keys[:2], raise_by, raises, base, donk, times)

    def _columns(self) -> tuple[Ints, ...]:
        return self.raise_by, self.raises, self.base, self.donk, self.times

    @classmethod
    def joined(cls, parts: "Sequence[_States]") -> "_States":
        """Join batches of decisions, and merge equal decisions.

        Decisions with the most lines come first, so that a tree that is too large is noticed soon.
        """
        spent = np.concatenate([part.spent for part in parts], axis=1)
        columns = [np.concatenate(each) for each in zip(*(part._columns() for part in parts), strict=True)]
        keys, times = np.array([*spent, *columns[:-1]]), columns[-1]
        order = np.lexsort(keys)
        keys = keys[:, order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        first = np.flatnonzero(new)
        times = np.add.reduceat(times[order], first) if len(first) else times
        frequent = np.argsort(-times, kind="stable")
        keys = keys[:, first[frequent]]
        return cls.of(keys, times[frequent])


class _Counter:
    """Counts the nodes of a tree, round by round and action by action."""

    def __init__(self, config: TreeConfig, limit: int) -> None:
        self.config, self.limit = config, limit
        self.rounds = [RoundCount() for _ in range(config.rules.num_rounds)]
        self.nodes, self.bets = 0, False
        self.known: dict[tuple[tuple[Size, ...], Stake], list[int]] = {}
        self.starts: list[list[_States]] = [[] for _ in self.rounds]
        stacks = config.rules.stacks
        self.stacks = (UNLIMITED, UNLIMITED) if stacks is None else stacks

    def count(self) -> TreeCount:
        state = self.config.start()
        self.rounds[0].lines = 1
        if state.to_act is None:
            self.run_out(0, 1)
        else:
            chips = (*state.spent, state.raise_by, 0, self.config.antes, 0)
            root = _States.of(np.array(chips, dtype=np.int64)[:, None], np.ones(1, dtype=np.int64))
            self.meet(0, state.to_act, self.starts[0], root)
        for r, starts in enumerate(self.starts):
            player = state.to_act if r == 0 else self.config.rules.first_player[r]
            if starts and player is not None and not self.follow(r, player, _States.joined(starts)):
                return TreeCount(self.rounds, False, self.bets)
        return TreeCount(self.rounds, True, self.bets)

    def follow(self, r: int, player: int, states: _States) -> bool:
        """Count the nodes of a round; return False if the tree has too many nodes.

        Args:
            r: the round.
            player: the player who starts the round.
            states: the first decisions of the round.
        """
        for depth in range(MAX_ACTIONS):
            after: list[_States] = []
            for start in range(0, len(states), BLOCK):
                self.step(r, player, depth, states[start : start + BLOCK], after)
                if self.nodes > self.limit:
                    return False
            if not after:
                break
            states, player = _States.joined(after), 1 - player
        return self.nodes <= self.limit

    def step(self, r: int, player: int, depth: int, states: _States, after: list[_States]) -> None:
        """Count the actions of some decisions, and append the decisions that follow in the same round to `after`.

        Args:
            r: the round.
            player: the player who acts.
            depth: number of actions in the round so far.
            states: the decisions.
            after: a list to which the next decisions are appended.
        """
        counts, times = self.rounds[r], states.times
        own, other = states.spent[player], states.spent[1 - player]
        folds = int(times @ ((own < other) & (own < self.stacks[player])))
        amounts, legal = self.raises(r, player, depth, states)
        which, place = np.nonzero(legal)
        counts.slots[player] += int(times.sum()) + folds + int(times[which].sum())
        counts.folds += folds
        self.nodes += folds
        if len(which):
            self.bets = True
            total = amounts[which, place]
            self.meet(r, 1 - player, after, self.raised(states[which], player, total))
        self.call(r, player, depth, states, after)

    def raises(self, r: int, player: int, depth: int, states: _States) -> tuple[Ints, Flags]:
        """Compute the totals to which the player may bet or raise.

        Args:
            r: the round.
            player: the player who acts.
            depth: number of actions in the round so far.
            states: the decisions.

        Returns:
            The totals ``[decision, k]``, and a mask ``[decision, k]`` that is False where a decision has fewer totals.
        """
        rules, stack = self.config.rules, self.stacks[player]
        highest = states.spent.max(axis=0)
        able = (states.spent[1 - player] < self.stacks[1 - player]) & (highest < stack)
        able &= states.raises < rules.max_raises[r]
        if self.config.max_raises is not None:
            able &= states.raises < self.config.max_raises
        if depth + rules.num_players > MAX_ACTIONS:
            able[:] = False
        if rules.limit:
            return np.minimum(highest + rules.raise_sizes[r], stack)[:, None], able[:, None]
        low = np.minimum(highest + states.raise_by, stack)
        high = np.maximum(min(stack, self.stacks[1 - player]), low)
        base, sizes = states.base, self.config.sizes[r][player]
        columns = (2 * highest, highest - base, low - base, high - base, states.raises, states.donk > 0, able)
        rows = [
            self.street_totals(
                sizes.sizes(faced > 0, donk),
                Stake(self.config.pot + pot, faced, least, most, rules.num_rounds - r, raises),
            )
            if legal
            else ()
            for pot, faced, least, most, raises, donk, legal in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
        widths = np.array([len(row) for row in rows])
        legal = np.arange(max(widths.max(), 1)) < widths[:, None]
        totals = np.zeros(legal.shape, dtype=np.int64)
        totals[legal] = [total for row in rows for total in row]
        return totals + base[:, None], legal

    def street_totals(self, sizes: tuple[Size, ...], stake: Stake) -> list[int]:
        """Compute the bets and raises at a decision as street totals, by `bet_amounts`; results are cached."""
        amounts = self.known.get((sizes, stake))
        if amounts is None:
            amounts = self.known[sizes, stake] = bet_amounts(sizes, stake, self.config.thresholds)
        return amounts

    def raised(self, states: _States, player: int, total: Ints) -> _States:
        """Return the decisions of the opponent after a raise at each decision.

        Args:
            states: the decisions at which the player raises.
            player: the player who raises.
            total: ``[decision]``, all chips that the player has put in after the raise.
        """
        by = np.maximum(states.raise_by, total - states.spent.max(axis=0))
        spent = states.spent.copy()
        spent[player] = total
        return _States(spent, by, states.raises + 1, states.base, np.zeros_like(by), states.times)

    def call(self, r: int, player: int, depth: int, states: _States, after: list[_States]) -> None:
        """Count the nodes that follow a check or a call: later decisions, the next round, or the showdown.

        Args:
            r: the round.
            player: the player who acts.
            depth: number of actions in the round so far.
            states: the decisions.
            after: a list to which the next decisions of this round are appended.
        """
        own, other = states.spent[player], states.spent[1 - player]
        answered = (other >= self.stacks[1 - player]) if depth == 0 else np.ones(len(states), dtype=bool)
        spent = states.spent.copy()
        spent[player] = np.minimum(states.spent.max(axis=0), self.stacks[player])
        called = replace(states, spent=spent, donk=np.zeros_like(states.donk))
        self.meet(r, 1 - player, after, called[~answered])
        over = answered & (
            (spent[0] >= self.stacks[0]) | (spent[1] >= self.stacks[1]) | (r == len(self.rounds) - 1)
        )
        self.run_out(r, int(states.times[over].sum()))
        closed = np.flatnonzero(answered & ~over)
        if not len(closed):
            return
        first = self.config.rules.first_player[r + 1]
        entered, none = called[closed], np.zeros(len(closed), dtype=np.int64)
        donk = ((own < other) & (first == player))[closed].astype(np.int64)
        smallest = np.full(len(closed), self.config.start().min_bet, dtype=np.int64)
        lines = int(entered.times.sum())
        self.rounds[r].deals += lines
        self.rounds[r + 1].lines += lines
        at_start = _States(entered.spent, smallest, none, entered.spent[0], donk, entered.times)
        self.meet(r + 1, first, self.starts[r + 1], at_start)

    def meet(self, r: int, player: int, waiting: list[_States], states: _States) -> None:
        """Count decisions of a player in round ``r``, and append them to `waiting`; `step` counts their actions later.

        Decisions are counted at once, so that a tree that is too large is noticed soon.
        """
        if len(states):
            lines = int(states.times.sum())
            self.rounds[r].decisions[player] += lines
            self.nodes += lines
            waiting.append(states)

    def run_out(self, ended: int, times: int) -> None:
        """Count the chance nodes and the showdown after the last action of a hand.

        Args:
            ended: the round of the last action.
            times: number of lines that end there.
        """
        for r in range(ended, len(self.rounds) - 1):
            self.rounds[r].deals += times
            self.rounds[r + 1].lines += times
        self.rounds[-1].showdowns += times
        self.nodes += times
