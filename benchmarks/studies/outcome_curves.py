"""Draws the picture in docs/research/buckets.md: outcome curves of three hands on a flop, and their buckets.

    python -m benchmarks.studies.outcome_curves docs/research/outcome-curves.png

An outcome curve shows the share of opposing hands that a hand beats on each final board, sorted. The hands are a nut
flush draw, a weak pair and a gutshot.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.command import as_command
from buckets.cards import Deck, hand_index, parse_hand
from spewy.look.buckets import BoardBuckets

BOARD = "Js 8s 3d"
HANDS = {"As4s": "nut flush draw", "4h3h": "weak pair", "Tc7h": "gutshot"}
COLORS = ("tab:blue", "tab:orange", "tab:green")


def main() -> None:
    path = Path(sys.argv[1])
    buckets = BoardBuckets.of(BOARD, rows=40)
    n_outcomes = buckets.curves.shape[1]
    percentile = 100 * (np.arange(n_outcomes) + 0.5) / n_outcomes
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    for curve in buckets.curves:
        axes.plot(percentile, curve, color="0.85", linewidth=0.8)
    for (name, kind), color in zip(HANDS.items(), COLORS, strict=True):
        hand = int(hand_index(Deck(), parse_hand(name)))
        row, own = int(buckets.labels[hand]), buckets.outcomes[hand]
        label = f"{name}, {kind}: bucket {row}, equity {own.mean():.3f}"
        axes.plot(percentile, own, color=color, linewidth=1, linestyle=":")
        axes.plot(percentile, buckets.curves[row], color=color, linewidth=2.2, label=label)
        print(f"{label}, with {' '.join(buckets.members(row)[:8])} ({len(buckets.members(row))} hands)")
    axes.set(
        title=f"{BOARD}: outcomes of three hands (dotted) and of their buckets (of 40)",
        xlabel="percentile of the run-outs, worst to best",
        ylabel="share of opposing hands beaten",
        xlim=(0, 100),
        ylim=(0, 1),
    )
    axes.legend(loc="upper left")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    as_command(main)
