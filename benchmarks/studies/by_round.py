"""Shows which rounds of a whole game's strategy lose most: best responses that begin in a later round.

    python -m benchmarks.studies.by_round FOLDER [--flops 3] [--seed 20]

A best response that begins on the river follows the stored strategy before it, so it wins only what the river's
strategy gives away; one that begins on the turn also wins what the turn's strategy gives away. Each line of the table
has one flop, with the mbb per hand that such best responses win, as a mean over both players. The flops are those on
which ``spewy exploit FOLDER --flops N --seed SEED`` measures exploitability; here a flop takes about twice as long.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.sampled_games import note
from lockers import open_store
from spewy.look.folder import strategy_folder
from spewy.look.judging import decoded_game
from spewy.records.strategy_locker import StrategyLocker


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of a solved whole game with [boards]")
    parser.add_argument("--flops", type=int, default=3, help="number of random flops")
    parser.add_argument("--seed", type=int, default=20, help="seed of the random flops")
    args = parser.parse_args()
    play = strategy_folder(args.folder)
    with (
        StrategyLocker(open_store(play, read_only=True)) as averages,
        decoded_game(averages, play) as (decoder, _, _, game),
    ):
        unit, found = 1000 / decoder.job.rules.big_blind, []
        draw = game.drawn(args.flops, args.seed)
        flops = game.to_judge(draw)
        weights = [1 if draw is None else draw[flop] for flop in flops]
        names = [game.trees.name(flop) for flop in flops]
        desk = game.desk()
        for n, flop in enumerate(flops, 1):
            found.append(unit * game.later(flop, desk))
            note(f"flop {n} of {len(flops)}")
    rounds = decoder.job.rules.round_names[1:]
    print(
        f"| flop | {' | '.join(f'from the {name} on' for name in rounds)} |",
        "|---" * (len(rounds) + 1) + "|",
        sep="\n",
    )
    for label, values in (
        *zip(names, found, strict=True),
        ("mean", np.average(found, axis=0, weights=weights)),
    ):
        print(f"| {label} | {' | '.join(f'{value:.1f}' for value in values)} |")


if __name__ == "__main__":
    as_command(main)
