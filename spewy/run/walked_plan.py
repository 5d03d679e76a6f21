"""Plans of jobs that walk through all boards: the engine, what stays in memory, and what would save memory.

If an exact solve's regrets and strategy sums do not all fit (`MemoryPlan`), a part of the last round is mapped from a
file in the job's folder, and streams through memory in every iteration (`compiled.mapped`). An error about too much
memory names changes of the job (`cuts`). The memory of a changed job is an estimate: the memory of the job, scaled by
the number of regrets, which is counted without building a tree. A changed job takes some 5 ms for a flop with a few
sizes, and a tenth of a second for a tree of half a million nodes (measured).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solvers.discount import DEFAULT_VARIANT, LEAN_VARIANT, exact_variant, variant
from solvers.exact import ExactCfr, useful_threads
from solvers.exact.context import n_tasks, state_bytes
from solvers.exact.engine import MAX_ROUNDS
from solvers.solver import Solver
from spewy.chunks.boards import counted_exactly
from spewy.chunks.layout import Layout
from spewy.errors import InputError, size_text
from spewy.game.count import MAX_NODES, require_buildable
from spewy.game.names import SEAT_NAMES
from spewy.job.job import MOST_POTS_SINGLE, Job
from spewy.job.sections import SolveSection
from spewy.job.texts import parse_memory
from spewy.learn.engine import Engine
from spewy.learn.live import LiveEngine
from spewy.records.policy import ChunkPolicy, Policy
from spewy.records.progress import first_dropped, quick_seconds, require_whole, saved_sweeps
from spewy.run.events import Listener, noting
from spewy.run.folder_state import finished, held
from spewy.run.plan import Note, Plan, connect
from spewy.run.quick import Lean, lean, measured_loss
from spewy.run.result import SolveResult
from spewy.run.stopping import Stopping
from spewy.run.stores import Stores
from spewy.run.walked_cost import (
    EngineName,
    EngineSetup,
    WalkedCost,
    is_exact,
    lower_bounds,
    number_of_cells,
    thread_bytes,
    walked_cost,
)
from spewy.run.warmup import Kernels, warm_up

if TYPE_CHECKING:
    from spewy.learn.sampled import Start
    from spewy.learn.visit import VisitSettings

RESERVE = 16 << 20
"""Bytes of memory for temporary arrays, which the estimated cost does not include."""
SIZE_KEYS = ("bet", "raise", "donk")
MOST_CUTS = 5
"""Largest number of cuts."""
MOST_CUTS_IN_ERROR = 3
"""Largest number of cuts that an error message names."""
TREMBLES = 0.3
"""`Variant.trembles` in a solve with ``solve.refine``; `benchmarks.studies.unreached` compares some values."""
LEAST_SAVED = 0.05
"""Share of the memory that a change of the job must save to be suggested."""
Change = tuple[str, str, str, str | None, dict[str, Any]]
"""Words, key, new value and bet size of a cut, and the changed job as nested dictionaries."""


@dataclass(frozen=True, kw_only=True)
class WalkedPlan(Plan):
    """Plan of a job that walks through all boards.

    Attributes:
        setup: the engine and its settings.
        memory_plan: how much of the engine's state stays in memory.
        lean: the game of a quick solve; None: the solve is not quick.
    """

    mapped_bytes = 32 * 2**20  # measured: 9 MiB

    cost: WalkedCost
    layout: Layout
    setup: EngineSetup
    memory_plan: MemoryPlan
    lean: Lean | None = None

    @property
    def threads(self) -> int:
        """Number of threads that a run starts in addition to the main thread."""
        return 0 if self.job.solve.threads == 1 else self.job.solve.threads

    @property
    def most_rake(self) -> float:
        forests = [bets.forest.arrays for bets in self.layout.betting]
        return max((float(arrays.rake.max()) for arrays in forests), default=0.0)

    @property
    def stopping(self) -> Stopping:
        return Stopping.of(self.job, self.cost.seconds_per_sweep)

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that exceeds its memory limit; the message names changes to the job that save memory."""
        if self.refusal is not None:
            raise InputError(f"{self.refusal}{cuts_text(self.job, self.memory_plan.least_bytes)}")

    def stores(self, folder: Path | None) -> Stores:
        return Stores(self.job, folder)

    def finished_before(self, stores: Stores) -> SolveResult | None:
        wanted, job, store = self.job.first_dropped, self.job, stores.store
        if job.solve.quick is not None or quick_seconds(store) is not None:
            result = finished(job, held(store))
            if result is None and saved_sweeps(store) and quick_seconds(store) is None:
                raise InputError(
                    f"solve.quick: expected a folder without a solve of the whole game, found one with "
                    f"{saved_sweeps(store):,} sweeps; continue it without solve.quick, or choose another folder"
                )
            return result
        if wanted is not None and first_dropped(store) == wanted:
            result = finished(job, held(store))
            if result is not None:
                return result
        require_whole(store, job.rules.num_rounds, f"folder {stores.folder}")
        return None

    def prepare(self, note: Note, done: int) -> None:
        job = self.job
        if self.setup.exact:
            wanted = [Kernels("exact", self.layout.n_rounds, self._solve.short)]
            dropped = job.rules.num_rounds - (job.first_dropped or job.rules.num_rounds)
            if dropped:  # commands that show strategies solve dropped rounds again
                wanted.append(Kernels("exact", dropped))
            warm_up(wanted, note)
        streamed = self.memory_plan.streamed_bytes
        if streamed:
            text = f"the last round streams from {size_text(streamed)} on disk"
            note(f"{job.name}: within {job.solve.memory} of memory, {text}")
        if self.cost.program is not None and not done:
            words = "linear programs, the first with" if job.solve.choose else "one linear program,"
            note(f"{job.name}: {words} {self.cost.program}; it has no steps to save")

    def engine(self, stores: Stores, start: Start | None, tell: Listener) -> Engine:
        solve, layout, store = self._solve, self.layout, stores.store
        if self.setup.engine == "program":
            from spewy.learn.lp import LpEngine

            return LpEngine(layout, store, self.setup.threads, solve.choose)
        if self.setup.engine == "stored":
            from spewy.learn.stored import StoredEngine

            settings = visit_settings(solve, self.setup.variant, self.job.first_live)
            on_cluster = solve.workers == "dask"
            cluster = connect(self.job.dask, noting(tell)) if on_cluster else None
            return StoredEngine(layout, store, settings, solve.order, self.setup.threads, cluster)
        game, exact = layout.live, self.setup.exact
        schedule = replace(variant(self.setup.variant), trembles=TREMBLES if solve.refine else 0.0)
        solver: Solver
        if exact:
            kept = self.memory_plan.kept
            solver = ExactCfr(
                game,
                schedule,
                threads=self.setup.threads,
                short=solve.short,
                folder=stores.folder if kept < 1 else None,
                kept=kept,
                groups=1 if self.lean is None else self.lean.groups,
            )
        else:
            from solvers.reference.cfr import Cfr

            dtype = np.float32 if solve.precision == "single" else np.float64
            solver = Cfr(game, schedule, threads=self.setup.threads, dtype=dtype)
        layout.forget_live()  # the solver has copied what it needs
        return LiveEngine(
            layout,
            store,
            solver,
            game.locks,
            exact=exact,
            threads=self.setup.threads,
            quick=self.job.quick_seconds,
            anew=quick_seconds(store) is not None,
        )

    @property
    def _solve(self) -> SolveSection:
        """The method of the solve; that of a quick solve has defaults of its own."""
        return self.job.solve if self.lean is None else self.lean.job.solve

    def policy(self, stores: Stores) -> Policy:
        problem = self.layout.problem if self.job.solve.quick is None else self.job.problem
        return ChunkPolicy(problem, stores.store)

    @property
    def variant(self) -> str | None:
        if self.setup.engine == "program":
            return None
        name, solve, depth = self.setup.variant, self.job.solve, self.layout.problem.depth
        if self.setup.exact and solve.variant is None and solve.quick is None:
            best = exact_variant(self.layout.n_rounds, depth)
            if name != best:
                name += f" (solve.memory is too small for {best})"
            elif name != exact_variant(self.layout.n_rounds):
                name += f" (the stack is {depth:.3g} pots)"
        return name + (", refined" if solve.refine else "")

    @property
    def quick(self) -> Mapping[str, Any] | None:
        if self.lean is None:
            return None
        seconds = self.job.quick_seconds or 0.0
        loss = measured_loss(self.job, seconds)
        return {"seconds": seconds, "bets": self.lean.bets, "groups": self.lean.groups, "loss": loss}

    @classmethod
    def of(
        cls,
        job: Job,
        *,
        streaming: bool,
        progress: Callable[[int], None] | None = None,
        cost: WalkedCost | None = None,
    ) -> WalkedPlan:
        """Make the plan of a job to be solved.

        Args:
            streaming: whether an exact solve may keep a part of its state in a file.
            progress: called for each board that is enumerated.
            cost: the job's cost, if it was estimated before and fits the job's memory; None: it is estimated now.
        """
        if job.solve.quick is not None:
            game = lean(job)
            plan = cls.of(game.job, streaming=streaming, progress=progress, cost=cost)
            return replace(plan, job=job, lean=game)
        if cost is not None:
            return cls.on(job, Layout.of(job.problem, progress), streaming=streaming, cost=cost)
        require_possible(job)
        plan = cls.counted(job, streaming=streaming, progress=progress)
        if plan.layout.bucketed:
            return plan
        plan.require()
        layout = plan.layout.with_buckets(progress)
        same = counted_exactly(job.problem) and _engine(job, layout) == plan.setup.engine
        return cls.on(job, layout, streaming=streaming, cost=plan.cost if same else None)

    @classmethod
    def counted(
        cls, job: Job, *, streaming: bool, progress: Callable[[int], None] | None = None
    ) -> WalkedPlan:
        """Make a plan that only estimates the cost of a job: it counts the buckets of hands instead of computing them.

        The count may be only an upper bound. If the job exceeds its memory with such a bound, the buckets are computed.
        """
        if job.solve.quick is not None:
            game = lean(job)
            plan = cls.counted(game.job, streaming=streaming, progress=progress)
            return replace(plan, job=job, lean=game)
        if job.one_program:
            from spewy.learn.lp import lp_size, require_small  # scipy only where it is needed

            require_small(job.name, lp_size(job.problem, job.solve.choose))
        plan = cls.on(job, Layout.counted(job.problem, progress), streaming=streaming)
        if plan.refusal is None or counted_exactly(job.problem):
            return plan
        return cls.on(job, plan.layout.with_buckets(progress), streaming=streaming)

    @classmethod
    def on(cls, job: Job, layout: Layout, *, streaming: bool, cost: WalkedCost | None = None) -> WalkedPlan:
        job.require_walked(f"job {job.name}")
        setup, solve = _setup(job, layout), job.solve
        if cost is None:
            program = None
            if setup.engine == "program":
                from spewy.learn.lp import lp_size  # scipy only where it is needed

                program = lp_size(job.problem, solve.choose)
            cost = walked_cost(layout, setup, program)
        budget, streaming = parse_memory(solve.memory), streaming and setup.exact
        if setup.exact and solve.variant is None and cost.memory_bytes > budget:
            cost = walked_cost(layout, replace(setup, variant=LEAN_VARIANT))
        setup = replace(setup, variant=cost.variant)  # a given cost may be that of the lean variant
        needed = cost.memory_bytes
        resides = MemoryPlan.of(
            layout, needed, setup.itemsize * len(setup.kinds), solve.threads, budget, streaming=streaming
        )
        fits = resides.least_bytes <= budget
        refusal = None if fits else _refusal(job, needed, resides.least_bytes if streaming else None)
        return cls(job=job, cost=cost, refusal=refusal, layout=layout, setup=setup, memory_plan=resides)


