"""A round's batches of lines as lists of steps for one traverser, in the order in which kernels run through them.

A *terminal sequence* is a sequence of the opponent (its last action on the way) that leads to folds, or one that leads
to showdowns. All leaves of a terminal sequence need the same sums of the opponent's reach. Buffers have 16 numbers, one
for each lane, per sequence, node or slot; so offsets are 16 times the number of a sequence, node or slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from compiled.records import Records
from compiled.vector import WIDTH, Address, aligned
from solvers.sampled.batches import LineBatches, Run, Shape
from solvers.steps import ReachStep, ValueStep, reach_steps, value_steps
from solvers.tree import FOLD, SHOWDOWN, Forest


class TerminalLeaf(NamedTuple):
    """A fold or a showdown of a batch of lines.

    Attributes:
        ending: number of the opponent's sequence; for a fold, among the sequences that end in folds, for a showdown,
            among the sequences that end in showdowns.
        node: offset of the leaf in a buffer with 16 numbers for each node of the betting tree.
        own_sequence: offset of the traverser's sequence at the leaf, in a buffer with 16 numbers for each sequence.
    """

    ending: int
    node: int
    own_sequence: int


class ChanceLeaf(NamedTuple):
    """A chance leaf of a batch of lines.

    Attributes:
        batch: number of the batch.
        number: number of the leaf within the batch.
        other_sequence, own_sequence: offsets of the opponent's and of the traverser's sequence at the leaf, in buffers
            with 16 numbers for each sequence.
    """

    batch: int
    number: int
    other_sequence: int
    own_sequence: int


class BatchSteps(NamedTuple):
    """Sizes of a batch of lines, and the positions of its lists in a `Program`; batches with equal trees share lists.

    Attributes:
        own_slots, other_slots: number of slots of the traverser and the opponent.
        own_first, other_first: position of the batch among a board bucket's regrets of the traverser and the opponent.
        own_down, n_own_down, other_down, n_other_down: first step and number of steps of each player in
            ``reach_steps``.
        up, n_up: first step and number of steps in ``value_steps``.
        endings, n_folds, n_shows: position in ``Program.endings``, and numbers of terminal sequences with folds and
            with showdowns.
        n_counted: number of terminal sequences for which the opponent's reach is summed; the others end in showdowns
            and also in folds, and copy the sums of the folds.
        shared: position in ``Program.endings`` of the numbers of the fold sequences whose sums are copied.
        fold_leaves, n_fold_leaves, show_leaves, n_show_leaves: first leaf and number of leaves of each kind in
            ``leaves``.
        pay: position in ``pay``: chips of all showdowns, then chips of all folds.
        exit_nodes, n_exits: first chance leaf and number of chance leaves in ``exit_nodes``.
        first_exit: number of the batch's first chance leaf among the chance leaves of all batches.
        aligned: number of the previous round's chance leaf whose 16 lanes continue in the batch's 16 lanes; -1: none.
        runs, n_runs: first position and number of the batch's runs in the table ``runs``, if the batch is not aligned.
    """

    own_slots: int
    other_slots: int
    own_first: int
    other_first: int
    own_down: int
    n_own_down: int
    other_down: int
    n_other_down: int
    up: int
    n_up: int
    endings: int
    n_folds: int
    n_shows: int
    n_counted: int
    shared: int
    fold_leaves: int
    n_fold_leaves: int
    show_leaves: int
    n_show_leaves: int
    pay: int
    exit_nodes: int
    n_exits: int
    first_exit: int
    aligned: int
    runs: int
    n_runs: int


class Program(NamedTuple):
    """The betting of a round for one traverser, as lists that kernels read.

    Attributes:
        n_rows: number of rows in each board bucket of the round.
        own_size, other_size: number of a board bucket's regrets of the traverser and of the opponent.
        n_exits: number of chance leaves of all batches.
        batches, reach_steps, value_steps, leaves, exits: tables of `BatchSteps`, `ReachStep`, `ValueStep`,
            `TerminalLeaf` and `ChanceLeaf`.
        endings: offsets of the opponent's sequences that end in folds or showdowns, see `BatchSteps`.
        exit_nodes: ``[chance leaf]``, offset of the leaf's node.
        pay: ``[leaf, lane]``: chips that the traverser wins at a fold, or at a showdown with the better hand.
        runs: table of `Run`, one batch after another.
        run_lanes: ``[run, 2, lane]``: 1 in the run's lanes of the batch, then 1 in the run's lanes of the previous
            round.
    """

    n_batches: int
    n_rows: int
    own_size: int
    other_size: int
    n_exits: int
    batches: Records
    reach_steps: Records
    value_steps: Records
    leaves: Records
    endings: Address
    exit_nodes: Address
    pay: Address
    runs: Records
    run_lanes: Address
    exits: Records


class _Lists(NamedTuple):
    """The lists of a `Program` for all betting trees of a round, one tree after another."""

    reach_steps: list[ReachStep]
    value_steps: list[ValueStep]
    leaves: list[TerminalLeaf]
    endings: list[int]
    exit_nodes: list[int]


class Sizes(NamedTuple):
    """Sizes of a round's buffers.

    Attributes:
        n_nodes: largest number of nodes in a batch's betting tree.
        n_sequences: largest number of a player's sequences in a batch.
        n_endings: largest number of a player's sequences in a batch that end in folds, or that end in showdowns.
        n_exits: number of chance leaves of all batches.
        n_batch_exits: largest number of chance leaves of a batch.
    """

    n_nodes: int
    n_sequences: int
    n_endings: int
    n_exits: int
    n_batch_exits: int


def program(forest: Forest, batches: LineBatches, n_rows: int, p: int) -> Program:
    q, lists = 1 - p, _Lists([], [], [], [], [])
    shapes = [_add_lists(shape, p, lists) for shape in batches.shapes]
    own_first, other_first = batches.first(p, n_rows), batches.first(q, n_rows)
    steps_of: list[BatchSteps] = []
    pay: list[np.ndarray] = []
    runs: list[Run] = []
    for s in range(len(batches)):
        shape, nodes = batches.shape_of(s), batches.nodes[s]
        steps = shapes[int(batches.shape[s])]._replace(
            own_first=int(own_first[s]),
            other_first=int(other_first[s]),
            pay=WIDTH * len(pay),
            first_exit=int(batches.first_exit[s]),
            aligned=int(batches.aligned[s]),
            runs=len(runs),
            n_runs=len(batches.runs[s]),
        )
        steps_of.append(steps)
        runs += batches.runs[s]
        stakes = np.where(batches.lines[s] >= 0, forest.arrays.stake[nodes], 0.0)
        pay += [stakes[n] for n in _nodes(shape, SHOWDOWN)]
        pay += [stakes[n] * (1 if p == 0 else -1) for n in _nodes(shape, FOLD)]
    return Program(
        n_batches=len(batches),
        n_rows=n_rows,
        own_size=int(own_first[-1]),
        other_size=int(other_first[-1]),
        n_exits=int(batches.first_exit[-1]),
        batches=Records(BatchSteps, steps_of),
        reach_steps=Records(ReachStep, lists.reach_steps),
        value_steps=Records(ValueStep, lists.value_steps),
        leaves=Records(TerminalLeaf, lists.leaves),
        endings=np.array(lists.endings or [0], dtype=np.int64),
        exit_nodes=np.array(lists.exit_nodes or [0], dtype=np.int64),
        pay=_singles(pay),
        runs=Records(Run, runs),
        run_lanes=_singles(_run_lanes(runs)),
        exits=Records(ChanceLeaf, _exits(batches, p)),
    )


def _run_lanes(runs: Iterable[Run]) -> list[np.ndarray]:
    out = []
    for run in runs:
        for first in (run.here, run.above):
            lanes = np.zeros(WIDTH)
            lanes[first : first + run.n] = 1
            out.append(lanes)
    return out


def _exits(batches: LineBatches, p: int) -> list[ChanceLeaf]:
    """List the chance leaves of all batches; a list of one record with zeros if no batch has chance leaves."""
    rows = [
        ChanceLeaf(s, e, WIDTH * int(shape.sequence[1 - p, n]), WIDTH * int(shape.sequence[p, n]))
        for s, shape in enumerate(map(batches.shape_of, range(len(batches))))
        for e, n in enumerate(shape.exits.tolist())
    ]
    return rows or [ChanceLeaf(0, 0, 0, 0)]


def sizes(batches: LineBatches) -> Sizes:
    shapes = batches.shapes
    endings = [len(_endings(shape, kind, q)) for shape in shapes for kind in (SHOWDOWN, FOLD) for q in (0, 1)]
    return Sizes(
        max(len(shape.kind) for shape in shapes),
        1 + max(max(shape.n_slots) for shape in shapes),
        max(endings),
        int(batches.first_exit[-1]),
        int(np.diff(batches.first_exit).max()),
    )


def _add_lists(shape: Shape, p: int, lists: _Lists) -> BatchSteps:
    q = 1 - p
    own_down, other_down = reach_steps(shape, p, {}), reach_steps(shape, q, {})
    up = value_steps(shape, p, {})
    folds, shows = _endings(shape, FOLD, q), _endings(shape, SHOWDOWN, q)
    fold_leaves, show_leaves = _leaves(shape, FOLD, folds, p), _leaves(shape, SHOWDOWN, shows, p)
    shared = [folds.index(sequence) for sequence in shows if sequence in folds]
    steps = BatchSteps(
        own_slots=shape.n_slots[p],
        other_slots=shape.n_slots[q],
        own_first=0,
        other_first=0,
        own_down=len(lists.reach_steps),
        n_own_down=len(own_down),
        other_down=len(lists.reach_steps) + len(own_down),
        n_other_down=len(other_down),
        up=len(lists.value_steps),
        n_up=len(up),
        endings=len(lists.endings),
        n_folds=len(folds),
        n_shows=len(shows),
        n_counted=len(folds) + len(shows) - len(shared),
        shared=len(lists.endings) + len(folds) + len(shows),
        fold_leaves=len(lists.leaves),
        n_fold_leaves=len(fold_leaves),
        show_leaves=len(lists.leaves) + len(fold_leaves),
        n_show_leaves=len(show_leaves),
        pay=0,
        exit_nodes=len(lists.exit_nodes),
        n_exits=len(shape.exits),
        first_exit=0,
        aligned=-1,
        runs=0,
        n_runs=0,
    )
    lists.reach_steps.extend(own_down + other_down)
    lists.value_steps.extend(up)
    lists.endings.extend([WIDTH * sequence for sequence in folds + shows] + shared)
    lists.leaves.extend(fold_leaves + show_leaves)
    lists.exit_nodes.extend(WIDTH * n for n in shape.exits.tolist())
    return steps


def _nodes(shape: Shape, kind: int) -> list[int]:
    nodes: list[int] = np.flatnonzero(shape.kind == kind).tolist()
    return nodes


def _endings(shape: Shape, kind: int, q: int) -> list[int]:
    """Sequences of player q that end in folds (or showdowns); showdown sequences that also end in a fold come last."""
    folds, ending = (
        {int(shape.sequence[q, n]) for n in _nodes(shape, leaf_kind)} for leaf_kind in (FOLD, kind)
    )
    return sorted(ending, key=lambda number: (kind == SHOWDOWN and number in folds, number))


def _leaves(shape: Shape, kind: int, endings: list[int], p: int) -> list[TerminalLeaf]:
    """Leaves of one kind (folds or showdowns) for traverser p; ``endings`` are the opponent's sequences before them."""
    return [
        TerminalLeaf(
            endings.index(int(shape.sequence[1 - p, n])), WIDTH * n, WIDTH * int(shape.sequence[p, n])
        )
        for n in _nodes(shape, kind)
    ]


def _singles(rows: list[np.ndarray]) -> np.ndarray:
    out = aligned(WIDTH * max(len(rows), 1))
    if rows:
        out[:] = np.concatenate(rows)
    return out
