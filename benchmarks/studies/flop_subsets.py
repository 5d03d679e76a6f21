"""Measures how well a weighted subset of flops represents all 1,755 flops, compared with flops drawn at random.

    python -m benchmarks.studies.flop_subsets --json docs/data/flop-subsets.json    figures of docs/how-to/reports.md
    python -m benchmarks.studies.flop_subsets --make buckets/data/flops.npy    features from which subsets are chosen

Two errors are measured for eight pairs of realistic ranges, from both players' sides. These ranges differ from the
ranges behind the features. The error of equity is the difference between one range's average equity over the subset and
over all flops, in percentage points. The error of the distribution says how far the equities of the range's hands are
misplaced on average: the mean
difference of both cumulative distributions at fifty equities. Both are means over the pairs, with standard deviations.
The figures of random flops are means over 200 draws, with the standard deviation over the draws; a flop is drawn with
the probability that it has in the game. ``--totals FILE`` stores intermediate results, which take two minutes of a
core.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.flop_equities import totals
from buckets.abstraction import flop_subset
from buckets.cards import RANKS, canonical_flops, preflop_classes
from spewy.game.ranges import parse_range

SIZES = (10, 25, 50, 100, 184)
DRAWS = 200
REALISTIC = {
    "button opens": "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A2o+,K8o+,Q9o+,J9o+,T8o+,98o",
    "big blind calls": (
        "TT-22:0.9,JJ:0.3,AJs-A2s:0.8,KTs-K2s,KJs:0.6,QTs-Q2s,QJs:0.6,J5s+:0.8,T6s+,95s+,85s+,74s+,63s+,53s+,43s,"
        "AJo-A2o:0.8,KJo-K8o,QJo-Q8o,J8o+,T8o+,97o+,87o,76o"
    ),
    "cutoff opens": "22+,A2s+,K6s+,Q8s+,J8s+,T8s+,97s+,87s,76s,65s,A8o+,A5o,KTo+,QTo+,JTo",
    "button 3-bets": (
        "QQ+,JJ:0.6,TT:0.3,AKs,AQs:0.7,AJs:0.4,A5s-A3s:0.7,KQs:0.4,KJs:0.5,QJs:0.3,JTs:0.2,AKo,AQo:0.5,KQo:0.3"
    ),
    "cutoff calls a 3-bet": (
        "QQ-66:0.8,AQs-ATs:0.8,AKs:0.5,KQs,KJs:0.7,QJs:0.7,JTs,T9s,98s:0.6,AQo:0.5,AKo:0.4"
    ),
    "first to act opens": "66+,55-22:0.4,ATs+,A5s-A3s:0.7,KTs+,QTs+,JTs,T9s:0.6,AJo+,KQo",
    "small blind limps": (
        "88-22,A9s-A2s:0.7,K9s-K2s,Q9s-Q2s,J9s-J4s,T9s-T5s,97s-95s,86s-84s,75s,74s,65s,64s,54s,A9o-A2o:0.7,KTo-K5o,"
        "QTo-Q8o,J8o+,T8o+,97o+,87o,76o"
    ),
    "big blind checks": (
        "77-22,A9s-A2s:0.6,K9s-K2s,Q9s-Q2s,J2s+:0.8,T3s+,94s+,84s+,73s+,63s+,52s+,42s+,32s,A8o-A2o,K9o-K2o,Q9o-Q2o,"
        "J5o+,T6o+,96o+,85o+,75o+,65o,54o"
    ),
}
PAIRS = (
    ("big blind calls", "button opens"),
    ("big blind calls", "cutoff opens"),
    ("big blind calls", "first to act opens"),
    ("cutoff calls a 3-bet", "button 3-bets"),
    ("cutoff opens", "button 3-bets"),
    ("big blind checks", "small blind limps"),
    ("small blind limps", "button opens"),
    ("cutoff calls a 3-bet", "big blind calls"),
)
"""Pairs of ranges that play against each other; errors are measured for both ranges of a pair."""
N_DRAWN, N_PAIRS, DRAWN_STEPS, N_AXES, LARGEST = 16, 60, 20, 64, 8191
"""Sizes for the features: random ranges, pairs of these ranges, steps of equity, principal axes, largest number."""
STEPS = 50


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="JSON file to which the measured errors are written")
    parser.add_argument(
        "--make",
        type=Path,
        help="instead of measuring, compute the features of all flops and write them to this .npy file",
    )
    parser.add_argument(
        "--totals",
        type=Path,
        help="file in which intermediate results are stored, so that the next run is faster",
    )
    options = parser.parse_args()
    if options.make is not None:
        ranges = drawn_ranges()
        np.save(options.make, features(*kept_totals(options.totals, ranges), ranges))
        return
    ranges = np.array([parse_range(text).weights for text in REALISTIC.values()]).T
    won, met = kept_totals(options.totals, ranges)
    names = list(REALISTIC)
    pairs = [(names.index(x), names.index(y)) for pair in PAIRS for x, y in (pair, pair[::-1])]
    outcomes = [outcome(won[:, :, b], met[:, :, b], ranges[:, a], STEPS) for a, b in pairs]
    rows = [row for n in SIZES for row in measured(n, outcomes)]
    for row in rows:
        print("{kind:8} {flops:4}  equity {equity:.3f} ± {equity_spread:.3f}".format(**row), end="")
        print("  distribution {distribution:.3f} ± {distribution_spread:.3f}".format(**row))
    if options.json is not None:
        options.json.write_text(
            json.dumps({"pairs": len(outcomes), "draws": DRAWS, "rows": rows}, indent=1) + "\n"
        )


def kept_totals(path: Path | None, ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if path is not None and path.exists():
        with np.load(path) as data:
            return data["won"], data["met"]
    won, met = totals(ranges)
    if path is not None:
        np.savez(path, won=won, met=met)
    return won, met


def outcome(won: np.ndarray, met: np.ndarray, own: np.ndarray, steps: int) -> np.ndarray:
    """Compute how well a range does against another range on each flop.

    Args:
        won: weight of the other range that each hand beats, ``[flop, hand]``.
        met: weight of the other range that each hand meets, ``[flop, hand]``.
        own: weight of each hand in the range.
        steps: number of equal steps of equity from 0 to 1.

    Returns:
        ``[flop, 2 + steps]``: the joint weight of both ranges, this weight times the range's equity, and the joint
        weight of the hands in each step of equity.
    """
    equity = np.divide(won, met, out=np.zeros(won.shape), where=met > 0)
    weight = met * own
    step = np.minimum((equity * steps).astype(np.int64), steps - 1)
    places = step + steps * np.arange(len(won))[:, None]
    hands = np.bincount(places.ravel(), weight.ravel(), len(won) * steps).reshape(len(won), steps)
    likely = weight.sum(axis=1)
    return np.column_stack([likely, (weight * equity).sum(axis=1), hands])


def drawn_ranges() -> np.ndarray:
    """Draw random ranges: ``[hand, range]``.

    A range has the hands between two random quantiles of playability, with weights that fade out at both ends. Each
    range has its own random noise in the playability.
    """
    rng = np.random.default_rng(1)
    board_buckets, names = preflop_classes()
    share = np.bincount(board_buckets) / len(board_buckets)
    out = []
    for _ in range(N_DRAWN):
        score = np.array([playability(name) for name in names]) + rng.normal(0, 1.5, len(names))
        order = np.argsort(-score, kind="stable")
        rank = np.empty(len(names))
        rank[order] = np.cumsum(share[order])  # 0 is the best hand
        last = rng.uniform(0.08, 0.8)
        first = rng.uniform(0, last / 2) if rng.random() < 0.5 else -1.0
        weights = 1 / (1 + np.exp((rank - last) / 0.03)) / (1 + np.exp((first - rank) / 0.01))
        out.append(weights[board_buckets])
    return np.array(out).T


def playability(name: str) -> float:
    """Return a rough score of how good a starting hand is, from its ranks, pairs, suits and gaps."""
    high, low = (RANKS.index(rank) for rank in name[:2])
    if high == low:
        return 12 + 1.5 * high
    return 1.4 * high + 0.7 * low + (3 if name.endswith("s") else 0) - min(high - low, 5)


def features(won: np.ndarray, met: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Compute the features ``[flop, principal axis]`` by which `buckets.abstraction.flop_subset` chooses similar flops.

    Args:
        won: ``[flop, hand, range]``, the weight of each range that each hand beats.
        met: ``[flop, hand, range]``, the weight of each range that each hand meets.
        ranges: ``[hand, range]``, random ranges, from which random pairs are taken.
    """
    counts = canonical_flops()[1]
    share = counts / counts.sum()
    rng = np.random.default_rng(2)
    columns = []
    for _ in range(N_PAIRS):
        own, other = rng.choice(ranges.shape[1], 2, replace=False)
        found = outcome(won[:, :, other], met[:, :, other], ranges[:, own], DRAWN_STEPS)
        likely = found[:, :1] / (share @ found[:, 0])
        shares = np.column_stack([found[:, 1], np.cumsum(found[:, 2:], axis=1)[:, :-1]]) / (
            share @ found[:, 0]
        )
        off = shares - likely * (
            share @ shares
        )  # the mean is 0; 0 for a flop that is like the average of all flops
        off[:, 1:] /= np.sqrt(DRAWN_STEPS - 1)  # the whole distribution counts as much as the equity
        columns.append(off)
    rows = np.hstack(columns)
    axes = np.linalg.eigh((rows * share[:, None]).T @ rows)[1][:, ::-1][:, :N_AXES]
    values = rows @ axes
    return np.round(values * (LARGEST / np.abs(values).max())).astype(np.int16)


