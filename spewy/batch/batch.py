"""Read several job files, or one job with a list of boards, as one batch with a folder for each job.

A batch is a list of single jobs. Boards of one job that a renaming of suits turns into each other, ranges included,
are one game: it is solved once and reported for all of them. Jobs that are done already are only read. What is left
runs in `spewy.batch.run`.

>>> from spewy.batch.batch import Batch
>>> batch = Batch.load(["examples/R1.toml", "examples/T1.toml"])  # doctest: +SKIP
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from buckets.cards import (
    History,
    canonical,
    cards_name,
    hand_permutation,
    permute_history,
    range_symmetries,
    suit_permutations,
)
from lockers import DATA, holds_store
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.load import read_job
from spewy.look.boards import write_weights
from spewy.run.folder_state import Stored, finished, look
from spewy.run.result import SolveResult, trace_in_unit

SECTIONS_WITHOUT_CARDS = {"name", "unit", "game", "bets", "tree", "rows", "solve", "rake", "save"}
"""Sections that name no suit; jobs with other sections are merged only on equal cards."""


@dataclass(frozen=True)
class BatchJob:
    """One job of a batch.

    Attributes:
        job: the job, with a single board.
        source: name of the job's file.
        label: name in reports: the job's name, with the board if the file lists several.
        folder: folder of the lockers; the folder of job ``same_as``, if there is one.
        same_as: number of the job that is solved for this job too; None if this job itself is solved.
        stands_for: number of flops that the board stands for in a subset; None without a subset.
    """

    job: Job
    source: str
    label: str
    folder: Path
    same_as: int | None = None
    stands_for: int | None = None

    @property
    def board(self) -> str | None:
        """Name of the board; None for whole games."""
        return cards_name(self.job.board) if self.job.spot else None


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job: a result, an error, or neither if the job was interrupted before it began."""

    result: SolveResult | None = None
    error: str | None = None
    details: str = ""
    """Traceback of an unexpected error."""
    skipped: bool = False
    """Whether the job was finished in an earlier run."""
    stored: Stored = field(default_factory=Stored)
    """State of the folder if there is no result."""

    @property
    def done(self) -> bool:
        """Whether the job has reached its target or ``max_sweeps``."""
        return self.result is not None and not self.result.interrupted

    def to_json(self, unit: Unit = CHIPS) -> dict[str, Any]:
        """Return the documented object of a solve; fields are null if an error or interruption has left no result.

        Args:
            unit: the job's.
        """
        if self.result is not None:
            return self.result.to_json()
        known = {
            "converged": False,
            "interrupted": self.error is None,
            "sweeps": self.stored.sweeps,
            "trace": trace_in_unit(self.stored.trace, unit),
        }
        unknown = dict.fromkeys(name for name in SolveResult.__dataclass_fields__ if name != "unit")
        return unknown | unit.key | known


