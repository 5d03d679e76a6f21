"""The named variants of counterfactual regret minimisation, as numbers that one update rule takes.

With ``r`` the instantaneous regret of iteration ``t = 1, 2, ...`` the rule is

    R ← (R⁺ · positive − R⁻ · negative) + r,  then R ← R⁺ if ``clip``
    strategy ∝ R⁺, or ∝ (R + r)⁺ if ``predictive``
    S ← S · decay + own reach · strategy

Sources: CFR, Zinkevich et al. 2007; CFR+, Tammelin 2014; LCFR and DCFR(α, β, γ), Brown and Sandholm 2019;
PCFR+, Farina, Kroer and Sandholm 2021 (quadratic averaging). A linear average ``Σ t · x_t`` is kept as the
decay ``(t − 1) / t``: the same strategy after normalising, without numbers that grow.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError


class Factors(NamedTuple):
    """One iteration's numbers in the module's update rule."""

    positive: float
    negative: float
    clip: bool
    predictive: bool
    decay: float


@dataclass(frozen=True)
class Variant:
    """A schedule: α and β discount positive and negative regrets, γ the older strategies."""

    name: str
    alpha: float = float("inf")
    beta: float = float("inf")
    gamma: float = 0.0
    clip: bool = False
    predictive: bool = False

    def factors(self, iteration: int) -> Factors:
        """Numbers of iteration 1, 2, ...; what was there before is discounted as after ``iteration - 1``."""
        if iteration < 1:
            raise SolverError(f"iteration: expected 1 or more, found {iteration}")
        before = iteration - 1
        return Factors(
            _discount(before, self.alpha),
            _discount(before, self.beta),
            self.clip,
            self.predictive,
            (before / iteration) ** self.gamma,
        )

    def weight(self, iterations: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
        """What `Factors.decay` makes of sums of nothing but ones after so many iterations: ``Σ_k (k / t)^γ``, k ≤ t."""
        terms = np.arange(1, int(iterations.max(initial=0)) + 1, dtype=np.float64)
        totals = np.concatenate([[0.0], np.cumsum(terms**self.gamma)])
        return np.asarray(totals[iterations] / np.maximum(iterations, 1) ** self.gamma)

    def table(self, first: int, count: int) -> NDArray[np.float64]:
        """``[iteration, 3]``: positive, negative and decay of `factors` for ``count`` iterations from ``first`` on."""
        before = np.arange(first - 1, first - 1 + count, dtype=np.float64)
        columns = [
            _discounts(before, self.alpha),
            _discounts(before, self.beta),
            (before / (before + 1)) ** self.gamma,
        ]
        return np.stack(columns, axis=1)


def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> Variant:
    """DCFR(α, β, γ); the default is the paper's recommendation."""
    return Variant("dcfr", alpha, beta, gamma)


VARIANTS = {
    "cfr": Variant("cfr"),
    "cfr+": Variant("cfr+", gamma=1.0, clip=True),
    "lcfr": Variant("lcfr", alpha=1.0, beta=1.0, gamma=1.0),
    "dcfr": dcfr(),
    "dcfr-steep": Variant("dcfr-steep", alpha=1.4, beta=0.25, gamma=3.0),
    "pcfr+": Variant("pcfr+", gamma=2.0, clip=True, predictive=True),
}


DEFAULT_VARIANT, EXACT_VARIANT = "dcfr", "dcfr-steep"
"""What is best where nothing is said: in general; on spots, a row per hand, to a tenth of a per cent of the pot."""


def variant(name: str) -> Variant:
    """The variant of that name.

    Raises:
        SolverError: no such name.
    """
    try:
        return VARIANTS[name]
    except KeyError:
        raise SolverError(f"variant: expected one of {', '.join(VARIANTS)}, found {name!r}") from None


def _discount(before: int, power: float) -> float:
    """``t^p / (t^p + 1)``, which is ``t / (t + 1)`` for LCFR's p = 1 and 1 for p = ∞."""
    if power == float("inf"):
        return 1.0
    weight: float = float(before) ** power
    return weight / (weight + 1.0)


def _discounts(before: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    if power == float("inf"):
        return np.ones(len(before))
    weight = before**power
    return weight / (weight + 1.0)
