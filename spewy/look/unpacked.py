"""Decode all strategies of a strategy locker, to compute best responses to them in several processes.

Processes on this machine map files with the decoded strategies into memory; workers on other machines get a `Parcel`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from solvers.sampled.batches import LineBatches, line_batches
from solvers.sampled.numbers import Pair, bucket_size
from solvers.sampled.quantise import Bytes, byte_tables, restore
from solvers.tree import Forest
from spewy.chunks.rounds import betting_rounds
from spewy.game.gamefile import Game
from spewy.job.job import Job
from spewy.learn.real_game import RealGame, rows_know_suits
from spewy.look.folder import stored_job
from spewy.records.bucket_policy import board_abstraction
from spewy.records.strategy_locker import StrategyLocker
from spewy.system.folders import scratch_folder


@dataclass(frozen=True)
class Decoder:
    """Decodes the strategies of a strategy locker, to compute best responses to them.

    Args:
        strategies: the locker.
        job: job that the locker was made for.
    """

    strategies: StrategyLocker
    job: Job

    @classmethod
    def of(cls, averages: StrategyLocker, folder: Path) -> Decoder:
        """Make a decoder for a strategy locker, and read the job of the solve from the locker.

        Args:
            averages: the strategy locker.
            folder: its folder, for error messages.

        Raises:
            InputError: the locker is not that of a solve.
        """
        return cls(averages, stored_job(averages.store, folder))

    @cached_property
    def forests(self) -> list[Forest]:
        """Betting of each round."""
        return [betting.forest for betting in betting_rounds(self.job.betting_tree)]

    @cached_property
    def batches(self) -> list[LineBatches]:
        """Betting lines of each round, in batches of 16."""
        return line_batches(self.forests)

    @property
    def n_bytes(self) -> int:
        """Size of the decoded strategies in bytes."""
        return sum(self._size(t, p) for t in range(len(self.forests)) for p in (0, 1)) * self._dtype.itemsize

    def write(self, folder: Path) -> str:
        """Write the decoded strategies to files in a folder, and return a hash of the strategies.

        Raises:
            InputError: nothing is stored for a board bucket.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
        """
        mark = hashlib.blake2b(digest_size=12)
        for t, batches in enumerate(self.batches):
            n_rows = self.strategies.saved.rows[t]
            for p in (0, 1):
                tables = byte_tables(batches, p, n_rows)
                sums = np.zeros(bucket_size(batches, p, n_rows), dtype=np.float32)
                with _file(folder, t, p).open(
                    "wb"
                ) as file:  # a write to a mapped file would crash the process if the disk is full
                    for board_bucket in range(self.strategies.saved.board_buckets[t]):
                        packed = self.strategies.bucket_bytes(t, board_bucket, p)
                        mark.update(packed.tobytes())
                        restore(packed, n_rows, tables, sums)
                        file.write(sums.astype(self._dtype).tobytes())
                    if not sums.size:
                        file.write(bytes(self._dtype.itemsize))  # an empty file cannot be mapped
        return mark.hexdigest()

    def game(self, folder: Path) -> RealGame:
        """Return the game with the strategies that `write` has written to a folder."""
        sums = tuple(
            (self._mapped(folder, t, 0), self._mapped(folder, t, 1)) for t in range(len(self.forests))
        )
        return self._parcel(()).game(sums)

    def parcel(self) -> Parcel:
        """Return the game and its strategies in a form that can be sent to workers on other machines."""
        rounds = range(len(self.forests))
        return self._parcel(tuple((self._bytes(t, 0), self._bytes(t, 1)) for t in rounds))

    def _parcel(self, packed: tuple[tuple[Bytes, Bytes], ...]) -> Parcel:
        saved = self.strategies.saved
        return Parcel(
            self.job.rules,
            tuple(self.forests),
            dict(self.strategies.arrays()),
            tuple(saved.board_buckets),
            tuple(saved.rows),
            self._dtype,
            packed,
        )

    def _bytes(self, t: int, p: int) -> Bytes:
        """Return the encoded strategies of player p in round t: an array ``[board bucket, byte]``."""
        board_buckets = range(self.strategies.saved.board_buckets[t])
        return np.stack([self.strategies.bucket_bytes(t, board_bucket, p) for board_bucket in board_buckets])

    @property
    def _dtype(self) -> np.dtype[np.floating]:
        """Number type of the decoded strategies: that of the solve's strategy sums, for which kernels are compiled."""
        return np.dtype(np.float16 if self.job.solve.short else np.float32)

    def _mapped(self, folder: Path, t: int, p: int) -> np.ndarray:
        return np.memmap(_file(folder, t, p), self._dtype, mode="r")

    def _size(self, t: int, p: int) -> int:
        saved = self.strategies.saved
        return saved.board_buckets[t] * bucket_size(self.batches[t], p, saved.rows[t])


