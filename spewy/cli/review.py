"""``spewy review``: show what each decision of a match cost the player."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.files import appearing
from spewy.cli.options import json_option, refuse_unused
from spewy.cli.tables import count, facts, json_text, number, say, table_text
from spewy.errors import MOST_OF_ERROR, InputError, one_line, path_text

if TYPE_CHECKING:
    from spewy.bridges.from_hand import Missing
    from spewy.match.mistakes import Mistakes
    from spewy.match.review import Fit, Review, Reviewed, Skipped, Total

MOST_REASONS = 5
"""Largest number of printed reasons why hands were skipped."""
MOST_NAMED = 5
"""Largest number of skipped hands that are named for each reason."""
_DETAILS = re.compile(r"[+-]?[0-9.]+%|\b(?:[2-9TJQKA][cdhs]){2,5}\b")
"""Shares and cards in a reason; reasons that differ in nothing else are printed together."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--lockers",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder of the solve with which the decisions are compared: a whole game, a spot, or spots and batches.",
)
@click.option(
    "--missing",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write job files into FOLDER, with spots for the hands that no solve covers; --lockers is then optional.",
)
@click.option(
    "--game",
    metavar="GAME",
    help="Game of the hands in FILE: the name of a shipped game, or the path of a game file. Default: the game of the "
    "solve.",
)
@click.option("--player", metavar="NAME", help="Review the decisions of this player only.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, max=100),
    metavar="PERCENT",
    help="Largest difference between a hand's and a spot's stack-to-pot ratios, in % of the spot's ratio; default: 5.",
)
@click.option("--hands", type=click.IntRange(min=1), help="Number of hands to review; default: all.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of decisions to list, the costliest first.",
)
@json_option
def review(
    file: Path,
    folder: Path | None,
    missing: Path | None,
    game: str | None,
    player: str | None,
    tolerance: float | None,
    hands: int | None,
    top: int,
    as_json: bool,
) -> None:
    """Show what each decision of a match cost.

    FILE has hands of PokerStars or GGPoker (in English), a Poker Hand History (.phh, .phhs), or the log of a match or
    of a session at Slumbot. The content of the file decides which.

    For each decision with known hole cards the command prints how often the stored strategy takes the action, and what
    the action cost: the EV of the strategy's own action frequencies, less the EV of the action. The opponent has the
    range with which the strategy comes to the decision. The cost is 0 on average for a player who follows the strategy.

    In a spot the EVs are those that `spewy show` prints. In a whole game they assume that both players follow the
    strategy to the end of the round, and that nobody bets in later rounds; so the cost is an estimate.

    A hand is compared with a spot if, at the start of the spot's round, it has the spot's board (up to suits) and the
    same ratio of the smaller stack to the pot, within --tolerance. A bet or raise counts as the nearest bet or raise of
    the spot's tree, by its share of the pot; the column "off" has the largest difference in the line so far. Lines,
    actions, EVs and costs are in the unit of the spot's job, as in `spewy show`; cards are those of the hand.

    A hand that cannot be read, or that lies outside of the spots, is skipped, with the reason. With spots, hands may
    have any blinds, stacks, decimals and players, if two players see the flop. The last table lists the spots
    that, once solved, cover most of the other hands; --missing writes their job files, a batch for each pot, which
    `spewy solve` solves.

    \b
    Examples:
      spewy review results/match/seed-1.log --lockers results/limit-holdem
      spewy review hands.phhs --lockers results/limit-holdem --player Alice --top 50
      spewy review hands.phhs --lockers results/T1
      spewy review session.txt --missing session               # writes jobs such as session/hu-100bb-srp.toml
      spewy review session.txt --lockers results --player Hero

    \b
    --json prints one object:
      {"players": {"Alice": {"hands", "decisions", "cost": mbb per hand, "won": mbb per hand}},
       "decisions": [{"number" (of the hand), "name", "player", "line", "board", "hole", "action", "actions",
                      "frequencies" and "values" (of each of the actions), "frequency" (of the action), "cost",
                      "big_blind": the hand's, in the unit of the values,
                      "fit": null for a whole game, else {"ratio": the hand's stack-to-pot ratio / the spot's - 1,
                             "size": of the played bet as a share of the pot after a call,
                             "distance": size - the size of the action, "line_distance": the largest one before,
                             "unit": of all amounts}}],
       "skipped": [{"number", "reason", "whole": whether no decision of the hand was reviewed,
                    "read": whether the hand could be read}],
       "mistakes": [{"street", "played", "best", "decisions", "cost": mbb in all}],
       "missing": [{"name", "about", "boards", "hands" (numbers), "file": null without --missing}]}
      unknown values are null
    """  # noqa: D301
    if as_json:
        refuse_unused("with --json, which prints all decisions", "top")
    if folder is None and missing is None:
        raise click.UsageError(
            "give --lockers FOLDER, or --missing FOLDER to write the jobs that judge the hands"
        )
    from spewy.game.gamefile import load_game
    from spewy.match.hand_files import game_of_file, read_hands
    from spewy.match.mistakes import mistakes
    from spewy.match.review import DEFAULT_TOLERANCE, SpotHands, open_strategy, review_hands, summary

    share = DEFAULT_TOLERANCE if tolerance is None else tolerance / 100
    strategy = SpotHands([]) if folder is None else open_strategy(folder, share, say)
    try:
        in_spots = isinstance(strategy, SpotHands)
        rules = load_game(game) if game else strategy.game or game_of_file(file)
        if not in_spots:
            for option, value in (("--tolerance", tolerance), ("--missing", missing)):
                if value is not None:
                    raise InputError(f"{option} has no effect with a whole game; remove it")
        played = islice(read_hands(rules, file, own_stakes=in_spots), hands)
        reviewed = review_hands(strategy, played, player)
    finally:
        strategy.close()
    players, kinds = summary(reviewed, player), mistakes(reviewed.decisions)
    spots = _missing_spots(reviewed, share, missing) if in_spots else []
    if as_json:
        totals = {name: asdict(total) for name, total in players.items()}
        decisions = [_json(each) for each in reviewed.decisions]
        skipped = [asdict(each) for each in reviewed.skipped]
        lacking = [
            {"name": each.name, "about": each.about, "boards": each.boards, "hands": each.hands, "file": path}
            for each, path in spots
        ]
        found = {"players": totals, "decisions": decisions, "skipped": skipped}
        click.echo(json_text(found | {"mistakes": [asdict(each) for each in kinds], "missing": lacking}))
        return
    for name, total in players.items():
        click.echo(facts(_rows(name, total)))
    if not players:
        click.echo("no hand was reviewed")
    fits = [each.fit for each in reviewed.decisions if each.fit is not None]
    if fits:
        click.echo(facts(_fit_rows(fits)))
    if kinds:
        click.echo(_mistakes_table(kinds, len(reviewed.hands)))
    if top and reviewed.decisions:
        click.echo(_table(sorted(reviewed.decisions, key=_cost, reverse=True)[:top], in_spots))
    _say_skipped([each for each in reviewed.skipped if folder is not None or not each.read], in_spots)
    _say_missing(spots, len(reviewed.outside), folder)


