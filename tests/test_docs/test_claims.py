"""Every claim of ``docs/claims.toml`` stands on its page, and its command exists."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT
from test_code_blocks import known_options, parse

from benchmarks import numbers
from spewy.cli import main

CLAIMS = numbers.claims()


def words(claim):
    return " ".join(claim.claim.split()[:9])


@pytest.mark.parametrize("claim", CLAIMS, ids=words)
def test_a_claim_stands_on_its_page_and_has_a_command(claim):
    assert claim.figure in (ROOT / claim.page).read_text()
    program, *rest = shlex.split(claim.command)
    if program == "spewy":
        with main.make_context("spewy", ["--verbose"], resilient_parsing=True) as context:
            parse(context, rest)
    else:
        assert (program, rest[0]) == ("python", "-m")
        spec = importlib.util.find_spec(rest[1])
        assert spec is not None
        options = {word for word in rest[2:] if word.startswith("--")}
        assert options <= known_options(Path(spec.origin).read_text())


@pytest.mark.parametrize("claim", CLAIMS, ids=words)
def test_a_claim_is_quick_or_says_how_long_it_takes(claim):
    if claim.seconds is None:
        assert claim.takes
        assert not claim.pattern
    else:
        assert claim.seconds < 60
        assert re.compile(claim.pattern).groups == 1
        assert claim.within > 0


def test_a_figure_that_is_off_is_told(monkeypatch, capsys):
    claim = next(claim for claim in CLAIMS if "chips, (" in claim.pattern)
    monkeypatch.setattr(numbers, "output", lambda command: "exploitability  0.5829 chips, 0.3015% of the pot")
    assert not numbers.repeat(claim)
    assert "measured 0.3015: OFF: expected 0.2893" in capsys.readouterr().out
    monkeypatch.setattr(numbers, "output", lambda command: "exploitability  0.5829 chips, 0.2893% of the pot")
    assert numbers.repeat(claim)


def test_the_list_has_every_claim(capsys):
    assert numbers.main(["--list"]) == 0
    text = capsys.readouterr().out
    assert all(claim.command in text and claim.commit in text for claim in CLAIMS)
