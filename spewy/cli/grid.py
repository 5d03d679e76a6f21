"""A decision's 13 x 13 classes of hands on a terminal: each cell's actions as coloured shares, or as text.

In colour a cell is as bright as its reach, and its background is divided among the actions. Without colour it tells
the most frequent action by its sign, and how often it is taken; another chart then tells the reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from spewy.cli.tables import console, on_terminal

if TYPE_CHECKING:
    from rich.text import Text

    from spewy.look.grid import Grid

COLOUR_WIDTH, TEXT_WIDTH = 5, 7
"""Characters of a cell: 13 of the first and the gaps between them fit a terminal of 80."""
FOLD, CALL, SMALL, LARGE = (70, 110, 190), (70, 150, 80), (225, 130, 95), (140, 25, 40)
"""Red, green and blue of folds, of checks and calls, and of the smallest and the largest bet."""
DARKEST = 0.3
"""Brightness of a class that hardly gets here."""
NOBODY = 5e-4
"""A reach that is told as none."""


def grid_text(grid: Grid) -> str:
    """The chart: in colour where stdout shows it."""
    from rich.text import Text

    out = console()
    lines = _coloured(grid) if on_terminal() and out.color_system and not out.no_color else _plain(grid)
    with out.capture() as captured:
        for line in lines:
            out.print(line if isinstance(line, Text) else Text(line), no_wrap=True)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def signs(actions: tuple[str, ...]) -> tuple[str, ...]:
    """A character for each action: f, c, a for all-in, and letters from r on for bets and raises.

    >>> signs(("Fold", "Call", "Raise(250)", "Raise(500)", "AllIn(20000)"))
    ('f', 'c', 'r', 's', 'a')
    """
    named = {"Fold": "f", "Check": "c", "Call": "c", "AllIn": "a"}
    sizes = iter("rstuvwxyzbdeghijklmnopq")
    return tuple(named.get(label.partition("(")[0]) or next(sizes, "?") for label in actions)


def _plain(grid: Grid) -> Iterator[str]:
    marks, names = signs(grid.actions), _names()
    yield ", ".join(f"{mark} {label}" for mark, label in zip(marks, grid.actions, strict=True))
    for row in range(len(names)):
        cells = []
        for column, name in enumerate(names[row]):
            mix = grid.frequencies[:, row, column]
            if np.isnan(mix).any() or grid.reach[row, column] < NOBODY:
                cells.append(f"{name:<3} {'-':<3}")
                continue
            most = int(np.argmax(mix))
            cells.append(f"{name:<3} {marks[most]}{min(99, round(100 * mix[most])):02d}")
        yield " ".join(cells)
    if np.nanmin(grid.reach) < 1 - NOBODY:
        yield ""
        yield "reach in %"
        for row in range(len(names)):
            told = zip(names[row], grid.reach[row], strict=True)
            yield " ".join(f"{name:<3} {'-' if np.isnan(r) else round(100 * r):>3}" for name, r in told)


def _coloured(grid: Grid) -> Iterator[Text]:
    from rich.text import Text

    colours = _colours(signs(grid.actions))
    legend = Text()
    for label, colour in zip(grid.actions, colours, strict=True):
        legend.append(f" {label} ", _style(colour)).append(" ")
    yield legend
    brightest = max(float(np.nanmax(grid.reach)), NOBODY)
    for row, names in enumerate(_names()):
        line = Text()
        for column, name in enumerate(names):
            mix, reach = grid.frequencies[:, row, column], float(grid.reach[row, column])
            if np.isnan(mix).any() or reach < NOBODY:
                line.append(f"{name:<{COLOUR_WIDTH}}", "dim")
            else:
                light = DARKEST + (1 - DARKEST) * min(1.0, reach / brightest)
                owners = _shares(mix, COLOUR_WIDTH)
                for character, action in zip(f"{name:<{COLOUR_WIDTH}}", owners, strict=True):
                    line.append(character, _style(colours[action], light))
            line.append(" ")
        yield line


def _style(colour: tuple[int, ...], light: float = 1.0) -> str:
    red, green, blue = (round(light * part) for part in colour)
    return f"rgb(255,255,255) on rgb({red},{green},{blue})"


def _shares(mix: np.ndarray, width: int) -> list[int]:
    """The action of each of so many characters, by largest remainder.

    >>> _shares(np.array([0.5, 0.3, 0.2]), 5)
    [0, 0, 0, 1, 2]
    """
    exact = width * mix
    counts = np.floor(exact).astype(int)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: width - counts.sum()]] += 1
    found: list[int] = np.repeat(np.arange(len(mix)), counts).tolist()
    return found


def _colours(marks: tuple[str, ...]) -> list[tuple[int, ...]]:
    n_bets = sum(mark not in "fc" for mark in marks)
    out: list[tuple[int, ...]] = []
    seen = 0
    for mark in marks:
        if mark in "fc":
            out.append(FOLD if mark == "f" else CALL)
        else:
            seen += 1
            out.append(tuple(round(s + seen / n_bets * (e - s)) for s, e in zip(SMALL, LARGE, strict=True)))
    return out


def _names() -> list[tuple[str, ...]]:
    from buckets.hands import preflop_classes

    names = preflop_classes()[1]
    return [names[start : start + 13] for start in range(0, len(names), 13)]
