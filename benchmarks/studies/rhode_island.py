"""Solves Rhode Island hold'em: exploitability over time, and bounds on the game's value.

    python -m benchmarks.studies.rhode_island [--target 0.00005] [--folder FOLDER]

The game is solved with suit symmetry, a row for each hand and live chance leaves (see the glossary). Then the average
strategies are converted to all boards, and best responses are computed again in the game *without* symmetry: the bounds
must be the same.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from buckets.cards import hand_permutation
from solvers.game import Strategies
from solvers.measure import exploitability
from solvers.reference.walk import Walker
from spewy.chunks.layout import Layout
from spewy.chunks.locate import locate
from spewy.job.job import Job
from spewy.look.solution import Solution
from spewy.records.chunks import Chunks
from spewy.run.session import Session

JOB = EXAMPLES / "rhode-island.toml"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--target", type=float, default=0.00005, help="target exploitability in chips (default 0.00005)"
    )
    parser.add_argument("--folder", type=Path, help="folder of the solve; the solve continues if it exists")
    options = parser.parse_args()
    overrides = [f"solve.target={options.target} chips", "solve.max_sweeps=100000"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "rhode-island"
        session = Session(Job.load(JOB, overrides), folder)
        result = session.solve()
        session.close()
        print("| sweeps | seconds | exploitability (chips) |\n|---|---|---|")
        for sweep, seconds, gap in result.trace:
            print(f"| {sweep} | {seconds:.1f} | {gap:.6f} |")
        low, high = result.value_bracket or (np.nan, np.nan)
        print(f"value of the game between {low:.6f} and {high:.6f} chips per hand for player 0")
        started = time.perf_counter()
        with Solution.open(folder) as solution:
            layout, sums = unfolded(solution)
        found = exploitability(Walker(layout.live), sums)
        low, high = found.bracket
        print(f"without symmetry, same strategies: between {low:.6f} and {high:.6f}", end=" ")
        print(f"(exploitability {found.value:.6f}; {time.perf_counter() - started:.0f} s)")


def unfolded(solution: Solution) -> tuple[Layout, Strategies]:
    """Convert the average strategies to the game without suit symmetry, with every board and a row for each hand."""
    layout = Layout.of(Job.load(JOB, ["solve.symmetry=false"]).problem)
    folded, game = Chunks(solution.layout, solution.store).whole(), layout.problem.game
    out = layout.live.zeros()
    for t in range(layout.n_rounds):
        for b, board in enumerate(layout.boards[t].boards):
            there, perm = locate(solution.layout, t, board.cards)
            moved = hand_permutation(game.deck, game.num_hole_cards, perm)
            for p in (0, 1):
                position = np.full(len(moved), -1)
                position[solution.layout.board(t, there).hands[p].numbers] = np.arange(
                    len(solution.layout.board(t, there).hands[p].numbers)
                )
                rows = board.hands[p].numbers
                out[t][p][b][:, : len(rows)] = folded[t][p][there][:, position[moved[rows]]]
    return layout, out


if __name__ == "__main__":
    as_command(main)
