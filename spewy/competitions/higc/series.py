"""Matches of one game between two bots at a referee's table, half of them with the seats swapped.

A *run* is the matches with one seating; they follow one another, and each is added to the run's log when it is over.
The log is lines of JSON: the first says what is played, each of the others is a match. Match n has the same cards from
both seats, as long as both players act alike.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spewy.competitions.higc.agents import Agents, RandomAgent
from spewy.competitions.higc.referee import SEND_SECONDS, Fault, Limits, Played, greet, play
from spewy.competitions.higc.session import Agent, Session
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import TOURNAMENT_OVER
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.match.connection import Channel, LocalChannel
from spewy.match.entrant import Entrant, Kind, parse_entrant
from spewy.match.process import Program, command_words
from spewy.match.runs import Watcher, play_runs
from spewy.match.score import Mean, pair_means
from spewy.system.textfile import exists, read_text, replace_text

MOST_MATCHES = 1_000_000
TOO_LATE = 0.01
"""Largest share of matches in which a bot may break the time limit without being disqualified."""
RULES = ("random", "spewy")
"""Bots that run in this process: a random player, and the bot of ``spewy play higc``."""
KINDS: tuple[Kind, ...] = ("cmd",)
"""Kinds of bots that run outside this process."""


def parse_bot(
    word: str, solved: Path, lockers: Sequence[Path] = (), seconds: float = 1.0, base: Path = Path()
) -> Entrant:
    """Read the word for a bot of the HIGC.

    Args:
        word: ``random``, ``spewy`` or ``cmd:COMMAND``, maybe with ``NAME=`` before it.
        solved: folder of games that the bot ``spewy`` solves when it first meets them.
        lockers: folders that the bot ``spewy`` plays poker from.
        seconds: time that the bot ``spewy`` searches for an answer.
        base: folder that relative paths begin at.

    Raises:
        InputError: the word gives no bot.
    """
    settings = (("lockers", tuple(lockers)), ("solved", solved), ("seconds", seconds))
    entrant = parse_entrant(word, settings, rules=RULES, kinds=KINDS, base=base)
    if entrant.kind == "cmd":
        command_words(entrant.value)
    return entrant


@dataclass(frozen=True)
class Series:
    """Specification of matches of one game between two bots.

    Attributes:
        game: OpenSpiel's name of the game.
        bots: both bots.
        names: their names in logs.
        matches: number of matches, half of them with swapped seats.
        seed: seed of everything that is drawn.
        limits: what bots may do.
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
        """Number of matches in a run."""
        return self.matches // 2 if swapped else (self.matches + 1) // 2

    @property
    def head(self) -> dict[str, Any]:
        """First line of the logs."""
        bots = [[name, bot.word] for name, bot in zip(self.names, self.bots, strict=True)]
        limits = asdict(self.limits)
        return {"game": self.game, "bots": bots, "seed": self.seed, "limits": limits}


@dataclass(frozen=True)
class Record:
    """A match from the first bot's point of view.

    Attributes:
        number: number of the match in its run.
        swapped: whether the first bot was player 1.
        returns: what both bots won.
        faults: kinds and texts of each bot's faults.
        late: which bots broke the time limit.
    """

    number: int
    swapped: bool
    returns: tuple[float, float]
    faults: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
    late: tuple[bool, bool]


@dataclass(frozen=True)
class Outcome:
    """The result of a series so far.

    Attributes:
        records: matches that were played.
        complete: whether these are all matches.
    """

    records: tuple[Record, ...]
    complete: bool

    @property
    def mean(self) -> Mean:
        """Mean return of the first bot; two matches with the same cards count as one value."""
        values = {(each.number, each.swapped): each.returns[0] for each in self.records}
        return Mean.plain(pair_means(values, singles=True))

    def faults(self, bot: int) -> list[str]:
        """Texts of all faults of a bot."""
        return [text for record in self.records for _, text in record.faults[bot]]

    def counts(self, bot: int) -> dict[str, int]:
        """Number of a bot's faults of each kind."""
        return dict(Counter(kind for record in self.records for kind, _ in record.faults[bot]))

    def is_disqualified(self, bot: int) -> bool:
        """Whether a bot broke the time limit too often."""
        return self.late_share(bot) > TOO_LATE

    def late_share(self, bot: int) -> float:
        """Share of the matches in which a bot broke the time limit."""
        return sum(record.late[bot] for record in self.records) / max(len(self.records), 1)


def play_series(series: Series, folder: Path, watcher: Watcher, workers: int | None = None) -> Outcome:
    """Play or resume a series; Ctrl-C ends it after the current matches.

    Args:
        series: the matches to play.
        folder: folder of the logs.
        watcher: called with the numbers of matches that were played, and of all.
        workers: number of processes; None: one for each core, two at most.

    Raises:
        InputError: the folder holds another series, a bot cannot be run, or there is no such game.
        MissingError: OpenSpiel is not installed.
    """
    SpielGame(series.game, series.limits.dialect)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = series_tasks(series, folder)
    done = [len(_log(*task).read()) for task in tasks]
    play_runs(play_run, tasks, watcher, series.matches, workers, done)
    return outcome(series, folder)


def series_tasks(series: Series, folder: Path) -> list[tuple[Series, bool, Path]]:
    """Arguments of `play_run` for both runs."""
    return [(series, swapped, folder) for swapped in (False, True) if series.of_run(swapped)]


