"""Tournaments: who plays whom, in processes and resumable, and the standing by the rules of a competition.

Each pair of bots has a folder with the logs of its matches. A tournament that is called again goes on from these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import joblib

from spewy.competitions.higc.referee import Limits
from spewy.competitions.higc.series import (
    TOO_LATE,
    Contender,
    Series,
    contender,
    is_played,
    series_tasks,
    standing,
)
from spewy.competitions.higc.series import play_run as play_matches
from spewy.competitions.tournament.file import (
    AcpcSection,
    BotSection,
    HigcSection,
    TournamentFile,
    UpacSection,
    pair_name,
)
from spewy.competitions.tournament.standings import (
    FEWER_THAN,
    MOST_FINALISTS,
    Ranking,
    Table,
    by_rating,
    elo,
    lexicographic,
    online,
    qualified,
    qualifying_sets,
    runoff,
    voted,
)
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import load_game, shipped_games
from spewy.match.cards import MOST_SEED
from spewy.match.entrant import entrant
from spewy.match.match import Entrant, Match, outcome, results, runs_to_play
from spewy.match.match import play_run as play_hands
from spewy.match.names import parse_named
from spewy.match.opponents import OPPONENTS
from spewy.match.runs import side_by_side
from spewy.match.score import Mean
from spewy.system.interrupts import interruptible
from spewy.system.textfile import exists, read_text

Watcher = Callable[[int, int], None]
SEEDS_APART = 1_000_003
"""Between the first seeds of two rounds of a tournament."""


@dataclass(frozen=True)
class Played:
    """What one pair played.

    Attributes:
        mean: what the first won from the second, in the game's unit a value.
        total: the same in all.
        faults: of both.
    """

    mean: Mean
    total: float
    faults: tuple[int, int]


@dataclass(frozen=True)
class Stage:
    """All against all in one game, or in one set of a qualifying round.

    Attributes:
        title: what it is.
        unit: of its scores.
        names: of the bots.
        played: by pairs in the order of the names.
        ranking: by the rules; of a set, who proceeds first.
    """

    title: str
    unit: str
    names: tuple[str, ...]
    played: Mapping[tuple[str, str], Played]
    ranking: Ranking

    def mean(self, one: str, two: str) -> Mean:
        """What one bot won from another one."""
        if (one, two) in self.played:
            return self.played[one, two].mean
        found = self.played[two, one].mean
        return replace(found, mean=-found.mean)


@dataclass(frozen=True)
class Outcome:
    """How a tournament ended.

    Attributes:
        name: of the tournament.
        rules: by which it was scored.
        stages: of it, in their order.
        ranking: of all bots.
        ratings: by Elo, where the rules are UPAC's.
        notes: what else there is to say.
    """

    name: str
    rules: str
    stages: tuple[Stage, ...]
    ranking: Ranking
    ratings: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


def play_tournament(
    file: TournamentFile,
    base: Path,
    folder: Path,
    shelf: Path,
    watcher: Watcher,
    workers: int | None = None,
) -> Outcome:
    """Play a tournament, or go on with one; Ctrl-C ends it after what is being played.

    Args:
        file: what to play.
        base: the folder that paths in the file begin at.
        folder: of the logs.
        shelf: where the bot ``spewy`` keeps what it solves, if the file names no place.
        watcher: told of hands or matches of the stage that is played.
        workers: processes; None: one for each core.

    Raises:
        InputError: the folder holds another tournament, or a bot or a game cannot be played.
        MissingError: OpenSpiel is needed and not installed.
    """
    n = workers or joblib.cpu_count()
    if file.upac is not None:
        return _rated(file, file.upac, base)
    folder.mkdir(parents=True, exist_ok=True)
    if file.acpc is not None:
        return _Acpc(file, file.acpc, base, folder, watcher, n).outcome()
    assert file.higc is not None
    return _higc(file, file.higc, base, folder, shelf, watcher, n)


@dataclass
class _Acpc:
    """A tournament of the ACPC's rules of 2007."""

    file: TournamentFile
    section: AcpcSection
    base: Path
    folder: Path
    watcher: Watcher
    workers: int

    def outcome(self) -> Outcome:
        names, stages, gone = self.file.names, list[Stage](), Ranking()
        if self.section.qualifying and len(names) > MOST_FINALISTS:
            names, stages, gone = self._qualified(names)
        final = self._stage("all against all", names, len(stages))
        table = _table(final)
        if self.file.rules == "acpc-online":
            ranking = online(names, table.total)
        else:
            ranking = runoff(names, table.points if self.file.rules == "acpc-points" else table.total)
        stages.append(replace(final, ranking=ranking))
        return Outcome(self.file.name, self.file.rules, tuple(stages), ranking + gone)

    def _qualified(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], list[Stage], Ranking]:
        """Rounds of random sets, until fewer than ten are left or nobody goes; who went last stands first."""
        stages, gone, rng = list[Stage](), Ranking(), Random(self.file.seed)
        number = 0
        while len(names) >= FEWER_THAN:
            number += 1
            kept = list[str]()
            for i, group in enumerate(qualifying_sets(names, rng), start=1):
                stage = self._stage(f"qualifying round {number}, set {i}", tuple(group), len(stages))
                best = qualified(group, _table(stage).total)
                out = [name for name in group if name not in best]
                stages.append(replace(stage, ranking=[best, out] if out else [best]))
                kept += best
            out = [name for name in names if name not in kept]
            if not out:
                break
            gone.insert(0, out)
            names = tuple(name for name in names if name in kept)
        return names, stages, gone

    def _stage(self, title: str, names: tuple[str, ...], number: int) -> Stage:
        """Each two of these bots play."""
        matches = {pair: self._match(pair, number) for pair in combinations(names, 2)}
        folders = {pair: self.folder / f"stage-{number}" / pair_name(*pair) for pair in matches}
        tasks = []
        for pair, match in matches.items():
            folders[pair].mkdir(parents=True, exist_ok=True)
            tasks += [(match, run, folders[pair]) for run in runs_to_play(match, folders[pair])]
        hands = sum(match.hands for match, _, _ in tasks)
        alone = any(each.alone for match in matches.values() for each in match.entrants)
        _play(play_hands, tasks, self.watcher, hands, 1 if alone else self.workers)
        played = {}
        for pair, match in matches.items():
            chips = [result.chips for result in results(match, folders[pair])]
            found = outcome(match, folders[pair])
            faults = (len(found.faults[0]), len(found.faults[1]))
            played[pair] = Played(found.score.duplicate, math.fsum(chips), faults)
        return Stage(title, "mbb per hand", names, played, [])

    def _match(self, pair: tuple[str, str], number: int) -> Match:
        first = (self.file.seed + number * SEEDS_APART) % (MOST_SEED - self.section.series)
        seeds = tuple(range(first, first + self.section.series))
        entrants = self._entrant(pair[0]), self._entrant(pair[1])
        game = load_game(_beside(self.base, self.section.game, shipped_games()))
        return Match(game, entrants, self.section.hands, seeds, False, self.section.seconds)

    def _entrant(self, name: str) -> Entrant:
        word = next(bot.bot for bot in self.file.bots if bot.name == name) or ""
        _, bot = parse_named(word, self.base)
        return replace(entrant(_beside(self.base, bot, OPPONENTS), self.section.seconds), called=name)


