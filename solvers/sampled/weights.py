"""Visits of a board bucket: whether they learn, how they are counted, and their weights in regrets and averages."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.vector import int64_at, put_int64
from solvers.discount import Discount, retained
from solvers.sampled.views import RoundView, VisitFactors

GOLDEN = (5**0.5 - 1) / 2
BELOW_ONE: Any = np.nextafter(np.float32(1), np.float32(0))

_retained = inlined(retained)


@inlined
def learns(x: RoundView, board_bucket: int) -> bool:
    """Whether a visit of a board bucket learns: not if the numbers already include it, see `Numbers.ahead`."""
    return bool(int64_at(x.ahead, board_bucket) == 0)


@inlined
def count_visit(x: RoundView, board_bucket: int, learnt: bool) -> None:
    """Count a visit of a board bucket; ``learnt`` says whether the visit has learnt."""
    if learnt:
        put_int64(x.visits, board_bucket, int64_at(x.visits, board_bucket) + 1)
    else:
        put_int64(x.ahead, board_bucket, max(0, int64_at(x.ahead, board_bucket) - 1))


@inlined
def share(visit: int, gamma: float) -> float:
    """Weight of visit n = 1, 2, ... in the average over visits 1 to n: ``(γ + 1) / (n + γ)``.

    In the average over many visits, visit k then weighs ``k (k + 1) .. (k + γ - 1)``, which grows like ``k ** γ`` (O.
    Shamir and T. Zhang 2013). Averages of numbers in [0, 1] stay in [0, 1], however many visits there are.
    """
    return (gamma + 1.0) / (visit + gamma)


@inlined
def rounding(visits: int) -> np.floating[Any]:
    """Number in [0, 1) to add to an average before it is rounded down; over the visits these numbers spread evenly."""
    return min(np.float32(visits * GOLDEN % 1.0), BELOW_ONE)


@inlined
def visit_factors(discount: Discount, x: RoundView, board_bucket: int, dither: int) -> VisitFactors:
    """Compute the weights of the next visit of a board bucket; ``dither`` is the rounding of 16-bit regrets."""
    visits = int64_at(x.visits, board_bucket)
    keep = _retained(np.float64(visits), discount.alpha)
    sink = 0.0 if discount.clip else _retained(np.float64(visits), discount.beta)
    part = np.float32(share(visits + 1, discount.gamma))
    factors: VisitFactors = VisitFactors(keep, np.float32(sink), part, dither, rounding(visits))
    return factors
