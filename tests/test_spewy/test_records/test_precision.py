"""Where single precision ends, what is no number, and what is 0 by definition."""

import threading

import numpy as np
import pytest
from jobs import example, solved

from lockers import MemoryStore
from solvers.exact import ExactCfr
from solvers.reference.cfr import Cfr
from spewy.chunks.layout import Layout
from spewy.errors import InputError, SolveError
from spewy.learn.engine import Check
from spewy.learn.live import LiveEngine
from spewy.records.bucket_numbers import BucketNumbers, write_buckets
from spewy.records.chunks import Kind, Visit, commit_visit
from spewy.records.keys import REGRET, STRATEGY
from spewy.records.progress import saved_sweeps
from spewy.run.events import Advanced
from spewy.run.result import MOST_OFF
from spewy.run.session import Session
from spewy.run.walked_plan import WalkedPlan

DEEP = "spot.stack=1000000"  # at a pot of 60


def test_deep_stacks_are_solved_in_double_precision():
    job = example("R1", DEEP, "solve.max_sweeps=10")
    assert WalkedPlan.of(job, streaming=False).setup.engine == "live"
    assert WalkedPlan.of(example("R1", "spot.stack=600000"), streaming=False).setup.engine == "exact"
    result, _ = solved(job)
    assert sum(result.ev) == pytest.approx(job.spot.pot, rel=1e-12)


@pytest.mark.parametrize("precision", ["single", "16-bit"])
def test_single_precision_is_refused_for_deep_stacks(precision):
    job = example("R1", DEEP, f"solve.precision={precision}")
    with pytest.raises(
        InputError, match=f'solve.precision: expected "auto" or "double".*found "{precision}"'
    ):
        Session(job).solve()


def no_number(engine, *args):
    return Check(engine.done, 0.0, 0.0, float("nan"))


class StoppingAtOnce:
    def __init__(self):
        self.stop = threading.Event()

    def __call__(self, event):
        if isinstance(event, Advanced):
            self.stop.set()


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_result_that_is_no_number_is_a_failure(precision, monkeypatch):
    job = example("R1", f"solve.precision={precision}", "solve.max_sweeps=20")
    monkeypatch.setattr(LiveEngine, "measure", no_number)
    monkeypatch.setattr(LiveEngine, "_sprint", lambda self, goal: [])
    with Session(job) as session:
        with pytest.raises(SolveError, match="R1, sweep 10: expected a finite exploitability, found nan"):
            session.solve()
        assert saved_sweeps(session.store) == 0


@pytest.mark.parametrize("precision", ["single", "double"])
def test_what_no_check_has_seen_is_not_saved(precision, monkeypatch):
    """An interruption between two checks is a check of its own, before anything is saved."""
    job, stopping = example("R1", f"solve.precision={precision}", "solve.check_every=15"), StoppingAtOnce()
    monkeypatch.setattr("spewy.learn.live.SECONDS_AT_ONCE", 1e-9)  # a sweep between two looks at it
    monkeypatch.setattr(LiveEngine, "_sprint", lambda self, goal: [])
    with Session(job) as session:
        result = session.solve(stopping, stopping.stop)
        assert (result.interrupted, result.sweeps, saved_sweeps(session.store)) == (True, 1, 1)
        assert [sweep for sweep, _, _ in result.trace] == [1]
    monkeypatch.setattr(LiveEngine, "measure", no_number)
    with Session(job) as session:
        again = StoppingAtOnce()
        with pytest.raises(SolveError, match="R1, sweep 1: expected a finite exploitability, found nan"):
            session.solve(again, again.stop)
        assert saved_sweeps(session.store) == 0


@pytest.mark.parametrize("precision", ["single", "double"])
def test_regrets_that_are_not_finite_are_not_saved(precision, monkeypatch):
    """The average that a check measures can be finite although the regrets are not."""
    job = example("R1", f"solve.precision={precision}", "solve.max_sweeps=20")
    with Session(job) as session:
        monkeypatch.setattr(Cfr, "finite", lambda self: False)
        monkeypatch.setattr(ExactCfr, "finite", lambda self: False)
        with pytest.raises(
            SolveError,
            match=r"sweep [12]0: regrets or strategy sums are infinite or not numbers, so the sweep",
        ):
            session.solve()
        assert saved_sweeps(session.store) == 0


def test_what_is_not_finite_is_written_nowhere():
    store = MemoryStore()
    one = BucketNumbers(0, 3, (np.ones(4), np.array([1.0, np.inf])), (np.ones(4), np.ones(2)), np.ones(2))
    with pytest.raises(
        SolveError, match="round 0, board bucket 3: expected finite numbers, found infinities or NaN"
    ):
        write_buckets(store, [one])
    assert not list(store.keys(REGRET))
    problem = example("R1").problem
    layout = Layout.of(problem)
    visit = Visit({layout.key(0, 0, 0): {Kind.SUMS: (np.ones((2, 3)), np.full((2, 3), np.nan))}})
    with pytest.raises(
        SolveError, match=r"sweep 1, strategy of chunk .*: expected finite numbers, found infinities or NaN"
    ):
        commit_visit(layout, store, (0, 0, 0), (0, 0), 1, visit)
    assert not list(store.keys(STRATEGY))


def test_evs_that_do_not_sum_to_the_pot_are_a_failure(monkeypatch):
    job = example("R1", "solve.max_sweeps=20")
    session = Session(job)
    monkeypatch.setattr(LiveEngine, "expected_values", lambda self: (1.0, -0.9))
    with pytest.raises(SolveError, match=r"sum to 0, less at most 0 of rake, found 1 and -0\.9"):
        session.solve()


def test_rake_is_part_of_the_sum():
    result, _ = solved(example("R1", "spot.rake={rate = 0.05, cap = 2}", "solve.max_sweeps=20"))
    assert 58 - 60 * MOST_OFF <= sum(result.ev) <= 60


def test_folding_is_worth_nothing_at_any_reach():
    _, solution = solved(example("R1", "solve.target=0.05%"))
    seen = 0
    for node in solution.job.betting_tree.nodes():
        if node.kind == "decision" and node.actions[0].kind == "fold":
            worth = solution.node(node.line).action_ev[0]
            assert set(worth[~np.isnan(worth)].tolist()) <= {0.0}
            seen += 1
    assert seen > 3
