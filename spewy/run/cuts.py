"""Bet sizes without which a job needs much less memory, for jobs that exceed ``solve.memory``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spewy.errors import InputError
from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.run.bounds import lower_bounds

KEYS = ("bet", "raise", "donk")
MOST = 3
"""Largest number of cuts."""


@dataclass(frozen=True)
class Cut:
    """A bet size that a job could do without.

    Attributes:
        key: key of the bet size, such as ``bets.flop.bet``.
        size: the bet size, such as ``75%``.
        share: rough memory of the job without this size, as a share of its memory with the size.
    """

    key: str
    size: str
    share: float


def cuts(job: Job) -> tuple[Cut, ...]:
    """Return the bet sizes whose removal saves most memory, the best first.

    A key keeps at least one size. Memory is compared by the number of actions at all decisions on all boards, which is
    counted without building a tree.
    """
    data = job.model_dump(by_alias=True, exclude_unset=True)
    whole = _actions(job)
    found = []
    for key, size, smaller in _smaller(data):
        try:
            actions = _actions(Job.of(smaller))
        except InputError:  # the job is invalid without this size
            continue
        found.append(Cut(key, size, actions / whole))
    return tuple(sorted((cut for cut in found if cut.share < 1), key=lambda cut: cut.share)[:MOST])


def _smaller(data: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield for each removable bet size its key, the size, and the job without the size."""
    for name, section in data.get("bets", {}).items():
        for seat in (None, *SEAT_NAMES):
            own = section if seat is None else section.get(seat) or {}
            for key in KEYS:
                sizes = [size.strip() for size in (own.get(key) or "").split(",")]
                for size in sizes if len(sizes) > 1 else ():
                    changed = own | {key: ", ".join(other for other in sizes if other != size)}
                    table = changed if seat is None else section | {seat: changed}
                    path = ".".join(filter(None, ("bets", name, seat, key)))
                    yield path, size, data | {"bets": data["bets"] | {name: table}}


def _actions(job: Job) -> float:
    """Count the actions at all decisions, times a lower bound on the number of boards of their round."""
    boards = lower_bounds(job).boards
    return float(sum(n * sum(one.slots) for n, one in zip(boards, job.tree_count.rounds, strict=True)))
