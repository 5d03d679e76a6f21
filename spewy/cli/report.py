"""``spewy report``: report both ranges after one betting line, on every next card or on many boards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import check_picture, draw, table_writer
from spewy.cli.options import (
    Needing,
    csv_option,
    json_option,
    line_option,
    plot_option,
    target_option,
)
from spewy.cli.progress import counting
from spewy.cli.tables import count, facts, json_text, line_text, number, percent, say, table_text
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.look.report import BoardSolve, CardRow, Report


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@line_option(
    "Betting line to report: a line that ends a round, such as cc/, cr120c/ or 'x x', or that leads to a decision in "
    "the next round, such as cc/c. With several boards, the line may also end within the first round. Default: the "
    "root.",
)
@click.option(
    "--board",
    metavar="CARDS",
    help='Public cards before the next card, such as "Qs Jh 2h 8c", in the report of a single solve; default: the '
    "cards at the root.",
)
@click.option(
    "--sort",
    metavar="COLUMN",
    help="Sort the rows by a column of the --csv table, such as ev_oop, the largest value first.",
)
@click.option(
    "--ascending",
    cls=Needing,
    needs=("--sort", "sort"),
    is_flag=True,
    help="Sort the smallest value first instead of the largest; needs --sort.",
)
@csv_option(
    "the table into a .csv, .xlsx, .parquet or .json file; docs/reference/tables.md lists the columns"
)
@plot_option("the action frequencies, EV and equity of each row")
@target_option
@json_option
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

    For a single solve each row is the next card, with its probability, the action frequencies of the player to act, and
    both players' EV, equity and realised equity. EV is the expected share of the pot from the decision on, in chips;
    equity is the chance to win without further betting; realised equity is EV / (equity * pot). The last row is the
    average over all cards, weighted by their probabilities given both ranges. A dropped round (spewy drop) is solved
    again for each card. In a whole game with board buckets EVs are known in the last round only, and equities on turns
    and rivers only.

    With several folders, or the folder of a batch, each row is a board. If --line ends a round, the row is the average
    over all next cards. The weight of a board is the number of flops that it represents, times the probability that
    both ranges come to the decision. That number is in the file boards.csv, which a batch with boards = { subset = N }
    writes; without the file it is the number of flops that equal the board up to suits. Sweeps and exploitability (% of
    the pot) show the accuracy of each board's solve. Folders without a saved strategy are listed as not solved yet, and
    do not count in the average.

    \b
    Examples:
      spewy report results/T1 --line cc/
      spewy report results/T1 --line cr120c/ --csv rivers.csv --plot rivers.png
      spewy report results/F1 --line cc/cc/ --board "Td 9d 6h 2c"
      spewy report results/srp --sort frequency_check
      spewy report results/srp --line c --csv flops.csv --plot flops.png

    \b
    --json prints one object, in which undefined values are null:
      {"line": "cc/", "board": "QsJh2h8c", "player": 0, "actions": ["check", "bet 120"], "pot": 200,
       "cards": {"As": {"weight": 0.0189, "frequencies": [0.6, 0.4], "ev": [115.8, 84.2],
                        "equity": [0.567, 0.433], "realisation": [1.02, 0.97]}},
       "average": {the keys of a card}}
    For several boards the object has no "board", and instead of "cards"
      "boards": {"AsKd2c": {"stands_for": 24, "sweeps": 100, "exploitability_pct": 0.4, and the keys of a card}},
      "not_solved": [folders]
    """  # noqa: D301
    write = table_writer(table_file)
    check_picture(plot)
    job, result = _report(folders, line, board, target)
    if sort is not None:
        result = result.sorted(sort, ascending=ascending)
    write(result.frame)
    if plot is not None:
        from spewy.plot import report_figure

        draw(plot, report_figure(result, result.words, size))
    click.echo(json_text(result.to_json()) if as_json else f"{_head(job, result)}\n{_table(result)}")


def _report(
    folders: tuple[Path, ...], line: str, board: str | None, target: str | None
) -> tuple[str, Report]:
    """Text about the solve (empty for several boards), and the report."""
    from lockers import holds_store
    from spewy.errors import InputError
    from spewy.look.folder import strategy_folder
    from spewy.look.report import report_boards
    from spewy.look.solution import Solution

    over_boards = len(folders) > 1 or (folders[0].is_dir() and not holds_store(strategy_folder(folders[0])))
    if over_boards:
        if board is not None:
            raise InputError(
                "--board has no effect with several solves, each of which has its own board; remove it"
            )
        with counting("boards") as progress:
            result = report_boards(folders, line, target, say, progress)
        return "", result
    with Solution.open(folders[0], target, say) as solution:
        with counting("boards") as progress:
            result = solution.report(line, board, progress)
        return f"{solution.job.name}, {solution.progress}", result


def _head(job: str, result: Report) -> str:
    from buckets.cards import card_name

    seat = "nobody, all-in" if result.player is None else SEAT_NAMES[result.player]
    single = all(len(row.cards) == 1 for row in result.rows)
    what = "board" if result.by == "board" else "card" if single else "deal"
    rows = [
        ("job", job),
        ("board", " ".join(card_name(card) for card in result.board) or "none yet"),
        ("line", line_text(result.line, result.words)),
        ("to act", seat),
        ("pot", f"{result.pot:,.10g} {result.unit}"),
        ("boards" if result.by == "board" else "next", count(len(result.rows), what)),
    ]
    if result.not_solved:
        rows.append(("not solved yet", ", ".join(result.not_solved)))
    return facts(rows[2:] if result.by == "board" else rows)


def _table(result: Report) -> str:
    figures = (f"{name} {seat}" for name in ("EV", "equity", "realised") for seat in SEAT_NAMES)
    solves = ("sweeps", "exploitability") if result.by == "board" else ()
    titles = (result.by, "weight", *result.actions, *figures, *solves)
    return table_text(titles, map(_cells, (*result.rows, result.average)))


def _cells(row: CardRow) -> list[str]:
    return [
        row.name,
        percent(row.weight, 2),
        *(number(share) for share in row.frequencies),
        *(number(ev) for ev in row.ev),
        *(number(share, 4) for share in row.equity),
        *(percent(share, 1) for share in row.realisation),
        *(() if row.solve is None else (f"{row.solve.sweeps:,}", _exploitability(row.solve))),
    ]


def _exploitability(solve: BoardSolve) -> str:
    pct = solve.exploitability_pct
    return "-" if pct != pct else f"{number(pct)}%"
