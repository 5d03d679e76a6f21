"""``spewy report``: report both ranges at one line, on every next card or on many boards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import table_writer
from spewy.cli.options import csv_option, json_option, line_option, plot_option, target_option, verbose_option
from spewy.cli.pictures import check_picture, draw
from spewy.cli.progress import counting, say
from spewy.cli.tables import count, facts, json_text, line_text, number, render
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.look.report import BoardSolve, CardRow, Report


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@line_option(
    "Line that closes a round, such as cc/, cr120c/ or 'x x', or a decision after the deal, such as cc/c. For several "
    "boards also a decision of the first round; default: the root.",
)
@click.option(
    "--board",
    metavar="CARDS",
    help='Public cards before the deal, such as "Qs Jh 2h 8c", for a single solve; default: the root\'s.',
)
@click.option(
    "--sort",
    metavar="COLUMN",
    help="Column of the CSV table to sort rows by, such as ev_oop, the largest first.",
)
@click.option("--ascending", is_flag=True, help="Sort the smallest first.")
@csv_option("the table into a .csv, .parquet or .json; docs/formats.md tells its columns")
@plot_option("action frequencies, EV and equity, row by row,")
@target_option
@json_option
@verbose_option
def report(
    folders: tuple[Path, ...],
    line: str,
    board: str | None,
    sort: str | None,
    ascending: bool,
    table_file: Path | None,
    plot: Path | None,
    size: str,
    target: str | None,
    as_json: bool,
) -> None:
    """Report a line on every next card or board.

    Each row is a card, with its probability, the action frequencies of the player to act, and both players' EV, equity
    and realised equity. EV is the expected share of the pot from the decision on, in chips; equity is the chance to win
    without further betting; realised equity is EV / (equity * pot). The last row is the average of all cards, weighted
    by their probabilities given both ranges. A dropped round (spewy drop) is solved again for each card. In a whole
    game with board buckets EVs are known in the last round, equities on turns and rivers.

    With several folders, or the folder of a batch, each row is a board: at the root or at --line, if necessary averaged
    over all cards of the next deal. The weight of a board is the number of flops that it represents (from boards.csv,
    which a batch with boards = { subset = N } writes; otherwise the flops that equal it up to suits), times the
    probability that both ranges come there. Sweeps and exploitability (% of the pot) show the accuracy of each board's
    solve. Folders without a saved strategy are listed as not solved yet and left out of the average.

    \b
    Examples:
      spewy report results/T1 --line cc/
      spewy report results/T1 --line cr120c/ --csv rivers.csv --plot rivers.png
      spewy report results/F1 --line cc/cc/ --board "Td 9d 6h 2c"
      spewy report results/srp --sort frequency_Check
      spewy report results/srp --line c --csv flops.csv --plot flops.png

    \b
    --json prints one object, in which undefined values are null:
      {"line": "cc/", "board": "QsJh2h8c", "player": 0, "actions": ["Check", "Bet(120)"], "pot": 200,
       "cards": {"As": {"weight": 0.0189, "frequencies": [0.6, 0.4], "ev": [115.8, 84.2],
                        "equity": [0.567, 0.433], "realisation": [1.02, 0.97]}},
       "average": {the same}}
    and over boards, without "board", "boards" {"AsKd2c": {"stands_for": 24, "sweeps": 100,
    "exploitability_pct": 0.4, the same}} in place of "cards", and "not_solved" [folders] at the end
    """  # noqa: D301
    write = None if table_file is None else table_writer(table_file)
    check_picture(plot)
    job, found = _report(folders, line, board, target)
    if sort is not None:
        found = found.sorted(sort, ascending=ascending)
    if write is not None:
        write(found.frame())
    if plot is not None:
        from spewy.plot import report_figure

        draw(plot, report_figure(found, found.words, size))
    click.echo(json_text(found.to_json()) if as_json else f"{_head(job, found)}\n{render(_table(found))}")


def _report(
    folders: tuple[Path, ...], line: str, board: str | None, target: str | None
) -> tuple[str, Report]:
    """Make the report, and a line about the job."""
    from lockers import holds_store
    from spewy.errors import InputError
    from spewy.look.board_report import report_boards
    from spewy.look.folder import strategy_folder
    from spewy.look.solution import Solution

    over_boards = len(folders) > 1 or (folders[0].is_dir() and not holds_store(strategy_folder(folders[0])))
    if over_boards:
        if board is not None:
            raise InputError(
                "--board: expected none with several solves, each of which has its own, found one"
            )
        with counting("boards") as progress:
            found = report_boards(folders, line, target, say, progress)
        return "", found
    with Solution.open(folders[0], target, say) as solution:
        with counting("boards") as progress:
            found = solution.report(line, board, progress)
        return f"{solution.job.name}, {solution.progress}", found


def _head(job: str, found: Report) -> str:
    from buckets.cards import card_name

    seat = "nobody, all-in" if found.player is None else f"player {found.player} ({SEAT_NAMES[found.player]})"
    what = "board" if found.by == "board" else "card" if _single(found) else "deal"
    rows = [
        ("job", job),
        ("board", " ".join(card_name(card) for card in found.board) or "none yet"),
        ("line", line_text(found.line, found.words)),
        ("to act", seat),
        ("pot", f"{found.pot:,.10g} {found.unit}"),
        ("boards" if found.by == "board" else "next", count(len(found.rows), what)),
    ]
    if found.not_solved:
        rows.append(("not solved yet", ", ".join(found.not_solved)))
    return facts(rows[2:] if found.by == "board" else rows)


def _single(found: Report) -> bool:
    return all(len(row.cards) == 1 for row in found.rows)


def _table(found: Report) -> Table:
    """Make a table with a row per card or board and a row of averages."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(found.by, no_wrap=True)
    figures = [f"{name} {seat}" for name in ("EV", "equity", "realised") for seat in SEAT_NAMES]
    solves = ("sweeps", "exploitability") if found.by == "board" else ()
    for name in ("weight", *found.actions, *figures, *solves):
        table.add_column(name, justify="right", no_wrap=True)
    for row in (*found.rows, found.average):
        table.add_row(*_cells(row))
    return table


def _cells(row: CardRow) -> list[str]:
    return [
        row.name,
        _percent(row.weight, 2),
        *(number(share) for share in row.frequencies),
        *(number(ev) for ev in row.ev),
        *(number(share, 4) for share in row.equity),
        *(_percent(share, 1) for share in row.realisation),
        *(() if row.solve is None else (f"{row.solve.sweeps:,}", _exploitability(row.solve))),
    ]


def _exploitability(solve: BoardSolve) -> str:
    return (
        "-"
        if solve.exploitability_pct != solve.exploitability_pct
        else f"{number(solve.exploitability_pct)}%"
    )


def _percent(share: float, digits: int) -> str:
    return "-" if share != share else f"{100 * share:.{digits}f}%"
