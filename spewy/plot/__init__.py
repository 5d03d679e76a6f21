"""Charts on axes and whole figures, for commands and notebooks.

Each chart draws on matplotlib's axes ``ax``, or on a new figure if ``ax`` is None, and returns the axes. A function
whose name ends in ``_figure`` returns a whole figure; its ``size`` is a key of `SIZES`.

>>> from spewy import Solution, plot
>>> with Solution.open("results/T1") as solution:  # doctest: +SKIP
...     ax = plot.hand_chart(solution.node().grid())
"""

from spewy.plot.buckets import bucket_chart, buckets_figure, outcome_curves
from spewy.plot.chunks import payoffs_figure, ranges_figure, strategies_figure
from spewy.plot.differences import comparison_figure, comparison_frequencies, difference_chart
from spewy.plot.figures import SEAT_COLOURS, SIZES, action_colours, save, signs, style
from spewy.plot.hands import decision_figure, hand_chart, heat_chart, heat_figure, node_figure
from spewy.plot.reports import report_figure, report_frequencies, report_realisation, report_shares

__all__ = [
    "SEAT_COLOURS",
    "SIZES",
    "action_colours",
    "bucket_chart",
    "buckets_figure",
    "comparison_figure",
    "comparison_frequencies",
    "decision_figure",
    "difference_chart",
    "hand_chart",
    "heat_chart",
    "heat_figure",
    "node_figure",
    "outcome_curves",
    "payoffs_figure",
    "ranges_figure",
    "report_figure",
    "report_frequencies",
    "report_realisation",
    "report_shares",
    "save",
    "signs",
    "strategies_figure",
    "style",
]
