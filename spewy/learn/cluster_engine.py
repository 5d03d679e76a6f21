"""A whole game learnt by deals on the workers of a cluster, each on a copy of its own for an interval.

The deals of an interval are cut into shares, one for each worker (`spewy.learn.deal_shares`). What these have learnt
is put together in order of the shares (`spewy.learn.exchange`), and goes to all of them before the next interval. A
share counts when it has come back and is what was asked for, and then once; one whose worker has left is dealt again,
by another. So deals are those of one process, whoever comes and goes, and where it is interrupted none is left out.

Rounds of a single class, which every deal visits, stand still for the shortest while: where there are as many workers
as shares, they meet in steps within an interval. For all else an interval may be as long as keeps sending and adding up
a small part of the time; at first it is a share of the deals that are done (docs/scale.md has the measurements).
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.sampled.numbers import Numbers, Pair
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.errors import PeerError, shown
from spewy.game.gamefile import Game
from spewy.learn import deal_copy
from spewy.learn.background_saves import Opener
from spewy.learn.combined_flops import Finding
from spewy.learn.deal_copy import NOTHING, Asked, Order, Setup, Share
from spewy.learn.deal_shares import Cut, Interval, Shares
from spewy.learn.engine import Stop
from spewy.learn.exchange import Exchange, Part, copied, put, summed
from spewy.learn.real_game import SEED
from spewy.learn.sampled import SampledEngine
from spewy.records.response_cache import FlopFinding
from spewy.system.cluster import Attempts, Cluster, Lost, NoWorkerError
from spewy.system.dask_pool import DaskPool

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

FEWEST = 64
"""Deals of a share, if the interval is not limited otherwise."""
MOST_OF_ALL = 0.05
"""Of the deals that are done: as many an interval may have at most."""
LEAST_SECONDS, MOST_SECONDS = 2.0, 60.0
"""Of an interval, once enough deals are done."""
STEP = 1.0
"""Times the square root of all deals so far: of all shares, between two meetings of rounds of a single class."""
EXCHANGES = 0.2
"""Of the time, that sending and adding up may take before intervals get longer."""


class _Standing:
    """What is known of a worker's copy: after which exchange it stands, and each class of each round."""

    def __init__(self, n_classes: Sequence[int]) -> None:
        self.after = NOTHING
        self.classes = [np.full(n, NOTHING, dtype=np.int64) for n in n_classes]


