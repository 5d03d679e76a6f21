"""Measures how well visits of chunks with stored payoff matrices, as in Spewy Louie Jr., solve a game in board buckets.

    python -m benchmarks.studies.averaging [JOB.toml] [--sweeps 4] [--flops 10] [--set KEY=VALUE ...]

Here a *visit* improves all chunks of one board bucket. It deals a board of the bucket, computes both ranges there from
the average strategies, and solves each chunk alone against the payoff matrices of the board buckets that follow. This
*local optimum* is added to the strategy sums, weighted by the number of the visit and the player's own reach. A sweep
visits every board bucket once, starting with the last round. Result (docs/research/averaging.md): with sixty times the
work the strategy is four times as exploitable as the strategy of a solve by deals, so Spewy offers deals only.
"""

import argparse
import time
from functools import lru_cache
from itertools import accumulate
from threading import Event

import numpy as np

from benchmarks.bucket_games import BucketGame, Drawn, bucket_chunks, bucket_payoffs, drawn_boards
from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.sampled_games import SEED, abstraction_spec, progress_note
from buckets.abstraction import Abstraction
from compiled.vector import WIDTH
from solvers.discount import DEFAULT_VARIANT
from solvers.matrix.chunk import reach_of
from solvers.state import ChunkStrategy
from solvers.tree import Floats
from spewy import Job
from spewy.chunks.bucket_locker import abstraction
from spewy.chunks.rounds import betting_rounds, line_forests
from spewy.learn.real_game import rows_know_suits
from spewy.learn.sampled import SampledEngine
from spewy.learn.visit import VisitSettings, local_optimum


class Averaging(SampledEngine):
    """An engine in memory that improves one board bucket after another, instead of dealing random boards."""

    def __init__(self, job: Job, found: Abstraction, settings: VisitSettings) -> None:
        rounds = line_forests(job.betting_tree)
        super().__init__(job.rules, rounds, found, SEED, threads=1, short=False, cfr_br=0.0, opened=None)
        self._settings = settings
        symmetry = not rows_know_suits(found.arrays)
        self._game_of_classes = BucketGame(
            job.problem, betting_rounds(job.betting_tree), found, found.n_rows, symmetry
        )
        self._matrices: dict[tuple[int, int], Floats] = {}
        self._drawn = lru_cache(len(rounds))(self._draw)
        self._first = [
            tuple(batches.first(p, k) for p in (0, 1))
            for batches, k in zip(self._cfr.batches, found.n_rows, strict=True)
        ]

    @property
    def n_board_buckets(self) -> tuple[int, ...]:
        return tuple(self._abstraction.n_board_buckets)

    def deal(self, n: int, stop: object) -> None:
        """Visit the next ``n`` board buckets; ``stop`` is unused."""
        for _ in range(n):
            self._visit(*self._next())
            self._cfr.iteration += 1

    def _next(self) -> tuple[int, int, int]:
        """Return what to visit next: (number of the sweep from 0, round, board bucket)."""
        sizes = self._abstraction.n_board_buckets[::-1]
        sweep, position = divmod(self.done, sum(sizes))
        for t, (size, end) in enumerate(zip(sizes, accumulate(sizes), strict=True)):
            if position < end:
                return sweep, len(sizes) - 1 - t, position - end + size
        raise AssertionError("a position within a sweep")

    def _visit(self, sweep: int, t: int, board_bucket: int) -> None:
        """Add local optima to the strategy sums of a board bucket's chunks, and store the chunks' payoff matrices."""
        visits = self.numbers.visits[t]
        number = int(visits[0, board_bucket]) + 1
        chunks = bucket_chunks(
            self._game_of_classes,
            t,
            self._drawn(sweep, t)[board_bucket],
            self._strategies,
            self._below,
            self._settings.tremble,
        )
        played = []
        for one in chunks:
            local = local_optimum(one.chunk, self._settings, number)
            played.append([number * reach_of(one.chunk, local, p, one.reach[p])[1:] for p in (0, 1)])
        with self.changing:
            for r, both in enumerate(played):
                for p in (0, 1):
                    self._slots(t, board_bucket, r, p)[:] += both[p]
            visits[:, board_bucket] = number
        worth = [one.payoffs(self._strategies(t, board_bucket, r)) for r, one in enumerate(chunks)]
        if self._abstraction.board_sizes[t]:
            self._matrices[t, board_bucket] = np.array(worth, dtype=np.float32)

    def _draw(self, sweep: int, t: int) -> list[Drawn]:
        """Draw, for each board bucket of round t, the boards on which a sweep visits it."""
        return drawn_boards(self._abstraction, t, self._seed, 1, sweep)

    def _slots(self, t: int, board_bucket: int, r: int, p: int) -> Floats:
        """Return player p's strategy sums in the chunk of a board bucket and line r: ``[slot, row]``, not a copy.

        A slot is one action of a decision.
        """
        batch, lane = self._cfr.batches[t].place[r]
        first, k = self._first[t][p], self._n_rows[t]
        begin, end = (board_bucket * first[-1] + first[s] for s in (batch, batch + 1))
        return self.numbers.sums[t][p][begin:end].reshape(k, -1, WIDTH)[:, :, lane].T

    def _strategies(self, t: int, board_bucket: int, r: int) -> ChunkStrategy:
        """Return both players' strategy sums in the chunk of a board bucket and betting line r: ``[slot, row]``.

        A slot is one action of a decision.
        """
        first, second = (
            np.ascontiguousarray(self._slots(t, board_bucket, r, p), dtype=np.float64) for p in (0, 1)
        )
        return first, second

    def _below(self, t: int, board_bucket: int, r: int) -> Floats:
        """Return the payoff matrix of the chunk of a board bucket and line r; compute it if no visit has stored one."""
        found = self._matrices.get((t, board_bucket))
        if found is None:
            boards = self._drawn(self._next()[0], t)[board_bucket]
            found = bucket_payoffs(
                self._game_of_classes, t, board_bucket, boards, self._strategies, self._below
            )
            self._matrices[t, board_bucket] = found
        matrix: Floats = found[r]
        return matrix


