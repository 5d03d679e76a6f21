"""Sets of cards as numbers: see `boards`.

A set of k of n places, ascending, has a number from 0 to C(n, k) - 1 in lexicographic order:
``C(n, k) - 1 - Σ_i C(n - 1 - place_i, k - i)``.
"""

import numpy as np

from buckets.types import Array, Ints
from compiled import kernel


@kernel
def sort_few(places: Ints, start: int, end: int) -> None:
    """Sort a handful of numbers in place."""
    for i in range(start + 1, end):
        value = places[i]
        j = i
        while j > start and places[j - 1] > value:
            places[j] = places[j - 1]
            j -= 1
        places[j] = value


@kernel
def set_number(places: Ints, start: int, end: int, n: int, choose: Ints) -> int:
    """The number of an ascending set of n places."""
    k = end - start
    out = choose[n, k] - 1
    for i in range(k):
        out -= choose[n - 1 - places[start + i], k - i]
    return int(out)


@kernel
def numbered_set(number: int, n: int, k: int, choose: Ints, out: Ints, start: int) -> None:
    """Write the ascending set that has a number, from `start` on."""
    rest = choose[n, k] - 1 - number
    x = n - 1
    for i in range(k):
        while choose[x, k - i] > rest:
            x -= 1
        rest -= choose[x, k - i]
        out[start + i] = n - 1 - x
        x -= 1


@kernel
def board_number(places: Ints, groups: Ints, n: int, choose: Ints) -> int:
    """The number of a board, sets of the sizes `groups` one after the other, each of which is sorted in place."""
    out = 0
    start = 0
    for size in groups:
        sort_few(places, start, start + size)
        out = out * choose[n, size] + set_number(places, start, start + size, n, choose)
        start += size
    return out


@kernel
def fill_map(
    groups: Ints, n: int, choose: Ints, moved: Ints, inverse: Ints, canonical: Array, perm_of: Array
) -> int:
    """Number the boards that are the smallest of those that they are like; return how many these are.

    Args:
        groups: sizes of the sets that were dealt one after the other.
        n: cards of the deck.
        choose: ``[n, k]``, binomials.
        moved: ``[perm, place]``, where each card of the deck goes.
        inverse: ``[perm]``, which permutation undoes it.
        canonical: ``[board]``, written: the number of the smallest that it is like; -1 where a card comes twice.
        perm_of: ``[board]``, written: the first permutation that makes it that.
    """
    n_cards = groups.sum()
    places = np.empty(n_cards, dtype=np.int64)
    image = np.empty(n_cards, dtype=np.int64)
    canonical[:] = -1
    n_canonical = 0
    for board in range(len(canonical)):
        if canonical[board] >= 0:
            continue
        write_places(board, groups, n, choose, places)
        if _twice(places):
            continue
        for perm in range(len(moved)):
            for i in range(n_cards):
                image[i] = moved[perm, places[i]]
            number = board_number(image, groups, n, choose)
            if canonical[number] < 0 or inverse[perm] < perm_of[number]:
                perm_of[number] = inverse[perm]
            canonical[number] = n_canonical
        n_canonical += 1
    return n_canonical


@kernel
def write_places(number: int, groups: Ints, n: int, choose: Ints, places: Ints) -> None:
    """Write the places of the cards of a board."""
    end = len(places)
    for g in range(len(groups) - 1, -1, -1):
        size = groups[g]
        numbered_set(number % choose[n, size], n, size, choose, places, end - size)
        number //= choose[n, size]
        end -= size


@kernel
def fill_boards(numbers: Ints, groups: Ints, n: int, choose: Ints, out: Ints) -> None:
    """Write the places of the cards of some boards: ``[board, card]``."""
    for b in range(len(numbers)):
        write_places(numbers[b], groups, n, choose, out[b])


@kernel
def _twice(places: Ints) -> bool:
    for i in range(len(places)):
        for j in range(i):
            if places[i] == places[j]:
                return True
    return False
