"""Formats records as tables: as text that fits a screen for `print`, as HTML with escaped text for notebooks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from spewy.errors import visible

MOST_ROWS = 20
"""Largest number of rows that a table shows."""
MOST_WIDTH, MOST_CELL = 120, 60
"""Largest numbers of characters of a line and of a cell of a table as text."""
_NUMBERS = "text-align: right; font-variant-numeric: tabular-nums"
_WORDS = "text-align: left"


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns (empty: no header), and rows of values."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()

    @classmethod
    def of_facts(cls, title: str, values: Mapping[str, object]) -> Table:
        """Make a table of names and values, without values that are None."""
        return cls(title, (), tuple((name, value) for name, value in values.items() if value is not None))

    def text(self) -> str:
        """Format the table as text; long lines are cut, and a long table shows its first rows and how many remain.

        >>> print(Table("hands", ("hand", "reach"), (("AsKs", 0.5), ("7h2d", 0.25))).text())
        hands
        hand  reach
        AsKs    0.5
        7h2d   0.25
        """
        shown = [[_clipped(told(value), MOST_CELL) for value in row] for row in self.rows[:MOST_ROWS]]
        lines = [[_clipped(name, MOST_CELL) for name in self.columns], *shown] if self.columns else shown
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        right = [all(_is_number(row[c]) for row in self.rows) for c in range(len(widths))]
        out = [self.title]
        for line in lines:
            cells = (
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(line, widths, right, strict=True)
            )
            out.append("  ".join(cells).rstrip())
        if len(self.rows) > MOST_ROWS:
            out.append(f"and {len(self.rows) - MOST_ROWS:,} more")
        return "\n".join(_clipped(line, MOST_WIDTH) for line in out)

    def html(self) -> str:
        return table(self.title, self.columns, self.rows)


class Printed:
    """A record that `print` shows as a table of text, and a notebook as a table of HTML."""

    @abstractmethod
    def _table(self) -> Table:
        """Return the table of the record."""

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a table with a title as HTML; a long table shows its first rows and the number of remaining rows.

    Text is aligned left, numbers are aligned right, and None and NaN are shown as dashes.

    >>> "&lt;b&gt;" in table("hands", ["hand", "reach"], [("<b>", 0.5)])
    True
    """
    head = "".join(f'<th style="{_WORDS}">{escape(name)}</th>' for name in columns)
    lines = [f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows]
    more = f"<p>and {len(lines) - MOST_ROWS:,} more</p>" if len(lines) > MOST_ROWS else ""
    names = f"<thead><tr>{head}</tr></thead>" if columns else ""
    body = f"{names}<tbody>{''.join(lines[:MOST_ROWS])}</tbody>"
    return f"<div>{heading(title)}<table>{body}</table>{more}</div>"


def heading(title: str) -> str:
    return f"<strong>{escape(title)}</strong>"


def told(value: object) -> str:
    """Format a value as a short text.

    >>> told(12345.678), told(0.0123456), told(float("nan")), told(12345678), told("AsKs")
    ('12345.7', '0.01235', '–', '12,345,678', 'AsKs')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, (int, float))


def _clipped(text: str, most: int) -> str:
    line = visible(text.replace("\n", " "))
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _cell(value: object) -> str:
    style = _NUMBERS if _is_number(value) else _WORDS
    return f'<td style="{style}">{escape(told(value))}</td>'
