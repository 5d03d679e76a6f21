"""Giving room back, and removing a store: only alone, and all of it or nothing."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lockers_workers import put, reading

import lockers.files
import lockers.lmdb
from lockers import (
    LmdbStore,
    LockerError,
    MemoryStore,
    ReadOnlyLockerError,
    StorageError,
    holds_store,
    open_store,
    remove_store,
)

BOARDS = 6
LINES = 40


def key(board: int, line: int) -> bytes:
    return b"%d|%d" % (board, line)


def filled(folder: Path) -> LmdbStore:
    """Arrays of many sizes, three quarters of them deleted."""
    store = open_store(folder, {"a": 1})
    for board in range(BOARDS):
        for line in range(LINES):
            put(store, "regret", key(board, line), np.arange(7.0 * line * line) + board)
        for line in range(LINES):
            if line % 4:
                store.transact(lambda txn, line=line, board=board: txn.delete("regret", key(board, line)))
    return store


def require_filled(store: LmdbStore) -> None:
    for board in range(BOARDS):
        for line in range(LINES):
            found = store.get("regret", key(board, line))
            if line % 4:
                assert found is None
            else:
                np.testing.assert_array_equal(found, np.arange(7.0 * line * line) + board)


def test_files_get_smaller_and_hold_the_same(tmp_path: Path) -> None:
    with filled(tmp_path / "f") as store:
        before = store.size()
        held = sum(8 * 7 * line * line for line in range(0, LINES, 4)) * BOARDS
        store.compact()
        assert held < store.size() < before / 1.5
        assert store.check() == []
        require_filled(store)
        smaller = store.size()
        store.compact()
        assert store.size() <= smaller
        for number in range(50):  # and goes on as before
            put(store, "regret", key(9, number), np.arange(5000.0))
        require_filled(store)
        assert store.check() == []
    assert not [path for path in (tmp_path / "f").iterdir() if path.suffix == lockers.files.TEMPORARY]
    with open_store(tmp_path / "f", {"a": 1}) as store:
        require_filled(store)
        assert store.get("regret", key(9, 49)) is not None


def test_an_empty_store(tmp_path: Path) -> None:
    with open_store(tmp_path / "f", {}) as store:
        store.compact()
        put(store, "regret", b"k", np.ones(3))
        store.transact(lambda txn: txn.delete("regret", b"k"))
        store.compact()
        assert store.check() == []
        assert store.get("regret", b"k") is None


def test_other_handles_of_this_process_see_the_new_files(tmp_path: Path) -> None:
    with filled(tmp_path / "f") as store, open_store(tmp_path / "f", read_only=True) as reader:
        require_filled(reader)
        store.compact()
        require_filled(reader)
        put(store, "regret", b"0|new", np.ones(2))
        assert reader.get("regret", b"0|new") is not None
        with open_store(tmp_path / "f") as third:
            assert third._attached() is store._attached()


def test_not_beside_another_process(tmp_path: Path) -> None:
    store = filled(tmp_path / "f")
    with reading(store, tmp_path):
        before = store.size()
        for attempt in (store.compact, store.require_alone):
            with pytest.raises(LockerError, match="another process has the store open"):
                attempt()
        put(store, "regret", b"0|new", np.ones(2))
        store.close()
        with pytest.raises(LockerError, match="another process has the store open"):
            remove_store(tmp_path / "f")
    with open_store(tmp_path / "f", {"a": 1}) as store:
        store.require_alone()
        store.compact()
        assert store.size() < before
        assert store.get("regret", b"0|new") is not None


def test_not_in_a_transaction_nor_read_only(tmp_path: Path) -> None:
    with filled(tmp_path / "f") as store, open_store(tmp_path / "f", read_only=True) as reader:
        for attempt in (store.compact, store.require_alone):
            with pytest.raises(LockerError, match="expected no transaction in this thread"):
                store.transact(lambda txn, attempt=attempt: attempt())
        with pytest.raises(ReadOnlyLockerError):
            reader.compact()
    with pytest.raises(LockerError, match="closed"):
        store.compact()


def test_in_memory() -> None:
    with MemoryStore({}) as store:
        put(store, "regret", b"k", np.ones(3))
        store.require_alone()
        store.compact()
        assert store.get("regret", b"k") is not None
        with pytest.raises(LockerError, match="expected no transaction"):
            store.transact(lambda txn: store.compact())
    with pytest.raises(LockerError, match="closed"):
        store.compact()
    with pytest.raises(ReadOnlyLockerError):
        MemoryStore({}, read_only=True).compact()


def compact_for_ever(folder: Path) -> None:
    with open_store(folder) as store:
        while True:
            store.compact()


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    filled(tmp_path / "f").close()
    context, rng = multiprocessing.get_context("spawn"), np.random.default_rng(1)
    for _ in range(5):
        child = context.Process(target=compact_for_ever, args=(tmp_path / "f",))
        child.start()
        child.join(0.6 + 0.5 * rng.random())
        assert child.is_alive()
        child.kill()
        child.join()
        with open_store(tmp_path / "f", {"a": 1}) as store:
            require_filled(store)
            assert store.check() == []
    with open_store(tmp_path / "f") as store:
        store.compact()
    assert not list((tmp_path / "f").glob(f".*{lockers.files.TEMPORARY}"))


@pytest.mark.parametrize("step", ["copy_used_pages", "sync_folder"])
def test_a_copy_that_fails_changes_nothing(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with filled(tmp_path / "f") as store:
        with monkeypatch.context() as patch:
            patch.setattr(lockers.lmdb, step, breaks)
            with pytest.raises(LockerError, match="No space left"):
                store.compact()
        require_filled(store)
        assert store.check() == []
        put(store, "regret", b"0|new", np.ones(2))
    with open_store(tmp_path / "f") as store:
        require_filled(store)
        assert store.get("regret", b"0|new") is not None


def test_a_store_is_removed_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    filled(folder).close()
    (folder / "notes.txt").write_text("mine")
    remove_store(folder)
    assert [path.name for path in folder.iterdir() if path.name[0] != "."] == ["notes.txt"]
    for attempt in (remove_store, open_store):
        with pytest.raises(LockerError, match="expected a store, found no manifest"):
            attempt(folder)
    with open_store(folder, {"b": 2}) as store:
        assert list(store.keys("regret")) == []
    assert not (folder / lockers.files.REMOVED).exists()
    assert (folder / "notes.txt").read_text() == "mine"


def test_not_while_it_is_open_here(tmp_path: Path) -> None:
    with filled(tmp_path / "f") as store:
        with pytest.raises(LockerError, match="this process has the store open"):
            remove_store(tmp_path / "f")
        require_filled(store)


@pytest.mark.parametrize("left", ["everything", "nothing"])
def test_an_interrupted_removal_is_finished(tmp_path: Path, left: str) -> None:
    folder = tmp_path / "f"
    filled(folder).close()
    (folder / "manifest.json").rename(folder / lockers.files.REMOVED)
    if left == "nothing":
        (folder / "lockers.mdb").unlink()
    with open_store(folder, {"b": 2}) as store:
        assert list(store.keys("regret")) == []
        put(store, "regret", b"k", np.ones(1))
        assert store.check() == []
    assert not (folder / lockers.files.REMOVED).exists()
    shutil.rmtree(folder)


def test_a_copy_holds_what_was_committed_and_no_more_pages_than_it_needs(tmp_path):
    with filled(tmp_path / "here") as store, open_store(tmp_path / "here", read_only=True) as reader:
        reader.copy_to(tmp_path / "there")
        with open_store(tmp_path / "there") as copy:
            assert copy.manifest == store.manifest
            assert copy.size() < 0.6 * store.size()
            assert copy.check() == []
            found = list(store.keys("regret"))
            assert list(copy.keys("regret")) == found
            for each in found:
                assert np.array_equal(copy.get("regret", each), store.get("regret", each))
            put(copy, "regret", key(0, 1), np.ones(3))  # it is a store of its own
            assert store.get("regret", key(0, 1)) is None
        with pytest.raises(LockerError, match="expected a missing or empty folder, found a store"):
            store.copy_to(tmp_path / "there")


def test_a_copy_that_breaks_off_leaves_no_store(tmp_path, monkeypatch):
    with filled(tmp_path / "here") as store:
        monkeypatch.setattr(lockers.lmdb.os, "fsync", lambda file: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(StorageError):
            store.copy_to(tmp_path / "there")
        assert not holds_store(tmp_path / "there")


def test_a_copy_of_a_file_that_another_process_lets_outgrow_the_map_meanwhile(
    tmp_path, monkeypatch, tiny_maps
):
    grow = "import sys; import numpy as np; from lockers import open_store; store = open_store(sys.argv[1])"
    grow += "; store.transact(lambda transaction: transaction.put('regret', b'late', np.zeros(10**6)))"
    opened, real = [], Path.open

    def grown_before(path, mode="r", *rest, **options):
        if mode == "wb" and not opened:
            opened.append(path)
            subprocess.run([sys.executable, "-c", grow, tmp_path / "here"], check=True)
        return real(path, mode, *rest, **options)

    with filled(tmp_path / "here") as store:
        monkeypatch.setattr(Path, "open", grown_before)
        store.copy_to(tmp_path / "there")
        monkeypatch.undo()
        with open_store(tmp_path / "there") as copy:
            assert opened
            assert copy.check() == []
            assert list(copy.keys("regret")) == list(store.keys("regret"))
            assert len(copy.get("regret", b"late")) == 10**6
