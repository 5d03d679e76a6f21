"""``spewy report``: both ranges at one line on every card that can be dealt before it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.extras import require
from spewy.cli.files import PICTURES, appearing, check_file
from spewy.cli.options import folder_argument, json_option, size_option, target_option, verbose_option
from spewy.cli.pictures import draw
from spewy.cli.progress import counting, say
from spewy.cli.tables import count, facts, json_text, number, render
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.look.report import CardRow, Report
    from spewy.look.solution import Solution


@click.command()
@folder_argument
@click.option(
    "--line",
    default="",
    metavar="LINE",
    help="A line that has just closed a round, such as cc/, cr120c/ or 'x x', or goes on to a decision after the deal: "
    "cc/c.",
)
@click.option(
    "--board",
    metavar="CARDS",
    help='Public cards before the deal, such as "Qs Jh 2h 8c"; default: the root\'s.',
)
@click.option(
    "--csv",
    "table_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the table into a .csv; docs/formats.md tells its columns.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw action frequencies, EV and equity by card into a .png, .svg or .pdf.",
)
@size_option
@target_option
@json_option
@verbose_option
def report(
    folder: Path,
    line: str,
    board: str | None,
    table_file: Path | None,
    plot: Path | None,
    size: str,
    target: str | None,
    as_json: bool,
) -> None:
    """Report how a line goes on, on every card that can come next.

    For each card: how likely it is, how often the player to act takes each action, and both players' EV, equity and
    how much of the equity is realised. EV is the expected share of the pot from the decision on, in chips; equity
    the chance to win if betting stopped; realised is EV / (equity * pot). The last row is the average of all cards,
    weighted by how likely they are given both ranges. What was dropped (spewy drop) is solved anew, card by card.

    \b
    Examples:
      spewy report results/T1 --line cc/
      spewy report results/T1 --line cr120c/ --csv rivers.csv --plot rivers.png
      spewy report results/F1 --line cc/cc/ --board "Td 9d 6h 2c"

    \b
    --json prints one object; what is not defined is null:
      {"line": "cc/", "board": "QsJh2h8c", "player": 0, "actions": ["Check", "Bet(120)"], "pot": 200,
       "cards": {"As": {"weight": 0.0189, "frequencies": [0.6, 0.4], "ev": [115.8, 84.2],
                        "equity": [0.567, 0.433], "realisation": [1.02, 0.97]}},
       "average": {the same}}
    """  # noqa: D301
    if table_file is not None:
        check_file(table_file, (".csv",))
        require("pandas")
    if plot is not None:
        check_file(plot, PICTURES)
        require("matplotlib")
    from spewy.game.linewords import line_words
    from spewy.look.report import report as report_on
    from spewy.look.solution import Solution

    with Solution.open(folder, target, _tell) as solution:
        with counting("boards") as progress:
            found = report_on(solution, line, board, progress)
        head, words = _head(solution, found), line_words(solution.job.betting_tree.root, found.line)
    if table_file is not None:
        with appearing(table_file) as temporary:
            found.frame().to_csv(temporary, index=False, lineterminator="\n")
        say(f"table in {table_file}")
    if plot is not None:
        from spewy.plot import report_figure

        draw(plot, report_figure(found, words, size))
    click.echo(json_text(found.to_json()) if as_json else f"{head}\n{render(_table(found))}")


def _tell(text: str) -> None:
    """A line on stderr, above the bar."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)


def _head(solution: Solution, found: Report) -> str:
    from buckets.cards import card_name

    seat = "nobody, all-in" if found.player is None else f"player {found.player} ({SEAT_NAMES[found.player]})"
    return facts(
        [
            ("job", f"{solution.job.name}, {solution.sweeps:,} sweeps"),
            ("board", " ".join(card_name(card) for card in found.board) or "none yet"),
            ("line", found.line),
            ("to act", seat),
            ("pot", f"{found.pot:,.10g} {found.unit}"),
            ("next", count(len(found.rows), "card" if _single(found) else "deal")),
        ]
    )


def _single(found: Report) -> bool:
    return all(len(row.cards) == 1 for row in found.rows)


def _table(found: Report) -> Table:
    """A row per card and one for the average."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("card", no_wrap=True)
    figures = [f"{name} {seat}" for name in ("EV", "equity", "realised") for seat in SEAT_NAMES]
    for name in ("weight", *found.actions, *figures):
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
    ]


def _percent(share: float, digits: int) -> str:
    return "-" if share != share else f"{100 * share:.{digits}f}%"
