"""``spewy compare``: differences of two solves at one decision. ``spewy evaluate``: EVs if players leave a strategy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import TableWriter, check_picture, draw, table_writer
from spewy.cli.options import (
    csv_option,
    folder_argument,
    json_option,
    line_option,
    lock_option,
    plot_option,
    refuse_unused,
    target_option,
)
from spewy.cli.progress import counting
from spewy.cli.tables import facts, json_text, line_text, number, say, signed, table_text
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from solvers.tree import Floats
    from spewy.look.compare import Comparison, Side
    from spewy.look.evaluate import Evaluation, HandEvs

MOST_HANDS, MOST_LINES = 20, 8
"""Largest number of hands, and largest number of lines, that are shown without --all."""


@click.command()
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@line_option("Betting line to the decision, such as cr120 or 'x b60%', in both solves; default: the root.")
@click.option(
    "--board",
    metavar="CARDS",
    help="All public cards at the decision, for both solves; default: the cards at the root of each solve.",
)
@click.option(
    "--sort",
    type=click.Choice(["ev", "moved", "reach", "hand"], case_sensitive=False),
    default="ev",
    help="Order of the hands: by difference in EV, by how often A and B play a hand differently (moved), by reach, "
    "or by name (hand).",
)
@click.option(
    "--all", "every", is_flag=True, help="Show all hands and lines, not only those that differ most."
)
@csv_option(
    "a row for each hand into a .csv, .xlsx, .parquet or .json file; docs/reference/json.md lists the columns"
)
@plot_option("the action frequencies in A and B and a grid of their differences")
@target_option
@json_option
def compare(
    a: Path,
    b: Path,
    line: str,
    board: str | None,
    sort: str,
    every: bool,
    table_file: Path | None,
    plot: Path | None,
    size: str,
    target: str | None,
    as_json: bool,
) -> None:
    """Compare two solves at one decision.

    The two solves may differ in a node lock, in a bet size or in the board. The command prints action frequencies in A
    and B, what the decision is worth to both players, the hands that differ most, and the later lines of this round
    where the two strategies differ most. EV is the expected share of the pot from the decision on; differences are B
    minus A. "Moved" is how often a hand is played differently: half the sum of the absolute differences between its
    action frequencies in A and in B. Actions are matched by their names, so that two bet sizes are two actions.

    B may be the JSON file (dump_result) of a solve of TexasSolver of the same spot. It has no values and no ranges:
    hands are weighted by the initial ranges of A.

    Two folders of batches are compared board by board, unless --board names one board. In whole games with board
    buckets EVs are known in the last round only, and equities from the flop on.

    \b
    Examples:
      spewy compare results/T1 results/T1-locked
      spewy compare results/T1 results/T1-locked --line c --sort moved
      spewy compare results/srp/AsKd2c results/srp/AsKd7c --csv hands.csv --plot differences.png
      spewy compare results/srp results/srp-small --line c
      spewy compare results/T1 output_result.json

    \b
    --json prints one object; pairs are [A, B], and undefined values are null:
      {"line": "", "boards": ["QsJh2h8c", "QsJh2h8c"], "player": 0, "pot": [200, 200], "actions": ["check", "bet 120"],
       "frequencies": [[0.7, 0.3], [0.6, 0.4]], "ev": [[oop, ip], [oop, ip]], "equity": [[oop, ip], [oop, ip]],
       "hands": {"AsKs": {"reach": [1, 1], "strategy": [[0.4, 0.6], [0.5, 0.5]], "ev": [130.2, 131],
                          "ev_difference": 0.8, "moved": 0.1}},
       "lines": {"c": {"player": 1, "moved": 0.02, "likely": [0.7, 0.6]}}, "only": [[lines of A], [lines of B]]}
    in which "likely" is how often play goes from the decision to the line; and for two batches
      {"line": "", "player": 0, "actions": [...], "only": [[boards of A], [boards of B]], "average": {as a board},
       "boards": {"AsKd2c": {"stands_for": 24, "weight": [0.04, 0.05], "frequencies": [[0.7, 0.3], [0.6, 0.4]],
                             "moved": 0.1, "ev": [20.1, 20.4], "ev_difference": 0.3}}}
    """  # noqa: D301
    if as_json:
        refuse_unused("with --json, which prints all hands", "every", *(() if table_file else ("sort",)))
    write = table_writer(table_file)
    check_picture(plot)
    import numpy as np

    from spewy.bridges.texassolver_solve import TexasSolve
    from spewy.look.folder import batch_folders, board_folder
    from spewy.look.solution import Solution

    if board is None and not b.is_file() and None not in (batch_folders(a), batch_folders(b)):
        if plot is not None:
            raise click.UsageError("--plot draws one board; name the board with --board")
        refuse_unused("for two batches, whose boards are compared", "sort", "every")
        _compare_batches(a, b, line, target, write, as_json)
        return
    with ExitStack() as opened:
        first = opened.enter_context(Solution.open(board_folder(a, board), target, say))
        second: Side
        if b.is_file():
            second, other = TexasSolve(b, first), f"{b.name}, of TexasSolver"
        else:
            second = solution = opened.enter_context(Solution.open(board_folder(b, board), target, say))
            other = f"{solution.job.name}, {solution.progress}"
        names = (f"{first.job.name}, {first.progress}", other)
        comparison = first.compare(second, line, board)
        game = first.job.rules
        words = {change.line: first.words(change.place.node) for change in comparison.lines}
    if sort == "ev" and np.isnan(comparison.ev[1]).all():
        sort = "moved"
    write(lambda: comparison.frame().iloc[comparison.order(sort)])
    if plot is not None:
        from spewy.plot import comparison_figure

        draw(plot, comparison_figure(game, comparison, comparison.words, size))
    if as_json:
        click.echo(json_text(comparison.to_json()))
        return
    click.echo(_head(names, comparison))
    click.echo(f"\n{_actions(comparison)}\n\n{_hands(comparison, sort, every)}")
    if len(comparison.lines) > 1:
        click.echo(f"\n{_lines(comparison, words, every)}")


def _compare_batches(
    a: Path,
    b: Path,
    line: str,
    target: str | None,
    write: TableWriter,
    as_json: bool,
) -> None:
    from buckets.cards import cards_name
    from spewy.look.compare import compare_boards

    with counting("boards") as progress:
        comparison = compare_boards(a, b, line, target, say, progress)
    write(comparison.frame)
    if as_json:
        click.echo(json_text(comparison.to_json()))
        return
    seat = SEAT_NAMES[comparison.player]
    rows = [("line", comparison.line or "none yet"), ("to act", seat)]
    rows += [
        (f"only in {side}", ", ".join(boards))
        for side, boards in zip("AB", comparison.only, strict=True)
        if boards
    ]
    titles = ("board", "moved", f"EV {seat} A", "B", "B - A", *_sides(comparison.actions))
    cells = (
        (cards_name(row.board) or "all", number(row.moved), *_three(row.ev, 3), *_shares(row.frequencies))
        for row in (*comparison.rows, comparison.average)
    )
    click.echo(f"{facts(rows)}\n\n{table_text(titles, cells)}")


def _head(names: tuple[str, ...], comparison: Comparison) -> str:
    from buckets.cards import card_name

    boards = [" ".join(card_name(card) for card in board) or "none yet" for board in comparison.boards]
    rows = [(side, f"{name}, {board}") for side, name, board in zip("AB", names, boards, strict=True)]
    rows += [
        ("line", line_text(comparison.line, comparison.words)),
        ("to act", SEAT_NAMES[comparison.player]),
    ]
    a, b = (f"{pot:,.10g}" for pot in comparison.pots)
    rows.append(("pot", f"{a} {comparison.unit}" if a == b else f"{a} {comparison.unit} in A, {b} in B"))
    rows.append(("moved", f"{100 * comparison.range_moved:.2f}% of the range plays differently"))
    rows += [
        (f"only in {side}", f"{len(lines):,} lines after this one, such as {lines[0]}")
        for side, lines in zip("AB", comparison.only, strict=True)
        if lines
    ]
    return facts(rows)


def _sides(actions: Sequence[str]) -> list[str]:
    return [f"{action} {side}" for action in actions for side in "AB"]


def _shares(frequencies: Floats) -> Iterator[str]:
    """Yield the frequencies as text: for each action that of solve A, then that of solve B.

    ``frequencies`` is ``[solve, action]``; `_sides` returns the titles of these columns.
    """
    return (number(share) for share in frequencies.T.ravel().tolist())


def _three(values: tuple[float, float], digits: int) -> tuple[str, str, str]:
    """Value in A, value in B, and B minus A."""
    return number(values[0], digits), number(values[1], digits), signed(values[1] - values[0], digits)


def _actions(comparison: Comparison) -> str:
    shares = zip(comparison.actions, comparison.frequencies.T.tolist(), strict=True)
    rows = [(action, *_three((x, y), 3)) for action, (x, y) in shares]
    a, b = comparison.totals
    rows += [(f"EV {seat}", *_three((a.ev[p], b.ev[p]), 3)) for p, seat in enumerate(SEAT_NAMES)]
    rows += [(f"equity {seat}", *_three((a.equity[p], b.equity[p]), 4)) for p, seat in enumerate(SEAT_NAMES)]
    return table_text(("", "A", "B", "B - A"), rows)


def _hands(comparison: Comparison, sort: str, every: bool) -> str:
    titles = ("hand", "reach A", "reach B", "EV A", "EV B", "B - A", "moved", *_sides(comparison.actions))
    order, moved = comparison.order(sort), comparison.moved
    rows = (
        (
            comparison.hands[h],
            *(f"{weight:.4f}" for weight in comparison.reach[:, h]),
            *_three((float(comparison.ev[0, h]), float(comparison.ev[1, h])), 2),
            number(float(moved[h])),
            *_shares(comparison.strategy[:, :, h]),
        )
        for h in (order if every else order[:MOST_HANDS])
    )
    return table_text(titles, rows)


def _lines(comparison: Comparison, words: dict[str, str], every: bool) -> str:
    rows = (
        (
            words[change.line] or "the first decision",
            SEAT_NAMES[change.player],
            *(number(likely) for likely in change.likely),
            number(change.moved),
        )
        for change in (comparison.lines if every else comparison.lines[:MOST_LINES])
    )
    return table_text(("after", "to act", "how often A", "how often B", "moved"), rows)


@click.command()
@folder_argument
@lock_option(
    'Change how a range or some hands play at one decision: with "x: bet" the player always bets after a check, with '
    '"x b120 [QQ+]: call" the hands QQ+ always call a bet of 120. Can be given several times.'
)
@click.option(
    "--against",
    metavar="FOLDER2",
    type=click.Path(path_type=Path),
    help="Folder of another solve of the same game: each player in turn follows the strategy in FOLDER, and the "
    "opponent that in FOLDER2. Default: both follow FOLDER.",
)
@click.option(
    "--player",
    type=click.Choice(SEAT_NAMES),
    help="Without --against: the player whose hands are listed; default: the player of the first --lock. With "
    "--against: the player who follows FOLDER, whose hands are listed; default: two evaluations, in which first oop "
    "and then ip follows FOLDER.",
)
@click.option(
    "--hands",
    "as_hands",
    is_flag=True,
    help=f"List the {MOST_HANDS} hands that lose most EV because a player follows the lock or the other solve.",
)
@click.option(
    "--all", "every", is_flag=True, help="List all hands of the player, the largest loss of EV first."
)
@csv_option("the EVs of the player's hands, a row for each hand, into a .csv, .xlsx, .parquet or .json file")
@json_option
def evaluate(
    folder: Path,
    locks: tuple[str, ...],
    against: Path | None,
    player: str | None,
    as_hands: bool,
    every: bool,
    table_file: Path | None,
    as_json: bool,
) -> None:
    """Compute EVs of changed play without solving.

    Both players follow stored strategies, except at the decisions that --lock names: the command shows what this change
    of play wins or loses against an opponent who does not adapt. Nothing is solved again; spewy solve --lock solves for
    an opponent who adapts. EVs are exact: shares of the pot in a spot, net chips in a whole game.

    With --against, one player follows the strategy in FOLDER and the other player that in FOLDER2, which must be a
    solve of the same game, board and ranges; its locks may differ. A stored strategy means little at decisions that
    its own solve never reaches, such as after an action that a lock excludes. All rounds must be stored
    (save.rounds = "all").

    \b
    Examples:
      spewy evaluate results/T1 --lock "x: bet 120"
      spewy evaluate results/T1 --lock "x b120 [QQ+, AKs]: call" --hands
      spewy evaluate results/T1 --against results/T1-lock-x-bet-120
      spewy evaluate results/T1 --lock ": check" --player oop --csv hands.xlsx

    \b
    --json prints one object:
      name, against (null without --against), locks [...], stored [oop, ip] (EVs of the stored strategies),
      evaluations [{plays [oop's solve, ip's solve], ev [oop, ip], difference [oop, ip]}, ...]
    and in each evaluation, with --hands:
      player, hands {"AhKh": {reach, ev_stored, ev, ev_difference}, ...}
    """  # noqa: D301
    if not locks and against is None:
        raise click.UsageError(
            "give --lock, --against or both; spewy show prints the EVs of the stored strategies"
        )
    seat = None if player is None else SEAT_NAMES.index(player)
    if against is not None and seat is None and (as_hands or every or table_file is not None):
        raise click.UsageError("--against with --hands, --all or --csv needs --player, who follows FOLDER")
    if against is None and not (as_hands or every or table_file):
        refuse_unused("without --hands, --all, --csv or --against", "player")
    write = table_writer(table_file)
    from spewy.look.folder import require_one_solve
    from spewy.look.solution import Solution

    with ExitStack() as opened:
        solutions = []
        for path in (folder,) if against is None else (folder, against):
            require_one_solve(path)
            solutions.append(opened.enter_context(Solution.open(path)))
        found = solutions[0].evaluate(locks, *(() if against is None else (solutions[1], seat)))
        names = [solution.job.name for solution in solutions]
        key = solutions[0].job.amounts.key
    seat = (found[0].locked or 0) if seat is None else seat
    write(found[0].hands[seat].frame)
    if as_json:
        head = {"name": names[0], "against": names[1] if against else None, "locks": list(locks), **key}
        hands = seat if as_hands or every else None
        rows = [evaluation.to_json(hands) for evaluation in found]
        click.echo(json_text(head | {"stored": list(found[0].stored), "evaluations": rows}))
        return
    heads = [("job", names[0]), *([("against", names[1])] if against else [])]
    heads += [("lock" if not n else "", text) for n, text in enumerate(locks)]
    heads += [("amounts", f"in {found[0].unit}")] if key else []
    click.echo(f"{facts(heads)}\n\n{_evs(found)}")
    if as_hands or every:
        click.echo(f"\n{_changed_hands(SEAT_NAMES[seat], found[0].hands[seat], every)}")


def _evs(found: Sequence[Evaluation]) -> str:
    rows = [("stored", "stored", *map(number, found[0].stored), "", "")]
    rows += [
        (*each.plays, *map(number, each.ev), *(signed(change, 3) for change in each.difference))
        for each in found
    ]
    return table_text(("oop", "ip", "EV oop", "EV ip", "oop - stored", "ip - stored"), rows)


def _changed_hands(seat: str, hands: HandEvs, every: bool) -> str:
    rows = (
        (
            hands.hands[h],
            f"{hands.reach[h]:.4f}",
            *_three((float(hands.stored[h]), float(hands.ev[h])), 3),
        )
        for h in (hands.order if every else hands.order[:MOST_HANDS])
    )
    return table_text((f"hand of {seat}", "reach", "stored EV", "EV", "EV - stored"), rows)
