"""Duplicate matches: each seed's cards are played twice, with the bots' seats swapped.

A *run* is the hands of one seed with one seating, and has a log, to which each hand is added when it is over. All that
a bot draws in a hand comes from the seed, the hand's number and its position, so a run that was interrupted goes on
from its log as if nothing had happened. That holds for bots that learn nothing from one hand to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import joblib
import numpy as np

from spewy.bot.bot import Bot
from spewy.bot.tally import Tally
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.match.acpc_text import LoggedHand
from spewy.match.aivat import estimate
from spewy.match.cards import MOST_SEED, Dealt, deals
from spewy.match.names import apart
from spewy.match.run_log import RunLog, RunRead
from spewy.match.runs import side_by_side
from spewy.match.score import Result, Score, score
from spewy.match.table import Played, Seated, play_hand
from spewy.system.clock import MOST_SECONDS
from spewy.system.interrupts import interruptible

Watcher = Callable[[int, int], None]
"""Hears how many hands were played so far, and how many there are in all."""

MOST_HANDS = 10**7


class Entrant(Protocol):
    """Whoever can be asked to a match; it is sent to other processes."""

    @property
    def name(self) -> str:
        """What logs call it."""
        ...

    @property
    def needs_other(self) -> bool:
        """Whether it plays only against a bot that it knows."""
        ...

    @property
    def alone(self) -> bool:
        """Whether it plays one run after the other only."""
        ...

    def open(self, game: Game, other: Bot | None = None, begun: int = 0) -> Bot:
        """The bot, for one run, of which so many hands were played before.

        Raises:
            InputError: it does not play this game, or cannot be opened.
        """
        ...


@dataclass(frozen=True)
class Match:
    """What is played.

    Attributes:
        game: the rules.
        entrants: the two bots.
        hands: of each run.
        seeds: of the cards.
        aivat: whether to ask bots for their strategies, and to estimate hands without luck where one tells it.
        seconds: how long an answer may take; None: forever.
    """

    game: Game
    entrants: tuple[Entrant, Entrant]
    hands: int
    seeds: tuple[int, ...]
    aivat: bool = True
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.hands <= MOST_HANDS:
            raise InputError(f"hands: expected 1 to {MOST_HANDS}, found {shown(self.hands)}")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"seeds: expected some, each once, found {shown(list(self.seeds))}")
        for seed in self.seeds:
            if not 0 <= seed <= MOST_SEED:
                raise InputError(f"seeds: expected 0 to {MOST_SEED}, found {shown(seed)}")
        # A timer of 0 seconds never rings.
        if self.seconds is not None and not 0 < self.seconds <= MOST_SECONDS:
            raise InputError(
                f"seconds: expected more than 0 and at most {MOST_SECONDS:,.0f}, found {shown(self.seconds)}"
            )

    @property
    def names(self) -> tuple[str, str]:
        """The bots' names, told apart where they are the same."""
        return apart(self.entrants[0].name, self.entrants[1].name)

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs, in the order in which they are begun."""
        return tuple(Run(seed, swapped) for seed in self.seeds for swapped in (False, True))


@dataclass(frozen=True)
class Run:
    """The hands of one seed with one seating."""

    seed: int
    swapped: bool

    @property
    def file_name(self) -> str:
        """Of its log."""
        return f"seed-{self.seed}{'-swapped' if self.swapped else ''}.log"

    def seat(self, entrant: int) -> int:
        """The seat of an entrant."""
        return 1 - entrant if self.swapped else entrant

    def position(self, entrant: int, number: int) -> int:
        """Which player an entrant is in a hand: the button goes round."""
        return (self.seat(entrant) + number) % 2

    def entrant(self, player: int, number: int) -> int:
        """Number of the entrant who is ``player`` in a hand."""
        return 0 if self.position(0, number) == player else 1


@dataclass(frozen=True)
class Outcome:
    """The result of a match so far.

    Attributes:
        score: score of the hands that were played.
        faults: faults of each bot, in order.
        complete: whether all hands were played.
        tallies: decisions by source, and failures with run and hand, of each bot.
    """

    score: Score
    faults: tuple[tuple[str, ...], tuple[str, ...]]
    complete: bool
    tallies: tuple[Tally, Tally]


def play_match(match: Match, folder: Path, watcher: Watcher, workers: int | None = None) -> Outcome:
    """Play a match, or go on with one; Ctrl-C ends it after the hands that are being played.

    Args:
        match: the match to play.
        folder: folder of its logs.
        watcher: called as hands are played.
        workers: number of processes, if both bots can play several runs at once; None for one on each core.

    Raises:
        InputError: the folder holds another match, or a bot cannot be opened.
        BotError: the program of a bot in this process has a bug.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = {run: _log(match, run, folder).count() for run in match.runs}
    to_do = runs_to_play(match, folder)
    total = match.hands * len(match.runs)
    at_once = 1 if any(entrant.alone for entrant in match.entrants) else workers or joblib.cpu_count()
    n = max(1, min(len(to_do), at_once))
    watcher(sum(done.values()), total)
    with interruptible() as stop:
        for number, played in side_by_side(play_run, [(match, run, folder) for run in to_do], stop, n):
            done[to_do[number]] = played
            watcher(sum(done.values()), total)
    if stop.is_set():
        raise KeyboardInterrupt
    return outcome(match, folder)


