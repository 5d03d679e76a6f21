"""Numbered deals, and the board buckets and rows of boards: see `buckets.abstraction.abstraction`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.spec import BY_BOARD, BY_GRADE, BY_HAND, NO_ROW
from buckets.cards.cards import NUM_CARDS
from buckets.kernels.combinations import board_number, contains, n_positive, numbered_set
from buckets.kernels.percentiles import live_hands, sort_by_strength, sort_stably, write_grades
from buckets.kernels.strength import fill_strengths
from buckets.types import Array, Ints
from compiled import kernel, part

_SORTED = (1 << 10) + 1  # number of counters of a sort by ten bits


class Maps(NamedTuple):
    """The tables of an abstraction.

    From `canonical` on, all tables except `memory` are flat: the values of each round follow the values of the round
    before. A round *remembers* the flop if each of its board buckets belongs to one board bucket of flops.

    Attributes:
        hands: ``[hand, hole card]``.
        cards: ``[index in the deck]``, the cards of the deck.
        place: ``[card]``, the index of each card in the deck.
        choose: ``[n, k]``, binomial coefficients.
        perms: ``[permutation, suit]``, the suit permutations.
        moved: ``[permutation, hand]``, the hand that each hand becomes.
        n_cards: ``[round]``, number of cards of a board.
        groups: ``[round, group]``, number of cards of each group of a board (see `buckets.cards.boards`), then 0.
        kinds: ``[round]``, how rows are looked up, see `buckets.abstraction.spec`.
        starts: ``[round, 3]``, where the round begins in `canonical` and `perm_of`, in `board_buckets`, and in `rows`.
        canonical: the canonical board of each board, by board numbers.
        perm_of: the permutation that maps each board onto its canonical board, by board numbers.
        board_buckets: the board bucket of each canonical board.
        rows: the rows of a round ``[canonical board, hand]`` or ``[board bucket, grade]``.
        memory: ``[round, 2]``, number of canonical boards of a round that remembers the flop (0 for other rounds), and
            where the round begins in `pairs`.
        pairs: for rounds that remember the flop ``[board bucket of the flop, canonical board]``: the number that
            replaces the canonical board's number in `board_buckets` and `rows`.
    """

    hands: Ints
    cards: Ints
    place: Ints
    choose: Ints
    perms: Ints
    moved: NDArray[np.int16]
    n_cards: Ints
    groups: Ints
    kinds: Ints
    starts: Ints
    canonical: NDArray[np.int32]
    perm_of: NDArray[np.uint8]
    board_buckets: NDArray[np.int32]
    rows: NDArray[np.uint8]
    memory: Ints
    pairs: NDArray[np.int32]


class Scratch(NamedTuple):
    """Buffers for the computations on one board.

    Attributes:
        strength: ``[1, hand]``, strength of each hand; -1: the board blocks the hand.
        order: ``[hand]``, sorted hands.
        spare: ``[hand]``, for sorting.
        grade: ``[hand]``, grade of each hand's strength, see `buckets.abstraction.percentiles`.
        row: ``[hand]``, row of each hand.
        rank: ``[hand]``, index of each hand among the hands that share no card with the canonical board.
        counts: counters for sorting.
        places: ``[card]``, indices of the board's cards in the deck.
        board: ``[1, card]``, the board.
    """

    strength: NDArray[np.int32]
    order: NDArray[np.int16]
    spare: NDArray[np.int16]
    grade: NDArray[np.uint8]
    row: NDArray[np.int16]
    rank: NDArray[np.int16]
    counts: Ints
    places: Ints
    board: Ints


@part
def _scratch(n_hands: int, n_cards: int) -> Scratch:
    return Scratch(
        np.empty((1, n_hands), dtype=np.int32),
        np.empty(n_hands + 1, dtype=np.int16),
        np.empty(n_hands + 1, dtype=np.int16),
        np.empty(n_hands, dtype=np.uint8),
        np.empty(n_hands, dtype=np.int16),
        np.empty(n_hands, dtype=np.int16),
        np.empty(_SORTED, dtype=np.int64),
        np.empty(n_cards, dtype=np.int64),
        np.empty((1, n_cards), dtype=np.int64),
    )


@part
def _write_rank(hands: Ints, cards: Ints, rank: Array) -> None:
    """Set ``rank[hand]`` to the number of hands with smaller numbers that share no card with `cards`."""
    hit = np.zeros(NUM_CARDS, dtype=np.bool_)
    for card in cards:
        hit[card] = True
    n = 0
    for h in range(len(hands)):
        rank[h] = n
        n += not (hit[hands[h, 0]] or hit[hands[h, hands.shape[1] - 1]])


@part
def _number(maps: Maps, t: int, board: Ints, s: Scratch) -> int:
    """Return the index of a board of round t in `Maps.canonical` and `Maps.perm_of`."""
    n = maps.n_cards[t]
    places = s.places[:n]
    for i in range(n):
        places[i] = maps.place[board[i]]
    n_groups = n_positive(maps.groups[t])
    number = board_number(places, maps.groups[t, :n_groups], len(maps.cards), maps.choose)
    return int(maps.starts[t, 0] + number)


@part
def _locate(maps: Maps, t: int, board: Ints, s: Scratch) -> tuple[int, int, int]:
    """Look up a board of round t; in a round with a row for each hand also write ``s.rank``, see `Scratch`.

    Returns the canonical board's index within the round in `Maps.board_buckets`, the suit permutation onto this board,
    and the board bucket.
    """
    at = _number(maps, t, board, s)
    canonical, perm = maps.canonical[at], maps.perm_of[at]
    if maps.kinds[t] == BY_HAND:
        n = maps.n_cards[t]
        places = s.places[:n]
        for i in range(n):
            places[i] = (board[i] & ~3) | maps.perms[perm, board[i] & 3]
        _write_rank(maps.hands, places, s.rank)
    if maps.memory[t, 0]:
        first = len(maps.n_cards) - n_positive(maps.n_cards)
        board_bucket = maps.board_buckets[
            maps.starts[first, 1] + maps.canonical[_number(maps, first, board, s)]
        ]
        canonical = maps.pairs[maps.memory[t, 1] + board_bucket * maps.memory[t, 0] + canonical]
    return canonical, perm, maps.board_buckets[maps.starts[t, 1] + canonical]


@part
def _write_rows(maps: Maps, t: int, found: tuple[int, int, int], s: Scratch, n: int, out: Array) -> None:
    """Write the row of hand ``s.order[i]`` into ``out[i]``, for all i < n; ``found`` is the result of `_locate`."""
    canonical, perm, number = found
    moved = maps.moved[perm]
    start = maps.starts[t, 2]
    if maps.kinds[t] == BY_BOARD:
        start += canonical * len(maps.hands)
        for i in range(n):
            out[i] = maps.rows[start + moved[s.order[i]]]
    elif maps.kinds[t] == BY_GRADE:
        start += number * (NO_ROW + 1)
        for i in range(n):
            out[i] = maps.rows[start + s.grade[s.order[i]]]
    else:
        for i in range(n):
            out[i] = s.rank[moved[s.order[i]]]


@part
def _sort(maps: Maps, board: Ints, s: Scratch) -> int:
    """Sort the hands that a final board does not block by strength into ``s.order``; return their number.

    The function also writes the hands' strengths and grades into the buffers `s`.
    """
    fill_strengths(board, maps.hands, s.strength)
    n = live_hands(s.strength[0], s.order)
    sort_by_strength(s.strength[0], s.order, s.spare, n, s.counts)
    write_grades(s.strength[0], s.order, n, s.grade)
    return n


@kernel
def fill_boards(maps: Maps, t: int, boards: Ints, board_buckets: Array, rows: Array) -> None:
    """Look up boards ``[board, card]`` of round t: write their board buckets and the rows of all hands.

    The results go into ``board_buckets[board]`` and ``rows[board, hand]``; row -1: the board blocks the hand.
    """
    n_hands, hole = maps.hands.shape
    s = _scratch(n_hands, boards.shape[1])
    hit = np.zeros(NUM_CARDS, dtype=np.bool_)
    for b in range(len(boards)):
        if maps.kinds[t] == BY_GRADE:
            n = _sort(maps, boards[b : b + 1], s)
        else:
            hit[:] = False
            for card in boards[b]:
                hit[card] = True
            n = 0
            for h in range(n_hands):
                s.order[n] = h
                n += not (hit[maps.hands[h, 0]] or hit[maps.hands[h, hole - 1]])
        found = _locate(maps, t, boards[b], s)
        board_buckets[b] = found[2]
        _write_rows(maps, t, found, s, n, s.row)
        rows[b] = -1
        for i in range(n):
            rows[b, s.order[i]] = s.row[i]


@kernel
def fill_deals(
    maps: Maps,
    sizes: Ints,
    start: Ints,
    seed: int,
    numbers: Ints,
    board_buckets: Array,
    rows: Array,
    cards: Array,
    strength: Array,
    hands: Array,
    boards: Array,
) -> None:
    """Write the deals with the given numbers into the arrays of a `buckets.abstraction.Dealt`.

    ``sizes[round]`` is the number of cards that each round deals; ``start`` has the cards of the first rounds, with
    which every deal begins.
    """
    n_rounds, n_cards = len(sizes), boards.shape[1]
    hole = maps.hands.shape[1]
    s = _scratch(len(maps.hands), n_cards)
    left = np.empty(len(maps.cards), dtype=np.int64)
    number = np.empty(NUM_CARDS, dtype=np.int64)
    last = n_rounds - 1
    for b in range(len(boards)):
        n_left = _deal(maps, sizes, start, seed, numbers[b], left, s)
        n = _sort(maps, s.board, s)
        for i in range(n_cards):
            boards[b, i] = s.board[0, i]
        if maps.kinds[last] != BY_GRADE:  # a stronger hand can have a lower row
            _sort_by_row(maps, last, s, n)
        for t in range(n_rounds):
            found = _locate(maps, t, s.board[0], s)
            board_buckets[b, t] = found[2]
            _write_rows(maps, t, found, s, n, rows[b, t])
        for i in range(n_left):
            number[maps.cards[left[i]]] = i
        for i in range(n):
            h = s.order[i]
            hands[b, i] = h
            strength[b, i] = s.strength[0, h]
            cards[b, i, 0] = number[maps.hands[h, 0]]
            cards[b, i, 1] = number[maps.hands[h, 1]] if hole == 2 else n_left


@kernel
def fill_classes(maps: Maps, sizes: Ints, seed: int, first: int, board_buckets: Array) -> None:
    """Write the board buckets ``[deal, round]`` of consecutive deals, from deal number `first` on."""
    n_cards = 0
    for size in sizes:
        n_cards += size
    s = _scratch(len(maps.hands), n_cards)
    left, start = np.empty(len(maps.cards), dtype=np.int64), np.empty(0, dtype=np.int64)
    for b in range(len(board_buckets)):
        _deal(maps, sizes, start, seed, first + b, left, s)
        for t in range(len(sizes)):
            board_buckets[b, t] = _locate(maps, t, s.board[0], s)[2]


@part
def _sort_by_row(maps: Maps, t: int, s: Scratch, n: int) -> None:
    """Sort the hands ``s.order[:n]`` by strength, then by row in round t, then by number."""
    live_hands(s.strength[0], s.order)
    _write_rows(maps, t, _locate(maps, t, s.board[0], s), s, n, s.row)
    for i in range(n - 1, -1, -1):
        s.row[s.order[i]] = s.row[i]  # order[i] >= i, so no row is overwritten before it is moved
    for shift in (0, 8):
        sort_stably(s.row, shift, 8, s.order, s.spare, n, s.counts)
    sort_by_strength(s.strength[0], s.order, s.spare, n, s.counts)


@part
def _deal(maps: Maps, sizes: Ints, start: Ints, seed: int, index: int, left: Ints, s: Scratch) -> int:
    """Write the board of deal number `index` into ``s.board``, and the deck indices of the remaining cards into `left`.

    If there are N flops, N consecutive deals have each flop once (starting from a multiple of N). If N' turns can
    follow a flop, N' consecutive deals of that flop have each of these turns once, and so on.

    The board begins with the cards ``start`` of the first rounds, which may be none. The function returns the number of
    remaining cards.
    """
    n_left = 0
    for place in range(len(maps.cards)):
        if not contains(start, maps.cards[place]):
            left[n_left] = place
            n_left += 1
    for i in range(len(start)):
        s.board[0, i] = start[i]
    key = _mix(np.uint64(seed))
    block = index
    n_dealt = given = 0
    for size in sizes:
        if given < len(start):
            given += size
            n_dealt += size
            continue
        ways = maps.choose[n_left, size]
        block, place = block // ways, block % ways
        chosen = _permuted(place, ways, _mix(key + np.uint64(block)))
        key = _mix(key ^ _mix(np.uint64(chosen) + np.uint64(1)))
        numbered_set(chosen, n_left, size, maps.choose, s.places, 0)
        for i in range(size):
            s.board[0, n_dealt + i] = maps.cards[left[s.places[i]]]
            left[s.places[i]] = -1
        n_dealt += size
        n = 0
        for i in range(n_left):
            if left[i] >= 0:
                left[n] = left[i]
                n += 1
        n_left = n
    return n_left


@part
def _mix(x: Any) -> Any:
    """Return a pseudo-random number of 64 bits that depends on x: splitmix64 (G. Steele et al., 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@part
def _below(bits: Any, n: int) -> Any:
    """Turn 64 random bits into a number from 0 to n - 1; n is small."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@part
def _permuted(index: int, n: int, key: Any) -> Any:
    """Return the number to which a pseudo-random permutation of 0 to n - 1 maps `index`; `key` selects the permutation.

    Four rounds of a Feistel network, on the smallest even number of bits that holds n numbers, are repeated until the
    result is below n. Then a random number is added modulo n, which makes all results equally likely.
    """
    half = 1
    while 1 << (2 * half) < n:
        half += 1
    mask = (1 << half) - 1
    x: Any = index
    while True:
        high, low = x >> half, x & mask
        for step in range(4):
            bits = _mix(key + np.uint64((step + 1) << 32 | low))
            high, low = low, high ^ (np.int64(bits >> np.uint64(40)) & mask)
        x = high << half | low
        if x < n:
            break
    return (x + _below(_mix(key), n)) % n
