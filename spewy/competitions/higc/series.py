"""Play matches of one game between two bots, half of them with the seats swapped.

A *run* is all matches with the same seats, one after another. Each run has a log, to which each match is added when it
is over. The log consists of lines of JSON: the first line describes the matches, and each further line is a match.
Match n has the same cards in both runs, as long as the players act alike.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spewy.competitions.higc.agents import Agents, RandomAgent
from spewy.competitions.higc.referee import SEND_SECONDS, Fault, Limits, Played, greet, play
from spewy.competitions.higc.session import Agent, Session
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import TOURNAMENT_OVER
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.match.connection import Channel, LocalChannel, Program, command_words
from spewy.match.entrant import Entrant, Kind, parse_entrant
from spewy.match.log import changes
from spewy.match.match import Watcher, play_runs
from spewy.match.score import Mean, pair_means
from spewy.system.textfile import exists, read_text, replace_text

MOST_MATCHES = 1_000_000
TOO_LATE = 0.01
"""Largest share of matches in which a bot may break the time limit; beyond it the bot is disqualified."""
RULES = ("random", "spewy")
"""Words for bots that run in this process: a random player, and the bot of ``spewy play higc``."""
KINDS: tuple[Kind, ...] = ("cmd",)
"""Prefixes, as in ``cmd:COMMAND``, of the words for bots that run in another process."""


def parse_bot(
    word: str, solved: Path, lockers: Sequence[Path] = (), seconds: float = 1.0, base: Path = Path()
) -> Entrant:
    entrant = parse_entrant(word, rules=RULES, kinds=KINDS, base=base)
    if entrant.kind == "cmd":
        command_words(entrant.value)
    if (entrant.kind, entrant.value) != ("rule", "spewy"):
        return entrant
    return Spewy(entrant.kind, entrant.value, None, entrant.called, tuple(lockers), solved, seconds)


@dataclass(frozen=True)
class Spewy(Entrant):
    """The bot of ``spewy play higc``.

    Attributes:
        seconds: seconds that the bot searches for an answer.
    """

    lockers: tuple[Path, ...] = ()
    solved: Path = Path()
    seconds: float = 1.0

    def agents(self, limits: Limits) -> Agents:
        return Agents(self.lockers, self.solved, "off-tree", self.seconds, limits.prepare, lambda text: None)


@dataclass(frozen=True)
class Series:
    """Specification of a series of matches of one game between two bots.

    Attributes:
        matches: number of matches, half of them with swapped seats.
    """

    game: str
    bots: tuple[Entrant, Entrant]
    names: tuple[str, str]
    matches: int
    seed: int = 0
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 1 <= self.matches <= MOST_MATCHES:
            raise InputError(f"matches: expected 1 to {MOST_MATCHES:,}, found {shown(self.matches)}")

    def of_run(self, swapped: bool) -> int:
        return self.matches // 2 if swapped else (self.matches + 1) // 2

    @cached_property
    def head(self) -> dict[str, Any]:
        """Description of the matches and of both bots for the first line of the logs."""
        bots = {name: self._identity(bot) for name, bot in zip(self.names, self.bots, strict=True)}
        limits = asdict(self.limits)
        return {"game": self.game, "bots": bots, "seed": self.seed, "limits": limits}

    def _identity(self, bot: Entrant) -> dict[str, Any]:
        agents = bot.agents(self.limits) if isinstance(bot, Spewy) else None
        return bot.identity | (agents.identity(self.game, self.limits.dialect) if agents else {})


@dataclass(frozen=True)
class Record:
    """The result of one match by bot: the first bot of the series comes first, whatever its seat.

    Attributes:
        swapped: whether the first bot was player 1.
        returns: what each bot won, in the game's units.
        faults: kind and text of each fault, by bot.
        late: whether each bot broke the time limit.
    """

    number: int
    swapped: bool
    returns: tuple[float, float]
    faults: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
    late: tuple[bool, bool]


@dataclass(frozen=True)
class Outcome:
    """The result of a series so far."""

    records: tuple[Record, ...]
    complete: bool

    @property
    def mean(self) -> Mean:
        """Mean return of the first bot; the mean of two matches with equal cards counts as one value."""
        values = {(each.number, each.swapped): each.returns[0] for each in self.records}
        return Mean.plain(pair_means(values, singles=True))

    def faults(self, bot: int) -> list[str]:
        return [text for record in self.records for _, text in record.faults[bot]]

    def counts(self, bot: int) -> dict[str, int]:
        return dict(Counter(kind for record in self.records for kind, _ in record.faults[bot]))

    def is_disqualified(self, bot: int) -> bool:
        """Whether a bot broke the time limit in too many matches."""
        return self.late_share(bot) > TOO_LATE

    def late_share(self, bot: int) -> float:
        """Return the share of the matches in which a bot broke the time limit."""
        return sum(record.late[bot] for record in self.records) / max(len(self.records), 1)


def play_series(series: Series, folder: Path, watcher: Watcher, workers: int | None = None) -> Outcome:
    """Play or continue a series; Ctrl-C ends it after the matches that are being played.

    Args:
        workers: number of processes, at most two; None: one for each core.
    """
    SpielGame(series.game, series.limits.dialect)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = series_tasks(series, folder)
    done = [len(_log(*task).read()) for task in tasks]
    play_runs(play_run, tasks, watcher, series.matches, workers, done)
    return outcome(series, folder)


def series_tasks(series: Series, folder: Path) -> list[tuple[Series, bool, Path]]:
    """List each run's arguments for `play_run`: the series, whether seats are swapped, and the folder."""
    _ = series.head  # is read here, so that worker processes get it with the series
    return [(series, swapped, folder) for swapped in (False, True) if series.of_run(swapped)]


