"""Features of boards: boards are alike when their rows of features are near each other.

Hands are grouped into kinds that differ only in suits: hold'em's 169 starting hands, or the ranks of one-card games.
The features of a board are, for each kind, the mean and the standard deviation of the mean outcomes (`percentiles`) of
its hands that the board leaves, times the square root of the kind's share of hands. The squared distance of two boards
is then that of a random hand's outcomes, and the deviation shows the effect of suits. If a board leaves no hand of a
kind, the mean over the other boards is used. The features are projected on principal axes, of which the longest are
kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.percentiles import BOARDS_AT_ONCE, Percentiles, Progress
from buckets.cards.cards import Deck
from buckets.cards.hands import hands, preflop_classes
from buckets.cards.symmetry import hand_orbits

N_AXES = 32
"""Number of principal axes."""

Floats = NDArray[np.float32]


class Features(NamedTuple):
    """Features of boards.

    Attributes:
        values: ``[board, axis]``, with mean 0, the longest axis first.
        kept: share of the variance along these axes.
    """

    values: Floats
    kept: float


def board_features(
    percentiles: Percentiles,
    boards: NDArray[np.int64],
    counts: NDArray[np.int64],
    progress: Progress = lambda n: None,
) -> Features:
    """Compute features of boards with the same number of cards.

    Args:
        percentiles: the table of the game.
        boards: ``[board, card]``.
        counts: ``[board]``, number of boards for which each board stands.
        progress: called with the number of boards that were finished since the last call.
    """
    from buckets.kernels.percentiles import fill_features

    kinds = start_kinds(percentiles.deck, percentiles.hole)
    n_kinds = int(kinds.max()) + 1
    out = np.empty((len(boards), 2 * n_kinds), dtype=np.float32)
    more = percentiles.more(boards.shape[1])
    portion = max(BOARDS_AT_ONCE // len(more), 1)
    for start in range(0, len(boards), portion):
        some = slice(start, start + portion)
        fill_features(percentiles.bundle, boards[some], more, kinds, n_kinds, out[some])
        progress(len(boards[some]))
    share = np.bincount(kinds) / len(kinds)
    return _principal(out, np.sqrt(np.tile(share, 2)), counts / counts.sum())


def start_kinds(deck: Deck, hole: int) -> NDArray[np.int64]:
    """Number the classes of hands that are equal up to suits: ``[hand]``; hold'em has the 169 of `preflop_classes`."""
    if hole == 2 and deck == Deck():
        return preflop_classes()[0].astype(np.int64)
    return hand_orbits((), hands(deck, hole), deck)


def _principal(rows: Floats, scale: NDArray[np.float64], weights: NDArray[np.float64]) -> Features:
    """Replace nan by column means, scale columns, and project rows on their principal axes; overwrites `rows`."""
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
