"""The exact engine agrees with the generic one, and through it with plain recursion: rake, locks, threads, 16 bits."""

import subprocess
import sys
import threading
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numba
import numpy as np
import pytest
from random_games import locked, raked, random_tree, two_round_game

from compiled.precision import DITHER_STEPS, HALF, LARGEST, store_as
from compiled.threads import clock
from compiled.vector import load16
from solvers.discount import VARIANTS, variant
from solvers.errors import SolverError
from solvers.exact import ExactCfr, supports
from solvers.exact.context import footprint
from solvers.exact.storage import Storage, dither
from solvers.exact.tables import hand_table
from solvers.game import Deal, Hands, LiveGame, Round
from solvers.measure import exploitability
from solvers.reference.cfr import Cfr
from solvers.reference.walk import Walker
from solvers.tree import Decision, Forest, Showdown

TESTS = Path(__file__).resolve().parents[1]
SCHEDULES = [
    *VARIANTS.values(),
    replace(VARIANTS["dcfr-steep"], trembles=1.0),
]


def last_round(seed, b=0):
    """The second round's board b as a game of its own, entered by its first line."""
    whole = two_round_game(seed)
    low = whole.rounds[1]

    def cut(rows):
        n = int(rows.n_hands[b])
        arrays = (a[b : b + 1, :n] for a in (rows.cards, rows.strength, rows.same_cards))
        return Hands.of(
            rows.n_hands[b : b + 1],
            *arrays,
            np.arange(n, dtype=np.int16)[None],
            rows.weight[b : b + 1, :n],
            n,
        )

    rng = np.random.default_rng(seed + 100)
    tree = Decision(
        0, tuple(random_tree(rng, lambda: Showdown(float(rng.random()) + 0.5), player=1) for _ in range(3))
    )
    rows = cut(low.hands[0]), cut(low.hands[1])
    return LiveGame([Round(Forest.build([tree]), rows, None)], (rows[0].weight, rows[1].weight), whole.n_ids)


def as_strategies(game, whole):
    out = game.zeros()
    for t, r in enumerate(game.rounds):
        for p in (0, 1):
            for b in range(r.n_boards):
                numbers = whole[t][p].read(b)
                out[t][p][b, :, : numbers.shape[1]] = numbers
    return out


def all_in(seed):
    """A river on which everything is in: no decisions at all."""
    game = last_round(seed)
    return LiveGame(
        [Round(Forest.build([Showdown(2.0)]), game.rounds[0].hands, None)], game.reach, game.n_ids
    )


GAMES = {
    "two rounds": two_round_game,
    "one round": last_round,
    "all in": all_in,
    "raked": lambda seed: raked(two_round_game(seed), seed),
    "locked": lambda seed: locked(two_round_game(seed), seed),
    "raked and locked river": lambda seed: locked(raked(last_round(seed), seed), seed),
}


@pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: s.name)
def test_iterations_are_those_of_the_generic_engine(make, seed, schedule):
    """A few iterations from random regrets: later, rounding decides ties, and both go their own ways."""
    game, rng = make(seed), np.random.default_rng(seed)
    fast, slow = ExactCfr(game, schedule), Cfr(game, schedule)
    fast.iteration = slow.iteration = 1  # the first discount is by 0
    for t, r in enumerate(game.rounds):
        for p, b in product((0, 1), range(r.n_boards)):
            there = slow.regrets[t][p][b, :, : r.hands[p].n_hands[b]]
            there[:] = rng.uniform(0, 4, there.shape)
            fast.regrets[t][p].write(b, there)
    iterations = 1 if game.locks else 3  # locked at 0, lines that nobody reaches are ties at once
    fast.run(iterations)
    slow.run(iterations)
    for ours, theirs in ((fast.regrets, slow.regrets), (fast.sums, slow.sums)):
        numbers = as_strategies(game, ours)
        if ours is fast.sums:  # those of locked rows mean nothing
            game.pin(numbers)
            game.pin(theirs)
        for found, expected, r in zip(numbers, theirs, game.rounds, strict=True):
            for p in (0, 1):
                count = r.hands[p].n_hands
                real = np.arange(expected[p].shape[2])[None, :] < count[:, None]
                if ours is fast.regrets and game.locks:
                    continue  # regrets of locked rows mean nothing in either engine
                gap = np.abs(found[p] - expected[p])[np.broadcast_to(real[:, None], found[p].shape)]
                assert gap.max(initial=0) < 2e-5 * max(1.0, np.abs(expected[p]).max(initial=0))


@pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("short", [False, True])
def test_exploitability_is_that_of_the_generic_walk(make, seed, short):
    game = make(seed)
    engine = ExactCfr(game, variant("dcfr"), short=short)
    engine.run(50)
    found = engine.exploitability()
    sums = as_strategies(game, engine.sums)
    game.pin(sums)
    expected = exploitability(Walker(game), sums)
    np.testing.assert_allclose(found.best_response, expected.best_response, atol=1e-5)
    if expected.expected is None:
        assert found.expected is None
    else:
        np.testing.assert_allclose(found.expected, expected.expected, atol=1e-5)
    values = engine.expected_values()
    for p in (0, 1):
        assert values[p] <= found.best_response[p] + 1e-5


@pytest.mark.parametrize("short", [False, True])
def test_it_converges(short):
    game = two_round_game(1)
    engine = ExactCfr(game, variant("dcfr-steep"), short=short)
    engine.run(400)
    assert 0 <= engine.exploitability().value + 1e-6 < 0.001


def group_of(game, groups, iteration):
    """The game with the last boards that an iteration visits, each of which stands for ``groups``; and these boards."""
    deal = game.rounds[0].deal
    links = np.flatnonzero((iteration + np.arange(len(deal.child))) % groups == 0)
    dealt = [np.arange(deal.first_image[e], deal.first_image[e + 1]) for e in links]
    part = Deal(
        np.array([0, len(links)]),
        deal.child[links],
        tuple(rows[links] for rows in deal.parent_row),
        np.concatenate([[0], np.cumsum([len(images) for images in dealt])]),
        tuple(rows[np.concatenate(dealt)] for rows in deal.child_row),
        deal.probability * groups,
    )
    return replace(game, rounds=[replace(game.rounds[0], deal=part), game.rounds[1]]), part.child


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("iteration", [4, 5])
def test_an_iteration_on_a_group_is_one_of_the_game_with_its_boards(groups, iteration):
    game, rng = two_round_game(1), np.random.default_rng(1)
    part, boards = group_of(game, groups, iteration)
    fast, slow = ExactCfr(game, variant("cfr"), groups=groups), Cfr(part, variant("cfr"))
    fast.iteration = slow.iteration = iteration
    before = [[], []]
    for t, r in enumerate(game.rounds):
        for p, b in product((0, 1), range(r.n_boards)):
            there = slow.regrets[t][p][b, :, : r.hands[p].n_hands[b]]
            there[:] = rng.uniform(0, 4, there.shape)
            fast.regrets[t][p].write(b, there)
            before[t].append(there.copy())
    fast.run(1)
    slow.run(1)
    for ours, theirs in ((fast.regrets, slow.regrets), (fast.sums, slow.sums)):
        for t, r in enumerate(game.rounds):
            for i, (p, b) in enumerate(product((0, 1), range(r.n_boards))):
                found, expected = ours[t][p].read(b), theirs[t][p][b, :, : r.hands[p].n_hands[b]]
                if t == 1 and b not in boards:
                    expected = before[t][i] if ours is fast.regrets else np.zeros_like(found)
                np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("name", ["dcfr", "dcfr-ahead", "pdcfr"])
def test_it_converges_by_groups(short, name):
    game = two_round_game(1)
    answers = []
    for threads in (1, 3):
        engine = ExactCfr(game, variant(name), short=short, threads=threads, groups=4)
        engine.run(7)
        engine.run(1993)
        answers.append(engine.sums[0][0].values.copy())
        assert 0 <= engine.exploitability().value + 1e-6 < 0.004
        engine.close()
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("make", [two_round_game, last_round])
@pytest.mark.parametrize("short", [False, True])
def test_threads_do_not_change_a_bit(make, short):
    game, answers = make(2), []
    for threads in (1, 2, 5):
        engine = ExactCfr(game, variant("dcfr"), threads=threads, short=short)
        engine.run(7)
        engine.run(4)
        parts = [part for whole in (engine.regrets, engine.sums) for pair in whole for part in pair]
        answers.append(np.concatenate([part.values for part in parts]))
        engine.close()
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_portions_of_iterations_do_not_change_a_bit():
    game = two_round_game(3)
    whole, cut = (ExactCfr(game, variant("dcfr")) for _ in range(2))
    whole.run(9)
    for n in (1, 3, 5):
        cut.run(n)
    np.testing.assert_array_equal(whole.sums[1][0].values, cut.sums[1][0].values)


@pytest.mark.parametrize("make", [two_round_game, last_round])
@pytest.mark.parametrize("threads", [1, 3])
def test_running_to_a_target_is_the_same_as_looking_now_and_then(make, threads):
    game = make(5)
    stepwise, straight = (ExactCfr(game, variant("dcfr"), threads=threads) for _ in range(2))
    expected = []
    while stepwise.iteration < 60:
        stepwise.run(4)
        expected.append((stepwise.iteration, stepwise.exploitability()))
    found = straight.run_to(-1.0, 58, 4)
    assert [m.iteration for m in found] == [*range(4, 57, 4), 58]
    for ours, (_, theirs) in zip(found[:-1], expected, strict=False):
        np.testing.assert_allclose(ours.exploitability.best_response, theirs.best_response, atol=1e-12)
    target = expected[7][1].value
    reached = next(i for i, (_, e) in enumerate(expected) if e.value <= target + 1e-9)
    again = ExactCfr(game, variant("dcfr"), threads=threads)
    found = again.run_to(target + 1e-9, 1000, 4)
    assert (len(found), again.iteration) == (reached + 1, 4 * (reached + 1))
    again.run(3)
    compare = ExactCfr(game, variant("dcfr"))
    compare.run(4 * (reached + 1) + 3)
    np.testing.assert_array_equal(again.sums[0][0].values, compare.sums[0][0].values)
    for engine in (stepwise, straight, again):
        engine.close()


def test_measurements_are_timed_where_they_are_made():
    engine = ExactCfr(two_round_game(5), variant("dcfr"))
    started = clock()
    found = engine.run_to(-1.0, 200, 10)
    passed = clock() - started
    seconds = [m.seconds for m in found]
    assert len(found) == 20
    assert seconds[0] > 0
    assert seconds == sorted(seconds)
    assert seconds[-1] <= passed
    assert all(0 < m.took < passed for m in found)
    assert len(set(np.diff(seconds))) > 1  # measured, not interpolated


def test_what_it_cannot_take_is_refused():
    assert not supports(two_round_game(0, k=1))
    assert not supports(two_round_game(0, groups=4))
    with pytest.raises(SolverError, match="a row per hand"):
        ExactCfr(two_round_game(0, k=1), variant("dcfr"))


@pytest.mark.parametrize("short", [False, True])
def test_storage_gives_back_what_was_written(short):
    game = two_round_game(4)
    low = game.rounds[1]
    part = Storage.blank(
        low.forest.n_slots[1], hand_table(low.hands[1], low.hands[0]), short=short, unit=0.125
    )
    rng = np.random.default_rng(0)
    written = [
        rng.normal(size=(low.forest.n_slots[1], int(n))).astype(np.float32) for n in low.hands[1].n_hands
    ]
    for b, numbers in enumerate(written):
        part.write(b, numbers)
    for b, numbers in enumerate(written):
        np.testing.assert_allclose(part.read(b), numbers, rtol=2**-11 if short else 0)


def test_dither_is_evenly_spread():
    for n in (10, 100, 1000):
        found = np.sort(dither(np.arange(n)))
        assert np.diff(found).max() < 3 / n * DITHER_STEPS
        assert 0 <= found[0] < found[-1] < DITHER_STEPS


def test_rounding_to_16_bits_is_right_on_average():
    numbers = np.random.default_rng(0).normal(size=16).astype(np.float32) * np.float32(1000)
    kept = np.zeros(16, dtype=np.float16)
    total = np.zeros(16)
    for fraction in dither(np.arange(1000)):
        _keep(numbers.ctypes.data, kept.ctypes.data, fraction)
        assert (np.abs(kept.astype(float) - numbers) <= np.abs(numbers) * 2**-10).all()
        total += kept
    np.testing.assert_allclose(total / 1000, numbers, rtol=2e-6)


def test_16_bits_saturate():
    numbers = np.array([1e9, -1e9, 65504, 1e-9, -1e-9, 0, *range(10)], dtype=np.float32)
    kept = np.ones(16, dtype=np.float16)
    _keep(numbers.ctypes.data, kept.ctypes.data, np.int32(DITHER_STEPS - 1))
    assert kept[:6].tolist() == [LARGEST, -LARGEST, LARGEST, 0, 0, 0]
    np.testing.assert_array_equal(kept[6:], np.arange(10))  # what needs no rounding stays


@numba.njit
def _keep(numbers, kept, fraction):
    store_as(HALF, kept, 0, load16(numbers, 0), fraction)


