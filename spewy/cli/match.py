"""``spewy match``: play a duplicate match between two bots, and print its score."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bots import (
    MOST_PRINTED,
    check_hand_files,
    logs_folder,
    logs_option,
    phh_option,
    pokerstars_option,
    say_unused_options,
    solving_options,
    tally_rows,
    workers_option,
    write_hands,
)
from spewy.cli.options import FOREIGN_CODE, Seconds, json_option
from spewy.cli.progress import counting
from spewy.cli.tables import count, facts, json_text, number, say, table_text

if TYPE_CHECKING:
    from spewy.bot.options import Options
    from spewy.match.match import Match
    from spewy.match.score import Score

NAMES = {
    "plain": "plain",
    "duplicate": "duplicate",
    "aivat": "AIVAT",
    "aivat_duplicate": "AIVAT, duplicate",
}
"""Names of the scores in the printed table."""


@click.command(epilog=FOREIGN_CODE)
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option(
    "--game",
    metavar="GAME",
    help="Game to play: the name of a shipped game, such as leduc, or the path of a game file. Default: the game of "
    "the solve, if a bot plays from a solve's folder.",
)
@click.option(
    "--hands",
    type=click.IntRange(1, 10**7),
    default=1000,
    show_default=True,
    help="Number of hands in each run; each seed is played in two runs, with the seats swapped.",
)
@click.option(
    "--seeds",
    default="1",
    show_default=True,
    metavar="SEEDS",
    help="Seeds of the cards, such as 1-20 or 3,5,8-10; the cards of a seed are played in two runs, the second with "
    "swapped seats.",
)
@logs_option("match")
@workers_option()
@solving_options
@click.option(
    "--aivat/--no-aivat",
    default=True,
    show_default=True,
    help="Also estimate the score without luck (AIVAT); works if at least one bot reveals its strategy.",
)
@click.option(
    "--seconds",
    type=Seconds(some=True),
    default=600.0,
    show_default=True,
    help="Time limit of one answer, in seconds; for a bot that takes longer, the command checks or folds in the rest "
    "of the run.",
)
@phh_option
@pokerstars_option
@json_option
def match(
    first: str,
    second: str,
    game: str | None,
    hands: int,
    seeds: str,
    out: Path | None,
    workers: int | None,
    options: Options,
    aivat: bool,
    seconds: float,
    phh: Path | None,
    pokerstars: Path | None,
    as_json: bool,
) -> None:
    """Play a duplicate match between two bots.

    The same cards are played twice, with the seats swapped.

    \b
    BOT is one of
      RULE           a bot that plays by a simple rule: random, call, raise, fold, tight, loose or equity
      FOLDER         the strategy of a solved whole game, re-solved at the table as --resolve says
      stored:FOLDER  the strategy of a solved whole game as it is stored
      lbr:SETTING    Local Best Response against the other bot, which must be a folder; SETTING is fc, fcpa, 56, late-fc
                     or all (docs/how-to/bots.md)
      cmd:COMMAND    a client of the ACPC's protocol, started as COMMAND HOST PORT
      tcp:PORT       a client of the ACPC's protocol that you start; it connects to PORT once for each run
    NAME= before BOT names the bot in tables and logs; without NAME= a command is named after its program, and a Python
    command after its script.

    The score is what the first bot wins, in mbb per hand (thousandths of a big blind), with a 95 % confidence interval.
    The plain score is the mean of all hands, the duplicate score that of pairs of hands with the same cards. AIVAT
    removes most of the luck if a bot reveals its strategy. The first row is the score with the narrowest valid
    interval: an interval of single hands is valid only if no two of them have the same cards. The command also prints
    illegal and missing answers. After Ctrl-C it prints the score of the hands so far.

    A bot from a folder counts its decisions by source: stored (the stored strategy), re-solved, translated (the stored
    strategy after a similar bet) and fallback (pot odds, a check or a fold, since nothing is stored). It also counts
    failed re-solves by the class of the error; the bot then plays the stored strategy. A bug in a bot's program, such
    as a TypeError, ends the match with exit code 1.

    \b
    Examples:
      spewy match results/limit-holdem equity --hands 3000 --seeds 1-10
      spewy match lbr:fcpa results/nolimit-200bb --resolve always --out results/lbr
      spewy match results/nolimit-200bb stored:results/nolimit-200bb --resolve always
      spewy match call raise --game leduc --json
      spewy match results/limit-holdem "mine=cmd:python3 bots/mine.py"

    \b
    --json prints one object:
      {"bots": ["a", "b"], "game", "hands", "seeds": [1], "complete",
       "score": {"plain": {"mean", "half", "n"}, "duplicate": .., "aivat": .., "aivat_duplicate": ..},
       "narrowest": "aivat_duplicate",
       "faults": [0, 0],
       "decisions": [{"sources": {"stored": 90, "re-solved": 8, "translated": 1, "fallback": 1},
                      "failures": {"SolveError": 1},
                      "spent": [{"round": "turn", "n": 40, "solved": 18,
                                 "seconds": {"mean", "median", "p99"},
                                 "stages": {"read": {"mean", "median", "p99"}, "lay": .., "iterate": ..,
                                            "judge": ..}}]},
                     {"sources": {}, "failures": {}, "spent": []}]}
      mean, half (half the width of the interval) in mbb per hand; n is the number of values. aivat and aivat_duplicate
      are null if no bot reveals its strategy. narrowest names the score with the narrowest valid interval; null if
      no interval is valid.
      sources are empty for a bot that does not count them.
      spent has the seconds of decisions by round: first those of all n decisions, then by stage those of the decisions
      that solved a subgame. The stages are: read the stored strategy, lay out boards and memory, iterate, judge by best
      responses.
    """  # noqa: D301
    check_hand_files(phh, pokerstars)
    from spewy.match.match import match_of, records, run_match
    from spewy.match.match import score as score_so_far
    from spewy.match.phh import variant

    played = match_of(first, second, options, game, hands, parse_seeds(seeds), aivat, seconds, workers)
    say_unused_options(played.entrants)
    if phh is not None or pokerstars is not None:
        variant(played.game)  # raises an error before the hands are played, if the format lacks the game
    _print_ports(played)
    with logs_folder(out, "match") as folder:
        try:
            with counting("hands") as watcher:
                score = run_match(played, folder, watcher, workers)
        except KeyboardInterrupt:
            _show(played, score_so_far(played, folder), as_json)
            _say_changes(played)
            raise
        if phh is not None or pokerstars is not None:
            write_hands(records(played, folder), phh, pokerstars)
    _show(played, score, as_json)
    _say_changes(played)


def _say_changes(played: Match) -> None:
    from spewy.match.log import changes

    for name, entrant, before in zip(played.names, played.entrants, played.bots, strict=True):
        if (now := entrant.identity) != before:
            say(
                f"{changes(name, before, now)}: its solve changed during the match, and the score mixes strategies"
            )


def _print_ports(played: Match) -> None:
    from spewy.errors import InputError
    from spewy.match.remote import HOST

    waiting = [each for each in played.entrants if each.kind == "tcp"]
    if len(waiting) > len({each.value for each in waiting}):
        raise InputError(f"both bots are tcp:{waiting[0].value}; give each bot a port of its own")
    for each in waiting:
        where = f"{HOST}:{each.value}, once in each of {count(len(played.runs), 'run')}"
        say(f"{each.name}: waiting for a client of the ACPC's protocol at {where}")


def _show(played: Match, score: Score, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(_json(played, score)))
        return
    click.echo(facts(_head(played, score)))
    click.echo(_table(score))
    _print_faults(played, score)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read the numbers and ranges of numbers in ``--seeds``.

    >>> parse_seeds("3,5,8-10")
    (3, 5, 8, 9, 10)
    """
    from spewy.errors import InputError, shown

    seeds: list[int] = []
    for part in text.split(","):
        bounds = re.fullmatch(r"\s*([0-9]{1,10})(?:-([0-9]{1,10}))?\s*", part)
        low, high = (int(bounds[1]), int(bounds[2] or bounds[1])) if bounds else (1, 0)
        if not low <= high < low + 10**6:
            raise InputError(
                f"--seeds: expected numbers and rising ranges such as 1-20 or 3,5,8-10, found {shown(text)}"
            )
        seeds.extend(range(low, high + 1))
    return tuple(seeds)


