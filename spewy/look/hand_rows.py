"""Rows of hands at a decision: which hands share a row, and how each row plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spewy.look.node import NodeView
from spewy.look.range_texts import hands_text
from spewy.system.tools import plain


@dataclass(frozen=True)
class HandRow:
    """A row of a decision: hands that share a strategy.

    Attributes:
        number: number of the row in the solve.
        hands: names of the hands.
        text: the hands as a range, such as ``99,AhKh``.
        reach: sum of the weights of the hands in the range.
        equity: mean equity of the hands in the range; NaN if it is not known.
        strategy: frequency of each action; empty if the player does not act.
    """

    number: int
    hands: tuple[str, ...]
    text: str
    reach: float
    equity: float
    strategy: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        found: dict[str, Any] = plain(vars(self))
        return found


def hand_rows(view: NodeView, row_of: Mapping[str, int]) -> tuple[HandRow, ...]:
    """Group the hands of a player at a decision by their rows, the row with the least equity first.

    Args:
        view: the player's hands at the decision.
        row_of: number of each hand's row, by the name of the hand.
    """
    numbers = np.array([row_of[hand] for hand in view.hands], dtype=np.int64)
    rows = [_row(view, int(number), numbers == number) for number in np.unique(numbers)]
    return tuple(sorted(rows, key=lambda row: (np.isnan(row.equity), row.equity, row.number)))


def _row(view: NodeView, number: int, members: Any) -> HandRow:
    hands = view.only(members)
    reach, known = float(hands.reach.sum()), ~np.isnan(hands.equity)
    weights = hands.reach if reach > 0 else np.ones(len(hands.hands))
    mass = float(weights[known].sum())
    equity = float(weights[known] @ hands.equity[known]) / mass if mass > 0 else float("nan")
    mix = (hands.strategy @ weights / weights.sum()).tolist()
    return HandRow(number, hands.hands, hands_text(view, hands.hands), reach, equity, tuple(mix))