@pytest.mark.parametrize("name", VARIANTS)
def test_16_bits_follow_single_precision(name):
    """Averages are kept instead of sums there, which is the same to whoever reads and writes them."""
    game = two_round_game(6)
    short, single = (ExactCfr(game, variant(name), short=s) for s in (True, False))
    for n in (1, 2, 7):
        short.run(n)
        single.run(n)
        for ours, theirs in zip(short.sums, single.sums, strict=True):
            for p in (0, 1):
                a, b = ours[p].read(0), theirs[p].read(0)
                assert (np.abs(a - b) > 0.02 * b.max()).mean() < 0.005  # rounding decides a few ties
    again = ExactCfr(game, variant(name), short=True)
    again.iteration = short.iteration
    for part in short.parts:
        for ours, theirs in zip(getattr(again, part), getattr(short, part), strict=True):
            for p in (0, 1):
                for b in range(len(ours[p].hands.count)):
                    ours[p].write(b, theirs[p].read(b))
    for engine in (short, again):
        engine.run(5)
    assert again.exploitability().value == pytest.approx(short.exploitability().value, rel=1e-6)


def test_pairs_of_cards_only():
    """The smallest decks: some hands have no opponent at all."""
    game = two_round_game(9)
    rows = game.rounds[0].hands[0]
    assert len(set(combinations(range(9), 2)) - {tuple(c) for c in rows.cards[0].tolist()}) > 0
    engine = ExactCfr(game, variant("cfr+"))
    engine.run(3)
    assert np.isfinite(engine.exploitability().value)


class FailingAt(list):
    """A list of the threads' buffers that raises an error when one thread takes its buffers, just before its kernel."""

    def __init__(self, desks, thread, error):
        super().__init__(desks)
        self.thread, self.error = thread, error

    def __getitem__(self, thread):
        if thread == self.thread:
            raise self.error
        return super().__getitem__(thread)


@pytest.mark.parametrize(
    ("thread", "error"), [(0, KeyboardInterrupt()), (1, MemoryError()), (2, MemoryError())], ids=str
)
def test_a_run_that_a_thread_does_not_come_to_ends_and_has_changed_nothing(monkeypatch, thread, error):
    game = two_round_game(1)
    engine, other = (ExactCfr(game, variant("dcfr"), threads=3) for _ in range(2))
    for one in (engine, other):
        one.run(3)
    with monkeypatch.context() as patch:
        patch.setattr(engine._context, "_desks", FailingAt(engine._context._desks, thread, error))
        with pytest.raises(type(error)):
            engine.run(2)
    assert engine.iteration == 3
    for one in (engine, other):
        one.run(2)
    assert engine.exploitability() == other.exploitability()
    for one in (engine, other):
        one.close()


