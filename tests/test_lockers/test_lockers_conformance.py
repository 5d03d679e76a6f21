"""What every store must do: one class of tests, passed by the one on disk and by its memory twin."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from lockers_workers import count, put, run_threads

from lockers import (
    LmdbStore,
    LockerError,
    MemoryStore,
    ReadOnlyLockerError,
    Store,
    Transaction,
    open_store,
)

MANIFEST = {"game": "leduc", "rows": {"flop": 40}, "sizes": [1, 2]}


def mapped_bytes(folder: Path) -> int:
    """Bytes of the files in a folder that are mapped into this process's memory, and in memory now."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            inside = str(folder) in line
        elif inside and line.startswith("Rss:"):
            total += 1024 * int(line.split()[1])
    return total


class StoreConformance:
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        pytest.fail("each backend gives its own")

    @pytest.fixture
    def read_only(self, store: Store) -> Iterator[Store]:
        """A read-only store with nothing in it."""
        pytest.fail("each backend gives its own")

    def test_manifest_is_what_was_given_as_json(self, store: Store) -> None:
        assert dict(store.manifest) == MANIFEST
        with pytest.raises(TypeError):
            store.manifest["game"] = "kuhn"  # type: ignore[index]

    def test_absent_key(self, store: Store) -> None:
        assert store.get("payoff", b"a|b") is None
        assert store.get_many("payoff", [b"a", b"b"]) == [None, None]
        assert list(store.keys("payoff")) == []
        assert store.visits(b"a") == (0, 0)
        assert not store.transact(lambda transaction: transaction.delete("payoff", b"a"))

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(15.0).reshape(3, 5),
            np.array(7, np.int8),
            np.zeros((0, 4), np.float32),
            np.array([True, False]),
            np.arange(24, dtype=np.uint16).reshape(2, 3, 4)[:, ::2, ::-1],
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        ],
        ids=["matrix", "no axes", "empty", "bool", "strided", "fortran"],
    )
    def test_put_then_get(self, store: Store, array: np.ndarray) -> None:
        put(store, "payoff", b"board|line", array)
        for found in (store.get("payoff", b"board|line"), *store.get_many("payoff", [b"board|line"])):
            assert found is not None
            assert found.dtype == array.dtype
            assert found.shape == array.shape
            np.testing.assert_array_equal(found, array)

    def test_what_comes_out_is_a_copy_of_its_own(self, store: Store) -> None:
        array = np.arange(4.0)
        put(store, "payoff", b"k", array)
        array[:] = 9
        first = store.get("payoff", b"k")
        assert first is not None
        np.testing.assert_array_equal(first, np.arange(4.0))
        first[:] = 7
        np.testing.assert_array_equal(store.get("payoff", b"k"), np.arange(4.0))

    def test_lockers_do_not_share_keys(self, store: Store) -> None:
        put(store, "payoff", b"k", np.array([1]))
        put(store, "strategy", b"k", np.array([2]))
        store.transact(lambda transaction: transaction.delete("payoff", b"k"))
        assert store.get("payoff", b"k") is None
        np.testing.assert_array_equal(store.get("strategy", b"k"), [2])

    def test_keys_are_sorted_and_filtered_by_prefix(self, store: Store) -> None:
        keys = [b"%d|%d" % (board, line) for board in range(20) for line in range(3)] + [b"\xff\xff", b"\0"]
        for key in keys:
            put(store, "payoff", key, np.array(1))
        put(store, "payoffs", b"1|9", np.array(1))
        assert list(store.keys("payoff")) == sorted(keys)
        assert list(store.keys("payoff", b"1")) == sorted(key for key in keys if key.startswith(b"1"))
        assert list(store.keys("payoff", b"12|")) == [b"12|0", b"12|1", b"12|2"]

    def test_get_many_keeps_order_and_repeats(self, store: Store) -> None:
        for number in range(30):
            put(store, "payoff", b"%d|x" % number, np.array(number))
        wanted = [29, 3, 40, 3, 0]
        found = store.get_many("payoff", [b"%d|x" % number for number in wanted])
        assert [None if array is None else int(array) for array in found] == [29, 3, None, 3, 0]
        assert store.get_many("payoff", []) == []

    def test_a_snapshot_reads_one_commit(self, store: Store) -> None:
        put(store, "payoff", b"k", np.array(1))
        writer = threading.Thread(target=put, args=(store, "payoff", b"k", np.array(2)))
        with store.snapshot() as commit, store.snapshot() as inner:
            writer.start()
            writer.join(0.1)  # a store may let the writer wait until the snapshot has ended
            assert inner == commit
            assert store.get("payoff", b"k") == 1
            assert store.get_many("payoff", [b"k"]) == [1]
        writer.join()
        assert store.get("payoff", b"k") == 2
        with store.snapshot() as later:
            assert later > commit
        with store.snapshot() as same:
            assert same == later

    def test_an_error_in_a_snapshot_stays_that_error(self, store: Store) -> None:
        with pytest.raises(OSError, match="of the caller"), store.snapshot():
            raise OSError("of the caller")
        put(store, "payoff", b"k", np.array(1))  # the snapshot has ended
        assert store.get("payoff", b"k") == 1

    def test_keys_while_writing(self, store: Store) -> None:
        for number in range(10):
            put(store, "payoff", b"%d" % number, np.array(number))
        seen = []
        for key in store.keys("payoff"):
            put(store, "strategy", key, np.zeros(10_000))
            seen.append(key)
        assert seen == list(store.keys("strategy"))

    def test_a_transaction_sees_its_own_writes_and_returns_an_answer(self, store: Store) -> None:
        put(store, "payoff", b"b|1", np.array(1))

        def body(transaction: Transaction) -> str:
            transaction.put("payoff", b"b|2", np.array(2))
            assert transaction.delete("payoff", b"b|1")
            assert not transaction.delete("payoff", b"b|1")
            assert transaction.get("payoff", b"b|1") is None
            assert transaction.get("payoff", b"b|2") == 2
            # Outside the transaction nothing has happened yet.
            assert store.get("payoff", b"b|1") == 1
            assert store.get("payoff", b"b|2") is None
            return "done"

        assert store.transact(body) == "done"
        assert list(store.keys("payoff")) == [b"b|2"]

    def test_an_error_undoes_everything(self, store: Store) -> None:
        put(store, "payoff", b"b|1", np.array(1))

        def body(transaction: Transaction) -> None:
            transaction.put("payoff", b"b|1", np.array(2))
            transaction.put("strategy", b"b|1", np.array(2))
            transaction.count_visit(b"b|1", 5)
            transaction.delete("payoff", b"b|1")
            raise KeyboardInterrupt("as if the user had enough")

        with pytest.raises(KeyboardInterrupt, match="had enough"):
            store.transact(body)
        assert store.get("payoff", b"b|1") == 1
        assert store.get("strategy", b"b|1") is None
        assert store.visits(b"b|1") == (0, 0)
        assert store.check() == []

    def test_a_visit_counts_once(self, store: Store) -> None:
        def count(visit_id: int) -> tuple[bool, tuple[int, int]]:
            def body(transaction: Transaction) -> tuple[bool, tuple[int, int]]:
                return transaction.count_visit(b"b|x", visit_id), transaction.visits(b"b|x")

            return store.transact(body)

        assert count(0) == (False, (0, 0))
        assert count(-3) == (False, (0, 0))
        assert count(3) == (True, (1, 3))
        assert count(3) == (False, (1, 3))
        assert count(2) == (False, (1, 3))
        assert count(2**63 - 1) == (True, (2, 2**63 - 1))
        with pytest.raises(
            LockerError, match=r"visit of key 627c78: expected an id of at most \d+, found \d+"
        ):
            count(2**63)
        assert store.visits(b"b|x") == (2, 2**63 - 1)
        assert store.visits(b"b|y") == (0, 0)

    def test_a_transaction_may_touch_every_key(self, store: Store) -> None:
        def body(transaction: Transaction) -> None:
            transaction.put("payoff", b"b|1", np.array(1))
            transaction.put("payoff", b"c|1", np.array(2))
            transaction.count_visit(b"d", 1)
            if store.visits(b"d") != (0, 0):
                raise KeyboardInterrupt

        store.transact(body)
        with pytest.raises(KeyboardInterrupt):
            store.transact(body)
        assert store.get_many("payoff", [b"b|1", b"c|1"]) == [1, 2]
        assert store.visits(b"d") == (1, 1)
        assert store.check() == []

    def test_transactions_do_not_nest(self, store: Store) -> None:
        with pytest.raises(LockerError, match="expected no transaction in this thread"):
            store.transact(lambda outer: store.transact(lambda inner: None))
        store.transact(lambda outer: None)

    def test_a_transaction_ends_with_its_function(self, store: Store) -> None:
        kept = store.transact(lambda transaction: transaction)
        for use in (
            lambda: kept.get("payoff", b"b"),
            lambda: kept.put("payoff", b"b", np.array(1)),
            lambda: kept.delete("payoff", b"b"),
            lambda: kept.count_visit(b"b", 1),
        ):
            with pytest.raises(LockerError, match="the transaction has ended"):
                use()

    @pytest.mark.parametrize(
        ("locker", "key", "message"),
        [
            ("", b"k", "a locker's name: .*found ''"),
            (".ticket", b"k", "a locker's name: .*found '.ticket'"),
            ("pay off", b"k", "a locker's name"),
            ("größe", b"k", "a locker's name"),
            ("x" * 33, b"k", "a locker's name"),
            ("payoff", b"", "a key of locker 'payoff': expected non-empty bytes, found b''"),
            ("payoff", "text", "a key of locker 'payoff': expected non-empty bytes, found 'text'"),
            ("payoff", b"k" * 505, "of locker 'payoff': expected at most 504 bytes, found 505"),
        ],
    )
    def test_bad_names(self, store: Store, locker: str, key: bytes, message: str) -> None:
        array = np.array(1)
        uses: list[Callable[[], object]] = [
            lambda: store.get(locker, key),
            lambda: store.get_many(locker, [key]),
            lambda: store.transact(lambda transaction: transaction.put(locker, key, array)),
        ]
        for use in uses:
            with pytest.raises(LockerError, match=message):
                use()

    def test_the_longest_key(self, store: Store) -> None:
        put(store, "payoff", b"k" * 504, np.array(5))
        assert store.get("payoff", b"k" * 504) == 5
        with pytest.raises(LockerError, match="expected at most 503 bytes, found 504"):
            store.visits(b"k" * 504)

    @pytest.mark.parametrize(
        "array",
        [
            np.array(["text"]),
            np.array([object()]),
            np.array([1j]),
            np.array([1.0], np.longdouble),
            np.array([1.0], ">f8"),
            np.zeros(2, [("a", int)]),
            np.array(["2020-01-01"], "datetime64[D]"),
        ],
        ids=lambda array: array.dtype.str,
    )
    def test_arrays_that_cannot_be_stored(self, store: Store, array: np.ndarray) -> None:
        with pytest.raises(
            LockerError, match=r"locker 'payoff', key 6b: expected little-endian bool, int.*found"
        ):
            put(store, "payoff", b"k", array)

    def test_only_arrays_can_be_stored(self, store: Store) -> None:
        with pytest.raises(LockerError, match="key 6b: expected a numpy array, found list"):
            put(store, "payoff", b"k", [1.0])  # type: ignore[arg-type]

    def test_read_only_refusal(self, read_only: Store) -> None:
        assert read_only.read_only
        with pytest.raises(ReadOnlyLockerError) as error:
            read_only.transact(lambda transaction: None)
        assert str(error.value).endswith(": expected a writable store, found a read-only one")
        assert list(read_only.keys("payoff")) == []
        read_only.flush()
        assert read_only.check() == []

    def test_size_grows(self, store: Store) -> None:
        before = store.size()
        put(store, "payoff", b"k", np.zeros(100_000))
        assert before + 800_000 < store.size() < before + 1_000_000

    def test_a_closed_store_refuses_all_and_closes_again(self, store: Store) -> None:
        with store as same:
            assert same is store
        store.close()
        uses: list[Callable[[], object]] = [
            lambda: store.get("payoff", b"k"),
            lambda: store.get_many("payoff", [b"k"]),
            lambda: list(store.keys("payoff")),
            lambda: store.transact(lambda transaction: None),
            lambda: store.visits(b"k"),
            store.check,
            store.flush,
            store.size,
        ]
        for use in uses:
            with pytest.raises(LockerError, match="expected an open store, found a closed one"):
                use()

    def test_threads_lose_no_update(self, store: Store) -> None:
        def work() -> None:
            for _ in range(50):
                store.transact(lambda transaction: count(transaction, b"b|n"))

        assert run_threads(*[work] * 4) == []
        assert store.get("visit", b"b|n") == 200

    def test_an_array_that_is_read_later_is_like_any_other(self, store: Store) -> None:
        values = {"array": np.arange(6.0).reshape(2, 3)}
        calls: list[None] = []

        def read() -> np.ndarray:
            calls.append(None)
            return values["array"]

        def body(transaction: Transaction) -> None:
            transaction.put_later("strategy", b"a", read)
            np.testing.assert_array_equal(transaction.get("strategy", b"a"), values["array"])

        store.transact(body)
        n_calls = len(calls)
        for _ in range(2):
            found = store.get("strategy", b"a")
            assert found is not None
            np.testing.assert_array_equal(found, values["array"])
            found[:] = 0  # a copy
        assert len(calls) == n_calls + (2 if isinstance(store, MemoryStore) else 0)
        assert list(store.keys("strategy")) == [b"a"]
        assert store.size() >= values["array"].nbytes
        assert store.check() == []
        store.let_go()
        with pytest.raises(ZeroDivisionError):
            store.transact(
                lambda transaction: [transaction.put_later("strategy", b"a", lambda: np.zeros(1)), 1 // 0]
            )
        assert store.get("strategy", b"a").shape == (2, 3)  # type: ignore[union-attr]
        put(store, "strategy", b"a", np.ones(4))
        np.testing.assert_array_equal(store.get("strategy", b"a"), np.ones(4))
        assert store.transact(lambda transaction: transaction.delete("strategy", b"a"))
        assert store.get("strategy", b"a") is None


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with MemoryStore({**MANIFEST, "sizes": (1, 2)}) as store:
            yield store

    @pytest.fixture
    def read_only(self, store: Store) -> Iterator[Store]:
        with MemoryStore(store.manifest, read_only=True) as read_only:
            yield read_only

    def test_it_cannot_be_pickled(self, store: Store) -> None:
        with pytest.raises(
            LockerError, match="expected to stay in its process, found an attempt to pickle it"
        ):
            pickle.dumps(store)


class TestLmdbStore(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        manifest = {**MANIFEST, "sizes": (1, 2)}
        with open_store(tmp_path / "store", manifest) as store:
            yield store

    @pytest.fixture
    def read_only(self, store: Store, tmp_path: Path) -> Iterator[Store]:
        with open_store(tmp_path / "store", read_only=True) as read_only:
            yield read_only

    def test_it_lets_go_of_the_pages_of_a_large_file(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(8):
            put(store, "payoff", b"%d" % number, np.full(2**17, number, float))
        for number in range(8):
            store.get("payoff", b"%d" % number)
        store.let_go()
        assert mapped_bytes(tmp_path / "store") > 7 * 2**20  # a small file stays
        monkeypatch.setattr("lockers.lmdb.LARGE", 2**20)
        store.let_go()
        assert mapped_bytes(tmp_path / "store") == 0
        np.testing.assert_array_equal(store.get("payoff", b"7"), np.full(2**17, 7.0))

    def test_reopened_it_holds_the_same(self, store: Store, tmp_path: Path) -> None:
        put(store, "payoff", b"b|1", np.arange(3))
        store.transact(lambda transaction: transaction.count_visit(b"b|1", 4))
        store.close()
        with open_store(tmp_path / "store", MANIFEST) as again:
            np.testing.assert_array_equal(again.get("payoff", b"b|1"), np.arange(3))
            assert again.visits(b"b|1") == (1, 4)

    def test_pickled_it_opens_the_same_folder_when_needed(self, store: Store) -> None:
        put(store, "payoff", b"b|1", np.arange(3))
        again = pickle.loads(pickle.dumps(store))
        assert isinstance(again, LmdbStore)
        assert again._environment is None
        np.testing.assert_array_equal(again.get("payoff", b"b|1"), np.arange(3))
        put(again, "payoff", b"b|1", np.arange(4))
        np.testing.assert_array_equal(store.get("payoff", b"b|1"), np.arange(4))
        again.close()
        assert len(pickle.dumps(store)) < 1000

    def test_pickled_read_only_it_stays_read_only(self, read_only: Store) -> None:
        with pickle.loads(pickle.dumps(read_only)) as again:
            assert again.read_only

    def test_a_reader_sees_what_another_handle_writes(self, store: Store, read_only: Store) -> None:
        put(store, "payoff", b"b|1", np.arange(3))
        np.testing.assert_array_equal(read_only.get("payoff", b"b|1"), np.arange(3))

    def test_size_grows(self, store: Store) -> None:
        before = store.size()
        put(store, "payoff", b"k", np.random.default_rng(0).random(100_000))
        assert before + 700_000 < store.size() < before + 1_000_000