def visit_settings(solve: SolveSection, variant_name: str, first_live: int | None = None) -> VisitSettings:
    from spewy.learn.visit import VisitSettings

    iterations = solve.iterations or (1 if solve.integrate == "regret" else 50)
    return VisitSettings(
        solve.integrate,
        solve.method,
        variant_name,
        iterations,
        solve.tremble,
        first_live,
    )


def require_possible(job: Job) -> None:
    """Refuse a job whose lower bounds show that it is too large, before its boards are enumerated."""
    count, least = job.tree_count, lower_bounds(job)
    if least.memory_bytes > parse_memory(job.solve.memory):
        nodes = f"{count.nodes:,}" if count.complete else f"more than {MAX_NODES:,}"
        raise InputError(
            f"solve.memory: this job needs at least {size_text(least.memory_bytes)} for {nodes} betting nodes "
            f"on at least {sum(least.boards):,} boards, found {job.solve.memory}"
            f"{cuts_text(job, least.memory_bytes)}"
        )
    require_buildable(count)


def supported(layout: Layout) -> bool:
    """Whether the exact engine supports the game of a layout, found without building the game."""
    return (
        layout.n_rounds <= MAX_ROUNDS
        and layout.problem.game.num_hole_cards == 2
        and all(_by_hand(layout, t, p) for t in range(layout.n_rounds) for p in (0, 1))
    )


