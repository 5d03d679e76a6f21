"""Visits, leaves and play-down against naive twins: hands against hands, card by card."""

import numpy as np
import pytest
from naive_chunks import NaiveChunks, averaged, three_rounds

from lockers import MemoryStore
from solvers.discount import variant
from spewy.chunks.layout import Layout
from spewy.learn.payoffs import NoMoreBetting, StoredPayoffs
from spewy.learn.playdown import PlayDown
from spewy.learn.visit import Visitor, VisitSettings
from spewy.records.chunks import Chunks, Kind, join, read_payoffs, visits
from spewy.records.keys import PAYOFF, REGRET, STRATEGY


def drawn(layout, seed, *, signed=True):
    rng, regrets, sums = np.random.default_rng(seed), {}, {}
    for t in range(layout.n_rounds):
        for b, r in layout.chunks(t):
            rows, slots = layout.n_rows(t, b), layout.tree(t, r).forest.n_slots
            shapes = [(slots[p], rows[p]) for p in (0, 1)]
            found = [rng.normal(size=shape) for shape in shapes]
            regrets[t, b, r] = tuple(found if signed else map(np.abs, found))
            sums[t, b, r] = tuple(rng.random(shape) for shape in shapes)
    return regrets, sums


def stored(layout, twin, tickets=()):
    """A store that holds what the twin does, and has counted visits of all chunks in these sweeps."""
    store = MemoryStore({})

    def write(txn):
        for place, arrays in twin.regrets.items():
            txn.put(REGRET, layout.key(*place), join(arrays))
            txn.put(STRATEGY, layout.key(*place), join(twin.sums[place]))
            for sweep in tickets:
                txn.count_visit(layout.key(*place), sweep)

        for place, matrices in (twin.below or {}).items():
            txn.put(PAYOFF, layout.key(*place), matrices)

    store.transact(write)
    return store


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("name", "hole", "held", "rows"),
    [("dcfr", 1, (7, 5), True), ("cfr+", 1, (6, 7), False), ("dcfr", 2, (9, 6), True)],
)
def test_a_visit_is_plain_cfr(live, name, hole, held, rows):
    """On the chunk alone, over payoffs, or on all that follows it too.

    Also where earlier sweeps have missed the chunk: discounts and average weights go by its own visits.
    """
    _, problem = three_rounds(hole, held=held, rows=rows)
    layout, schedule, views = Layout.of(problem), variant(name), 2 if rows else 1
    below = None if live else payoffs_below(layout, views)
    twin = NaiveChunks(layout, *drawn(layout, 3, signed=not schedule.discount.clip), below)
    store = stored(layout, twin, tickets=(2, 3, 9))
    place = 1, 5, 2
    assert len({(len(side.numbers), side.n_rows) for side in layout.board(1, 5).hands}) == 2
    ranges = [twin.range(*place, p) for p in (0, 1)]
    settings = VisitSettings(variant=name, iterations=2, first_live=2 if live else None)
    visitor = Visitor(layout, store, settings)
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
    payoffs = read_payoffs(layout, store, *place)
    assert payoffs.shape == (views, *layout.n_rows(1, 5))
    assert np.any(payoffs != 0)
    np.testing.assert_allclose(payoffs, twin.payoffs(*place, ranges)[:views], atol=1e-9)
    assert visits(layout, store, *place) == (4, 12)


def payoffs_below(layout, views):
    """Random payoff matrices of all chunks of the last round; the views differ."""
    rng = np.random.default_rng(8)
    return {(2, b, r): rng.normal(size=(views, *layout.n_rows(2, b))) for b, r in layout.chunks(2)}


