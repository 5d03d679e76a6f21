"""Colours of actions and players, the same in all pictures and on terminals.

Folds are grey, checks and calls blue, bets and raises from yellow to dark red by their share of the pot, and all-ins
purple, so an action has one colour in the whole solve. Readers who cannot tell red from green can distinguish the
colours by hue and by lightness.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import TypeAlias

from spewy.game.nodes import Label

Colour: TypeAlias = tuple[int, int, int]
"""Red, green and blue, each from 0 to 255."""

FOLD: Colour = (150, 157, 166)
PASSIVE: Colour = (58, 129, 190)
BETS: tuple[Colour, ...] = ((251, 220, 124), (243, 146, 42), (214, 66, 36), (134, 18, 44))
"""Colours of the smallest bet, two between, and the largest."""
ALL_IN: Colour = (92, 24, 98)
BANDS = (0.29, 0.42, 0.58, 0.7, 0.88, 1.12, 1.38, 1.75)
"""Shares of the pot between sizes with different colours. Common sizes are far from them, since chips are rounded."""
SEATS: tuple[Colour, Colour] = (123, 63, 160), (24, 138, 110)
"""Colours of oop and ip: purple and green."""
_NAMED = {"fold": FOLD, "check": PASSIVE, "call": PASSIVE, "all-in": ALL_IN}
UNUSED: Colour = (236, 236, 236)
"""Colour of hands that are not in the range."""


def action_colours(labels: Sequence[str]) -> list[Colour]:
    """Choose a colour for each action by its label; larger bets are darker.

    A `Label` knows the share of the pot that a bet has. Bets of limit games, which have one size, get one colour.

    >>> action_colours(("fold", "call", "raise to 20", Label("bet 60", 0.2))) == [FOLD, PASSIVE, BETS[1], BETS[0]]
    True
    """
    return [_NAMED.get(label.partition(" ")[0]) or _of_size(label) for label in labels]


def _of_size(label: str) -> Colour:
    share = label.share if isinstance(label, Label) else None
    return BETS[1] if share is None else between(BETS, bisect(BANDS, share) / len(BANDS))


def between(stops: Sequence[Colour], share: float) -> Colour:
    """Interpolate between the colours ``stops``: ``share`` 0 is the first of them and 1 the last.

    >>> between(((0, 0, 0), (100, 200, 50)), 0.5)
    (50, 100, 25)
    """
    at = share * (len(stops) - 1)
    low = min(int(at), len(stops) - 2)
    red, green, blue = (round(a + (at - low) * (b - a)) for a, b in zip(*stops[low : low + 2], strict=True))
    return red, green, blue


def lightness(colour: Colour) -> float:
    """Perceived lightness of a colour, from 0 to 1; above 0.5, dark text on it reads better than white text."""
    red, green, blue = colour
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def hex_colour(colour: Colour) -> str:
    """Write a colour in hexadecimal, as matplotlib and HTML read it.

    >>> hex_colour((246, 190, 84))
    '#f6be54'
    """
    return "#{:02x}{:02x}{:02x}".format(*colour)