def _json(played: Match, score: Score) -> dict[str, Any]:
    return {
        "bots": played.names,
        "game": played.game.name,
        "hands": played.hands,
        "seeds": played.seeds,
        "complete": score.complete,
        "score": score.to_json(),
        "narrowest": score.narrowest,
        "faults": [len(faults) for faults in score.faults],
        "decisions": [tally.to_json() for tally in score.tallies],
    }


def _head(played: Match, score: Score) -> list[tuple[str, str]]:
    first, second = played.names
    runs = f"{count(len(played.runs), 'run')} of {count(played.hands, 'hand')}"
    whole = "" if score.complete else f", {score.plain.n:,} hands of them so far"
    head = [("bots", f"{first} against {second}"), ("game", played.game.name), ("played", runs + whole)]
    for name, tally in zip(played.names, score.tallies, strict=True):
        head += tally_rows(tally, f" of {name}")
    return head


def _table(score: Score) -> str:
    plain = score.plain.half or float("nan")
    rows = (
        (
            NAMES[name],
            number(mean.mean, 1),
            f"± {number(mean.half, 1)}",
            f"{mean.n:,}",
            "-" if math.isnan(mean.half / plain) else f"{mean.half / plain:.2f}",
        )
        for name, mean in score.rows().items()
    )
    return table_text(("score", "mbb per hand", "95 %", "values", "of plain"), rows)


def _print_faults(played: Match, score: Score) -> None:
    for name, faults, tally in zip(played.names, score.faults, score.tallies, strict=True):
        _say_first(name, faults, "more fault")
        failures = [f"{each.text} ({each.reason})" for each in tally.failures]
        _say_first(f"{name}, failed", failures, "more failure")


def _say_first(subject: str, texts: Sequence[str], more: str) -> None:
    for text in texts[:MOST_PRINTED]:
        say(f"{subject}: {text}")
    if len(texts) > MOST_PRINTED:
        say(f"{subject}: {count(len(texts) - MOST_PRINTED, more)}")