def is_played(series: Series, swapped: bool, folder: Path) -> bool:
    return len(_log(series, swapped, folder).read()) == series.of_run(swapped)


def outcome(series: Series, folder: Path) -> Outcome:
    """Read the result of a series from its logs."""
    records = tuple(record for task in series_tasks(series, folder) for record in _log(*task).read())
    return Outcome(records, len(records) == series.matches)


def play_run(series: Series, swapped: bool, folder: Path) -> Generator[int]:
    """Play the remaining matches of a run; after each match, yield the number of matches in the run's log."""
    log = _log(series, swapped, folder)
    begun = log.begin()
    game = SpielGame(series.game, series.limits.dialect)
    with ExitStack() as stack:
        channels, faults = list[Channel](), list[Fault]()
        for number in range(begun, series.of_run(swapped)):
            seeds = np.random.SeedSequence((series.seed, number, swapped)).generate_state(2).tolist()
            if not channels or series.limits.dialect == "rules":
                channels = _open(series, swapped, folder, seeds, stack)
                faults = greet(channels, game, series.limits)
            deal = int(np.random.SeedSequence((series.seed, number)).generate_state(1)[0])
            log.add(number, play(game, channels, series.limits, deal, faults))
            faults = []
            yield number + 1
        if series.limits.dialect == "older":
            _dismiss(channels, series.limits)


