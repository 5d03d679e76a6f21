"""A decision as notebooks show it: the chart of 169 classes where the game has them, else a table of hands."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Protocol

import numpy as np

from buckets.cards import cards_name, preflop_classes
from spewy.game.amounts import CHIPS
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import SEATS, UNUSED, Colour, action_colours, hex_colour, lightness
from spewy.look.grid import Grid, Looked
from spewy.system import html

if TYPE_CHECKING:
    from solvers.tree import Floats

_CELL = "width: 3em; height: 2em; padding: 0 2px; text-align: left; vertical-align: top; font-size: 80%"


class Valued(Looked, Protocol):
    """What is told of a decision beside its grid."""

    @property
    def player(self) -> int:
        """Whose hands they are."""

    @property
    def line(self) -> str:
        """Betting since the solve's root."""

    @property
    def ev(self) -> Floats:
        """``[hand]``."""

    @property
    def equity(self) -> Floats:
        """``[hand]``."""

    @property
    def unit(self) -> str:
        """Of EVs."""

    @property
    def holdem(self) -> bool:
        """Whether the classes of hold'em are those of the game."""


def decision_html(view: Valued) -> str:
    """A decision's title, how often the range takes each action, and its hands."""
    return grid_html(Grid.of_holdem(view), _title(view), view.player) if view.holdem else _hands(view)


def grid_html(grid: Grid, title: str, player: int) -> str:
    """A cell for each class: filled as high as its reach, in shares of its actions; a tooltip tells the numbers."""
    colours = action_colours(grid.actions) or [SEATS[player]]
    legend = " ".join(
        f'<span style="{_ink(colour)}; padding: 0 4px">{escape(text)}</span>'
        for colour, text in zip(
            colours, _shares(grid.actions, grid.shares) or [SEAT_NAMES[player]], strict=True
        )
    )
    names = np.array(preflop_classes()[1]).reshape(grid.reach.shape)
    highest = max(float(np.nanmax(grid.reach)), 1e-9)
    rows = "".join(
        f"<tr>{''.join(_cell(grid, names, colours, (row, column), highest) for column in range(len(names)))}</tr>"
        for row in range(len(names))
    )
    return (
        f"<div>{html.heading(title)}<br>{legend}"
        f'<table style="border-collapse: separate; border-spacing: 1px"><tbody>{rows}</tbody></table></div>'
    )


def _title(view: Valued) -> str:
    """Who acts, where, and after what."""
    words = "to act" if view.actions else "waits"
    place = f" on {cards_name(view.board)}" if view.board else ""
    return f"{SEAT_NAMES[view.player]} {words}{place}" + (f" after {view.line}" if view.line else "")


def _shares(actions: tuple[str, ...], shares: Floats) -> list[str]:
    return [f"{action} {_percent(share)}" for action, share in zip(actions, shares, strict=True)]


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"


def _cell(grid: Grid, names: np.ndarray, colours: list[Colour], at: tuple[int, int], highest: float) -> str:
    reach, name = float(grid.reach[at]), escape(str(names[at]))
    if not reach > 0:
        return f'<td style="{_CELL}; background: {hex_colour(UNUSED)}; color: #888">{name}</td>'
    mix = grid.frequencies[(slice(None), *at)] if grid.actions else np.ones(1)
    told = escape(
        "; ".join([f"{names[at]}: reach {reach:.3g}", *(_shares(grid.actions, mix) if grid.actions else ())])
    )
    fill = f"{_bands(mix, colours)} bottom / 100% {100 * min(1.0, reach / highest):.0f}% no-repeat"
    return (
        f'<td title="{told}" style="{_CELL}; background: {fill}, {hex_colour(UNUSED)}; color: #000; '
        f'text-shadow: 0 0 3px #fff, 0 0 3px #fff">{name}</td>'
    )


def _bands(mix: Floats, colours: list[Colour]) -> str:
    """A background in vertical bands, each as wide as its share."""
    ends = 100 * np.cumsum(mix)
    stops = [
        f"{hex_colour(colour)} {end - 100 * share:.1f}% {end:.1f}%"
        for colour, share, end in zip(colours, mix, ends, strict=True)
        if share > 0
    ]
    return f"linear-gradient(to right, {', '.join(stops)})"


def _ink(colour: Colour) -> str:
    """Text on a background, dark on light and light on dark."""
    return f"background: {hex_colour(colour)}; color: {'#000' if lightness(colour) > 0.5 else '#fff'}"


def _hands(view: Valued) -> str:
    """The hands, those of most reach first."""
    figures = (view.reach.tolist(), *view.strategy.tolist(), view.ev.tolist(), view.equity.tolist())
    unit = "" if view.unit == CHIPS.name else f" ({view.unit})"
    columns = ("hand", "reach", *view.actions, f"EV{unit}", "equity")
    told = ", ".join(_shares(view.actions, view.frequencies))
    title = f"{_title(view)}: {told}" if told else _title(view)
    return html.table(title, columns, zip(view.hands, *figures, strict=True))
