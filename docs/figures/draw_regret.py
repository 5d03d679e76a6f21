"""CFR on Kuhn poker: how often a player with the queen calls a bet, iteration by iteration and on average."""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import spewy
from solvers.discount import variant
from solvers.matrix.chunk import iterate, normalise

ITERATIONS = 1000
QUEEN = 1


def figure() -> tuple[Any, dict[str, str]]:
    """Draw the frequency of a call, and the exploitability of the single and of the average strategies."""
    kuhn = {"name": "kuhn", "game": {"file": "kuhn"}, "solve": {"max_sweeps": 1, "target": "0 chips"}}
    game = spewy.solve(spewy.Job.of(kuhn)).chunk()
    facing_a_bet = game.find("r")
    call = [action.label for action in game.tree.nodes[facing_a_bet].actions].index("call")
    regrets, sums = game.chunk.zeros(), game.chunk.zeros()
    found: dict[str, list[tuple[float, float]]] = {"single": [], "average": []}
    for done in range(ITERATIONS):
        iterate(game.chunk, variant("cfr"), done, 1, regrets, sums, None)
        positive = tuple(np.maximum(numbers, 0) for numbers in regrets)
        for name, numbers in (("single", positive), ("average", sums)):
            solution = game.judge(normalise(game.chunk, numbers))
            found[name].append(
                (game.strategy_at(solution, facing_a_bet)[call, QUEEN], solution.local_exploitability)
            )
    single, average = (np.array(found[name]) for name in ("single", "average"))
    picture = common.new(7.4, 3.1)
    left, right = picture.subplots(1, 2)
    steps = np.arange(1, ITERATIONS + 1)
    for values, colour, name in (
        (single, common.GOLD, "single strategies"),
        (average, common.IP, "their average"),
    ):
        left.plot(steps[:100], 100 * values[:100, 0], color=colour, label=name)
        right.loglog(steps, values[:, 1], color=colour, label=name, linewidth=0.9)
    left.axhline(100 / 3, color="black", linewidth=0.7, linestyle=":")
    left.set(title="How often the queen calls a bet", xlabel="iterations", ylabel="%", ylim=(0, 101))
    right.set(
        title="What a perfect opponent wins", xlabel="iterations", ylabel="exploitability, chips per hand"
    )
    right.legend(loc="lower left")
    return picture, {
        "call, average of 100 iterations": f"{100 * average[99, 0]:.0f} %",
        "exploitability of the average after 1": f"{average[0, 1]:.2f} chips",
        f"exploitability of the average after {ITERATIONS}": f"{average[-1, 1]:.4f} chips",
        f"exploitability of the single strategy {ITERATIONS}": f"{single[-1, 1]:.2f} chips",
    }
