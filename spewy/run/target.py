"""The target of a solve, and what measurements come to that are held against it."""

from __future__ import annotations

import numpy as np

from buckets.cards import range_equity
from solvers.measure import Exploitability
from spewy.chunks.layout import Layout
from spewy.errors import SolveError
from spewy.job.job import Job
from spewy.job.units import parse_target, unit_chips
from spewy.learn.engine import Check, Engine
from spewy.run.forecast import forecast
from spewy.run.memory import peak_rss_mib
from spewy.run.reporter import Reporter
from spewy.run.result import SolveResult

MOST_OFF = 1e-4  # of the pot: how far EVs and rake may be from summing to it


class Target:
    """When a solve has reached what it was asked for, and how that is told.

    Attributes:
        chips: the target.
        unit: in which the job gives it.
    """

    def __init__(self, job: Job, layout: Layout) -> None:
        self.job = job
        self.layout = layout
        self.problem = layout.problem
        amount, self.unit = parse_target(job.solve.target)
        self.chips = amount * unit_chips(job.rules, job.pot, self.unit)

    def finite(self, check: Check) -> Exploitability | None:
        """What a check found.

        Raises:
            SolveError: it is no number.
        """
        if check.found is not None and not np.isfinite(check.found.value):
            raise SolveError(
                f"{self.job.name}, sweep {check.sweeps}: expected a finite exploitability, "
                f"found {check.found.value}; "
                f'nothing of it is saved, and solve.precision = "double" may help'
            )
        return check.found

    def satisfied(self, found: Exploitability | None) -> bool:
        """Whether what was found is the target or below."""
        return found is not None and found.value <= self.chips

    def tell(self, report: Reporter, trace: list[tuple[int, float, float]]) -> None:
        """Report the last check."""
        sweep, _, chips = trace[-1]
        found = chips / unit_chips(self.job.rules, self.job.pot, self.unit)
        report.check(sweep, found, self.unit, forecast(trace, self.chips))

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
        """Everything that there is to tell at the end of a run."""
        problem, spot = self.problem, self.problem.is_spot
        chips = None if found is None else found.value
        pct, mbb = (None, None) if chips is None else problem.in_units(chips)
        net = None if found is None else found.expected or engine.expected_values()
        ev = equity = None
        if net is not None:
            self._check_sum(net)
        if spot and net is not None:
            ev = (problem.pot / 2 + net[0], problem.pot / 2 + net[1])
        if spot:
            share = range_equity(self.job.board, problem.hands, *problem.ranges)
            equity = (share, 1 - share)
        return SolveResult(
            name=self.job.name,
            converged=self.satisfied(found),
            interrupted=interrupted,
            sweeps=engine.sweeps,
            exploitability=chips,
            exploitability_pct=pct,
            exploitability_mbb=mbb,
            ev=ev,
            equity=equity,
            value=None if spot or net is None else net[0],
            value_bracket=None if spot or found is None else found.bracket,
            seconds=seconds,
            peak_rss_mib=peak_rss_mib(),
            trace=tuple(trace),
        )
