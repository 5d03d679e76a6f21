"""Reads several job files, or one job file with a list of boards, as one batch with a folder for each job.

A batch is a list of jobs with one board each. The boards of a job file are a list (``spot.boards``), or a subset of
flops that represent all flops. If a permutation of suits turns one board of a job file into another one, and does not
change the ranges, both boards are the same game: one of them is solved, and the result is reported for both. Jobs that
were finished in earlier runs are only read. `spewy.batch.solve_batch` solves the remaining jobs.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
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
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.load import read_job
from spewy.job.texts import board_text
from spewy.look.folder import write_weights
from spewy.run.folder_state import Stored, finished, look
from spewy.run.result import SolveResult, trace_in_unit

OLD = ".{name}-{scratch}-before"
"""Hidden name of a solve's folder while the result of a cluster's worker takes its place (`spewy.batch.work`)."""

SECTIONS_WITHOUT_CARDS = {"name", "unit", "game", "bets", "tree", "rows", "solve", "rake", "save"}
"""Sections of a job file that contain no cards; a job with another section is not merged with jobs on other boards."""


@dataclass(frozen=True)
class BatchJob:
    """One job of a batch.

    Attributes:
        source: name of the job file.
        label: name of the job in reports: the job's own name, followed by the board if the file lists several boards.
        folder: folder of the solve; if ``same_as`` is set, the folder of the job with that number.
        same_as: number of another job that is the same game up to suits and is solved instead; None: solve this job.
        stands_for: number of flops that the board represents, if the job file asks for a subset of flops, else None.
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
    """How a job ended: with a result, with an error, or with neither if it was interrupted before it began.

    Attributes:
        result, error: the result of the solve; the message of the error.
        details: traceback of an unexpected error, else empty.
        skipped: whether the job was finished in an earlier run.
        stored: state of the job's folder if ``result`` is None.
    """

    result: SolveResult | None = None
    error: str | None = None
    details: str = ""
    skipped: bool = False
    stored: Stored = field(default_factory=Stored)

    @property
    def done(self) -> bool:
        return self.result is not None and not self.result.interrupted

    def to_json(self, unit: Unit = CHIPS) -> dict[str, Any]:
        """Return a job's outcome as a JSON object, which `docs/reference/json.md` describes."""
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
    """A list of jobs to solve.

    Attributes:
        entries: the jobs, in the order of the input.
        stored: state of each job's folder, by number of the job, without jobs that have ``same_as``.
        save_every: seconds between two saves of a solve; None for the default.
        again: whether to discard what earlier runs saved.
    """

    entries: tuple[BatchJob, ...]
    stored: Mapping[int, Stored]
    save_every: float | None = None
    again: bool = False

    @classmethod
    def load(
        cls, files: Sequence[str | Path], overrides: Sequence[str] = (), out: Path | None = None
    ) -> Batch:
        """Read and validate the jobs of job files (arguments: see `unstarted`), and the state of their folders."""
        batch = cls.unstarted(files, overrides, out)
        return replace(batch, stored={i: _look(batch.entries[i]) for i in batch.stored})

    @classmethod
    def unstarted(
        cls, files: Sequence[str | Path], overrides: Sequence[str] = (), out: Path | None = None
    ) -> Batch:
        """Read and validate the jobs of job files, without reading the folders of solves.

        ``overrides`` are texts ``key=value`` that change keys of all jobs. A file with ``spot.boards`` (a list or a
        subset) gives one job for each board. Each job has a folder in ``out`` (None: in ``results``). The folder of a
        board lies in ``out/<name of the job>``, or in ``out`` itself if ``out`` is given for only one file.
        """
        if not files:
            raise InputError("batch: expected at least one job file, found none")
        base, inside = out or Path("results"), out is not None and len(files) == 1
        entries: list[BatchJob] = []
        for file in files:
            entries += _entries_of(read_job(file, overrides), str(file), base, len(entries), inside=inside)
        _require_own_folders(entries)
        return cls(tuple(entries), {i: Stored() for i, entry in enumerate(entries) if entry.same_as is None})

    @classmethod
    def of_boards(cls, job: Job, boards: Sequence[str] | int, folder: Path) -> Batch:
        """Make the batch of one job on many boards, and read the state of their folders in ``folder``.

        The job's own board is ignored. A number as ``boards`` asks for so many weighted flops that represent all 1,755.
        """
        data = job.model_dump()
        if isinstance(boards, str):
            raise InputError(f"boards: expected a list of boards, found {shown(boards)}")
        if job.spot is None:
            raise InputError(
                f"job {job.name}: expected a spot to solve on several boards, found a whole game"
            )
        spot = {key: value for key, value in data["spot"].items() if key != "board"}
        spot["boards"] = {"subset": boards} if isinstance(boards, int) else list(boards)
        entries = _entries_of(data | {"spot": spot}, job.name, folder, 0, inside=True)
        _require_own_folders(entries)
        return cls(
            tuple(entries), {i: _look(entry) for i, entry in enumerate(entries) if entry.same_as is None}
        )

    @cached_property
    def done(self) -> dict[int, SolveResult]:
        if self.again:
            return {}
        results = ((i, finished(self.entries[i].job, stored)) for i, stored in self.stored.items())
        return {i: result for i, result in results if result is not None}

    def write_weights(self) -> None:
        """If the batch has a subset of flops, write a file with the weight of each flop, which reports read."""
        by_folder: dict[Path, dict[str, int]] = {}
        for entry in self.entries:
            if entry.stands_for is not None and entry.board is not None:
                by_folder.setdefault(entry.folder.parent, {})[entry.board] = entry.stands_for
        for folder, weights in by_folder.items():
            write_weights(folder, weights)

    @property
    def to_do(self) -> tuple[int, ...]:
        return tuple(i for i in self.stored if i not in self.done)

    def to_json(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
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


def _entries_of(data: dict[str, Any], source: str, base: Path, first: int, *, inside: bool) -> list[BatchJob]:
    """Make the jobs of a job file ``source`` with the content ``data``: one, or one for each board.

    Folders lie in ``base``, and those of boards in ``base/<name of the job>``, or in ``base`` itself if ``inside``
    is true. The batch has ``first`` jobs before this file.
    """
    listed = JobBoards.of(data, source)
    if listed is None:
        job = validated(data, f"job {source}")
        return [BatchJob(job, source, job.name, base / folder_name(job.name))]
    entries = []
    for number, board in enumerate(listed.boards):
        job = listed.job(number)
        name = cards_name(job.board)
        folder = base / name if inside else base / folder_name(job.name) / name
        stands_for = None if listed.weights is None else listed.weights[board]
        entries.append(BatchJob(job, source, f"{job.name} {name}", folder, stands_for=stands_for))
    return _merged(entries, first)


def _merged(entries: list[BatchJob], first: int) -> list[BatchJob]:
    """Merge jobs that are equal up to suits: one job of each group is solved, and the others refer to it.

    The job to solve is the first with saved work, or else the first. The batch has ``first`` jobs before ``entries``.
    """
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
    """Whether a permutation of suits maps the board and ranges of ``a`` to those of ``b``; no other keys differ."""
    deck = a.rules.deck
    cards_named = any(a.model_dump(exclude=SECTIONS_WITHOUT_CARDS | {"spot"}).values())
    perms = suit_permutations(deck)[:1] if cards_named or not a.solve.symmetry else suit_permutations(deck)
    for perm in perms:
        if permute_history(a.history, perm) != b.history:
            continue
        moved = hand_permutation(deck, a.rules.num_hole_cards, perm)
        if all(np.array_equal(in_a, in_b[moved]) for in_a, in_b in zip(a.weights, b.weights, strict=True)):
            return True
    return False


def _require_own_folders(entries: Iterable[BatchJob]) -> None:
    solved = [entry for entry in entries if entry.same_as is None]
    owners: dict[Path, BatchJob] = {}
    for entry in solved:
        folder = Path(os.path.realpath(entry.folder))  # unlike `Path.resolve`, it accepts a loop of links
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
        f"found {a.folder} for both; give the jobs different names"
    )


