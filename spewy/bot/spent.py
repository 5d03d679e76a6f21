"""Time that a bot's decisions took, in total and by stage of a re-solve."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spewy.game.names import ROUND_NAMES

STAGES = ("read", "lay", "iterate", "judge")
"""Stages of a re-solve: read the stored strategy, lay out boards and memory, iterate, compute best responses."""
_NUMBER = r"[0-9.]{1,20}(?:e-?[0-9]{1,3})?"
_TEXT = re.compile(rf"([0-9]) ({_NUMBER})((?: (?:{'|'.join(STAGES)}) {_NUMBER})*)")


@dataclass(frozen=True)
class Spent:
    """Time that one decision took.

    Attributes:
        round: number of the decision's round, from 0.
        seconds: seconds that the bot worked on the decision.
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
