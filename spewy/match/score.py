"""Scores of matches with 95 % confidence intervals, and Elo ratings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.tree import Floats
from spewy.bot.tally import Tally
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd

NORMAL_95 = 1.959964
"""Half-width in standard deviations of the central 95 % of a normal distribution."""
MBB = 1000
NAMES = ("plain", "duplicate", "aivat", "aivat_duplicate")
"""Names of the means of a match."""
ENOUGH_PAIRS = 30
"""Number of pairs of hands that is enough for an interval of pairs, even if other hands have no partner yet."""
K, START = 12.0, 1500.0
"""Elo: UPAC's largest change of a rating in one game, and the rating that every bot begins with."""
_FAR_APART = 300
"""Exponent of ten beyond which an expected score counts as 0 and the power would overflow."""


@dataclass(frozen=True)
class Mean:
    """Mean of independent values, with its confidence interval.

    Attributes:
        half: half the width of the 95 % interval; nan for fewer than two values.
    """

    mean: float
    half: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float] | Floats, big_blind: float) -> Mean:
        """Return the mean and interval in mbb of values in chips."""
        return cls.plain(np.asarray(values, dtype=np.float64) * MBB / big_blind)

    @classmethod
    def plain(cls, values: Sequence[float] | Floats) -> Mean:
        """Return the mean and interval of values, in the unit of the values."""
        array = np.asarray(values, dtype=np.float64)
        n = len(array)
        half = NORMAL_95 * float(array.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return cls(float(array.mean()) if n else math.nan, half, n)


@dataclass(frozen=True)
class Result:
    """Result of one hand of a match for the first bot.

    Attributes:
        number: number of the hand in its run.
        aivat: AIVAT's estimate of ``chips`` without luck; None if there is no estimate.
    """

    seed: int
    swapped: bool
    number: int
    chips: float
    aivat: float | None = None


@dataclass(frozen=True, repr=False)
class Score(Printed):
    """The score of the first bot of a match, in mbb per hand (thousandths of a big blind).

    Attributes:
        big_blind: the big blind in chips.
        results: the hands that were played.
        complete: whether ``results`` has all hands of the match.
        faults: texts of each bot's faults, in the order of play.
        tallies: for each bot the number of decisions from each source (such as the stored strategy), and its failures.
    """

    names: tuple[str, str]
    big_blind: int
    results: tuple[Result, ...]
    complete: bool = True
    faults: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))

    @cached_property
    def plain(self) -> Mean:
        """Mean winnings of the first bot over all hands, in mbb per hand."""
        return Mean.of([each.chips for each in self.results], self.big_blind)

    @cached_property
    def duplicate(self) -> Mean:
        """Mean winnings over pairs of hands with the same cards and swapped seats, in mbb per hand.

        Hands whose partner is missing do not count.
        """
        values = {(each.seed, each.number, each.swapped): each.chips for each in self.results}
        return Mean.of(pair_means(values), self.big_blind)

    @cached_property
    def aivat(self) -> Mean | None:
        """Mean of the AIVAT estimates of all hands, in mbb per hand; None if any hand has no estimate."""
        values = self._without_luck
        return None if values is None else Mean.of(list(values.values()), self.big_blind)

    @cached_property
    def aivat_duplicate(self) -> Mean | None:
        """Mean of the AIVAT estimates over pairs of hands, in mbb per hand; None if any hand has no estimate."""
        values = self._without_luck
        return None if values is None else Mean.of(pair_means(values), self.big_blind)

    @property
    def sources(self) -> tuple[Counter[str], Counter[str]]:
        """Number of each bot's decisions from each source, such as ``stored``; empty for a bot without such counts."""
        return self.tallies[0].sources, self.tallies[1].sources

    @property
    def narrowest(self) -> str | None:
        """Name of the mean with the narrowest valid interval; None if no mean has a valid interval.

        Both hands of a pair have the same cards, so the intervals of pairs are used if possible: if there are at
        least `ENOUGH_PAIRS` pairs, or if each hand is in a pair. Otherwise the intervals of single hands are used.
        """
        n_pairs = self.duplicate.n
        paired = n_pairs >= ENOUGH_PAIRS or 2 * n_pairs == self.plain.n > 0
        means = self._means
        allowed = [name for name in means if name.endswith("duplicate") == paired]
        return min(
            (name for name in allowed if math.isfinite(means[name].half)),
            key=lambda name: means[name].half,
            default=None,
        )

    def rows(self) -> Mapping[str, Mean]:
        """Return the known means by name, first the mean with the narrowest valid interval."""
        first = self.narrowest
        return self._means if first is None else {first: self._means[first]} | self._means

    @property
    def _means(self) -> dict[str, Mean]:
        means = {name: getattr(self, name) for name in NAMES}
        return {name: mean for name, mean in means.items() if mean is not None}

    def _table(self) -> Table:
        means = self.rows().items()
        rows = tuple((name.replace("_", ", "), round(m.mean, 1), round(m.half, 1), m.n) for name, m in means)
        more = "" if self.complete else " so far"
        faults = " and ".join(f"{len(each):,}" for each in self.faults)
        title = f"{' against '.join(self.names)}: {len(self.results):,} hands{more}, {faults} faults"
        return Table(title, ("score", "mbb per hand", "± 95 %", "values"), rows)

    def to_json(self) -> dict[str, Any]:
        """Return the means by name, as dicts for JSON; an unknown mean is None."""
        means = self._means
        return {name: asdict(means[name]) if name in means else None for name in NAMES}

    def frame(self) -> pd.DataFrame:
        """Return the hands as a pandas frame with the columns seed, swapped, number, chips and aivat."""
        import pandas as pd

        return pd.DataFrame([asdict(each) for each in self.results], columns=[*Result.__dataclass_fields__])

    @cached_property
    def _without_luck(self) -> dict[tuple[int, int, bool], float] | None:
        values = {
            (each.seed, each.number, each.swapped): each.aivat
            for each in self.results
            if each.aivat is not None
        }
        return values if values and len(values) == len(self.results) else None


