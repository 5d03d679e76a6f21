"""Cases in processes, with a limit on the time of each: a case that hangs or crashes ends its process, and is named."""

import faulthandler
import os
import resource
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path

from spewy.system.processes import LocalPool, Message

from .case import TEMPLATES, Found, log_of, run_case
from .templates import solve_templates

SECONDS_PER_CASE = 20.0
"""Seconds of processor time, which does not grow on a busy machine."""
WAITING = 10
"""Times as long a case may take by the clock."""
MOST_DATA = 4 << 30
"""Bytes that a process may allocate: who needs more shall fail, and not the machine."""


def prepare(base: Path) -> None:
    """Solve the templates in a folder for cases, in a process of its own."""
    (base / TEMPLATES).mkdir()
    with closing(LocalPool(1)) as pool:
        for _ in pool.results(solve_templates, [(base / TEMPLATES,)]):
            pass


def run_cases(
    seed: int,
    numbers: Sequence[int],
    base: Path,
    workers: int,
    seconds: float = float("inf"),
    limit: float = SECONDS_PER_CASE,
) -> Iterator[tuple[int, Found]]:
    """Run cases side by side in a prepared folder; each with its number, as they end. No case begins after ``seconds``.

    ``limit``: seconds of processor time that a case may take, a tenth of what it may by the clock.
    """
    ending = time.monotonic() + seconds
    tasks = (
        (seed, number, base, limit) for number in takewhile(lambda _: time.monotonic() < ending, numbers)
    )
    with (
        closing(LocalPool(workers, most_deaths=1)) as pool,
        closing(pool.work(limited_case, tasks)) as messages,
    ):
        for message in messages:
            if message is not None:
                yield numbers[message.task], _heard(message, numbers[message.task], base, limit)


def limited_case(_: object, seed: int, number: int, base: Path, limit: float) -> Found:
    """Run a case in a worker, which a case that takes longer than ``limit`` seconds ends."""
    os.environ["SPEWY_BUCKETS"] = str(base / "buckets")
    warnings.simplefilter("always")  # on stderr, where the judge sees them
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, resource.RLIM_INFINITY))
    with log_of(base, number).open("a") as log:
        faulthandler.enable(log)
        faulthandler.register(signal.SIGPROF, log, chain=True)  # and then it ends the process
        faulthandler.dump_traceback_later(WAITING * limit, exit=True, file=log)
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            return run_case(seed, number, base)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
            faulthandler.disable()


def _heard(message: Message, number: int, base: Path, limit: float) -> Found:
    """Return the result of a case: its faults, the end of its process, or an error in the case itself."""
    if message.kind == "done":
        found: Found = message.value
        return found
    if message.kind == "failed":
        told = "".join(
            [f"{type(message.value).__name__}: {message.value}\n", *getattr(message.value, "__notes__", [])]
        )
    else:
        told = f"expected it to end after {limit:g} s of work: its process {message.value}"
    return Found("unknown", Counter({message.kind: 1}), limit, (told,), log_of(base, number).read_text())
