"""The score of a person who plays against a stored strategy, hand by hand, with and without luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from spewy.game.amounts import Unit
from spewy.match.contest import Judged
from spewy.match.score import Mean


@dataclass(frozen=True)
class RunningScore:
    """A person's winnings against a stored strategy: the total, and means per hand with and without luck.

    The cost of a decision is the EV of the strategy's own frequencies less the EV of the played action.

    Attributes:
        hands: number of finished hands.
        total: the person's winnings in all finished hands together.
        won: the person's mean winnings per hand, with a 95 % interval.
        without_luck: estimate of the mean winnings with luck removed, with a 95 % interval; None without an estimate.
        expected: mean winnings per hand of the strategy itself in the same seats; None if this is unknown.
        cost: mean over hands of the summed cost of the person's decisions; None before the first hand whose costs are
            known.
        unit: name of the unit of all amounts.
    """

    hands: int
    total: float
    won: Mean
    without_luck: Mean | None
    expected: float | None
    cost: Mean | None
    unit: str

    @classmethod
    def of(cls, won: Sequence[float], judged: Sequence[Judged | None], unit: Unit) -> RunningScore:
        """Compute the score from all finished hands.

        If the strategy's own expected winnings are known for each hand, the interval of `without_luck` is computed from
        the estimates minus these expected winnings. So the interval does not widen if the expected winnings differ from
        hand to hand.

        Args:
            won: chips that the person won in each hand.
            judged: review of each hand; None if the review failed.
            unit: unit of the score.
        """
        known = [each for each in judged if each is not None]
        expected = [each.expected for each in known if each.expected is not None]
        without_luck = [
            each.without_luck - (each.expected or 0.0) for each in known if each.without_luck is not None
        ]
        costs = [
            sum(decided.cost or 0.0 for decided in each.decisions)
            for each in known
            if all(decided.cost is not None for decided in each.decisions)
        ]
        mean = _mean(without_luck, unit)
        usual = fmean(expected) / unit.chips if expected else None
        if mean is not None and usual is not None:
            mean = Mean(mean.mean + usual, mean.half, mean.n)
        return cls(
            len(won),
            sum(won) / unit.chips,
            Mean.plain([chips / unit.chips for chips in won]),
            mean,
            usual,
            _mean(costs, unit),
            unit.name,
        )

    @property
    def text(self) -> str:
        """The score in words."""
        parts = [f"{self.won.mean:+z.2f} {self.unit} per hand"]
        if self.without_luck is not None:
            parts.append(f"without luck {_mean_text(self.without_luck, '+')}")
        if self.expected is not None:
            parts.append(f"the strategy itself wins {self.expected:+z.2f} in your seats")
        elif self.cost is not None:
            parts.append(f"your decisions cost {_mean_text(self.cost)}")
        return f"score after {self.hands}: {'; '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return the score as a JSON object; a number that is not known is null."""
        return {
            "hands": self.hands,
            "total": self.total,
            "won": _json(self.won),
            "without_luck": _json(self.without_luck),
            "expected": self.expected,
            "cost": _json(self.cost),
            "unit": self.unit,
        }


def _mean(chips: Sequence[float], unit: Unit) -> Mean | None:
    return Mean.plain([each / unit.chips for each in chips]) if chips else None


def _mean_text(mean: Mean, sign: str = "") -> str:
    interval = f" ± {mean.half:.2f}" if mean.half == mean.half else ""
    return f"{mean.mean:{sign}z.2f}{interval}"


def _json(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None or not mean.n:
        return None
    return {name: None if value != value else value for name, value in asdict(mean).items()}
