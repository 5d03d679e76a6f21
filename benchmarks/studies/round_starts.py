"""Compares what a re-solve can start from when the opponent makes a bet that the tree of the round's first solve lacks.

    python -m benchmarks.studies.round_starts FOLDER [--turns 6] [--iterations 60] [--threads 2] [--seed 1]
                                              [--sizes 12]

The stored strategy of the no-limit game in FOLDER plays hands against itself. Each turn that it reaches is solved with
all hands and the lean menu (the pot and all-in), as the bot does at its first decision of the round. Then the first
player checks, and the second player makes a bet that this tree lacks: of a random size, or with ``--sizes`` of each of
several sizes from the smallest bet to almost all chips. The tree with this bet is solved from nothing, from the stored
strategy, and from the regrets of the first solve.

The table has the exploitability in % of the pot after a number of iterations, as a mean over all bets with the largest
value in brackets, and the median of the seconds before the first iteration.
"""

import argparse
import random
import time
from contextlib import closing
from statistics import fmean, median

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.resolved_rounds import Judge
from spewy import open_policy
from spewy.bot.agent import LockerBot
from spewy.bot.options import Options
from spewy.bot.resolving.builder import Root, SubgameBuilder, live_game, new_solver
from spewy.bot.resolving.resolve import Limits, resolve, start_from_earlier, start_warm
from spewy.bot.resolving.translation import Blueprint, translate_subgame
from spewy.game.hand import Hand

COUNTS = (5, 10, 20, 40, 80)
"""Numbers of iterations after which exploitability is measured."""
STARTS = ("nothing", "the stored strategy", "the round's first solve")
SIZES = (0.3, 0.5, 1.5, 2.2)
"""Sizes of the bets that the lean menu lacks, as shares of the pot."""
ALMOST_ALL = 0.97
"""The largest size with ``--sizes``, as a share of the chips that are left."""


class Starts:
    """Solves turns from three starts: from nothing, from the stored strategy, and from the round's first solve.

    Args:
        policy: the stored strategy.
        limits: iterations and threads of the round's first solve; the other solves have as many threads.
    """

    def __init__(self, policy, limits: Limits) -> None:
        self.builder, self.limits = SubgameBuilder(policy.problem.tree.config), limits
        self.judge, self.blueprint = Judge(self.builder, 2), Blueprint(policy)
        self.bot = LockerBot(policy, Options(resolve="never", seconds=None))

    def measured(self, state: Hand, seed: int, size: float) -> dict[str, list[float]] | None:
        """Solve a turn after a bet that its tree lacks.

        Args:
            state: the state at the beginning of the turn.
            seed: seed of the bot's hand.
            size: size of the bet as a share of the pot.

        Returns:
            For each start, the seconds before the first iteration, and the exploitability in % of the pot after 5, 10,
            20, 40 and 80 iterations; None if the tree has the bet.
        """
        builder, board, threads = self.builder, state.board, self.limits.threads
        self.bot.new_hand(state, 0, seed)
        ranges, put_in = self.bot.ranges(state), max(state.betting.spent)
        root = Root(state.betting.round, put_in, _left(state), menu="lean")
        bet = max(round(2 * put_in * size), state.game.big_blind)
        wide = builder.fitting(root, ("c", f"r{bet}"), "lean", None)
        if not wide.extra_bets:
            return None
        known = Root(root.round, root.put_in_before, root.stack)
        stored = self.judge.stored(self.blueprint, state)
        begin = translate_subgame(builder, root, known, stored)
        first = resolve(builder, root, board, ranges, self.limits, (begin, begin))
        out: dict[str, list[float]] = {}
        for start in STARTS:
            began = time.perf_counter()
            layout = builder.layout(wide, board)
            game = live_game(layout, ranges)
            with closing(new_solver(game, threads)) as solver:
                if start == STARTS[1]:
                    plays = translate_subgame(builder, wide, known, stored)
                    start_warm(builder, wide, layout, game, solver, (plays, plays), None)
                elif start == STARTS[2]:
                    start_from_earlier(builder, wide, layout, solver, first)
                out[start], done = [time.perf_counter() - began], 0
                for n in COUNTS:
                    solver.run(n - done)
                    done = n
                    out[start].append(100 * solver.exploitability().value / wide.pot)
        return out


def _left(state: Hand) -> int:
    return min(state.game.stacks or (0,)) - max(state.betting.spent)


def _sizes(state: Hand, seed: int, n: int | None) -> list[float]:
    """Return the sizes of the bets to measure, as shares of the pot: n sizes; None: one at random."""
    if n is None:
        return [random.Random(seed).choice(SIZES)]
    pot = 2 * max(state.betting.spent)
    return np.geomspace(state.game.big_blind / pot, ALMOST_ALL * _left(state) / pot, n).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="folder of a solved no-limit game")
    parser.add_argument("--turns", type=int, default=6, help="number of turns to solve")
    parser.add_argument(
        "--iterations", type=int, default=60, help="number of iterations of the round's first solve"
    )
    parser.add_argument("--threads", type=int, default=2, help="number of threads of each solve")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the first dealt hand; later hands have the next seeds"
    )
    parser.add_argument(
        "--sizes", type=int, help="number of sizes of the bet on each turn; default: one random size"
    )
    options = parser.parse_args()
    found: dict[str, list[list[float]]] = {start: [] for start in STARTS}
    with open_policy(options.folder) as policy:
        starts = Starts(policy, Limits(options.iterations, threads=options.threads))
        seed, n_turns = options.seed, 0
        while n_turns < options.turns:
            state, seed = starts.judge.reached(starts.bot, seed), seed + 1
            if state is None or not _left(state):
                continue
            known = len(found[STARTS[0]])
            for size in _sizes(state, seed, options.sizes):
                for start, row in (starts.measured(state, seed, size) or {}).items():
                    found[start].append(row)
            n_turns += len(found[STARTS[0]]) > known
    print(
        f"exploitability in % of the pot, mean of {len(found[STARTS[0]])} bets on {n_turns} turns (largest)"
    )
    print("| start | seconds before | " + " | ".join(f"{n} iterations" for n in COUNTS) + " |")
    print("|---" * (len(COUNTS) + 2) + "|")
    for start, rows in found.items():
        seconds, *columns = zip(*rows, strict=True)
        cells = [f"{fmean(column):.2f} ({max(column):.1f})" for column in columns]
        print(f"| from {start} | {median(seconds):.2f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    as_command(main)
