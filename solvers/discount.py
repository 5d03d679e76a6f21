"""Discounts of earlier iterations, and the named variants of counterfactual regret minimisation.

One update rule serves all variants. R are the regrets, S the strategy sums, and r is the instantaneous regret of
iteration ``t = 1, 2, ...``:

    R ← (R⁺ · positive − R⁻ · negative) + r,  then R ← R⁺ if ``clip``
    strategy ∝ (R + predicted · r)⁺
    S ← S · decay + own reach · strategy

A variant that looks ahead changes the values from which the regrets of earlier decisions are computed: a decision's
value becomes ``(1 − ahead) · v + ahead · v'``, where v is its value under the current strategy, and v' its value under
the strategy of the updated regrets. The share ``ahead`` is ``n / (2 (n + t))``, with n iterations as the parameter.

A variant with trembles lets each player learn against an opponent who at each decision, with the small probability
``tremble``, takes an action at random. Then play gets everywhere, and strategies are learned also at decisions that an
equilibrium does not reach. As trembles vanish, strategies approach a quasi-perfect equilibrium.

Sources: CFR, Zinkevich et al. 2007; CFR+, Tammelin 2014; LCFR and DCFR(α, β, γ), Brown and Sandholm 2019;
PCFR+, Farina, Kroer and Sandholm 2021 (quadratic averaging); regrets predicted with a small weight, Xu et al.
2024 (SAPCFR+, arXiv 2503.12770); trembles, Selten 1975 and van Damme 1984. A linear
average ``Σ t · x_t`` is computed with the decay ``(t − 1) / t``: this gives the same strategy after normalising, but
the sums do not grow without bound.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError

Number = TypeVar("Number", float, NDArray[np.float64])


class Discount(NamedTuple):
    """The discount of earlier iterations, with the parameters of DCFR.

    Attributes:
        alpha: after ``t`` iterations positive regrets are multiplied by ``t^α / (t^α + 1)``; infinity: by 1.
        beta: after ``t`` iterations negative regrets are multiplied by ``t^β / (t^β + 1)``; infinity: by 1.
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
    """The factors of one iteration in CFR's update rule.

    Attributes:
        positive: factor of the positive regrets.
        negative: factor of the negative regrets.
        clip: whether negative regrets become 0.
        predicted: weight of the instantaneous regrets, which strategies add to the regrets; 0: regrets alone.
        decay: factor of the strategy sums.
        ahead: share of the next strategy in the values from which regrets of earlier decisions are computed.
        tremble: probability that the opponent takes an action at random, at each decision.
    """

    positive: float
    negative: float
    clip: bool
    predicted: float
    decay: float
    ahead: float = 0.0
    tremble: float = 0.0


