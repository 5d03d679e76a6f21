"""Fixtures of all tests, which keep their bucket trees to themselves."""

import os
import signal
from contextlib import closing

import pytest
from hypothesis import settings

from lockers import lmdb

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")  # a busy machine misses any

collect_ignore = ["fuzz"]
"""It is a command."""


@pytest.fixture(scope="session", autouse=True)
def bucket_locker_of_its_own(tmp_path_factory):
    before = os.environ.get("SPEWY_BUCKETS")
    os.environ["SPEWY_BUCKETS"] = str(tmp_path_factory.mktemp("buckets") / "trees")
    yield
    if before is None:
        del os.environ["SPEWY_BUCKETS"]
    else:
        os.environ["SPEWY_BUCKETS"] = before


@pytest.fixture(scope="session", autouse=True)
def hangups_that_are_not_ignored():
    """Let processes of tests obey SIGHUP, also where the tests themselves were started by nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def tiny_maps(monkeypatch):
    """Let stores begin with the smallest map there is, so that files outgrow their maps soon."""
    monkeypatch.setattr(lmdb, "MAP_SIZE", 1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A Dask cluster of two workers."""
    from dask_cluster import DaskCluster

    with closing(DaskCluster(tmp_path_factory.mktemp("cluster"), 2)) as found:
        yield found


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with the jobs ``kuhn``, ``leduc``, ``polarised``, ``turn`` and their solves, which no test changes."""
    from cli_runs import KUHN, LEDUC, POLARISED, TURN, good, write

    base = tmp_path_factory.mktemp("small")
    for name, text in (("kuhn", KUHN), ("leduc", LEDUC), ("polarised", POLARISED), ("turn", TURN)):
        good("solve", write(base, text, f"{name}.toml"), "--out", base / name)
    return base
