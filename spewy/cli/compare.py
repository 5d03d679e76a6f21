"""``spewy compare``: compare two solves at one decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import table_writer
from spewy.cli.options import (
    csv_option,
    json_option,
    line_option,
    plot_option,
    refuse_unused,
    target_option,
    verbose_option,
)
from spewy.cli.pictures import check_picture, draw
from spewy.cli.progress import counting, say
from spewy.cli.tables import facts, json_text, line_text, number, plain_table, render, signed
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from rich.table import Table

    from spewy.look.compare import Comparison

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
@verbose_option
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

    Two folders of batches are compared board by board, unless --board names one board. In whole games with board
    buckets EVs are known in the last round only, and equities from the flop on.

    \b
    Examples:
      spewy compare results/T1 results/T1-locked
      spewy compare results/T1 results/T1-locked --line c --sort moved
      spewy compare results/srp/AsKd2c results/srp/AsKd7c --csv hands.csv --plot differences.png
      spewy compare results/srp results/srp-small --line c

    \b
    --json prints one object; pairs are [A, B], and undefined values are null:
      {"line": "", "boards": ["QsJh2h8c", "QsJh2h8c"], "player": 0, "pot": [200, 200], "actions": ["Check", "Bet(120)"],
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
    write = None if table_file is None else table_writer(table_file)
    check_picture(plot)
    from spewy.look.folder import batch_folders, board_folder
    from spewy.look.solution import Solution

    if board is None and None not in (batch_folders(a), batch_folders(b)):
        if plot is not None:
            raise click.UsageError("--plot draws one board; name the board with --board")
        refuse_unused("for two batches, whose boards are compared", "sort", "every")
        _compare_batches(a, b, line, target, write, as_json)
        return
    with (
        Solution.open(board_folder(a, board), target, say) as first,
        Solution.open(board_folder(b, board), target, say) as second,
    ):
        comparison = first.compare(second, line, board)
        game = first.job.rules
        names = tuple(f"{solution.job.name}, {solution.progress}" for solution in (first, second))
    if write is not None:
        write(comparison.frame().iloc[comparison.order(sort)])
    if plot is not None:
        from spewy.plot import comparison_figure

        draw(plot, comparison_figure(game, comparison, comparison.words, size))
    if as_json:
        click.echo(json_text(comparison.to_json()))
        return
    click.echo(_head(names, comparison))
    click.echo(f"\n{render(_actions(comparison))}\n\n{render(_hands(comparison, sort, every))}")
    if len(comparison.lines) > 1:
        click.echo(f"\n{render(_lines(comparison, every))}")


def _compare_batches(
    a: Path,
    b: Path,
    line: str,
    target: str | None,
    write: Callable[[pd.DataFrame], None] | None,
    as_json: bool,
) -> None:
    """Compare two batches board by board."""
    from buckets.cards import cards_name
    from spewy.look.compare import compare_boards

    with counting("boards") as progress:
        comparison = compare_boards(a, b, line, target, say, progress)
    if write is not None:
        write(comparison.frame())
    if as_json:
        click.echo(json_text(comparison.to_json()))
        return
    seat = SEAT_NAMES[comparison.player]
    rows = [("line", comparison.line or "the root"), ("to act", f"player {comparison.player} ({seat})")]
    rows += [
        (f"only in {side}", ", ".join(boards))
        for side, boards in zip("AB", comparison.only, strict=True)
        if boards
    ]
    names = [f"{action} {side}" for action in comparison.actions for side in "AB"]
    table = plain_table("board", "moved", f"EV {seat} A", "B", "B - A", *names)
    for row in (*comparison.rows, comparison.average):
        shares = (number(share) for share in row.frequencies.T.ravel().tolist())
        table.add_row(cards_name(row.board) or "all", number(row.moved), *_three(row.ev, 3), *shares)
    click.echo(f"{facts(rows)}\n\n{render(table)}")


def _head(names: tuple[str, ...], comparison: Comparison) -> str:
    from buckets.cards import card_name

    boards = [" ".join(card_name(card) for card in board) or "none yet" for board in comparison.boards]
    rows = [(side, f"{name}, {board}") for side, name, board in zip("AB", names, boards, strict=True)]
    rows += [
        ("line", line_text(comparison.line, comparison.words)),
        ("to act", f"player {comparison.player} ({SEAT_NAMES[comparison.player]})"),
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


def _three(values: tuple[float, float], digits: int) -> tuple[str, str, str]:
    """Format a value of solve A, the same value of solve B, and their difference B minus A."""
    return number(values[0], digits), number(values[1], digits), signed(values[1] - values[0], digits)


def _actions(comparison: Comparison) -> Table:
    """Make a table with the range's action frequencies, and with EV and equity of both players."""
    table = plain_table("", "A", "B", "B - A")
    for action, (x, y) in zip(comparison.actions, comparison.frequencies.T.tolist(), strict=True):
        table.add_row(action, *_three((x, y), 3))
    a, b = comparison.totals
    for p, seat in enumerate(SEAT_NAMES):
        table.add_row(f"EV {seat}", *_three((a.ev[p], b.ev[p]), 3))
    for p, seat in enumerate(SEAT_NAMES):
        table.add_row(f"equity {seat}", *_three((a.equity[p], b.equity[p]), 4))
    return table


def _hands(comparison: Comparison, sort: str, every: bool) -> Table:
    names = [f"{action} {side}" for action in comparison.actions for side in "AB"]
    table = plain_table("hand", "reach A", "reach B", "EV A", "EV B", "B - A", "moved", *names)
    order, moved = comparison.order(sort), comparison.moved
    for h in order if every else order[:MOST_HANDS]:
        shares = (number(share) for share in comparison.strategy[:, :, h].T.ravel().tolist())
        reach = (f"{weight:.4f}" for weight in comparison.reach[:, h])
        ev = (float(comparison.ev[0, h]), float(comparison.ev[1, h]))
        table.add_row(comparison.hands[h], *reach, *_three(ev, 2), number(float(moved[h])), *shares)
    return table


def _lines(comparison: Comparison, every: bool) -> Table:
    table = plain_table("line", "to act", "how often A", "how often B", "moved")
    for change in comparison.lines if every else comparison.lines[:MOST_LINES]:
        often = (number(likely) for likely in change.likely)
        table.add_row(change.line or "the root", SEAT_NAMES[change.player], *often, number(change.moved))
    return table
