"""Curves that compare both ranges: each player's hands in ascending order of equity, EV or equity realisation.

The x axis of a curve is the share of the range; each hand takes a width in proportion to its weight. So if a quarter of
a range is strong, its curve of equity is high in the last quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.tree import Floats
from spewy.look.node import NodeView

MEASURES = ("equity", "EV", "realisation")
"""Names of the quantities for which `curves` makes curves."""


@dataclass(frozen=True)
class Curve:
    """One player's hands in ascending order of a quantity.

    Hands without weight in the range, or without a value, are left out.

    Attributes:
        player: player to whom the hands belong.
        hands: ``[hand]``, names of the hands.
        share: ``[hand]``, share of the range up to and including the hand; the last is 1.
        value: ``[hand]``, the quantity.
    """

    player: int
    hands: tuple[str, ...]
    share: Floats
    value: Floats

    @classmethod
    def of(cls, view: NodeView, value: Floats) -> Curve:
        """Sort a player's hands by a quantity.

        Args:
            view: the player's hands at a decision.
            value: ``[hand]``, the quantity; NaN if it is unknown.
        """
        known = np.flatnonzero((view.reach > 0) & ~np.isnan(value))
        order = known[np.argsort(value[known], kind="stable")]
        total = np.cumsum(view.reach[order])
        share = total / total[-1] if len(order) else total
        return cls(view.player, tuple(view.hands[h] for h in order), share, value[order])

    def to_json(self) -> dict[str, object]:
        """Return the curve as a JSON object."""
        return {
            "player": self.player,
            "hands": list(self.hands),
            "share": self.share.tolist(),
            "value": self.value.tolist(),
        }


def curves(views: Sequence[NodeView], pot: float) -> dict[str, tuple[Curve, ...]]:
    """Return both players' curves at a decision, by the names ``equity``, ``EV`` and ``realisation``.

    Args:
        views: for each player, the player's hands at the decision.
        pot: size of the pot, in the unit of the EVs.
    """
    by_measure = {
        "equity": [view.equity for view in views],
        "EV": [view.ev for view in views],
        "realisation": [realisation(view, pot) for view in views],
    }
    return {
        name: tuple(Curve.of(view, value) for view, value in zip(views, values, strict=True))
        for name, values in by_measure.items()
    }


def realisation(view: NodeView, pot: float) -> Floats:
    """Compute the equity realisation of each hand, ``EV / (equity · pot)``; NaN for hands without equity.

    Args:
        view: a player's hands at a decision.
        pot: size of the pot, in the unit of the EVs.

    Returns:
        An array ``[hand]``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(view.equity > 0, view.ev / (view.equity * pot), np.nan)
