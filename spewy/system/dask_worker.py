"""A worker of a cluster that a job starts on its own machine: one thread, gone when its parent is."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from spewy.system.child import end_with_parent


async def _serve(scheduler: str, scratch: str) -> None:
    from distributed import Worker

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    worker = Worker(
        scheduler,
        nthreads=1,
        memory_limit=0,  # regrets and sums are not Dask's to count
        local_directory=os.path.join(scratch, str(os.getpid())),
        dashboard=False,
    )
    async with worker:
        await worker.finished()


if __name__ == "__main__":
    end_with_parent(int(sys.argv[2]))
    asyncio.run(_serve(sys.argv[1], sys.argv[3]))