class ClusterEngine(SampledEngine):
    """A solve by deals on a cluster, which goes on from what a store holds.

    Args:
        game, rounds, abstraction, seed, short, cfr_br, opened: as `SampledEngine` takes them.
        cluster: whose workers learn; `close` closes it.
        shares: of an interval; None: as many as there are workers.
        interval: deals of a share at most; None: by the time that they take.
    """

    def __init__(
        self,
        game: Game,
        rounds: Sequence[LineForest],
        abstraction: Abstraction,
        seed: int,
        *,
        short: bool,
        cfr_br: float,
        opened: Opener,
        cluster: Cluster,
        shares: int | None,
        interval: int | None,
        check_flops: int = 1,
    ) -> None:
        self._cluster, self._shares, self._interval = cluster, shares, interval
        self._setup = Setup(uuid.uuid4().hex, game, rounds, abstraction, seed, short, cfr_br)
        self._given: Any = None
        super().__init__(
            game,
            rounds,
            abstraction,
            seed,
            threads=1,
            short=short,
            cfr_br=cfr_br,
            opened=opened,
            check_flops=check_flops,
        )
        self._exchange = NOTHING + 1
        self._changed: list[Ints] = [
            np.where(visits.any(axis=0), self._exchange, NOTHING) for visits in self.numbers.visits
        ]
        self._shares_of = Shares(abstraction, seed)
        self._standing: dict[str, _Standing] = {}
        self._settled = True
        self._exchanging = 0.0

    @property
    def threads(self) -> int:
        """How many learn at once."""
        return max(1, self._cluster.threads)

    @property
    def settled(self) -> bool:
        """Whether the numbers are those of the deals that are counted: all shares of an interval are in, or none."""
        return self._settled

    def deal(self, n: int, stop: Stop) -> None:
        """Do ``n`` deals more, an interval; when this returns, the numbers have all of its deals.

        If ``stop`` is set before the numbers have any share of the interval, the numbers have none of its deals.

        Raises:
            PeerError: the scheduler is gone, a worker answered something else than a share, or no worker answers.
        """
        interval = Interval(self.done, n, min(n, self._n_shares))
        attempts = Attempts(self._cluster, "a share of deals")
        begun, slowest, waiting = time.perf_counter(), 0.0, list(range(interval.shares))
        there = self._cluster.workers(stop)
        if 1 < interval.shares <= len(there):
            together = self._learn_together(interval, sorted(there)[: interval.shares], there)
            if together is not None:
                slowest, waiting = together, []
        while waiting:
            there = self._cluster.workers(stop)
            if stop.is_set() and self._settled:
                return
            if not there:
                raise PeerError(
                    f"{self._cluster.name}: expected a worker to deal again what another has lost, found none when "
                    "it was interrupted; what was saved last is there"
                )
            shares, waiting = waiting[: len(there)], waiting[len(there) :]
            try:
                lost, seconds = self._learn(interval, shares, there)
            except NoWorkerError:  # before anything was begun
                self._standing.clear()  # not all that was to be given was
                lost, seconds = shares, 0.0
            slowest += seconds
            waiting = lost + waiting
            attempts.ended(fruitful=len(lost) < len(shares))
        self._cfr.iteration += n
        self._settled = True
        self._exchanging = time.perf_counter() - begun - slowest

    def next_portion(self, n: int, seconds: float) -> int:
        """Deals of an interval, all shares together, after one of n that took so long."""
        shares = self._n_shares
        most = max(FEWEST * shares, math.ceil(MOST_OF_ALL * self.done))
        if self._interval is not None:
            return min(most, self._interval * shares)
        wanted = min(MOST_SECONDS, max(LEAST_SECONDS, self._exchanging / EXCHANGES))
        return max(1, min(most, 2 * n, int(n * wanted / seconds)))

    @property
    def _n_shares(self) -> int:
        """Of the next interval."""
        return self._shares or max(1, self._cluster.size)

    def judge(self, flops: int, stop: Stop, tell: Callable[[int, int], object]) -> Finding | None:
        """Measure how far averages are from an equilibrium, in the cluster's workers; None if ``stop`` was set.

        Raises:
            PeerError: the scheduler is gone, or no worker answers.
        """
        game, attempts = self._real_game, Attempts(self._cluster, "to judge a flop")
        draw = game.drawn(flops, SEED)
        firsts, found = game.to_judge(draw), dict[int, FlopFinding]()
        tell(0, len(firsts))
        while missing := [first for first in firsts if first not in found]:
            workers = self._all_caught_up(stop)
            if not workers:
                return None
            order = Order(self._setup.solve, self._exchange, self._exchange)
            with closing(DaskPool(self._cluster, workers)) as pool:
                for message in pool.work(deal_copy.judge, [(order, first) for first in missing]):
                    if stop.is_set():
                        return None
                    if message is not None and message.kind == "failed":
                        raise message.value
                    if message is not None and message.value is not None and message.kind == "done":
                        found[missing[message.task]] = message.value
                        tell(len(found), len(firsts))
            attempts.ended(fruitful=any(first in found for first in missing))
        return game.combined(found, draw)

    def close(self) -> None:
        """Leave the cluster."""
        super().close()
        self._given = None
        self._cluster.tell_all(deal_copy.forget, self._setup.solve)
        self._cluster.close()

    def _learn_together(
        self, interval: Interval, workers: Sequence[str], there: dict[str, int]
    ) -> float | None:
        """Have each share of an interval learnt by a worker, in steps after which rounds of a single class meet.

        Every deal visits those, so that they stand still for the shortest while, and they are small.

        Returns:
            The seconds of the slowest, summed up; None: a worker was lost, and nothing has been learnt.
        """
        cut, rounds = self._shares_of.cut(interval), range(len(self._changed))
        single = [len(changed) == 1 for changed in self._changed]
        wanted = [[cut.visited(share, t) for t in rounds] for share in range(interval.shares)]
        further = [np.full(len(changed), one) for changed, one in zip(self._changed, single, strict=True)]
        earlier = [self._copied_single(t) for t in rounds if single[t]]
        ahead = [counts.copy() for counts in self.numbers.ahead]
        steps = math.ceil(interval.n / max(interval.shares, STEP * math.sqrt(interval.first + 1)))
        seconds = 0.0
        for step in range(steps):
            asked = [Asked(interval, share, step, steps) for share in range(interval.shares)]
            try:
                orders = self._orders(workers, [further] * len(workers) if step else wanted, cut.alone)
                answers = list(self._answers(asked, workers, orders, there))
            except NoWorkerError:
                answers = [Lost()]
            if any(answer is None or isinstance(answer, Lost) for answer in answers):
                with self.changing:
                    for part in earlier:
                        put(self.numbers, part)
                    for now, earlier_ahead in zip(self.numbers.ahead, ahead, strict=True):
                        now[:] = earlier_ahead
                self._standing.clear()
                self._settled = True
                return None
            exchange = Exchange(self.numbers, self.discount, cut.alone)
            for what, worker, answer in zip(asked, workers, answers, strict=True):
                require_share(answer, what, cut, self.numbers, worker, threads=there[worker])
            self._settled = False
            self._exchange += 1
            with self.changing:
                before = [self._copied_single(t) for t in rounds if single[t]]
                for worker, answer in zip(workers, answers, strict=True):
                    self._take(answer, exchange, cut.alone, self._standing[worker])
                for then in before:
                    copies = int(exchange.copies(then.t)[0])
                    put(self.numbers, summed(then, self._copied_single(then.t), max(1, copies)))
            seconds += max(answer.seconds for answer in answers)
        return seconds

    def _copied_single(self, t: int) -> Part:
        """What the only class of a round has."""
        return copied(self.numbers, t, np.zeros(1, dtype=np.int64))

    def _learn(
        self, interval: Interval, shares: Sequence[int], there: dict[str, int]
    ) -> tuple[list[int], float]:
        """Have a worker each learn a share; those that were lost, and the seconds of the slowest."""
        cut = self._shares_of.cut(interval)
        workers = sorted(there)[: len(shares)]
        wanted = [[cut.visited(share, t) for t in range(len(self._changed))] for share in shares]
        orders = self._orders(workers, wanted, cut.alone)
        asked = [Asked(interval, share) for share in shares]
        exchange = Exchange(self.numbers, self.discount, cut.alone)
        before, seconds, lost = self._exchange, 0.0, list[int]()
        with closing(self._answers(asked, workers, orders, there)) as answers:
            for what, worker, answer in zip(asked, workers, answers, strict=True):
                standing = self._standing.pop(worker)
                if answer is None or isinstance(answer, Lost):
                    lost.append(what.share)
                    continue
                require_share(answer, what, cut, self.numbers, worker, threads=there[worker])
                self._settled = False
                self._exchange = before + 1
                with self.changing:
                    self._take(answer, exchange, cut.alone, standing)
                seconds = max(seconds, answer.seconds)
                self._standing[worker] = standing
        return lost, seconds

    def _answers(
        self,
        asked: Sequence[Asked],
        workers: Sequence[str],
        orders: Sequence[tuple[Any, ...]],
        there: dict[str, int],
    ) -> Generator[Any, None, None]:
        """What workers learn of what they are asked for, a share each."""
        return self._cluster.call(
            [
                (worker, deal_copy.learn, (*order, there[worker], what))
                for worker, order, what in zip(workers, orders, asked, strict=True)
            ]
        )

    def _take(
        self, share: Share, exchange: Exchange, alone: Sequence[np.ndarray], standing: _Standing
    ) -> None:
        """Add what a share has learnt to the numbers, and note the classes that its worker's copy then has up to date.

        These are the classes that no other copy visits, and all of whose visits count.
        """
        for part in share.parts:
            counts = ~self.numbers.ahead[part.t][:, part.classes].any(axis=0)
            exchange.take(part)
            self._changed[part.t][part.classes] = self._exchange
            standing.classes[part.t][part.classes[alone[part.t][part.classes] & counts]] = self._exchange

    def _all_caught_up(self, stop: Stop) -> list[str]:
        """Send workers what their copies lack; return the workers whose copies are up to date, none if ``stop`` is set.

        Raises:
            PeerError: the scheduler is gone, or no worker answers.
        """
        everything = [np.ones(len(changed), dtype=np.bool_) for changed in self._changed]
        attempts = Attempts(self._cluster, "to catch up with the others")
        while True:
            there = self._cluster.workers(stop)
            if stop.is_set():
                return []
            workers = sorted(there)
            alone = [np.full(len(changed), len(workers) == 1) for changed in self._changed]
            try:
                orders = self._orders(workers, [everything] * len(workers), alone)
            except NoWorkerError:
                self._standing.clear()
                attempts.ended(fruitful=False)
                continue
            calls = [
                (worker, deal_copy.catch_up, (*order, there[worker]))
                for worker, order in zip(workers, orders, strict=True)
            ]
            with closing(self._cluster.call(calls)) as answers:
                good = [worker for worker, answer in zip(workers, answers, strict=True) if answer is True]
            self._standing = {worker: self._standing[worker] for worker in good}
            if good:
                return good
            attempts.ended(fruitful=False)

    def _orders(
        self, workers: Sequence[str], wanted: Sequence[Sequence[np.ndarray]], alone: Sequence[np.ndarray]
    ) -> list[tuple[Any, Order, Any, Any]]:
        """For each worker what `spewy.learn.deal_copy.ordered` takes: the setup, the order, and the parts it lacks.

        Args:
            workers: who is asked.
            wanted: by worker and round, masks of the classes that it needs.
            alone: by round, those that a single worker needs; the others are given to all, who have them from each
                other.
        """
        if self._given is None or self._given.status != "finished":  # who had it has left
            self._given = self._cluster.given(self._setup)
        n_classes = [len(changed) for changed in self._changed]
        standings = [self._standing.setdefault(worker, _Standing(n_classes)) for worker in workers]
        lacking = [
            [
                mask & (changed > has)
                for mask, changed, has in zip(mine, self._changed, standing.classes, strict=True)
            ]
            for mine, standing in zip(wanted, standings, strict=True)
        ]
        shared = [
            np.any([mine[t] for mine in lacking], axis=0) & ~alone[t] for t in range(len(self._changed))
        ]
        everybody_s = self._given_parts(shared)
        found = []
        for standing, mine in zip(standings, lacking, strict=True):
            own = [some & ~theirs for some, theirs in zip(mine, shared, strict=True)]
            order = Order(self._setup.solve, standing.after, self._exchange)
            found.append((self._given, order, everybody_s, self._given_parts(own)))
            standing.after = self._exchange
            for has, some, theirs in zip(standing.classes, own, shared, strict=True):
                has[some | theirs] = self._exchange
        return found

    def _given_parts(self, masks: Sequence[np.ndarray]) -> Any:
        """What the classes of each round have that its mask has, for workers."""
        parts = [
            copied(self.numbers, t, np.flatnonzero(some).astype(np.int64))
            for t, some in enumerate(masks)
            if some.any()
        ]
        return self._cluster.given(parts) if parts else []


