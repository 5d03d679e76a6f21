"""Weights of ranges: a scale means nothing, and a hand of weight one half is held half of the time."""

import tomllib
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cli_runs import POLARISED
from hypothesis import given, settings
from hypothesis import strategies as st
from jobs import example, solved

from buckets.cards import range_equity
from solvers.discount import VARIANTS
from solvers.measure import expected_value, exploitability
from solvers.reference.cfr import Cfr
from solvers.reference.walk import Walker
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.game.ranges import range as ranges
from spewy.job.job import Job
from spewy.look.solution import Solution, solve
from spewy.run.session import Session

OPTIONS = ("spot.oop=TT+,AJs+,98s,54s", "spot.ip=QQ-88,AQ", "bets.river={bet = '60%, a', raise = 'a'}")
RAKE = ("spot.rake={rate = 0.05, cap = 4}",)


@pytest.fixture(scope="module", params=[(), RAKE], ids=["no rake", "rake"])
def game(request):
    return Layout.of(example("R1", *OPTIONS, *request.param).problem).live


def few_iterations(game, name):
    cfr = Cfr(game, VARIANTS[name])
    cfr.run(25)
    return cfr


def evs(game, sources):
    walker = Walker(game)
    return [expected_value(walker, sources, p) for p in (0, 1)]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), scales=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)))
def test_a_scale_changes_no_value(game, seed, scales):
    """EVs and exploitability of any strategies with ranges ``w`` and with ``c · w``."""
    rng = np.random.default_rng(seed)
    sources = [tuple(np.maximum(rng.normal(size=a.shape), 0) for a in pair) for pair in game.zeros()]
    reach = tuple(0.05 + 0.95 * rng.random(r.shape) for r in game.reach)
    scaled = tuple(c * r for c, r in zip(scales, reach, strict=True))
    one, other = (replace(game, reach=r) for r in (reach, scaled))
    assert evs(one, sources) == pytest.approx(evs(other, sources), abs=1e-9)
    gaps = [exploitability(Walker(scaled), sources).value for scaled in (one, other)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    exponents=st.tuples(st.integers(-9, 3), st.integers(-9, 3)),
    name=st.sampled_from(sorted(VARIANTS)),
)
def test_a_scale_changes_no_strategy(game, seed, exponents, name):
    """25 iterations with ranges ``w`` and with ``c · w``: powers of two, for at ties any rounding decides."""
    rng = np.random.default_rng(seed)
    reach = tuple(0.05 + 0.95 * rng.random(r.shape) for r in game.reach)
    scaled = tuple(2.0**n * r for n, r in zip(exponents, reach, strict=True))
    one, other = (few_iterations(replace(game, reach=r), name) for r in (reach, scaled))
    for mine, theirs in zip(one.sums, other.sums, strict=True):
        for p in (0, 1):
            np.testing.assert_array_equal(mine[p] * 2.0 ** exponents[p], theirs[p])
    assert evs(one.game, one.sums) == evs(other.game, other.sums)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("p", [0, 1])
