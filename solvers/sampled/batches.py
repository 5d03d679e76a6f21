"""A round's betting lines in batches of 16 that share one betting tree, so that a vector holds a number for each line.

Lines whose trees have the same *shape* (kinds of nodes, players, numbers of actions) differ only in their stakes, so
kernels take the same steps for all of them. A *batch* has 16 *lanes* for up to 16 lines of one shape. The nodes of a
shape are numbered breadth first, as `Forest.build` numbers a single tree. The *slots* of a shape, one for each action
of each decision of a player, are numbered in the order of the nodes.

A line leaves a batch at a chance leaf and continues in a batch of the next round. That batch is *aligned* with the
chance leaf if its 16 lanes continue the leaf's 16 lanes in order. In other batches each lane may continue any lane of
any chance leaf.

The regrets of a player in a board bucket are a flat array ``[batch][row][slot][lane]``; see `LineBatches.first`.
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
"""Largest factor by which aligned batches may outnumber full batches; beyond it no batch is aligned."""

Source = tuple[int, int]
"""Chance leaf and lane of the previous round that a line continues; (-1, -1) in the first round."""


class Run(NamedTuple):
    """Neighbouring lanes of a batch that continue neighbouring lanes of one chance leaf of the previous round.

    Attributes:
        exit: number of the chance leaf among all chance leaves of the previous round.
        above: the first lane of the run at the chance leaf.
        here: the first lane of the run in the batch.
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
        kind, player, n_actions, first_child: ``[node]``, see `ForestArrays`.
        slot: ``[node]``, number of a decision's first action among all actions of its player; -1 at leaves.
        sequence: ``[player, node]``, the player's last action on the way: 0 for none, ``1 + s`` for the action of slot
            s.
        n_slots: number of slots of each player.
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
        """The chance leaves: nodes that lead to the next round."""
        nodes: Ints = np.flatnonzero(self.kind == CHANCE)
        return nodes


@dataclass(frozen=True)
class LineBatches:
    """The batches of lines of one round.

    Attributes:
        shapes: the different betting trees of the lines.
        shape: ``[batch]``, index of the batch's betting tree in ``shapes``.
        lines: ``[batch, lane]``, number of the line among all lines that enter the round; -1 in an empty lane.
        nodes: an array ``[node, lane]`` for each batch: number of the node in the round's `Forest`, for each node of
            the batch's betting tree. An empty lane repeats the nodes of another line.
        first_exit: ``[batch + 1]``, number of the batch's first chance leaf, counted through all batches.
        aligned: ``[batch]``, the chance leaf of the previous round whose 16 lanes the batch continues in order; -1:
            none.
        sources: ``[batch, lane, 2]``, chance leaf and lane of the previous round that the line continues; -1 in an
            empty lane, and in the first round.
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
        return self.shapes[int(self.shape[batch])]

    def first(self, p: int, n_rows: int) -> Ints:
        """Offset of each batch in player p's flat regrets of a board bucket with ``n_rows`` rows: ``[batch + 1]``."""
        sizes = [WIDTH * n_rows * self.shape_of(s).n_slots[p] for s in range(len(self))]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def runs(self) -> list[list[Run]]:
        """Each batch's runs: neighbouring lanes that continue neighbouring lanes of one chance leaf.

        An aligned batch needs no runs and has an empty list.
        """
        return [
            [] if exit_ >= 0 else _runs(sources)
            for exit_, sources in zip(self.aligned.tolist(), self.sources.tolist(), strict=True)
        ]

    @cached_property
    def place(self) -> dict[int, tuple[int, int]]:
        """Batch and lane of each line, by the number of the line."""
        places = np.argwhere(self.lines >= 0).tolist()
        return {int(self.lines[batch, lane]): (batch, lane) for batch, lane in places}


def line_batches(forests: Sequence[Forest]) -> list[LineBatches]:
    """Put the betting lines of consecutive rounds, from the first round on, into batches of 16."""
    out: list[LineBatches] = []
    sources: dict[int, Source] = {0: (-1, -1)}
    for forest in forests:
        batches = _batches(forest, sources)
        out.append(batches)
        sources = {}
        for s in range(len(batches)):
            for e, node in enumerate(batches.shape_of(s).exits.tolist()):
                for lane in np.flatnonzero(batches.lines[s] >= 0).tolist():
                    target = int(forest.arrays.target[batches.nodes[s][node, lane]])
                    sources[target] = (int(batches.first_exit[s]) + e, lane)
    return out


def _batches(forest: Forest, sources: dict[int, Source]) -> LineBatches:
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
    lane_sources = [[sources[line] if line >= 0 else (-1, -1) for line in members] for members in lines]
    return LineBatches(
        tuple(shapes),
        np.array(shape, dtype=np.int64),
        table,
        tuple(nodes_of),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array(aligned, dtype=np.int64),
        np.array(lane_sources, dtype=np.int64),
    )


def _grouped(roots: list[int], sources: dict[int, Source]) -> list[tuple[int, list[int]]]:
    """Put lines of one shape into batches of 16.

    Returns:
        For each batch: the chance leaf of the previous round with which it is aligned, or -1; and the numbers of its 16
            lines, padded with -1.
    """
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
    """Find the runs of a batch; ``sources`` has the chance leaf and lane that each of its lanes continues."""
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
    """Nodes of the betting tree below the node ``root``, breadth first."""
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
