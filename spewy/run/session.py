"""A solve of any job, from opening its folder to its result.

Modules that only jobs with board buckets need are imported inside functions: loading them takes longer than a small
solve.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lockers import Store, holds_store, open_store
from spewy.chunks.layout import Layout
from spewy.errors import InputError, path_text, shown
from spewy.job.job import Job
from spewy.learn.engine import Engine, Stop
from spewy.records.policy import Policy
from spewy.records.progress import quick_seconds, saved_sweeps, write_result
from spewy.records.status import STOP
from spewy.run.cost import Cost, ProcessMemory, require_address_space
from spewy.run.events import Began, Ended, Listener, Noted, noting, unfailing
from spewy.run.folder_state import kept_abstraction, remove_stages, start_again
from spewy.run.loop import Log, Loop
from spewy.run.plan import Plan
from spewy.run.result import SolveResult, require_zero_sum
from spewy.run.status_file import logged
from spewy.run.stopping import INTERRUPTED
from spewy.run.stores import LARGE
from spewy.run.walked_cost import WalkedCost
from spewy.run.walked_plan import WalkedPlan
from spewy.system.folders import FolderLock
from spewy.system.interrupts import interruptible
from spewy.system.tools import Closing, as_path

if TYPE_CHECKING:
    from spewy.learn.sampled import Start
    from spewy.run.coarse_stages import CoarseStages
    from spewy.run.sampled_plan import SampledPlan


class Session(Closing):
    """A job with its open stores, ready to be solved.

    Args:
        job: the job to solve.
        folder: folder of the solve, which need not exist; None keeps the lockers in memory.
        save_every: seconds between two saves; None: the default schedule.
        cost: the job's cost, if it was estimated before.
        start_from: folder of another solve with board buckets, of the same game and betting; a new solve begins with
            the regrets and averages in this folder.
        again: whether to start from scratch; the job's data in the folder is removed once the job is known to fit.
        started: time of `time.perf_counter` from which a quick solve counts its seconds; None: now.

    Attributes:
        plan: the plan of the solve.

    Raises:
        InputError: the job needs too much memory or disk space; or rounds or regrets were dropped from the folder, so
            that the solve cannot continue; or another process works in the folder, which a session locks until it is
            closed; or this solve cannot start from ``start_from``.
        lockers.ManifestMismatchError: the folder holds another job, or other board buckets.
        lockers.DamagedLockerError: the folder's lockers are damaged.
    """

    def __init__(
        self,
        job: Job,
        folder: str | Path | None = None,
        save_every: float | None = None,
        cost: WalkedCost | None = None,
        *,
        start_from: Path | None = None,
        again: bool = False,
        started: float | None = None,
    ) -> None:
        started = time.perf_counter() if started is None else started
        if not isinstance(job, Job):
            raise InputError(f"session: expected a Job, such as Job.load returns, found {shown(job)}")
        self.job = job
        self.folder = folder = None if folder is None else as_path(folder, "folder")
        self.save_every, self.start_from = save_every, start_from
        with ExitStack() as opened:
            if folder is not None:
                opened.enter_context(FolderLock(folder, "solve"))
            self.plan = _plan(job, folder, cost, again=again)
            self.stopping = self.plan.stopping
            if folder is not None:
                self.plan.require(folder)
            if start_from is not None:
                self._require_start(start_from, again=again)
            if again and folder is not None:
                start_again(job, folder)
            self.stores = opened.enter_context(self.plan.stores(folder))
            self._coarse = None if start_from is not None else self._stages()
            if self._coarse is not None:
                opened.enter_context(self._coarse)
            self._before = self.plan.finished_before(self.stores)
            with self.stores.read() as store:
                self._anew = quick_seconds(store) is not None
            self._opened = opened.pop_all()
        self.build_seconds = time.perf_counter() - started

    @property
    def store(self) -> Store:
        """Lockers from which a further run continues."""
        return self.stores.store

    @property
    def strategies(self) -> Store:
        """Store of the average strategies: for a job that samples boards the strategy locker, else `store`."""
        return self.stores.strategies

    @property
    def layout(self) -> Layout:
        """Boards and betting of a job that walks through all boards."""
        assert isinstance(self.plan, WalkedPlan)
        return self.plan.layout

    @property
    def _sampled_plan(self) -> SampledPlan:
        from spewy.run.sampled_plan import SampledPlan

        assert isinstance(self.plan, SampledPlan)
        return self.plan

    @property
    def saved(self) -> int:
        """Number of saved sweeps or deals; 0 during stages with fewer board buckets."""
        with self.stores.read() as store:
            return saved_sweeps(store)

    @property
    def cost(self) -> Cost:
        """Estimated memory and disk space of the solve."""
        return self.plan.cost

    def solve(self, listener: Listener | None = None, stop: Stop | None = None) -> SolveResult:
        """Solve until the exploitability reaches the target, or a limit of the job ends the solve.

        The first Ctrl-C, SIGTERM or SIGHUP saves and returns a result; the second one ends the solve at once.

        Args:
            listener: called with each event; if it raises an error, the solve goes on without it. None: nobody listens.
            stop: event that makes the solve save and return once it is set; None: signals do so.

        Raises:
            PeerError: the cluster disconnected or sent a wrong answer; earlier work is saved.
            lockers.LockerError: the folder's lockers are damaged, or cannot be written.
        """
        with ProcessMemory(self.cost.memory_bytes) as memory:
            return self._solve(unfailing(listener), stop, memory)

    def _solve(self, tell: Listener, stop: Stop | None, memory: ProcessMemory) -> SolveResult:
        note = noting(tell)
        for line in self.job.range_notes:
            note(line)
        if self._before is not None:
            return self._before
        self.plan.require()
        require_address_space(self.cost.memory_bytes + self.plan.mapped_bytes, self.plan.threads + 1)
        with _log_of(self.folder) as log:
            done = 0 if self._anew else self.saved
            self.plan.prepare(note, done)
            tell(Began(self.job, self.cost, done))
            coarse = None if done else self._coarse
            if self.job.dealing is not None and self.folder is not None and coarse is None:
                remove_stages(self.folder)
            if coarse is not None and coarse.run(tell, log, stop) == INTERRUPTED:
                return self._interrupted(coarse, tell, log, memory)
            begun = time.perf_counter()
            if self.cost.memory_bytes >= LARGE:
                reading = ", and reading the last save" if done else ""
                note(f"{self.job.name}: making tables and arrays{reading}")
            if done and self.start_from is not None:
                note(
                    f"{self.job.name}: the folder has deals of its own, so --start-from has no effect; --again would "
                    "begin anew"
                )
            start = self._start(coarse, done)
            if start is not None and coarse is None and self.job.dealing and self.job.dealing.coarse:
                note(f"{self.job.name}: no stages with fewer board buckets and rows, because of --start-from")
            with closing(self.plan.engine(self.stores, start, tell)) as engine:
                building = self.build_seconds + time.perf_counter() - begun
                if self.job.solve.quick is not None:
                    self.stopping = self.stopping.later(building)
                log("start", self._start_text(engine, start))
                with interruptible() if stop is None else nullcontext(stop) as stopping:
                    return self._run(engine, tell, log, stopping, building, memory)

    def policy(self) -> Policy:
        """Return the saved strategies, which can be read until the session is closed."""
        return self.plan.policy(self.stores)

    def close(self) -> None:
        """Close the stores and release the folder."""
        self._opened.close()

    def _run(
        self,
        engine: Engine,
        tell: Listener,
        log: Log,
        stop: Stop,
        building: float,
        memory: ProcessMemory,
    ) -> SolveResult:
        job = self.job
        loop = Loop(
            engine, self.plan, self.stores, self.folder, self.stopping, self.save_every, tell, log, stop
        )
        ended = loop.run()
        tell(Ended())
        earlier = 0.0 if self._coarse is None else self._coarse.seconds
        solving, interrupted, dropping = loop.solving + earlier, ended == INTERRUPTED, job.first_dropped
        check = loop.current
        net = None if check is None else check.net or engine.expected_values()
        if job.solve.quick is not None and engine.done:
            net = engine.expected_values()
        if net is not None:
            require_zero_sum(job, net, self.plan.most_rake)
        times = {
            "build": building,
            "solve": solving,
            "best_response": loop.checking,
            "total": building + solving,
        }
        if self._coarse is not None:
            self._coarse.remove()
        trace = tuple(loop.trace)
        result = SolveResult.of(
            job,
            engine.done,
            ended,
            check,
            net,
            times,
            trace,
            memory.peak_mib,
            self.plan.variant,
            engine.choice,
            self.plan.quick,
        )
        if not interrupted:
            with self.stores.use() as store:
                write_result(store, result.to_json())
            if dropping is not None and job.solve.quick is None:
                from spewy.run.drop import drop

                names = drop(job, self.store, dropping)
                tell(Noted(f"{job.name}: {' and '.join(names)} dropped, as save.rounds says"))
        log(STOP, ended)
        return result.in_unit(job.amounts)

    def _stages(self) -> CoarseStages | None:
        if self.job.dealing is None or not self.job.dealing.coarse:
            return None
        from spewy.run.coarse_stages import CoarseStages

        return CoarseStages(self._sampled_plan, self.stopping, self.folder, self.save_every)

    def _interrupted(
        self, coarse: CoarseStages, tell: Listener, log: Log, memory: ProcessMemory
    ) -> SolveResult:
        tell(Ended())
        log(STOP, INTERRUPTED)
        seconds = {"build": self.build_seconds, "solve": coarse.seconds, "best_response": 0.0}
        seconds["total"] = self.build_seconds + coarse.seconds
        return SolveResult.of(
            self.job, coarse.deals, INTERRUPTED, None, None, seconds, (), memory.peak_mib
        ).in_unit(self.job.amounts)

    def _start(self, coarse: CoarseStages | None, done: int) -> Start | None:
        """Return the regrets and averages with which the solve starts; None if it starts from zero or continues."""
        if coarse is not None:
            return coarse.start()
        if done or self.start_from is None:
            return None
        return self._sampled_plan.start(self.start_from)

    def _start_text(self, engine: Engine, start: Start | None) -> str:
        text = f"{engine.done} {engine.counted}, {engine.threads} {'thread' if engine.threads == 1 else 'threads'}"
        if self.job.dealing is not None:
            text = f"{text}, seed {self.job.dealing.seed}"
        return text if start is None else f"{text}, {start.text}"

    def _require_start(self, start: Path, *, again: bool) -> None:
        """Check that this solve, if it has not begun, can start from another solve's folder."""
        self.job.require_sampled(
            f"start from {path_text(start)}: only a job with [boards] can start from another solve"
        )
        if not again and self.folder is not None and holds_store(self.folder):
            with open_store(self.folder, read_only=True) as store:
                if saved_sweeps(store):
                    return  # the solve continues its own deals
        self._sampled_plan.start(start)
        if again and self.folder is not None and start.resolve() == self.folder.resolve():
            raise InputError(
                f"start from {path_text(start)}: this is the solve's own folder, which is emptied when it begins from "
                "scratch; start from a copy of the folder"
            )


def _plan(job: Job, folder: Path | None, cost: WalkedCost | None, *, again: bool) -> Plan:
    if not job.sampled:
        return WalkedPlan.of(job, streaming=folder is not None, cost=cost)
    from spewy.run.sampled_plan import SampledPlan

    made = None if again else kept_abstraction(job, folder)
    return SampledPlan.of(job, made=made, in_memory=folder is None)


@contextmanager
def _log_of(folder: Path | None) -> Iterator[Log]:
    """Yield a function that appends a line to the log in a folder; for None the function does nothing."""
    if folder is None:
        yield lambda event, text: None
        return
    with logged(folder) as log:
        yield log.write
