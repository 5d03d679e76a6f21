"""Fixtures of the lockers' tests."""

import pytest

from lockers import shard


@pytest.fixture
def tiny_maps(monkeypatch):
    """Shards begin with the smallest map there is, so that stores grow soon."""
    monkeypatch.setattr(shard, "MAP_SIZE", 1)
