"""Files that are not as they were written: clean errors or intact data, never a crash of this process."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import lmdb
import numpy as np
import pytest
from lockers_workers import put

from lockers import (
    DamagedLockerError,
    LmdbStore,
    LockerError,
    MemoryStore,
    StorageError,
    Transaction,
    open_store,
)
from lockers import audit as audit_module
from lockers import walk as walk_module
from lockers.codec import VISITS, encode, internal_key

NAME = "lockers.mdb"
KEYS = [b"%d|x" % number for number in range(130)]


def content(number: int) -> np.ndarray:
    """Arrays that lie among the keys, arrays on pages of their own, and some that take several."""
    return np.random.default_rng(number).integers(0, 2**62, (5, 400, 3000)[number % 3])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "store"
    with open_store(folder, {"game": "leduc"}) as store:
        for turn in range(2):  # the second time over pages that are given back: there is a list of free pages
            for number, key in enumerate(KEYS):

                def body(
                    transaction: Transaction, number: int = number, key: bytes = key, turn: int = turn
                ) -> None:
                    transaction.count_visit(key, turn + 1)
                    transaction.put("payoff", key, content(number))

                store.transact(body)
        assert store.check() == []
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "store"))


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (old,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([old ^ 1 << bit % 8]))


def all_intact(store: LmdbStore) -> bool:
    arrays = store.get_many("payoff", KEYS)
    return list(store.keys("payoff")) == sorted(KEYS) and all(
        array is not None and np.array_equal(array, content(number)) for number, array in enumerate(arrays)
    )


def sound(store: LmdbStore) -> bool:
    """Whether the structure of the file bears to be walked through by LMDB."""
    try:
        store.require_sound()
    except DamagedLockerError:
        return False
    return True


def put_raw(folder: Path, full: bytes, value: bytes) -> None:
    with (
        lmdb.open(str(folder / NAME), subdir=False, map_size=2**26) as env,
        env.begin(write=True) as transaction,
    ):
        transaction.put(full, value)


@pytest.mark.parametrize("left", ["half", "two pages", "one page", "half a page", "nothing"])
@pytest.mark.parametrize("read_only", [False, True])
def test_truncation(folder: Path, left: str, read_only: bool) -> None:
    path = folder / NAME
    size = path.stat().st_size
    bytes_left = {"half": size // 2, "two pages": 8192, "one page": 4096, "half a page": 2048, "nothing": 0}
    os.truncate(path, bytes_left[left])
    with pytest.raises(DamagedLockerError, match=r"lockers\.mdb: expected .*, found"):
        open_store(folder, {"game": "leduc"}, read_only=read_only)


def test_a_data_file_that_is_a_link_to_nowhere(folder: Path) -> None:
    path = folder / NAME
    with LmdbStore(folder, read_only=True) as store:
        path.unlink()
        path.symlink_to("nowhere")
        assert any(f"{NAME}: expected" in finding for finding in store.check())


def test_swapped_neighbouring_pages_are_an_error_or_found_by_the_verifier(folder: Path) -> None:
    """A page of an earlier commit in the place of its successor can hide keys from a reader, not from the verifier."""
    path = folder / NAME
    whole = path.read_bytes()
    refused = hidden = 0
    for number in range(2, len(whole) // 4096 - 1):
        pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
        pages[number], pages[number + 1] = pages[number + 1], pages[number]
        path.write_bytes(b"".join(pages))
        with LmdbStore(folder, read_only=True) as store:
            try:
                arrays = store.get_many("payoff", KEYS)
            except DamagedLockerError:
                refused += 1
            else:
                if any(array is None for array in arrays):
                    hidden += 1
                    assert not sound(store)
            if sound(store):
                assert list(store.keys("payoff")) == sorted(KEYS)  # a value is damaged at most
    assert refused > 300
    assert hidden < 3


def test_a_key_whose_page_was_swapped_is_an_error_and_not_absent(tmp_path: Path) -> None:
    """LMDB finds other keys on the page, and says that the key is absent; the search for its neighbours fails, too."""
    keys = [b"%03d" % number for number in range(200)]
    with open_store(tmp_path, {}) as store:
        for number, key in enumerate(keys):
            put(store, "payoff", key, np.arange(number % 60))
    path = tmp_path / NAME
    whole = path.read_bytes()
    pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        first, second = random.choice(np.arange(2, len(pages)), 2, replace=False)
        swapped = list(pages)
        swapped[first], swapped[second] = swapped[second], swapped[first]
        path.write_bytes(b"".join(swapped))
        with LmdbStore(tmp_path, read_only=True) as store:
            for key in keys:
                try:
                    store.get("payoff", key)
                except DamagedLockerError:
                    refused += 1
    assert refused > 400


@pytest.mark.parametrize("cut", [1, 4096, 5000])
def test_truncation_by_little(tmp_path: Path, cut: int) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.arange(3000))
    size = (tmp_path / NAME).stat().st_size
    os.truncate(tmp_path / NAME, size - cut)
    if cut > 1:
        told = f"expected {size:,} bytes, found {size - cut:,}: the file was cut off"
        with pytest.raises(DamagedLockerError, match=told):
            open_store(tmp_path)
        return
    with open_store(tmp_path) as store:  # the cut is behind the last value
        np.testing.assert_array_equal(store.get("payoff", b"k"), np.arange(3000))
        put(store, "payoff", b"l", np.array(1))
        assert store.check() == []


def test_truncation_anywhere(folder: Path, template: Path) -> None:
    # The last pages may be free ones: then nothing is lost, and nothing is said.
    path = folder / NAME
    size = path.stat().st_size
    for length in np.linspace(size - 1, 0, 20, dtype=int).tolist() + list(
        range(size - 4096, size - 80_000, -4096)
    ):
        shutil.copy(template / path.name, path)
        os.truncate(path, length)
        try:
            with open_store(folder) as store:
                assert all_intact(store)
                assert sound(store)
        except DamagedLockerError:
            continue


def test_truncation_is_found_by_an_open_store_too(folder: Path) -> None:
    with open_store(folder) as store:
        os.truncate(folder / NAME, 4096)
        assert [finding for finding in store.check() if f"{NAME}: expected" in finding]


def test_a_second_store_refuses_a_file_that_was_cut_off_while_the_first_has_it_open(folder: Path) -> None:
    """Both share LMDB's map of the file, and reading a missing page of it would end the process."""
    with open_store(folder) as store:
        assert store.get("payoff", KEYS[0]) is not None
        os.truncate(folder / NAME, 8192)
        with pytest.raises(DamagedLockerError, match=r"expected [0-9,]+ bytes, found 8,192"):
            open_store(folder, read_only=True)
        with pytest.raises(DamagedLockerError, match=r"expected [0-9,]+ bytes, found 8,192"):
            store.probe()


