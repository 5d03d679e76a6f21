"""Formats tables for notebooks as HTML with escaped text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

MOST_ROWS = 20
"""Largest number of rows that a table shows."""
_NUMBERS = "text-align: right; font-variant-numeric: tabular-nums"
_WORDS = "text-align: left"


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


def facts(title: str, values: Mapping[str, object]) -> str:
    """Format a table of names and values as HTML, without values that are None."""
    return table(title, (), [(name, value) for name, value in values.items() if value is not None])


def heading(title: str) -> str:
    """Format a title as HTML."""
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


def _cell(value: object) -> str:
    style = _NUMBERS if value is None or isinstance(value, (int, float)) else _WORDS
    return f'<td style="{style}">{escape(told(value))}</td>'
