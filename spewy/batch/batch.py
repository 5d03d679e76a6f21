"""Reads several job files, or one job file with a list of boards, as one batch with a folder for each job.

A batch is a list of jobs with one board each. If a permutation of suits turns one board of a job file into another one,
and does not change the ranges, both boards are the same game: one of them is solved, and the result is reported for
both. Jobs that were finished in earlier runs are only read. `spewy.batch.run` solves the remaining jobs.
"""

from __future__ import annotations

import glob
import os
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
    suit_permutations,
)
from lockers import DATA, holds_store
from spewy.batch.job_boards import SECTIONS_WITHOUT_CARDS, JobBoards, validated
from spewy.batch.job_files import folder_name
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.job.job import Job
from spewy.job.load import read_job
from spewy.look.folder import write_weights
from spewy.run.folder_state import Stored, finished, look
from spewy.run.result import SolveResult, trace_in_unit

OLD = ".{name}-{scratch}-before"
"""Hidden name of a solve's folder while the result of a cluster's worker takes its place (`spewy.batch.remote`)."""


@dataclass(frozen=True)
class BatchJob:
    """One job of a batch.

    Attributes:
        job: the job, with a single board.
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
        """Whether the job has reached its target or its limit ``max_sweeps``."""
        return self.result is not None and not self.result.interrupted

    def to_json(self, unit: Unit = CHIPS) -> dict[str, Any]:
        """Return a job's outcome as a JSON object, which `docs/reference/json.md` describes.

        Most fields are null if the job has no result. Amounts are in the unit ``unit``.
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
        """Read and validate all jobs, and read the state of their folders.

        Args:
            files: paths of job files. A file with ``spot.boards`` gives one job for each board.
            overrides: values of keys that replace those of every file, such as ``solve.target=0.1%``.
            out: folder that will contain a folder for each job; None for ``results``.

        Raises:
            InputError: a job is invalid, or two jobs would use the same folder.
            lockers.LockerError: a folder contains another job, or is damaged.
        """
        batch = cls.unstarted(files, overrides, out)
        return replace(batch, stored={i: _look(batch.entries[i]) for i in batch.stored})

    @classmethod
    def unstarted(
        cls, files: Sequence[str | Path], overrides: Sequence[str] = (), out: Path | None = None
    ) -> Batch:
        """Read and validate all jobs, without reading their folders.

        Args:
            files: paths of job files. A file with ``spot.boards`` (a list or a subset) gives one job for each board.
            overrides: changes to every job, see `Job.load`.
            out: folder that will contain a folder for each job; None for ``results``. The boards of a file lie in
                ``results/<name of the job>``, or in ``out`` itself if it is given and there is only one file.

        Raises:
            InputError: a job is invalid, or two jobs would use the same folder.
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
        """Make the batch of one job on many boards, and read the state of their folders.

        Args:
            job: the job; its own board is ignored.
            boards: the boards; or the number of weighted flops that represent all 1,755.
            folder: folder that will contain a folder for each board.

        Raises:
            InputError: the job is a whole game, or a board is invalid.
            lockers.LockerError: a folder contains another job, or is damaged.
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
        """Results of the jobs that were finished in earlier runs, by number of the job."""
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
        """Numbers of the jobs that are still to be solved."""
        return tuple(i for i in self.stored if i not in self.done)

    def to_json(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return a JSON object for the outcome of each job, in the order of the batch; see `docs/reference/json.md`."""
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
    """Make the jobs that a job file describes: one job, or one job for each board in ``spot.boards``.

    ``data`` is the content of the file ``source``. The jobs' folders lie in ``base``. With ``inside``, the folders of
    boards lie in ``base`` itself, else in ``base/<name of the job>``. The batch has ``first`` jobs before this file.
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

    The solved job is the first of the group that has been begun, or else the first of the group. Before ``entries`` the
    batch has ``first`` other jobs.
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
    """Whether a permutation of suits maps the board and ranges of ``a`` to those of ``b``; the rest must be equal."""
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
    """Check that no two jobs use the same folder, and that no job's folder lies within another job's folder."""
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
    """Make the error for two jobs that would use the same folder."""
    return InputError(
        f"jobs {a.label} ({a.source}) and {b.label} ({b.source}): expected a folder for each, "
        f"found {a.folder} for both; give the jobs different names"
    )


def bring_back(folder: Path) -> None:
    """Restore a folder that a kill has left under the name `OLD` while a cluster's result replaced it."""
    if not folder.exists():
        scratch = "?" * 8  # random letters and digits of `TemporaryDirectory`
        for old in sorted(folder.parent.glob(OLD.format(name=glob.escape(folder.name), scratch=scratch)))[:1]:
            old.rename(folder)


def _look(entry: BatchJob) -> Stored:
    """Read the state of a job's folder; raise an error if the folder has files that do not belong to a solve."""
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
