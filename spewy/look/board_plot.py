"""A picture of a report over boards: what is done on each, what it is worth, and how much equity is realised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.names import SEAT_NAMES
from spewy.look.report_plot import SEAT_COLORS, SUIT_SIGNS, _colors, _percent

if TYPE_CHECKING:
    from spewy.look.report import CardRow, Report

MOST_NAMED = 100
"""Boards that can be named beside their bars."""
INCHES_A_BOARD = 0.24
TALLEST = 26.0


def plot_boards(report: Report, path: Path) -> None:
    """Draw into a file whose suffix says the format (png, svg, pdf)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = (report.average, *report.rows)
    height = min(2.4 + INCHES_A_BOARD * len(rows), TALLEST)
    figure = Figure(figsize=(11, height), layout="constrained")
    FigureCanvasAgg(figure)
    bars, worth, realised = figure.subplots(1, 3, sharey=True, width_ratios=(1.5, 1.2, 0.9))
    at = np.array([0.0, *(np.arange(len(report.rows)) + 1.6)])
    _frequencies(bars, report, rows, at)
    _worth(worth, report, rows, at)
    _realised(realised, rows, at)
    named = len(rows) <= MOST_NAMED
    bars.set_yticks(at if named else at[:1], [_name(row) for row in rows] if named else ["all"])
    bars.set_ylim(at[-1] + 0.7, -0.7)
    for axes in (bars, worth, realised):
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    seat = "all-in" if report.player is None else f"{SEAT_NAMES[report.player]} to act"
    line = f"line {report.line}" if report.line else "the root"
    figure.suptitle(f"{len(report.rows)} boards, {line}: {seat}, pot {report.pot:g}", fontsize=13)
    figure.savefig(path, dpi=110)


def _frequencies(axes: Any, report: Report, rows: tuple[CardRow, ...], at: np.ndarray) -> None:
    if not report.actions:
        axes.barh(at[1:], [row.weight for row in rows[1:]], height=0.86, color="#999999")
        axes.set(xlabel="weight of the board")
        return
    left = np.zeros(len(rows))
    for a, (action, color) in enumerate(zip(report.actions, _colors(report.actions), strict=True)):
        share = np.nan_to_num([row.frequencies[a] for row in rows])
        axes.barh(at, share, left=left, height=0.86, color=color, label=action)
        left += share
    axes.set(xlabel="action frequency", xlim=(0, 1), xticks=np.linspace(0, 1, 5))
    axes.xaxis.set_major_formatter(_percent)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(4, len(report.actions)), frameon=False)


def _worth(axes: Any, report: Report, rows: tuple[CardRow, ...], at: np.ndarray) -> None:
    """Both players' EV as a share of the pot, dots, beside their equity, rings."""
    for p, (seat, color) in enumerate(zip(SEAT_NAMES, SEAT_COLORS, strict=True)):
        ev = np.array([row.ev[p] for row in rows]) / report.pot
        equity = np.array([row.equity[p] for row in rows])
        axes.hlines(at, equity, ev, color=color, linewidth=3, alpha=0.3)
        axes.plot(equity, at, "o", color=color, markerfacecolor="white", markersize=5, label=f"equity {seat}")
        axes.plot(ev, at, "o", color=color, markersize=5, label=f"EV {seat}")
    axes.set(xlabel="share of the pot")
    axes.xaxis.set_major_formatter(_percent)
    axes.grid(axis="x", alpha=0.25)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)


def _realised(axes: Any, rows: tuple[CardRow, ...], at: np.ndarray) -> None:
    for p, (seat, color) in enumerate(zip(SEAT_NAMES, SEAT_COLORS, strict=True)):
        earned = np.array([row.realisation[p] for row in rows])
        side = at + (0.21 if p else -0.21)
        axes.barh(side, earned - 1, left=1, height=0.4, color=color, label=seat)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xlabel="EV / (equity · pot)")
    axes.xaxis.set_major_formatter(_percent)
    axes.grid(axis="x", alpha=0.25)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)


def _name(row: CardRow) -> str:
    """The board with its suits' signs."""
    from buckets.cards import RANKS

    return " ".join(RANKS[card >> 2] + SUIT_SIGNS[card & 3] for card in row.cards) or "all"