@pytest.mark.parametrize(("hole", "rows"), [(1, True), (2, True), (1, False)])
def test_play_down_multiplies_own_actions(hole, rows):
    _, problem = three_rounds(hole, held=(7, 5), rows=rows)
    layout = Layout.of(problem)
    twin = NaiveChunks(layout, *drawn(layout, 4))
    down = PlayDown(layout, lambda t, b, r: twin.regrets[t, b, r])
    empty = 0
    for t, boards in ((0, [0]), (1, [0, 6]), (2, [0, 3, 41])):
        for b in boards:
            found = down.ranges(t, b)
            for r in range(len(layout.betting[t].chunks)):
                for p in (0, 1):
                    held = layout.board(t, b).hands[p].numbers
                    expected = twin.range(t, b, r, p)
                    np.testing.assert_allclose(found[p][r], expected[held], atol=1e-12)
                    assert expected.sum() == pytest.approx(found[p][r].sum())
                    empty += not expected.any()
    assert empty  # some lines nobody takes


def test_play_down_of_what_nobody_has_visited_is_uniform():
    _, problem = three_rounds(1, held=(7, 5))
    layout = Layout.of(problem)
    zeros = drawn(layout, 4)[0]
    for arrays in zeros.values():
        for array in arrays:
            array[:] = 0
    twin, down = NaiveChunks(layout, zeros, zeros), PlayDown(layout, lambda t, b, r: None)
    held = layout.board(2, 7).hands[1].numbers
    np.testing.assert_allclose(down.ranges(2, 7)[1][4], twin.range(2, 7, 4, 1)[held])


@pytest.mark.parametrize(("hole", "held", "rows"), [(1, (7, 2), True), (2, (9, 6), True), (1, (7, 5), False)])
def test_estimates_are_payoffs_where_nobody_bets(hole, held, rows):
    """On the last board pair by pair of hands; above it rows below stand for their hands, as in every chance leaf."""
    _, problem = three_rounds(hole, held=held, rows=rows)
    layout = Layout.of(problem)
    estimate, twin, below = NoMoreBetting(layout), NaiveChunks(layout, {}, {}), {}
    for board in {board for board, _ in layout.chunks(2)}:
        signs = twin.signs(tuple(c for group in layout.board(2, board).history for c in group))
        below[board] = averaged(layout.board(2, board).hands, problem.hands, problem.ranges, (signs, signs))[
            0
        ]
    for b in (0, 17, 40):
        np.testing.assert_allclose(estimate(2, b, 3), [_stake(layout, 2, 3) * below[b]], atol=1e-12)
    last = next(node for node in problem.tree.nodes() if node.kind == "chance" and node.round == 1)
    everywhere = {(2, b, r): below[b][None] for b, r in layout.chunks(2)}
    twin = NaiveChunks(layout, {}, {}, everywhere)
    pair = np.array([twin.values(last, 4, 0, hand) for hand in np.eye(len(problem.hands))]).T
    expected = averaged(layout.board(1, 4).hands, problem.hands, problem.ranges, (pair, pair))[0]
    np.testing.assert_allclose(estimate(1, 4, 1), [_stake(layout, 1, 1) * expected], atol=1e-12)


def _stake(layout, t, r):
    return min(layout.tree(t, r).nodes[0].put_in)


def test_stored_payoffs_come_before_estimates():
    _, problem = three_rounds(1)
    layout = Layout.of(problem)
    twin = NaiveChunks(layout, {}, {}, payoffs_below(layout, 2))
    below = StoredPayoffs(layout, stored(layout, twin))
    np.testing.assert_array_equal(below(2, 3, 1), twin.below[2, 3, 1])
    assert not below.estimated
    np.testing.assert_array_equal(below(1, 3, 1), NoMoreBetting(layout)(1, 3, 1))
    assert below.estimated


def test_an_average_visit_weighs_by_the_chunks_own_visits():
    """A chunk that sweeps 2 to 8 missed integrates as one that was never missed."""
    _, problem = three_rounds(1)
    layout, found = Layout.of(problem), []
    for sweeps in ((1, 2), (1, 9)):
        store = MemoryStore({})
        visitor = Visitor(layout, store, VisitSettings("average", iterations=3))
        for sweep in sweeps:
            assert visitor.visit(2, 5, 4, sweep)
        found.append(Chunks(layout, store).get(2, 5, 4))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert visits(layout, store, 2, 5, 4) == (2, 9)
