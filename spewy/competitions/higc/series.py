"""Matches of one game between two bots at a referee's table, half of them with the seats swapped.

A *run* is the matches with one seating; they follow one another, and each is added to the run's log when it is over.
The log is lines of JSON: the first says what is played, each other one is a match. Match n has the same cards from both
seats, as far as the same is done.
"""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from spewy.competitions.higc.agents import Brains
from spewy.competitions.higc.peers import Local, Peer, Program, RandomBrain
from spewy.competitions.higc.referee import Fault, Limits, Played, greet, play
from spewy.competitions.higc.session import Brain
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import TOURNAMENT_OVER
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.match.names import command_name, parse_named
from spewy.match.runs import side_by_side
from spewy.match.score import Mean
from spewy.system.interrupts import interruptible
from spewy.system.textfile import exists, read_text, replace_text

MOST_MATCHES = 1_000_000
TOO_LATE = 0.01
"""Share of matches in which a bot may break the time limit before it is disqualified."""

Watcher = Callable[[int, int], None]


@dataclass(frozen=True)
class Contender:
    """Who can be asked to a referee's table.

    Attributes:
        name: what tables and logs call it.
        word: ``random``, ``spewy``, or a command.
        shelf: where ``spewy`` keeps what it solves.
        lockers: what ``spewy`` plays poker from.
        seconds: in which ``spewy`` searches for an answer.
    """

    name: str
    word: str
    shelf: Path
    lockers: tuple[Path, ...] = ()
    seconds: float = 1.0

    def open(self, limits: Limits, seed: int, errors: Path | None) -> Peer:
        """The player, for one match or all.

        Raises:
            InputError: a command cannot be run.
        """
        if self.word not in ("random", "spewy"):
            return Program(self.name, self.word, errors)
        return Local(self.name, self._brain(limits, seed), limits.dialect, seed, errors)

    def _brain(self, limits: Limits, seed: int) -> Callable[[str, int], Brain]:
        if self.word == "random":
            return lambda game, seat: RandomBrain(seed)
        brains = Brains(self.lockers, self.shelf, "off-tree", self.seconds, limits.prepare, _unheard)
        return lambda game, seat: brains.brain(game, seat, limits.dialect, seed)


def contender(
    word: str, shelf: Path, lockers: tuple[Path, ...] = (), seconds: float = 1.0, name: str | None = None
) -> Contender:
    """Read the word that gives a bot, maybe with ``NAME=`` before it; the argument ``name`` overrides ``NAME``.

    Raises:
        InputError: the word is no command.
    """
    named, word = parse_named(word)
    try:
        words = shlex.split(word)
    except ValueError as error:
        raise InputError(f"bot {shown(word)}: expected a command, found: {error}") from None
    if not words:
        raise InputError(f"bot {shown(word)}: expected random, spewy or a command, found none")
    return Contender(name or named or command_name(word), word, shelf, lockers, seconds)


@dataclass(frozen=True)
class Series:
    """What is played.

    Attributes:
        game: OpenSpiel's name of it.
        bots: who plays.
        matches: how many, half of them with swapped seats.
        seed: of all that is drawn.
        limits: what bots may do.
    """

    game: str
    bots: tuple[Contender, Contender]
    matches: int
    seed: int = 0
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 1 <= self.matches <= MOST_MATCHES:
            raise InputError(f"matches: expected 1 to {MOST_MATCHES:,}, found {shown(self.matches)}")

    def of_run(self, swapped: bool) -> int:
        """How many matches a run has."""
        return self.matches // 2 if swapped else (self.matches + 1) // 2

    @property
    def head(self) -> dict[str, Any]:
        """What a log begins with."""
        bots = [[bot.name, bot.word] for bot in self.bots]
        limits = asdict(self.limits)
        return {"game": self.game, "bots": bots, "seed": self.seed, "limits": limits}


@dataclass(frozen=True)
class Record:
    """A match as the first bot sees it.

    Attributes:
        number: of the match in its run.
        swapped: whether the first bot was player 1.
        returns: what both bots won.
        faults: of each bot: kinds and words.
        late: which bots broke the time limit.
    """

    number: int
    swapped: bool
    returns: tuple[float, float]
    faults: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
    late: tuple[bool, bool]


@dataclass(frozen=True)
class Standing:
    """How a series stands.

    Attributes:
        records: matches that were played.
        complete: whether that is all.
    """

    records: tuple[Record, ...]
    complete: bool

    @property
    def mean(self) -> Mean:
        """What the first bot wins; pairs with the same cards are one value where both were played."""
        found: dict[int, list[float]] = {}
        for record in self.records:
            found.setdefault(record.number, []).append(record.returns[0])
        return Mean.plain([math.fsum(pair) / len(pair) for pair in found.values()])

    def faults(self, bot: int) -> list[str]:
        """All faults of a bot, in words."""
        return [
            f"match {record.number}{' swapped' if record.swapped else ''}: {kind}: {text}"
            for record in self.records
            for kind, text in record.faults[bot]
        ]

    def counts(self, bot: int) -> dict[str, int]:
        """How many faults of each kind a bot has."""
        return dict(Counter(kind for record in self.records for kind, _ in record.faults[bot]))

    def is_disqualified(self, bot: int) -> bool:
        """Whether a bot broke the time limit too often."""
        return self.late_share(bot) > TOO_LATE

    def late_share(self, bot: int) -> float:
        """In which share of the matches a bot broke the time limit."""
        return sum(record.late[bot] for record in self.records) / max(len(self.records), 1)


