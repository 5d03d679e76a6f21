"""Read a tournament file: TOML with the rules, the bots and the games.

The file needs exactly one section of rules: ``[acpc]`` for the rules ``acpc-bankroll``, ``acpc-points`` and
``acpc-online``, ``[higc]`` for ``higc``, or ``[upac]`` for ``upac``. A UPAC tournament rates games that were played
before, and reads their results from a file.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spewy.errors import InputError, path_text, shown
from spewy.job.load import explain
from spewy.match.score import START, K
from spewy.system.textfile import read_toml
from spewy.system.tools import MOST_SECONDS

RulesName = Literal["acpc-bankroll", "acpc-points", "acpc-online", "higc", "upac"]


class Section(BaseModel):
    """A section of the tournament file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class BotSection(Section):
    """A bot that takes part in the tournament: a table ``[[bots]]`` of the file.

    Attributes:
        bot: the bot as `spewy match` or `spewy referee` names it on the command line.
        lockers: folders of solves that the bot ``spewy`` plays poker from, in a HIGC tournament.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")
    bot: str | None = None
    lockers: list[str] = []


class AcpcSection(Section):
    """The section ``[acpc]``: a tournament by the ACPC's rules.

    Attributes:
        series: number of duplicate matches that each pair plays.
        seconds: seconds for an answer.
        qualifying: whether more than ten bots play qualifying rounds first.
    """

    game: str
    hands: int = Field(default=1000, ge=1, le=10**7)
    series: int = Field(default=1, ge=1, le=10**5)
    seconds: float = Field(default=600.0, gt=0, le=MOST_SECONDS)
    qualifying: bool = True


class HigcSection(Section):
    """The section ``[higc]``: a tournament by the HIGC's rules.

    Attributes:
        seconds: seconds for an answer.
        chance_seconds: seconds that the referee waits at each chance node.
        prepare_seconds: seconds to prepare before the first answer.
        search_seconds: seconds that the bot ``spewy`` searches for an answer.
        data: folder of games that the bot ``spewy`` has solved.
    """

    games: list[str] = Field(min_length=1)
    matches: int = Field(default=100, ge=1, le=10**6)
    seconds: float = Field(default=5.0, gt=0, le=MOST_SECONDS)
    chance_seconds: float = Field(default=0.2, ge=0, le=MOST_SECONDS)
    prepare_seconds: float = Field(default=5.0, ge=0, le=MOST_SECONDS)
    search_seconds: float = Field(default=1.0, ge=0, le=MOST_SECONDS)
    data: str | None = None


class UpacSection(Section):
    """The section ``[upac]``: a rating by UPAC's rules of games that were played before.

    Attributes:
        k: largest change of an Elo rating in one game.
        start: Elo rating that each bot begins with.
    """

    results: str
    k: float = Field(default=K, gt=0, allow_inf_nan=False)
    start: float = Field(default=START, allow_inf_nan=False)


class TournamentFile(Section):
    """The whole tournament file.

    Attributes:
        seed: seed of the cards and of qualifying sets.
        acpc, higc, upac: section of the rules; the other two sections are None.
    """

    name: str = Field(min_length=1, max_length=100)
    rules: RulesName
    seed: int = Field(default=0, ge=0, lt=2**32)
    bots: list[BotSection] = Field(min_length=2)
    acpc: AcpcSection | None = None
    higc: HigcSection | None = None
    upac: UpacSection | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(bot.name for bot in self.bots)


def read_tournament(path: Path) -> TournamentFile:
    subject = f"tournament {path_text(path)}"
    try:
        tournament = TournamentFile.model_validate(read_toml(path, subject))
    except ValidationError as error:
        raise InputError(explain(subject, error.errors()[:1], TournamentFile)) from None
    _check(tournament, subject)
    return tournament


def pair_name(one: str, two: str) -> str:
    """Return the name of the folder with the logs of a pair of bots."""
    return f"{one}--{two}"


def _check(tournament: TournamentFile, subject: str) -> None:
    section_of_rules = tournament.rules.split("-")[0]
    for section in ("acpc", "higc", "upac"):
        if (getattr(tournament, section) is not None) != (section == section_of_rules):
            raise InputError(
                f"{subject}: rules {tournament.rules!r} need the section [{section_of_rules}] and no other"
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
                f"{subject}, bots: a pair with {one} and a pair with {other} would share the folder "
                f"{pair_name(one, two)} for their logs; rename a bot"
            )
    for bot in tournament.bots:
        if bot.bot is None and section_of_rules != "upac":
            raise InputError(
                f"{subject}, bot {bot.name}: the key bot is missing; it says which program plays"
            )
