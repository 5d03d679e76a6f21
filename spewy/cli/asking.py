"""Ask a person for lines of input."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

MOST_OF_LINE = 1000
"""Largest number of bytes that are read from a line."""


def ask_line(prompt: str) -> str | None:
    """Print a prompt, and return the next line of input; None at the end of the input."""
    line = ""
    try:
        click.echo(prompt, nl=False)
        line = _line(sys.stdin.buffer) if sys.stdin else ""
    finally:
        if not line:  # the input ended, so that the cursor still stands in the prompt's line
            click.echo()
    return line or None


def _line(source: BinaryIO) -> str:
    """Read the next line of input, up to `MOST_OF_LINE` bytes of it; at the end of the input return an empty text."""
    line = piece = source.readline(MOST_OF_LINE)
    while len(piece) == MOST_OF_LINE and not piece.endswith(b"\n"):
        piece = source.readline(MOST_OF_LINE)
    return line.decode(errors="replace")
