"""The sections of a job file, each validated on its own."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
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
from spewy.job.units import parse_duration, parse_memory, parse_target

MOST_ITERATIONS = 10_000
"""Largest number of iterations in a visit; Ctrl-C waits for the visit, and a chunk converges sooner."""

MOST_INTEGER = 2**63 - 1
"""Largest integer in a job file."""


class Section(BaseModel):
    """A table of the file; unknown keys and values of a wrong type are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    without_effect: ClassVar[tuple[str, ...]] = ()
    """Keys without effect for a section's kind of jobs."""

    @field_validator("*", mode="after")
    @classmethod
    def _fits(cls, value: object) -> object:
        """Refuse integers that neither NumPy nor a float can hold."""
        if type(value) is int and abs(value) > MOST_INTEGER:
            raise ValueError(f"expected a number of at most {MOST_INTEGER}")
        return value


WITH_BOARDS = "with [boards]"


def no_effect(section: type[Section], names: tuple[str, ...], reason: str) -> Any:
    """Make a validator that refuses keys without effect, unless they have their default values.

    Args:
        section: the section with the default values.
        names: the keys.
        reason: the case in which the keys have no effect.
    """

    def is_default(value: object, info: ValidationInfo) -> object:
        assert info.field_name is not None
        default = section.model_fields[info.field_name].get_default(call_default_factory=True)
        if value != default and value not in (None, [], ()):
            raise PydanticCustomError("no_effect", "has no effect {reason}; remove it", {"reason": reason})
        return value

    return field_validator(*names, mode="before")(is_default)


class GameSection(Section):
    """The rules of the game, in a file or as text."""

    file: str | None = None
    """A shipped game's name, such as holdem.nolimit.2p.reverse_blinds, or a path to a .game file."""
    text: str | None = None
    """Text of a .game file, instead of file."""

    @model_validator(mode="after")
    def _one(self) -> GameSection:
        if (self.file is None) == (self.text is None):
            raise ValueError("expected either file or text")
        return self


class RakeSection(Section):
    """The rake, which the house takes from every pot."""

    rate: float = Field(ge=0, le=1)
    """Share of the pot: 0.05 is 5%."""
    cap: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Upper bound of the rake, in the job's unit."""


def _amount(value: object) -> object:
    """Refuse a value that is not a number."""
    if type(value) not in (int, float):
        raise ValueError("expected a number")
    return value


Amount = Annotated[
    int | float,
    Field(gt=0, le=MAX_CHIPS),
    BeforeValidator(_amount),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": MAX_CHIPS}),
]
"""Whole chips, or big blinds with decimals."""


class SpotSection(Section):
    """A public state after the deal: cards, chips in the middle and behind, and both ranges."""

    board: str
    """Board of three to five cards, such as Qs Jh 2h."""
    pot: Amount
    """Pot at the root, in the job's unit: whole chips, or big blinds with decimals."""
    stack: Amount
    """Effective stack behind, the smaller of both players' stacks, in the job's unit."""
    oop: str
    """Range of the first player to act: QQ+,AKs:0.5,A5s-A2s,KhQh, [50]AA[/50], 12.5%, or @file.txt beside the job."""
    ip: str
    """Range of the last player to act, in the form of oop."""
    rake: RakeSection | None = None
    """Rake; none by default."""


class PlayerBets(Section):
    """Bet sizes of one player in a round; a missing key takes the round's sizes for both players."""

    bet: str | None = None
    """Sizes of bets: 60% of the pot, 100c (chips) or 2.5bb, e (geometric), a (all-in), with commas between them."""
    raise_: str | None = Field(None, alias="raise")
    """Sizes of raises: the forms of bets, and 2.5x the bet faced; 60% of the pot is added to a call."""
    donk: str | None = None
    """Sizes of bets into the aggressor of the round before; default: those of bet."""


class BetsSection(PlayerBets):
    """Bet sizes of a round, for both players or for each."""

    oop: PlayerBets | None = None
    """Sizes of the player who acts first, if they differ."""
    ip: PlayerBets | None = None
    """Sizes of the player who acts last, if they differ."""


