"""The coin game of Brown and Sandholm (2017): why a subgame cannot be solved on its own."""

from __future__ import annotations

from typing import Any

import common
import numpy as np

SELL = {"heads": 0.5, "tails": -0.5}
"""The first player's payoff for selling the coin instead of playing, by side of the coin."""


def figure() -> tuple[Any, dict[str, str]]:
    """Draw what the first player wins with each side of the coin, by how often the second player guesses heads."""
    guess = np.linspace(0, 1, 201)
    best = {side: np.maximum(SELL[side], play(side, guess)) for side in SELL}
    value = (best["heads"] + best["tails"]) / 2
    picture = common.new(6.6, 3.3)
    axis = picture.subplots()
    for side, colour in (("heads", common.OOP), ("tails", common.IP)):
        axis.plot(100 * guess, best[side], color=colour, label=f"with {side}")
    axis.plot(100 * guess, value, color="black", linewidth=2, label="on average")
    right = guess[value.argmin()]
    axis.axvline(100 * right, color=common.GREY, linewidth=0.8, linestyle=":")
    axis.axvline(50, color=common.RED, linewidth=0.8, linestyle=":")
    axis.text(100 * right + 1, 0.93, "the solution", color=common.GREY)
    axis.text(51, 0.93, "the subgame alone", color=common.RED)
    axis.set(
        xlabel="the second player guesses heads (%)", ylabel="what the first player wins", ylim=(-0.6, 1.05)
    )
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return picture, {
        "guess of the solution": f"{right:.0%}".replace("%", " %"),
        "value of the solution": f"{abs(value.min()):.0f}",
        "value at one half": f"{value[100]:.2f}",
    }


def play(side: str, guess: Any) -> Any:
    """Return the first player's payoff for playing: a chip if the second player guesses wrong, else minus a chip."""
    return (1 - 2 * guess) if side == "heads" else (2 * guess - 1)
