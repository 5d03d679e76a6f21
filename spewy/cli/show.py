"""``spewy show``: one decision as a grid of classes of hands, or hand by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import table_writer
from spewy.cli.options import (
    csv_option,
    folder_argument,
    json_option,
    line_option,
    plot_option,
    target_option,
    verbose_option,
)
from spewy.cli.pictures import check_picture, draw
from spewy.cli.progress import say
from spewy.cli.tables import facts, json_text, line_text, on_terminal, render
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.game.gamefile import Game
    from spewy.look.node import NodeView


@dataclass(frozen=True)
class Shown:
    """A decision with what is told about it.

    Attributes:
        views: of the player who acts, and of the other one where it was asked for.
        game: its rules.
        told: the job, and how far it is.
        words: the line in words.
        class_: of the board, in a whole game with classes of boards.
    """

    views: tuple[NodeView, ...]
    game: Game
    told: str
    words: str
    class_: int | None = None


@click.command()
@folder_argument
@line_option(
    "From the solve's root: cr120c/ (ACPC), 'Check, Bet(120), Call /', 'x b60% c /'; docs/jobs.md tells more."
)
@click.option(
    "--board", metavar="CARDS", help='All public cards, such as "Qs Jh 2h 8c 3d"; default: the root\'s.'
)
@click.option(
    "--player",
    type=click.Choice(SEAT_NAMES),
    help="Whose hands: who acts, which is the default, or who waits.",
)
@click.option("--grid", "as_grid", is_flag=True, help="Hold'em: the 13 x 13 classes of hands.")
@click.option("--hands", "as_hands", is_flag=True, help="Hand by hand.")
@click.option(
    "--heat",
    metavar="WHAT",
    help="A grid of numbers: EV, equity or reach, or the EV of an action, by its label, such as Check.",
)
@click.option(
    "--filter",
    "filters",
    metavar="KINDS",
    multiple=True,
    help='Only these hands: "pair+,flushdraw" (comma: or; plus: that or better; & or the option again: and).',
)
@click.option(
    "--sort",
    metavar="COLUMN",
    help="Hand by hand, the largest first: class, strength, reach, EV, equity, or an action by its label.",
)
@click.option(
    "--ev/--no-ev",
    default=True,
    help="Find EVs and equities, which take most of the time; or leave them out.",
)
@click.option(
    "--all", "every", is_flag=True, help="Hand by hand, also those that do not fit and hands not held."
)
@plot_option("the grids of both players, or --heat,")
@csv_option("all hands into a .csv, .parquet or .json, in the columns of spewy export")
@click.option("--wide", is_flag=True, help="With --csv: a row for each hand, and columns for each action.")
@target_option
@json_option
@verbose_option
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

    The table has the actions of each class of hands, or strategy, reach, EV and equity hand by hand.

    A terminal shows hold'em as a grid: the mean over the hands of each class, in colour the share of each action, the
    brighter the larger the reach; without colour the most frequent action, how often it is taken in %, and the reach.

    A pipe gets all hands, as --hands, --sort and --all show them on a terminal, as many as fit. They are grouped by
    what they are (docs/looking.md defines the names). Reach is the hand's weight in the player's range there. EV is the
    expected share of the pot from there on, in chips; equity the chance to win if betting stopped. A cell under an
    action tells how often the hand takes it and, where there is room, the EV of taking it: 0.250 103.90 is a quarter
    of the time, for 103.90 chips.

    A whole game with classes of boards is shown as a grid unless --hands, --sort or --all asks for hands: its range is
    played down from the deal, on any real board, and EV and equity are not known.

    Without EVs (--no-ev) a decision is shown by the strategies along its line alone. In a round that was dropped
    (spewy drop, save.rounds) the chunk is first solved from the ranges that are played down to it.

    \b
    Examples:
      spewy show results/T1
      spewy show results/T1 --line "Check, Bet(120)" --hands --sort EV
      spewy show results/T1 --filter "pair+&flushdraw" --filter gutshot+
      spewy show results/T1 --csv T1.csv --wide
      spewy show results/T1 --plot T1.png --size phone
      spewy show results/T1 --heat equity --player ip
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d" --json

    \b
    --json prints one object; what is not defined for a hand is null:
      {"player": 0, "actions": ["Check", "Bet(120)"],
       "hands": {"AsKs": {"reach": 1, "strategy": [0.4, 0.6], "ev": 130.2, "action_ev": [130, 130.3],
                          "equity": 0.63}}}
    and of a whole game with classes of boards the board's, "class": 17
    """  # noqa: D301
    in_hands = as_hands or every or sort is not None
    if in_hands and (as_grid or heat is not None):
        raise click.UsageError(
            "--hands, --sort and --all tell hands, --grid and --heat a grid: expected one of both"
        )
    write = None if table_file is None else table_writer(table_file)
    check_picture(plot)
    from spewy.look.grid import is_holdem
    from spewy.look.hand_filter import filtered
    from spewy.look.play import holds_play

    dealt = holds_play(folder)
    both = plot is not None or player is not None
    shown = _played(folder, line, board, both) if dealt else _solved(folder, line, board, target, both, ev)
    views = tuple(filtered(shown.game, view, filters) for view in shown.views)
    view = next((view for view in views if player == SEAT_NAMES[view.player]), views[0])
    if write is not None:
        write(view.wide_frame() if wide or not view.actions else view.frame())
    if plot is not None:
        _draw(plot, shown, views if player is None else (view,), heat, size)
    if as_json:
        click.echo(json_text(view.to_json() | ({} if shown.class_ is None else {"class": shown.class_})))
        return
    grid = (
        as_grid or heat is not None or (is_holdem(shown.game) and not in_hands and (dealt or on_terminal()))
    )
    body = _grid(shown.game, view, heat) if grid else _hands(view, sort, every)
    click.echo(f"{_head(shown, view, filters)}\n{body}")


