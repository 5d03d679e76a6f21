"""The range of the player in position on a turn: before it acts, and on the river after it has bet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import common
import numpy as np

import spewy
from spewy import plot

SUFFIX = "png"
RIVER = "Qs Jh 2h 8c 3d"
HAND = "Qd8d"


def figure() -> tuple[Any, dict[str, str]]:
    """Draw what ip's hands do after a check, and which hands are left after the bet of 216, a call and a river."""
    solution = spewy.solve(common.example("T1"))
    before, after = solution.node("x"), solution.node("x b216 c / x", RIVER)
    left = replace(after.grid(), actions=(), frequencies=np.empty((0, 13, 13)), shares=np.empty(0))
    picture = common.new(7.6, 4.3)
    for axis, grid, title in zip(
        picture.subplots(1, 2),
        (before.grid(), left),
        (
            f"Turn, {before.reach.sum():.0f} combos: what ip does",
            f"River, {after.reach.sum():.0f} combos: what is left",
        ),
        strict=True,
    ):
        plot.hand_chart(grid, axis)
        axis.set_title(title)
    frequency = before.action_probabilities(HAND)["bet 216"]
    reach = after.reach[after.hands.index(HAND)]
    assert np.isclose(reach, frequency)
    return picture, {
        "combos of ip on the turn": f"{before.reach.sum():.0f} combos",
        "combos of ip on the river": f"{after.reach.sum():.0f} combos",
        f"how often {HAND} bets 216": f"{frequency:.0%}".replace("%", " %"),
        f"reach of {HAND} on the river": f"{reach:.2f}",
        "how often the range bets 216": f"{share(solution):.0%}".replace("%", " %"),
    }


def share(solution: spewy.Solution) -> float:
    """How often ip's range bets 216 after a check."""
    return next(child.frequency for child in solution.node("x").children if child.name == "bet 216")