def _missing_spots(
    reviewed: Review, tolerance: float, folder: Path | None
) -> list[tuple[Missing, str | None]]:
    """Return unsolved spots that would cover hands without a solve, and write the spots' job files to ``folder``.

    Each spot comes with the path of its file; None without a folder.
    """
    from spewy.bridges.from_hand import missing_spots

    found: list[tuple[Missing, str | None]] = []
    for each in missing_spots(reviewed.outside, tolerance):
        path = None if folder is None else folder / f"{each.name}.toml"
        if path is not None:
            _write_job(path, each.text)
        found.append((each, None if path is None else str(path)))
    return found


def _write_job(path: Path, text: str) -> None:
    if path.exists() and path.read_bytes() != text.encode():
        raise InputError(
            f"file {path_text(path)} exists and has another job; give another folder for --missing"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder {path_text(path.parent)} cannot be made: {error.strerror}") from None
    with appearing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _say_missing(spots: Sequence[tuple[Missing, str | None]], outside: int, folder: Path | None) -> None:
    if not spots:
        return
    several = f"{count(outside, 'hand')} reached no solved spot; "
    say(f"{several}these spots would judge {sum(len(each.hands) for each, _ in spots)} of them:")
    for each, path in spots[:MOST_REASONS]:
        flops = count(len(each.boards), "flop")
        say(f"  {count(len(each.hands), 'hand')} on {flops}: {each.about} ({each.name})")
        if path is not None:
            say(f"    spewy solve {path} --out {Path('results' if folder is None else folder) / each.name}")
    if len(spots) > MOST_REASONS:
        say(f"  and {count(len(spots) - MOST_REASONS, 'more spot')} (--json lists them)")
    if any(path is None for _, path in spots):
        say("  --missing FOLDER writes their job files")


def _mistakes_table(kinds: Sequence[Mistakes], n_hands: int) -> str:
    rows = [
        (
            each.street,
            each.played,
            each.best,
            f"{each.decisions:,}",
            number(each.cost / n_hands, 1),
            number(each.cost / each.decisions, 1),
        )
        for each in kinds
    ]
    titles = ("street", "done", "best", "decisions", "mbb per hand", "mbb each")
    return table_text(titles, rows, left=("street", "done", "best"))


def _fit_rows(fits: Sequence[Fit]) -> Iterator[tuple[str, str]]:
    sizes = [each.distance for each in fits if each.size is not None]
    n_others = sum(distance != 0 for distance in sizes)
    text = f"{n_others:,} of {len(sizes):,} bets and raises differ from the tree's sizes"
    if n_others:
        text += f", by at most {_percent(max(map(abs, sizes)))} of the pot"
    ratio = _percent(max(abs(each.ratio) for each in fits))
    yield "sizes", text
    yield "ratio", f"stack to pot differs from the spot's by at most {ratio}"
    yield "amounts", f"{fits[0].unit} of the spot, EVs as `spewy show` prints them"


def _percent(share: float) -> str:
    return f"{number(100 * share, 1)}%"


def _say_skipped(skipped: Sequence[Skipped], in_spots: bool) -> None:
    by_kind: dict[tuple[bool, str], list[Skipped]] = {}
    for each in skipped:
        by_kind.setdefault((each.read, _DETAILS.sub("", each.reason)), []).append(each)
    most_frequent = sorted(by_kind.values(), key=len, reverse=True)
    for alike in most_frequent[:MOST_REASONS]:
        numbers = ", ".join(str(each.number) for each in alike[:MOST_NAMED])
        named = numbers + (", ..." if len(alike) > MOST_NAMED else "")
        what = "not readable" if not alike[0].read else "outside of the spot" if in_spots else "skipped"
        such = "" if len({each.reason for each in alike}) == 1 else "such as "
        reason = one_line(alike[0].reason, MOST_OF_ERROR)
        say(f"{count(len(alike), 'hand')} {what} ({named}): {such}{reason}")
    rest = sum(map(len, most_frequent[MOST_REASONS:]))
    if rest:
        say(f"{count(rest, 'hand')} skipped for other reasons (--json lists them)")


def _cost(each: Reviewed) -> float:
    return -math.inf if each.decided.cost is None else each.decided.cost


def _json(each: Reviewed) -> dict[str, Any]:
    decided = each.decided
    fields = asdict(decided)
    del fields["opponent_range"]
    return {
        "number": each.number,
        "name": each.name,
        **fields,
        "board": _cards_text(decided.board),
        "hole": None if each.hole is None else _cards_text(each.hole),
        "frequency": decided.frequency,
        "big_blind": each.big_blind,
        "fit": None if each.fit is None else asdict(each.fit),
    }


def _cards_text(cards: Sequence[int]) -> str:
    from buckets.cards import cards_name

    return cards_name(cards)


def _rows(name: str, total: Total) -> Iterator[tuple[str, str]]:
    yield "player", name
    yield "hands", f"{total.hands:,}"
    yield "decisions", f"{total.decisions:,} with cards that are known"
    yield "cost", _mbb(total.cost)
    yield "won", _mbb(total.won)


def _mbb(value: float | None) -> str:
    return number(value, 1) if value is None else f"{number(value, 1)} mbb per hand"


def _table(decisions: Sequence[Reviewed], in_spots: bool) -> str:
    texts = ("player", "hole", "board", "line", "done", "strategy")
    titles = ("hand", *texts[:-1], *(("off",) if in_spots else ()), "cost", "frequency", texts[-1])
    return table_text(titles, map(_cells, decisions), left=texts)


def _off(fit: Fit) -> str:
    """Largest difference of a bet in the line from the tree's nearest size, in % of the pot; empty if there is none."""
    distance = max(abs(fit.distance), fit.line_distance)
    return _percent(distance) if distance else ""


def _cells(each: Reviewed) -> list[str]:
    decided = each.decided
    shares = decided.frequencies or ()
    mix = " ".join(
        f"{action} {share:.2f}" for action, share in zip(decided.actions, shares, strict=False) if share > 0
    )
    return [
        str(each.number),
        each.name,
        "-" if each.hole is None else _cards_text(each.hole),
        _cards_text(decided.board) or "-",
        decided.line or "-",
        decided.action,
        *(() if each.fit is None else (_off(each.fit),)),
        number(decided.cost, 2),
        number(decided.frequency, 3),
        mix or "-",
    ]
