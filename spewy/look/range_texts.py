"""Write ranges at a decision as text that Spewy and other programs read: the whole range, and a range for each action.

The range of an action has each hand with its weight times the frequency with which it takes the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, blocked, hand_index, hands, parse_hand, preflop_classes
from solvers.tree import Floats
from spewy.game.lines import action_words
from spewy.game.ranges import Range, format_range
from spewy.game.ranges.range import NUM_HANDS
from spewy.look.grid import require_holdem
from spewy.look.node import NodeView

DIGITS = 3
"""Number of decimals of weights in a text; other programs read no more."""


@dataclass(frozen=True)
class RangeText:
    """A player's range at a decision as text: the whole range, or the part that takes one action.

    Attributes:
        player: player to whom the range belongs.
        action: label of the action; empty for the whole range.
        words: the action in words; ``"whole range"`` for the whole range.
        text: groups of hands with weights, such as ``AKs:0.5,QQ``; empty if no hand has weight.
        combos: sum of the weights.
    """

    player: int
    action: str
    words: str
    text: str
    combos: float

    def to_json(self) -> dict[str, Any]:
        """Return the range as a JSON object."""
        return asdict(self)


def range_texts(view: NodeView) -> tuple[RangeText, ...]:
    """Write a player's whole range at a decision, and the range with which the player takes each action.

    The weight of a hand for an action is its reach times the frequency of the action. Weights are rounded to `DIGITS`.
    A hand that the board blocks gets the weight of its hand class if all other hands of the class have the same weight,
    so that the text names the class.

    Raises:
        InputError: the game is not hold'em.
    """
    require_holdem(view.game)
    numbers = np.array([hand_index(Deck(), parse_hand(name)) for name in view.hands], dtype=np.int64)
    parts = [("", "whole range", view.reach)]
    parts += [
        (action, action_words(action), view.reach * share)
        for action, share in zip(view.actions, view.strategy, strict=True)
    ]
    dead = blocked(hands(Deck(), 2), view.board)
    return tuple(
        RangeText(view.player, action, words, _written(numbers, weights, dead), float(weights.sum()))
        for action, words, weights in parts
    )


def hands_text(view: NodeView, names: Sequence[str]) -> str:
    """Write some of a player's hands as the text of a range, or as a list of names if the game is not hold'em.

    Args:
        view: the player's hands at a decision.
        names: names of the hands to write.
    """
    if not view.holdem:
        return ", ".join(names)
    numbers = np.array([hand_index(Deck(), parse_hand(name)) for name in names], dtype=np.int64)
    return _written(numbers, np.ones(len(numbers)), blocked(hands(Deck(), 2), view.board))


def _written(numbers: NDArray[np.int64], weights: Floats, dead: NDArray[np.bool_]) -> str:
    """Write a range as text.

    Args:
        numbers: ``[hand]``, numbers of the hands in the deck.
        weights: ``[hand]``, weights of the hands.
        dead: ``[hand of the deck]``, whether the board blocks the hand.
    """
    written = np.zeros(NUM_HANDS)
    written[numbers] = np.clip(np.round(weights, DIGITS), 0.0, 1.0)
    classes = preflop_classes()[0]
    for number in np.unique(classes[dead]):
        live = written[(classes == number) & ~dead]
        if len(live) and (live == live[0]).all():
            written[classes == number] = live[0]
    return format_range(Range(written)) if written.any() else ""
