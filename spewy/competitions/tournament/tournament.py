"""Play tournaments: matches of all pairs of bots, in several processes, ranked by the rules of a competition.

Each pair of bots has a folder with the logs of its matches. A tournament that is started again continues from the logs.
`page_text` writes the ranking, and the results of all pairs in each stage, as a page in Markdown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random

from spewy.competitions.higc.referee import Limits
from spewy.competitions.higc.series import TOO_LATE, Series, is_played, parse_bot, series_tasks
from spewy.competitions.higc.series import outcome as series_outcome
from spewy.competitions.higc.series import play_run as play_matches
from spewy.competitions.tournament.file import (
    AcpcSection,
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
    place_of,
    qualified,
    qualifying_sets,
    runoff,
    voted,
)
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import load_game, shipped_games
from spewy.match.entrant import Entrant, parse_entrant
from spewy.match.match import Match, Watcher, play_runs, runs_to_play, score
from spewy.match.match import play_run as play_hands
from spewy.match.score import Mean
from spewy.match.table import MOST_SEED
from spewy.system.textfile import exists, read_text

SEEDS_APART = 1_000_003
"""Difference between the first seeds of two successive stages."""
RULES = {
    "acpc-bankroll": "ACPC 2007, no-limit: instant run-off by bankroll",
    "acpc-points": "ACPC 2007, approximate equilibrium: instant run-off by points of series",
    "acpc-online": "ACPC 2007, online learning: the best four by run-off, then total bankroll among them",
    "higc": "HIGC: instant run-off voting for each game, lexicographic over games",
    "upac": "UPAC: Elo over shares of the chips",
}
"""Rules as the page of a tournament names them."""


@dataclass(frozen=True)
class Played:
    """Results of all matches between two bots in one stage of a tournament.

    Attributes:
        mean: mean result of the first bot, in the unit of the stage.
        total: sum of the first bot's results.
        faults: number of faults of each bot.
    """

    mean: Mean
    total: float
    faults: tuple[int, int]


@dataclass(frozen=True)
class Stage:
    """Matches of all pairs of bots, in one game or in one set of a qualifying round.

    Attributes:
        played: results by pair; pairs stand in the order of ``names``.
        ranking: ranking by the rules. In a qualifying set the bots that proceed share the first place.
    """

    title: str
    unit: str
    names: tuple[str, ...]
    played: Mapping[tuple[str, str], Played]
    ranking: Ranking

    def mean(self, one: str, two: str) -> Mean:
        if (one, two) in self.played:
            return self.played[one, two].mean
        mean = self.played[two, one].mean
        return replace(mean, mean=-mean.mean)


@dataclass(frozen=True)
class Outcome:
    """The result of a tournament.

    Attributes:
        ratings: Elo ratings, by UPAC's rules only.
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
    solved: Path,
    watcher: Watcher,
    workers: int | None = None,
) -> Outcome:
    """Play or continue a tournament; Ctrl-C ends it after the current hands (HIGC: matches).

    By UPAC's rules nothing is played: the games in the results file are rated.

    Args:
        base: folder from which relative paths in the tournament file start.
        folder: folder for the logs of all matches; what it already has is not played again.
        solved: folder where the HIGC bot ``spewy`` stores solved small games, unless the file names another folder.
        workers: number of processes; None: one for each core.
    """
    if file.upac is not None:
        return _rated(file, file.upac, base)
    folder.mkdir(parents=True, exist_ok=True)
    if file.acpc is not None:
        return _Acpc(file, base, folder, solved, watcher, workers, file.acpc).outcome()
    assert file.higc is not None
    return _Higc(file, base, folder, solved, watcher, workers, file.higc).outcome()


@dataclass
class _Games:
    """Base class of tournaments, with the arguments of `play_tournament`."""

    file: TournamentFile
    base: Path
    folder: Path
    solved: Path
    watcher: Watcher
    workers: int | None

    def folders(self, stage: str, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Path]:
        folders = {pair: self.folder / stage / pair_name(*pair) for pair in pairs}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        return folders


