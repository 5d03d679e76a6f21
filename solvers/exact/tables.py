"""A game as the exact engine's kernels read it: steps of the betting, blocks of hands, ties, maps between rounds.

A round's betting is a list of steps for one traverser (`Program`); kernels run through the lists once for each block.
For a leaf pair (see `solvers.exact`) let

    D[h] = (opposing reach that hand h beats) − (opposing reach that beats h)
    T[h] = all opposing reach compatible with h

A fold is worth T times the chips that the traverser wins or loses. A showdown for ``stake`` with ``rake`` is worth
``(stake − rake / 2) * D − rake / 2 * T``. Leaf pairs are sorted by what they need: T alone (folds), T and D (a fold and
a showdown, or a raked showdown), D alone. A sequence with several folds or showdowns has several leaf pairs; their
number is padded to a multiple of 16.

A player's hands on a board fill whole blocks of 16 rows. Rows after the last hand are padding: they hold card
`NO_CARD`, never get reach, and have values of 0. The player's blocks on board b are ``first_block[b] .. first_block[b +
1] - 1`` of the round. Buffers with a row for each hand of a board have one more row after all blocks, the *zero row*,
which is always 0.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from compiled.records import Records
from compiled.vector import TILE, WIDTH
from solvers.game import Deal, Hands, LiveGame, Round
from solvers.steps import ReachStep, ValueStep, reach_steps, value_steps
from solvers.tree import FOLD, SHOWDOWN, Forest, Ints

Int32s = NDArray[np.int32]
NO_CARD = 52
"""Card of the padding rows."""


class Program(NamedTuple):
    """The betting of a round for one traverser, as lists that kernels read.

    T is the opposing reach compatible with a hand, and D the opposing reach that the hand beats minus the reach that
    beats it. `solvers.exact` explains leaf pairs and sequences. Offsets count elements of buffers with 16 hands for
    each node or sequence.

    Attributes:
        n_roots: number of lines that enter the round.
        root_width: ``n_roots`` padded to a multiple of 8.
        down: `ReachStep` of each of the opponent's decisions.
        up: `ValueStep` of each decision.
        n_leaf_pairs: number of leaf pairs, a multiple of 16.
        leaf_pairs: ``[leaf pair]``, offset of the opponent's sequence.
        total_end: leaf pairs before this number need T; a multiple of 16.
        win_start: leaf pairs from this number on need D; a multiple of 16.
        folds, showdowns: ``[leaf pair]``, offset of the fold and of the showdown; a spare node if there is none.
        fold_pay, win_pay, rake_pay: ``[leaf pair]``, chips: a fold is worth ``fold_pay * T``, a showdown ``win_pay * D
            + rake_pay * T``.
        raked: whether any ``rake_pay`` is not 0.
        n_exits: number of chance leaves.
        exit_width: ``n_exits`` padded to a multiple of 8.
        exits: ``[chance leaf]``, offset of the opponent's sequence, padded to ``exit_width``.
        exit_nodes: ``[chance leaf]``, offset of the node.
    """

    n_roots: int
    root_width: int
    n_sequences: int
    n_nodes: int
    n_own_slots: int
    n_other_slots: int
    n_down: int
    down: Records
    n_up: int
    up: Records
    n_leaf_pairs: int
    leaf_pairs: Ints
    total_end: int
    win_start: int
    folds: Ints
    fold_pay: np.ndarray
    showdowns: Ints
    win_pay: np.ndarray
    raked: bool
    rake_pay: np.ndarray
    n_exits: int
    exit_width: int
    exits: Ints
    exit_nodes: Ints


def padded(n: int, to: int = TILE) -> int:
    """The smallest multiple of ``to`` that is at least n.

    >>> padded(17), padded(16, 16), padded(0)
    (24, 16, 0)
    """
    return -(-n // to) * to


def program(forest: Forest, p: int, locked: dict[int, int]) -> Program:
    """Make the `Program` of a round's betting for traverser p.

    ``locked`` has the number of each locked decision's lock, by the decision's node.
    """
    if locked:
        return _program(forest, p, locked)
    kept = _kept.setdefault(
        forest, {}
    )  # as long as the forest exists: solves of many boards share their betting
    if p not in kept:
        kept[p] = _program(forest, p, {})
    return kept[p]


_kept: WeakKeyDictionary[Forest, dict[int, Program]] = WeakKeyDictionary()


def _program(forest: Forest, p: int, locked: dict[int, int]) -> Program:
    a, q = forest.arrays, 1 - p
    down, up = reach_steps(a, q, locked), value_steps(a, p, locked)
    leaf_pairs, total_end, win_start = _leaf_pairs(forest, p)
    fold, showdown = (np.array([leaf_pair[k] for leaf_pair in leaf_pairs], dtype=np.int64) for k in (1, 2))
    gain = a.stake * (1 if p == 0 else -1)
    fold_pay = np.where(fold >= 0, gain[fold] - np.where(gain[fold] > 0, a.rake[fold], 0.0), 0.0)
    rake_pay = np.where(showdown >= 0, -a.rake[showdown] / 2, 0.0)
    win_pay = np.where(showdown >= 0, a.stake[showdown], 0.0) + rake_pay
    leaves = forest.chance_leaves
    exits = np.zeros(padded(len(leaves)), dtype=np.int64)
    exits[: len(leaves)] = WIDTH * a.sequence[q, leaves]
    return Program(
        n_roots=forest.n_roots,
        root_width=padded(forest.n_roots),
        n_sequences=max(forest.n_sequences(q), padded(forest.n_roots)),
        n_nodes=forest.n_nodes,
        n_own_slots=forest.n_slots[p],
        n_other_slots=forest.n_slots[q],
        n_down=len(down),
        down=Records(ReachStep, down),
        n_up=len(up),
        up=Records(ValueStep, up),
        n_leaf_pairs=len(leaf_pairs),
        leaf_pairs=WIDTH * np.array([leaf_pair[0] for leaf_pair in leaf_pairs], dtype=np.int64),
        total_end=total_end,
        win_start=win_start,
        folds=WIDTH * np.where(fold >= 0, fold, forest.n_nodes),
        fold_pay=fold_pay.astype(np.float32),
        showdowns=WIDTH * np.where(showdown >= 0, showdown, forest.n_nodes),
        win_pay=win_pay.astype(np.float32),
        raked=bool(rake_pay.any()),
        rake_pay=rake_pay.astype(np.float32),
        n_exits=len(leaves),
        exit_width=len(exits),
        exits=exits,
        exit_nodes=WIDTH * leaves,
    )


def _leaf_pairs(forest: Forest, p: int) -> tuple[list[tuple[int, int, int]], int, int]:
    """List the leaf pairs: folds and showdowns after the same sequence of the opponent.

    Returns (sequence, fold or -1, showdown or -1) for each leaf pair, then `Program.total_end` and `Program.win_start`.
    """
    a, sequence = forest.arrays, forest.arrays.sequence[1 - p]
    leaves: dict[int, tuple[list[int], list[int]]] = {}
    for k, kind in enumerate((FOLD, SHOWDOWN)):
        for n in np.flatnonzero(a.kind == kind).tolist():
            leaves.setdefault(int(sequence[n]), ([], []))[k].append(n)
    leaf_pairs = [
        (number, fold, showdown)
        for number, (folds, showdowns) in sorted(leaves.items())
        for fold, showdown in zip_longest(folds, showdowns, fillvalue=-1)
    ]

    def needs(leaf_pair: tuple[int, int, int]) -> tuple[bool, bool]:
        _, fold, showdown = leaf_pair
        return showdown >= 0, not (fold >= 0 or (showdown >= 0 and a.rake[showdown] > 0))

    leaf_pairs.sort(key=needs)  # first leaf pairs that need T alone, then T and D, then D alone
    n_total = sum(not no_total for _, no_total in map(needs, leaf_pairs))
    n_win = sum(win for win, _ in map(needs, leaf_pairs))
    win_start = (len(leaf_pairs) - n_win) // WIDTH * WIDTH
    leaf_pairs += [(0, -1, -1)] * (padded(len(leaf_pairs), WIDTH) - len(leaf_pairs))
    return leaf_pairs, padded(n_total, WIDTH), win_start


class HandTable(NamedTuple):
    """Hands of a player on all boards of a round, in blocks of 16 rows.

    Attributes:
        count: ``[board]``, number of hands.
        first_block: ``[board + 1]``, first block of each board.
        cards: ``[row, 2]``, cards of each hand, for the rows of all blocks of the round.
        same_cards: ``[row]``, the opponent's row on the board with the same two cards. If there is no such row, the row
            after the opponent's last block, in which buffers have 0.
    """

    count: Ints  # type: ignore[assignment]  # tuples have a method of that name
    first_block: Ints
    cards: Int32s
    same_cards: Int32s


class ClassTable(NamedTuple):
    """Groups of hands of equal strength, of both players and in ascending order; empty in rounds without showdowns.

    Attributes:
        first: ``[board + 1]``; board b has the groups ``first[b] .. first[b + 1] - 1``.
        ends: ``[group, 2]``; group k ends before row ``ends[k, 0]`` of the player and row ``ends[k, 1]`` of the
            opponent.
    """

    first: Ints
    ends: Int32s


class DealTable(NamedTuple):
    """Maps from the boards of a round to the boards of the next round, for one player.

    Each *entry* leads from a board to a board of the next round. It stands for one or several dealt boards, which are
    equal up to suits.

    Attributes:
        first: ``[board + 1]``, first entry of each board.
        child: ``[entry]``, the board of the next round.
        first_row: ``[entry]``, index of the entry's first row in ``parent_row``.
        parent_row: for each row of the entry's board of the next round, the row of the same hand in this round. Padding
            rows have the row after the last block, in which buffers have 0.
        first_image: entry e stands for the dealt boards ``first_image[e] .. first_image[e + 1] - 1``.
        child_row_width: number of rows of ``child_row`` for a dealt board.
        child_row: ``[dealt board, row]``, the next round's row of each row of this round, or -1.
        probability: probability of one dealt board, given both hands.
    """

    first: Ints
    n_entries: int
    child: Ints
    first_row: Ints
    parent_row: Int32s
    first_image: Ints
    child_row_width: int
    child_row: Int32s
    probability: float


def n_blocks(count: int) -> int:
    """Number of blocks of 16 rows that ``count`` hands fill."""
    return padded(count, WIDTH) // WIDTH


def hand_table(rows: Hands, other: Hands) -> HandTable:
    count, other_count = rows.n_hands.astype(np.int64), other.n_hands.astype(np.int64)
    first = first_rows(count)
    cards = np.full((first[-1], 2), NO_CARD, dtype=np.int32)
    same_cards = np.repeat(padded_rows(other_count), np.diff(first)).astype(np.int32)
    present = np.arange(rows.cards.shape[1]) < count[:, None]
    board, hand = np.nonzero(present)
    place = first[board] + hand
    cards[place] = rows.cards[present]
    there = rows.same_cards[present]
    same_cards[place] = np.where(there >= 0, there, same_cards[place])
    return HandTable(count, first // WIDTH, cards, same_cards)


def padded_rows(count: Ints) -> Ints:
    """Number of rows of the blocks that each board's ``count[board]`` hands fill."""
    rows: Ints = -(-count // WIDTH) * WIDTH
    return rows


def first_rows(count: Ints) -> Ints:
    """First row of each board, if boards fill whole blocks of 16 rows, and the end of the last: ``[board + 1]``."""
    return np.concatenate([[0], np.cumsum(padded_rows(count))]).astype(np.int64)


def class_tables(r: Round) -> tuple[ClassTable, ClassTable]:
    """Make each player's `ClassTable` of a round; they are empty if the round has no showdowns."""
    if r.deal is not None:
        nothing = ClassTable(np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int32))
        return nothing, nothing
    strengths = _strengths(r)
    levels = distinct(*strengths)
    board = levels >> 32
    first = np.searchsorted(board, np.arange(r.n_boards + 1))
    starts = [np.concatenate([[0], np.cumsum(rows.n_hands)])[board] for rows in r.hands]
    ends = [
        np.searchsorted(strength, levels, side="right") - start
        for strength, start in zip(strengths, starts, strict=True)
    ]
    by_player = (np.stack(pair, axis=1).astype(np.int32) for pair in (ends, ends[::-1]))
    own, other = (ClassTable(first.astype(np.int64), pair) for pair in by_player)
    return own, other


