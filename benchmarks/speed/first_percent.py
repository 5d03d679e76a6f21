"""Measures how long a bot needs on a turn until best responses win at most 1 % of the pot.

    python -m benchmarks.speed.first_percent FOLDER [--turns 5] [--threads 2] [--menu lean|job] [--target 1] [--seed 1]
                                                    [--averages]

The stored strategy of the no-limit game in FOLDER plays hands against itself. Each turn that it reaches is solved with
all hands of both players, in the ranges of the stored strategy, from nothing and from the stored strategy. The clock
runs while the tree is built, boards and tables are laid out, the stored strategy is read, memory is taken and
iterations are made; it stands still while best responses are computed after each ten iterations. A second solve of the
same turn, with one more bet, shows how much of the preparation need not be repeated.

The benchmark prints a row for each turn: the seconds before the first iteration in the first and in the second solve,
and the iterations and seconds until the target, from nothing and from the stored strategy. With --averages it prints
the exploitability after 50 to 400 iterations instead: from nothing, with average strategies of all iterations, without
the first quarter and without the first half, and from the stored strategy.
"""

import argparse
import time
from contextlib import closing
from statistics import fmean, median

from benchmarks.command import as_command
from benchmarks.studies.resolved_rounds import Judge
from solvers.exact import ExactCfr
from solvers.solver import Solver
from spewy import open_policy
from spewy.bot.agent import LockerBot
from spewy.bot.options import Options
from spewy.bot.resolving.builder import Root, SubgameBuilder, live_game, new_solver
from spewy.bot.resolving.resolve import start_warm
from spewy.bot.resolving.translation import Blueprint, translate_subgame
from spewy.game.hand import Hand

STEP, MOST = 10, 2000
"""Number of iterations between two measurements of exploitability, and largest number of iterations."""
COUNTS = (50, 100, 200, 400)
"""Numbers of iterations after which --averages measures exploitability."""
WAYS = {
    "from nothing": (0.0, False),
    "without the first quarter": (0.25, False),
    "without the first half": (0.5, False),
    "from the stored strategy": (0.0, True),
}
"""Averages that --averages compares: (share of first iterations left out, start from the stored strategy or not)."""


class Turns:
    """Solves turns that a stored strategy reaches when it plays against itself.

    Args:
        policy: the stored strategy.
        options: the command's arguments.
    """

    def __init__(self, policy, options: argparse.Namespace) -> None:
        self.options = options
        self.builder = SubgameBuilder(policy.problem.tree.config)
        self.judge, self.blueprint = Judge(self.builder, 2), Blueprint(policy)
        self.bot = LockerBot(policy, Options(resolve="never", seconds=None))

    def reached(self, seed: int) -> Hand | None:
        """Play a hand by the stored strategy; return its state when the turn is dealt, or None if it has no turn."""
        return self.judge.reached(self.bot, seed)

    def begin(self, state: Hand, seed: int, bets: tuple[str, ...], warm: bool) -> tuple[Root, Solver]:
        """Prepare the solve of a turn up to its first iteration.

        Args:
            state: the state at the beginning of the turn.
            seed: seed of the bot's hand.
            bets: extra bets at the root, written like ACPC actions, which the stored tree may lack.
            warm: whether to start from the stored strategy instead of from nothing.

        Returns:
            The root of the subgame, and the solver.
        """
        self.bot.new_hand(state, 0, seed)
        put_in = max(state.betting.spent)
        root = Root(state.betting.round, put_in, min(state.game.stacks or (0,)) - put_in)
        root = self.builder.fitting(root, bets, self.options.menu, None)
        layout = self.builder.layout(root, state.board)
        game = live_game(layout, self.bot.ranges(state))
        solver = new_solver(game, self.options.threads)
        if warm:
            known = Root(root.round, root.put_in_before, root.stack)
            plays = self.judge.stored(self.blueprint, state)
            if known != root:
                plays = translate_subgame(self.builder, root, known, plays)
            start_warm(self.builder, root, layout, game, solver, (plays, plays), None)
        return root, solver

    def solve(self, state: Hand, seed: int, bets: tuple[str, ...], warm: bool) -> tuple[float, int, float]:
        """Solve a turn to the target; return seconds before the first iteration, iterations, and seconds in all."""
        self.bot.new_hand(state, 0, seed)
        self.bot.ranges(state)
        began = time.perf_counter()
        root, solver = self.begin(state, seed, bets, warm)
        with closing(solver):
            laid = total = time.perf_counter() - began
            done, target = 0, self.options.target * root.pot / 100
            while done < MOST:
                began = time.perf_counter()
                solver.run(STEP)
                total, done = total + time.perf_counter() - began, done + STEP
                if solver.exploitability().value <= target:
                    break
            return laid, done, total

    def average(self, state: Hand, seed: int, iterations: int, without: float, warm: bool) -> float:
        """Solve a turn, and return the exploitability of its average strategies in % of the pot.

        Args:
            state: the state at the beginning of the turn.
            seed: seed of the bot's hand.
            iterations: number of iterations.
            without: share of the first iterations that the average leaves out.
            warm: whether to start from the stored strategy instead of from nothing.
        """
        root, solver = self.begin(state, seed, (), warm)
        with closing(solver):
            first = int(iterations * without)
            if first:
                solver.run(first)
                assert isinstance(solver, ExactCfr)
                for storage in (each for pair in solver.sums for each in pair):
                    storage.values[...] = 0
            solver.run(iterations - first)
            return 100 * solver.exploitability().value / root.pot


