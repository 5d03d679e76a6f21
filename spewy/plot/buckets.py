"""Pictures of the hand buckets on a board: outcome curves, and a 13 x 13 chart of hands coloured by bucket."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import Deck, hands
from spewy.look.colours import UNUSED, hex_colour
from spewy.plot.figures import SIZES, axes_for, font, new_figure, signs
from spewy.plot.hands import colour_bar, name_cells

if TYPE_CHECKING:
    from spewy.look.buckets import BoardBuckets

SHAPES = {"pair": (2, 3), "suited": (2, 2), "offsuit": (3, 4)}
"""Rows and columns of tiles for the 6, 4 or 12 hands in a cell of the chart."""
MOST_NAMED = 9
"""Largest number of thick, labelled curves; the curves of other buckets are thin."""
APART = 0.035
"""Smallest distance between two labels, as a share of the axes' height."""


def buckets_figure(buckets: BoardBuckets, size: str = "screen") -> Any:
    """Draw the outcome curves and the hands of a board's buckets side by side, with one colour bar."""
    chosen = SIZES[size]
    with font(chosen):
        height = 2.0 * chosen.width if chosen.stacked else 0.5 * chosen.width
        figure = new_figure(chosen.width, height, chosen)
        first, second = figure.subplots(*((2, 1) if chosen.stacked else (1, 2)))
        outcome_curves(buckets, first)
        bucket_chart(buckets, second)
        board = signs(buckets.board) or "before the flop"
        figure.suptitle(f"{board}: {buckets.n_rows} buckets, from 0, the weakest")
    return figure


def outcome_curves(buckets: BoardBuckets, ax: Any = None) -> Any:
    """Draw a curve for each bucket: the mean share of opposing hands beaten, over run-outs from the worst to the best.

    On a river there is a single outcome, so each bucket gets a bar.
    """
    ax = axes_for(ax)
    colours, n_outcomes = _colours(buckets), buckets.curves.shape[1]
    ax.set(ylabel="opposing hands beaten, %", ylim=(0, 100))
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    if n_outcomes == 1:
        ax.bar(np.arange(buckets.n_rows), 100 * buckets.curves[:, 0], color=colours)
        ax.set(xlabel="bucket")
        return ax
    at = 100 * (np.arange(n_outcomes) + 0.5) / n_outcomes
    named = np.unique(np.linspace(0, buckets.n_rows - 1, min(MOST_NAMED, buckets.n_rows)).round().astype(int))
    for row in range(buckets.n_rows):
        strong = {"linewidth": 2.2, "zorder": 3} if row in named else {"linewidth": 0.6, "alpha": 0.55}
        ax.plot(at, 100 * buckets.curves[row], color=colours[row], **strong)
    begin = np.array([100 * buckets.curves[row, 0] for row in named])
    for row, height, start in zip(named.tolist(), _apart(begin, 100 * APART), begin, strict=True):
        ax.annotate(
            str(row), (0, start), (-6, height), va="center", ha="right", color=colours[row], weight="bold",
            arrowprops={"arrowstyle": "-", "color": colours[row], "linewidth": 0.8, "shrinkA": 1, "shrinkB": 0},
        )  # fmt: skip
    ax.set(xlabel="run-outs from the worst to the best, %", xlim=(-11, 100), xticks=range(0, 101, 20))
    return ax


def bucket_chart(buckets: BoardBuckets, ax: Any = None) -> Any:
    """Draw each hand as a tile in its bucket's colour, in the cell of its hand class; hands with board cards are grey.

    Returns:
        The axes, with a colour bar beside them.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    ax = axes_for(ax)
    colours, seen = _colours(buckets), dict.fromkeys(np.ndindex(13, 13), 0)
    for hand, (low, high) in enumerate(hands(Deck(), 2).tolist()):
        row, column, kind = _cell(low, high)
        n_down, n_across = SHAPES[kind]
        down, across = divmod(seen[row, column], n_across)
        seen[row, column] += 1
        label = int(buckets.labels[hand])
        corner = column + across / n_across, row + down / n_down
        colour = hex_colour(UNUSED) if label < 0 else colours[label]
        ax.add_patch(Rectangle(corner, 1 / n_across, 1 / n_down, facecolor=colour, linewidth=0))
    name_cells(ax, np.ones((13, 13)))
    scale = ScalarMappable(Normalize(0, max(buckets.n_rows - 1, 1)), cmap=COLOURS)
    colour_bar(ax, scale, "bucket")
    return ax


COLOURS = "viridis"


def _colours(buckets: BoardBuckets) -> Any:
    import matplotlib as mpl

    return mpl.colormaps[COLOURS](np.linspace(0, 1, buckets.n_rows))


def _cell(low: int, high: int) -> tuple[int, int, str]:
    """Row and column of the cell of a hand with cards ``low`` and ``high``; and "pair", "suited" or "offsuit"."""
    first, second = 12 - (high >> 2), 12 - (low >> 2)
    if first == second:
        return first, second, "pair"
    if low & 3 == high & 3:
        return first, second, "suited"
    return second, first, "offsuit"


def _apart(heights: np.ndarray, least: float) -> np.ndarray:
    """Move labels up or down on a scale from 0 to 100, so that their heights differ by at least ``least``.

    >>> _apart(np.array([10.0, 11.0, 50.0]), 4.0).tolist()
    [10.0, 14.0, 50.0]
    """
    out = heights.copy()
    order = np.argsort(heights, kind="stable")
    for before, after in pairwise(order):
        out[after] = max(out[after], out[before] + least)
    ceiling = 100.0 - least / 2
    for place in order[::-1]:
        out[place] = min(out[place], ceiling)
        ceiling = out[place] - least
    return out
