"""The merge tree of the hands on a board, from which buckets follow for any number of buckets.

The tree is computed for the *canonical* board, the smallest of all boards that are equal up to suits. So these boards
share one tree, and ties are broken in the same way on all of them. `BoardTree.labels` converts the buckets to any of
these boards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree, merge_tree
from buckets.abstraction.cut import cut_labels
from buckets.abstraction.outcomes import outcomes
from buckets.cards.cards import Deck, cards_name
from buckets.cards.hands import blocked
from buckets.cards.hands import hands as all_hands
from buckets.cards.symmetry import canonical, hand_permutation
from buckets.errors import BoardError
from buckets.types import Floats


@dataclass(frozen=True)
class BoardTree:
    """The merge tree, by Equation 1, of all hands that a board does not block; each hand has weight 1.

    Attributes:
        board: the canonical board, ascending.
        deck: the cards of the game.
        hole: number of hole cards.
        tree: the merge tree; its leaves are the hands in order of their numbers.
        means: (n_leaves,), mean outcome of each hand: its all-in equity against the uniform range.
    """

    board: tuple[int, ...]
    deck: Deck
    hole: int
    tree: MergeTree
    means: Floats

    @classmethod
    def of(
        cls, board: Sequence[int], deck: Deck | None = None, hole: int = 2, n_board: int = 5
    ) -> "BoardTree":
        """Compute the merge tree of the hands on a board.

        Args:
            board: the public cards so far; the board need not be canonical.
            deck: the cards of the game; None: 52 cards.
            hole: number of hole cards.
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
