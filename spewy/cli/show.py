"""``spewy show``: show one decision as a grid of hand classes or as a table of hands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import check_picture, draw, table_writer
from spewy.cli.options import (
    WITH_CSV,
    Needing,
    csv_option,
    folder_argument,
    json_option,
    line_option,
    plot_option,
    refuse_unused,
    target_option,
)
from spewy.cli.tables import facts, fine, json_text, line_text, on_terminal, percent, say
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.look.node import NodeView


@click.command()
@folder_argument
@line_option(
    "Betting line from the solve's root to the decision: cr120c/ (ACPC), 'check, bet 120, call /' or 'x b60% c /' "
    "(see docs/how-to/jobs.md); default: the root."
)
@click.option(
    "--board",
    metavar="CARDS",
    help='All public cards at the decision, such as "Qs Jh 2h 8c 3d"; default: the cards at the root.',
)
@click.option(
    "--player",
    type=click.Choice(SEAT_NAMES),
    help="Player whose hands are shown; default: the player who acts.",
)
@click.option("--grid", "as_grid", is_flag=True, help="Show hold'em hands as a grid of 13 x 13 hand classes.")
@click.option("--hands", "as_hands", is_flag=True, help="List the hands one by one.")
@click.option(
    "--heat",
    metavar="WHAT",
    help="Show one number for each hand class in a grid: EV, equity, reach, or the EV of an action, named by its "
    "label, such as 'bet 120'.",
)
@click.option(
    "--filter",
    "filters",
    metavar="HANDS",
    multiple=True,
    help="Show only the hands that match HANDS: cards (AhKh, AK, Axs, QQ+, Ah, hh) or kinds of hands (pair+, "
    'flushdraw). In "pair+ & hh, AK" the comma means or, & means and, + means or better. Can be given several times; '
    "the hands shown then match every HANDS.",
)
@click.option(
    "--sort",
    metavar="COLUMN",
    help="Sort the list of hands by a column, the largest value first: class, strength, reach, EV, equity, or an "
    "action's label.",
)
@click.option(
    "--ev/--no-ev",
    default=True,
    help="Compute and show EVs and equities (--ev, the default), or omit them (--no-ev), which is much faster.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="List all hands, even if they do not fit on the screen or have zero reach.",
)
@plot_option("the grids of both players, or the grid of --heat,")
@csv_option("all hands into a .csv, .xlsx, .parquet or .json file, with the columns of spewy export")
@click.option(
    "--wide",
    cls=Needing,
    needs=WITH_CSV,
    is_flag=True,
    help="Write one row for each hand to the --csv file, with columns for each action, not one row for each action.",
)
@target_option
@json_option
def show(
    folder: Path,
    line: str,
    board: str | None,
    player: str | None,
    as_grid: bool,
    as_hands: bool,
    heat: str | None,
    filters: tuple[str, ...],
    sort: str | None,
    ev: bool,
    every: bool,
    table_file: Path | None,
    wide: bool,
    plot: Path | None,
    size: str,
    target: str | None,
    as_json: bool,
) -> None:
    """Show the strategy at one decision.

    A terminal shows hold'em as a grid of hand classes. A cell is the mean over the hands of its class: in colour the
    frequency of each action, brighter for a larger reach; without colour the most frequent action and its frequency in
    %, with the reach in a second grid.

    A list of hands is printed into a pipe, or with --hands, --sort or --all; without --all a terminal gets as many
    hands as fit. Hands are grouped by made hand (docs/how-to/looking.md defines the names). Reach is the weight of a
    hand in the player's range at the decision. EV is the expected share of the pot from the decision on, in chips;
    equity is the chance to win without further betting. A cell below an action has the frequency of the action and, if
    there is room, its EV: 0.250 103.90 means that the hand takes the action in a quarter of the cases and wins 103.90
    chips by it on average.

    A whole game with board buckets is shown as a grid in a pipe too, unless --hands, --sort or --all asks for a list.
    Its strategies are those of the board's bucket; reach and equity are those of the real board and hands. Equities are
    known from the flop on, and EVs in the last round only.

    For the folder of a batch --board names one of its boards, or a later board that follows it. With --no-ev only the
    strategies along the line are read. A dropped round (spewy drop, save.rounds) is solved again, from the ranges with
    which the stored strategies come to it.

    \b
    Examples:
      spewy show results/T1
      spewy show results/T1 --line "check, bet 120" --hands --sort EV
      spewy show results/T1 --filter "pair+&flushdraw" --filter gutshot+
      spewy show results/T1 --hands --filter "AK, QQ+"
      spewy show results/T1 --csv T1.csv --wide
      spewy show results/T1 --plot T1.png --size phone
      spewy show results/T1 --heat equity --player ip
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d" --json

    \b
    --json prints one object, in which undefined values are null:
      {"player": 0, "actions": ["check", "bet 120"],
       "hands": {"AsKs": {"reach": 1, "strategy": [0.4, 0.6], "ev": 130.2, "action_ev": [130, 130.3],
                          "equity": 0.63}}}
    and for a whole game with board buckets also "board_bucket": 17
    """  # noqa: D301
    in_hands = as_hands or every or sort is not None
    if in_hands and (as_grid or heat is not None):
        raise click.UsageError(
            "--hands, --sort and --all list hands, and --grid and --heat draw a grid; choose a list or a grid"
        )
    if as_json:
        refuse_unused("with --json, which prints all hands", "as_grid", "as_hands", "sort", "every")
        if plot is None:
            refuse_unused("with --json, unless --plot draws the grid", "heat")
    write = table_writer(table_file)
    check_picture(plot)
    from spewy.look.folder import board_folder
    from spewy.look.solution import Solution

    with Solution.open(board_folder(folder, board), target, say) as solution:
        game, buckets = solution.job.rules, solution.job.sampled
        grid = as_grid or heat is not None or (game.is_holdem and not in_hands and (buckets or on_terminal()))
        ev = ev and bool(not grid or heat is not None or as_json or table_file)
        place = solution.at(line, board, decision=True)
        views = [solution.node(place, ev=ev)]
        if plot is not None or player is not None:
            views.append(solution.waiting(place, ev=ev))
        words = solution.words(place.node)
        job = f"{solution.job.name}, {solution.progress}"
    if filters:
        from spewy.look.hand_filter import filtered

        views = [filtered(game, view, filters) for view in views]
    view = next((view for view in views if player == SEAT_NAMES[view.player]), views[0])
    write(view.wide_frame if wide or not view.actions else view.frame)
    if plot is not None:
        from spewy.plot import node_figure

        draw(plot, node_figure(views if player is None else [view], words, heat, size))
    if as_json:
        click.echo(json_text(view.to_json()))
        return
    click.echo(
        f"{_head(job, words, view, filters)}\n{_grid(view, heat) if grid else _hands(view, sort, every)}"
    )


def _head(job: str, words: str, view: NodeView, filters: tuple[str, ...]) -> str:
    from buckets.cards import card_name

    seat, acts = SEAT_NAMES[view.player], bool(view.actions)
    cards = " ".join(card_name(card) for card in view.board) or "none yet"
    bucket = "" if view.board_bucket is None or not view.board else f", board bucket {view.board_bucket}"
    rows = [
        ("job", job),
        ("board", f"{cards}{bucket}"),
        ("line", line_text(view.line, words)),
        ("to act" if acts else "waits", f"{seat}, with {view.reach.sum():,.2f} hands"),
    ]
    if view.unit != "chips":
        rows.append(("amounts", f"in {view.unit}"))
    if filters:
        rows.append(("filter", " and ".join(filters)))
    if view.loss == view.loss:
        rows.append(("mean loss", f"{fine(view.loss, 4)} {view.unit} a hand against its best action"))
    if view.rare:
        rows.append(("reached by", f"{100 * view.reached:.2g}% of play: frequencies are less certain here"))
    rows += [
        (action, percent(share, 2)) for action, share in zip(view.actions, view.frequencies, strict=True)
    ]
    return facts(rows)


def _hands(view: NodeView, sort: str | None, every: bool) -> str:
    from spewy.cli.decision import hand_table

    table, left_out = hand_table(view, sort, every)
    return table + (f"\n{left_out:,} more hands; --all shows them" if left_out else "")


def _grid(view: NodeView, heat: str | None) -> str:
    from spewy.cli.decision import grid_text, heat_text

    return grid_text(view.grid()) if heat is None else heat_text(view.heat_map(heat))
