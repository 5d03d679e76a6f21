"""Connect to a Dask cluster, track its workers, and call functions in chosen workers.

Workers need the same version of spewy and share no folder: everything that a task needs goes with the task. A worker of
another version is asked nothing. Workers may join and leave at any time; while there is none, the cluster waits for
one, and says so. A cluster that is started here has a process for each worker; all of them end with this process, and
other machines cannot reach them.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError, TimeoutError, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from solvers.stopping import StoppedError
from spewy.errors import MOST_OF_ERROR, InputError, PeerError, error_line, one_line
from spewy.system.closing import Closing
from spewy.system.dask_connection import CONNECT_SECONDS, connected, identity, identity_text, require_dask
from spewy.system.local_cluster import LocalCluster
from spewy.system.worker_pool import POLL_SECONDS

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK_SECONDS = 1.0
"""Seconds between two updates of the list of workers."""
SPEAK_SECONDS = 10.0
"""Seconds without a worker before a message, and between messages."""
MOST_DEATHS = 10
"""Largest number of consecutive workers that leave without an answer."""
MOST_FRUITLESS = 10
"""Largest number of consecutive attempts without an answer."""
PAUSE_SECONDS = 1.0
"""Pause after an attempt without an answer."""
Note = Callable[[str], None]
_LOG = logging.getLogger(__name__)
_clusters: WeakKeyDictionary[Client, Cluster] = WeakKeyDictionary()


class Stop(Protocol):
    """Tells a waiting function to give up, like a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to give up."""
        ...


class NoWorkerError(PeerError):
    """All workers have left the cluster."""


class Lost:
    """Placeholder for an answer that will not come, since the worker has left."""


class Attempts:
    """Counts consecutive attempts without an answer, and raises an error after too many.

    Args:
        cluster: the cluster whose workers are asked.
        work: what the workers are to do, in the words of a message.
        most: number of such attempts in a row after which the error comes.
    """

    def __init__(self, cluster: Cluster, work: str, most: int = MOST_FRUITLESS) -> None:
        self._cluster, self._work, self._most = cluster, work, most
        self._fruitless = 0

    def ended(self, *, fruitful: bool) -> None:
        """Count an attempt; after one without an answer, wait for workers to return.

        Raises:
            PeerError: the attempt was the last one.
        """
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
    """A connection to a scheduler and its workers.

    Args:
        address: address of a scheduler, such as ``tcp://10.0.0.1:8786``; None starts a cluster on this machine.
        size: number of workers to start on this machine.
        note: called with a line for each worker that comes, goes or is refused.
        client: an open connection to the scheduler, which `close` leaves open; None opens one.

    Raises:
        MissingError: Dask is not installed.
        InputError: there is no scheduler, or all its workers have another version of spewy.
    """

    def __init__(self, address: str | None, size: int, note: Note, client: Client | None = None) -> None:
        require_dask()
        self._note, self._address = note, address
        self._keeps_client = client is not None
        self._there: dict[str, int] = {}
        self._refused: set[str] = set()
        self._seen: dict[str, tuple[float, float]] = {}
        self._silent: set[float] = set()
        self._looked, self._spoke = float("-inf"), time.monotonic()
        self._begun = False
        self._deaths = 0
        self._local = None if address is not None else LocalCluster(size)
        try:
            self.client: Client = client or connected(self._local_address if address is None else address)
            self._wait_for_first()
            self._begun = True
            _clusters[self.client] = self
        except BaseException:
            self.close()
            raise

    @classmethod
    def of_client(cls, client: Client) -> Cluster:
        """Return the cluster of a client; workers that come and go are logged.

        Raises:
            InputError: all workers have another version of spewy.
            PeerError: the scheduler is gone.
        """
        known = _clusters.get(client)
        return cls(str(client.scheduler.address), 0, _LOG.warning, client) if known is None else known

    @property
    def _local_address(self) -> str:
        assert self._local is not None
        return self._local.address

    @property
    def name(self) -> str:
        """Name of the scheduler in messages."""
        return f"Dask scheduler {self._address or self._local_address}"

    def workers(self, stop: Stop | None = None) -> dict[str, int]:
        """Wait for workers; return their addresses and numbers of threads, or nothing if ``stop`` is set.

        Raises:
            PeerError: the scheduler is gone.
        """
        while not self._look() and not (stop is not None and stop.is_set()):
            time.sleep(POLL_SECONDS)
        return dict(self._there)

    def there(self) -> dict[str, int]:
        """Return the addresses and numbers of threads of the present workers.

        Raises:
            PeerError: the scheduler is gone.
        """
        self._look()
        return dict(self._there)

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self._there)

    @property
    def threads(self) -> int:
        """Number of threads of all workers together."""
        return sum(self._there.values())

    def is_there(self, worker: str) -> bool:
        """Whether a worker was connected a second ago."""
        self._look()
        return worker in self._there

    def call(
        self, calls: Sequence[tuple[str, Callable[..., Any], tuple[Any, ...]]], stop: Stop | None = None
    ) -> Generator[Any, None, None]:
        """Call functions in workers, all at once; yield the answers in order.

        Args:
            calls: address of the worker, function, and arguments of each call.
            stop: once it is set, waiting for answers ends.

        Yields:
            An answer, or `Lost` if the worker has left.

        Raises:
            StoppedError: ``stop`` was set.
            PeerError: the scheduler is gone, or a function has raised an error.
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
                self._deaths = self._deaths + 1 if isinstance(answer, Lost) else 0
                if self._deaths >= MOST_DEATHS:
                    raise PeerError(
                        f"{self.name}: expected workers that finish what they begin, found {MOST_DEATHS} that left "
                        "one after the other"
                    )
                futures[i] = None
                yield answer
        finally:
            with suppress(Exception):  # of a scheduler that is gone
                self.client.cancel([future for future in futures if future is not None])

    def given(self, data: Any, *, everywhere: bool = False) -> Future:
        """Send data to one worker, from which other workers fetch it; return a placeholder to pass as an argument.

        Args:
            data: the data.
            everywhere: whether to send the data to all workers at once.

        Raises:
            NoWorkerError: all workers have left.
            PeerError: the scheduler is gone.
        """
        try:
            return self.client.scatter([data], hash=False, broadcast=everywhere, timeout=LOOK_SECONDS)[0]
        except TimeoutError:
            self.require_scheduler()
            self._looked = float("-inf")
            raise NoWorkerError(f"{self.name}: expected a worker, found that all have left") from None
        except (OSError, CancelledError) as error:
            raise self._gone(error) from None

    def tell_all(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in all workers at once, beside their tasks; ignore workers that have left."""
        with suppress(OSError, CancelledError, TimeoutError):
            self.client.run(function, *arguments, on_error="ignore")

    def close(self) -> None:
        """Leave the cluster, and end a cluster that was started on this machine."""
        client, self.__dict__["client"] = getattr(self, "client", None), None
        if client is not None and not self._keeps_client:
            with suppress(Exception):  # whatever is left of the connection
                client.close(timeout=CONNECT_SECONDS)
        if self._local is not None:
            self._local.close()
            self._local = None

    def _fetched(self, future: Any, worker: str, stop: Stop | None) -> Any:
        """Return the answer of a worker; raise `Lost` if the worker left before."""
        import asyncio

        loop = self.client.loop.asyncio_loop
        answer = asyncio.run_coroutine_threadsafe(_result(future), loop)
        while not wait([answer], POLL_SECONDS).done:
            if stop is not None and stop.is_set():
                answer.cancel()
                raise StoppedError
            if not self.is_there(worker):
                answer.cancel()
                return Lost()
        try:
            return answer.result()
        except Exception as error:
            self.require_scheduler()
            if isinstance(error, CancelledError) and future.status != "error":
                self._looked = float("-inf")  # somebody has left
                return Lost()
            raise PeerError(f"Dask worker {worker}: expected an answer, found {error_line(error)}") from error

    def _wait_for_first(self) -> None:
        """Wait for a worker; refuse a cluster all of whose workers have another version of spewy."""
        while not self._look():
            if self._refused:
                raise InputError(f"{self.name}: {self._why}")
            time.sleep(POLL_SECONDS)

    def _look(self) -> bool:
        """Update the list of workers once a second; return whether there is a worker."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS and self._there:
            return True
        if now - self._looked < POLL_SECONDS:
            return bool(self._there)
        self._looked = now
        if self._local is not None:
            self._local.top_up()
        found = self._listed()
        came = [address for address in found if address not in self._there and address not in self._refused]
        left = [address for address in self._there if address not in found]
        self._refused &= set(found)
        new = self._welcomed(came, found) if came else {}
        self._there = {address: found[address] for address in self._there if address in found} | new
        self._tell(left, list(new), now)
        return bool(self._there)

    def _tell(self, left: Sequence[str], came: Sequence[str], now: float) -> None:
        """Report workers that have come or left, and a cluster without workers."""
        for address in left:
            self._note(f"{self.name}: worker {address} has left, {len(self._there)} left")
        if self._begun:
            for address in came:
                self._note(f"{self.name}: worker {address} has joined, {len(self._there)} now")
        if self._there:
            self._spoke = now
        elif now - self._spoke >= SPEAK_SECONDS:
            self._spoke = now
            self._note(f"{self.name}: no worker is there, waiting for one")

    def _listed(self) -> dict[str, int]:
        """Return the addresses and numbers of threads of all workers that the scheduler knows."""
        try:
            # Not client.scheduler_info(), whose answer another thread replaces by one without workers now and then.
            told = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        except (OSError, CancelledError, TimeoutError) as error:
            raise self._gone(error) from None
        self.require_scheduler()
        self._note_silent({address: one["last_seen"] for address, one in told.items()})
        return {address: int(one["nthreads"]) for address, one in told.items()}

    def _note_silent(self, seen: Mapping[str, float]) -> None:
        """Report workers that the scheduler has not heard from for long; after some minutes it drops them."""
        now = time.monotonic()
        before, self._seen = self._seen, {}
        for address, when in seen.items():
            last, since = before.get(address, (when, now))
            self._seen[address] = (when, since if last == when else now)
            if last == when and now - since >= SPEAK_SECONDS and since not in self._silent:
                self._silent.add(since)
                self._note(
                    f"{self.name}: worker {address} has been silent for {now - since:.0f} s; it is busy, or stopped"
                )

    def _welcomed(self, came: Sequence[str], found: dict[str, int]) -> dict[str, int]:
        """Return the new workers whose version of spewy equals this process's."""
        ours = identity()
        told = self.client.run(identity, workers=list(came), on_error="return")
        good: dict[str, int] = {}
        for address in came:
            if told.get(address) == ours:
                good[address] = found[address]
            elif isinstance(told.get(address), OSError):
                continue  # it has left again, or will be asked once more
            else:
                self._refused.add(address)
                theirs = identity_text(told.get(address))
                self._why = f"worker {address}: expected {identity_text(ours)}, found {theirs}"
                if self._there or good:
                    self._note(f"{self._why}; it is asked nothing")
        return good

    def require_scheduler(self) -> None:
        """Refuse to go on if the scheduler has left.

        Raises:
            PeerError: it has.
        """
        if self.client.status != "running":
            raise self._gone(None)

    def _gone(self, error: BaseException | None) -> PeerError:
        told = "" if error is None else f" ({one_line(str(error), MOST_OF_ERROR)})"
        return PeerError(f"{self.name}: expected it to stay there, found it gone{told}")


async def _result(future: Any) -> Any:
    return await future.result()
