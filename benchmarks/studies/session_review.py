"""Reviews a session of random hands against solved flops, and says how long the review takes beside the solves.

    python -m benchmarks.studies.session_review [--hands 500] [--flops 5] [--seed 0]

The flops are those of a 4-bet pot with the ranges of a preset. Hands are drawn from these ranges, their bets at random,
and they are written as text of PokerStars.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from buckets.cards import Deck, cards_name, hands
from spewy.game.gamefile import Game, load_game
from spewy.game.hand import Hand
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.shipped import preset
from spewy.look.solution import solve
from spewy.match.acpc_text import LoggedHand
from spewy.match.room_text import pokerstars_text

PRESET = "hu-4bet"
PUT_IN, STACK = 1000, 5000
"""Chips of each player before the flop, and at the start of the hand."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hands", type=int, default=500, help="number of hands (default 500)")
    parser.add_argument("--flops", type=int, default=5, help="number of solved flops (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="seed of flops and hands")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    ranges = [given.text for given in preset(PRESET).ranges]
    flops = [rng.choice(52, 3, replace=False) for _ in range(options.flops)]
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        for number, flop in enumerate(flops):
            solve(_job(flop, ranges), Path(scratch) / "solves" / str(number)).close()
        print(f"{options.flops} flops solved in {time.perf_counter() - began:.1f} s")
        session = Path(scratch) / "session.txt"
        played = list(_played(options.hands, flops, ranges, rng))
        session.write_text(pokerstars_text(played, datetime(2026, 1, 1)))
        began = time.perf_counter()
        command = [sys.executable, "-m", "spewy", "review", str(session), "--lockers", f"{scratch}/solves"]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(f"{options.hands} hands reviewed in {time.perf_counter() - began:.1f} s\n\n{told}")


def _job(flop: np.ndarray, ranges: list[str]) -> Job:
    bets = {"bet": "50%", "raise": "a"}
    return Job.of(
        {
            "name": cards_name(flop.tolist()),
            "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
            "spot": {
                "board": cards_name(flop.tolist()),
                "pot": 2 * PUT_IN,
                "stack": STACK - PUT_IN,
                "oop": ranges[0],
                "ip": ranges[1],
            },
            "bets": dict.fromkeys(("flop", "turn", "river"), bets),
            "solve": {"target": "0.5%", "workers": 2},
        }
    )


def _played(
    number: int, flops: list[np.ndarray], ranges: list[str], rng: np.random.Generator
) -> Iterator[LoggedHand]:
    game = replace(load_game("holdem.nolimit.2p.reverse_blinds"), stacks=(STACK, STACK))
    cards = hands(Deck(), 2)
    weights = [parse_range(text).weights for text in ranges]
    count = 0
    while count < number:
        flop = flops[rng.integers(len(flops))].tolist()
        oop, ip = (tuple(cards[rng.choice(len(cards), p=w / w.sum())].tolist()) for w in weights)
        dealt = {*flop, *oop, *ip}
        if len(dealt) == 7:
            rest = rng.permutation([card for card in game.deck.cards if card not in dealt])[:2].tolist()
            names = ("Hero", "Villain") if count % 2 else ("Villain", "Hero")
            yield LoggedHand(count, _bet(game, (oop, ip), [*flop, *rest], rng), names)
            count += 1


def _bet(
    game: Game, held: tuple[tuple[int, ...], tuple[int, ...]], board: list[int], rng: np.random.Generator
) -> Hand:
    hand = Hand.start(game, held).apply(f"r{PUT_IN}").apply("c")
    while not hand.is_over:
        if hand.to_deal:
            dealt = board[len(hand.board) : len(hand.board) + hand.to_deal]
            hand = hand.deal(dealt)
            continue
        betting, drawn = hand.betting, rng.random()
        bounds = betting.raise_bounds()
        if betting.can_fold:
            action = "f" if drawn < 0.4 else "c"
        elif drawn < 0.5 or bounds is None:
            action = "c"
        else:
            pot = 2 * max(betting.spent)
            total = max(betting.spent) + int(pot * rng.choice((0.33, 0.5, 0.75)))
            action = f"r{min(bounds[1], max(bounds[0], total))}"
        hand = hand.apply(action)
    return hand


if __name__ == "__main__":
    as_command(main)
