"""Play duplicate matches: each seed's cards are played twice, with the bots' seats swapped.

A *run* is the sequence of hands with the cards of one seed and fixed seats. It has a log, to which each finished hand
is appended. The seed, the number of the hand and the bot's position determine all random choices of a bot in the hand.
So an interrupted run continues from its log with the hands that it would have had, if its bots learn nothing from hand
to hand.

`play_runs` plays several runs in parallel, also those of competitions, each by a generator that plays hands or matches.
After each hand or match it yields how many it has played, and can be interrupted; a new generator continues from the
run's log.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count

from spewy.bot.bot import Bot
from spewy.bot.options import Options
from spewy.bot.tally import Tally
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game, load_game
from spewy.learn.engine import Stop
from spewy.match.acpc_text import LoggedHand
from spewy.match.aivat import estimate
from spewy.match.entrant import Entrant, apart, parse_entrant, shipped
from spewy.match.log import RunLog, RunRead
from spewy.match.score import Result, Score
from spewy.match.table import MOST_SEED, Dealt, Played, Seat, deals, play_hand
from spewy.system.folders import scratch_folder
from spewy.system.interrupts import interruptible
from spewy.system.processes import LocalPool, Parent
from spewy.system.tools import MOST_SECONDS

MOST_HANDS = 10**7

_MakesRun = Callable[..., Generator[int]]
"""Function that makes a run; worker processes must be able to import the function."""
Watcher = Callable[[int, int], None]
"""Function that is called with the number of hands or matches played so far, and the number of all of them."""
ENDING = "the command ends after the hands that are being played; Ctrl-C again ends it at once"
"""Line that the first Ctrl-C prints."""


@dataclass(frozen=True)
class Match:
    """A specification of a match.

    Attributes:
        entrants: specifications of the two bots, which each process opens itself.
        hands: number of hands in each run.
        aivat: whether to estimate the chips won without luck, if a bot reveals its strategy.
        seconds: seconds that a bot may take for each answer; None: no limit.
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
            raise InputError(
                f"seeds: expected at least one seed, and no seed twice, found {shown(list(self.seeds))}"
            )
        for seed in self.seeds:
            if not 0 <= seed <= MOST_SEED:
                raise InputError(f"seeds: expected 0 to {MOST_SEED}, found {shown(seed)}")
        # A timer of 0 seconds never rings.
        if self.seconds is not None and not 0 < self.seconds <= MOST_SECONDS:
            raise InputError(
                f"seconds: expected more than 0 and at most {MOST_SECONDS:,.0f}, found {shown(self.seconds)}"
            )

    @cached_property
    def bots(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The identity of each bot (`Entrant.identity`), read when it is first needed."""
        return self.entrants[0].identity, self.entrants[1].identity

    @property
    def names(self) -> tuple[str, str]:
        """Names of the bots; if both are equal, the second one gets a suffix."""
        return apart(self.entrants[0].name, self.entrants[1].name)

    def at_once(self, workers: int | None) -> int | None:
        """Return how many of ``workers`` processes can play runs at the same time; None: one for each core."""
        return 1 if any(entrant.alone for entrant in self.entrants) else workers

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs of the match, in the order in which they start."""
        return tuple(Run(seed, swapped) for seed in self.seeds for swapped in (False, True))


@dataclass(frozen=True)
class Run:
    """A run of a match: the hands with the cards of one seed, in which each bot keeps its seat.

    Attributes:
        swapped: whether the first bot has seat 1 instead of seat 0.
    """

    seed: int
    swapped: bool

    @property
    def file_name(self) -> str:
        return f"seed-{self.seed}{'-swapped' if self.swapped else ''}.log"

    def seat(self, entrant: int) -> int:
        """Seat of the bot with number ``entrant`` (0 or 1)."""
        return 1 - entrant if self.swapped else entrant

    def position(self, entrant: int, number: int) -> int:
        """Player that bot ``entrant`` (0 or 1) is in hand ``number``; positions swap after each hand."""
        return (self.seat(entrant) + number) % 2

    def entrant(self, player: int, number: int) -> int:
        """Number of the bot (0 or 1) that is ``player`` in hand ``number``."""
        return 0 if self.position(0, number) == player else 1


def play_match(
    first: str | Path,
    second: str | Path,
    *,
    game: str | Path | None = None,
    hands: int = 1000,
    seeds: Sequence[int] = (1,),
    folder: str | Path | None = None,
    aivat: bool = True,
    seconds: float | None = 600.0,
    workers: int | None = None,
    **options: Any,
) -> Score:
    """Play or continue a duplicate match between two bots, and return the first bot's score.

    Args:
        first: word that specifies the first bot; `spewy.match.entrant` lists the words.
        second: word that specifies the second bot.
        game: name of a shipped game, or path of a game file; None: the game of a bot that is a folder.
        hands: number of hands in each run; each seed has two runs, the second with the seats swapped.
        seeds: seeds of the cards.
        folder: folder of the logs, from which an interrupted match continues; None: keep no logs.
        aivat: whether to estimate the score also without luck, if a bot reveals its strategy.
        seconds: seconds that a bot may take for each answer; None: no limit.
        workers: number of processes; None: one for each core.
        options: keyword arguments of `spewy.open_bot` for bots from folders, such as ``resolve``.

    Raises:
        BotError: a bot from a folder, or a rule, raised an unexpected exception.
    """
    bots_options = Options.of(**options)
    match = match_of(first, second, bots_options, game, hands, tuple(seeds), aivat, seconds, workers)
    if options and all(entrant.kind != "folder" for entrant in match.entrants):
        names = ", ".join(options)
        raise InputError(f"{names}: no bot is the folder of a solve, so nothing is re-solved; remove {names}")
    if folder is not None:
        return run_match(match, Path(folder), workers=workers)
    with scratch_folder("match") as temporary:
        return run_match(match, temporary, workers=workers)


def match_of(
    first: str | Path,
    second: str | Path,
    options: Options,
    game: str | Path | None,
    hands: int,
    seeds: tuple[int, ...],
    aivat: bool,
    seconds: float | None,
    workers: int | None,
) -> Match:
    """Return the match that the arguments of `play_match` specify.

    If ``options`` leaves the number of threads open, the runs that are played at the same time share the cores. The
    number is fixed here, so that a match that continues has the same bots in all its hands.
    """
    one, other = parse_entrant(str(first), options), parse_entrant(str(second), options)
    match = Match(game_of(game, (one, other)), (one, other), hands, seeds, aivat, seconds)
    if options.threads is not None:
        return match
    at_once = max(1, min(len(match.runs), match.at_once(workers) or cpu_count()))
    options = replace(options, threads=max(1, cpu_count() // at_once))
    return replace(match, entrants=(replace(one, options=options), replace(other, options=options)))


def game_of(name: str | Path | None, entrants: Sequence[Entrant]) -> Game:
    """Return the named game, or without a name the game of the first bot that is a folder."""
    if name is not None:
        return load_game(str(name))
    for entrant in entrants:
        if entrant.is_solved:
            return shipped(entrant.game())
    raise InputError("no game is given, and no bot plays from a folder; name the game (--game leduc)")


def run_match(
    match: Match, folder: Path, watcher: Watcher = lambda done, total: None, workers: int | None = None
) -> Score:
    """Play or continue a match, with its logs in ``folder``; Ctrl-C ends it after the current hands."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {run: _log(match, run, folder).count() for run in match.runs}
    to_do = runs_to_play(match, folder)
    done = [counts[run] for run in to_do] + [n for run, n in counts.items() if run not in to_do]
    tasks = [(match, run, folder) for run in to_do]
    play_runs(play_run, tasks, watcher, match.hands * len(match.runs), match.at_once(workers), done)
    return score(match, folder)


def runs_to_play(match: Match, folder: Path) -> list[Run]:
    """Return the runs of a match whose logs are incomplete."""
    return [run for run in match.runs if not _log(match, run, folder).ended]


def score(match: Match, folder: Path) -> Score:
    """Compute the score of a match from its logs; the match may be incomplete."""
    results, faults, tallies = list[Result](), (list[str](), list[str]()), (list[Tally](), list[Tally]())
    for run in match.runs:
        log = _log(match, run, folder).read()
        results.extend(_results(run, log))
        for number, fault in log.faults:
            place = f"{run.file_name}, hand {number}"
            faults[run.entrant(fault.player, number)].append(f"{place}: {fault.text}")
        for number, player, tally in log.tallies:
            tallies[run.entrant(player, number)].append(tally.at(f"{run.file_name}, hand {number}"))
    return Score(
        match.names,
        match.game.big_blind,
        tuple(results),
        len(results) == match.hands * len(match.runs),
        (tuple(faults[0]), tuple(faults[1])),
        (Tally.of(tallies[0]), Tally.of(tallies[1])),
    )


def records(match: Match, folder: Path) -> Iterator[LoggedHand]:
    for run in match.runs:
        yield from _log(match, run, folder).read().records


def play_run(match: Match, run: Run, folder: Path) -> Generator[int]:
    """Play the remaining hands of a run; after each hand, yield the number of hands in its log."""
    log = _log(match, run, folder)
    begun = log.begin()
    with closing(_Seats(match, run, folder, begun)) as seats:
        for number, dealt in islice(enumerate(deals(match.game, run.seed)), begun, match.hands):
            played, aivat = seats.play(number, dealt)
            log.add(number, played, seats.by_position(match.names, number), aivat)
            yield number + 1
    log.end()


class _Seats:
    def __init__(self, match: Match, run: Run, folder: Path, begun: int) -> None:
        self._match, self._run = match, run
        first, second = (
            Seat(bot, match.seconds, name)
            for bot, name in zip(_opened(match, folder, begun), match.names, strict=True)
        )
        self._seats = first, second

    def by_position(self, pair: Sequence[str], number: int) -> tuple[str, str]:
        """Put the bots' names, given as a pair, into the order of the players of hand ``number``."""
        first = self._run.position(0, number)
        return (pair[0], pair[1]) if first == 0 else (pair[1], pair[0])

    def play(self, number: int, dealt: Dealt) -> tuple[Played, float | None]:
        """Return the played hand, and the estimate of player 0's chips without luck; None: there is no estimate."""
        match, first = self._match, self._run.position(0, number)
        seats = (self._seats[first], self._seats[1 - first])
        seeds = [int(word) for word in np.random.SeedSequence((self._run.seed, number)).generate_state(2)]
        played = play_hand(dealt, seats, match.game, (seeds[0], seeds[1]), match.aivat)
        reveals = seats[0].reveals, seats[1].reveals
        return played, estimate(played, reveals) if match.aivat and any(reveals) else None

    def close(self) -> None:
        for seat in self._seats:
            seat.close()


def _opened(match: Match, folder: Path, begun: int) -> tuple[Bot, Bot]:
    """Open both bots of a run, first the bot whose strategy the other bot needs."""
    order = (1, 0) if match.entrants[0].needs_other else (0, 1)
    if all(entrant.needs_other for entrant in match.entrants):
        names = " and ".join(entrant.name for entrant in match.entrants)
        raise InputError(f"bots {names}: each needs the strategy of the other; choose another opponent")
    bots: dict[int, Bot] = {}
    try:
        for entrant in order:
            log = folder / f"{match.names[entrant]}.err"
            other = bots.get(1 - entrant)
            bots[entrant] = match.entrants[entrant].open(match.game, other, begun, match.seconds, log)
    except BaseException:
        for bot in bots.values():
            bot.close()
        raise
    return bots[0], bots[1]


def _results(run: Run, log: RunRead) -> Iterator[Result]:
    for record, aivat in zip(log.records, log.aivat, strict=True):
        player = run.position(0, record.number)
        own = None if aivat is None else aivat if player == 0 else -aivat
        yield Result(run.seed, run.swapped, record.number, record.hand.net()[player], own)


def _log(match: Match, run: Run, folder: Path) -> RunLog:
    first, second = run.seat(0), run.seat(1)
    seats, bots = (match.names[first], match.names[second]), (match.bots[first], match.bots[second])
    return RunLog(
        folder / run.file_name, match.game, match.hands, run.seed, seats, bots, match.aivat, match.seconds
    )


def play_runs(
    run: _MakesRun,
    tasks: Sequence[tuple[Any, ...]],
    watcher: Watcher,
    total: int,
    workers: int | None,
    done: Sequence[int] = (),
) -> None:
    """Play the run ``run(*task)`` of each task to its end; Ctrl-C ends all after the current hands or matches.

    Args:
        total: number of hands or matches in all runs, including finished runs.
        workers: number of processes; None: one for each core.
        done: numbers of hands or matches that were played before, in the run of each task and then in each finished
            run; empty if nothing was played before.
    """
    played = [*done] or [0] * len(tasks)
    watcher(sum(played), total)
    n = max(1, min(len(tasks), workers or cpu_count()))
    with interruptible(ENDING) as stop:
        for task, number in _here(run, tasks, stop) if n == 1 else _in_workers(run, tasks, stop, n):
            played[task] = number
            watcher(sum(played), total)
    if stop.is_set():
        raise KeyboardInterrupt


def _here(run: _MakesRun, tasks: Sequence[tuple[Any, ...]], stop: Stop) -> Iterator[tuple[int, int]]:
    """Play runs one after another; yield the number of a task, and its number of hands or matches so far."""
    for task, arguments in enumerate(tasks):
        if stop.is_set():
            return
        with closing(run(*arguments)) as numbers:
            for number in numbers:
                yield task, number
                if stop.is_set():
                    return


def _in_workers(
    run: _MakesRun, tasks: Sequence[tuple[Any, ...]], stop: Stop, workers: int
) -> Iterator[tuple[int, int]]:
    stopping = False
    with closing(LocalPool(workers)) as pool:
        waiting = ((run, *arguments) for arguments in tasks if not stop.is_set())
        for message in pool.work(_run_in_worker, waiting):
            if stop.is_set() and not stopping:
                stopping = True
                pool.stop()
            if message is None:
                continue
            if message.kind == "failed":
                raise message.value
            if message.kind == "died":
                raise ChildProcessError(f"a worker process {message.value} during a run")
            yield message.task, message.value


def _run_in_worker(parent: Parent, run: _MakesRun, *arguments: Any) -> int:
    """Play a run in a worker process; tell ``parent`` after each hand or match how many are played."""
    number = 0
    with closing(run(*arguments)) as numbers:
        for number in numbers:
            parent.tell(number)
            if parent.is_set():
                break
    return number
