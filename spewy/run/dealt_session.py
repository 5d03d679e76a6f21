"""A solve by dealt boards from start or resume to its end: deals, checks in the real game, saves, interruption."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lockers import holds_store, open_store
from solvers.discount import DEFAULT_VARIANT
from spewy.chunks.abstractions import abstraction
from spewy.errors import InputError, PeerError, SolveError, path_text, shown
from spewy.job.job import Job
from spewy.job.sections import DaskSection
from spewy.job.units import parse_target, unit_chips
from spewy.learn.combined_flops import Finding
from spewy.learn.engine import Stop
from spewy.learn.sampled_engine import SampledEngine
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import Mark, read_mark, require_numbers
from spewy.records.bucket_payoffs import BucketPayoffs
from spewy.records.bucket_policy import BucketPolicy, board_abstraction
from spewy.records.progress import forget_result, read_result, read_trace, write_result, write_trace
from spewy.records.status import STOP, Judged, read_status
from spewy.records.strategy_locker import StrategyLocker
from spewy.run.cluster import open_cluster
from spewy.run.dealt_plan import DealtPlan, cost_text
from spewy.run.dealt_progress import DealtProgress, Known
from spewy.run.dealt_saving import DealtSaving
from spewy.run.dealt_start import require_start, start_from
from spewy.run.engines import visit_settings
from spewy.run.finished import start_again
from spewy.run.forecast import forecast
from spewy.run.logfile import LogFile, logged
from spewy.run.memory import peak_rss_mib, require_address_space
from spewy.run.ready import make_ready
from spewy.run.reporter import Reporter, Silent, unfailing
from spewy.run.result import SolveResult
from spewy.system.closing import Closing
from spewy.system.folder_lock import FolderLock
from spewy.system.interrupts import interruptible
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

LONG = 10.0
"""Seconds of getting ready that are announced."""


class DealtSession(Closing):
    """A job whose boards are dealt, bound to its folder.

    Args:
        job: the job to solve.
        folder: folder of the job's lockers, which may not exist yet.
        save_every: seconds between two saves; None: as often as costs little.
        start_from: folder of another solve of the game, from whose numbers a new solve begins.
        again: whether to remove what the folder holds of this job, once it is known that the job can be solved.

    Attributes:
        plan: the plan of a solve.

    Raises:
        InputError: the job takes more memory or disk space than there is, in which case nothing is written; the numbers
            to go on from were dropped; or another process works in the folder. A session holds its folder until it is
            closed.
        lockers.ManifestMismatchError: the folder holds another job, or classes that were made in another way.
        lockers.DamagedLockerError: the folder's lockers are damaged.
    """

    def __init__(
        self,
        job: Job,
        folder: str | Path | None,
        save_every: float | None = None,
        start_from: Path | None = None,
        *,
        again: bool = False,
    ) -> None:
        started = time.perf_counter()
        if folder is None:
            raise InputError(
                f"folder of {job.name}: expected one for a job with [boards], which is played from there, found "
                f"{shown(folder)}"
            )
        if start_from is not None and job.solve.integrate == "average":
            raise InputError(
                f'--start-from {start_from}: expected a job whose boards are dealt, found integrate = "average"'
            )
        self.job, self.folder = job, as_path(folder, "folder")
        self.save_every, self.start_from = save_every, start_from
        self._policies: list[BucketPolicy] = []
        with ExitStack() as opened:
            opened.enter_context(FolderLock(self.folder, "solve"))
            self._classes = None if again else self._kept_classes()
            made = None if self._classes is None else (self._classes.n_classes, self._classes.n_rows)
            self.plan = DealtPlan.of(job, made=made)
            self.plan.require(self.folder)
            if start_from is not None and (again or not self._has_begun()):
                require_start(start_from, self.plan)
                if again and start_from.resolve() == self.folder.resolve():
                    raise InputError(
                        f"--start-from {start_from}: expected another folder beside --again, which removes what this "
                        "holds"
                    )
            if again:
                start_again(job, self.folder)
            with open_store(self.folder, job.manifest(), shards=1) as store:
                store.require_sound()
            self._lock = opened.pop_all()
        self.build_seconds = time.perf_counter() - started

    def solve(self, reporter: Reporter | None = None, stop: Stop | None = None) -> SolveResult:
        """Deal until the target, ``max_sweeps`` or ``max_time``, as `Session.solve` does with sweeps.

        Raises:
            lockers.LockerError: what the folder holds is damaged, or it cannot be written.
        """
        with logged(self.folder) as log:
            threads = self.job.solve.threads + 1  # one thread saves
            require_address_space("deals", self.plan.cost.memory_bytes, threads)
            with _Run(self, unfailing(reporter or Silent()), log) as run:
                return run.to_the_end(stop)

    def policy(self) -> BucketPolicy:
        """What was saved, to be asked for decisions, until the session is closed."""
        found = StrategyLocker.open(self.folder / strategy_locker.FOLDER)
        try:
            self._policies.append(BucketPolicy.of(self.job.problem, found))
        except BaseException:
            found.close()
            raise
        return self._policies[-1]

    def classes(self, progress: Callable[[int, int], object]) -> Abstraction:
        """Classes and rows of boards: those of the folder where it has any, else the user's, which may have to be made.

        Args:
            progress: told (boards done, boards in all), if any are to be done.
        """
        if self._classes is None:
            self._classes = abstraction(self.plan.wish, progress)
        return self._classes

    def close(self) -> None:
        """Close the policies and release the folder."""
        while self._policies:
            self._policies.pop().close()
        self._lock.close()

    def _kept_classes(self) -> Abstraction | None:
        """Classes and rows that the folder holds; None if it holds none yet.

        Raises:
            InputError: the numbers to go on from were dropped.
        """
        if holds_store(self.folder):
            with open_store(self.folder, self.job.manifest(), read_only=True) as store:
                require_numbers(store, f"folder {path_text(self.folder)}")
        kept = strategy_locker.kept_arrays(self.folder / strategy_locker.FOLDER, self.job.manifest())
        return None if kept is None else board_abstraction(self.job.rules, kept)

    def _has_begun(self) -> bool:
        """Whether the folder holds deals to go on from."""
        if not holds_store(self.folder):
            return False
        with open_store(self.folder, read_only=True) as store:
            return bool(read_mark(store).deals)


class _Run(Closing):
    """One run of a session's solve, with all that is open meanwhile."""

    def __init__(self, session: DealtSession, report: Reporter, log: LogFile) -> None:
        job = session.job
        self._session, self._report, self._log = session, report, log
        self._plan, self._dealing = session.plan, session.plan.dealing
        amount, self._unit = parse_target(job.solve.target)
        self._chips = unit_chips(job.rules, 0.0, self._unit)
        self._target = amount * self._chips
        self._store = partial(open_store, session.folder)
        self._open: list[Closing] = []
        self._value: float | None = None
        self._checking = self._before = 0.0

    def to_the_end(self, outer: Stop | None) -> SolveResult:
        """Get ready, deal, save, and tell what was reached."""
        begun = time.perf_counter()
        self._get_ready()
        building = self._session.build_seconds + time.perf_counter() - begun
        with interruptible() if outer is None else nullcontext(outer) as stop:
            self._started, self._stop = time.perf_counter(), stop
            ended = self._dealt()
            mark, solving = self._mark(), time.perf_counter() - self._started
            if ended == "interrupted":  # large games take long to write
                self._report.note(
                    f"{self._session.job.name}: saving what was learnt; another interruption breaks off"
                )
            self._saving.finish(mark)
            self._write_trace()
        self._report.end()
        result = self._result(ended, building, solving)
        if not result.interrupted:
            with self._store() as store:
                write_result(store, result.to_json())
        self._progress.end(mark, mark.deals)
        self._log.write("save", f"{mark.deals} deals, {mark.seconds:.1f} s of work")
        self._log.write(STOP, ended)
        return result.in_unit(self._session.job.amounts)

    def close(self) -> None:
        """Let go of all that was opened, the last first."""
        while self._open:
            self._open.pop().close()

    def _get_ready(self) -> None:
        """Find classes and rows, and what earlier runs have learnt of them; open the play locker."""
        plan, job, note = self._plan, self._session.job, self._report.note
        note(f"{job.name}: {cost_text(plan.cost)}")
        make_ready("sampled", len(plan.rounds), job.solve.short, note)
        if plan.cost.making_seconds > LONG:
            note(f"{job.name}: finding classes and rows of all boards, once: minutes")
        found, folder = self._session.classes(self._report.boards), self._session.folder
        engine = self._engine_of(found)
        self._open.append(engine)
        self._begin(engine, found)
        play = folder / strategy_locker.FOLDER
        strategy_locker.create(play, job.manifest(), engine.lines, found.n_classes, found.arrays).close()
        saving = DealtSaving(engine, self._store, partial(open_store, play), self._session.save_every)
        self._open.append(saving)
        self._engine, self._saving = engine, saving
        self._progress = DealtProgress(plan, engine, folder, self._report)
        with self._store() as store:
            self._trace = [row for row in read_trace(store) if row[0] <= engine.deals]
            result = read_result(store)
        if result is not None and result["sweeps"] == engine.deals:
            self._value = result["value"]
        if self._trace:
            self._progress.known = self._known()
        if engine.deals:
            note(f"{job.name}: going on after deal {engine.deals:,}")
        self._log.write("start", f"{engine.deals} deals, {engine.threads} threads, seed {self._dealing.seed}")

    def _known(self) -> Known:
        """What the last check found, as it was written down; else what the trace tells of it."""
        deals, _, chips = self._trace[-1]
        with suppress(InputError):  # what is there is no status
            told = read_status(self._session.folder)
            judged = None if told is None else told.judged
            if told is not None and judged is not None and (judged.deals, judged.unit) == (deals, self._unit):
                return Known(judged, told.value)
        return Known(Judged(chips / self._chips, self._unit, None, None, deals, None))

    def _engine_of(self, found: Abstraction) -> SampledEngine:
        """The engine, which goes on from the folder: with threads here, or with a cluster's workers."""
        job, rounds, seed, answers = (
            self._session.job,
            self._plan.rounds,
            self._dealing.seed,
            self._dealing.answers,
        )
        opened = partial(open_store, self._session.folder, read_only=True)
        if job.solve.integrate == "average":
            from spewy.learn.averaging_engine import AveragingEngine

            payoffs = BucketPayoffs.within(self._session.folder, job.manifest(), "solve")
            self._open.append(payoffs)
            return AveragingEngine(
                job.problem,
                rounds,
                found,
                seed,
                visit_settings(job.solve, job.solve.variant or DEFAULT_VARIANT),
                opened=opened,
                payoffs=payoffs,
            )
        if job.solve.workers != "dask":
            return SampledEngine(
                job.rules,
                rounds,
                found,
                seed,
                threads=job.solve.workers,
                short=job.solve.short,
                answers=answers,
                opened=opened,
            )
        from spewy.learn.cluster_engine import ClusterEngine

        settings = job.dask or DaskSection()
        cluster = open_cluster(settings, self._report.note)
        self._open.append(cluster)
        return ClusterEngine(
            job.rules,
            rounds,
            found,
            seed,
            short=job.solve.short,
            answers=answers,
            opened=opened,
            cluster=cluster,
            shares=settings.workers,
            interval=settings.interval,
        )

    def _begin(self, engine: SampledEngine, found: Abstraction) -> None:
        """Start from another solve's folder, if that is asked for and nothing is there yet."""
        folder = self._session.start_from
        if folder is None or engine.deals:
            return
        mark = start_from(folder, self._plan, engine, found)
        self._before = mark.seconds
        told = f"starting from {mark.deals:,} deals of {folder}"
        self._report.note(f"{self._session.job.name}: {told}")
        self._log.write("start", told)

    def _mark(self) -> Mark:
        """Where it is now."""
        before = self._engine.earlier.seconds + self._before
        return Mark(self._engine.deals, before + time.perf_counter() - self._started)

    def _deal(self) -> str:
        """Deal until something ends it; what that was."""
        checked, n = time.perf_counter(), 1
        while (ended := self._ended()) is None:
            if self._engine.deals == self._engine.earlier.deals:
                with self._store() as store:
                    forget_result(store)
            n, begun = self._at_most(n), time.perf_counter()
            self._engine.run(n, self._stop)
            now = time.perf_counter()
            n = self._engine.next_portion(n, now - begun)
            mark = self._mark()
            if self._saving.save_if_due(mark):
                self._log.write("save", f"{self._saving.saved.deals} deals")
            self._progress.tell(mark, self._saving.saved.deals)
            if now - checked >= self._dealing.check_seconds:
                self._check()
                checked = time.perf_counter()
        return ended

    def _dealt(self) -> str:
        """Deal, as `_deal`; where a cluster is lost, what it has learnt is saved."""
        try:
            return self._deal()
        except PeerError:
            if self._engine.settled:
                self._saving.finish(self._mark())
            raise

    def _at_most(self, n: int) -> int:
        """So many deals, unless the last one comes before."""
        last = self._dealing.last_deal
        return n if last is None else min(n, last - self._engine.deals)

    def _ended(self) -> str | None:
        """The reason to end the run now, in words; None if the run goes on.

        A run that reaches its limit of time or deals is measured. It stops early enough for a check that takes as long
        as the last check did.
        """
        if self._stop.is_set():
            return "interrupted"
        mark, dealing = self._mark(), self._dealing
        judged = self._progress.known.judged
        taken = mark.seconds if judged is None else mark.seconds + (judged.seconds or 0.0)
        out_of_time = dealing.most_seconds is not None and taken >= dealing.most_seconds
        out_of_deals = dealing.last_deal is not None and mark.deals >= dealing.last_deal
        if (out_of_time or out_of_deals) and self._exploitability() is None:
            self._check()
            if self._stop.is_set():
                return "interrupted"
        found = self._exploitability()
        if found is not None and found <= self._target:
            return "target reached"
        return "time is up" if out_of_time else "all deals made" if out_of_deals else None

    def _exploitability(self) -> float | None:
        """Of the strategies as they are; None: nobody has measured them."""
        judged = bool(self._trace) and self._trace[-1][0] == self._engine.deals
        return self._trace[-1][2] if judged else None

    def _check(self) -> None:
        """Measure the strategies as they are in the real game, unless that is interrupted."""
        begun, deals = time.perf_counter(), self._engine.deals
        self._saving.begin(self._mark())  # a check takes minutes, in which everything may be lost
        found = self._engine.judge(self._dealing.check_flops, self._stop, self._judged)
        took = time.perf_counter() - begun
        self._checking += took
        self._progress.pause()
        if found is None:
            return
        if not math.isfinite(found.exploitability):
            raise SolveError(
                f"{self._session.job.name}, deal {deals}: expected a finite exploitability, found "
                f"{found.exploitability}; nothing of it is saved"
            )
        self._value = found.value
        self._trace.append((deals, self._mark().seconds, found.exploitability))
        self._write_trace()
        self._tell(found, deals, took)

    def _judged(self, done: int, total: int) -> None:
        """Tell how a check goes."""
        self._report.boards(done, total)
        self._progress.checks(self._mark(), self._saving.saved.deals, done, total)

    def _write_trace(self) -> None:
        with self._store() as store:
            write_trace(store, self._trace, self._session.job.solve.target)

    def _tell(self, found: Finding, deals: int, took: float) -> None:
        """Report a check, which took ``took`` seconds, to listeners, the status and the log."""
        amount, left = found.exploitability / self._chips, forecast(self._trace, self._target)
        error = None if found.stderr is None else found.stderr / self._chips
        per_hand = 1000 / self._session.job.rules.big_blind
        self._progress.known = Known(
            Judged(amount, self._unit, error, found.flops, deals, time.time(), took),
            found.value * per_hand,
            left if left is not None and math.isfinite(left) else None,
        )
        self._report.check(deals, amount, self._unit, left)
        told = "" if error is None else f" +- {error:.4g}"
        where = f"{found.flops} flops, {found.seconds:.1f} s of a core"
        self._log.write("check", f"{deals} deals, exploitability {amount:.4g}{told} {self._unit} on {where}")

    def _result(self, ended: str, building: float, solving: float) -> SolveResult:
        """What was reached."""
        job, found = self._session.job, self._exploitability()
        seconds = {"build": building, "solve": solving, "best_response": self._checking}
        return SolveResult(
            name=job.name,
            converged=ended == "target reached",
            interrupted=ended == "interrupted",
            sweeps=self._engine.deals,
            exploitability=found,
            exploitability_pct=None,
            exploitability_mbb=None if found is None else found * 1000 / job.rules.big_blind,
            ev=None,
            equity=None,
            value=None if found is None else self._value,
            value_bracket=None,
            seconds={**seconds, "total": building + solving},
            peak_rss_mib=peak_rss_mib(),
            trace=tuple(self._trace),
        )
