"""Classes of boards by hand: a board's class is that of its first card's rank, rows are hands counted through."""

import numpy as np

from buckets.cards import blocked, hands


class CountedClasses:
    """Class: rank of the first card modulo the round's classes (0 without one); row: number of the hand modulo rows."""

    def __init__(self, game, n_classes, n_rows):
        self.hands, self.n_classes, self.n_rows = hands(game.deck, game.num_hole_cards), n_classes, n_rows

    def boards(self, t, boards):
        classes = [board[0] // 4 % self.n_classes[t] if len(board) else 0 for board in boards]
        rows = np.tile(np.arange(len(self.hands)) % self.n_rows[t], (len(boards), 1))
        for row, board in zip(rows, boards, strict=True):
            row[blocked(self.hands, board.tolist())] = -1
        return np.array(classes), rows
