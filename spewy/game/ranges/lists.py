"""Ranges as lists of 1326 numbers, and the orders in which programs list hands.

Two orders are known by name:

=========  =============================================================================================
``spewy``  by the lower card, then by the higher card: 2c2d, 2c2h, 2c2s, 2c3c, ..., AdAh, AdAs, AhAs
``pio``    PioSOLVER's, by the higher card, then by the lower card: 2d2c, 2h2c, 2h2d, 2s2c, ..., AsAd, AsAh
=========  =============================================================================================

Cards ascend from 2c, 2d, 2h, 2s to As. The text of a list begins with ``order = pio`` or ``order = spewy``, or with
``set_range OOP``, as in a script of PioSOLVER. Without these words a list is read only if both orders give the same
range.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import NUM_CARDS, Deck, hand_index, range_symmetries, suit_permutations
from spewy.errors import InputError, short
from spewy.game.ranges.classes import NUM_HANDS

__all__ = ["NumberList", "bare_list", "in_our_order", "named_list", "number_list", "without_comments"]

_FEWEST_NUMBERS = 100
_LETTERS = re.compile(r"[TJQKAcdhso%tjqk♠♥♦♣]|\ba")  # no letters of nan, inf and 1e-5, which are numbers
_HEAD = re.compile(r"\s*(?:order\s*[=:]\s*([\w-]+)|set_range\s+(?:oop|ip)\b)[\s,;]*", re.IGNORECASE)
_COMMENT = re.compile(r"#[^\n]*")
_SPEWY, _PIO = "spewy", "pio"
_NAMED = f"order = {_SPEWY}, "


class NumberList(NamedTuple):
    """The numbers of a list as texts, and the name of their order; None if the text names no order."""

    numbers: list[str]
    order: str | None


def number_list(text: str) -> NumberList | None:
    """Split the text of a list into its numbers; None if the text is no list.

    A long text without letters is a list, even if it does not have exactly 1326 numbers.

    Raises:
        InputError: the order is unknown.
    """
    head = _HEAD.match(text)
    if head is None:
        numbers = re.findall(r"[^\s,;]+", text)
        return (
            NumberList(numbers, None)
            if len(numbers) > _FEWEST_NUMBERS and not _LETTERS.search(text)
            else None
        )
    order = (head[1] or _PIO).lower()
    if order not in (_SPEWY, _PIO):
        raise InputError(
            f"range: expected order = {_PIO} or order = {_SPEWY}, found order = {short(head[1])}"
        )
    return NumberList(re.findall(r"[^\s,;]+", text[head.end() :]), order)


def without_comments(text: str) -> str:
    """Replace comments in the text of a range by blanks, so that positions of groups do not change."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text)


def in_our_order(weights: NDArray[np.float64], order: str | None) -> NDArray[np.float64]:
    """Bring the weights of a list into the order of `buckets.cards.hands`: ``[hand]``.

    Args:
        weights: ``[place in the list]``.
        order: name of the list's order; None: unknown.

    Raises:
        InputError: the order is unknown, and the list is another range in each order.
    """
    from_pio = np.zeros_like(weights)
    from_pio[_pio_hands()] = weights
    if order is None and not np.array_equal(weights, from_pio):
        raise InputError(
            f"range: expected the order of the {NUM_HANDS:,} numbers before the first of them: order = {_PIO} (2d2c, "
            f"2h2c, 2h2d, 2s2c, ..., AsAh) or order = {_SPEWY} (2c2d, 2c2h, 2c2s, 2c3c, ..., AhAs), found none"
            f"{_likely(weights, from_pio)}"
        )
    return from_pio if order == _PIO else weights


def named_list(text: str) -> str:
    """Name Spewy's order in the text of a range if the range is a list without a known order."""
    bare = without_comments(text)
    return _NAMED + text if not _HEAD.match(bare) and number_list(bare) is not None else text


def bare_list(text: str) -> str:
    """Return the text of a range without the name of Spewy's order: the inverse of `named_list`."""
    if text.startswith(_NAMED):
        return text[len(_NAMED) :]
    head = _HEAD.match(text)
    return text[head.end() :] if head and (head[1] or "").lower() == _SPEWY else text


def _likely(ours: NDArray[np.float64], from_pio: NDArray[np.float64]) -> str:
    """Say which order makes a range that treats all suits alike, as most ranges do, if only one order does."""
    alike = [
        len(range_symmetries(each, Deck(), 2)) == len(suit_permutations(Deck())) for each in (from_pio, ours)
    ]
    if alike[0] == alike[1]:
        return ""
    likely, other = (_PIO, _SPEWY) if alike[0] else (_SPEWY, _PIO)
    return f"; in order = {likely} the range treats all suits alike, in order = {other} it does not"


@lru_cache(maxsize=1)
def _pio_hands() -> NDArray[np.int64]:
    """Numbers of the hands in PioSOLVER's order."""
    pairs = [(low, high) for high in range(NUM_CARDS) for low in range(high)]
    return np.asarray(hand_index(Deck(), np.array(pairs)), dtype=np.int64)
