"""Counts how often each of the 169 starting hands beats each other starting hand, on all boards.

    python -m benchmarks.studies.preflop_odds

The results go to `spewy/competitions/upac/preflop_odds.npz`. For two starting hands a and b, ``pairs[a, b]`` is the
number of pairs of hands of a and b that share no card. ``wins[a, b]`` is the number of wins of a, over all these pairs
and all final boards that share no card with them. The script computes showdowns on the 134,459 canonical final boards,
weighted by the number of boards that each stands for. It takes half a minute.
"""

import argparse
from math import comb

import numba
import numpy as np

from benchmarks.paths import ROOT
from buckets.cards import Deck, board_map, hands, preflop_classes, strengths

FILE = ROOT / "spewy/competitions/upac/preflop_odds.npz"
AT_ONCE = 1024
N_CLASSES = 169


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    deck = Deck()
    held = hands(deck, 2).astype(np.int64)
    classes = preflop_classes()[0].astype(np.int64)
    found = board_map(deck, (5,))
    wins = np.zeros((N_CLASSES, N_CLASSES), dtype=np.int64)
    for start in range(0, len(found.boards), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        strength = strengths(found.boards[some], held)
        order = np.argsort(strength, axis=1, kind="stable")
        add_wins(strength, order, held, classes, found.counts[some].astype(np.int64), wins)
    pairs = counted_pairs(held, classes)
    assert (wins + wins.T <= pairs * comb(48, 5)).all()
    np.savez_compressed(FILE, wins=wins.astype(np.int32), pairs=pairs.astype(np.int16))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


def counted_pairs(held: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Count the pairs of hands that share no card, for each two starting hands: ``[starting hand, starting hand]``."""
    apart = (held[:, None, :, None] != held[None, :, None, :]).all(axis=(2, 3)).astype(np.int64)
    member = np.eye(N_CLASSES, dtype=np.int64)[classes]
    out: np.ndarray = member.T @ apart @ member
    return out


@numba.njit
def add_wins(strength, order, held, classes, counts, wins):  # type: ignore[no-untyped-def]
    """Add the wins on some boards to ``wins[starting hand, starting hand]``; only pairs that share no card count.

    Args:
        strength: ``[board, hand]``; -1: the board blocks the hand.
        order: ``[board, hand]``, the hands sorted by strength.
        held: ``[hand, hole card]``.
        classes: ``[hand]``, the starting hand.
        counts: ``[board]``, number of boards that each board stands for.
        wins: the totals, changed in place.
    """
    below = np.zeros(wins.shape[0], dtype=np.int32)
    by_card = np.zeros((52, wins.shape[0]), dtype=np.int32)
    board_wins = np.zeros(wins.shape, dtype=np.int32)
    for b in range(len(strength)):
        below[:] = 0
        by_card[:] = 0
        board_wins[:] = 0
        start = 0
        while strength[b, order[b, start]] < 0:
            start += 1
        while start < order.shape[1]:
            value, end = strength[b, order[b, start]], start
            while end < order.shape[1] and strength[b, order[b, end]] == value:
                h = order[b, end]
                first, second = by_card[held[h, 0]], by_card[held[h, 1]]
                row = board_wins[classes[h]]
                for k in range(len(below)):
                    row[k] += below[k] - first[k] - second[k]
                end += 1
            for i in range(start, end):
                h = order[b, i]
                below[classes[h]] += 1
                by_card[held[h, 0], classes[h]] += 1
                by_card[held[h, 1], classes[h]] += 1
            start = end
        for i in range(wins.shape[0]):
            for k in range(wins.shape[1]):
                wins[i, k] += counts[b] * board_wins[i, k]


if __name__ == "__main__":
    main()
