"""A pool of workers on a Dask cluster, and the choice between such a pool and local processes.

Within ``joblib.parallel_config(backend="dask", client=client)`` tasks run on the cluster, as in any program that uses
joblib. joblib's own backend for Dask was tried and rejected: if the workers of a task are killed too often, the caller
waits for ever, and tasks cannot be cancelled. So this module uses Dask's client directly.
"""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from spewy.system.cluster import Cluster
from spewy.system.processes import POLL_SECONDS, LocalPool, Message, WorkerPool


def worker_pool(workers: int) -> WorkerPool:
    """Return a pool of local processes, or a pool on a cluster within ``joblib.parallel_config(backend="dask")``."""
    cluster = active_cluster()
    return LocalPool(workers) if cluster is None else DaskPool(cluster)


def active_cluster() -> Cluster | None:
    """Return the cluster of the enclosing ``joblib.parallel_config(backend="dask")``; None outside of such a block."""
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    return None if client is None else Cluster.of_client(client)


class DaskPool(WorkerPool):
    """A pool of workers on a cluster; each thread of a worker runs one task at a time.

    If a worker leaves, Dask runs its task again on another worker, several times if necessary.

    Args:
        cluster: the cluster, which stays open when the pool is closed.
    """

    shares_files = False

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._token = ""
        self._running: dict[int, Any] = {}
        self._ended = threading.Event()
        self._stopping = False

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of threads of all workers together, at least 1."""
        return max(1, self.cluster.threads)

    def share(self, data: Any) -> Any:
        return self.cluster.given(data, everywhere=True)

    def stop(self) -> None:
        """Ask running tasks to return early, and submit no further task; `work` still yields the results."""
        from distributed import Event

        self._stopping = True
        if self.cluster.client.status == "running":
            Event(self._token, self.cluster.client).set()

    def close(self) -> None:
        if self._running:
            self.stop()
            with suppress(Exception):  # the scheduler may have gone
                self.cluster.client.cancel(list(self._running.values()))
            self._running.clear()

    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]:
        client, news = self.cluster.client, SimpleQueue[tuple[int, bytes]]()
        self._token, self._stopping, more = uuid.uuid4().hex, False, True
        client.subscribe_topic(self._token, lambda event: news.put(event[1]))
        try:
            while True:
                threads = sum(self.cluster.there().values())
                most = threads if at_once is None else min(at_once, threads)
                while more and not self._stopping and len(self._running) < most:
                    number, arguments = next(tasks, (None, ()))
                    if number is None:
                        more = False
                        break
                    self._submit(number, function, arguments)
                if not self._running and (not more or self._stopping):
                    return
                if not most:
                    yield from self._lost()
                yield from self._heard(news)
        finally:
            client.unsubscribe_topic(self._token)

    def _submit(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        future = self.cluster.client.submit(
            _call,
            self._token,
            number,
            function,
            *arguments,
            key=f"{self._token}-{uuid.uuid4().hex}",
            pure=False,
        )
        self._running[number] = future
        future.add_done_callback(lambda _: self._ended.set())

    def _lost(self) -> Iterator[Message]:
        """Cancel all running tasks after all workers have left; yield a message for each task."""
        self.cluster.client.cancel(list(self._running.values()))
        while self._running:
            yield Message(self._running.popitem()[0], "died", "has left the cluster")

    def _heard(self, news: SimpleQueue[tuple[int, bytes]]) -> Iterator[Message | None]:
        """Yield the messages that have arrived; if there are none, wait for a moment and yield None."""
        had_messages = False
        self._ended.clear()
        while True:
            try:
                number, value = news.get_nowait()
            except Empty:
                break
            had_messages = True
            yield Message(number, "news", pickle.loads(value))
        for number in [number for number, future in self._running.items() if future.done()]:
            had_messages = True
            yield self._message(number, self._running.pop(number))
        if not had_messages:
            self._ended.wait(POLL_SECONDS)
            yield None

    def _message(self, number: int, future: Any) -> Message:
        from distributed.scheduler import KilledWorker

        self.cluster.require_scheduler()
        try:
            return Message(number, "done", future.result())
        except KilledWorker:
            return Message(number, "died", "was lost several times")
        except CancelledError:
            self.cluster.require_scheduler()
            return Message(number, "died", "was cancelled by the scheduler")
        except Exception as error:
            return Message(number, "failed", error)


class _Parent:
    """The calling process from the point of view of a task on a cluster; see `spewy.system.processes.Parent`."""

    heard = False

    def __init__(self, token: str, number: int) -> None:
        from distributed import Event, get_client

        self._token, self._number = token, number
        # The client is passed, since other threads of the task, which would find none, may call `is_set`.
        self._stop = Event(token, get_client())
        self._is_set, self._looked = False, float("-inf")

    def is_set(self) -> bool:
        if not self._is_set and time.monotonic() - self._looked > POLL_SECONDS:
            self._is_set, self._looked = self._stop.is_set(), time.monotonic()
        return self._is_set

    def tell(self, news: object) -> None:
        from distributed import get_worker

        get_worker().log_event(self._token, (self._number, pickle.dumps(news)))


def _call(token: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(_Parent(token, number), *arguments)
