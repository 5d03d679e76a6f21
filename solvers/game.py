"""A public game with live leaves: a walk enters the chunks below every chance leaf.

A `LiveGame` is a list of rounds. Each `Round` has one betting forest and a number of *boards*; on a
board both players hold *rows* (single hands), which know what blocks them, how strong they are and which row of
the strategy (*group*) plays for them. A `Deal` says how rows pass from a board to those of the next round.
Nothing here knows cards: a blocker is an id, a strength is a number.

Symmetric boards are solved once: a deal's entry may stand for several (*images*), which differ by a relabelling
of the parent's rows. That is exact when root ranges are invariant under the relabellings.

Rows may be locked: they play given frequencies, and a best response is one of the free rows.

Values are counterfactual and not normalised: ``values[h] = Σ_o compat(h, o) · reach[o] · payoff``, chance included.
Divided by `LiveGame.deal_weight` they are chips per deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solvers.errors import SolverError
from solvers.tree import Floats, Forest, Ints


class Hands(NamedTuple):
    """One player's hands on the boards of a round, ascending by strength; shorter boards are padded at the end.

    A strategy has one row per bucket, or per hand. Hands of a single board (see `on`) lack the board axis.

    Attributes:
        n_hands: ``[board]``, number of hands without the padding.
        cards: ``[board, hand, k]``, ids of the k cards of each hand. Two hands that share an id exclude each other.
        strength: ``[board, hand]``.
        same_cards: ``[board, hand]``, the opponent's hand with the same cards; -1: the opponent has no such hand.
        row: ``[board, hand]``, the row of the strategy, below `n_rows`.
        weight: ``[board, hand]``, the hand's weight in the root range, by which the hands of one row count.
        n_rows: number of rows of the strategy.
        direct: whether each hand has a row of its own, with the hand's number.
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
        """Make the record from its arrays; `direct` follows from them."""
        direct = n_rows == row.shape[-1] and bool(np.all(row == np.arange(n_rows)))
        return cls(n_hands, cards, strength, same_cards, row, weight, n_rows, direct)

    def on(self, b: int, n_rows: int) -> Hands:
        """Return the hands of board b, whose strategies have `n_rows` rows, without the padding."""
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
    """Links each board of a round to the boards that can follow it in the next round.

    An *entry* is one link from a parent board to a child board. The *images* of an entry are the dealt boards that are
    equal to the child up to suits.

    Attributes:
        first: entries ``first[b] .. first[b + 1] - 1`` lead from board b.
        child: the board that each entry leads to.
        parent_row: per player, the parent's row of each row of the child.
        first_image: an entry stands for the dealt boards ``first_image[entry] .. first_image[entry + 1] - 1``.
        child_row: per player and dealt board, the child's row of each row of the parent, or -1.
        probability: probability of one dealt board, given both hands.
    """

    first: Ints  # [B + 1]
    child: Ints  # [E]
    parent_row: tuple[Ints, Ints]  # [E, H']
    first_image: Ints  # [E + 1]
    child_row: tuple[Ints, Ints]  # [M, H]
    probability: float


@dataclass(frozen=True)
class Round:
    """One betting round on all its boards; ``deal`` leads to the next and is None in the last."""

    forest: Forest
    hands: tuple[Hands, Hands]
    deal: Deal | None

    @property
    def n_boards(self) -> int:
        """Number of boards after symmetry."""
        return len(self.hands[0].n_hands)


Strategies = list[tuple[Floats, Floats]]
"""Regrets, sums or similar numbers per round and player: ``[board, slot, group]``, as ``match`` normalises them."""


LeafValues = dict[tuple[int, int], tuple[Floats, Floats]]
"""Counterfactual values by (round, board) before the last round: per player ``[chance leaf, row]``, not normalised.

Rows behind a board's hands mean nothing.
"""


@dataclass(frozen=True)
class Lock:
    """Rows that play fixed frequencies at one decision of a round, in best responses too.

    Every row must be its own group. ``frequencies[b, a, h]`` of board b's row h sum to 1 over the actions; a free row
    has NaN.
    """

    round: int
    player: int
    node: int
    frequencies: Floats  # [B, action, H]


