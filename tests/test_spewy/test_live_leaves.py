"""A chunk over live ones: a visit against a naive twin, its records, and the solves that it makes."""

import numpy as np
import pytest
from naive_chunks import NaiveChunks, three_rounds

from lockers import MemoryStore
from solvers.variants import variant
from spewy.chunks.layout import Layout
from spewy.learn.playdown import PlayDown
from spewy.learn.visit import Visitor, VisitSettings
from spewy.records.chunks import Chunks, Kind, join, read_payoffs, visits
from spewy.records.keys import REGRET, STRATEGY


def drawn(layout, seed, *, signed=True):
    """Random regrets and sums of every chunk."""
    rng, regrets, sums = np.random.default_rng(seed), {}, {}
    for t in range(layout.n_rounds):
        for b, r in layout.chunks(t):
            rows, slots = layout.n_rows(t, b), layout.tree(t, r).forest.n_slots
            shapes = [(slots[p], rows[p]) for p in (0, 1)]
            found = [rng.normal(size=shape) for shape in shapes]
            regrets[t, b, r] = tuple(found if signed else map(np.abs, found))
            sums[t, b, r] = tuple(rng.random(shape) for shape in shapes)
    return regrets, sums


def stored(layout, regrets, sums, tickets):
    """A store that holds them, and has seen visits of chunks in these sweeps."""
    store = MemoryStore({}, shards=1)

    def write(txn):
        for place, arrays in regrets.items():
            txn.put(REGRET, layout.key(*place), join(arrays))
            txn.put(STRATEGY, layout.key(*place), join(sums[place]))
            for sweep in tickets:
                txn.punch(layout.key(*place), sweep)

    store.transact(b"all", write)
    return store


def over_all(layout, t, b, found):
    """``[hand of the deck]`` from ``[hand of the board]``, per player."""
    out = np.zeros((2, len(layout.problem.hands)))
    for p in (0, 1):
        out[p][layout.board(t, b).rows[p].hands] = found[p]
    return out


@pytest.mark.parametrize(
    ("name", "hole", "held", "rows"),
    [("dcfr", 1, (7, 5), True), ("cfr+", 1, (6, 7), False), ("dcfr", 2, (9, 6), True)],
)
def test_a_visit_is_plain_cfr_on_the_chunk_and_all_below(name, hole, held, rows):
    """Also where earlier sweeps have missed the chunk: discounts and average weights go by its own visits."""
    _, problem = three_rounds(hole, held=held, rows=rows)
    layout, schedule = Layout.of(problem), variant(name)
    twin = NaiveChunks(layout, *drawn(layout, 3, signed=not schedule.clip))
    store = stored(layout, twin.regrets, twin.sums, tickets=(2, 3, 9))
    place = t, b, r = 1, 5, 2
    ranges = PlayDown(layout, Chunks(layout, store, Kind.REGRETS).get).ranges(t, b)
    ranges = over_all(layout, t, b, [ranges[p][r] for p in (0, 1)])
    visitor = Visitor(layout, store, VisitSettings(variant=name, iterations=2, first_live=2))
    assert visitor.visit(*place, 12)
    assert not visitor.visit(*place, 12)
    for iteration in (7, 8):
        twin.visit(*place, ranges, schedule.factors(iteration))
    for kind, expected in ((Kind.REGRETS, twin.regrets), (Kind.SUMS, twin.sums)):
        chunks = Chunks(layout, store, kind)
        for i in range(layout.n_rounds):
            for there in layout.chunks(i):
                for p, mine in enumerate(chunks.get(i, *there)):
                    np.testing.assert_allclose(mine, expected[i, *there][p], atol=1e-9)
    payoffs, views = read_payoffs(layout, store, *place), 2 if rows else 1
    assert payoffs.shape == (views, *layout.n_rows(t, b))
    assert np.any(payoffs != 0)
    np.testing.assert_allclose(payoffs, twin.payoffs(*place, ranges)[:views], atol=1e-9)
    assert visits(layout, store, *place) == (4, 12)
