"""Leduc hold'em, chunk by chunk: exploitability when visits average local optima, and when they add regrets."""

from __future__ import annotations

from typing import Any

import common

import spewy

SWEEPS = 100
WAYS = {
    "average": (common.GOLD, "average: local optima, averaged"),
    "regret": (common.IP, "regret: regrets, kept"),
}


def figure() -> tuple[Any, dict[str, str]]:
    """Draw exploitability by sweeps for both ways to integrate a visit."""
    picture = common.new(6.4, 3.3)
    axis = picture.subplots()
    numbers = {}
    for integrate, (colour, label) in WAYS.items():
        trace = solve(integrate).trace()
        axis.loglog(trace.sweeps, 1000 * trace.exploitability, "o-", markersize=3, color=colour, label=label)
        by_sweep = dict(zip(trace.sweeps, trace.exploitability, strict=True))
        for sweeps in (2, SWEEPS):
            numbers[f"{integrate} after {sweeps} sweeps"] = f"{1000 * by_sweep[sweeps]:.0f}"
    ticks = (2, 5, 10, 20, 50, 100)
    axis.set(xlabel="sweeps", ylabel="exploitability, chips / 1000", title="Leduc hold'em, chunk by chunk")
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.legend()
    return picture, numbers


def solve(integrate: str) -> spewy.Solution:
    """Solve Leduc with stored payoff matrices."""
    solve = {
        "leaves": "stored",
        "variant": "cfr+",
        "max_sweeps": SWEEPS,
        "check_every": 2,
        "target": "0 chips",
    }
    job = {"name": "leduc", "game": {"file": "leduc"}, "solve": {**solve, "integrate": integrate}}
    return spewy.solve(spewy.Job.of(job))
