"""Job files (TOML), which describe what to solve and how; each is validated on load, and every error names its key.

`Job.problem` converts a job into a `spewy.chunks.problem.Problem`. `Job.manifest` goes into the folder of a solve and
identifies the job there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, ValidationError, field_validator

from buckets.cards import Deck, History, hands, parse_cards
from buckets.errors import CardError
from solvers.tree import Floats
from spewy.chunks.problem import Problem
from spewy.errors import InputError, path_text, shown
from spewy.game.amounts import Unit, UnitName, game_unit
from spewy.game.count import TreeCount, require_sizes_used
from spewy.game.gamefile import Game, format_game, load_game, parse_game
from spewy.game.lines import read_betting
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.game.ranges import Range, parse_range
from spewy.game.ranges.range import SMALLEST, RangePair, meet
from spewy.game.ranges.text import bare_list, named_list
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import (
    PlayerSizes,
    Rake,
    RoundSizes,
    Sizes,
    TreeConfig,
    game_config,
    player_sizes,
    spot_config,
)
from spewy.job.load import explain, read_job, set_key, with_range_files
from spewy.job.locks import LockSection, node_locks
from spewy.job.sections import (
    WITH_BOARDS,
    BetsSection,
    BoardsSection,
    DaskSection,
    GameSection,
    PlayerBets,
    RowsSection,
    SampledRows,
    SampledSave,
    SampledSolve,
    SaveSection,
    Section,
    SolveSection,
    SpotSection,
    TreeSection,
    WalkedSolve,
    no_effect,
)
from spewy.job.settings import (
    Dealing,
    Leaves,
    require_betting_used,
    require_method,
    require_quick,
    require_rounds,
    require_solving_used,
)
from spewy.job.texts import parse_duration, parse_target, unit_chips, with_lock_texts
from spewy.system.html import Table

NOT_OF_THE_FOLDER = (
    *("target", "max_sweeps", "max_time", "check_every", "check_flops", "seed"),
    *("cfr_br", "coarse_to_fine", "workers", "memory", "quick"),
)
"""Keys of ``solve`` that may differ between two runs in one folder."""
MOST_NAME = 255
"""Largest number of bytes of a job's name, because the folder has that name."""
MOST_NAMED = 6
"""Largest number of hands that a message lists."""
MOST_POTS_SINGLE = 10_000
"""Largest stack, as a multiple of the pot, for single precision: both EVs then sum to the pot with an error of 1e-7."""