def class_bytes(r: Round) -> int:
    """Bytes of both players' `ClassTable.ends` of a round, counted without making the tables."""
    return 0 if r.deal is not None else 2 * 2 * np.dtype(np.int32).itemsize * len(distinct(*_strengths(r)))


def _strengths(r: Round) -> list[Ints]:
    """Each player's strengths on all boards of a round, ascending: the board counts more than the strength."""
    above = np.arange(r.n_boards, dtype=np.int64)[:, None] << 32
    present = (np.arange(rows.strength.shape[1]) < rows.n_hands[:, None] for rows in r.hands)
    return [(rows.strength + above)[there] for rows, there in zip(r.hands, present, strict=True)]


def distinct(first: Ints, second: Ints) -> Ints:
    """Return the numbers that occur in at least one of two ascending arrays, each once, ascending."""
    # not np.union1d: it loads numpy.ma, which takes longer than the rest of a small job's plan
    both = np.sort(np.concatenate([first, second]), kind="stable")  # which merges ascending runs
    different: Ints = both[np.diff(both, prepend=both[:1] - 1) > 0]
    return different


def deal_table(deal: Deal, above: Hands, below: Hands, p: int) -> DealTable:
    """Make player p's `DealTable` from p's hands on the boards of the round ``above`` and of the round ``below``."""
    parent_of = np.repeat(np.arange(len(deal.first) - 1), np.diff(deal.first))
    count = below.n_hands[deal.child].astype(np.int64)
    first = first_rows(count)
    parent_row = np.repeat(padded_rows(above.n_hands[parent_of]), np.diff(first)).astype(np.int32)
    present = np.arange(deal.parent_row[p].shape[1]) < count[:, None]
    entry, hand = np.nonzero(present)
    parent_row[first[entry] + hand] = deal.parent_row[p][present]
    return DealTable(
        deal.first.astype(np.int64),
        len(deal.child),
        deal.child.astype(np.int64),
        first,
        parent_row,
        deal.first_image.astype(np.int64),
        deal.child_row[p].shape[1],
        np.ascontiguousarray(deal.child_row[p], dtype=np.int32),
        float(deal.probability),
    )


def entering_reach(game: LiveGame, p: int) -> np.ndarray:
    """Player p's initial range, as if it were the reach at the only chance leaf of a previous round.

    The array is a flat ``[row, chance leaf]``. Chance leaves are padded to 8, so the last seven columns are 0. Padding
    rows and one more row at the end are 0, too.
    """
    rows = game.rounds[0].hands[p]
    count = int(rows.n_hands[0])
    out = np.zeros((WIDTH * n_blocks(count) + 1, padded(1)), dtype=np.float32)
    out[:count, 0] = game.reach[p][0, :count]
    return out.reshape(-1)