@dataclass(frozen=True)
class Batch:
    """Jobs in the order of the input, and the state of the folders to solve, by number of the job.

    ``save_every`` is passed on to the sessions that solve the batch. With ``again`` these sessions discard what earlier
    runs left.
    """

    entries: tuple[BatchJob, ...]
    stored: Mapping[int, Stored]
    save_every: float | None = None
    again: bool = False

    @classmethod
    def load(
        cls, files: Sequence[str | Path], overrides: Sequence[str] = (), out: Path | None = None
    ) -> Batch:
        """Read and validate all jobs and read the state of their folders, before anything starts.

        Args:
            files: as of `unstarted`.
            overrides: as of `unstarted`.
            out: as of `unstarted`.

        Raises:
            InputError: as `unstarted`.
            lockers.LockerError: a folder holds another job, something else, or is damaged.
        """
        batch = cls.unstarted(files, overrides, out)
        return replace(batch, stored={i: _look(batch.entries[i]) for i in batch.stored})

    @classmethod
    def unstarted(
        cls, files: Sequence[str | Path], overrides: Sequence[str] = (), out: Path | None = None
    ) -> Batch:
        """Read and validate all jobs, ignoring what their folders hold.

        Args:
            files: job files; ``spot.boards`` in one, a list or a subset of flops, stands for as many jobs.
            overrides: as for `Job.load`, for every job.
            out: folder of the jobs' folders; default ``results``, and ``results/<name>`` for the boards of one file.

        Raises:
            InputError: a job is wrong, or two would share a folder.
        """
        if not files:
            raise InputError("batch: expected at least one job file, found none")
        base, inside = out or Path("results"), out is not None and len(files) == 1
        entries: list[BatchJob] = []
        for file in files:
            entries += _entries(file, overrides, base, len(entries), inside=inside)
        _require_own_folders(entries)
        return cls(tuple(entries), {i: Stored() for i, each in enumerate(entries) if each.same_as is None})

    @classmethod
    def of_boards(cls, job: Job, boards: Sequence[str] | int, folder: Path) -> Batch:
        """Make the batch of one job on many boards, and read the state of their folders.

        Args:
            job: job of a spot, whose own board does not count.
            boards: boards, or the number of weighted flops that stand for all.
            folder: folder of the boards' folders.

        Raises:
            InputError: the job is a whole game, or a board is wrong.
            lockers.LockerError: a folder holds another job, or is damaged.
        """
        data = job.model_dump(by_alias=True, exclude_unset=True)
        if job.spot is None:
            raise InputError(
                f"job {job.name}: expected a spot to solve on several boards, found a whole game"
            )
        spot = {key: value for key, value in data["spot"].items() if key != "board"}
        spot["boards"] = {"subset": boards} if isinstance(boards, int) else list(boards)
        entries = _entries_of(data | {"spot": spot}, job.name, folder, 0, inside=True)
        _require_own_folders(entries)
        return cls(tuple(entries), {i: _look(each) for i, each in enumerate(entries) if each.same_as is None})

    @cached_property
    def done(self) -> dict[int, SolveResult]:
        """Results of the entries that were finished before."""
        if self.again:
            return {}
        found = ((i, finished(self.entries[i].job, stored)) for i, stored in self.stored.items())
        return {i: result for i, result in found if result is not None}

    def write_weights(self) -> None:
        """Write the weights of the flops of a subset beside their folders, for reports."""
        by_folder: dict[Path, dict[str, int]] = {}
        for entry in self.entries:
            if entry.stands_for is not None and entry.board is not None:
                by_folder.setdefault(entry.folder.parent, {})[entry.board] = entry.stands_for
        for folder, weights in by_folder.items():
            write_weights(folder, weights)

    @property
    def to_do(self) -> tuple[int, ...]:
        """Numbers of the entries to solve."""
        return tuple(i for i in self.stored if i not in self.done)

    def to_json(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the documented object for the outcome of each job."""
        return [
            outcome.to_json(entry.job.amounts)
            | {
                "name": entry.job.name,
                "board": entry.board,
                "same_as": None if entry.same_as is None else self.entries[entry.same_as].board,
                "folder": str(entry.folder),
                "skipped": outcome.skipped,
                "error": outcome.error,
            }
            for entry, outcome in zip(self.entries, outcomes, strict=True)
        ]


def lists_boards(file: str | Path, overrides: Sequence[str] = ()) -> bool:
    """Whether a job file has ``spot.boards``, and so is a batch by itself.

    Raises:
        InputError: it cannot be read.
    """
    spot = read_job(file, overrides).get("spot")
    return isinstance(spot, dict) and "boards" in spot


def folder_name(name: str) -> str:
    """Make a folder's name from a job's name, without parts that lead out of the parent folder.

    >>> folder_name("Rhode Island"), folder_name("../T1"), folder_name("..")
    ('Rhode Island', '-T1', 'job')
    """
    return re.sub(r"[/\\\0]", "-", name).strip(". ") or "job"


def _entries(
    file: str | Path, overrides: Sequence[str], base: Path, first: int, *, inside: bool
) -> list[BatchJob]:
    """Read the jobs of a file, after ``first`` earlier entries; with ``inside`` boards lie in ``base`` itself."""
    return _entries_of(read_job(file, overrides), str(file), base, first, inside=inside)


def _entries_of(data: dict[str, Any], source: str, base: Path, first: int, *, inside: bool) -> list[BatchJob]:
    """Make the jobs of a job file's data; arguments as in `_entries`."""
    spot = data.get("spot")
    if not isinstance(spot, dict) or "boards" not in spot:
        job = _validated(data, f"job {source}")
        return [BatchJob(job, source, job.name, base / folder_name(job.name))]
    entries = []
    subset = _subset(spot, source)
    for number, board in enumerate(subset or _boards(spot, source)):
        one = {key: value for key, value in spot.items() if key != "boards"} | {"board": board}
        job = _validated(data | {"spot": one}, f"job {source}, spot.boards, number {number + 1}")
        name = cards_name(job.board)
        folder = base / name if inside else base / folder_name(job.name) / name
        stands_for = None if subset is None else subset[board]
        entries.append(BatchJob(job, source, f"{job.name} {name}", folder, stands_for=stands_for))
    if subset is not None:
        _require_symmetry(entries[0].job, f"job {source}")
    return _merged(entries, first)


def _subset(spot: dict[str, Any], source: str) -> dict[str, int] | None:
    """Return how many flops each flop of ``boards = { subset = 25 }`` stands for; None if the boards are a list."""
    asked = spot["boards"]
    if not isinstance(asked, dict) or "board" in spot:
        return None
    from buckets.abstraction import flop_subset
    from buckets.abstraction.flop_subset import N_FLOPS

    n = asked.get("subset")
    if set(asked) != {"subset"} or type(n) is not int or not 1 <= n <= N_FLOPS:
        raise InputError(
            f"job {source}: spot.boards: expected {{ subset = N }} with N from 1 to {N_FLOPS:,}, found {shown(asked)}"
        )
    return flop_subset(n).named()


def _require_symmetry(job: Job, subject: str) -> None:
    """Refuse ranges and locks that name suits, since a flop of a subset stands for others up to suits."""
    assert job.spot is not None
    deck, hole = job.rules.deck, job.rules.num_hole_cards
    for name in ("oop", "ip"):
        weights = parse_range(getattr(job.spot, name)).weights
        if len(range_symmetries(weights, deck, hole)) < len(suit_permutations(deck)):
            raise InputError(
                f"{subject}: spot.{name}: expected a range that suits mean nothing to, since flops of a subset stand "
                "for others up to suits, found one with hands of its own suits"
            )
    if any(job.model_dump(exclude=SECTIONS_WITHOUT_CARDS | {"spot"}).values()):
        raise InputError(f"{subject}: lock: expected none beside a subset of flops, found one")


def _boards(spot: dict[str, Any], source: str) -> list[str]:
    boards = spot["boards"]
    if "board" in spot:
        raise InputError(f"job {source}: spot.boards: expected either spot.board or spot.boards, found both")
    if not isinstance(boards, list) or not boards or not all(isinstance(board, str) for board in boards):
        raise InputError(
            f"job {source}: spot.boards: expected a list of at least one board, found {shown(boards)}"
        )
    return boards


def _validated(data: dict[str, Any], subject: str) -> Job:
    try:
        return Job.of(data, subject)
    except InputError as error:
        told = str(error)
        raise InputError(told if told.startswith(subject) else f"{subject}: {told}") from None


def _merged(entries: list[BatchJob], first: int) -> list[BatchJob]:
    """Merge jobs that are equal up to suits; the first one, preferably with a folder, is solved for all."""
    groups: dict[int, list[int]] = {}
    alike: dict[History, list[int]] = {}
    for i, entry in enumerate(entries):
        key = canonical(entry.job.history, entry.job.rules.deck)[0]
        for head in alike.setdefault(key, []):
            if same_up_to_suits(entries[head].job, entry.job):
                groups[head].append(i)
                break
        else:
            alike[key].append(i)
            groups[i] = [i]
    out = list(entries)
    for members in groups.values():
        chosen = next((i for i in members if holds_store(entries[i].folder)), members[0])
        for i in members:
            if i != chosen:
                out[i] = replace(entries[i], folder=entries[chosen].folder, same_as=first + chosen)
    return out


def same_up_to_suits(a: Job, b: Job) -> bool:
    """Whether a permutation of suits maps a job's board and live ranges to those of another job.

    The jobs must differ in the board only.
    """
    deck = a.rules.deck
    cards_named = any(a.model_dump(exclude=SECTIONS_WITHOUT_CARDS | {"spot"}).values())
    perms = suit_permutations(deck)[:1] if cards_named or not a.solve.symmetry else suit_permutations(deck)
    for perm in perms:
        if permute_history(a.history, perm) != b.history:
            continue
        moved = hand_permutation(deck, a.rules.num_hole_cards, perm)
        if all(
            np.array_equal(mine, theirs[moved]) for mine, theirs in zip(a.weights, b.weights, strict=True)
        ):
            return True
    return False


def _require_own_folders(entries: Iterable[BatchJob]) -> None:
    """Refuse two jobs in one folder, or one job's folder within another's."""
    solved = [entry for entry in entries if entry.same_as is None]
    owners: dict[Path, BatchJob] = {}
    for entry in solved:
        folder = Path(os.path.realpath(entry.folder))  # which no loop of links stops
        if folder in owners:
            raise _shared(owners[folder], entry)
        owners[folder] = entry
    for folder, entry in owners.items():
        for above in folder.parents:
            if above in owners:
                raise _shared(owners[above], entry)


def _shared(a: BatchJob, b: BatchJob) -> InputError:
    return InputError(
        f"jobs {a.label} ({a.source}) and {b.label} ({b.source}): expected a folder for each, "
        f"found {a.folder} for both"
    )


def _look(entry: BatchJob) -> Stored:
    folder = entry.folder
    there = holds_store(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{entry.label}: expected a folder for its lockers, found a file {folder}")
    if folder.is_dir() and not there:
        strangers = [path.name for path in folder.iterdir() if not path.name.startswith((DATA, "."))]
        if strangers:
            raise InputError(
                f"{entry.label}: {folder}: expected lockers or an empty folder, "
                f"found {min(strangers)} and no manifest.json"
            )
    return look(entry.job, folder)
