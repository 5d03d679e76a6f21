"""Grids of hand classes in a terminal, in colour or as plain text, at most 80 columns wide.

In colour the background of a cell is divided among the actions by their frequencies, and is brighter for a larger
reach. In plain text a cell has the letter of the most frequent action and its frequency, and a second grid has the
reach. Heat maps have a number in each cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import RANKS
from spewy.cli.tables import console, on_terminal
from spewy.look.colours import Colour, between, lightness
from spewy.look.grid import NOBODY, SIZE

if TYPE_CHECKING:
    from rich.text import Text

    from solvers.tree import Floats
    from spewy.look.grid import Grid, HeatMap

WIDTH = 5
"""Number of characters in a cell; 13 cells with gaps and ranks fit 80 columns."""
COLUMNS = 79
"""Largest number of characters in a line."""
DARKEST = 0.35
"""Brightness of a hand class with a reach just above 0; with full reach it is 1."""
HEAT: tuple[Colour, ...] = ((0, 32, 81), (124, 123, 120), (253, 234, 69))
"""Colours of a heat map from the lowest to the highest number ("cividis", which suits colour-blind readers)."""


def grid_text(grid: Grid) -> str:
    """Draw the grid, in colour if stdout shows colours."""
    return _printed(_coloured(grid) if in_colour() else _plain(grid))


def heat_text(heat: HeatMap) -> str:
    """Draw a heat map; undefined numbers are dashes."""
    return _printed([_text(heat.title), *_numbers(heat.values, heat.tell, in_colour())])


def in_colour() -> bool:
    """Whether stdout is a terminal that shows colours."""
    out = console()
    return on_terminal() and bool(out.color_system) and not out.no_color


def signs(actions: tuple[str, ...]) -> tuple[str, ...]:
    """Letter of each action: f for fold, c for check and call, a for all-in, and from r on for bets and raises.

    >>> signs(("Fold", "Call", "Raise(250)", "Raise(500)", "AllIn(20000)"))
    ('f', 'c', 'r', 's', 'a')
    """
    named = {"Fold": "f", "Check": "c", "Call": "c", "AllIn": "a"}
    sizes = iter("rstuvwxyzbdeghijklmnopq")
    return tuple(named.get(label.partition("(")[0]) or next(sizes, "?") for label in actions)


def _printed(lines: Iterator[Text] | list[Text]) -> str:
    out = console()
    with out.capture() as captured:
        for line in lines:
            out.print(line, no_wrap=True, crop=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _text(line: str) -> Text:
    from rich.text import Text

    return Text(line)


def _plain(grid: Grid) -> Iterator[Text]:
    held = np.full(grid.reach.shape, np.nan)
    most = [["-"] * SIZE for _ in range(SIZE)]
    marks = signs(grid.actions)
    for cell in grid.cells():
        if cell.reach >= NOBODY:
            held[cell.row, cell.column] = cell.reach
        if cell.fill and marks:
            action = int(np.argmax(cell.mix))
            most[cell.row][cell.column] = f"{marks[action]}{round(100 * cell.mix[action])}"
    if grid.actions:
        legend = ", ".join(f"{mark} {label}" for mark, label in zip(marks, grid.actions, strict=True))
        yield _text("the most frequent action, and how often in %:")
        yield from map(_text, wrap(legend, COLUMNS))
        yield from (_text(line) for line in _rows(most))
    if not grid.actions or np.nanmin(held, initial=1.0) < 1 - NOBODY:
        yield _text("\nreach in %" if grid.actions else "reach in %")
        yield from _numbers(100 * held, "{:.0f}".format, False)


def _rows(cells: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a grid with the ranks of its rows and columns; suited hands are above the diagonal."""
    yield "  " + " ".join(f"{rank:>{WIDTH}}" for rank in reversed(RANKS))
    for rank, row in zip(reversed(RANKS), cells, strict=True):
        yield f"{rank} " + " ".join(f"{cell:>{WIDTH}}" for cell in row)


def _numbers(values: Floats, tell: Callable[[float], str], coloured: bool) -> Iterator[Text]:
    cells = [["-" if np.isnan(value) else tell(value) for value in row] for row in values]
    lines = [_text(line) for line in _rows(cells)]
    if coloured and not np.isnan(values).all():
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        for line, row in zip(lines[1:], values, strict=True):
            for column, value in enumerate(row.tolist()):
                if value == value:
                    colour = between(HEAT, (value - low) / (high - low) if high > low else 0.5)
                    start = 2 + column * (WIDTH + 1)
                    line.stylize(_style(colour), start, start + WIDTH)
    yield from lines


def _coloured(grid: Grid) -> Iterator[Text]:
    from rich.text import Text

    colours, legend = grid.colours, Text()
    for label, colour in zip(grid.actions or ("reach",), colours, strict=True):
        if len(legend) + len(label) + 2 > COLUMNS:
            yield legend
            legend = Text()
        legend.append(f" {label} ", _style(colour)).append(" ")
    yield legend
    line = Text()
    for cell in grid.cells():
        text = f"{cell.name:<{WIDTH}}"
        if not cell.fill:
            line.append(text, "dim")
        else:
            light = DARKEST + (1 - DARKEST) * cell.fill
            for character, action in zip(text, _shares(cell.mix, WIDTH), strict=True):
                line.append(character, _style(colours[action], light))
        line.append(" ")
        if cell.column == SIZE - 1:
            yield line
            line = Text()


def _style(colour: Colour, light: float = 1.0) -> str:
    """Style of a cell with this background: black text on a light background, white text on a dark background.

    Args:
        colour: colour of the background.
        light: factor by which the background is darkened, from 0 to 1.
    """
    red, green, blue = (round(light * part) for part in colour)
    ink = "0,0,0" if lightness((red, green, blue)) > 0.5 else "255,255,255"
    return f"rgb({ink}) on rgb({red},{green},{blue})"


def _shares(mix: np.ndarray, width: int) -> list[int]:
    """Divide the characters of a cell among the actions by their frequencies (largest-remainder method).

    Args:
        mix: frequency of each action.
        width: number of characters.

    Returns:
        Number of the action for each character.

    >>> _shares(np.array([0.5, 0.3, 0.2]), 5)
    [0, 0, 0, 1, 2]
    """
    exact = width * mix
    counts = np.floor(exact).astype(int)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: width - counts.sum()]] += 1
    actions: list[int] = np.repeat(np.arange(len(mix)), counts).tolist()
    return actions
