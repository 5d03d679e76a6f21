"""Solve a game by visiting its stored chunks one by one; the last rounds may be live.

Local processes open the lockers themselves. A cluster's workers get the arrays that they need with each task.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockers import MemoryStore, Store
from solvers.stopping import StoppedError
from spewy.chunks.layout import Layout, Subgames
from spewy.chunks.problem import Problem
from spewy.errors import PeerError, error_line
from spewy.learn.chunk_matrices import Payoffs
from spewy.learn.engine import (
    Check,
    Counted,
    Goal,
    Progress,
    Saves,
    Spread,
    Stop,
    Timer,
    visits_at_once,
)
from spewy.learn.estimates import estimator
from spewy.learn.remote_visits import Place, RemoteTask, RemoteVisits, do_remote_task, kept_parts
from spewy.learn.visit import Visitor, VisitSettings
from spewy.learn.walks import Judge
from spewy.records.chunks import Chunks
from spewy.records.progress import finish_sweep, saved_seconds, saved_sweeps
from spewy.system.cluster import Attempts, Cluster, NoWorkerError
from spewy.system.dask_pool import DaskPool
from spewy.system.processes import LocalPool, Parent

if TYPE_CHECKING:
    from distributed import Future

Order = Literal["bottom-up", "top-down"]
"""Order of the rounds in a sweep."""
MOST_FRUITLESS = 3
"""Largest number of consecutive attempts in which all workers leave before they finish any visit."""


class StoredEngine:
    """Engine that visits chunk by chunk and saves each visit at once; an interrupted sweep continues where it stopped.

    Args:
        layout: boards and betting of the problem.
        store: the lockers of the solve.
        settings: how chunks are solved.
        order: order of the rounds in a sweep: "bottom-up" (the last round first) or "top-down".
        workers: number of local processes.
        cluster: a cluster whose workers make the visits instead of local processes, except in rounds with few chunks;
            `close` closes it. None for local processes.
    """

    counted: Counted = "sweeps"
    saves: Saves = "at once"
    settled = True

    def __init__(
        self,
        layout: Layout,
        store: Store,
        settings: VisitSettings,
        order: Order = "bottom-up",
        workers: int = 1,
        cluster: Cluster | None = None,
    ) -> None:
        self.layout = layout
        self.store = store
        self.settings = settings
        self.order = order
        self._workers = workers
        self._token = uuid.uuid4().hex
        self._processes = 1 if isinstance(store, MemoryStore) else workers  # memory is not shared
        self._pool = LocalPool(self._processes)
        self._cluster = cluster
        self.seconds_before = saved_seconds(store)
        self.save_took: float | None = None
        self._sweeps = saved_sweeps(store)
        self._begun: set[int] = set()
        self._parts = Subgames(layout)
        self._remote = RemoteVisits(self._parts, store, settings)
        self._sent: Future | None = None
        self._judge = Judge(layout, workers)

    @property
    def done(self) -> int:
        """Number of finished sweeps."""
        return self._sweeps

    @property
    def threads(self) -> int:
        """Number of local processes, or of threads on the cluster."""
        return self._workers if self._cluster is None else self._cluster.threads

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Make a sweep, or continue an interrupted one, and return no checks; each visit is saved at once."""
        number, layout, first_live = self.done + 1, self.layout, self.settings.first_live
        levels = range(layout.n_rounds)
        if first_live is not None:
            levels = levels[: first_live - layout.problem.first_round]
        total, visited = sum(len(list(layout.chunks(t))) for t in levels), 0
        for step in self._steps(levels, number, stop):
            with closing(step) as visits:  # ends the workers if the sweep is interrupted
                for finished in visits:
                    visited += finished
                    progress(number, visited, total)
                    if visited < total and stop.is_set():
                        return ()
        finish_sweep(self.store, number)
        self._sweeps = number
        return ()

    def measure(self, stop: Stop, tell: Callable[[int, int], object] = lambda done, of: None) -> Check | None:
        """Measure exploitability by best responses in the whole game; return None soon if ``stop`` is set."""
        timer, sums = Timer(), Chunks(self.layout, self.store).whole()
        try:
            measured = self._judge.exploitability(sums, stop.is_set)
        except StoppedError:
            return None
        return Check.of(self.done, *timer.times(), measured)

    def expected_values(self) -> tuple[float, float]:
        """Chips per deal that each player wins under the average strategies."""
        return self._judge.expected_values(Chunks(self.layout, self.store).whole())

    def spread(self) -> tuple[Spread, ...] | None:
        """Return None: visits are not counted by board bucket, since every sweep visits all boards."""
        return None

    def saved(self) -> int:
        """Number of finished sweeps, all of which are saved."""
        return self._sweeps

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Flush the store to disk, since each visit was saved when it was made; the arguments have no effect."""
        timer = Timer()
        self.store.flush()
        _, self.save_took = timer.times()

    def close(self) -> None:
        """End the local processes, and leave the cluster."""
        self._pool.close()
        if self._cluster is not None:
            self._cluster.close()

    def _steps(self, levels: range, number: int, stop: Stop) -> Iterator[Generator[int, None, None]]:
        """Yield the steps of a sweep; each step is a generator that makes visits and yields how many it has made.

        A step visits all chunks of a round. But a first top-down sweep with an estimator other than "no-betting" is a
        single step, which visits the chunks depth first.

        Args:
            levels: the rounds whose chunks are visited.
            number: number of the sweep.
            stop: once set, waiting for absent workers of a cluster ends.
        """
        if not self._sweeps and self.settings.estimate != "no-betting" and self.order == "top-down":
            yield self._visit_in_depth(levels, number)
            return
        for t in reversed(levels) if self.order == "bottom-up" else levels:
            yield self._visit(t, number, stop)

    def _visit_in_depth(self, levels: range, number: int) -> Generator[int, None, None]:
        """Visit the chunks of some rounds depth first, each chunk before the chunks below it.

        In this order an estimator can learn from chunks that were visited earlier in the same sweep.

        Args:
            levels: the rounds whose chunks are visited.
            number: number of the sweep.

        Yields:
            1 after each visit.
        """
        layout = self.layout
        estimate = estimator(self.settings.estimate, layout, self.store)
        pending = [(0, b, r) for b, r in layout.chunks(0)][::-1]
        while pending:
            t, b, r = pending.pop()
            self._visitor(estimate).visit(t, b, r, number)
            yield 1
            if t + 1 in levels:
                boards = [entry.child for entry in layout.board(t, b).entries]
                pending += [
                    (t + 1, child, root) for child in boards for root in layout.tree(t, r).exits.tolist()
                ][::-1]

    def _visit(self, t: int, number: int, stop: Stop) -> Generator[int, None, None]:
        """Visit all chunks of round t.

        Args:
            t: the round.
            number: number of the sweep.
            stop: once set, waiting for absent workers of a cluster ends.

        Yields:
            How many visits were made since the last yield; sometimes 0, so that the caller can check ``stop``.
        """
        chunks = list(self.layout.chunks(t))
        at_once = self._processes if self._cluster is None else self._cluster.threads
        if visits_at_once(len(chunks), at_once) == 1:
            visitor = self._visitor()
            for b, r in chunks:
                visitor.visit(t, b, r, number)
                yield 1
            return
        if self._cluster is not None:
            yield from self._remotely(self._cluster, t, number, stop)
            return
        if t not in self._begun:  # compile kernels once and with a note to the user, not in each worker
            self._begun.add(t)
            self._visitor().visit(t, *chunks[0], number)
        boards = np.array_split(np.arange(len(self.layout.boards[t].boards)), 4 * self._processes)
        roots = len(self.layout.betting[t].chunks)
        portions = [[(int(b), r) for b in group for r in range(roots)] for group in boards if len(group)]
        shared = (self._token, self.layout.problem, self.store, self.settings, t, number)
        with closing(
            self._pool.results(_visit_portion, [(*shared, portion) for portion in portions])
        ) as messages:
            for message in messages:
                yield 0 if message is None else message.value

    def _remotely(self, cluster: Cluster, t: int, number: int, stop: Stop) -> Generator[int, None, None]:
        """Visit all chunks of round t on a cluster; if a worker leaves, other workers make its visits.

        Args:
            cluster: the cluster.
            t: the round.
            number: number of the sweep.
            stop: once set, waiting for absent workers ends.

        Yields:
            How many visits were made since the last yield; sometimes 0, so that the caller can check ``stop``.

        Raises:
            PeerError: a worker's answer is invalid, the scheduler has gone, or too many workers in a row leave.
        """
        attempts, cluster.ending = Attempts(cluster, "any visits", MOST_FRUITLESS), stop
        while portions := list(self._remote.portions(t, number, cluster.threads)):
            done, sent = 0, dict[int, RemoteTask]()
            pool = DaskPool(cluster)
            with closing(
                pool.work(do_remote_task, self._tasks(cluster, t, portions, sent, stop))
            ) as messages:
                for message in messages:
                    if message is not None and message.kind == "failed":
                        raise PeerError(f"{cluster.name}: expected visits, found {error_line(message.value)}")
                    task = None if message is None else sent.pop(message.task, None)
                    if message is None or task is None or message.kind != "done":
                        yield 0
                        continue
                    n_visits = self._remote.commit(task, number, message.value, f"{cluster.name}, a worker")
                    done += n_visits
                    yield n_visits
            yield 0
            attempts.ended(fruitful=done > 0)
            self._sent = None  # the workers that had the layout may have left

    def _tasks(
        self,
        cluster: Cluster,
        t: int,
        portions: Sequence[Sequence[Place]],
        sent: dict[int, RemoteTask],
        stop: Stop,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the arguments with which a worker makes the visits of each task; a task is made when a worker is free.

        Args:
            cluster: the cluster.
            t: the round.
            portions: the chunks of each task.
            sent: a dictionary to which each task is added, by its number.
            stop: once set, waiting for absent workers ends, and no more tasks are made.
        """
        for i, portion in enumerate(portions):
            while self._sent is None:
                cluster.workers(stop)
                if stop.is_set():
                    return
                with suppress(NoWorkerError):
                    layout = self.layout
                    self._sent = cluster.given(Layout(layout.problem, layout.betting, layout.boards))
            sent[i] = self._remote.pack(t, portion)
            yield self._token, self._sent, self.settings, sent[i]

    def _visitor(self, estimate: Payoffs | None = None) -> Visitor:
        return Visitor(self.layout, self.store, self.settings, self._parts, self._workers, estimate)


def _visit_portion(
    parent: Parent,
    token: str,
    problem: Problem,
    store: Store,
    settings: VisitSettings,
    t: int,
    number: int,
    chunks: Sequence[tuple[int, int]],
) -> int:
    """Visit chunks of a round in a local worker process, which caches the problem's layout for later calls.

    Args:
        parent: the process of the solve.
        token: unique name of the solve.
        problem: the problem.
        store: the lockers.
        settings: how chunks are solved.
        t: the round.
        number: number of the sweep.
        chunks: pairs (number of the board, number of the entering line).

    Returns:
        Number of chunks in ``chunks``.
    """
    parts = kept_parts(token, lambda: Layout.of(problem))
    visitor = Visitor(parts.layout, store, settings, parts)
    for b, r in chunks:
        visitor.visit(t, b, r, number)
    return len(chunks)
