"""Learn a whole game on a cluster by flops: each worker owns some flop buckets with all later turns and rivers.

Buckets of later rounds remember the bucket of the flop, so nothing below the flop is ever exchanged. The deals of an
interval are those of one process; each worker does the deals of its own flops. Then the rounds before the flop, in
which all workers learn the same single bucket, are put together (`spewy.learn.flop_parts.averaged`).

Workers keep their numbers in memory. Before a save they send what they have learnt since the save before. If a worker
leaves, another one begins with the saved numbers of its flops, and does again the deals that these lack. So each deal
counts once, whoever comes and goes.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.sampled.numbers import Numbers
from solvers.stopping import StoppedError
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.errors import PeerError, shown
from spewy.game.gamefile import Game
from spewy.learn import flop_share
from spewy.learn.background_saves import Opener
from spewy.learn.combined_flops import Finding
from spewy.learn.engine import Stop
from spewy.learn.flop_parts import Part, averaged, is_part, part_of, parts_of, put
from spewy.learn.flop_share import Learnt, Setup
from spewy.learn.real_game import SEED
from spewy.learn.sampled import SampledEngine
from spewy.records.response_cache import FlopFinding
from spewy.system.cluster import Attempts, Cluster, Lost, NoWorkerError

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

SECONDS = 1.5
"""Duration of an interval in seconds, after enough deals."""
STEP = 1.0
"""Factor of the largest number of deals in an interval, times the square root of all deals so far.

