"""Solved folders, one for each way to solve: cases look at them, and damage copies of them."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

import cli_runs
import dealt_jobs

from solvers import VARIANTS

from .spots import random_dealt
from .toml import toml

LOCKED = '[[lock]]\nline = ""\nstrategy = { Check = 1 }\n'
RAKED = cli_runs.POLARISED.replace('ip = "AhAd"', 'ip = "AhAd"\nrake = { rate = 0.05, cap = 3 }')
STORED = ("solve.leaves=stored", "solve.max_sweeps=2")


@dataclass(frozen=True)
class Template:
    """A job, and what is set for it; ``lines`` are some that its tree has, with boards for them."""

    name: str
    text: str
    overrides: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = (("", ""),)
    dropped: str = ""

    @property
    def settings(self) -> list[str]:
        """The overrides as arguments."""
        return [part for text in self.overrides for part in ("--set", text)]


_TURN = (
    *(("", ""), ("c", ""), ("r50c/", "Qs 7h 2d 3c 9d"), ("cc/", "Qs 7h 2d 3c 5h")),
    ("cc/c", "Qs 7h 2d 3c As"),
)
_RIVER = (("", ""), ("r100", ""), ("c", ""))
TEMPLATES = (
    Template("river", cli_runs.POLARISED, ("solve.max_sweeps=200",), _RIVER),
    Template("raked", RAKED, ("solve.max_sweeps=200",), _RIVER),
    Template("locked", cli_runs.POLARISED + LOCKED, ("solve.max_sweeps=200",), _RIVER),
    Template("turn", cli_runs.TURN, (), _TURN),
    Template("16-bit", cli_runs.TURN, ("solve.precision=16-bit",), _TURN),
    Template("double", cli_runs.TURN, ("solve.precision=double", "solve.max_sweeps=10"), _TURN),
    Template("stored", cli_runs.TURN, STORED, _TURN),
    Template("buckets", cli_runs.TURN, (*STORED, "rows.turn=2", "rows.river=2"), _TURN),
    Template("average", cli_runs.TURN, ("solve.integrate=average", "solve.max_sweeps=1"), _TURN),
    Template("program", cli_runs.POLARISED, ("solve.method=lp", "solve.target=0%"), _RIVER),
    Template("dropped", cli_runs.TURN, (), _TURN, dropped="river"),
    Template("kuhn", cli_runs.KUHN, (), (("", ""), ("c", ""), ("cr2", ""), ("r2", ""))),
    Template(
        "leduc", cli_runs.LEDUC, ("solve.max_sweeps=3",), (("", ""), ("c", ""), ("cc/", "Ks"), ("cc/c", "Qh"))
    ),
)
GAMES = (
    Template(
        "dealt", dealt_jobs.DEALT_LEDUC, ("solve.max_sweeps=200",), (("", ""), ("c", ""), ("cc/", "Ks"))
    ),
    Template(
        "flop", dealt_jobs.DEALT_FLOP, ("solve.max_sweeps=20", "solve.check_flops=1"), (("", ""), ("r", ""))
    ),
)
"""Jobs of whole games with dealt boards."""


def solve_templates(_: object, folder: Path) -> None:
    """Solve all templates into ``folder``; kernels that they and the cases need are compiled with them."""
    for template in (*TEMPLATES, *GAMES):
        job = cli_runs.write(folder, template.text, f"{template.name}.toml")
        cli_runs.good("solve", job, "--out", folder / template.name, *template.settings)
        if template.dropped:
            cli_runs.good("drop", folder / template.name, "--round", template.dropped)
    _compile(folder)


def _compile(folder: Path) -> None:
    """Take the ways to solve and to look that no template takes: what compiles shall not count as a hang."""
    scratch = folder / "scratch"
    river, turn = folder / "river.toml", folder / "turn.toml"
    for variant in VARIANTS:
        for way in (("solve.leaves=stored",), ("solve.precision=double",), ("solve.precision=single",)):
            settings = [f"solve.variant={variant}", "solve.max_sweeps=2", "solve.check_every=1", *way]
            arguments = [part for text in settings for part in ("--set", text)]
            cli_runs.spewy("solve", river, "--out", scratch, "--again", *arguments)
            shutil.rmtree(scratch, ignore_errors=True)
    for rows in ("ward", "k-means", "strength-k-means", "equity-quantiles"):
        cli_runs.spewy("buckets", "Ks 9d 6h 3c", "--clustering", rows)
    for job in (river, turn):
        for precision in ("16-bit", "single", "double"):
            settings = ["--set", f"solve.precision={precision}", "--set", "solve.max_sweeps=2"]
            cli_runs.good("solve", job, "--out", scratch, *settings, "--set", "solve.workers=2")
            shutil.rmtree(scratch)
    for precision in ("16-bit", "single"):
        dealt = cli_runs.write(
            folder, toml(random_dealt(Random(1)) | {"game": {"file": "leduc"}, "boards": {}, "rows": {}})
        )
        settings = ["--set", f"solve.precision={precision}", "--set", "solve.max_sweeps=2"]
        cli_runs.good("solve", dealt, "--out", scratch, *settings)
        cli_runs.good("exploit", scratch, "--workers", "1")
        shutil.rmtree(scratch)
    for command in (
        ["show", folder / "dropped", "--line", "cc/", "--board", "Qs 7h 2d 3c 5h"],
        ["report", folder / "turn", "--line", "cc/"],
        ["export", folder / "turn", folder / "turn.csv"],
        ["buckets", ""],
        ["buckets", "Ks 7d 2c"],
    ):
        cli_runs.good(*command)
