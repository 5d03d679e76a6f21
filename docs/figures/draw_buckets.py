"""Five hands on one flop: their outcomes, and the order in which Equation 1 joins them."""

from __future__ import annotations

from typing import Any

import common
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from buckets.abstraction import OutcomeClustering, outcomes
from buckets.cards import Deck, hands, parse_cards

BOARD = "Ks 7d 2c"
HANDS = {
    "KhQh": ("top pair", common.IP),
    "7h7c": ("a set", common.RED),
    "JcTc": ("a backdoor draw", common.GOLD),
    "5h5c": ("a small pair", "#3a81be"),
    "4h3h": ("nearly nothing", common.OOP),
}


def figure() -> tuple[Any, dict[str, str]]:
    """Draw the outcome curves of the hands, and the tree of their merges."""
    every = hands(Deck(), 2)
    chosen = [int(np.flatnonzero((every == np.sort(parse_cards(hand))).all(axis=1))[0]) for hand in HANDS]
    curves = outcomes(parse_cards(BOARD), every)[chosen]
    model = OutcomeClustering(n_clusters=1).fit(curves)
    picture = common.new(7.6, 3.6)
    left, right = picture.subplots(1, 2, width_ratios=(1.25, 1))
    run_outs = np.linspace(0, 100, curves.shape[1])
    for curve, (hand, (words, colour)) in zip(curves, HANDS.items(), strict=True):
        left.plot(run_outs, 100 * curve, color=colour, label=f"{hand}, {words}")
    left.set(
        title="Outcomes on K♠ 7♦ 2♣",
        xlabel="turns and rivers, from the worst to the best (%)",
        ylabel="opposing hands beaten (%)",
        xlim=(0, 100),
        ylim=(0, 101),
    )
    picture.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=7.5)
    sizes = np.arange(2, 2 + len(model.children_))
    merges = np.column_stack([model.children_, np.maximum.accumulate(model.distances_), sizes])
    dendrogram(merges, labels=list(HANDS), ax=right, color_threshold=0, above_threshold_color="black")
    right.set(title="Merges and their costs by Equation 1", ylabel="cost")
    right.tick_params(axis="x", labelsize=8)
    return picture, {
        "run-outs": f"{curves.shape[1]:,}",
        **{
            f"mean outcome of {hand}": f"{curve.mean():.0%}".replace("%", " %")
            for curve, hand in zip(curves, HANDS, strict=True)
        },
        **{
            f"merge {step + 1}, clusters {pair.tolist()}": f"{cost:.1f}"
            for step, (pair, cost) in enumerate(zip(model.children_, model.distances_, strict=True))
        },
        "draw and small pair, without the factor": f"{difference(curves[2], curves[3], factor=False):.1f}",
        "draw and small pair, with the factor": f"{difference(curves[2], curves[3]):.1f}",
        "draw and top pair, without the factor": f"{difference(curves[2], curves[0], factor=False):.1f}",
        "draw and top pair, with the factor": f"{difference(curves[2], curves[0]):.1f}",
    }


def difference(a: Any, b: Any, *, factor: bool = True) -> float:
    """Sum the squared differences of two hands by outcome; with the factor, each counts by the better hand."""
    return float((((a - b) ** 2) * (np.maximum(a, b) if factor else 1)).sum())
