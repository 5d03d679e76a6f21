"""Many processes on one folder: no lost update, no torn value, forks, kills, stale readers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path

import lockers_workers
import numpy as np
import pytest
from lockers_workers import put, reading, run_all, run_threads

from lockers import LmdbStore, LockerError, Transaction, open_store
from lockers import lmdb as lmdb_module


def hammer(folder: Path, context: BaseContext, visits: int, boards: int) -> None:
    """Eight writers on the same keys from a tiny map, a reader all the time, an audit in the middle."""
    store = open_store(folder / "store", {"a": 1})
    keys = sorted(b"%d|%d" % (board, line) for board in range(boards) for line in range(2))
    stop, report = folder / "stop", folder / "report"
    reader = context.Process(target=lockers_workers.read_all_the_time, args=(store, keys, stop, report))  # type: ignore[attr-defined]
    writers = [
        context.Process(target=lockers_workers.hammer, args=(store, worker, keys, visits))  # type: ignore[attr-defined]
        for worker in range(8)
    ]
    try:
        for child in [reader, *writers]:
            child.start()
        assert store.check() == []
        for child in writers:
            child.join()
        assert [child.exitcode for child in writers] == [0] * len(writers)
    finally:
        stop.write_text("")  # the reader ends when the writers end, also when they fail
        reader.join()
    assert reader.exitcode == 0
    assert int(report.read_text()) > 0

    by_worker = np.zeros(16, np.int64)
    for key in keys:
        counts = store.get("visit", key)
        assert counts is not None
        regret, strategy = store.get("regret", key), store.get("strategy", key)
        assert regret is not None
        assert strategy is not None
        total = counts.sum()
        assert (regret == total).all()
        assert (strategy == -total).all()
        assert store.visits(key) == (total, total)
        by_worker += counts
    assert by_worker.tolist() == [visits] * 8 + [0] * 8
    assert store.check() == []
    store.close()


def test_eight_processes_visit_the_same_keys_while_a_ninth_reads(tmp_path: Path, tiny_maps: None) -> None:
    hammer(tmp_path, multiprocessing.get_context("fork"), visits=250, boards=6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_processes_visit_for_long(tmp_path: Path, method: str, tiny_maps: None) -> None:
    hammer(tmp_path, multiprocessing.get_context(method), visits=6000, boards=40)


def test_a_store_may_be_sent_to_a_new_process(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        context = multiprocessing.get_context("spawn")
        children = [
            context.Process(target=lockers_workers.hammer, args=(store, worker, [b"k"], 20))
            for worker in (0, 1)
        ]
        assert run_all(*children) == [0, 0]
        assert store.visits(b"k") == (40, 40)


def in_child(work) -> int:  # type: ignore[no-untyped-def]
    """Run a function in a forked child that ends like any Python process; return its exit code."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(60)
    assert child.exitcode is not None
    return child.exitcode


def test_an_inherited_store_works_in_the_child(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.array(1))
        before = store._environment

        def work() -> None:
            assert store.get("payoff", b"k") == 1
            put(store, "payoff", b"k", np.array(2))
            with open_store(tmp_path, {}) as other:
                put(other, "payoff", b"l", np.array(3))
            assert store.check() == []
            assert in_child(lambda: put(store, "payoff", b"m", np.array(4))) == 0
            store.close()

        assert in_child(work) == 0
        assert store._environment is before
        assert [int(array) for array in store.get_many("payoff", [b"k", b"l", b"m"])] == [2, 3, 4]  # type: ignore[arg-type]
        put(store, "payoff", b"k", np.array(5))
        assert store.check() == []