def runs_to_play(match: Match, folder: Path) -> list[Run]:
    """Runs of a match that are not whole by their logs."""
    return [run for run in match.runs if not _log(match, run, folder).ended]


def outcome(match: Match, folder: Path) -> Outcome:
    """How a match stands by its logs.

    Raises:
        InputError: they are those of another match, or damaged.
    """
    found, faults, tallies = list[Result](), (list[str](), list[str]()), (list[Tally](), list[Tally]())
    for run in match.runs:
        read = _log(match, run, folder).read()
        found.extend(_results(run, read))
        for note in read.notes:
            place = f"{run.file_name}, hand {note.number}"
            faults[run.entrant(note.player, note.number)].append(f"{place}: {note.text}")
        for counted in read.tallies:
            place = f"{run.file_name}, hand {counted.number}"
            tallies[run.entrant(counted.player, counted.number)].append(counted.tally.at(place))
    complete = len(found) == match.hands * len(match.runs)
    total = Tally.of(tallies[0]), Tally.of(tallies[1])
    return Outcome(score(found, match.game), (tuple(faults[0]), tuple(faults[1])), complete, total)


def results(match: Match, folder: Path) -> Iterator[Result]:
    """What each hand that was played brought the first bot, run by run.

    Raises:
        InputError: as `outcome`.
    """
    for run in match.runs:
        yield from _results(run, _log(match, run, folder).read())


def _results(run: Run, read: RunRead) -> Iterator[Result]:
    for record, clean in zip(read.records, read.aivat, strict=True):
        player = run.position(0, record.number)
        worth = None if clean is None else clean if player == 0 else -clean
        yield Result(run.seed, run.swapped, record.number, record.hand.net()[player], worth)


def records(match: Match, folder: Path) -> Iterator[LoggedHand]:
    """All hands that were played, run by run.

    Raises:
        InputError: as `outcome`.
    """
    for run in match.runs:
        yield from _log(match, run, folder).read().records


def play_run(match: Match, run: Run, folder: Path) -> Generator[int]:
    """Play what is left of a run, hand by hand: how many its log has."""
    log = _log(match, run, folder)
    begun = log.begin()
    with closing(_Seats(match, run, begun)) as seats:
        for number, dealt in islice(enumerate(deals(match.game, run.seed)), begun, match.hands):
            played, worth = seats.play(number, dealt)
            log.add(number, played, seats.by_position(match.names, number), worth)
            yield number + 1
    log.end()


class _Seats:
    """The bots of a run, opened."""

    def __init__(self, match: Match, run: Run, begun: int) -> None:
        self._match, self._run = match, run
        first, second = (
            Seated(bot, match.seconds, name)
            for bot, name in zip(_opened(match, begun), match.names, strict=True)
        )
        self._bots = first, second

    def by_position(self, pair: Sequence[str], number: int) -> tuple[str, str]:
        """What belongs to the entrants, in the order of players of a hand."""
        first = self._run.position(0, number)
        return (pair[0], pair[1]) if first == 0 else (pair[1], pair[0])

    def play(self, number: int, dealt: Dealt) -> tuple[Played, float | None]:
        """Play a hand; also what it was worth to player 0 without luck."""
        match, first = self._match, self._run.position(0, number)
        bots = (self._bots[first], self._bots[1 - first])
        seeds = [int(part) for part in np.random.SeedSequence((self._run.seed, number)).generate_state(3)]
        played = play_hand(dealt, bots, match.game, (seeds[0], seeds[1]), match.aivat)
        known = bots[0].reveals, bots[1].reveals
        return played, estimate(played, known, seeds[2]) if match.aivat and any(known) else None

    def close(self) -> None:
        """Close both."""
        for bot in self._bots:
            bot.close()


def _opened(match: Match, begun: int) -> tuple[Bot, Bot]:
    """Both bots; one that needs the other comes second."""
    first, second = match.entrants
    if first.needs_other and second.needs_other:
        raise InputError(f"bots: expected one that plays by itself, found {first.name} and {second.name}")
    if first.needs_other:
        other = second.open(match.game, None, begun)
        return _closing(first, match.game, other, begun), other
    bot = first.open(match.game, None, begun)
    return bot, _closing(second, match.game, bot, begun)


def _closing(entrant: Entrant, game: Game, other: Bot, begun: int) -> Bot:
    try:
        return entrant.open(game, other, begun)
    except BaseException:
        other.close()
        raise


def _log(match: Match, run: Run, folder: Path) -> RunLog:
    names = match.names
    seats = (names[run.seat(0)], names[run.seat(1)])
    return RunLog(folder / run.file_name, match.game, match.hands, run.seed, seats, match.aivat)
