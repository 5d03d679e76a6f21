"""Groupings: several methods to decide which hands share a bucket on a board.

A grouping gives each hand a label, the number of its group. On a board the groups are numbered from the weakest, 0, to
the strongest, without gaps. Hands that the board blocks get -1; all other hands get a label, even without weight. If
all hands that the board does not block have weight 0, they count as equally likely. Hands with the same outcomes share
a label, and so do hands that are equal up to suits on the board; so there can be fewer groups than requested. Equal
arguments give equal labels.

If all hands weigh the same, the groups of Equation 1 (`buckets.abstraction.agglomeration`) come from a `BoardTree`,
for any number of groups. The tree is computed for the *canonical* board, the smallest of all boards that are equal up
to suits. So these boards share one tree, and ties are broken in the same way on all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import (
    MergeTree,
    cut_labels,
    merge_tree,
    number_by_mean,
    positive_weights,
)
from buckets.abstraction.outcomes import outcomes
from buckets.cards.cards import Deck, cards_name
from buckets.cards.hands import blocked
from buckets.cards.hands import hands as all_hands
from buckets.cards.showdown import check_board
from buckets.cards.symmetry import canonical, hand_permutation
from buckets.errors import BoardError, RangeError
from buckets.types import Floats

Labels = NDArray[np.int32]
"""The group of each hand."""


class Grouping(Protocol):
    """A function that computes the bucket of each hand on a board."""

    def __call__(
        self,
        board: Sequence[int],
        hands: NDArray[np.integer],
        weights: NDArray[np.floating],
        k: int,
        deck: Deck | None = None,
        n_board: int = 5,
    ) -> Labels:
        """Compute the group of each hand, with at most k groups: (n_hands,); -1: the board blocks the hand.

        Args:
            board: the public cards so far.
            hands: (n_hands, hole_cards), all hands of the deck.
            weights: (n_hands,), the range.
            k: largest number of groups, at least 1.
            deck: the cards of the game; None: 52 cards.
            n_board: number of public cards at the showdown.
        """
        ...


@dataclass(frozen=True)
class BoardTree:
    """The merge tree by Equation 1 (`agglomeration`) of all hands that a board does not block; all weights are 1.

    Attributes:
        board: the canonical board, ascending.
        tree: the merge tree; its leaves are the hands in order of their numbers.
        means: (n_leaves,), mean outcome of each hand: its all-in equity against the uniform range.
    """

    board: tuple[int, ...]
    deck: Deck
    hole: int
    tree: MergeTree
    means: Floats

    @classmethod
    def of(cls, board: Sequence[int], deck: Deck | None = None, hole: int = 2, n_board: int = 5) -> Self:
        """Compute the merge tree of the hands on a board.

        Args:
            board: the public cards so far; the board need not be canonical.
            deck: the cards of the game; None: 52 cards.
            n_board: number of public cards at the showdown.
        """
        deck = deck or Deck()
        cards = canonical_board(board, deck)
        hands = all_hands(deck, hole)
        curves = outcomes(cards, hands, deck, n_board)[~blocked(hands, cards)]
        return cls(cards, deck, hole, merge_tree(curves, np.ones(len(curves))), curves.mean(axis=1))

    def labels(self, board: Sequence[int], k: int) -> NDArray[np.int32]:
        """Return each hand's bucket, ``[hand]``; bucket 0 is the weakest; -1: the board blocks the hand.

        Args:
            board: a board that is equal to the tree's board up to suits.
            k: number of buckets, at least 1; there are fewer if fewer hands have different outcomes.
        """
        hands = all_hands(self.deck, self.hole)
        (cards,), perm = canonical((tuple(board),), self.deck)
        if cards != self.board:
            raise BoardError(f"board: expected {cards_name(self.board)} up to suits, got {cards_name(board)}")
        own = np.full(len(hands), -1, dtype=np.int32)
        own[~blocked(hands, self.board)] = cut_labels(self.tree, k, self.means, np.ones(len(self.means)))
        turned: NDArray[np.int32] = own[hand_permutation(self.deck, self.hole, perm)]
        return turned


def canonical_board(board: Sequence[int], deck: Deck) -> tuple[int, ...]:
    """Return the smallest board that is equal to a board up to suits, with the cards ascending."""
    return canonical((tuple(board),), deck)[0][0]


class _ByOutcomes(ABC):
    """Groups the hands that a board does not block, by their sorted outcomes and their weights."""

    def __call__(
        self,
        board: Sequence[int],
        hands: NDArray[np.integer],
        weights: NDArray[np.floating],
        k: int,
        deck: Deck | None = None,
        n_board: int = 5,
    ) -> Labels:
        deck = deck or Deck()
        if weights.shape != (len(hands),):
            raise RangeError(f"weights: expected shape ({len(hands)},), got {weights.shape}")
        if k < 1:
            raise BoardError(f"groups: expected at least 1, got {k!r}")
        check_board(board, deck)
        live = ~blocked(hands, board)
        live_weights = weights[live].astype(np.float64)
        mass = positive_weights(live_weights if live_weights.any() else None, int(live.sum()))
        labels = np.full(len(hands), -1, dtype=np.int32)
        if (mass == mass[:1]).all():
            labels[live] = self.even(board, hands, k, deck, n_board)[live]
        else:
            labels[live] = self.group(outcomes(board, hands, deck, n_board)[live], mass, k)
        return labels

    def even(
        self, board: Sequence[int], hands: NDArray[np.integer], k: int, deck: Deck, n_board: int
    ) -> Labels:
        """Compute the group of each hand, with equal weights for all hands; -1: the board blocks the hand."""
        live = ~blocked(hands, board)
        labels = np.full(len(hands), -1, dtype=np.int32)
        labels[live] = self.group(outcomes(board, hands, deck, n_board)[live], np.ones(int(live.sum())), k)
        return labels

    @abstractmethod
    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Compute the group of each hand, (n,), from curves (n, n_outcomes) and weights (n,)."""


