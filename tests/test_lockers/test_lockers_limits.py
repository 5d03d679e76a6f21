"""Memory maps and their sizes, disks that are full, folders that may not be written to."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import lmdb
import numpy as np
import pytest
from lockers_workers import SIDE, put, run_threads, visit
from without_rights import without_rights

from lockers import (
    DamagedLockerError,
    LmdbStore,
    LockerError,
    LockerFullError,
    ReadOnlyLockerError,
    StorageError,
    Transaction,
    open_store,
)
from lockers import lmdb as lmdb_module
from lockers.codec import encode, full_key
from lockers.errors import translate


def test_a_map_takes_no_room_on_the_disk(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", {}) as store:
        put(store, "payoff", b"k", np.zeros(1000))
        mapped = store._attached()._env.info()["map_size"]  # type: ignore[union-attr]
        assert mapped == lmdb_module.MAP_SIZE >= 2**34
    subprocess.run(["cp", "-r", tmp_path / "store", tmp_path / "copy"], check=True)
    for folder in (tmp_path / "store", tmp_path / "copy"):
        status = (folder / "lockers.mdb").stat()
        assert status.st_size < 50_000
        assert status.st_blocks * 512 < 50_000
    with open_store(tmp_path / "copy") as store:
        assert store.check() == []


def test_three_hundred_stores_at_once(tmp_path: Path) -> None:
    # 300 maps of 1 TiB would not fit into 47 bits of address space.
    with open_store(tmp_path / "0", {}) as store:
        put(store, "payoff", b"k", np.array(1))
    with ExitStack() as opened:
        for number in range(1, 301):
            shutil.copytree(tmp_path / "0", tmp_path / str(number))
            store = opened.enter_context(open_store(tmp_path / str(number), read_only=True))
            assert store.get("payoff", b"k") == 1


@pytest.mark.parametrize("map_size", [2**20, 2**26, 2**40])
def test_a_file_of_any_map_size(tmp_path: Path, map_size: int) -> None:
    """Each commit notes the size of its map in the file, as earlier versions did with smaller maps."""
    open_store(tmp_path, {}).close()
    with (
        lmdb.open(str(tmp_path / "lockers.mdb"), subdir=False, map_size=map_size) as env,
        env.begin(write=True) as transaction,
    ):
        transaction.put(full_key("payoff", b"k"), encode(np.arange(3), full_key("payoff", b"k")))
    with open_store(tmp_path) as store:
        assert store.get("payoff", b"k").tolist() == [0, 1, 2]  # type: ignore[union-attr]
        put(store, "payoff", b"l", np.arange(500_000))
        assert store.check() == []
    with lmdb.open(str(tmp_path / "lockers.mdb"), subdir=False, map_size=2**26) as env:
        assert env.stat()["entries"] == 2


def test_a_file_may_grow_while_another_thread_reads_a_snapshot(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.array(1))
        writer = threading.Thread(target=put, args=(store, "payoff", b"k", np.zeros(9_000_000)))
        with store.snapshot():
            writer.start()
            writer.join()
            assert store.get("payoff", b"k") == 1
        assert len(store.get("payoff", b"k")) == 9_000_000  # type: ignore[arg-type]


def test_a_limited_address_space_holds_several_stores(tmp_path: Path) -> None:
    script = (
        "import resource, sys, numpy as np, lockers\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))\n"
        "stores = [lockers.open_store(f'{sys.argv[1]}/{n}', {}) for n in range(4)]\n"
        "for store in stores:\n"
        "    store.transact(lambda t: t.put('payoff', b'k', np.arange(3)))\n"
        "for n in range(10):\n"
        "    stores[0].transact(lambda t: t.put('payoff', b'%d' % n, np.zeros(1_000_000)))\n"
        "assert stores[1].get('payoff', b'k').tolist() == [0, 1, 2]\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    with open_store(tmp_path / "0") as store:
        assert len(list(store.keys("payoff"))) == 11
        assert store.check() == []


def test_a_tiny_map_grows(tmp_path: Path, tiny_maps: None) -> None:
    with open_store(tmp_path, {}) as store:
        calls = 0
        for number in range(50):

            def body(transaction: Transaction, number: int = number) -> None:
                nonlocal calls
                calls += 1
                transaction.count_visit(b"k|%d" % number, 1)
                transaction.put("payoff", b"k|%d" % number, np.full(2**number if number < 20 else 7, number))

            store.transact(body)
        assert calls > 50
        for number in range(50):
            found = store.get("payoff", b"k|%d" % number)
            assert found is not None
            assert (found == number).all()
            assert store.visits(b"k|%d" % number) == (1, 1)
        assert store.check() == []


def test_one_array_far_larger_than_the_map(tmp_path: Path, tiny_maps: None) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.arange(2_000_000))
        np.testing.assert_array_equal(store.get("payoff", b"k"), np.arange(2_000_000))


def test_a_body_that_swallows_the_full_map(tmp_path: Path, tiny_maps: None) -> None:
    def body(transaction: Transaction) -> None:
        with suppress(lmdb.Error):
            transaction.put("payoff", b"k", np.arange(100_000))

    with open_store(tmp_path, {}) as store:
        store.transact(body)
        np.testing.assert_array_equal(store.get("payoff", b"k"), np.arange(100_000))


def test_a_file_that_another_process_enlarged(tmp_path: Path, tiny_maps: None) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k|0", np.array(0))
        script = (
            "import sys, numpy as np, lockers\n"
            "store = lockers.open_store(sys.argv[1])\n"
            "for n in range(1, 30):\n"
            "    store.transact(lambda t: t.put('payoff', b'k|%d' % n, np.full(9999, n)))\n"
        )
        for use in ("get", "get_many", "keys", "transact"):
            subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
            if use == "get":
                assert store.get("payoff", b"k|29")[0] == 29  # type: ignore[index]
            elif use == "get_many":
                assert store.get_many("payoff", [b"k|29"])[0][0] == 29  # type: ignore[index]
            elif use == "keys":
                assert len(list(store.keys("payoff"))) == 30
            else:
                put(store, "payoff", b"k|0", np.full(9999, 7))
        assert store.check() == []


def test_a_file_that_another_process_enlarges_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = lmdb.open
    tries: list[int] = []

    def open_late(path: str, **options: object) -> lmdb.Environment:
        tries.append(1)
        if len(tries) < 3:
            raise lmdb.MapResizedError("mdb_txn_begin")
        return opened(path, **options)  # type: ignore[arg-type]

    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.array(1))
    monkeypatch.setattr(lmdb_module.lmdb, "open", open_late)
    with open_store(tmp_path) as store:
        assert store.get("payoff", b"k") == 1
    assert len(tries) == 3


def test_threads_and_growth(tmp_path: Path, tiny_maps: None) -> None:
    def write(worker: int) -> None:
        for number in range(40):
            key, side = b"%d|%d" % (number % 3, worker), SIDE * (1 + number % 5)
            store.transact(lambda transaction, key=key, side=side: visit(transaction, key, 0, side))

    def write_all() -> None:
        writing.extend(run_threads(*(partial(write, worker) for worker in range(4))))
        done.set()

    def read() -> None:
        while not done.is_set():
            for key in store.keys("regret"):
                regret = store.get("regret", key)
                assert regret is not None
                assert regret.min() == regret.max()

    with open_store(tmp_path, {}) as store:
        done, writing = threading.Event(), list[BaseException]()
        assert run_threads(read, read, write_all) == writing == []
        assert store.check() == []


def test_a_map_that_cannot_grow(tmp_path: Path) -> None:
    # The child may have only so much address space; the error leaves the store as it was.
    script = (
        "import resource, sys, numpy as np, lockers\n"
        "def fill(t):\n"
        "    for n in range(40):\n"
        "        t.put('payoff', b'%d' % n, np.full(131_072, n))\n"
        "store = lockers.open_store(sys.argv[1], {})\n"
        "store.close()\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, used + 2**27))\n"
        "store = lockers.open_store(sys.argv[1])\n"
        "store.transact(fill)\n"
        "try:\n"
        "    store.transact(fill)\n"
        "except lockers.LockerFullError as error:\n"
        "    print(error)\n"
        "assert store.get('payoff', b'7')[0] == 7\n"
        "store.transact(lambda t: t.put('payoff', b'k', np.arange(4)))\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "expected memory or address space" in child.stdout
    with open_store(tmp_path) as store:
        assert len(list(store.keys("payoff"))) == 41
        assert store.check() == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(tmp_path)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("mounting a small file system needs privileges that this user lacks")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def fill(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(descriptor, bytes(4096))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    finally:
        os.close(descriptor)


def visit_until_full(store: LmdbStore) -> tuple[int, LockerFullError]:
    """Visit one chunk after the other; return how many visits went well, and what ended them."""
    for number in range(1000):
        try:
            store.transact(lambda transaction, n=number: visit(transaction, b"k|%d" % n, 0, 100))
        except LockerFullError as error:
            return number, error
    raise AssertionError("the disk is never full")


def test_a_full_disk(small_disk: Path) -> None:
    with open_store(small_disk / "store", {}) as store:
        written, error = visit_until_full(store)
        assert "expected room for about 1" in str(error)
        assert "bytes free" in str(error)
        assert 5 < written < 20
        for _ in range(3):
            with pytest.raises(LockerFullError):
                store.transact(lambda transaction: visit(transaction, b"k|99", 0, 100))
        # Nothing of the last visit is there, all of the others is, and the store is in order.
        assert len(list(store.keys("regret"))) == len(list(store.keys("strategy"))) == written
        assert store.visits(b"k|%d" % written) == (0, 0)
        assert store.check() == []
        # With room again it goes on.
        subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
        store.transact(lambda transaction: visit(transaction, b"k|99", 0, 100))
        assert store.visits(b"k|99") == (1, 1)
        assert store.check() == []


def test_a_disk_that_is_full_from_the_start(small_disk: Path) -> None:
    fill(small_disk / "ballast")
    with pytest.raises(LockerFullError, match=r"expected room to write, found 0 bytes free and: .*ENOSPC"):
        open_store(small_disk / "store", {})
    (small_disk / "ballast").unlink()
    with open_store(small_disk / "store", {}) as store:
        put(store, "payoff", b"k", np.array(1))


def test_a_disk_that_is_full_when_a_store_is_opened(small_disk: Path) -> None:
    with open_store(small_disk / "store", {}) as store:
        put(store, "payoff", b"k", np.array(1))
    (small_disk / "store" / "lockers.mdb-lock").unlink()
    fill(small_disk / "ballast")
    with pytest.raises(LockerFullError, match="ENOSPC"):
        open_store(small_disk / "store")


def test_a_limit_on_file_sizes(tmp_path: Path) -> None:
    # Python ignores SIGXFSZ, so that the write fails instead (EFBIG, or a short write).
    script = (
        "import resource, sys, lockers\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from lockers_workers import visit\n"
        "store = lockers.open_store(sys.argv[1], {})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_001, 1_000_001))\n"
        "try:\n"
        "    for n in range(100):\n"
        "        store.transact(lambda t: visit(t, b'k|%d' % n, 0, 100))\n"
        "except lockers.LockerFullError as error:\n"
        "    print(n, error)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    written = int(child.stdout.split()[0])
    assert "expected room for about" in child.stdout
    with open_store(tmp_path) as store:
        assert len(list(store.keys("regret"))) == written > 3
        assert store.check() == []
        store.transact(lambda transaction: visit(transaction, b"k|%d" % written, 0, 100))


def test_a_read_only_file_system(small_disk: Path) -> None:
    with open_store(small_disk / "store", {}) as store:
        put(store, "payoff", b"k", np.array(1))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ReadOnlyLockerError, match="expected a folder and files that can be written"):
        open_store(small_disk / "store")
    with pytest.raises(ReadOnlyLockerError, match="expected a folder and files that can be written"):
        open_store(small_disk / "other", {})
    with open_store(small_disk / "store", read_only=True) as store:
        assert store.get("payoff", b"k") == 1
        assert store.check() == []


def lmdb_error(kind: type[lmdb.Error], code: int) -> lmdb.Error:
    """An error as LMDB's own code makes it."""
    error = kind("mdb_some_call")
    error.code = code  # type: ignore[misc]
    return error


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_files_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    open_store(tmp_path, {}).close()

    def refuse(path: str, **options: object) -> None:
        raise lmdb_error(lmdb.Error, code)

    monkeypatch.setattr(lmdb_module.lmdb, "open", refuse)
    with pytest.raises(
        ReadOnlyLockerError, match=r"lockers\.mdb: expected a folder and files that can be wr"
    ):
        open_store(tmp_path)


