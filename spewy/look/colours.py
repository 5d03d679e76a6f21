"""Colours of actions and players, the same in all pictures and on terminals.

Folds are grey, checks and calls blue, bets and raises from amber to dark red. Readers who cannot tell red from green
can distinguish the colours by hue and by lightness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Colour: TypeAlias = tuple[int, int, int]
"""Red, green and blue, each from 0 to 255."""

FOLD: Colour = (150, 157, 166)
PASSIVE: Colour = (58, 129, 190)
BETS: tuple[Colour, ...] = ((246, 190, 84), (226, 112, 36), (142, 22, 28))
"""Colours of the smallest bet, a middle one and the largest."""
SEATS: tuple[Colour, Colour] = (123, 63, 160), (24, 138, 110)
"""Colours of oop and ip: purple and green."""
_QUIET = {"Fold": FOLD, "Check": PASSIVE, "Call": PASSIVE}
UNUSED: Colour = (236, 236, 236)
"""Colour of hands that are not in the range."""


def action_colours(labels: Sequence[str]) -> list[Colour]:
    """Choose a colour for each action by its label; larger bets are darker.

    >>> action_colours(("Fold", "Call", "Raise(250)")) == [FOLD, PASSIVE, BETS[1]]
    True
    """
    bets = [label for label in labels if label not in _QUIET]
    steps = [0.5] if len(bets) == 1 else [k / (len(bets) - 1) for k in range(len(bets))]
    colours = {label: between(BETS, step) for label, step in zip(bets, steps, strict=True)}
    return [_QUIET.get(label) or colours[label] for label in labels]


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
