"""The sections of a job file, each validated on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from buckets.abstraction import GROUPINGS
from solvers.discount import VARIANTS
from spewy.game.gamefile import MAX_CHIPS
from spewy.game.names import ROUND_NAMES, RoundName
from spewy.job.texts import SHARE, board_text, parse_duration, parse_memory, parse_target, share
from spewy.system.html import Printed, Table

MOST_ITERATIONS = 10_000
"""Largest number of iterations in a visit; Ctrl-C waits for the visit, and a chunk converges sooner."""

MOST_INTEGER = 2**63 - 1
"""Largest integer in a job file."""


class Section(Printed, BaseModel):
    """A table of the job file; unknown keys and values of a wrong type are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    without_effect: ClassVar[tuple[str, ...]] = ()
    """Keys of the base class that have no effect in this section."""

    def _table(self) -> Table:
        return Table.of_facts(
            type(self).__name__, dict(_dotted(self.model_dump(by_alias=True, exclude_unset=True)))
        )

    def __str__(self) -> str:
        return repr(self)

    @field_validator("*", mode="after")
    @classmethod
    def _fits(cls, value: object) -> object:
        """Return a value unchanged; refuse an integer of more than 64 bits."""
        if type(value) is int and abs(value) > MOST_INTEGER:
            raise ValueError(f"expected a number of at most {MOST_INTEGER}")
        return value


