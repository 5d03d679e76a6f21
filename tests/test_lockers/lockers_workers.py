"""What the child processes of the lockers' tests do; they find it by importing this module."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from lockers import LmdbStore, Store, Transaction, lmdb, open_store

SIDE = 12


def put(store: Store, locker: str, key: bytes, array: np.ndarray) -> None:
    store.transact(lambda transaction: transaction.put(locker, key, array))


def count(transaction: Transaction, key: bytes) -> None:
    """Add one to a counter: the update that is lost first."""
    before = transaction.get("visit", key)
    transaction.put("visit", key, np.array(1 if before is None else int(before) + 1))


def create_and_count(folder: Path) -> None:
    with open_store(folder, {"a": 1}) as store:
        store.transact(lambda transaction: count(transaction, b"k"))


def visit(transaction: Transaction, key: bytes, worker: int, side: int) -> None:
    """Read, change and write three arrays that belong together, as a visit to a chunk does."""
    regret = transaction.get("regret", key)
    regret = np.zeros((side, side)) if regret is None else regret
    total = int(regret[0, 0]) + 1
    visits, last = transaction.visits(key)
    if visits != total - 1 or not transaction.count_visit(key, last + 1):
        raise AssertionError(f"{visits} visits counted, {total - 1} integrated")
    transaction.put("regret", key, np.full((side, side), total, float))
    transaction.put("strategy", key, np.full(side * side, -total, np.float32))
    by_worker = transaction.get("visit", key)
    by_worker = np.zeros(16, np.int64) if by_worker is None else by_worker
    by_worker[worker] += 1
    transaction.put("visit", key, by_worker)


def hammer(store: LmdbStore, worker: int, keys: list[bytes], visits: int) -> None:
    """Visit keys in an order of this worker's own, arrays of changing size, from a tiny map."""
    lmdb.MAP_SIZE = 1
    generator = np.random.default_rng(worker)
    for number in range(visits):
        key = keys[int(generator.integers(len(keys)))]
        side = SIDE * int(generator.integers(1, 4))
        store.transact(lambda transaction, key=key, side=side: visit(transaction, key, worker, side))
        if number % 100 == 99:
            store.flush()
    store.close()


def read_all_the_time(store: LmdbStore, keys: list[bytes], stop: Path, report: Path) -> None:
    """Read until told to stop; every array must be whole, and no key may go back in time."""
    last = dict.fromkeys(keys, 0)
    rounds = 0
    while not stop.exists():
        for key, regret in zip(keys, store.get_many("regret", keys), strict=True):
            if regret is not None:
                if regret.min() != regret.max() or regret[0, 0] < last[key]:
                    raise AssertionError(f"key {key!r}: a torn or old value")
                last[key] = int(regret[0, 0])
        one = keys[rounds % len(keys)]
        strategy = store.get("strategy", one)
        if strategy is not None and (strategy.min() != strategy.max() or -strategy[0] < last[one]):
            raise AssertionError(f"key {one!r}: a torn or old strategy")
        listed = list(store.keys("regret"))
        if listed != sorted(set(listed)):
            raise AssertionError("keys out of order")
        rounds += 1
    report.write_text(str(rounds))


def commit_until_killed(store: LmdbStore, report: Path) -> None:
    """Commit counters and tell, after each commit, how far they must have come."""
    with report.open("w") as file:
        for number in range(1, 10**9):
            key = b"%d|x" % (number % 20)
            store.transact(lambda transaction, key=key: visit(transaction, key, 0, SIDE))
            file.write(f"{number}\n")
            file.flush()


def hold_a_reader(store: LmdbStore, started: Path) -> None:
    """Sit in a read transaction for ever."""

    def sit(transaction: object) -> None:
        started.write_text("")
        time.sleep(1000)

    store._attached().read(sit)


@contextmanager
def reading(store: LmdbStore, folder: Path) -> Iterator[BaseProcess]:
    """A forked process that sits in a read transaction; it is killed in the end."""
    started = folder / "started"
    child = multiprocessing.get_context("fork").Process(target=hold_a_reader, args=(store, started))
    child.start()
    try:
        while not started.exists():
            time.sleep(0.001)
        yield child
    finally:
        child.kill()
        child.join()


def run_all(*children: BaseProcess) -> list[int | None]:
    """Start processes, wait for their ends, and return their exit codes."""
    for child in children:
        child.start()
    for child in children:
        child.join()
    return [child.exitcode for child in children]


def run_threads(*functions: Callable[[], object]) -> list[BaseException]:
    """Run functions in threads; return what they raise."""
    errors: list[BaseException] = []

    def run(function: Callable[[], object]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors
