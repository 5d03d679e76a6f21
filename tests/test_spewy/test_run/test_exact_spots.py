"""Exact solves against an independent judge, without symmetry, in 16 bits, and streamed from disk."""

import json
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from jobs import example, solved
from naive_spot import NaiveSpot

import spewy
from solvers.discount import variant
from solvers.exact import ExactCfr
from spewy.job.job import Job
from spewy.run.cost import UNWATCHED_BYTES, ProcessMemory
from spewy.run.events import Checked, Ended
from spewy.run.session import Session

SMALL = {
    "name": "small",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {
        "board": "Qs 7h 2d 3c",
        "pot": 100,
        "stack": 150,
        "oop": "QQ,AKs,76s:0.5",
        "ip": "JJ-TT,KQs,87s",
    },
    "bets": {"turn": {"bet": "60%"}, "river": {"bet": "75%, a"}},
    "solve": {"target": "0.2%"},
}


@contextmanager
def engine_after(job, sweeps):
    with Session(job) as session:
        engine = session.plan.engine(session.stores, None, print)
        engine.solver.run(sweeps)
        yield engine
        engine.close()


@pytest.mark.parametrize("precision", ["single", "16-bit"])
def test_a_naive_judge_finds_the_same(precision):
    job = Job.of(SMALL | {"solve": {"precision": precision}})
    with engine_after(job, 25) as engine:
        naive, found, values = (
            NaiveSpot(job, engine),
            engine.solver.exploitability(),
            engine.expected_values(),
        )
        for p in (0, 1):
            best, value = naive.best_response(p)
            assert found.best_response[p] == pytest.approx(best, abs=1e-4)
            assert values[p] == pytest.approx(value, abs=1e-4)


@pytest.mark.slow
def test_a_naive_judge_finds_the_same_on_a_flop():
    """All 49 turns and 2352 rivers, of which spades and clubs leave fewer, hand against hand: to 1e-4 of the pot."""
    spot = SMALL["spot"] | {"board": "Td 9d 6h", "oop": "QQ,AKs,76s:0.5", "ip": "JJ,KQs,87s"}
    job = Job.of(SMALL | {"spot": spot, "bets": {"flop": {"bet": "60%"}}})
    with engine_after(job, 40) as engine:
        found, (best, _) = engine.solver.exploitability(), NaiveSpot(job, engine).best_response(0)
        assert found.best_response[0] == pytest.approx(best, abs=1e-4 * job.spot.pot)


def test_precisions_agree_on_the_value():
    exact, _ = solved(Job.of(SMALL | {"solve": {"precision": "double", "target": "0.01%"}}))
    for precision, close in (("16-bit", 0.5), ("single", 0.2), ("double", 0.2)):
        result, _ = solved(Job.of(SMALL | {"solve": {"precision": precision, "target": "0.1%"}}))
        assert result.converged
        assert result.ev[0] == pytest.approx(exact.ev[0], abs=close)


def test_streaming_changes_no_bit(tmp_path):
    """Regrets and sums mapped from a file, all or half of them let go of after each portion."""
    answers = []
    with Session(example("T1")) as session:
        for kept in (1.0, 0.0, 0.5):
            folder = None if kept == 1.0 else tmp_path
            engine = ExactCfr(session.layout.live, variant("dcfr"), threads=2, folder=folder, kept=kept)
            engine.run(6)
            answers.append([engine.sums[1][p].read(b) for p in (0, 1) for b in (0, 17, 47)])
            assert list(tmp_path.iterdir()) == []  # the file has no name
            engine.close()
    for other in answers[1:]:
        for ours, theirs in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "close"), [("T1", "0.05%", 0.0005), ("F1", "0.3%", 0.003)])
def test_symmetry_changes_no_value(name, target, close):
    """EV with and without suit symmetry, each to a target well below the tolerance."""
    jobs = [example(name, f"solve.target={target}", f"solve.symmetry={each}") for each in ("true", "false")]
    one, other = (solved(job)[0].ev[0] / job.spot.pot for job in jobs)
    assert one == pytest.approx(other, abs=close)


def test_a_solve_without_a_folder_keeps_no_second_copy(tmp_path):
    """The store in memory reads the solver's own arrays, which take as much as the solve was allowed."""
    job = example("T1", "solve.max_sweeps=5")
    with Session(job) as session:
        engine = session.plan.engine(session.stores, None, print)
        engine.solver.run(5)
        engine.measure()
        tracemalloc.start()
        engine.save()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        engine.close()
        assert most < 0.2 * engine.solver.state_bytes
        size = session.store.size()
        assert size > 0.9 * engine.solver.state_bytes
    kept, stored = spewy.solve(job), spewy.solve(job, tmp_path / "T1")
    for line, board in (("", None), ("x b120 c", "Qs Jh 2h 8c 3d"), ("x x", "Qs Jh 2h 8c Ad")):
        np.testing.assert_array_equal(kept.node(line, board).strategy, stored.node(line, board).strategy)
        np.testing.assert_array_equal(kept.node(line, board).ev, stored.node(line, board).ev)


def test_a_solve_without_a_folder_goes_on_in_its_session(tmp_path):
    first, more = example("T1", "solve.max_sweeps=5"), example("T1", "solve.max_sweeps=12")
    with Session(first) as session, Session(more, tmp_path / "T1") as other:
        session.solve()
        session.job = more
        session.stopping = other.stopping
        assert session.solve().sweeps == 12
        assert session.saved == 12
        assert session.solve().exploitability == pytest.approx(other.solve().exploitability, rel=1e-3)


