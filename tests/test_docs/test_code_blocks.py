"""What the pages tell readers to type is right: commands and options exist, and runnable blocks run.

A block runs if its language is ``python``, ``sh``, or ``console`` (lines behind ``$`` are typed, the others are the
answers). The blocks of a page run one after the other in one folder. ``sh slow`` runs among the slow tests only.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from cli_runs import subcommands
from dealt_jobs import DEALT_FLOP, unjudged
from pages import PAGES, ROOT, blocks, inline

import spewy
from spewy.cli import main

READ = [page for page in PAGES if page.name != "CHANGELOG.md"]
SHELLS = ("sh", "console")
EXAMPLES = ROOT / "examples"


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with the solves that pages speak of: T1, and a whole game with few buckets in place of limit hold'em."""
    folder = tmp_path_factory.mktemp("pages") / "results"
    spewy.solve(EXAMPLES / "T1.toml", folder / "T1")
    job = folder / "limit-holdem.toml"
    job.write_text(DEALT_FLOP)
    with unjudged():
        spewy.solve(job, folder / "limit-holdem")
    return folder


@pytest.fixture
def place(results, tmp_path, monkeypatch):
    for link, target in (("examples", EXAMPLES), ("results", results), ("docs", ROOT / "docs")):
        (tmp_path / link).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", READ, ids=name)
def test_every_command_of_a_page_is_one(page):
    with main.make_context("spewy", ["--verbose"], resilient_parsing=True) as context:
        for line in typed(page):
            if line.startswith("spewy "):
                parse(context, shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("page", READ, ids=name)
def test_every_command_within_a_sentence_exists(page):
    for code in inline(page):
        if code.startswith("spewy ") and not re.match(r"spewy (-|[A-Z])", code):
            command, rest = find(main, code.split()[1:])
            options = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
            assert {word.split("=")[0] for word in rest if re.match(r"--?[a-z]", word)} <= options | {
                "--help"
            }, code


@pytest.mark.parametrize("page", READ, ids=name)
def test_every_program_of_a_page_exists(page):
    """Studies and measurements, with their options; and tests."""
    for line in [*typed(page), *inline(page)]:
        for module, rest in re.findall(r"python -m (benchmarks\.[\w.]+)([^;&|#]*)", line):
            spec = importlib.util.find_spec(module)
            assert spec is not None, line
            options = set(re.findall(r"--[a-z-]+", rest))
            assert not options - known_options(Path(spec.origin).read_text()), line
        for path in re.findall(r"pytest [^;&|#]*?(tests/\S+\.py)", line):
            assert (ROOT / path).exists(), line


@pytest.mark.parametrize("page", READ, ids=name)
def test_every_toml_block_is_toml(page):
    for block in blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)


def pages_with(*languages, slow=False):
    return [
        page
        for page in READ
        if page.name != "README.md"  # its programs run in test_front
        if any(block.language in languages and ("slow" in block.words) <= slow for block in blocks(page))
    ]


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_python_blocks_run(page, place):
    scope = {}
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.text, name(page), "exec"), scope)


@pytest.mark.parametrize("page", pages_with(*SHELLS), ids=name)
def test_shell_blocks_run(page, place):
    run_shell(page, place, lambda block: "slow" not in block.words)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(*SHELLS, slow=True), ids=name)
def test_all_shell_blocks_run(page, place):
    run_shell(page, place, lambda block: True)


def run_shell(page, place, wanted):
    lines = [
        line for block in blocks(page) if block.language in SHELLS and wanted(block) for line in block.typed
    ]
    lines.insert(0, f'spewy() {{ {shlex.quote(sys.executable)} -m spewy "$@"; }}')
    activated = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
        env=activated,
    )
    assert done.returncode == 0, done.stderr


def typed(page):
    return [line for block in blocks(page) for line in block.typed]


def known_options(source):
    """Options that a program defines for argparse, also in the form that switches them off."""
    defined = set(re.findall(r'"--([a-z-]+)"', source))
    return {f"--{option}" for option in defined} | {f"--no-{option}" for option in defined}


def find(command, words):
    while isinstance(command, click.Group) and words:
        commands = {each.name: each for each in subcommands(command)}
        assert words[0] in commands, words
        command, words = commands[words[0]], words[1:]
    return command, words


def parse(context, words):
    words = words[: next((k for k, word in enumerate(words) if word in ("|", ">", "&")), None)]
    command, rest = find(main, words)
    command.make_context(command.name, list(rest), parent=context)
