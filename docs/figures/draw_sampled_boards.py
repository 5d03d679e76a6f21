"""Limit hold'em that ends on the flop: exploitability by the number of sampled flops."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import common

import spewy

DEALS = (100, 300, 1000, 3000, 10_000)
RUNS = {"20 flop buckets, 20 rows": (20, 20, common.GOLD), "200 flop buckets, 40 rows": (200, 40, common.IP)}
QUOTED = {"20 flop buckets, 20 rows": (100, 300, 1000, 10_000), "200 flop buckets, 40 rows": (100, 10_000)}
FLOPS = 1755


def figure() -> tuple[Any, dict[str, str]]:
    """Draw the exploitability on all flops after some numbers of deals, for coarse and for finer buckets."""
    picture = common.new(6.4, 3.3)
    axis = picture.subplots()
    numbers = {}
    for name, (boards, rows, colour) in RUNS.items():
        reached = stages(boards, rows)
        axis.loglog(DEALS, reached, "o-", color=colour, label=name)
        for deals, mbb in zip(DEALS, reached, strict=True):
            if deals in QUOTED[name]:
                numbers[f"{name}, {deals} deals"] = f"{mbb:.0f} mbb"
    axis.axvline(FLOPS, color=common.GREY, linewidth=0.8, linestyle=":")
    axis.text(
        FLOPS * 0.96, axis.get_ylim()[1], "as many deals as flops", ha="right", va="top", color=common.GREY
    )
    axis.set(
        xlabel="deals", ylabel="exploitability, mbb per hand", title="Limit hold'em that ends on the flop"
    )
    axis.set_xticks(DEALS, [f"{deals:,}" for deals in DEALS])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.legend(loc="lower left")
    return picture, numbers


def stages(boards: int, rows: int) -> list[float]:
    """Exploitability in mbb after each number of deals of one solve that is continued."""
    found = []
    with TemporaryDirectory() as folder:
        for deals in DEALS:
            job = common.example(
                "flop-holdem",
                f"boards.flop={boards}",
                f"rows.flop={rows}",
                f"solve.max_sweeps={deals}",
                "solve.target=0 mbb",
                "solve.workers=1",
                f"solve.check_flops={FLOPS}",
            )
            found.append(float(spewy.solve(job, Path(folder) / "flop").result.exploitability_mbb or 0))
    return found
