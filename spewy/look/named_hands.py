"""Find the hands that a filter names by their cards: ``AhKh``, ``AK``, ``AKs``, ``Axs``, ``QQ+``, ``Ah``, ``hh``."""

from __future__ import annotations

import re

import numpy as np

from buckets.cards import RANKS, SUITS, Deck, hands, parse_card
from spewy.game.ranges.hand_kinds import Bools
from spewy.game.ranges.range import NUM_HANDS
from spewy.game.ranges.text import group_hands

__all__ = ["EXAMPLES", "named_hands"]

EXAMPLES = "AhKh, AK, AKs, Axs, QQ+, Ah, hh"
"""Texts that name hands by their cards, for messages."""
_ANY_RANK = re.compile(f"(?:([{RANKS}])x|x([{RANKS}]))([so]?)", re.IGNORECASE)
_CARD = re.compile(f"[{RANKS}][{SUITS}]", re.IGNORECASE)
_SUITS = re.compile(f"[{SUITS}]{{1,2}}", re.IGNORECASE)


def named_hands(text: str) -> Bools | None:
    """Find the hold'em hands that a text names by their cards.

    ``x`` in ``Axs`` is every rank but the ace. ``Ah`` names the hands with this card, ``hh`` the hands with two hearts,
    ``hd`` those with a heart and a diamond, and ``h`` those with a heart. Other texts, such as ``QQ+``, are read as in
    the text of a range.

    Returns:
        An array ``[hand of the deck]``, True for the named hands; None if the text names no hands.

    >>> [int(named_hands(text).sum()) for text in ("AhKh", "AK", "Axs", "QQ+", "Ah", "hh", "hd")]
    [1, 16, 48, 18, 51, 78, 169]
    """
    every = hands(Deck(), 2)
    ranks, suits = every >> 2, every & 3
    if match := _ANY_RANK.fullmatch(text):
        having = (ranks == RANKS.index((match[1] or match[2]).upper())).sum(axis=1) == 1
        suited = suits[:, 0] == suits[:, 1]
        return np.asarray(having & (suited if match[3].lower() == "s" else ~suited if match[3] else True))
    if _CARD.fullmatch(text):
        return np.asarray((every == parse_card(text)).any(axis=1))
    if _SUITS.fullmatch(text):
        wanted = sorted(SUITS.index(suit) for suit in text.lower())
        if len(wanted) == 1:
            return np.asarray((suits == wanted[0]).any(axis=1))
        return np.asarray((np.sort(suits, axis=1) == wanted).all(axis=1))
    selected = np.zeros(NUM_HANDS, dtype=np.bool_)
    try:
        selected[[hand for hand, _ in group_hands(text)]] = True
    except ValueError:
        return None
    return selected
