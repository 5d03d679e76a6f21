"""Pictures of a decision: 13 x 13 hand classes with the frequencies of actions, or with a number as a heat map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import sized_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import UNUSED, hex_colour, lightness
from spewy.look.grid import NOBODY, SIZE, class_name
from spewy.plot.figures import SIZES, axes_for, font, new_figure, signs

if TYPE_CHECKING:
    from solvers.tree import Floats
    from spewy.look.grid import Grid, HeatMap
    from spewy.look.node import NodeView

STRETCH = 1.17
"""Height of a chart with its title and legend, relative to its width."""
BESIDE_BAR = 1.03
"""Height of a chart with a colour bar and no legend, relative to its width."""
CELL = 0.87
"""Font size of text in cells, relative to the font size of the figure."""


def hand_chart(grid: Grid, ax: Any = None) -> Any:
    """Draw each hand class as a bar whose height shows reach and whose colours show the frequencies of actions."""
    ax = axes_for(ax)
    colours = [hex_colour(colour) for colour in grid.colours]
    for cell in grid.cells():
        _tile(ax, cell.row, cell.column, 1.0, 1.0, 0.0, hex_colour(UNUSED))
        if cell.fill:
            start = 0.0
            for share, colour in zip(cell.mix.tolist(), colours, strict=True):
                _tile(ax, cell.row, cell.column, share, cell.fill, start, colour)
                start += share
    name_cells(ax, grid.reach)
    if grid.actions:
        _legend(ax, grid, colours)
    return ax


def heat_chart(
    values: Floats,
    ax: Any = None,
    tell: Callable[[float], str] = "{:.2f}".format,
    limits: tuple[float, float] | None = None,
    colours: str = "cividis",
) -> Any:
    """Draw the number of each hand class in its cell, on a colour scale that colour-blind readers can see, too.

    Args:
        values: ``[row, column]``, a number for each hand class, such as from `class_means`; cells with NaN stay empty.
        tell: function that formats a number as text.
        limits: numbers for the first and the last colour of the scale; None for the smallest and the largest value.
        colours: name of a colour map of matplotlib.

    Returns:
        The axes, with a colour bar beside them.
    """
    from matplotlib.ticker import FuncFormatter

    ax = axes_for(ax)
    ax.set_facecolor(hex_colour(UNUSED))
    low, high = limits or _limits([values])
    image = ax.imshow(values, cmap=colours, extent=(0, SIZE, SIZE, 0), vmin=low, vmax=high)
    if not np.isnan(values).all():
        bar = colour_bar(ax, image)
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tell(value)))
    style = {"ha": "center", "va": "center", "fontsize": _cell_font()}
    for (row, column), cell in np.ndenumerate(values):
        value = float(cell)
        known = value == value
        ink = _ink(image.cmap(image.norm(value))) if known else "#9a9a9a"
        ax.text(column + 0.5, row + 0.32, class_name(row, column), color=ink, **style)
        if known:
            ax.text(column + 0.5, row + 0.7, tell(value), color=ink, **style)
    _frame(ax)
    return ax


def _ink(colour: Sequence[float]) -> str:
    red, green, blue = (round(255 * part) for part in colour[:3])
    return "black" if lightness((red, green, blue)) > 0.5 else "white"


def node_figure(
    views: Sequence[NodeView], words: str = "", heat: str | None = None, size: str = "screen"
) -> Any:
    """Draw the hands of one or both players at a decision, as grids of frequencies or as heat maps.

    Args:
        views: the hands of each player to draw; the player who acts comes first.
        words: the betting line in words, for the title.
        heat: name of the number to show for each hand class: "EV", "equity", "reach", or the label of an action for
            its EV (`NodeView.heat_map`); None for the frequencies of actions.
    """
    title = ": ".join(text for text in (signs(views[0].board), words) if text) or "the first decision"
    if heat is None:
        return decision_figure([view.grid() for view in views], title, size)
    chosen = views[:1] if views[0].names_action(heat) else views
    return heat_figure([view.heat_map(heat) for view in chosen], title, size)


def decision_figure(grids: Sequence[Grid], title: str = "", size: str = "screen") -> Any:
    """Draw the grids of both players at a decision side by side.

    Args:
        grids: grid of the player who acts, and grid of the player who waits.
    """
    with font(SIZES[size]):
        figure, axes = _side_by_side(len(grids), title, size)
        for ax, grid in zip(axes, grids, strict=True):
            hand_chart(grid, ax)
            what = "strategy" if grid.actions else "range"
            ax.set_title(f"{SEAT_NAMES[grid.player]}: {what}", loc="left")
    return figure


def heat_figure(maps: Sequence[HeatMap], title: str = "", size: str = "screen") -> Any:
    """Draw heat maps side by side, with a common colour scale."""
    limits = _limits([heat.values for heat in maps])
    with font(SIZES[size]):
        figure, axes = _side_by_side(len(maps), title, size, BESIDE_BAR)
        for ax, heat in zip(axes, maps, strict=True):
            heat_chart(heat.values, ax, maps[0].tell, limits)
            ax.set_title(heat.title, loc="left")
    return figure


def colour_bar(ax: Any, colours: Any, label: str = "") -> Any:
    """Draw a colour bar beside a chart, as high as the chart."""
    bar = ax.figure.colorbar(colours, cax=ax.inset_axes((1.015, 0.0, 0.03, 1.0)), label=label)
    bar.outline.set_visible(False)
    return bar


def _side_by_side(count: int, title: str, size: str, stretch: float = STRETCH) -> tuple[Any, list[Any]]:
    chosen = SIZES[size]
    if chosen.stacked:
        figure = new_figure(chosen.width, stretch * chosen.width * count, chosen)
    else:
        figure = new_figure(chosen.width * count / 2, stretch * chosen.width / 2, chosen)
    figure.suptitle(title)
    axes = figure.subplots(*((count, 1) if chosen.stacked else (1, count)), squeeze=False)
    return figure, list(axes.ravel())


def _limits(maps: Sequence[Floats]) -> tuple[float, float]:
    known = np.concatenate([values[~np.isnan(values)] for values in maps])
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)


def _tile(ax: Any, row: int, column: int, width: float, height: float, left: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    corner = column + left, row + 1 - height
    ax.add_patch(Rectangle(corner, width, height, facecolor=colour, linewidth=0))


def name_cells(ax: Any, reach: Floats) -> None:
    """Write the name of each hand class into its cell; grey for classes that are not in the range."""
    from matplotlib.patheffects import withStroke

    style = {"ha": "center", "va": "center", "fontsize": 1.15 * _cell_font()}
    for (row, column), weight in np.ndenumerate(reach):
        in_range = weight >= NOBODY
        colour = "black" if in_range else "#9a9a9a"
        text = ax.text(column + 0.5, row + 0.5, class_name(row, column), color=colour, **style)
        if in_range:
            text.set_path_effects([withStroke(linewidth=2, foreground="white", alpha=0.75)])
    _frame(ax)


def _frame(ax: Any) -> None:
    for line in range(SIZE + 1):
        ax.axhline(line, color="white", linewidth=1)
        ax.axvline(line, color="white", linewidth=1)
    ax.set(xlim=(0, SIZE), ylim=(SIZE, 0), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _legend(ax: Any, grid: Grid, colours: list[str]) -> None:
    from matplotlib.patches import Patch

    shares = grid.shares.tolist()
    entries = [
        Patch(color=colour, label=f"{sized_words(label)}  {share_text(share)}")
        for label, colour, share in zip(grid.actions, colours, shares, strict=True)
        if share >= NOBODY
    ]
    columns = len(entries) if len(entries) < 4 else (len(entries) + 1) // 2
    ax.legend(
        handles=entries,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.005),
        ncols=max(columns, 1),
        frameon=False,
        handlelength=1.1,
        columnspacing=1.4,
    )


def share_text(share: float) -> str:
    """Format a share in whole percent, or with a decimal if it is small.

    >>> share_text(0.684), share_text(0.004), share_text(0.0001)
    ('68%', '0.4%', '<0.1%')
    """
    if share >= 0.01:
        return f"{share:.0%}"
    return f"{share:.1%}" if share >= NOBODY else "<0.1%"


def _cell_font() -> float:
    import matplotlib as mpl

    return CELL * float(mpl.rcParams["font.size"])