class DecodedGame(NamedTuple):
    """A game, with its decoded strategies in a temporary folder.

    Attributes:
        decoder: the decoder of the strategies.
        folder: folder of the decoded strategies.
        mark: hash of the strategies.
        game: the game.
    """

    decoder: Decoder
    folder: Path
    mark: str
    game: RealGame


@contextmanager
def decoded_game(averages: StrategyLocker, play: Path) -> Iterator[DecodedGame]:
    """Decode all strategies of a strategy locker into a temporary folder, which is deleted at the end.

    Args:
        averages: the strategy locker.
        play: its folder, for error messages.

    Raises:
        InputError: the locker is not that of a solve, or nothing is stored for a board bucket.
        lockers.DamagedLockerError: the stored bytes are not those that were written.
    """
    with scratch_folder("judge") as folder:
        decoder = Decoder.of(averages, play)
        mark = decoder.write(folder)
        yield DecodedGame(decoder, folder, mark, decoder.game(folder))


@dataclass(frozen=True, eq=False)
class Parcel:
    """A game with its encoded strategies, which can be pickled and sent to workers on other machines.

    Attributes:
        rules: rules of the game.
        forests: betting of each round.
        arrays: arrays that map boards to board buckets and hands to rows, by name.
        board_buckets: number of board buckets of each round.
        rows: number of hand rows of each round.
        dtype: number type of decoded strategies.
        packed: encoded strategies of each round and player, ``[board bucket, byte]``.
    """

    rules: Game
    forests: tuple[Forest, ...]
    arrays: dict[str, np.ndarray]
    board_buckets: tuple[int, ...]
    rows: tuple[int, ...]
    dtype: np.dtype[np.floating]
    packed: tuple[tuple[Bytes, Bytes], ...]

    @cached_property
    def batches(self) -> list[LineBatches]:
        """Betting lines of each round, in batches of 16."""
        return line_batches(self.forests)

    def game(self, sums: tuple[Pair, ...] | None = None) -> RealGame:
        """Return the game with decoded strategies, for measuring exploitability.

        Args:
            sums: strategies of each round and player that are decoded already; None: decode ``packed``.
        """
        board_buckets, symmetric = (
            board_abstraction(self.rules, self.arrays),
            not rows_know_suits(self.arrays),
        )
        unpacked = self._unpacked() if sums is None else sums
        return RealGame(
            self.rules,
            self.forests,
            self.batches,
            board_buckets,
            self.board_buckets,
            self.rows,
            unpacked,
            symmetric=symmetric,
        )

    def _unpacked(self) -> tuple[Pair, ...]:
        out = []
        for batches, n_rows, pair in zip(self.batches, self.rows, self.packed, strict=True):
            both = []
            for p in (0, 1):
                tables, sums = (
                    byte_tables(batches, p, n_rows),
                    np.zeros(bucket_size(batches, p, n_rows), np.float32),
                )
                whole = np.empty((len(pair[p]), len(sums)), dtype=self.dtype)
                for board_bucket, bytes_ in enumerate(pair[p]):
                    restore(bytes_, n_rows, tables, sums)
                    whole[board_bucket] = sums
                both.append(whole.ravel())
            out.append((both[0], both[1]))
        return tuple(out)


def _file(folder: Path, t: int, p: int) -> Path:
    return folder / f"{t}.{p}"