@dataclass(frozen=True)
class Variant:
    """A variant of CFR.

    Attributes:
        predicted: weight of the last instantaneous regrets in the regrets that strategies follow; 0: regrets alone.
        looks_ahead: n in ``n / (2 (n + t))``, the share of the next strategy, in iteration t, in the values from which
            regrets of earlier decisions are computed; 0: these values follow the current strategy alone.
        trembles: n in ``n / (10 n + t)``, the tremble of iteration t; 0: nobody trembles.
    """

    name: str
    discount: Discount = NO_DISCOUNT
    predicted: float = 0.0
    looks_ahead: float = 0.0
    trembles: float = 0.0

    @property
    def predictive(self) -> bool:
        """Whether strategies follow predicted regrets, which a solve then keeps beside the regrets."""
        return self.predicted > 0

    def factors(self, iteration: int) -> Factors:
        """Return the factors of an iteration, counted from 1; raise a `SolverError` for a number below 1."""
        if iteration < 1:
            raise SolverError(f"iteration: expected 1 or more, found {iteration}")
        before, discount = iteration - 1, self.discount
        return Factors(
            retained(float(before), discount.alpha),
            retained(float(before), discount.beta),
            discount.clip,
            self.predicted,
            (before / iteration) ** discount.gamma,
            self.looks_ahead / (2 * (self.looks_ahead + iteration)),
            self.trembles / (10 * self.trembles + iteration),
        )

    def weight(self, iterations: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
        """Return the total weight of the iterations in the strategy sums, for each number of iterations.

        After t iterations the total is ``Σ_k (k / t)^γ`` over k from 1 to t. This is the strategy sum of a row that
        plays an action with probability and reach 1 in every iteration.
        """
        gamma = self.discount.gamma
        terms = np.arange(1, int(iterations.max(initial=0)) + 1, dtype=np.float64)
        totals = np.concatenate([[0.0], np.cumsum(terms**gamma)])
        return np.asarray(totals[iterations] / np.maximum(iterations, 1) ** gamma)

    def table(self, first: int, count: int) -> NDArray[np.float64]:
        """Return the factors of ``count`` iterations from iteration ``first`` on.

        Returns:
            ``[iteration, 5]``: the factors of positive regrets, of negative regrets and of strategy sums, the weight of
            the strategy after the update, and the tremble.
        """
        before = np.arange(first - 1, first - 1 + count, dtype=np.float64)
        columns = [
            retained(before, self.discount.alpha),
            retained(before, self.discount.beta),
            (before / (before + 1)) ** self.discount.gamma,
            self.looks_ahead / (2 * (self.looks_ahead + before + 1)),
            self.trembles / (10 * self.trembles + before + 1),
        ]
        return np.stack(columns, axis=1)


def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> Variant:
    """Return the variant DCFR(α, β, γ); the defaults are those that Brown and Sandholm recommend."""
    return Variant("dcfr", Discount(alpha, beta, gamma))


VARIANTS = {
    "cfr": Variant("cfr"),
    "cfr+": Variant("cfr+", Discount(gamma=1.0, clip=True)),
    "lcfr": Variant("lcfr", Discount(1.0, 1.0, 1.0)),
    "dcfr": dcfr(),
    "dcfr-steep": Variant("dcfr-steep", Discount(1.4, 0.25, 3.0)),
    "dcfr-ahead": Variant("dcfr-ahead", Discount(1.4, 0.25, 3.0), looks_ahead=400.0),
    "pdcfr": Variant("pdcfr", Discount(1.2, 0.6, 4.0), predicted=0.25, looks_ahead=400.0),
    "pcfr+": Variant("pcfr+", Discount(gamma=2.0, clip=True), predicted=1.0),
}
"""Variants of CFR by name. A new entry is a new choice for jobs, and appears in the schema and in the reference."""


DEFAULT_VARIANT = "dcfr"
"""Default variant of CFR for jobs that the exact engine does not solve."""


def variant(name: str) -> Variant:
    """Return the variant with a name; raise a `SolverError` if there is none."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise SolverError(f"variant: expected one of {', '.join(VARIANTS)}, found {name!r}") from None


LEAN_VARIANT = "dcfr-ahead"
"""The exact engine's variant where memory counts: it keeps no predicted regrets."""
DEEP = 10.0
"""Stack, in pots, from which predicted regrets are worth their memory in games of three rounds."""


def exact_variant(n_rounds: int, depth: float = 0.0) -> str:
    """Return the name of the exact engine's default variant for a game.

    "pdcfr" needs the fewest iterations, but also memory for predicted regrets, half as much as for regrets and sums. In
    games of three rounds, whose memory is large, it saves much time only if stacks are deep
    (docs/research/exact-tried.md).

    Args:
        depth: the stack behind, in pots; 0 for whole games.
    """
    return "pdcfr" if n_rounds <= 2 or depth >= DEEP else LEAN_VARIANT


def retained(before: Number, power: float) -> Number:
    """Return ``t^p / (t^p + 1)``, the factor of regrets after t iterations, for a power p; 1 for p = ∞.

    ``before`` is t, a number or an array of numbers, and ``power`` is p.
    """
    if power == inf:
        return before * 0.0 + 1.0
    weight: Number = before**power
    return weight / (weight + 1.0)
