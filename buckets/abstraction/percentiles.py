"""Percentile outcomes on all boards of a game, from one table of the final boards, and features of boards.

On a final board the outcome of a hand is the percentile of its strength among the hands that the board does not block,
``(weaker + equal / 2) / all``. It is rounded to one of 255 *grades*: grade g stands for (g + 1/2) / 255. Unlike the
module `outcomes`, this module counts opposing hands that share a card with the hand, so a stronger hand never has a
lower grade. On an earlier board a hand has one outcome for each way to deal the remaining cards.

Boards are clustered by *features*. Hands that are equal up to suits form a starting hand: hold'em has 169 starting
hands; a game with one hole card has one for each rank. Each hand that the board does not block has a mean outcome on
the board. A board has two features for each starting hand: the mean and the standard deviation of the mean outcomes of
its hands. The deviation shows the effect of suits. Features are scaled by the square root of the starting hand's share
of all hands, so that the squared distance of two boards is the mean squared difference over a random hand. If a board
blocks all hands of a starting hand, the mean over the other boards is used. Finally the features are projected on their
longest principal axes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.spec import GRADES
from buckets.cards.boards import BoardMap, binomials, sets_of
from buckets.cards.cards import Deck
from buckets.cards.hands import card_places, hands, preflop_classes
from buckets.cards.symmetry import hand_orbits, hand_permutations

if TYPE_CHECKING:
    from buckets.kernels.percentiles import Finals

BOARDS_AT_ONCE = 512
"""Number of boards between two calls of the progress function."""

N_AXES = 32
"""Largest number of principal axes."""

Progress = Callable[[int], object]
"""A function that is called with the number of boards that were finished since the last call."""


@dataclass(frozen=True)
class Percentiles:
    """The grades (percentiles of strength, 0 to 254) of all hands on all final boards of a game.

    Attributes:
        finals: index of all final boards, in which the order of the cards does not matter.
        grades: ``[canonical final board, hand]``; 255: the board blocks the hand.
    """

    deck: Deck
    hole: int
    finals: BoardMap
    grades: NDArray[np.uint8]

    @classmethod
    def of(cls, deck: Deck, hole: int, finals: BoardMap, progress: Progress = lambda n: None) -> Self:
        """Compute the grades of a game from the index of its final boards."""
        from buckets.kernels.percentiles import fill_grades

        all_hands = hands(deck, hole).astype(np.int64)
        grades = np.empty((len(finals.boards), len(all_hands)), dtype=np.uint8)
        for start in range(0, len(grades), BOARDS_AT_ONCE):
            batch = slice(start, start + BOARDS_AT_ONCE)
            fill_grades(finals.boards[batch], all_hands, grades[batch])
            progress(len(grades[batch]))
        return cls(deck, hole, finals, grades)

    def more(self, n_cards: int) -> NDArray[np.int64]:
        """List all ways to complete a board of `n_cards`: ``[completion, card]``, indices among the remaining cards."""
        return sets_of(len(self.deck) - n_cards, self.finals.boards.shape[1] - n_cards)

    def n_outcomes(self, n_cards: int) -> int:
        """Number of outcomes that a hand has on a board of `n_cards`."""
        return comb(len(self.deck) - n_cards - self.hole, self.finals.boards.shape[1] - n_cards)

    def curves(self, boards: NDArray[np.int64], n_points: int) -> NDArray[np.float32]:
        """Compute the curve of each hand: its sorted outcomes are cut into `n_points` equal parts, which are averaged.

        The result is ``[board, hand, point]``; nan: the board blocks the hand. Hands that are equal up to suits on a
        board have identical curves.
        """
        from buckets.kernels.percentiles import fill_curves

        out = np.empty((len(boards), self.grades.shape[1], n_points), dtype=np.float32)
        fill_curves(self.bundle, boards, self.more(boards.shape[1]), out)
        return out

    def seen(
        self, boards: NDArray[np.int64], counts: NDArray[np.int64], board_buckets: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Count the hands of each grade of strength on the boards of each bucket: ``[board bucket, grade]``.

        ``counts[board]`` is the number of boards that each board stands for.
        """
        from buckets.kernels.percentiles import count_grades, fill_grades

        all_hands = hands(self.deck, self.hole).astype(np.int64)
        out = np.zeros((int(board_buckets.max()) + 1, GRADES + 1), dtype=np.int64)
        for start in range(0, len(boards), BOARDS_AT_ONCE):
            batch = slice(start, start + BOARDS_AT_ONCE)
            grades = self.grades[batch]
            if boards is not self.finals.boards:
                grades = np.empty((len(boards[batch]), len(all_hands)), dtype=np.uint8)
                fill_grades(boards[batch], all_hands, grades)
            count_grades(grades, counts[batch], board_buckets[batch].astype(np.int64), out)
        return out[:, :GRADES]

    @cached_property
    def bundle(self) -> "Finals":
        """The grades and the index of the final boards, in the form that the kernels need."""
        from buckets.kernels.percentiles import Finals

        return Finals(
            hands(self.deck, self.hole).astype(np.int64),
            card_places(self.deck),
            len(self.deck),
            binomials(),
            np.array([self.finals.boards.shape[1]], dtype=np.int64),
            self.finals.canonical,
            self.finals.perm_of,
            hand_permutations(self.deck, self.hole),
            self.grades,
        )


class Features(NamedTuple):
    """Features of boards (described in the module), projected on the principal axes along which they vary most.

    Attributes:
        values: ``[board, axis]``, with mean 0, the longest axis first.
        kept: share of the features' variance that lies along these axes.
    """

    values: NDArray[np.float32]
    kept: float


def board_features(
    percentiles: Percentiles,
    boards: NDArray[np.int64],
    counts: NDArray[np.int64],
    progress: Progress = lambda n: None,
) -> Features:
    """Compute the features of boards ``[board, card]`` that have the same number of cards.

    ``counts[board]`` is the number of boards that each board stands for.
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


def _principal(
    rows: NDArray[np.float32], scale: NDArray[np.float64], weights: NDArray[np.float64]
) -> Features:
    """Replace nan by column means, scale columns, and project rows on their longest principal axes; changes `rows`."""
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
