"""The worker's side of a solve on a cluster, in which each worker owns a share of the flops.

A share has some board buckets of the flop and all turn and river buckets that follow from them. Only this share updates
them. The rounds before the flop have a single board bucket each, which all shares update; `averaged` merges the
updates. Workers and the solve's own process send each other the regrets and sums of board buckets as a `Part`.

The functions from `open_share` on are called in the worker.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import poch

from solvers.sampled.engine import Dealt
from solvers.sampled.judge import Buffers
from solvers.sampled.numbers import Arrays, Numbers
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.game.gamefile import Game
from spewy.learn.sampled import SampledEngine
from spewy.records.caches import FlopFinding

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


class Part(NamedTuple):
    """Regrets and strategy sums of some board buckets of a round.

    Attributes:
        buckets: numbers of the buckets, each once.
        regrets: regrets of each player, and of each rival if there are rivals, ``[bucket, index within the bucket]``.
        sums: strategy sums of each player, ``[bucket, index within the bucket]``.
        visits: number of visits, ``[player, bucket]``.
        ahead: ``[player, bucket]``, how many of these visits belong to deals that are not yet counted as finished.
    """

    t: int
    buckets: Ints
    regrets: Arrays
    sums: Arrays
    visits: Ints
    ahead: Ints


def part_of(numbers: Numbers, t: int, buckets: Ints) -> Part:
    regrets, sums = (
        tuple(_by_bucket(whole, numbers, t)[buckets] for whole in wholes)
        for wholes in (numbers.regrets[t], numbers.sums[t])
    )
    return Part(t, buckets, regrets, sums, numbers.visits[t][:, buckets], numbers.ahead[t][:, buckets])


def put(numbers: Numbers, part: Part) -> None:
    wholes = (*numbers.regrets[part.t], *numbers.sums[part.t])
    for whole, values in zip(wholes, (*part.regrets, *part.sums), strict=True):
        _by_bucket(whole, numbers, part.t)[part.buckets] = values
    numbers.visits[part.t][:, part.buckets] = part.visits
    numbers.ahead[part.t][:, part.buckets] = part.ahead


def parts_of(numbers: Numbers, t: int, buckets: Ints, most_bytes: int) -> list[Ints]:
    """Split board buckets of round t into groups of at most ``most_bytes``; a larger bucket forms its own group."""
    wholes = (*numbers.regrets[t], *numbers.sums[t])
    each = max(1, sum(whole.nbytes for whole in wholes) // numbers.visits[t].shape[1])
    at_once = max(1, most_bytes // each)
    return [buckets[first : first + at_once] for first in range(0, len(buckets), at_once)]


def averaged(before: Part, after: Sequence[Part], gamma: float) -> Part:
    """Merge the updates that several shares have made to the same board buckets.

    A bucket had ``V`` visits before the updates. Share s made ``m_s`` visits, and ``M = sum m_s``. ``w(V, m)`` is the
    weight that the first ``V`` visits keep in an average after ``m`` more visits (`weight_left`). ``regrets_s`` and
    ``average_s`` are the values after the updates of share s, ``before`` and ``average`` the values before. Then:

        mean = sum_s m_s / M * regrets_s
        regrets = mean if mean < 0, else max(0, before + sum_s (regrets_s - before))
        average = average + (1 - w(V, M)) * sum_s m_s / M * (average_s - average) / (1 - w(V, m_s))

    Negative regrets are averaged, not added, because each visit multiplies them by a discount.

    Args:
        before: the buckets before the updates.
        after: for each share, the buckets after its updates.
        gamma: exponent of the weights of visits in the average strategies.
    """
    if len(after) == 1:
        return after[0]
    added = np.array([part.visits[:, 0] - before.visits[:, 0] for part in after])
    visits, total = before.visits[:, 0], added.sum(axis=0)
    regrets = tuple(
        _added(values, [part.regrets[i] for part in after], added[:, i % 2])
        for i, values in enumerate(before.regrets)
    )
    sums = []
    for p in (0, 1):
        o = 1 - p  # without CFR-BR, visits of the other player update p's average; both visit equally often
        change = np.zeros(before.sums[p].shape)
        for part, m in zip(after, added[:, o], strict=True):
            if m:
                own = 1 - weight_left(visits[o], m, gamma)
                change += m / total[o] * (part.sums[p].astype(np.float64) - before.sums[p]) / own
        whole = 1 - weight_left(visits[o], total[o], gamma)
        sums.append(np.maximum(before.sums[p] + whole * change, 0).astype(before.sums[p].dtype))
    ahead = before.ahead + sum(part.ahead - before.ahead for part in after)
    return Part(
        *(before.t, before.buckets, regrets, tuple(sums)),
        *(before.visits + total[:, None], np.maximum(ahead, 0)),
    )


def _added(before: np.ndarray, after: Sequence[np.ndarray], visits: Ints) -> np.ndarray:
    """Merge the regrets of several shares by the rule of `averaged`."""
    total = visits.sum()
    if not total:
        return before
    mean = sum(m / total * each.astype(np.float64) for m, each in zip(visits, after, strict=True))
    whole = before + sum(each.astype(np.float64) - before for each in after)
    most = float(np.finfo(before.dtype).max)
    added: np.ndarray = np.where(mean < 0, mean, np.clip(whole, 0, most)).astype(before.dtype)
    return added


def weight_left(visits: Ints, more: Ints, gamma: float) -> np.ndarray:
    """Return the weight that the average of the first ``visits`` visits keeps after ``more`` visits; 0 for no visits.

    The first n visits together have the weight ``n (n + 1) .. (n + gamma)``, see `solvers.sampled.decisions.share`.
    """
    weight: np.ndarray = poch(visits, gamma + 1) / poch(np.maximum(visits + more, 1), gamma + 1)
    return weight


def is_part(part: Any, numbers: Numbers) -> bool:
    """Whether a value is a `Part` that fits the game of ``numbers``, with finite numbers and no bucket twice."""
    n_buckets = [visits.shape[1] for visits in numbers.visits]
    if not isinstance(part, Part) or part.t not in range(len(n_buckets)):
        return False
    n, whole = len(part.buckets), (*numbers.regrets[part.t], *numbers.sums[part.t])
    fits = all(
        values.shape == (n, len(like) // n_buckets[part.t])
        and values.dtype == like.dtype
        and bool(np.isfinite(values).all())
        for values, like in zip((*part.regrets, *part.sums), whole, strict=True)
    )
    return (
        fits
        and len(np.unique(part.buckets)) == n
        and bool(np.isin(part.buckets, np.arange(n_buckets[part.t])).all())
        and all(counts.shape == (2, n) and bool((counts >= 0).all()) for counts in (part.visits, part.ahead))
    )


def _by_bucket(whole: np.ndarray, numbers: Numbers, t: int) -> np.ndarray:
    """View a flat array of round t as ``[bucket, index within the bucket]``."""
    return whole.reshape(numbers.visits[t].shape[1], -1)


@dataclass(frozen=True)
class Setup:
    """Settings that all shares of a solve have in common.

    Attributes:
        game, rounds: the rules of the game, and the betting of each round.
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
        owners: for each flop bucket, the number of the share that owns the bucket.
        done: number of deals that are included in the regrets that `take` loads.

    Attributes:
        stands: number of deals of the whole solve so far. The regrets include all of these deals whose flop belongs to
            this share.
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

    def take(self, part: Part) -> bool:
        """Copy regrets, strategy sums and visits of some board buckets into this share; return True."""
        put(self.numbers, part)
        self._sent[part.t][:, part.buckets] = part.visits
        return True

    def learn(self, before: Sequence[Part], first: int, n: int) -> Learnt:
        """Make those of the deals ``first`` to ``first + n - 1`` whose flop this share owns.

        ``before`` has the regrets and strategy sums of the rounds before the flop.
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
        """Return changed board buckets to send: at most ``most_bytes``, or one larger bucket; [] if none is left."""
        for t in range(self._flop_round, len(self._sent)):
            visits, sent = self.numbers.visits[t], self._sent[t]
            new = np.flatnonzero((visits != sent).any(axis=0)).astype(np.int64)
            if len(new):
                buckets = parts_of(self.numbers, t, new, most_bytes)[0]
                sent[:, buckets] = visits[:, buckets]
                return [part_of(self.numbers, t, buckets)]
        return []

    def flops(self, before: Sequence[Part], firsts: Sequence[int]) -> list[FlopFinding]:
        """Measure best responses on flops number ``firsts``; ``before`` has the regrets and sums of earlier rounds."""
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
    """Create a share in this worker, in place of an earlier share with the same number; return True.

    Args:
        owners: for each flop bucket, the number of the share that owns the bucket.
        done: number of deals in the regrets and strategy sums that `FlopShare.take` loads.
    """
    close_share(setup.solve, share)
    _shares[setup.solve, share] = FlopShare(setup, share, owners, threads, done)
    return True


def in_share(solve: str, share: int, stands: int, method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of a share in this worker.

    Return None if the worker lacks the share, or if the share's `FlopShare.stands` is not ``stands``.
    """
    flop_share = _shares.get((solve, share))
    return None if flop_share is None or flop_share.stands != stands else method(flop_share, *arguments)


def stop_measuring(solve: str) -> None:
    """Stop the measurements of all shares of a solve in this worker."""
    for key, share in list(_shares.items()):
        if key[0] == solve:
            share.ended.set()


def close_share(solve: str, share: int | None = None) -> None:
    """Delete a share of a solve from this worker; if ``share`` is None, delete all shares of the solve."""
    for key in [key for key in _shares if key[0] == solve and share in (None, key[1])]:
        _shares.pop(key).close()
