"""Compares re-solving of turns without a gadget and with each gadget, by exact best responses on flops of a small game.

    python -m benchmarks.studies.gadgets [--deals 300,3000] [--iterations 100]

Limit hold'em with 15 cards (five ranks, three suits) is solved with few board buckets for a number of deals. Then every
turn of two flops is re-solved to the end of the hand, with a row for each hand. Each cell of the table has two figures
in mbb per hand on the flop: what a best response from the flop on wins, and what a best response from the turn on wins.
In the first figure the opponent can come to the turn with any range, in the second with the range that the bot
expects. Best responses know the re-solved strategies (`benchmarks.studies.bot_judge`).
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.bot_judge import open_judge
from buckets.cards import cards_name
from lockers import open_store
from solvers.resolve import Gadget
from spewy import Job, solve
from spewy.bot.options import Options
from spewy.chunks.rounds import line_forests
from spewy.look.judging import decoded_game
from spewy.records.strategy_locker import StrategyLocker

GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 2 1 2 2
numSuits = 3
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
JOB = {
    "name": "fifteen cards",
    "boards": {"flop": 4, "turn": 5, "river": 6},
    "rows": {"preflop": 20, "flop": 12, "turn": 12, "river": 12},
}
WAYS: dict[str, Gadget | None] = {"unsafe": None, "`cfr-d`": "cfr-d", "`mixed`": "mixed"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--deals",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[300, 3000],
        help="numbers of deals with which the stored strategies are solved, with commas between them",
    )
    parser.add_argument("--iterations", type=int, default=100, help="number of iterations of each re-solve")
    args = parser.parse_args()
    print("| deals | flop | stored strategy | " + " | ".join(WAYS) + " |")
    print("|---|---|---|" + "---|" * len(WAYS))
    with tempfile.TemporaryDirectory(prefix="spewy-") as temporary:
        for deals in args.deals:
            for line in rows(Path(temporary), deals, args.iterations):
                print(line, flush=True)


def solved(file: Path, folder: Path, deals: int) -> Job:
    """Solve the game of a game file for a number of deals into a folder; return the job."""
    job = Job.of({**JOB, "game": {"file": str(file)}, "solve": {"target": "0 mbb", "max_sweeps": deals}})
    solve(job, folder)
    return job


def rows(temporary: Path, deals: int, iterations: int) -> list[str]:
    """Solve the game, re-solve its turns without and with gadgets, and return a table row for each flop."""
    file, folder = temporary / "fifteen.game", temporary / str(deals)
    file.write_text(GAME)
    job = solved(file, folder, deals)
    play = folder / "play"
    with (
        StrategyLocker(open_store(play, read_only=True)) as averages,
        decoded_game(averages, play) as (_, _, _, game),
    ):
        unit = 1000 / job.rules.big_blind
        histories, counts = game.trees.firsts
        flops = [(first, histories[first][-1]) for first in (0, len(counts) // 3)]
        cells = [[_told(unit * game.later(first, game.desk())[:2])] for first, _ in flops]
        lines = list(line_forests(job.betting_tree)[1].lines)
        for safe in WAYS.values():
            options = Options("always", 2, safe, iterations, None)
            with open_judge(folder, options, symmetric=len(game.trees.perms) > 1) as judge:
                for (_, flop), mine in zip(flops, cells, strict=True):
                    found = {key: judge.below(key) for key in judge.subgames(flop, lines)}
                    reach = [judge.reach(line) for line in lines]
                    chips = [
                        sum(float(both[p] @ values[p, r]) for p in (0, 1) for r, both in enumerate(reach))
                        for values in judge.judged(flop, lines, found.__getitem__, later=2)
                    ]
                    mine.append(_told(unit * game.trees.per_pair / 2 / game.n_pairs * np.array(chips)))
    return [
        f"| {deals:,} | {cards_name(flop)} | {' | '.join(mine)} |"
        for (_, flop), mine in zip(flops, cells, strict=True)
    ]


def _told(found: np.ndarray) -> str:
    return ", ".join(f"{mbb:.0f}" for mbb in found)


if __name__ == "__main__":
    as_command(main)