def open_channel(bot: Entrant, name: str, limits: Limits, seed: int, log: Path) -> Channel:
    """Connect a bot for one match or, in the older dialect, for all matches."""
    if bot.kind == "cmd":
        return Program(command_words(bot.value), name, log=log)

    def note(text: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def agent(game: str, seat: int) -> Agent:
        if not isinstance(bot, Spewy):
            return RandomAgent(seed)
        return bot.agents(limits).agent(game, seat, limits.dialect, seed)

    session = Session(agent, limits.dialect, note, seed)
    return LocalChannel(name, session.hear, session.close)


def _open(
    series: Series, swapped: bool, folder: Path, seeds: Sequence[int], stack: ExitStack
) -> list[Channel]:
    stack.close()
    channels = []
    for seat in (0, 1):
        bot = 1 - seat if swapped else seat
        log = folder / f"{series.names[bot]}{'-swapped' if swapped else ''}.err"
        channel = open_channel(series.bots[bot], series.names[bot], series.limits, seeds[seat], log)
        channels.append(stack.enter_context(channel))
    return channels


def _dismiss(channels: Sequence[Channel], limits: Limits) -> None:
    for channel in channels:
        try:
            channel.send(TOURNAMENT_OVER, time.monotonic() + SEND_SECONDS)
        except PeerError:
            continue
        channel.leave(limits.leave)


@dataclass(frozen=True)
class _Log:
    path: Path
    series: Series
    swapped: bool

    def begin(self) -> int:
        """Remove an incomplete last line, and return the number of matches in the log."""
        records = self._lines()
        lines = [self._head, *map(json.dumps, records)]
        replace_text(self.path, "\n".join(lines) + "\n")
        return len(records)

    def add(self, number: int, played: Played) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"match": number, **asdict(played), "late": played.late}) + "\n")

    def read(self) -> list[Record]:
        """Return the matches in the log, but at most as many matches as the run has."""
        try:
            most = self.series.of_run(self.swapped)
            return [self._record(number, entry) for number, entry in enumerate(self._lines()[:most])]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{self._subject}: expected matches, found: {error!r}") from None

    @property
    def _subject(self) -> str:
        return f"log {path_text(self.path)}"

    @property
    def _head(self) -> str:
        return json.dumps({**self.series.head, "swapped": self.swapped})

    def _lines(self) -> list[Any]:
        text = read_text(self.path, self._subject) if exists(self.path) else ""
        whole = text[: text.rfind("\n") + 1].splitlines()
        if not whole:
            return []
        try:
            head, *matches = map(json.loads, whole)
        except ValueError as error:
            raise InputError(f"{self._subject}: expected lines of JSON, found: {error}") from None
        if matches and whole[0] != self._head:
            raise InputError(
                f"{self._subject}: {self._difference(head)}; use another folder for other matches"
            )
        return matches

    def _difference(self, head: Any) -> str:
        expected, other = _flat(json.loads(self._head)), _flat(head)
        bots = other.get("bots")
        if not isinstance(bots, dict):
            return "it does not say which bots played its matches, as logs of earlier versions"
        for name, bot in expected["bots"].items():
            before = bots.get(name)
            if isinstance(before, dict) and before != bot:
                return f"it has matches of another bot: {changes(name, before, bot)}"
        for key, value in expected.items():
            if other.get(key) != value:
                return f"expected matches with {key} {shown(value)}, found {shown(other.get(key))}"
        return f"expected a log that begins with {shown(self._head)}, found another"

    def _record(self, number: int, entry: Any) -> Record:
        if entry["match"] != number:
            raise InputError(f"{self._subject}: expected match {number}, found {shown(entry['match'])}")
        seats = (1, 0) if self.swapped else (0, 1)
        faults = [
            tuple((str(each["kind"]), str(each["text"])) for each in entry["faults"] if each["seat"] == seat)
            for seat in seats
        ]
        returns = [float(entry["returns"][seat]) for seat in seats]
        late = [bool(entry["late"][seat]) for seat in seats]
        first, second = zip(returns, faults, late, strict=True)
        return Record(
            number, self.swapped, (first[0], second[0]), (first[1], second[1]), (first[2], second[2])
        )


def _flat(head: Any) -> dict[str, Any]:
    """Return a log's first line as one dict, with the keys of its object ``limits``; empty if it is no JSON object."""
    if not isinstance(head, dict):
        return {}
    limits = head.get("limits")
    return {**(limits if isinstance(limits, dict) else {}), **head}


def _log(series: Series, swapped: bool, folder: Path) -> _Log:
    return _Log(folder / f"matches{'-swapped' if swapped else ''}.jsonl", series, swapped)
