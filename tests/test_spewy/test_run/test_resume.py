"""Kill, resume, interleave: a folder ends where an undisturbed run ends, and no visit is lost or counted twice."""

import multiprocessing as mp
import os
import random
import signal

import numpy as np
import pytest
from jobs import EXAMPLES, example, toy

from lockers import ManifestMismatchError, open_store
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.learn.visit import Visitor, VisitSettings
from spewy.look.solution import Solution
from spewy.records.chunks import Chunks
from spewy.run.events import Advanced
from spewy.run.session import Session

JOBS = {
    "regret": toy("leduc", max_sweeps=60, check_every=20),
    "average": toy("leduc", max_sweeps=12, integrate="average", check_every=4),
    "live": toy("leduc", leaves="live", max_sweeps=120, check_every=20),
}


def run(job, folder):
    session = Session(job, folder)
    try:
        return session.solve()
    finally:
        session.close()


def child_run(job, folder):
    run(job, folder)


def strategies(job, folder):
    with Solution.open(folder) as solution:
        return np.concatenate(
            [a.ravel() for pair in Chunks(solution.layout, solution.store).whole() for a in pair]
        )


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "live")) for kind in JOBS]
)
def test_killed_and_resumed(kind, tmp_path):
    job = JOBS[kind]
    whole = run(job, tmp_path / "whole")
    rng, context = random.Random(kind), mp.get_context("spawn")
    for _ in range(4):
        process = context.Process(target=child_run, args=(job, tmp_path / "killed"))
        process.start()
        process.join(1.5 + rng.random())
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
    resumed = run(job, tmp_path / "killed")
    assert resumed.sweeps == whole.sweeps
    assert resumed.exploitability == whole.exploitability
    np.testing.assert_array_equal(strategies(job, tmp_path / "killed"), strategies(job, tmp_path / "whole"))


def test_solving_again_does_nothing_more(tmp_path):
    first = run(JOBS["regret"], tmp_path / "f")
    again = run(JOBS["regret"], tmp_path / "f")
    assert (again.sweeps, again.exploitability) == (first.sweeps, first.exploitability)
    assert again.trace == first.trace


def test_going_on_to_a_lower_target(tmp_path):
    """A folder is continued when only the stopping rule changed; the result is that of one long run."""
    short, long = (toy("leduc", max_sweeps=n, check_every=10) for n in (20, 50))
    run(short, tmp_path / "f")
    assert run(long, tmp_path / "f").exploitability == run(long, tmp_path / "g").exploitability


def test_another_job_is_refused(tmp_path):
    run(toy("leduc", max_sweeps=1), tmp_path / "f")
    with pytest.raises(ManifestMismatchError, match="variant"):
        Session(toy("leduc", max_sweeps=1, variant="dcfr"), tmp_path / "f")


def test_workers_change_nothing(tmp_path):
    one, two = (
        example("R1", "rows.river=7", "solve.leaves=stored", "solve.max_sweeps=3", f"solve.workers={n}")
        for n in (1, 2)
    )
    assert run(one, tmp_path / "one").exploitability == run(two, tmp_path / "two").exploitability
    leduc = [toy("leduc", max_sweeps=3, workers=n) for n in (1, 2)]
    first, second = (run(job, tmp_path / f"leduc{i}") for i, job in enumerate(leduc))
    assert first.exploitability == second.exploitability


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupt_saves(workers, tmp_path):
    """The first Ctrl-C, which a terminal sends to workers as well, ends the solve cleanly with everything saved."""
    job = toy("leduc", max_sweeps=100_000, workers=workers)
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child_interrupted, args=(job, tmp_path / "f", queue))
    process.start()
    queue.get(timeout=60)
    os.killpg(process.pid, signal.SIGINT)
    interrupted, sweeps = queue.get(timeout=60)
    process.join()
    assert interrupted
    with Solution.open(tmp_path / "f") as solution:
        assert solution.sweeps == sweeps > 0


def child_interrupted(job, folder, queue):
    told = []

    def listen(event):
        if isinstance(event, Advanced) and event.sweep == 3 and not told:
            told.append(event.sweep)
            queue.put("at work")

    os.setsid()
    session = Session(job, folder)
    result = session.solve(listen)
    session.close()
    queue.put((result.interrupted, result.sweeps))


def hammer(folder, sweeps, seed):
    job = toy("leduc")
    layout = Layout.of(job.problem)
    with open_store(folder, job.manifest()) as store:
        chunks = [(t, b, r) for t in range(layout.n_rounds) for b, r in layout.chunks(t)]
        for sweep in range(1, sweeps + 1):
            random.Random(seed * 1000 + sweep).shuffle(chunks)
            for t, b, r in chunks:
                Visitor(layout, store, VisitSettings(variant="cfr+")).visit(t, b, r, sweep)


def read_on(folder, stop, failures):
    job = toy("leduc")
    layout = Layout.of(job.problem)
    with open_store(folder, job.manifest(), read_only=True) as store:
        while not stop.is_set():
            for pair in Chunks(layout, store).whole():
                for array in pair:
                    if not np.all(np.isfinite(array)) or np.any(array < 0):
                        failures.put("a strategy sum is negative or not finite")
    failures.put(None)


@pytest.mark.parametrize(
    ("processes", "sweeps"),
    [pytest.param(4, 3, marks=pytest.mark.slow), pytest.param(8, 40, marks=pytest.mark.slow)],
)
def test_hammering_one_folder(processes, sweeps, tmp_path):
    """Processes race through the same sweeps while another reads: each visit counts once, and the store is healthy."""
    job, folder = toy("leduc"), tmp_path / "f"
    with open_store(folder, job.manifest()) as store:
        layout = Layout.of(job.problem)
    context = mp.get_context("spawn")
    stop, failures = context.Event(), context.Queue()
    reader = context.Process(target=read_on, args=(folder, stop, failures))
    reader.start()
    workers = [context.Process(target=hammer, args=(folder, sweeps, seed)) for seed in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    stop.set()
    assert failures.get(timeout=60) is None
    reader.join()
    with open_store(folder, job.manifest()) as store:
        for t in range(layout.n_rounds):
            for b, r in layout.chunks(t):
                assert store.visits(layout.key(t, b, r)) == (sweeps, sweeps)
        assert store.check() == []


def test_example_jobs_load():
    for path in sorted(EXAMPLES.glob("*.toml")):
        assert Job.load(path).problem.tree.count() > 0
