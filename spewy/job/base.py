"""The sections of a job file, and the problem that they describe.

`Job.problem` converts a job into a `spewy.chunks.problem.Problem`. `Job.manifest` goes into the folder of a solve and
identifies the job there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from buckets.cards import History, hands
from solvers.tree import Floats
from spewy.chunks.problem import Problem
from spewy.errors import InputError
from spewy.game.amounts import Unit, UnitName, game_unit
from spewy.game.count import TreeCount
from spewy.game.gamefile import Game, format_game, load_game, parse_game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.game.ranges.lists import bare_list
from spewy.game.ranges.pair import RangePair
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
from spewy.job.dealing import Dealing
from spewy.job.leaves import Leaves
from spewy.job.locks import LockSection, node_locks
from spewy.job.sections import (
    BetsSection,
    BoardsSection,
    DaskSection,
    GameSection,
    PlayerBets,
    RowsSection,
    SaveSection,
    Section,
    SolveSection,
    SpotSection,
    TreeSection,
    WalkedSolve,
)
from spewy.system.html import Table

NOT_OF_THE_FOLDER = (
    *("target", "max_sweeps", "max_time", "check_every", "check_flops", "seed"),
    *("cfr_br", "coarse_to_fine", "workers", "memory"),
)
"""Keys of ``solve`` that may differ between two runs in one folder."""
MOST_NAME = 255
"""Largest number of bytes of a job's name, because the folder has that name."""


class JobBase(Section):
    """The sections of a job file, and the properties that spots and whole games have in common."""

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
    tree: TreeSection = TreeSection()
    """Thresholds of bet sizes."""
    boards: BoardsSection | None = None
    """Board buckets of a whole game; with this section, the solve samples boards."""
    rows: RowsSection = RowsSection()
    """Number of hand buckets on a board, or a row per hand."""
    solve: SolveSection = WalkedSolve()
    """Method of the solve, and when to stop."""
    dask: DaskSection | None = None
    """Dask cluster that does the work, if solve.workers = "dask"."""
    save: SaveSection = SaveSection()
    """Strategies that stay in the folder after the solve."""
    lock: tuple[LockSection, ...] = Field((), strict=False)
    """Node locks: decisions where hands play given frequencies; [[lock]] tables, or texts such as "x: bet"."""

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
        options = self.tree.model_dump() | {"unit": self.amounts}
        if self.tree.min_bet is not None:
            options["min_bet"] = self.amounts.read(self.tree.min_bet, "tree.min_bet")
        if self.spot is None:
            return game_config(game, sizes, **options)
        start = int(np.searchsorted(np.cumsum(game.num_board_cards), len(self.board)))
        if self.spot.rake is not None:
            cap = self.spot.rake.cap
            options["rake"] = Rake(self.spot.rake.rate, None if cap is None else cap * self.amounts.chips)
        stack = self.amounts.read(self.spot.stack, "spot.stack")
        return spot_config(game, start, self.amounts.read(self.spot.pot, "spot.pot"), stack, sizes, **options)

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
        """Unit of amounts in the file and in all output of its solve.

        Raises:
            InputError: the unit is "bb", and a chip of the game is not a finite decimal number of big blinds.
        """
        return game_unit(self.unit, self.rules)

    @cached_property
    def problem(self) -> Problem:
        """The problem to solve.

        Raises:
            InputError: the game does not allow the board, the ranges, the rows or the bet sizes.
        """
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
            node_locks(self.lock, self.betting_tree, self.history, self.weights),
            None if self.range_pair is None else self.range_pair.unit,
        )

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Both players' initial weights of all hands of the deck, scaled for the solve.

        Raises:
            InputError: the board blocks all hands of a range, or the ranges cannot be dealt together.
        """
        if self.range_pair is not None:
            return self.range_pair.weights
        every = np.ones(len(hands(self.rules.deck, self.rules.num_hole_cards)))
        return every, every

    def manifest(self) -> dict[str, Any]:
        """Return the part of the job that every solve in the same folder must have in common.

        It has all keys except the seed, the stopping rules, and the settings of workers and memory. With board buckets,
        it also has the version of the clustering, because the stored rows depend on the clustering.
        """
        data = json.loads(self.model_dump_json(by_alias=True))
        for key in NOT_OF_THE_FOLDER:
            del data["solve"][key]
        del data["save"], data["dask"]
        data["game"] = {"text": format_game(self.rules)}
        if self.spot is not None:  # folders have lists of numbers in Spewy's order without its name
            data["spot"] |= {seat: bare_list(data["spot"][seat]) for seat in SEAT_NAMES}
        if self.solve.estimate == "no-betting":
            del data["solve"]["estimate"]  # folders from before this key was added do not have it
        if self.tree.max_raises is None:
            del data["tree"]["max_raises"]  # old folders do not have this key either
        for name, rows in zip(self.rules.round_names, self.rows_by_round, strict=True):
            data["rows"][name] = "hands" if rows is None else rows
        if not self.sampled:
            return {"spewy": 1, "job": data}
        from buckets.abstraction.build import METHOD  # version of the clustering of boards and hands

        return {"spewy": 1, "job": data, "abstraction": METHOD}

    @cached_property
    def leaves(self) -> Leaves:
        """Which chance leaves are live and which are stored.

        Raises:
            InputError: ``solve.leaves`` names a round outside of the solve, or a stored round below a live one.
        """
        bucketed = any(k is not None for k in self.rows_by_round)
        return Leaves.of(self.solve, self.tree_config.start_round, self.rules.num_rounds, bucketed=bucketed)

    @property
    def first_live(self) -> int | None:
        """First live round: its chunks, and those of all later rounds, are live. None: all chunks are stored."""
        return self.leaves.first_live

    @property
    def live(self) -> bool:
        """Whether all chance leaves are live."""
        return self.leaves.live

    @property
    def one_program(self) -> bool:
        """Whether a single linear program solves the whole game, instead of a linear program per chunk."""
        return self.solve.method == "lp" and self.solve.integrate == "regret"

    @property
    def last_sweep(self) -> int:
        """Largest number of sweeps; 1 if a single linear program solves the whole game."""
        assert self.solve.max_sweeps is not None
        return 1 if self.one_program else self.solve.max_sweeps

    @property
    def first_dropped(self) -> int | None:
        """First round whose strategies are deleted when the solve is finished; None if all are kept."""
        if self.save.rounds == "all":
            return None
        following = ROUND_NAMES.index(self.save.rounds) + 1
        return following if following < self.rules.num_rounds else None

    @property
    def sampled(self) -> bool:
        """Whether the solve samples boards, and the boards of a bucket share a strategy."""
        return self.dealing is not None

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
        """Both ranges, scaled for the solve; None for whole games."""
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
        """Refuse a job that samples boards.

        Args:
            subject: how the message begins.

        Raises:
            InputError: the job has board buckets.
        """
        if self.sampled:
            raise InputError(
                f"{subject}: expected a job that visits all boards, found one with [boards], which samples boards"
            )

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


def _player_sizes(key: str, both: PlayerBets, player: PlayerBets | None, unit: Unit) -> PlayerSizes:
    """Return a player's bet sizes: the sizes of ``player``, and those of ``both`` where ``player`` has none.

    Error messages begin with ``key``.
    """
    own = player or PlayerBets()
    bet = both.bet if own.bet is None else own.bet
    raises = both.raise_ if own.raise_ is None else own.raise_
    return player_sizes(bet or "", raises or "", both.donk if own.donk is None else own.donk, key, unit)
