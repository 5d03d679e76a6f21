"""Pictures of a report: action frequencies card by card, EV beside equity, and how much equity is realised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import action_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import SEATS, action_colours, hex_colour
from spewy.plot.figures import SIZES, SUIT_COLOURS, SUIT_SIGNS, axes_for, font, new_figure, sign, signs
from spewy.plot.hands import share_text

if TYPE_CHECKING:
    from spewy.look.report import Report

MOST_LABELS = 70
"""Cards that can be named below one another's bars."""
UNSEEN = 0.005
"""A share that no bar shows."""


def report_figure(report: Report, line: str | None = None, size: str = "screen") -> Any:
    """All that a report tells, card by card.

    Args:
        report: the report.
        line: its line in words; None: as it is written.
        size: a name of `SIZES`.

    Returns:
        The figure. Where there is nothing to choose it has no panel of frequencies.
    """
    panels = [card_shares, card_realisation]
    if len(report.actions) > 1:
        panels.insert(0, card_frequencies)
    with font(SIZES[size]):
        width = SIZES[size].width
        figure = new_figure(width, width * (0.09 + 0.21 * len(panels)), SIZES[size])
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for panel, ax in zip(panels, axes, strict=True):
            panel(report, ax)
            if ax is not axes[-1]:
                ax.tick_params(axis="x", length=0)
        seat = "all-in" if report.player is None else f"{SEAT_NAMES[report.player]} to act"
        where = signs(report.board) or "before the flop"
        figure.suptitle(f"{where}: {line or report.line}, then each card; {seat}, pot {report.pot:g}")
    return figure


def card_frequencies(report: Report, ax: Any = None) -> Any:
    """How often each action is taken, card by card and on average; actions that nobody takes are left out."""
    ax = axes_for(ax)
    at, rows = _places(report), (*report.rows, report.average)
    bottom = np.zeros(len(rows))
    for a, (action, colour) in enumerate(zip(report.actions, action_colours(report.actions), strict=True)):
        share = np.nan_to_num([row.frequencies[a] for row in rows])
        if not share.max() >= UNSEEN:
            continue
        label = f"{action_words(action)}  {share_text(share[-1])}"
        ax.bar(at, 100 * share, bottom=100 * bottom, width=0.92, color=hex_colour(colour), label=label)
        bottom += share
    ax.set(ylabel="how often, %", ylim=(0, 100))
    add_legend(ax, len(report.actions))
    return _name_cards(ax, report, at)


def card_shares(report: Report, ax: Any = None) -> Any:
    """EV as a share of the pot beside equity, of both players: a dot above its ring earns more than its equity."""
    ax = axes_for(ax)
    at, rows = _places(report), (*report.rows, report.average)
    for p, seat in enumerate(SEAT_NAMES):
        colour = hex_colour(SEATS[p])
        ev = 100 * np.array([row.ev[p] for row in rows]) / report.pot
        equity = 100 * np.array([row.equity[p] for row in rows])
        side = at + (0.2 if p else -0.2)
        ring = {
            "marker": "o",
            "linestyle": "none",
            "color": colour,
            "markersize": 0.4 * ax.xaxis.label.get_size(),
        }
        ax.vlines(side, equity, ev, color=colour, linewidth=0.5 * ring["markersize"], alpha=0.35)
        ax.plot(
            side, equity, **ring, markerfacecolor="white", label=f"equity {seat}  {percent_text(equity[-1])}"
        )
        ax.plot(side, ev, **ring, label=f"EV {seat}  {percent_text(ev[-1])}")
    ax.set(ylabel="share of the pot, %")
    _whole_percent(ax)
    add_legend(ax, 4)
    return _name_cards(ax, report, at)


def card_realisation(report: Report, ax: Any = None) -> Any:
    """How much of their equity both players turn into chips."""
    ax = axes_for(ax)
    at, rows = _places(report), (*report.rows, report.average)
    for p, seat in enumerate(SEAT_NAMES):
        earned = 100 * np.array([row.realisation[p] for row in rows])
        side = at + (0.23 if p else -0.23)
        label = f"{seat}  {percent_text(earned[-1])}"
        ax.bar(side, earned - 100, bottom=100, width=0.44, color=hex_colour(SEATS[p]), label=label)
    ax.axhline(100, color="black", linewidth=0.8)
    low, high = ax.get_ylim()  # an all-in realises its equity exactly: nothing but rounding to show
    ax.set_ylim(min(low, 98), max(high, 102))
    ax.set(ylabel="EV / (equity · pot), %")
    _whole_percent(ax)
    add_legend(ax, 2)
    return _name_cards(ax, report, at)


def add_legend(ax: Any, columns: int) -> None:
    """A legend above a chart, where there is anything to tell."""
    told = ax.get_legend_handles_labels()[1]
    if told:
        ax.legend(
            ncols=min(columns, len(told)),
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            frameon=False,
            borderaxespad=0.2,
            handlelength=1.1,
            handletextpad=0.5,
            columnspacing=1.2,
        )


def percent_text(percent: float) -> str:
    """A percentage; a dash where there is none."""
    return "-" if np.isnan(percent) else f"{percent:.1f}%"


def _whole_percent(ax: Any) -> None:
    """Ticks at whole percent in even steps."""
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)


def _places(report: Report) -> np.ndarray:
    """Where each card's bar stands, the average's last; a gap between ranks."""
    places, x = [], 0.0
    for i, row in enumerate(report.rows):
        if i and len(row.cards) == 1:
            x += 0.7 * (row.cards[0] >> 2 != report.rows[i - 1].cards[0] >> 2)
        places.append(x)
        x += 1
    return np.array([*places, x + 1.0])


def _name_cards(ax: Any, report: Report, at: np.ndarray) -> Any:
    """Suits in their colours below the bars, and below them each rank once."""
    ax.set_xlim(at[0] - 0.8, at[-1] + 0.8)
    if len(report.rows) > MOST_LABELS:
        ax.set_xticks([at[-1]], ["all"])
        return ax
    single = all(len(row.cards) == 1 for row in report.rows)
    names = [SUIT_SIGNS[row.cards[0] & 3] if single else signs(row.cards) for row in report.rows]
    ax.set_xticks(at, [*names, "all"])
    ax.tick_params(axis="x", length=0)
    if single:
        for label, row in zip(ax.get_xticklabels(), report.rows, strict=False):
            label.set_color(SUIT_COLOURS[row.cards[0] & 3])
        ranks: dict[str, list[float]] = {}
        for row, x in zip(report.rows, at, strict=False):
            ranks.setdefault(sign(row.cards[0])[0], []).append(float(x))
        ax.xaxis.remove_overlapping_locs = False  # a rank may stand right below a suit
        middles = [float(np.mean(places)) for places in ranks.values()]
        ax.set_xticks(middles, [f"\n{rank}" for rank in ranks], minor=True)
        ax.tick_params(axis="x", which="minor", length=0)
    return ax
