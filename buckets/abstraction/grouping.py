"""Grouping: which hands share a bucket on a board, in several ways under one contract.

A grouping labels each hand. On one board labels are numbered from the weakest group, 0, to the strongest, without gaps.
Hands that the board blocks get -1; all other hands get a label, whatever their weight. If no remaining hand has weight,
all have equal weight. Hands with the same outcomes share a label, hence also hands that a symmetry of the board maps
onto each other; so there can be fewer than k groups. Equal arguments give equal labels.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import merge_tree
from buckets.abstraction.board_tree import BoardTree
from buckets.abstraction.cut import cut_labels, number_by_mean, positive_weights
from buckets.abstraction.outcomes import outcomes
from buckets.cards.cards import Deck
from buckets.cards.hands import blocked
from buckets.cards.showdown import check_board
from buckets.errors import BoardError, RangeError
from buckets.types import Floats

Labels = NDArray[np.int32]


class Grouping(Protocol):
    """A function that computes the buckets of a board."""

    def __call__(
        self,
        board: Sequence[int],
        hands: NDArray[np.integer],
        weights: NDArray[np.floating],
        k: int,
        deck: Deck | None = None,
        n_board: int = 5,
    ) -> Labels:
        """Label hands with at most k groups: (n_hands,).

        Args:
            board: the public cards so far.
            hands: (n_hands, hole), all hands of the deck.
            weights: (n_hands,).
            k: number of groups, at least 1.
            deck: the cards of the game; None: 52 cards.
            n_board: number of public cards at the showdown.
        """
        ...


class _ByOutcomes(ABC):
    """A grouping by the sorted outcomes and the weights of the hands that a board leaves."""

    def __call__(
        self,
        board: Sequence[int],
        hands: NDArray[np.integer],
        weights: NDArray[np.floating],
        k: int,
        deck: Deck | None = None,
        n_board: int = 5,
    ) -> Labels:
        """Label hands, see `Grouping`."""
        deck = deck or Deck()
        if weights.shape != (len(hands),):
            raise RangeError(f"weights: expected shape ({len(hands)},), got {weights.shape}")
        if k < 1:
            raise BoardError(f"groups: expected at least 1, got {k!r}")
        check_board(board, deck)
        live = ~blocked(hands, board)
        given = weights[live].astype(np.float64)
        mass = positive_weights(given if given.any() else None, int(live.sum()))
        labels = np.full(len(hands), -1, dtype=np.int32)
        if (mass == mass[:1]).all():
            labels[live] = self.even(board, hands, k, deck, n_board)[live]
        else:
            labels[live] = self.group(outcomes(board, hands, deck, n_board)[live], mass, k)
        return labels

    def even(
        self, board: Sequence[int], hands: NDArray[np.integer], k: int, deck: Deck, n_board: int
    ) -> Labels:
        """Label all hands when the hands that the board leaves have equal weights."""
        live = ~blocked(hands, board)
        labels = np.full(len(hands), -1, dtype=np.int32)
        labels[live] = self.group(outcomes(board, hands, deck, n_board)[live], np.ones(int(live.sum())), k)
        return labels

    @abstractmethod
    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Label curves (n, n_outcomes) with positive mass (n,)."""


class Agglomeration(_ByOutcomes):
    """The merge tree of Equation 1, or of Ward's linkage, cut at k."""

    def __init__(self, *, max_factor: bool) -> None:
        self.max_factor = max_factor

    def even(
        self, board: Sequence[int], hands: NDArray[np.integer], k: int, deck: Deck, n_board: int
    ) -> Labels:
        """Label hands by `BoardTree`, so that labels equal those from the bucket locker."""
        if not self.max_factor:
            return super().even(board, hands, k, deck, n_board)
        return BoardTree.of(board, deck, hands.shape[1], n_board).labels(board, k)

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Cut a merge tree of curves with this mass."""
        tree = merge_tree(curves, mass, max_factor=self.max_factor)
        return cut_labels(tree, k, curves.mean(axis=1), mass)


class OutcomeMeans(_ByOutcomes):
    """k-means on the outcomes."""

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Cluster by the outcomes, rank by rank."""
        return _k_means(curves, curves, mass, k)


class StrengthMeans(_ByOutcomes):
    """k-means on expected strength and expected squared strength, as many poker programs of the 2000s."""

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Cluster by the mean outcome and the mean square."""
        return _k_means(np.stack([curves.mean(axis=1), (curves**2).mean(axis=1)], axis=1), curves, mass, k)


class EquityQuantiles(_ByOutcomes):
    """Quantiles: runs of nearly equal weight in the order of all-in equity."""

    def group(self, curves: Floats, mass: Floats, k: int) -> Labels:
        """Cut the order of equities into runs; hands of equal equity are in one run."""
        values, value_of = np.unique(curves.mean(axis=1), return_inverse=True)
        return quantile_groups(np.bincount(value_of, weights=mass, minlength=len(values)), k)[value_of]


#: The groupings by the names that jobs use.
GROUPINGS: dict[str, Grouping] = {
    "equation-1": Agglomeration(max_factor=True),
    "ward": Agglomeration(max_factor=False),
    "k-means": OutcomeMeans(),
    "strength-k-means": StrengthMeans(),
    "equity-quantiles": EquityQuantiles(),
}


def quantile_groups(mass: NDArray[np.number], k: int) -> Labels:
    """Cut a row of items into min(k, n_items) runs of nearly equal mass; return the run of each item, from 0.

    The middle of an item's mass decides its run, unless a run would be empty.
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
    """Cluster the different rows of features by k-means; number clusters by the mean outcome of their curves."""
    from sklearn.cluster import KMeans  # loading scikit-learn takes longer than most solves

    different, kind = np.unique(features, axis=0, return_inverse=True)
    of_kind = np.bincount(kind, weights=mass)
    model = KMeans(n_clusters=min(k, len(different)), n_init=3, random_state=0)
    found = model.fit_predict(different, sample_weight=of_kind)[kind]
    return number_by_mean(found, curves.mean(axis=1), mass)
