"""Larger exact solves check their exploitability only where the target is expected."""

from itertools import pairwise

import pytest
from jobs import EXAMPLES

from spewy import Job, Session
from spewy.run.stopping import CHECK_EVERY, LONGEST_GAP, Stopping

SLOW_SWEEP = 6e-4


def stopping(name="T1", pace=SLOW_SWEEP, **solve):
    return Stopping.of(
        Job.load(EXAMPLES / f"{name}.toml", [f"solve.{k}={v}" for k, v in solve.items()]), pace
    )


def checks_of(rules, exploitability):
    """Sweeps of all checks of a solve whose exploitability after t sweeps is ``exploitability(t)`` % of the pot."""
    trace = []
    while not trace or trace[-1][2] > rules.target:
        at = rules.check_at(trace)
        assert at > (trace[-1][0] if trace else 0)
        trace.append((at, float(at), exploitability(at) * rules.unit_chips))
    return [row[0] for row in trace]


@pytest.mark.parametrize("power", [0.8, 1.3, 1.6, 2.5])
@pytest.mark.parametrize("target", ["1%", "0.1%", "0.01%"])
def test_a_power_law_is_met_by_few_checks(power, target):
    rules = stopping(target=target)
    met = 10 * (15 / rules.in_unit(rules.target)) ** (1 / power)
    sweeps = checks_of(rules, lambda t: 15 * (t / 10) ** -power)
    assert met <= sweeps[-1] <= max(1.05 * met + 2, CHECK_EVERY)
    assert len(sweeps) < 10 + 3 * len(str(sweeps[-1]))
    assert all(later <= 2 * sooner for sooner, later in pairwise(sweeps))


def test_a_solve_that_gets_worse_goes_on_with_checks():
    rules = stopping(target="0.1%")
    assert rules.check_at([(10, 1.0, 5.0), (20, 2.0, 6.0)]) == 40
    assert rules.check_at([(10, 1.0, 5.0), (20, 2.0, 5.0)]) == 40
    assert stopping(target="0%").check_at([(10, 1.0, 5.0), (20, 2.0, 1.0)]) == 40


def test_checks_of_slow_sweeps_are_not_far_apart():
    rules = stopping(target="0%", pace=1.0)
    assert rules.check_at([(100, 1.0, 5.0), (200, 2.0, 4.9)]) == 200 + LONGEST_GAP
    assert stopping(target="0%", pace=100.0).check_at([(200, 1.0, 5.0)]) == 200 + CHECK_EVERY


def test_intervals_stay_regular_where_asked_and_on_rivers():
    assert stopping(check_every=10).check_at([]) is None
    assert stopping(check_every=10).every == 10
    assert stopping(pace=1e-5).check_at([]) is None
    assert stopping(pace=None).every == CHECK_EVERY


def test_a_turn_ends_after_the_same_sweep_with_any_number_of_threads():
    results = []
    for workers in (1, 2):
        with Session(
            Job.load(EXAMPLES / "T1.toml", ["solve.target=0.5%", f"solve.workers={workers}"])
        ) as session:
            results.append(session.solve())
    first, second = results
    assert first.exploitability_pct <= 0.5
    assert [row[::2] for row in first.trace] == [row[::2] for row in second.trace]
    assert first.ev == second.ev
    assert len(first.trace) < first.sweeps // CHECK_EVERY
