"""Engines run portions, measure when they are asked to, stop between visits, and save what was measured."""

import threading

import pytest
from jobs import example, toy

from spewy.learn import live
from spewy.learn.engine import Goal
from spewy.records.progress import saved_sweeps
from spewy.run.session import Session

JOBS = {
    "exact": example("T1", "spot.oop=AA,KQs,76s", "spot.ip=QQ,JTs"),
    "live": toy("leduc", leaves="live"),
    "predictive": toy("leduc", leaves="live", variant="pcfr+"),
    "stored": toy("leduc"),
    "program": toy("kuhn", method="lp", leaves="auto", variant=None),
}


class Heard:
    """Counts what it is told of progress, and stops after so much of it."""

    def __init__(self, most=None):
        self.told, self.stop, self._most = [], threading.Event(), most

    def __call__(self, *args):
        self.told.append(args)
        if len(self.told) == self._most:
            self.stop.set()


def solved(name, **settings):
    with Session(JOBS[name].replace(**{"target": "0 chips"} | settings)) as session:
        return session.solve()


def tell_nobody(done, total):
    pass


@pytest.fixture
def start():
    """An engine for a job, by name, and its session; closed afterwards."""
    opened = []

    def open_one(name, folder=None):
        session = Session(JOBS[name], folder)
        opened.append((session, session.plan.engine(session.stores, None, print)))
        return opened[-1]

    yield open_one
    for session, engine in opened:
        engine.close()
        session.close()


def run_until(engine, last, every=1000, target=-1.0, heard=None, together=True):
    """Portions until the last sweep; the checks that were made within them."""
    heard, checks = heard or Heard(), []
    goal = Goal(target, last, every, together)
    while engine.done < last and not heard.stop.is_set():
        checks += engine.run(goal, heard.stop, heard)
    return checks


@pytest.mark.parametrize("name", ["exact", "live", "predictive", "stored"])
def test_checks_come_when_they_are_due(name):
    result = solved(name, max_sweeps=11, check_every=4)
    assert [sweeps for sweeps, _, _ in result.trace] == [4, 8, 11]
    seconds = [at for _, at, _ in result.trace]
    assert seconds == sorted(seconds)
    assert 0 < result.seconds["best_response"] <= result.seconds["solve"]
    assert result.exploitability == result.trace[-1][2]


@pytest.mark.parametrize("name", ["exact", "live", "stored"])
def test_a_check_at_the_target_is_the_last(name):
    result = solved(name, max_sweeps=1000, check_every=2, target="1000000 chips")
    assert [sweeps for sweeps, _, _ in result.trace] == [2]
    assert (result.converged, result.sweeps) == (True, 2)


@pytest.mark.parametrize("name", ["exact", "live"])
def test_checks_in_one_go_find_what_single_ones_find(name, start):
    _, engine = start(name)
    together = run_until(engine, 40, 5)
    first = 5 if name == "exact" else 10  # the pace of others is not known before the first portion
    assert [check.done for check in together] == [*range(first, 41, 5)]
    assert [check.at for check in together] == sorted(check.at for check in together)
    assert all(check.took > 0 for check in together)
    _, engine = start(name)
    for check in together:
        assert run_until(engine, check.done, 5, together=False) == []
        assert engine.measure().exploitability == pytest.approx(check.exploitability, abs=1e-12)


def test_a_portion_ends_with_the_check_that_finds_the_target(start):
    for name in ("exact", "live"):
        _, engine = start(name)
        run_until(engine, 2, 2)
        (check,) = engine.run(Goal(1e6, 1000, 2), threading.Event(), Heard())
        assert (check.done, engine.done) == (4, 4)


@pytest.mark.parametrize("name", ["exact", "live"])
def test_an_interruption_in_memory_is_a_check(name, monkeypatch):
    monkeypatch.setattr(live, "SECONDS_AT_ONCE", 1e-9)  # a sweep between two looks
    monkeypatch.setattr(live.LiveEngine, "_sprint", lambda self, goal: [])
    job = JOBS[name].replace(max_sweeps=1000, check_every=100, target="0 chips")
    stop = threading.Event()

    run = live.LiveEngine.run

    def stopping(engine, *args):
        if engine.done == 2:
            stop.set()
        return run(engine, *args)

    monkeypatch.setattr(live.LiveEngine, "run", stopping)
    with Session(job) as session:
        result = session.solve(stop=stop)
    assert (result.sweeps, result.interrupted) == (3, True)
    assert [sweeps for sweeps, _, _ in result.trace] == [3]
    assert result.exploitability == result.trace[-1][2]


def test_an_interrupted_sweep_of_stored_chunks_goes_on(start):
    """Its visits are in, and not made again."""
    session, engine = start("stored")
    heard = Heard(5)
    run_until(engine, 1000, heard=heard)
    total = heard.told[0][2]
    assert (engine.done, saved_sweeps(session.store)) == (0, 0)
    assert heard.told == [(1, n, total) for n in range(1, 6)]
    layout = session.layout
    counted = [session.store.visits(layout.key(t, b, r)) for t in (0, 1) for b, r in layout.chunks(t)]
    assert counted.count((1, 1)) == 5
    run_until(engine, 1)
    _, straight = start("stored")
    run_until(straight, 1)
    found, expected = (each.measure(threading.Event(), tell_nobody) for each in (engine, straight))
    assert found.exploitability == expected.exploitability


def test_a_check_of_stored_chunks_is_given_up_when_it_is_interrupted(start):
    """Nothing is lost, since the sweep is in the lockers."""
    session, engine = start("stored")
    run_until(engine, 2)
    stop = threading.Event()
    stop.set()
    assert engine.measure(stop, tell_nobody) is None
    assert (engine.done, saved_sweeps(session.store)) == (2, 2)


def test_a_program_is_one_sweep(start):
    _, engine = start("program")
    heard = Heard()
    assert run_until(engine, 1, 7, heard=heard) == []
    assert heard.told[-1] == (1, 1, 1)
    assert engine.done == 1
    assert engine.measure().exploitability == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["exact", "live", "predictive"])
def test_a_saved_engine_goes_on(name, start, tmp_path):
    _, whole = start(name)
    run_until(whole, 12)
    session, first = start(name, tmp_path / "f")
    run_until(first, 5)
    first.save()
    first.save()  # which has nothing to do
    tickets = session.store.visits(session.layout.key(0, 0, 0))
    assert tickets == ((0, 0) if name == "exact" else (1, 5))
    session.close()
    _, again = start(name, tmp_path / "f")
    assert again.done == 5
    run_until(again, 12)
    assert again.measure().exploitability == pytest.approx(whole.measure().exploitability, rel=1e-9)
