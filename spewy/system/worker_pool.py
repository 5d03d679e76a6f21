"""The protocol of pools of worker processes, local or on a cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from spewy.system.closing import Closing

POLL_SECONDS = 0.1
"""Seconds between two checks for messages."""


@dataclass(frozen=True)
class Message:
    """A message about a task.

    Attributes:
        task: number of the task.
        kind: "news" if the task reports before its end, "done" if the task has returned, "failed" if it has raised an
            error, "died" if it was given up because its workers died or left.
        value: the news ("news"), the result ("done"), the error ("failed"), or a text about the worker's end ("died").
    """

    task: int
    kind: Literal["news", "done", "failed", "died"]
    value: Any = None


class WorkerPool(Closing):
    """A pool of worker processes that run tasks.

    A task is a call of a function in a worker. The function's first argument is a `spewy.system.worker.Parent`, through
    which it sends news and learns that it should return early.

    Attributes:
        size: number of tasks that run at the same time.
        shares_files: whether workers can open the files of this process.
    """

    size: int
    shares_files: bool

    def work(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], at_once: int | None = None
    ) -> Generator[Message | None, None, None]:
        """Run tasks in the workers, and yield messages about them.

        If the generator is closed before its end, all workers are ended.

        Args:
            function: the function that each task calls. A worker must be able to import it, and it must be safe to call
                it again if its worker dies.
            tasks: arguments of each task; the next ones are requested when a worker is free.
            at_once: number of tasks that run at the same time; None for one task in each worker.

        Yields:
            Messages, or None every tenth of a second without a message, so that the caller can do other work.
        """
        try:
            yield from self._work(function, enumerate(tasks), at_once)
        except BaseException:
            self.close()
            raise

    def results(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[Message | None, None, None]:
        """Run tasks like `work`, but yield only the messages "done", or None every tenth of a second.

        Raises:
            ChildProcessError: a task was given up because its workers died or left.
            Exception: a task raised this error.
        """
        with closing(self.work(function, tasks)) as messages:
            for message in messages:
                if message is None or message.kind == "done":
                    yield message
                elif message.kind == "failed":
                    raise message.value
                elif message.kind == "died":
                    raise ChildProcessError(f"a worker process {message.value} during its task")

    def share(self, data: Any) -> Any:
        """Send data to all workers.

        Returns:
            A placeholder; a task that gets the placeholder as an argument receives the data.
        """
        return data

    @abstractmethod
    def stop(self) -> None:
        """Ask running tasks to return early; `work` still yields their results."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, even if their tasks are running."""

    @abstractmethod
    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]: ...
