"""Grouping: which hands share a bucket on a board.

A grouping gives each hand a label. On one board labels are numbered from the weakest group, 0, to the
strongest; each number up to the largest occurs; hands that the board hits get -1, and all others a label,
whatever they weigh. Hands that a symmetry of the board maps onto each other share a label. The same arguments
give the same labels.
"""

from collections.abc import Sequence
from math import comb
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .cards import Deck
from .equity import MAX_BOARDS, showdown_totals
from .errors import BoardError, RangeError
from .hands import blocked
from .symmetry import permute_cards, stabilizer, suit_permutations

#: Final boards drawn where all of them are too many (before hold'em's flop).
PREFLOP_SAMPLES = 10_000


class Grouping(Protocol):
    """What the solver calls for a board's buckets."""

    def __call__(
        self,
        board: Sequence[int],
        hands: NDArray[np.integer],
        weights: NDArray[np.floating],
        k: int,
        deck: Deck | None = None,
        n_board: int = 5,
    ) -> NDArray[np.int32]:
        """Labels (n_hands,) of at most k groups.

        board: the public cards so far; `n_board` is their number at the showdown.
        hands, weights: shapes (n_hands, hole) and (n_hands,); the weights need not matter.
        """
        ...


def equity_quantiles(
    board: Sequence[int],
    hands: NDArray[np.integer],
    weights: NDArray[np.floating],
    k: int,
    deck: Deck | None = None,
    n_board: int = 5,
) -> NDArray[np.int32]:
    """Group hands by all-in equity against all hands that the board leaves, into about equal weights.

    Hands of equal equity stay together, so there are min(k, number of equities) groups. Where no hand that
    the board leaves has weight, each counts the same.
    """
    if weights.shape != (len(hands),):
        raise RangeError(f"weights: expected shape ({len(hands)},), got {weights.shape}")
    if k < 1:
        raise BoardError(f"groups: expected at least 1, got {k!r}")
    deck = deck or Deck()
    equity = _uniform_equities(board, hands, deck, n_board)
    live = ~blocked(hands, board)
    labels = np.full(len(hands), -1, dtype=np.int32)
    values, value_of = np.unique(equity[live], return_inverse=True)
    mass = np.bincount(value_of, weights=weights[live], minlength=len(values))
    if not mass.any():
        mass = np.bincount(value_of, minlength=len(values))
    labels[live] = quantile_groups(mass, k)[value_of]
    return labels


GROUPINGS: dict[str, Grouping] = {"equity-quantiles": equity_quantiles}


def quantile_groups(mass: NDArray[np.number], k: int) -> NDArray[np.int32]:
    """Cut a row of items into min(k, n_items) runs of about equal mass: the run of each item, from 0.

    An item goes where the middle of its mass falls, as far as that leaves no run empty.
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


def _uniform_equities(
    board: Sequence[int], hands: NDArray[np.integer], deck: Deck, n_board: int
) -> NDArray[np.float64]:
    """Equities against all hands, exactly equal where the hands are alike."""
    few = comb(len(deck) - len(board), max(n_board - len(board), 0)) <= MAX_BOARDS
    samples = None if few else PREFLOP_SAMPLES
    won, weight, _ = showdown_totals(board, hands, np.ones(len(hands)), deck, n_board, samples=samples)
    if not few:
        # A sample treats like hands differently: pool them.
        kind = _kinds(board, hands, deck)
        won, weight = (np.bincount(kind, total)[kind].astype(np.float64) for total in (won, weight))
    # A hand without opponents (a deck too small for two players) counts as even.
    equity = np.full(len(hands), 0.5)
    np.divide(won, weight, out=equity, where=weight > 0)
    return equity


def _kinds(board: Sequence[int], hands: NDArray[np.integer], deck: Deck) -> NDArray[np.int64]:
    """Equal numbers for hands that a symmetry of the board maps onto each other."""
    perms = stabilizer((tuple(sorted(board)),), suit_permutations(deck))
    codes = [
        np.sort(permute_cards(hands, perm), axis=1) @ (64 ** np.arange(hands.shape[1])) for perm in perms
    ]
    kinds: NDArray[np.int64] = np.unique(np.min(codes, axis=0), return_inverse=True)[1]
    return kinds
