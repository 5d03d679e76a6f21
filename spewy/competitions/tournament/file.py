"""Read a tournament file: TOML with the rules, the bots and the games.

The file needs the section of its rules and no other: ``[acpc]`` for ``acpc-bankroll``, ``acpc-points`` and
``acpc-online``; ``[higc]``; or ``[upac]``, whose games are read from a file.
"""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spewy.errors import InputError, path_text, short, shown
from spewy.job.load import explain
from spewy.match.score import START, K
from spewy.system.clock import MOST_SECONDS
from spewy.system.textfile import read_text

RulesName = Literal["acpc-bankroll", "acpc-points", "acpc-online", "higc", "upac"]


class Section(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class BotSection(Section):
    """A bot: its ``name`` in tables, and ``bot``, its word as for ``spewy match`` or ``spewy referee``."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")
    bot: str | None = None
    lockers: list[str] = []


class AcpcSection(Section):
    """Each pair plays ``series`` duplicate matches of ``hands`` hands; over ten bots play ``qualifying`` rounds."""

    game: str
    hands: int = Field(default=1000, ge=1, le=10**7)
    series: int = Field(default=1, ge=1, le=10**5)
    seconds: float = Field(default=600.0, gt=0, le=MOST_SECONDS)
    qualifying: bool = True


class HigcSection(Section):
    """Each pair plays ``matches`` matches of each of the ``games``; the other keys are the referee's limits."""

    games: list[str] = Field(min_length=1)
    matches: int = Field(default=100, ge=1, le=10**6)
    seconds: float = Field(default=5.0, gt=0, le=MOST_SECONDS)
    chance_seconds: float = Field(default=0.2, ge=0, le=MOST_SECONDS)
    prepare_seconds: float = Field(default=5.0, ge=0, le=MOST_SECONDS)
    search_seconds: float = Field(default=1.0, ge=0, le=MOST_SECONDS)
    data: str | None = None


class UpacSection(Section):
    """A file of games for `spewy.competitions.tournament.tournament.read_games`, and Elo's ``k`` and ``start``."""

    results: str
    k: float = Field(default=K, gt=0, allow_inf_nan=False)
    start: float = Field(default=START, allow_inf_nan=False)


class TournamentFile(Section):
    """The whole tournament file."""

    name: str = Field(min_length=1, max_length=100)
    rules: RulesName
    seed: int = Field(default=0, ge=0, lt=2**32)
    bots: list[BotSection] = Field(min_length=2)
    acpc: AcpcSection | None = None
    higc: HigcSection | None = None
    upac: UpacSection | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bots."""
        return tuple(bot.name for bot in self.bots)


def read_tournament(path: Path) -> TournamentFile:
    """Read a tournament's file.

    Raises:
        InputError: the file cannot be read, or a key of it is wrong.
    """
    subject = f"tournament {path_text(path)}"
    try:
        tournament = TournamentFile.model_validate(tomllib.loads(read_text(path, subject)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{subject}: expected TOML, found: {short(str(error))}") from None
    except ValidationError as error:
        raise InputError(explain(subject, error.errors()[0])) from None
    except (ValueError, RecursionError):
        raise InputError(f"{subject}: expected numbers of a few digits, found one of thousands") from None
    _check(tournament, subject)
    return tournament


def pair_name(one: str, two: str) -> str:
    """Name of the folder of a pair's logs."""
    return f"{one}--{two}"


def _check(tournament: TournamentFile, subject: str) -> None:
    section_of_rules = tournament.rules.split("-")[0]
    for section in ("acpc", "higc", "upac"):
        if (getattr(tournament, section) is not None) != (section == section_of_rules):
            raise InputError(
                f"{subject}: expected [{section_of_rules}] alone for rules {tournament.rules!r}, found otherwise"
            )
    if not tournament.name.isprintable():
        raise InputError(f"{subject}, name: expected one line, found {shown(tournament.name)}")
    for name in tournament.names:
        if tournament.names.count(name) > 1:
            raise InputError(f"{subject}, bots: expected each name once, found {shown(name)} again")
    folders = dict[str, str]()
    for one, two in combinations(tournament.names, 2):
        other = folders.setdefault(pair_name(one, two), one)
        if other != one:
            raise InputError(
                f"{subject}, bots: expected names whose pairs differ in what their logs are called, "
                f"found {pair_name(one, two)} of {one} and of {other}"
            )
    for bot in tournament.bots:
        if bot.bot is None and section_of_rules != "upac":
            raise InputError(f"{subject}, bot {bot.name}: expected bot, the word for who plays, found none")
