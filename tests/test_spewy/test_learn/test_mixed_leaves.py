"""Stored rounds over live ones: what a job may say, what such solves give, their folders, and what they need."""

from threading import Event

import numpy as np
import pytest
from cli_runs import good, good_json
from jobs import EXAMPLES, example, toy
from naive_chunks import GAME, three_rounds

from lockers import MemoryStore, open_store
from solvers.discount import variant
from solvers.reference.cfr import Cfr
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.learn.engine import Goal
from spewy.learn.playdown import Judge
from spewy.learn.stored import StoredEngine
from spewy.learn.visit import VisitSettings
from spewy.look.folder import stored_job
from spewy.look.solution import Solution
from spewy.records.chunks import Chunks, Kind
from spewy.run.session import Session
from spewy.run.walked_cost import EngineSetup, walked_cost
from spewy.run.walked_plan import WalkedPlan

T1 = ("rows.turn=7", "rows.river=5", "rows.clustering=equity-quantiles", "solve.target=0 chips")


def trace(job, folder=None):
    with Session(job, folder) as session:
        return [(sweep, found) for sweep, _, found in session.solve().trace]


def test_leduc_under_a_stored_root_is_the_live_solve():
    for name in ("dcfr", "pcfr+"):
        mixed, live = (
            toy("leduc", leaves=leaves, variant=name, max_sweeps=30, check_every=10, symmetry=True)
            for leaves in ({"flop": "live"}, "live")
        )
        assert trace(mixed) == trace(live)


def test_a_spot_under_a_stored_root_is_the_live_solve(tmp_path):
    settings = (*T1, "solve.max_sweeps=6", "solve.check_every=2")
    live = trace(example("T1", *settings, "solve.leaves=live"))
    assert trace(example("T1", *settings, "solve.leaves.river=live"), tmp_path / "f") == live


def swept(layout, first_live, sweeps):
    store, settings = MemoryStore({}), VisitSettings(first_live=first_live)
    engine = StoredEngine(layout, store, settings)
    while engine.done < sweeps:
        engine.run(Goal(0.0, sweeps), Event(), lambda *told: None)
    return engine.measure(Event()).exploitability


@pytest.mark.parametrize("rows", [True, False])
def test_three_rounds_under_a_stored_root_are_the_live_solve(rows):
    _, problem = three_rounds(1, held=(7, 5), rows=rows)
    layout = Layout.of(problem)
    live = Cfr(layout.live, variant("dcfr"))
    live.run(10)
    assert swept(layout, 1, 10) == Judge(layout, 1).exploitability(live.sums).value


@pytest.mark.slow
def test_live_rivers_come_closer_than_stored_ones():
    """A payoff matrix tells what rows are worth on average; live chunks answer each hand of them."""
    _, problem = three_rounds(1, held=(7, 5))
    layout = Layout.of(problem)
    assert swept(layout, 2, 20) < 0.85 * swept(layout, None, 20)


def mixed(**solve):
    game = {"text": GAME.format(hole=1, flop=1, ranks=4)}
    rows = {"flop": 3, "turn": 2, "clustering": "equity-quantiles"}
    options = {"leaves": {"turn": "live"}, "target": "0 chips", "max_sweeps": 12, "check_every": 4}
    return Job.of({"name": "three", "game": game, "rows": rows, "solve": options | solve})


def arrays(folder):
    with Solution.open(folder) as solution:
        layout, store = solution.layout, solution.store
        return [
            array
            for kind in (Kind.REGRETS, Kind.SUMS)
            for t in range(layout.n_rounds)
            for b, r in layout.chunks(t)
            for array in Chunks(layout, store, kind).get(t, b, r)
        ]


