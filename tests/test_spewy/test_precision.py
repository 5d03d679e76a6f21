"""Where single precision ends, what is no number, and what is 0 by definition."""

import numpy as np
import pytest
from jobs import example, solved

from solvers.exploit import Exploitability
from spewy.errors import InputError, SolveError
from spewy.run import target
from spewy.run.plan import exact, lay_out
from spewy.run.session import Session

DEEP = "spot.stack=1000000"  # at a pot of 60


def test_deep_stacks_are_solved_in_double_precision():
    job = example("R1", DEEP, "solve.max_sweeps=10")
    assert not exact(job, lay_out(job))
    assert exact(example("R1", "spot.stack=600000"), lay_out(job))
    result, _ = solved(job)
    assert sum(result.ev) == pytest.approx(job.spot.pot, rel=1e-12)


@pytest.mark.parametrize("precision", ["single", "16-bit"])
def test_single_precision_is_refused_for_deep_stacks(precision):
    job = example("R1", DEEP, f"solve.precision={precision}")
    with pytest.raises(
        InputError, match=f'solve.precision: expected "auto" or "double".*found "{precision}"'
    ):
        Session(job).solve()


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_result_that_is_no_number_is_a_failure(precision, monkeypatch):
    job = example("R1", f"solve.precision={precision}", "solve.max_sweeps=20")
    session = Session(job)
    engine = session._engine()
    nothing = Exploitability((np.nan, 1.0))
    monkeypatch.setattr(type(engine), "exploitability", lambda self: nothing)
    monkeypatch.setattr(type(engine), "sprint", lambda self, *a: [])
    with pytest.raises(SolveError, match="R1, sweep 10: expected a finite exploitability, found nan"):
        session.solve()
    assert session.store.get("meta", b"sweep|") is None


def test_evs_that_do_not_sum_to_the_pot_are_a_failure(monkeypatch):
    job = example("R1", "solve.max_sweeps=20")
    session = Session(job)
    engine = session._engine()
    monkeypatch.setattr(type(engine), "expected_values", lambda self: (1.0, -0.9))
    with pytest.raises(SolveError, match=r"sum to 0, less at most 0 of rake, found 1 and -0\.9"):
        session.solve()


def test_rake_is_part_of_the_sum():
    result, _ = solved(example("R1", "spot.rake={rate = 0.05, cap = 2}", "solve.max_sweeps=20"))
    assert 58 - 60 * target.MOST_OFF <= sum(result.ev) <= 60


def test_folding_is_worth_nothing_at_any_reach():
    _, solution = solved(example("R1", "solve.target=0.05%"))
    seen = 0
    for node in solution.job.betting_tree.nodes():
        if node.kind == "decision" and node.actions[0].kind == "fold":
            worth = solution.node(node.line).action_ev[0]
            assert set(worth[~np.isnan(worth)].tolist()) <= {0.0}
            seen += 1
    assert seen > 3
