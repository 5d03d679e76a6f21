"""Engine that visits stored chunks one by one; the last rounds may be live.

Visits are made in a pool's processes, which open the lockers, or by a cluster's workers, who have none.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockers import MemoryStore, Store
from solvers.stopping import StoppedError
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Problem
from spewy.chunks.subgame import Subgames
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
from spewy.system.local_pool import LocalPool
from spewy.system.worker import Parent

if TYPE_CHECKING:
    from distributed import Future

Order = Literal["bottom-up", "top-down"]
MOST_FRUITLESS = 3
"""Largest number of consecutive attempts in which all visits of a level are lost with their workers."""


class StoredEngine:
    """Engine that visits chunk by chunk through the lockers. An interrupted sweep continues where it stopped.

    Args:
        layout: layout of the problem.
        store: its lockers.
        settings: settings of the visits.
        order: order of the rounds.
        workers: number of processes.
        cluster: cluster whose workers make the visits of all but the smallest rounds, instead of processes here; the
            engine closes it.
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
        """Number of sweeps that visited every chunk."""
        return self._sweeps

    @property
    def threads(self) -> int:
        """Number of processes, or of the cluster's threads."""
        return self._workers if self._cluster is None else self._cluster.threads

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Make or resume a sweep; each visit is saved at once."""
        number, layout, first_live = self.done + 1, self.layout, self.settings.first_live
        levels = range(layout.n_rounds)
        if first_live is not None:
            levels = levels[: first_live - layout.problem.first_round]
        total, visited = sum(len(list(layout.chunks(t))) for t in levels), 0
        for step in self._steps(levels, number, stop):
            with closing(step) as visits:  # no worker outlives a sweep
                for finished in visits:
                    visited += finished
                    progress(number, visited, total)
                    if visited < total and stop.is_set():
                        return ()
        finish_sweep(self.store, number)
        self._sweeps = number
        return ()

    def measure(self, stop: Stop, tell: Callable[[int, int], object] = lambda done, of: None) -> Check | None:
        """Measure the stored strategies by a walk of the live game; None if ``stop`` was set meanwhile."""
        timer, sums = Timer(), Chunks(self.layout, self.store).whole()
        try:
            measured = self._judge.exploitability(sums, stop.is_set)
        except StoppedError:
            return None
        return Check.of(self.done, *timer.times(), measured)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal, by a walk of the live game."""
        return self._judge.expected_values(Chunks(self.layout, self.store).whole())

    def spread(self) -> tuple[Spread, ...] | None:
        """None, since every sweep visits all boards."""
        return None

    def saved(self) -> int:
        """Number of finished sweeps; each visit is saved at once."""
        return self._sweeps

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Flush the store to the disk; the visits themselves were saved before."""
        timer = Timer()
        self.store.flush()
        _, self.save_took = timer.times()

    def close(self) -> None:
        """End the workers, or leave the cluster."""
        self._pool.close()
        if self._cluster is not None:
            self._cluster.close()

    def _steps(self, levels: range, number: int, stop: Stop) -> Iterator[Generator[int, None, None]]:
        """Yield the steps of a sweep, one per level; a first sweep with learning estimates is one step."""
        if not self._sweeps and self.settings.estimate != "no-betting" and self.order == "top-down":
            yield self._visit_in_depth(levels, number)
            return
        for t in reversed(levels) if self.order == "bottom-up" else levels:
            yield self._visit(t, number, stop)

    def _visit_in_depth(self, levels: range, number: int) -> Generator[int, None, None]:
        """Visit each chunk before the chunks below it, depth first.

        In this order estimates learn from the chunks of other lines and boards that were visited before.
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
        """Visit a level's chunks; yield numbers of visits, and sometimes 0 so that the caller can check ``stop``."""
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
        if t not in self._begun:  # compiles here, where it is told of, and not in every worker at once
            self._begun.add(t)
            self._visitor().visit(t, *chunks[0], number)
        boards = np.array_split(np.arange(len(self.layout.boards[t].boards)), 4 * self._processes)
        roots = len(self.layout.betting[t].chunks)
        portions = [[(int(b), r) for b in part for r in range(roots)] for part in boards if len(part)]
        shared = (self._token, self.layout.problem, self.store, self.settings, t, number)
        with closing(
            self._pool.results(_visit_portion, [(*shared, portion) for portion in portions])
        ) as messages:
            for message in messages:
                yield 0 if message is None else message.value

    def _remotely(self, cluster: Cluster, t: int, number: int, stop: Stop) -> Generator[int, None, None]:
        """Visit a level on a cluster; other workers take over the visits of workers that leave.

        Raises:
            PeerError: a worker answered nonsense, the scheduler is gone, or whoever is asked leaves.
        """
        attempts = Attempts(cluster, "a portion of visits", MOST_FRUITLESS)
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
            self._sent = None  # who had it may be gone

    def _tasks(
        self,
        cluster: Cluster,
        t: int,
        portions: Sequence[Sequence[Place]],
        sent: dict[int, RemoteTask],
        stop: Stop,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the arguments of `do_remote_task`, packed when a worker is free; ``sent`` gets the tasks by number."""
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
    """Visit chunks in a worker, which caches the problem's layout for later portions."""
    parts = kept_parts(token, lambda: Layout.of(problem))
    visitor = Visitor(parts.layout, store, settings, parts)
    for b, r in chunks:
        visitor.visit(t, b, r, number)
    return len(chunks)
