"""The merge tree of a board: every number of buckets of one board from one fit.

A tree is computed for the *canonical* board, the smallest of the boards that differ by a renaming of suits, so that
equivalent boards share one tree and break ties alike. `BoardTree.labels` permutes the labels to the given board.
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
    """All merges of the hands that a board leaves, by Equation 1; each hand has weight 1.

    Attributes:
        board: the canonical board, ascending.
        tree: leaves are the hands that the board leaves, in order of hand number.
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
        """Compute the outcomes and the tree of a board, canonical or not."""
        deck = deck or Deck()
        cards = canonical_board(board, deck)
        hands = all_hands(deck, hole)
        curves = outcomes(cards, hands, deck, n_board)[~blocked(hands, cards)]
        return cls(cards, deck, hole, merge_tree(curves, np.ones(len(curves))), curves.mean(axis=1))

    def labels(self, board: Sequence[int], k: int) -> NDArray[np.int32]:
        """Return the bucket of each hand of the deck, -1: blocked; there are min(k, n_distinct) buckets.

        Args:
            board: a board that differs from the tree's board by a renaming of suits at most.
            k: number of buckets, at least 1. Buckets are numbered from the weakest to the strongest.
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
    """Return the smallest board that differs from this one by a renaming of suits; cards ascending."""
    return canonical((tuple(board),), deck)[0][0]