def pair_means(values: Mapping[Any, float], *, singles: bool = False) -> list[float]:
    """Return the mean of each pair of matches or hands with the same cards and swapped seats.

    Args:
        values: a value for each match or hand; the last item of a key says whether the seats were swapped.
        singles: whether a value without a partner is returned by itself instead of left out.

    >>> pair_means({(1, False): 4.0, (1, True): 2.0, (2, False): 7.0})
    [3.0]
    """
    out = []
    for (*key, swapped), value in values.items():
        partner = values.get((*key, not swapped))
        if partner is None and singles:
            out.append(value)
        elif partner is not None and not swapped:
            out.append((value + partner) / 2)
    return out


def expected_score(rating: float, other: float) -> float:
    """Expected score of a player by Elo's formula, from 0 to 1, given both players' ratings.

    >>> expected_score(1500, 1500), round(expected_score(1900, 1500), 4)
    (0.5, 0.9091)
    """
    return float(1 / (1 + 10 ** min((other - rating) / 400, _FAR_APART)))


def rated(ratings: tuple[float, float], score: float, k: float = K) -> tuple[float, float]:
    """Return both players' Elo ratings after a game.

    Args:
        score: score of the first player, from 0 to 1.

    >>> rated((1500.0, 1500.0), 0.8)
    (1503.6, 1496.4)
    """
    change = k * (score - expected_score(*ratings))
    return ratings[0] + change, ratings[1] - change


def elo_difference(score: float) -> float:
    """Difference of two Elo ratings with which a player's expected score is ``score``.

    >>> round(elo_difference(0.64)), elo_difference(1.0)
    (100, inf)
    """
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5) if score == score else math.nan
    return 400 * math.log10(score / (1 - score))
