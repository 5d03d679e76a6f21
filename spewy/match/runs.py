"""Play several runs in parallel.

A run is a generator that plays hands or matches. After each hand or match it yields how many it has played, and can be
interrupted; a new generator continues from the run's log.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any

import joblib

from spewy.learn.engine import Stop
from spewy.system.interrupts import interruptible
from spewy.system.processes import LocalPool, Parent

Run = Callable[..., Generator[int]]
"""Function that makes a run; worker processes must be able to import the function."""
Watcher = Callable[[int, int], None]
"""Function that is called with the number of hands or matches played so far, and the number of all of them."""
ENDING = "the command ends after the hands that are being played; Ctrl-C again ends it at once"
"""Line that the first Ctrl-C prints."""


def play_runs(
    run: Run,
    tasks: Sequence[tuple[Any, ...]],
    watcher: Watcher,
    total: int,
    workers: int | None,
    done: Sequence[int] = (),
) -> None:
    """Play runs to their ends; Ctrl-C ends them after the current hands or matches.

    Args:
        run: makes a run, given the arguments of a task.
        tasks: arguments of each run.
        watcher: called with the number of hands or matches played so far, and with ``total``.
        total: number of hands or matches in all runs, including finished runs.
        workers: number of processes; None: one for each core.
        done: numbers of hands or matches that were played before: first for the run of each task, then for each
            run that is finished already. Empty: nothing was played before.

    Raises:
        KeyboardInterrupt: the runs were interrupted.
    """
    played = [*done] or [0] * len(tasks)
    watcher(sum(played), total)
    n = max(1, min(len(tasks), workers or joblib.cpu_count()))
    with interruptible(ENDING) as stop:
        for task, number in side_by_side(run, tasks, stop, n):
            played[task] = number
            watcher(sum(played), total)
    if stop.is_set():
        raise KeyboardInterrupt


def side_by_side(
    run: Run, tasks: Sequence[tuple[Any, ...]], stop: Stop, workers: int
) -> Iterator[tuple[int, int]]:
    """Play runs in this process or in parallel.

    Args:
        run: makes a run, given the arguments of a task.
        tasks: arguments of each run.
        stop: once set, all runs end after the hands or matches that are being played.
        workers: number of processes; 1: this process.

    Yields:
        The number of a task, and the number of hands or matches of its run so far.

    Raises:
        ChildProcessError: a worker died.
        Exception: an error of a run.
    """
    if workers == 1:
        yield from _here(run, tasks, stop)
    else:
        yield from _there(run, tasks, stop, workers)


def _here(run: Run, tasks: Sequence[tuple[Any, ...]], stop: Stop) -> Iterator[tuple[int, int]]:
    for task, arguments in enumerate(tasks):
        if stop.is_set():
            return
        with closing(run(*arguments)) as numbers:
            for number in numbers:
                yield task, number
                if stop.is_set():
                    return


def _there(run: Run, tasks: Sequence[tuple[Any, ...]], stop: Stop, workers: int) -> Iterator[tuple[int, int]]:
    stopping = False
    with closing(LocalPool(workers)) as pool:
        waiting = ((run, *arguments) for arguments in tasks if not stop.is_set())
        for message in pool.work(run_in_worker, waiting):
            if stop.is_set() and not stopping:
                stopping = True
                pool.stop()
            if message is None:
                continue
            if message.kind == "failed":
                raise message.value
            if message.kind == "died":
                raise ChildProcessError(f"a worker process {message.value} during a run")
            yield message.task, message.value


def run_in_worker(parent: Parent, run: Run, *arguments: Any) -> int:
    """Play a run in a worker process, and tell ``parent`` how many hands or matches are played after each.

    Returns:
        The number of hands or matches in the run so far.
    """
    number = 0
    with closing(run(*arguments)) as numbers:
        for number in numbers:
            parent.tell(number)
            if parent.is_set():
                break
    return number