class Agglomeration(_ByOutcomes):
    """A grouping by agglomerative clustering, with the cost of Equation 1 (`agglomeration`) or of Ward's linkage."""

    def __init__(self, *, max_factor: bool) -> None:
        self.max_factor = max_factor

    def even(
        self, board: Sequence[int], hands: NDArray[np.integer], k: int, deck: Deck, n_board: int
    ) -> Labels:
        if not self.max_factor:
            return super().even(board, hands, k, deck, n_board)
        return BoardTree.of(board, deck, hands.shape[1], n_board).labels(board, k)

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        tree = merge_tree(curves, mass, max_factor=self.max_factor)
        return cut_labels(tree, k, curves.mean(axis=1), mass)


class OutcomeMeans(_ByOutcomes):
    """A grouping by k-means on the sorted outcomes."""

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        return _k_means(curves, curves, mass, k)


class StrengthMeans(_ByOutcomes):
    """A grouping by k-means on expected strength and expected squared strength, as poker programs of the 2000s did."""

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        return _k_means(np.stack([curves.mean(axis=1), (curves**2).mean(axis=1)], axis=1), curves, mass, k)


class EquityQuantiles(_ByOutcomes):
    """A grouping by quantiles of all-in equity: hands in order of equity, cut into groups of nearly equal weight.

    Hands of equal equity are in one group.
    """

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        values, value_of = np.unique(curves.mean(axis=1), return_inverse=True)
        return quantile_groups(np.bincount(value_of, weights=mass, minlength=len(values)), k)[value_of]


GROUPINGS: dict[str, Grouping] = {
    "equation-1": Agglomeration(max_factor=True),
    "ward": Agglomeration(max_factor=False),
    "k-means": OutcomeMeans(),
    "strength-k-means": StrengthMeans(),
    "equity-quantiles": EquityQuantiles(),
}
"""The groupings by the names that jobs use."""


def quantile_groups(mass: NDArray[np.number], k: int) -> Labels:
    """Cut a sequence of items into min(k, n_items) runs of nearly equal mass; return the run of each item, from 0.

    ``mass[item]`` is the weight of each item, and the mass of a run is the sum of its items' weights. An item
    belongs to the quantile that contains the middle of its mass, but no run is left empty.
    """
    n_items, n_runs = len(mass), min(k, len(mass))
    middle = (np.cumsum(mass) - mass / 2) / mass.sum() if n_items else mass
    out = np.zeros(n_items, dtype=np.int32)
    run = 0
    for item in range(1, n_items):
        due = n_runs * middle[item] >= run + 1
        last_call = n_items - item == n_runs - 1 - run
        if run < n_runs - 1 and (due or last_call):
            run += 1
        out[item] = run
    return out


def _k_means(features: Floats, curves: Floats, mass: Floats, k: int) -> Labels:
    """Cluster hands by k-means on their features, and number the clusters by the mean outcome of their curves."""
    from sklearn.cluster import KMeans  # loading scikit-learn takes longer than most solves

    different, kind = np.unique(features, axis=0, return_inverse=True)
    of_kind = np.bincount(kind, weights=mass)
    model = KMeans(n_clusters=min(k, len(different)), n_init=3, random_state=0)
    clusters = model.fit_predict(different, sample_weight=of_kind)[kind]
    return number_by_mean(clusters, curves.mean(axis=1), mass)
