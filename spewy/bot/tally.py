"""Count a bot's decisions by the source of the strategy, and record its failures and the time of its decisions.

Beside the score of a match, these numbers show whether the bot really played as its options demand. The time of a
decision is recorded in total and by stage of a re-solve.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from spewy.errors import SpewyError
from spewy.game.names import ROUND_NAMES

Source = Literal["stored", "re-solved", "translated", "fallback"]
"""The source of a decision.

- ``stored``: the stored strategy at the actual betting.
- ``re-solved``: the strategy of a subgame that was solved at the table.
- ``translated``: the stored strategy after a bet that was translated into one of the tree's bets.
- ``fallback``: pot odds, or a check or a fold, if no strategy is known.
"""
SOURCES: tuple[Source, ...] = get_args(Source)
STAGES = ("read", "lay", "iterate", "judge")
"""Stages of a re-solve: read the stored strategy, lay out boards and memory, iterate, compute best responses."""
_EXPECTED = (SpewyError, MemoryError, OSError)
_NUMBER = r"[0-9.]{1,20}(?:e-?[0-9]{1,3})?"
_TEXT = re.compile(rf"([0-9]) ({_NUMBER})((?: (?:{'|'.join(STAGES)}) {_NUMBER})*)")


def is_expected(error: Exception) -> bool:
    """Whether an error can occur even in a program without bugs.

    >>> is_expected(MemoryError()), is_expected(TypeError())
    (True, False)
    """
    return isinstance(error, _EXPECTED)


@dataclass(frozen=True)
class Failure:
    """A re-solve that failed, or a whole decision that failed.

    Attributes:
        text: the betting line and the error's message.
    """

    reason: str
    text: str


@dataclass
class Tally:
    """Number of a bot's decisions from each source, its failures, and the time of its decisions."""

    sources: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)

    def __repr__(self) -> str:
        parts = filter(None, (self.sources_text, self.failures_text and f"failed: {self.failures_text}"))
        return f"Tally({'; '.join(parts) or 'no decisions'})"

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tally:
        total = cls()
        for tally in tallies:
            total.sources.update(tally.sources)
            total.failures.extend(tally.failures)
            total.spent.extend(tally.spent)
        return total

    def at(self, place: str) -> Tally:
        """Return a copy of the tally in which the text of each failure begins with ``place``, such as "hand 17"."""
        failures = [replace(each, text=f"{place}: {each.text}") for each in self.failures]
        return Tally(self.sources, failures, self.spent)

    @property
    def reasons(self) -> Counter[str]:
        return Counter(failure.reason for failure in self.failures)

    def failed(self, line: str, error: Exception) -> None:
        self.failures.append(Failure(type(error).__name__, f"line {line!r}: {error}"))

    def take(self) -> Tally:
        """Return the counts since the last call, and start counting from zero."""
        taken = Tally(self.sources, self.failures, self.spent)
        self.sources, self.failures, self.spent = Counter(), [], []
        return taken

    def to_json(self) -> dict[str, Any]:
        """Return ``sources``, ``failures`` and ``spent`` in a form that JSON can hold.

        ``sources`` is the number of decisions from each `Source`, also if 0, or empty if no decision was counted;
        ``failures`` is the number of failures by reason; ``spent`` sums up the times of each round (`summary`).
        """
        sources = {source: self.sources[source] for source in SOURCES} if self.sources else {}
        return {"sources": sources, "failures": dict(self.reasons), "spent": summary(self.spent)}

    @property
    def sources_text(self) -> str:
        """The number of decisions by source as text; empty if no decision was counted.

        >>> Tally(Counter({"stored": 1200, "fallback": 1})).sources_text
        '1,200 stored, 1 fallback'
        """
        return ", ".join(f"{self.sources[source]:,} {source}" for source in SOURCES if self.sources[source])

    @property
    def failures_text(self) -> str:
        """The number of failures by reason as text; empty if no failure was counted.

        >>> Tally(failures=[Failure("SolveError", "line 'cc/': no such luck")]).failures_text
        '1 SolveError'
        """
        return ", ".join(f"{times:,} {reason}" for reason, times in sorted(self.reasons.items()))


