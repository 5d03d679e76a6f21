"""Fixtures of all tests, which keep their bucket trees to themselves."""

import os

import pytest

from lockers import environment

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


@pytest.fixture
def tiny_maps(monkeypatch):
    """Let stores begin with the smallest map there is, so that they grow soon."""
    monkeypatch.setattr(environment, "MAP_SIZE", 1)
