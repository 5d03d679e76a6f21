"""A game of several betting rounds with live chance leaves: solvers traverse the boards below every chance leaf.

A `LiveGame` is a list of rounds. A `Round` has a number of boards. All its boards share the same betting trees, one
tree for each betting line that enters the round. On a board each player has a list of hands; a hand has cards, a
strength, and a *row* of the strategy, which it may share with other hands. A `Deal` says which boards of the next round
can follow a board, and which hand of the next board has the cards of a hand. This module does not know the rules of
poker: a card is a number, and so is a strength.

Boards that are equal up to suits are solved once. This is exact if the ranges at the root are equal up to the same
renaming of suits.

Hands may be locked: they play fixed frequencies, also in best responses.

Values are counterfactual and not normalised. The value of hand h is ``Σ_o compat(h, o) · reach[o] · payoff``, summed
over the opponent's hands o and all deals, where compat is 1 if the hands share no card and else 0, and reach is the
opponent's probability of playing to the payoff, times the weight of o. A player's values, times the weights of the
player's hands, summed and divided by `LiveGame.deal_weight`, are chips per deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solvers.errors import SolverError
from solvers.tree import Floats, Forest, Ints

UPDATE, BEST, EVALUATE = range(3)
"""Modes of a pass: regrets are updated, the player plays a best response, or both players' strategies are evaluated."""


class Hands(NamedTuple):
    """Hands of a player on the boards of a round, ascending by strength.

    A strategy has one row per bucket, or per hand. On boards with fewer hands than other boards the arrays are padded
    at the end. The arrays of a single board (see `on`) lack the board axis.

    Attributes:
        n_hands: ``[board]``, number of hands without the padding.
        cards: ``[board, hand, k]``, numbers of the k cards of each hand. Two hands that share a card exclude each
            other.
        strength: ``[board, hand]``, a larger number beats a smaller one at a showdown; equal numbers tie.
        same_cards: ``[board, hand]``, the opponent's hand with the same cards; -1: the opponent has no such hand.
        row: ``[board, hand]``, the row of the strategy, below `n_rows`.
        weight: ``[board, hand]``, the hand's weight in the root range. The regrets of a row are sums over the row's
            hands, with these weights.
        n_rows: number of rows of the strategy.
        direct: whether each hand has a row of its own, which has the hand's number.
    """

    n_hands: Ints
    cards: Ints
    strength: Ints
    same_cards: Ints
    row: Ints
    weight: Floats
    n_rows: int
    direct: bool

    @classmethod
    def of(
        cls,
        n_hands: Ints,
        cards: Ints,
        strength: Ints,
        same_cards: Ints,
        row: Ints,
        weight: Floats,
        n_rows: int,
    ) -> Hands:
        """Make the tuple from its other attributes, and compute the attribute `direct`."""
        direct = n_rows == row.shape[-1] and bool(np.all(row == np.arange(n_rows)))
        return cls(n_hands, cards, strength, same_cards, row, weight, n_rows, direct)

    def on(self, b: int, n_rows: int) -> Hands:
        """Return the hands of board b without the padding; the board's strategy has `n_rows` rows."""
        n = int(self.n_hands[b])
        return Hands.of(
            self.n_hands[b : b + 1],
            self.cards[b, :n],
            self.strength[b, :n],
            self.same_cards[b, :n],
            self.row[b, :n],
            self.weight[b, :n],
            n_rows,
        )


@dataclass(frozen=True)
class Deal:
    """Links from each board of a round (the parent) to the boards of the next round that can follow it (the children).

    The next cards make many boards, called dealt boards here. Of the dealt boards that are equal up to suits only one
    is solved. So a link from a parent to a child stands for all dealt boards that are equal to the child up to suits.

    Attributes:
        first: ``[board + 1]``; the links of board b have the numbers ``first[b] .. first[b + 1] - 1``.
        child: ``[link]``, the child.
        parent_row: per player ``[link, hand of the child]``, the parent's hand that becomes each hand of the child.
        first_image: ``[link + 1]``; a link stands for the dealt boards with the numbers ``first_image[link] ..
            first_image[link + 1] - 1``.
        child_row: per player ``[dealt board, hand of the parent]``, the child's hand that each hand of the parent
            becomes; -1: the dealt cards block the hand.
        probability: probability of one dealt board, given both hands.
    """

    first: Ints
    child: Ints
    parent_row: tuple[Ints, Ints]
    first_image: Ints
    child_row: tuple[Ints, Ints]
    probability: float


