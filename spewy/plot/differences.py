"""Pictures of two solves at one decision: frequencies of both ranges, and differences by hand class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spewy.game.lines import action_words
from spewy.game.names import SEAT_NAMES
from spewy.look.colours import action_colours, hex_colour
from spewy.look.grid import class_means, is_holdem
from spewy.plot.figures import SIZES, axes_for, font, new_figure, signs
from spewy.plot.hands import heat_chart
from spewy.plot.reports import UNSEEN, add_legend

if TYPE_CHECKING:
    from solvers.tree import Floats
    from spewy.game.gamefile import Game
    from spewy.look.compare import Comparison

SMALLEST_SCALE = 1e-3
"""Share of the pot at the end of the EV scale at the least, so that tiny differences look tiny."""
BARS = {False: 0.16, True: 0.36}
"""Height of the bars with their legend, relative to the figure's width, side by side and stacked."""
CHART = 1.0
"""Height of a chart with its title, relative to its width."""


def comparison_figure(game: Game, found: Comparison, line: str | None = None, size: str = "screen") -> Any:
    """Draw frequencies of both ranges; in hold'em also differences in EV and in the action that changes most.

    Args:
        game: the rules.
        found: the comparison.
        line: its line in words; None: as it is written.
        size: a name of `SIZES`.

    Returns:
        The figure.
    """
    look = SIZES[size]
    grids = _grids(found) if is_holdem(game) else []
    across = 1 if look.stacked else 2
    high = BARS[look.stacked] * look.width
    grid = CHART * look.width / across * (len(grids) // across)
    with font(look):
        figure = new_figure(look.width, high + grid, look)
        parts = figure.subfigures(2, 1, height_ratios=(high, grid)) if grids else [figure]
        comparison_frequencies(found, parts[0].subplots())
        axes = parts[1].subplots(len(grids) // across, across, squeeze=False).ravel() if grids else ()
        for ax, (title, values, least, tell) in zip(axes, grids, strict=True):
            difference_chart(values, ax, tell, least)
            ax.set_title(title, loc="left")
        boards = dict.fromkeys(signs(board) for board in found.boards if board)
        told = line or found.line or "at the root"
        where = [" and ".join(boards), f"{told}: {SEAT_NAMES[found.player]} to act"]
        figure.suptitle(", ".join(part for part in where if part))
    return figure


def comparison_frequencies(found: Comparison, ax: Any = None) -> Any:
    """Draw the frequencies of actions in both ranges, with EVs; unused actions are left out."""
    ax = axes_for(ax)
    left = np.zeros(2)
    for a, (action, colour) in enumerate(zip(found.actions, action_colours(found.actions), strict=True)):
        share = np.nan_to_num(found.frequencies[:, a])
        if not share.max() >= UNSEEN:
            continue
        ax.barh(
            (0, 1),
            100 * share,
            left=100 * left,
            height=0.85,
            color=hex_colour(colour),
            label=action_words(action),
        )
        left += share
    names = [
        f"{side}: EV oop {totals.ev[0]:.2f}, ip {totals.ev[1]:.2f}"
        for side, totals in zip("AB", found.totals, strict=True)
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
    """Draw differences by hand class; white means no difference.

    Args:
        values: ``[row, column]``; NaN is nothing.
        ax: axes to draw on.
        tell: the text of a number.
        least: the smallest difference that the strongest colours may stand for.

    Returns:
        The axes, with a colour bar beside them.
    """
    scale = max(float(np.nanmax(np.abs(values), initial=0.0)), least) or 1.0
    return heat_chart(values, ax, tell, (-scale, scale), "PuOr")


def _grids(found: Comparison) -> list[tuple[str, Floats, float, Callable[[float], str]]]:
    """Title, values ``[row, column]``, smallest scale and number format, for EV and the action that changes most."""
    weight = found.reach.sum(axis=0)
    change = found.strategy[1] - found.strategy[0]
    most = int(np.argmax(np.abs(change) @ weight))
    seat, pot = SEAT_NAMES[found.player], found.pots[0]
    ev = class_means(found.hands, weight, found.ev_difference)
    shares = class_means(found.hands, weight, 100 * change[most])
    tell = "{:z.0f}".format if np.nanmax(np.abs(ev), initial=0.0) >= 100 else "{:z.1f}".format
    return [
        (f"EV of {seat} in {found.unit}: B - A", ev, SMALLEST_SCALE * pot, tell),
        (f"{action_words(found.actions[most])} in % of hands: B - A", shares, 1.0, "{:z.0f}".format),
    ]
