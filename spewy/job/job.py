"""The job file (TOML): what to solve and how. Validated whole on load; every error names the key.

Players, rounds and bet sizes are in the field's words; `Job.problem` turns them into a
`spewy.chunks.problem.Problem`, and `Job.manifest` is what a folder of lockers is stamped with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

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
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.game.ranges import Range, parse_range
from spewy.game.ranges.pair import SMALLEST, RangePair, meet
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
from spewy.job.dealing import Dealing, require_dealt_keys, require_undealt_keys
from spewy.job.load import explain, read_job, require_one_board, with_target
from spewy.job.locks import LockSection, node_locks
from spewy.job.rangefiles import with_range_files
from spewy.job.sections import (
    BetsSection,
    BoardsSection,
    DaskSection,
    GameSection,
    LeafKind,
    PlayerBets,
    RowsSection,
    SaveSection,
    Section,
    SolveSection,
    SpotSection,
    TreeSection,
)
from spewy.job.units import parse_target, unit_chips
from spewy.job.unused import require_used

MOST_NAMED = 6
MOST_POTS_SINGLE = 10_000
"""Pots that a stack may hold in single precision: EVs then sum to the pot within 1e-7 of it; at a million, 1e-5."""
NOT_OF_THE_FOLDER = (
    *("target", "max_sweeps", "max_time", "check_every", "check_flops", "seed"),
    *("answers", "workers", "memory"),
)
"""Keys of ``solve`` in which jobs for the same folder may differ."""
MOST_NAME = 255
"""Bytes of a job's name, which a folder bears."""