class TreeSection(Section):
    """Thresholds, in fractions of the pot, that add an all-in, turn a bet into an all-in, or merge sizes."""

    add_allin: float = Field(0.0, ge=0)
    """Largest all-in, as a share of the pot, that is added to the sizes."""
    force_allin: float = Field(0.0, ge=0)
    """Share of the pot: a bet that leaves at most this much behind becomes all-in."""
    merge: float = Field(0.0, ge=0)
    """Distance within which the larger of two sizes replaces both."""
    min_bet: Amount | None = None
    """The smallest bet, in the job's unit; default: a chip in spots, the big blind in whole games."""


class RowsSection(Section):
    """Rows per board: a number of buckets or "hands"; the clustering of hands, and the weights of hands in it."""

    preflop: int | Literal["hands"] = "hands"
    """Number of rows before the flop, or "hands"."""
    flop: int | Literal["hands"] = "hands"
    """Number of rows on a flop, or "hands"."""
    turn: int | Literal["hands"] = "hands"
    """Number of rows on a turn, or "hands"."""
    river: int | Literal["hands"] = "hands"
    """Number of rows on a river, or "hands"."""
    clustering: str = "equation-1"
    """Clustering that groups hands into rows."""
    weights: Literal["uniform", "ranges"] = "uniform"
    """Weights of hands in the clustering: all alike, or those of the player's range."""

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
    """Rows per board bucket: a number of buckets or "hands"."""

    without_effect: ClassVar[tuple[str, ...]] = ("clustering", "weights")
    _unused = no_effect(RowsSection, without_effect, WITH_BOARDS)


class BoardsSection(Section):
    """Number of board buckets by round, whose boards share a strategy; "all": a bucket for each board up to suits."""

    flop: int | Literal["all"] = "all"
    """Number of buckets of flops."""
    turn: int | Literal["all"] = "all"
    """Number of buckets of turns."""
    river: int | Literal["all"] = "all"
    """Number of buckets of rivers."""
    remember: bool = False
    """Whether buckets of later rounds remember the bucket of the flop."""

    @field_validator("flop", "turn", "river", mode="before")
    @classmethod
    def _positive(cls, value: object) -> object:
        if value != "all" and (type(value) is not int or value < 1):
            raise ValueError('expected "all" or a number of classes of at least 1')
        return value


class SaveSection(Section):
    """Strategies that the folder of a finished solve keeps: those up to a round, or all."""

    rounds: Literal["preflop", "flop", "turn", "river", "all"] = "all"
    """Last round whose strategies are kept; later rounds are re-solved when somebody looks at them."""


class SampledSave(SaveSection):
    """Strategies that the folder of a finished solve by dealt boards keeps: all."""

    without_effect: ClassVar[tuple[str, ...]] = ("rounds",)
    _unused = no_effect(
        SaveSection, without_effect, f"{WITH_BOARDS}, where `spewy drop` makes a finished folder smaller"
    )


class DaskSection(Section):
    """The cluster that solves, with solve.workers = "dask"."""

    address: str | None = None
    """Address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; default: a cluster is started on this machine."""
    workers: int | None = Field(None, gt=0)
    """Shares of an interval, and processes of a local cluster; default: one per worker, one per core."""
    interval: int | None = Field(None, gt=0)
    """Largest number of deals of a worker between two exchanges, with [boards]; default: automatic."""


LeafKind = Literal["stored", "live"]
LEAVES = ("auto", "stored", "live")


