"""Solve a whole game on a cluster: each worker owns some board buckets of the flop, with all later turns and rivers.

Boards with different flop buckets never share a later bucket. So a turn or river bucket belongs to one worker, and
workers need not exchange anything about it. Deals are made in intervals. The sequence of deals is the same as in a
solve by a single process; each worker makes those deals whose flop it owns. The rounds before the flop have one board
bucket each, which all workers update; `averaged` merges the updates after each interval.

Workers keep regrets and strategy sums in memory. Before a save they send what has changed since the previous save. If a
worker leaves, another worker takes over its flops, starts from the state that this process fetched last, and repeats
the later deals. So each deal counts exactly once.
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
from spewy.learn.engine import Stop
from spewy.learn.flop_share import FlopShare, Learnt, Part, Setup, averaged, is_part, part_of, parts_of, put
from spewy.learn.real_game import SEED, Finding
from spewy.learn.sampled import SampledEngine
from spewy.records.caches import FlopFinding
from spewy.system.cluster import Attempts, Cluster, Lost, NoWorkerError

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


SECONDS = 1.5
"""Target duration of an interval in seconds; the first intervals are shorter."""
STEP = 1.0
"""Limit on the number of deals in an interval: this factor times the square root of the number of deals so far.

Within an interval a worker updates the round before the flop by its own flops only. If the interval has no more deals
than the game has flops, the resulting error is no larger than the noise of equally many random deals
(docs/how-to/scale.md).
"""
MOST_BYTES = 32 << 20
"""Largest size in bytes of the regrets and sums in a message between this process and a worker."""

COUNTED = 1 << 15
"""Number of deals from which the work for each flop bucket is estimated."""


class FlopEngine(SampledEngine):
    """Engine that deals boards on a cluster; it continues from the regrets and strategy sums in a store.

    Args:
        game, rounds, abstraction, seed, short, cfr_br, opened, check_flops: arguments of the base class
            `SampledEngine`.
        cluster: the cluster; `close` closes it.
        shares: number of shares into which the flops are divided; None for one share for each worker.
        interval: largest number of deals of each share between two averages of the rounds before the flop; None for no
            limit.
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
        self._flop_round, self._n_flop_boards = abstraction.first, n_flop_boards(abstraction)
        self._owners = np.zeros(0, dtype=np.int64)
        self._flops_of: list[Ints] = []
        self._stands: dict[int, int] = {}
        """Number of deals that the regrets and strategy sums in the worker include, by share."""
        self._gathered: dict[int, int] = {}
        """Number of deals that this process's copy of the regrets and strategy sums includes, by share."""
        self._stop: Stop | None = None

    @property
    def threads(self) -> int:
        return max(1, self._cluster.threads)

    @property
    def settled(self) -> bool:
        return all(self._gathered[share] == self._stands[share] for share in self._stands)

    def deal(self, n: int, stop: Stop) -> None:
        """Make ``n`` more deals as one interval; if ``stop`` is set while workers are absent, no deal is made."""
        self._stop = self._cluster.ending = stop
        if not self._workers and not self._assign(stop):
            return
        first, before = self.done, self._before()
        buckets = self._abstraction.classes_of_deals(self._seed, first, n)[:, self._flop_round]
        counts = np.bincount(self._owners[buckets], minlength=len(self._workers))
        orders = dict.fromkeys(np.flatnonzero(counts).tolist(), (before, first, n))
        answers = self._ask(FlopShare.learn, orders, "its deals")
        for share, answer in answers.items():
            require_learnt(answer, share, before, self.numbers, self._workers[share])
            self._stands[share] = first + n
        with self.changing:
            for i, part in enumerate(before):
                after = [answer.parts[i] for answer in answers.values()]
                put(self.numbers, averaged(part, after, self.discount.gamma))
        self._cfr.iteration += n

    def next_portion(self, n: int, seconds: float) -> int:
        shares = max(1, len(self._workers))
        most = min(self._n_flop_boards, max(shares, math.ceil(STEP * math.sqrt(self.done + 1))))
        if self._interval is not None:
            return min(most, self._interval * shares)
        return max(1, min(most, 2 * n, int(n * SECONDS / max(seconds, 1e-9))))

    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        """Fetch the workers' regrets and strategy sums, then save them; in the background if ``wait`` is False."""
        assert self._saving is not None, "save_to comes first"
        if wait or not self._saving.is_busy:
            self._gather()
            super().save(seconds, dropping, wait=wait)
            if self._asked_shares is None and self._cluster.size not in (0, len(self._workers)):
                self._close_shares()  # workers came or left: the next deal divides the flops among all of them

    def judge(self, flops: int, stop: Stop, tell: Callable[[int, int], object]) -> Finding | None:
        """Measure exploitability on random flops, each in the worker that owns it; None if ``stop`` was set."""
        if not self._workers and not self._assign(stop):
            return None
        game, before, self._cluster.ending = self._real_game, self._before(), stop
        draw = game.drawn(flops, SEED)
        firsts, findings = game.to_judge(draw), dict[int, FlopFinding]()
        tell(0, len(firsts))
        boards = [[card for group in game.trees.firsts[0][first] for card in group] for first in firsts]
        owners = self._owners[self._abstraction.boards(self._flop_round, boards)[0]]
        waiting = {
            share: [f for f, o in zip(firsts, owners, strict=True) if o == share] for share in self._workers
        }
        threads, per_thread = self._cluster.there(), 1
        while waiting := {share: flops_left for share, flops_left in waiting.items() if flops_left}:
            begun = time.perf_counter()
            orders = {
                share: (before, flops_left[: per_thread * max(1, threads.get(self._workers[share], 1))])
                for share, flops_left in waiting.items()
            }
            try:
                answers = self._ask(FlopShare.flops, orders, "a measurement of a flop", stop)
            except StoppedError:
                self._cluster.tell_all(flop_share.stop_measuring, self._setup.solve)
                return None
            for share, answer in answers.items():
                self._require_findings(answer, share, len(orders[share][1]))
                for finding in answer:
                    findings[waiting[share].pop(0)] = finding
            tell(len(findings), len(firsts))
            if time.perf_counter() - begun < SECONDS:
                per_thread *= 2
        return game.combined(findings, draw)

    def close(self) -> None:
        super().close()
        self._given = None
        self._cluster.tell_all(flop_share.close_share, self._setup.solve)
        self._cluster.close()

    def _before(self) -> list[Part]:
        return [part_of(self.numbers, t, np.zeros(1, dtype=np.int64)) for t in range(self._flop_round)]

    def _assign(self, stop: Stop) -> bool:
        """Divide the flops among the present workers; return False if ``stop`` was set while there was no worker."""
        workers = sorted(self._cluster.workers(stop))
        if not workers:
            return False
        n_flops = self._abstraction.n_board_buckets[self._flop_round]
        n_shares = max(1, min(n_flops, self._asked_shares or len(workers)))
        dealt = self._abstraction.classes_of_deals(self._seed, 0, COUNTED)[:, self._flop_round]
        counts, work = np.bincount(dealt, minlength=n_flops), np.zeros(n_shares, dtype=np.int64)
        self._owners = np.empty(n_flops, dtype=np.int64)
        for bucket in np.argsort(-counts, kind="stable"):
            self._owners[bucket] = work.argmin()
            work[work.argmin()] += counts[bucket]
        self._workers = {share: workers[share % len(workers)] for share in range(n_shares)}
        self._stands = dict.fromkeys(self._workers, self.done)
        self._gathered = dict(self._stands)
        self._flops_of = [
            owner_of(self._abstraction, self._seed, t) for t in range(self._abstraction.n_rounds)
        ]
        for share in self._workers:
            if not self._open_share(share):
                self._repair(share, Attempts(self._cluster, "the transfer of its flops"))
        return True

    def _open_share(self, share: int) -> bool:
        """Send a share's regrets and strategy sums to its worker; return whether this succeeded."""
        worker, done = self._workers[share], self._gathered[share]
        try:
            # Without a status "finished", the workers that had the setup have left.
            if self._given is None or self._given.status != "finished":
                self._given = self._cluster.given(self._setup)
            threads = self._cluster.there().get(worker, 1)
            arguments = (self._given, share, self._owners, threads, done)
            if not self._called(worker, flop_share.open_share, arguments):
                return False
            for t in range(self._flop_round, self._abstraction.n_rounds):
                owned = self._owners[self._flops_of[t]] == share
                visited = np.flatnonzero(owned & self.numbers.visits[t].any(axis=0)).astype(np.int64)
                for buckets in parts_of(self.numbers, t, visited, MOST_BYTES):
                    part = part_of(self.numbers, t, buckets)
                    given = (self._setup.solve, share, done, FlopShare.take, part)
                    if not self._called(worker, flop_share.in_share, given):
                        return False
        except NoWorkerError:
            return False
        self._stands[share] = done
        return True

    def _repair(self, share: int, attempts: Attempts) -> None:
        """Move a share to another worker, which repeats the deals that this process's copy of the share lacks."""
        n_deals = self._stands[share]
        while True:
            workers = sorted(self._cluster.workers(self._stop))
            if not workers:
                raise self._interrupted()
            load = [list(self._workers.values()).count(worker) for worker in workers]
            self._workers[share] = workers[int(np.argmin(load))]
            if self._open_share(share) and self._deal_again(share, n_deals):
                return
            attempts.ended(fruitful=False)

    def _deal_again(self, share: int, n_deals: int) -> bool:
        """Let a worker repeat the deals of a share, up to ``n_deals`` in all; return False if the worker left before.

        The worker's updates of the rounds before the flop are discarded, since this process has them already.
        """
        while (first := self._stands[share]) < n_deals:
            n = min(n_deals - first, max(1, self._portion))
            order = (self._setup.solve, share, first, FlopShare.learn, self._before(), first, n)
            if not isinstance(self._called(self._workers[share], flop_share.in_share, order), Learnt):
                return False
            self._stands[share] = first + n
        return True

    def _ask(
        self,
        method: Callable[..., Any],
        orders: Mapping[int, tuple[Any, ...]],
        work: str,
        stop: Stop | None = None,
    ) -> dict[int, Any]:
        """Call a method of shares, with the arguments ``orders``, in their workers; return the answers by share."""
        attempts, results, waiting = Attempts(self._cluster, work), dict[int, Any](), dict(orders)
        while waiting:
            calls = [
                (
                    self._workers[share],
                    flop_share.in_share,
                    (self._setup.solve, share, self._stands[share], method, *arguments),
                )
                for share, arguments in waiting.items()
            ]
            with closing(self._cluster.call(calls, stop)) as answers:
                for share, answer in zip(list(waiting), answers, strict=True):
                    if answer is not None and not isinstance(answer, Lost):
                        results[share] = answer
                        del waiting[share]
            if waiting and self._stop is not None and self._stop.is_set():
                raise self._interrupted()
            attempts.ended(fruitful=len(waiting) < len(calls))
            for share in waiting:
                self._repair(share, attempts)
        return results

    def _called(self, worker: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function in a worker; return None if the worker has left."""
        with closing(self._cluster.call([(worker, function, arguments)])) as answers:
            answer = next(answers)
        return None if isinstance(answer, Lost) else answer

    def _gather(self) -> None:
        """Fetch what has changed in the workers since the last call; nothing of a worker that leaves meanwhile."""
        for share in [s for s, done in self._stands.items() if self._gathered[s] != done]:
            parts: list[Part] = []
            while True:
                (answer,) = self._ask(
                    FlopShare.changed, {share: (MOST_BYTES,)}, "the transfer of its flops"
                ).values()
                if not isinstance(answer, list) or not all(is_part(part, self.numbers) for part in answer):
                    raise nonsense(
                        self._workers[share], "finite regrets and strategy sums of board buckets", answer
                    )
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
            f"{self._cluster.name}: interrupted before another worker took over the flops of a worker that left; "
            "the last save is complete, start the solve again to continue from there"
        )

    def _require_findings(self, answer: Any, share: int, n: int) -> None:
        if not (isinstance(answer, list) and [type(finding) for finding in answer] == [FlopFinding] * n):
            raise nonsense(self._workers[share], f"best responses on {n} flops", answer)


def require_learnt(answer: Any, share: int, before: Sequence[Part], numbers: Numbers, worker: str) -> None:
    if not (
        isinstance(answer, Learnt)
        and answer.share == share
        and [type(part) for part in answer.parts] == [Part] * len(before)
        and [part.t for part in answer.parts] == [part.t for part in before]
        and all(is_part(part, numbers) for part in answer.parts)
        and all((a.visits >= b.visits).all() for a, b in zip(answer.parts, before, strict=True))
    ):
        raise nonsense(worker, f"finite regrets and strategy sums of share {share + 1} of the flops", answer)


def nonsense(worker: str, expected: str, answer: Any) -> PeerError:
    return PeerError(f"Dask worker {worker}: expected {expected}, found {shown(answer)}")


def n_flop_boards(abstraction: Abstraction) -> int:
    """Count the flops up to suits."""
    first = abstraction.first
    start = int(abstraction.arrays["starts"][first, 0])
    end = start + math.comb(len(abstraction.deck), abstraction.board_sizes[first])
    return int(abstraction.arrays["canonical"][start:end].max()) + 1


def owner_of(abstraction: Abstraction, seed: int, t: int) -> Ints:
    """Return the flop bucket from which each board bucket of round t (the flop or later) follows.

    Boards with different flop buckets never share a later bucket. If the abstraction does not list the flop bucket of
    each later bucket, the flop buckets are looked up on random boards with the seed ``seed``.
    """
    first, n = abstraction.first, abstraction.n_board_buckets
    if t <= first:
        return np.arange(n[t], dtype=np.int64)
    memory, arrays = abstraction.arrays["memory"][t], abstraction.arrays
    if memory[0]:
        end = memory[1] + n[first] * memory[0]
        pairs = arrays["pairs"][memory[1] : end].reshape(n[first], memory[0])
        flop, pair = np.nonzero(pairs >= 0)
        flop_buckets = np.zeros(n[t], dtype=np.int64)
        flop_buckets[arrays["classes"][arrays["starts"][t, 1] + pairs[flop, pair]]] = flop
        return flop_buckets
    flop_buckets, deals = np.full(n[t], -1, dtype=np.int64), 0
    # Here each canonical board is a bucket, so the game is small enough to deal all of them.
    while (flop_buckets < 0).any():
        buckets = abstraction.classes_of_deals(seed, deals, COUNTED)
        flop_buckets[buckets[:, t]] = buckets[:, first]
        deals += COUNTED
    return flop_buckets
