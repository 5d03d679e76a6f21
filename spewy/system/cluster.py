"""Connects to a Dask cluster, tracks its workers, and calls functions in chosen workers.

Workers must run the same version of spewy as this process; workers with another version get no tasks. Workers need no
common folder, since each task contains all its data. Workers may join and leave at any time. While a cluster has no
worker, this process waits and tells the user so. It can also start a cluster on this machine, see `LocalCluster`.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, TimeoutError, wait
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from solvers.stopping import StoppedError
from spewy.errors import MOST_OF_ERROR, InputError, MissingError, PeerError, error_line, one_line, shown
from spewy.system.children import HOME
from spewy.system.interrupts import deaf_children
from spewy.system.local_cluster import CONNECT_SECONDS, LocalCluster, silence
from spewy.system.processes import POLL_SECONDS
from spewy.system.tools import Closing

if TYPE_CHECKING:
    from distributed import Client, Future

SOURCES = ("spewy", "solvers", "buckets", "lockers", "compiled")
"""Packages whose source files must be equal in all processes."""
LOOK_SECONDS = 1.0
"""Seconds between two updates of the list of workers."""
SPEAK_SECONDS = 10.0
"""Seconds without a worker until the user is told, and between two such messages."""
TELL_SECONDS = 5.0
"""Seconds that `Cluster.tell_all` waits for answers."""
MOST_FRUITLESS = 10
"""After this number of attempts in a row without an answer, `Attempts` gives up."""
PAUSE_SECONDS = 1.0
"""Seconds of the pause after an attempt without an answer."""
IDENTITY_SECONDS = 30.0
"""Seconds to wait for the identities of workers that have joined."""
Note = Callable[[str], None]
"""A function that shows a line of text to the user."""
_LOG = logging.getLogger(__name__)
_CLUSTER = "spewy_cluster"  # attribute of a client that holds its cluster; a table would keep both alive


class Stop(Protocol):
    """Tells a waiting function to give up; for example a `threading.Event`."""

    def is_set(self) -> bool: ...


class NoWorkerError(PeerError):
    """All workers have left the cluster."""


class Lost:
    """Value in place of a worker's answer if the worker has left the cluster before it answered."""


class Attempts:
    """Counts consecutive attempts without an answer, and raises an error after too many.

    Args:
        work: noun phrase for the work that the workers do, for the error message.
        most: the error is raised after this number of attempts in a row without an answer.
    """

    def __init__(self, cluster: Cluster, work: str, most: int = MOST_FRUITLESS) -> None:
        self._cluster, self._work, self._most = cluster, work, most
        self._fruitless = 0

    def ended(self, *, fruitful: bool) -> None:
        """Count an attempt; if not ``fruitful`` (no answer), pause for a moment, or raise an error after too many."""
        if fruitful:
            self._fruitless = 0
            return
        self._fruitless += 1
        if self._fruitless >= self._most:
            raise PeerError(
                f"{self._cluster.name}: no worker has finished {self._work} in {self._most} attempts in a row; "
                "see the workers' logs"
            )
        time.sleep(PAUSE_SECONDS)


