"""Grades of hands on final boards, and curves and features of boards: see `buckets.abstraction.percentiles`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.spec import GRADES
from buckets.kernels.combinations import board_number
from buckets.kernels.strength import fill_strengths
from buckets.types import Array, Ints
from compiled import kernel, part

NONE = GRADES  # the grade of a hand that the board blocks
_BITS = 10  # number of bits of a strength in each pass of the sort
_PASSES = 3


class Finals(NamedTuple):
    """The grades (percentiles of strength, 0 to 254) of all hands on all final boards of a game.

    Attributes:
        hands: ``[hand, hole card]``.
        place: ``[card]``, the index of each card in the deck.
        n_deck: number of cards in the deck.
        choose: ``[n, k]``, binomial coefficients.
        groups: ``[1]``, number of cards of a final board.
        canonical: ``[board]``, the canonical board of each board, as in `buckets.cards.BoardMap`.
        perm_of: ``[board]``, the permutation that maps each board onto its canonical board.
        moved: ``[permutation, hand]``, the hand that each hand becomes.
        grades: ``[canonical board, hand]``; `NONE`: the board blocks the hand.
    """

    hands: Ints
    place: Ints
    n_deck: int
    choose: Ints
    groups: Ints
    canonical: NDArray[np.int32]
    perm_of: NDArray[np.uint8]
    moved: NDArray[np.int16]
    grades: NDArray[np.uint8]


@part
def sort_stably(keys: Array, shift: int, bits: int, order: Array, spare: Array, n: int, counts: Ints) -> None:
    """Sort ``order[:n]`` in place by ``bits`` bits of ``keys[order]`` from bit ``shift`` on; equals keep their order.

    ``spare`` and ``counts`` are buffers of at least n and ``2 ** bits + 1`` numbers.
    """
    mask = (1 << bits) - 1
    counts[: mask + 2] = 0
    for i in range(n):
        counts[((keys[order[i]] >> shift) & mask) + 1] += 1
    for digit in range(mask + 1):
        if counts[digit + 1] == n:
            return
        counts[digit + 1] += counts[digit]
    for i in range(n):
        digit = (keys[order[i]] >> shift) & mask
        spare[counts[digit]] = order[i]
        counts[digit] += 1
    order[:n] = spare[:n]


@part
def sort_by_strength(strength: Array, order: Array, spare: Array, n: int, counts: Ints) -> None:
    """Sort the hands ``order[:n]`` in place by ``strength[hand]``, ascending; `spare` and `counts` are buffers."""
    for step in range(_PASSES):
        sort_stably(strength, _BITS * step, _BITS, order, spare, n, counts)


@part
def live_hands(strength: Array, order: Array) -> int:
    """Write the hands that the board does not block (``strength[hand] >= 0``) into `order`; return their number."""
    n = 0
    for h in range(len(strength)):
        order[n] = h
        n += strength[h] >= 0
    return n


@part
def write_grades(strength: Array, order: Array, n: int, out: Array) -> None:
    """Write the grade (percentile of strength, 0 to 254) of each of the n hands in `order`: ``out[hand]``.

    The hands in `order` must be sorted by strength.
    """
    start = 0
    while start < n:
        value = strength[order[start]]
        end = start + 1
        while end < n and strength[order[end]] == value:
            end += 1
        grade = (
            (start + end) * GRADES // (2 * n)
        )  # from the share of weaker hands and half of the equal hands
        for i in range(start, end):
            out[order[i]] = grade
        start = end


@kernel
def fill_grades(boards: Ints, hands: Ints, out: Array) -> None:
    """Write each hand's grade (percentile of strength, 0 to 254, or `NONE` if blocked): ``out[board, hand]``."""
    n_hands = len(hands)
    strength = np.empty((1, n_hands), dtype=np.int32)
    order, spare = np.empty(n_hands + 1, dtype=np.int16), np.empty(n_hands + 1, dtype=np.int16)
    counts = np.empty((1 << _BITS) + 1, dtype=np.int64)
    for b in range(len(boards)):
        fill_strengths(boards[b : b + 1], hands, strength)
        n = live_hands(strength[0], order)
        sort_by_strength(strength[0], order, spare, n, counts)
        out[b] = NONE
        write_grades(strength[0], order, n, out[b])


@kernel
def count_grades(grades: Array, counts: Ints, board_buckets: Ints, out: Ints) -> None:
    """Count the hands of each grade of strength on the boards of each board bucket: ``out[board bucket, grade]``.

    Args:
        grades: ``[board, hand]``.
        counts: ``[board]``, number of boards that each board stands for.
        out: ``[board bucket, grade]``, to which the counts are added.
    """
    for b in range(len(grades)):
        for grade in grades[b]:
            out[board_buckets[b], grade] += counts[b]