def averages(turns: Turns, options: argparse.Namespace) -> None:
    """Print a table for --averages: exploitability by kind of average and number of iterations, mean over turns."""
    found = {(name, n): list[float]() for name in WAYS for n in COUNTS}
    seed, done = options.seed, 0
    while done < options.turns:
        state, seed = turns.reached(seed), seed + 1
        if state is None:
            continue
        done += 1
        for name, (without, warm) in WAYS.items():
            for n in COUNTS:
                found[name, n].append(turns.average(state, seed, n, without, warm))
    print("| iterations | " + " | ".join(map(str, COUNTS)) + " |")
    print("|---" * (len(COUNTS) + 1) + "|")
    for name in WAYS:
        print(f"| {name} | " + " | ".join(f"{fmean(found[name, n]):.3f}" for n in COUNTS) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="folder of a solved no-limit game")
    parser.add_argument("--turns", type=int, default=5, help="number of turns to solve")
    parser.add_argument("--threads", type=int, default=2, help="number of threads of a solve")
    parser.add_argument(
        "--menu",
        choices=("lean", "job"),
        default="lean",
        help="bet sizes in the trees of the solves, as in `spewy match --menu`",
    )
    parser.add_argument(
        "--target", type=float, default=1.0, help="exploitability in %% of the pot at which the clock stops"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the first dealt hand; later hands have the next seeds"
    )
    parser.add_argument(
        "--averages",
        action="store_true",
        help="print the exploitability of average strategies without the first iterations instead of the times",
    )
    options = parser.parse_args()
    if options.averages:
        with open_policy(options.folder) as policy:
            averages(Turns(policy, options), options)
        return
    print("| turn | laid out, again | from nothing | from the stored strategy |")
    print("|---|---|---|---|")
    found = []
    with open_policy(options.folder) as policy:
        turns, seed = Turns(policy, options), options.seed
        while len(found) <= options.turns:
            state, seed = turns.reached(seed), seed + 1
            if state is None:
                continue
            total = max(round(1.1 * max(state.betting.spent)), state.game.big_blind)
            cold = turns.solve(state, seed, (), warm=False)
            again = turns.solve(state, seed, (f"r{total}",), warm=False)
            warm = turns.solve(state, seed, (), warm=True)
            found.append((cold[0], again[0], cold[1], cold[2], warm[1], warm[2]))
            if len(found) > 1:  # the first turn loads what all turns need
                print(_row(str(len(found) - 1), found[-1]), flush=True)
    print(_row("median", tuple(median(column) for column in zip(*found[1:], strict=True))))


def _row(name: str, found: tuple[float, ...]) -> str:
    first, again, cold, cold_seconds, warm, warm_seconds = found
    return (
        f"| {name} | {first:.3f}, {again:.3f} | {cold:.0f} iterations, {cold_seconds:.2f} s "
        f"| {warm:.0f} iterations, {warm_seconds:.2f} s |"
    )


if __name__ == "__main__":
    as_command(main)
