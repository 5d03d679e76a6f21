"""Findings on first boards put together: best responses before these boards, and errors of samples.

A sample of flops gives an estimate. After the flop it is right in the mean. The response before it can only be chosen
on flops that were drawn: chosen on those that it is measured on it looks too good (``high``), chosen for each draw on
all others too bad (``low``), both in the mean. The middle of them is what is given. The standard error is that of the
low figure, whose parts are nearly independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.sampled.first_round import FirstRound
from solvers.tree import Floats, Ints
from spewy.records.response_cache import FlopFinding


@dataclass(frozen=True)
class Finding:
    """How far average strategies are from an equilibrium, in chips per deal.

    Attributes:
        exploitability: half the sum of both best responses' values; of a sample the middle of ``low`` and ``high``.
        stderr: standard error; None where all flops were judged, or only one.
        low, high: of the response before the flop chosen on other flops, and on the same; low is None of one flop.
        best_response: values of player 0's and of player 1's.
        value: of player 0, if both follow their averages.
        value_stderr: its standard error, as above.
        flops: how many were drawn; or all there are up to suits.
        seconds: of one core, all flops together.
    """

    exploitability: float
    stderr: float | None
    low: float | None
    high: float
    best_response: tuple[float, float]
    value: float
    value_stderr: float | None
    flops: int
    seconds: float


@dataclass(frozen=True)
class Before:
    """The betting before first boards.

    Attributes:
        betting: the lines that enter them are its exits.
        kinds: ``[hand]``: its kind in `FlopFinding.best`.
        per_pair: how many first boards there are for each that a pair of hands leaves.
    """

    betting: FirstRound
    kinds: Ints
    per_pair: float

    def respond(self, p: int, best: Floats, chosen_on: Floats | None = None) -> float:
        """Chips per deal of player p's best response, where first boards are worth ``best[line, kind]``.

        It is chosen where they are worth ``chosen_on``, if that is given.
        """
        exits, chosen = (
            None if worth is None else self.per_pair * worth[:, self.kinds] for worth in (best, chosen_on)
        )
        assert exits is not None
        return float(self.betting.best(p, exits, chosen).sum()) / self.betting.n_pairs

    def values(self, own: Floats) -> Floats:
        """``[board]``: chips per deal of player 0 from `FlopFinding.own`."""
        out: Floats = (self.per_pair * own + self.betting.folds(0).sum()) / self.betting.n_pairs
        return out


def of_all(before: Before, findings: list[FlopFinding], counts: Ints) -> Finding:
    """From all first boards, each of which stands for so many."""
    best, values, seconds = _together(before, findings)
    first, second = _at_once(before, best, counts)
    exact, value = (first + second) / 2, float(counts @ values / counts.sum())
    return Finding(exact, None, exact, exact, (first, second), value, None, len(findings), seconds)


def of_sample(before: Before, findings: list[FlopFinding], times: Ints) -> Finding:
    """From first boards that were drawn so many times."""
    best, values, seconds = _together(before, findings)
    total, value = int(times.sum()), float(times @ values / times.sum())
    high = _at_once(before, best, times)
    if total == 1:
        only = sum(high) / 2
        return Finding(only, None, None, only, high, value, None, 1, seconds)
    sums = np.tensordot(times, best, axes=1)
    parts = np.array(
        [[before.respond(p, mine[p], (sums[p] - mine[p]) / (total - 1)) for p in (0, 1)] for mine in best]
    )
    low = times @ parts / total
    first, second = ((low[p] + high[p]) / 2 for p in (0, 1))
    return Finding(
        float(first + second) / 2,
        _stderr(parts.mean(axis=1), times),
        float(low.mean()),
        sum(high) / 2,
        (float(first), float(second)),
        value,
        _stderr(values, times),
        total,
        seconds,
    )


def _together(before: Before, findings: list[FlopFinding]) -> tuple[Floats, Floats, float]:
    """Return best responses ``[board, player, line, kind]``, values ``[board]``, and the time that they took."""
    best = np.stack([finding.best for finding in findings])
    values = before.values(np.array([finding.own for finding in findings]))
    return best, values, sum(finding.seconds for finding in findings)


def _at_once(before: Before, best: Floats, weights: Ints) -> tuple[float, float]:
    """Both players' best responses to the mean."""
    mean = np.tensordot(weights / weights.sum(), best, axes=1)
    return before.respond(0, mean[0]), before.respond(1, mean[1])


def _stderr(values: Floats, times: Ints) -> float:
    """Standard error of the mean of values that came so many times."""
    total = times.sum()
    off = values - times @ values / total
    return float(np.sqrt(times @ off**2 / (total - 1) / total))