def _dotted(data: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys of nested dictionaries, such as ``spot.board``, with their values as text (None stays)."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", None if value is None else str(value)


def readable(parse: Callable[[str], object]) -> AfterValidator:
    """Make a validator that returns a text unchanged, unless ``parse`` raises a ValueError for the text."""

    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


WITH_BOARDS = "with [boards]"


def no_effect(section: type[Section], names: tuple[str, ...], reason: str) -> Any:
    """Make a validator that refuses keys ``names``, unless they have the default values of ``section``.

    ``reason`` ends the message "has no effect ...", such as "with [boards]".
    """

    def is_default(value: object, info: ValidationInfo) -> object:
        assert info.field_name is not None
        default = section.model_fields[info.field_name].get_default(call_default_factory=True)
        if value != default and value not in (None, [], ()):
            raise PydanticCustomError("no_effect", "has no effect {reason}; remove it", {"reason": reason})
        return value

    return field_validator(*names, mode="before")(is_default)


class GameSection(Section):
    """Rules of the game, in a file or as text."""

    file: str | None = None
    """Name of a game that comes with spewy, such as holdem.nolimit.2p.reverse_blinds, or a path to a .game file."""
    text: str | None = None
    """Text of a .game file, instead of the key file."""

    @model_validator(mode="after")
    def _one(self) -> GameSection:
        if (self.file is None) == (self.text is None):
            raise ValueError("expected either file or text")
        return self


class RakeSection(Section):
    """Rake, which the house takes from every pot."""

    rate: Annotated[float, Field(ge=0), BeforeValidator(share), WithJsonSchema(SHARE)]
    """Rake as a share of the pot: 0.05, or "5%"."""
    cap: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Largest rake, in the job's unit; default: no limit."""


def _amount(value: object) -> object:
    """Return a value unchanged; refuse a value that is not a number."""
    if type(value) not in (int, float):
        raise ValueError("expected a number")
    return value


Amount = Annotated[
    int | float,
    Field(gt=0, le=MAX_CHIPS),
    BeforeValidator(_amount),
    AfterValidator(
        lambda value: int(value) if float(value).is_integer() else value
    ),  # 300.0 is the job of 300
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": MAX_CHIPS}),
]
"""An amount in the job's unit: whole chips, or big blinds with decimals."""


BoardText = Annotated[str, AfterValidator(board_text)]


class SpotSection(Section):
    """A spot: the board, the pot, the effective stack and both ranges at the root of the solve."""

    board: BoardText
    """Board of three to five cards, such as "Qs Jh 2h"."""
    pot: Amount
    """Pot at the root, in the job's unit: whole chips, or big blinds with decimals."""
    stack: Amount
    """Effective stack, the smaller of both players' chips behind at the root, in the job's unit."""
    oop: str
    """Range of the player who acts first, such as "QQ+,AKs:0.5,A5s-A2s,KhQh", or "@btn.txt" for a file."""
    ip: str
    """Range of the player who acts last, written like the range of oop."""
    rake: RakeSection | None = None
    """The part of each pot that the house takes; default: no rake."""


class PlayerBets(Section):
    """Bet sizes of one player in a round; a missing key takes the round's value for both players."""

    bet: str | None = None
    """Bet sizes, separated by commas: 60% (of the pot), 100c (chips) or 2.5bb, e (geometric), a (all-in)."""
    raise_: str | None = Field(None, alias="raise")
    """Raise sizes, written like bet sizes; also 2.5x (the bet faced). 60% adds 60% of the pot to a call."""
    donk: str | None = None
    """Sizes of bets into the player who bet or raised last in the round before; default: the key bet."""


class BetsSection(PlayerBets):
    """Bet sizes of a round, for both players together or for each player."""

    oop: PlayerBets | None = None
    """Bet sizes of the player who acts first, if they differ from those of both players in this round."""
    ip: PlayerBets | None = None
    """Bet sizes of the player who acts last, if they differ from those of both players in this round."""


class TreeSection(Section):
    """Thresholds that add an all-in, turn a bet into an all-in, or merge bet sizes."""

    add_allin: float = Field(0.0, ge=0)
    """Add an all-in to the bet sizes if it is at most this share of the pot."""
    force_allin: float = Field(0.0, ge=0)
    """Turn a bet into an all-in if it leaves at most this share of the pot behind."""
    allin_from: float = Field(1.0, ge=0, le=1)
    """Turn a bet into an all-in if the player has then put in more than this share of the stack; default: 1, never."""
    short_allins: bool = True
    """Whether a player may raise all-in by less than the smallest raise of the rules."""
    check_down: bool = False
    """Leave out the checks of rounds from which on no sizes allow a bet; their lines go straight to the showdown."""
    merge: float = Field(0.0, ge=0)
    """Merge two bet sizes into the larger one if they differ by less than about this share of the pot."""
    min_bet: Amount | None = None
    """Smallest bet, in the job's unit; default: one chip in spots, the big blind in whole games."""
    max_raises: int | None = Field(None, gt=0)
    """Largest number of bets and raises in a round (2: a bet and one raise); default: no limit."""
    lines: list[str] | None = None
    """Lines such as ["x b120 r384 c / b300"], whose bets and raises are the only ones of the tree, without [bets]."""


class RowsSection(Section):
    """Number of rows on a board in each round, and the clustering that groups hands into rows."""

    preflop: int | Literal["hands"] = "hands"
    """Number of hand buckets (rows) before the flop; "hands": a row for each hand."""
    flop: int | Literal["hands"] = "hands"
    """Number of hand buckets (rows) on each flop; "hands": a row for each hand."""
    turn: int | Literal["hands"] = "hands"
    """Number of hand buckets (rows) on each turn board; "hands": a row for each hand."""
    river: int | Literal["hands"] = "hands"
    """Number of hand buckets (rows) on each river board; "hands": a row for each hand."""
    clustering: str = "equation-1"
    """Algorithm that groups hands into rows: equation-1, ward, k-means, strength-k-means or equity-quantiles."""
    weights: Literal["uniform", "ranges"] = "uniform"
    """Weights of hands in the clustering: the same for all hands ("uniform"), or the player's range ("ranges")."""

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


class SampledRows(RowsSection):
    """Number of rows (hand buckets) in each board bucket, by round; "hands": a row for each hand."""

    without_effect: ClassVar[tuple[str, ...]] = ("clustering", "weights")
    _unused = no_effect(RowsSection, without_effect, WITH_BOARDS)


class BoardsSection(Section):
    """Number of board buckets by round; the boards of a bucket share a strategy."""

    flop: int | Literal["all"] = "all"
    """Number of board buckets that flops are grouped into; "all": a bucket for each canonical flop."""
    turn: int | Literal["all"] = "all"
    """Number of board buckets that turn boards are grouped into; "all": a bucket for each canonical board."""
    river: int | Literal["all"] = "all"
    """Number of board buckets that river boards are grouped into; "all": a bucket for each canonical board."""
    remember: bool | Literal["order"] = False
    """Whether each board bucket of turns or rivers contains only boards whose flops share a board bucket; "order": the
    boards of a bucket are similar, and so are the boards before their last card."""

    @field_validator("flop", "turn", "river", mode="before")
    @classmethod
    def _positive(cls, value: object) -> object:
        if value != "all" and (type(value) is not int or value < 1):
            raise ValueError('expected "all" or a number of buckets of at least 1')
        return value

    @field_validator("remember", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if type(value) is not bool and value != "order":
            raise ValueError('expected true, false or "order"')
        return value


class SaveSection(Section):
    """Strategies that the folder of a finished solve keeps."""

    rounds: Literal["preflop", "flop", "turn", "river", "all"] = "all"
    """Last round whose strategies the folder keeps, or "all"; `spewy show` and others solve later rounds again."""


class SampledSave(SaveSection):
    """The section [save] of a job with [boards]; it has no effect, since a finished folder keeps all strategies."""

    without_effect: ClassVar[tuple[str, ...]] = ("rounds",)
    _unused = no_effect(
        SaveSection, without_effect, f"{WITH_BOARDS}, where `spewy drop` makes a finished folder smaller"
    )


class DaskSection(Section):
    """Dask cluster that does the work, if solve.workers = "dask"."""

    address: str | None = None
    """Address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; default: start a cluster on this machine."""
    workers: int | None = Field(None, gt=0)
    """Number of workers; default: all workers of the scheduler, or one per core of this machine."""
    interval: int | None = Field(None, gt=0)
    """Largest number of deals of each worker before the workers exchange results, with [boards]; default: automatic."""


LeafKind = Literal["stored", "live"]
LEAVES = ("auto", "stored", "live")


class SolveSection(Section):
    """Method of the solve, and when to stop."""

    method: Literal["cfr", "lp"] = "cfr"
    """Method: "cfr" (counterfactual regret minimisation) or "lp" (exact linear programs, for small games)."""
    choose: Literal["entropy", "sizes", "bluff"] | None = None
    """Equilibrium that method "lp" picks: "entropy" (most mixed), "sizes" (few bet sizes), "bluff" (least bluffing)."""
    variant: Annotated[str, WithJsonSchema({"type": "string", "enum": list(VARIANTS)})] | None = None
    """Variant of CFR; by default, the engine's."""
    integrate: Literal["regret", "average"] = "regret"
    """Quantity that a visit adds to a stored chunk: regrets of CFR ("regret"), or a local optimum ("average")."""
    leaves: Literal["auto", "stored", "live"] | dict[RoundName, LeafKind] = "auto"
    """Values at chance leaves: from "live" chunks or "stored" payoffs of the next round; also a table by round."""
    target: Annotated[str, readable(parse_target)] = "0.3%"
    """Exploitability to stop at: "0.3%" of the pot (spots), "1 mbb" per hand (whole games), "0.01 bb" or "1 chips"."""
    max_sweeps: int | None = Field(None, gt=0)
    """Largest number of sweeps, by default 1000; with [boards], largest number of deals, by default unlimited."""
    quick: Annotated[str, readable(parse_duration)] | None = None
    """Time of a quick solve of a flop or turn, such as "3 s"; later rounds have few bets, and are solved when shown."""
    max_time: Annotated[str, readable(parse_duration)] | None = None
    """Time limit of all runs together, such as "8 h", with [boards]; it includes the last check of exploitability."""
    check_every: int | str | None = None
    """Sweeps between two checks of exploitability, 10 by default; with [boards] a time, "30 min" by default."""
    check_flops: int = Field(5, gt=0)
    """Number of random flops on which each check measures exploitability, with [boards]."""
    seed: int = Field(0, ge=0, lt=2**63)
    """Seed of the sampled boards, with [boards]."""
    cfr_br: float = Field(0.0, ge=0, le=1, validation_alias=AliasChoices("cfr_br", "answers"))
    """Share of the opponents' play that is a rival's, who learns only to beat a player (CFR-BR), with [boards]."""
    coarse_to_fine: bool = False
    """Whether the solve begins with few board buckets and rows, and gets all of them in stages, with [boards]."""
    iterations: int | None = Field(None, gt=0, le=MOST_ITERATIONS)
    """Number of CFR iterations in each visit to a stored chunk."""
    order: Literal["bottom-up", "top-down"] = "bottom-up"
    """Order of rounds in a sweep over stored chunks: last round first ("bottom-up"), or first round first."""
    tremble: float = Field(1e-3, gt=0, lt=1)
    """Fraction of the initial range added to each range, so that every row is reached; for integrate = "average"."""
    refine: bool = False
    """Whether decisions that play hardly reaches are solved well too: opponents tremble, ever less; for live leaves."""
    symmetry: bool = True
    """Whether boards that differ only in the names of suits are solved once, together."""
    precision: Literal["auto", "16-bit", "single", "double"] = "auto"
    """Precision of regrets and strategy sums; 16-bit takes half the memory of single."""
    workers: int | Literal["dask"] = 1
    """Threads of the solve (processes for stored chunks); "dask": a Dask cluster, for stored chunks or [boards]."""
    memory: Annotated[str, readable(parse_memory)] = "2 GiB"
    """Memory limit, such as "500 MiB" or "2 GiB"; larger jobs stream data from disk or are refused."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory that ``memory`` allows."""
        return parse_memory(self.memory)

    @property
    def threads(self) -> int:
        """Number of threads or processes on this machine; 1 if a cluster does the work."""
        return 1 if self.workers == "dask" else self.workers

    @property
    def short(self) -> bool:
        """Whether regrets and strategy sums are stored as 16-bit numbers."""
        return self.precision == "16-bit"

    @field_validator("leaves", mode="before")
    @classmethod
    def _leaves(cls, value: object) -> object:
        if not isinstance(value, dict):
            if value not in LEAVES:
                raise ValueError(
                    'expected "auto", "stored", "live", or a table of "stored" and "live" by round'
                )
        elif not value or not set(value) <= set(ROUND_NAMES):
            raise ValueError(f"expected rounds among {', '.join(ROUND_NAMES)}")
        elif any(kind not in LEAVES[1:] for kind in value.values()):
            raise ValueError('expected "stored" or "live" for each round')
        return value

    @field_validator("variant")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and value not in VARIANTS:
            raise ValueError(f"expected one of {', '.join(VARIANTS)}")
        return value

    @field_validator("workers", mode="before")
    @classmethod
    def _workers(cls, value: object) -> object:
        if value != "dask" and (type(value) is not int or value < 1):
            raise ValueError('expected a number of at least 1, or "dask"')
        return value


class WalkedSolve(SolveSection):
    """Method of a solve that visits all boards, and when to stop."""

    max_sweeps: int = Field(1000, gt=0)
    """Largest number of sweeps."""
    check_every: int | None = Field(None, gt=0)
    """Number of sweeps between two checks of exploitability; default: 10, or fewer checks in larger exact solves."""

    without_effect: ClassVar[tuple[str, ...]] = (
        *("max_time", "check_flops", "seed", "cfr_br", "coarse_to_fine"),
    )
    _unused = no_effect(SolveSection, without_effect, "without [boards]")

    @field_validator("check_every", mode="before")
    @classmethod
    def _interval(cls, value: object) -> object:
        if isinstance(value, str):
            parse_duration(value)
            raise ValueError("expected a number of sweeps; a time is for jobs with [boards]")
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError("expected a number of sweeps of at least 1")
        return value


class SampledSolve(SolveSection):
    """Method of a solve with [boards], which samples boards, and when to stop."""

    check_every: str = "30 min"
    """Time between two checks of exploitability, such as "30 min"."""
    precision: Literal["auto", "16-bit", "single"] = "auto"
    """Precision of regrets and strategy sums; 16-bit takes half the memory of single."""

    without_effect: ClassVar[tuple[str, ...]] = (
        *("method", "choose", "variant", "integrate", "leaves", "iterations", "order", "tremble"),
        *("refine", "symmetry", "quick"),
    )
    _unused = no_effect(SolveSection, without_effect, WITH_BOARDS)

    @field_validator("check_every", mode="before")
    @classmethod
    def _interval(cls, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError('expected a time such as "30 min"')
        parse_duration(value)
        return value
