"""Pictures of a report over boards: what is done on each, EV beside equity, and how much equity is realised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import action_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import SEATS, UNUSED, action_colours, hex_colour
from spewy.plot.cards import UNSEEN, add_legend, percent_text
from spewy.plot.figures import SIZES, axes_for, font, new_figure, signs
from spewy.plot.hands import share_text

if TYPE_CHECKING:
    from spewy.look.report import CardRow, Report

MOST_NAMED = 100
"""Boards that can be named beside their bars."""
LINES_A_BOARD = 1.75
"""Height of a board's bars, in lines of text."""
LINES_BESIDE = 11.0
"""Height of the title, the legend and the scale."""
WIDER = 1.35
"""Width of the panel of shares, whose legend has most to say, to that of another."""
TALLEST = 3.0
"""The greatest height of a panel, to the figure's width."""
POINTS = 72
"""Of an inch."""


def boards_figure(report: Report, line: str | None = None, size: str = "screen") -> Any:
    """All that a report over boards tells, board by board.

    Args:
        report: the report.
        line: its line in words; None: as it is written.
        size: a name of `SIZES`.

    Returns:
        The figure. Where there is nothing to choose it has no panel of frequencies.
    """
    panels, widths = [board_shares, board_realisation], [WIDER, 1.0]
    if len(report.actions) > 1:
        panels, widths = [board_frequencies, *panels], [1.0, *widths]
    found = SIZES[size]
    with font(found):
        down, across = (len(panels), 1) if found.stacked else (1, len(panels))
        high = (LINES_BESIDE + LINES_A_BOARD * (len(report.rows) + 1)) * found.font / POINTS
        figure = new_figure(found.width, down * min(high, TALLEST * found.width), found)
        ratios = None if found.stacked else widths
        axes = figure.subplots(down, across, sharey=True, squeeze=False, width_ratios=ratios).ravel()
        for panel, ax in zip(panels, axes, strict=True):
            panel(report, ax)
        seat = "all-in" if report.player is None else f"{SEAT_NAMES[report.player]} to act"
        told = line or report.line or "at the root"
        figure.suptitle(f"{len(report.rows):,} boards, {told}: {seat}, pot {report.pot:g}")
    return figure


def board_frequencies(report: Report, ax: Any = None) -> Any:
    """How often each action is taken, board by board, the average on top; actions that nobody takes are left out."""
    ax = axes_for(ax)
    at, rows = _places(report), _rows(report)
    left = np.zeros(len(rows))
    for a, (action, colour) in enumerate(zip(report.actions, action_colours(report.actions), strict=True)):
        share = np.nan_to_num([row.frequencies[a] for row in rows])
        if not share.max() >= UNSEEN:
            continue
        label = f"{action_words(action)}  {share_text(share[0])}"
        ax.barh(at, 100 * share, left=100 * left, height=0.92, color=hex_colour(colour), label=label)
        left += share
    ax.set(xlabel="how often, %", xlim=(0, 100))
    add_legend(ax, 2)
    return _name_boards(ax, report, at)


def board_shares(report: Report, ax: Any = None) -> Any:
    """EV as a share of the pot beside equity, of both players: a dot right of its ring earns more than its equity."""
    ax = axes_for(ax)
    at, rows = _places(report), _rows(report)
    for p, seat in enumerate(SEAT_NAMES):
        colour, side = hex_colour(SEATS[p]), at + (0.2 if p else -0.2)
        ev = 100 * np.array([row.ev[p] for row in rows]) / report.pot
        equity = 100 * np.array([row.equity[p] for row in rows])
        width = 0.4 * ax.xaxis.label.get_size()
        ring = {"marker": "o", "linestyle": "none", "color": colour, "markersize": width}
        ax.hlines(side, equity, ev, color=colour, linewidth=0.5 * width, alpha=0.35)
        label = f"{seat}: equity {percent_text(equity[0])}"
        ax.plot(equity, side, **ring, markerfacecolor="white", label=label)
        ax.plot(ev, side, **ring, label=f"EV {percent_text(ev[0])}")
    ax.set(xlabel="share of the pot, %")
    ax.grid(axis="x", alpha=0.25)
    add_legend(ax, 2)
    return _name_boards(ax, report, at)


def board_realisation(report: Report, ax: Any = None) -> Any:
    """How much of their equity both players turn into chips."""
    ax = axes_for(ax)
    at, rows = _places(report), _rows(report)
    for p, seat in enumerate(SEAT_NAMES):
        earned = 100 * np.array([row.realisation[p] for row in rows])
        side = at + (0.23 if p else -0.23)
        label = f"{seat}  {percent_text(earned[0])}"
        ax.barh(side, earned - 100, left=100, height=0.44, color=hex_colour(SEATS[p]), label=label)
    ax.axvline(100, color="black", linewidth=0.8)
    low, high = ax.get_xlim()  # an all-in realises its equity exactly: nothing but rounding to show
    ax.set(xlabel="EV / (equity · pot), %", xlim=(min(low, 98), max(high, 102)))
    ax.grid(axis="x", alpha=0.25)
    add_legend(ax, 1)
    return _name_boards(ax, report, at)


def _rows(report: Report) -> tuple[CardRow, ...]:
    return report.average, *report.rows


def _places(report: Report) -> np.ndarray:
    """Where each row stands: the average on top, and a gap below it."""
    return np.array([0.0, *(np.arange(len(report.rows)) + 1.6)])


def _name_boards(ax: Any, report: Report, at: np.ndarray) -> Any:
    """Boards beside their bars, unless there are too many."""
    ax.axhline(0.8, color=hex_colour(UNUSED), linewidth=2)
    ax.set_ylim(at[-1] + 0.7, -0.7)
    named = len(report.rows) <= MOST_NAMED
    ax.set_yticks(at if named else at[:1], ["all", *(signs(row.cards) for row in report.rows if named)])
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax
