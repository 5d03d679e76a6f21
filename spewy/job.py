"""The job file (TOML): what to solve and how. Validated whole on load; every error names the key.

Players, rounds and bet sizes are in the field's words; :meth:`Job.problem` turns them into a
:class:`~spewy.solve.problem.Problem`, and :meth:`Job.manifest` is what a folder of lockers is stamped with.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from buckets.cards import Deck, parse_cards
from buckets.errors import CardError
from buckets.grouping import GROUPINGS
from buckets.hands import hands
from buckets.symmetry import History
from solvers.variants import VARIANTS
from spewy.errors import InputError, path_text, short, shown
from spewy.game.count import TreeCount, count_tree, require_sizes_used
from spewy.game.gamefile import MAX_CHIPS, Game, format_game, load_game, parse_game
from spewy.game.rangepair import SMALLEST, RangePair, meet
from spewy.game.ranges import Range, parse_range
from spewy.game.tree import BettingTree, build_tree
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
from spewy.locks import LockSection, node_locks
from spewy.solve.problem import Floats, Problem
from spewy.textfile import read_text
from spewy.unused import require_used

ROUND_NAMES = ("preflop", "flop", "turn", "river")
MOST_NAMED = 6
MOST_POTS_SINGLE = 10_000
"""Pots that a stack may hold in single precision: EVs then sum to the pot within 1e-7 of it; at a million, 1e-5."""
MOST_ITERATIONS = 10_000
"""Of a visit, which Ctrl-C waits for; its chunk is as good as solved long before."""
MOST_NAME = 255
"""Bytes of a job's name, which a folder bears."""
RoundName = Literal["preflop", "flop", "turn", "river"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GameSection(_Section):
    """``file``: a shipped game's name, or a path to a .game file; or its ``text`` itself."""

    file: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _one(self) -> GameSection:
        if (self.file is None) == (self.text is None):
            raise ValueError("expected either file or text")
        return self


class RakeSection(_Section):
    """What the house takes from every pot: a share of it, and at most ``cap`` chips."""

    rate: float = Field(ge=0, le=1)
    cap: float | None = Field(None, ge=0, allow_inf_nan=False)


class SpotSection(_Section):
    """A public state after the deal: cards, chips in the middle and behind, and both ranges."""

    board: str
    pot: int = Field(gt=0, le=MAX_CHIPS)
    stack: int = Field(gt=0, le=MAX_CHIPS)
    oop: str
    ip: str
    rake: RakeSection | None = None


class PlayerBets(_Section):
    """One player's sizes in a round; None: what the round gives both."""

    bet: str | None = None
    raise_: str | None = Field(None, alias="raise")
    donk: str | None = None


class BetsSection(PlayerBets):
    """Sizes of a round, for both players or for each."""

    oop: PlayerBets | None = None
    ip: PlayerBets | None = None


class TreeSection(_Section):
    """Thresholds: add an all-in, make it one, merge sizes. Fractions of the pot, as in the docs of bet sizes."""

    add_allin: float = Field(0.0, ge=0)
    force_allin: float = Field(0.0, ge=0)
    merge: float = Field(0.0, ge=0)
    min_bet: int | None = Field(None, gt=0, le=MAX_CHIPS)


class RowsSection(_Section):
    """Rows per board: a number of buckets or "hands"; how hands are grouped, and what they weigh in it."""

    preflop: int | Literal["hands"] = "hands"
    flop: int | Literal["hands"] = "hands"
    turn: int | Literal["hands"] = "hands"
    river: int | Literal["hands"] = "hands"
    clustering: str = "equation-1"
    weights: Literal["uniform", "ranges"] = "uniform"

    @field_validator("preflop", "flop", "turn", "river")
    @classmethod
    def _positive(cls, value: int | str) -> int | str:
        if isinstance(value, int) and value < 1:
            raise ValueError('expected "hands" or a number of rows of at least 1')
        return value

    @field_validator("clustering")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in GROUPINGS:
            raise ValueError(f"expected one of {', '.join(GROUPINGS)}")
        return value


class SolveSection(_Section):
    """How to solve; what differs from the default and cannot have an effect is refused (:mod:`spewy.unused`)."""

    method: Literal["cfr", "lp"] = "cfr"
    variant: str | None = None
    integrate: Literal["regret", "average"] = "regret"
    leaves: Literal["auto", "stored", "live"] = "auto"
    target: str = "0.3%"
    max_sweeps: int = Field(1000, gt=0)
    check_every: int = Field(10, gt=0)
    iterations: int | None = Field(None, gt=0, le=MOST_ITERATIONS)
    tremble: float = Field(1e-3, gt=0, lt=1)
    order: Literal["bottom-up", "top-down"] = "bottom-up"
    symmetry: bool = True
    precision: Literal["auto", "16-bit", "single", "double"] = "auto"
    workers: int = Field(1, gt=0)
    memory: str = "2 GiB"

    @property
    def short(self) -> bool:
        """Whether regrets and sums are kept in 16 bits."""
        return self.precision == "16-bit"

    @field_validator("variant")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and value not in VARIANTS:
            raise ValueError(f"expected one of {', '.join(VARIANTS)}")
        return value

    @field_validator("target")
    @classmethod
    def _target(cls, value: str) -> str:
        parse_target(value)
        return value

    @field_validator("memory")
    @classmethod
    def _memory(cls, value: str) -> str:
        parse_memory(value)
        return value


class Job(_Section):
    """A whole job file."""

    name: str = Field(min_length=1)
    game: GameSection
    spot: SpotSection | None = None
    bets: dict[RoundName, BetsSection] = Field(default_factory=dict)
    tree: TreeSection = TreeSection()
    rows: RowsSection = RowsSection()
    solve: SolveSection = SolveSection()
    lock: tuple[LockSection, ...] = Field((), strict=False)

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, value: str) -> str:
        size = len(value.encode(errors="replace"))
        if size > MOST_NAME:
            raise ValueError(f"expected at most {MOST_NAME} bytes, the longest name of a folder")
        return value

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Job:
        """Read a job file. ``overrides`` are ``"solve.target=0.1%"``: a key of the file and a TOML value or bare text.

        Raises:
            InputError: the file cannot be read, is not TOML, or a key is unknown, missing or has a wrong value.
        """
        return cls.of(read_job(path, overrides), f"job {path_text(path)}")

    @classmethod
    def of(cls, data: dict[str, Any], subject: str = "job") -> Job:
        """Validate a job given as nested dictionaries, the file's form.

        Raises:
            InputError: as :meth:`load`.
        """
        job = cls.stored(data, subject)
        require_used(job)
        return job

    @classmethod
    def stored(cls, data: dict[str, Any], subject: str) -> Job:
        """Validate a job that a folder holds: it may have keys without effect, which were no error once.

        Raises:
            InputError: as :meth:`load`.
        """
        if not isinstance(data, dict):
            raise InputError(f"{subject}: expected a table of sections, found {shown(data)}")
        _require_one_board(data, subject)
        try:
            job = cls.model_validate(_with_target(data))
        except ValidationError as error:
            lines = dict.fromkeys(_explain(subject, item) for item in error.errors())
            raise InputError("; ".join(lines)) from None
        job._check()
        return job

    @cached_property
    def rules(self) -> Game:
        """The game's rules."""
        if self.game.text is not None:
            return parse_game(self.game.text, "game.text")
        assert self.game.file is not None
        return load_game(self.game.file)

    @cached_property
    def tree_config(self) -> TreeConfig:
        """What the betting tree is built from."""
        game, sizes, options = self.rules, self._sizes(self.rules), self.tree.model_dump()
        if self.spot is None:
            return game_config(game, sizes, **options)
        start = int(np.searchsorted(np.cumsum(game.num_board_cards), len(self.board)))
        if self.spot.rake is not None:
            options["rake"] = Rake(self.spot.rake.rate, self.spot.rake.cap)
        return spot_config(game, start, self.spot.pot, self.spot.stack, sizes, **options)

    @cached_property
    def tree_count(self) -> TreeCount:
        """The betting tree's nodes, counted without building it."""
        return count_tree(self.tree_config)

    @cached_property
    def betting_tree(self) -> BettingTree:
        """The explicit betting tree.

        Raises:
            InputError: it is too large to be built.
        """
        return build_tree(self.tree_config, self.tree_count)

    @property
    def pot(self) -> float:
        """Chips in the middle at the root of a spot; 0 for whole games."""
        return float(self.spot.pot) if self.spot else 0.0

    @cached_property
    def ranges(self) -> tuple[Range, Range] | None:
        """Both parsed ranges of a spot, oop first; None for whole games."""
        if self.spot is None:
            return None
        return self._range("oop", self.spot.oop), self._range("ip", self.spot.ip)

    @cached_property
    def range_pair(self) -> RangePair | None:
        """The ranges on the scale on which they are solved; None for whole games.

        Raises:
            InputError: the board leaves a range empty, or no two hands go together.
        """
        if self.ranges is None:
            return None
        return meet(self.ranges[0].weights, self.ranges[1].weights, hands(Deck(), 2))

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each range of which hands are left out, and why."""
        if self.ranges is None or self.range_pair is None:
            return ()
        told = []
        for name, held, small in zip(("oop", "ip"), self.ranges, self.range_pair.left_out, strict=True):
            if held.dropped:
                told.append(f"spot.{name}: {_listed(held.dropped)} left out: blocked by the board")
            if small:
                why = f"less than {SMALLEST:g} of the largest weight"
                told.append(f"spot.{name}: {_listed(small)} left out: {why}")
        return tuple(told)

    @property
    def too_deep_for_single(self) -> bool:
        """Whether stacks are so deep that sums of chips in single precision are off by what shows in the pot."""
        return self.spot is not None and self.spot.stack > MOST_POTS_SINGLE * self.spot.pot

    @cached_property
    def board(self) -> tuple[int, ...]:
        """The cards of the spot's board; empty for whole games."""
        if self.spot is None:
            return ()
        try:
            return parse_cards(self.spot.board)
        except CardError as error:
            raise InputError(f"spot.board: {error}") from None

    def problem(self) -> Problem:
        """What is to be solved.

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
        """Both players' initial weight of every hand of the deck, on the scale on which they are solved.

        Raises:
            InputError: ranges that the board leaves empty, or that cannot be dealt together.
        """
        if self.range_pair is not None:
            return self.range_pair.weights
        every = np.ones(len(hands(self.rules.deck, self.rules.num_hole_cards)))
        return every, every

    def manifest(self) -> dict[str, Any]:
        """What makes two jobs the same for a folder: all but where to stop and how many hands help."""
        data = json.loads(self.model_dump_json(by_alias=True))
        for key in ("target", "max_sweeps", "check_every", "workers", "memory"):
            del data["solve"][key]
        data["game"] = {"text": format_game(self.rules)}
        if not self.lock:  # as before there were any: folders stay what they are
            del data["lock"]
        if self.spot is not None and self.spot.rake is None:
            del data["spot"]["rake"]
        return {"spewy": 1, "job": data}

    @property
    def live(self) -> bool:
        """Whether chance leaves recurse into the chunks below instead of reading stored payoffs."""
        if self.solve.leaves != "auto":
            return self.solve.leaves == "live"
        bucketed = any(k is not None for k in self.rows_by_round)
        return not bucketed and self.solve.integrate == "regret"

    @property
    def one_program(self) -> bool:
        """Whether one linear program solves the whole game, boards and all, instead of a program per chunk."""
        return self.solve.method == "lp" and self.solve.integrate == "regret"

    @property
    def last_sweep(self) -> int:
        """After how many sweeps nothing more comes, whatever the target; a linear program is one."""
        return 1 if self.one_program else self.solve.max_sweeps

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        """Rows of each of the game's rounds; None: a row per hand."""
        chosen = [getattr(self.rows, name) for name in ROUND_NAMES[: self.rules.num_rounds]]
        return tuple(None if k == "hands" else k for k in chosen)

    def _range(self, name: str, text: str) -> Range:
        try:
            return parse_range(text, dead=self.board)
        except InputError as error:
            raise InputError(f"spot.{name}: {error}") from None

    def _check(self) -> None:
        """Find everything that is wrong now, not in the middle of a solve; the tree is built for locks alone."""
        self.history, self.weights  # noqa: B018 - which refuse what cannot be dealt
        require_sizes_used(self.tree_config, self.tree_count)
        if self.lock and self.tree_count.complete:
            self.problem()
        unit_chips(self.rules, self.pot, parse_target(self.solve.target)[1])
        self._check_method()

    def _check_method(self) -> None:
        """Refuse combinations that would quietly solve in another way than the job says."""
        solve = self.solve
        if self.one_program:
            self._check_program()
        if solve.integrate == "average" and solve.leaves == "live":
            raise InputError(
                'solve.leaves: "average" integrates stored chunks: expected "stored" or "auto", found "live"'
            )
        self._check_exact()
        for name in ROUND_NAMES[self.rules.num_rounds :]:
            if getattr(self.rows, name) != "hands":
                raise InputError(
                    f"rows.{name}: expected one of the {self.rules.num_rounds} rounds of {self.rules.name}"
                )

    def _check_program(self) -> None:
        """Refuse what the linear program of a whole game cannot say."""
        subject = 'solve.method: "lp" solves the whole game at once'
        if self.spot is not None and self.spot.rake is not None:
            raise InputError(f"{subject}, which has to be zero-sum: expected no spot.rake, found some")
        if self.solve.leaves == "stored":
            raise InputError(f'{subject}: expected solve.leaves = "auto" or "live", found "stored"')
        for name in ROUND_NAMES:
            rows = getattr(self.rows, name)
            if rows != "hands":
                raise InputError(
                    f'{subject}, with perfect recall, which buckets lose: expected rows.{name} = "hands", '
                    f'found {rows}; take solve.method = "cfr", or solve.integrate = "average"'
                )

    def _check_exact(self) -> None:
        """Refuse rake and locks where only walks with live leaves know of them; locks are by hand."""
        raked = self.spot is not None and self.spot.rake is not None
        key = "spot.rake" if raked else "lock"
        if not raked and not self.lock:
            return
        solve = self.solve
        for name, found, needed in (
            ("method", solve.method, ("cfr",) if raked else ("cfr", "lp")),
            ("integrate", solve.integrate, ("regret",)),
            ("leaves", solve.leaves, ("auto", "live")),
        ):
            if found not in needed:
                wanted = " or ".join(f'"{value}"' for value in needed)
                raise InputError(f'{key}: expected live leaves, solve.{name} = {wanted}, found "{found}"')
        bucketed = [name for name in ROUND_NAMES if getattr(self.rows, name) != "hands"]
        if self.lock and bucketed:
            name = bucketed[0]
            raise InputError(
                f'lock: expected a row per hand, rows.{name} = "hands", found {getattr(self.rows, name)}'
            )
        if not self.live:
            raise InputError(
                f'{key}: expected live leaves, solve.leaves = "live" where rows are buckets, '
                f'found "{solve.leaves}" and rows.{bucketed[0]} = {getattr(self.rows, bucketed[0])}'
            )

    @cached_property
    def history(self) -> History:
        """Public cards at the root, a group for each round that dealt any; none for whole games.

        Raises:
            InputError: a spot of another game than hold'em, or a board that ends no round.
        """
        game = self.rules
        if self.spot is None:
            return ()
        if game.num_hole_cards != 2 or len(game.deck) != 52:
            raise InputError(f"spot: expected a hold'em game (two hole cards, 52 cards), found {game.name}")
        sizes = np.cumsum(game.num_board_cards)
        if sizes.tolist().count(len(self.board)) != 1 or not self.board:
            allowed = ", ".join(map(str, sizes[1:]))
            raise InputError(
                f"spot.board: expected {allowed} cards, found {len(self.board)} ({self.spot.board})"
            )
        groups, start = [], 0
        for size in sizes[: int(np.searchsorted(sizes, len(self.board))) + 1]:
            if size > start:
                groups.append(tuple(sorted(self.board[start:size])))
                start = int(size)
        return tuple(groups)

    def _sizes(self, game: Game) -> Sizes:
        out: dict[int, RoundSizes] = {}
        for name, section in self.bets.items():
            number = ROUND_NAMES.index(name)
            if number >= game.num_rounds:
                raise InputError(f"bets.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
            oop, ip = (_player_sizes(f"bets.{name}", section, mine) for mine in (section.oop, section.ip))
            out[number] = (oop, ip)
        return out


def read_job(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The nested dictionaries of a job file, not yet validated, with the overrides of :meth:`Job.load`.

    Raises:
        InputError: the file cannot be read, is not TOML, or an override is none.
    """
    path = Path(path)
    subject = f"job {path_text(path)}"
    text = read_text(path, subject)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{subject}: expected TOML, found: {short(str(error))}") from None
    except ValueError:
        raise InputError(f"{subject}: expected numbers of a few digits, found one of thousands") from None
    except RecursionError:
        raise InputError(f"{subject}: expected a few nested brackets, found hundreds") from None
    for override in overrides:
        _override(data, override)
    game = data.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str):
        beside = path.parent / game["file"]
        if game["file"].endswith(".game") and beside.exists():
            game["file"] = str(beside)
    return data


def parse_target(text: str) -> tuple[float, Literal["%", "mbb", "chips"]]:
    """``"0.3%"`` of the pot, ``"1 mbb"`` per hand, or ``"0.005 chips"``."""
    for unit in ("%", "mbb", "chips"):
        if text.endswith(unit):
            try:
                number = float(text.removesuffix(unit))
            except ValueError:
                break
            if 0 <= number < float("inf"):
                return number, unit
    raise ValueError('expected a number of at least 0 and a unit: "0.3%", "1 mbb" or "0.005 chips"')


def unit_chips(game: Game, pot: float, unit: str) -> float:
    """Chips that one unit of a target is worth, in a spot with this pot or (0) in a whole game.

    Raises:
        InputError: % of the pot for a whole game, mbb for a spot.
    """
    if unit == "%":
        if not pot:
            raise InputError("solve.target: expected mbb or chips for a whole game, found %")
        return pot / 100
    if unit == "mbb":
        if pot:
            raise InputError("solve.target: expected % of the pot or chips for a spot, found mbb")
        return game.big_blind / 1000
    return 1.0


def parse_memory(text: str) -> int:
    """Bytes of ``"2 GiB"``, ``"500 MiB"``."""
    for unit, size in (("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)):
        if text.endswith(unit):
            try:
                number = float(text.removesuffix(unit)) * size
            except ValueError:
                break
            if 0 < number < float("inf"):
                return int(number)
    raise ValueError('expected a positive number and a unit: "500 MiB" or "2 GiB"')


def _override(data: dict[str, Any], text: str) -> None:
    """Set ``section.key=value`` in the nested dictionaries of a job."""
    path, equals, value = text.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise InputError(f"--set: expected section.key=value, found {shown(text)}")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        parsed = value.strip()  # bare text: no need to quote a quote for the shell
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise InputError(f"--set {short(text)}: expected {short(key)} to be a section, found a value")
    data[keys[-1]] = parsed


def _with_target(data: dict[str, Any]) -> dict[str, Any]:
    """The data with the default target of its kind: a share of the pot for spots, mbb for whole games."""
    solve = data.get("solve", {})
    if not isinstance(solve, dict) or "target" in solve:
        return data
    return data | {"solve": solve | {"target": "0.3%" if data.get("spot") else "1 mbb"}}


def _require_one_board(data: dict[str, Any], subject: str) -> None:
    """Refuse a list of boards: it stands for as many jobs, which :mod:`spewy.batch` takes apart."""
    spot = data.get("spot")
    if isinstance(spot, dict) and "boards" in spot:
        raise InputError(
            f"{subject}: spot.boards: expected one spot.board here (spewy solve takes a list), "
            f"found {shown(spot['boards'])}"
        )


def _explain(subject: str, item: Any) -> str:
    """One line for one thing that pydantic found: key, expected, found."""
    parts = (str(part) for part in item["loc"])
    key = short(
        ".".join(part.rstrip("_") for part in parts if part not in ("int", "str") and "[" not in part)
    )
    found = item["input"]
    if item["type"] == "extra_forbidden":
        return f"{subject}: unknown key {key}"
    if item["type"] == "missing":
        return f"{subject}: {key}: expected a value, found none"
    said = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    said = said if said.startswith("expected") else f"expected {said}"
    return f"{subject}: {key}: {said}, found {shown(found)}"


def _player_sizes(key: str, both: PlayerBets, mine: PlayerBets | None) -> PlayerSizes:
    """A player's own sizes where given, else those of the round."""
    own = mine or PlayerBets()
    bet = both.bet if own.bet is None else own.bet
    raises = both.raise_ if own.raise_ is None else own.raise_
    return player_sizes(bet or "", raises or "", both.donk if own.donk is None else own.donk, key)


def _listed(names: tuple[str, ...]) -> str:
    """Hands by name where there are few, else how many."""
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} hands"
