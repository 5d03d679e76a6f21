"""A Dask cluster on this machine, which ends with this process."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from spewy.system.child import STOPPED_SECONDS, is_stopped, start_python
from spewy.system.closing import Closing
from spewy.system.dask_connection import CONNECT_SECONDS, silence
from spewy.system.interrupts import deaf_children
from spewy.system.scratch import scratch_folder

WATCH_SECONDS = 0.25
"""Seconds between two looks whether a signal has paused a worker."""


class LocalCluster(Closing):
    """A Dask scheduler in this process, and worker processes with one thread each.

    Args:
        size: number of workers.
        is_ending: whether the work with the cluster ends, so that a paused worker is killed at once.

    Attributes:
        address: address of the scheduler.
    """

    def __init__(self, size: int, is_ending: Callable[[], bool]) -> None:
        from spewy.system.dask_worker import local_scheduler

        silence()
        self._size, self._held = size, ExitStack()
        self._scratch = self._held.enter_context(scratch_folder("dask"))
        self._is_ending, self._closed = is_ending, threading.Event()
        self._workers: list[subprocess.Popen[bytes]] = []
        with deaf_children():
            self._cluster = local_scheduler()
        self.address = str(self._cluster.scheduler_address)
        self.top_up()
        threading.Thread(target=self._watch, daemon=True).start()

    def top_up(self) -> None:
        """Replace workers that have ended."""
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self._workers) < self._size:
            arguments = ["-m", "spewy.system.dask_worker", self.address, str(os.getpid()), str(self._scratch)]
            self._workers.append(start_python(arguments))

    def _watch(self) -> None:
        """Kill workers that a signal such as SIGSTOP has paused for several seconds.

        This is a thread, since the main thread may be waiting for such a worker.
        """
        since: dict[int, float] = {}
        while not self._closed.wait(WATCH_SECONDS):
            now = time.monotonic()
            stopped = [worker for worker in self._workers if is_stopped(worker.pid)]
            since = {worker.pid: since.get(worker.pid, now) for worker in stopped}
            for worker in stopped:
                if self._is_ending() or now - since[worker.pid] > STOPPED_SECONDS:
                    worker.kill()

    def close(self) -> None:
        """End the workers and the scheduler."""
        self._closed.set()
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self._workers.clear()
        self._cluster.close(timeout=CONNECT_SECONDS)
        self._held.close()