def is_played(series: Series, swapped: bool, folder: Path) -> bool:
    """Whether the log of a run is complete."""
    return len(_log(series, swapped, folder).read()) == series.of_run(swapped)


def outcome(series: Series, folder: Path) -> Outcome:
    """Return the result of a series from its logs.

    Raises:
        InputError: the logs are damaged, or those of another series.
    """
    records = tuple(record for task in series_tasks(series, folder) for record in _log(*task).read())
    return Outcome(records, len(records) == series.matches)


def play_run(series: Series, swapped: bool, folder: Path) -> Generator[int]:
    """Play the remaining matches of a run; after each match, yield the number of matches in its log."""
    log = _log(series, swapped, folder)
    begun = log.begin()
    game = SpielGame(series.game, series.limits.dialect)
    with ExitStack() as stack:
        channels, faults = list[Channel](), list[Fault]()
        for number in range(begun, series.of_run(swapped)):
            seeds = [
                int(word) for word in np.random.SeedSequence((series.seed, number, swapped)).generate_state(2)
            ]
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
    """Seat a bot for one match, or for all matches in the older dialect.

    Args:
        bot: the bot.
        name: name of the bot in messages.
        limits: what bots may do.
        seed: seed of the bot's random choices.
        log: file that a program's stderr, or a failure in this process, is added to.

    Raises:
        InputError: a command cannot be run.
    """
    if bot.kind == "cmd":
        return Program(command_words(bot.value), name, log=log)

    def note(text: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    session = Session(_preparing(bot, limits, seed), limits.dialect, note, seed)
    return LocalChannel(name, session.hear, session.close)


def _preparing(bot: Entrant, limits: Limits, seed: int) -> Callable[[str, int], Agent]:
    if bot.value == "random":
        return lambda game, seat: RandomAgent(seed)
    how = dict(bot.settings)
    agents = Agents(
        how["lockers"], how["solved"], "off-tree", how["seconds"], limits.prepare, lambda text: None
    )
    return lambda game, seat: agents.agent(game, seat, limits.dialect, seed)


def _open(
    series: Series, swapped: bool, folder: Path, seeds: Sequence[int], stack: ExitStack
) -> list[Channel]:
    """Seat players 0 and 1, and close the earlier channels."""
    stack.close()
    channels = []
    for seat in (0, 1):
        bot = 1 - seat if swapped else seat
        log = folder / f"{series.names[bot]}{'-swapped' if swapped else ''}.err"
        channel = open_channel(series.bots[bot], series.names[bot], series.limits, seeds[seat], log)
        channels.append(stack.enter_context(channel))
    return channels


def _dismiss(channels: Sequence[Channel], limits: Limits) -> None:
    """Tell players of the older dialect that no match follows."""
    for channel in channels:
        try:
            channel.send(TOURNAMENT_OVER, time.monotonic() + SEND_SECONDS)
        except PeerError:
            continue
        channel.leave(limits.leave)


@dataclass(frozen=True)
class _Log:
    """A run's log."""

    path: Path
    series: Series
    swapped: bool

    def begin(self) -> int:
        """Cut off an incomplete match; return the number of matches."""
        records = self._lines()
        lines = [self._head, *map(json.dumps, records)]
        replace_text(self.path, "\n".join(lines) + "\n")
        return len(records)

    def add(self, number: int, played: Played) -> None:
        """Add a match; its players stand in the order of their seats."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"match": number, **asdict(played), "late": played.late}) + "\n")

    def read(self) -> list[Record]:
        """Return the first matches of the log, at most as many as the series has.

        Raises:
            InputError: the log is damaged, or that of another series.
        """
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
        if whole[0] != self._head:
            raise InputError(
                f"{self._subject}: {self._difference(head)}; other matches are in another folder"
            )
        return matches

    def _difference(self, head: Any) -> str:
        """Describe the first difference between the first lines of two logs."""
        expected, other = _flat(json.loads(self._head)), _flat(head)
        for key, value in expected.items():
            if other.get(key) != value:
                return f"expected matches with {key} {shown(value)}, found {shown(other.get(key))}"
        return f"expected a log that begins with {shown(self._head)}, found another"

    def _record(self, number: int, entry: Any) -> Record:
        if entry["match"] != number:
            raise InputError(f"{self._subject}: expected match {number}, found {shown(entry['match'])}")
        seats = (1, 0) if self.swapped else (0, 1)
        first, second = (
            tuple((str(each["kind"]), str(each["text"])) for each in entry["faults"] if each["seat"] == seat)
            for seat in seats
        )
        returns = (float(entry["returns"][seats[0]]), float(entry["returns"][seats[1]]))
        late = (bool(entry["late"][seats[0]]), bool(entry["late"][seats[1]]))
        return Record(number, self.swapped, returns, (first, second), late)


def _flat(head: Any) -> dict[str, Any]:
    """The first line of a log, with the limits as keys of the same level; empty if it is no JSON object."""
    if not isinstance(head, dict):
        return {}
    limits = head.get("limits")
    return {**(limits if isinstance(limits, dict) else {}), **head}


def _log(series: Series, swapped: bool, folder: Path) -> _Log:
    return _Log(folder / f"matches{'-swapped' if swapped else ''}.jsonl", series, swapped)
