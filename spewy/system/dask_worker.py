"""The scheduler and the workers of a Dask cluster on this machine; each worker has one thread.

Whoever can connect to a scheduler or worker of Dask can run any code in it. So both accept connections from this
machine only, and have no HTTP server. If this module is run as a program, it is a worker that ends with its parent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from spewy.system.children import end_with_parent

if TYPE_CHECKING:
    from distributed import SpecCluster

LOOPBACK = "127.0.0.1"
"""Address that only this machine can reach."""


class NoHttp:
    """A mixin that keeps a Dask scheduler or worker from starting an HTTP server."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, instead of starting a server."""


def local_scheduler() -> SpecCluster:
    """Start a scheduler without workers in this process."""
    from distributed import Scheduler, SpecCluster

    class LocalScheduler(NoHttp, Scheduler):  # type: ignore[misc]
        pass

    options = {"host": LOOPBACK, "port": 0, "dashboard": False}
    return SpecCluster(
        scheduler={"cls": LocalScheduler, "options": options}, workers={}, silence_logs=logging.CRITICAL
    )


async def _serve(scheduler: str, scratch: str) -> None:
    from distributed import Worker

    class LocalWorker(NoHttp, Worker):  # type: ignore[misc]
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