def _by_hand(layout: Layout, t: int, p: int) -> bool:
    """Whether each hand of player ``p`` in round ``t`` has a row of its own, and rows are in the order of the hands."""
    if layout.problem.rows[layout.boards[t].round] is None:
        return True
    rows = [board.hands[p] for board in layout.boards[t].boards]
    width = max(len(hands.numbers) for hands in rows)
    padded = (np.pad(hands.row, (0, width - len(hands.numbers))) for hands in rows)
    return max(hands.n_rows for hands in rows) == width and all(
        np.array_equal(group, np.arange(width)) for group in padded
    )


def _setup(job: Job, layout: Layout) -> EngineSetup:
    engine, solve = _engine(job, layout), job.solve
    exact = engine == "exact"
    return EngineSetup(
        engine=engine,
        variant=solve.variant
        or (exact_variant(layout.n_rounds, layout.problem.depth) if exact else DEFAULT_VARIANT),
        itemsize=2 if solve.short else 4 if exact or solve.precision == "single" else 8,
        threads=useful_threads(layout.live, solve.threads) if exact else solve.threads,
        integrate=solve.integrate,
        first_live=job.first_live,
        first_dropped=job.first_dropped,
    )


def _engine(job: Job, layout: Layout) -> EngineName:
    """Choose the engine: the exact one needs live leaves, a row for each hand of two cards, and no double precision."""
    solve = job.solve
    able = job.live and not job.one_program and supported(layout)
    if solve.short and not able:
        raise InputError(
            'solve.precision: "16-bit" works only with live leaves and a row for each hand of two cards; choose '
            "another precision"
        )
    if job.too_deep_for_single and solve.precision in ("16-bit", "single"):
        raise InputError(
            f'solve.precision: expected "auto" or "double" for a stack above {MOST_POTS_SINGLE:,} pots, '
            f'found "{solve.precision}"'
        )
    if able and solve.precision != "double" and not job.too_deep_for_single:
        return "exact"
    return "program" if job.one_program else "live" if job.live else "stored"