def _higc(
    file: TournamentFile,
    section: HigcSection,
    base: Path,
    folder: Path,
    shelf: Path,
    watcher: Watcher,
    workers: int,
) -> Outcome:
    """Instant run-off voting for each game, lexicographic over games; who breaks time limits too often is last."""
    shelf = shelf if section.data is None else base / section.data
    bots = {bot.name: _contender(bot, base, shelf, section) for bot in file.bots}
    limits = Limits("rules", section.seconds, section.chance_seconds, section.prepare_seconds)
    stages, late = list[Stage](), set[str]()
    for number, game in enumerate(section.games):
        series = {
            pair: Series(game, (bots[pair[0]], bots[pair[1]]), section.matches, file.seed, limits)
            for pair in combinations(file.names, 2)
        }
        stage, out = _higc_stage(series, file.names, folder / f"game-{number}", watcher, workers)
        stages.append(stage)
        late |= out
    ranking = lexicographic([stage.ranking for stage in stages])
    kept = [[name for name in place if name not in late] for place in ranking]
    ranking = [place for place in kept if place] + ([sorted(late)] if late else [])
    notes = tuple(
        f"{name} broke the time limit in more than 1 % of the matches of a game" for name in sorted(late)
    )
    return Outcome(file.name, file.rules, tuple(stages), ranking, notes=notes)


