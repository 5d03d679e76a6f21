"""A picture of a comparison: what both ranges do, and by class of hands how EV and the strategy differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets import Deck, hand_index, parse_hand, preflop_classes
from buckets.cards import RANKS, cards_name
from spewy.game.names import SEAT_NAMES
from spewy.look.report_plot import _colors, _percent

if TYPE_CHECKING:
    from solvers.forest import Floats
    from spewy.look.compare import Comparison

SMALLEST_SCALE = 1e-3
"""Of the pot: what EVs differ by less is drawn as next to nothing."""


def plot_comparison(found: Comparison, path: Path) -> None:
    """Draw into a file whose suffix says the format (png, svg, pdf); grids are for two hole cards."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    gridded = bool(found.hands) and len(found.hands[0]) == 4
    figure = Figure(figsize=(13, 7.6) if gridded else (8, 3), layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subfigures(2, 1, height_ratios=(1, 3.2)) if gridded else [figure]
    _frequencies(panels[0].subplots(), found)
    if gridded:
        left, right = panels[1].subplots(1, 2)
        weight = found.reach.sum(axis=0)
        scale = SMALLEST_SCALE * found.pots[0]
        chips = _by_class(found, found.ev_difference, weight)
        _grid(figure, left, chips, scale, f"EV of {SEAT_NAMES[found.player]} in chips: B - A", "{:.1f}")
        action, change = _most_changed(found, weight)
        shares = _by_class(found, 100 * change, weight)
        _grid(figure, right, shares, 1.0, f"{action} in % of hands: B - A", "{:.0f}")
    boards = dict.fromkeys(cards_name(board) for board in found.boards if board)
    line = f"line {found.line}" if found.line else "the root"
    title = [" and ".join(boards), f"{line}: {SEAT_NAMES[found.player]} to act"]
    figure.suptitle(", ".join(part for part in title if part), fontsize=13)
    figure.savefig(path, dpi=110)


def _frequencies(axes: Any, found: Comparison) -> None:
    left = np.zeros(2)
    for a, (action, color) in enumerate(zip(found.actions, _colors(found.actions), strict=True)):
        share = np.nan_to_num(found.frequencies[:, a])
        axes.barh((0, 1), share, left=left, height=0.8, color=color, label=action)
        left += share
    names = [
        f"{side}: EV oop {totals.ev[0]:.2f}, ip {totals.ev[1]:.2f}"
        for side, totals in zip("AB", found.totals, strict=True)
    ]
    axes.set_yticks((0, 1), names)
    axes.set(xlim=(0, 1), ylim=(1.5, -0.5), xticks=np.linspace(0, 1, 5))
    axes.xaxis.set_major_formatter(_percent)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(6, len(found.actions)), frameon=False)


def _most_changed(found: Comparison, weight: Floats) -> tuple[str, Floats]:
    """The action whose frequencies differ most, and by how much, hand by hand."""
    change = found.strategy[1] - found.strategy[0]
    a = int(np.argmax(np.abs(change) @ weight))
    return found.actions[a], change[a]


def _by_class(found: Comparison, values: Floats, weight: Floats) -> Floats:
    """``[row, column]``: means over the hands of each class, nan where nobody holds any."""
    numbers = [int(hand_index(Deck(), parse_hand(hand))) for hand in found.hands]
    classes = preflop_classes()[0][numbers]
    known = weight * np.isfinite(values)
    total = np.bincount(classes, known * np.nan_to_num(values), minlength=169)
    mass = np.bincount(classes, known, minlength=169)
    out = np.full(169, np.nan)
    np.divide(total, mass, out=out, where=mass > 0)
    return out.reshape(13, 13)


def _grid(figure: Any, axes: Any, values: Floats, least: float, title: str, form: str) -> None:
    """A heat map in which white is no difference."""
    import matplotlib as mpl

    scale = max(float(np.nanmax(np.abs(values), initial=0.0)), least)
    colors = mpl.colormaps["PuOr"].with_extremes(bad="#eeeeee")
    image = axes.imshow(np.ma.masked_invalid(values), cmap=colors, vmin=-scale, vmax=scale)
    names = preflop_classes()[1]
    for number, name in enumerate(names):
        row, column = divmod(number, len(RANKS))
        value = values[row, column]
        strong = np.isfinite(value) and abs(value) > 0.6 * scale
        color = "white" if strong else "#222222" if np.isfinite(value) else "#bbbbbb"
        text = f"{name}\n{form.format(value)}" if np.isfinite(value) else name
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=color)
    axes.set(title=title, xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.8)