@dataclass
class _Acpc(_Games):
    """Plays a tournament by the ACPC's rules of 2007: qualifying rounds if there are many bots, then all pairs."""

    section: AcpcSection

    def outcome(self) -> Outcome:
        names, stages, gone = self.file.names, list[Stage](), Ranking()
        if self.section.qualifying and len(names) > MOST_FINALISTS:
            names, stages, gone = self._qualify(names)
        final = self._stage("all against all", names, len(stages))
        table = _table(final)
        if self.file.rules == "acpc-online":
            ranking = online(names, table.total)
        else:
            ranking = runoff(names, table.points if self.file.rules == "acpc-points" else table.total)
        stages.append(replace(final, ranking=ranking))
        return Outcome(self.file.name, self.file.rules, tuple(stages), ranking + gone)

    def _qualify(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], list[Stage], Ranking]:
        """Play rounds in random sets; return the remaining bots, the stages, and the ranking of the eliminated bots."""
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
        """Play a match between each pair of the named bots, as stage ``number``; the ranking is left empty."""
        matches = {pair: self._match(pair, number) for pair in combinations(names, 2)}
        folders = self.folders(f"stage-{number}", matches)
        tasks = [
            (match, run, folders[pair])
            for pair, match in matches.items()
            for run in runs_to_play(match, folders[pair])
        ]
        hands = sum(match.hands for match, _, _ in tasks)
        alone = any(each.alone for match in matches.values() for each in match.entrants)
        play_runs(play_hands, tasks, self.watcher, hands, 1 if alone else self.workers)
        played = {}
        for pair, match in matches.items():
            each = score(match, folders[pair])
            total = math.fsum(result.chips for result in each.results)
            played[pair] = Played(each.duplicate, total, (len(each.faults[0]), len(each.faults[1])))
        return Stage(title, "mbb per hand", names, played, [])

    def _match(self, pair: tuple[str, str], number: int) -> Match:
        first = (self.file.seed + number * SEEDS_APART) % (MOST_SEED - self.section.series)
        seeds = tuple(range(first, first + self.section.series))
        name, game_file = self.section.game, self.base / self.section.game
        game = load_game(str(game_file) if name not in shipped_games() and exists(game_file) else name)
        entrants = self._entrant(pair[0]), self._entrant(pair[1])
        return Match(game, entrants, self.section.hands, seeds, False, self.section.seconds)

    def _entrant(self, name: str) -> Entrant:
        word = next(bot.bot for bot in self.file.bots if bot.name == name) or ""
        return replace(parse_entrant(word, base=self.base), called=name)


@dataclass
class _Higc(_Games):
    """Plays a tournament by the HIGC's rules; bots that are late too often in a game share its last place."""

    section: HigcSection

    def outcome(self) -> Outcome:
        stages, late = list[Stage](), set[str]()
        for number, game in enumerate(self.section.games):
            stage, disqualified = self._stage(game, f"game-{number}")
            stages.append(stage)
            late |= disqualified
        ranking = lexicographic([stage.ranking for stage in stages])
        kept = [[name for name in place if name not in late] for place in ranking]
        ranking = [place for place in kept if place] + ([sorted(late)] if late else [])
        notes = tuple(
            f"{name} broke the time limit in more than 1 % of the matches of a game" for name in sorted(late)
        )
        return Outcome(self.file.name, self.file.rules, tuple(stages), ranking, notes=notes)

    def _stage(self, game: str, folder: str) -> tuple[Stage, set[str]]:
        """Play all pairs in a game, logged in ``folder``; return the stage and the bots that were late too often."""
        names, bots = self.file.names, self._bots()
        limits = Limits(
            "rules", self.section.seconds, self.section.chance_seconds, self.section.prepare_seconds
        )
        series = {
            pair: Series(
                game, (bots[pair[0]], bots[pair[1]]), pair, self.section.matches, self.file.seed, limits
            )
            for pair in combinations(names, 2)
        }
        folders = self.folders(folder, series)
        tasks = [
            task
            for pair, each in series.items()
            for task in series_tasks(each, folders[pair])
            if not is_played(*task)
        ]
        total = sum(each.of_run(swapped) for each, swapped, _ in tasks)
        play_runs(play_matches, tasks, self.watcher, total, self.workers)
        played, late = {}, {name: list[bool]() for name in names}
        for pair, each in series.items():
            result = series_outcome(each, folders[pair])
            mean, faults = result.mean, (len(result.faults(0)), len(result.faults(1)))
            played[pair] = Played(mean, mean.mean, faults)
            for bot, name in enumerate(pair):
                late[name] += [record.late[bot] for record in result.records]
        stage = Stage(game, "per match", names, played, [])
        stage = replace(stage, ranking=voted(names, _table(stage).total))
        return stage, {name for name, matches in late.items() if sum(matches) > TOO_LATE * len(matches)}

    def _bots(self) -> dict[str, Entrant]:
        solved, seconds = self.solved, self.section.search_seconds
        if self.section.data is not None:
            solved = self.base / self.section.data
        return {
            bot.name: parse_bot(
                bot.bot or "", solved, [self.base / path for path in bot.lockers], seconds, self.base
            )
            for bot in self.file.bots
        }