def _higc_stage(
    series: Mapping[tuple[str, str], Series],
    names: tuple[str, ...],
    folder: Path,
    watcher: Watcher,
    workers: int,
) -> tuple[Stage, set[str]]:
    """One game, and who is disqualified in it."""
    folders = {pair: folder / pair_name(*pair) for pair in series}
    tasks = []
    for pair, each in series.items():
        folders[pair].mkdir(parents=True, exist_ok=True)
        tasks += [task for task in series_tasks(each, folders[pair]) if not is_played(*task)]
    total = sum(each.of_run(swapped) for each, swapped, _ in tasks)
    _play(play_matches, tasks, watcher, total, workers)
    found = {pair: standing(each, folders[pair]) for pair, each in series.items()}
    played = {
        pair: Played(stands.mean, stands.mean.mean, (len(stands.faults(0)), len(stands.faults(1))))
        for pair, stands in found.items()
    }
    game = next(iter(series.values())).game
    stage = Stage(game, "per match", names, played, [])
    stage = replace(stage, ranking=voted(names, _table(stage).total))
    shares = {name: list[bool]() for name in names}
    for pair, stands in found.items():
        for n, name in enumerate(pair):
            shares[name] += [record.late[n] for record in stands.records]
    return stage, {name for name, late in shares.items() if sum(late) > TOO_LATE * len(late)}


def _contender(bot: BotSection, base: Path, shelf: Path, section: HigcSection) -> Contender:
    lockers = tuple(base / path for path in bot.lockers)
    return contender(bot.bot or "", shelf, lockers, section.search_seconds, bot.name)


def _rated(file: TournamentFile, section: UpacSection, base: Path) -> Outcome:
    """Elo over the games of a file."""
    games = list(read_games(base / section.results, file.names))
    ratings = elo(file.names, games, section.k, section.start)
    played = {}
    for pair in combinations(file.names, 2):
        scores = [score for one, two, score in games if (one, two) == pair]
        scores += [1 - score for one, two, score in games if (two, one) == pair]
        gains = [2 * score - 1 for score in scores]
        played[pair] = Played(Mean.plain(gains), math.fsum(gains), (0, 0))
    ranking = by_rating(ratings)
    stage = Stage("all games", "of the chips", file.names, played, ranking)
    return Outcome(file.name, file.rules, (stage,), ranking, ratings)


def read_games(path: Path, names: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Games of UPAC from lines of JSON: two bots and the first one's share of the chips.

    A line is ``{"bots": ["a", "b"], "chips": [80, 20]}``; a bot that failed has null instead of chips, and the other
    one all.

    Raises:
        InputError: a line is none, or of other bots; or there are none.
    """
    subject, none = f"results {path_text(path)}", True
    for number, line in enumerate(read_text(path, subject).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            one, two = told["bots"]
            score = _share(*told["chips"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(
                f'{subject}, line {number}: expected {{"bots": ["a", "b"], "chips": [80, 20]}}, found {shown(line)}'
            ) from None
        if one == two or one not in names or two not in names:
            raise InputError(
                f"{subject}, line {number}: expected two of the bots, found {shown(told['bots'])}"
            )
        none = False
        yield one, two, score
    if none:
        raise InputError(f"{subject}: expected games, found none")


def _share(one: float | None, two: float | None) -> float:
    """The first one's share; both failed: a half."""
    if one is None or two is None:
        return 0.5 if one is two else float(two is None)
    if not (one >= 0 and two >= 0 and 0 < one + two < math.inf):
        raise ValueError("chips")
    return float(one / (one + two))


def _play(
    run: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], watcher: Watcher, total: int, workers: int
) -> None:
    """Play what is left of a stage."""
    done = [0] * len(tasks)
    with interruptible() as stop:
        n = max(1, min(len(tasks), workers))
        for number, played in side_by_side(run, tasks, stop, n):
            done[number] = played
            watcher(sum(done), total)
    if stop.is_set():
        raise KeyboardInterrupt


def _table(stage: Stage) -> Table:
    return Table(stage.names, {pair: played.total for pair, played in stage.played.items()})


def _beside(base: Path, word: str, known: Collection[str]) -> str:
    """A path beside the file, where there is something; else the word itself, and always one that is known."""
    return str(base / word) if word and word not in known and exists(base / word) else word
