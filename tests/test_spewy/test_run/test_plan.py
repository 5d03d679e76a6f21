"""Plans: made once in a run, true to what the solver then holds, and refusing what does not fit."""

import importlib
import re
from dataclasses import replace

import numpy as np
import pytest
from cli_runs import KUHN, LEDUC, TURN, good, good_json, write
from jobs import EXAMPLES, example, toy

from solvers.discount import variant
from solvers.exact import ExactCfr, supports, useful_threads
from solvers.exact.context import n_tasks
from spewy.batch.batch import Batch
from spewy.batch.solve_batch import run_batch
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.run.session import Session
from spewy.run.walked_plan import WalkedPlan, supported

BUILT = {
    "problems": "spewy.job.job.Problem",
    "layouts": "spewy.chunks.layout.board_rounds",
    "live games": "spewy.chunks.layout.live_game",
    "estimates": "spewy.run.walked_plan.walked_cost",
}


@pytest.fixture
def built(monkeypatch):
    counts = dict.fromkeys(BUILT, 0)

    def counting(name, function):
        def call(*args, **keywords):
            counts[name] += 1
            return function(*args, **keywords)

        return call

    for name, place in BUILT.items():
        module, function = place.rsplit(".", 1)
        monkeypatch.setattr(place, counting(name, getattr(importlib.import_module(module), function)))
    return counts


@pytest.mark.parametrize(
    ("text", "options", "layouts"),
    [
        (TURN, [], 1),
        (TURN, ["solve.precision=double"], 1),
        (LEDUC, ["solve.max_sweeps=2"], 1),
        (LEDUC.replace('variant = "cfr+"', 'method = "lp"'), ["solve.leaves=auto"], 1),
        (TURN, ["rows.turn=3", "rows.river=4", "solve.max_sweeps=2"], 2),  # rows are first counted
    ],
    ids=["exact", "live", "stored", "program", "buckets"],
)
def test_a_solve_builds_everything_once(text, options, layouts, built, tmp_path):
    sets = [word for option in options for word in ("--set", option)]
    good("solve", write(tmp_path, text), "--out", tmp_path / "out", *sets)
    assert built == {"problems": 1, "layouts": layouts, "live games": 1, "estimates": 1}


def test_an_estimate_builds_no_live_game_of_chunks_that_are_stored(built, tmp_path):
    good("estimate", write(tmp_path, LEDUC))
    assert built == {"problems": 1, "layouts": 1, "live games": 0, "estimates": 1}


def test_a_batch_estimates_each_job_once(built, tmp_path):
    files = [write(tmp_path, text, name) for name, text in (("a.toml", KUHN), ("b.toml", TURN))]
    outcomes = run_batch(Batch.load(files, (), tmp_path / "out"), None, 1)
    assert all(outcome.done for outcome in outcomes)
    assert built["estimates"] == 2


@pytest.mark.parametrize(
    "job",
    [
        example("R1"),
        example("T1", "rows.river=10"),
        example("R1", "rows.river=20", "spot.oop=AA,KK", "spot.ip=QQ,AKs", "rows.weights=ranges"),
        example("R1", "rows.river=2000", "spot.oop=AhAd,KhKd", "spot.ip=TdTc,9d9c,5c5d"),
        toy("leduc", leaves="live"),
        toy("kuhn", leaves="live"),
        example("T1", "solve.leaves=stored"),
    ],
    ids=lambda job: f"{job.name}, {job.rows.river}",
)
def test_what_the_exact_engine_takes_is_known_without_a_live_game(job):
    layout = Layout.of(job.problem)
    expected = supports(layout.live)
    layout.forget_live()
    assert supported(layout) == expected
    assert "live" not in vars(layout)


def test_buckets_that_are_hands_in_order_are_hands():
    """Also where some boards leave a player fewer hands than others do."""
    layout = Layout.of(example("T1", "rows.river=40", "solve.leaves=live").problem)
    table = layout.boards[1]
    boards = tuple(
        replace(
            board,
            hands=tuple(
                replace(rows, row=np.arange(len(rows.numbers)), n_rows=len(rows.numbers))
                for rows in board.hands
            ),
        )
        for board in table.boards
    )
    for chosen in (boards, boards[:1]):
        entries = tuple(entry for entry in layout.board(0, 0).entries if entry.child < len(chosen))
        root = replace(layout.board(0, 0), entries=entries)
        top = replace(layout.boards[0], boards=(root,))
        one = Layout(layout.problem, layout.betting, [top, replace(table, boards=chosen)])
        assert supported(one) == supports(one.live)
    assert supported(one)


ENGINES = {
    "exact": example("T1"),
    "live": example("T1", "solve.precision=double"),
    "stored": example("T1", "solve.leaves=stored"),
    "program": toy("kuhn", method="lp", leaves="auto", variant=None, symmetry=True),
}


@pytest.mark.parametrize("name", ENGINES)
def test_engines(name):
    plan = WalkedPlan.of(ENGINES[name], streaming=True)
    assert plan.setup.engine == name
    assert plan.refusal is None
    assert plan.setup.itemsize == (4 if name == "exact" else 8)
    assert (plan.cost.program is not None) == (name == "program")


