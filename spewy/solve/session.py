"""A solve from start or resume to its target: sweeps, checks by exact best response, saving, interruption."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from buckets.equity import range_equity
from lockers import MemoryStore, Store, Transaction, open_store
from solvers.exact import supports, useful_threads
from solvers.exploit import Exploitability
from solvers.variants import DEFAULT_VARIANT, EXACT_VARIANT, variant
from spewy.errors import InputError, SolveError
from spewy.game.count import MAX_NODES, require_buildable
from spewy.interrupts import interruptible
from spewy.job import MOST_POTS_SINGLE, Job, parse_memory, parse_target, unit_chips
from spewy.reporting import unfailing
from spewy.solve.dropped import require_whole
from spewy.solve.engines import Check, Engine, LiveEngine
from spewy.solve.estimate import Estimate, estimate
from spewy.solve.exact_engine import ExactEngine
from spewy.solve.groups import counted_exactly
from spewy.solve.keys import META, TARGET_KEY, TRACE_KEY
from spewy.solve.layout import Layout
from spewy.solve.least import least_cost
from spewy.solve.lp_size import lp_size, require_small
from spewy.solve.ready import make_ready
from spewy.solve.residence import kept_share, last_state
from spewy.solve.stored_chunks import saved_sweeps
from spewy.solve.visit import VisitSettings

RESULT_KEY = b"result|"
"""The result of the last run that was not interrupted, as JSON; gone as soon as another run starts to sweep."""
SAVE_SECONDS = 30.0
SAVE_SPEED = 150e6  # bytes a second that a save is expected to take, until one has been made
SAVE_SHARE = 20.0  # where a save takes long: so many times as much work between two of them
STORED_SHARDS = 8
MOST_OFF = 1e-4  # of the pot: how far EVs and rake may be from summing to it
FLAT = 0.05  # a curve that falls slower than sweeps^-0.05 has no forecast


@dataclass(frozen=True)
class SolveResult:
    """What a solve reached; the fields of ``spewy solve --json``. What does not apply is None.

    ``exploitability`` is in chips, measured in the real game against the average strategies. ``seconds``: ``build``
    (tree, boards, stores), ``solve`` (first iteration to stop, checks included), ``best_response`` (the checks) and
    ``total``. ``trace`` holds (sweep, seconds, exploitability) of every check, earlier runs included.
    """

    name: str
    converged: bool
    interrupted: bool
    sweeps: int
    exploitability: float | None
    exploitability_pct: float | None
    exploitability_mbb: float | None
    ev: tuple[float, float] | None
    equity: tuple[float, float] | None
    value: float | None
    value_bracket: tuple[float, float] | None
    seconds: Mapping[str, float]
    peak_rss_mib: float
    trace: tuple[tuple[int, float, float], ...]

    def to_json(self) -> dict[str, Any]:
        """The documented object."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Reporter(Protocol):
    """Hears how a solve goes; :class:`Silent` is the one that does nothing."""

    def begin(self, job: Job, cost: Estimate, done: int) -> None:
        """Before the first sweep: what it will cost, and how many sweeps earlier runs left."""

    def note(self, text: str) -> None:
        """Anything else that the user should know."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Within sweep ``number``: visits done so far and in all."""

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """After a check: exploitability in the target's unit, and a forecast."""

    def end(self) -> None:
        """After the last sweep, also when interrupted."""


class Stop(Protocol):
    """Tells a running solve to save and return; a :class:`threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to stop after this visit."""
        ...


