"""Decisions as notebooks show them: the grid of hand classes in hold'em, else a table of hands."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import cards_name
from spewy.game.amounts import CHIPS
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import UNUSED, Colour, hex_colour, lightness
from spewy.look.grid import Cell, Grid
from spewy.system import html

if TYPE_CHECKING:
    from solvers.tree import Floats
    from spewy.look.node import NodeView

_CELL = "width: 3em; height: 2em; padding: 0 2px; text-align: left; vertical-align: top; font-size: 80%"


def decision_html(view: NodeView) -> str:
    """A decision's title, the frequencies of its range, and its hands."""
    words = "to act" if view.actions else "waits"
    place = f" on {cards_name(view.board)}" if view.board else ""
    title = f"{SEAT_NAMES[view.player]} {words}{place}" + (f" after {view.line}" if view.line else "")
    return grid_html(view.grid(), title) if view.holdem else _hands(view, title)


def grid_html(grid: Grid, title: str) -> str:
    """A grid whose cells are filled as high as their reach and divided among the actions, with tooltips."""
    colours = grid.colours
    names = _shares(grid.actions, grid.shares) or [SEAT_NAMES[grid.player]]
    legend = " ".join(
        f'<span style="{_ink(colour)}; padding: 0 4px">{escape(text)}</span>'
        for colour, text in zip(colours, names, strict=True)
    )
    rows: dict[int, str] = {}
    for cell in grid.cells():
        rows[cell.row] = rows.get(cell.row, "") + _cell(cell, grid.actions, colours)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows.values())
    return (
        f"<div>{html.heading(title)}<br>{legend}"
        f'<table style="border-collapse: separate; border-spacing: 1px"><tbody>{body}</tbody></table></div>'
    )


def _shares(actions: tuple[str, ...], shares: Floats) -> list[str]:
    return [
        f"{action} {'–' if np.isnan(share) else f'{100 * share:.1f} %'}"
        for action, share in zip(actions, shares, strict=True)
    ]


def _cell(cell: Cell, actions: tuple[str, ...], colours: list[Colour]) -> str:
    name = escape(cell.name)
    if not cell.fill:
        return f'<td style="{_CELL}; background: {hex_colour(UNUSED)}; color: #888">{name}</td>'
    shares = _shares(actions, cell.mix) if actions else []
    tooltip = escape("; ".join([f"{cell.name}: reach {cell.reach:.3g}", *shares]))
    fill = f"{_bands(cell.mix, colours)} bottom / 100% {100 * cell.fill:.0f}% no-repeat"
    return (
        f'<td title="{tooltip}" style="{_CELL}; background: {fill}, {hex_colour(UNUSED)}; color: #000; '
        f'text-shadow: 0 0 3px #fff, 0 0 3px #fff">{name}</td>'
    )


def _bands(mix: Floats, colours: list[Colour]) -> str:
    """A background of vertical bands, each as wide as its share."""
    ends = 100 * np.cumsum(mix)
    stops = [
        f"{hex_colour(colour)} {end - 100 * share:.1f}% {end:.1f}%"
        for colour, share, end in zip(colours, mix, ends, strict=True)
        if share > 0
    ]
    return f"linear-gradient(to right, {', '.join(stops)})"


def _ink(colour: Colour) -> str:
    """A background with black or white text, whichever reads better."""
    return f"background: {hex_colour(colour)}; color: {'#000' if lightness(colour) > 0.5 else '#fff'}"


def _hands(view: NodeView, title: str) -> str:
    """A table of the hands, those of most reach first."""
    figures = (view.reach.tolist(), *view.strategy.tolist(), view.ev.tolist(), view.equity.tolist())
    unit = "" if view.unit == CHIPS.name else f" ({view.unit})"
    columns = ("hand", "reach", *view.actions, f"EV{unit}", "equity")
    shares = ", ".join(_shares(view.actions, view.frequencies))
    title = f"{title}: {shares}" if shares else title
    return html.table(title, columns, zip(view.hands, *figures, strict=True))
