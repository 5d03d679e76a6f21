"""The sections of a job file, each validated on its own."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from buckets.grouping import GROUPINGS
from solvers.variants import VARIANTS
from spewy.game.gamefile import MAX_CHIPS
from spewy.game.names import ROUND_NAMES, RoundName
from spewy.job.units import parse_duration, parse_memory, parse_target

MOST_ITERATIONS = 10_000
"""Of a visit, which Ctrl-C waits for; its chunk is as good as solved long before."""


class Section(BaseModel):
    """A table of the file: unknown keys are errors, and values have their own type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GameSection(Section):
    """``file``: a shipped game's name, or a path to a .game file; or its ``text`` itself."""

    file: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _one(self) -> GameSection:
        if (self.file is None) == (self.text is None):
            raise ValueError("expected either file or text")
        return self


class RakeSection(Section):
    """What the house takes from every pot: a share of it, and at most ``cap`` chips."""

    rate: float = Field(ge=0, le=1)
    cap: float | None = Field(None, ge=0, allow_inf_nan=False)


class SpotSection(Section):
    """A public state after the deal: cards, chips in the middle and behind, and both ranges."""

    board: str
    pot: int = Field(gt=0, le=MAX_CHIPS)
    stack: int = Field(gt=0, le=MAX_CHIPS)
    oop: str
    ip: str
    rake: RakeSection | None = None


class PlayerBets(Section):
    """One player's sizes in a round; None: what the round gives both."""

    bet: str | None = None
    raise_: str | None = Field(None, alias="raise")
    donk: str | None = None


class BetsSection(PlayerBets):
    """Sizes of a round, for both players or for each."""

    oop: PlayerBets | None = None
    ip: PlayerBets | None = None


class TreeSection(Section):
    """Thresholds: add an all-in, make it one, merge sizes. Fractions of the pot, as in the docs of bet sizes."""

    add_allin: float = Field(0.0, ge=0)
    force_allin: float = Field(0.0, ge=0)
    merge: float = Field(0.0, ge=0)
    min_bet: int | None = Field(None, gt=0, le=MAX_CHIPS)


class RowsSection(Section):
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


class BoardsSection(Section):
    """Classes of boards by round, whose boards share what is learned; "all": each board up to suits on its own."""

    flop: int | Literal["all"] = "all"
    turn: int | Literal["all"] = "all"
    river: int | Literal["all"] = "all"

    @field_validator("flop", "turn", "river", mode="before")
    @classmethod
    def _positive(cls, value: object) -> object:
        if value != "all" and (type(value) is not int or value < 1):
            raise ValueError('expected "all" or a number of classes of at least 1')
        return value


LeafKind = Literal["stored", "live"]
LEAVES = ("auto", "stored", "live")


class SolveSection(Section):
    """How to solve; what differs from the default and cannot have an effect is refused (`spewy.job.unused`)."""

    method: Literal["cfr", "lp"] = "cfr"
    variant: str | None = None
    integrate: Literal["regret", "average"] = "regret"
    leaves: Literal["auto", "stored", "live"] | dict[RoundName, LeafKind] = "auto"
    target: str = "0.3%"
    max_sweeps: int = Field(1000, gt=0)
    max_time: str | None = None
    check_every: int | str = 10
    check_flops: int = Field(5, gt=0)
    seed: int = Field(0, ge=0, lt=2**63)
    answers: float = Field(0.0, ge=0, le=1)
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

    @field_validator("check_every", mode="before")
    @classmethod
    def _interval(cls, value: object) -> object:
        if isinstance(value, str):
            parse_duration(value)
        elif type(value) is not int or value < 1:
            raise ValueError('expected a number of sweeps of at least 1, or a time such as "30 min"')
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