def measured(n: int, outcomes: list[np.ndarray]) -> list[dict[str, object]]:
    """Measure the errors of the subset of n flops and of n random flops; return a table row for each of the two.

    ``outcomes`` has, for each pair of ranges, how well the first range does on each flop, as `outcome` returns it.
    """
    flops, counts = canonical_flops()
    number = {tuple(flop): f for f, flop in enumerate(flops.tolist())}
    subset = flop_subset(n)
    chosen = np.array([number[tuple(flop)] for flop in subset.flops.tolist()])
    of_subset = np.array([errors(found, counts, chosen, subset.counts) for found in outcomes])
    rng = np.random.default_rng(0)
    of_drawn = []
    for _ in range(DRAWS):
        drawn = rng.choice(len(counts), n, p=counts / counts.sum())
        pairs = [errors(found, counts, drawn, np.ones(n)) for found in outcomes]
        of_drawn.append(np.mean(pairs, axis=0))
    return [_row("subset", n, of_subset), _row("drawn", n, np.array(of_drawn))]


def errors(
    found: np.ndarray, counts: np.ndarray, chosen: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Return the error of equity and the error of the distribution of some weighted flops, in percentage points.

    Args:
        found: ``[flop, 2 + steps]``, how well a range does on each of the 1,755 flops, as `outcome` returns it.
        counts: ``[flop]``, number of hold'em's 22,100 flops that each of the 1,755 flops stands for.
        chosen: ``[chosen flop]``, index of each of the weighted flops.
        weights: ``[chosen flop]``, the weight of each chosen flop.
    """
    true, told = counts @ found, weights @ found[chosen]
    true, told = true[1:] / true[0], told[1:] / told[0]
    below = np.cumsum(told[1:]) - np.cumsum(true[1:])
    return 100 * abs(told[0] - true[0]), 100 * float(np.abs(below).mean())


def _row(kind: str, n: int, found: np.ndarray) -> dict[str, object]:
    mean, spread = found.mean(axis=0).round(4).tolist(), found.std(axis=0).round(4).tolist()
    out: dict[str, object] = {"kind": kind, "flops": n, "equity": mean[0], "equity_spread": spread[0]}
    return out | {"distribution": mean[1], "distribution_spread": spread[1]}


if __name__ == "__main__":
    as_command(main)