def _rated(file: TournamentFile, section: UpacSection, base: Path) -> Outcome:
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
    """Read UPAC games from lines of JSON.

    A line is ``{"bots": ["a", "b"], "chips": [80, 20]}``. A bot that failed has null instead of chips, and then the
    other bot has won all chips.

    Yields:
        For each game, its two bots and the first bot's share of the chips.
    """
    subject, n_games = f"results {path_text(path)}", 0
    for number, line in enumerate(read_text(path, subject).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            one, two = entry["bots"]
            share = _share(*entry["chips"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(
                f'{subject}, line {number}: expected {{"bots": ["a", "b"], "chips": [80, 20]}}, found {shown(line)}'
            ) from None
        if one == two or one not in names or two not in names:
            raise InputError(
                f"{subject}, line {number}: expected two bots of the tournament, found {shown(entry['bots'])}"
            )
        n_games += 1
        yield one, two, share
    if not n_games:
        raise InputError(f"{subject}: the file has no games")


def _share(one: float | None, two: float | None) -> float:
    """Return the first bot's share of both bots' final chips ``one`` and ``two``; None: the bot failed."""
    if one is None or two is None:
        return 0.5 if one is two else float(two is None)
    if not (one >= 0 and two >= 0 and 0 < one + two < math.inf):
        raise ValueError("chips")
    return float(one / (one + two))


def _table(stage: Stage) -> Table:
    return Table(stage.names, {pair: played.total for pair, played in stage.played.items()})


def page_text(outcome: Outcome) -> str:
    """Return the whole page as Markdown."""
    lines = [f"# {outcome.name}", "", f"{RULES[outcome.rules]}.", "", *_places(outcome)]
    lines += [line for note in outcome.notes for line in ("", f"{note}.")]
    for stage in outcome.stages:
        lines += ["", *_stage(stage)]
    return "\n".join(lines) + "\n"


def cell(stage: Stage, one: str, two: str) -> str:
    """Return a table cell with the mean result of bot ``one`` against bot ``two``, and its 95 % interval."""
    if one == two:
        return ""
    mean = stage.mean(one, two)
    if not mean.n:
        return "-"
    return f"{mean.mean:+z,.3f}" + (f" ± {mean.half:,.3f}" if mean.n > 1 else "")


def _places(outcome: Outcome) -> Iterator[str]:
    ratings = outcome.ratings
    yield "| place | bot |" + (" rating |" if ratings is not None else "")
    yield "|---:|---|" + ("---:|" if ratings is not None else "")
    for name, place in place_of(outcome.ranking).items():
        yield f"| {place} | {name} |" + (f" {ratings[name]:,.1f} |" if ratings is not None else "")


def _stage(stage: Stage) -> Iterator[str]:
    values = sum(played.mean.n for played in stage.played.values())
    yield f"## {stage.title}"
    yield ""
    yield f"Winnings of the row's bot from the column's bot, {stage.unit}, with 95 % intervals; {values:,} values."
    yield ""
    yield "| place | bot | " + " | ".join(stage.names) + " | faults |"
    yield "|---:|---|" + "---:|" * (len(stage.names) + 1)
    for name, place in place_of(stage.ranking).items():
        cells = " | ".join(cell(stage, name, other) for other in stage.names)
        yield f"| {place} | {name} | {cells} | {_faults(stage, name):,} |"


def _faults(stage: Stage, name: str) -> int:
    return sum(played.faults[pair.index(name)] for pair, played in stage.played.items() if name in pair)
