"""The result of a solve: its exploitability, EVs, durations and checks, with their units.

`spewy.records.progress.write_result` stores it in the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from buckets.cards import range_equity
from spewy.errors import SolveError
from spewy.game.amounts import CHIPS, Unit
from spewy.job.job import Job
from spewy.learn.engine import Check
from spewy.run.cost import peak_rss_mib
from spewy.run.stopping import INTERRUPTED, REACHED
from spewy.system.html import Printed, Table

Trace: TypeAlias = tuple[tuple[int, float, float], ...]
"""(sweeps or deals, seconds, exploitability) of each check."""
MOST_OFF = 1e-4
"""Largest allowed rounding error in the sum of both players' net chips and the rake, as a share of pot or big blind."""


@dataclass(frozen=True, repr=False)
class SolveResult(Printed):
    """Result of a solve, with the keys of ``spewy solve --json``; a field that does not apply is None.

    Attributes:
        name: name of the job.
        converged: whether the target was reached.
        interrupted: whether an interruption ended the run.
        sweeps: number of sweeps, or of deals, in all runs.
        exploitability: exploitability of the average strategies in the game without buckets, in ``unit``.
        exploitability_pct: exploitability in % of the pot.
        exploitability_mbb: exploitability in mbb per hand.
        ev: EVs of oop and ip in ``unit``.
        equity: equities of oop and ip at the root.
        value: net winnings of player 0 per hand of a whole game, in ``unit``.
        value_bracket: lower and upper bound on the value of the game for player 0, in ``unit``.
        seconds: durations in seconds: ``build`` (tree, boards, stores), ``solve`` (from the first iteration to the
            last, with the checks), ``best_response`` (the checks) and ``total``.
        peak_rss_mib: largest memory of the process in MiB, with the pages of lockers and other mapped files, which the
            operating system drops when it needs room.
        trace: (sweeps or deals, seconds, exploitability in ``unit``) of each check in all runs.
        unit: unit of all amounts, as the job gives it, such as chips.
        process_mib: largest memory that the process owned during the run, in MiB, without pages of mapped files; None
            in results from before this figure was measured.
        variant: variant of CFR, and whether the solve was refined.
        choice: what ``solve.choose`` has changed: ``choose`` and ``programs``, and for ``entropy``, ``sizes`` and
            ``bluff`` the numbers of both players ``before`` and ``after``.
        quick: of a quick solve, its ``seconds`` as the job gives them, and ``bets``, the bets of later rounds in words
            (None: those of the job).
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
    trace: Trace
    unit: str = "chips"
    process_mib: float | None = None
    variant: str | None = None
    choice: Mapping[str, Any] | None = None
    quick: Mapping[str, Any] | None = None

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> SolveResult:
        """Make the result from the object that `to_json` returned, after it was written and read as JSON."""
        return cls(**{key: _tuples(value) for key, value in data.items()})

    @classmethod
    def of(
        cls,
        job: Job,
        done: int,
        ended: str,
        check: Check | None,
        net: tuple[float, float] | None,
        seconds: Mapping[str, float],
        trace: Trace,
        process_mib: float | None = None,
        variant: str | None = None,
        choice: Mapping[str, Any] | None = None,
        quick: Mapping[str, Any] | None = None,
    ) -> SolveResult:
        """Make the result of a run, in chips.

        ``ended`` is a reason of `spewy.run.stopping`, ``net`` are mean net winnings of both players in chips per hand,
        and ``trace`` has the exploitability in chips.
        """
        chips = None if check is None else check.exploitability
        pct, mbb = (None, None) if chips is None else job.problem.in_units(chips)
        ev = equity = None
        if job.spot is not None:
            share = range_equity(job.board, job.problem.hands, *job.problem.ranges)
            equity = (share, 1 - share)
            ev = None if net is None else (job.pot / 2 + net[0], job.pot / 2 + net[1])
        return cls(
            name=job.name,
            converged=ended == REACHED,
            interrupted=ended == INTERRUPTED,
            sweeps=done,
            exploitability=chips,
            exploitability_pct=pct,
            exploitability_mbb=mbb,
            ev=ev,
            equity=equity,
            value=None if job.spot is not None or net is None else net[0],
            value_bracket=None if job.spot is not None or check is None else check.bracket,
            seconds=seconds,
            peak_rss_mib=peak_rss_mib(),
            trace=trace,
            process_mib=process_mib,
            variant=variant,
            choice=choice,
            quick=quick,
        )

    def in_unit(self, unit: Unit) -> SolveResult:
        """Convert the amounts of a result in chips to another unit."""
        if unit == CHIPS:
            return self
        return replace(
            self,
            exploitability=None if self.exploitability is None else self.exploitability / unit.chips,
            ev=None if self.ev is None else unit.worth(*self.ev),
            value=None if self.value is None else self.value / unit.chips,
            value_bracket=None if self.value_bracket is None else unit.worth(*self.value_bracket),
            trace=trace_in_unit(self.trace, unit),
            unit=unit.name,
        )

    def _table(self) -> Table:
        ev, equity, unit = self.ev or (None, None), self.equity or (None, None), self.unit
        reached = (
            "interrupted"
            if self.interrupted
            else "target reached"
            if self.converged
            else "target not reached"
        )
        rows = {
            f"exploitability ({unit})": self.exploitability,
            "exploitability (% of the pot)": self.exploitability_pct,
            "exploitability (mbb per hand)": self.exploitability_mbb,
            f"EV of oop ({unit})": ev[0],
            f"EV of ip ({unit})": ev[1],
            "equity of oop": equity[0],
            "equity of ip": equity[1],
            f"value of oop ({unit})": self.value,
            "seconds": self.seconds.get("total"),
            "process (MiB)": self.process_mib,
        }
        return Table.of_facts(f"{self.name}: {reached} after {self.sweeps:,} sweeps", rows)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``spewy solve --json`` prints; it has the key ``unit`` unless the unit is chips."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.unit == CHIPS.name:
            del data["unit"]
        return data


def trace_in_unit(trace: Trace, unit: Unit) -> Trace:
    return tuple((sweep, seconds, chips / unit.chips) for sweep, seconds, chips in trace)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(inner) for inner in value) if isinstance(value, list) else value


def require_zero_sum(job: Job, net: tuple[float, float], most_rake: float) -> None:
    """Check that both players' net chips per hand sum to zero, less at most ``most_rake`` chips of rake."""
    unit = job.pot if job.spot is not None else job.rules.big_blind
    lost = -sum(net)
    if not -MOST_OFF * unit <= lost <= most_rake + MOST_OFF * unit:
        raise SolveError(
            f"{job.name}: expected both players' net chips to sum to 0, less at most {most_rake:g} of rake, "
            f"found {net[0]:g} and {net[1]:g}; the numbers are too imprecise, and "
            'solve.precision = "double" may help'
        )