@dataclass(frozen=True)
class Round:
    """A betting round on all its boards.

    Attributes:
        forest: the betting trees, one for each line that enters the round.
        hands: both players' hands.
        deal: links to the boards of the next round; None in the last round.
    """

    forest: Forest
    hands: tuple[Hands, Hands]
    deal: Deal | None

    @property
    def n_boards(self) -> int:
        """Number of boards; boards that are equal up to suits count once."""
        return len(self.hands[0].n_hands)


Strategies = list[tuple[Floats, Floats]]
"""Regrets or strategy sums, for each round a pair with one array per player: ``[board, slot, row]``.

A *slot* is one action of one of the player's decisions.
"""


LeafValues = dict[tuple[int, int], tuple[Floats, Floats]]
"""Counterfactual values of the chance leaves by (round, board): for each player ``[chance leaf, hand]``.

The values are not normalised. Numbers after the last hand of a board are undefined.
"""


@dataclass(frozen=True)
class Lock:
    """Fixed frequencies of some hands at one decision of a round; best responses play them too.

    The player must have a strategy row for each hand.

    Attributes:
        node: the decision's number among the nodes of the round's betting trees.
        frequencies: ``[board, action, hand]``; they sum to 1 over the actions. A hand without a lock has NaN.
    """

    round: int
    player: int
    node: int
    frequencies: Floats


@dataclass(frozen=True)
class LiveGame:
    """A game of several betting rounds.

    Attributes:
        rounds: the rounds; the first round has one board.
        reach: both players' ranges at the start ``[betting tree, hand]``.
        n_ids: number of different cards.
        locks: hands that play fixed frequencies; at most one lock for each decision.
    """

    rounds: Sequence[Round]
    reach: tuple[Floats, Floats]
    n_ids: int
    locks: tuple[Lock, ...] = ()

    def entered(self, p: int, reach: Floats) -> LiveGame:
        """Return a copy of the game in which player p has the range ``reach[hand]`` in the first betting tree."""
        ranges = [weights.copy() for weights in self.reach]
        ranges[p][0, : len(reach)] = reach
        return replace(self, reach=(ranges[0], ranges[1]))

    def chips_of_hands(self, p: int, values: Floats) -> Floats:
        """Return the net chips per deal of each of player p's hands: ``[hand]``, NaN if no opposing hand is possible.

        Args:
            values: ``[hand]``, counterfactual values of p's hands at the start of the first betting tree.
        """
        hands = self.rounds[0].hands
        n = int(hands[p].n_hands[0])
        met = compatible_reach(hands[p], hands[1 - p], 0, self.reach[1 - p][0], self.n_ids)[:n]
        chips: Floats = np.divide(values[:n], met, out=np.full(n, np.nan), where=met > 0)
        return chips

    def zeros(self, dtype: type = np.float64) -> Strategies:
        """Return zeros for regrets or strategy sums: for each round and player ``[board, slot, row]``."""

        def blank(r: Round, p: int) -> Floats:
            return np.zeros((r.n_boards, r.forest.n_slots[p], r.hands[p].n_rows), dtype)

        return [(blank(r, 0), blank(r, 1)) for r in self.rounds]

    def pin(self, sums: Strategies) -> None:
        """Write the frequencies of locked hands into the strategy sums.

        Then the normalised sums have these frequencies even where the player never gets to the decision.
        """
        for lock in self.locks:
            a = self.rounds[lock.round].forest.arrays
            first = int(a.slot[lock.node])
            locked = sums[lock.round][lock.player][:, first : first + int(a.n_actions[lock.node])]
            np.copyto(locked, lock.frequencies, where=~np.isnan(lock.frequencies), casting="same_kind")

    @cached_property
    def raked(self) -> bool:
        """Whether rake is taken from any pot, so that the game is not zero-sum."""
        return any(r.forest.raked for r in self.rounds)

    @cached_property
    def deal_weight(self) -> float:
        """Total weight of the pairs of hands that share no card, by both players' ranges in the first betting tree."""
        own, other = self.rounds[0].hands
        weight = float(self.reach[0][0] @ compatible_reach(own, other, 0, self.reach[1][0], self.n_ids))
        if not weight > 0:
            raise SolverError("ranges: expected at least one pair of hands that share no card, found none")
        return weight

    def check(self) -> None:
        """Verify the orders of hands, the links between boards, and the locks."""
        self._check_locks()
        for t, r in enumerate(self.rounds):
            r.forest.check()
            for p in (0, 1):
                hands = r.hands[p]
                for b in range(r.n_boards):
                    n = hands.n_hands[b]
                    if np.any(np.diff(hands.strength[b, :n]) < 0):
                        raise SolverError(
                            f"round {t}, board {b}, player {p}: hands are not in order of strength"
                        )
                    if n and not (hands.row[b, :n].min() >= 0 and hands.row[b, :n].max() < hands.n_rows):
                        raise SolverError(
                            f"round {t}, board {b}, player {p}: expected rows from 0 to {hands.n_rows - 1}, "
                            f"found {hands.row[b, :n].min()} to {hands.row[b, :n].max()}"
                        )
                    same = hands.same_cards[b, :n]
                    paired = np.flatnonzero(same >= 0)
                    if np.any(hands.cards[b, paired] != r.hands[1 - p].cards[b, same[paired]]):
                        raise SolverError(
                            f"round {t}, board {b}, player {p}: hands in `same_cards` differ in their cards"
                        )
            if r.deal is None:
                if len(r.forest.chance_leaves):
                    raise SolverError(
                        f"round {t}: the betting has chance leaves, but no boards follow (no deal)"
                    )
                continue
            below = self.rounds[t + 1]
            if len(r.forest.chance_leaves) != below.forest.n_roots:
                raise SolverError(
                    f"round {t}: expected as many chance leaves as the next round has betting trees, "
                    f"{below.forest.n_roots}, found {len(r.forest.chance_leaves)}"
                )
            for e, c in enumerate(r.deal.child):
                dealt_board = r.deal.first_image[e]
                for p in (0, 1):
                    n = below.hands[p].n_hands[c]
                    parent_row = r.deal.parent_row[p][e, :n]
                    if not np.array_equal(r.deal.child_row[p][dealt_board, parent_row], np.arange(n)):
                        raise SolverError(
                            f"round {t}, link {e} of the deal, player {p}: parent_row and child_row contradict "
                            "each other"
                        )

    def _check_locks(self) -> None:
        seen = set()
        for lock in self.locks:
            subject = f"lock of player {lock.player} at node {lock.node} of round {lock.round}"
            if (lock.round, lock.node) in seen:
                raise SolverError(f"{subject}: expected one lock per decision, found two")
            seen.add((lock.round, lock.node))
            a, hands = self.rounds[lock.round].forest.arrays, self.rounds[lock.round].hands[lock.player]
            if a.player[lock.node] != lock.player:
                raise SolverError(f"{subject}: this player does not act at this node")
            if not hands.direct:
                raise SolverError(f"{subject}: expected a strategy row for each hand, found buckets of hands")
            boards, width = hands.row.shape
            shape = boards, int(a.n_actions[lock.node]), width
            if lock.frequencies.shape != shape:
                raise SolverError(f"{subject}: expected shape {shape}, found {lock.frequencies.shape}")
            total = lock.frequencies.sum(axis=1)
            free = np.isnan(lock.frequencies).all(axis=1)
            if np.any(lock.frequencies < 0) or not np.all(free | (np.abs(total - 1) < 1e-9)):
                raise SolverError(
                    f"{subject}: expected frequencies of at least 0 that sum to 1 for each locked hand"
                )


