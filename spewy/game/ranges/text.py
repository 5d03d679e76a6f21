"""Read and write the text of ranges.

A range is a list of groups with commas or line ends between them. Each group may have a weight, as in ``AKs:0.5``:

==============  ==========================================================================================
``QQ``          a pair; ``QQ+``: this pair and all higher pairs; ``QQ-99``: the pairs from QQ to 99
``AKs``         suited hands; ``AKo``: offsuit hands; ``AK``: both
``A8s+``        suited aces with an eight or a higher kicker
``A5s-A2s``     suited aces with kickers from five to deuce
``JTs-65s``     suited connectors from JTs to 65s; any other gap between the ranks works, too
``KhQh``        one hand
``12.5%``       the best 12.5 % of all hands, also ``top 12.5%``; `spewy.game.ranges.order` has the order
``random``      all hands, also ``any two``
==============  ==========================================================================================

PioSOLVER writes ranges in this way, too (``AA:0.5,AhKh``). GTO+ writes weights around groups, in percent:
``[50]AA,KK[/50]``. Case does not matter (``aks``), and the rest of a line after a ``#`` is a comment. A later group
overrides an earlier group. A range may also be a list of 1326 numbers, separated by white space or commas. Positions in
error messages count characters from 0, in the line that the message names.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import RANKS
from spewy.errors import InputError, shown
from spewy.game.ranges.classes import NUM_HANDS, HandClass, class_hands, combo_name
from spewy.game.ranges.groups import group_hands
from spewy.game.ranges.range import Range

__all__ = ["format_range", "parse_range", "without_comments"]


def parse_range(text: str, dead: Iterable[int] = ()) -> Range:
    """Read a range.

    >>> parse_range("QQ+, AKs, A5s-A2s:0.5, KhQh").combos
    31.0

    Args:
        text: the range.
        dead: cards, such as the board's, whose hands are removed; `Range.dropped` names these hands.

    Raises:
        InputError: the text is not a range, or no hand with a weight remains.
    """
    bare = without_comments(text)
    numbers = re.findall(r"[^\s,]+", bare)
    if not numbers:
        raise InputError("range: expected at least one group of hands, found nothing")
    # A long text without letters is a list of numbers, even if there are not exactly 1326.
    if len(numbers) > _FEWEST_NUMBERS and not _LETTERS.search(bare):
        weights = _number_form(numbers)
    else:
        weights = _group_form(bare)
    if not weights.any():
        raise InputError(f"range {shown(text)}: expected a hand with a weight above 0, found none")
    live = Range(weights).without(dead)
    if not live.weights.any():
        raise InputError(f"range {shown(text)}: expected a hand without a dead card, found none")
    return live


def format_range(hand_range: Range) -> str:
    """Write a range as text, from which `parse_range` reads the same range.

    >>> format_range(parse_range("AA,KK,QQ,AKs,AKo,A5s:0.5,A4s:0.5,KhQh"))
    'QQ+,AKs,A5s-A4s:0.5,AKo,KhQh'
    """
    return _weights_text(hand_range.weights.tolist())


def _weights_text(weights: list[float]) -> str:
    """Write the weights of all 1326 hands as groups."""
    if len(set(weights)) == 1 and weights[0] > 0:
        return "random" + _suffix(weights[0])
    groups: list[str] = []
    single: list[int] = []
    for ladder in _ladders():
        groups += _ladder_groups(ladder, weights, single)
    groups += [combo_name(hand) + _suffix(weights[hand]) for hand in sorted(single, reverse=True)]
    return ",".join(groups)


def _ladders() -> Iterator[list[HandClass]]:
    """Yield lists of classes, such as AKs, AQs, ..., A2s. A group such as ``AQs-A9s`` is a stretch of one list.

    A stretch from the start of a list is written with ``+``.
    """
    ranks = range(len(RANKS) - 1, -1, -1)
    yield [(rank, rank, "") for rank in ranks]
    for kind in "so":
        for high in ranks:
            yield [(high, low, kind) for low in range(high - 1, -1, -1)]


def _ladder_groups(ladder: list[HandClass], weights: list[float], single: list[int]) -> Iterator[str]:
    """Yield a group, such as ``AQs-A9s:0.5``, for each stretch of a list whose classes have equal weights above 0.

    Args:
        ladder: a list of `_ladders`.
        weights: the weights of all hands.
        single: a list to which the hands of classes with several different weights are appended.
    """
    common: list[float] = []
    for hand_class in ladder:
        values = [weights[hand] for hand in class_hands(hand_class)]
        even = len(set(values)) == 1
        common.append(values[0] if even else 0.0)
        if not even:
            single += [hand for hand in class_hands(hand_class) if weights[hand] > 0]
    start = 0
    while start < len(ladder):
        end = start
        while end + 1 < len(ladder) and common[end + 1] == common[start]:
            end += 1
        if common[start] > 0:
            yield _group_name(ladder, start, end) + _suffix(common[start])
        start = end + 1


def _group_name(ladder: list[HandClass], start: int, end: int) -> str:
    if start == end:
        return _class_name(ladder[start])
    if start == 0:
        return _class_name(ladder[end]) + "+"
    return f"{_class_name(ladder[start])}-{_class_name(ladder[end])}"


def _class_name(hand_class: HandClass) -> str:
    high, low, kind = hand_class
    return RANKS[high] + RANKS[low] + kind


def _suffix(weight: float) -> str:
    return "" if weight == 1 else f":{weight!r}"


_FEWEST_NUMBERS = 100
_LETTERS = re.compile(r"[TJQKAcdhso%tjqk]|\ba")  # no letters of nan, inf and 1e-5, which are numbers
_COMMENT = re.compile(r"#[^\n]*")
_OPEN = re.compile(r"\[\s*([^\]/]*?)\s*\]\s*")
_CLOSE = re.compile(r"\s*\[\s*/\s*([^\]]*?)\s*\]")


def without_comments(text: str) -> str:
    """Replace comments in the text of a range by blanks, so that positions of groups do not change."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text)