class Job(Section):
    """A complete job file of one of three kinds: `SpotJob`, `GameJob` and `SampledJob`.

    `replace` makes a job with other values of some keys. ``job.model_dump()`` returns the keys that the job gives as
    nested dictionaries, from which `of` makes the same job again. Two jobs are equal if all their keys have equal
    values.
    """

    # Default sections come from model_construct: their constructors would build a schema for each class at import.
    name: str = Field(min_length=1)
    """Name of the job, and of its folder in the folder results."""
    unit: UnitName = "chips"
    """Unit of amounts in the job file and in all output: "chips" (whole numbers), or "bb" (big blinds)."""
    game: GameSection
    """Rules of the game."""
    spot: SpotSection | None = None
    """Root of the solve; leave the section out to solve the whole game from the deal."""
    bets: dict[RoundName, BetsSection] = Field(default_factory=dict)
    """Bet sizes by round; a missing round has the sizes of the round before. Limit games have no such section."""
    tree: TreeSection = TreeSection.model_construct()
    """Thresholds of bet sizes."""
    boards: BoardsSection | None = None
    """Board buckets of a whole game; with this section, the solve samples boards."""
    rows: RowsSection = RowsSection.model_construct()
    """Number of hand buckets on a board, or a row per hand."""
    solve: SolveSection = WalkedSolve.model_construct()
    """Method of the solve, and when to stop."""
    dask: DaskSection | None = None
    """Dask cluster that does the work, if solve.workers = "dask"."""
    save: SaveSection = SaveSection.model_construct()
    """Strategies that stay in the folder after the solve."""
    lock: tuple[LockSection, ...] = Field((), strict=False)
    """Node locks: decisions where hands play given frequencies; [[lock]] tables, or texts such as "x: bet"."""

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Job:
        """Read a job file.

        Args:
            path: the job file.
            overrides: keys with values that replace the file's, such as ``"solve.target=0.1%"``. A value is TOML, or
                text without quotes.
        """
        return cls.of(read_job(path, overrides), f"job {path_text(path)}")

    @classmethod
    def of(cls, data: dict[str, Any], subject: str = "job") -> Job:
        """Validate a job that is given as nested dictionaries instead of a file.

        Args:
            data: the sections. Names of files are relative to the working folder.
            subject: how error messages begin.
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
        """
        if not isinstance(data, dict):
            raise InputError(f"{subject}: expected a table of sections, found {shown(data)}")
        _require_one_board(data, subject)
        spot = data.get("spot")
        if isinstance(spot, dict):  # folders have lists in Spewy's order without its name
            lists = {seat: named_list(spot[seat]) for seat in SEAT_NAMES if isinstance(spot.get(seat), str)}
            data = data | {"spot": spot | lists}
        kind = kind_of(data)
        try:
            job = kind.model_validate(_with_target(data))
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
        require_quick(
            self.solve, self.leaves, self.rows, self.rules.num_rounds - self.tree_config.start_round
        )
        if self.solve.quick is not None and any(
            lock.round > self.tree_config.start_round for lock in self.problem.locks
        ):
            raise InputError(
                "solve.quick: expected locks on the first round only, because a quick solve keeps that round only; "
                "remove solve.quick or the other locks"
            )
        require_method(self.solve, self.leaves, self.rows, raked=raked, locked=bool(self.lock))

    def _require_used(self) -> None:
        """Refuse keys without effect."""
        require_solving_used(self.solve, self.leaves, one_program=self.one_program)

    def _table(self) -> Table:
        return replace(super()._table(), title=f"{type(self).__name__} {self.name}")

    def __eq__(self, other: object) -> bool:
        """Whether another job has the same value for each key; what was computed from the keys is not compared."""
        fields = type(self).model_fields
        return type(other) is type(self) and all(getattr(self, key) == getattr(other, key) for key in fields)

    def model_dump(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the keys that the job gives as nested dictionaries, as in the job file: `Job.of` makes the job again.

        The options are those of pydantic's method; here ``by_alias`` and ``exclude_unset`` are True by default.
        """
        return super().model_dump(*args, **{"by_alias": True, "exclude_unset": True} | options)

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, value: str) -> str:
        size = len(value.encode(errors="replace"))
        if size > MOST_NAME:
            raise ValueError(f"expected at most {MOST_NAME} bytes, because a folder gets this name")
        return value

    @cached_property
    def rules(self) -> Game:
        """The game's rules."""
        if self.game.text is not None:
            return parse_game(self.game.text, "game.text")
        assert self.game.file is not None
        return load_game(self.game.file)

    @cached_property
    def tree_config(self) -> TreeConfig:
        """The configuration of the betting tree."""
        game, sizes = self.rules, self._sizes(self.rules)
        options = dict(self.tree) | {"unit": self.amounts}
        del options["lines"]
        if self.tree.min_bet is not None:
            options["min_bet"] = self.amounts.read(self.tree.min_bet, "tree.min_bet")
        if self.spot is None:
            return self._with_lines(partial(game_config, game, sizes, **options))
        start = int(np.searchsorted(np.cumsum(game.num_board_cards), len(self.board)))
        if self.spot.rake is not None:
            cap = self.spot.rake.cap
            options["rake"] = Rake(self.spot.rake.rate, None if cap is None else cap * self.amounts.chips)
        stack = self.amounts.read(self.spot.stack, "spot.stack")
        pot = self.amounts.read(self.spot.pot, "spot.pot")
        return self._with_lines(partial(spot_config, game, start, pot, stack, sizes, **options))

    def _with_lines(self, configure: Callable[..., TreeConfig]) -> TreeConfig:
        if not self.tree.lines:
            return configure()
        bare = configure(lines=("c",))  # the rules, by which the lines are read
        lines = [read_betting(bare, text, f"tree.lines, line {shown(text)}") for text in self.tree.lines]
        return configure(lines=lines)

    @cached_property
    def betting_tree(self) -> BettingTree:
        """The betting tree; its nodes are built at first use."""
        return BettingTree(self.tree_config)

    @property
    def tree_count(self) -> TreeCount:
        """Numbers of the betting tree's nodes, counted without building the tree."""
        return self.betting_tree.size

    @cached_property
    def amounts(self) -> Unit:
        """Unit of amounts in the file and in all output of its solve."""
        return game_unit(self.unit, self.rules)

    @cached_property
    def problem(self) -> Problem:
        """The problem to solve."""
        return Problem(
            self.rules,
            self.betting_tree,
            self.history,
            self.pot,
            self.weights,
            self.rows_by_round,
            self.rows.clustering,
            self.rows.weights == "ranges",
            self.solve.symmetry and not self.one_program,  # the linear program needs every board
            node_locks(self.lock, self.betting_tree, self.history, self.weights) if self.lock else (),
            None if self.range_pair is None else self.range_pair.unit,
        )

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Both players' initial weights ``[hand]`` of all hands of the deck, scaled to at most 1."""
        if self.range_pair is not None:
            return self.range_pair.weights
        every = np.ones(len(hands(self.rules.deck, self.rules.num_hole_cards)))
        return every, every

    def manifest(self) -> dict[str, Any]:
        """Return the part of the job that every solve in the same folder must have in common.

        It lacks ``[save]``, ``[dask]`` and the keys in `NOT_OF_THE_FOLDER`, such as the seed and the stopping rules.
        """
        data = json.loads(self.model_dump_json(by_alias=True))
        for key in NOT_OF_THE_FOLDER:
            del data["solve"][key]
        del data["save"], data["dask"]
        data["game"] = {"text": format_game(self.rules)}
        if self.spot is not None:  # `stored` names the order again
            data["spot"] |= {seat: bare_list(data["spot"][seat]) for seat in SEAT_NAMES}
        if self.tree.max_raises is None:
            del data["tree"]["max_raises"]  # folders of version 1.0.0 do not have this key
        if self.tree.lines is None:
            del data["tree"]["lines"]  # nor this one
        if self.tree.allin_from == 1:
            del data["tree"]["allin_from"]  # nor this one
        if self.tree.short_allins:
            del data["tree"]["short_allins"]  # nor this one
        if not self.tree.check_down:
            del data["tree"]["check_down"]  # nor this one
        if not self.solve.refine:
            del data["solve"]["refine"]  # nor this one
        if self.solve.choose is None:
            del data["solve"]["choose"]  # nor this one
        for name, rows in zip(self.rules.round_names, self.rows_by_round, strict=True):
            data["rows"][name] = "hands" if rows is None else rows
        return {"spewy": 1, "job": data}

    @cached_property
    def leaves(self) -> Leaves:
        """Which chance leaves are live and which are stored, see `Leaves`."""
        bucketed = any(k is not None for k in self.rows_by_round)
        return Leaves.of(self.solve, self.tree_config.start_round, self.rules.num_rounds, bucketed=bucketed)

    @property
    def first_live(self) -> int | None:
        """First live round (see `Leaves`): it and all later rounds are live. None: all chunks are stored."""
        return self.leaves.first_live

    @property
    def live(self) -> bool:
        """Whether all chance leaves are live."""
        return self.leaves.live

    @property
    def one_program(self) -> bool:
        """Whether a single linear program solves the whole game, and not CFR or a linear program per chunk."""
        return self.solve.method == "lp" and self.solve.integrate == "regret"

    @property
    def last_sweep(self) -> int:
        """Largest number of sweeps; 1 if a single linear program solves the whole game."""
        assert self.solve.max_sweeps is not None
        return 1 if self.one_program else self.solve.max_sweeps

    @property
    def first_dropped(self) -> int | None:
        """First round whose strategies are deleted when the solve is finished; None if all are kept."""
        if self.solve.quick is not None:
            return self.tree_config.start_round + 1
        if self.save.rounds == "all":
            return None
        following = ROUND_NAMES.index(self.save.rounds) + 1
        return following if following < self.rules.num_rounds else None

    @property
    def quick_seconds(self) -> float | None:
        """Seconds of a quick solve (`spewy.run.quick`); None: the whole game is solved to the target."""
        return None if self.solve.quick is None else parse_duration(self.solve.quick)

    @property
    def sampled(self) -> bool:
        """Whether the solve samples boards, and the boards of a bucket share a strategy."""
        return self.dealing is not None

    @property
    def counted(self) -> str:
        """Unit of a solve's work: "sweeps" through all boards, or "deals" of sampled boards."""
        return "sweeps"

    @property
    def dealing(self) -> Dealing | None:
        """How the solve samples boards; None if it visits all boards."""
        return None

    @property
    def pot(self) -> float:
        """Chips in the middle at the root of a spot; 0 for whole games."""
        return 0.0

    @property
    def board(self) -> tuple[int, ...]:
        """The cards of the spot's board in `Game.board_order`; empty for whole games."""
        return ()

    @property
    def history(self) -> History:
        """Public cards at the root, in one group for each round that dealt any; empty for whole games."""
        return ()

    @property
    def range_pair(self) -> RangePair | None:
        """Both ranges, scaled to weights of at most 1; None for whole games."""
        return None

    @property
    def range_notes(self) -> tuple[str, ...]:
        """Messages about how ranges were read, and about hands that are left out of the solve, with the reason."""
        return ()

    @property
    def too_deep_for_single(self) -> bool:
        """Whether stacks are so deep that single precision would make visible errors in EVs."""
        return False

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        """Number of rows (hand buckets) on a board in each round of the game; None: a row per hand."""
        chosen = [getattr(self.rows, name) for name in ROUND_NAMES[: self.rules.num_rounds]]
        return tuple(None if k == "hands" else k for k in chosen)

    def require_walked(self, subject: str) -> None:
        """Refuse a job that samples boards; the message begins with ``subject``."""

    def require_sampled(self, subject: str, advice: str = "") -> None:
        """Refuse a job that visits all boards; the message begins with ``subject`` and ends with ``advice``."""
        raise InputError(f"{subject}, and {self.name} has no [boards]{advice}")

    def _sizes(self, game: Game) -> Sizes:
        out: dict[int, RoundSizes] = {}
        for name, section in self.bets.items():
            number = ROUND_NAMES.index(name)
            if number >= game.num_rounds:
                raise InputError(f"bets.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
            oop, ip = (
                _player_sizes(f"bets.{name}", section, player, self.amounts)
                for player in (section.oop, section.ip)
            )
            out[number] = (oop, ip)
        return out


class GameJob(Job):
    """A whole game whose solve visits all boards."""

    solve: WalkedSolve = WalkedSolve.model_construct()

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
    rows: SampledRows = SampledRows.model_construct()
    solve: SampledSolve = SampledSolve.model_construct()
    save: SampledSave = SampledSave.model_construct()

    without_effect: ClassVar[tuple[str, ...]] = ("spot", "lock")
    _unused = no_effect(Job, ("spot", "lock"), f"{WITH_BOARDS}, which is for whole games")

    @cached_property
    def dealing(self) -> Dealing:
        return Dealing.of(self.rules, self.boards, self.rows, self.solve)

    @property
    def counted(self) -> str:
        return "deals"

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        return self.dealing.rows

    def manifest(self) -> dict[str, Any]:
        """Return what all solves in a folder have in common, and the version of the clustering."""
        from buckets.abstraction.build import METHOD

        return super().manifest() | {"abstraction": METHOD}

    def require_walked(self, subject: str) -> None:
        raise InputError(
            f"{subject}: expected a job that visits all boards, found one with [boards], which samples boards"
        )

    def require_sampled(self, subject: str, advice: str = "") -> None:
        """Do nothing: the job samples boards."""

    def _require_possible(self) -> None:
        """Do nothing: the sections refuse every key that could contradict another key."""

    def _require_used(self) -> None:
        """Do nothing: the sections refuse keys without effect."""


class SpotJob(Job):
    """A spot: a solve that begins after the deal, with a board, a pot and two ranges."""

    spot: SpotSection
    solve: WalkedSolve = WalkedSolve.model_construct()

    @property
    def pot(self) -> float:
        return float(self.amounts.read(self.spot.pot, "spot.pot"))

    @cached_property
    def board(self) -> tuple[int, ...]:
        try:
            return self.rules.board_order(parse_cards(self.spot.board))
        except CardError as error:
            raise InputError(f"spot.board: {error}") from None

    @cached_property
    def history(self) -> History:
        game = self.rules
        if not game.is_holdem:
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
        """Both parsed ranges, oop first."""
        return self._range("oop", self.spot.oop), self._range("ip", self.spot.ip)

    @cached_property
    def range_pair(self) -> RangePair:
        return meet(self.ranges[0].weights, self.ranges[1].weights, hands(Deck(), 2))

    @property
    def range_notes(self) -> tuple[str, ...]:
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
        return self.spot.stack > MOST_POTS_SINGLE * self.spot.pot

    def _range(self, name: str, text: str) -> Range:
        try:
            return parse_range(text, dead=self.board)
        except InputError as error:
            raise InputError(f"spot.{name}: {error}") from None


def _with_target(data: dict[str, Any]) -> dict[str, Any]:
    # Spots and whole games have targets in different units, so the section cannot have the default.
    solve = data.get("solve", {})
    if not isinstance(solve, dict) or "target" in solve:
        return data
    return data | {"solve": solve | {"target": "0.3%" if data.get("spot") else "1 mbb"}}


def _require_one_board(data: dict[str, Any], subject: str) -> None:
    """Refuse a job with a list of boards, which `spewy.batch` splits into jobs with one board each."""
    spot = data.get("spot")
    if isinstance(spot, dict) and "boards" in spot:
        raise InputError(
            f"{subject}: spot.boards: expected one spot.board, because only a batch solves a list of boards; "
            f"found {shown(spot['boards'])}"
        )


def kind_of(data: dict[str, Any]) -> type[Job]:
    if data.get("boards") is not None:
        return SampledJob
    return GameJob if data.get("spot") is None else SpotJob


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} hands"


def _player_sizes(key: str, both: PlayerBets, player: PlayerBets | None, unit: Unit) -> PlayerSizes:
    """Return a player's bet sizes: those of ``player``, and those of ``both`` where ``player`` has none."""
    own = player or both
    bet = both.bet if own.bet is None else own.bet
    raises = both.raise_ if own.raise_ is None else own.raise_
    return player_sizes(bet or "", raises or "", both.donk if own.donk is None else own.donk, key, unit)