def _refusal(job: Job, needed: int, streaming: int | None) -> str:
    """Return the error message for a job that needs ``needed`` bytes, more than its memory.

    ``streaming`` are the bytes if the last round streams from disk; None: it cannot.
    """
    if streaming is None:
        needs, limit = f"{size_text(needed)} without the interpreter", job.solve.memory
    else:
        most = f"{size_text(needed)} to keep everything in memory"
        needs = f"at least {size_text(streaming)} without the interpreter ({most})"
        limit = size_text(parse_memory(job.solve.memory))
    return f"solve.memory: this job needs {needs}, found {limit}"


@dataclass(frozen=True)
class MemoryPlan:
    """The split of a solve's state (regrets and strategy sums) between memory and a file.

    Attributes:
        kept: share of the last round's state that stays in memory; 1 if nothing is mapped from a file.
        streamed_bytes: bytes of the last round's state if a part of it is mapped from a file, else 0.
        least_bytes: bytes that the solve needs in memory at least.
    """

    kept: float
    streamed_bytes: int
    least_bytes: int

    @classmethod
    def of(
        cls, layout: Layout, needed: int, cell_bytes: int, threads: int, budget: int, *, streaming: bool
    ) -> Self:
        """Keep as much of the state in memory as the budget allows.

        Args:
            needed: bytes of the solve with all of its state in memory.
            cell_bytes: bytes of the regret, strategy sum and predicted regret of one action of one row.
            threads: number of threads, each of which needs a part of the last round in memory.
            budget: bytes of memory that the solve may use.
            streaming: whether the last round's state may be mapped from a file.
        """
        if needed <= budget or not streaming:
            return cls(1.0, 0, needed)
        rounds, state, tasks = layout.live.rounds, 0, 1  # a single round does not stream
        if len(rounds) > 1:
            state = state_bytes(rounds[-1], cell_bytes)
            tasks = n_tasks(len(rounds), len(layout.boards[1].boards))
        window = state * min(threads, tasks) // tasks
        least = needed - state + window + RESERVE
        return cls(max(0.0, (budget - least) / state) if state else 1.0, state, least)