def test_what_does_not_fit_with_predictions_is_solved_without_them():
    plan = WalkedPlan.of(example("T1"), streaming=False)
    assert (plan.variant, len(plan.setup.kinds)) == ("pdcfr", 3)
    lean = WalkedPlan.on(_within(plan.job, plan.cost.memory_bytes - 1), plan.layout, streaming=False)
    assert lean.refusal is None
    assert lean.variant == "dcfr-ahead (solve.memory is too small for pdcfr)"
    assert plan.cost.state_bytes == 3 * lean.cost.state_bytes / 2
    again = WalkedPlan.of(lean.job, streaming=False, cost=lean.cost)
    assert (again.variant, len(again.setup.kinds)) == (lean.variant, 2)


def test_deep_flops_predict_regrets():
    flop = SMALL_FLOP | {"spot": SMALL_FLOP["spot"] | {"stack": 100}}
    plan = WalkedPlan.of(Job.of(flop), streaming=False)
    assert plan.variant == "pdcfr (the stack is 10 pots)"
    shallow = WalkedPlan.of(Job.of(SMALL_FLOP), streaming=False)
    assert shallow.variant == "dcfr-ahead"


SMALL_FLOP = {
    "name": "small",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {"board": "Ah Kh 7d", "pot": 10, "stack": 99, "oop": "AsAc", "ip": "QsQc"},
    "bets": {"flop": {"bet": "a"}},
}


@pytest.mark.parametrize("precision", ["single", "16-bit"])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_kept_is_what_the_rest_leaves(precision, threads, monkeypatch):
    """By the sizes of the arrays that the solver then holds."""
    monkeypatch.setattr("spewy.run.walked_plan.RESERVE", 1000)
    settings = f"solve.precision={precision}", f"solve.workers={threads}", "solve.variant=pdcfr"
    job = example("T1", *settings)
    plan = WalkedPlan.of(job, streaming=True)
    assert (plan.memory_plan.kept, plan.memory_plan.streamed_bytes, plan.refusal) == (1.0, 0, None)
    solver = ExactCfr(plan.layout.live, variant(plan.setup.variant), short=precision == "16-bit")
    wholes = (solver.regrets, solver.sums, solver.guesses)
    state = sum(part.values.nbytes for whole in wholes for part in whole[-1])
    solver.close()
    window = state * threads // n_tasks(2, 48)  # what streams through memory at a time
    rest = plan.cost.memory_bytes - state + window + 1000
    for share in (0.0, 0.3, 0.8):
        job = _within(job, rest + int(share * state) + 1)
        tight = WalkedPlan.of(job, streaming=True)
        assert (tight.memory_plan.streamed_bytes, tight.refusal) == (state, None)
        assert tight.memory_plan.kept == pytest.approx(share, abs=1e-5)
        assert "MiB without the interpreter" in WalkedPlan.on(job, plan.layout, streaming=False).refusal
    less = WalkedPlan.of(_within(job, rest - 1), streaming=True)
    assert less.refusal is not None


def test_what_does_not_fit_even_from_disk():
    job = example("T1")
    plan = WalkedPlan.of(job, streaming=True)
    little = WalkedPlan.on(_within(job, 2**20), plan.layout, streaming=True)
    memory = r"[0-9.]+ MiB without the interpreter \([0-9.]+ MiB to keep .*found 1\.0 MiB"
    words = rf"solve\.memory: this job needs at least {memory}"
    assert re.fullmatch(words, little.refusal)
    with pytest.raises(InputError, match=words):
        little.require()
    plan.require()


def _within(job, budget):
    return Job.of(
        job.model_dump(by_alias=True, exclude_none=True)
        | {"solve": job.solve.model_dump(exclude_none=True) | {"memory": f"{budget / 2**10:.6f} KiB"}}
    )


def test_a_known_cost_is_not_estimated_again(built, tmp_path):
    job = example("R1")
    cost = WalkedPlan.counted(job, streaming=False).cost
    built["estimates"] = 0
    with Session(job, tmp_path / "out", cost=cost) as session:
        assert session.cost is cost
        assert session.plan.setup.threads == useful_threads(session.layout.live, job.solve.workers)
    assert built["estimates"] == 0


def test_an_estimate_tells_what_streams(monkeypatch):
    monkeypatch.setattr("spewy.run.walked_plan.RESERVE", 0)
    variant = "solve.variant=dcfr-ahead"
    job, needed = (
        EXAMPLES / "T1.toml",
        WalkedPlan.counted(example("T1", variant), streaming=True).cost.memory_bytes,
    )
    told = []
    for budget in (needed + 1, needed - 1, needed // 10):
        found = good_json(
            "estimate", job, "--set", variant, "--set", f"solve.memory={budget / 2**10:.6f} KiB"
        )
        told.append((found["fits"], found["streamed_bytes"]))
    assert told == [(True, 0), (True, told[1][1]), (False, None)]
    assert 0 < told[1][1] < needed