def test_a_user_without_rights(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    open_store(folder, {}).close()

    def work() -> None:
        with pytest.raises(ReadOnlyLockerError, match="Permission denied"):
            open_store(folder)
        with pytest.raises(ReadOnlyLockerError, match="Permission denied"):
            open_store(folder / "new", {})

    without_rights(folder, work)


def test_a_commit_that_failed_at_its_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panicking:
        def __init__(self, env: lmdb.Environment) -> None:
            self.env = env

        def begin(self, **options: object) -> object:
            raise lmdb.PanicError("mdb_txn_begin", -30795)

        def __getattr__(self, name: str) -> object:
            return getattr(self.env, name)

    with open_store(tmp_path, {}) as store:
        environment = store._attached()
        environment._env = Panicking(environment._env)  # type: ignore[arg-type, assignment]
        put(store, "payoff", b"k", np.array(1))  # in a new environment
        assert store.get("payoff", b"k") == 1
        opened = environment._open
        monkeypatch.setattr(environment, "_open", lambda: Panicking(opened()))
        environment.close()
        with pytest.raises(LockerError, match=r"lockers\.mdb: expected .*PANIC|mdb_txn_begin"):
            put(store, "payoff", b"k", np.array(1))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (lmdb_error(lmdb.DiskError, errno.ENOSPC), LockerFullError),
        (lmdb_error(lmdb.Error, errno.EFBIG), LockerFullError),
        (lmdb_error(lmdb.Error, errno.EIO), LockerFullError),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), LockerFullError),
        (OSError(errno.EACCES, "Permission denied"), ReadOnlyLockerError),
        (lmdb.ReadonlyError("mdb_put"), ReadOnlyLockerError),
        (lmdb_error(lmdb.MemoryError, errno.ENOMEM), LockerFullError),
        (lmdb_error(lmdb.CorruptedError, -30796), DamagedLockerError),
        (lmdb_error(lmdb.InvalidError, -30793), DamagedLockerError),
        (lmdb_error(lmdb.ReadersFullError, -30790), LockerError),
        (lmdb_error(lmdb.Error, errno.EMFILE), StorageError),
        (lmdb_error(lmdb.PanicError, -30795), StorageError),
        (OSError(errno.ENFILE, "Too many open files in system"), StorageError),
        (OSError(errno.EIO, "Input/output error"), StorageError),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), LockerFullError),
        (OSError(errno.ENOTDIR, "Not a directory"), LockerError),
    ],
)
def test_what_errors_mean(tmp_path: Path, error: lmdb.Error | OSError, kind: type[LockerError]) -> None:
    for path in (tmp_path / "file", tmp_path / "missing" / "file"):
        translated = translate(error, path, 100)
        assert type(translated) is kind
        assert str(translated).startswith(f"{path}: expected ")
        assert ", found" in str(translated)


def test_a_failure_inside_a_transaction(tmp_path: Path) -> None:
    class Failing:
        def put(self, full: bytes, value: bytes) -> bool:
            raise lmdb.CorruptedError("mdb_put", -30796)

    def body(transaction: Transaction) -> None:
        transaction._inner = Failing()  # type: ignore[attr-defined]
        try:
            transaction.put("payoff", b"k", np.array(1))
        except DamagedLockerError:
            return  # as if nothing had happened

    with open_store(tmp_path, {}) as store:
        with pytest.raises(DamagedLockerError, match="expected sound LMDB pages"):
            store.transact(body)
        assert store.get("payoff", b"k") is None
