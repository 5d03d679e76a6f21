"""Pictures of a comparison of two solves at one decision: action frequencies, and differences by hand class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import sized_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import action_colours, hex_colour
from spewy.plot.figures import SIZES, axes_for, font, new_figure, signs
from spewy.plot.hands import heat_chart
from spewy.plot.reports import UNSEEN, add_legend

if TYPE_CHECKING:
    from solvers.tree import Floats
    from spewy.game.gamefile import Game
    from spewy.look.compare import Comparison

SMALLEST_SCALE = 1e-3
"""Smallest end of the EV scale as a share of the pot, so that tiny differences have pale colours."""
BARS = {False: 0.16, True: 0.36}
"""Height of the bars with their legend, relative to the figure's width, by whether charts are stacked."""
CHART = 1.0
"""Height of a chart with its title, relative to its width."""


def comparison_figure(
    game: Game, comparison: Comparison, line: str | None = None, size: str = "screen"
) -> Any:
    """Draw the action frequencies in both solves; in hold'em also the differences of each hand class.

    The differences are those of EV, and of the frequency of the action that changes most.

    Args:
        line: line of the decision in words; None for the line as it is written.
    """
    look = SIZES[size]
    grids = _grids(comparison) if game.is_holdem else []
    across = 1 if look.stacked else 2
    high = BARS[look.stacked] * look.width
    grid = CHART * look.width / across * (len(grids) // across)
    with font(look):
        figure = new_figure(look.width, high + grid, look)
        parts = figure.subfigures(2, 1, height_ratios=(high, grid)) if grids else [figure]
        comparison_frequencies(comparison, parts[0].subplots())
        axes = parts[1].subplots(len(grids) // across, across, squeeze=False).ravel() if grids else ()
        for ax, (title, values, least, tell) in zip(axes, grids, strict=True):
            difference_chart(values, ax, tell, least)
            ax.set_title(title, loc="left")
        boards = dict.fromkeys(signs(board) for board in comparison.boards if board)
        words = line or comparison.line or "at the root"
        heading = [" and ".join(boards), f"{words}: {SEAT_NAMES[comparison.player]} to act"]
        figure.suptitle(", ".join(text for text in heading if text))
    return figure


def comparison_frequencies(comparison: Comparison, ax: Any = None) -> Any:
    """Draw a bar of action frequencies for each solve, labelled with EVs; unused actions are left out."""
    ax = axes_for(ax)
    start = np.zeros(2)
    for a, (action, colour) in enumerate(
        zip(comparison.actions, action_colours(comparison.actions), strict=True)
    ):
        share = np.nan_to_num(comparison.frequencies[:, a])
        if not share.max() >= UNSEEN:
            continue
        ax.barh(
            (0, 1),
            100 * share,
            left=100 * start,
            height=0.85,
            color=hex_colour(colour),
            label=sized_words(action),
        )
        start += share
    names = [
        f"{side}: EV oop {totals.ev[0]:.2f}, ip {totals.ev[1]:.2f}"
        for side, totals in zip("AB", comparison.totals, strict=True)
    ]
    ax.set_yticks((0, 1), names)
    ax.set(xlabel="how often, %", xlim=(0, 100), ylim=(1.5, -0.5))
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    add_legend(ax, 4)
    return ax


def difference_chart(
    values: Floats, ax: Any = None, tell: Callable[[float], str] = "{:z.1f}".format, least: float = 0.0
) -> Any:
    """Draw the difference of each hand class in its cell; white means no difference.

    Args:
        values: ``[row, column]``, differences; cells with NaN stay empty.
        tell: function that formats a difference as text.
        least: the strongest colour stands for the largest absolute difference, or for this number if it is larger.

    Returns:
        The axes, with a colour bar beside them.
    """
    scale = max(float(np.nanmax(np.abs(values), initial=0.0)), least) or 1.0
    return heat_chart(values, ax, tell, (-scale, scale), "PuOr")


def _grids(comparison: Comparison) -> list[tuple[str, Floats, float, Callable[[float], str]]]:
    """Return two charts: differences in EV, and in the frequency of the action that changes most.

    Returns:
        For each chart, its title, its values ``[row, column]``, and the arguments ``least`` and ``tell`` of
        `difference_chart`.
    """
    weight = comparison.reach.sum(axis=0)
    change = comparison.strategy[1] - comparison.strategy[0]
    most = int(np.argmax(np.abs(change) @ weight))
    seat, pot = SEAT_NAMES[comparison.player], comparison.pots[0]
    ev = comparison.by_class(comparison.ev_difference)
    shares = comparison.by_class(100 * change[most])
    tell = "{:z.0f}".format if np.nanmax(np.abs(ev), initial=0.0) >= 100 else "{:z.1f}".format
    return [
        (f"EV of {seat} in {comparison.unit}: B - A", ev, SMALLEST_SCALE * pot, tell),
        (f"{comparison.actions[most]} in % of hands: B - A", shares, 1.0, "{:z.0f}".format),
    ]
