"""Kill, resume, interleave: a folder ends where an undisturbed run ends, and no visit is lost or counted twice."""

import multiprocessing as mp
import random

import numpy as np
import pytest
from jobs import EXAMPLES, toy

from lockers import ManifestMismatchError, open_store
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.learn.visit import Visitor, VisitSettings
from spewy.records.chunks import Chunks
from spewy.run.session import Session


def run(job, folder):
    session = Session(job, folder)
    try:
        return session.solve()
    finally:
        session.close()


def test_solving_again_does_nothing_more(tmp_path):
    job = toy("leduc", max_sweeps=6, check_every=2)
    first, again = run(job, tmp_path / "f"), run(job, tmp_path / "f")
    assert (again.sweeps, again.exploitability) == (first.sweeps, first.exploitability)
    assert again.trace == first.trace


def test_going_on_to_a_lower_target(tmp_path):
    """A folder is continued when only the stopping rule changed; the result is that of one long run."""
    short, long = (toy("leduc", max_sweeps=n, check_every=2) for n in (4, 8))
    run(short, tmp_path / "f")
    assert run(long, tmp_path / "f").exploitability == run(long, tmp_path / "g").exploitability


def test_another_job_is_refused(tmp_path):
    run(toy("leduc", max_sweeps=1), tmp_path / "f")
    with pytest.raises(ManifestMismatchError, match="variant"):
        Session(toy("leduc", max_sweeps=1, variant="dcfr"), tmp_path / "f")


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
