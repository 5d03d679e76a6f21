"""Make and save figures, with sizes and fonts; matplotlib is loaded with the first figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from buckets.cards import RANKS
from spewy.look import colours

if TYPE_CHECKING:
    from collections.abc import Sequence

SUIT_SIGNS, SUIT_COLOURS = "♣♦♥♠", ("#1a7a34", "#1f5fbf", "#c22525", "#222222")


@dataclass(frozen=True)
class Size:
    """Width, resolution and text size of figures for one medium.

    Attributes:
        width: width of a whole figure in inches.
        dpi: dots per inch.
        font: size of text in points.
        stacked: whether charts are placed below one another, for a narrow screen.
    """

    width: float
    dpi: int
    font: float
    stacked: bool = False


SIZES = {
    "page": Size(7.2, 220, 7.5),
    "screen": Size(14.0, 110, 11.0),
    "phone": Size(6.0, 180, 10.5, stacked=True),
}
"""Sizes of figures by name: for a printed page, a computer's screen, and a phone held upright."""


SERIES = ("#1f6f8b", "#d1803f", "#7b3fa0", "#8e161c", "#188a6e", "#b3a02a")
"""Colours of curves and bars that show neither actions nor players; `style` makes them matplotlib's C0 to C5."""

SEAT_COLOURS = colours.hex_colour(colours.SEATS[0]), colours.hex_colour(colours.SEATS[1])
"""Colours of oop and ip, as in all pictures."""


def action_colours(labels: Sequence[str]) -> list[str]:
    """Return the colour of each action, as in all pictures: folds grey, checks and calls blue, bets amber to red.

    >>> action_colours(("fold", "call", "raise to 250"))
    ['#969da6', '#3a81be', '#f3922a']
    """
    return [colours.hex_colour(colour) for colour in colours.action_colours(labels)]


def style() -> None:
    """Set matplotlib's defaults for notebooks: sharp figures, small text, bold titles, two spines, our colours."""
    import matplotlib as mpl
    from cycler import cycler

    mpl.rcParams.update(
        {
            "figure.dpi": 110,
            "font.size": 9,
            "axes.titlesize": 10,
            "axes.titleweight": "bold",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=SERIES),
        }
    )


def new_figure(width: float, height: float, size: Size | None = None) -> Any:
    """Make an empty figure of a width and a height in inches.

    ``size`` sets the resolution; None: matplotlib's default, which `style` sets for notebooks.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=None if size is None else size.dpi, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def font(size: Size) -> Any:
    """Return a context manager that sets matplotlib's font size to the font size of an entry of `SIZES`."""
    import matplotlib as mpl

    return mpl.rc_context({"font.size": size.font, "axes.linewidth": 0.6, "axes.titlesize": "medium"})


def axes_for(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def save(figure: Any, path: str | Path | BinaryIO, format: str | None = None) -> None:
    """Write a figure to a file.

    Args:
        path: path of the file, or an open file.
        format: ``"png"``, ``"svg"`` or ``"pdf"``; None: the suffix of the path.
    """
    figure.savefig(path, dpi=figure.dpi, format=format)


def sign(card: int) -> str:
    """Write a card with its suit's symbol.

    >>> sign(51)
    'A♠'
    """
    return RANKS[card >> 2] + SUIT_SIGNS[card & 3]


def signs(cards: Sequence[int]) -> str:
    """Write cards with their suits' symbols."""
    return " ".join(map(sign, cards))
