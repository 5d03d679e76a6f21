"""Engines tell of their checks, stop between visits, and save what was measured."""

import threading

import pytest
from jobs import example, toy

from spewy.learn import live
from spewy.learn.engine import Goal
from spewy.records.progress import saved_sweeps
from spewy.run.engines import open_engine
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


def goal(heard, last, every, target=-1.0, together=True):
    return Goal(target, last, every, heard.stop, heard, together=together)


@pytest.fixture
def start():
    """An engine for a job, by name, and its session; closed afterwards."""
    opened = []

    def open_one(name, folder=None):
        session = Session(JOBS[name], folder)
        opened.append((session, open_engine(session.plan, session.store, session.folder, print)))
        return opened[-1]

    yield open_one
    for session, engine in opened:
        engine.close()
        session.close()


@pytest.mark.parametrize("name", ["exact", "live", "predictive", "stored"])
def test_checks_come_when_they_are_due(name, start):
    _, engine = start(name)
    found = [check for check in engine.checks(goal(Heard(), 11, 4)) if check.found is not None]
    assert [check.sweeps for check in found] == [4, 8, 11]
    assert [check.at for check in found] == sorted(check.at for check in found)
    assert all(check.took > 0 for check in found)
    assert engine.exploitability().value == pytest.approx(found[-1].found.value, rel=1e-9)
    more = [check.sweeps for check in engine.checks(goal(Heard(), 14, 4)) if check.found is not None]
    assert more == [12, 14]
    assert not list(engine.checks(goal(Heard(), 14, 4)))


@pytest.mark.parametrize("name", ["exact", "live"])
def test_checks_in_one_go_find_what_single_ones_find(name, start, monkeypatch):
    answers = []
    for together in (True, False):
        _, engine = start(name)
        found = list(engine.checks(goal(Heard(), 40, 5, together=together)))
        assert [check.sweeps for check in found] == [*range(5, 41, 5)]
        answers.append([check.found.value for check in found])
    assert answers[0] == pytest.approx(answers[1], abs=1e-12)


def test_a_check_at_the_target_is_the_last(start):
    for name in ("exact", "live", "stored"):
        _, engine = start(name)
        found = list(engine.checks(goal(Heard(), 1000, 2, target=1e6)))
        assert [check.sweeps for check in found if check.found is not None] == [2]
        assert engine.sweeps == 2


@pytest.mark.parametrize("name", ["exact", "live"])
def test_an_interruption_in_memory_is_a_check(name, start, monkeypatch):
    monkeypatch.setattr(live, "SECONDS_AT_ONCE", 1e-9)  # a sweep between two looks
    monkeypatch.setattr(live.LiveEngine, "_sprint", lambda self, goal: [])
    _, engine = start(name)
    heard = Heard(3)
    (check,) = engine.checks(goal(heard, 1000, 100))
    assert heard.told == [(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1)]
    assert (check.sweeps, engine.sweeps) == (4, 4)
    assert check.found == engine.exploitability()


def test_an_interrupted_sweep_of_stored_chunks_is_not_measured(start):
    """Its visits are in, and not made again."""
    session, engine = start("stored")
    heard = Heard(5)
    (check,) = engine.checks(goal(heard, 1000, 100))
    total = heard.told[0][2]
    assert (check.sweeps, check.found, saved_sweeps(session.store)) == (0, None, 0)
    assert heard.told == [(1, n, total) for n in range(1, 6)]
    layout = session.layout
    counted = [session.store.tickets(layout.key(t, b, r)) for t in (0, 1) for b, r in layout.chunks(t)]
    assert counted.count((1, 1)) == 5
    (check,) = engine.checks(goal(Heard(), 1, 100))
    _, straight = start("stored")
    (expected,) = straight.checks(goal(Heard(), 1, 100))
    assert check.found == expected.found


def test_a_check_of_stored_chunks_is_given_up_when_it_is_interrupted(start):
    """Nothing is lost, since the sweep is in the lockers; the stop comes with the sweep's last visit."""
    session, engine = start("stored")
    first = Heard()
    list(engine.checks(goal(first, 1, 100)))
    heard = Heard(first.told[0][2])
    (check,) = engine.checks(goal(heard, 1000, 100))
    assert (check.sweeps, check.found, saved_sweeps(session.store)) == (2, None, 2)


def test_stored_sweeps_between_checks_are_told_of(start):
    _, engine = start("stored")
    told = [(check.sweeps, check.found is None) for check in engine.checks(goal(Heard(), 5, 3))]
    assert told == [(1, True), (2, True), (3, False), (4, True), (5, False)]


def test_a_program_is_one_sweep(start):
    _, engine = start("program")
    heard = Heard()
    (check,) = engine.checks(goal(heard, 1, 7))
    assert heard.told[-1] == (1, 1, 1)
    assert check.sweeps == 1
    assert check.found.value == pytest.approx(0, abs=1e-9)
    assert not list(engine.checks(goal(heard, 1, 7)))


@pytest.mark.parametrize("name", ["exact", "live", "predictive"])
def test_a_saved_engine_goes_on(name, start, tmp_path):
    _, whole = start(name)
    expected = list(whole.checks(goal(Heard(), 12, 12)))[-1].found
    session, first = start(name, tmp_path / "f")
    list(first.checks(goal(Heard(), 5, 5)))
    first.save()
    first.save()  # which has nothing to do
    tickets = session.store.tickets(session.layout.key(0, 0, 0))
    assert tickets == ((0, 0) if name == "exact" else (1, 5))
    session.close()
    _, again = start(name, tmp_path / "f")
    assert again.sweeps == 5
    found = list(again.checks(goal(Heard(), 12, 12)))[-1].found
    assert found.value == pytest.approx(expected.value, rel=1e-9)
