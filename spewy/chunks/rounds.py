"""The betting tree cut into rounds: one forest per round for the solvers, one tree of the forest per chunk.

Each chunk has a *line* that enters it; root r of round t's forest is chunk r of every board of that round.
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
from spewy.system.collection import collection_put_off


@dataclass(frozen=True)
class ChunkTree:
    """One tree of a round's forest as a forest of its own.

    Attributes:
        forest: the forest with this tree alone.
        nodes: ``[node]``, the betting node of each node of the forest.
        slots: per player ``[slot]``, the slot in the round's forest of each slot of the forest.
        exits: ``[chance leaf]``, the root of the next round's forest that follows.
    """

    forest: Forest
    nodes: tuple[Node, ...]
    slots: tuple[Ints, Ints]
    exits: Ints

    @property
    def line(self) -> str:
        """The line that enters the chunk."""
        return self.nodes[0].line


@dataclass(frozen=True)
class BettingRound:
    """One round of a betting tree.

    Attributes:
        round: the round of the game.
        forest: the round's forest.
        nodes: ``[node]``, the betting node of each node of the forest.
        chunks: ``[root]``, the tree of each root.
        parents: ``[root]``, the root and the chance leaf in the round above that lead here; (-1, -1) in the first
            round.
    """

    round: int
    forest: Forest
    nodes: tuple[Node, ...]
    chunks: tuple[ChunkTree, ...]
    parents: tuple[tuple[int, int], ...]

    def find(self, line: str) -> int:
        """Return the number of the chunk that a line enters.

        Raises:
            KeyError: no chunk of this round has that line.
        """
        for r, chunk in enumerate(self.chunks):
            if chunk.line == line:
                return r
        raise KeyError(line)


class LineForest(NamedTuple):
    """One round's forest, and the line that enters each root."""

    lines: tuple[str, ...]
    forest: Forest


def line_forests(tree: BettingTree) -> list[LineForest]:
    """Build the forests of `betting_rounds` without the chunks' own trees, in a fraction of the time."""
    out, roots = [], [tree.root]
    with collection_put_off():
        while roots:
            below: list[Node] = []
            forest = Forest.build([_spec(node, tree.config, below) for node in roots])
            out.append(LineForest(tuple(node.line for node in roots), forest))
            roots = below
    return out


def betting_rounds(tree: BettingTree) -> list[BettingRound]:
    """Cut a tree into rounds, starting with the root's round."""
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
            for leaf, target in enumerate(chunk.exits):
                parents[int(target)] = (r, leaf)
        roots = below
    return out


def decision_slots(root: Node) -> tuple[dict[str, tuple[Node, int]], tuple[int, int]]:
    """Number the slots of the chunk that a root starts, as `ChunkTree.forest` does, which takes longer to build.

    Returns:
        The chunk's decisions by line, each with its first slot, and both players' numbers of slots.
    """
    decisions: dict[str, tuple[Node, int]] = {}
    slots = [0, 0]
    for node in chunk_nodes(root):
        if node.player is not None and node.kind == "decision":
            decisions[node.line] = node, slots[node.player]
            slots[node.player] += len(node.actions)
    return decisions, (slots[0], slots[1])


def chunk_nodes(root: Node) -> tuple[Node, ...]:
    """List the betting nodes of the chunk that a root starts, in the order of its forest."""
    return _breadth_first([root])


def chunk_exits(root: Node) -> list[Node]:
    """List the chance leaves of the chunk that a root starts, depth first, as in `ChunkTree.exits`."""
    if root.kind == "chance":
        return [root]
    return [leaf for child in root.children for leaf in chunk_exits(child)] if root.kind == "decision" else []


def _spec(node: Node, config: TreeConfig, below: list[Node]) -> f.Tree:
    """Convert a node to the solvers' form; append the nodes that follow its chance leaves to `below`."""
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
    """List the betting nodes below the roots breadth first, as `solvers.tree.Forest` numbers them."""
    order: list[Node] = []
    queue = deque(roots)
    while queue:
        node = queue.popleft()
        order.append(node)
        if node.kind == "decision":
            queue.extend(node.children)
    return tuple(order)


def _only_chunk(forest: Forest, nodes: tuple[Node, ...]) -> ChunkTree:
    """Return the only chunk of a round, whose tree is the whole forest."""
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
