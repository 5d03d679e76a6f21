"""Every command explains itself, and quickly."""

from pathlib import Path

import pytest
from cli_runs import good, process, subcommands
from click.testing import CliRunner

from spewy.cli import main

COMMANDS = (
    *("solve", "show", "status", "report", "compare", "exploit", "tree", "estimate", "evaluate", "examples"),
    *("export", "drop", "buckets", "flops", "check", "play", "dealer", "package", "match", "referee"),
    *("review", "new", "schema", "serve", "tournament", "upac-match", "upi", "sizes"),
)
GROUPED = (
    *(
        "play acpc",
        "play gtowizard",
        "play higc",
        "play slumbot",
        "play terminal",
        "play trainer",
        "play upac",
    ),
    *("package acpc", "package upac"),
)
ROOT = Path(__file__).parents[3]
PAGES = "\n".join(path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])


def test_commands():
    assert {command.name for command in subcommands(main)} == set(COMMANDS)


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPED])
def test_help(command):
    text = good(*command.split(), "--help")
    assert "Examples:\n" in text
    assert f"  spewy {command} " in text
    assert text == good(*command.split(), "-h")


@pytest.mark.parametrize("command", ["match", "referee", "tournament", "upac-match"])
def test_commands_that_start_programs_of_others_say_whose_rights_these_have(command):
    assert "runs with your rights, without a sandbox" in " ".join(good(command, "--help").split())


def test_the_dealer_says_who_may_connect():
    text = " ".join(good("dealer", "--help").split())
    assert "Whoever first connects to a player's port plays for this player" in text
    assert "listens at 127.0.0.1, which other machines cannot reach, unless --bind" in text


def test_top():
    text = good("--help")
    assert all(f"\n  {command} " in text for command in COMMANDS)
    assert good("--version").startswith("spewy ")


def test_module_has_the_script_name():
    assert process("--version").stdout.startswith("spewy ")


def completed(variables):
    return CliRunner().invoke(main, [], env=variables, prog_name="spewy").stdout


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("ex", ["examples", "exploit", "export"]),
        ("solve --sa", ["--save-every"]),
        ("buckets --precompute t", ["turns"]),
    ],
)
def test_shells_complete(words, completions):
    asked = {"_SPEWY_COMPLETE": "bash_complete", "COMP_WORDS": f"spewy {words}"}
    asked["COMP_CWORD"] = str(len(words.split()))
    assert [line.partition(",")[2] for line in completed(asked).split()] == completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_page_tells_how_shells_complete(shell):
    assert f"_SPEWY_COMPLETE={shell}_source" in PAGES
    assert "_spewy_completion" in completed({"_SPEWY_COMPLETE": f"{shell}_source"})
