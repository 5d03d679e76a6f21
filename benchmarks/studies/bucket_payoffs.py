"""Stores the payoff matrices of a whole game with board buckets: what hand rows win from each other on average.

    python -m benchmarks.studies.bucket_payoffs FOLDER [--round flop] [--boards 4] [--seed 0] [--workers 2]

FOLDER has a solve with board buckets, or a copy of its strategy locker. Each line that enters a round has a payoff
matrix in each board bucket, under the average strategies of the last save (`benchmarks.bucket_games`). The last
round is computed first, since the matrices of a round are needed in the round before. The matrices stand in
FOLDER/bucket_payoffs, in one file per board bucket. The same command continues after an interruption; it computes all
matrices again once the solve has saved other strategies, or if --boards or --seed differ.
"""

import argparse
import hashlib
import os
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import joblib
import numpy as np

from benchmarks.bucket_games import BucketGame, Drawn, bucket_payoffs, drawn_boards
from benchmarks.command import as_command
from compiled.vector import WIDTH
from lockers import open_store
from solvers.sampled.quantise import byte_tables, restore
from solvers.state import ChunkStrategy
from solvers.tree import Floats
from spewy.chunks.rounds import betting_rounds
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES
from spewy.learn.real_game import rows_know_suits
from spewy.look.folder import require_solve, require_solved, strategy_folder
from spewy.look.judging import Decoder
from spewy.records.policy import board_abstraction
from spewy.records.strategy_locker import StrategyLocker, saved_deals

FOLDER = "bucket_payoffs"
"""Name of the folder with payoff matrices within the folder of a solve."""
CACHED = 64
"""Number of board buckets whose strategies and matrices a process caches."""


class Work:
    """Game and average strategies from which payoff matrices are computed, read from a strategy locker.

    Args:
        folder: folder of the solve, or of its strategy locker.
    """

    def __init__(self, folder: Path) -> None:
        play = strategy_folder(folder)
        require_solve(play)
        self._locker = StrategyLocker(open_store(play, read_only=True))
        decoder = Decoder.of(self._locker, play)
        job = decoder.job
        if not job.sampled:
            raise InputError(f"folder {play}: expected a whole game with [boards], found another solve")
        require_solved(saved_deals(self._locker.store), play)
        saved = self._locker.saved
        self.name, self.deals = job.name, saved.deals
        self.abstraction = board_abstraction(job.rules, self._locker.arrays())
        symmetry = not rows_know_suits(self.abstraction.arrays)
        self.game = BucketGame(
            job.problem, betting_rounds(job.betting_tree), self.abstraction, saved.rows, symmetry
        )
        self.n_board_buckets = saved.board_buckets
        self._batches = decoder.batches
        self._tables = [
            [byte_tables(batches, p, k) for p in (0, 1)]
            for batches, k in zip(self._batches, saved.rows, strict=True)
        ]
        self._bucket = lru_cache(CACHED)(self._decoded)

    def shape(self, t: int) -> tuple[int, int, int]:
        """Return the shape of a board bucket's matrices in round t: lines, rows of player 0, rows of player 1."""
        k = self.game.n_rows[t]
        return len(self.game.betting[t].chunks), k, k

    def strategies(self, t: int, bucket: int, r: int) -> ChunkStrategy:
        """Return each player's average strategy ``[slot, row]`` in the chunk of a bucket and line r, not normalised.

        A slot is one action of a decision.
        """
        batch, lane = self._batches[t].place[r]
        first, second = (self._bucket(t, bucket, p)[batch][:, :, lane].T for p in (0, 1))
        return np.ascontiguousarray(first), np.ascontiguousarray(second)

    def mark(self) -> str:
        """Return a hash of all strategies in the locker."""
        mark = hashlib.blake2b(digest_size=12)
        for t, n in enumerate(self.n_board_buckets):
            for bucket in range(n):
                for p in (0, 1):
                    mark.update(self._locker.bucket_bytes(t, bucket, p).tobytes())
        return mark.hexdigest()

    def _decoded(self, t: int, bucket: int, p: int) -> list[Floats]:
        """Decode player p's strategy in a board bucket: an array ``[row, slot, line]`` per batch of 16 lines.

        A slot is one action of a decision.
        """
        tables, k = self._tables[t][p], self.game.n_rows[t]
        flat = np.zeros(int(tables.first[-1]))
        restore(self._locker.bucket_bytes(t, bucket, p), k, tables, flat)
        cuts = tables.first.tolist()
        return [
            flat[cuts[s] : cuts[s + 1]].reshape(k, int(tables.n_slots[s]), WIDTH)
            for s in range(len(self._batches[t]))
        ]


