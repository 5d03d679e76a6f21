"""A round's betting as lists of steps for one traverser; kernels run through the lists once for each block of hands.

A *block* is 16 hands. A *leaf pair* is a fold, a showdown, or one of each, all after the same sequence (last action) of
the opponent; a sequence with more leaves has several leaf pairs. Let

    D[h] = (opposing reach that hand h beats) − (opposing reach that beats h)
    T[h] = all opposing reach compatible with h

A fold is worth T times the chips that the traverser wins or loses. A showdown for ``stake`` with ``rake`` is worth
``(stake − rake / 2) * D − rake / 2 * T``. Leaf pairs are sorted by what they need: T alone (folds), T and D (a fold and
a showdown, or a raked showdown), D alone. Their number is padded to a multiple of 16.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from compiled.records import Records
from compiled.vector import TILE, WIDTH
from solvers.program import ReachStep, ValueStep, reach_steps, value_steps
from solvers.tree import FOLD, SHOWDOWN, Forest, Ints

Singles = np.ndarray


class Program(NamedTuple):
    """The betting of a round for one traverser, as lists that kernels read.

    A leaf pair is a fold, a showdown, or one of each, all after the same sequence (last action) of the opponent. T is
    the opposing reach compatible with a hand, and D the reach that the hand beats minus the reach that beats it.
    Offsets count elements of buffers with 16 hands for each node or sequence.

    Attributes:
        n_roots: number of lines that enter the round.
        root_width: ``n_roots`` padded to a multiple of 8.
        n_sequences: number of the opponent's sequences.
        n_nodes: number of nodes.
        n_own_slots, n_other_slots: number of slots (actions of all decisions) of the traverser and of the opponent.
        n_down: number of steps in ``down``.
        down: `ReachStep` of each of the opponent's decisions.
        n_up: number of steps in ``up``.
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
    fold_pay: Singles
    showdowns: Ints
    win_pay: Singles
    raked: bool
    rake_pay: Singles
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

    A program without locks is cached as long as the forest exists, since solves of many boards share their betting.

    Args:
        forest: the betting trees.
        p: the traverser.
        locked: number of the lock of each locked decision, by the decision's node.
    """
    if locked:
        return _program(forest, p, locked)
    kept = _kept.setdefault(forest, {})
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

    Returns:
        A tuple (sequence, fold or -1, showdown or -1) for each leaf pair; and `Program.total_end`, `Program.win_start`.
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
