"""Flops in one board bucket and in different ones: how strong each starting hand is on them."""

from __future__ import annotations

from typing import Any

import common
import numpy as np

from buckets.abstraction import BoardClustering, flop_subset, outcomes
from buckets.cards import Deck, blocked, cards_name, hands, preflop_classes

FLOPS, BUCKETS = 60, 12


def figure() -> tuple[Any, dict[str, str]]:
    """Cluster flops by the strength of the 169 starting hands, and compare three flops hand by hand."""
    flops = flop_subset(FLOPS).flops
    means, spreads = (np.array(parts) for parts in zip(*map(features, flops), strict=True))
    table = np.nan_to_num(np.concatenate([means, spreads], axis=1))
    labels = BoardClustering(BUCKETS).fit(table).labels_
    near, far = extremes(table, labels)
    first = near[0]
    picture = common.new(7.4, 3.9)
    for axis, other, words in zip(
        picture.subplots(1, 2, sharey=True),
        (near[1], far),
        ("in the same bucket", "in another bucket"),
        strict=True,
    ):
        axis.plot(100 * means[first], 100 * means[other], ".", color=common.IP, markersize=5)
        axis.plot((0, 100), (0, 100), color="black", linewidth=0.6)
        axis.set(
            title=f"{name(flops[first])} and {name(flops[other])}: {words}",
            xlabel=f"strength of a starting hand on {name(flops[first])} (%)",
            xlim=(10, 102),
            ylim=(10, 102),
            aspect="equal",
        )
        axis.set_ylabel(f"strength on {name(flops[other])} (%)")
    return picture, {
        "flops, buckets": f"{FLOPS} flops into {BUCKETS}",
        "first": name(flops[first]),
        "same bucket": name(flops[near[1]]),
        "other bucket": name(flops[far]),
        "difference in the bucket": f"{gap(means, first, near[1]):.1f} percentage points",
        "difference between buckets": f"{gap(means, first, far):.1f} percentage points",
    }


def features(flop: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of the mean outcomes of the hands of each starting hand on a flop."""
    combos = hands(Deck(), 2)
    classes = preflop_classes()[0]
    strength = outcomes(flop, combos).mean(axis=1)
    strength[blocked(combos, flop)] = np.nan
    groups = [strength[classes == number] for number in range(169)]
    known = [group[~np.isnan(group)] for group in groups]
    return tuple(
        np.array([fn(group) if len(group) else np.nan for group in known]) for fn in (np.mean, np.std)
    )  # type: ignore[return-value]


def extremes(table: Any, labels: Any) -> tuple[tuple[int, int], int]:
    """The two nearest flops of one bucket, and the flop of another bucket that is farthest from the first."""
    distance = ((table[:, None] - table[None]) ** 2).sum(axis=2)
    same = (labels[:, None] == labels[None]) & ~np.eye(len(labels), dtype=bool)
    first, second = np.unravel_index(np.where(same, distance, np.inf).argmin(), distance.shape)
    return (int(first), int(second)), int(np.where(labels != labels[first], distance[first], -1).argmax())


def gap(means: Any, a: int, b: int) -> float:
    """Mean difference of two flops over the starting hands that both leave, in percentage points."""
    return float(100 * np.nanmean(np.abs(means[a] - means[b])))


def name(flop: Any) -> str:
    """Name a flop with the symbols of suits, high cards first."""
    text = cards_name(tuple(int(card) for card in sorted(flop, reverse=True)))
    return text.translate(str.maketrans("cdhs", "♣♦♥♠"))