class Cluster(Closing):
    """A connection to a Dask scheduler and its workers.

    Args:
        address: address of a scheduler, such as ``tcp://10.0.0.1:8786``; None starts a cluster on this machine.
        size: number of workers to start on this machine if ``address`` is None.
        note: called with a line of text for each worker that joins, leaves or is refused.
        client: an open connection to the scheduler, which `close` leaves open; None opens a new connection.

    Attributes:
        ending: event, or None; once set, workers of this process that a signal such as SIGSTOP has paused are killed at
            once, because calls of functions would wait for them.

    Raises:
        MissingError: Dask is not installed.
        InputError: no scheduler listens at the address, or all workers run another version of spewy.
    """

    def __init__(self, address: str | None, size: int, note: Note, client: Client | None = None) -> None:
        require_dask()
        self._note = note
        self._keeps_client = client is not None
        self._there: dict[str, int] = {}
        self._refused: set[str] = set()
        self._looked, self._spoke = float("-inf"), time.monotonic()
        self._begun = False
        self.ending: Stop | None = None
        self._local: LocalCluster | None = None
        if address is None:
            self._local = LocalCluster(size, self._is_ending)
            address = self._local.address
        self._address = address
        try:
            self.client: Client = client or connected(address)
            self._wait_for_first()
            self._begun = True
            setattr(self.client, _CLUSTER, self)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of_client(cls, client: Client) -> Cluster:
        """Return the cluster to which a Dask client is connected; a log tells of workers that join or leave."""
        known: Cluster | None = getattr(client, _CLUSTER, None)
        return cls(str(client.scheduler.address), 0, _LOG.warning, client) if known is None else known

    def _is_ending(self) -> bool:
        return self.ending is not None and self.ending.is_set()

    @property
    def name(self) -> str:
        """Name of the cluster's scheduler in messages."""
        return f"Dask scheduler {self._address}"

    def workers(self, stop: Stop | None = None) -> dict[str, int]:
        """Wait until the cluster has a worker.

        Returns:
            The number of threads of each worker, by the worker's address; {} if ``stop`` is set before.
        """
        while not self._look() and not (stop is not None and stop.is_set()):
            time.sleep(POLL_SECONDS)
        return dict(self._there)

    def there(self) -> dict[str, int]:
        """Return the number of threads of each worker, by the worker's address; the list is at most a second old."""
        self._look()
        return dict(self._there)

    @property
    def size(self) -> int:
        return len(self._there)

    @property
    def threads(self) -> int:
        return sum(self._there.values())

    def call(
        self, calls: Sequence[tuple[str, Callable[..., Any], tuple[Any, ...]]], stop: Stop | None = None
    ) -> Generator[Any, None, None]:
        """Call functions in workers, all at the same time.

        Args:
            calls: triples (address of the worker, function, arguments).
            stop: once set, waiting for answers ends.

        Yields:
            For each call in order, its answer, or `Lost` if its worker has left.
        """
        key = uuid.uuid4().hex
        futures = [
            self.client.submit(
                function, *arguments, key=f"{key}-{i}", workers=[worker], pure=False, retries=0
            )
            for i, (worker, function, arguments) in enumerate(calls)
        ]
        try:
            for i, (worker, _, _) in enumerate(calls):
                answer = self._fetched(futures[i], worker, stop)
                futures[i] = None
                yield answer
        finally:
            with suppress(Exception):  # the scheduler may have gone
                self.client.cancel([future for future in futures if future is not None])

    def given(self, data: Any, *, everywhere: bool = False) -> Future:
        """Send data to all workers if ``everywhere`` is True; else to one worker, from which others fetch it.

        Returns:
            A placeholder; a function that gets the placeholder as an argument in a worker receives the data.
        """
        key, attempts = f"data-{uuid.uuid4().hex}", Attempts(self, "the transfer of data")
        while True:
            # Not scatter(broadcast=True): the scheduler would try for ever to copy to a worker that has died.
            workers = self.there() if everywhere else {}
            sent = [self._sent(key, data, [worker]) for worker in workers] or [self._sent(key, data, None)]
            if futures := [future for future in sent if future is not None]:
                return futures[0]
            attempts.ended(fruitful=False)

    def _sent(self, key: str, data: Any, workers: list[str] | None) -> Future | None:
        """Send data to one of ``workers`` (None: to any worker); return None if the worker has left or died."""
        try:
            return self.client.scatter({key: data}, workers=workers, hash=False, timeout=LOOK_SECONDS)[key]
        except TimeoutError:
            self.require_scheduler()
            self._looked = float("-inf")
            if workers is None:
                raise NoWorkerError(f"{self.name}: all workers have left; start a worker") from None
        except (OSError, CancelledError, KeyError):  # the scheduler passes on its own error about the worker
            self._looked = float("-inf")
            self._look()  # raises an error if the scheduler has gone
        return None

    def tell_all(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in all workers at the same time, while their tasks run.

        Waits at most `TELL_SECONDS`. A worker that does not answer, or has left, is ignored.
        """
        with suppress(OSError, CancelledError, TimeoutError):
            # `Client.run` passes its unknown keywords on to `Client.sync`, which has the time limit.
            self.client.run(function, *arguments, on_error="ignore", callback_timeout=TELL_SECONDS)

    def close(self) -> None:
        """Disconnect from the cluster; end a cluster that this process has started."""
        client, self.__dict__["client"] = getattr(self, "client", None), None
        if client is not None:
            vars(client).pop(_CLUSTER, None)
        if client is not None and not self._keeps_client:
            with suppress(Exception):  # the connection may be broken
                client.close(timeout=CONNECT_SECONDS)
        if self._local is not None:
            self._local.close()
            self._local = None

    def _fetched(self, future: Any, worker: str, stop: Stop | None) -> Any:
        """Wait for the answer of a worker; return `Lost` if the worker leaves before."""
        loop = self.client.loop.asyncio_loop
        answer = asyncio.run_coroutine_threadsafe(_result(future), loop)
        while not wait([answer], POLL_SECONDS).done:
            if stop is not None and stop.is_set():
                answer.cancel()
                raise StoppedError
            if worker not in self.there():
                answer.cancel()
                return Lost()
        try:
            return answer.result()
        except Exception as error:
            self.require_scheduler()
            if isinstance(error, CancelledError) and future.status != "error":
                self._looked = float("-inf")  # the worker has left: update the list at once
                return Lost()
            raise PeerError(f"Dask worker {worker}: expected an answer, found {error_line(error)}") from error

    def _wait_for_first(self) -> None:
        """Wait for a worker; raise an error if the cluster has workers, all with another version of spewy."""
        while not self._look():
            if self._refused:
                raise InputError(f"{self.name}: {self._why}")
            time.sleep(POLL_SECONDS)

    def _look(self) -> bool:
        """Update the list of workers if it is too old; return whether the cluster has a worker."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS and self._there and not self._is_ending():
            return True
        if now - self._looked < POLL_SECONDS:
            return bool(self._there)
        self._looked = now
        if self._local is not None:
            self._local.top_up()
        listed = self._listed()
        came = [address for address in listed if address not in self._there and address not in self._refused]
        gone = [address for address in self._there if address not in listed]
        self._refused &= set(listed)
        new = self._welcomed(came, listed) if came else {}
        self._there = {address: listed[address] for address in self._there if address in listed} | new
        self._tell(gone, list(new), now)
        return bool(self._there)

    def _tell(self, gone: Sequence[str], came: Sequence[str], now: float) -> None:
        for address in gone:
            self._note(f"{self.name}: worker {address} has left, {len(self._there)} remaining")
        if self._begun:
            for address in came:
                self._note(f"{self.name}: worker {address} has joined, {len(self._there)} now")
        if self._there:
            self._spoke = now
        elif now - self._spoke >= SPEAK_SECONDS:
            self._spoke = now
            self._note(f"{self.name}: waiting for a worker; the cluster has none")

    def _listed(self) -> dict[str, int]:
        """Ask the scheduler for its workers; return the number of threads of each worker, by address."""
        try:
            # Not client.scheduler_info(): another thread sometimes replaces its result by one without workers.
            workers = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        except (OSError, CancelledError, TimeoutError) as error:
            raise self._gone(error) from None
        self.require_scheduler()
        return {address: int(worker["nthreads"]) for address, worker in workers.items()}

    def _welcomed(self, came: Sequence[str], threads: dict[str, int]) -> dict[str, int]:
        """Return those of the new workers that run this version of spewy, with their numbers of threads."""
        own = identity()
        try:
            answers = self.client.run(
                identity, workers=list(came), on_error="return", callback_timeout=IDENTITY_SECONDS
            )
        except TimeoutError:  # a worker may be paused; the next update asks again
            return {}
        selected: dict[str, int] = {}
        for address in came:
            if answers.get(address) == own:
                selected[address] = threads[address]
            elif isinstance(answers.get(address), OSError):
                continue  # the worker has left again, or the next update asks it again
            else:
                self._refused.add(address)
                other = identity_text(answers.get(address))
                self._why = f"worker {address}: expected {identity_text(own)}, found {other}"
                if self._there or selected:
                    self._note(f"{self._why}; it gets no tasks")
        return selected

    def require_scheduler(self) -> None:
        if self.client.status != "running":
            raise self._gone(None)

    def _gone(self, error: BaseException | None) -> PeerError:
        reason = "" if error is None else f" ({one_line(str(error), MOST_OF_ERROR)})"
        return PeerError(f"{self.name}: the scheduler has gone{reason}")


async def _result(future: Any) -> Any:
    return await future.result()


def identity() -> tuple[str, ...]:
    """Return a hash of this program's source files, and the versions of Python and of the main libraries.

    Processes may exchange data only if their identities are equal.
    """
    import numba
    import numpy as np
    from distributed import __version__ as dask

    digest = hashlib.sha256()
    for package in SOURCES:
        for source in sorted(Path(HOME, package).rglob("*.py")):
            digest.update(source.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    return digest.hexdigest()[:12], python, np.__version__, numba.__version__, dask


def identity_text(value: object) -> str:
    """Describe the identity that a process has sent, for a message; an invalid identity is described by its type."""
    if isinstance(value, tuple) and len(value) == 5:
        sources, python, numpy, numba, dask = value
        return (
            f"spewy of sources {sources}, Python {python}, numpy {numpy}, numba {numba}, distributed {dask}"
        )
    return one_line(f"{type(value).__name__}: {value}", MOST_OF_ERROR)


def require_dask() -> None:
    if find_spec("distributed") is None:
        raise MissingError(
            'solve.workers = "dask" needs the package distributed, which is not installed '
            "(pip install 'spewy[dask]')"
        )


def connected(address: str) -> Client:
    """Open a connection to a Dask scheduler at an address such as ``tcp://10.0.0.1:8786``."""
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    silence()
    try:
        # An invalid address would leave a half-made client. A loop may run in this thread, as in a notebook.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _greeted(address)).result()
        with warnings.catch_warnings(), deaf_children():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # `identity` is stricter
            return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError, TypeError, RuntimeError) as error:
        raise InputError(
            f"dask.address: expected a Dask scheduler at {shown(address)}, found none ({error_line(error)})"
        ) from None


async def _greeted(address: str) -> None:
    """Check that a Dask scheduler answers at an address; Dask's client would wait for ever for a silent server.

    Dask reads the first eight bytes from another kind of server as the size of a message, too large for memory.
    """
    from distributed.comm import connect
    from distributed.security import Security

    options = Security().get_connection_args("client") if address.startswith("tls:") else {}
    comm: Any = None
    try:
        comm = await asyncio.wait_for(connect(address, timeout=CONNECT_SECONDS, **options), CONNECT_SECONDS)
    except TimeoutError:
        raise TimeoutError(f"no answer within {CONNECT_SECONDS:g} s") from None
    except (OSError, ValueError):  # such as an invalid address
        raise
    except Exception as error:
        _LOG.debug("%s: %s", address, error)
    if (
        comm is None
    ):  # raised here, since a MemoryError as its context would make it a failure of this machine
        raise ValueError("the server sent something else than a message of Dask")
    comm.abort()
