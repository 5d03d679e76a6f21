"""The bot's tables in one file: push or fold, board buckets, and betting trees for several stacks.

Cards, hands and strengths are those of `buckets.cards`, of which a package contains the modules that need only NumPy.
A hand's *grade* on a final board is the percentile of its strength among all hands that the board does not block, as a
whole number from 0 to 254. A hand's *curve* on a turn is the sorted list of its grades for all river cards, averaged in
groups of neighbours, with values from 0 to 1. Both are defined as in `buckets.abstraction.percentiles`.

A *rung* is the tree and the strategy for one stack; all rungs together are the *ladder*. The file is NumPy's compressed
``.npz``; each array is read when it is first needed. In the names below, N is a number of board cards, R the number of
a rung, and T a betting round.

=====================  =====================================================================================
``push``, ``call``     ``[stack, starting hand]``, frequencies of going all in, and of calling an all-in
``equity``             ``[starting hand]``, equity against all other hands
``stacks``             ``[rung]``, effective stacks in chips, ascending
``N-keys``             ``[board]``, differences of successive numbers of canonical boards (`canonical`)
``N-classes``          ``[board]``, board bucket of each board
``3-rows``             ``[board, hand]``, row of each hand on each flop; 255 for blocked hands
``4-curves``           ``[board bucket, row, point]``, mean curve of each row on turns; 32,767 means 1
``5-rows``             ``[board bucket, grade]``, row of each grade on rivers
``R-tree``             ``[node, column]``, betting tree, see `Tree`
``R-play-T``           ``[action, board bucket, row]``, frequency of each action but a decision's last; 15 means 1
=====================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import combinations, permutations
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS, Deck
from buckets.cards.hands import blocked, hand_index, hands, preflop_classes
from buckets.cards.rank_sets import board_strength
from buckets.types import Floats, Ints

DECK = Deck()
HANDS: Ints = hands(DECK, 2).astype(np.int64)
"""All hands ``[hand, 2]``, each with ascending cards, in lexicographic order."""
START_CLASSES: Ints = preflop_classes()[0].astype(np.int64)
"""Starting hand of each hand, ``[hand]``: a number from 0 to 168 (`buckets.cards.preflop_classes`)."""
PERMS: Ints = np.array(
    [[card & ~3 | perm[card & 3] for card in range(NUM_CARDS)] for perm in permutations(range(4))],
    dtype=np.int64,
)
"""Card to which each permutation of suits maps each card, ``[permutation, card]``."""
GRADES = 255
BOARDS = 60
"""Number of final boards that are sampled for an equity on a flop."""
_CHOOSE: Ints = np.array([[comb(n, k) for k in range(6)] for n in range(NUM_CARDS + 1)], dtype=np.int64)
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
        """Return a board's index in the tables, its board bucket, and the row in `PERMS` that makes it canonical."""
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


def hand_number(hole: Sequence[int]) -> int:
    return int(hand_index(DECK, hole))


def start_class(hole: Sequence[int]) -> int:
    return int(START_CLASSES[hand_number(hole)])


def canonical(boards: Ints) -> tuple[Ints, Ints]:
    """Find the canonical form of each board ``[board, card]``, of up to five cards.

    Returns:
        A number for each board, equal for boards that differ only in suits, and the row in `PERMS` of a suit
        permutation that makes the board canonical; both ``[board]``.
    """
    moved = np.sort(PERMS[:, boards], axis=2)
    places = np.arange(1, boards.shape[1] + 1)
    numbers = _CHOOSE[moved, places].sum(axis=2)
    perm = numbers.argmin(axis=0)
    return numbers[perm, np.arange(len(boards))], perm


def strengths(board: Sequence[int]) -> Ints:
    """Return the strength of each hand on a final board, ``[hand]``; -1 where the board blocks the hand."""
    return board_strength(np.asarray(board), HANDS).astype(np.int64)


def grades(hole: Sequence[int], boards: Ints) -> Ints:
    """Return the grade of a hand on each final board, ``[board]``; the boards ``[board, 5]`` lack the hand's cards."""
    below, equal, every = _counted(hole, boards, np.ones(len(HANDS), dtype=np.bool_))
    out: Ints = (2 * below + equal) * GRADES // (2 * every)
    return out


def all_grades(boards: Ints) -> Ints:
    """Return the grade of each hand on each final board, ``[board, hand]``; -1 where the board blocks the hand."""
    out = np.full((len(boards), len(HANDS)), -1, dtype=np.int64)
    for row, board in zip(out, boards, strict=True):
        strength = strengths(board)
        there = strength >= 0
        ordered = np.sort(strength[there])
        below, up_to = (np.searchsorted(ordered, strength[there], side) for side in ("left", "right"))
        row[there] = (below + up_to) * GRADES // (2 * len(ordered))
    return out


def curve(hole: Sequence[int], board: Sequence[int], n_points: int) -> Floats:
    """Return a hand's curve on a turn: ``[point]``, ascending, from 0 to 1."""
    out: Floats = _curves(grades(hole, _completed(hole, board))[:, None], n_points)[0]
    return out


def all_curves(board: Sequence[int], n_points: int) -> Floats:
    """Return the curve of each hand on a turn, ``[hand, point]``; those of blocked hands are meaningless."""
    return _curves(all_grades(_completed((), board)), n_points)


def equity(hole: Sequence[int], board: Sequence[int], seed: int = 0) -> float:
    """Return the equity of a hand against all other hands, from 0 to 1, if there is no further betting."""
    boards = _completed(hole, board)
    if len(boards) > NUM_CARDS:
        boards = boards[np.random.default_rng(seed).choice(len(boards), BOARDS, replace=False)]
    below, equal, met = _counted(hole, boards, ~blocked(HANDS, hole))
    return float((below + equal / 2).sum() / met.sum())


def _curves(grades: Ints, n_points: int) -> Floats:
    """Return the curves ``[hand, point]`` for grades ``[board, hand]``, of which those below 0 do not count."""
    ordered = np.sort(grades, axis=0)[-(NUM_CARDS - 4 - 2) :]
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1], axis=0) / np.diff(cuts)[:, None]
    return np.asarray((means.T + 0.5) / GRADES)


def _completed(hole: Sequence[int], board: Sequence[int]) -> Ints:
    """Return all final boards ``[board, 5]`` that begin with a board and contain none of a hand's cards."""
    cards = [card for card in range(NUM_CARDS) if card not in {*hole, *board}]
    return np.array([[*board, *more] for more in combinations(cards, 5 - len(board))], dtype=np.int64)


def _counted(hole: Sequence[int], boards: Ints, among: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """Count, per board, the hands ``among[hand]`` that are weaker than a hand, that tie with it, and all of them."""
    number = hand_number(hole)
    counts = []
    for board in boards:
        strength = strengths(board)
        own = strength[number]
        theirs = strength[among & (strength >= 0)]
        counts.append(((theirs < own).sum(), (theirs == own).sum(), len(theirs)))
    below, equal, every = np.array(counts, dtype=np.int64).T
    return below, equal, every
