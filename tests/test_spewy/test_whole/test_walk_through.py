"""``docs/start/walk-through.md`` and the script that follows it."""

import re
import shlex

import pytest

from benchmarks.studies import walk_through


@pytest.fixture(scope="module")
def commands():
    lines = list(walk_through.commands(walk_through.PAGE.read_text()))
    assert len(lines) > 5
    assert all(line.startswith("spewy ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


def test_every_picture_of_the_page_is_drawn_by_it_and_there(commands):
    shown = set(re.findall(r"\]\(walk-through/(\S+\.png)\)", walk_through.PAGE.read_text()))
    drawn = {words[words.index("--plot") + 1] for words in commands if "--plot" in words}
    assert shown == drawn == {path.name for path in walk_through.PAGE.with_suffix("").iterdir()}


def test_the_script_runs_commands_where_it_is_told_to(tmp_path, capfd):
    walk_through.follow(tmp_path, "echo found > here")
    assert (tmp_path / "here").read_text() == "found\n"
    assert "$ echo found > here" in capfd.readouterr().out
