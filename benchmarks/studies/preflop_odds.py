"""Counts how often each of the 169 starting hands beats each of the 1,326 hands, on all boards.

    python -m benchmarks.studies.preflop_odds

The results go to `spewy/look/preflop_wins.npz`. ``wins[starting hand, hand]`` is the number of final boards on which
the first hand of the deck that belongs to a starting hand (`buckets.cards.preflop_classes`) beats a hand. All other
pairs of hands are equal to one of these pairs up to suits. The script compares all pairs of hands on the 134,459
canonical final boards, which takes two minutes.
"""

import argparse

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from buckets.cards import Deck, hands, preflop_classes
from spewy.game.gamefile import load_game
from spewy.look.pairs import count_wins

FILE = ROOT / "spewy/look/preflop_wins.npz"


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    deck = hands(Deck(), 2)
    wins = count_wins(load_game("holdem.limit.2p.reverse_blinds"), deck, np.arange(len(deck)), ())
    _, first_hands = np.unique(preflop_classes()[0], return_index=True)
    np.savez_compressed(FILE, wins=wins[first_hands])
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    as_command(main)
