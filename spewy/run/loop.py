"""Run an engine until its solve ends: it works in steps, with saves, checks and reports between the steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from spewy.errors import PeerError, SolveError
from spewy.learn.engine import Check, Engine, Stop
from spewy.records.progress import forget_result, quick_seconds, read_result, read_trace, write_trace
from spewy.run.events import Advanced, Checked, Listener, Noted
from spewy.run.plan import Plan
from spewy.run.status_file import StatusWriter
from spewy.run.stopping import INTERRUPTED, REACHED, Stopping, forecast
from spewy.run.stores import Saving, Stores

Log = Callable[[str, str], None]
"""Function that writes a line to the log, given an event and a text."""


WORSE_THAN_QUICK = 2.0
"""Exploitability in % of the pot above which a solve does not replace a quick answer.

A quick answer loses up to that much (`docs/research/quick-flops.md`).
"""


class Loop:
    """Runs an engine in steps until its solve ends, and saves, measures and reports between the steps.

    Args:
        engine: the engine, which continues from the stores.
        folder: folder of the solve, which gets the status; None: the solve is in memory.
        stopping: the target and the limits, which may differ from those of the plan.
        save_every: seconds between two saves; None: the default schedule. A solve in memory saves only at its end.
        stop: event that makes the run save and end once it is set.
        stage: number of the stage with fewer board buckets, and number of all stages; None: all board buckets.

    Attributes:
        trace: (sweeps or deals, seconds, exploitability in chips) of each check, of earlier runs too.
        check: the last check of this run or of an earlier one.
        checking: seconds that the checks of this run took.
        solving: seconds from the start of this run to the check of its last strategies, or to its end if they were not
            checked; set when the run has ended.
    """

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        stores: Stores,
        folder: Path | None,
        stopping: Stopping,
        save_every: float | None,
        tell: Listener,
        log: Log,
        stop: Stop,
        *,
        stage: tuple[int, int] | None = None,
    ) -> None:
        def note(text: str) -> None:
            tell(Noted(f"{plan.job.name}: {text}"))

        # A method would close a circle, in which the engine's arrays would live until garbage is collected.
        self._note = note
        self._engine, self._job, self._stores, self._stopping = engine, plan.job, stores, stopping
        self._tell, self._log, self._stop = tell, log, stop
        # With a given interval a save may be due between any two checks.
        self._together = save_every is None
        # A store in memory does not outlive the process, and may read the engine's own arrays until the next save.
        every = math.inf if folder is None else save_every
        self._saving = Saving.of(engine, every, plan.cost.disk_bytes, None if folder is None else note)
        self._status = StatusWriter(plan.job, stopping, engine, self._saving, folder, tell, stage)
        self._before = engine.seconds_before
        self.check: Check | None = None
        self.checking = self.solving = 0.0
        with stores.use() as store:
            self.trace = [row for row in read_trace(store) if row[0] <= engine.done]
            self._result = read_result(store)
            self._after_quick = plan.job.solve.quick is None and quick_seconds(store) is not None
        self._first = engine.done
        self._started = self._checked = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds of work, summed over all runs."""
        return self._before + time.perf_counter() - self._started

    @property
    def current(self) -> Check | None:
        """The check of the current strategies; None if they have changed since the last check."""
        return self.check if self.check is not None and self.check.done == self._engine.done else None

    def run(self) -> str:
        """Work until the run ends, save everything, and return the reason of the end in words."""
        engine = self._engine
        self._resume()
        try:
            while (ended := self._ended()) is None:
                self._step()
        except PeerError:
            if engine.settled:
                self._saving.finish(self.seconds)
            raise
        now, check, worked = time.perf_counter(), self.current, self.seconds
        self.solving = (now if check is None else max(check.at, self._started)) - self._started
        if ended == INTERRUPTED and engine.slow:
            self._note("saving; another interruption stops at once and loses the last work")
        whole = ended == INTERRUPTED and self._job.solve.quick is None
        if ended == INTERRUPTED and not self._replaces_quick():
            self._note(
                f"the quick answer stays, and sweeps begin again next time: this solve replaces it below an "
                f"exploitability of {WORSE_THAN_QUICK:g} % of the pot"
            )
            self._status.end(worked)
            return ended
        if self._after_quick:
            self._forget_result()
        self._status.saving(worked)
        self._saving.finish(worked, None if whole else self._job.first_dropped)
        self._write_trace()
        self._status.end(worked)
        self._log("save", f"{engine.done} {engine.counted}, {worked:.1f} s of work")
        return ended

    def _replaces_quick(self) -> bool:
        """Whether a save replaces no quick answer of the folder, or one that is worse than the current strategies."""
        if not self._after_quick:
            return True
        check = self.current
        if check is None:
            return False
        pct, _ = self._job.problem.in_units(check.exploitability)
        if pct is None or pct > WORSE_THAN_QUICK:
            return False
        self._after_quick = False
        self._forget_result()
        return True

    def _forget_result(self) -> None:
        if self._result is not None:
            with self._stores.use() as store:
                forget_result(store)

    def _resume(self) -> None:
        """Measure the strategies from which the run continues, or read their last check if a check is slow."""
        if not self._engine.slow:
            self._status.tell(self.seconds)  # raises an error if the file cannot be written
            if self._engine.done:
                self._measure(record=False)
        elif self.trace:
            done, _, chips = self.trace[-1]
            judged = self._status.recall(done, chips)
            known = self._result is not None and self._result["sweeps"] == done
            value = self._result["value"] if self._result is not None and known else None
            net = None if value is None else (value, -value)
            self.check = Check(done, self._started, judged.seconds or 0.0, chips, net)

    def _ended(self) -> str | None:
        """Return the reason to end the run, in words; None if the run continues.

        This method measures the average strategies before the run ends, unless the stopping rules say that the solve
        measures nothing. After an interruption it skips the measurement, unless the engine needs one to save.
        """
        while True:
            check = self.current
            if self._stopping.is_reached(check):
                return REACHED
            ended = self._stopping.exhausted(self._engine, self.seconds, self.check)
            if ended is not None and (check is not None or not self._stopping.measured):
                return ended
            if self._stop.is_set():
                unchecked = not (self._saving.only_checked and self._stopping.measured)
                if unchecked or check is not None or not self._engine.done:
                    return INTERRUPTED
            elif ended is None:
                return None
            if not self._measure() and not self._stop.is_set():
                return ended

    def _step(self) -> None:
        engine, before = self._engine, self._engine.done
        if before == self._first and not self._after_quick:
            self._forget_result()
        goal = self._stopping.goal(self.trace, self.seconds, together=self._together)
        for check in engine.run(goal, self._stop, self._progress):
            self.checking += check.took
            self._record(check)
        if self._saving.worked(self.seconds):
            self._log_save()
        self._stores.let_go()
        self._status.tell(self.seconds)
        if engine.done == before:
            return
        if self.current is None and self._is_check_due():
            self._measure()
        if (
            self.current is not None
            and self._goes_on()
            and self._replaces_quick()
            and self._saving.measured(self.seconds)
        ):
            self._write_trace()
            self._log_save()

    def _is_check_due(self) -> bool:
        elapsed = time.perf_counter() - self._checked
        return self._stopping.is_check_due(self._engine.done, elapsed, self.trace)

    def _goes_on(self) -> bool:
        return not (
            self._stop.is_set()
            or self._stopping.is_reached(self.current)
            or self._stopping.exhausted(self._engine, self.seconds, self.check)
        )

    def _log_save(self) -> None:
        self._log("save", f"{self._saving.saved} {self._engine.counted}")

    def _measure(self, *, record: bool = True) -> bool:
        """Measure the current strategies; return False if an interruption prevented it."""
        slow = self._engine.slow
        if slow:
            self._saving.begin(self.seconds)  # a check takes minutes, in which the process may be killed
        begun = time.perf_counter()
        check = self._engine.measure(self._stop, self._measuring)
        self._checked = time.perf_counter()
        self.checking += self._checked - begun
        if slow:
            self._status.pause()
        if check is not None:
            self._record(check, record=record)
        return check is not None

    def _record(self, check: Check, *, record: bool = True) -> None:
        engine = self._engine
        if not math.isfinite(check.exploitability):
            raise SolveError(
                f"{self._job.name}, {engine.counted.removesuffix('s')} {check.done}: expected a finite "
                f"exploitability, found {check.exploitability}; its strategies are not saved{engine.advice}"
            )
        self.check = check
        if not record:
            self._status.checked(check, forecast(self.trace, self._stopping.target))
            return
        self.trace.append((check.done, self._before + check.at - self._started, check.exploitability))
        if not self._saving.only_checked:  # else the trace is saved with the strategies
            self._write_trace()
        left = 0.0 if self._stopping.is_reached(check) else forecast(self.trace, self._stopping.target)
        amount, unit = self._stopping.in_unit(check.exploitability), self._stopping.unit
        self._status.checked(check, left)
        self._tell(Checked(check.done, amount, unit, left))
        error = "" if check.stderr is None else f" +- {self._stopping.in_unit(check.stderr):.4g}"
        where = (
            "" if check.flops is None else f" on {check.flops} flops, {check.core_seconds:.1f} s of a core"
        )
        self._log("check", f"{check.done} {engine.counted}, exploitability {amount:.4g}{error} {unit}{where}")

    def _write_trace(self) -> None:
        with self._stores.use() as store:
            write_trace(store, self.trace, self._job.solve.target)

    def _progress(self, number: int, done: int, total: int) -> None:
        self._tell(Advanced(done, total, number))
        self._status.tell(self.seconds)

    def _measuring(self, done: int, total: int) -> None:
        self._tell(Advanced(done, total))
        self._status.measuring(self.seconds, done, total)