def test_forks_while_threads_read_and_write(tmp_path: Path) -> None:
    stop = threading.Event()
    codes: list[int] = []

    def work(number: int) -> None:
        while not stop.is_set():
            store.transact(lambda transaction: lockers_workers.count(transaction, b"k|%d" % number))
            assert store.get("visit", b"k|%d" % number) is not None

    def fork() -> None:
        try:
            while store.get("visit", b"k|0") is None:
                time.sleep(0.001)
            codes.extend(in_child(child_work) for _ in range(8))
        finally:
            stop.set()

    def child_work() -> None:
        for _ in range(10):
            store.transact(lambda transaction: lockers_workers.count(transaction, b"k|child"))
        assert store.get("visit", b"k|0") is not None

    with open_store(tmp_path, {}) as store:
        assert run_threads(*(partial(work, number) for number in range(3)), fork) == []
        assert codes == [0] * 8
        assert store.get("visit", b"k|child") == 80
        assert store.check() == []


def test_a_fork_in_the_middle_of_a_transaction(tmp_path: Path) -> None:
    message = "this process was forked during an open transaction and cannot use the store"

    def child_work() -> None:
        for use in (
            lambda: store.get("payoff", b"k"),
            lambda: open_store(tmp_path),
        ):
            with pytest.raises(LockerError, match=message):
                use()
        store.close()

    def body(transaction: Transaction) -> int:
        transaction.put("payoff", b"k", np.array(1))
        return in_child(child_work)

    with open_store(tmp_path, {}) as store:
        assert store.transact(body) == 0
        assert store.get("payoff", b"k") == 1
        put(store, "payoff", b"k", np.array(2))
        assert in_child(lambda: put(store, "payoff", b"k", np.array(3))) == 0
        assert store.get("payoff", b"k") == 3


def test_a_fork_beside_a_transaction_that_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lmdb_module, "_FORK_PATIENCE", 0.05)
    inside, leave = threading.Event(), threading.Event()

    def body(transaction: Transaction) -> None:
        transaction.put("payoff", b"k", np.array(1))
        inside.set()
        leave.wait(30)

    def child_work() -> None:
        with pytest.raises(LockerError, match="forked during an open transaction"):
            store.get("payoff", b"k")

    with open_store(tmp_path, {}) as store:
        thread = threading.Thread(target=store.transact, args=(body,))
        thread.start()
        inside.wait(30)
        assert in_child(child_work) == 0
        leave.set()
        thread.join()
        assert store.get("payoff", b"k") == 1


def test_a_killed_writer_loses_no_commit(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    with open_store(tmp_path / "store", {}) as store:
        told = 0
        for turn in range(4):
            report = tmp_path / f"report {turn}"
            child = context.Process(target=lockers_workers.commit_until_killed, args=(store, report))
            child.start()
            while not report.exists() or report.stat().st_size < 200 * (turn + 1):
                time.sleep(0.001)
            os.kill(child.pid, signal.SIGKILL)  # type: ignore[arg-type]
            child.join()
            told += len(report.read_text().split("\n")) - 1
            # At most the commit that was not told yet is there as well; it is whole.
            visits = sum(store.visits(key)[0] for key in store.keys("regret"))
            assert told <= visits <= told + turn + 1
            told = visits
            for key in store.keys("regret"):
                regret = store.get("regret", key)
                assert regret is not None
                assert (regret == store.visits(key)[0]).all()
            put(store, "payoff", b"0|x", np.array(turn))  # the lock of the killed one is free
            assert store.check() == []


def test_the_place_of_a_killed_reader_is_cleared(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", {}) as store:
        with reading(store, tmp_path) as child:
            pass
        with LmdbStore(tmp_path / "store") as with_reader:
            with_reader.probe()
            environment = with_reader._attached()
            environment.close()
            with_reader.probe()
            assert environment._env is not None
            assert str(child.pid) not in environment._env.readers()


def test_a_reader_does_not_stop_writers(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", {}) as store:
        put(store, "payoff", b"k", np.array(1))
        with reading(store, tmp_path):
            for number in range(50):
                put(store, "payoff", b"k", np.full(1000, number))
            assert store.check() == []
