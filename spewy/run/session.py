"""A solve from start or resume to its target: sweeps, checks by exact best response, saving, interruption."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lockers import MemoryStore, Store, open_store
from solvers.measure import Exploitability
from spewy.chunks.layout import Layout
from spewy.errors import InputError, shown
from spewy.job.job import Job
from spewy.learn.engine import Engine, Goal, Stop, measured
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.policy import Policy
from spewy.records.progress import (
    first_dropped,
    forget_result,
    read_trace,
    require_whole,
    saved_sweeps,
    write_result,
)
from spewy.records.status import STOP
from spewy.run.drop import drop
from spewy.run.engines import open_engine
from spewy.run.estimate import Estimate
from spewy.run.finished import finished, held, start_again
from spewy.run.logfile import LogFile, logged
from spewy.run.memory import require_address_space
from spewy.run.plan import Plan
from spewy.run.ready import make_ready
from spewy.run.reporter import Reporter, Silent, unfailing
from spewy.run.result import SolveResult
from spewy.run.saving import Saving
from spewy.run.target import Target
from spewy.run.walked_progress import WalkedProgress
from spewy.system.closing import Closing
from spewy.system.folder_lock import FolderLock
from spewy.system.interrupts import interruptible
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    from spewy.run.dealt_session import DealtSession


class Session(Closing):
    """A job bound to a store, which it solves.

    Args:
        job: the job to solve.
        folder: folder of the job's lockers, which may not exist yet; None keeps the lockers in memory.
        save_every: seconds between two saves of a live solve; None: as often as costs little.
        cost: the job's estimate, if it was made before.
        again: whether to remove what the folder holds of this job, once it is known that the job can be solved.

    Attributes:
        plan: the plan of a solve.

    Raises:
        InputError: an error that `solve` would raise, found before the folder is created. Or the folder lacks rounds
            that were dropped, so that the solve cannot go on and is not what the job asks for. Or another process works
            in the folder; a session holds its folder until it is closed.
        lockers.ManifestMismatchError: the folder holds another job.
    """

    def __init__(
        self,
        job: Job,
        folder: str | Path | None = None,
        save_every: float | None = None,
        cost: Estimate | None = None,
        *,
        again: bool = False,
    ) -> None:
        started = time.perf_counter()
        if not isinstance(job, Job):
            raise InputError(f"session: expected a Job, as Job.load reads it, found {shown(job)}")
        self.job = job
        self.folder = folder = None if folder is None else as_path(folder, "folder")
        self.save_every = save_every
        with ExitStack() as opened:
            if folder is not None:
                opened.enter_context(FolderLock(folder, "solve"))
            self.plan = Plan.of(job, streaming=folder is not None, cost=cost)
            self._target = Target(job, self.layout)
            if folder is not None:
                self.plan.require()
                if again:
                    start_again(job, folder)
            manifest, shards = job.manifest(), self.plan.shards
            self.store: Store = (
                MemoryStore(manifest, shards=shards)
                if folder is None
                else open_store(folder, manifest, shards=shards)
            )
            opened.callback(self.store.close)
            self.store.require_sound()
            self._before = self._finished_before()
            if self._before is None:
                require_whole(self.store, job.rules.num_rounds, f"folder {folder}")
            self._opened = opened.pop_all()
        self.build_seconds = time.perf_counter() - started

    @property
    def layout(self) -> Layout:
        """Boards and betting of the job."""
        return self.plan.layout

    @property
    def cost(self) -> Estimate:
        """What the solve needs in memory and on disk."""
        return self.plan.estimate

    def solve(self, reporter: Reporter | None = None, stop: Stop | None = None) -> SolveResult:
        """Sweep until the target or ``max_sweeps``. The first Ctrl-C saves and returns, the second one breaks off.

        SIGTERM and SIGHUP are as Ctrl-C. Where ``stop`` is given, it takes the place of the first Ctrl-C, and signals
        are left alone. A ``reporter`` that raises is told of in the log, and the solve goes on without it.

        Raises:
            InputError: the estimate exceeds ``solve.memory``, or the target's unit is not one of the problem's; or
                the log in the folder cannot be written; or there is no cluster where the job says.
            PeerError: the cluster went away, or answered nonsense; what came before is saved.
        """
        report = unfailing(reporter or Silent())
        for line in self.job.left_out:
            report.note(line)
        if self._before is not None:
            return self._before
        plan, name = self.plan, self.job.name
        plan.require()
        threads = 0 if self.job.solve.threads == 1 else self.job.solve.threads
        require_address_space("spots", self.cost.memory_bytes, threads)
        if plan.engine == "exact":
            make_ready("exact", self.layout.n_rounds, self.job.solve.short, report.note)
            dropped = self.job.rules.num_rounds - (self.job.first_dropped or self.job.rules.num_rounds)
            if dropped:  # whoever looks at them solves them
                make_ready("exact", dropped, False, report.note)
        streamed = plan.residence.streamed_bytes
        if streamed:
            told = f"the last round streams from {streamed / 2**20:,.0f} MiB on disk"
            report.note(f"{name}: within {self.job.solve.memory} of memory, {told}")
        begun = time.perf_counter()
        if self.cost.program is not None and not saved_sweeps(self.store):
            report.note(f"{name}: one linear program, {self.cost.program}; it has no steps to save")
        with nullcontext() if self.folder is None else logged(self.folder) as log:
            engine = open_engine(plan, self.store, self.folder, report.note)
            building = self.build_seconds + time.perf_counter() - begun
            try:
                return self._run(engine, report, building, stop, log)
            finally:
                engine.close()

    def policy(self) -> Policy:
        """What was saved, to be asked for decisions, until the session is closed."""
        return ChunkPolicy(self.layout.problem, self.store)

    def close(self) -> None:
        """Close the store and release the folder."""
        self._opened.close()

    def _run(
        self, engine: Engine, report: Reporter, building: float, outer: Stop | None, log: LogFile | None
    ) -> SolveResult:
        job, target, tell = self.job, self._target, _log_writer(log)
        trace = [row for row in read_trace(self.store) if row[0] <= engine.sweeps]
        earlier = trace[-1][1] if trace else 0.0
        saving = Saving(self.store, engine, job.solve.target, self.save_every, self.cost.disk_bytes)
        status = WalkedProgress(job, self.layout.problem, target.chips, self.folder, saving, earlier)
        status.write(engine.sweeps, trace)  # raises an error if the file cannot be written
        progress = unfailing(status)

        def swept(number: int, done: int, total: int) -> None:
            report.sweep(number, done, total)
            progress.tell(engine.sweeps, trace)

        report.begin(job, self.cost, engine.sweeps)
        tell("start", f"{engine.sweeps} sweeps")
        forget_result(self.store)
        found: Exploitability | None = None
        checking = 0.0
        with interruptible() if outer is None else nullcontext(outer) as stop:
            started = ended = time.perf_counter()
            together = self.save_every is None  # else saves may be due between any two checks
            goal = Goal(target.chips, job.last_sweep, job.check_sweeps, stop, swept, together=together)
            if engine.sweeps:  # resumed: what was reached decides, freshly measured
                check = measured(engine, stop.is_set)
                found, checking = target.finite(check), check.took
            for check in () if target.satisfied(found) else engine.checks(goal):
                ended, found = check.at, target.finite(check)
                checking += check.took
                if found is not None:
                    trace.append((check.sweeps, earlier + ended - started, found.value))
                last = self._done(engine, found) or stop.is_set()
                whole = check.sweeps == engine.sweeps  # if not, later checks follow at once
                if whole and not last and self.folder is not None and saving.save_if_due(trace, ended):
                    tell("save", f"{engine.sweeps} sweeps")
                if found is not None:
                    target.tell(report, trace)
                progress.tell(engine.sweeps, trace)
            interrupted = stop.is_set()
            unmeasured = interrupted and found is None  # an interruption has ended the last check
            dropping = self._done(engine, found) and not unmeasured
            saving.save(trace, job.first_dropped if dropping else None)
        report.end()
        progress.end(engine.sweeps, trace)
        tell("save", f"{engine.sweeps} sweeps")
        if found is None and engine.sweeps and not interrupted:
            check = measured(engine)
            found, checking = target.finite(check), checking + check.took
        solving = ended - started
        seconds_of = {
            "build": building,
            "solve": solving,
            "best_response": checking,
            "total": building + solving,
        }
        done = self._done(engine, found) and not unmeasured
        result = target.result(engine, found, interrupted and not done, seconds_of, trace)
        if not result.interrupted:
            write_result(self.store, result.to_json())
        if done and job.first_dropped is not None:
            names = drop(job, self.store, job.first_dropped)
            report.note(f"{job.name}: {' and '.join(names)} dropped, as save.rounds says")
        tell(STOP, _ending(result))
        return result.in_unit(job.amounts)

    def _finished_before(self) -> SolveResult | None:
        """The result that is in a folder which keeps no more than this job asks for, if there is nothing left to do."""
        if self.job.first_dropped is None or first_dropped(self.store) != self.job.first_dropped:
            return None
        return finished(self.job, held(self.store))

    def _done(self, engine: Engine, found: Exploitability | None) -> bool:
        """Whether there is nothing left to do for this job."""
        return self._target.satisfied(found) or engine.sweeps >= self.job.last_sweep


def _log_writer(log: LogFile | None) -> Callable[[str, str], None]:
    """A function that adds a line to the log; it does nothing without a log."""
    return (lambda event, text: None) if log is None else log.write


def _ending(result: SolveResult) -> str:
    """The reason why a run ended, in words."""
    if result.interrupted:
        return "interrupted"
    return "target reached" if result.converged else "all sweeps made"


def open_session(
    job: Job,
    folder: str | Path | None = None,
    save_every: float | None = None,
    cost: Estimate | None = None,
    start_from: Path | None = None,
    *,
    again: bool = False,
) -> Session | DealtSession:
    """Bind a job to a store in the way in which it is solved.

    Args:
        job: what to solve.
        folder: where its lockers are or shall be; None keeps them in memory, where boards are not dealt.
        save_every: seconds between two saves; None: as often as costs little.
        cost: the job's estimate, where it was made before.
        start_from: the folder of another solve of the same game, where boards are dealt.
        again: whether what the folder holds of this job is removed, once it is known that the job can be solved.

    Raises:
        InputError: as `Session` and `DealtSession`; or boards are not dealt, and it shall start from another folder.
        lockers.LockerError: as they.
    """
    if job.sampled:
        from spewy.run.dealt_session import DealtSession

        return DealtSession(job, folder, save_every, start_from, again=again)
    if start_from is not None:
        raise InputError(f"--start-from: expected a job with [boards], found {job.name}, which has none")
    return Session(job, folder, save_every, cost, again=again)


def solve(
    job: Job | str | Path, folder: str | Path | None = None, *, reporter: Reporter | None = None
) -> SolveResult:
    """Open a session, solve, close.

    Args:
        job: what to solve, or the path of its file.
        folder: where its lockers are or shall be; None keeps them in memory, and only the result is left.
        reporter: hears how it goes.

    Returns:
        What was reached; `Session.solve` says when it stops.

    Raises:
        InputError: the file is no job, or as `Session` and `Session.solve`.
        lockers.ManifestMismatchError: the folder holds another job.
    """
    with open_session(job if isinstance(job, Job) else Job.load(job), folder) as session:
        return session.solve(reporter)