def stored_matrices(folder: Path, t: int, bucket: int) -> Floats:
    """Read the matrices ``[line, row of player 0, row of player 1]`` of a board bucket of round t, in chips."""
    matrices: Floats = np.load(_file(folder, t, bucket))
    return matrices


def make_payoffs(folder: Path, first: str | None, boards: int, seed: int, workers: int) -> None:
    """Compute the missing payoff matrices of a round and all later rounds, and print the progress.

    Args:
        folder: folder of the solve.
        first: name of the first round that gets matrices; None for the second round with public cards, or for the only
            round with public cards.
        boards: number of boards drawn from each board bucket.
        seed: seed of the draws.
        workers: number of processes.
    """
    begun, work = time.monotonic(), Work(folder)
    rounds = _rounds(work.game, first)
    _begin(folder / FOLDER, f"{work.mark()} {boards} {seed}")
    for t in rounds:
        todo = [c for c in range(work.n_board_buckets[t]) if not _file(folder, t, c).exists()]
        print(f"{work.name}: {len(todo):,} board buckets of {ROUND_NAMES[t]} to do", flush=True)
        drawn = drawn_boards(work.abstraction, t, seed, boards) if todo else []
        tasks = [joblib.delayed(_make)(folder, t, c, drawn[c]) for c in todo]
        joblib.Parallel(n_jobs=workers, batch_size=1)(tasks)
    size = sum(file.stat().st_size for file in (folder / FOLDER).glob("*.npy"))
    print(f"{work.deals:,} deals, {size / 2**20:.1f} MiB, {time.monotonic() - begun:.0f} s")


def _make(folder: Path, t: int, bucket: int, boards: Drawn) -> None:
    work, below = _opened(folder)
    matrices = bucket_payoffs(work.game, t, bucket, boards, work.strategies, lambda t, c, r: below(t, c)[r])
    file = _file(folder, t, bucket)
    unfinished = file.with_suffix(".tmp")  # a killed process leaves no half of a matrix under the file's name
    with unfinished.open("wb") as out:
        np.save(out, matrices.astype(np.float32))
    os.replace(unfinished, file)


@lru_cache(maxsize=1)
def _opened(folder: Path):
    return Work(folder), lru_cache(CACHED)(lambda t, c: stored_matrices(folder, t, c))


def _file(folder: Path, t: int, bucket: int) -> Path:
    return folder / FOLDER / f"{t}.{bucket}.npy"


def _begin(home: Path, mark: str) -> None:
    """Delete the matrices of other strategies or boards, which have another mark."""
    home.mkdir(exist_ok=True)
    file = home / "mark.txt"
    if not file.exists() or file.read_text() != mark:
        for matrices in home.glob("*.npy"):
            matrices.unlink()
        file.write_text(mark)


def _rounds(game: BucketGame, name: str | None) -> Sequence[int]:
    sizes, last = game.problem.game.board_sizes, game.n_rounds - 1
    with_cards = [t for t in range(game.n_rounds) if sizes[t]]
    if not with_cards:
        raise InputError(
            f"game {game.problem.game.name!r}: it has no public cards, so it has no payoff matrices of board buckets"
        )
    names = [ROUND_NAMES[t] for t in with_cards]
    if name is None:
        name = names[min(1, len(names) - 1)]
    if name not in names:
        raise InputError(f"round: expected one of {', '.join(names)}, found {name!r}")
    return range(last, ROUND_NAMES.index(name) - 1, -1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of a solve with [boards]")
    parser.add_argument(
        "--round", help="first round with matrices; default: turn, or the only round with cards"
    )
    parser.add_argument("--boards", type=int, default=4, help="number of random boards in each board bucket")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random boards")
    parser.add_argument("--workers", type=int, default=joblib.cpu_count(), help="number of processes")
    args = parser.parse_args()
    make_payoffs(args.folder, args.round, args.boards, args.seed, args.workers)


if __name__ == "__main__":
    from benchmarks.studies.bucket_payoffs import main as run  # workers find `_make` by this module's name

    as_command(run)
