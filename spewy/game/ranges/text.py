"""Read and write the text of ranges.

A range is a list of groups with commas or line ends between them. Each group may have a weight, as in ``AKs:0.5``:

==============  ==========================================================================================
``QQ``          a pair; ``QQ+``: this pair and all higher pairs; ``QQ-99``: the pairs from QQ to 99
``AKs``         suited hands; ``AKo``: offsuit hands; ``AK``: both
``A8s+``        suited aces with an eight or a higher kicker
``A5s-A2s``     suited aces with kickers from five to deuce
``JTs-65s``     suited connectors from JTs to 65s; any other gap between the ranks works, too
``KhQh``        one hand
``12.5%``       the best 12.5 % of all hands, also ``top 12.5%``; `ORDER` has the order
``random``      all hands, also ``any two``
==============  ==========================================================================================

Commas, semicolons and white space separate groups. PioSOLVER writes ranges in this way, too (``AA:0.5,AhKh``). GTO+
writes weights around groups, in percent: ``[50]AA,KK[/50]``. ``AKs:50%`` is ``AKs:0.5``; if a weight is above 1, all
weights after colons are percentages, and `Range.notes` says so. Case does not matter (``aks``), suits may be signs
(``A♠K♠``), dashes may be long, and the rest of a line after a ``#`` is a comment. A later group overrides an earlier
group. Positions in error messages count characters from 0, in the line that the message names.

A range may also be a list of 1326 numbers. Two orders of the hands are known by name:

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
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import (
    NUM_CARDS,
    RANKS,
    SUITS,
    Deck,
    hand_index,
    parse_cards,
    plain_suits,
    range_symmetries,
    suit_permutations,
)
from spewy.errors import InputError, short, shown
from spewy.game.ranges.range import NUM_HANDS, HandClass, Range, class_hands, combo_name

PERCENT = "weights above 1 are read as percentages"
"""The note of a range whose weights are percentages without a sign."""
ROUNDING = 1e-3
"""A weight that is at most this much above 1 is 1, since exports of other programs round."""


def parse_range(text: str, dead: Iterable[int] = ()) -> Range:
    """Read a range.

    >>> parse_range("QQ+, AKs, A5s-A2s:0.5, KhQh").combos
    31.0

    Args:
        dead: cards, such as the board's, whose hands are removed; `Range.dropped` names these hands.
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

    If the hands of a class differ in weight, those with a weight above 0 are appended to ``single``.
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
    """Weights of a range: ``[hand]``, or ``[position in the list]`` if the range was a list of numbers.

    ``percent``: whether weights without a "%" were percentages, since one of them was above 1.
    """

    weights: NDArray[np.float64]
    percent: bool


class _Weight(NamedTuple):
    """A weight from 0 to 1, as it was written; if ``plain``, it had no "%", and ``value`` may be a percentage."""

    text: str
    value: float
    plain: bool


_WHOLE = _Weight("", 1.0, plain=False)


class _Bracket(NamedTuple):
    """An opening bracket in GTO+'s form: the weight of the groups that follow, and the bracket's position."""

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
    """Return the position at which a group's text with its weight ends, and the weight."""
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
    if "\n" not in text.rstrip():
        return f"range, position {position}"
    before = text[:position]
    return f"range, line {before.count(chr(10)) + 1}, position {position - before.rfind(chr(10)) - 1}"


def _weight(word: str) -> _Weight:
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
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _are_percentages(weights: Sequence[_Weight]) -> bool:
    """Whether all weights without a "%", except 0, are above 1 and so percentages; an error if only some are."""
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
    """Return a weight from 0 to 1; ``percent``: whether weights without a "%" are percentages."""
    return min(weight.value / 100 if percent and weight.plain else weight.value, 1.0)


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