class SolveSection(Section):
    """How to solve, and when to stop."""

    method: Literal["cfr", "lp"] = "cfr"
    """Counterfactual regret minimisation, or an exact linear program for small games."""
    variant: str | None = None
    """Variant of CFR: cfr, cfr+, lcfr, dcfr, dcfr-steep, pcfr+; default: dcfr-steep in the exact engine, else dcfr."""
    integrate: Literal["regret", "average"] = "regret"
    """How a visit changes the lockers: it adds regrets, or averages in a local optimum."""
    leaves: Literal["auto", "stored", "live"] | dict[RoundName, LeafKind] = "auto"
    """View of the next round at chance leaves: live chunks or stored payoffs, for all rounds or by round."""
    target: str = "0.3%"
    """Exploitability to stop at: "0.3%" of the pot (spots), "1 mbb" per hand (whole games), "0.01 bb" or "1 chips"."""
    max_sweeps: int | None = Field(None, gt=0)
    """Largest number of sweeps, by default 1000; with [boards], of deals, by default unlimited."""
    max_time: str | None = None
    """Time limit of a job with [boards], all runs together, such as "8 h".

    From the second check on, the limit includes the last check: the solve leaves as much time as the check before took.
    """
    check_every: int | str | None = None
    """Number of sweeps between two checks, 10 by default; with [boards] a time, "30 min" by default."""
    check_flops: int = Field(5, gt=0)
    """Number of flops that a check measures on, with [boards]."""
    seed: int = Field(0, ge=0, lt=2**63)
    """Seed of the deals, with [boards]."""
    cfr_br: float = Field(0.0, ge=0, le=1, validation_alias=AliasChoices("cfr_br", "answers"))
    """Share of the opponent's last round that best-responds on the dealt board, with [boards]."""
    iterations: int | None = Field(None, gt=0, le=MOST_ITERATIONS)
    """Number of CFR iterations in one visit of a stored chunk."""
    order: Literal["bottom-up", "top-down"] = "bottom-up"
    """Order of the rounds in a sweep over stored chunks."""
    estimate: Literal["no-betting", "closest", "regression"] = "no-betting"
    """Payoffs of unvisited chunks in the first top-down sweep: all-in equity, the closest stored line, a regression."""
    tremble: float = Field(1e-3, gt=0, lt=1)
    """Share of uniform play that keeps every row alive, with integrate = "average"."""
    symmetry: bool = True
    """Whether boards that are the same up to suits are solved once."""
    precision: Literal["auto", "16-bit", "single", "double"] = "auto"
    """Precision of regrets and sums; 16-bit takes half the memory of single."""
    workers: int | Literal["dask"] = 1
    """Number of threads, or of processes for stored chunks; "dask" (stored chunks, [boards]): a cluster, see [dask]."""
    memory: str = "2 GiB"
    """Memory limit, such as "500 MiB" or "2 GiB"; larger jobs stream from disk or are refused."""

    @property
    def threads(self) -> int:
        """Number of threads or processes on this machine; 1 if a cluster does the work."""
        return 1 if self.workers == "dask" else self.workers

    @property
    def short(self) -> bool:
        """Whether regrets and sums are kept in 16 bits."""
        return self.precision == "16-bit"

    @field_validator("leaves", mode="before")
    @classmethod
    def _leaves(cls, value: object) -> object:
        if not isinstance(value, dict):
            if value not in LEAVES:
                raise ValueError('expected "auto", "stored", "live", or a table of the last two by round')
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

    @field_validator("max_time")
    @classmethod
    def _time(cls, value: str | None) -> str | None:
        if value is not None:
            parse_duration(value)
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


class WalkedSolve(SolveSection):
    """How to solve a job that walks through all boards."""

    max_sweeps: int = Field(1000, gt=0)
    """Largest number of sweeps."""
    check_every: int = Field(10, gt=0)
    """Number of sweeps between two checks."""

    without_effect: ClassVar[tuple[str, ...]] = ("max_time", "check_flops", "seed", "cfr_br")
    _unused = no_effect(SolveSection, without_effect, "without [boards]")

    @field_validator("check_every", mode="before")
    @classmethod
    def _interval(cls, value: object) -> object:
        if isinstance(value, str):
            parse_duration(value)
            raise ValueError("expected a number of sweeps; a time is for jobs with [boards]")
        if type(value) is not int or value < 1:
            raise ValueError("expected a number of sweeps of at least 1")
        return value


class SampledSolve(SolveSection):
    """How to solve a job whose boards are dealt."""

    check_every: str = "30 min"
    """Time between two checks, such as "30 min"."""
    precision: Literal["auto", "16-bit", "single"] = "auto"
    """Precision of regrets and sums; 16-bit takes half the memory of single."""

    without_effect: ClassVar[tuple[str, ...]] = (
        *("method", "variant", "integrate", "leaves", "iterations", "order", "estimate", "tremble"),
        "symmetry",
    )
    _unused = no_effect(SolveSection, without_effect, WITH_BOARDS)

    @field_validator("check_every", mode="before")
    @classmethod
    def _interval(cls, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError('expected a time such as "30 min"')
        parse_duration(value)
        return value
