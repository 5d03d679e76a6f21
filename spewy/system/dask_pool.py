"""Workers of a Dask cluster that do tasks, and the choice between them and local processes.

A cluster works for everything within ``joblib.parallel_config(backend="dask", client=client)``, as it does for any
program that runs on joblib. joblib's own backend for Dask was tried: it never reports a task whose workers were killed
too often, so that its caller waits for ever, and it cannot cancel tasks. So tasks go to Dask's client directly.
"""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from spewy.system.cluster import Cluster
from spewy.system.local_pool import LocalPool
from spewy.system.worker_pool import POLL_SECONDS, Message, WorkerPool


def worker_pool(workers: int) -> WorkerPool:
    """Return a pool of processes on this machine, or of a cluster within ``joblib.parallel_config(backend="dask")``.

    Args:
        workers: number of processes on this machine.

    Raises:
        InputError: no worker of the cluster has this version of spewy.
        PeerError: the scheduler is gone.
    """
    cluster = active_cluster()
    return LocalPool(workers) if cluster is None else DaskPool(cluster)


def active_cluster() -> Cluster | None:
    """Return the cluster of an enclosing ``joblib.parallel_config(backend="dask")``, or None.

    Raises:
        InputError: no worker of the cluster has this version of spewy.
        PeerError: the scheduler is gone.
    """
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    return None if client is None else Cluster.of_client(client)


class DaskPool(WorkerPool):
    """A pool of a cluster's workers, with one task per thread.

    Dask itself submits the task of a lost worker again, until it has lost several.

    Args:
        cluster: the cluster, which stays open when the pool is closed.
        workers: addresses of the workers to use; None for all that are there at a time.
    """

    shares_files = False

    def __init__(self, cluster: Cluster, workers: Sequence[str] | None = None) -> None:
        self.cluster = cluster
        self._only = None if workers is None else list(workers)
        self._token = uuid.uuid4().hex
        self._running: dict[int, Any] = {}
        self._ended = threading.Event()
        self._stopping = False

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of threads of the workers."""
        return max(1, self.cluster.threads)

    def share(self, data: Any) -> Any:
        """Send data to all workers; return a placeholder to pass as an argument of tasks.

        Raises:
            NoWorkerError: all workers have left.
            PeerError: the scheduler is gone.
        """
        return self.cluster.given(data, everywhere=True)

    def stop(self) -> None:
        """Ask the running tasks to return early, and submit no further task; results are still yielded."""
        self._stopping = True
        self.cluster.tell_all(_stop, self._token)

    def close(self) -> None:
        """Cancel the running tasks."""
        if self._running:
            self.stop()
            with suppress(Exception):  # of a scheduler that is gone
                self.cluster.client.cancel(list(self._running.values()))
            self._running.clear()

    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]:
        client, news = self.cluster.client, SimpleQueue[tuple[int, bytes]]()
        self._stopping = False
        client.subscribe_topic(self._token, lambda event: news.put(event[1]))
        try:
            more = True
            while True:
                there = self._threads_there()
                most = there if at_once is None else min(at_once, there)
                while more and not self._stopping and len(self._running) < most:
                    number, arguments = next(tasks, (None, ()))
                    if number is None:
                        more = False
                        break
                    self._submit(number, function, arguments)
                if not self._running and (not more or self._stopping or self._only is not None):
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
            workers=self._only,
            pure=False,
        )
        self._running[number] = future
        future.add_done_callback(lambda _: self._ended.set())

    def _threads_there(self) -> int:
        """Return the number of threads of the selected workers that are present."""
        there = self.cluster.there()
        return sum(there.get(worker, 0) for worker in (there if self._only is None else self._only))

    def _lost(self) -> Iterator[Message]:
        """Cancel tasks whose workers have all left."""
        self.cluster.client.cancel(list(self._running.values()))
        while self._running:
            yield Message(self._running.popitem()[0], "died", "has left the cluster")

    def _heard(self, news: SimpleQueue[tuple[int, bytes]]) -> Iterator[Message | None]:
        """Yield the available messages; None if there is none for a while."""
        said = False
        self._ended.clear()
        while True:
            try:
                number, value = news.get_nowait()
            except Empty:
                break
            said = True
            yield Message(number, "news", pickle.loads(value))
        for number in [number for number, future in self._running.items() if future.done()]:
            said = True
            yield self._message(number, self._running.pop(number))
        if not said:
            self._ended.wait(POLL_SECONDS)
            yield None

    def _message(self, number: int, future: Any) -> Message:
        from distributed.scheduler import KilledWorker

        self.cluster.require_scheduler()
        try:
            return Message(number, "done", future.result())
        except KilledWorker:
            return Message(number, "died", "was lost, with one worker after the other")
        except CancelledError:
            self.cluster.require_scheduler()
            return Message(number, "died", "was given up by the scheduler")
        except Exception as error:
            return Message(number, "failed", error)


class _Parent:
    """The calling process, as seen by a task on a cluster; see `spewy.system.worker.Parent`."""

    heard = False

    def __init__(self, token: str, number: int) -> None:
        self._token, self._number = token, number

    def is_set(self) -> bool:
        """Return whether the parent has asked tasks to return early."""
        return self._token in _stopped

    def tell(self, news: object) -> None:
        """Send a report before the end of the task."""
        from distributed import get_worker

        get_worker().log_event(self._token, (self._number, pickle.dumps(news)))


_stopped: set[str] = set()


def _stop(token: str) -> None:
    _stopped.add(token)


def _call(token: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Do a task in a worker."""
    return function(_Parent(token, number), *arguments)
