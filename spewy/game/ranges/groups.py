"""Groups of hands in the text of a range, such as ``QQ+``, ``A5s-A2s``, ``KhQh`` or ``12.5%``. Case does not matter.

A table in `spewy.game.ranges.text` explains each form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from buckets.cards import RANKS, SUITS, Deck, hand_index, parse_cards
from spewy.game.ranges.classes import NUM_HANDS, HandClass, class_hands
from spewy.game.ranges.order import top_hands

__all__ = ["GROUP", "group_hands", "not_a_group"]

_CARD = f"[{RANKS}][{SUITS}]"
_CLASS = f"([{RANKS}])([{RANKS}])([so]?)"
_COMBO = re.compile(f"({_CARD})({_CARD})", re.IGNORECASE)
_SINGLE = re.compile(rf"{_CLASS}(\+?)", re.IGNORECASE)
_DASH = re.compile(rf"{_CLASS}\s*-\s*{_CLASS}", re.IGNORECASE)
_TOP = re.compile(r"(?:top\s*)?([0-9]{1,3}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})\s*%", re.IGNORECASE)
_RANDOM = re.compile(r"random|any\s*two", re.IGNORECASE)
GROUP = re.compile(
    f"(?:{'|'.join(form.pattern for form in (_TOP, _RANDOM, _COMBO, _DASH, _SINGLE))})(?=\\s*:|[\\s,;\\[]|$)",
    re.IGNORECASE,
)
"""Matches a group at a position of a text, up to its weight, a separator or a bracket."""
_TEN = re.compile(r"(?:^|[2-9AKQJTcdhs])10(?![0-9.%])|^10(?:10|[2-9][so+-]?$)", re.IGNORECASE)


def group_hands(text: str) -> Iterator[tuple[int, float]]:
    """Yield the number of each hand in a group, and the share of the hand that belongs to the group.

    The share is 1, except in a group such as ``12.5%``: the hands of its last class may belong to it in part.

    Raises:
        ValueError: the text is not a group; the message says what was expected.
    """
    if match := _TOP.fullmatch(text):
        percent = float(match[1])
        if not 0 < percent <= 100:
            raise ValueError("a share of all hands above 0% and up to 100%")
        yield from top_hands(percent)
        return
    for hand in _whole(text):
        yield hand, 1.0


def _whole(text: str) -> Iterator[int]:
    if match := _COMBO.fullmatch(text):
        if match[1].lower() == match[2].lower():
            raise ValueError("two different cards")
        yield int(hand_index(Deck(), parse_cards(text)))
    elif match := _SINGLE.fullmatch(text):
        high, low, suits = _hand_class(*match.groups()[:3])
        best = len(RANKS) - 1 if high == low else high - 1
        for rank in range(low, (best if match.group(4) else low) + 1):
            yield from _hands(rank if high == low else high, rank, suits)
    elif match := _DASH.fullmatch(text):
        yield from _between(_hand_class(*match.groups()[:3]), _hand_class(*match.groups()[3:]))
    elif _RANDOM.fullmatch(text):
        yield from range(NUM_HANDS)
    else:
        raise ValueError(not_a_group(text))


def not_a_group(text: str) -> str:
    """Describe what was expected in place of a text that is not a group."""
    if _TEN.search(text):
        return "a group such as QQ+ (a ten is T, not 10)"
    return "a group such as QQ+, AKs, A5s-A2s:0.5, KhQh, 12.5%, [50]AA[/50] or random"


def _between(first: HandClass, last: HandClass) -> Iterator[int]:
    if first[2] != last[2]:
        raise ValueError("both ends suited, both offsuit or both without s and o")
    (high, low, suits), (high_to, low_to, _) = max(first, last), min(first, last)
    if high - low == high_to - low_to:
        for down in range(high - high_to + 1):
            yield from _hands(high - down, low - down, suits)
    elif high == high_to and low_to != high_to and low != high:
        for rank in range(low_to, low + 1):
            yield from _hands(high, rank, suits)
    else:
        raise ValueError("both ends pairs, or with the same high card, or with the same gap")


def _hand_class(first: str, second: str, suits: str) -> HandClass:
    a, b = RANKS.index(first.upper()), RANKS.index(second.upper())
    if a == b and suits:
        raise ValueError("a pair without s or o")
    return max(a, b), min(a, b), suits.lower()


def _hands(high: int, low: int, suits: str) -> Iterator[int]:
    kinds = (suits,) if suits or high == low else ("s", "o")
    for kind in kinds:
        yield from class_hands((high, low, kind))
