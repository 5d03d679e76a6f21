"""Combine measurements on first boards: best responses before these boards, and errors of samples.

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
    """Exploitability of average strategies, in chips per deal.

    Attributes:
        exploitability: half the sum of the values of both best responses; the middle of ``low`` and ``high`` for a
            sample.
        stderr: standard error; None if all flops were measured, or only one.
        low, high: exploitability if the response before the flop is chosen on other flops, and on the same flops; low
            is None for a single flop.
        best_response: values of player 0's and of player 1's best response.
        value: value for player 0 if both players follow their averages.
        value_stderr: standard error of ``value``, as above.
        flops: number of flops that were drawn, or of all flops up to suits.
        seconds: core-seconds of all flops together.
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
        """Return the chips per deal of player p's best response, given the values ``best[line, kind]`` of flops.

        With ``chosen_on``, the response is chosen by these values instead of by ``best``.
        """
        exits, chosen = (
            None if worth is None else self.per_pair * worth[:, self.kinds] for worth in (best, chosen_on)
        )
        assert exits is not None
        return float(self.betting.best(p, exits, chosen).sum()) / self.betting.n_pairs

    def values(self, own: Floats) -> Floats:
        """Return ``[board]``, chips per deal of player 0, from `FlopFinding.own`."""
        out: Floats = (self.per_pair * own + self.betting.folds(0).sum()) / self.betting.n_pairs
        return out


def of_all(before: Before, findings: list[FlopFinding], counts: Ints) -> Finding:
    """Combine measurements of all flops, weighted by how many flops each stands for."""
    best, values, seconds = _together(before, findings)
    first, second = _at_once(before, best, counts)
    exact, value = (first + second) / 2, float(counts @ values / counts.sum())
    return Finding(exact, None, exact, exact, (first, second), value, None, len(findings), seconds)


def of_sample(before: Before, findings: list[FlopFinding], times: Ints) -> Finding:
    """Combine measurements of drawn flops, weighted by how often each was drawn."""
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
    """Stack best responses ``[board, player, line, kind]`` and values ``[board]``, and sum their times."""
    best = np.stack([finding.best for finding in findings])
    values = before.values(np.array([finding.own for finding in findings]))
    return best, values, sum(finding.seconds for finding in findings)


def _at_once(before: Before, best: Floats, weights: Ints) -> tuple[float, float]:
    """Return the values of both players' best responses to the mean over flops."""
    mean = np.tensordot(weights / weights.sum(), best, axes=1)
    return before.respond(0, mean[0]), before.respond(1, mean[1])


def _stderr(values: Floats, times: Ints) -> float:
    """Return the standard error of the mean of weighted values."""
    total = times.sum()
    off = values - times @ values / total
    return float(np.sqrt(times @ off**2 / (total - 1) / total))