@dataclass(frozen=True)
class Cut:
    """A change of a job that saves memory.

    Attributes:
        words: what changes, such as "without the flop bet of 75%".
        key: key of the job that changes, such as ``bets.flop.bet``.
        value: new value of the key, such as ``33%``.
        size: bet size that is left out; None for other changes.
        share: rough memory of the changed job, as a share of the job's memory.
        memory_bytes: rough memory of the changed job.
    """

    words: str
    key: str
    value: str
    size: str | None
    share: float
    memory_bytes: int

    def __str__(self) -> str:
        setting = f"{self.key}={self.value}"
        quoted = f'"{setting}"' if " " in setting or not self.value else setting
        return f"about {size_text(self.memory_bytes)} {self.words} (--set {quoted})"


def cuts(job: Job, memory_bytes: int) -> tuple[Cut, ...]:
    """Return the changes that save most memory, the best first; none for a tree that is too large to count.

    If ``memory_bytes`` is a lower bound on the job's memory, so is the memory of each changed job.
    """
    if not job.tree_count.complete:  # the numbers of regrets are not known
        return ()
    data = job.model_dump()
    whole = number_of_cells(job)
    shares = []
    for words, key, value, size, changed in _changes(data, job):
        try:
            share = number_of_cells(Job.of(changed)) / whole
        except InputError:  # the job is invalid with this change
            continue
        shares.append((share, words, key, value, size))
    if is_exact(job) and not job.solve.short:
        shares.append((0.5, "with 16-bit numbers", "solve.precision", "16-bit", None))
    if job.solve.threads > 1:
        saved = (job.solve.threads - 1) * thread_bytes(job)
        shares.append((1 - saved / memory_bytes, "with one thread", "solve.workers", "1", None))
    found = (
        Cut(words, key, value, size, share, round(share * memory_bytes))
        for share, words, key, value, size in shares
        if share <= 1 - LEAST_SAVED
    )
    return tuple(sorted(found, key=lambda cut: cut.share)[:MOST_CUTS])


def cuts_text(job: Job, memory_bytes: int) -> str:
    """Return the changes that save most memory as the end of an error message; empty if there are none."""
    found = cuts(job, memory_bytes)[:MOST_CUTS_IN_ERROR]
    return f"; it needs {', '.join(map(str, found))}" if found else ""


def _changes(data: dict[str, Any], job: Job) -> Iterator[Change]:
    """Yield the changes that may save memory: without a bet size, or with a limit on the number of raises."""
    yield from _smaller(data)
    tree = data.get("tree", {})
    limit = tree.get("max_raises")
    for most, words in (
        (2, "with at most one raise after a bet"),
        (3, "with at most two raises after a bet"),
    ):
        if not job.rules.limit and (limit is None or limit > most):
            changed = data | {"tree": tree | {"max_raises": most}}
            yield words, "tree.max_raises", str(most), None, changed


def _smaller(data: dict[str, Any]) -> Iterator[Change]:
    """Yield a change for each bet size that can be removed, since its key has other sizes, too."""
    for name, section in data.get("bets", {}).items():
        for seat in (None, *SEAT_NAMES):
            own = section if seat is None else section.get(seat) or {}
            for key in SIZE_KEYS:
                sizes = [size.strip() for size in (own.get(key) or "").split(",")]
                for size in sizes if len(sizes) > 1 else ():
                    value = ", ".join(other for other in sizes if other != size)
                    changed = own | {key: value}
                    table = changed if seat is None else section | {seat: changed}
                    path = ".".join(filter(None, ("bets", name, seat, key)))
                    whose = f"the {name} {key}" if seat is None else f"{seat}'s {name} {key}"
                    words = f"without {whose} of {'all-in' if size == 'a' else size}"
                    yield words, path, value, size, data | {"bets": data["bets"] | {name: table}}
