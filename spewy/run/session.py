"""A solve from start or resume to its target: sweeps, checks by exact best response, saving, interruption."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from lockers import MemoryStore, Store, open_store
from solvers.exploit import Exploitability
from solvers.variants import DEFAULT_VARIANT, EXACT_VARIANT
from spewy.job.job import Job
from spewy.learn.engine import Check, Engine
from spewy.learn.exact_engine import ExactEngine
from spewy.learn.live_engine import LiveEngine
from spewy.learn.visit import VisitSettings
from spewy.records.progress import (
    forget_result,
    read_trace,
    require_whole,
    saved_sweeps,
    write_result,
    write_trace,
)
from spewy.run.estimate import Estimate
from spewy.run.plan import (
    STORED_SHARDS,
    exact,
    job_estimate,
    kept,
    lay_out,
    require_solvable,
    streamed_bytes,
)
from spewy.run.ready import make_ready
from spewy.run.reporter import Reporter, Silent, Stop, unfailing
from spewy.run.result import SolveResult
from spewy.run.target import Target
from spewy.system.interrupts import interruptible

SAVE_SECONDS = 30.0
SAVE_SPEED = 150e6  # bytes a second that a save is expected to take, until one has been made
SAVE_SHARE = 20.0  # where a save takes long: so many times as much work between two of them


class Session:
    """A job bound to a store: what ``solve``, ``show`` and ``exploit`` work on.

    Args:
        job: what to solve.
        folder: where its lockers are or shall be; None keeps them in memory.
        save_every: seconds between two saves of a live solve; None: as often as costs little.

    Raises:
        InputError: as :meth:`solve`; before the folder is created, so that it stays free for a job that can be solved.
            Or rounds were dropped from it, and so there is nothing to go on from.
        lockers.ManifestMismatchError: the folder holds another job.
    """

    def __init__(self, job: Job, folder: str | Path | None = None, save_every: float | None = None) -> None:
        started = time.perf_counter()
        self.job = job
        self.folder = folder = None if folder is None else Path(folder)
        self.save_every = save_every
        self.layout = lay_out(job)
        if self.folder is not None:
            require_solvable(self.job, self.layout, self.cost, streaming=True)
        manifest = job.manifest()
        # chunks that are live are saved in one transaction with those above them
        shards = STORED_SHARDS if job.first_live is None else 1
        self.store: Store = (
            MemoryStore(manifest, shards=shards)
            if self.folder is None
            else open_store(self.folder, manifest, shards=shards)
        )
        try:
            self.store.require_sound()
            require_whole(self.store, job.rules.num_rounds, f"folder {folder}")
        except BaseException:
            self.store.close()
            raise
        self.build_seconds = time.perf_counter() - started

    @cached_property
    def cost(self) -> Estimate:
        """What the solve needs in memory and on disk."""
        return job_estimate(self.job, self.layout)

    def solve(self, reporter: Reporter | None = None, stop: Stop | None = None) -> SolveResult:
        """Sweep until the target or ``max_sweeps``. The first Ctrl-C saves and returns, the second one breaks off.

        SIGTERM and SIGHUP are as Ctrl-C. Where ``stop`` is given, it takes the place of the first Ctrl-C, and signals
        are left alone. A ``reporter`` that raises is told of in the log, and the solve goes on without it.

        Raises:
            InputError: the estimate exceeds ``solve.memory``, or the target's unit is not one of the problem's.
        """
        report = unfailing(reporter or Silent())
        for line in self.job.left_out:
            report.note(line)
        cost = self.cost
        require_solvable(self.job, self.layout, cost, streaming=self.folder is not None)
        if exact(self.job, self.layout):
            make_ready(self.layout.n_rounds, self.job.solve.short, report.note)
            streamed = streamed_bytes(self.job, self.layout, cost)
            if streamed:
                told = f"the last round streams from {streamed / 2**20:,.0f} MiB on disk"
                report.note(f"{self.job.name}: within {self.job.solve.memory} of memory, {told}")
        begun = time.perf_counter()
        if cost.program is not None and not saved_sweeps(self.store):
            report.note(f"{self.job.name}: one linear program, {cost.program}; it has no steps to save")
        engine = self._engine()
        building = self.build_seconds + time.perf_counter() - begun
        try:
            return self._run(engine, report, cost, building, stop)
        finally:
            engine.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        """The session itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the store."""
        self.close()

    def _engine(self) -> Engine:
        solve = self.job.solve
        if self.job.one_program:
            from spewy.learn.lp_engine import LpEngine

            return LpEngine(self.layout, self.store, solve.workers)
        if self.job.live:
            name = solve.variant or DEFAULT_VARIANT
            if exact(self.job, self.layout):
                return ExactEngine(
                    self.layout,
                    self.store,
                    solve.variant or EXACT_VARIANT,
                    solve.workers,
                    short=solve.short,
                    folder=self.folder,
                    kept=kept(self.job, self.layout, self.cost),
                )
            dtype = np.float32 if solve.precision == "single" else np.float64
            return LiveEngine(self.layout, self.store, name, solve.workers, dtype)
        from spewy.learn.stored_engine import StoredEngine

        settings = VisitSettings(
            solve.integrate,
            solve.method,
            solve.variant or DEFAULT_VARIANT,
            solve.iterations or (1 if solve.integrate == "regret" else 50),
            solve.tremble,
            self.job.first_live,
        )
        return StoredEngine(self.layout, self.store, settings, solve.order, solve.workers)

    def _run(
        self, engine: Engine, report: Reporter, cost: Estimate, building: float, outer: Stop | None
    ) -> SolveResult:
        job, judge = self.job, Target(self.job, self.layout)
        trace = [row for row in read_trace(self.store) if row[0] <= engine.sweeps]
        earlier = trace[-1][1] if trace else 0.0
        report.begin(job, cost, engine.sweeps)
        forget_result(self.store)
        checking, save_seconds = 0.0, cost.disk_bytes / SAVE_SPEED
        found: Exploitability | None = None
        interrupted = False
        with interruptible() if outer is None else nullcontext(outer) as stop:
            started = saved = ended = time.perf_counter()
            if engine.sweeps:  # resumed: what was reached decides, freshly measured
                found, checking = judge.measure(engine)
            while not interrupted and not judge.satisfied(found) and engine.sweeps < job.last_sweep:
                checks = self._sprint(engine, judge)
                if checks:
                    ended = time.perf_counter()
                    begun = ended - checks[-1].seconds
                    known = len(trace)
                    for check in checks:
                        checking += check.took
                        found = judge.finite(check.found, check.sweeps)
                        trace.append((check.sweeps, earlier + begun + check.seconds - started, found.value))
                    if ended - saved > self._pause(save_seconds):
                        save_seconds = self._save(engine, trace)
                        saved = time.perf_counter()
                    for n in range(known, len(trace)):
                        report.sweep(trace[n][0], 1, 1)
                        judge.tell(report, trace[: n + 1])
                    interrupted = stop.is_set()
                    continue
                first = engine.sweeps + 1
                sweeps = min(engine.at_once, *_until_check(engine.sweeps, job))

                def progress(done: int, total: int, first: int = first, several: bool = sweeps > 1) -> None:
                    if several:
                        report.sweep(first + done - 1, 1, 1)
                    else:
                        report.sweep(first, done, total)
                    if stop.is_set() and done < total:
                        raise InterruptedSweepError

                try:
                    engine.advance(sweeps, progress)
                except InterruptedSweepError:
                    interrupted, found = True, None  # some of the next sweeps' visits are in already
                    ended = time.perf_counter()
                    break
                found = None
                if 0 in _until_check(engine.sweeps, job, left=True) or stop.is_set():
                    found, seconds = judge.measure(engine)
                    checking += seconds
                    trace.append((engine.sweeps, earlier + time.perf_counter() - started, found.value))
                ended = time.perf_counter()
                if ended - saved > self._pause(save_seconds):
                    save_seconds = self._save(engine, trace)
                    saved = time.perf_counter()
                if found is not None:
                    judge.tell(report, trace)
                interrupted = stop.is_set()
            solving = ended - started
            self._save(engine, trace)
        report.end()
        if found is None and engine.sweeps:
            found, seconds = judge.measure(engine)
            checking += seconds
        seconds_of = {
            "build": building,
            "solve": solving,
            "best_response": checking,
            "total": building + solving,
        }
        done = judge.satisfied(found) or engine.sweeps >= job.last_sweep
        result = judge.result(engine, found, interrupted and not done, seconds_of, trace)
        if not interrupted:
            write_result(self.store, result.to_json())
        return result

    def _pause(self, save_seconds: float) -> float:
        """Seconds from one save to the next, where the last one took so long."""
        if self.save_every is not None:
            return self.save_every
        return max(SAVE_SECONDS, SAVE_SHARE * save_seconds)

    def _sprint(self, engine: Engine, judge: Target) -> list[Check]:
        """Sweeps with checks in one go, from a check on, where the engine's are short enough."""
        solve = self.job.solve
        between = self.save_every is not None  # saves may be due between any two checks
        if between or engine.sweeps % solve.check_every:
            return []
        left = self.job.last_sweep - engine.sweeps
        return engine.sprint(judge.target_chips, left, solve.check_every)

    def _save(self, engine: Engine, trace: list[tuple[int, float, float]]) -> float:
        """Save all; the seconds that it took."""
        begun = time.perf_counter()
        engine.save()
        write_trace(self.store, trace, self.job.solve.target)
        return time.perf_counter() - begun


def solve(
    job: Job | str | Path, folder: str | Path | None = None, *, reporter: Reporter | None = None
) -> SolveResult:
    """Open a session, solve, close.

    Args:
        job: what to solve, or the path of its file.
        folder: where its lockers are or shall be; None keeps them in memory, and only the result is left.
        reporter: hears how it goes.

    Returns:
        What was reached; :meth:`Session.solve` says when it stops.

    Raises:
        InputError: the file is no job, or as :class:`Session` and :meth:`Session.solve`.
        lockers.ManifestMismatchError: the folder holds another job.
    """
    with Session(job if isinstance(job, Job) else Job.load(job), folder) as session:
        return session.solve(reporter)


def _until_check(sweeps: int, job: Job, *, left: bool = False) -> tuple[int, int]:
    """Sweeps to the next check and to the last sweep; ``left``: 0 where a check is due now."""
    ahead = -sweeps % job.solve.check_every
    return (ahead if left else ahead or job.solve.check_every), job.last_sweep - sweeps


class InterruptedSweepError(Exception):
    """Raised between visits after Ctrl-C: everything visited is already in the lockers."""