@part
def _final(finals: Finals, board: Ints, left: Ints, more: Ints, places: Ints) -> int:
    """Return the number, among all final boards, of the board that consists of a board and some remaining cards.

    ``left`` are the deck indices of the remaining cards, and ``more`` indices into ``left``. ``places[card]`` is
    overwritten with the deck indices of the final board's cards.
    """
    n = len(board)
    for i in range(n):
        places[i] = finals.place[board[i]]
    for i in range(len(more)):
        places[n + i] = left[more[i]]
    return int(board_number(places, finals.groups, finals.n_deck, finals.choose))


@part
def _left(finals: Finals, board: Ints, left: Ints) -> None:
    """Write the deck indices of the cards that are not on a board into `left`, ascending."""
    taken = np.zeros(finals.n_deck, dtype=np.bool_)
    for card in board:
        taken[finals.place[card]] = True
    n = 0
    for place in range(finals.n_deck):
        if not taken[place]:
            left[n] = place
            n += 1


@kernel
def fill_features(finals: Finals, boards: Ints, more: Ints, kinds: Ints, n_kinds: int, out: Array) -> None:
    """Write the features of boards: statistics of the mean outcomes of each starting hand (a kind of hands).

    Args:
        boards: ``[board, card]``.
        more: ``[completion, card]``, the ways to complete a board: indices among the remaining cards.
        kinds: ``[hand]``, the starting hand of each hand.
        out: ``[board, 2 n_kinds]``, output: for each starting hand the mean of its hands' mean outcomes, then for each
            starting hand their standard deviation; nan: the board blocks all its hands.
    """
    n_hands = len(finals.hands)
    total = np.empty(n_hands, dtype=np.int64)
    ways = np.empty(n_hands, dtype=np.int64)
    left = np.empty(finals.n_deck, dtype=np.int64)
    places = np.empty(finals.groups[0], dtype=np.int64)
    first, second, count = np.empty(n_kinds), np.empty(n_kinds), np.empty(n_kinds)
    for b in range(len(boards)):
        _left(finals, boards[b], left)
        total[:] = 0
        ways[:] = 0
        for r in range(len(more)):
            number = _final(finals, boards[b], left, more[r], places)
            grades = finals.grades[finals.canonical[number]]
            moved = finals.moved[finals.perm_of[number]]
            for h in range(n_hands):
                grade = grades[moved[h]]
                live = grade != NONE
                total[h] += grade * live
                ways[h] += live
        first[:] = 0.0
        second[:] = 0.0
        count[:] = 0.0
        for h in range(n_hands):
            if ways[h]:
                mean = (total[h] / ways[h] + 0.5) / GRADES
                first[kinds[h]] += mean
                second[kinds[h]] += mean * mean
                count[kinds[h]] += 1.0
        for k in range(n_kinds):
            if count[k]:
                mean = first[k] / count[k]
                out[b, k] = mean
                out[b, n_kinds + k] = np.sqrt(max(second[k] / count[k] - mean * mean, 0.0))
            else:
                out[b, k] = out[b, n_kinds + k] = np.nan


@kernel
def fill_curves(finals: Finals, boards: Ints, more: Ints, out: Array) -> None:
    """Write the curves of all hands on boards: ``out[board, hand, point]``; nan: the board blocks the hand.

    Each point averages an (almost) equal number of consecutive sorted outcomes. ``more[completion, card]`` are the ways
    to complete a board, as indices among the remaining cards.
    """
    n_hands = len(finals.hands)
    seen = np.empty((n_hands, GRADES + 1), dtype=np.int16)
    left = np.empty(finals.n_deck, dtype=np.int64)
    places = np.empty(finals.groups[0], dtype=np.int64)
    for b in range(len(boards)):
        _left(finals, boards[b], left)
        seen[:] = 0
        for r in range(len(more)):
            number = _final(finals, boards[b], left, more[r], places)
            grades = finals.grades[finals.canonical[number]]
            moved = finals.moved[finals.perm_of[number]]
            for h in range(n_hands):
                seen[h, grades[moved[h]]] += 1
        for h in range(n_hands):
            ways = len(more) - seen[h, NONE]
            if ways:
                _write_curve(seen[h], ways, out[b, h])
            else:
                out[b, h] = np.nan


@part
def _write_curve(seen: Array, ways: int, out: Array) -> None:
    """Write a hand's curve: each point is the mean of an (almost) equal number of consecutive sorted outcomes.

    The hand has ``seen[grade]`` outcomes of each grade, `ways` in all.
    """
    grade = 0
    rest = seen[0]
    n_points = len(out)
    for k in range(n_points):
        need = (k + 1) * ways // n_points - k * ways // n_points
        taken = need
        total = 0
        while need > 0:
            while rest == 0:
                grade += 1
                rest = seen[grade]
            step = min(need, rest)
            total += step * grade
            need -= step
            rest -= step
        out[k] = (total / taken + 0.5) / GRADES
