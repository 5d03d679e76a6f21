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

Commas, semicolons and white space separate groups. PioSOLVER writes ranges in this way, too (``AA:0.5,AhKh``). GTO+
writes weights around groups, in percent: ``[50]AA,KK[/50]``. ``AKs:50%`` is ``AKs:0.5``; if a weight is above 1, all
weights after colons are percentages, and `Range.notes` says so. Case does not matter (``aks``), suits may be signs
(``A♠K♠``), dashes may be long, and the rest of a line after a ``#`` is a comment. A later group overrides an earlier
group. A range may also be a list of 1326 numbers (`spewy.game.ranges.lists`). Positions in error messages count
characters from 0, in the line that the message names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import RANKS, plain_suits
from spewy.errors import InputError, short, shown
from spewy.game.ranges.classes import NUM_HANDS, HandClass, class_hands, combo_name
from spewy.game.ranges.groups import GROUP, group_hands, not_a_group
from spewy.game.ranges.lists import in_our_order, number_list, without_comments
from spewy.game.ranges.range import Range

__all__ = ["format_range", "parse_range"]

PERCENT = "weights above 1 are read as percentages"
"""The note of a range whose weights are percentages without a sign."""
ROUNDING = 1e-3
"""A weight that is at most this much above 1 is 1, since exports of other programs round."""


def parse_range(text: str, dead: Iterable[int] = ()) -> Range:
    """Read a range.

    >>> parse_range("QQ+, AKs, A5s-A2s:0.5, KhQh").combos
    31.0

    Args:
        text: the range.
        dead: cards, such as the board's, whose hands are removed; `Range.dropped` names these hands.

    Raises:
        InputError: the text is not a range, or no hand with a weight remains; or it is a list of 1326 numbers whose
            order is unknown.
    """
    if not isinstance(text, str):
        raise InputError(f"range: expected a text such as 'QQ+,AKs', found {shown(text)}")
    bare = without_comments(plain_suits(text).translate(_DASHES))
    if not bare.strip(" \t\r\n\f\v,;"):
        raise InputError("range: expected at least one group of hands, found nothing")
    listed = number_list(bare)
    read = _group_form(bare) if listed is None else _number_form(listed.numbers)
    weights = read.weights if listed is None else in_our_order(read.weights, listed.order)
    if not weights.any():
        raise InputError(f"range {shown(text)}: expected a hand with a weight above 0, found none")
    live = Range(weights, notes=(PERCENT,) if read.percent else ()).without(dead)
    if not live.weights.any():
        raise InputError(f"range {shown(text)}: the board blocks every hand of it")
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


_DASHES = str.maketrans("‐‑‒–—−", "------")
_BETWEEN = re.compile(r"\s*[,;]?\s*")
_OPEN = re.compile(r"\[([^\[\]/]*)\]")
_CLOSE = re.compile(r"\[\s*/([^\[\]]*)\]")
_WEIGHT = re.compile(r"\s*:\s*([^\s,;\[\]]*)(\s+%)?")
_DECIMALS = re.compile(r",([0-9]+)%?(?=[\s,;\[]|$)")
_SHARE = re.compile(r"[0-9.]+\s*%")
_OTHER = re.compile(r"\[?[^,;\[\n]*")


class _Read(NamedTuple):
    """Weights of a range: ``[hand]``, or ``[place in a list]``; and whether they were percentages without a sign."""

    weights: NDArray[np.float64]
    percent: bool


class _Weight(NamedTuple):
    """A weight as it was written.

    Attributes:
        text: the text.
        value: from 0 to 1 if it has a sign of percent, stands in brackets or is missing.
        plain: whether it is a number without a sign of percent.
    """

    text: str
    value: float
    plain: bool


_WHOLE = _Weight("", 1.0, plain=False)


class _Bracket(NamedTuple):
    """An opening bracket with the weight of the groups that follow, as GTO+ writes it, and its position."""

    weight: _Weight
    position: int


def _number_form(words: list[str]) -> _Read:
    if len(words) != NUM_HANDS:
        raise InputError(f"range: expected {NUM_HANDS} numbers, found {len(words)}")
    weights = []
    for number, word in enumerate(words):
        try:
            weights.append(_weight(word))
        except ValueError as error:
            raise InputError(f"range, number {number}: expected {error}, found {shown(word)}") from None
    percent = _are_percentages(weights)
    return _Read(np.array([_share(weight, percent) for weight in weights]), percent)


def _group_form(text: str) -> _Read:
    groups = list(_groups(text))
    percent = _are_percentages([weight for _, _, weight in groups])
    weights = [0.0] * NUM_HANDS
    for position, group, weight in groups:
        share = _share(weight, percent)
        try:
            for hand, part in group_hands(group):
                weights[hand] = share * part
        except ValueError as error:
            raise InputError(f"{_subject(text, position)}: expected {error}; found {shown(group)}") from None
    return _Read(np.array(weights), percent)


