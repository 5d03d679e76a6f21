"""A crew: processes that work through tasks for their parent, and are gone when it is.

Each worker is a Python of its own at the other end of a pair of sockets. The pools of the standard library and of
joblib were weighed against this. Both tell only that some worker died, not whose task it was, and give up the others;
neither has a way back for news of a running task, nor one to tell it to stop; both leave workers behind when the parent
is killed. `multiprocessing` would import the user's script once more in each worker, and joblib puts large arguments
into files, which outlive a parent that is killed. Here the end of the parent closes the socket, and the worker ends.

Workers are deaf to Ctrl-C, which a terminal sends to all: the parent tells them when to stop. They may have threads,
crews and programs of their own, which end with them.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from queue import SimpleQueue
from typing import Any, Literal, Self

from spewy.system.child import ORPHANED, start_python
from spewy.system.outsider import end_marked, marked, new_mark, own_mark

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 1.0
"""From the end of a worker's line to its own."""
STOP = b""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Word:
    """What is heard of a task: its number, and what it told or returned, or the error that it raised."""

    task: int
    kind: Literal["news", "done", "failed", "died"]
    value: Any = None


class Crew:
    """So many processes, started when there is work for them.

    A function that is called in a worker gets a `Parent` before its other arguments.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers: list[_Worker] = []

    def work(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], at_once: int | None = None
    ) -> Generator[Word | None, None, None]:
        """Call a function with the arguments of each task; None every tenth of a second without a word.

        Closed before its end, it ends the workers, whatever they do.

        Args:
            function: one that a worker can import.
            tasks: arguments; taken from as workers become free.
            at_once: workers to use, if not all.
        """
        try:
            yield from self._work(function, enumerate(tasks), at_once)
        except BaseException:
            self.close()
            raise

    def results(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[Word | None, None, None]:
        """Call a function with the arguments of each task, as `work` does; the words of those that are done.

        Raises:
            ChildProcessError: a worker died.
            Exception: what the function raised.
        """
        with closing(self.work(function, tasks)) as words:
            for word in words:
                if word is None or word.kind == "done":
                    yield word
                elif word.kind == "failed":
                    raise word.value
                elif word.kind == "died":
                    raise ChildProcessError(
                        f"worker process: expected it to finish its task, it {word.value}"
                    )

    def stop(self) -> None:
        """Tell those who work to stop; what they return then is a result as any other."""
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        """End the workers, whatever they do."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Word | None]:
        more, most = True, at_once or self.size
        while True:
            free = [worker for worker in self._workers if worker.task is None]
            while more and len(self._workers) - len(free) < most:
                number, arguments = next(tasks, (None, ()))
                if number is None:
                    more = False
                    break
                worker = free.pop() if free else self._hire()
                worker.begin(number, function, arguments)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy:
                return
            yield from self._listen(busy)

    def _listen(self, busy: list[_Worker]) -> Iterator[Word | None]:
        ready = wait([worker.line for worker in busy], POLL_SECONDS)
        if not ready:
            yield None
        for worker in busy:
            if worker.line in ready:
                word = worker.hear()
                if word.kind == "died":
                    self._workers.remove(worker)
                yield word

    def _hire(self) -> _Worker:
        worker = _Worker.start(self.size)
        self._workers.append(worker)
        return worker


@dataclass(eq=False)
class _Worker:
    """The parent's end of one worker."""

    process: subprocess.Popen[bytes]
    line: Connection
    mark: str
    task: int | None = None

    @classmethod
    def start(cls, crew: int) -> Self:
        ours, theirs = Pipe()
        mark = new_mark()
        with theirs:
            code = f"from spewy.system.crew import serve; serve({theirs.fileno()})"
            process = start_python(["-c", code], _threads(crew) | marked(mark), pass_fds=[theirs.fileno()])
        return cls(process, ours, mark)

    def begin(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.task = number
        self._send(pickle.dumps((function, arguments)))

    def stop(self) -> None:
        if self.task is not None:
            self._send(STOP)

    def hear(self) -> Word:
        """The next word of the task that it works on."""
        assert self.task is not None
        number = self.task
        try:
            kind, value = self.line.recv()
        except (EOFError, OSError):
            return Word(number, "died", self._ending())
        if kind != "news":
            self.task = None
        return Word(number, kind, value)

    def end(self) -> None:
        self.line.close()
        self.process.kill()
        self.process.wait()
        end_marked(self.mark)

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # it died, which will be heard
            self.line.send_bytes(message)

    def _ending(self) -> str:
        """How a worker ended that has closed its line."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_SECONDS)
        self.end()
        code = self.process.returncode
        if code >= 0:
            return f"exited with {code}"
        cause = ": killed from outside, or out of memory?" if code == -signal.SIGKILL else ""
        return f"was ended by {signal.Signals(-code).name}{cause}"


def _threads(crew: int) -> dict[str, str]:
    """Settings that divide the threads of linear algebra among a crew."""
    from joblib import cpu_count  # a tenth of a second, which workers shall not pay

    allowed = {name: os.environ.get(name, "") for name in THREADS}
    return {
        name: str(max(1, (int(number) if number.isdigit() else cpu_count()) // crew))
        for name, number in allowed.items()
    }


class Parent:
    """What a task in a worker knows of its parent; a `spewy.run.reporter.Stop`."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._stop = threading.Event()

    def is_set(self) -> bool:
        """Whether the parent said to stop."""
        return self._stop.is_set()

    def tell(self, news: object) -> None:
        """Tell something before the task is done."""
        self._line.send(("news", news))

    def stop(self) -> None:
        """Remember that the parent said so."""
        self._stop.set()


def serve(number: int) -> None:
    """Work in this process for the parent at the other end of a socket, until it is gone."""
    os.set_inheritable(number, False)
    line = Connection(number)
    tasks = SimpleQueue[tuple[Parent, bytes]]()
    threading.Thread(target=_listen, args=(line, tasks), daemon=True).start()
    while True:
        parent, message = tasks.get()
        try:
            function, arguments = pickle.loads(message)
            answer = pickle.dumps(("done", function(parent, *arguments)))
        except Exception as error:
            answer = pickle.dumps(("failed", _portable(error)))
        line.send_bytes(answer)


def _listen(line: Connection, tasks: SimpleQueue[tuple[Parent, bytes]]) -> None:
    """Hear tasks and their stops; end the process, whatever it does, when the parent is gone."""
    parent = Parent(line)
    while True:
        try:
            message = line.recv_bytes()
        except (EOFError, OSError):
            end_marked(own_mark())
            os._exit(ORPHANED)
        if message == STOP:
            parent.stop()
        else:
            parent = Parent(line)
            tasks.put((parent, message))


def _portable(error: Exception) -> Exception:
    """An error as it can be sent, with a note of where it comes from."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
