"""A picture of a report: action frequencies card by card, EV against equity, and how much equity is realised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import RANKS
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.look.report import Report

SUIT_SIGNS, SUIT_COLORS = "♣♦♥♠", ("#1a7a34", "#1f5fbf", "#c22525", "#222222")
PASSIVE = {"Fold": "#7f9db9", "Check": "#77b36b", "Call": "#4e9a58"}
SEAT_COLORS = ("#c7762b", "#2f6fae")
MOST_LABELS = 70
"""Cards that can be named below one another's bars."""


def plot_report(report: Report, path: Path) -> None:
    """Draw into a file whose suffix says the format (png, svg, pdf)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(17, 10), layout="constrained")
    FigureCanvasAgg(figure)
    bars, shares, realised = figure.subplots(3, 1, sharex=True, height_ratios=(1.25, 1.25, 0.8))
    at = _places(report)
    _frequencies(bars, report, at)
    _shares(shares, report, at)
    _realised(realised, report, at)
    _name_cards(realised, report, at)
    seat = "all-in" if report.player is None else f"{SEAT_NAMES[report.player]} to act"
    board = " ".join(_sign(card) for card in report.board) or "the deal"
    figure.suptitle(f"{board}, line {report.line}: {seat}, pot {report.pot:g}, by next card", fontsize=15)
    figure.savefig(path, dpi=110)


def _places(report: Report) -> np.ndarray:
    """Where each card's bar stands, the average's last; a gap between ranks."""
    places, x = [], 0.0
    for i, row in enumerate(report.rows):
        if i and len(row.cards) == 1:
            x += 0.6 * (row.cards[0] >> 2 != report.rows[i - 1].cards[0] >> 2)
        places.append(x)
        x += 1
    return np.array([*places, x + 1.0])


def _frequencies(axes: Any, report: Report, at: np.ndarray) -> None:
    rows = (*report.rows, report.average)
    if not report.actions:
        axes.bar(at, [row.weight for row in rows[:-1]] + [np.nan], width=0.92, color="#999999")
        axes.set(ylabel="how likely the card is")
        return
    bottom = np.zeros(len(rows))
    for a, (action, color) in enumerate(zip(report.actions, _colors(report.actions), strict=True)):
        share = np.nan_to_num([row.frequencies[a] for row in rows])
        average = report.average.frequencies[a]
        axes.bar(at, share, bottom=bottom, width=0.92, color=color, label=f"{action}  {average:.1%}")
        bottom += share
    axes.set(ylabel="action frequency", ylim=(0, 1))
    axes.yaxis.set_major_formatter(_percent)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(report.actions), frameon=False)


def _shares(axes: Any, report: Report, at: np.ndarray) -> None:
    """EV as a share of the pot beside equity, of who acts: dots above rings earn more than their equity."""
    p = report.player or 0
    seat, color = SEAT_NAMES[p], SEAT_COLORS[p]
    rows = (*report.rows, report.average)
    ev = np.array([row.ev[p] for row in rows]) / report.pot
    equity = np.array([row.equity[p] for row in rows])
    axes.vlines(at, equity, ev, color=color, linewidth=4, alpha=0.3)
    axes.plot(*_by_rank(at, equity), color=color, linewidth=1, linestyle=":")
    axes.plot(*_by_rank(at, ev), color=color, linewidth=1.4)
    axes.plot(at, equity, "o", color=color, markerfacecolor="white", label=f"equity {seat}  {equity[-1]:.1%}")
    axes.plot(at, ev, "o", color=color, label=f"EV {seat}  {ev[-1]:.1%} of the pot")
    axes.axhline(ev[-1], color=color, linewidth=0.8, alpha=0.5)
    axes.set(ylabel=f"share of the pot, {seat}")
    axes.yaxis.set_major_formatter(_percent)
    axes.grid(axis="y", alpha=0.25)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)


def _by_rank(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of a line that is broken where the bars leave a gap."""
    gaps = np.flatnonzero(np.diff(at) > 1) + 1
    return np.insert(at, gaps, np.nan), np.insert(values, gaps, np.nan)


def _realised(axes: Any, report: Report, at: np.ndarray) -> None:
    rows = (*report.rows, report.average)
    for p, seat in enumerate(SEAT_NAMES):
        earned = np.array([row.realisation[p] for row in rows])
        side = at + (0.24 if p else -0.24)
        axes.bar(side, earned - 1, bottom=1, width=0.44, color=SEAT_COLORS[p], label=seat)
    axes.axhline(1, color="black", linewidth=0.8)
    low, high = axes.get_ylim()  # an all-in realises its equity exactly: nothing but rounding to show
    axes.set_ylim(min(low, 0.99), max(high, 1.01))
    axes.set(ylabel="EV / (equity · pot)")
    axes.yaxis.set_major_formatter(_percent)
    axes.grid(axis="y", alpha=0.25)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)


def _name_cards(axes: Any, report: Report, at: np.ndarray) -> None:
    """Names below the last axes, in the suits' colours."""
    if len(report.rows) > MOST_LABELS:
        axes.set_xticks([at[-1]], ["all"])
        return
    axes.set_xticks(at, ["".join(_sign(card) for card in row.cards) for row in report.rows] + ["all"])
    axes.tick_params(axis="x", length=0, labelsize=10)
    for label, row in zip(axes.get_xticklabels(), report.rows, strict=False):
        if len(row.cards) == 1:
            label.set_color(SUIT_COLORS[row.cards[0] & 3])
    axes.set_xlim(at[0] - 0.8, at[-1] + 0.8)


def _colors(actions: tuple[str, ...]) -> list[Any]:
    """Folds blue, checks and calls green, bets from light to dark red."""
    import matplotlib as mpl

    n_bets = sum(action not in PASSIVE for action in actions)
    reds = iter(
        mpl.colormaps["OrRd"](np.linspace(0.45, 0.95, n_bets)) if n_bets > 1 else ["#d7533c"] * n_bets
    )
    return [PASSIVE[action] if action in PASSIVE else next(reds) for action in actions]


def _sign(card: int) -> str:
    """A card with its suit's sign.

    >>> _sign(51)
    'A♠'
    """
    return RANKS[card >> 2] + SUIT_SIGNS[card & 3]


def _percent(value: float, _: int) -> str:
    return f"{value:.0%}"
