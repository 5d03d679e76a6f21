"""Docstrings, help texts and command summaries begin so that they can be read alone."""

import ast
import re
from pathlib import Path

import click
import pytest
from cli_runs import subcommands

from spewy.cli import main

ROOT = Path(__file__).parents[3]
ROOMS = (
    *("compiled", "buckets", "lockers", "solvers"),
    *sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "spewy").iterdir() if (path / "__init__.py").exists()
    ),
)
FRAGMENT = re.compile(r"(Of|For|To|That|What|Whose|Where|With|Without)\b")
"""First words of texts that lack a subject and a verb, or a noun."""
LONGEST_SUMMARY = 45
"""Characters of a command's summary that ``spewy --help`` shows whole."""


@pytest.mark.parametrize("room", ROOMS)
def test_no_docstring_begins_with_a_fragment(room):
    assert not fragments(ROOT / room)


def test_fragments_are_found(tmp_path):
    (tmp_path / "some.py").write_text(
        '"""Where it is."""\nTOTAL = 1\n"""Of all."""\n\ndef f():\n    """Whereas this is whole."""\n'
    )
    assert [line for _, line, _ in fragments(tmp_path)] == [1, 3]


def test_no_help_begins_with_a_fragment():
    texts = [(command.name, option.help) for command in commands(main) for option in options(command)]
    assert not [(name, text) for name, text in texts if FRAGMENT.match(text or "")]


def test_summaries_of_commands_are_shown_whole():
    summaries = [
        command.get_short_help_str(1000)
        for command in commands(main)
        if command is not main  # no list shows it
    ]
    assert len(summaries) > 20
    assert not [text for text in summaries if len(text) > LONGEST_SUMMARY]


def fragments(folder):
    """(file, line, text) of docstrings of modules, classes, functions and constants that begin with a fragment."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            for text in docstrings(node):
                if FRAGMENT.match(text.value.lstrip()):
                    found.append((path.name, text.lineno, text.value.split("\n")[0]))
    return found


def docstrings(node):
    """Texts that stand alone as statements: docstrings, and those behind constants and fields."""
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    values = [statement.value for statement in node.body if isinstance(statement, ast.Expr)]
    yield from (value for value in values if isinstance(getattr(value, "value", None), str))


def commands(command):
    """A command, and those below it."""
    yield command
    for below in subcommands(command):
        yield from commands(below)


def options(command):
    return [param for param in command.params if isinstance(param, click.Option)]
