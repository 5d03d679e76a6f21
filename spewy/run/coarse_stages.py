"""Stages of a solve with fewer board buckets and rows, which come first if ``solve.coarse_to_fine`` is true.

A solve with few board buckets and rows improves fast and then stalls. Each stage starts from the regrets and averages
of the stage before it, and the solve with all board buckets and rows starts from the last stage. A stage has stores of
its own, in the folder ``coarse`` of the solve's folder, until the next stage has saved.
"""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

from lockers import holds_store
from spewy.job.job import Job
from spewy.job.settings import Dealing
from spewy.learn.engine import Stop
from spewy.learn.sampled import Start
from spewy.records.bucket_numbers import Mark, read_mark
from spewy.run.events import Listener, Noted
from spewy.run.folder_state import kept_abstraction, remove_stages, stage_folder
from spewy.run.loop import Log, Loop
from spewy.run.sampled_plan import SampledPlan, spec_of
from spewy.run.stopping import INTERRUPTED, Stopping
from spewy.run.stores import StoresOfDeals
from spewy.system.interrupts import interruptible
from spewy.system.tools import Closing


class CoarseStages(Closing):
    """A solve's stages with fewer board buckets or rows, which come before the last stage.

    Args:
        plan: plan of the job, which has at least one such stage.
        folder: folder of the solve; None: the stores are in memory.
        save_every: seconds between two saves; None: the default schedule.

    Attributes:
        seconds: seconds of work in this run.
    """

    def __init__(
        self, plan: SampledPlan, stopping: Stopping, folder: Path | None, save_every: float | None
    ) -> None:
        self._plans = [_plan_of(plan, stage) for stage in plan.dealing.stages()]
        self._stopping, self._folder, self._save_every = stopping, folder, save_every
        self._stores: list[StoresOfDeals | None] = [None] * len(self._plans)
        self.seconds = 0.0

    @property
    def deals(self) -> int:
        """Number of saved deals of the latest stage; 0 before the first save."""
        return self._mark(self._latest()).deals

    def run(self, tell: Listener, log: Log, stop: Stop | None) -> str | None:
        """Work on the stages that are not finished, until each has made its deals or the time of the job is up.

        Returns `INTERRUPTED` if the run was interrupted; None if the solve can go on with more board buckets.
        """
        for k in range(self._latest(), len(self._plans)):
            last = self._plans[k].dealing.last_deal
            assert last is not None
            ended = None if self._mark(k).deals >= last else self._solve(k, tell, log, stop)
            self._remove(k)
            if ended == INTERRUPTED:
                return ended
        return None

    def start(self) -> Start:
        """Return the regrets and averages of the last stage, with which the solve with all board buckets starts."""
        return self._start(len(self._plans) - 1)

    def remove(self) -> None:
        """Remove the stores of all stages, once the solve has saved deals with all board buckets."""
        self._remove(len(self._plans))

    def close(self) -> None:
        for stores in filter(None, self._stores):
            stores.close()

    def _latest(self) -> int:
        """Return the index of the latest stage with saved deals; 0 if there is none."""
        return max((k for k in range(len(self._plans)) if self._mark(k).deals), default=0)

    def _mark(self, k: int) -> Mark:
        folder = self._folder_of(k)
        if self._stores[k] is None and (folder is None or not holds_store(folder)):
            return Mark()
        with self._open(k).read() as store:
            return read_mark(store)

    def _open(self, k: int) -> StoresOfDeals:
        stores = self._stores[k]
        if stores is None:
            stores = self._stores[k] = self._plans[k].stores(self._folder_of(k))
        return stores

    def _folder_of(self, k: int) -> Path | None:
        return None if self._folder is None else stage_folder(self._folder, k + 1)

    def _start(self, k: int) -> Start:
        stores, job = self._open(k), self._plans[k].job
        return Start(f"stage {k + 1}", job.rules, job.solve.short, self._mark(k), stores.read, stores.play)

    def _solve(self, k: int, tell: Listener, log: Log, stop: Stop | None) -> str:
        plan, stores, mark = self._plans[k], self._open(k), self._mark(k)
        n, job = len(self._plans) + 1, plan.job
        stopping = replace(self._stopping, last=plan.dealing.last_deal, measured=False)
        board_buckets, rows = (
            ", ".join(str(number or "all") for number in numbers[1:])
            for numbers in (plan.dealing.board_buckets, plan.dealing.rows)
        )
        text = (
            f"stage {k + 1} of {n}, {board_buckets} board buckets of {rows} rows, to deal {stopping.last:,}"
        )
        tell(Noted(f"{job.name}: {text}"))
        start = self._start(k - 1) if k and not mark.deals else None
        plan = replace(plan, made=kept_abstraction(job, stores.folder))
        with closing(plan.engine(stores, start, tell)) as engine:
            log("start", f"{engine.done} deals, {text}")
            with interruptible() if stop is None else nullcontext(stop) as stopped:
                loop = Loop(
                    engine,
                    plan,
                    stores,
                    self._folder,
                    stopping,
                    self._save_every,
                    tell,
                    log,
                    stopped,
                    stage=(k + 1, n),
                )
                ended = loop.run()
        self.seconds += loop.solving
        return ended

    def _remove(self, below: int) -> None:
        for k, stores in enumerate(self._stores[:below]):
            if stores is not None:
                stores.close()
                self._stores[k] = None
        if self._folder is not None:
            remove_stages(self._folder, None if below == len(self._plans) else below + 1)


def _plan_of(plan: SampledPlan, stage: Dealing) -> SampledPlan:
    """Return the plan of a stage; its cost is that of the whole solve."""
    assert plan.job.boards is not None
    data = plan.job.model_dump()
    names = plan.job.rules.round_names
    boards, rows = (
        {name: k for name, k in zip(names, numbers, strict=True) if k is not None}
        for numbers in (stage.board_buckets, stage.rows)
    )
    coarse = {"boards": data["boards"] | boards, "rows": data.get("rows", {}) | rows}
    job = Job.stored(data | coarse, plan.job.name)
    return replace(plan, job=job, dealing=stage, spec=spec_of(job.rules, stage))
