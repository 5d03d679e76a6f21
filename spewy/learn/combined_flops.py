"""Combine measurements of single flops into the exploitability of a whole game, with its standard error.

A *flop* here is a board of the first round that has public cards, in any game.

If only a sample of flops was measured, exploitability is an estimate. Best responses from the flop on are measured
exactly for each flop, so their mean is unbiased. The best response before the flop has to be chosen on the same sample.
If it is chosen on the flops on which it is measured, its value is too high (the bound ``high``). If it is chosen for
each flop on all other flops, its value is too low (the bound ``low``). The reported exploitability is the midpoint of
both bounds. Its standard error is that of ``low``, which is a mean of nearly independent numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.sampled.judge import FirstRound
from solvers.tree import Floats, Ints
from spewy.records.response_cache import FlopFinding


@dataclass(frozen=True)
class Finding:
    """Exploitability of average strategies, in chips per deal.

    Attributes:
        exploitability: half the sum of the values of both best responses. For a sample of flops, the midpoint of
            ``low`` and ``high``.
        stderr: standard error of ``exploitability``; None if all flops were measured, or only one.
        low: exploitability if winnings on each flop are measured with the response before the flop that is best on all
            other flops; None for a single flop.
        high: exploitability if the response before the flop is the one that is best on all measured flops.
        best_response: values of player 0's and of player 1's best response.
        value: value for player 0 if both players follow their average strategies.
        value_stderr: standard error of ``value``; None if all flops were measured, or only one.
        flops: number of flops that were drawn; if all were measured, the number of flops up to suits.
        seconds: seconds of computation, summed over threads.
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
    """The betting before the flop, with which best responses before the flop are computed.

    Attributes:
        betting: the betting tree; its chance leaves lead to the flop.
        kinds: group number of each hand; hands that are equal up to suits form a group.
        per_pair: number of all flops, divided by the number of flops that are possible once two hands are dealt.
    """

    betting: FirstRound
    kinds: Ints
    per_pair: float

    def respond(self, p: int, best: Floats, chosen_on: Floats | None = None) -> float:
        """Compute the chips per deal that player p's best response wins.

        Args:
            p: the player who responds.
            best: ``[line, group of hands]``, values of p's best response from the flop on, for each betting line that
                leads to the flop.
            chosen_on: values in the same form by which the actions before the flop are chosen; None: choose by
                ``best``.
        """
        exits, chosen = (
            None if values is None else self.per_pair * values[:, self.kinds] for values in (best, chosen_on)
        )
        assert exits is not None
        return float(self.betting.best(p, exits, chosen).sum()) / self.betting.n_pairs

    def values(self, own: Floats) -> Floats:
        """Estimate player 0's chips per deal under the average strategies from each flop alone.

        The mean of these values over all flops is the exact value.

        Args:
            own: ``[flop]``, the attribute ``own`` of each flop's `FlopFinding`.
        """
        out: Floats = (self.per_pair * own + self.betting.folds(0).sum()) / self.betting.n_pairs
        return out


def of_all(before: Before, findings: list[FlopFinding], counts: Ints) -> Finding:
    """Combine the measurements of all flops into the exact exploitability.

    Args:
        before: the betting before the flop.
        findings: measurements of all flops; flops that are equal up to suits are measured once.
        counts: ``[flop]``, number of boards that each flop represents.
    """
    best, values, seconds = _together(before, findings)
    first, second = _at_once(before, best, counts)
    exact, value = (first + second) / 2, float(counts @ values / counts.sum())
    return Finding(exact, None, exact, exact, (first, second), value, None, len(findings), seconds)


def of_sample(before: Before, findings: list[FlopFinding], times: Ints) -> Finding:
    """Combine the measurements of a sample of flops into an estimate of the exploitability.

    Args:
        before: the betting before the flop.
        findings: measurements of the drawn flops, each flop once.
        times: ``[flop]``, how often each flop was drawn.
    """
    best, values, seconds = _together(before, findings)
    total, value = int(times.sum()), float(times @ values / times.sum())
    high = _at_once(before, best, times)
    if total == 1:
        half = sum(high) / 2
        return Finding(half, None, None, half, high, value, None, 1, seconds)
    sums = np.tensordot(times, best, axes=1)
    parts = np.array(
        [
            [before.respond(p, of_flop[p], (sums[p] - of_flop[p]) / (total - 1)) for p in (0, 1)]
            for of_flop in best
        ]
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
    """Stack the fields of several measurements into arrays.

    Returns:
        Values of best responses ``[flop, player, line, group of hands]``, values of the average strategies ``[flop]``,
        and the sum of the seconds.
    """
    best = np.stack([finding.best for finding in findings])
    values = before.values(np.array([finding.own for finding in findings]))
    return best, values, sum(finding.seconds for finding in findings)


def _at_once(before: Before, best: Floats, weights: Ints) -> tuple[float, float]:
    """Compute the value of each player's best response, with one choice of actions before the flop for all flops.

    Args:
        before: the betting before the flop.
        best: ``[flop, player, line, group of hands]``, values of best responses from each flop on.
        weights: ``[flop]``, weight of each flop.
    """
    mean = np.tensordot(weights / weights.sum(), best, axes=1)
    return before.respond(0, mean[0]), before.respond(1, mean[1])


def _stderr(values: Floats, times: Ints) -> float:
    """Compute the standard error of the mean of a sample in which ``values[i]`` was drawn ``times[i]`` times."""
    total = times.sum()
    off = values - times @ values / total
    return float(np.sqrt(times @ off**2 / (total - 1) / total))
