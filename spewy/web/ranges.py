"""Ranges as a page edits them: the text of a range, and the weight of each hand by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from buckets.cards import Deck, hand_index, hand_name, hands, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.ranges import Range, format_range, parse_range
from spewy.game.ranges.range import NUM_HANDS
from spewy.web.answers import Parameters, optional, text


def range_answer(parameters: Parameters) -> dict[str, Any]:
    """Return the result of `range_json`; for invalid input, which is usual while a user types, ``{"error": text}``."""
    try:
        return range_json(parameters)
    except InputError as error:
        return {"error": str(error)}


def range_json(parameters: Parameters) -> dict[str, Any]:
    """Convert a range between its text and weights of hands.

    Args:
        parameters: the ``text`` of the range, or weights of ``hands`` by name (hands that are missing have weight 0);
            and the ``board``, if there is one.

    Returns:
        ``text``, and ``hands`` with their weights above 0; ``combos``, the sum of the weights, ``share``, its share of
        all hands, and ``live``, the sum of the weights of hands that the board does not block.

    Raises:
        InputError: the text is not a range, or a hand or a weight does not exist.
    """
    given, board = parameters.get("hands"), _board(optional(parameters, "board"))
    held = parse_range(text(parameters, "text")) if given is None else _weighted(given)
    live = held.without(board)
    names = {hand_name(hands(Deck(), 2)[n]): float(held.weights[n]) for n in np.flatnonzero(held.weights)}
    written = format_range(held) if names else ""
    return {
        "text": text(parameters, "text") if given is None else written,
        "hands": names,
        "combos": held.combos,
        "share": held.combos / NUM_HANDS,
        "live": live.combos,
    }


def _weighted(given: object) -> Range:
    """Make a range from weights by the names of hands."""
    if not isinstance(given, Mapping):
        raise InputError(f"hands: expected weights by the names of hands, found {shown(given)}")
    weights = np.zeros(NUM_HANDS)
    for name, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise InputError(f"weight of {shown(name)}: expected a number from 0 to 1, found {shown(weight)}")
        weights[_hand(name)] = weight
    return Range(weights)


def _hand(name: str) -> int:
    try:
        cards = parse_cards(name)
    except CardError as error:
        raise InputError(f"hand {shown(name)}: {error}") from None
    if len(cards) != 2:
        raise InputError(f"hand {shown(name)}: expected two cards, found {len(cards)}")
    return int(hand_index(Deck(), cards))


def _board(board: str | None) -> tuple[int, ...]:
    """Return the cards of a board; no cards if the text is invalid, which another request of the page reports."""
    try:
        return parse_cards(board or "")
    except CardError:
        return ()
