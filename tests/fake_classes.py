"""Classes of boards by hand: a board's class is that of its first card's rank, rows are hands counted through."""

import numpy as np

from buckets.cards import blocked, hands


class CountedClasses:
    """Board bucket: rank of the first card modulo their number, 0 without a board; row: the hand modulo rows."""

    def __init__(self, game, n_board_buckets, n_rows):
        self.hands = hands(game.deck, game.num_hole_cards)
        self.n_board_buckets, self.n_rows = n_board_buckets, n_rows

    def boards(self, t, boards):
        board_buckets = [board[0] // 4 % self.n_board_buckets[t] if len(board) else 0 for board in boards]
        rows = np.tile(np.arange(len(self.hands)) % self.n_rows[t], (len(boards), 1))
        for row, board in zip(rows, boards, strict=True):
            row[blocked(self.hands, board.tolist())] = -1
        return np.array(board_buckets), rows
