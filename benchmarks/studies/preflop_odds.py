"""Count exactly how often each of the 169 starting hands beats each of the 1,326 hands: `spewy/look/preflop_wins.npz`.

    python -m benchmarks.studies.preflop_odds

Compares all pairs of hands on the 134,459 final boards that differ by more than a renaming of suits, which takes two
minutes, and writes the file again. ``wins[class, hand]`` is the number of final boards on which the first hand of a
class (`buckets.cards.preflop_classes`) beats a hand of the deck; suits make all other pairs the same.
"""

import argparse

import numpy as np

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
    main()
