"""The reference has every command, option, job key, public name and word; its tables come from the program itself."""

import importlib
import inspect
import re
import sys

import click
import pytest
from cli_runs import subcommands
from pages import DOCS

from spewy.cli.app import GROUPS, main
from spewy.job.schema import job_schema

sys.path.insert(0, str(DOCS / "extensions"))

import commands
import job_keys

REFERENCE = DOCS / "reference"
PUBLIC = (
    *("buckets.abstraction", "buckets.cards", "lockers", "solvers.exact", "spewy", "spewy.game.ranges"),
    *("spewy.look", "spewy.match", "spewy.plot"),
)
"""Packages whose public names stand in the reference."""
KINDS = {"SpotJob", "GameJob", "SampledJob"}
HOUSE = """
batch of lines, beliefs, blueprint, board bucket, canonical board, chance leaf, check, chunk, cost, deal, engine,
entrant, estimated, first board, forest, gadget, grade, history, interval, iteration, kind, lane, layout,
leaf matrix, live, locker, mark, menu, note, place, plan, play down, pot, progress, put in, result, room, row, seat,
sequence, share, slot, solver, store, stored, strategy locker, subgame, sweep, traverser, tremble, visit
"""
FIELD = """
AIVAT, CFR, CFR-BR, EV, LBR, LP, average strategy, best response, blocker, bucket, combo, equilibrium, equity,
exploitability, information set, ip, line, mbb, oop, outcome, payoff matrix, public state, range, reach, regret,
re-solving, spot
"""


def test_every_command_stands_on_one_page():
    pages = [path.read_text() for path in (REFERENCE / "commands").glob("*.md")]
    groups = [group for page in pages for group in re.findall(r"```\{commands\} (\w+)\n", page)]
    assert sorted(groups) == sorted(GROUPS)


@pytest.mark.parametrize("group", GROUPS)
def test_a_page_has_every_command_of_its_group(group):
    text = commands.markdown(group)
    for name in GROUPS[group]:
        assert f":prog: spewy {name}\n" in text
    for module, name in re.findall(r"click:: (\S+):(\S+)\n", text):
        assert getattr(importlib.import_module(module), name).name in GROUPS[group]


def test_no_option_is_hidden_from_the_reference():
    """Sphinx-click shows each option of a command and of the commands below it, unless the option is hidden."""
    options = [
        option
        for top in subcommands(main)
        for command in (top, *subcommands(top))
        for option in command.params
        if isinstance(option, click.Option)
    ]
    assert len(options) > 100
    assert not [option for option in options if option.hidden or not option.help]


def test_columns_of_a_help_become_code():
    text = "Words of a sentence.\n\n| Examples:\n|   spewy solve a.toml\n| A title:\n|   b\n\nMore."
    lines = text.split("\n")
    commands.keep_columns(None, None, lines)
    assert lines == [
        *("Words of a sentence.", "", "Examples:"),
        *("", ".. code-block:: text", "", "   spewy solve a.toml", ""),
        *("A title:", "", ".. code-block:: text", "", "   b", ""),
        *("", "More."),
    ]


def test_every_section_of_a_job_has_a_table():
    assert job_schema()["$defs"].keys() - KINDS == job_keys.TITLES.keys() - {"top"}


def test_every_job_key_stands_in_the_table_of_its_section():
    parts = job_schema()["$defs"]
    tables = {title: {key.name.strip("`") for key in keys} for title, _, keys in job_keys.sections()}
    for name, title in job_keys.TITLES.items():
        if name != "top" and parts[name].get("properties"):
            assert tables[title] == parts[name]["properties"].keys()
    keys = [pair for kind in KINDS for pair in parts[kind]["properties"].items()]
    assert {key for key, schema in keys if "$ref" not in str(schema)} <= tables[job_keys.TITLES["top"]]


def test_every_key_has_a_type_and_a_meaning():
    for _, _, keys in job_keys.sections():
        assert all(key.type and key.meaning.endswith(".") for key in keys)


def test_types_and_defaults_are_those_of_the_schema():
    keys = {(title, key.name): key for title, _, keys in job_keys.sections() for key in keys}
    assert keys["`[solve]`", "`method`"].type == '`"cfr"`, `"lp"`'
    assert keys["`[solve]`", "`max_sweeps`"].type == "integer (> 0)"
    assert keys["`[solve]`", "`target`"].default == '`"0.3%"`'
    assert keys["`[spot]`", "`pot`"].default == "required"
    assert "| `lock` | list of `[[lock]]` or list of strings |" in job_keys.markdown()


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_stands_in_the_reference(package):
    text = "\n".join(path.read_text() for path in (REFERENCE / "python").glob("*.md"))
    listed = set(re.findall(r"\.\. (?:auto|py:)\w+:: (\S+)", text)) | set(
        re.findall(r"`([\w.]+)` is \[", text)
    )
    module = importlib.import_module(package)
    if f".. automodule:: {package}\n   :members:" in text:
        listed |= {f"{package}.{name}" for name in module.__all__ if has_docstring(getattr(module, name))}
    assert {f"{package}.{name}" for name in module.__all__} <= listed


def test_the_glossary_has_every_word():
    terms = set(re.findall(r"^(?=\S)(?!#|:::)(.+)$", (REFERENCE / "glossary.md").read_text(), re.MULTILINE))
    asked = {word.strip() for word in re.split(r",\s", HOUSE + "," + FIELD) if word.strip()}
    assert len(asked) > 70
    assert not asked - terms


def test_terms_of_the_glossary_are_in_order_and_explained():
    for part in (REFERENCE / "glossary.md").read_text().split(":::{glossary}\n")[1:]:
        entries = [entry.split("\n") for entry in part.split("\n:::")[0].split("\n\n")]
        assert [lines[0].lower() for lines in entries] == sorted(lines[0].lower() for lines in entries)
        for lines in entries:
            assert re.fullmatch(r"  [A-Z0-9`].*\.", lines[-1]), lines


def has_docstring(value):
    """Whether autodoc shows a member of a module: a class or function with a docstring."""
    return (inspect.isclass(value) or callable(value)) and bool(inspect.getdoc(value))
