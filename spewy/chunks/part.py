"""The chunks that one line enters, and all that follows them, as a layout of their own."""

from __future__ import annotations

from dataclasses import replace

from spewy.chunks.layout import Layout
from spewy.chunks.rounds import betting_rounds
from spewy.game.tree import Node


def chunk_of(layout: Layout, node: Node) -> int:
    """The number of the chunk, in its round, that a betting node belongs to."""
    chunks = layout.betting[node.round - layout.problem.first_round].chunks
    return next(r for r, chunk in enumerate(chunks) if node in chunk.nodes)


def chunk_layout(layout: Layout, t: int, r: int) -> Layout:
    """Root r of round t on all boards, and what follows: it has one root line, and the same keys in the lockers."""
    tree = layout.problem.tree.below(layout.tree(t, r).nodes[0])
    lines = {below.line for below in tree.nodes()}
    locks = tuple(lock for lock in layout.problem.locks if lock.line in lines)
    betting = betting_rounds(tree)
    return Layout(replace(layout.problem, locks=locks), betting, layout.boards[t : t + len(betting)])
