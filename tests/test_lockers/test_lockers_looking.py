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
    BusyLockerError,
    DamagedLockerError,
    LmdbStore,
    ReadOnlyLockerError,
    StorageError,
    open_store,
    remove_store,
)
from lockers import unlocked as unlocked_module
from lockers import walk as walk_module
from lockers.audit import audit
from lockers.lock_file import lock_file
from lockers.metapages import read_meta_pages
from lockers.snapshot import Snapshot
from lockers.unlocked import UnlockedFile

only_root = pytest.mark.skipif(
    os.getuid() != 0,
    reason="needs a second user: only root may become one, or leave files that are not its own",
)


def filled(folder: Path, keys: int = 400) -> LmdbStore:
    """One shard, a tree of several levels, values in the leaves and beside them, free pages."""
    generator = np.random.default_rng(7)
    store = open_store(folder, {"a": 1}, shards=1)
    for number in generator.permutation(keys).tolist():
        key = b"%d|" % number + b"x" * (number % 300)
        put(store, "regret", key, generator.random(int(generator.integers(0, 2000))))
        if number % 5 == 0:
            store.transact(key, lambda txn, key=key: txn.delete("regret", key))
    return store


def data_file(store: LmdbStore) -> Path:
    return store.folder / "shard-000.mdb"


@pytest.mark.parametrize("keys", [0, 1, 3, 400])
def test_the_file_reads_as_lmdb_reads_it(tmp_path: Path, keys: int) -> None:
    def everything(snapshot: Snapshot) -> tuple[object, ...]:
        items = list(snapshot.items())
        held = [full for full, _ in items]
        between = [full[:-1] for full in held] + [full + b"\0" for full in held]
        return (
            snapshot.entries,
            items,
            [snapshot.get(full) for full in held + between + [b"\0", b"\xff"]],
            [list(snapshot.keys(full))[:3] for full in held + between + [b"\0", b"\xff"]],
        )

    with filled(tmp_path / "store", keys) as store:
        unlocked = UnlockedFile(data_file(store))
        assert unlocked.read(everything) == store._shards[0].read(everything)
        unlocked.close()


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
            assert reader.tickets(b"k") == (0, 0)
            assert reader.check() == []
            child = multiprocessing.get_context("fork").Process(target=lambda: reader.get("regret", keys[0]))
            child.start()
            child.join()
            assert child.exitcode == 0

    without_rights(folder, work)
    assert listing(folder) == before


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
def test_files_of_somebody_else_get_no_lock_file(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 3).close()
    lock_file(folder / "shard-000.mdb").unlink()
    folder.chmod(0o777)
    before = listing(folder)

    def work() -> None:
        with open_store(folder, read_only=True) as reader:
            assert len(list(reader.keys("regret"))) == 2
        for use in (lambda: open_store(folder), lambda: remove_store(folder)):
            with pytest.raises(ReadOnlyLockerError, match=r"shard-000\.mdb"):
                use()

    as_nobody(folder, work)
    assert listing(folder) == before


def test_a_reader_makes_no_lock_file(tmp_path: Path) -> None:
    filled(tmp_path, 3).close()
    lock_file(tmp_path / "shard-000.mdb").unlink()
    with open_store(tmp_path, read_only=True) as reader:
        assert len(list(reader.keys("regret"))) == 2
        assert reader.check() == []
        assert not lock_file(tmp_path / "shard-000.mdb").exists()
        with open_store(tmp_path) as writer:  # in the same process: both have LMDB from here on
            put(writer, "payoff", b"k", np.array(1))
            assert reader.get("payoff", b"k") == 1
        assert reader.get("payoff", b"k") == 1


@only_root
def test_what_root_makes_is_the_owners(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 30).close()
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    lock_file(folder / "shard-000.mdb").unlink()
    with open_store(folder) as store:
        store.compact()
    assert {path.stat().st_uid for path in folder.iterdir()} == {NOBODY}

    def work() -> None:
        with open_store(folder) as store:
            put(store, "payoff", b"k", np.array(1))

    as_nobody(folder, work)


@only_root
def test_a_reader_without_rights_beside_writers_that_never_pause(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    stop, report = tmp_path / "out" / "stop", tmp_path / "out" / "report"
    report.parent.mkdir()
    report.parent.chmod(0o777)
    keys = sorted(b"%d|%d" % (board, line) for board in range(4) for line in range(2))
    open_store(folder, {"a": 1}, shards=2).close()
    store = LmdbStore(folder)  # opened in the children only: what they inherited would be a writer's
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=lockers_workers.hammer, args=(store, worker, keys, 400)) for worker in range(2)
    ]

    def look() -> None:
        with LmdbStore(folder, read_only=True) as reader:
            reader.probe()
            assert all(isinstance(shard._env, UnlockedFile) for shard in reader._shards)
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


