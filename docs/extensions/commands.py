"""The directive ``commands GROUP``: every command of a group of ``spewy --help``, with its help and options."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from spewy.cli.app import GROUPS, main


def markdown(group: str) -> str:
    """Write the directives of sphinx-click for the commands of a group, and for the commands below them."""
    return "\n\n".join(
        f"```{{eval-rst}}\n.. click:: {place}\n   :prog: {program}\n   :nested: full\n```"
        for program, place in commands(group)
    )


def commands(group: str) -> Iterator[tuple[str, str]]:
    """Yield what a user types for each command of a group, and the place ``module:name`` of the command."""
    for name in GROUPS[group]:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        yield f"spewy {name}", place(command)


def place(command: click.Command) -> str:
    """Name the module and the attribute that hold a command."""
    module = getattr(command.callback, "__module__", "")
    name = next(key for key, value in vars(sys.modules[module]).items() if value is command)
    return f"{module}:{name}"


class Commands(SphinxDirective):
    """``commands GROUP``: a section for each command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the directives of sphinx-click."""
        return self.parse_text_to_nodes(markdown(self.arguments[0]), allow_section_headings=True)


def keep_columns(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Turn the indented lines of a help that click must not wrap into code, in place."""
    lines[:] = [
        line
        for indented, block in itertools.groupby(lines, is_column)
        for line in written(indented, list(block))
    ]


def is_column(line: str) -> bool:
    """Whether a line is indented, and marked by sphinx-click as one that must not be wrapped."""
    return line.startswith("|  ")


def written(indented: bool, block: list[str]) -> list[str]:
    """Write a block of lines as reStructuredText."""
    texts = [line.removeprefix("| ") for line in block]
    return ["", ".. code-block:: text", "", *(f" {text}" for text in texts), ""] if indented else texts


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and keep the columns of helps."""
    app.add_directive("commands", Commands)
    app.connect("sphinx-click-process-description", keep_columns)
    return {"parallel_read_safe": True}