def test_a_thread_that_cannot_start_ends_the_run(monkeypatch):
    game = two_round_game(1)
    engine, other = ExactCfr(game, variant("dcfr"), threads=3), ExactCfr(game, variant("dcfr"))
    engine._context._end_threads()  # so that the next run has to start threads
    start, started = threading.Thread.start, []

    def one_alone(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", one_alone)
        with pytest.raises(RuntimeError, match="can't start"):
            engine.run(2)
    for one in (engine, other):
        one.run(2)
    assert engine.exploitability() == other.exploitability()
    engine.close()


INTERRUPTED = """
import sys
sys.path[:0] = {path!r}
from test_exact import ExactCfr, FailingAt, two_round_game, variant

engine = ExactCfr(two_round_game(1), variant("dcfr"), threads=3)
rig, pool = engine._context, engine._context._threads
shutdown = pool.shutdown

def interrupted(*args, **options):
    pool.shutdown = shutdown
    raise KeyboardInterrupt

rig._desks = FailingAt(rig._desks, 0, KeyboardInterrupt())
try:
    engine.run(2)
except KeyboardInterrupt:
    pool.shutdown = interrupted
    engine.close()
"""


def test_a_process_that_is_interrupted_twice_ends():
    """The first Ctrl-C comes just before a thread's kernel, the second while the process waits for other threads."""
    code = INTERRUPTED.format(path=[str(TESTS), str(TESTS / "test_solvers")])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stderr.endswith("KeyboardInterrupt\n"), ended.stderr


@pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize(("short", "name"), [(False, "dcfr"), (True, "dcfr"), (True, "pdcfr")])
def test_its_memory_is_known_before(make, short, name):
    game = make(0)
    found = footprint(game, threads=2, short=short, predictive=variant(name).predictive)
    engine = ExactCfr(game, variant(name), threads=2, short=short)
    assert found.state == engine.state_bytes
    buffers = {id(a): a for own in engine._context.workspaces for pair in own for s in pair for a in s}
    assert found.buffers == engine._context.tasks.nbytes + sum(a.nbytes for a in buffers.values())
    engine.close()


@pytest.mark.parametrize("make", [two_round_game, last_round])
def test_both_engines_tell_root_values_and_take_other_ranges(make):
    game = make(5)
    exact, generic = ExactCfr(game, VARIANTS["dcfr"]), Cfr(game, VARIANTS["dcfr"])
    other = np.linspace(0, 1, int(game.rounds[0].hands[1].n_hands[0]))
    for solver in (exact, generic):
        solver.run(3)
        solver.enter(1, other)
        solver.run(2)
    for told in ("root_values", "best_values"):
        for p in (0, 1):
            mine = getattr(exact, told)(p)
            np.testing.assert_allclose(mine, getattr(generic, told)(p)[: len(mine)], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("largest", [1e-31, 1e-40, 1e-44])
def test_numbers_too_small_to_divide_by_are_played_evenly(make, largest):
    """Lines that the opponent hardly ever reaches have regrets whose reciprocal overflows single precision."""
    game, rng = make(1), np.random.default_rng(1)
    tiny, nothing = ExactCfr(game, VARIANTS["cfr"]), ExactCfr(game, VARIANTS["cfr"])
    for t, r in enumerate(game.rounds):
        for b, part in product(range(r.n_boards), ("regrets", "sums")):
            numbers = tiny.read(part, t, b)
            kept = tuple(rng.random(a.shape) * (rng.random(a.shape) < 0.6) for a in numbers)
            tiny.write(part, t, b, tuple(np.float32(largest * a) for a in kept))
    assert tiny.exploitability() == nothing.exploitability()
    for solver in (tiny, nothing):
        solver.run(3)
        assert solver.finite()
    assert tiny.exploitability() == nothing.exploitability()


@pytest.mark.parametrize("short", [False, True])
def test_what_is_not_finite_is_known(short):
    solver = ExactCfr(two_round_game(0), VARIANTS["cfr"], short=short)
    solver.run(1)
    assert solver.finite()
    for wrong in (np.nan, np.inf):
        solver.regrets[1][0].values[5] = wrong
        assert not solver.finite()


@pytest.mark.parametrize("make", [two_round_game, last_round, lambda seed: raked(two_round_game(seed))])
@pytest.mark.parametrize("threads", [1, 2])
def test_both_engines_measure_the_game_with_the_range_that_entered(make, threads):
    game = make(5)
    n = int(game.rounds[0].hands[1].n_hands[0])
    other = np.linspace(0, 1, n) ** 2
    exact, generic = ExactCfr(game, VARIANTS["dcfr"], threads=threads), Cfr(game, VARIANTS["dcfr"])
    for solver in (exact, generic):
        solver.run(3)
        solver.enter(1, other)
        solver.run(2)
    expected = exploitability(Walker(game.entered(1, other)), generic.sums)
    for solver in (exact, generic):
        found = solver.exploitability()
        assert found.best_response == pytest.approx(expected.best_response, rel=1e-4, abs=3e-4)
        assert found.value == pytest.approx(expected.value, rel=1e-4, abs=3e-4)
    assert exact.expected_values() == pytest.approx(generic.expected_values(), rel=1e-4, abs=3e-4)
    (first,), (second,) = (solver.run_to(-1.0, 1, 1) for solver in (exact, generic))
    assert first.exploitability.value == pytest.approx(second.exploitability.value, rel=1e-4, abs=3e-4)
    exact.close()


@pytest.mark.parametrize("engine", [ExactCfr, Cfr])
def test_who_writes_regrets_writes_what_strategies_follow(engine):
    """A predictive variant that starts from given regrets plays them at once."""
    game = last_round(1)
    solvers = [engine(game, variant(name)) for name in ("pdcfr", "dcfr")]
    solvers[1].run(7)
    strategies = []
    for solver in solvers:
        solver.write("regrets", 0, 0, solvers[1].read("regrets", 0, 0))
        before = solver.read("sums", 0, 0)
        solver.iteration = 10**9  # sums keep their weight
        solver.run(1)
        strategies.append(solver.read("sums", 0, 0)[1] - before[1])
        solver.close()
    np.testing.assert_allclose(*strategies, rtol=1e-4, atol=1e-4)
