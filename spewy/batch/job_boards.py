"""The boards of a job file with ``spot.boards``: a list of boards, or a subset of flops that represent all flops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from buckets.cards import range_symmetries, suit_permutations
from spewy.errors import InputError, shown
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.texts import board_text

SECTIONS_WITHOUT_CARDS = {"name", "unit", "game", "bets", "tree", "rows", "solve", "rake", "save"}
"""Sections of a job file that contain no cards; a job with another section is not merged with jobs on other boards."""


@dataclass(frozen=True)
class JobBoards:
    """The boards of a job file.

    Attributes:
        data: the job file as nested dictionaries.
        source: name of the job file, for messages.
        boards: the boards, in the order of the file.
        weights: number of flops that each board represents, by board; None unless the file asks for a subset of flops.
    """

    data: Mapping[str, Any]
    source: str
    boards: tuple[str, ...]
    weights: Mapping[str, int] | None

    @classmethod
    def of(cls, data: Mapping[str, Any], source: str) -> JobBoards | None:
        """Read the boards; None if the job does not have the key ``spot.boards``.

        Raises:
            InputError: the key ``spot.boards`` is neither a list of boards nor a subset.
        """
        spot = data.get("spot")
        if not isinstance(spot, dict) or "boards" not in spot:
            return None
        weights = _subset(spot, source)
        boards = _boards(spot, source) if weights is None else tuple(weights)
        return cls(data, source, boards, weights)

    def job(self, number: int) -> Job:
        """Make the job of a board, given the board's number from 0.

        Raises:
            InputError: the job is invalid.
        """
        spot = {key: value for key, value in self.data["spot"].items() if key != "boards"}
        single = {**self.data, "spot": spot | {"board": self.boards[number]}}
        job = validated(single, f"job {self.source}, spot.boards, number {number + 1}")
        if self.weights is not None and number == 0:
            _require_symmetry(job, f"job {self.source}")
        return job


def validated(data: dict[str, Any], subject: str) -> Job:
    """Make a job from the data of a job file; error messages begin with ``subject``."""
    try:
        return Job.of(data, subject)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(subject) else f"{subject}: {message}") from None


def _subset(spot: dict[str, Any], source: str) -> dict[str, int] | None:
    """Select flops for ``boards = { subset = N }``; return how many flops each represents, or None for a list."""
    boards = spot["boards"]
    if not isinstance(boards, dict) or "board" in spot:
        return None
    from buckets.abstraction.flop_subset import N_FLOPS

    n = boards.get("subset")
    if set(boards) != {"subset"} or type(n) is not int or not 1 <= n <= N_FLOPS:
        raise InputError(
            f"job {source}: spot.boards: expected {{ subset = N }} with N from 1 to {N_FLOPS:,}, found {shown(boards)}"
        )
    return _flops(n)


@lru_cache(maxsize=8)
def _flops(n: int) -> dict[str, int]:
    """Select ``n`` flops; results are cached, since a page asks for the same number after each change of a job."""
    from buckets.abstraction import flop_subset

    return flop_subset(n).named()


def _require_symmetry(job: Job, subject: str) -> None:
    """Check that ranges and locks treat all suits and boards alike, since each flop of a subset represents others."""
    assert job.spot is not None
    deck, hole = job.rules.deck, job.rules.num_hole_cards
    for name in SEAT_NAMES:
        weights = parse_range(getattr(job.spot, name)).weights
        if len(range_symmetries(weights, deck, hole)) < len(suit_permutations(deck)):
            raise InputError(
                f"{subject}: spot.{name}: a range with single suits, such as AhKh without AsKs, cannot be used with a "
                "subset of flops; use a range that treats all suits alike, or list the boards"
            )
    for number, lock in enumerate(job.lock, 1):
        groups = [parse_range(text).weights for text in lock.hands]
        if lock.board is not None or any(
            len(range_symmetries(weights, deck, hole)) < len(suit_permutations(deck)) for weights in groups
        ):
            raise InputError(
                f"{subject}: lock {number}, line {shown(lock.line)}: a lock of one board or of single suits cannot be "
                "used with a subset of flops; lock hands such as AKs on all boards, or list the boards"
            )


def _boards(spot: dict[str, Any], source: str) -> tuple[str, ...]:
    """Return the list ``spot.boards`` of a job file."""
    boards = spot["boards"]
    if "board" in spot:
        raise InputError(f"job {source}: spot.boards: expected either spot.board or spot.boards, found both")
    if not isinstance(boards, list) or not boards or not all(isinstance(board, str) for board in boards):
        raise InputError(
            f"job {source}: spot.boards: expected a list of at least one board, found {shown(boards)}"
        )
    return tuple(map(board_text, boards))
