"""A picture of a board's buckets: their outcome curves, and a 13 x 13 chart of hands coloured by bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets import Deck, cards_name, hands
from buckets.cards import RANKS

if TYPE_CHECKING:
    from spewy.look.buckets import BoardBuckets

SHAPES = {"pair": (2, 3), "suited": (2, 2), "offsuit": (3, 4)}
"""Rows and columns of a chart cell's combos: 6, 4 and 12 of them."""


def plot_buckets(buckets: BoardBuckets, path: Path) -> None:
    """Draw into a file whose suffix says the format (png, svg, pdf)."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    colors = mpl.colormaps["turbo"](np.linspace(0.03, 0.97, buckets.n_rows))
    figure = Figure(figsize=(15, 7), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    _curves(left, buckets, colors)
    _chart(right, buckets, colors)
    title = f"{cards_name(buckets.board) or 'preflop'}: {buckets.n_rows} buckets, weakest 0 to strongest"
    figure.suptitle(title, fontsize=14)
    figure.savefig(path, dpi=110)


def _curves(axes: Any, buckets: BoardBuckets, colors: Any) -> None:
    n_outcomes = buckets.curves.shape[1]
    if n_outcomes == 1:  # a river: one outcome, one bar
        axes.bar(np.arange(buckets.n_rows), buckets.curves[:, 0], color=colors)
        axes.set(xlabel="bucket", ylabel="outcome: share of opposing hands beaten", ylim=(0, 1))
        return
    percentile = 100 * (np.arange(n_outcomes) + 0.5) / n_outcomes
    for row, curve in enumerate(buckets.curves):
        axes.plot(percentile, curve, color=colors[row], linewidth=1.4)
        if row % max(1, buckets.n_rows // 12) == 0 or row == buckets.n_rows - 1:
            axes.annotate(str(row), (0, curve[0]), xytext=(-3, 0), textcoords="offset points",
                          color=colors[row], fontsize=8, ha="right", va="center")  # fmt: skip
    axes.set(
        xlabel="percentile of the run-outs, worst to best",
        ylabel="outcome: share of opposing hands beaten",
        xlim=(-5, 100),
        ylim=(0, 1),
    )
    axes.grid(alpha=0.25)


def _chart(axes: Any, buckets: BoardBuckets, colors: Any) -> None:
    """Aces first; suited above the diagonal; each combo of a cell is a tile, grey where the board takes it."""
    from matplotlib.patches import Rectangle

    seen: dict[tuple[int, int], int] = {}
    for hand, (low, high) in enumerate(hands(Deck(), 2).tolist()):
        first, second = 12 - (high >> 2), 12 - (low >> 2)
        suited = low & 3 == high & 3
        kind = "pair" if first == second else "suited" if suited else "offsuit"
        row, column = (first, second) if suited or kind == "pair" else (second, first)
        tile = seen.setdefault((row, column), 0)
        seen[row, column] += 1
        n_down, n_across = SHAPES[kind]
        down, across = divmod(tile, n_across)
        label = int(buckets.labels[hand])
        axes.add_patch(
            Rectangle(
                (column + across / n_across, row + down / n_down),
                1 / n_across,
                1 / n_down,
                facecolor="#d5d5d5" if label < 0 else colors[label],
                linewidth=0,
            )
        )
    names = RANKS[::-1]
    for row in range(13):
        for column in range(13):
            suffix = "" if row == column else "s" if row < column else "o"
            name = names[min(row, column)] + names[max(row, column)] + suffix
            axes.text(column + 0.5, row + 0.5, name, ha="center", va="center", fontsize=7.5, color="white",
                      bbox={"facecolor": "black", "alpha": 0.35, "linewidth": 0, "pad": 0.8})  # fmt: skip
    for line in range(14):
        axes.axhline(line, color="white", linewidth=1)
        axes.axvline(line, color="white", linewidth=1)
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal", xticks=[], yticks=[])
    axes.set_title("colour: bucket of each combo; grey: on the board", fontsize=10)
