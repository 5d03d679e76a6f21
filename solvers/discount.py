"""Discounts of earlier iterations, and the named variants of counterfactual regret minimisation.

With ``r`` the instantaneous regret of iteration ``t = 1, 2, ...`` one update rule serves all variants:

    R ← (R⁺ · positive − R⁻ · negative) + r,  then R ← R⁺ if ``clip``
    strategy ∝ R⁺, or ∝ (R + r)⁺ if ``predictive``
    S ← S · decay + own reach · strategy

Sources: CFR, Zinkevich et al. 2007; CFR+, Tammelin 2014; LCFR and DCFR(α, β, γ), Brown and Sandholm 2019;
PCFR+, Farina, Kroer and Sandholm 2021 (quadratic averaging). A linear average ``Σ t · x_t`` is kept as the
decay ``(t − 1) / t``: the same strategy after normalising, without numbers that grow.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError


class Discount(NamedTuple):
    """The discount of earlier iterations in the letters of DCFR, for the exact and for the sampled engine.

    Attributes:
        alpha: after ``t`` iterations positive regrets are multiplied by ``t^α / (t^α + 1)``; infinity: by 1.
        beta: exponent of the factor of negative regrets; infinity: the factor is 1.
        gamma: iteration k weighs about ``k^γ`` in the average strategy.
        clip: whether negative regrets become 0.
    """

    alpha: float = inf
    beta: float = inf
    gamma: float = 0.0
    clip: bool = False


NO_DISCOUNT = Discount()
"""The discount of plain CFR: all iterations have equal weight."""


class Factors(NamedTuple):
    """The factors of one iteration in the module's update rule."""

    positive: float
    negative: float
    clip: bool
    predictive: bool
    decay: float


@dataclass(frozen=True)
class Variant:
    """A named variant: its discount, and whether it plays by predicted regrets."""

    name: str
    discount: Discount = NO_DISCOUNT
    predictive: bool = False

    def factors(self, iteration: int) -> Factors:
        """The factors of iteration 1, 2, ...

        Raises:
            SolverError: the iteration is below 1.
        """
        if iteration < 1:
            raise SolverError(f"iteration: expected 1 or more, found {iteration}")
        before, discount = iteration - 1, self.discount
        return Factors(
            _retained(before, discount.alpha),
            _retained(before, discount.beta),
            discount.clip,
            self.predictive,
            (before / iteration) ** discount.gamma,
        )

    def weight(self, iterations: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
        """``Σ_k (k / t)^γ`` over k ≤ t, for each number of iterations t: the sum that `Factors.decay` makes of ones."""
        gamma = self.discount.gamma
        terms = np.arange(1, int(iterations.max(initial=0)) + 1, dtype=np.float64)
        totals = np.concatenate([[0.0], np.cumsum(terms**gamma)])
        return np.asarray(totals[iterations] / np.maximum(iterations, 1) ** gamma)

    def table(self, first: int, count: int) -> NDArray[np.float64]:
        """``[iteration, 3]``: positive, negative and decay of `factors` for ``count`` iterations from ``first`` on."""
        before = np.arange(first - 1, first - 1 + count, dtype=np.float64)
        columns = [
            _retained_each(before, self.discount.alpha),
            _retained_each(before, self.discount.beta),
            (before / (before + 1)) ** self.discount.gamma,
        ]
        return np.stack(columns, axis=1)


def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> Variant:
    """DCFR(α, β, γ); the default is the paper's recommendation."""
    return Variant("dcfr", Discount(alpha, beta, gamma))


VARIANTS = {
    "cfr": Variant("cfr"),
    "cfr+": Variant("cfr+", Discount(gamma=1.0, clip=True)),
    "lcfr": Variant("lcfr", Discount(1.0, 1.0, 1.0)),
    "dcfr": dcfr(),
    "dcfr-steep": Variant("dcfr-steep", Discount(1.4, 0.25, 3.0)),
    "pcfr+": Variant("pcfr+", Discount(gamma=2.0, clip=True), predictive=True),
}


DEFAULT_VARIANT, EXACT_VARIANT = "dcfr", "dcfr-steep"
"""The variants of jobs that name none: in general, and with a row per hand."""


def variant(name: str) -> Variant:
    """The variant of that name.

    Raises:
        SolverError: no such name.
    """
    try:
        return VARIANTS[name]
    except KeyError:
        raise SolverError(f"variant: expected one of {', '.join(VARIANTS)}, found {name!r}") from None


def _retained(before: int, power: float) -> float:
    """``t^p / (t^p + 1)``, which is ``t / (t + 1)`` for LCFR's p = 1 and 1 for p = ∞."""
    if power == inf:
        return 1.0
    weight: float = float(before) ** power
    return weight / (weight + 1.0)


def _retained_each(before: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """`_retained` after each number of iterations."""
    if power == inf:
        return np.ones(len(before))
    weight = before**power
    return weight / (weight + 1.0)
