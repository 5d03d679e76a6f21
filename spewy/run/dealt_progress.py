"""How a solve that deals boards stands: pace, time left, visits; told to whoever listens, and written to its folder."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spewy.learn.sampled_engine import SampledEngine
from spewy.records.bucket_numbers import Mark
from spewy.records.status import Judged, Status, write_status
from spewy.run.dealt_plan import DealtPlan
from spewy.run.pace import TELL_SECONDS, WRITE_SECONDS, Pace
from spewy.run.reporter import Reporter


@dataclass(frozen=True)
class Known:
    """What others know of the solve: the last check, self-play, the forecast of the target in seconds."""

    judged: Judged | None = None
    value: float | None = None
    target_in: float | None = None


class DealtProgress:
    """Tells how a solve stands, not too often.

    Args:
        plan: of the job.
        engine: that solves it.
        folder: of the solve.
        report: who is told.
    """

    def __init__(self, plan: DealtPlan, engine: SampledEngine, folder: Path, report: Reporter) -> None:
        self._plan, self._engine, self._folder, self._report = plan, engine, folder, report
        self._told = self._written = -np.inf
        self._pace = Pace()
        self.known = Known()

    def tell(self, mark: Mark, saved: int) -> None:
        """Tell it where the last time is long enough ago; ``saved`` deals are in the lockers."""
        now = time.perf_counter()
        self._pace.count(now, mark.deals)
        if now - self._told < TELL_SECONDS:
            return
        self._told, status = now, self._status(mark, saved)
        self._report.stands(status, self._engine.threads)
        if now - self._written >= WRITE_SECONDS:
            self._written = now
            write_status(self._folder, status)

    def pause(self) -> None:
        """What comes between is no part of the pace."""
        self._pace.clear()

    def checks(self, mark: Mark, saved: int, done: int, total: int) -> None:
        """Write that a check runs, which has judged some of its flops."""
        write_status(self._folder, replace(self._status(mark, saved), checking=(done, total)))

    def end(self, mark: Mark, saved: int) -> None:
        """Write how it stands in the end."""
        write_status(self._folder, replace(self._status(mark, saved), seconds_left=None))

    def _status(self, mark: Mark, saved: int) -> Status:
        job, pace = self._plan.job, self._pace.per_second
        visits = (counts[0] for counts in self._engine.numbers.visits)
        return Status(
            name=job.name,
            deals=mark.deals,
            saved_deals=saved,
            per_second=pace,
            seconds=mark.seconds,
            seconds_left=self._left(mark, pace),
            visits=tuple((int(mine.min()), float(np.median(mine))) for mine in visits),
            value=self.known.value,
            judged=self.known.judged,
            target=job.solve.target,
            at=time.time(),
        )

    def _left(self, mark: Mark, pace: float | None) -> float | None:
        """Seconds to whatever ends the solve first, as far as that is known."""
        dealing, left = self._plan.dealing, []
        if dealing.most_seconds is not None:
            left.append(max(0.0, dealing.most_seconds - mark.seconds))
        if dealing.last_deal is not None and pace:
            left.append(max(0.0, (dealing.last_deal - mark.deals) / pace))
        if self.known.target_in is not None:
            left.append(self.known.target_in)
        return min(left, default=None)
