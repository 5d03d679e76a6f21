"""The result of a solve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from buckets.cards import range_equity
from spewy.errors import SolveError
from spewy.game.amounts import CHIPS, Unit
from spewy.job.job import Job
from spewy.learn.engine import Check
from spewy.run.memory import peak_rss_mib
from spewy.run.stopping import INTERRUPTED, REACHED
from spewy.system import html

Trace: TypeAlias = tuple[tuple[int, float, float], ...]
"""(sweep, seconds, exploitability) of each check."""
MOST_OFF = 1e-4
"""Largest deviation of EVs and rake from their sum, the pot, as a share of the pot."""


@dataclass(frozen=True)
class SolveResult:
    """Result of a solve, with the fields of ``spewy solve --json``; fields that do not apply are None.

    ``exploitability``, ``ev`` and ``value`` are in ``unit``, the job's; exploitability is measured in the real game
    against the average strategies. ``seconds``: ``build`` (tree, boards, stores), ``solve`` (first iteration to stop,
    checks included), ``best_response`` (the checks) and ``total``. ``trace`` holds (sweep, seconds, exploitability) of
    every check, earlier runs included.
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

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> SolveResult:
        """Make the result from the output of `to_json` after a round trip through JSON."""
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
    ) -> SolveResult:
        """Make the result of a run, in chips.

        Args:
            job: the job.
            done: number of sweeps or deals.
            ended: why the run ended, in the words of `spewy.run.stopping`.
            check: the measurement of the strategies as they are; None: nobody has measured them.
            net: chips per deal of both players; None: not known.
            seconds: the durations of the run.
            trace: all checks.
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

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
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
            "memory (MiB)": self.peak_rss_mib,
        }
        return html.facts(f"{self.name}: {reached} after {self.sweeps:,} sweeps", rows)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON object, with its unit unless that is chips."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.unit == CHIPS.name:
            del data["unit"]
        return data


def trace_in_unit(trace: Trace, unit: Unit) -> Trace:
    """Convert the exploitability of checks from chips to another unit."""
    return tuple((sweep, seconds, chips / unit.chips) for sweep, seconds, chips in trace)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(inner) for inner in value) if isinstance(value, list) else value


def require_zero_sum(job: Job, net: tuple[float, float], most_rake: float) -> None:
    """Refuse net chips that do not sum to zero.

    Args:
        job: the job.
        net: chips per deal of both players.
        most_rake: chips that the house takes at most.

    Raises:
        SolveError: the chips do not add up.
    """
    unit = job.pot if job.spot is not None else job.rules.big_blind
    lost = -sum(net)
    if not -MOST_OFF * unit <= lost <= most_rake + MOST_OFF * unit:
        raise SolveError(
            f"{job.name}: expected both players' net chips to sum to 0, less at most {most_rake:g} of rake, "
            f"found {net[0]:g} and {net[1]:g}: more than this precision can tell apart; "
            'solve.precision = "double" may help'
        )
