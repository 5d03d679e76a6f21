"""A Dask cluster on this machine, which ends with this process."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import ExitStack

from spewy.system.child import STOPPED_SECONDS, is_stopped, start_python
from spewy.system.closing import Closing
from spewy.system.dask_connection import CONNECT_SECONDS, silence
from spewy.system.interrupts import deaf_children
from spewy.system.scratch import scratch_folder


class LocalCluster(Closing):
    """A Dask scheduler in this process, and worker processes with one thread each.

    Args:
        size: number of workers.

    Attributes:
        address: address of the scheduler.
    """

    def __init__(self, size: int) -> None:
        from spewy.system.dask_worker import local_scheduler

        silence()
        self._size, self._held = size, ExitStack()
        self._scratch = self._held.enter_context(scratch_folder("dask"))
        self._stopped: dict[int, float] = {}
        self._workers: list[subprocess.Popen[bytes]] = []
        with deaf_children():
            self._cluster = local_scheduler()
        self.address = str(self._cluster.scheduler_address)
        self.top_up()

    def top_up(self) -> None:
        """Replace workers that have ended, or that a signal such as SIGSTOP has paused for several seconds."""
        now = time.monotonic()
        stopped = [worker.pid for worker in self._workers if is_stopped(worker.pid)]
        self._stopped = {process: self._stopped.get(process, now) for process in stopped}
        for worker in self._workers:
            if now - self._stopped.get(worker.pid, now) > STOPPED_SECONDS:
                worker.kill()
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self._workers) < self._size:
            arguments = ["-m", "spewy.system.dask_worker", self.address, str(os.getpid()), str(self._scratch)]
            self._workers.append(start_python(arguments))

    def close(self) -> None:
        """End the workers and the scheduler."""
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self._workers.clear()
        self._cluster.close(timeout=CONNECT_SECONDS)
        self._held.close()
