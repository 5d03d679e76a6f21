"""Cut a betting tree into rounds, as the forests of nodes that `solvers` reads.

A `solvers.tree.Forest` holds the betting of a round: one tree for each line that enters the round. A chunk is such a
tree on one board.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from buckets.types import Ints
from solvers import tree as f
from solvers.tree import Forest
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree, terminal_rake, terminal_stakes
from spewy.game.treeconfig import TreeConfig
from spewy.system.tools import collection_put_off


@dataclass(frozen=True)
class ChunkTree:
    """The betting of one chunk: one tree of a round's forest, as a forest of its own.

    Attributes:
        forest: the forest with only this tree.
        nodes: for each node of `forest`, its node in the betting tree.
        slots: per player ``[slot]``, the slot of the round's forest for each slot of `forest`. A slot is an action at a
            decision.
        exits: ``[chance leaf]``, for each chance leaf the number of the tree in the next round's forest that follows.
    """

    forest: Forest
    nodes: tuple[Node, ...]
    slots: tuple[Ints, Ints]
    exits: Ints

    @property
    def line(self) -> str:
        return self.nodes[0].line


@dataclass(frozen=True)
class BettingRound:
    """One round of a betting tree.

    Attributes:
        forest: the betting of the round, with a tree for each line that enters the round.
        nodes: for each node of `forest`, its node in the betting tree.
        chunks: each tree of `forest`, as a forest of its own.
        parents: for each tree of `forest`, the index of the tree of the round before that leads to it, and the index of
            the chance leaf in that earlier tree; (-1, -1) in the first round.
    """

    round: int
    forest: Forest
    nodes: tuple[Node, ...]
    chunks: tuple[ChunkTree, ...]
    parents: tuple[tuple[int, int], ...]

    def find(self, line: str) -> int:
        """Return the number of the tree that a line enters; raise a `KeyError` if there is none."""
        for r, chunk in enumerate(self.chunks):
            if chunk.line == line:
                return r
        raise KeyError(line)


class LineForest(NamedTuple):
    """The betting of one round as a forest, and the line that enters each of its trees."""

    lines: tuple[str, ...]
    forest: Forest


def line_forests(tree: BettingTree) -> list[LineForest]:
    """Build the forest of each round of a tree; this is much faster than `betting_rounds`."""
    out, roots = [], [tree.root]
    with collection_put_off():
        while roots:
            below: list[Node] = []
            forest = Forest.build([_spec(node, tree.config, below) for node in roots])
            out.append(LineForest(tuple(node.line for node in roots), forest))
            roots = below
    return out


def betting_rounds(tree: BettingTree) -> list[BettingRound]:
    """Cut a betting tree into rounds, starting with the root's round."""
    with collection_put_off():
        return _betting_rounds(tree)


def _betting_rounds(tree: BettingTree) -> list[BettingRound]:
    out: list[BettingRound] = []
    config = tree.config
    roots: list[Node] = [tree.root]
    parents: list[tuple[int, int]] = [(-1, -1)]
    while roots:
        below: list[Node] = []
        specs = [_spec(node, config, below) for node in roots]
        forest, nodes = Forest.build(specs), _breadth_first(roots)
        number = {id(node): n for n, node in enumerate(nodes)}
        if len(roots) == 1:
            chunks: tuple[ChunkTree, ...] = (_only_chunk(forest, nodes),)
        else:
            chunks = tuple(_chunk(node, config, forest, number) for node in roots)
        out.append(BettingRound(roots[0].round, forest, nodes, chunks, tuple(parents)))
        parents = [(0, 0)] * len(below)
        for r, chunk in enumerate(chunks):
            for leaf, following in enumerate(chunk.exits):
                parents[int(following)] = (r, leaf)
        roots = below
    return out


def decision_slots(root: Node) -> tuple[dict[str, tuple[Node, int]], tuple[int, int]]:
    """List the decisions of a chunk with the numbers of their slots (actions), without building a `ChunkTree`.

    Each player's slots are numbered from 0.

    Returns:
        Each decision with its first slot, by line; and the number of slots of each player.
    """
    decisions: dict[str, tuple[Node, int]] = {}
    slots = [0, 0]
    for node in chunk_nodes(root):
        if node.player is not None and node.kind == "decision":
            decisions[node.line] = node, slots[node.player]
            slots[node.player] += len(node.actions)
    return decisions, (slots[0], slots[1])


def chunk_nodes(root: Node) -> tuple[Node, ...]:
    """List the betting nodes of a chunk, given its first decision, in the order of `ChunkTree.nodes`."""
    return _breadth_first([root])


def chunk_exits(root: Node) -> list[Node]:
    """List the chance leaves of a chunk, given its first decision, in the order of `ChunkTree.exits`."""
    if root.kind == "chance":
        return [root]
    return [leaf for child in root.children for leaf in chunk_exits(child)] if root.kind == "decision" else []


def _spec(node: Node, config: TreeConfig, below: list[Node]) -> f.Tree:
    """Convert a betting node, with the nodes below it in the same round, to a tree of `solvers.tree`.

    The first decisions after the chance leaves are appended to `below`.
    """
    if node.kind == "decision":
        assert node.player is not None
        return f.Decision(node.player, tuple(_spec(child, config, below) for child in node.children))
    if node.kind == "fold":
        assert node.player is not None
        lost = terminal_stakes(node, config)
        return f.Fold(lost if node.player == 1 else -lost, terminal_rake(node, config))
    if node.kind == "showdown":
        return f.Showdown(terminal_stakes(node, config), terminal_rake(node, config))
    below.append(node.children[0])
    return f.Chance(len(below) - 1)


def _breadth_first(roots: Sequence[Node]) -> tuple[Node, ...]:
    """List roots of a round and the nodes of the round below them, breadth first as in `solvers.tree.Forest`."""
    order: list[Node] = []
    queue = deque(roots)
    while queue:
        node = queue.popleft()
        order.append(node)
        if node.kind == "decision":
            queue.extend(node.children)
    return tuple(order)


def _only_chunk(forest: Forest, nodes: tuple[Node, ...]) -> ChunkTree:
    first, second = (np.arange(n, dtype=np.int64) for n in forest.n_slots)
    exits = forest.arrays.target[forest.chance_leaves]
    return ChunkTree(forest, nodes, (first, second), exits.astype(np.int64))


def _chunk(root: Node, config: TreeConfig, whole: Forest, number: dict[int, int]) -> ChunkTree:
    forest = Forest.build([_spec(root, config, [])])
    nodes = _breadth_first([root])
    slots = tuple(np.zeros(forest.n_slots[p], dtype=np.int64) for p in (0, 1))
    a, w = forest.arrays, whole.arrays
    for n, node in enumerate(nodes):
        if a.kind[n] == f.DECISION:
            own = slots[a.player[n]]
            first, actions = int(a.slot[n]), int(a.n_actions[n])
            own[first : first + actions] = w.slot[number[id(node)]] + np.arange(actions)
    exits = [int(w.target[number[id(nodes[leaf])]]) for leaf in forest.chance_leaves]
    return ChunkTree(forest, nodes, (slots[0], slots[1]), np.array(exits, dtype=np.int64))
