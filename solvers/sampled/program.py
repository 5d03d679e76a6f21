"""A round's strips as lists of numbers for one traverser: what the kernels run through.

Player p is the traverser, q the opponent. A *lane* here is one of q's sequences that ends in a showdown, or one that
ends in a fold: all leaves behind it share what is counted for it. Places in buffers whose rows have 16 numbers are 16
times the number of a sequence, node or slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from compiled.vector import WIDTH, Address, aligned
from solvers.sampled.strips import Run, Shape, Strips
from solvers.tree import DECISION, FOLD, SHOWDOWN, Forest, Ints

(
    OWN_SLOTS,
    OTHER_SLOTS,
    OWN_FIRST,
    OTHER_FIRST,
    OWN_DOWN,
    N_OWN_DOWN,
    OTHER_DOWN,
    N_OTHER_DOWN,
    UP,
    N_UP,
    SHOWS,
    N_SHOWS,
    SHOW_LEAVES,
    N_SHOW_LEAVES,
    FOLDS,
    N_FOLDS,
    FOLD_LEAVES,
    N_FOLD_LEAVES,
    EXITS,
    N_EXITS,
    FIRST_EXIT,
    PAY,
    ALIGNED,
    N_COUNTED,
    SHARED,
    RUNS,
    N_RUNS,
    N_COLUMNS,
) = range(28)
"""Columns of `Program.strips`, and how many there are."""


class Program(NamedTuple):
    """Steps of a round for a traverser.

    Attributes:
        n_rows: of the round's classes.
        own_size, other_size: numbers that a class has of p and of q.
        n_exits: of all strips.
        strips ``[strip, N_COLUMNS]``: sizes, and where in ``code`` and ``pay`` a strip's lists begin; lists of a shape
            are common to its strips.
        code: down ``[step, 3]``: actions, place of the parent sequence, slot; up ``[step, 5]``: 1 if p's, actions,
            place of the node, place of its first child, first slot, children before parents; lanes ``[lane]``: place
            of q's sequence; leaves ``[leaf, 3]``: lane, place of the node, place of p's sequence; exits ``[exit, 3]``:
            places of the node, of q's sequence and of p's. Lanes of showdowns whose sequence has a lane of folds too
            come last; shared: those lanes of folds. The other lanes, N_COUNTED of them, are to be counted.
        pay ``[leaf, 16]``: chips that p wins at a showdown where its hand is the better one; then what a fold gives p.
        runs ``[run, 4]``: `Run` of each strip, one strip after another.
        run_lanes ``[run, 2, 16]``: 1 for lanes of a run, here and above.
        ways ``[exit, 4]``: its strip, its number there, places of q's sequence and of p's.
    """

    n_strips: int
    n_rows: int
    own_size: int
    other_size: int
    n_exits: int
    strips: Address
    code: Address
    pay: Address
    runs: Address
    run_lanes: Address
    ways: Address


class Sizes(NamedTuple):
    """The most that any strip of a round has, and the exits of all, for whoever makes buffers."""

    n_nodes: int
    n_sequences: int
    n_lanes: int
    n_exits: int
    n_strip_exits: int


def program(forest: Forest, strips: Strips, n_rows: int, p: int) -> Program:
    """The steps of traverser p."""
    q = 1 - p
    code: list[int] = []
    lists = [_lists(shape, p, code) for shape in strips.shapes]
    own_first, other_first = strips.first(p, n_rows), strips.first(q, n_rows)
    table = np.zeros((len(strips), N_COLUMNS), dtype=np.int64)
    pay: list[np.ndarray] = []
    runs: list[Run] = []
    for s in range(len(strips)):
        shape, nodes = strips.shape_of(s), strips.nodes[s]
        table[s] = lists[int(strips.shape[s])]
        table[s, [OWN_FIRST, OTHER_FIRST]] = own_first[s], other_first[s]
        table[s, FIRST_EXIT], table[s, ALIGNED] = strips.first_exit[s], strips.aligned[s]
        table[s, PAY] = WIDTH * len(pay)
        table[s, RUNS], table[s, N_RUNS] = len(runs), len(strips.runs[s])
        runs += strips.runs[s]
        stakes = np.where(strips.lines[s] >= 0, forest.arrays.stake[nodes], 0.0)
        pay += [stakes[n] for _, n, _ in _leaves(shape, SHOWDOWN, p)[1]]
        pay += [stakes[n] * (1 if p == 0 else -1) for _, n, _ in _leaves(shape, FOLD, p)[1]]
    return Program(
        len(strips),
        n_rows,
        int(own_first[-1]),
        int(other_first[-1]),
        int(strips.first_exit[-1]),
        table.reshape(-1),
        np.array(code or [0], dtype=np.int64),
        _singles(pay),
        np.array(runs or [Run(0, 0, 0, 0)], dtype=np.int64).reshape(-1),
        _singles(_run_lanes(runs)),
        _ways(strips, p),
    )


def _run_lanes(runs: Iterable[Run]) -> list[np.ndarray]:
    out = []
    for run in runs:
        for first in (run.here, run.above):
            lanes = np.zeros(WIDTH)
            lanes[first : first + run.n] = 1
            out.append(lanes)
    return out


def _ways(strips: Strips, p: int) -> Ints:
    rows = [
        [s, e, WIDTH * int(shape.sequence[1 - p, n]), WIDTH * int(shape.sequence[p, n])]
        for s, shape in enumerate(map(strips.shape_of, range(len(strips))))
        for e, n in enumerate(shape.exits.tolist())
    ]
    return np.array(rows or [[0] * 4], dtype=np.int64).reshape(-1)


def sizes(strips: Strips) -> Sizes:
    """What buffers for a round must hold."""
    shapes = strips.shapes
    lanes = [len(_leaves(shape, kind, p)[0]) for shape in shapes for kind in (SHOWDOWN, FOLD) for p in (0, 1)]
    return Sizes(
        max(len(shape.kind) for shape in shapes),
        1 + max(max(shape.n_slots) for shape in shapes),
        max(lanes),
        int(strips.first_exit[-1]),
        int(np.diff(strips.first_exit).max()),
    )


def _lists(shape: Shape, p: int, code: list[int]) -> list[int]:
    """A shape's row of `Program.strips`, whose lists are appended to the code."""
    q, row = 1 - p, [0] * N_COLUMNS
    row[OWN_SLOTS], row[OTHER_SLOTS] = shape.n_slots[p], shape.n_slots[q]
    decisions = np.flatnonzero(shape.kind == DECISION).tolist()
    for player, (start, count) in ((p, (OWN_DOWN, N_OWN_DOWN)), (q, (OTHER_DOWN, N_OTHER_DOWN))):
        mine = [n for n in decisions if shape.player[n] == player]
        row[start], row[count] = len(code), len(mine)
        for n in mine:
            code += [int(shape.n_actions[n]), WIDTH * int(shape.sequence[player, n]), int(shape.slot[n])]
    row[UP], row[N_UP] = len(code), len(decisions)
    for n in reversed(decisions):
        code += [int(shape.player[n] == p), int(shape.n_actions[n]), WIDTH * n]
        code += [WIDTH * int(shape.first_child[n]), int(shape.slot[n])]
    for kind, columns in (
        (SHOWDOWN, (SHOWS, N_SHOWS, SHOW_LEAVES, N_SHOW_LEAVES)),
        (FOLD, (FOLDS, N_FOLDS, FOLD_LEAVES, N_FOLD_LEAVES)),
    ):
        lanes, leaves = _leaves(shape, kind, p)
        row[columns[0]], row[columns[1]] = len(code), len(lanes)
        code += [WIDTH * sequence for sequence in lanes]
        row[columns[2]], row[columns[3]] = len(code), len(leaves)
        for lane, n, sequence in leaves:
            code += [lane, WIDTH * n, WIDTH * sequence]
    folds, shows = _leaves(shape, FOLD, p)[0], _leaves(shape, SHOWDOWN, p)[0]
    shared = [folds.index(sequence) for sequence in shows if sequence in folds]
    row[SHARED], row[N_COUNTED] = len(code), len(folds) + len(shows) - len(shared)
    code += shared
    row[EXITS], row[N_EXITS] = len(code), len(shape.exits)
    for n in shape.exits.tolist():
        code += [WIDTH * n, WIDTH * int(shape.sequence[q, n]), WIDTH * int(shape.sequence[p, n])]
    return row


def _leaves(shape: Shape, kind: int, p: int) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Q's sequences that end in leaves of a kind; and each leaf: its lane, its node, p's sequence there."""
    nodes = np.flatnonzero(shape.kind == kind).tolist()
    sequence = shape.sequence[1 - p]
    ending = {
        kind: {int(sequence[n]) for n in np.flatnonzero(shape.kind == kind)} for kind in (FOLD, SHOWDOWN)
    }
    lanes = sorted(ending[kind], key=lambda number: (kind == SHOWDOWN and number in ending[FOLD], number))
    return lanes, [(lanes.index(int(shape.sequence[1 - p, n])), n, int(shape.sequence[p, n])) for n in nodes]


def _singles(rows: list[np.ndarray]) -> np.ndarray:
    out = aligned(WIDTH * max(len(rows), 1))
    if rows:
        out[:] = np.concatenate(rows)
    return out