class Silent:
    """Reports nothing."""

    def begin(self, job: Job, cost: Estimate, done: int) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Say nothing."""

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


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
        shards = 1 if job.live else STORED_SHARDS  # a live solve saves all chunks in one transaction
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
            from spewy.solve.lp_engine import LpEngine

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
                    kept=_kept(self.job, self.layout, self.cost),
                )
            dtype = np.float32 if solve.precision == "single" else np.float64
            return LiveEngine(self.layout, self.store, name, solve.workers, dtype)
        from spewy.solve.stored_engine import StoredEngine

        settings = VisitSettings(
            solve.integrate,
            solve.method,
            solve.variant or DEFAULT_VARIANT,
            solve.iterations or (1 if solve.integrate == "regret" else 50),
            solve.tremble,
        )
        workers = 1 if isinstance(self.store, MemoryStore) else solve.workers  # memory is not shared
        return StoredEngine(self.layout, self.store, settings, solve.order, workers)

    def _run(
        self, engine: Engine, report: Reporter, cost: Estimate, building: float, outer: Stop | None
    ) -> SolveResult:
        job, judge = self.job, _Judge(self.job, self.layout)
        trace = [row for row in read_trace(self.store) if row[0] <= engine.sweeps]
        earlier = trace[-1][1] if trace else 0.0
        report.begin(job, cost, engine.sweeps)
        _forget_result(self.store)
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
            _write_result(self.store, result)
        return result

    def _pause(self, save_seconds: float) -> float:
        """Seconds from one save to the next, where the last one took so long."""
        if self.save_every is not None:
            return self.save_every
        return max(SAVE_SECONDS, SAVE_SHARE * save_seconds)

    def _sprint(self, engine: Engine, judge: _Judge) -> list[Check]:
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
        _write_trace(self.store, trace, self.job.solve.target)
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


def exact(job: Job, layout: Layout) -> bool:
    """Whether the exact engine solves a job: live leaves, a row per hand of hold'em, not in double precision.

    Raises:
        InputError: 16 bits are asked for where it does not.
    """
    solve = job.solve
    able = job.live and not job.one_program and supports(layout.live, variant(solve.variant or EXACT_VARIANT))
    if solve.short and not able:
        raise InputError(
            'solve.precision: "16-bit" needs the exact engine: expected live leaves, a row per hand of two cards '
            "and a variant that does not predict"
        )
    if job.too_deep_for_single:
        if solve.precision in ("16-bit", "single"):
            raise InputError(
                f'solve.precision: expected "auto" or "double" for a stack above {MOST_POTS_SINGLE:,} pots, '
                f'found "{solve.precision}"'
            )
        return False
    return able and solve.precision != "double"


def lay_out(job: Job, progress: Callable[[int], None] | None = None) -> Layout:
    """The layout of a job, if it can fit the job's memory at all.

    Raises:
        InputError: a lower bound, made before anything is built, exceeds ``solve.memory``, or the tree is too large, or
            the linear program of the whole game would be.
    """
    require_possible(job)
    layout = counted_layout(job, progress)
    if layout.made:
        return layout
    _require_memory(job, job_estimate(job, layout))  # which takes a second, and buckets may take minutes
    return layout.with_buckets(progress)


def counted_layout(job: Job, progress: Callable[[int], None] | None = None) -> Layout:
    """The layout of a job for what its solve costs: buckets are counted, not made.

    They are made where the count is only a bound that the job's memory does not hold.

    Raises:
        InputError: the tree, or the linear program of the whole game, is too large.
    """
    problem = job.problem()
    if job.one_program:
        require_small(job.name, lp_size(problem))
    layout = Layout.counted(problem, progress)
    if counted_exactly(problem) or job_estimate(job, layout).memory_bytes <= parse_memory(job.solve.memory):
        return layout
    return layout.with_buckets(progress)


def require_possible(job: Job) -> None:
    """Refuse a job that is too large whatever its boards and strategies are in detail.

    Raises:
        InputError: its betting tree is too large to be built, or a lower bound on its memory exceeds ``solve.memory``.
    """
    count, least = job.tree_count, least_cost(job)
    if least.memory_bytes > parse_memory(job.solve.memory):
        nodes = f"{count.nodes:,}" if count.complete else f"more than {MAX_NODES:,}"
        raise InputError(
            f"solve.memory: this job needs at least {least.memory_bytes / 2**20:,.0f} MiB for {nodes} betting nodes "
            f"on at least {sum(least.boards):,} boards, found {job.solve.memory}"
        )
    require_buildable(count)


def job_estimate(job: Job, layout: Layout) -> Estimate:
    """The cost of a job on its layout."""
    exactly = exact(job, layout)
    precision = job.solve.precision
    return estimate(
        layout,
        live=job.live,
        exact=exactly,
        variant_name=job.solve.variant or DEFAULT_VARIANT,
        itemsize=2 if job.solve.short else 4 if exactly or precision == "single" else 8,
        threads=useful_threads(layout.live, job.solve.workers) if exactly else job.solve.workers,
        integrate=job.solve.integrate,
        shards=1 if job.live else STORED_SHARDS,
        program=lp_size(layout.problem) if job.one_program else None,
    )


def require_solvable(job: Job, layout: Layout, cost: Estimate, *, streaming: bool = False) -> None:
    """Refuse a job that may not start; ``streaming``: an exact solve may keep a part of its state on disk.

    Raises:
        InputError: its cost exceeds ``solve.memory``, or the target's unit is not one of the problem's.
    """
    unit_chips(job.rules, job.pot, parse_target(job.solve.target)[1])
    if streaming and exact(job, layout):
        _kept(job, layout, cost)
    else:
        _require_memory(job, cost)


def _require_memory(job: Job, cost: Estimate) -> None:
    if cost.memory_bytes > parse_memory(job.solve.memory):
        raise InputError(
            f"solve.memory: this job needs {cost.memory_bytes / 2**20:.0f} MiB beside the interpreter, "
            f"found {job.solve.memory}"
        )


def streamed_bytes(job: Job, layout: Layout, cost: Estimate) -> int | None:
    """Bytes of an exact solve's state that lie in a file instead of memory; None if the job does not fit its memory."""
    if cost.memory_bytes <= parse_memory(job.solve.memory):
        return 0
    if not exact(job, layout):
        return None
    try:
        _kept(job, layout, cost)
    except InputError:
        return None
    return last_state(layout, _itemsize(job))


