"""Solve a game chunk by chunk, in visits; a chunk is the betting of one round after a line on a board.

Each visit reads the strategies of a chunk from the store and writes the improved ones. The last rounds may be live,
which means that they are solved together with the chunk before them (`spewy.job.settings.Leaves`). Local processes open
the store themselves. A cluster's workers get the arrays that they need with each task.
"""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockers import MemoryStore, Store
from solvers.measure import Exploitability
from solvers.stopping import StoppedError
from spewy.chunks.layout import Layout, Subgames
from spewy.chunks.problem import Problem
from spewy.errors import PeerError, error_line
from spewy.learn.engine import Check, Engine, Goal, Progress, Stop, Timer, visits_at_once
from spewy.learn.playdown import Judge
from spewy.learn.remote_visits import Place, RemoteTask, RemoteVisits, do_remote_task, kept_parts
from spewy.learn.visit import Visitor, VisitSettings
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


class StoredEngine(Engine):
    """Engine that visits chunk by chunk and saves each visit at once; an interrupted sweep continues where it stopped.

    Args:
        order: order of the rounds in a sweep: "bottom-up" (the last round first) or "top-down".
        workers: number of local processes.
        cluster: a cluster whose workers make the visits instead of local processes, except in rounds with few chunks;
            `close` closes it. None for local processes.
    """

    saves = "at once"

    def __init__(
        self,
        layout: Layout,
        store: Store,
        settings: VisitSettings,
        order: Order = "bottom-up",
        workers: int = 1,
        cluster: Cluster | None = None,
    ) -> None:
        super().__init__(workers, saved_seconds(store))
        self.layout = layout
        self.store = store
        self.settings = settings
        self.order = order
        self._workers = workers
        self._token = uuid.uuid4().hex
        self._processes = 1 if isinstance(store, MemoryStore) else workers  # memory is not shared
        self._pool = LocalPool(self._processes)
        self._cluster = cluster
        self._sweeps = saved_sweeps(store)
        self._begun: set[int] = set()
        self._parts = Subgames(layout)
        self._remote = RemoteVisits(self._parts, store, settings)
        self._sent: Future | None = None
        self._judge = Judge(layout, workers)

    @property
    def done(self) -> int:
        return self._sweeps

    @property
    def threads(self) -> int:
        return self._workers if self._cluster is None else self._cluster.threads

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Make a sweep, or continue an interrupted one; each visit is saved at once."""
        number, layout, first_live = self.done + 1, self.layout, self.settings.first_live
        levels = range(layout.n_rounds)
        if first_live is not None:
            levels = levels[: first_live - layout.problem.first_round]
        total, visited = sum(len(list(layout.chunks(t))) for t in levels), 0
        for t in reversed(levels) if self.order == "bottom-up" else levels:
            with closing(
                self._visit(t, number, stop)
            ) as visits:  # ends the workers if the sweep is interrupted
                for finished in visits:
                    visited += finished
                    progress(number, visited, total)
                    if visited < total and stop.is_set():
                        return ()
        finish_sweep(self.store, number)
        self._sweeps = number
        return ()

    def exploitability(self, stop: Stop) -> Exploitability | None:
        try:
            return self._judge.exploitability(Chunks(self.layout, self.store).whole(), stop.is_set)
        except StoppedError:
            return None

    def expected_values(self) -> tuple[float, float]:
        return self._judge.expected_values(Chunks(self.layout, self.store).whole())

    def saved(self) -> int:
        return self._sweeps

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Flush the store to disk, since each visit was saved when it was made."""
        timer = Timer()
        self.store.flush()
        _, self._save_took = timer.times()

    def close(self) -> None:
        self._pool.close()
        if self._cluster is not None:
            self._cluster.close()

    def _visit(self, t: int, number: int, stop: Stop) -> Generator[int, None, None]:
        """Visit all chunks of round t; yield how many are done since the last yield, also 0, so that work can stop."""
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
        """Visit the chunks of round t on a cluster, as `_visit` does; other workers make a lost worker's visits."""
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
        """Yield the arguments of `do_remote_task` for each portion once a worker is free; add tasks to ``sent``."""
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

    def _visitor(self) -> Visitor:
        return Visitor(self.layout, self.store, self.settings, self._parts, self._workers)


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
    """Visit chunks in a local worker, which caches the layout under ``token``; return the number of chunks."""
    parts = kept_parts(token, lambda: Layout.of(problem))
    visitor = Visitor(parts.layout, store, settings, parts)
    for b, r in chunks:
        visitor.visit(t, b, r, number)
    return len(chunks)
