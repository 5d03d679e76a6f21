"""``spewy show``: one decision, hand by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import appearing, table_writer
from spewy.cli.options import folder_argument, json_option, target_option, verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import facts, json_text, number, render, terminal_rows
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.game.gamefile import Game
    from spewy.look.node_view import NodeView

_LINES_BESIDE = 14
"""Terminal lines that the facts above the table, its head and the prompt take."""


@click.command()
@folder_argument
@click.option(
    "--line",
    default="",
    metavar="LINE",
    help="ACPC betting string from the solve's root, amounts = total put in since: cr120c/ is the next round.",
)
@click.option(
    "--board", metavar="CARDS", help='All public cards, such as "Qs Jh 2h 8c 3d"; default: the root\'s.'
)
@click.option("--grid", "as_grid", is_flag=True, help="Hold'em: the 13 x 13 classes of hands.")
@click.option("--all", "every", is_flag=True, help="All rows, also those that do not fit and hands not held.")
@click.option(
    "--csv",
    "table_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write all hands into a .csv, .parquet or .json, in the columns of spewy export.",
)
@click.option("--wide", is_flag=True, help="With --csv: a row for each hand, and columns for each action.")
@target_option
@json_option
@verbose_option
def show(
    folder: Path,
    line: str,
    board: str | None,
    as_grid: bool,
    every: bool,
    table_file: Path | None,
    wide: bool,
    target: str | None,
    as_json: bool,
) -> None:
    """Show strategy, reach, EV by action, EV and equity by hand at a decision.

    Reach is the hand's weight in the player's range there. EV is the expected share of the pot from there on, in
    chips; equity the chance to win if betting stopped. A cell under an action tells how often the hand takes it and
    the EV of taking it: 0.250 103.90 is a quarter of the time, for 103.90 chips. A terminal shows the rows that fit, a
    pipe gets all of them.

    --grid shows the mean over the hands of each class: in colour the share of each action, the brighter the larger the
    reach; elsewhere the most frequent action, how often it is taken in %, and the reach. That is how a whole game with
    classes of boards is shown unless --all asks for hands: its range is played down from the deal, on any real board,
    and EV and equity are not known.

    In a round that was dropped (spewy drop) the chunk is first solved from the ranges that are played down to it.

    \b
    Examples:
      spewy show results/T1
      spewy show results/T1 --line "cr120" --all
      spewy show results/T1 --grid
      spewy show results/T1 --csv T1.csv --wide
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d" --json

    \b
    --json prints one object; what is not defined for a hand is null:
      {"player": 0, "actions": ["Check", "Bet(120)"],
       "hands": {"AsKs": {"reach": 1, "strategy": [0.4, 0.6], "ev": 130.2, "action_ev": [130, 130.3],
                          "equity": 0.63}}}
    and of a whole game with classes of boards the board's, "class": 17
    """  # noqa: D301
    write = None if table_file is None else table_writer(table_file)
    from spewy.look.grid import Grid, is_holdem
    from spewy.look.play import holds_play

    dealt = holds_play(folder)
    view, game, told, class_ = _played(folder, line, board) if dealt else _solved(folder, line, board, target)
    if table_file is not None and write is not None:
        with appearing(table_file) as temporary:
            write(view.wide_frame() if wide else view.frame(), temporary)
        say(f"table in {table_file}")
    if as_json:
        click.echo(json_text(view.to_json() | ({} if class_ is None else {"class": class_})))
        return
    if as_grid or (dealt and not every and is_holdem(game)):
        from spewy.cli.grid import grid_text  # which loads NumPy

        chart = grid_text(Grid.of(game, view))
        click.echo(f"{_head(told, view, class_)}\n{chart}")
        return
    click.echo(_head(told, view, class_))
    table, left_out = _table(view, every)
    click.echo(render(table))
    if left_out:
        click.echo(f"{left_out:,} more hands; --all shows them")


def _solved(
    folder: Path, line: str, board: str | None, target: str | None
) -> tuple[NodeView, Game, str, int | None]:
    """A decision of a solve all of whose boards were walked through."""
    from spewy.look.solution import Solution

    with Solution.open(folder, target, say) as solution:
        told = f"{solution.job.name}, {solution.sweeps:,} sweeps"
        return solution.node(line, board), solution.job.rules, told, None


def _played(folder: Path, line: str, board: str | None) -> tuple[NodeView, Game, str, int | None]:
    """A decision of a whole game with classes of boards, and the class of its board."""
    from spewy.look.play import open_play
    from spewy.look.played import played

    with open_play(folder) as policy:
        view, game = played(policy, line, board), policy.problem.game
        class_ = policy.class_of(line.count("/"), view.board)
        name = policy.averages.manifest["job"]["name"]
        return view, game, f"{name}, {policy.averages.saved.deals:,} deals", class_


def _head(told: str, view: NodeView, class_: int | None) -> str:
    from buckets.cards import card_name

    seat = SEAT_NAMES[view.player]
    cards = " ".join(card_name(card) for card in view.board) or "none yet"
    rows = [
        ("job", told),
        ("board", cards if class_ is None or not view.board else f"{cards}, class {class_}"),
        ("line", view.line or "none yet"),
        ("to act", f"player {view.player} ({seat}), with {view.reach.sum():,.2f} hands"),
    ]
    rows += [(a, f"{100 * f:.2f}%") for a, f in zip(view.actions, view.frequencies, strict=True)]
    return facts(rows)


def _table(view: NodeView, every: bool) -> tuple[Table, int]:
    """The table, most likely hands first, and how many rows it leaves out."""
    from rich.table import Table

    order = sorted(range(len(view.hands)), key=lambda h: (-view.reach[h], view.hands[h]))
    if not every:
        order = [h for h in order if view.reach[h] > 0]
    fit = None if every else terminal_rows(_LINES_BESIDE + len(view.actions))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("hand", "reach", *view.actions, "EV", "equity"):
        table.add_column(name, justify="left" if name == "hand" else "right", no_wrap=True)
    cells = [_cells(view, a, order[:fit]) for a in range(len(view.actions))]
    for row, h in enumerate(order[:fit]):
        ev, equity = number(float(view.ev[h])), number(float(view.equity[h]), 4)
        taken = (column[row] for column in cells)
        table.add_row(view.hands[h], f"{view.reach[h]:.4f}", *taken, ev, equity)
    return table, len(order) - len(order[:fit])


def _cells(view: NodeView, action: int, hands: list[int]) -> list[str]:
    """Frequency and EV of an action for each hand, below one another."""
    evs = [number(float(view.action_ev[action, h]), 2) for h in hands]
    width = max(map(len, evs), default=0)
    return [f"{view.strategy[action, h]:.3f} {ev:>{width}}" for h, ev in zip(hands, evs, strict=True)]
