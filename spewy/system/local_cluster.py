"""A Dask cluster on this machine: a scheduler in this process, and worker processes with one thread each.

Whoever can connect to a scheduler or worker of Dask can run any code in it. So both accept connections from this
machine only, and have no HTTP server. The workers end with this process. If this module is run as a program, it is a
worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from spewy.system.children import end_with_parent, start_python
from spewy.system.folders import scratch_folder
from spewy.system.interrupts import deaf_children
from spewy.system.tools import Closing

CONNECT_SECONDS = 5.0
"""Seconds to wait for a connection to open or close."""
STOPPED_SECONDS = 5.0
"""A worker that a signal such as SIGSTOP has paused for this number of seconds is killed."""
LOOPBACK = "127.0.0.1"
"""Address that only this machine can reach."""


class LocalCluster(Closing):
    """A scheduler and its workers.

    Args:
        size: number of workers.
        is_ending: called to ask whether work with the cluster ends; a paused worker is then killed at once.

    Attributes:
        address: address of the scheduler.
    """

    def __init__(self, size: int, is_ending: Callable[[], bool]) -> None:
        from distributed import Scheduler, SpecCluster

        class LocalScheduler(_NoHttp, Scheduler):  # type: ignore[misc]
            pass

        silence()
        self._size, self._is_ending, self._held = size, is_ending, ExitStack()
        self._scratch = self._held.enter_context(scratch_folder("dask"))
        self._workers: list[subprocess.Popen[bytes]] = []
        self._paused: dict[int, float] = {}
        options = {"host": LOOPBACK, "port": 0, "dashboard": False}
        with deaf_children():
            self._cluster = SpecCluster(
                scheduler={"cls": LocalScheduler, "options": options},
                workers={},
                silence_logs=logging.CRITICAL,
            )
        self.address = str(self._cluster.scheduler_address)
        self.top_up()

    def top_up(self) -> None:
        """Kill workers that a signal has paused for several seconds, and replace workers that have ended."""
        now = time.monotonic()
        paused = [worker for worker in self._workers if _is_paused(worker.pid)]
        self._paused = {worker.pid: self._paused.get(worker.pid, now) for worker in paused}
        for worker in paused:
            if self._is_ending() or now - self._paused[worker.pid] > STOPPED_SECONDS:
                worker.kill()
                worker.wait()
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self._workers) < self._size:
            arguments = [
                "-m",
                "spewy.system.local_cluster",
                self.address,
                str(os.getpid()),
                str(self._scratch),
            ]
            self._workers.append(start_python(arguments))

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self._workers.clear()
        self._cluster.close(timeout=CONNECT_SECONDS)
        self._held.close()


class _NoHttp:
    """A mixin that keeps a Dask scheduler or worker from starting an HTTP server, for which Dask has no option."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, instead of starting a server."""


def silence() -> None:
    """Switch off Dask's own logs, since this program tells the user of the same events."""
    for name in ("distributed", "distributed.client", "distributed.worker", "distributed.core", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _is_paused(process: int) -> bool:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    return False


async def _serve(scheduler: str, scratch: str) -> None:
    from distributed import Worker

    class LocalWorker(_NoHttp, Worker):  # type: ignore[misc]
        pass

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    worker = LocalWorker(
        scheduler,
        host=LOOPBACK,
        nthreads=1,
        memory_limit=0,  # otherwise Dask would pause workers whose regrets and sums take much memory
        local_directory=os.path.join(scratch, str(os.getpid())),
        dashboard=False,
    )
    async with worker:
        await worker.finished()


if __name__ == "__main__":
    end_with_parent(int(sys.argv[2]))
    asyncio.run(_serve(sys.argv[1], sys.argv[3]))
