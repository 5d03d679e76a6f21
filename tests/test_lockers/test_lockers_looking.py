"""Looking into a folder that may not be written: all is read, nothing is made, and writers are not waited for."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path

import lockers_workers
import numpy as np
import pytest
from lockers_workers import put
from without_rights import NOBODY, as_nobody, listing, without_rights

from lockers import (
    LmdbStore,
    LockerError,
    ReadOnlyLockerError,
    open_store,
    remove_store,
)
from lockers.files import lock_file

only_root = pytest.mark.skipif(
    os.getuid() != 0,
    reason="needs a second user: only root may become one, or leave files that are not its own",
)


def filled(folder: Path, keys: int = 400) -> LmdbStore:
    """A tree of several levels, values in the leaves and beside them, free pages."""
    generator = np.random.default_rng(7)
    store = open_store(folder, {"a": 1})
    for number in generator.permutation(keys).tolist():
        key = b"%d|" % number + b"x" * (number % 300)
        put(store, "regret", key, generator.random(int(generator.integers(0, 2000))))
        if number % 5 == 0:
            store.transact(lambda txn, key=key: txn.delete("regret", key))
    return store


def test_a_reader_without_rights_sees_everything_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with filled(folder) as store:
        keys = list(store.keys("regret"))
        held = store.get_many("regret", keys)
    before = listing(folder)

    def work() -> None:
        with open_store(folder, {"a": 1}, read_only=True) as reader:
            assert list(reader.keys("regret")) == keys
            assert list(reader.keys("regret", b"7")) == [key for key in keys if key.startswith(b"7")]
            for key, array in zip(keys, held, strict=True):
                np.testing.assert_array_equal(reader.get("regret", key), array)
            assert reader.visits(b"k") == (0, 0)
            assert reader.check() == []
            child = multiprocessing.get_context("fork").Process(target=lambda: reader.get("regret", keys[0]))
            child.start()
            child.join()
            assert child.exitcode == 0

    without_rights(folder, work)
    assert listing(folder) == before


def test_a_mode_without_writing_keeps_root_from_writing(tmp_path: Path) -> None:
    """Readers take no lock there."""
    filled(tmp_path, 3).close()
    (tmp_path / "lockers.mdb").chmod(0o444)
    with pytest.raises(ReadOnlyLockerError, match=r"lockers\.mdb"):
        open_store(tmp_path)
    (tmp_path / "lockers.mdb-lock").unlink()
    with open_store(tmp_path, read_only=True) as reader:
        assert len(list(reader.keys("regret"))) == 2
    assert not (tmp_path / "lockers.mdb-lock").exists()


def test_what_writes_says_that_it_may_not(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 3).close()
    before = listing(folder)
    uses: list[Callable[[], object]] = [
        lambda: open_store(folder),
        lambda: open_store(folder / "new", {}),
        lambda: remove_store(folder),
        lambda: LmdbStore(folder).compact(),
        lambda: LmdbStore(folder).require_alone(),
        lambda: LmdbStore(folder, read_only=True).require_alone(),
        lambda: put(LmdbStore(folder), "payoff", b"k", np.array(1)),
        lambda: LmdbStore(folder).flush(),
    ]

    def work() -> None:
        for use in uses:
            with pytest.raises(ReadOnlyLockerError, match=r"expected a folder and files that can be written"):
                use()

    without_rights(folder, work)
    assert listing(folder) == before


@only_root
def test_a_reader_that_finds_no_lock_file_makes_one_or_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 3).close()
    lock_file(folder / "lockers.mdb").unlink()
    folder.chmod(0o755)
    before = listing(folder)

    def refuse() -> None:
        with pytest.raises(
            LockerError, match=r"lockers\.mdb-lock: .*; there is no such file: ask the owner of the folder"
        ):
            open_store(folder, read_only=True)

    as_nobody(folder, refuse)
    assert listing(folder) == before
    folder.chmod(0o777)

    def look() -> None:
        with open_store(folder, read_only=True) as reader:
            assert len(list(reader.keys("regret"))) == 2
        for use in (lambda: open_store(folder), lambda: remove_store(folder)):
            with pytest.raises(ReadOnlyLockerError, match=r"lockers\.mdb"):
                use()

    as_nobody(folder, look)
    with open_store(folder) as store:  # root, whose data it is, may use the lock file too
        put(store, "payoff", b"k", np.array(1))


@only_root
def test_what_root_makes_is_the_owners(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 30).close()
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    lock_file(folder / "lockers.mdb").unlink()
    with open_store(folder) as store:
        store.compact()
    assert {path.stat().st_uid for path in folder.iterdir()} == {NOBODY}

    def work() -> None:
        with open_store(folder) as store:
            put(store, "payoff", b"k", np.array(1))

    as_nobody(folder, work)


@only_root
def test_a_reader_of_another_user_beside_writers_that_never_pause(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    stop, report = tmp_path / "out" / "stop", tmp_path / "out" / "report"
    report.parent.mkdir()
    report.parent.chmod(0o777)
    keys = sorted(b"%d|%d" % (board, line) for board in range(4) for line in range(2))
    open_store(folder, {"a": 1}).close()
    store = LmdbStore(folder)  # opened in the children only: what they inherited would be a writer's
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=lockers_workers.hammer, args=(store, worker, keys, 400)) for worker in range(2)
    ]

    def look() -> None:
        with LmdbStore(folder, read_only=True) as reader:
            reader.probe()
            lockers_workers.read_all_the_time(reader, keys, stop, report)

    watcher = threading.Thread(target=lambda: ([child.join() for child in writers], stop.write_text("")))
    for child in writers:
        child.start()
    watcher.start()
    try:
        as_nobody(folder, look)
    finally:
        watcher.join()
    assert [child.exitcode for child in writers] == [0, 0]
    assert int(report.read_text()) > 0
    assert store.check() == []
    store.close()