@runtime_checkable
class Counts(Protocol):
    """A bot that counts its decisions and failures."""

    tally: Tally


def tally_of(bot: object) -> Tally:
    """Return the tally of a bot; empty for a bot that does not count."""
    return bot.tally if isinstance(bot, Counts) else Tally()


@dataclass(frozen=True)
class Spent:
    """Time that one decision took.

    Attributes:
        round: number of the decision's round, from 0.
        stages: seconds of each stage of the decision's solves; a stage that was not needed is absent.
    """

    round: int
    seconds: float
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        """Whether the decision solved a subgame, or a part of it."""
        return self.stages.get("iterate", 0.0) > 0

    def __add__(self, other: Spent) -> Spent:
        """Add up the times of two calls of the bot that concern the same decision."""
        stages = {
            stage: self.stages.get(stage, 0.0) + other.stages.get(stage, 0.0)
            for stage in STAGES
            if stage in self.stages or stage in other.stages
        }
        return Spent(self.round, self.seconds + other.seconds, stages)

    @property
    def told(self) -> str:
        """The total time and the time of each stage as text for people.

        >>> Spent(2, 0.8123, {"iterate": 0.6, "read": 0.2}).told
        '0.812 s: read 0.2, iterate 0.6'
        """
        stages = ", ".join(f"{stage} {self.stages[stage]:.3g}" for stage in STAGES if stage in self.stages)
        return f"{self.seconds:.3g} s" + (f": {stages}" if stages else "")

    @property
    def text(self) -> str:
        """The round and the times as text for logs, which `parse_spent` reads.

        >>> Spent(2, 0.8123, {"iterate": 0.6, "read": 0.2}).text
        '2 0.8123 read 0.2 iterate 0.6'
        """
        stages = (f" {stage} {self.stages[stage]:.4g}" for stage in STAGES if stage in self.stages)
        return f"{self.round} {self.seconds:.4g}{''.join(stages)}"


def parse_spent(text: str) -> Spent | None:
    """Read the text of a `Spent`; None if the text has another form.

    >>> parse_spent("2 0.8123 read 0.2")
    Spent(round=2, seconds=0.8123, stages={'read': 0.2})
    """
    match = _TEXT.fullmatch(text)
    words = match[3].split() if match else []
    if match is None or len(set(words[::2])) < len(words[::2]):
        return None
    try:
        stages = {stage: float(number) for stage, number in zip(words[::2], words[1::2], strict=True)}
        return Spent(int(match[1]), float(match[2]), stages)
    except ValueError:
        return None


def summary(spent: Iterable[Spent]) -> list[dict[str, Any]]:
    """Summarise the times of decisions by round, in a form that JSON can hold.

    Returns:
        For each round with decisions: its name, the number of decisions, and the number that solved a subgame. Then
        the mean, the median and the 99th percentile of the seconds of all decisions, and of each stage of decisions
        that solved a subgame.
    """
    by_round = dict[int, list[Spent]]()
    for each in spent:
        by_round.setdefault(each.round, []).append(each)
    out = list[dict[str, Any]]()
    for number, decisions in sorted(by_round.items()):
        solved = [each for each in decisions if each.solved]
        name = ROUND_NAMES[number] if number < len(ROUND_NAMES) else str(number)
        row = {"round": name, "n": len(decisions), "solved": len(solved)}
        row["seconds"] = _statistics([each.seconds for each in decisions])
        row["stages"] = {
            stage: _statistics([each.stages.get(stage, 0.0) for each in solved]) for stage in STAGES
        }
        out.append(row if solved else {**row, "stages": {}})
    return out


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of the sorted values such that at least ``share`` of all values are not larger.

    >>> quantile([1.0, 2.0, 9.0], 0.5), quantile([1.0, 2.0, 9.0], 0.99)
    (2.0, 9.0)
    """
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def _statistics(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds) or [0.0]
    return {
        "mean": statistics.fmean(ordered),
        "median": quantile(ordered, 0.5),
        "p99": quantile(ordered, 0.99),
    }
