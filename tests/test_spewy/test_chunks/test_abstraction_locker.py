import numpy as np
import pytest
from without_rights import without_rights

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.cards import Deck
from lockers import open_store
from spewy.chunks.bucket_locker import ABSTRACTION, FEATURES, BucketCache, BucketLocker, abstraction

RHODE_ISLAND = AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 5, 20), (13, 8, 6))


@pytest.fixture
def making(monkeypatch):
    """What is made, in order."""
    made = []
    make = Abstraction.build

    def noted(wish, *args):
        made.append(wish)
        return make(wish, *args)

    monkeypatch.setattr(Abstraction, "build", noted)
    return made


def same(first, second):
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(second.arrays[name], array)
        assert second.arrays[name].dtype == array.dtype
    for ours, theirs in zip(first.deal(1, range(9)), second.deal(1, range(9)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return True


def test_what_was_made_once_is_read(tmp_path, making):
    first = abstraction(RHODE_ISLAND, cache=BucketCache(tmp_path / "kept"))
    second = abstraction(RHODE_ISLAND, cache=BucketCache(tmp_path / "kept"))
    assert making == [RHODE_ISLAND]
    assert same(first, second)


@pytest.mark.parametrize(
    "other",
    [
        AbstractionSpec(Deck(12, 4), 1, (0, 1, 1), ("all", 5, 20), (13, 8, 6)),
        AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 5, 21), (13, 8, 6)),
        AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 5, 20), (13, 8, 5)),
        AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 5, 20), (13, 8, 6), 1),
        AbstractionSpec(Deck(), 1, (0, 2, 0), ("all", 5, 5), (13, 8, 6)),
    ],
)
def test_another_wish_is_made_for_itself(tmp_path, making, other):
    cache = BucketCache(tmp_path / "kept")
    abstraction(RHODE_ISLAND, cache=cache)
    found = abstraction(other, cache=cache)
    assert making == [RHODE_ISLAND, other]
    assert same(found, Abstraction.build(other))


def test_features_serve_other_numbers_of_classes(tmp_path):
    cache = BucketCache(tmp_path / "kept")
    told = []
    abstraction(RHODE_ISLAND, cache=cache, progress=lambda *n: told.append(n))
    more = AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 6, 30), (13, 8, 6))
    found = abstraction(more, cache=cache, progress=lambda *n: told.append(n))
    assert told[-1][1] < told[0][1]
    assert same(found, Abstraction.build(more))


def test_interrupted_making_keeps_features(tmp_path, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("buckets.abstraction.build.interval_rows", interrupted)
    cache = BucketCache(tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt):
        abstraction(RHODE_ISLAND, cache=cache)
    with BucketLocker.open(tmp_path / "kept").store as store:
        assert len(list(store.keys(FEATURES))) == 2
        assert not list(store.keys(ABSTRACTION))


def test_a_locker_that_may_only_be_read_is_read(tmp_path, making, caplog):
    first = abstraction(RHODE_ISLAND, cache=BucketCache(tmp_path / "kept"))
    more = AbstractionSpec(Deck(), 1, (0, 1, 1), ("all", 6, 20), (13, 8, 6))

    def read():
        cache = BucketCache(tmp_path / "kept")
        assert same(first, abstraction(RHODE_ISLAND, cache=cache))
        assert same(abstraction(more, cache=cache), Abstraction.build(more))
        assert making == [RHODE_ISLAND, more, more]
        assert "the bucket locker is only read, and new results are not stored" in caplog.text

    without_rights(tmp_path / "kept", read)


def test_what_is_no_locker_is_done_without(tmp_path, caplog):
    open_store(tmp_path / "job", {"job": 1}).close()
    cache = BucketCache(tmp_path / "job")
    assert same(abstraction(RHODE_ISLAND, cache=cache), Abstraction.build(RHODE_ISLAND))
    assert "the bucket locker is not used" in caplog.text
