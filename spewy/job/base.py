"""The sections of a job file, and the problem that they describe.

Players, rounds and bet sizes are in the field's words; `Job.problem` turns them into a
`spewy.chunks.problem.Problem`, and `Job.manifest` is what a folder of lockers is stamped with.
"""

from __future__ import annotations

import json
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
from spewy.game.names import ROUND_NAMES, RoundName
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

NOT_OF_THE_FOLDER = (
    *("target", "max_sweeps", "max_time", "check_every", "check_flops", "seed"),
    *("cfr_br", "workers", "memory"),
)
"""Keys of ``solve`` that may differ between two runs in one folder."""
MOST_NAME = 255
"""Largest number of bytes of a job's name, which becomes a folder's name."""


class JobBase(Section):
    """The sections of a job file, and the properties that all kinds of jobs share."""

    name: str = Field(min_length=1)
    """Name of the job, and of its folder in results."""
    unit: UnitName = "chips"
    """Unit of amounts in the file and in all output: whole chips, or big blinds with decimals."""
    game: GameSection
    """The rules."""
    spot: SpotSection | None = None
    """Root of the solve; leave the section out to solve the whole game from the deal."""
    bets: dict[RoundName, BetsSection] = Field(default_factory=dict)
    """Bet sizes by round; a missing round has the sizes of the round before. Limit games need none."""
    tree: TreeSection = TreeSection()
    """Thresholds of bet sizes."""
    boards: BoardsSection | None = None
    """Board buckets of a whole game, which is then solved on dealt boards."""
    rows: RowsSection = RowsSection()
    """Buckets of hands, or a row per hand."""
    solve: SolveSection = WalkedSolve()
    """How to solve, and when to stop."""
    dask: DaskSection | None = None
    """The cluster that solves, with solve.workers = "dask"."""
    save: SaveSection = SaveSection()
    """Strategies that stay in the folder after the solve."""
    lock: tuple[LockSection, ...] = Field((), strict=False)
    """Decisions where hands play given frequencies."""

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, value: str) -> str:
        size = len(value.encode(errors="replace"))
        if size > MOST_NAME:
            raise ValueError(f"expected at most {MOST_NAME} bytes, the longest name of a folder")
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
        """The betting tree, whose nodes are built on first use."""
        return BettingTree(self.tree_config)

    @property
    def tree_count(self) -> TreeCount:
        """The betting tree's nodes, counted without building it."""
        return self.betting_tree.size

    @cached_property
    def amounts(self) -> Unit:
        """Unit of amounts in the file and in all output of its solve.

        Raises:
            InputError: the game's big blind does not divide into decimals.
        """
        return game_unit(self.unit, self.rules)

    @cached_property
    def problem(self) -> Problem:
        """The problem to solve.

        Raises:
            InputError: board, ranges, rows or sizes that the game does not allow.
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
            self.solve.symmetry and not self.one_program,  # merged boards have no plan of their own
            node_locks(self.lock, self.betting_tree, self.history, self.weights),
            None if self.range_pair is None else self.range_pair.unit,
        )

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Both players' initial weight of every hand of the deck, on the scale of the solve.

        Raises:
            InputError: ranges that the board leaves empty, or that cannot be dealt together.
        """
        if self.range_pair is not None:
            return self.range_pair.weights
        every = np.ones(len(hands(self.rules.deck, self.rules.num_hole_cards)))
        return every, every

    def manifest(self) -> dict[str, Any]:
        """The part of a job that identifies its folder: all keys except the deals' seed, stopping rules and workers.

        With board buckets, the manifest also names the method of their clustering, on which the stored numbers depend.
        """
        data = json.loads(self.model_dump_json(by_alias=True))
        for key in NOT_OF_THE_FOLDER:
            del data["solve"][key]
        del data["save"], data["dask"]
        data["game"] = {"text": format_game(self.rules)}
        if self.solve.estimate == "no-betting":
            del data["solve"]["estimate"]  # which manifests have only since there is a choice
        for name, rows in zip(self.rules.round_names, self.rows_by_round, strict=True):
            data["rows"][name] = "hands" if rows is None else rows
        if not self.sampled:
            return {"spewy": 1, "job": data}
        from buckets.abstraction.build import (
            METHOD,  # of classes and rows, which decides what the numbers of either mean
        )

        return {"spewy": 1, "job": data, "abstraction": METHOD}

    @cached_property
    def leaves(self) -> Leaves:
        """The chance leaves.

        Raises:
            InputError: as `Leaves.of`.
        """
        bucketed = any(k is not None for k in self.rows_by_round)
        return Leaves.of(self.solve, self.tree_config.start_round, self.rules.num_rounds, bucketed=bucketed)

    @property
    def first_live(self) -> int | None:
        """First round of the game whose chunks are live, as are all later ones; None if all are stored."""
        return self.leaves.first_live

    @property
    def live(self) -> bool:
        """Whether all chance leaves recurse into live chunks, and none reads stored payoffs."""
        return self.leaves.live

    @property
    def one_program(self) -> bool:
        """Whether one linear program solves the whole game with all boards, instead of a program per chunk."""
        return self.solve.method == "lp" and self.solve.integrate == "regret"

    @property
    def last_sweep(self) -> int:
        """Largest number of sweeps; a linear program is one sweep."""
        assert self.solve.max_sweeps is not None
        return 1 if self.one_program else self.solve.max_sweeps

    @property
    def first_dropped(self) -> int | None:
        """First round of the game that a finished solve's folder does not keep; None if it keeps all."""
        if self.save.rounds == "all":
            return None
        following = ROUND_NAMES.index(self.save.rounds) + 1
        return following if following < self.rules.num_rounds else None

    @property
    def sampled(self) -> bool:
        """Whether boards are dealt, and the boards of a bucket share a strategy."""
        return self.dealing is not None

    @property
    def dealing(self) -> Dealing | None:
        """How boards are dealt; None if all boards are walked through."""
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
        """Public cards at the root, a group for each round that dealt any; none for whole games."""
        return ()

    @property
    def range_pair(self) -> RangePair | None:
        """Both ranges on the scale of the solve; None for whole games."""
        return None

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each range with hands that are left out, with the reason."""
        return ()

    @property
    def too_deep_for_single(self) -> bool:
        """Whether stacks are so deep that rounding in single precision would show in EVs."""
        return False

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        """Number of rows in each round of the game; None for a row per hand."""
        chosen = [getattr(self.rows, name) for name in ROUND_NAMES[: self.rules.num_rounds]]
        return tuple(None if k == "hands" else k for k in chosen)

    def require_walked(self, subject: str) -> None:
        """Refuse a job whose boards are dealt.

        Raises:
            InputError: the job has board buckets.
        """
        if self.sampled:
            raise InputError(
                f"{subject}: expected a job all of whose boards are walked through, found one with [boards], "
                "whose boards are dealt"
            )

    def _sizes(self, game: Game) -> Sizes:
        out: dict[int, RoundSizes] = {}
        for name, section in self.bets.items():
            number = ROUND_NAMES.index(name)
            if number >= game.num_rounds:
                raise InputError(f"bets.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
            oop, ip = (
                _player_sizes(f"bets.{name}", section, own, self.amounts) for own in (section.oop, section.ip)
            )
            out[number] = (oop, ip)
        return out


def _player_sizes(key: str, both: PlayerBets, mine: PlayerBets | None, unit: Unit) -> PlayerSizes:
    """Bet sizes of a player: the player's own sizes, or else the round's."""
    own = mine or PlayerBets()
    bet = both.bet if own.bet is None else own.bet
    raises = both.raise_ if own.raise_ is None else own.raise_
    return player_sizes(bet or "", raises or "", both.donk if own.donk is None else own.donk, key, unit)
