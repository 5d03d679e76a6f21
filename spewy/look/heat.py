"""What a heat map of a decision shows: a number of each hand, and how it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from solvers.tree import Floats
from spewy.errors import InputError, shown
from spewy.game.lines import action_words
from spewy.game.names import SEAT_NAMES
from spewy.look.node import NodeView

LARGE = 100
"""Chips from which on an EV is told without decimals: a cell holds five characters."""


@dataclass(frozen=True)
class Heat:
    """A number of each of a view's hands.

    Attributes:
        view: the hands.
        title: what the numbers are.
        values: ``[hand]``; NaN where it is not defined.
        tell: the text of a number.
    """

    view: NodeView
    title: str
    values: Floats
    tell: Callable[[float], str]


def heat_of(view: NodeView, what: str) -> Heat:
    """EV, equity or reach, or the EV of an action by its label.

    Raises:
        InputError: something else, or what is not known of this decision.
    """
    seat, wanted = SEAT_NAMES[view.player], _choice(view, what)
    if wanted == "equity":
        found = Heat(view, f"{seat}: equity, %", 100 * view.equity, "{:z.0f}".format)
    elif wanted == "reach":
        found = Heat(view, f"{seat}: reach, %", 100 * view.reach, "{:z.0f}".format)
    elif wanted == "EV":
        found = Heat(view, f"{seat}: EV, {view.unit}", view.ev, _chips(view.ev))
    else:
        values = view.action_ev[view.actions.index(wanted)]
        found = Heat(view, f"{seat}: EV of {action_words(wanted)}, {view.unit}", values, _chips(values))
    if np.isnan(found.values).all():
        raise InputError(f"--heat {wanted}: expected numbers, found none that are known at this decision")
    return found


def of_action(view: NodeView, what: str) -> bool:
    """Whether that is an action of the player's."""
    return _choice(view, what) in view.actions


def _choice(view: NodeView, what: str) -> str:
    names = ("EV", "equity", "reach", *view.actions)
    spelled = {name.lower(): name for name in names}
    found = spelled.get(what.strip().lower())
    if found is None:
        near = get_close_matches(what.strip().lower(), spelled, 1)
        hint = f" (nearest: {spelled[near[0]]})" if near else ""
        raise InputError(f"--heat: expected one of {', '.join(names)}; found {shown(what)}{hint}")
    return found


def _chips(values: Floats) -> Callable[[float], str]:
    known = values[~np.isnan(values)]
    return "{:z.0f}".format if len(known) and np.abs(known).max() >= LARGE else "{:z.1f}".format
