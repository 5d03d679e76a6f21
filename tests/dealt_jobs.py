"""Small whole games whose boards are dealt, and how good the strategies in their folders are."""

from unittest.mock import patch

from open_spiel.python.algorithms.exploitability import exploitability
from spiel import tabular_policy

from lockers import holds_store, open_store
from spewy.learn.sampled import SampledEngine
from spewy.look.solution import Solution
from spewy.records.keys import VISITS
from spewy.records.progress import saved_sweeps

DEALT_LEDUC = """
name = "leduc-dealt"
[game]
file = "leduc"
[boards]
[solve]
target = "0 mbb"
max_sweeps = 3000
"""

DEALT_FLOP = """
name = "flop-dealt"
[game]
file = "flop-holdem"
[boards]
flop = 3
[rows]
flop = 5
[solve]
target = "0 mbb"
max_sweeps = 100
"""
"""Limit hold'em that ends on the flop, with fewer board buckets than anybody would take."""


def unjudged():
    """A context in which whole games are solved without a check, which would look at all 1,755 flops."""
    return patch.object(SampledEngine, "judge", lambda engine, *asked: None)


def exploitability_of(folder, name):
    """OpenSpiel's exploitability of the strategies in a folder's play locker, in chips."""
    with Solution.open(folder) as solution:
        return exploitability(*tabular_policy(solution, name))


def numbers_in(folder):
    """All that a folder goes on from, by locker and key."""
    with open_store(folder, read_only=True) as store:
        return {
            (locker, key): store.get(locker, key).tobytes()
            for locker in ("regret", "strategy", "visits")
            for key in store.keys(locker)
        }


def deals_saved(folder):
    """Deals or sweeps that a folder goes on from."""
    if not holds_store(folder):
        return 0
    with open_store(folder, read_only=True) as store:
        return saved_sweeps(store)


def visits_by_bucket(folder):
    """Visits of each class in a folder, ``{(round, class): [player 0, player 1]}``."""
    with open_store(folder, read_only=True) as store:
        return {
            tuple(map(int, key.rstrip(b"|").split(b"."))): store.get(VISITS, key).tolist()
            for key in store.keys(VISITS)
            if b"." in key  # keys without a dot belong to the mark of a save
        }


def visits_in(folder):
    """Visits in a folder, all board buckets together, ``{round: [player 0, player 1]}``."""
    found = {}
    for (t, _), both in visits_by_bucket(folder).items():
        found[t] = [a + b for a, b in zip(found.get(t, [0, 0]), both, strict=True)]
    return found
