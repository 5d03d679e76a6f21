"""Draw the hands at a decision in the terminal: as a grid of hand classes, or as a table of single hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import RANKS
from spewy.cli.tables import Column, console, line_width, number, on_terminal, render, terminal_rows
from spewy.look.colours import Colour, between, lightness
from spewy.look.grid import NOBODY, SIZE
from spewy.look.node import FIGURES

if TYPE_CHECKING:
    from rich.text import Text

    from solvers.tree import Floats
    from spewy.game.ranges.hand_kinds import HandKinds
    from spewy.look.grid import Grid, HeatMap
    from spewy.look.node import NodeView

WIDTH = 5
"""Number of characters in a cell; 13 cells with gaps and ranks fit 80 columns."""
COLUMNS = 79
"""Largest number of characters in a line."""
DARKEST = 0.35
"""Brightness of a hand class with a reach just above 0; with full reach it is 1."""
HEAT: tuple[Colour, ...] = ((0, 32, 81), (124, 123, 120), (253, 234, 69))
"""Colours of a heat map from the lowest to the highest number ("cividis", which suits colour-blind readers)."""
_LINES_BESIDE = 14
"""Number of terminal lines that the rows above the table, the table's header and the prompt take."""
_GAPS = {True: 2, False: 1}
"""Number of characters between two columns: of a wide table (True) and of a narrow one (False)."""
_LEAST_DRAWS = 8
"""Smallest width of the column of draws in a narrow terminal."""
_CLASS = "class"
_SHORT = {
    "nut flush draw": "NFD",
    "backdoor flush draw": "BDFD",
    "flush draw": "FD",
    "double gutshot": "DGS",
    "gutshot": "GS",
    "backdoor straight draw": "BDSD",
    "overcards": "OC",
}
"""Short names of draws for narrow tables. A name comes before other names that are part of it."""


def grid_text(grid: Grid) -> str:
    return _printed(_coloured(grid)) if in_colour() else "\n".join(_plain(grid))


def heat_text(heat: HeatMap) -> str:
    """Draw a heat map; undefined numbers are dashes."""
    lines = [heat.title, *_numbers(heat.values, heat.tell)]
    return _printed(_heated(lines, heat.values)) if in_colour() else "\n".join(lines)


def in_colour() -> bool:
    if not on_terminal():
        return False
    out = console()
    return bool(out.color_system) and not out.no_color


def signs(actions: tuple[str, ...]) -> tuple[str, ...]:
    """Letter of each action: f for fold, c for check and call, a for all-in, and from r on for bets and raises.

    >>> signs(("fold", "call", "raise to 250", "raise to 500", "all-in 20000"))
    ('f', 'c', 'r', 's', 'a')
    """
    named = {"fold": "f", "check": "c", "call": "c", "all-in": "a"}
    sizes = iter("rstuvwxyzbdeghijklmnopq")
    return tuple(named.get(label.partition(" ")[0]) or next(sizes, "?") for label in actions)


