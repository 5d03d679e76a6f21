"""``docs/walk-through.md`` and the script that follows it."""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from spewy.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("walk_through", ROOT / "benchmarks/walk_through.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def commands(script):
    """What the page says after ``$ spewy``, word by word."""
    lines = [text for file, text in script.steps(script.PAGE.read_text()) if file is None]
    assert len(lines) > 5
    assert all(line.startswith("spewy ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


def test_every_command_of_the_page_is_one(commands):
    """With options and arguments as they are there."""
    with main.make_context("spewy", ["--verbose"], resilient_parsing=True) as ctx:
        for name, *args in commands:
            command = main.get_command(ctx, name)
            assert isinstance(command, click.Command), name
            command.make_context(name, list(args), parent=ctx)  # which refuses what it does not know


def test_every_picture_of_the_page_is_drawn_by_it_and_there(script, commands):
    shown = set(re.findall(r"\]\(walk-through/(\S+\.png)\)", script.PAGE.read_text()))
    drawn = {words[words.index("--plot") + 1] for words in commands if "--plot" in words}
    assert shown == drawn == {path.name for path in script.PAGE.with_suffix("").iterdir()}


def test_the_script_adds_to_a_file_once(script, tmp_path):
    (file, text), *_ = [step for step in script.steps(script.PAGE.read_text()) if step[0] is not None]
    (tmp_path / file).write_text("[solve]\n")
    for _ in range(2):
        script.follow(tmp_path, file, text)
    assert tomllib.loads((tmp_path / file).read_text())["lock"] == [{"line": "x", "strategy": {"bet": 1}}]


def test_the_script_runs_commands_where_it_is_told_to(script, tmp_path, capfd):
    script.follow(tmp_path, None, "echo found > here")
    assert (tmp_path / "here").read_text() == "found\n"
    assert "$ echo found > here" in capfd.readouterr().out
