"""Percentile outcomes on all boards of a game, from one table of the final boards.

On a final board the outcome of a hand is the percentile of its strength among the hands that the board leaves,
``(below + equal / 2) / all``, in 255 equal *grades*: grade g stands for (g + 1/2) / 255. Unlike `outcomes` this
counts opponents that share a card with the hand, so the grade is a nondecreasing function of strength. On an earlier
board a hand has one outcome for each way to deal the remaining cards.
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
"""Number of boards between two reports of progress."""

Progress = Callable[[int], object]
"""Called with the number of boards that were finished since the last call."""


@dataclass(frozen=True)
class Percentiles:
    """The table of grades of a game.

    Attributes:
        deck: the cards of the game.
        hole: number of hole cards.
        finals: all final boards, as sets.
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
        """Compute the table of a game from the index of its final boards."""
        from buckets.kernels.percentiles import fill_grades

        all_hands = hands(deck, hole).astype(np.int64)
        grades = np.empty((len(finals.boards), len(all_hands)), dtype=np.uint8)
        for start in range(0, len(grades), BOARDS_AT_ONCE):
            some = slice(start, start + BOARDS_AT_ONCE)
            fill_grades(finals.boards[some], all_hands, grades[some])
            progress(len(grades[some]))
        return cls(deck, hole, finals, grades)

    def more(self, n_cards: int) -> NDArray[np.int64]:
        """List all ways to complete a board of `n_cards`: ``[completion, card]``, places among the remaining cards."""
        return sets_of(len(self.deck) - n_cards, self.finals.boards.shape[1] - n_cards)

    def n_outcomes(self, n_cards: int) -> int:
        """Count the outcomes of a hand on a board of `n_cards`."""
        return comb(len(self.deck) - n_cards - self.hole, self.finals.boards.shape[1] - n_cards)

    def curves(self, boards: NDArray[np.int64], n_points: int) -> NDArray[np.float32]:
        """Compute curves of outcomes: the sorted outcomes of each hand of the deck, averaged in `n_points` equal parts.

        Args:
            boards: ``[board, card]``.
            n_points: number of points, at most `n_outcomes`.

        Returns:
            ``[board, hand, point]``; nan: the board blocks the hand. Hands that a symmetry of the board maps onto each
            other have identical curves.
        """
        from buckets.kernels.percentiles import fill_curves

        out = np.empty((len(boards), self.grades.shape[1], n_points), dtype=np.float32)
        fill_curves(self.bundle, boards, self.more(boards.shape[1]), out)
        return out

    def seen(
        self, boards: NDArray[np.int64], counts: NDArray[np.int64], classes: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Count the hands of each grade over the final boards of each class: ``[class, grade]``.

        Args:
            boards: ``[board, card]``.
            counts: ``[board]``, number of boards for which each board stands.
            classes: ``[board]``.
        """
        from buckets.kernels.percentiles import count_grades, fill_grades

        all_hands = hands(self.deck, self.hole).astype(np.int64)
        out = np.zeros((int(classes.max()) + 1, GRADES + 1), dtype=np.int64)
        for start in range(0, len(boards), BOARDS_AT_ONCE):
            some = slice(start, start + BOARDS_AT_ONCE)
            grades = self.grades[some]
            if boards is not self.finals.boards:
                grades = np.empty((len(boards[some]), len(all_hands)), dtype=np.uint8)
                fill_grades(boards[some], all_hands, grades)
            count_grades(grades, counts[some], classes[some].astype(np.int64), out)
        return out[:, :GRADES]

    @cached_property
    def bundle(self) -> "Finals":
        """The table for the kernels."""
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
