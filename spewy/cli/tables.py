"""Text that commands print: numbers, rows of facts, tables, strict JSON, and lines on stderr."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import click

from spewy.errors import size_text, visible
from spewy.system.tools import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

size = size_text

PIPE_WIDTH = 200
"""Number of characters in a line of a table that is not printed on a terminal."""
LONGEST_SECONDS = 99 * 24 * 3600
"""Largest number of seconds that is printed exactly."""
NOISE = 1e-12
"""Threshold below which numbers are rounding errors and print as 0."""


def json_text(value: Any) -> str:
    """Format a value as strict JSON, with null for NaN and infinities.

    >>> json_text({"ev": (1.5, float("nan"))})
    '{"ev": [1.5, null]}'
    """
    return json.dumps(plain(value), allow_nan=False)


def say(text: str) -> None:
    click.echo(visible_lines(text), err=True)


def visible_lines(text: str) -> str:
    r"""Escape the control characters in each line of a foreign text, so that it cannot control the terminal.

    >>> visible_lines("a bot's" + chr(27) + "[2J\nanswer")
    "a bot's\\x1b[2J\nanswer"
    """
    return "\n".join(map(visible, text.split("\n")))


def line_text(line: str, words: str) -> str:
    """Format a betting line, followed by the names of its actions in brackets, for a table of `facts`.

    >>> line_text("cr120", "check, bet 120"), line_text("", "")
    ('cr120 (check, bet 120)', 'none yet')
    """
    return f"{line} ({words})" if words else line or "none yet"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Format rows, each a name and a text, in two columns.

    >>> print(facts([("EV", "1"), ("sweeps", "20")]))
    EV      1
    sweeps  20
    """
    kept = list(rows)
    width = max((len(name) for name, _ in kept), default=0)
    return "\n".join(visible_lines(f"{name:<{width}}  {text}") for name, text in kept)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with the same decimals as the rest of its column; None and NaN become a dash.

    >>> number(1234.5), number(0.00012345), number(None), number(-1e-9)
    ('1,234.500', '0.000', '-', '0.000')
    """
    return "-" if value is None or math.isnan(value) else f"{value:z,.{digits}f}"


def fine(value: float | None, digits: int = 3) -> str:
    """Format a number that stands alone: one that would round to zero keeps three significant digits.

    >>> fine(1234.5), fine(0.00012345), fine(1.2345e-07), fine(0.0)
    ('1,234.500', '0.000123', '0.000000123', '0.000')
    """
    if value is not None and NOISE < abs(value) < 10**-digits:
        digits = 2 - math.floor(math.log10(abs(value)))
    return number(value, digits)


def percent(share: float, digits: int) -> str:
    """Format a share; NaN becomes a dash.

    >>> percent(0.25, 1), percent(float("nan"), 1)
    ('25.0%', '-')
    """
    return "-" if share != share else f"{100 * share:z.{digits}f}%"


def signed(value: float, digits: int) -> str:
    """Format a difference with its sign; a difference that rounds to zero is 0.

    >>> signed(0.25, 2), signed(-1.0, 1), signed(0.0001, 2)
    ('+0.25', '-1.0', '0.00')
    """
    if value != value:
        return "-"
    text = f"{value:+,.{digits}f}"
    return text if float(text.replace(",", "")) else text[1:]


def count(things: int, name: str, names: str | None = None) -> str:
    """Format a number with its noun, whose plural has an s unless ``names`` is given.

    >>> count(1, "board"), count(1755, "board"), count(2, "class", "classes")
    ('1 board', '1,755 boards', '2 classes')
    """
    return f"{things:,} {name if things == 1 else names or name + 's'}"


def duration(seconds: float) -> str:
    """Format a number of seconds.

    >>> duration(0.25), duration(75), duration(7300), duration(1e300)
    ('0.25 s', '1:15 min', '2:01 h', 'more than 99 days')
    """
    if seconds > LONGEST_SECONDS:
        return "more than 99 days"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d} h"


def left(seconds: float) -> str:
    """Format the remaining time.

    >>> left(75), left(1e300)
    ('about 1:15 min left', 'more than 99 days left')
    """
    return f"{'about ' if seconds <= LONGEST_SECONDS else ''}{duration(seconds)} left"


@dataclass(frozen=True)
class Column:
    """A column of a table; ``least`` is its smallest width in characters, and ``left`` aligns it to the left."""

    title: str
    cells: Sequence[str]
    left: bool = False
    least: int = 0


def table_text(
    titles: Sequence[str],
    rows: Iterable[Iterable[str]],
    left: Container[str] | None = None,
    *,
    fold: bool = False,
) -> str:
    """Format a table without lines.

    Args:
        rows: cells of each row; cells that a row lacks at its end are empty.
        left: titles of the columns that are aligned to the left, as names are; None: the first column.
        fold: whether a cell that is too long for the terminal continues in the next line, instead of being cut.
    """
    every = [(*row, *[""] * (len(titles) - len(row))) for row in map(tuple, rows)]
    cells = zip(*every, strict=True) if every else [()] * len(titles)
    columns = [
        Column(title, of_column, not number if left is None else title in left)
        for number, (title, of_column) in enumerate(zip(titles, cells, strict=True))
    ]
    return render(columns, fold=fold)


def render(columns: Sequence[Column], gap: int = 2, bold: Collection[int] = (), *, fold: bool = False) -> str:
    """Format columns side by side, as wide as the terminal; the titles, and the rows ``bold``, are bold on a terminal.

    ``gap`` is the number of characters between two columns.
    """
    plain = None if on_terminal() else _plain(columns, gap)
    if plain is not None:
        return plain
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for column in columns:
        table.add_column(
            column.title,
            justify="left" if column.left else "right",
            no_wrap=not fold,
            overflow="fold" if fold else "ellipsis",
            min_width=column.least or None,
        )
    for number, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        table.add_row(*cells, style="bold" if number in bold else None)
    out = console()
    with out.capture() as captured:
        out.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _plain(columns: Sequence[Column], gap: int) -> str | None:
    """Format columns as rich does without a terminal, without loading it; None if they are too wide for a pipe."""
    filled = []
    for column in columns:
        cells = [visible_lines(cell) for cell in (column.title, *column.cells)]
        if any("\n" in cell or cell.endswith(" ") for cell in cells):
            return None
        sizes = [_size(cell) for cell in cells]
        width = max(*sizes, column.least)
        blanks = [" " * (width - size) for size in sizes]
        pairs = zip(cells, blanks, strict=True) if column.left else zip(blanks, cells, strict=True)
        filled.append([first + second for first, second in pairs])
    lines = [(" " * gap).join(row) for row in zip(*filled, strict=True)]
    if _size(lines[0]) > PIPE_WIDTH:
        return None
    return "\n".join(line.rstrip() for line in lines)


def _size(text: str) -> int:
    """Number of terminal cells that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def line_width() -> int:
    """Largest number of characters in a line of a table."""
    return shutil.get_terminal_size().columns if on_terminal() else PIPE_WIDTH


def console() -> Console:
    from rich.console import Console

    class VisibleConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible_lines(text), **options)

    return VisibleConsole(
        file=StringIO(),
        width=line_width(),
        force_terminal=on_terminal(),
        highlight=False,
        markup=False,  # cells hold names, which may have brackets and colons
        emoji=False,
        legacy_windows=False,
    )


def on_terminal() -> bool:
    return sys.stdout.isatty()


def terminal_rows(taken: int) -> int | None:
    """Number of table rows that fit below ``taken`` other lines; None if stdout is no terminal."""
    return max(5, shutil.get_terminal_size().lines - taken) if on_terminal() else None
