"""Lexicographic numbers of sets of cards and of boards: see `buckets.cards.boards`.

A card is given by its index in the deck of n cards. The sets of k cards are numbered from 0 to C(n, k) - 1 in
lexicographic order of their ascending indices. A set has the number
``C(n, k) - 1 - Σ_i C(n - 1 - index_i, k - i)``.

In all functions n is the number of cards in the deck, ``choose[n, k]`` are binomial coefficients, ``groups[group]`` is
the number of cards of each group of a board, and ``places[card]`` are the indices of a board's cards, group by group.
"""

import numpy as np

from buckets.types import Array, Ints
from compiled import kernel, part


# NumPy's sums and counts of arrays would make Numba import SciPy's linear algebra, which takes a quarter of a second.
@kernel
def n_positive(numbers: Ints) -> int:
    count = 0
    for number in numbers:
        if number > 0:
            count += 1
    return count


@part
def contains(numbers: Ints, wanted: int) -> bool:
    found = False
    for number in numbers:
        found |= number == wanted
    return found


@part
def sort_few(places: Ints, start: int, end: int) -> None:
    """Sort ``places[start:end]``, a few numbers, in place."""
    for i in range(start + 1, end):
        value = places[i]
        j = i
        while j > start and places[j - 1] > value:
            places[j] = places[j - 1]
            j -= 1
        places[j] = value


@kernel
def set_number(places: Ints, start: int, end: int, n: int, choose: Ints) -> int:
    """Return the number of the set of cards with the ascending indices ``places[start:end]`` in the deck."""
    k = end - start
    out = choose[n, k] - 1
    for i in range(k):
        out -= choose[n - 1 - places[start + i], k - i]
    return int(out)


@kernel
def numbered_set(number: int, n: int, k: int, choose: Ints, out: Ints, start: int) -> None:
    """Write the deck indices of the cards in set ``number`` of all sets of k cards to ``out[start : start + k]``."""
    rest = choose[n, k] - 1 - number
    x = n - 1
    for i in range(k):
        while choose[x, k - i] > rest:
            x -= 1
        rest -= choose[x, k - i]
        out[start + i] = n - 1 - x
        x -= 1


@part
def board_number(places: Ints, groups: Ints, n: int, choose: Ints) -> int:
    """Return the number of a board with the deck indices ``places``; sort the indices of each group of cards."""
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
    """Find the canonical board of each board: the smallest of all boards that are equal up to suits.

    Canonical boards are numbered from 0 up. The function returns their count.

    Args:
        moved: ``[permutation, index in the deck]``, the index to which each suit permutation moves a card.
        inverse: ``[permutation]``, the inverse of each permutation.
        canonical: ``[board]``, output: the number of the canonical board; -1: the board has a card twice.
        perm_of: ``[board]``, output: the first permutation that maps the board onto its canonical board.
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


@part
def write_places(number: int, groups: Ints, n: int, choose: Ints, places: Ints) -> None:
    """Write the deck indices of the cards of board ``number`` into ``places``; the inverse of `board_number`."""
    end = len(places)
    for g in range(len(groups) - 1, -1, -1):
        size = groups[g]
        numbered_set(number % choose[n, size], n, size, choose, places, end - size)
        number //= choose[n, size]
        end -= size


@kernel
def fill_boards(numbers: Ints, groups: Ints, n: int, choose: Ints, out: Ints) -> None:
    """Write the deck indices of the cards of boards with the given numbers: ``out[board, card]``."""
    for b in range(len(numbers)):
        write_places(numbers[b], groups, n, choose, out[b])


@part
def _twice(places: Ints) -> bool:
    for i in range(len(places)):
        for j in range(i):
            if places[i] == places[j]:
                return True
    return False
