"""A match in Leduc hold'em: the score as hands go by, in chips won and without luck."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import common
import numpy as np

import spewy

HANDS, SEEDS = 100, range(1, 9)


def figure() -> tuple[Any, dict[str, str]]:
    """Draw the running score of a solved strategy against the bot `equity`, with 95 % intervals."""
    with TemporaryDirectory() as folder:
        job = spewy.Job.of(
            {
                "name": "leduc",
                "game": {"file": "leduc"},
                "solve": {"variant": "cfr+", "target": "2 mbb", "max_sweeps": 1000, "check_every": 50},
            }
        )
        spewy.solve(job, Path(folder) / "leduc")
        score = spewy.play_match(Path(folder) / "leduc", "equity", hands=HANDS, seeds=SEEDS, workers=1)
    hands = score.frame()
    order = np.random.default_rng(1).permutation(len(hands))
    mbb = 1000 / job.rules.big_blind
    picture = common.new(6.6, 3.2)
    axis = picture.subplots()
    for column, name, colour in (
        ("chips", "chips won", common.GOLD),
        ("aivat", "without luck (AIVAT)", common.IP),
    ):
        number, mean, half = (values[::5] for values in running(mbb * hands[column].to_numpy()[order]))
        axis.plot(number, mean, color=colour, label=name)
        axis.fill_between(number, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
    final = score.aivat.mean
    axis.set(xlabel="hands", ylabel="mbb per hand", ylim=(final - 500, final + 500), xlim=(30, len(hands)))
    axis.set_title("A solved strategy against a simple bot, Leduc")
    axis.axhline(0, color="black", linewidth=0.6)
    axis.legend(loc="lower right")
    rows = score.rows()
    return picture, {
        "hands": f"{len(hands):,} hands",
        **{name: f"{row.mean:.0f} ± {row.half:.0f}" for name, row in rows.items()},
        "hands saved": f"{(score.plain.half / score.aivat.half) ** 2:.0f} times",
    }


def running(values: Any) -> tuple[Any, Any, Any]:
    """Mean of the first n values and half of its 95 % interval, for each n."""
    number = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / number
    spread = np.sqrt(np.maximum(np.cumsum(values**2) / number - mean**2, 0))
    return number, mean, 1.96 * spread / np.sqrt(number)