def _solved(folder: Path, line: str, board: str | None, target: str | None, both: bool, ev: bool) -> Shown:
    """A decision of a solve all of whose boards were walked through."""
    from spewy.chunks.locate import line_to
    from spewy.game.lines import line_words
    from spewy.look.solution import Solution

    with Solution.open(folder, target, say) as solution:
        told = f"{solution.job.name}, {solution.sweeps:,} sweeps"
        views = (solution.node(line, board, ev=ev), *([solution.waiting(line, board, ev=ev)] if both else []))
        words = line_words(solution.job.betting_tree.root, line_to(solution.problem, line, board))
        return Shown(views, solution.job.rules, told, words)


def _played(folder: Path, line: str, board: str | None, both: bool) -> Shown:
    """A decision of a whole game with classes of boards, and the class of its board."""
    from spewy.chunks.locate import line_to
    from spewy.game.lines import line_words
    from spewy.game.nodes import entry_line
    from spewy.look.play import open_play
    from spewy.look.played import played, waiting

    with open_play(folder) as policy:
        view = played(policy, line, board)
        views = (view, waiting(policy, line, board)) if both else (view,)
        class_ = policy.board_bucket(view.line.count("/"), view.board)
        there = line_to(policy.problem, line, board)
        told = f"{policy.strategies.manifest['job']['name']}, {policy.strategies.saved.deals:,} deals"
        words = line_words(policy.problem.tree.entered(entry_line(there)), there)
        return Shown(views, policy.problem.game, told, words, class_)


def _head(shown: Shown, view: NodeView, filters: tuple[str, ...]) -> str:
    from buckets.cards import card_name

    seat, acts = SEAT_NAMES[view.player], bool(view.actions)
    cards = " ".join(card_name(card) for card in view.board) or "none yet"
    rows = [
        ("job", shown.told),
        ("board", cards if shown.class_ is None or not view.board else f"{cards}, class {shown.class_}"),
        ("line", line_text(view.line, shown.words)),
        ("to act" if acts else "waits", f"player {view.player} ({seat}), with {view.reach.sum():,.2f} hands"),
    ]
    if view.unit != "chips":
        rows.append(("amounts", f"in {view.unit}"))
    if filters:
        rows.append(("filter", " and ".join(filters)))
    rows += [
        (a, "-" if f != f else f"{100 * f:.2f}%") for a, f in zip(view.actions, view.frequencies, strict=True)
    ]
    return facts(rows)


def _hands(view: NodeView, sort: str | None, every: bool) -> str:
    """The list, and how many hands it leaves out."""
    from spewy.cli.hand_table import hand_table

    table, left_out = hand_table(view, sort, every)
    return render(table) + (f"\n{left_out:,} more hands; --all shows them" if left_out else "")


def _grid(game: Game, view: NodeView, heat: str | None) -> str:
    from spewy.cli.grid import grid_text, heat_text
    from spewy.look.grid import Grid, class_means
    from spewy.look.heat import heat_of

    if heat is None:
        return grid_text(Grid.of(game, view), view.player)
    found = heat_of(view, heat)
    return heat_text(found.title, class_means(game, view, found.values), found.tell)


def _draw(file: Path, shown: Shown, views: tuple[NodeView, ...], heat: str | None, size: str) -> None:
    """A picture of the views; of those that have what a heat map shows."""
    from spewy import plot
    from spewy.look.heat import heat_of, of_action

    board = plot.signs(views[0].board)
    title = ": ".join(text for text in (board, shown.words) if text) or "the first decision"
    if heat is None:
        grids = [(view.player, plot.Grid.of(shown.game, view)) for view in views]
        figure = plot.decision_figure(grids, title, size)
    else:
        maps = [heat_of(view, heat) for view in (views[:1] if of_action(views[0], heat) else views)]
        drawn = [(found.title, plot.class_means(shown.game, found.view, found.values)) for found in maps]
        figure = plot.heat_figure(drawn, title, size, maps[0].tell)
    draw(file, figure)
