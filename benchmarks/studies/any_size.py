"""Plays a bot against an opponent that raises any size, and counts where the bot's decisions come from.

    python -m benchmarks.studies.any_size FOLDER [--pairs 1000] [--resolve off-tree] [--flops stored] [--seed 1]

The opponent raises half the time, to a random total (uniform in the logarithm, so small raises and all-ins both occur):
with ``--rounds preflop``, the default, only before the flop; with ``--rounds all``, in every round. Otherwise it checks
or calls. It looks at no card. Both hands of a pair have the same cards, and the seats are swapped.
"""

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.command import as_command
from spewy import open_bot
from spewy.bot.agent import LockerBot
from spewy.bot.tally import Tally
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.opponents import Opponent
from spewy.match.table import Seat, deals, hand_seed, play_hand


def any_size(game: Game, rounds: int, folds: float = 0.0) -> Opponent:
    """Return an opponent that raises half the time, to any legal total, in the first ``rounds`` rounds."""

    def rule(hand: Hand, cards: tuple[int, ...], seed: int) -> str:
        rng, bounds = Random(f"{seed} {hand.betting.line}"), hand.betting.raise_bounds()
        if bounds is not None and hand.betting.round < rounds and rng.random() < 0.5:
            low, high = map(math.log, bounds)
            return f"r{min(max(round(math.exp(rng.uniform(low, high))), bounds[0]), bounds[1])}"
        return "f" if hand.betting.can_fold and rng.random() < folds else "c"

    return Opponent(game, rule)


def results(bot: LockerBot, rounds: int, pairs: int, seed: int) -> Iterator[tuple[float, Tally]]:
    """Yield the bot's chips per hand in each pair of hands, and the sources of its decisions."""
    players = Seat(bot), Seat(any_size(bot.game, rounds))
    for number, dealt in zip(range(pairs), deals(bot.game, seed), strict=False):
        won, tallies = 0.0, []
        for seat in (0, 1):
            seats = players if seat == 0 else players[::-1]
            own = hand_seed(seed, 2 * number + seat)
            played = play_hand(dealt, seats, bot.game, (own, hand_seed(seed, number)))
            won += played.hand.net()[seat] / 2
            tallies.append(played.tallies[seat])
        yield won, Tally.of(tallies)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of a solved whole no-limit game")
    parser.add_argument("--pairs", type=int, default=1000, help="number of pairs of hands (default 1000)")
    parser.add_argument(
        "--rounds", choices=("preflop", "all"), default="preflop", help="rounds in which the opponent raises"
    )
    parser.add_argument(
        "--resolve", choices=("never", "off-tree", "always"), default="off-tree", help="as in `spewy match`"
    )
    parser.add_argument(
        "--flops", choices=("stored", "sampled"), default="stored", help="as in `spewy match`"
    )
    parser.add_argument("--iterations", type=int, help="largest number of iterations of an exact solve")
    parser.add_argument("--seed", type=int, default=1, help="seed of the cards and of the opponent")
    options = parser.parse_args()
    with open_bot(
        options.folder, resolve=options.resolve, flops=options.flops, iterations=options.iterations
    ) as bot:
        began, rounds = time.process_time(), 1 if options.rounds == "preflop" else bot.game.num_rounds
        found = [*results(bot, rounds, options.pairs, options.seed)]
        won, tally = (
            1000 * np.array([chips for chips, _ in found]) / bot.game.big_blind,
            Tally.of(t for _, t in found),
        )
        spent = time.process_time() - began
        half = 1.96 * won.std(ddof=1) / math.sqrt(len(won))
        print(f"the bot wins {won.mean():+,.0f} ± {half:,.0f} mbb per hand ({len(won):,} pairs)")
        print(f"decisions: {tally.sources_text}; failures: {tally.failures_text or 'none'}")
        first = [each.seconds for each in tally.spent if each.round == 0 and each.solved]
        print(
            f"{spent:.0f} s of processor time; {len(first):,} decisions before the flop were re-solved",
            end="",
        )
        print(f", in {np.median(first):.2f} s (median) to {max(first):.2f} s" if first else "")


if __name__ == "__main__":
    as_command(main)
