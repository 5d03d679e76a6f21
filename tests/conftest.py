"""Tests keep their bucket trees to themselves."""

import os

import pytest

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