def _printed(lines: Iterator[Text]) -> str:
    out = console()
    with out.capture() as captured:
        for line in lines:
            out.print(line, no_wrap=True, crop=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _plain(grid: Grid) -> Iterator[str]:
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
        whole = [
            f"{mark} {label}".replace(" ", "\N{NO-BREAK SPACE}")
            for mark, label in zip(marks, grid.actions, strict=True)
        ]
        yield "the most frequent action, and how often in %:"
        yield from (line.replace("\N{NO-BREAK SPACE}", " ") for line in wrap(", ".join(whole), COLUMNS))
        yield from _rows(most)
    if not grid.actions or np.nanmin(held, initial=1.0) < 1 - NOBODY:
        yield "\nreach in %" if grid.actions else "reach in %"
        yield from _numbers(100 * held, "{:.0f}".format)


def _rows(cells: list[list[str]]) -> Iterator[str]:
    """Lines of a grid with the ranks of its rows and columns; suited hands are above the diagonal."""
    yield "  " + " ".join(f"{rank:>{WIDTH}}" for rank in reversed(RANKS))
    for rank, row in zip(reversed(RANKS), cells, strict=True):
        yield f"{rank} " + " ".join(f"{cell:>{WIDTH}}" for cell in row)


def _numbers(values: Floats, tell: Callable[[float], str]) -> Iterator[str]:
    return _rows([["-" if np.isnan(value) else tell(value) for value in row] for row in values])


def _heated(lines: list[str], values: Floats) -> Iterator[Text]:
    from rich.text import Text

    known = values[~np.isnan(values)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    yield from map(Text, lines[:2])
    for text, row in zip(lines[2:], values, strict=True):
        line = Text(text)
        for column, value in enumerate(row.tolist()):
            if value == value:
                colour = between(HEAT, (value - low) / (high - low) if high > low else 0.5)
                start = 2 + column * (WIDTH + 1)
                line.stylize(_style(colour), start, start + WIDTH)
        yield line


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
    red, green, blue = (round(light * part) for part in colour)
    ink = "0,0,0" if lightness((red, green, blue)) > 0.5 else "255,255,255"
    return f"rgb({ink}) on rgb({red},{green},{blue})"


def _shares(mix: np.ndarray, width: int) -> list[int]:
    """Divide the characters of a cell among actions by the largest-remainder method; return each character's action.

    >>> _shares(np.array([0.5, 0.3, 0.2]), 5)
    [0, 0, 0, 1, 2]
    """
    exact = width * mix
    counts = np.floor(exact).astype(int)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: width - counts.sum()]] += 1
    actions: list[int] = np.repeat(np.arange(len(mix)), counts).tolist()
    return actions


@dataclass(frozen=True)
class _Row:
    """A row of a table of hands: a hand, or the header of a group; ``members`` are numbers of hands."""

    name: str
    members: list[int]
    head: bool = False


def hand_table(view: NodeView, sort: str | None = None, every: bool = False) -> tuple[str, int]:
    """Format the table, as wide as stdout allows, and count the hands that it leaves out.

    Args:
        sort: name of the column to sort by, the largest value first; None: by made hand and strength, or by reach in
            games without names for hands.
        every: whether to list all hands, even beyond the terminal's height and with zero reach.
    """
    kinds = view.kinds
    column, keys = _sorted_by(view, kinds, sort)
    order = sorted(
        range(len(view.hands)), key=lambda h: (*_last(float(keys[h])), -view.reach[h], view.hands[h])
    )
    if not every:
        order = [h for h in order if view.reach[h] > 0]
    rows = [_Row(view.hands[h], [h]) for h in order]
    if kinds is not None and column == _CLASS:
        rows = list(_grouped(rows, kinds))
    fit = None if every else terminal_rows(_LINES_BESIDE + len(view.actions))
    shown = rows[:fit]
    named = None if kinds is None else (kinds, column != _CLASS)
    columns, wide = _columns(view, named, shown, True), True
    if _width(columns) > line_width():
        columns, wide = _columns(view, named, shown, False), False
    drawn = [_column(name, cells) for name, cells in columns.items()]
    heads = {number for number, row in enumerate(shown) if row.head}
    return render(drawn, _GAPS[wide], heads), sum(not row.head for row in rows[len(shown) :])


def _sorted_by(view: NodeView, kinds: HandKinds | None, sort: str | None) -> tuple[str, Floats]:
    """Name of the column to sort by, and its numbers (an array ``[hand]``)."""
    from spewy.errors import InputError, nearest, shown

    keys: dict[str, Floats] = {}
    if kinds is not None:
        keys[_CLASS] = kinds.made * 2.0**32 + kinds.strength
        keys["strength"] = kinds.strength.astype(np.float64)
    keys |= {"reach": view.reach} | {figure.title: figure.of(view) for figure in FIGURES}
    keys |= dict(zip(view.actions, view.strategy, strict=True))
    spelled = {name.lower(): name for name in keys}
    wanted = next(iter(spelled)) if sort is None else sort.strip().lower()
    if wanted not in spelled:
        choices = ", ".join(keys)
        raise InputError(f"--sort: expected one of {choices}; found {shown(sort)}{nearest(wanted, spelled)}")
    return spelled[wanted], keys[spelled[wanted]]