def test_half_a_weight_is_half_the_time(game, seed, p):
    """Play being fixed, ``EV(w / 2) · mass(w / 2)`` is the mean of those with the hand and without it."""
    rng = np.random.default_rng(seed)
    sources = [tuple(rng.random(a.shape) for a in pair) for pair in game.zeros()]
    base = [rng.random(r.shape) for r in game.reach]
    hand = rng.integers(base[p].shape[1])

    def with_weight(share):
        reach = [r.copy() for r in base]
        reach[p][0, hand] *= share
        one = replace(game, reach=tuple(reach))
        return one.deal_weight, np.array(evs(one, sources))

    (mass, ev), (whole, with_it), (without, rest) = (with_weight(share) for share in (0.5, 1.0, 0.0))
    assert mass == pytest.approx((whole + without) / 2)
    assert ev * mass == pytest.approx((with_it * whole + rest * without) / 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_half_a_weight_is_half_the_equity(seed):
    job, rng = example("R1", *OPTIONS), np.random.default_rng(seed)
    problem = job.problem
    hands, (mine, theirs) = problem.hands, problem.ranges
    hand = rng.choice(np.flatnonzero(mine))

    def with_weight(share):
        weights = mine.copy()
        weights[hand] *= share
        card_free = ~(hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
        return weights @ card_free @ theirs, range_equity(job.board, hands, weights, theirs)

    (mass, equity), (whole, with_it), (without, rest) = (with_weight(share) for share in (0.5, 1.0, 0.0))
    assert equity * mass == pytest.approx((with_it * whole + rest * without) / 2)


def test_two_halves_make_a_hand():
    """Air of one combo, or of two that play alike with weight one half: the same game, so the same EV."""
    found = []
    for air in ("JcTc,JhTh,JdTd", "JcTc,JhTh,JdTd:0.5,Jd8d:0.5", "JcTc:0.5,Jc8c:0.5,JhTh,JdTd"):
        text = POLARISED.replace("JcTc,JhTh,JdTd", air)
        result, view = solved(Job.of(tomllib.loads(text)))
        assert result.converged
        found.append((result.ev, view.node().frequencies))
    for ev, frequencies in found:
        assert ev == pytest.approx([37.5, 62.5], abs=0.01)
        assert frequencies == pytest.approx([0.625, 0.375], abs=0.005)


def weighed(text, scale):
    """A range with all its weights times a scale."""
    groups = (group.partition(":") for group in text.split(","))
    return ",".join(f"{name.strip()}:{float(weight or 1) * scale!r}" for name, _, weight in groups)


@cache
def solved_once(options):
    return solved(example("R1", *options))[0]


@pytest.mark.parametrize("precision", ["16-bit", "single", "double"])
@pytest.mark.parametrize("scale", [0.5, 1e-9, 1e-40, 1e-300])
def test_tiny_weights_are_solved_as_others_are(precision, scale):
    options = (f"solve.precision={precision}", "solve.target=1%", *OPTIONS)
    plain, spot = solved_once(options), example("R1", *options).spot
    tiny, solution = solved(example("R1", *options, f"spot.ip={weighed(spot.ip, scale)}"))
    assert tiny.sweeps == plain.sweeps
    assert tiny.exploitability == plain.exploitability
    assert tiny.ev == plain.ev
    assert tiny.equity == plain.equity
    assert solution.node("c").reach.max() == pytest.approx(scale, rel=1e-9)


def test_a_hand_that_only_a_light_one_goes_with_is_solved_against_it():
    data = tomllib.loads(POLARISED)
    data["spot"] |= {"oop": "AhAd", "ip": "AhKh,AdKd,QcQd:1e-60"}
    result, solution = solved(Job.of(data))
    assert result.equity == (1, 0)
    assert sum(result.ev) == pytest.approx(data["spot"]["pot"])
    assert solution.node().hands == ("AhAd",)


def test_what_is_left_out_is_said():
    data = tomllib.loads(POLARISED)
    data["spot"] |= {"oop": "KhKd,2s2c,JcTc", "ip": "AhAd,QQ:1e-12"}
    assert Job.of(data).range_notes == (
        "spot.oop: the board blocks 2s2c of the range",
        "spot.ip: QdQc, QhQc, QsQc, QhQd, QsQd, QsQh left out: less than 1e-09 of the largest weight",
    )


def test_chunks_of_other_rows_are_refused(tmp_path, monkeypatch):
    """No chunk is found under this job's rows, and play would look uniform."""
    data = tomllib.loads(POLARISED)
    data["spot"]["ip"] += ",QcQd:1e-12"
    with monkeypatch.context() as before:
        before.setattr(ranges, "SMALLEST", 1e-300)
        solve(Job.of(data), tmp_path / "out")
    told = "numbers that every finished sweep leaves, found none: the lockers are damaged"
    with pytest.raises(InputError, match=told), Solution.open(tmp_path / "out") as solution:
        solution.node()
    with pytest.raises(InputError, match=told), Session(Job.of(data), tmp_path / "out") as session:
        session.solve()
