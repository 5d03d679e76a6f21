"""Larger exact solves check exploitability only where the target is expected; polarised rivers are solved soon."""

from itertools import pairwise
from math import log

import pytest
from jobs import EXAMPLES

from spewy import Job, Session
from spewy.cli.progress import check_text
from spewy.run.stopping import CHECK_EVERY, LONGEST_GAP, Stopping, forecast

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


def result_of(job, folder=None):
    with Session(job, folder) as session:
        return session.solve()


def test_a_turn_ends_after_the_same_sweep_with_any_number_of_threads():
    first, second = (
        result_of(Job.load(EXAMPLES / "T1.toml", ["solve.target=0.2%", f"solve.workers={workers}"]))
        for workers in (1, 2)
    )
    assert first.exploitability_pct <= 0.2
    assert [row[::2] for row in first.trace] == [row[::2] for row in second.trace]
    assert first.ev == second.ev
    assert len(first.trace) < first.sweeps // CHECK_EVERY


POLAR = {
    "name": "polar",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {"board": "Ts 3h 2h 5c 9s", "pot": 100, "stack": 100, "oop": "AA,QQ", "ip": "KK"},
    "bets": {"river": {"bet": "a"}},
    "solve": {"target": "0.02%"},
}


def polar(solve=None, bet="a", **spot):
    return Job.of(
        POLAR
        | {"spot": POLAR["spot"] | spot, "bets": {"river": {"bet": bet}}}
        | {"solve": POLAR["solve"] | (solve or {})}
    )


@pytest.mark.parametrize(
    ("spot", "ev"),
    [
        ({}, 75),
        ({"stack": 50}, 200 / 3),
        ({"stack": 300}, 87.5),
        ({"stack": 1000, "bet": "100%"}, 75),
        ({"oop": "AA,QQ,JJ"}, 50),
        ({"oop": "AhAd,QhQd", "ip": "KhKd"}, 75),
        ({"oop": "KK", "ip": "AA,QQ"}, 25),
    ],
    ids=str,
)
def test_polarised_rivers_are_solved_within_the_default_limits(spot, ev):
    result = result_of(polar(**spot))
    assert result.converged
    assert result.sweeps < 300
    assert result.ev[0] == pytest.approx(ev, abs=0.02)


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (polar(), "pdcfr"),
        (polar({"variant": "lcfr"}), "lcfr"),
        (Job.load(EXAMPLES / "R1.toml", ["solve.refine=true"]), "pdcfr, refined"),
    ],
    ids=["default", "asked for", "refined"],
)
def test_a_result_tells_the_variant(job, told):
    assert result_of(job).variant == told


def test_a_forecast_grows_as_progress_slows_and_ends_if_progress_slows_further():
    fast = [(t, 0.01 * t, 100 / t) for t in range(10, 101, 10)]
    assert forecast(fast, 0.1) == pytest.approx(9.0, rel=1e-3)
    slow = [*fast, *((t, 0.01 * t, (100 / t) ** 0.2) for t in range(110, 401, 10))]
    assert forecast(slow, 0.1) == pytest.approx(1e5, rel=1e-3)
    slower = [*fast, *((t, 0.01 * t, 1 / (1 + log(t / 100))) for t in range(110, 401, 10))]
    assert forecast(slower, 0.1) is None


@pytest.mark.parametrize(
    ("values", "end"),
    [
        (
            [35.3, 8.39, 2.14, 0.551],
            136,
        ),  # chips of T1 after 10, 20, 40 and 80 sweeps, and the sweep that met 0.1 %
        ([18.7, 4.19, 1.09, 0.297], 99),  # a flop with one bet on each later round
    ],
)
def test_from_the_second_check_a_forecast_is_right_within_a_half(values, end):
    trace = [(10 * 2**k, 10.0 * 2**k, value) for k, value in enumerate(values)]
    for n in range(2, len(trace) + 1):
        left = end - trace[n - 1][0]
        assert left / 1.5 < forecast(trace[:n], 0.2) < 1.5 * left


def test_a_line_says_that_the_time_left_is_unknown_and_no_time_below_a_second():
    assert check_text(1.0, "%", None) == "exploitability 1%, time left unknown"
    assert check_text(1.0, "%", 0.01) == "exploitability 1%"
