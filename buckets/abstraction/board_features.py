"""Features of boards, by which boards are clustered.

Hands that are equal up to suits form a starting hand: hold'em has 169 starting hands; a game with one hole card has one
for each rank. Each hand that the board does not block has a mean outcome on the board (see `percentiles`). A board has
two features for each starting hand: the mean and the standard deviation of the mean outcomes of its hands. The
deviation shows the effect of suits. Features are scaled by the square root of the starting hand's share of all hands,
so that the squared distance of two boards is the mean squared difference over a random hand. If a board blocks all
hands of a starting hand, the mean over the other boards is used. Finally the features are projected on their longest
principal axes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.percentiles import BOARDS_AT_ONCE, Percentiles, Progress
from buckets.cards.cards import Deck
from buckets.cards.hands import hands, preflop_classes
from buckets.cards.symmetry import hand_orbits

N_AXES = 32
"""Largest number of principal axes."""

Floats = NDArray[np.float32]


class Features(NamedTuple):
    """Features of boards, projected on the principal axes along which they vary most.

    Attributes:
        values: ``[board, axis]``, with mean 0, the longest axis first.
        kept: share of the features' variance that lies along these axes.
    """

    values: Floats
    kept: float


def board_features(
    percentiles: Percentiles,
    boards: NDArray[np.int64],
    counts: NDArray[np.int64],
    progress: Progress = lambda n: None,
) -> Features:
    """Compute the features of boards that have the same number of cards.

    Args:
        percentiles: the grades on the game's final boards.
        boards: ``[board, card]``.
        counts: ``[board]``, number of boards that each board stands for.
        progress: called with the number of boards that were finished since the last call.
    """
    from buckets.kernels.percentiles import fill_features

    kinds = start_kinds(percentiles.deck, percentiles.hole)
    n_kinds = int(kinds.max()) + 1
    out = np.empty((len(boards), 2 * n_kinds), dtype=np.float32)
    more = percentiles.more(boards.shape[1])
    batch_size = max(BOARDS_AT_ONCE // len(more), 1)
    for start in range(0, len(boards), batch_size):
        batch = slice(start, start + batch_size)
        fill_features(percentiles.bundle, boards[batch], more, kinds, n_kinds, out[batch])
        progress(len(boards[batch]))
    share = np.bincount(kinds) / len(kinds)
    return _principal(out, np.sqrt(np.tile(share, 2)), counts / counts.sum())


def start_kinds(deck: Deck, hole: int) -> NDArray[np.int64]:
    """Return the number of each hand's starting hand: ``[hand]``; hands that are equal up to suits share a number.

    Hold'em has the 169 starting hands of `preflop_classes`.
    """
    if hole == 2 and deck == Deck():
        return preflop_classes()[0].astype(np.int64)
    return hand_orbits((), hands(deck, hole), deck)


def _principal(rows: Floats, scale: NDArray[np.float64], weights: NDArray[np.float64]) -> Features:
    """Replace nan by column means, scale columns, and project rows on their longest principal axes; changes `rows`.

    ``scale`` has a factor for each column, ``weights`` the weight of each row in means and variances.
    """
    gaps = np.isnan(rows)
    known = np.maximum(weights @ ~gaps, np.finfo(float).tiny)
    np.copyto(rows, 0, where=gaps)
    means = weights @ rows / known
    np.copyto(rows, np.broadcast_to(means, rows.shape), where=gaps)
    rows -= means.astype(np.float32)
    rows *= scale.astype(np.float32)
    spread = rows.T @ (rows * weights[:, None].astype(np.float32))
    sizes, axes = np.linalg.eigh(spread.astype(np.float64))
    longest = np.argsort(sizes)[::-1][:N_AXES]
    values = rows @ axes[:, longest].astype(np.float32)
    return Features(values, float(sizes[longest].sum() / sizes.sum()) if sizes.sum() > 0 else 1.0)
