"""Weights of hands as compact text that `ranges.parse_range` reads back exactly."""

from collections.abc import Iterator

from buckets.cards import RANKS
from spewy.game.handclass import HandClass, class_hands, combo_name

__all__ = ["weights_text"]


def weights_text(weights: list[float]) -> str:
    """Write the weights of all hands, in the order of their numbers, as groups."""
    if len(set(weights)) == 1 and weights[0] > 0:
        return "random" + _suffix(weights[0])
    groups: list[str] = []
    single: list[int] = []
    for ladder in _ladders():
        groups += _ladder_groups(ladder, weights, single)
    groups += [combo_name(hand) + _suffix(weights[hand]) for hand in sorted(single, reverse=True)]
    return ",".join(groups)


def _ladders() -> Iterator[list[HandClass]]:
    """Classes that one group may join, best first; a ``+`` may close a group that starts a ladder."""
    ranks = range(len(RANKS) - 1, -1, -1)
    yield [(rank, rank, "") for rank in ranks]
    for kind in "so":
        for high in ranks:
            yield [(high, low, kind) for low in range(high - 1, -1, -1)]


def _ladder_groups(ladder: list[HandClass], weights: list[float], single: list[int]) -> Iterator[str]:
    """Join classes with one weight next to each other; put hands of uneven classes into `single`."""
    common: list[float] = []
    for hand_class in ladder:
        found = [weights[hand] for hand in class_hands(hand_class)]
        even = len(set(found)) == 1
        common.append(found[0] if even else 0.0)
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