@pytest.fixture
def counted(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A store with one large value, which reads 0, and its file past LMDB."""
    with open_store(tmp_path / "store", {}, shards=1) as store:
        put(store, "payoff", b"k", np.zeros(5000))
        put(store, "payoff", b"other", np.array(0))
        unlocked = UnlockedFile(data_file(store))
        yield store, unlocked
        unlocked.close()


@pytest.mark.parametrize(("commits", "calls", "found"), [(0, 1, 0), (1, 1, 0), (2, 2, 2), (20, 2, 20)])
def test_pages_that_may_have_been_used_again_are_read_again(counted, commits, calls, found) -> None:  # type: ignore[no-untyped-def]
    store, unlocked = counted
    seen = []

    def body(snapshot: Snapshot) -> bytearray | None:
        if not seen:
            for number in range(commits):
                put(store, "payoff", b"k", np.full(5000, number + 1.0))
        seen.append(snapshot)
        return snapshot.get(b"payoff\0k")

    value = unlocked.read(body)
    assert len(seen) == calls
    assert np.frombuffer(value, offset=len(value) - 40_000).tolist() == [found] * 5000


def test_nothing_is_believed_of_a_page_that_changes_while_it_is_read(counted, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    store, unlocked = counted
    reading = os.preadv
    times = iter([1, 2, 3])

    def preadv(descriptor: int, *rest: object) -> int:
        count = reading(descriptor, *rest)  # type: ignore[arg-type]
        for number in range(3 * next(times, 0)):
            put(store, "payoff", b"k", np.full(5000, number + 1.0))
        return count

    monkeypatch.setattr(os, "preadv", preadv)
    value = unlocked.read(lambda snapshot: snapshot.get(b"payoff\0k"))
    assert np.frombuffer(value, offset=len(value) - 40_000).tolist() == [9] * 5000


def test_a_shard_that_never_rests_is_told(counted, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    store, unlocked = counted
    monkeypatch.setattr(unlocked_module, "_PATIENCE", 0.0)
    numbers = iter(range(1000))

    def body(snapshot: Snapshot) -> bytearray | None:
        for _ in range(2):
            put(store, "payoff", b"k", np.full(5000, float(next(numbers))))
        return snapshot.get(b"payoff\0k")

    message = (
        r"shard-000\.mdb: expected pages that stay while they are read, found them written over 4 times: its "
        r"lock file cannot be written, .* try again later"
    )
    with pytest.raises(BusyLockerError, match=message):
        unlocked.read(body)


@pytest.mark.parametrize("kind", [BusyLockerError, StorageError])
def test_an_audit_that_cannot_judge_finds_nothing_wrong(tmp_path: Path, monkeypatch, kind) -> None:  # type: ignore[no-untyped-def]
    filled(tmp_path / "store", 3).close()

    def refuse(*arguments: object) -> None:
        raise kind("as it is")

    lines: list[dict[str, object]] = []
    with monkeypatch.context() as patched:
        patched.setattr(walk_module, "_entries", refuse)
        patched.setattr(walk_module, "_tell", lambda what, value: lines.append({what: value}))
        walk_module.main([str(tmp_path / "store")])
    assert [list(line) for line in lines] == [["shard"], ["busy" if kind is BusyLockerError else "failure"]]
    monkeypatch.setattr("lockers.audit._walk", lambda *arguments: ("exited with 0", lines))
    with pytest.raises(kind, match="as it is"):
        audit(tmp_path / "store")


def test_damage_is_damage_past_lmdb_too(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        path, keys = data_file(store), list(store.keys("regret"))
    lock_file(path).unlink()
    content = path.read_bytes()
    meta = read_meta_pages(path)
    assert meta.main_root is not None
    root = meta.main_root * meta.page_size
    damages = [
        (root, b"\xff" * 8),  # another page
        (root + 10, b"\x04\0"),  # of a large value
        (root + 12, b"\xff\xff"),  # more nodes than there is room for
        (root + 16, b"\xff\xff" * 20),  # nodes outside
    ]
    for position, wrong in damages:
        path.write_bytes(content[:position] + wrong + content[position + len(wrong) :])
        with open_store(tmp_path / "store", read_only=True) as reader, pytest.raises(DamagedLockerError):
            reader.get_many("regret", keys)
