"""Suggest changes that save much memory, for a job that exceeds ``solve.memory``.

The memory of a changed job is an estimate that takes milliseconds: the memory of the job, scaled by the number of
regrets, which is counted without building a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spewy.errors import InputError, size_text
from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.run.bounds import is_exact, number_of_cells, thread_bytes

KEYS = ("bet", "raise", "donk")
MOST = 5
"""Largest number of cuts."""
MOST_IN_ERROR = 3
"""Largest number of cuts that an error message names."""
LEAST = 0.05
"""Smallest share of the memory that a cut saves."""


@dataclass(frozen=True)
class Cut:
    """A change of a job that saves memory.

    Attributes:
        words: what changes, such as "without the flop bet of 75%".
        key: key of the job that changes, such as ``bets.flop.bet``.
        value: new value of the key, such as ``33%``.
        size: bet size that is left out; None for other changes.
        share: rough memory of the changed job, as a share of the job's memory.
        memory_bytes: rough memory of the changed job.
    """

    words: str
    key: str
    value: str
    size: str | None
    share: float
    memory_bytes: int

    def __str__(self) -> str:
        """Describe the change of the job, with the command-line option that makes it."""
        setting = f"{self.key}={self.value}"
        quoted = f'"{setting}"' if " " in setting or not self.value else setting
        return f"about {size_text(self.memory_bytes)} {self.words} (--set {quoted})"


def cuts(job: Job, memory_bytes: int) -> tuple[Cut, ...]:
    """Return the changes that save most memory, the best first; none for a betting tree that is too large to count.

    Args:
        job: the job that exceeds its memory.
        memory_bytes: the job's memory; if it is a lower bound, so is the memory of each changed job.
    """
    if not job.tree_count.complete:  # the numbers of regrets are not known
        return ()
    data = job.model_dump()
    whole = number_of_cells(job)
    shares = []
    for words, key, value, size, changed in _changes(data, job):
        try:
            share = number_of_cells(Job.of(changed)) / whole
        except InputError:  # the job is invalid with this change
            continue
        shares.append((share, words, key, value, size))
    if is_exact(job) and not job.solve.short:
        shares.append((0.5, "with 16-bit numbers", "solve.precision", "16-bit", None))
    if job.solve.threads > 1:
        saved = (job.solve.threads - 1) * thread_bytes(job)
        shares.append((1 - saved / memory_bytes, "with one thread", "solve.workers", "1", None))
    found = (
        Cut(words, key, value, size, share, round(share * memory_bytes))
        for share, words, key, value, size in shares
        if share <= 1 - LEAST
    )
    return tuple(sorted(found, key=lambda cut: cut.share)[:MOST])


def cuts_text(job: Job, memory_bytes: int) -> str:
    """Return the changes that save most memory as the end of an error message; empty if there are none."""
    found = cuts(job, memory_bytes)[:MOST_IN_ERROR]
    return f"; it needs {', '.join(map(str, found))}" if found else ""


Change = tuple[str, str, str, str | None, dict[str, Any]]
"""Words, key, new value and bet size of a cut, and the changed job as nested dictionaries."""


def _changes(data: dict[str, Any], job: Job) -> Iterator[Change]:
    """Yield the changes of a job that may save memory: without a bet size, or with a limit on the number of raises.

    Args:
        data: the job as nested dictionaries.
        job: the same job as an object.
    """
    yield from _smaller(data)
    tree = data.get("tree", {})
    limit = tree.get("max_raises")
    for most, words in (
        (2, "with at most one raise after a bet"),
        (3, "with at most two raises after a bet"),
    ):
        if not job.rules.limit and (limit is None or limit > most):
            changed = data | {"tree": tree | {"max_raises": most}}
            yield words, "tree.max_raises", str(most), None, changed


def _smaller(data: dict[str, Any]) -> Iterator[Change]:
    """Yield a change for each bet size of a job that can be removed, since its key has other sizes, too."""
    for name, section in data.get("bets", {}).items():
        for seat in (None, *SEAT_NAMES):
            own = section if seat is None else section.get(seat) or {}
            for key in KEYS:
                sizes = [size.strip() for size in (own.get(key) or "").split(",")]
                for size in sizes if len(sizes) > 1 else ():
                    value = ", ".join(other for other in sizes if other != size)
                    changed = own | {key: value}
                    table = changed if seat is None else section | {seat: changed}
                    path = ".".join(filter(None, ("bets", name, seat, key)))
                    whose = f"the {name} {key}" if seat is None else f"{seat}'s {name} {key}"
                    words = f"without {whose} of {'all-in' if size == 'a' else size}"
                    yield words, path, value, size, data | {"bets": data["bets"] | {name: table}}
