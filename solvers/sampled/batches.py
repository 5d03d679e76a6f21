"""A round's betting lines in batches of 16 that share one betting tree, so that a vector holds 16 lines.

Lines whose trees have the same *shape* (kinds of nodes, players, numbers of actions) differ only in their stakes, so
one program serves all of them. A *batch* holds up to 16 roots of one shape. Nodes of a shape are numbered breadth first
and slots in the order of the nodes, as `Forest.build` does for a single tree.

Reach leaves a batch by its chance leaves, the *exits*, 16 lanes wide. A batch of the next round is *aligned* if its
lanes are the lanes of one exit; otherwise each lane has a source of its own.

The numbers of player p in a class and round are flat, ``[batch][row][slot][16]``; see `LineBatches.first`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from compiled.vector import WIDTH
from solvers.tree import CHANCE, DECISION, Forest, Ints

MOST_WASTE = 1.15
"""Largest ratio of aligned batches to packed batches for which batches are aligned."""

Source = tuple[int, int]
"""Chance leaf and lane in the round above from which a line is entered."""


class Run(NamedTuple):
    """Neighbouring lanes of a batch that are neighbours above as well.

    Attributes:
        exit: the exit above from which the lanes are entered.
        above: the first lane there.
        here: the first lane in the batch.
        n: number of lanes.
    """

    exit: int
    above: int
    here: int
    n: int


@dataclass(frozen=True)
class Shape:
    """A betting tree without its stakes.

    Attributes:
        kind, player, n_actions, first_child: ``[node]``, as `ForestArrays` has them.
        slot: ``[node]``: first slot of a decision among its player's, -1 elsewhere.
        sequence: ``[2, node]``: 0 is the root's, slot s is sequence ``1 + s``.
        n_slots: per player.
    """

    kind: Ints
    player: Ints
    n_actions: Ints
    first_child: Ints
    slot: Ints
    sequence: Ints
    n_slots: tuple[int, int]

    @cached_property
    def exits(self) -> Ints:
        """The nodes that lead to the next round."""
        nodes: Ints = np.flatnonzero(self.kind == CHANCE)
        return nodes


@dataclass(frozen=True)
class LineBatches:
    """The batches of one round.

    Attributes:
        shapes: the different shapes.
        shape: ``[batch]``, number of the shape.
        lines: ``[batch, 16]``, roots of the forest; -1 in a lane without a line.
        nodes: per batch ``[node of the shape, 16]``, nodes of the forest; a lane without a line repeats another line.
        first_exit: ``[batch + 1]``; exits are numbered through all batches.
        aligned: ``[batch]``, the exit above whose lanes are the batch's lanes, or -1.
        sources: ``[batch, 16, 2]``, exit and lane above; -1 in a lane without a line, and in the first round.
    """

    shapes: tuple[Shape, ...]
    shape: Ints
    lines: Ints
    nodes: tuple[Ints, ...]
    first_exit: Ints
    aligned: Ints
    sources: Ints

    def __len__(self) -> int:
        return len(self.shape)

    def shape_of(self, batch: int) -> Shape:
        """The betting tree of a batch's lines."""
        return self.shapes[int(self.shape[batch])]

    def first(self, p: int, n_rows: int) -> Ints:
        """``[batch + 1]``: the first number of each batch among a class's numbers of player p, with ``n_rows`` rows."""
        sizes = [WIDTH * n_rows * self.shape_of(s).n_slots[p] for s in range(len(self))]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def runs(self) -> list[list[Run]]:
        """``[batch]``: runs of the lanes; aligned batches have none."""
        return [
            [] if exit_ >= 0 else _runs(sources)
            for exit_, sources in zip(self.aligned.tolist(), self.sources.tolist(), strict=True)
        ]

    @cached_property
    def place(self) -> dict[int, tuple[int, int]]:
        """Batch and lane of each line."""
        places = np.argwhere(self.lines >= 0).tolist()
        return {int(self.lines[batch, lane]): (batch, lane) for batch, lane in places}


def line_batches(forests: Sequence[Forest]) -> list[LineBatches]:
    """The batches of consecutive rounds, from the first."""
    out: list[LineBatches] = []
    sources: dict[int, Source] = {0: (-1, -1)}
    for forest in forests:
        batches = _batches(forest, sources, n_exits=int(out[-1].first_exit[-1]) if out else 0)
        out.append(batches)
        sources = {}
        for s in range(len(batches)):
            for e, node in enumerate(batches.shape_of(s).exits.tolist()):
                for lane in np.flatnonzero(batches.lines[s] >= 0).tolist():
                    target = int(forest.arrays.target[batches.nodes[s][node, lane]])
                    sources[target] = (int(batches.first_exit[s]) + e, lane)
    return out


