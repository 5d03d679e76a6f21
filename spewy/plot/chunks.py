"""Pictures of a chunk as a matrix game: ranges by row, payoff matrices, and strategies by row.

The rows of a chunk are buckets, from the weakest to the strongest, or single hands. Pictures leave out rows that are
not in the player's range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import sized_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import SEATS, UNUSED, hex_colour
from spewy.plot.figures import action_colours, new_figure

if TYPE_CHECKING:
    from solvers.tree import Floats, Ints
    from spewy.look.chunk_game import ChunkSolution, OneChunk

MOST_ROW_NAMES = 8
"""Approximate number of rows that an axis of a payoff matrix names."""


def ranges_figure(chunk: OneChunk) -> Any:
    """Draw both players' ranges at the root of a chunk: the weight of each row."""
    figure, axes = _subplots(1, 2, (10, 2.6), shared=True)
    for p, axis in enumerate(axes.flat):
        weights = chunk.ranges[p]
        axis.bar(np.arange(len(weights)), weights, width=0.85, color=hex_colour(SEATS[p]))
        axis.set(
            title=f"Range of {SEAT_NAMES[p]}: {weights.sum():.0f} hands in {len(_held(chunk, p))} rows",
            xlabel=f"row (0 = weakest, {len(weights) - 1} = strongest)",
        )
    axes.flat[0].set_ylabel("weight (hands)")
    return figure


def payoffs_figure(
    chunk: OneChunk,
    matrices: Mapping[str, Floats],
    heading: str = "",
    limit: float | None = None,
    unit: str = "net chips of player 0 (oop)",
) -> Any:
    """Draw payoff matrices of a chunk as heat maps with a common scale, at most three side by side.

    Blue cells: player 0 wins. Red cells: player 0 loses. White cells: neither wins. Grey cells: no two hands of these
    rows can be dealt together.

    Args:
        matrices: by title, ``[row of player 0, row of player 1]``.
        limit: number that gets the strongest colour; None for the largest number of the matrices.
        unit: label of the colour scale.
    """
    import matplotlib as mpl
    from matplotlib.colors import TwoSlopeNorm

    lines, columns = -(-len(matrices) // 3), min(3, len(matrices))
    figure, axes = _subplots(lines, columns, (3.2 * columns + 0.7, 3 * lines + 0.5), shared=True)
    rows = _held(chunk, 0), _held(chunk, 1)
    largest = max(float(np.nanmax(np.abs(matrix))) for matrix in matrices.values())
    end = limit or largest
    colours = mpl.colormaps["RdBu"].with_extremes(bad=hex_colour(UNUSED))
    for axis, (title, matrix) in zip(axes.flat, matrices.items(), strict=False):
        image = axis.imshow(
            matrix[np.ix_(*rows)],
            cmap=colours,
            norm=TwoSlopeNorm(0, -end, end),
            origin="lower",
            interpolation="nearest",
            aspect="auto",
        )
        axis.set_title(title, fontsize="medium")
        axis.spines[:].set_visible(False)
        _name_rows(axis.yaxis, rows[0])
        _name_rows(axis.xaxis, rows[1])
    for axis in axes.flat[len(matrices) :]:
        axis.set_visible(False)
    figure.supxlabel("row of ip", fontsize="medium")
    figure.supylabel("row of oop", fontsize="medium")
    figure.colorbar(
        image,
        ax=axes,
        shrink=0.85,
        aspect=30,
        pad=0.02,
        label=unit,
        extend="both" if end < largest else "neither",
    )
    figure.suptitle(heading, fontweight="bold")
    return figure


def strategies_figure(
    chunk: OneChunk, solution: ChunkSolution, lines: Mapping[str, str], heading: str = ""
) -> Any:
    """Draw the frequencies of actions for each row, at some decisions of a chunk.

    Args:
        lines: lines of the decisions, each with words that say what the player faces.
    """
    figure, axes = _subplots(len(lines), 1, (10, 1.9 * len(lines) + 0.6))
    for axis, (line, words) in zip(axes.flat, lines.items(), strict=True):
        n = chunk.find(line)
        strategy, player = chunk.strategy_at(solution, n), int(chunk.chunk.forest.arrays.player[n])
        rows = _held(chunk, player)
        labels = [action.label for action in chunk.tree.nodes[n].actions]
        base = np.zeros(len(rows))
        for share, label, colour in zip(100 * strategy[:, rows], labels, action_colours(labels), strict=True):
            axis.bar(np.arange(len(rows)), share, 0.92, base, color=colour, label=sized_words(label))
            base += share
        axis.set(
            title=f"{SEAT_NAMES[player]} {words}",
            ylabel="frequency (%)",
            xlim=(-0.7, len(rows) - 0.3),
            ylim=(0, 100),
            yticks=(0, 50, 100),
        )
        axis.set_xticks(np.arange(len(rows)), [str(row) for row in rows], fontsize="small")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, reverse=True)
    axes.flat[-1].set_xlabel("row of the player to act (weakest to strongest; rows not held are left out)")
    figure.suptitle(heading, fontweight="bold")
    return figure


def _subplots(
    lines: int, columns: int, size: tuple[float, float], *, shared: bool = False
) -> tuple[Any, Any]:
    figure = new_figure(*size)
    return figure, figure.subplots(lines, columns, squeeze=False, sharex=shared, sharey=shared)


def _held(chunk: OneChunk, p: int) -> Ints:
    rows: Ints = np.flatnonzero(chunk.ranges[p] > 0)
    return rows


def _name_rows(axis: Any, rows: Ints) -> None:
    chosen = np.arange(0, len(rows), max(1, round(len(rows) / MOST_ROW_NAMES)))
    axis.set_ticks(chosen, [str(rows[k]) for k in chosen])