def compatible_reach(own: Hands, other: Hands, b: int, reach: Floats, n_ids: int) -> Floats:
    """Sum the opponent's reach over the hands that share no card with each own hand on board b.

    The result is ``[own hand]``, in double precision; 0 for padding.
    """
    n, m = int(own.n_hands[b]), int(other.n_hands[b])
    mass = reach[:m].astype(np.float64)
    same_cards = own.same_cards[b, :n]
    same = np.where(same_cards >= 0, mass[same_cards], 0.0) if m else np.zeros(n)
    out = np.zeros(own.row.shape[1])
    out[:n] = compatible_sums(own.cards[b, :n], other.cards[b, :m], mass, same, n_ids)
    return out


def compatible_sums(own_cards: Ints, other_cards: Ints, reach: Floats, same: Floats, n_ids: int) -> Floats:
    """Sum the opponent's reach over the hands that share no card with each own hand, by inclusion and exclusion.

    For an own hand i with cards c and opposing hands j the sum is
    ``Σ_j reach[j] - Σ_{c in i} Σ_{j with c} reach[j] + (k - 1) · same[i]``.

    Args:
        own_cards: ``[own hand, k]``, numbers of the k cards of each own hand.
        other_cards: ``[opposing hand, k]``, numbers of the k cards of each opposing hand.
        reach: ``[opposing hand]``, the opponent's reach.
        same: ``[own hand]``, the reach of the opposing hand with the same cards, which is subtracted k times.
    """
    k = own_cards.shape[1]
    by_card = np.zeros(n_ids)
    for y in range(k):
        by_card += np.bincount(other_cards[:, y], weights=reach, minlength=n_ids)
    sums: Floats = reach.sum() - by_card[own_cards].sum(axis=1) + (k - 1) * same
    return sums