class Job(Section):
    """A whole job file."""

    name: str = Field(min_length=1)
    """Of the job, and of its folder in results."""
    unit: UnitName = "chips"
    """What amounts are in, here and in all that is shown: whole chips, or big blinds with decimals."""
    game: GameSection
    """The rules."""
    spot: SpotSection | None = None
    """Where the solve begins; leave it out to solve the whole game from the deal."""
    bets: dict[RoundName, BetsSection] = Field(default_factory=dict)
    """Bet sizes by round; one that is missing takes the round before it. Limit games need none."""
    tree: TreeSection = TreeSection()
    """Thresholds of bet sizes."""
    boards: BoardsSection | None = None
    """Classes of boards of a whole game, which is then solved on dealt boards."""
    rows: RowsSection = RowsSection()
    """Buckets, or a row per hand."""
    solve: SolveSection = SolveSection()
    """How to solve, and when to stop."""
    dask: DaskSection | None = None
    """The cluster that works, with solve.workers = "dask"."""
    save: SaveSection = SaveSection()
    """What the folder of a finished solve keeps."""
    lock: tuple[LockSection, ...] = Field((), strict=False)
    """Decisions where hands play given frequencies."""

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
        """Validate a job given as nested dictionaries, the file's form; files are relative to the working folder.

        Raises:
            InputError: as `load`.
        """
        job = cls.stored(with_range_files(data, Path()) if isinstance(data, dict) else data, subject)
        require_sizes_used(job.tree_config, job.tree_count)
        job._require_cluster()
        if not job.sampled:
            require_undealt_keys(job.solve)
        root = job.tree_config.start_round
        require_used(job.rules, root, job.bets, job.tree, job.solve, live=job.live)
        return job

    def replace(self, **solve: Any) -> Job:
        """The job with other keys of ``[solve]``, such as ``replace(target="0.1%", max_sweeps=500)``.

        Raises:
            InputError: as `load`.
        """
        data = self.model_dump(by_alias=True, exclude_unset=True)
        return Job.of(data | {"solve": data.get("solve", {}) | solve})

    @classmethod
    def stored(cls, data: dict[str, Any], subject: str) -> Job:
        """Validate a job that a folder holds: it names no files, and `of` has refused keys without effect before.

        Raises:
            InputError: as `load`.
        """
        if not isinstance(data, dict):
            raise InputError(f"{subject}: expected a table of sections, found {shown(data)}")
        require_one_board(data, subject)
        try:
            job = cls.model_validate(with_target(data))
        except ValidationError as error:
            lines = dict.fromkeys(explain(subject, item) for item in error.errors())
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
        return spot_config(game, start, self._pot(self.spot), stack, sizes, **options)

    @cached_property
    def betting_tree(self) -> BettingTree:
        """The explicit betting tree, built when its nodes are asked for."""
        return BettingTree(self.tree_config)

    @property
    def tree_count(self) -> TreeCount:
        """The betting tree's nodes, counted without building it."""
        return self.betting_tree.size

    @property
    def pot(self) -> float:
        """Chips in the middle at the root of a spot; 0 for whole games."""
        return float(self._pot(self.spot)) if self.spot else 0.0

    @cached_property
    def amounts(self) -> Unit:
        """What the file and those who look at its solve tell amounts in.

        Raises:
            InputError: the game's big blind does not divide into decimals.
        """
        return game_unit(self.unit, self.rules)

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
        for name, held, small in zip(SEAT_NAMES, self.ranges, self.range_pair.left_out, strict=True):
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
        """The cards of the spot's board in `Game.board_order`; empty for whole games."""
        if self.spot is None:
            return ()
        try:
            return self.rules.board_order(parse_cards(self.spot.board))
        except CardError as error:
            raise InputError(f"spot.board: {error}") from None

    @cached_property
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
        """What makes two jobs the same for a folder: all but which deals come, when to stop and who helps.

        Where boards have classes, also how these are made, which decides what their numbers stand for.
        """
        data = json.loads(self.model_dump_json(by_alias=True))
        for key in NOT_OF_THE_FOLDER:
            del data["solve"][key]
        del data["save"], data["dask"]
        data["game"] = {"text": format_game(self.rules)}
        for name, rows in zip(self.rules.round_names, self.rows_by_round, strict=True):
            data["rows"][name] = "hands" if rows is None else rows
        if not self.sampled:
            return {"spewy": 1, "job": data}
        from buckets.abstraction.making import (
            METHOD,  # of classes and rows, which decides what the numbers of either mean
        )

        return {"spewy": 1, "job": data, "abstraction": METHOD}

    @cached_property
    def first_live(self) -> int | None:
        """The first round of the game whose chunks those above enter live, as all after it; None: all are stored."""
        root, leaves = self.tree_config.start_round, self.solve.leaves
        if isinstance(leaves, str):
            bucketed = any(k is not None for k in self.rows_by_round)
            live = leaves == "live" or (
                leaves == "auto" and not bucketed and self.solve.integrate == "regret"
            )
            return root if live else None
        return next((ROUND_NAMES.index(name) for name, kind in self._leaves_by_round if kind == "live"), None)

    @property
    def live(self) -> bool:
        """Whether all chance leaves recurse into the chunks below, and none reads stored payoffs."""
        return self.first_live == self.tree_config.start_round

    @property
    def leaves_text(self) -> str:
        """What its chance leaves are, in words."""
        if self.live or self.first_live is None:
            return f"{'live' if self.live else 'stored'} leaves"
        return f"stored leaves, live ones from the {ROUND_NAMES[self.first_live]} on"

    @property
    def one_program(self) -> bool:
        """Whether one linear program solves the whole game, boards and all, instead of a program per chunk."""
        return self.solve.method == "lp" and self.solve.integrate == "regret"

    @property
    def last_sweep(self) -> int:
        """After how many sweeps nothing more comes, whatever the target; a linear program is one."""
        return 1 if self.one_program else self.solve.max_sweeps

    @property
    def first_dropped(self) -> int | None:
        """The first round of the game that the folder of a finished solve does not keep; None: it keeps all."""
        if self.save.rounds == "all":
            return None
        following = ROUND_NAMES.index(self.save.rounds) + 1
        return following if following < self.rules.num_rounds else None

    @property
    def check_sweeps(self) -> int:
        """Sweeps between two checks of a job without classes of boards."""
        assert isinstance(self.solve.check_every, int)  # a time was refused
        return self.solve.check_every

    @cached_property
    def dealing(self) -> Dealing | None:
        """How boards are dealt, of a job with classes of boards; None: all of them are walked through.

        Raises:
            InputError: as `Dealing.of`.
        """
        if self.boards is None:
            return None
        return Dealing.of(self.rules, self.boards, self.rows, self.solve)

    @property
    def sampled(self) -> bool:
        """Whether boards are dealt, and those of a class learn together."""
        return self.boards is not None

    def require_walked(self, subject: str) -> None:
        """Refuse classes of boards where all boards are walked through.

        Raises:
            InputError: there are some.
        """
        if self.sampled:
            raise InputError(
                f"{subject}: expected a job all of whose boards are walked through, found one with [boards], "
                "whose boards are dealt"
            )

    @property
    def rows_by_round(self) -> tuple[int | None, ...]:
        """Rows of each of the game's rounds; None: a row per hand."""
        if self.dealing is not None:
            return self.dealing.rows
        chosen = [getattr(self.rows, name) for name in ROUND_NAMES[: self.rules.num_rounds]]
        return tuple(None if k == "hands" else k for k in chosen)

    def _pot(self, spot: SpotSection) -> int:
        """Chips in the middle at a spot's root."""
        return self.amounts.read(spot.pot, "spot.pot")

    def _range(self, name: str, text: str) -> Range:
        try:
            return parse_range(text, dead=self.board)
        except InputError as error:
            raise InputError(f"spot.{name}: {error}") from None

    def _check(self) -> None:
        """Find everything that is wrong now, not in the middle of a solve."""
        if self.sampled:
            self._check_sampled()
        elif self.spot is None and self.rules.num_board_cards[0]:
            raise InputError(
                f"game {self.rules.name}: public cards are dealt before the first action; such games are solved by "
                "dealing, so add a section [boards]"
            )
        self.history, self.weights  # noqa: B018 - which refuse what cannot be dealt, before sizes are looked at
        self.problem  # noqa: B018 - which refuses locks and sizes that do not fit
        unit_chips(self.rules, self.pot, parse_target(self.solve.target)[1])
        self._check_method()
        names = self.rules.round_names[self.tree_config.start_round :]
        if self.save.rounds not in (*names, "all"):
            raise InputError(f"save.rounds: expected {', '.join(names)} or all, found {self.save.rounds}")

    def _require_cluster(self) -> None:
        """Refuse a cluster that would have nothing to do."""
        if self.dask is not None and self.solve.workers != "dask":
            raise InputError(
                f'dask: expected none without solve.workers = "dask", found one beside {self.solve.workers}'
            )
        if self.solve.workers == "dask" and not self.sampled and (self.live or self.one_program):
            raise InputError(
                'solve.workers: expected a number of threads where leaves are live, "dask" is for stored chunks and '
                'for jobs with [boards]; found "dask"'
            )

    def _check_sampled(self) -> None:
        """Refuse what dealt boards cannot have; `dealing` refuses classes that there are not."""
        for key, found in (("spot", self.spot), ("lock", self.lock)):
            if found:
                raise InputError(f"{key}: expected none beside [boards], which is for whole games; found one")
        if self.save.rounds != "all":
            raise InputError(
                "save.rounds: expected none beside [boards], where spewy drop --regrets makes folders small; "
                f"found {self.save.rounds}"
            )
        require_dealt_keys(self.rows, self.solve)

    @property
    def _leaves_found(self) -> str:
        """What the file says of leaves, as messages tell it."""
        leaves = self.solve.leaves
        return f'"{leaves}"' if isinstance(leaves, str) else shown(leaves)

    @property
    def _leaves_by_round(self) -> list[tuple[RoundName, LeafKind]]:
        """What the table says of each round of the solve: a round that it leaves out is as the one above it."""
        kind: LeafKind = "stored"
        out = []
        for name in ROUND_NAMES[self.tree_config.start_round : self.rules.num_rounds]:
            assert isinstance(self.solve.leaves, dict)
            kind = self.solve.leaves.get(name, kind)
            out.append((name, kind))
        return out

    def _check_leaves(self) -> None:
        """Refuse a table of leaves with rounds that there are not, or with live rounds above stored ones."""
        if isinstance(self.solve.leaves, str):
            return
        kinds = self._leaves_by_round
        rounds = [name for name, _ in kinds]
        for name, kind in self.solve.leaves.items():
            if name not in rounds:
                raise InputError(
                    f"solve.leaves.{name}: expected one of the rounds of this solve, {', '.join(rounds)}, "
                    f'found "{kind}"'
                )
        for (above, upper), (below, lower) in pairwise(kinds):
            if (upper, lower) == ("live", "stored"):
                raise InputError(
                    f'solve.leaves.{below}: expected "live" below a live {above}, whose leaves enter the chunks below '
                    f'and read no stored payoffs, found "stored"'
                )

    def _check_method(self) -> None:
        """Refuse combinations that would quietly solve in another way than the job says."""
        self._check_leaves()
        if self.one_program:
            self._check_program()
        if self.solve.integrate == "average" and self.first_live is not None:
            raise InputError(
                'solve.leaves: "average" integrates stored chunks: expected "stored" or "auto", '
                f"found {self._leaves_found}"
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
        if self.solve.leaves != "auto" and not self.live:
            raise InputError(
                f'{subject}: expected solve.leaves = "auto" or "live", found {self._leaves_found}'
            )
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
        ):
            if found not in needed:
                wanted = " or ".join(f'"{value}"' for value in needed)
                raise InputError(f'{key}: expected live leaves, solve.{name} = {wanted}, found "{found}"')
        if solve.leaves != "auto" and not self.live:
            raise InputError(
                f'{key}: expected live leaves, solve.leaves = "auto" or "live", found {self._leaves_found}'
            )
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
        return game.cut(self.board)

    def _sizes(self, game: Game) -> Sizes:
        out: dict[int, RoundSizes] = {}
        for name, section in self.bets.items():
            number = ROUND_NAMES.index(name)
            if number >= game.num_rounds:
                raise InputError(f"bets.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
            oop, ip = (
                _player_sizes(f"bets.{name}", section, mine, self.amounts)
                for mine in (section.oop, section.ip)
            )
            out[number] = (oop, ip)
        return out


def _player_sizes(key: str, both: PlayerBets, mine: PlayerBets | None, unit: Unit) -> PlayerSizes:
    """A player's own sizes where given, else those of the round."""
    own = mine or PlayerBets()
    bet = both.bet if own.bet is None else own.bet
    raises = both.raise_ if own.raise_ is None else own.raise_
    return player_sizes(bet or "", raises or "", both.donk if own.donk is None else own.donk, key, unit)


def _listed(names: tuple[str, ...]) -> str:
    """Hands by name where there are few, else how many."""
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} hands"
