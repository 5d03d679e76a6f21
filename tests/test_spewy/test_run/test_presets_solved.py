"""Solves of jobs that `spewy new --preset` writes, on flops of different texture, in every precision.

The presets are those with ranges written by hand, and one whose ranges are from a solve.

After ten sweeps positive regrets on lines that are hardly ever reached have become so small that their reciprocal
overflows single precision. Turns and rivers are dropped, so `spewy show` of a turn solves it again.
"""

import math
import re

import pytest
from cli_runs import good, good_json

from spewy.job.shipped import presets

FLOPS = ("Kd Kc 6c", "Ks 7h 2d", "Qs Jh 9h", "8c 7c 6c", "5s 4d 2h", "Th Td Tc")
SMALLER = [f"bets.{name}.raise=" for name in ("flop", "turn", "river")]
"""Settings without raises, for double precision, which takes twice the memory and far more time."""


def sets(settings):
    return [part for setting in settings for part in ("--set", setting)]


@pytest.mark.slow
@pytest.mark.parametrize("board", FLOPS)
@pytest.mark.parametrize(
    "preset", [name for name in presets() if not re.match(r"hu-(?!20bb-srp)\d+bb", name)]
)
def test_a_preset_is_solved_in_every_precision(tmp_path, preset, board):
    job, turn = tmp_path / "p.toml", next(c for c in ("Ad", "Ac") if c not in board)
    good("new", job, "--preset", preset, "--board", board, "--bet", "33%", "--raise", "100%")
    shared = ['save.rounds="flop"', "solve.max_sweeps=10", "solve.memory=9 GiB"]
    for precision in ("single", "16-bit", "double"):
        folder, smaller = tmp_path / precision, SMALLER if precision == "double" else []
        settings = sets([f"solve.precision={precision}", *shared, *smaller])
        told = good_json("solve", job, "--out", folder, *settings)
        assert told["sweeps"] == 10
        assert math.isfinite(told["exploitability"])
        assert sum(told["ev"]) == pytest.approx(presets()[preset].pot, rel=1e-4)
        node = good_json("show", folder, "--line", "x x /", "--board", f"{board} {turn}", "--target", "30%")
        assert node["hands"]
        for hand in node["hands"].values():
            assert sum(hand["strategy"]) == pytest.approx(1, abs=1e-6)
            assert hand["ev"] is None or math.isfinite(hand["ev"])
        assert any(hand["ev"] is not None for hand in node["hands"].values())
