"""Creating and opening a folder: manifests, interrupted creations, foreign folders, several handles."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import threading
from pathlib import Path

import lmdb
import lockers_workers
import numpy as np
import pytest
from lockers_workers import put, run_all, run_threads

from lockers import (
    DamagedLockerError,
    LmdbStore,
    LockerError,
    ManifestMismatchError,
    holds_store,
    open_store,
    remove_store,
)
from lockers import files as files_module
from lockers.lmdb import _ALL


def in_use(folder: Path) -> int:
    return sum(environment.users > 0 and environment.path.is_relative_to(folder) for environment in _ALL)


def test_a_folder_is_created_with_its_parents(tmp_path: Path) -> None:
    with open_store(tmp_path / "a" / "b", {"game": "kuhn"}) as store:
        assert dict(store.manifest) == {"game": "kuhn"}
    names = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert names == ["lockers.mdb", "lockers.mdb-lock", "manifest.json"]
    content = json.loads((tmp_path / "a" / "b" / "manifest.json").read_text())
    assert (content["format"], content["manifest"]) == (2, {"game": "kuhn"})


def test_names_of_folders_need_not_be_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"b\xff\xc3\xbc")
    with open_store(folder, {}) as store:
        put(store, "payoff", b"k", np.array(1))
        store.compact()
    with open_store(folder, read_only=True) as store:
        assert store.get("payoff", b"k") == 1


def test_another_manifest_names_all_that_differs(tmp_path: Path) -> None:
    ours = {
        "game": "kuhn",
        "rows": {"flop": 40, "turn": 40},
        "version": 1,
        "only here": None,
        "sizes": [1, 2],
    }
    open_store(tmp_path, {"game": "kuhn", "rows": {"flop": 40, "turn": "hands"}, "version": "1"}).close()
    with pytest.raises(ManifestMismatchError) as error:
        open_store(tmp_path, ours)
    assert str(error.value) == (
        f"{tmp_path} holds the lockers of another job: only here: expected null, found nothing; "
        'rows.turn: expected 40, found "hands"; sizes: expected [1, 2], found nothing; '
        'version: expected 1, found "1"'
    )
    with pytest.raises(ManifestMismatchError, match="rows"):
        open_store(tmp_path, ours, read_only=True)
    assert in_use(tmp_path) == 0


def test_another_manifest_is_told_in_short(tmp_path: Path) -> None:
    open_store(tmp_path, {str(n): "x" * 5000 for n in range(100)}).close()
    with pytest.raises(ManifestMismatchError, match="; 94 more keys differ") as error:
        open_store(tmp_path, {str(n): "y" * 5000 for n in range(100)})
    assert len(str(error.value).removeprefix(str(tmp_path))) < 1000


def test_an_empty_group_is_not_no_group(tmp_path: Path) -> None:
    open_store(tmp_path, {"rows": {}}).close()
    open_store(tmp_path, {"rows": {}}).close()
    with pytest.raises(ManifestMismatchError, match=r"rows: expected nothing, found \{\}"):
        open_store(tmp_path, {})


@pytest.mark.parametrize("manifest", [{"a": {1, 2}}, {"a": float("nan")}, {"a": b"bytes"}])
def test_a_manifest_is_json(tmp_path: Path, manifest: dict) -> None:
    with pytest.raises(LockerError, match=f"manifest of {tmp_path}: expected JSON values, found"):
        open_store(tmp_path, manifest)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read_only", [False, True])
def test_nothing_is_there(tmp_path: Path, read_only: bool) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LockerError, match=f"{folder}: expected a store, found no manifest.json"):
            open_store(folder, read_only=read_only)
    with pytest.raises(LockerError, match=r"expected a store, found no manifest\.json"):
        open_store(tmp_path / "missing", {"a": 1}, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "thesis.tex"
    file.write_text("years of work")
    with pytest.raises(LockerError, match=r"expected a store or an empty folder, found thesis\.tex"):
        open_store(tmp_path, {})
    for manifest in (None, {}):
        with pytest.raises(LockerError, match=str(file)):
            open_store(file, manifest)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_interrupted_creation_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def die(*arguments: object) -> None:
        raise Killed

    monkeypatch.setattr(files_module, "write_manifest", die)
    with pytest.raises(Killed):
        open_store(tmp_path, {"a": 1})
    (tmp_path / ".lockers.mdb.1234.tmp").write_bytes(b"")
    (tmp_path / ".manifest.json.1234.tmp").write_text('{"format"')
    monkeypatch.undo()
    with open_store(tmp_path, {"a": 1}) as store:
        put(store, "payoff", b"k", np.array(1))
        assert store.check() == []


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda text: "", DamagedLockerError, "expected a JSON object with format"),
        (lambda text: "[]", DamagedLockerError, "expected a JSON object with format"),
        (lambda text: text[: len(text) // 2], DamagedLockerError, "expected a JSON object with format"),
        (lambda text: "\udcff" + text, DamagedLockerError, "expected a JSON object with format"),
        (lambda text: text.replace("kuhn", "kuhm"), DamagedLockerError, "expected checksum"),
        (
            lambda text: text.replace('"format": 2', '"format": 3'),
            LockerError,
            "expected format version 2, found 3",
        ),
    ],
    ids=["empty", "list", "half", "no text", "changed", "newer"],
)
def test_a_bad_manifest(tmp_path: Path, change, kind: type[LockerError], message: str) -> None:
    store = open_store(tmp_path, {"game": "kuhn"})
    path = tmp_path / "manifest.json"
    path.write_text(change(path.read_text()), errors="surrogateescape")
    with pytest.raises(kind, match=message) as error:
        open_store(tmp_path, {"game": "kuhn"})
    assert type(error.value) is kind
    assert any(message in finding for finding in store.check())
    store.close()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"kuhn"', b'"kuhn\xff"'),
        (b": 2,", b": " + b"[" * 9000 + b"]" * 9000 + b","),
        (b": 2,", b": 1%d," % 10**4000),
    ],
    ids=["no text", "nested", "long"],
)
def test_a_bad_manifest_is_told_in_short(tmp_path: Path, old: bytes, new: bytes) -> None:
    open_store(tmp_path, {"game": "kuhn", "text": "x" * 5000}).close()
    path = tmp_path / "manifest.json"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(LockerError, match=r"manifest\.json: expected") as error:
        open_store(tmp_path)
    assert len(str(error.value)) < 400


def test_a_manifest_that_is_no_object(tmp_path: Path) -> None:
    open_store(tmp_path, {}).close()
    content = {"format": 2, "manifest": [1]}
    text = json.dumps(content | {"crc32": files_module._checksum(content)})
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DamagedLockerError, match="expected a manifest of the job, found"):
        open_store(tmp_path)


def test_a_missing_manifest(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        put(store, "payoff", b"k", np.array(1))
    (tmp_path / "manifest.json").unlink()
    for manifest in (None, {}):
        with pytest.raises(
            DamagedLockerError, match=r"expected manifest\.json beside lockers.mdb, found none"
        ):
            open_store(tmp_path, manifest)


def test_a_missing_data_file(tmp_path: Path) -> None:
    store = open_store(tmp_path, {})
    (tmp_path / "lockers.mdb").unlink()
    message = "lockers.mdb: expected a data file, found none"
    assert [finding for finding in store.check() if message in finding]
    store.close()
    with pytest.raises(DamagedLockerError, match=message):
        open_store(tmp_path)
    assert in_use(tmp_path) == 0


def test_a_data_file_that_is_lost_before_it_is_opened_again(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        store._attached().close()
        (tmp_path / "lockers.mdb").unlink()
        with pytest.raises(DamagedLockerError, match=r"lockers\.mdb: expected a data file, found none"):
            store.get("payoff", b"k")


def test_the_lock_file_may_be_written_by_whoever_may_read_the_data(tmp_path: Path) -> None:
    for mode, lock_mode in ((0o644, 0o666), (0o640, 0o660), (0o600, 0o600), (0o664, 0o666)):
        folder = tmp_path / f"{mode:o}"
        open_store(folder, {}).close()
        (folder / "lockers.mdb").chmod(mode)
        (folder / "lockers.mdb-lock").chmod(0o600)
        open_store(folder).close()
        assert (folder / "lockers.mdb-lock").stat().st_mode & 0o777 == lock_mode


def test_a_missing_lock_file_is_made_again(tmp_path: Path) -> None:
    open_store(tmp_path, {}).close()
    (tmp_path / "lockers.mdb-lock").unlink()
    with open_store(tmp_path) as store:
        put(store, "payoff", b"k", np.array(1))
    status = (tmp_path / "lockers.mdb-lock").stat()
    assert status.st_blocks * 512 >= status.st_size > 64 * 1024


def test_handles_share_what_they_open(tmp_path: Path) -> None:
    first = open_store(tmp_path, {})
    link = tmp_path.with_name("link")
    link.symlink_to(tmp_path)
    reader = open_store(link, read_only=True)
    first.close()
    second = open_store(tmp_path)  # the environments are open for reading only by now, or still for writing
    put(second, "payoff", b"k", np.array(1))
    assert reader.get("payoff", b"k") == 1
    assert in_use(tmp_path) == 1
    reader.close()
    put(second, "payoff", b"k", np.array(2))
    second.close()
    assert in_use(tmp_path) == 0


def test_a_writer_may_come_after_a_reader(tmp_path: Path) -> None:
    open_store(tmp_path, {}).close()
    with open_store(tmp_path, read_only=True) as reader:
        assert reader.get("payoff", b"k") is None
        with open_store(tmp_path) as writer:
            put(writer, "payoff", b"k", np.array(1))
            assert reader.get("payoff", b"k") == 1
        assert reader.get("payoff", b"k") == 1


def test_a_forgotten_store_lets_go(tmp_path: Path) -> None:
    store = open_store(tmp_path, {})
    assert in_use(tmp_path) == 1
    del store
    gc.collect()
    assert in_use(tmp_path) == 0


def test_a_folder_that_was_replaced_is_another_store(tmp_path: Path) -> None:
    old = open_store(tmp_path / "store", {})
    put(old, "payoff", b"k", np.array(1))
    (tmp_path / "store").rename(tmp_path / "old")
    with open_store(tmp_path / "store", {}) as new:
        assert new.get("payoff", b"k") is None
        assert old.get("payoff", b"k") == 1
    old.close()


def test_eight_processes_create_one_folder(tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process
    folder = tmp_path / "store"
    codes = run_all(*(process(target=lockers_workers.create_and_count, args=(folder,)) for _ in range(8)))
    assert codes == [0] * 8
    with open_store(folder) as store:
        assert store.get("visit", b"k") == 8
        assert store.check() == []


def test_its_name(tmp_path: Path) -> None:
    assert repr(LmdbStore(tmp_path, read_only=True)) == f"LmdbStore({str(tmp_path)!r}, read_only=True)"


@pytest.mark.parametrize("path", ["manifest.json", "lockers.mdb"])
def test_files_that_may_not_be_read(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(tmp_path, {}).close()
    # Root may read everything: refuse in its place.
    read_bytes = Path.read_bytes
    lmdb_open = lmdb.open

    def refuse(name: object) -> None:
        if os.fsdecode(name).endswith(path):
            raise PermissionError(13, "Permission denied", str(name))

    monkeypatch.setattr(lmdb, "open", lambda name, **options: refuse(name) or lmdb_open(name, **options))
    monkeypatch.setattr(Path, "read_bytes", lambda self: refuse(self) or read_bytes(self))
    with pytest.raises(LockerError, match=f"{path}: expected to be able to read it, .*Permission denied"):
        open_store(tmp_path, read_only=True)


def test_a_store_that_lost_a_data_file_is_removed_all_the_same(tmp_path):
    open_store(tmp_path / "s", {"a": 1}).close()
    (tmp_path / "s" / "lockers.mdb").unlink()
    remove_store(tmp_path / "s")
    assert not holds_store(tmp_path / "s")
    open_store(tmp_path / "s", {"a": 2}).close()


def test_keys_that_are_read_on_after_the_end_open_no_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a", {})
    store.transact(lambda t: [t.put("payoff", b"%05d" % i, np.array(1)) for i in range(3000)])
    keys = store.keys("payoff")
    next(keys)
    store.close()
    with pytest.raises(LockerError, match="expected an open store, found a closed one"):
        list(keys)
    assert not in_use(tmp_path)


def test_a_read_that_comes_after_a_close_in_another_thread_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", {})
    put(store, "payoff", b"key", np.ones(3))
    environment = store._attached()  # what a reading thread has in hand when another thread closes the store
    store.close()
    with pytest.raises(LockerError, match="the store was closed"):
        environment.read(lambda transaction: None)
    with pytest.raises(LockerError, match="the store was closed"):
        environment.probe()
    # A late read would open the file beside the table of open files, and LMDB would refuse every later store.
    with open_store(tmp_path / "store") as again:
        assert again.get("payoff", b"key") is not None


def test_threads_that_read_while_another_closes_get_arrays_or_errors(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with open_store(folder, {}) as store:
        put(store, "payoff", b"key", np.ones(3))
    for _ in range(30):
        store, started = open_store(folder), threading.Barrier(4)

        def read(store: LmdbStore = store, started: threading.Barrier = started) -> None:
            started.wait()
            while store.get("payoff", b"key") is not None:
                pass

        def close(store: LmdbStore = store, started: threading.Barrier = started) -> None:
            started.wait()
            store.close()

        assert [type(error) for error in run_threads(read, read, read, close)] == [LockerError] * 3
    with open_store(folder) as store:
        assert store.get("payoff", b"key") is not None
