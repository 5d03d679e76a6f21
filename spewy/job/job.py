"""Job files (TOML), which describe what to solve and how; each is validated on load, and every error names its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import ValidationError

from buckets.cards import Deck, History, hands, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, path_text, shown
from spewy.game.count import require_sizes_used
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import Range, parse_range
from spewy.game.ranges.lists import named_list
from spewy.game.ranges.pair import SMALLEST, RangePair, meet
from spewy.job.base import JobBase
from spewy.job.checks import require_betting_used, require_method, require_rounds, require_solving_used
from spewy.job.dealing import Dealing
from spewy.job.load import explain, read_job, require_one_board, set_key, with_target
from spewy.job.lock_texts import with_lock_texts
from spewy.job.rangefiles import with_range_files
from spewy.job.sections import (
    WITH_BOARDS,
    BoardsSection,
    SampledRows,
    SampledSave,
    SampledSolve,
    SpotSection,
    WalkedSolve,
    no_effect,
)
from spewy.job.units import parse_target, unit_chips

MOST_NAMED = 6
MOST_POTS_SINGLE = 10_000
"""Largest stack, as a multiple of the pot, for single precision: both EVs then sum to the pot with an error of 1e-7."""


class Job(JobBase):
    """A complete job file of one of three kinds: `SpotJob`, `GameJob` and `SampledJob`.

    `replace` makes a job with other values of some keys. ``job.model_dump()`` returns the keys that the job gives as
    nested dictionaries, from which `of` makes the same job again. Two jobs are equal if all their keys have equal
    values.
    """

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Job:
        """Read a job file.

        Args:
            path: the job file.
            overrides: keys with values that replace the file's, such as ``"solve.target=0.1%"``. A value is TOML, or
                text without quotes.

        Raises:
            InputError: the file cannot be read or is not TOML; or a key is unknown, missing or has a wrong value.
        """
        return cls.of(read_job(path, overrides), f"job {path_text(path)}")

    @classmethod
    def of(cls, data: dict[str, Any], subject: str = "job") -> Job:
        """Validate a job that is given as nested dictionaries instead of a file.

        Args:
            data: the sections. Names of files are relative to the working folder.
            subject: how error messages begin.

        Raises:
            InputError: a key is unknown, missing or has a wrong value.
        """
        if isinstance(data, dict):
            data = with_lock_texts(with_range_files(data, Path()))
        job = cls.stored(data, subject)
        require_sizes_used(job.tree_config, job.tree_count)
        if job.dask is not None and job.solve.workers != "dask":
            raise InputError(
                'dask: expected none without solve.workers = "dask"; remove [dask], or change solve.workers = '
                f"{job.solve.workers}"
            )
        require_betting_used(job.rules, job.tree_config.start_round, job.bets, job.tree)
        job._require_used()
        return job

    def replace(self, changes: Mapping[str, Any] | None = None, /, **keys: Any) -> Job:
        """Return a job with new values of some keys, of any section.

        A key is written with dots, as in ``spewy solve --set``; a key of ``[solve]`` may stand alone. A whole section,
        such as ``lock``, replaces the job's section.

        >>> job = Job.of({"name": "Kuhn", "game": {"file": "kuhn"}})
        >>> job.replace(target="5 mbb", max_sweeps=500).solve.max_sweeps
        500
        >>> job.replace({"game.file": "leduc", "name": "Leduc"}, target="5 mbb").rules.num_rounds
        2

        Args:
            changes: the values by key, such as ``{"spot.board": "Ks 7h 2d", "bets.flop.bet": "50%"}``.
            keys: further values by key.

        Raises:
            InputError: a key is unknown or has a wrong value.
        """
        changes = {} if changes is None else changes
        if not (isinstance(changes, Mapping) and all(isinstance(key, str) for key in changes)):
            raise InputError(
                f'changes: expected values by key, such as {{"spot.board": "Ks 7h 2d"}}, found {shown(changes)}'
            )
        data = self.model_dump()
        for key, value in {**changes, **keys}.items():
            path = key if "." in key or key in type(self).model_fields else f"solve.{key}"
            set_key(data, path.split("."), value, f"key {shown(key)}")
        return Job.of(data)

    @classmethod
    def stored(cls, data: dict[str, Any], subject: str) -> Job:
        """Validate the job that the folder of a solve holds; keys without effect are not refused.

        Args:
            data: the sections, without names of range files.
            subject: how error messages begin.

        Raises:
            InputError: a key is unknown, missing or has a wrong value.
        """
        if not isinstance(data, dict):
            raise InputError(f"{subject}: expected a table of sections, found {shown(data)}")
        require_one_board(data, subject)
        spot = data.get("spot")
        if isinstance(spot, dict):  # a folder has lists in Spewy's order without its name
            lists = {seat: named_list(spot[seat]) for seat in SEAT_NAMES if isinstance(spot.get(seat), str)}
            data = data | {"spot": spot | lists}
        kind = kind_of(data)
        try:
            job = kind.model_validate(with_target(data))
        except ValidationError as error:
            raise InputError(explain(subject, error.errors(), kind)) from None
        job.history, job.weights  # noqa: B018 - these properties refuse boards and ranges that cannot be dealt
        job.problem  # noqa: B018 - this property refuses locks and bet sizes that the game does not allow
        unit_chips(job.rules, job.pot, parse_target(job.solve.target)[1])
        job._require_possible()
        require_rounds(job.rules, job.tree_config.start_round, job.rows, job.save.rounds)
        return job

    def _require_possible(self) -> None:
        """Refuse keys that contradict each other."""
        raked = self.spot is not None and self.spot.rake is not None
        require_method(self.solve, self.leaves, self.rows, raked=raked, locked=bool(self.lock))

    def _require_used(self) -> None:
        """Refuse keys without effect."""
        require_solving_used(self.solve, self.leaves, one_program=self.one_program)


class GameJob(Job):
    """A whole game whose solve visits all boards."""

    solve: WalkedSolve = WalkedSolve()

    def _require_possible(self) -> None:
        if self.rules.num_board_cards[0]:
            raise InputError(
                f"game {self.rules.name}: public cards are dealt before the first action; add a section [boards], "
                "because only sampled boards can solve such a game"
            )
        super()._require_possible()


class SampledJob(Job):
    """A whole game whose solve samples boards, and in which the boards of a bucket share a strategy."""

    boards: BoardsSection
    rows: SampledRows = SampledRows()
    solve: SampledSolve = SampledSolve()
    save: SampledSave = SampledSave()

    without_effect: ClassVar[tuple[str, ...]] = ("spot", "lock")
    _unused = no_effect(JobBase, ("spot", "lock"), f"{WITH_BOARDS}, which is for whole games")

    @cached_property
    def dealing(self) -> Dealing:
        """How the solve samples boards.

        Raises:
            InputError: the sections ``[boards]`` and ``[rows]`` do not fit the game or each other.
        """
        return Dealing.of(self.rules, self.boards, self.rows, self.solve)

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        """Number of rows (hand buckets) in each round of the game; None: a row per hand."""
        return self.dealing.rows

    def _require_possible(self) -> None:
        """Do nothing: the sections refuse every key that could contradict another key."""

    def _require_used(self) -> None:
        """Do nothing: the sections refuse keys without effect."""


class SpotJob(Job):
    """A spot: a solve that begins after the deal, with a board, a pot and two ranges."""

    spot: SpotSection
    solve: WalkedSolve = WalkedSolve()

    @property
    def pot(self) -> float:
        """Chips in the middle at the root."""
        return float(self.amounts.read(self.spot.pot, "spot.pot"))

    @cached_property
    def board(self) -> tuple[int, ...]:
        """The cards of the board in `Game.board_order`.

        Raises:
            InputError: the text is not cards, or names a card twice.
        """
        try:
            return self.rules.board_order(parse_cards(self.spot.board))
        except CardError as error:
            raise InputError(f"spot.board: {error}") from None

    @cached_property
    def history(self) -> History:
        """Public cards at the root, in one group for each round that dealt any.

        Raises:
            InputError: the game is not hold'em, or the number of cards is not that of a flop, turn or river.
        """
        game = self.rules
        if game.num_hole_cards != 2 or len(game.deck) != 52:
            raise InputError(f"spot: expected a hold'em game (two hole cards, 52 cards), found {game.name}")
        sizes = np.cumsum(game.num_board_cards)
        if sizes.tolist().count(len(self.board)) != 1 or not self.board:
            *first, last = map(str, sizes[1:])
            allowed = f"{', '.join(first)} or {last}" if first else last
            raise InputError(
                f"spot.board: expected {allowed} cards, found {len(self.board)} ({self.spot.board})"
            )
        return game.cut(self.board)

    @cached_property
    def ranges(self) -> tuple[Range, Range]:
        """Both parsed ranges, oop first.

        Raises:
            InputError: a text is not a range.
        """
        return self._range("oop", self.spot.oop), self._range("ip", self.spot.ip)

    @cached_property
    def range_pair(self) -> RangePair:
        """Both ranges, scaled for the solve.

        Raises:
            InputError: the board blocks all hands of a range, or no two hands can be dealt together.
        """
        return meet(self.ranges[0].weights, self.ranges[1].weights, hands(Deck(), 2))

    @property
    def range_notes(self) -> tuple[str, ...]:
        """Messages about how ranges were read, and about hands that are left out of the solve, with the reason."""
        lines = []
        for name, held, small in zip(SEAT_NAMES, self.ranges, self.range_pair.left_out, strict=True):
            lines += [f"spot.{name}: {note}" for note in held.notes]
            if held.dropped:
                lines.append(f"spot.{name}: the board blocks {_listed(held.dropped)} of the range")
            if small:
                why = f"less than {SMALLEST:g} of the largest weight"
                lines.append(f"spot.{name}: {_listed(small)} left out: {why}")
        return tuple(lines)

    @property
    def too_deep_for_single(self) -> bool:
        """Whether stacks are so deep that single precision would make visible errors in EVs."""
        return self.spot.stack > MOST_POTS_SINGLE * self.spot.pot

    def _range(self, name: str, text: str) -> Range:
        try:
            return parse_range(text, dead=self.board)
        except InputError as error:
            raise InputError(f"spot.{name}: {error}") from None


def kind_of(data: dict[str, Any]) -> type[Job]:
    """Return the class of a job: `SpotJob`, `SampledJob` or `GameJob`, by the sections that it has."""
    if data.get("boards") is not None:
        return SampledJob
    return GameJob if data.get("spot") is None else SpotJob


def _listed(names: tuple[str, ...]) -> str:
    """List the names of a few hands, or write how many there are if they are many."""
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} hands"