def play_series(series: Series, folder: Path, watcher: Watcher, workers: int | None = None) -> Standing:
    """Play a series, or go on with one; Ctrl-C ends it after the matches that are being played.

    Args:
        series: what to play.
        folder: of its logs.
        watcher: told of the matches.
        workers: processes; None: one for each core, two at most.

    Raises:
        InputError: the folder holds another series, or a bot cannot be run, or there is no such game.
        MissingError: OpenSpiel is not installed.
    """
    SpielGame(series.game, series.limits.dialect)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = series_tasks(series, folder)
    done = [len(_log(*task).read()) for task in tasks]
    watcher(sum(done), series.matches)
    with interruptible() as stop:
        n = max(1, min(len(tasks), workers or joblib.cpu_count()))
        for number, played in side_by_side(play_run, tasks, stop, n):
            done[number] = played
            watcher(sum(done), series.matches)
    if stop.is_set():
        raise KeyboardInterrupt
    return standing(series, folder)


def series_tasks(series: Series, folder: Path) -> list[tuple[Series, bool, Path]]:
    """Arguments of `play_run` for both runs."""
    return [(series, swapped, folder) for swapped in (False, True) if series.of_run(swapped)]


def is_played(series: Series, swapped: bool, folder: Path) -> bool:
    """Whether a run is whole by its log."""
    return len(_log(series, swapped, folder).read()) == series.of_run(swapped)


def standing(series: Series, folder: Path) -> Standing:
    """How a series stands by its logs.

    Raises:
        InputError: they are those of another series, or damaged.
    """
    records = tuple(record for task in series_tasks(series, folder) for record in _log(*task).read())
    return Standing(records, len(records) == series.matches)


def play_run(series: Series, swapped: bool, folder: Path) -> Generator[int]:
    """Play what is left of a run, match by match: how many its log has."""
    log = _log(series, swapped, folder)
    begun = log.begin()
    game = SpielGame(series.game, series.limits.dialect)
    with ExitStack() as stack:
        peers, faults = list[Peer](), list[Fault]()
        for number in range(begun, series.of_run(swapped)):
            seeds = [
                int(word) for word in np.random.SeedSequence((series.seed, number, swapped)).generate_state(2)
            ]
            if not peers or series.limits.dialect == "rules":
                peers = _opened(series, swapped, folder, seeds, stack)
                faults = greet(peers, game, series.limits)
            deal = int(np.random.SeedSequence((series.seed, number)).generate_state(1)[0])
            log.add(number, play(game, peers, series.limits, deal, faults))
            faults = []
            yield number + 1
        if series.limits.dialect == "older":
            _dismiss(peers, series.limits)


def _opened(
    series: Series, swapped: bool, folder: Path, seeds: Sequence[int], stack: ExitStack
) -> list[Peer]:
    """Players 0 and 1."""
    stack.close()
    found = []
    for seat in (0, 1):
        bot = series.bots[1 - seat if swapped else seat]
        errors = folder / f"{bot.name}{'-swapped' if swapped else ''}.err"
        found.append(stack.enter_context(bot.open(series.limits, seeds[seat], errors)))
    return found


def _dismiss(peers: Sequence[Peer], limits: Limits) -> None:
    """Tell players of the older dialect that no match follows."""
    for peer in peers:
        try:
            peer.tell(TOURNAMENT_OVER)
        except PeerError:
            continue
        peer.leave(limits.leave)


@dataclass(frozen=True)
class _Log:
    """A run's log."""

    path: Path
    series: Series
    swapped: bool

    def begin(self) -> int:
        """Cut off what was not written to its end; how many matches there are."""
        records = self._lines()
        lines = [self._head, *map(json.dumps, records)]
        replace_text(self.path, "\n".join(lines) + "\n")
        return len(records)

    def add(self, number: int, played: Played) -> None:
        """Add a match; players are told as they sat."""
        told = {"match": number, **asdict(played), "late": played.late}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

    def read(self) -> list[Record]:
        """The matches that are asked for and were written to their ends; an earlier call may have played more.

        Raises:
            InputError: it is the log of something else, or damaged.
        """
        try:
            most = self.series.of_run(self.swapped)
            return [self._record(number, told) for number, told in enumerate(self._lines()[:most])]
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
            raise InputError(f"{self._subject}: {self._other(head)}; other matches are in another folder")
        return matches

    def _other(self, head: Any) -> str:
        """How the log of something else differs."""
        expected, found = _flat(json.loads(self._head)), _flat(head)
        for key, value in expected.items():
            if found.get(key) != value:
                return f"expected matches with {key} {shown(value)}, found {shown(found.get(key))}"
        return f"expected one that begins with {shown(self._head)}, found otherwise"

    def _record(self, number: int, told: Any) -> Record:
        if told["match"] != number:
            raise InputError(f"{self._subject}: expected match {number}, found {shown(told['match'])}")
        seats = (1, 0) if self.swapped else (0, 1)
        first, second = (
            tuple(
                (str(fault["kind"]), str(fault["text"])) for fault in told["faults"] if fault["seat"] == seat
            )
            for seat in seats
        )
        returns = (float(told["returns"][seats[0]]), float(told["returns"][seats[1]]))
        late = (bool(told["late"][seats[0]]), bool(told["late"][seats[1]]))
        return Record(number, self.swapped, returns, (first, second), late)


def _flat(head: Any) -> dict[str, Any]:
    """What a log begins with, each of the limits before the rest; nothing of what is none."""
    if not isinstance(head, dict):
        return {}
    limits = head.get("limits")
    return {**(limits if isinstance(limits, dict) else {}), **head}


def _log(series: Series, swapped: bool, folder: Path) -> _Log:
    return _Log(folder / f"matches{'-swapped' if swapped else ''}.jsonl", series, swapped)


def _unheard(text: str) -> None:
    """What in-process bots note is told by their faults alone."""