def _number_form(words: list[str]) -> NDArray[np.float64]:
    if len(words) != NUM_HANDS:
        raise InputError(f"range: expected {NUM_HANDS} numbers, found {len(words)}")
    return np.array([_weight(word, f"range, number {i}") for i, word in enumerate(words)])


def _group_form(text: str) -> NDArray[np.float64]:
    weights = np.zeros(NUM_HANDS)
    bracket: _Bracket | None = None
    for start, token in _tokens(text):
        subject = f"range, {_where(text, start)}"
        group, opened, closed = _bracketed(token)
        if opened is not None:
            if bracket is not None:
                raise InputError(
                    f"{subject}: expected [/{bracket.text}] before another [, found {shown(token)}"
                )
            bracket = _Bracket(opened, _percent(opened, subject), subject)
        _add(weights, group, token, subject, bracket)
        if closed is not None:
            if bracket is None or closed not in ("", bracket.text):
                expected = "no [/ without a [ before it" if bracket is None else f"[/{bracket.text}]"
                raise InputError(f"{subject}: expected {expected}, found {shown(token)}")
            bracket = None
    if bracket is not None:
        raise InputError(f"{bracket.subject}: expected [/{bracket.text}] after [{bracket.text}], found none")
    return weights


class _Bracket(NamedTuple):
    """An opening bracket with the weight of the groups that follow, as GTO+ writes it.

    Attributes:
        text: the weight as it was written, in percent.
        weight: the weight from 0 to 1.
        subject: how error messages about the bracket begin.
    """

    text: str
    weight: float
    subject: str


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the text of each group.

    Line ends separate groups like commas; a comma at the end of a line does not begin an empty group.
    """
    lines = text.split("\n")
    position = 0
    for line in lines:
        parts = line.split(",")
        for number, part in enumerate(parts):
            token = part.strip()
            last = number == len(parts) - 1
            if token or not (last and len(lines) > 1):
                yield position + (len(part) - len(part.lstrip()) if token else 0), token
            position += len(part) + 1


def _where(text: str, position: int) -> str:
    """Describe a position in a text for error messages, with the number of the line if there are several."""
    if "\n" not in text.rstrip():
        return f"position {position}"
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, position {position - before.rfind(chr(10)) - 1}"


def _bracketed(token: str) -> tuple[str, str | None, str | None]:
    """Split a group with GTO+'s brackets into three texts.

    Returns:
        The group without brackets; the weight in ``[...]`` before it, and the weight in ``[/...]`` after it, each None
        if there is no such bracket.
    """
    opened = _OPEN.match(token)
    rest = token[opened.end() :] if opened else token
    place = rest.rfind("[")
    closed = _CLOSE.fullmatch(rest[place:]) if place >= 0 else None
    group = rest[:place] if closed else rest
    return group.strip(), opened[1] if opened else None, closed[1] if closed else None


def _add(weights: NDArray[np.float64], text: str, token: str, subject: str, bracket: _Bracket | None) -> None:
    """Set the weights of a group's hands.

    Args:
        weights: ``[hand]``, changed in place.
        text: the group with its weight, without brackets.
        token: the group as it was written, for messages.
        subject: how messages begin.
        bracket: the open bracket; None: the group is in no bracket.

    Raises:
        InputError: the text is not a group, or has a weight within a bracket.
    """
    group, colon, number = text.partition(":")
    group = group.strip()
    if colon and bracket is not None:
        raise InputError(f"{subject}: expected one weight, found {shown(token)} within [{bracket.text}]")
    weight = 1.0
    if colon:
        weight = _weight(number.strip(), f"{subject}, weight of {shown(group)}", group)
    if bracket is not None:
        weight = bracket.weight
    try:
        for hand, share in group_hands(group):
            weights[hand] = weight * share
    except ValueError as error:
        raise InputError(f"{subject}: expected {error}; found {shown(token)}") from None


def _percent(word: str, subject: str) -> float:
    try:
        percent = float(word)
    except ValueError:
        percent = float("nan")
    if not 0 <= percent <= 100:
        raise InputError(f"{subject}: expected a weight from 0 to 100 in [ ], found {shown(word)}")
    return abs(percent) / 100


def _weight(word: str, subject: str, group: str | None = None) -> float:
    """Read a weight from 0 to 1.

    Args:
        word: the weight.
        subject: how the error message begins.
        group: the hands that have the weight, such as ``AKs``. If the weight is between 1 and 100, the error message
            shows how to write the weight in percent. None: the error message does not show this.

    Raises:
        InputError: the text is not a number from 0 to 1.
    """
    try:
        weight = float(word)
    except ValueError:
        weight = float("nan")
    if not 0 <= weight <= 1:
        percent = group is not None and 1 < weight <= 100
        hint = f"; {word} percent is {group}:{weight / 100:g} or [{word}]{group}[/{word}]" if percent else ""
        raise InputError(f"{subject}: expected a number from 0 to 1, found {shown(word)}{hint}")
    return abs(weight)  # abs turns -0.0 into 0.0
