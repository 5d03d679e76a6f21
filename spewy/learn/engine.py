"""The ways to sweep over all chunks: through the lockers, or live in memory with the lockers as its safe.

*Stored* (Spewy Louie's, `stored_engine`): every chunk is visited on its own; a parent sees the payoff matrices that the
visits below stored. Chunks of one round do not see each other, so visits of a level run in parallel, in any order, with
the same result. *Live*: a parent's chance leaves recurse into the chunks below, which improve on the way; with a row
per hand that is an exact solver. Stored chunks may stand above live ones: a visit to one of the lowest of them then
improves all that follows it. Each way leaves averaged strategies in the strategy locker, chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from solvers.exploit import Exploitability

Progress = Callable[[int, int], None]
"""(done, in all): visits of a sweep, or sweeps where several are done at once."""


class Check(NamedTuple):
    """A measurement after so many sweeps, ``seconds`` after the start of what was asked for; it ``took`` so long."""

    sweeps: int
    seconds: float
    took: float
    found: Exploitability


class Engine(Protocol):
    """What sweeps."""

    @property
    def sweeps(self) -> int:
        """Sweeps that are finished, saved or not."""
        ...

    @property
    def at_once(self) -> int:
        """Sweeps that are best done without a look at anything else."""
        ...

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """Visit every chunk so many times more; ``progress`` may raise to stop between visits."""
        ...

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """Sweeps with checks in between, up to a target in chips; nothing where sweeps are not short."""
        ...

    def exploitability(self) -> Exploitability:
        """Exact best responses to the average strategies, in the real game."""
        ...

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the average strategies."""
        ...

    def save(self) -> None:
        """Make all finished sweeps last: what was saved survives any interruption."""
        ...

    def close(self) -> None:
        """Stop helpers."""
        ...


def visits_at_once(chunks: int, workers: int) -> int:
    """How many of a level's chunks are visited at a time: processes are not worth their trouble for a few."""
    return workers if chunks >= 2 * workers else 1