def main() -> None:
    """Solve a game, and print its exploitability after 1, 2, 4, ... sweeps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "job",
        nargs="?",
        default=ROOT / "examples/flop-holdem.toml",
        help="job file of a whole game with [boards]",
    )
    parser.add_argument(
        "--set",
        dest="changes",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key of the job file; can be given several times",
    )
    parser.add_argument("--sweeps", type=int, default=4, help="number of sweeps over all board buckets")
    parser.add_argument(
        "--flops", type=int, default=10, help="number of flops on which exploitability is measured"
    )
    parser.add_argument("--iterations", type=int, default=50, help="number of CFR iterations in a visit")
    parser.add_argument("--method", choices=["cfr", "lp"], default="cfr", help="method that solves a chunk")
    args = parser.parse_args()
    job = Job.load(args.job, args.changes)
    settings = VisitSettings("average", args.method, DEFAULT_VARIANT, args.iterations)
    print("| sweeps | seconds | exploitability, mbb per hand |\n|---|---|---|")
    with Averaging(job, abstraction(abstraction_spec(job)), settings) as engine:
        sweep, sweeps, started = sum(engine.n_board_buckets), 1, time.perf_counter()
        while sweeps <= args.sweeps:
            engine.deal(sweeps * sweep - engine.done, Event())
            finding = engine.judge(args.flops, Event(), progress_note("boards measured"))
            mbb = 1000 * finding.exploitability / job.rules.big_blind
            print(f"| {sweeps} | {time.perf_counter() - started:.0f} | {mbb:.0f} |", flush=True)
            sweeps *= 2


if __name__ == "__main__":
    as_command(main)