def _itemsize(job: Job) -> int:
    return 2 if job.solve.short else 4


def _kept(job: Job, layout: Layout, cost: Estimate) -> float:
    """The share of an exact solve's last round that stays in memory."""
    budget = parse_memory(job.solve.memory)
    return kept_share(layout, cost.memory_bytes, _itemsize(job), job.solve.workers, budget)


def forecast(trace: list[tuple[int, float, float]], target: float) -> float | None:
    """Seconds left, from the power law through the last two checks that are a factor of two apart in sweeps.

    Infinite where they are more than a number can hold.
    """
    if len(trace) < 2 or target <= 0:
        return None
    last = trace[-1]
    first = next((row for row in reversed(trace[:-1]) if row[0] <= last[0] / 2), trace[0])
    if not (0 < last[2] < first[2]):
        return None
    slope = np.log(first[2] / last[2]) / np.log(last[0] / first[0])
    if slope < FLAT:
        return None
    with np.errstate(over="ignore"):
        sweeps = float(last[0] * np.exp(np.log(last[2] / target) / slope))
    pace = (last[1] - first[1]) / (last[0] - first[0])
    return max(0.0, (sweeps - last[0]) * pace)


class _Judge:
    """Measures average strategies in the real game and knows the target."""

    def __init__(self, job: Job, layout: Layout) -> None:
        self.job = job
        self.layout = layout
        self.problem = layout.problem
        amount, self.unit = parse_target(job.solve.target)
        self.target_chips = amount * unit_chips(job.rules, job.pot, self.unit)

    def measure(self, engine: Engine) -> tuple[Exploitability, float]:
        """Exact best responses, and the seconds they took."""
        started = time.perf_counter()
        return self.finite(engine.exploitability(), engine.sweeps), time.perf_counter() - started

    def finite(self, found: Exploitability, sweeps: int) -> Exploitability:
        """What was found.

        Raises:
            SolveError: it is no number.
        """
        if not np.isfinite(found.value):
            raise SolveError(
                f"{self.job.name}, sweep {sweeps}: expected a finite exploitability, found {found.value}; "
                f'nothing of it is saved, and solve.precision = "double" may help'
            )
        return found

    def satisfied(self, found: Exploitability | None) -> bool:
        return found is not None and found.value <= self.target_chips

    def tell(self, report: Reporter, trace: list[tuple[int, float, float]]) -> None:
        """Report the last check."""
        sweep, _, chips = trace[-1]
        found = chips / unit_chips(self.job.rules, self.job.pot, self.unit)
        report.check(sweep, found, self.unit, forecast(trace, self.target_chips))

    def _check_sum(self, net: tuple[float, float]) -> None:
        """Chips that one player wins the other loses, or the house takes.

        Raises:
            SolveError: they do not add up.
        """
        forests = [bets.forest.arrays for bets in self.layout.betting]
        most = max((float(arrays.rake.max()) for arrays in forests), default=0.0)
        unit = self.problem.pot if self.problem.is_spot else self.problem.game.big_blind
        lost = -sum(net)
        if not -MOST_OFF * unit <= lost <= most + MOST_OFF * unit:
            raise SolveError(
                f"{self.job.name}: expected both players' net chips to sum to 0, less at most {most:g} of rake, "
                f"found {net[0]:g} and {net[1]:g}: more than this precision can tell apart; "
                'solve.precision = "double" may help'
            )

    def result(
        self,
        engine: Engine,
        found: Exploitability | None,
        interrupted: bool,
        seconds: dict[str, float],
        trace: list[tuple[int, float, float]],
    ) -> SolveResult:
        problem, spot = self.problem, self.problem.is_spot
        chips = None if found is None else found.value
        net = None if found is None else found.expected or engine.expected_values()
        ev = equity = None
        if net is not None:
            self._check_sum(net)
        if spot and net is not None:
            ev = (problem.pot / 2 + net[0], problem.pot / 2 + net[1])
        if spot:
            share = range_equity(self.job.board, problem.hands, *problem.ranges)
            equity = (share, 1 - share)
        big_blind = problem.game.big_blind
        return SolveResult(
            name=self.job.name,
            converged=self.satisfied(found),
            interrupted=interrupted,
            sweeps=engine.sweeps,
            exploitability=chips,
            exploitability_pct=None if chips is None or not spot else 100 * chips / problem.pot,
            exploitability_mbb=None if chips is None or spot else 1000 * chips / big_blind,
            ev=ev,
            equity=equity,
            value=None if spot or net is None else net[0],
            value_bracket=None if spot or found is None else found.bracket,
            seconds=seconds,
            peak_rss_mib=_peak_rss_mib(),
            trace=tuple(trace),
        )