def require_share(
    found: Any, asked: Asked, cut: Cut, numbers: Numbers, worker: str, *, threads: int = 1
) -> None:
    """Refuse what no copy can have learnt that was asked for this.

    Args:
        found: what came.
        asked: for what.
        cut: its interval's.
        numbers: to which it shall be put.
        worker: from whom.
        threads: that learnt; of several, one may undo a simultaneous visit of another.

    Raises:
        PeerError: it is something else, or a part of it.
    """
    first, n, shares = asked.interval
    of = f"share {asked.share + 1} of {shares} of the deals {first:,} to {first + n:,}"
    subject = f"Dask worker {worker}, {of}"
    if not isinstance(found, Share) or found.asked != asked:
        raise PeerError(f"{subject}: expected what was learnt of them, found {shown(found)}")
    made = [np.zeros(2, dtype=np.int64) for _ in numbers.visits]
    for part in found.parts:
        if not _is_part(part, numbers):
            raise PeerError(f"{subject}: expected finite numbers of classes, found something else")
        made[part.t] += part.visits.sum(axis=1)
    deals = len(cut.deals(asked.share))
    first_of, last_of = (i * deals // asked.steps for i in (asked.step, asked.step + 1))
    for t, counts in enumerate(made):
        early, last = numbers.visits[t].shape[1] == 1, asked.step == asked.steps - 1
        most = last_of - first_of if early else deals * last
        least = most if threads == 1 else min(1, most)
        if ((counts < least) | (counts > most)).any():
            raise PeerError(
                f"{subject}: expected {most:,} visits of round {t}, found {counts[0]:,} and {counts[1]:,}"
            )


def _is_part(part: Part, numbers: Numbers) -> bool:
    """Whether arrays are those of classes of a round, each once, and finite."""
    n_classes = [visits.shape[1] for visits in numbers.visits]
    if not isinstance(part, Part) or part.t not in range(len(n_classes)):
        return False
    t, n, kept = part.t, len(part.classes), numbers.regrets[0][0].dtype

    def fits(found: Pair, like: Pair, kind: np.dtype[Any]) -> bool:
        shapes = [(n, len(one) // n_classes[t]) for one in like]
        return [(one.shape, one.dtype) for one in found] == [(shape, kind) for shape in shapes] and all(
            bool(np.isfinite(one).all()) for one in found
        )

    return (
        len(np.unique(part.classes)) == n
        and bool(np.isin(part.classes, np.arange(n_classes[t])).all())
        and part.visits.shape == (2, n)
        and bool((part.visits >= 0).all())
        and fits(part.regrets, numbers.regrets[t], kept)
        and fits(part.sums, numbers.sums[t], np.dtype(np.float32))
    )
