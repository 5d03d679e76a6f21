"""The bot's tables in one file: push or fold, board buckets, and betting trees for several stacks.

A *rung* is the tree and the strategy for one stack; all rungs together are the *ladder*. The file is NumPy's compressed
``.npz``; each array is read when it is first needed. In the names below, N is a number of board cards, R the number of
a rung, and T a betting round.

=====================  =====================================================================================
``push``, ``call``     ``[stack, starting hand]``, frequencies of going all in, and of calling an all-in
``equity``             ``[starting hand]``, equity against all other hands
``stacks``             ``[rung]``, effective stacks in chips, ascending
``N-keys``             ``[board]``, differences of successive numbers of canonical boards (`cards.canonical`)
``N-classes``          ``[board]``, board bucket of each board
``3-rows``             ``[board, hand]``, row of each hand on each flop; 255 for blocked hands
``4-curves``           ``[board bucket, row, point]``, mean curve of each row on turns; 32,767 means 1
``5-rows``             ``[board bucket, grade]``, row of each grade on rivers
``R-tree``             ``[node, column]``, betting tree, see `Tree`
``R-play-T``           ``[action, board bucket, row]``, frequency of each action but a decision's last; 15 means 1
=====================  =====================================================================================
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.hands import hand_index
from buckets.types import Floats, Ints
from spewy.competitions.upac.runtime.cards import (
    DECK,
    HANDS,
    PERMS,
    START_CLASSES,
    all_curves,
    all_grades,
    canonical,
    curve,
    grades,
    hand_number,
    start_class,
)

ALWAYS = 15
"""Number in the file that means a frequency of 1."""
CURVE_ONE = 32767
FLOP, TURN, RIVER = 3, 4, 5
"""Number of cards on the board of each round."""
(PLAYER, ROUND, FIRST_CHILD, N_CHILDREN, TOTAL, SLOT, SPENT_0, SPENT_1) = range(8)
FOLD, CALL = -1, 0
"""Values in column `TOTAL` for a fold and a call; other values are the total of a raise."""
_MOST_KEPT = 24


class TablesError(Exception):
    """A file of tables is missing or damaged."""


class Tree(NamedTuple):
    """A betting tree as an array, for one effective stack; player 0 is the big blind.

    Attributes:
        nodes: ``[node, column]``. The columns are: the player to act, or -1 if the betting is over; the betting round;
            the first child; the number of children; the action that leads to the node (-1: fold, 0: check or call,
            else the total of a raise in chips); the row of the decision's first action in the strategy array of its
            round; the chips that player 0 has put in; the chips that player 1 has put in.
    """

    stack: int
    nodes: Ints

    def children(self, node: int) -> range:
        """Return the numbers of the nodes that follow a node, one for each action; a fold comes first."""
        first = int(self.nodes[node, FIRST_CHILD])
        return range(first, first + int(self.nodes[node, N_CHILDREN]))


class Tables:
    """The open file with all that the bot plays from: push-or-fold tables, board buckets, and stored strategies."""

    def __init__(self, file: Path | BytesIO, name: str) -> None:
        self.name = name
        try:
            self._found = np.load(file, allow_pickle=False)
            if not isinstance(self._found, np.lib.npyio.NpzFile):
                raise ValueError("an array by itself")
        except Exception as error:  # zip files fail in many ways
            raise TablesError(f"tables {name}: expected a file that spewy wrote, found: {error}") from None
        self._array = lru_cache(_MOST_KEPT)(self._read)
        self.tree = lru_cache(_MOST_KEPT)(self._read_tree)
        self.row = lru_cache(_MOST_KEPT)(self._row)
        self.rows = lru_cache(_MOST_KEPT)(self._rows)
        self.push, self.call, self.equity = self._array("push"), self._array("call"), self._array("equity")
        self.stacks: tuple[int, ...] = tuple(self._array("stacks").tolist())

    def _row(self, hole: tuple[int, ...], board: tuple[int, ...]) -> tuple[int, int]:
        """Return the board bucket of a board, and the row of a hand on the board."""
        if not board:
            return 0, start_class(hole)
        place, board_bucket, perm = self._found_board(board)
        if len(board) == FLOP:
            moved = hand_number(PERMS[perm][list(hole)].tolist())
            return board_bucket, int(self._array(f"{FLOP}-rows")[place, moved])
        if len(board) == TURN:
            means = self._means(board_bucket)
            away = ((means - curve(hole, board, means.shape[1])) ** 2).sum(axis=1)
            return board_bucket, int(np.argmin(away))
        grade = int(grades(hole, np.array([board]))[0])
        return board_bucket, int(self._array(f"{RIVER}-rows")[board_bucket, grade])

    def _rows(self, board: tuple[int, ...]) -> tuple[int, Ints]:
        """Return the board bucket of a board, and the row ``[hand]`` of each hand (arbitrary for blocked hands)."""
        if not board:
            return 0, START_CLASSES
        place, board_bucket, perm = self._found_board(board)
        if len(board) == FLOP:
            rows = self._array(f"{FLOP}-rows")[place, hand_index(DECK, PERMS[perm][HANDS])]
        elif len(board) == TURN:
            means = self._means(board_bucket)
            curves = all_curves(board, means.shape[1])
            rows = ((curves[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        else:
            rows = self._array(f"{RIVER}-rows")[board_bucket, all_grades(np.array([board]))[0]]
        return board_bucket, rows.astype(np.int64)

    def _found_board(self, board: tuple[int, ...]) -> tuple[int, int, int]:
        """Return a board's place in the tables, its board bucket, and the row in `PERMS` of its canonical suits."""
        numbers, perms = canonical(np.array([board]))
        place = int(np.searchsorted(self._array(f"{len(board)}-keys"), numbers[0]))
        return place, int(self._array(f"{len(board)}-classes")[place]), int(perms[0])

    def _means(self, board_bucket: int) -> Floats:
        means: Floats = self._array(f"{TURN}-curves")[board_bucket].astype(np.float64) / CURVE_ONE
        return means

    def all_frequencies(self, rung: int, node: int, board: tuple[int, ...]) -> Floats:
        """Return the frequencies ``[action, hand]`` of all hands at a decision."""
        board_bucket, rows = self.rows(board)
        return self._whole(rung, node, board_bucket, rows)

    def frequencies(self, rung: int, node: int, hole: tuple[int, ...], board: tuple[int, ...]) -> Floats:
        """Return the frequencies ``[action]`` of one hand at a decision."""
        board_bucket, row = self.row(hole, board)
        return self._whole(rung, node, board_bucket, np.array([row]))[:, 0]

    def close(self) -> None:
        self._found.close()

    def _whole(self, rung: int, node: int, board_bucket: int, rows: Ints) -> Floats:
        """Return the frequencies ``[action, hand]`` at a decision, for hands with the given rows ``[hand]``."""
        nodes = self.tree(rung).nodes
        first, n = int(nodes[node, SLOT]), int(nodes[node, N_CHILDREN])
        table = self._array(f"{rung}-play-{nodes[node, ROUND]}")[first : first + n - 1, board_bucket]
        free = table[:, np.minimum(rows, table.shape[1] - 1)].astype(np.float64) / ALWAYS
        whole = np.vstack([free, np.maximum(1.0 - free.sum(axis=0), 0.0)])
        out: Floats = whole / whole.sum(axis=0)
        return out

    def _read(self, name: str) -> NDArray[Any]:
        try:
            array: NDArray[Any] = self._found[name]
        except Exception as error:  # zip files fail in many ways
            raise TablesError(f"tables {self.name}: expected a member {name}, found: {error}") from None
        return np.cumsum(array, dtype=np.int64) if name.endswith("-keys") else array

    def _read_tree(self, rung: int) -> Tree:
        return Tree(self.stacks[rung], self._array(f"{rung}-tree").astype(np.int64))
