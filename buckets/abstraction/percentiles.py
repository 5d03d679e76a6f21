"""Percentile outcomes on all boards of a game, from one table of the final boards.

On a final board the outcome of a hand is the percentile of its strength among the hands that the board does not block,
``(weaker + equal / 2) / all``. It is rounded to one of 255 *grades*: grade g stands for (g + 1/2) / 255. Unlike the
module `outcomes`, this module counts opposing hands that share a card with the hand, so a stronger hand never has a
lower grade. On an earlier board a hand has one outcome for each way to deal the remaining cards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.row_kinds import GRADES
from buckets.cards.boards import BoardMap, binomials, sets_of
from buckets.cards.cards import NUM_CARDS, Deck
from buckets.cards.hands import hands
from buckets.cards.symmetry import hand_permutation, suit_permutations

if TYPE_CHECKING:
    from buckets.kernels.percentiles import Finals

BOARDS_AT_ONCE = 512
"""Number of boards between two calls of the progress function."""

Progress = Callable[[int], object]
"""A function that is called with the number of boards that were finished since the last call."""


@dataclass(frozen=True)
class Percentiles:
    """The grades of all hands on all final boards of a game.

    Attributes:
        deck: the cards of the game.
        hole: number of hole cards.
        finals: index of all final boards, in which the order of the cards does not matter.
        grades: ``[canonical final board, hand]``; 255: the board blocks the hand.
    """

    deck: Deck
    hole: int
    finals: BoardMap
    grades: NDArray[np.uint8]

    @classmethod
    def of(
        cls, deck: Deck, hole: int, finals: BoardMap, progress: Progress = lambda n: None
    ) -> "Percentiles":
        """Compute the grades of a game from the index of its final boards.

        Args:
            deck: the cards of the game.
            hole: number of hole cards.
            finals: index of all final boards.
            progress: called with the number of boards that were finished since the last call.
        """
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
        """Return the number of outcomes that a hand has on a board of `n_cards`."""
        return comb(len(self.deck) - n_cards - self.hole, self.finals.boards.shape[1] - n_cards)

    def curves(self, boards: NDArray[np.int64], n_points: int) -> NDArray[np.float32]:
        """Compute the curve of each hand: its sorted outcomes are cut into `n_points` equal parts, which are averaged.

        Args:
            boards: ``[board, card]``.
            n_points: number of points, at most `n_outcomes`.

        Returns:
            ``[board, hand, point]``; nan: the board blocks the hand. Hands that are equal up to suits on a board have
            identical curves.
        """
        from buckets.kernels.percentiles import fill_curves

        out = np.empty((len(boards), self.grades.shape[1], n_points), dtype=np.float32)
        fill_curves(self.bundle, boards, self.more(boards.shape[1]), out)
        return out

    def seen(
        self, boards: NDArray[np.int64], counts: NDArray[np.int64], board_buckets: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Count the hands of each grade of strength on the boards of each bucket: ``[board bucket, grade]``.

        Args:
            boards: ``[board, card]``.
            counts: ``[board]``, number of boards that each board stands for.
            board_buckets: ``[board]``, the board bucket.
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

        place = np.full(NUM_CARDS, -1, dtype=np.int64)
        place[list(self.deck.cards)] = np.arange(len(self.deck))
        perms = suit_permutations(self.deck)
        return Finals(
            hands(self.deck, self.hole).astype(np.int64),
            place,
            len(self.deck),
            binomials(),
            np.array([self.finals.boards.shape[1]], dtype=np.int64),
            self.finals.canonical,
            self.finals.perm_of,
            np.array([hand_permutation(self.deck, self.hole, perm) for perm in perms], dtype=np.int16),
            self.grades,
        )
