"""A share of a whole game in a worker of a cluster: some flop buckets with all later turns and rivers.

Buckets below the flop belong to a single share, and nobody else learns them. The rounds before the flop have a single
bucket each, in which all shares learn; `spewy.learn.flop_engine` averages them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.sampled.engine import Dealt
from solvers.sampled.judge import Buffers
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.game.gamefile import Game
from spewy.learn.flop_parts import Part, part_of, parts_of, put
from spewy.learn.sampled import SampledEngine
from spewy.records.response_cache import FlopFinding

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


@dataclass(frozen=True)
class Setup:
    """Arguments of the engines of all shares.

    Attributes:
        solve: name of the solve, which no other solve has.
        game, rounds, abstraction, seed, short, cfr_br: arguments of `SampledEngine`.
    """

    solve: str
    game: Game
    rounds: Sequence[LineForest]
    abstraction: Abstraction
    seed: int
    short: bool
    cfr_br: float


class Learnt(NamedTuple):
    """The result of a share for an interval of deals.

    Attributes:
        share: number of the share.
        parts: the rounds before the flop, after the interval.
        seconds: duration.
    """

    share: int
    parts: list[Part]
    seconds: float


class FlopShare(SampledEngine):
    """An engine that deals only boards with the share's flop buckets.

    Args:
        setup: arguments of all shares.
        share: number of the share.
        owners: ``[bucket of the flop]``, the share that owns the bucket.
        threads: number of threads.
        done: number of deals after which the numbers stand that will be put.
    """

    def __init__(self, setup: Setup, share: int, owners: Ints, threads: int, done: int) -> None:
        self._own = np.zeros(0, dtype=np.int64)
        self._base = 0
        super().__init__(
            setup.game,
            setup.rounds,
            setup.abstraction,
            setup.seed,
            threads=threads,
            short=setup.short,
            cfr_br=setup.cfr_br,
            opened=None,
        )
        self._share, self._owners, self.stands = share, owners, done
        self._flop_round, self.ended = setup.abstraction.first, threading.Event()
        self._sent = [visits.copy() for visits in self.numbers.visits]

    def take(self, parts: Sequence[Part]) -> None:
        """Load the regrets and sums of buckets that this share owns."""
        for part in parts:
            put(self.numbers, part)
            self._sent[part.t][:, part.buckets] = part.visits

    def learn(self, before: Sequence[Part], first: int, n: int) -> Learnt:
        """Do the deals of this share among the deals ``first`` to ``first + n - 1``."""
        begun = time.perf_counter()
        for part in before:
            put(self.numbers, part)
        buckets = self._abstraction.classes_of_deals(self._seed, first, n)[:, self._flop_round]
        self._own = first + np.flatnonzero(self._owners[buckets] == self._share).astype(np.int64)
        self._base = self._cfr.iteration = first
        self._cfr.run(len(self._own))
        self.stands = first + n
        parts = [part_of(self.numbers, part.t, part.buckets) for part in before]
        return Learnt(self._share, parts, time.perf_counter() - begun)

    def changed(self, most_bytes: int) -> list[Part]:
        """Return some buckets that have changed since the last call; [] if there are none."""
        for t in range(self._flop_round, len(self._sent)):
            visits, sent = self.numbers.visits[t], self._sent[t]
            new = np.flatnonzero((visits != sent).any(axis=0)).astype(np.int64)
            if len(new):
                some = parts_of(self.numbers, t, new, most_bytes)[0]
                sent[:, some] = visits[:, some]
                return [part_of(self.numbers, t, some)]
        return []

    def flops(self, before: Sequence[Part], firsts: Sequence[int]) -> list[FlopFinding]:
        """Measure best responses on some flops of this share, in threads.

        Raises:
            StoppedError: `stop_measuring` was called.
        """
        for part in before:
            put(self.numbers, part)
        game, ended = self._real_game, self.ended
        ended.clear()
        desks = SimpleQueue[Buffers]()
        for _ in range(self.threads):
            desks.put(game.desk())

        def measured(first: int) -> FlopFinding:
            desk = desks.get()
            try:
                return game.flop(first, desk, ended.is_set)
            finally:
                desks.put(desk)

        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(measured, firsts))

    def _dealt(self, first: int, n: int) -> Dealt:
        return self._abstraction.deal(self._seed, self._own[first - self._base :][:n])


_shares: dict[tuple[str, int], FlopShare] = {}


def open_share(setup: Setup, share: int, owners: Ints, threads: int, done: int) -> bool:
    """Make a new share in a worker."""
    close_share(setup.solve, share)
    _shares[setup.solve, share] = FlopShare(setup, share, owners, threads, done)
    return True


def give(solve: str, share: int, parts: Sequence[Part]) -> bool | None:
    """Give a share in a worker its regrets and sums; return None if the worker lacks the share."""
    found = _shares.get((solve, share))
    if found is not None:
        found.take(parts)
    return None if found is None else True


def learn(solve: str, share: int, stands: int, before: Sequence[Part], first: int, n: int) -> Learnt | None:
    """Let a share in a worker do its deals of an interval; return None if its state is not the expected one."""
    found = _shares.get((solve, share))
    return None if found is None or found.stands != stands else found.learn(before, first, n)


def changed(solve: str, share: int, stands: int, most_bytes: int) -> list[Part] | None:
    """Return changed buckets from a share in a worker; None if its state is not the expected one."""
    found = _shares.get((solve, share))
    return None if found is None or found.stands != stands else found.changed(most_bytes)


def flops(
    solve: str, share: int, stands: int, before: Sequence[Part], firsts: Sequence[int]
) -> list[FlopFinding] | None:
    """Measure some flops of a share in a worker; return None if its state is not the expected one."""
    found = _shares.get((solve, share))
    return None if found is None or found.stands != stands else found.flops(before, firsts)


def stop_measuring(solve: str) -> None:
    """Stop the calls of `flops` for a solve in a worker."""
    for key, share in list(_shares.items()):
        if key[0] == solve:
            share.ended.set()


def close_share(solve: str, share: int | None = None) -> None:
    """Forget a share, or all shares of a solve, in a worker."""
    for key in [key for key in _shares if key[0] == solve and share in (None, key[1])]:
        _shares.pop(key).close()