Within an interval a worker's first round learns from the worker's own flops alone. As long as the interval has no more
deals than there are flops, that is no worse than the noise of as many random deals (docs/scale.md).
"""
COUNTED = 1 << 15
"""Number of deals whose flops are counted, so that all workers get the same amount of work."""
MOST_BYTES = 32 << 20
"""Largest number of bytes of regrets and sums in a message."""


class FlopEngine(SampledEngine):
    """A solve by dealt boards on a cluster; continues from a store.

    Args:
        game, rounds, abstraction, seed, short, cfr_br, opened, check_flops: as `SampledEngine` takes them.
        cluster: the cluster; `close` closes it.
        shares: number of shares of the flops; None for one for each worker.
        interval: number of deals of a share between two averages at most; None: no limit.
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
        assert abstraction.all_remember, "the job is refused otherwise"
        self._cluster, self._asked_shares, self._interval = cluster, shares, interval
        self._setup = Setup(uuid.uuid4().hex, game, rounds, abstraction, seed, short, cfr_br)
        self._given: Any = None
        self._workers: dict[int, str] = {}
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
        self._flop_round, self._n_flop_boards = abstraction.first, _n_flop_boards(abstraction)
        self._owners = np.zeros(0, dtype=np.int64)
        self._flops_of: list[Ints] = []
        self._stands: dict[int, int] = {}
        """Deals after which each share stands in its worker."""
        self._gathered: dict[int, int] = {}
        """Deals after which each share stands in this process."""
        self._stop: Stop | None = None

    @property
    def threads(self) -> int:
        """Number of threads of the cluster."""
        return max(1, self._cluster.threads)

    @property
    def settled(self) -> bool:
        """Whether this process has the regrets and sums of all finished deals."""
        return all(self._gathered[share] == self._stands[share] for share in self._stands)

    def deal(self, n: int, stop: Stop) -> None:
        """Do ``n`` more deals as one interval, unless ``stop`` is set while the cluster has no worker.

        Raises:
            PeerError: the scheduler is gone, no worker answers, or a worker answers nonsense.
        """
        self._stop = stop
        if not self._workers and not self._assign(stop):
            return
        first, before = self.done, self._before()
        buckets = self._abstraction.classes_of_deals(self._seed, first, n)[:, self._flop_round]
        counts = np.bincount(self._owners[buckets], minlength=len(self._workers))
        orders = dict.fromkeys(np.flatnonzero(counts).tolist(), (before, first, n))
        answers = self._ask(flop_share.learn, orders, "its deals")
        for share, answer in answers.items():
            require_learnt(answer, share, before, self.numbers, self._workers[share])
            self._stands[share] = first + n
        with self.changing:
            for i, part in enumerate(before):
                after = [answer.parts[i] for answer in answers.values()]
                put(self.numbers, averaged(part, after, self.discount.gamma))
        self._cfr.iteration += n

    def next_portion(self, n: int, seconds: float) -> int:
        """Number of deals of the next interval, after an interval of ``n`` deals that took ``seconds``."""
        shares = max(1, len(self._workers))
        most = min(self._n_flop_boards, max(shares, math.ceil(STEP * math.sqrt(self.done + 1))))
        if self._interval is not None:
            return min(most, self._interval * shares)
        return max(1, min(most, 2 * n, int(n * SECONDS / max(seconds, 1e-9))))

    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        """Save like `SampledEngine.save`, after fetching the workers' regrets and sums."""
        assert self._saving is not None, "save_to comes first"
        if wait or not self._saving.is_busy:
            self._gather()
            super().save(seconds, dropping, wait=wait)
            if self._asked_shares is None and self._cluster.size not in (0, len(self._workers)):
                self._close_shares()  # what follows is shared out among the workers that are there by then

    def judge(self, flops: int, stop: Stop, tell: Callable[[int, int], object]) -> Finding | None:
        """Measure each flop in the worker that owns it; return None if ``stop`` was set.

        Raises:
            PeerError: the scheduler is gone, or no worker answers.
        """
        if not self._workers and not self._assign(stop):
            return None
        game, before = self._real_game, self._before()
        draw = game.drawn(flops, SEED)
        firsts, found = game.to_judge(draw), dict[int, FlopFinding]()
        tell(0, len(firsts))
        boards = [[card for group in game.trees.firsts[0][first] for card in group] for first in firsts]
        owners = self._owners[self._abstraction.boards(self._flop_round, boards)[0]]
        waiting = {
            share: [f for f, o in zip(firsts, owners, strict=True) if o == share] for share in self._workers
        }
        there, at_once = self._cluster.there(), 1
        while waiting := {share: some for share, some in waiting.items() if some}:
            begun = time.perf_counter()
            orders = {
                share: (before, some[: at_once * max(1, there.get(self._workers[share], 1))])
                for share, some in waiting.items()
            }
            try:
                answers = self._ask(flop_share.flops, orders, "to judge a flop", stop)
            except StoppedError:
                self._cluster.tell_all(flop_share.stop_measuring, self._setup.solve)
                return None
            for share, answer in answers.items():
                self._require_findings(answer, share, len(orders[share][1]))
                for finding in answer:
                    found[waiting[share].pop(0)] = finding
            tell(len(found), len(firsts))
            if time.perf_counter() - begun < SECONDS:
                at_once *= 2
        return game.combined(found, draw)

    def close(self) -> None:
        """Leave the cluster."""
        super().close()
        self._given = None
        self._cluster.tell_all(flop_share.close_share, self._setup.solve)
        self._cluster.close()

    def _before(self) -> list[Part]:
        """Return the numbers of the rounds before the flop."""
        return [part_of(self.numbers, t, np.zeros(1, dtype=np.int64)) for t in range(self._flop_round)]

    def _assign(self, stop: Stop) -> bool:
        """Distribute the flops among the present workers; return whether there is a worker."""
        there = sorted(self._cluster.workers(stop))
        if not there:
            return False
        n_flops = self._abstraction.n_classes[self._flop_round]
        n_shares = max(1, min(n_flops, self._asked_shares or len(there)))
        dealt = self._abstraction.classes_of_deals(self._seed, 0, COUNTED)[:, self._flop_round]
        counts, so_far = np.bincount(dealt, minlength=n_flops), np.zeros(n_shares, dtype=np.int64)
        self._owners = np.empty(n_flops, dtype=np.int64)
        for bucket in np.argsort(-counts, kind="stable"):
            self._owners[bucket] = so_far.argmin()
            so_far[so_far.argmin()] += counts[bucket]
        self._workers = {share: there[share % len(there)] for share in range(n_shares)}
        self._stands = dict.fromkeys(self._workers, self.done)
        self._gathered = dict(self._stands)
        self._flops_of = [
            owner_of(self._abstraction, self._seed, t) for t in range(self._abstraction.n_rounds)
        ]
        for share in self._workers:
            if not self._open_share(share):
                self._repair(share, Attempts(self._cluster, "to take its flops"))
        return True

    def _open_share(self, share: int) -> bool:
        """Send a share's state from this process to its worker; return whether that succeeded."""
        worker, done = self._workers[share], self._gathered[share]
        try:
            if self._given is None or self._given.status != "finished":  # who had it has left
                self._given = self._cluster.given(self._setup)
            threads = self._cluster.there().get(worker, 1)
            arguments = (self._given, share, self._owners, threads, done)
            if not self._told(worker, flop_share.open_share, arguments):
                return False
            for t in range(self._flop_round, self._abstraction.n_rounds):
                owned = self._owners[self._flops_of[t]] == share
                learnt = np.flatnonzero(owned & self.numbers.visits[t].any(axis=0)).astype(np.int64)
                for some in parts_of(self.numbers, t, learnt, MOST_BYTES):
                    part = part_of(self.numbers, t, some)
                    if not self._told(worker, flop_share.give, (self._setup.solve, share, [part])):
                        return False
        except NoWorkerError:
            return False
        self._stands[share] = done
        return True

    def _repair(self, share: int, attempts: Attempts) -> None:
        """Move a share to another worker, which repeats the deals whose results this process lacks.

        Raises:
            PeerError: the scheduler is gone, no worker answers, or ``stop`` was set while there was none.
        """
        wanted = self._stands[share]
        while True:
            there = self._cluster.workers(self._stop)
            if not there:
                raise self._interrupted()
            load = [list(self._workers.values()).count(worker) for worker in sorted(there)]
            self._workers[share] = sorted(there)[int(np.argmin(load))]
            if self._open_share(share) and self._deal_again(share, wanted):
                return
            attempts.ended(fruitful=False)

    def _deal_again(self, share: int, wanted: int) -> bool:
        """Repeat a share's deals up to deal ``wanted``; the rounds before the flop keep what they have learnt."""
        while (first := self._stands[share]) < wanted:
            n = min(wanted - first, max(1, self._portion))
            arguments = (self._setup.solve, share, first, self._before(), first, n)
            if not isinstance(self._told(self._workers[share], flop_share.learn, arguments), Learnt):
                return False
            self._stands[share] = first + n
        return True

    def _ask(
        self,
        function: Callable[..., Any],
        orders: Mapping[int, tuple[Any, ...]],
        work: str,
        stop: Stop | None = None,
    ) -> dict[int, Any]:
        """Call a function for some shares in their workers; if a worker leaves, another one takes the share.

        Raises:
            PeerError: the scheduler is gone, or no worker answers.
            StoppedError: ``stop`` was set.
        """
        attempts, found, waiting = Attempts(self._cluster, work), dict[int, Any](), dict(orders)
        while waiting:
            calls = [
                (self._workers[share], function, (self._setup.solve, share, self._stands[share], *arguments))
                for share, arguments in waiting.items()
            ]
            with closing(self._cluster.call(calls, stop)) as answers:
                for share, answer in zip(list(waiting), answers, strict=True):
                    if answer is not None and not isinstance(answer, Lost):
                        found[share] = answer
                        del waiting[share]
            if waiting and self._stop is not None and self._stop.is_set():
                raise self._interrupted()
            attempts.ended(fruitful=len(waiting) < len(calls))
            for share in waiting:
                self._repair(share, attempts)
        return found

    def _told(self, worker: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function in a worker; return None if the worker has left."""
        with closing(self._cluster.call([(worker, function, arguments)])) as answers:
            answer = next(answers)
        return None if isinstance(answer, Lost) else answer

    def _gather(self) -> None:
        """Fetch the workers' changes since the last time; a share is fetched completely or not at all."""
        for share in [s for s, done in self._stands.items() if self._gathered[s] != done]:
            parts: list[Part] = []
            while True:
                (answer,) = self._ask(
                    flop_share.changed, {share: (MOST_BYTES,)}, "to send its flops"
                ).values()
                if not isinstance(answer, list) or not all(is_part(part, self.numbers) for part in answer):
                    raise nonsense(self._workers[share], "finite numbers of buckets", answer)
                if not answer:
                    break
                parts += answer
            with self.changing:
                for part in parts:
                    put(self.numbers, part)
            self._gathered[share] = self._stands[share]

    def _close_shares(self) -> None:
        self._cluster.tell_all(flop_share.close_share, self._setup.solve)
        self._workers, self._stands, self._gathered = {}, {}, {}

    def _interrupted(self) -> PeerError:
        return PeerError(
            f"{self._cluster.name}: interrupted before another worker has taken the flops of one that has left; "
            "what was saved last is there"
        )

    def _require_findings(self, answer: Any, share: int, n: int) -> None:
        if not (isinstance(answer, list) and [type(one) for one in answer] == [FlopFinding] * n):
            raise nonsense(self._workers[share], f"best responses on {n} flops", answer)


def require_learnt(answer: Any, share: int, before: Sequence[Part], numbers: Numbers, worker: str) -> None:
    """Refuse an answer that no share can have produced.

    Raises:
        PeerError: it is none, or has other buckets, or numbers that are not finite.
    """
    if not (
        isinstance(answer, Learnt)
        and answer.share == share
        and [type(part) for part in answer.parts] == [Part] * len(before)
        and [part.t for part in answer.parts] == [part.t for part in before]
        and all(is_part(part, numbers) for part in answer.parts)
        and all((a.visits >= b.visits).all() for a, b in zip(answer.parts, before, strict=True))
    ):
        raise nonsense(worker, f"what share {share + 1} of the flops has learnt, in finite numbers", answer)


def nonsense(worker: str, expected: str, answer: Any) -> PeerError:
    """Make the error for an answer that a worker of this version cannot give."""
    return PeerError(f"Dask worker {worker}: expected {expected}, found {shown(answer)}")


def _n_flop_boards(abstraction: Abstraction) -> int:
    """Number of first boards up to suits."""
    first = abstraction.first
    start = int(abstraction.arrays["starts"][first, 0])
    end = start + math.comb(len(abstraction.deck), abstraction.board_sizes[first])
    return int(abstraction.arrays["canonical"][start:end].max()) + 1


def owner_of(abstraction: Abstraction, seed: int, t: int) -> Ints:
    """``[bucket of round t]``: the bucket of the flop that each bucket of the flop or a later round belongs to."""
    first, n = abstraction.first, abstraction.n_classes
    if t <= first:
        return np.arange(n[t], dtype=np.int64)
    memory, arrays = abstraction.arrays["memory"][t], abstraction.arrays
    if memory[0]:
        end = memory[1] + n[first] * memory[0]
        pairs = arrays["pairs"][memory[1] : end].reshape(n[first], memory[0])
        flop, pair = np.nonzero(pairs >= 0)
        found = np.zeros(n[t], dtype=np.int64)
        found[arrays["classes"][arrays["starts"][t, 1] + pairs[flop, pair]]] = flop
        return found
    found, deals = np.full(n[t], -1, dtype=np.int64), 0
    while (found < 0).any():  # a bucket for each canonical board, which a small game alone has
        buckets = abstraction.classes_of_deals(seed, deals, COUNTED)
        found[buckets[:, t]] = buckets[:, first]
        deals += COUNTED
    return found