def _last(key: float) -> tuple[bool, float]:
    """Sort key for descending order, with unknown values last."""
    return bool(np.isnan(key)), -key if key == key else 0.0


def _grouped(rows: list[_Row], kinds: HandKinds) -> Iterator[_Row]:
    names = kinds.made_names
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(names[row.members[0]], []).append(row)
    for name, members in groups.items():
        yield _Row(name, [row.members[0] for row in members], head=True)
        yield from (_Row(f"  {row.name}", row.members) for row in members)


def _columns(
    view: NodeView, named: tuple[HandKinds, bool] | None, rows: list[_Row], wide: bool
) -> dict[str, list[str]]:
    """Cells of each column, by name of the column; unknown EVs and equities have no column."""
    columns = {"hand": [row.name for row in rows]}
    means = _Means(view, rows)
    columns["reach"] = [
        f"{reach:.{2 if row.head else 4}f}" for reach, row in zip(means.reach, rows, strict=True)
    ]
    for a, action in enumerate(view.actions):
        shares = [f"{share:.3f}" for share in means.of(view.strategy[a])]
        evs = [number(ev, 2) for ev in means.of(view.action_ev[a])]
        width = max(map(len, evs), default=0)
        both = [f"{share} {ev:>{width}}" for share, ev in zip(shares, evs, strict=True)]
        columns[action] = both if wide and _known(view.action_ev[a]) else shares
    for figure in FIGURES:
        values = figure.of(view)
        if _known(values):
            columns[figure.title] = [number(mean, figure.digits) for mean in means.of(values)]
    if named is not None:
        kinds, with_made = named
        texts = {"made": kinds.made_names} if with_made else {}
        texts |= {"draws": kinds.draw_names}
        if wide:
            texts |= {"blockers": kinds.blocker_names}
        for name, names in texts.items():
            cells = ["" if row.head else names[row.members[0]] for row in rows]
            if any(cells):
                columns[name] = cells if wide else [_shortened(cell) for cell in cells]
    return columns


def _known(values: Floats) -> bool:
    return not len(values) or not np.isnan(values).all()


def _shortened(names: str) -> str:
    for name, short in _SHORT.items():
        names = names.replace(name, short)
    return names


class _Means:
    """Sums and means of each row's hands; every row has a hand.

    Attributes:
        reach: total reach of each row.
    """

    def __init__(self, view: NodeView, rows: list[_Row]) -> None:
        self._hands = np.array([hand for row in rows for hand in row.members], dtype=np.int64)
        self._sizes = np.array([len(row.members) for row in rows], dtype=np.int64)
        self._starts = self._sizes.cumsum() - self._sizes
        self._weights = view.reach[self._hands]
        self.reach: list[float] = self._sums(self._weights).tolist()

    def of(self, values: Floats) -> list[float]:
        """Mean of the known values ``[hand]`` of each row, weighted by reach; unweighted if all have zero reach.

        NaN if none is known.
        """
        of_hands = values[self._hands]
        known = ~np.isnan(of_hands)
        weights, total = self._weights * known, self._sums(self._weights * known)
        weights = np.where(np.repeat(total > 0, self._sizes), weights, known)
        sums = self._sums(weights * np.nan_to_num(of_hands))
        with np.errstate(invalid="ignore"):
            means: list[float] = (sums / self._sums(weights)).tolist()
        return means

    def _sums(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self._starts) if len(values) else values


def _width(columns: dict[str, list[str]]) -> int:
    widths = {name: max(len(name), *map(len, cells), 0) for name, cells in columns.items()}
    for name in ("draws", "blockers"):
        if name in widths:
            widths[name] = min(widths[name], _LEAST_DRAWS)
    return sum(widths.values()) + _GAPS[True] * (len(widths) - 1)


def _column(name: str, cells: list[str]) -> Column:
    text = name in ("hand", "made", "draws", "blockers")
    least = 0 if name in ("draws", "blockers") else max(len(name), *map(len, cells), 0)
    return Column(name, cells, left=text, least=least)
