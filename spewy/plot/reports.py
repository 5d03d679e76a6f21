"""Pictures of a report: for each card or board, action frequencies, EV beside equity, and realised equity.

Cards are drawn as vertical bars, side by side; boards as horizontal bars, one below another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spewy.game.lines import sized_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import SEATS, UNUSED, action_colours, hex_colour
from spewy.plot.figures import SIZES, SUIT_COLOURS, SUIT_SIGNS, Size, axes_for, font, new_figure, sign, signs
from spewy.plot.hands import share_text

if TYPE_CHECKING:
    from spewy.look.report import Report

Orient = Literal["vertical", "horizontal"]

MOST_NAMED = {"vertical": 70, "horizontal": 100}
"""Largest number of cards or boards that are labelled, by the direction of the bars."""
UNSEEN = 0.005
"""Frequency below which an action is left out."""
LINES_A_ROW, LINES_BESIDE = 1.75, 11.0
"""Height of a horizontal bar, and height of title, legend and scale together, in lines of text."""
WIDER = 1.35
"""Width of the chart of EV and equity, which has the longest legend, relative to the other charts."""
TALLEST = 3.0
"""Largest height of a chart with horizontal bars, relative to the width of the figure."""
POINTS = 72
"""Points per inch."""


def report_figure(report: Report, line: str | None = None, size: str = "screen") -> Any:
    """Draw all charts of a report; without actions (after an all-in) there is no chart of frequencies.

    Args:
        line: line of the decision in words; None for the line as it is written.
    """
    charts = [report_shares, report_realisation]
    if len(report.actions) > 1:
        charts.insert(0, report_frequencies)
    chosen, place = SIZES[size], line or report.line
    with font(chosen):
        if report.by == "board":
            figure, axes = _horizontal_axes(chosen, len(charts), len(report.rows) + 1)
            title = f"{len(report.rows):,} boards, {place or 'at the root'}:"
        else:
            figure = new_figure(chosen.width, chosen.width * (0.09 + 0.21 * len(charts)), chosen)
            axes = list(figure.subplots(len(charts), 1, sharex=True, squeeze=False)[:, 0])
            title = f"{signs(report.board) or 'before the flop'}: {place}, then each card;"
        for chart, ax in zip(charts, axes, strict=True):
            chart(report, ax)
            if report.by == "card" and ax is not axes[-1]:
                ax.tick_params(axis="x", length=0)
        seat = "all-in" if report.player is None else f"{SEAT_NAMES[report.player]} to act"
        figure.suptitle(f"{title} {seat}, pot {report.pot:g}")
    return figure


def report_frequencies(report: Report, ax: Any = None, orient: Orient | None = None) -> Any:
    """Draw the action frequencies for each card or board, and on average.

    Args:
        orient: direction of the bars; None for vertical bars of cards and horizontal bars of boards.
    """
    chart = _Chart(report, ax, orient)
    start = np.zeros(len(chart.rows))
    for a, (action, colour) in enumerate(zip(report.actions, action_colours(report.actions), strict=True)):
        share = np.nan_to_num([row.frequencies[a] for row in chart.rows])
        if not share.max() >= UNSEEN:
            continue
        label = f"{sized_words(action)}  {share_text(share[chart.average])}"
        chart.bars(chart.at, 100 * share, 100 * start, 0.92, hex_colour(colour), label)
        start += share
    chart.scale("how often, %", (0, 100))
    return chart.finish(2 if chart.horizontal else len(report.actions))


def report_shares(report: Report, ax: Any = None, orient: Orient | None = None) -> Any:
    """Draw both players' EV as a share of the pot (dots) beside their equity (rings).

    Args:
        orient: direction of the bars; None for vertical bars of cards and horizontal bars of boards.
    """
    chart = _Chart(report, ax, orient)
    for p, seat in enumerate(SEAT_NAMES):
        colour, at = hex_colour(SEATS[p]), chart.at + (0.2 if p else -0.2)
        ev = 100 * np.array([row.ev[p] for row in chart.rows]) / report.pot
        equity = 100 * np.array([row.equity[p] for row in chart.rows])
        chart.links(at, equity, ev, colour)
        chart.dots(at, equity, colour, f"equity {seat}  {percent_text(equity[chart.average])}", hollow=True)
        chart.dots(at, ev, colour, f"EV {seat}  {percent_text(ev[chart.average])}")
    chart.scale("share of the pot, %")
    return chart.finish(2 if chart.horizontal else 4)


def report_realisation(report: Report, ax: Any = None, orient: Orient | None = None) -> Any:
    """Draw EV / (equity * pot) of both players in percent, as bars that start at 100 %.

    Args:
        orient: direction of the bars; None for vertical bars of cards and horizontal bars of boards.
    """
    chart = _Chart(report, ax, orient)
    for p, seat in enumerate(SEAT_NAMES):
        earned = 100 * np.array([row.realisation[p] for row in chart.rows])
        label = f"{seat}  {percent_text(earned[chart.average])}"
        at = chart.at + (0.23 if p else -0.23)
        chart.bars(at, earned - 100, 100, 0.44, hex_colour(SEATS[p]), label)
    chart.mark(100)
    low, high = chart.limits()  # after an all-in all values are 100 % but for rounding errors
    chart.scale("EV / (equity · pot), %", (min(low, 98), max(high, 102)))
    return chart.finish(1 if chart.horizontal else 2)


def add_legend(ax: Any, columns: int) -> None:
    """Add a legend of at most ``columns`` columns above a chart, if any part of the chart has a label."""
    labels = ax.get_legend_handles_labels()[1]
    if labels:
        ax.legend(
            ncols=min(columns, len(labels)),
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            frameon=False,
            borderaxespad=0.2,
            handlelength=1.1,
            handletextpad=0.5,
            columnspacing=1.2,
        )


def percent_text(percent: float) -> str:
    """Format a percentage with one decimal, or NaN as a dash."""
    return "-" if np.isnan(percent) else f"{percent:.1f}%"


class _Chart:
    """Draws a chart with a bar for each row of a report and for their average.

    The average is the last of vertical bars, and the first of horizontal bars. Vertical bars have a gap between ranks.
    """

    def __init__(self, report: Report, ax: Any, orient: Orient | None) -> None:
        self.report, self.ax = report, axes_for(ax)
        self.horizontal = (orient or ("horizontal" if report.by == "board" else "vertical")) == "horizontal"
        if self.horizontal:
            self.rows, self.average = (report.average, *report.rows), 0
            self.at = np.array([0.0, *(np.arange(len(report.rows)) + 1.6)])
            return
        self.rows, self.average = (*report.rows, report.average), -1
        places, x = [], 0.0
        for i, row in enumerate(report.rows):
            if i and len(row.cards) == 1:
                x += 0.7 * (row.cards[0] >> 2 != report.rows[i - 1].cards[0] >> 2)
            places.append(x)
            x += 1
        self.at = np.array([*places, x + 1.0])

    def bars(self, at: Any, length: Any, start: Any, width: float, colour: str, label: str) -> None:
        """Draw a bar for each row, at positions ``at``, from ``start`` and of the given length."""
        if self.horizontal:
            self.ax.barh(at, length, left=start, height=width, color=colour, label=label)
        else:
            self.ax.bar(at, length, bottom=start, width=width, color=colour, label=label)

    def links(self, at: Any, low: Any, high: Any, colour: str) -> None:
        """Draw a pale line between two values of each row."""
        draw = self.ax.hlines if self.horizontal else self.ax.vlines
        draw(at, low, high, color=colour, linewidth=0.5 * self._dot, alpha=0.35)

    def dots(self, at: Any, values: Any, colour: str, label: str, *, hollow: bool = False) -> None:
        """Draw a dot for each row, or a ring if ``hollow``."""
        pair = (values, at) if self.horizontal else (at, values)
        style = {"marker": "o", "linestyle": "none", "color": colour, "markersize": self._dot}
        self.ax.plot(*pair, **style, markerfacecolor="white" if hollow else colour, label=label)

    def mark(self, value: float) -> None:
        (self.ax.axvline if self.horizontal else self.ax.axhline)(value, color="black", linewidth=0.8)

    def limits(self) -> tuple[float, float]:
        """Smallest and largest value on the axis of values, which is horizontal if the bars are."""
        limits: tuple[float, float] = self.ax.get_xlim() if self.horizontal else self.ax.get_ylim()
        return limits

    def scale(self, label: str, limits: tuple[float, float] | None = None) -> None:
        """Set the label, the limits and the grid lines of the value axis."""
        name = "x" if self.horizontal else "y"
        self.ax.set(**{f"{name}label": label} | ({} if limits is None else {f"{name}lim": limits}))
        if limits == (0, 100):
            return
        if not self.horizontal:
            from matplotlib.ticker import MaxNLocator

            self.ax.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
        self.ax.grid(axis=name, alpha=0.25)
        self.ax.set_axisbelow(True)

    def finish(self, columns: int) -> Any:
        """Add a legend of at most ``columns`` columns and the names of the rows; return the axes."""
        add_legend(self.ax, columns)
        if self.horizontal:
            self._name_boards()
        else:
            self._name_cards()
        return self.ax

    @property
    def _dot(self) -> float:
        return 0.4 * float(self.ax.xaxis.label.get_size())

    def _name_boards(self) -> None:
        ax, report = self.ax, self.report
        ax.axhline(0.8, color=hex_colour(UNUSED), linewidth=2)
        ax.set_ylim(self.at[-1] + 0.7, -0.7)
        named = len(report.rows) <= MOST_NAMED["horizontal"]
        ax.set_yticks(
            self.at if named else self.at[:1], ["all", *(signs(row.cards) for row in report.rows if named)]
        )
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_axisbelow(True)

    def _name_cards(self) -> None:
        ax, rows, at = self.ax, self.report.rows, self.at
        ax.set_xlim(at[0] - 0.8, at[-1] + 0.8)
        if len(rows) > MOST_NAMED["vertical"]:
            ax.set_xticks([at[-1]], ["all"])
            return
        single = all(len(row.cards) == 1 for row in rows)
        names = [SUIT_SIGNS[row.cards[0] & 3] if single else signs(row.cards) for row in rows]
        ax.set_xticks(at, [*names, "all"])
        ax.tick_params(axis="x", length=0)
        if not single:
            return
        ranks: dict[str, list[float]] = {}
        for label, row, x in zip(ax.get_xticklabels(), rows, at, strict=False):
            label.set_color(SUIT_COLOURS[row.cards[0] & 3])
            ranks.setdefault(sign(row.cards[0])[0], []).append(float(x))
        ax.xaxis.remove_overlapping_locs = False  # else matplotlib removes a rank below a suit
        middles = [float(np.mean(places)) for places in ranks.values()]
        ax.set_xticks(middles, [f"\n{rank}" for rank in ranks], minor=True)
        ax.tick_params(axis="x", which="minor", length=0)


def _horizontal_axes(size: Size, n_charts: int, n_rows: int) -> tuple[Any, list[Any]]:
    down, across = (n_charts, 1) if size.stacked else (1, n_charts)
    widths = [1.0, WIDER, 1.0] if n_charts == 3 else [WIDER, 1.0]
    high = (LINES_BESIDE + LINES_A_ROW * n_rows) * size.font / POINTS
    figure = new_figure(size.width, down * min(high, TALLEST * size.width), size)
    ratios = None if size.stacked else widths
    axes = figure.subplots(down, across, sharey=True, squeeze=False, width_ratios=ratios)
    return figure, list(axes.ravel())