def _groups(text: str) -> Iterator[tuple[int, str, _Weight]]:
    """Yield the position, the text and the weight of each group."""
    bracket: _Bracket | None = None
    position = len(text) - len(text.lstrip())
    before = ""  # the group before, if only blanks follow it
    while position < len(text):
        if opened := _OPEN.match(text, position):
            if bracket is not None:
                raise InputError(
                    f"{_subject(text, position)}: expected [/{short(bracket.weight.text)}] before another [, "
                    f"found {shown(opened[0])}"
                )
            word = opened[1].strip()
            try:
                bracket = _Bracket(_percent(word), position)
            except ValueError as error:
                raise InputError(
                    f"{_subject(text, position)}: expected {error} in [ ], found {shown(word)}"
                ) from None
            position, name = opened.end(), ""
        elif closed := _CLOSE.match(text, position):
            if bracket is None or closed[1].strip(" %") not in ("", bracket.weight.text.rstrip(" %")):
                expected = (
                    "no [/ without a [ before it" if bracket is None else f"[/{short(bracket.weight.text)}]"
                )
                raise InputError(f"{_subject(text, position)}: expected {expected}, found {shown(closed[0])}")
            bracket = None
            position, name = closed.end(), ""
        elif group := GROUP.match(text, position):
            name = group[0]
            if before and (_SHARE.match(name) or _SHARE.match(before)):
                raise InputError(
                    f"{_subject(text, position)}: expected a comma beside a share of all hands, or a weight after a "
                    f"colon, such as AKs:50%; found {shown(f'{before} {name}')}"
                )
            end, weight = _weight_of(text, group, bracket)
            yield position, name, weight
            position = end
        else:
            other = _OTHER.match(text, position)
            found = (other[0].strip() if other else "") or text[position]
            raise InputError(
                f"{_subject(text, position)}: expected {not_a_group(found)}; found {shown(found)}"
            )
        between = _BETWEEN.match(text, position)
        assert between is not None  # it matches an empty text, too
        position = between.end()
        before = "" if re.search("[,;\n]", between[0]) else name
    if bracket is not None:
        name = short(bracket.weight.text)
        raise InputError(f"{_subject(text, bracket.position)}: expected [/{name}] after [{name}], found none")


def _weight_of(text: str, group: re.Match[str], bracket: _Bracket | None) -> tuple[int, _Weight]:
    """Return where a group ends with its weight, and the weight.

    Raises:
        InputError: the weight is not a number, or has a decimal comma, or stands within a bracket.
    """
    written = _WEIGHT.match(text, group.end())
    if written is None:
        return group.end(), _WHOLE if bracket is None else bracket.weight
    word = written[1]
    if bracket is not None:
        raise InputError(
            f"{_subject(text, group.start())}: expected one weight, found {shown(group[0] + written[0])} "
            f"within [{short(bracket.weight.text)}]"
        )
    decimals = _DECIMALS.match(text, written.end())
    if decimals and word.isdecimal() and (not word.strip("0") or not re.fullmatch("[2-9]{2}", decimals[1])):
        right = short(f"{group[0]}:{word}.{decimals[1]}")
        raise InputError(
            f"{_subject(text, group.start())}: expected a point in the weight, {right}, "
            f"found {shown(group[0] + written[0] + decimals[0])}; leave a blank after a comma between groups"
        )
    try:
        return written.end(), _percent(word) if written[2] else _weight(word)
    except ValueError as error:
        subject = f"{_subject(text, group.start())}, weight of {shown(group[0])}"
        raise InputError(f"{subject}: expected {error}, found {shown(word)}") from None


def _subject(text: str, position: int) -> str:
    """Name a position in a text for error messages, with the number of the line if there are several."""
    if "\n" not in text.rstrip():
        return f"range, position {position}"
    before = text[:position]
    return f"range, line {before.count(chr(10)) + 1}, position {position - before.rfind(chr(10)) - 1}"


def _weight(word: str) -> _Weight:
    """Read a weight from 0 to 1, or from 0 to 100 percent.

    Raises:
        ValueError: the text is not such a number; the message says what was expected.
    """
    if word.endswith("%"):
        return _percent(word)
    value = _number(word)
    if not 0 <= value <= 100 * (1 + ROUNDING):
        raise ValueError("a number from 0 to 1, or a percentage")
    return _Weight(word, abs(value), plain=True)  # abs turns -0.0 into 0.0


def _percent(word: str) -> _Weight:
    percent = _number(word.removesuffix("%").rstrip())
    if not 0 <= percent <= 100 * (1 + ROUNDING):
        raise ValueError("a weight from 0 to 100 percent")
    return _Weight(word, min(abs(percent) / 100, 1.0), plain=False)


def _number(word: str) -> float:
    """Return the value of a number, and no number (NaN) for another text."""
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _are_percentages(weights: Sequence[_Weight]) -> bool:
    """Whether the weights without a sign are percentages: one of them is above 1.

    Raises:
        InputError: another weight is above 0 and at most 1, so that it is unclear what it means.
    """
    plain = [weight for weight in weights if weight.plain]
    above = next((weight for weight in plain if weight.value > 1 + ROUNDING), None)
    if above is None:
        return False
    below = next((weight for weight in plain if 0 < weight.value <= 1 + ROUNDING), None)
    if below is not None:
        raise InputError(
            f"range: expected weights from 0 to 1, or all in percent, found {short(above.text)} and "
            f"{short(below.text)}; write {short(above.text)}% if it is a percentage"
        )
    return True


def _share(weight: _Weight, percent: bool) -> float:
    """Return a weight from 0 to 1; ``percent``: whether weights without a sign are percentages."""
    return min(weight.value / 100 if percent and weight.plain else weight.value, 1.0)
