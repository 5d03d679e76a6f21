"""The play locker: what is written is what is read, also while it is written, and damage is told."""

import threading

import numpy as np
import pytest
from class_numbers import ClassSums
from jobs import toy
from loaded import loaded_by
from naive_averages import in_255ths

from lockers import DamagedLockerError, LockerError, ManifestMismatchError, open_store
from solvers.sampled.quantise import quantise
from spewy.errors import InputError
from spewy.records import strategy_locker
from spewy.records.keys import PLAY
from spewy.records.strategy_locker import StrategyLocker, read_saved

MANIFEST = {"game": "Leduc"}


@pytest.fixture(scope="module")
def sums():
    return ClassSums(toy("leduc").betting_tree, (1, 3), (5, 4))


@pytest.fixture
def folder(sums, tmp_path):
    with sums.create(tmp_path / "play", MANIFEST) as store:
        sums.write(store, deals=7)
    return tmp_path / "play"


@pytest.fixture(params=[1, 1000, strategy_locker.PORTION])
def portion(request, sums, monkeypatch):
    """Lines in portions of another size than usual."""

    def forget():
        for lines in sums.lines:
            lines.__dict__.pop("portions", None)

    monkeypatch.setattr(strategy_locker, "PORTION", request.param)
    forget()
    yield
    forget()


@pytest.mark.usefixtures("portion")
def test_every_decision_of_every_class_is_read_as_it_was_written(sums, tmp_path):
    with sums.create(tmp_path, MANIFEST) as store:
        sums.write(store)
    with StrategyLocker.open(tmp_path) as read:
        for t, line, node, p, free, mine in sums.decisions():
            for c, of_class in enumerate(mine):
                found = read.frequencies(t, c, line, p, free, len(node.actions))
                expected = np.array([in_255ths(row) for row in of_class]).T
                np.testing.assert_allclose(255 * found, expected, atol=1e-9)


def test_many_decisions_of_a_class_are_those_read_one_by_one(sums, folder):
    with StrategyLocker.open(folder) as read:
        for t, line, node, p, free, mine in sums.decisions():
            for c in range(len(mine)):
                (found,) = read.free_slots(t, c, p, [(line, free, len(node.actions))])
                one = read.frequencies(t, c, line, p, free, len(node.actions))
                np.testing.assert_allclose(found.T / 255, one[:-1])
        with pytest.raises(InputError, match="it does not enter round 1"):
            read.free_slots(1, 0, 0, [("nothing/", 0, 2)])


def test_it_tells_what_it_holds(sums, folder):
    with StrategyLocker.open(folder) as read:
        assert (read.saved.board_buckets, read.saved.rows, read.saved.deals) == ((1, 3), (5, 4), 7)
        assert read.manifest == MANIFEST
        assert read.saved.saved_at > 1.6e9
        found = read.arrays()
    assert found.keys() == sums.arrays.keys()
    for name, array in sums.arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_a_folder_is_gone_on_with_by_its_own_job(sums, folder):
    with sums.create(folder, MANIFEST) as store:
        assert read_saved(store).deals == 7
    with pytest.raises(ManifestMismatchError, match="holds the lockers of another job"):
        sums.create(folder, {"game": "Kuhn"})


def test_readers_see_one_save_or_the_next_while_it_is_written(sums, folder):
    other = ClassSums(toy("leduc").betting_tree, (1, 3), (5, 4), seed=1)
    with StrategyLocker.open(folder) as read:
        ask = (1, 2, "cc/", 0, 0, 2)
        first = read.frequencies(*ask)
        stop = threading.Event()

        def rewrite():
            with sums.create(folder, MANIFEST) as store:
                for n in range(30):
                    (other if n % 2 else sums).write(store, deals=8 + n)
            stop.set()

        writer = threading.Thread(target=rewrite)
        writer.start()
        seen = {first.tobytes()}
        while not stop.is_set():
            seen.add(read.frequencies(*ask).tobytes())
        writer.join()
        seen.add(read.frequencies(*ask).tobytes())
        assert read.saved.deals == 37
    assert len(seen) == 2


def test_what_is_not_there(sums, tmp_path):
    with sums.create(tmp_path / "part", MANIFEST) as store:
        sums.write_bucket(store, 1, 0)
    with StrategyLocker.open(tmp_path / "part") as read:
        read.frequencies(1, 0, "cc/", 0, 0, 2)
        missing = "round 1, board bucket 2: expected stored strategies, found none yet"
        with pytest.raises(InputError, match=missing):
            read.frequencies(1, 2, "cc/", 0, 0, 2)
        with pytest.raises(InputError, match="line 'cr/': it does not enter round 1"):
            read.frequencies(1, 0, "cr/", 0, 0, 2)
    with pytest.raises(LockerError, match="expected a store, found no manifest"):
        StrategyLocker.open(tmp_path)


def test_bytes_of_another_size_are_damage(folder):
    with open_store(folder) as store:
        store.transact(lambda txn: txn.put(PLAY, b"1.0|0.0", np.zeros(5, np.uint8)))
    with (
        StrategyLocker.open(folder) as read,
        pytest.raises(DamagedLockerError, match=r"'play', key 1.0\|0.0: expected .* bytes"),
    ):
        read.frequencies(1, 0, "cc/", 0, 0, 2)


def test_a_flipped_byte_is_damage(folder):
    with StrategyLocker.open(folder) as read:
        value = np.asarray(read.store.get(PLAY, b"1.1|0.0")).tobytes()
    file = next(folder.glob("*.mdb"))
    data = file.read_bytes()
    assert value[:200] in data
    other = value[:100] + bytes([value[100] ^ 1]) + value[101:200]
    file.write_bytes(data.replace(value[:200], other))  # older pages may have it too
    with StrategyLocker.open(folder) as read, pytest.raises(DamagedLockerError, match="checksum"):
        read.frequencies(1, 1, "cc/", 0, 0, 2)


def test_reading_loads_no_kernels():
    assert loaded_by("import spewy.records.strategy_locker") <= {"lmdb", "numpy"}


@pytest.mark.usefixtures("portion")
def test_a_class_is_read_whole(sums, tmp_path):
    with sums.create(tmp_path, MANIFEST) as store:
        sums.write_bucket(store, 1, 2)
    with StrategyLocker.open(tmp_path) as read:
        for p in (0, 1):
            expected = quantise(sums.sums[1][p][2], sums.rows[1], sums.tables[1][p])
            np.testing.assert_array_equal(read.bucket_bytes(1, 2, p), expected)
        with pytest.raises(InputError, match="round 1, board bucket 0: expected stored strategies"):
            read.bucket_bytes(1, 0, 0)
