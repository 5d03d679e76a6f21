"""The protocol of pools of worker processes, local or on a cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from spewy.system.closing import Closing

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Message:
    """A message about a task.

    Attributes:
        task: number of the task.
        kind: "news" before its end; "done" and "failed" at its end; "died" if it has killed too many workers.
        value: the news, the result, the error that the task raised, or how its worker ended.
    """

    task: int
    kind: Literal["news", "done", "failed", "died"]
    value: Any = None


class WorkerPool(Closing):
    """A pool of processes that do tasks.

    A function that is called in a worker gets a `spewy.system.worker.Parent` before its other arguments.

    Attributes:
        size: number of workers.
        shares_files: whether workers see the files of this process.
    """

    size: int
    shares_files: bool

    def work(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], at_once: int | None = None
    ) -> Generator[Message | None, None, None]:
        """Call a function with the arguments of each task; yield None every tenth of a second without a message.

        If the generator is closed before its end, the workers are ended.

        Args:
            function: a function that a worker can import, safe to be called again if its worker dies.
            tasks: arguments; taken from as workers become free.
            at_once: number of tasks that run at once; None for one in each worker.
        """
        try:
            yield from self._work(function, enumerate(tasks), at_once)
        except BaseException:
            self.close()
            raise

    def results(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[Message | None, None, None]:
        """Like `work`, but yield only messages of tasks that are done.

        Raises:
            ChildProcessError: a task has killed too many workers.
            Exception: an error that the function raised.
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
        """Send data to all workers; return a placeholder to pass as an argument of tasks."""
        return data

    @abstractmethod
    def stop(self) -> None:
        """Ask the running tasks to return early; their results are still yielded."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, whatever they are doing."""

    @abstractmethod
    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]: ...