def _batches(forest: Forest, sources: dict[int, Source], n_exits: int) -> LineBatches:
    alike: dict[bytes, list[int]] = {}
    trees = [_nodes(forest, root) for root in range(forest.n_roots)]
    a = forest.arrays
    for root, nodes in enumerate(trees):
        signature = np.stack([a.kind[nodes], a.player[nodes], a.n_actions[nodes]]).astype(np.int8)
        alike.setdefault(signature.tobytes(), []).append(root)
    shapes, shape, lines, nodes_of, aligned = [], [], [], [], []
    for roots in alike.values():
        shapes.append(_shape(forest, trees[roots[0]]))
        for exit_, members in _grouped(roots, sources):
            shape.append(len(shapes) - 1)
            lines.append(members)
            aligned.append(exit_)
            first = next(line for line in members if line >= 0)
            nodes_of.append(np.stack([trees[line if line >= 0 else first] for line in members], axis=1))
    counts = [len(shapes[number].exits) for number in shape]
    table = np.array(lines, dtype=np.int64)
    came = [[sources[line] if line >= 0 else (-1, -1) for line in members] for members in lines]
    return LineBatches(
        tuple(shapes),
        np.array(shape, dtype=np.int64),
        table,
        tuple(nodes_of),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array(aligned, dtype=np.int64),
        np.array(came, dtype=np.int64),
    )


def _grouped(roots: list[int], sources: dict[int, Source]) -> list[tuple[int, list[int]]]:
    """Batches of the roots of one shape: the exit that each is aligned with, or -1, and its lines, padded with -1."""
    by_exit: dict[int, list[int]] = {}
    for root in sorted(roots, key=lambda root: sources[root]):
        by_exit.setdefault(sources[root][0], []).append(root)
    packed = -(-len(roots) // WIDTH)
    if -1 not in by_exit and len(by_exit) <= MOST_WASTE * packed:
        out = []
        for exit_, members in by_exit.items():
            lanes = [-1] * WIDTH
            for root in members:
                lanes[sources[root][1]] = root
            out.append((exit_, lanes))
        return out
    ordered = [root for members in by_exit.values() for root in members]
    ordered += [-1] * (packed * WIDTH - len(ordered))
    return [(-1, ordered[start : start + WIDTH]) for start in range(0, len(ordered), WIDTH)]


def _runs(sources: Sequence[Source]) -> list[Run]:
    """The runs of a batch whose lanes have these sources."""
    out: list[Run] = []
    for here, (exit_, above) in enumerate(sources):
        last = out[-1] if out else None
        if above < 0:
            continue
        if last and (exit_, above, here) == (last.exit, last.above + last.n, last.here + last.n):
            out[-1] = last._replace(n=last.n + 1)
        else:
            out.append(Run(exit_, above, here, 1))
    return out


def _nodes(forest: Forest, root: int) -> Ints:
    """The nodes of a root's tree, breadth first."""
    a, out, at = forest.arrays, [root], 0
    while at < len(out):
        n = out[at]
        at += 1
        if a.kind[n] == DECISION:
            out += range(int(a.first_child[n]), int(a.first_child[n] + a.n_actions[n]))
    return np.array(out, dtype=np.int64)


def _shape(forest: Forest, nodes: Ints) -> Shape:
    a = forest.arrays
    kind, player, n_actions = a.kind[nodes], a.player[nodes], a.n_actions[nodes]
    first_child, slot = np.full(len(nodes), -1, dtype=np.int64), np.full(len(nodes), -1, dtype=np.int64)
    sequence, n_slots, child = np.zeros((2, len(nodes)), dtype=np.int64), [0, 0], 1
    for n in np.flatnonzero(kind == DECISION).tolist():
        mover, actions = int(player[n]), int(n_actions[n])
        first_child[n], slot[n] = child, n_slots[mover]
        for a_ in range(actions):
            sequence[:, child + a_] = sequence[:, n]
            sequence[mover, child + a_] = 1 + slot[n] + a_
        child += actions
        n_slots[mover] += actions
    return Shape(kind, player, n_actions, first_child, slot, sequence, (n_slots[0], n_slots[1]))