def bring_back(folder: Path) -> None:
    """Restore a missing folder: a killed process had renamed it, to put a cluster's result in its place."""
    if not folder.exists():
        scratch = "?" * 8  # random letters and digits of `TemporaryDirectory`
        for old in sorted(folder.parent.glob(OLD.format(name=glob.escape(folder.name), scratch=scratch)))[:1]:
            old.rename(folder)


def _look(entry: BatchJob) -> Stored:
    folder = entry.folder
    bring_back(folder)
    has_store = holds_store(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{entry.label}: expected a folder for its lockers, found a file {folder}")
    if folder.is_dir() and not has_store:
        other_files = [path.name for path in folder.iterdir() if not path.name.startswith((DATA, "."))]
        if other_files:
            raise InputError(
                f"{entry.label}: {folder}: expected lockers or an empty folder, "
                f"found {min(other_files)} and no manifest.json"
            )
    return look(entry.job, folder)


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
        """Read the boards of a job file; None if the file lacks the key ``spot.boards``."""
        spot = data.get("spot")
        if not isinstance(spot, dict) or "boards" not in spot:
            return None
        weights = _subset(spot, source)
        boards = _boards(spot, source) if weights is None else tuple(weights)
        return cls(data, source, boards, weights)

    def job(self, number: int) -> Job:
        spot = {key: value for key, value in self.data["spot"].items() if key != "boards"}
        single = {**self.data, "spot": spot | {"board": self.boards[number]}}
        job = validated(single, f"job {self.source}, spot.boards, number {number + 1}")
        if self.weights is not None and number == 0:
            _require_symmetry(job, f"job {self.source}")
        return job


def validated(data: dict[str, Any], subject: str) -> Job:
    try:
        return Job.of(data, subject)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(subject) else f"{subject}: {message}") from None


def _subset(spot: dict[str, Any], source: str) -> dict[str, int] | None:
    """Choose the flops of ``boards = { subset = N }``: how many flops each represents; None if ``boards`` is a list."""
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
    """Select ``n`` flops and return how many flops each represents, by name."""
    from buckets.abstraction import flop_subset

    return flop_subset(n).named()


def _require_symmetry(job: Job, subject: str) -> None:
    """Check that ranges and locks treat all suits and boards alike, since a flop of a subset represents other flops."""
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
    boards = spot["boards"]
    if "board" in spot:
        raise InputError(f"job {source}: spot.boards: expected either spot.board or spot.boards, found both")
    if not isinstance(boards, list) or not boards or not all(isinstance(board, str) for board in boards):
        raise InputError(
            f"job {source}: spot.boards: expected a list of at least one board, found {shown(boards)}"
        )
    return tuple(map(board_text, boards))


def folder_name(name: str) -> str:
    """Turn the name of a job into the name of a folder, which cannot lead out of its parent folder.

    >>> folder_name("Rhode Island"), folder_name("../T1"), folder_name("..")
    ('Rhode Island', '-T1', 'job')
    """
    return re.sub(r"[/\\\0]", "-", name).strip(". ") or "job"