@dataclass(frozen=True)
class LiveGame:
    """Rounds, and the root ranges ``reach[p][root, h]`` on the one board of round 0; at most one lock per node."""

    rounds: Sequence[Round]
    reach: tuple[Floats, Floats]
    n_ids: int
    locks: tuple[Lock, ...] = ()

    def entered(self, p: int, reach: Floats) -> LiveGame:
        """A copy of the game in which player p's range is ``reach[row]``."""
        ranges = [mine.copy() for mine in self.reach]
        ranges[p][0, : len(reach)] = reach
        return replace(self, reach=(ranges[0], ranges[1]))

    def zeros(self, dtype: type = np.float64) -> Strategies:
        """Fresh arrays for regrets or sums."""

        def blank(r: Round, p: int) -> Floats:
            return np.zeros((r.n_boards, r.forest.n_slots[p], r.hands[p].n_rows), dtype)

        return [(blank(r, 0), blank(r, 1)) for r in self.rounds]

    def pin(self, sums: Strategies) -> None:
        """Write the locked frequencies over locked rows, so that the normalised sums show them even without reach."""
        for lock in self.locks:
            a = self.rounds[lock.round].forest.arrays
            first = int(a.slot[lock.node])
            there = sums[lock.round][lock.player][:, first : first + int(a.n_actions[lock.node])]
            np.copyto(there, lock.frequencies, where=~np.isnan(lock.frequencies), casting="same_kind")

    @cached_property
    def raked(self) -> bool:
        """Whether rake leaves the game, so that it is not zero-sum."""
        return any(r.forest.raked for r in self.rounds)

    @cached_property
    def deal_weight(self) -> float:
        """``Σ_{i, j} compat(i, j) · r0[i] · r1[j]`` over the ranges of root 0: the mass of all deals.

        Raises:
            SolverError: no pair of hands is possible.
        """
        own, other = self.rounds[0].hands
        weight = float(self.reach[0][0] @ compatible_reach(own, other, 0, self.reach[1][0], self.n_ids))
        if not weight > 0:
            raise SolverError("ranges: expected at least one pair of hands that share no card, found none")
        return weight

    def check(self) -> None:
        """Verify shapes, orders and maps; SolverError names the broken invariant."""
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
                        raise SolverError(f"round {t}, board {b}, player {p}: a row is out of range")
                    same = hands.same_cards[b, :n]
                    paired = np.flatnonzero(same >= 0)
                    if np.any(hands.cards[b, paired] != r.hands[1 - p].cards[b, same[paired]]):
                        raise SolverError(
                            f"round {t}, board {b}, player {p}: hands in `same_cards` differ in their cards"
                        )
            if r.deal is None:
                if len(r.forest.chance_leaves):
                    raise SolverError(f"round {t}: chance leaves without a deal")
                continue
            below = self.rounds[t + 1]
            if len(r.forest.chance_leaves) != below.forest.n_roots:
                raise SolverError(
                    f"round {t}: {len(r.forest.chance_leaves)} chance leaves, "
                    f"but {below.forest.n_roots} roots in the round below"
                )
            for e, c in enumerate(r.deal.child):
                image = r.deal.first_image[e]
                for p in (0, 1):
                    n = below.hands[p].n_hands[c]
                    parent_row = r.deal.parent_row[p][e, :n]
                    if not np.array_equal(r.deal.child_row[p][image, parent_row], np.arange(n)):
                        raise SolverError(
                            f"round {t}, entry {e}, player {p}: parent_row and child_row disagree"
                        )

    def _check_locks(self) -> None:
        seen = set()
        for lock in self.locks:
            subject = f"lock of player {lock.player} at node {lock.node} of round {lock.round}"
            if (lock.round, lock.node) in seen:
                raise SolverError(f"{subject}: expected one lock per node, found another")
            seen.add((lock.round, lock.node))
            a, hands = self.rounds[lock.round].forest.arrays, self.rounds[lock.round].hands[lock.player]
            if a.player[lock.node] != lock.player:
                raise SolverError(f"{subject}: expected the player who acts there")
            if not hands.direct:
                raise SolverError(f"{subject}: expected a row for each hand, found buckets")
            boards, width = hands.row.shape
            shape = boards, int(a.n_actions[lock.node]), width
            if lock.frequencies.shape != shape:
                raise SolverError(f"{subject}: expected shape {shape}, found {lock.frequencies.shape}")
            total = lock.frequencies.sum(axis=1)
            free = np.isnan(lock.frequencies).all(axis=1)
            if np.any(lock.frequencies < 0) or not np.all(free | (np.abs(total - 1) < 1e-9)):
                raise SolverError(f"{subject}: expected frequencies from 0 that sum to 1 in each locked row")


def compatible_reach(own: Hands, other: Hands, b: int, reach: Floats, n_ids: int) -> Floats:
    """Sum the opponent's reach over the hands that go with each own hand on board b, see `compatible_sums`.

    The sum is in double precision; it is 0 for padding.
    """
    n, m = int(own.n_hands[b]), int(other.n_hands[b])
    mass = reach[:m].astype(np.float64)
    same_cards = own.same_cards[b, :n]
    same = np.where(same_cards >= 0, mass[same_cards], 0.0) if m else np.zeros(n)
    out = np.zeros(own.row.shape[1])
    out[:n] = compatible_sums(own.cards[b, :n], other.cards[b, :m], mass, same, n_ids)
    return out


def compatible_sums(own_cards: Ints, other_cards: Ints, reach: Floats, same: Floats, n_ids: int) -> Floats:
    """Sum reach over the hands that share no card with each own hand, by inclusion and exclusion.

    ``out[i] = Σ_j reach[j] - Σ_{c in i} Σ_{j with c} reach[j] + (k - 1) · same[i]``

    Args:
        own_cards: ``[own hand, k]``, ids of the cards of each own hand.
        other_cards: ``[hand, k]``, ids of the cards of each hand with reach.
        reach: ``[hand]``.
        same: ``[own hand]``, the reach of the hand with the same cards, which was subtracted k times.
        n_ids: number of card ids.
    """
    k = own_cards.shape[1]
    by_card = np.zeros(n_ids)
    for y in range(k):
        by_card += np.bincount(other_cards[:, y], weights=reach, minlength=n_ids)
    sums: Floats = reach.sum() - by_card[own_cards].sum(axis=1) + (k - 1) * same
    return sums