@pytest.mark.parametrize("order", ["bottom-up", pytest.param("top-down", marks=pytest.mark.slow)])
def test_workers_change_nothing(order, tmp_path):
    one, two = mixed(order=order), mixed(order=order, workers=2)
    assert trace(one) == trace(one, tmp_path / "one") == trace(two, tmp_path / "two")
    for mine, other in zip(arrays(tmp_path / "one"), arrays(tmp_path / "two"), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_an_interrupted_sweep_goes_on(tmp_path):
    """Between any two visits of a sweep."""
    job = mixed(max_sweeps=3)
    whole, layout = trace(job), Layout.of(job.problem)
    visits = sum(len(list(layout.chunks(t))) for t in (0, 1))
    for stop_after in (1, visits - 2, visits + 1):
        with Session(job, tmp_path / str(stop_after)) as session:
            stop, made = Event(), []

            def progress(number, done, total, stop=stop, made=made, stop_after=stop_after):
                assert total == visits
                made.append(done)
                if len(made) == stop_after:
                    stop.set()

            settings = VisitSettings(first_live=job.first_live)
            engine = StoredEngine(layout, session.store, settings)
            while not stop.is_set():
                engine.run(Goal(0.0, 3), stop, progress)
            assert len(made) == stop_after
        assert trace(job, tmp_path / str(stop_after))[-1] == whole[-1]


def test_folders_with_live_rounds_below_are_looked_at(tmp_path):
    job = mixed(max_sweeps=4)
    found = trace(job, tmp_path / "f")
    told = good_json("exploit", tmp_path / "f")
    assert told["exploitability"] == pytest.approx(found[-1][1])
    assert good("check", tmp_path / "f").endswith(": healthy\n")


LEAVES = [
    ("auto", 2, 2),
    ("live", 2, 2),
    ("stored", 2, None),
    ({"turn": "stored", "river": "live"}, 2, 3),
    ({"river": "live"}, 2, 3),
    ({"turn": "live"}, 2, 2),
    ({"turn": "stored"}, 2, None),
    ({"river": "live"}, 0, 3),
    ({"flop": "live"}, 0, 1),
    ({"preflop": "stored", "turn": "live"}, 0, 2),
]


@pytest.mark.parametrize(("leaves", "root", "first"), LEAVES)
def test_rounds_of_a_table_of_leaves(leaves, root, first):
    solve = {"leaves": leaves}
    if root:
        job = Job.of(dict(example("T1").model_dump(by_alias=True), solve=solve))
    else:
        job = Job.of({"name": "x", "game": {"file": "holdem.limit.2p.reverse_blinds"}, "solve": solve})
    assert (job.tree_config.start_round, job.first_live, job.live) == (root, first, first == root)


def test_overrides_and_folders_know_tables_of_leaves(tmp_path):
    job = example("T1", "solve.leaves.river=live")
    assert job.manifest() == example("T1", 'solve.leaves={river="live"}').manifest()
    assert str(job.leaves) == "stored leaves, live ones from the river on"
    assert job.manifest()["job"]["solve"]["leaves"] == {"river": "live"}
    assert example("T1").manifest()["job"]["solve"]["leaves"] == "auto"
    settings = ("--set", "solve.leaves.river=live", "--set", "rows.river=5")
    told = good("estimate", EXAMPLES / "T1.toml", *settings)
    assert "T1, stored leaves, live ones from the river on" in told
    with pytest.raises(InputError, match=r"solve\.leaves\.turn: expected one of .*, preflop, flop, found"):
        toy("leduc", leaves={"turn": "live"})
    with Session(mixed(), tmp_path / "f"):
        pass
    with open_store(tmp_path / "f", read_only=True) as store:
        assert stored_job(store, tmp_path / "f").solve.leaves == {"turn": "live"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ['solve.leaves={turn="live", river="stored"}'],
            'solve.leaves.river: expected "live", because the turn is live and its leaves read no stored payoffs; '
            'found "stored"',
        ),
        (
            ["solve.leaves.flop=stored"],
            'solve.leaves.flop: expected one of the rounds of this solve, turn, river, found "stored"',
        ),
        (
            ["solve.leaves.rivr=live"],
            "solve.leaves: expected rounds among preflop, flop, turn, river, found {'rivr': 'live'}",
        ),
        (
            ["solve.leaves.river=auto"],
            "solve.leaves: expected \"stored\" or \"live\" for each round, found {'river': 'auto'}",
        ),
        (["solve.leaves={}"], "solve.leaves: expected rounds among preflop, flop, turn, river, found {}"),
        (
            ["solve.leaves=both"],
            'solve.leaves: expected "auto", "stored", "live", or a table of "stored" and "live" by round, '
            "found 'both'",
        ),
        (
            ["solve.leaves.river=live", "solve.integrate=average"],
            'solve.leaves: expected "stored" or "auto", because solve.integrate = "average" needs stored chunks; '
            "found {'river': 'live'}",
        ),
        (
            ["solve.leaves.river=live", "solve.method=lp"],
            'solve.method: "lp" solves the whole game at once: expected solve.leaves = "auto" or "live", '
            "found {'river': 'live'}",
        ),
        (
            ["solve.leaves.river=live", "spot.rake={rate=0.05}"],
            "spot.rake: expected live leaves, solve.leaves = \"auto\" or \"live\", found {'river': 'live'}",
        ),
        (
            ["solve.leaves.turn=live", "solve.iterations=3"],
            'solve.iterations: expected solve.leaves = "stored", because only stored chunks are visited one by one; '
            "found 3 for live leaves",
        ),
    ],
)
def test_tables_of_leaves_that_make_no_sense(overrides, message):
    with pytest.raises(InputError) as error:
        example("T1", *overrides)
    assert str(error.value).endswith(message)