def test_a_file_may_end_with_pages_that_were_never_written(tmp_path: Path) -> None:
    # A large array that is replaced within its own transaction gives back its pages before they are written.
    def body(transaction: Transaction) -> None:
        transaction.put("payoff", b"k", np.zeros(100_000))
        transaction.put("payoff", b"k", np.arange(3))

    with open_store(tmp_path, {}) as store:
        for number in range(10):
            put(store, "payoff", b"k", np.full(3000, number))
        store.transact(body)
    path = tmp_path / NAME
    size = path.stat().st_size
    assert size > 800_000  # the file is as long as LMDB says
    os.truncate(path, size - 500_000)  # as it is where the writer was killed right after its commit
    with open_store(tmp_path) as store:
        np.testing.assert_array_equal(store.get("payoff", b"k"), np.arange(3))
        assert store.check() == []
        put(store, "payoff", b"l", np.zeros(100_000))
        put(store, "payoff", b"k", np.zeros(100_000))
        assert store.check() == []


def test_a_snapshot_refuses_a_file_that_was_cut_off_meanwhile(folder: Path) -> None:
    path = folder / NAME
    whole = path.read_bytes()
    with open_store(folder, read_only=True) as store:
        with store.snapshot():
            np.testing.assert_array_equal(store.get("payoff", KEYS[1]), content(1))
        os.truncate(path, len(whole) // 2)
        with pytest.raises(DamagedLockerError, match="the missing bytes are in use"), store.snapshot():
            pytest.fail("a read of a missing page would end the process")
        path.write_bytes(whole)
        with store.snapshot():
            np.testing.assert_array_equal(store.get("payoff", KEYS[1]), content(1))


def test_a_flipped_bit_in_an_array_is_found_when_it_is_read(folder: Path) -> None:
    items = content(2).tobytes()
    path = folder / NAME
    pages = path.read_bytes()
    last = pages.rfind(items)
    flip(path, 8 * (last + 777))
    # The other copy, from the first turn, may lie on a free page: flip it as well.
    first = pages.find(items)
    if first != last:
        flip(path, 8 * (first + 777))
    message = f"locker 'payoff', key {KEYS[2].hex()}: expected checksum"
    with open_store(folder) as store:
        with pytest.raises(DamagedLockerError, match=f"{path}: {message}"):
            store.get("payoff", KEYS[2])
        with pytest.raises(DamagedLockerError, match=f"{path}: {message}"):
            store.get_many("payoff", KEYS)
        with pytest.raises(DamagedLockerError, match=f"{path}: {message}"):
            store.transact(lambda transaction: transaction.get("payoff", KEYS[2]))
        np.testing.assert_array_equal(store.get("payoff", KEYS[1]), content(1))
        (finding,) = store.check()
        assert message in finding
        put(store, "payoff", KEYS[2], content(2))
        assert store.check() == []


def flips_anywhere(folder: Path, template: Path, count: int, seed: int) -> dict[str, int]:
    generator = np.random.default_rng(seed)
    outcomes = {"refused": 0, "found": 0, "intact": 0}
    for _ in range(count):
        path = folder / NAME
        shutil.copy(template / path.name, path)
        pages = path.stat().st_size // 4096
        # Half of them in what holds the tree together: meta pages, and the first bytes of pages.
        if generator.random() < 0.5:
            page = int(generator.integers(2 if generator.random() < 0.3 else pages))
            bit = 8 * 4096 * page + int(generator.integers(8 * 160))
        else:
            bit = int(generator.integers(8 * path.stat().st_size))
        flip(path, bit)
        try:
            with open_store(folder, read_only=True) as store:
                findings = store.check()
                if not findings:
                    assert all_intact(store), f"bit {bit} of {path.name}: nothing found, but the data changed"
                assert all("expected" in finding for finding in findings), findings
                outcomes["found" if findings else "intact"] += 1
        except DamagedLockerError:
            outcomes["refused"] += 1
        shutil.copy(template / path.name, path)
    return outcomes


def test_bits_flipped_anywhere(folder: Path, template: Path) -> None:
    outcomes = flips_anywhere(folder, template, 12, seed=1)
    assert outcomes["found"] > 0
    assert outcomes["intact"] > 0


@pytest.mark.slow
def test_many_bits_flipped_anywhere(folder: Path, template: Path) -> None:
    outcomes = flips_anywhere(folder, template, 300, seed=2)
    assert min(outcomes.values()) > 0, outcomes


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("page", [0, 1])
def test_a_zeroed_meta_page_is_restored_from_the_other(
    folder: Path, page: int, read_only: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with open_store(folder) as store:
        store.transact(lambda transaction: transaction.put("payoff", b"last", np.arange(3)))
        last = store._attached().commit() % 2
    content = bytearray((folder / NAME).read_bytes())
    content[4096 * page : 4096 * (page + 1)] = bytes(4096)
    (folder / NAME).write_bytes(content)
    with open_store(folder, read_only=read_only) as store:
        assert [store.get("payoff", key) is not None for key in KEYS] == [True] * len(KEYS)
        assert (store.get("payoff", b"last") is None) is (page == last)
        assert store.check() == []
    assert "restored a damaged meta page" in caplog.text
    with open_store(folder) as store:
        store.transact(lambda transaction: transaction.put("payoff", b"next", np.arange(3)))
        assert store.check() == []


def test_a_meta_page_is_not_restored_where_more_is_damaged_or_nothing_may_be_written(folder: Path) -> None:
    path = folder / NAME
    whole = path.read_bytes()
    for content in (bytes(8192) + whole[8192:], bytes(4096) + whole[4096:8192] + bytes(len(whole) - 8192)):
        path.write_bytes(content)
        with pytest.raises(DamagedLockerError):
            open_store(folder)
        assert path.read_bytes() == content
    path.write_bytes(bytes(4096) + whole[4096:])
    path.chmod(0o444)
    with pytest.raises(DamagedLockerError, match="expected sound LMDB pages"):
        open_store(folder, read_only=True)
    path.chmod(0o644)
    assert path.read_bytes() == bytes(4096) + whole[4096:]


@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("page", [0, 1])
def test_every_bit_of_the_meta_pages(folder: Path, template: Path, page: int, step: int) -> None:
    # No child here: whatever passes is opened and read in this process.
    path = folder / NAME
    told = 0
    for bit in range(8 * 4096 * page + step // 2, 8 * (4096 * page + 16 + 136), step):
        shutil.copy(template / path.name, path)
        flip(path, bit)
        try:
            with open_store(folder, read_only=True) as store:
                if sound(store):
                    assert all_intact(store), f"bit {bit}"
                else:
                    told += 1
        except LockerError:
            told += 1
    assert told > 100 // step  # LMDB goes by the newer of both meta pages


@pytest.mark.parametrize(
    ("full", "value", "message"),
    [
        (b"no separator", b"", "expected a locker name, a zero byte and a key"),
        (b"pay off\0k", b"", "expected a locker name, a zero byte and a key"),
        (b"payoff\0", b"", "expected a locker name, a zero byte and a key"),
        (b"payoff\0k", b"short", "locker 'payoff', key 6b: expected a header of 16 bytes, found 5 bytes"),
        (b"payoff\0k", b"x" * 50, "locker 'payoff', key 6b: expected magic 4c4f434b, found 78787878"),
    ],
)
def test_check_finds_entries_that_no_store_writes(
    folder: Path, full: bytes, value: bytes, message: str
) -> None:
    put_raw(folder, full, value)
    with open_store(folder) as store:
        (finding,) = store.check()
    assert message in finding


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (np.array([2, 1], np.int64), "expected 1 <= visits <= last id, found 2 visits, last id 1"),
        (np.array([0, 1], np.int64), "found 0 visits, last id 1"),
        (np.array([1, 1], np.int32), r"expected a visit record of two int64, found int32 \(2,\)"),
        (np.array([1, 1, 1], np.int64), r"expected a visit record of two int64, found int64 \(3,\)"),
    ],
)
def test_check_finds_bad_visit_records(folder: Path, record: np.ndarray, message: str) -> None:
    full = internal_key(VISITS, b"k")
    put_raw(folder, full, encode(record, full))
    with open_store(folder) as store:
        with pytest.raises(DamagedLockerError, match=message):
            store.visits(b"k")
        (finding,) = store.check()
        assert "key 6b" in finding
    memory = MemoryStore()
    memory._values[full] = encode(record, full)
    assert len(memory.check()) == 1


def test_check_finds_pages_that_belong_nowhere(folder: Path) -> None:
    path = folder / NAME
    data = bytearray(path.read_bytes())
    # The root of the tree, as the newest meta page names it, is a branch page: lead its first pointer astray.
    with open_store(folder) as store:
        newest = store._attached().commit() % 2
    (root,) = struct.unpack_from("=Q", data, 4096 * newest + 16 + 24 + 48 + 40)
    flags, _, _, first = struct.unpack_from("=4H", data, 4096 * root + 10)
    assert flags == 1
    data[4096 * root + first] ^= 1
    path.write_bytes(data)
    with open_store(folder, read_only=True) as store:
        findings = store.check()
    assert findings
    assert all(f"{NAME}: expected sound LMDB pages, found: " in finding for finding in findings)


WALKER = """
import os, signal, sys
print('{"finding": "one"}', flush=True)
{death}
"""


@pytest.mark.parametrize(
    ("death", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the process that read it was stopped by SIGSEGV"),
        ("os.abort()", "the process that read it was stopped by SIGABRT"),
        ("import time; time.sleep(100)", "the process that read it took more than 3 seconds"),
        ("sys.exit('no luck')", "the process that read it exited with 1 no luck"),
        (
            "print('{\"finding\": \"cut', end='', flush=True); os._exit(0)",
            "the process that read it exited with 0",
        ),
    ],
)
def test_a_walk_that_crashes_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, death: str, message: str
) -> None:
    script = tmp_path / "walker.py"
    script.write_text(WALKER.replace("{death}", death))
    run = subprocess.run

    def run_script(command: list[str], **options):  # type: ignore[no-untyped-def]
        assert command[:3] == [sys.executable, "-m", "lockers.walk"]
        return run([sys.executable, str(script), *command[3:]], **options)

    monkeypatch.setattr(audit_module.subprocess, "run", run_script)
    path = tmp_path / NAME
    one, ending = audit_module.data_file_findings(path, limit=3.0 if "sleep" in death else 60.0)
    assert one == "one"
    assert ending.startswith(f"{path}: the file is damaged: ")
    assert message in ending


def test_a_walk_that_never_begins_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    (finding,) = audit_module.data_file_findings(tmp_path / NAME)
    assert "the process that read it exited with 1" in finding


def test_a_walk_on_a_machine_that_fails_finds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(environment: object) -> None:
        raise StorageError("too many open files")

    lines: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(walk_module, "file_findings", fail)
        patched.setattr(sys.stdout, "write", lines.append)
        walk_module.main(str(tmp_path / NAME))
    child = subprocess.CompletedProcess([], 0, "".join(lines).encode(), b"")
    monkeypatch.setattr(audit_module.subprocess, "run", lambda *_, **__: child)
    with pytest.raises(StorageError, match="too many open files"):
        audit_module.data_file_findings(tmp_path / NAME)