_TEXT = (
    "AA KK QQ JJ TT 99 88 AKs 77 AQs AJs AKo ATs AQo AJo KQs 66 A9s ATo KJs A8s KTs KQo A7s "
    "A9o KJo 55 QJs K9s A5s A6s A8o KTo QTs A4s A7o K8s A3s QJo K9o A5o A6o Q9s K7s JTs A2s QTo 44 "
    "A4o K6s K8o Q8s A3o K5s J9s Q9o JTo K7o A2o K4s Q7s K6o K3s T9s J8s 33 Q6s Q8o K5o J9o K2s Q5s "
    "T8s K4o J7s Q4s Q7o T9o J8o K3o Q6o Q3s 98s T7s J6s K2o 22 Q2s Q5o J5s T8o J7o Q4o 97s J4s T6s "
    "J3s Q3o 98o 87s T7o J6o 96s J2s Q2o T5s J5o T4s 97o 86s J4o T6o 95s T3s 76s J3o 87o T2s 85s 96o "
    "J2o T5o 94s 75s T4o 93s 86o 65s 84s 95o T3o 92s 76o 74s T2o 54s 85o 64s 83s 94o 75o 82s 73s 93o "
    "65o 53s 63s 84o 92o 43s 74o 72s 54o 64o 52s 62s 83o 42s 82o 73o 53o 63o 32s 43o 72o 52o 62o 42o "
    "32o"
)
ORDER = tuple(_TEXT.split())
"""Names of the classes of hands, the best class first."""


def top_hands(percent: float) -> Iterator[tuple[int, float]]:
    """Yield the number and the share of each of the best hands, up to a percentage of all hands.

    The share is 1, except for the hands of the last class. These have equal shares, so that all shares sum to the
    percentage exactly.

    Args:
        percent: percentage of all 1326 hands.

    >>> round(sum(share for _, share in top_hands(12.5)), 9), sum(share for _, share in top_hands(100)) / NUM_HANDS
    (165.75, 1.0)
    """
    left = NUM_HANDS * percent / 100
    for name in ORDER:
        hands = class_hands((RANKS.index(name[0]), RANKS.index(name[1]), name[2:]))
        share = min(1.0, left / len(hands))
        for hand in hands:
            yield hand, share
        left -= len(hands)
        if left <= 0:
            return


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
        weights: ``[position in the list]``.
        order: name of the list's order; None: unknown.
    """
    from_pio = np.zeros_like(weights)
    from_pio[pio_hands()] = weights
    if order is None and not np.array_equal(weights, from_pio):
        raise InputError(
            f"range: expected the order of the {NUM_HANDS:,} numbers before the first of them: order = {_PIO} (2d2c, "
            f"2h2c, 2h2d, 2s2c, ..., AsAh) or order = {_SPEWY} (2c2d, 2c2h, 2c2s, 2c3c, ..., AhAs), found none"
            f"{_likely(weights, from_pio)}"
        )
    return from_pio if order == _PIO else weights


def named_list(text: str) -> str:
    """Put the name of Spewy's order before a list of numbers that names no order; return any other text unchanged."""
    bare = without_comments(text)
    return _NAMED + text if not _HEAD.match(bare) and number_list(bare) is not None else text


def bare_list(text: str) -> str:
    """Return the text of a range without the name of Spewy's order: the inverse of `named_list`."""
    if text.startswith(_NAMED):
        return text[len(_NAMED) :]
    head = _HEAD.match(text)
    return text[head.end() :] if head and (head[1] or "").lower() == _SPEWY else text


def _likely(ours: NDArray[np.float64], from_pio: NDArray[np.float64]) -> str:
    """Name, for an error message, the only order in which the range treats all suits alike; else return ""."""
    alike = [
        len(range_symmetries(each, Deck(), 2)) == len(suit_permutations(Deck())) for each in (from_pio, ours)
    ]
    if alike[0] == alike[1]:
        return ""
    likely, other = (_PIO, _SPEWY) if alike[0] else (_SPEWY, _PIO)
    return f"; in order = {likely} the range treats all suits alike, in order = {other} it does not"


@lru_cache(maxsize=1)
def pio_hands() -> NDArray[np.int64]:
    """Index of each hand among all hands of the deck, ``[1326]``, in the order of PioSOLVER's lists."""
    pairs = [(low, high) for high in range(NUM_CARDS) for low in range(high)]
    return np.asarray(hand_index(Deck(), np.array(pairs)), dtype=np.int64)