def test_what_such_a_solve_needs():
    """Disk as its kinds of chunks take it, and memory for what the visits at work improve."""
    settings = (*T1, "solve.workers=2")
    costs = {}
    for name, leaves in (("stored", "stored"), ("mixed", '{river="live"}'), ("live", "live")):
        job = example("T1", *settings, f"solve.leaves={leaves}")
        costs[name] = WalkedPlan.counted(job, streaming=False).cost
    assert costs["mixed"].payoff_bytes == 0 < costs["stored"].payoff_bytes
    assert costs["mixed"].disk_bytes < costs["stored"].disk_bytes
    assert costs["mixed"].state_bytes == costs["stored"].state_bytes
    assert costs["mixed"].memory_bytes > costs["stored"].memory_bytes
    assert costs["mixed"].memory_bytes < 2 * costs["live"].memory_bytes
    with pytest.raises(InputError, match=r"solve\.memory"):
        Session(example("T1", *settings, "solve.leaves.river=live", "solve.memory=1 MiB")).solve()


@pytest.mark.parametrize("workers", [1, 3, 1000])
def test_memory_of_visits_is_that_of_the_largest_parts(workers):
    """Counted chunk by chunk."""
    _, problem = three_rounds(1, held=(7, 2), rows=False)
    layout = Layout.of(problem)
    options = {"engine": "stored", "variant": "cfr", "itemsize": 8, "threads": workers}
    options["integrate"] = "regret"
    costs = [walked_cost(layout, EngineSetup(**options, first_live=first)) for first in (2, None)]
    most = 0
    for b in range(len(layout.boards[1].boards)):
        for chunk in layout.betting[1].chunks:
            cells = 0
            for p in (0, 1):
                width = [layout.live.rounds[t].hands[p].n_rows for t in (0, 1, 2)]
                below = [layout.tree(2, int(i)).forest.n_slots[p] for i in chunk.exits]
                boards = sum(board.parent == b for board in layout.boards[2].boards)
                cells += chunk.forest.n_slots[p] * width[1] + boards * sum(below) * width[2]
            most = max(most, cells)
    at_once = {1: 1, 3: 3, 1000: 1}[workers]  # there are not chunks enough for so many
    tables, judged = costs[1].table_bytes, costs[1].memory_bytes - costs[1].table_bytes
    assert costs[0].memory_bytes - tables == max(judged, int(2.08 * 2 * 8 * most * at_once))
