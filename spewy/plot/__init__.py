"""Charts on axes and whole figures, for commands and notebooks.

Each chart takes ``ax``, matplotlib's axes to draw on, and gives them back; without, it makes a figure of its own.

>>> from spewy import Solution, plot
>>> with Solution.open("results/T1") as solution:  # doctest: +SKIP
...     ax = plot.hand_chart(plot.Grid.of(solution.job.rules, solution.node()))
"""

from spewy.look.grid import Grid, class_means
from spewy.plot.boards import board_frequencies, board_realisation, board_shares, boards_figure
from spewy.plot.buckets import bucket_chart, buckets_figure, outcome_curves
from spewy.plot.cards import card_frequencies, card_realisation, card_shares, report_figure
from spewy.plot.differences import comparison_figure, comparison_frequencies, difference_chart
from spewy.plot.figures import SIZES, save, signs
from spewy.plot.hands import decision_figure, hand_chart, heat_chart, heat_figure

__all__ = [
    "SIZES",
    "Grid",
    "board_frequencies",
    "board_realisation",
    "board_shares",
    "boards_figure",
    "bucket_chart",
    "buckets_figure",
    "card_frequencies",
    "card_realisation",
    "card_shares",
    "class_means",
    "comparison_figure",
    "comparison_frequencies",
    "decision_figure",
    "difference_chart",
    "hand_chart",
    "heat_chart",
    "heat_figure",
    "outcome_curves",
    "report_figure",
    "save",
    "signs",
]
