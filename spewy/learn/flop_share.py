"""The worker's side of a solve on a cluster, in which each worker owns a share of the flops.

A share has some board buckets of the flop and all turn and river buckets that follow from them. Only this share updates
them. The rounds before the flop have a single board bucket each, which all shares update;
`spewy.learn.flop_engine` averages the updates.
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
    """Settings that all shares of a solve have in common.

    Attributes:
        solve: unique name of the solve.
        game, rounds: the rules of the game, and the betting of each round.
        abstraction: board buckets and rows of the game.
        seed: seed of the deals.
        short: whether regrets and strategy sums are 16-bit numbers.
        cfr_br: share of the opponents' play that is a rival's (CFR-BR), 0 to 1.
    """

    solve: str
    game: Game
    rounds: Sequence[LineForest]
    abstraction: Abstraction
    seed: int
    short: bool
    cfr_br: float


class Learnt(NamedTuple):
    """A share's answer after an interval of deals.

    Attributes:
        share: number of the share.
        parts: regrets and strategy sums of the rounds before the flop, after the interval.
        seconds: duration of the interval in seconds.
    """

    share: int
    parts: list[Part]
    seconds: float


class FlopShare(SampledEngine):
    """Engine that deals only boards whose flop bucket belongs to this share.

    Args:
        setup: settings that all shares have in common.
        share: number of the share.
        owners: for each flop bucket, the number of the share that owns the bucket.
        threads: number of threads.
        done: number of deals that are included in the regrets that `take` will load.

    Attributes:
        stands: the regrets include this share's deals among the first ``stands`` deals of the whole solve.
        ended: an event; once it is set, measurements stop.
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
        """Load regrets and strategy sums of board buckets that this share owns, replacing the present ones."""
        for part in parts:
            put(self.numbers, part)
            self._sent[part.t][:, part.buckets] = part.visits

    def learn(self, before: Sequence[Part], first: int, n: int) -> Learnt:
        """Make an interval's deals: those of the deals ``first`` to ``first + n - 1`` whose flop this share owns.

        Args:
            before: regrets and strategy sums of the rounds before the flop.
            first: number of the interval's first deal.
            n: number of deals in the interval.
        """
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
        """Return some of the board buckets that changed since this method last returned them; [] if none changed.

        Args:
            most_bytes: limit on the size of the result, unless a single bucket is larger.
        """
        for t in range(self._flop_round, len(self._sent)):
            visits, sent = self.numbers.visits[t], self._sent[t]
            new = np.flatnonzero((visits != sent).any(axis=0)).astype(np.int64)
            if len(new):
                buckets = parts_of(self.numbers, t, new, most_bytes)[0]
                sent[:, buckets] = visits[:, buckets]
                return [part_of(self.numbers, t, buckets)]
        return []

    def flops(self, before: Sequence[Part], firsts: Sequence[int]) -> list[FlopFinding]:
        """Measure best responses on some flops of this share, in threads.

        Args:
            before: regrets and strategy sums of the rounds before the flop.
            firsts: numbers of the flops.

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
            """Measure a flop with buffers that no other thread uses meanwhile."""
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
    """Create a share in this worker, in place of an earlier share with the same number; return True.

    Args:
        setup: settings that all shares have in common.
        share: number of the share.
        owners: for each flop bucket, the number of the share that owns the bucket.
        threads: number of threads.
        done: number of deals in the regrets and strategy sums that `give` will load.
    """
    close_share(setup.solve, share)
    _shares[setup.solve, share] = FlopShare(setup, share, owners, threads, done)
    return True


def give(solve: str, share: int, parts: Sequence[Part]) -> bool | None:
    """Load regrets and strategy sums into a share of this worker.

    Args:
        solve: unique name of the solve.
        share: number of the share.
        parts: regrets and strategy sums of board buckets that the share owns.

    Returns:
        True, or None if this worker lacks the share.
    """
    flop_share = _shares.get((solve, share))
    if flop_share is not None:
        flop_share.take(parts)
    return None if flop_share is None else True


def learn(solve: str, share: int, stands: int, before: Sequence[Part], first: int, n: int) -> Learnt | None:
    """Make those of the deals ``first`` to ``first + n - 1`` whose flop a share owns.

    Args:
        solve: unique name of the solve.
        share: number of the share.
        stands: number of deals that the share's regrets must include.
        before: regrets and strategy sums of the rounds before the flop.
        first: number of the first deal.
        n: number of deals, including those whose flop other shares own.

    Returns:
        The result, or None if this worker lacks the share, or if the share's regrets include another number of deals
        than ``stands``.
    """
    flop_share = _share(solve, share, stands)
    return None if flop_share is None else flop_share.learn(before, first, n)


def changed(solve: str, share: int, stands: int, most_bytes: int) -> list[Part] | None:
    """Return some board buckets of a share that changed since this function last returned them.

    Args:
        solve: unique name of the solve.
        share: number of the share.
        stands: number of deals that the share's regrets must include.
        most_bytes: limit on the size of the result, unless a single bucket is larger.

    Returns:
        The buckets, [] if none changed; or None if this worker lacks the share, or if the share's regrets include
        another number of deals than ``stands``.
    """
    flop_share = _share(solve, share, stands)
    return None if flop_share is None else flop_share.changed(most_bytes)


def flops(
    solve: str, share: int, stands: int, before: Sequence[Part], firsts: Sequence[int]
) -> list[FlopFinding] | None:
    """Measure best responses on some flops of a share.

    Args:
        solve: unique name of the solve.
        share: number of the share.
        stands: number of deals that the share's regrets must include.
        before: regrets and strategy sums of the rounds before the flop.
        firsts: numbers of the flops.

    Returns:
        The measurements, or None if this worker lacks the share, or if the share's regrets include another number of
        deals than ``stands``.
    """
    flop_share = _share(solve, share, stands)
    return None if flop_share is None else flop_share.flops(before, firsts)


def stop_measuring(solve: str) -> None:
    """Stop the measurements of all shares of a solve in this worker."""
    for key, share in list(_shares.items()):
        if key[0] == solve:
            share.ended.set()


def close_share(solve: str, share: int | None = None) -> None:
    """Delete a share of a solve from this worker; if ``share`` is None, delete all shares of the solve."""
    for key in [key for key in _shares if key[0] == solve and share in (None, key[1])]:
        _shares.pop(key).close()


def _share(solve: str, share: int, stands: int) -> FlopShare | None:
    """Return a share of this worker if its regrets include exactly ``stands`` deals, else None."""
    flop_share = _shares.get((solve, share))
    return None if flop_share is None or flop_share.stands != stands else flop_share