def _peak_rss_mib() -> float:
    """The most memory of this process; ``ru_maxrss`` alone has that of the one that started it, if it was more."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_trace(store: Store) -> list[tuple[int, float, float]]:
    """(sweep, seconds, exploitability) of the checks that a store remembers."""
    array = store.get(META, TRACE_KEY)
    return [] if array is None else [(int(n), float(s), float(e)) for n, s, e in array]


def _write_trace(store: Store, trace: list[tuple[int, float, float]], target: str) -> None:
    array = np.array(trace, dtype=np.float64).reshape(-1, 3)
    text = np.frombuffer(target.encode(), dtype=np.uint8)

    def write(txn: Transaction) -> None:
        txn.put(META, TRACE_KEY, array)
        txn.put(META, TARGET_KEY, text)

    store.transact(TRACE_KEY, write)


def _write_result(store: Store, result: SolveResult) -> None:
    text = np.frombuffer(json.dumps(result.to_json()).encode(), dtype=np.uint8)
    store.transact(RESULT_KEY, lambda txn: txn.put(META, RESULT_KEY, text))


def _forget_result(store: Store) -> None:
    """The strategies are about to change, visit by visit: what was measured of them will no longer be true."""
    if store.get(META, RESULT_KEY) is not None:
        store.transact(RESULT_KEY, lambda txn: txn.delete(META, RESULT_KEY))
        store.flush()
