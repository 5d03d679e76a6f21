"""``spewy export``: write decisions of a solve to a table file, which appears when it is complete."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.files import appearing, check_file, require
from spewy.cli.options import (
    digits,
    digits_option,
    folder_argument,
    line_option,
    target_option,
)
from spewy.cli.progress import Bar
from spewy.cli.tables import say
from spewy.game.names import ROUND_NAMES, SEAT_NAMES


@click.command()
@folder_argument
@click.argument("file", metavar="FILE.{csv,xlsx,parquet}", type=click.Path(path_type=Path))
@line_option('Betting line of the decision to export ("" for the root); default: every line.', default=None)
@click.option(
    "--board",
    metavar="CARDS",
    help='All public cards of the board to export, such as "Qs Jh 2h 8c 3d"; default: every board.',
)
@click.option(
    "--round",
    "round_name",
    type=click.Choice(ROUND_NAMES),
    help="Betting round whose decisions are exported; default: every round.",
)
@click.option(
    "--player",
    type=click.Choice(SEAT_NAMES),
    help="Player whose decisions are exported; default: both players.",
)
@click.option(
    "--wide",
    is_flag=True,
    help="Write one row for each hand at a decision, with columns for each action, instead of a row for each action.",
)
@digits_option
@target_option
def export(
    folder: Path,
    file: Path,
    line: str | None,
    board: str | None,
    round_name: str | None,
    player: str | None,
    wide: bool,
    target: str | None,
) -> None:
    """Write decisions to a table file.

    The file is CSV, Excel (.xlsx) or Parquet. It has strategy, reach, EV and equity at every
    decision, or at the decisions that the options select.

    \b
    It has a row for each board, line, hand and action, and these columns:
      board      cards, such as QsJh2h8c; of boards that are equal up to suits only one appears
      line       ACPC betting string from the solve's root to the decision
      player     who acts: 0 (oop) or 1 (ip, the button)
      hand       such as AsKs
      action     such as check or bet 120
      reach      weight of the hand in the player's range at the decision
      frequency  how often the hand takes the action
      ev         share of the pot that the hand wins from the decision on, in chips; empty if not defined
      action_ev  share of the pot that the hand wins if it takes the action, in chips; empty if not defined
      equity     chance to win without further betting; empty if not defined
      made       hold'em: made hand, such as top pair (docs/how-to/looking.md defines the names)
      draws      hold'em: draws of the hand, the best first, such as "nut flush draw, gutshot"
      blockers   hold'em: what the hand blocks, such as nut flush blocker

    All boards of a batch's folder are exported; --board selects one of them, or a later board that follows it.

    \b
    A whole game with board buckets is exported on one --board ("" is preflop). Without --board the file has a row for
    each board bucket, line, row of hands and action, and these columns:
      round, board_bucket, line, player, hand_bucket (row of the hands that play alike), action, frequency

    With --wide the file has a row for each board, line and hand, and these columns: board, line, player, hand, reach,
    ev, equity, made, draws, blockers, then frequency_ACTION and action_ev_ACTION for every action; a cell is empty if
    the decision lacks the action. The command warns before it writes a CSV file with more rows than a spreadsheet holds
    (1,048,576). Decisions in dropped rounds (spewy drop) are solved again, for one --board only.

    \b
    Examples:
      spewy export results/T1 T1.parquet
      spewy export results/T1 T1.csv --round turn --wide
      spewy export results/T1 root.csv --line "" --wide
      spewy export results/T1 river.csv --line cr120c/ --board "Qs Jh 2h 8c 3d"
      spewy export results/T1 oop.csv --board "Qs Jh 2h 8c 3d" --player oop
    """  # noqa: D301
    from spewy.look.table_files import PACKAGES, SUFFIXES

    suffix = check_file(file, SUFFIXES)
    require(*PACKAGES[suffix])
    from spewy.look.export import Export, Query

    seat = None if player is None else SEAT_NAMES.index(player)
    with Export.open(folder, Query(line, board, round_name, seat, wide), target, say) as decisions:
        if suffix == ".csv":
            _warn_of_rows(decisions.n_rows, wide)
        with appearing(file) as temporary, Bar("decisions", decisions.n_frames, keep=True) as bar:
            count = decisions.write(temporary, suffix, bar.advance, digits())
    click.echo(f"{file}: {count:,} rows")


def _warn_of_rows(rows: int, wide: bool) -> None:
    from spewy.look.table_files import SPREADSHEET_ROWS

    if rows < SPREADSHEET_ROWS:
        return
    fewer = "--line, --board, --round and --player" + ("" if wide else ", and --wide,")
    say(
        f"warning: the file will have {rows:,} rows and a header, and a spreadsheet holds {SPREADSHEET_ROWS:,} rows; "
        f"{fewer} reduce the number, and a .parquet file has no such limit"
    )
