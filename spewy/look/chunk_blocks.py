"""Shrink the payoff matrices of a chunk for a picture: rows of similar equity become one block.

A matrix of a thousand rows is too large for a picture. So the rows of each player that are in the range are sorted by
equity and divided into at most `MOST_BLOCKS` blocks of equally many rows. With the weight ``w[i, j]`` of all compatible
pairs of hands of two rows in both ranges, the entry for two blocks is their mean payoff,
``Σ w[i, j] U[i, j] / Σ w[i, j]``, summed over the rows i of one block and j of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.tree import Floats, Ints
from spewy.errors import InputError, shown
from spewy.game.nodes import Line, entry_line
from spewy.look.chunk_game import Below
from spewy.look.matrix_game import OneChunk
from spewy.look.node import NodeView
from spewy.look.solution import Solution
from spewy.system.tools import plain

MOST_BLOCKS = 60
"""Largest number of blocks into which a player's rows are divided."""
MOST_NAMED = 12
"""Largest number of hands that a block names."""
ROOT = ""
"""Name that stands for the chunk's root beside the names of its leaves.

The payoffs of the root are those of the average strategies.
"""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of one player, when the rows are sorted by equity.

    Attributes:
        hands: names of the rows' hands, those with the least equity first; at most `MOST_NAMED`.
        count: number of all hands in the rows.
        weight: share of the player's range that the rows hold, from 0 to 1.
        equity: smallest and largest equity of the rows.
    """

    hands: tuple[str, ...]
    count: int
    weight: float
    equity: tuple[float, float]


@dataclass(frozen=True)
class ChunkBlocks:
    """All payoff matrices of a chunk, in blocks.

    Attributes:
        line: line that enters the chunk, in the unit of the job.
        pot: size of the pot at the root of the chunk, in the unit of the job.
        unit: unit of amounts.
        rows: numbers of rows of oop and ip in the matrix game.
        estimated: whether the payoffs of a chance leaf were estimated, since none were stored.
        value: net amount that oop wins on average from the root of the chunk, in the unit of the job.
        blocks: blocks of oop and ip, those with the least equity first.
        leaves: for each leaf, and for the root under the name `ROOT`, its line in the unit of the job, its words and
            its kind.
        payoffs: by the name of the leaf, the net amount that oop wins on average ``[block of oop, block of ip]``, in
            the unit of the job; NaN for blocks without two compatible hands.
        row_of: for oop and ip, the row of each hand by its name.
    """

    line: str
    pot: float
    unit: str
    rows: tuple[int, int]
    estimated: bool
    value: float
    blocks: tuple[tuple[Block, ...], tuple[Block, ...]]
    leaves: Mapping[str, Mapping[str, str]]
    payoffs: Mapping[str, Floats]
    row_of: tuple[Mapping[str, int], Mapping[str, int]]

    def to_json(self, leaf: str = ROOT) -> dict[str, Any]:
        """Return the payoffs of a leaf, with the blocks and all other attributes, as a JSON object.

        Args:
            leaf: name of the leaf; `ROOT` for the root of the chunk.

        Raises:
            InputError: the chunk has no such leaf.
        """
        if leaf not in self.payoffs:
            raise InputError(f"leaf {shown(leaf)}: expected one of {', '.join(filter(None, self.payoffs))}")
        found: dict[str, Any] = {
            "line": self.line,
            "pot": self.pot,
            "unit": self.unit,
            "rows": self.rows,
            "estimated": self.estimated,
            "value": self.value,
            "blocks": [[vars(block) for block in side] for side in self.blocks],
            "leaves": [{"name": name, **facts} for name, facts in self.leaves.items()],
            "leaf": leaf,
            "payoffs": self.payoffs[leaf],
        }
        plained: dict[str, Any] = plain(found)
        return plained


def chunk_blocks(
    solution: Solution,
    line: str = "",
    board: str | Sequence[int] | None = None,
    payoffs: Below = "average",
) -> ChunkBlocks:
    """Compute the payoff matrices of the chunk in which a decision lies, with the rows joined to blocks.

    Args:
        solution: the solve.
        line: betting since the root of the solve, to any node of the chunk.
        board: all public cards; None for the root's.
        payoffs: source of the payoffs at chance leaves: see `spewy.Solution.chunk`.

    Raises:
        InputError: `spewy.Solution.chunk` refuses the chunk, or nobody acts in it.
    """
    node, cards = solution.at(line, board)
    entry, unit = Line(entry_line(node.line)), solution.job.amounts
    views = sorted(
        (solution.node(entry, cards), solution.waiting(entry, cards)), key=lambda view: view.player
    )
    chunk = solution.chunk(entry, cards, payoffs)
    sides = [_sorted_rows(view, chunk, p) for p, view in enumerate(views)]
    groups = [np.array_split(order, min(MOST_BLOCKS, len(order))) for order, _ in sides]
    weights = chunk.chunk.entering[0][:, None] * chunk.joint_weight * chunk.chunk.entering[1]
    matrices = {ROOT: chunk.average.payoffs}
    leaves = {ROOT: {"line": unit.line_text(entry), "words": "", "kind": "root"}}
    for n in chunk.leaves:
        leaf = chunk.tree.nodes[n]
        name = unit.line_text(leaf.line)
        words = solution.words(leaf).rpartition(" / ")[2]
        matrices[name], leaves[name] = (
            chunk.leaf_payoffs(n),
            {"line": name, "words": words, "kind": leaf.kind},
        )
    return ChunkBlocks(
        unit.line_text(entry),
        chunk.pot / unit.chips,
        unit.name,
        (len(chunk.hands[0]), len(chunk.hands[1])),
        chunk.estimated,
        chunk.average.value / unit.chips,
        (_blocks(chunk, 0, groups[0], sides[0][1]), _blocks(chunk, 1, groups[1], sides[1][1])),
        leaves,
        {name: _means(matrix, weights, groups) / unit.chips for name, matrix in matrices.items()},
        (_rows_of(chunk, 0), _rows_of(chunk, 1)),
    )


def _sorted_rows(view: NodeView, chunk: OneChunk, p: int) -> tuple[Ints, Floats]:
    """Sort the rows of player p that are in the range by equity.

    Returns:
        The numbers of these rows, the one with the least equity first; and ``[row]``, the equity of each row.
    """
    row_of, n_rows = _rows_of(chunk, p), len(chunk.hands[p])
    rows = np.array([row_of[hand] for hand in view.hands], dtype=np.int64)
    known = ~np.isnan(view.equity) & (view.reach > 0)
    mass = np.bincount(rows[known], view.reach[known], n_rows)
    total = np.bincount(rows[known], (view.reach * view.equity)[known], n_rows)
    equity = np.divide(total, mass, out=np.full(n_rows, np.nan), where=mass > 0)
    order = np.argsort(equity, kind="stable")
    return order[: int((mass > 0).sum())], equity


def _rows_of(chunk: OneChunk, p: int) -> dict[str, int]:
    return {hand: row for row, names in enumerate(chunk.hands[p]) for hand in names}


def _blocks(chunk: OneChunk, p: int, groups: Sequence[Ints], equity: Floats) -> tuple[Block, ...]:
    """Describe the blocks of player p.

    Args:
        chunk: the chunk.
        p: the player.
        groups: numbers of the rows in each block.
        equity: ``[row]``, the equity of each row.
    """
    total = chunk.ranges[p].sum()
    found = []
    for rows in groups:
        names = [hand for row in rows for hand in chunk.hands[p][row]]
        weight = float(chunk.ranges[p][rows].sum() / total)
        bounds = float(equity[rows[0]]), float(equity[rows[-1]])
        found.append(Block(tuple(names[:MOST_NAMED]), len(names), weight, bounds))
    return tuple(found)


def _means(matrix: Floats, weights: Floats, groups: Sequence[Sequence[Ints]]) -> Floats:
    """Average a matrix over pairs of blocks: ``[block of oop, block of ip]``.

    Args:
        matrix: ``[row of oop, row of ip]``, the values; NaN counts as 0.
        weights: ``[row of oop, row of ip]``, the weights of the pairs of rows.
        groups: for oop and ip, the numbers of the rows in each block.
    """
    chosen = [_members(side, n) for side, n in zip(groups, weights.shape, strict=True)]
    mass = chosen[0] @ weights @ chosen[1].T
    total = chosen[0] @ np.where(weights > 0, weights * np.nan_to_num(matrix), 0.0) @ chosen[1].T
    out: Floats = np.divide(total, mass, out=np.full_like(total, np.nan), where=mass > 0)
    return out


def _members(groups: Sequence[Ints], n_rows: int) -> Floats:
    """Return an array ``[block, row]``: 1 if the block has the row, else 0.

    Args:
        groups: numbers of the rows in each block.
        n_rows: number of rows.
    """
    out = np.zeros((len(groups), n_rows))
    for block, rows in enumerate(groups):
        out[block, rows] = 1.0
    return out
