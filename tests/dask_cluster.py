"""A Dask cluster of several processes, each of which has a scratch folder of its own and nothing else."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from spewy.system.children import HOME

TESTS = os.fspath(Path(__file__).parent)
PATIENCE = 120.0
"""Seconds that a busy machine may take for what takes two."""


class DaskCluster:
    """A scheduler and workers, started by Dask's own commands."""

    def __init__(self, folder, size):
        self.folder, self.workers = folder, []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        self._number = 0
        for _ in range(size):
            self.join()
        wait_until(lambda: self._file.stat().st_size)  # it is there before it is written
        self.address = json.loads(self._file.read_text())["address"]

    def join(self):
        """Start one more worker; it is there a second or two later."""
        scratch = self.folder / f"worker-{self._number}"
        scratch.mkdir()
        self._number += 1
        self.workers.append(
            self._start(
                *("dask_worker", "--host", "127.0.0.1", "--no-nanny", "--nthreads", "1", "--no-dashboard"),
                *("--local-directory", scratch),
            )
        )

    def kill_one(self):
        """End a worker as the system does that is out of memory."""
        worker = self.workers.pop()
        worker.kill()
        worker.wait()

    def close(self):
        """End all."""
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()

    def _start(self, command, *args):
        paths = os.pathsep.join([HOME, TESTS])
        return subprocess.Popen(
            [
                *(sys.executable, "-m", f"distributed.cli.{command}"),
                *("--scheduler-file", os.fspath(self._file)),
                *map(os.fspath, args),
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def wait_until(holds):
    """Wait for what takes seconds."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError):
            if holds():
                return
        time.sleep(0.05)
    raise AssertionError("it did not come")
