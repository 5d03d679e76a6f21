"""Count a bot's decisions by the source of the strategy, and record its failures and the time of its decisions.

Beside the score of a match, these numbers show whether the bot really played as its options demand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from spewy.bot.spent import Spent, summary
from spewy.errors import SpewyError

Source = Literal["stored", "re-solved", "translated", "fallback"]
"""The source of a decision.

- ``stored``: the stored strategy at the actual betting.
- ``re-solved``: the strategy of a subgame that was solved at the table.
- ``translated``: the stored strategy after a bet that was translated into one of the tree's bets.
- ``fallback``: pot odds, or a check or a fold, if no strategy is known.
"""
SOURCES: tuple[Source, ...] = get_args(Source)
_EXPECTED = (SpewyError, MemoryError, OSError)


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
        reason: name of the error's class.
        text: the betting line and the error's message.
    """

    reason: str
    text: str


@dataclass
class Tally:
    """Number of a bot's decisions from each source, its failures, and the time of its decisions.

    Attributes:
        sources: number of decisions by `Source`.
        failures: all failures, the earliest first.
        spent: time of each decision, the earliest first.
    """

    sources: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)

    def __repr__(self) -> str:
        parts = filter(None, (self.sources_text, self.failures_text and f"failed: {self.failures_text}"))
        return f"Tally({'; '.join(parts) or 'no decisions'})"

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tally:
        """Add up several tallies."""
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
        """Number of failures by reason."""
        return Counter(failure.reason for failure in self.failures)

    def failed(self, line: str, error: Exception) -> None:
        """Record an error that happened after a betting line."""
        self.failures.append(Failure(type(error).__name__, f"line {line!r}: {error}"))

    def take(self) -> Tally:
        """Return the counts since the last call, and start counting from zero."""
        taken = Tally(self.sources, self.failures, self.spent)
        self.sources, self.failures, self.spent = Counter(), [], []
        return taken

    def to_json(self) -> dict[str, Any]:
        """Return ``sources``, ``failures`` and ``spent`` in a form that JSON can hold.

        ``sources`` has a number for all four sources, or is empty if no decision was counted; ``spent`` has the time of
        the decisions of each round (`spewy.bot.spent.summary`).
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