def mapped_mib(file):
    """MiB of a mapped file that are in this process's memory."""
    lines, total, inside = Path("/proc/self/smaps").read_text().splitlines(), 0, False
    for line in lines:
        if "-" in line.split(" ")[0]:
            inside = line.endswith(str(file))
        elif inside and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total / 1024


def test_written_pages_of_lockers_are_no_memory_of_the_solve(tmp_path, monkeypatch):
    """A save over an earlier save reads a page of each chunk, and the system maps the pages around it."""
    monkeypatch.setattr("lockers.lmdb.LARGE", 2**20)
    spewy.solve(example("T1", "solve.max_sweeps=5"), tmp_path / "T1").close()
    file, told = tmp_path / "T1" / "lockers.mdb", []
    assert file.stat().st_size > 10 * 2**20

    def look(event):
        if isinstance(event, Checked | Ended):
            told.append(mapped_mib(file))

    with Session(
        example("T1", "solve.max_sweeps=10", "solve.check_every=1"), tmp_path / "T1", 0.0
    ) as session:
        session.solve(look)
    assert len(told) >= 5
    assert max(told) < 2


def test_the_memory_of_the_process_is_what_it_owns(tmp_path):
    with ProcessMemory() as memory:
        before = memory.peak_mib
        block = np.ones(2**24)
        time.sleep(0.5)
        del block
        file = np.memmap(tmp_path / "file", dtype=float, mode="w+", shape=2**24)
        file[:] = 1
        assert before + 120 < memory.peak_mib < before + 150
    result = spewy.solve(example("R1")).result
    assert 20 < result.process_mib < result.peak_rss_mib


def test_only_large_solves_start_a_thread_that_measures_memory():
    def threads(size):
        with ProcessMemory(size) as memory:
            assert memory.peak_mib > 20
            return {thread.name for thread in threading.enumerate()}

    assert "memory" in threads(UNWATCHED_BYTES)
    assert "memory" not in threads(UNWATCHED_BYTES - 1)
    names = set()
    spewy.solve(
        example("R1"), listener=lambda _: names.update(thread.name for thread in threading.enumerate())
    )
    assert names
    assert "memory" not in names


FLOP = """
import json, sys
import spewy
from spewy.job.job import Job

job = Job.load(sys.argv[1], ["solve.max_sweeps=2", "solve.workers=1", f"solve.memory={sys.argv[2]}"])
result = spewy.solve(job, *sys.argv[3:]).result
print(json.dumps([result.process_mib, result.peak_rss_mib]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_files", [False, True])
def test_a_flop_takes_the_memory_that_was_promised(in_files, tmp_path):
    """The state takes 111 MiB: in memory without a folder, or in files with a folder and a limit of 60 MiB."""
    limit, folder = ("60 MiB", [tmp_path / "F2"]) if in_files else ("200 MiB", [])
    spot = Path(spewy.__file__).parents[1] / "benchmarks" / "spots" / "F2.toml"
    with Session(Job.load(spot)) as session:
        promised = session.plan.cost.process_bytes / 2**20
    command = [sys.executable, "-c", FLOP, spot, limit, *folder]
    done = subprocess.run(command, check=True, capture_output=True, timeout=300)
    own, resident = json.loads(done.stdout)
    assert resident < promised  # with a second copy of the state, it was 20 MiB more
    assert own < (110 if in_files else 220)


CLOSED = """
import threading, time
from itertools import product
from solvers.discount import variant
from solvers.errors import SolverError
from solvers.exact import ExactCfr
from spewy.chunks.layout import Layout
from spewy.job.job import Job

def ending(run):
    try:
        run()
    except SolverError as error:
        endings.append(str(error))

games = [Layout.of(Job.of(job).problem).live for job in {jobs!r}]
for k, game in product(range(8), games):
    endings, engine = [], ExactCfr(game, variant("dcfr"), threads=1 + k % 4)
    runs = (lambda: engine.run(10**6), lambda: engine.run_to(0.0, 10**6, 10))
    running = [threading.Thread(target=ending, args=(run,)) for run in runs]  # the second waits for the first
    for each in running:
        each.start()
    time.sleep(0.05 * k)
    started = time.monotonic()
    engine.close()
    assert time.monotonic() - started < 10
    for each in running:
        each.join(20)
        assert not each.is_alive()
    ending(engine.exploitability)
    engine.close()
    assert endings == 3 * ["exact engine: the solver is closed; make a new one"], endings
    assert engine.finite()
"""


def test_engines_are_closed_while_other_threads_run_them():
    """A river, a turn and a flop in a process of its own, which a run after the end of its threads would crash."""
    jobs = []
    for board in ("Qs 7h 2d 3c 8h", "Qs 7h 2d 3c", "Qs 7h 2d"):
        spot = SMALL["spot"] | {"board": board} | ({"oop": "QQ,AKs", "ip": "JJ"} if len(board) == 8 else {})
        jobs.append(SMALL | {"spot": spot, "bets": {"flop": {"bet": "60%"}, "river": {"bet": "75%, a"}}})
    command = [sys.executable, "-X", "faulthandler", "-c", CLOSED.format(jobs=jobs)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
