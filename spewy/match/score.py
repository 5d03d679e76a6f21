"""What matches say: mbb per hand (thousandths of a big blind) with 95 % confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from solvers.tree import Floats
from spewy.game.gamefile import Game

NORMAL_95 = 1.959964
"""95 % of a normal distribution lie within so many standard deviations of its mean."""
MBB = 1000


@dataclass(frozen=True)
class Mean:
    """A mean of independent values.

    Attributes:
        mean: of scores in mbb per hand.
        half: half the width of the 95 % interval; nan of fewer than two values.
        n: how many values.
    """

    mean: float
    half: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float] | Floats, big_blind: float) -> Mean:
        """Of values in chips, as mbb."""
        return cls.plain(np.asarray(values, dtype=np.float64) * MBB / big_blind)

    @classmethod
    def plain(cls, values: Sequence[float] | Floats) -> Mean:
        """Of values as they are."""
        found = np.asarray(values, dtype=np.float64)
        n = len(found)
        half = NORMAL_95 * float(found.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return cls(float(found.mean()) if n else math.nan, half, n)


@dataclass(frozen=True)
class Result:
    """One hand of a match as it counts for the first-named bot.

    Attributes:
        seed: of the cards.
        swapped: whether the seats were swapped.
        number: of the hand.
        chips: that the bot won.
        aivat: the same without luck; None: not estimated.
    """

    seed: int
    swapped: bool
    number: int
    chips: float
    aivat: float | None = None


@dataclass(frozen=True)
class Score:
    """What the first-named bot wins from the other.

    Attributes:
        plain: each hand for itself.
        duplicate: pairs of hands with the same cards and the seats swapped, where both were played.
        aivat: each hand for itself, without luck; None: some were not estimated.
        aivat_duplicate: pairs of these.
    """

    plain: Mean
    duplicate: Mean
    aivat: Mean | None
    aivat_duplicate: Mean | None

    def rows(self) -> Mapping[str, Mean]:
        """What was estimated, by name."""
        named = {name: getattr(self, name) for name in ("plain", "duplicate", "aivat", "aivat_duplicate")}
        return {name: mean for name, mean in named.items() if mean is not None}

    def to_json(self) -> dict[str, Any]:
        """The same as plain values; what was not estimated is None."""
        return asdict(self)


def score(results: Iterable[Result], game: Game) -> Score:
    """The score of a match."""
    every = list(results)
    chips = {(result.seed, result.number, result.swapped): result.chips for result in every}
    clean = {(r.seed, r.number, r.swapped): r.aivat for r in every if r.aivat is not None}
    told = bool(every) and len(clean) == len(every)
    blind = game.big_blind
    return Score(
        Mean.of(list(chips.values()), blind),
        Mean.of(_pairs(chips), blind),
        Mean.of(list(clean.values()), blind) if told else None,
        Mean.of(_pairs(clean), blind) if told else None,
    )


def _pairs(values: Mapping[tuple[int, int, bool], float]) -> list[float]:
    """The mean of each two hands with the same cards."""
    return [
        (value + values[seed, number, True]) / 2
        for (seed, number, swapped), value in values.items()
        if not swapped and (seed, number, True) in values
    ]
