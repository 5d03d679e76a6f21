"""Suit symmetry: suits have no order, so boards and ranges play alike if they differ only by a renaming of suits.

Such boards (or hands, or deals) are called equal up to suits.

A *suit permutation* is an array ``perm`` of shape (4,): suit s becomes ``perm[s]``. A set of permutations, shape
(n_perms, 4), must be a group with the identity in row 0; `suit_permutations`, `stabilizer` and `range_symmetries`
return such groups. The identity alone, ``suit_permutations(deck)[:1]``, turns symmetry off.

A *public history* has one tuple of cards for each round that dealt cards, such as ``((f1, f2, f3), (t,), (r,))``. The
order of the rounds matters; the cards of a round are ascending. K. Waugh, "A Fast and Optimal Hand Isomorphism
Algorithm" (2013), treats the general problem; for public cards alone it is enough to try at most 24 permutations.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards.cards import NUM_CARDS, SUITS, Deck, cards_name
from buckets.cards.hands import hand_index, hands
from buckets.errors import BoardError, RangeError

History: TypeAlias = tuple[tuple[int, ...], ...]
Perms: TypeAlias = NDArray[np.int8]


Members: TypeAlias = tuple[tuple[tuple[int, ...], Perms], ...]
"""Deals that are equal up to suits: the cards of each deal, and the suit permutation from them to the first deal's."""


class Deal(NamedTuple):
    """All deals after a public history that are equal up to suits.

    Attributes:
        history: the public history after the first of these deals.
        members: for each deal its cards, and a suit permutation that maps them onto the cards of the first deal and
            leaves the history before the deal unchanged. The first deal has the identity.
    """

    history: History
    members: Members


class CanonicalBoard(NamedTuple):
    """A canonical board of one round, in an enumeration round by round (`board_levels`).

    Attributes:
        parent: index of the board before the last deal, in the list of the round before; -1 in the first list.
        entry: index of the board among the boards that follow the parent; -1 in the first list.
        members: the deals after the parent that lead to this board up to suits, as in `Deal`.
    """

    history: History
    parent: int
    entry: int
    members: Members


def canonical(
    history: Sequence[Sequence[int]], deck: Deck, perms: Perms | None = None
) -> tuple[History, Perms]:
    """Return the smallest history that is equal to a history up to suits, and a suit permutation that makes it.

    The permutation has shape (4,). ``perms`` (n_perms, 4) are the permutations to try; None: all of the deck's.

    >>> canonical(((46, 50, 51),), Deck())[0]
    ((44, 48, 49),)
    """
    checked = check_history(history, deck)
    group = suit_permutations(deck) if perms is None else perms
    images = [(_image(checked, perm), number) for number, perm in enumerate(group.tolist())]
    smallest, number = min(images)
    return smallest, group[number]


def stabilizer(history: History, perms: Perms) -> Perms:
    """Select the suit permutations that leave a history unchanged; the cards of each round must be ascending."""
    return perms[[_image(history, perm) == history for perm in perms.tolist()]]


def deals(
    history: Sequence[Sequence[int]], n_cards: int, deck: Deck, perms: Perms | None = None
) -> list[Deal]:
    """List all ways to deal `n_cards` more cards after a history; ways that are equal up to suits share a `Deal`.

    Two deals are equal up to suits if a permutation in `perms` (default: all of the deck's) leaves `history` unchanged
    and maps one deal onto the other. The list is in ascending order of the first members. If `history` is canonical
    under `perms`, then so is each `Deal.history`. With ``n_cards = 0`` there is one deal, which leaves the history
    unchanged.
    """
    checked = check_history(history, deck)
    group = suit_permutations(deck) if perms is None else perms
    _check_group(tuple(tuple(perm) for perm in group.tolist()), deck)
    public = {card for cards in checked for card in cards}
    remaining = [card for card in deck.cards if card not in public]
    if not 0 <= n_cards <= len(remaining):
        raise BoardError(f"cards to deal: expected 0 to the {len(remaining)} that remain, got {n_cards!r}")
    if not n_cards:
        return [Deal(checked, (((), group[0]),))]
    fixing = stabilizer(checked, group)
    dealt = list(combinations(remaining, n_cards))
    smallest, by_perm = _smallest_images(np.array(dealt, dtype=np.int64), fixing)
    members: dict[int, list[tuple[tuple[int, ...], Perms]]] = {}
    perm_rows = list(fixing)
    # `dealt` ascends, so the smallest deal of each orbit comes first in its orbit, and the orbits ascend.
    for cards, code, perm in zip(dealt, smallest.tolist(), by_perm.tolist(), strict=True):
        members.setdefault(code, []).append((cards, perm_rows[perm]))
    return [Deal((*checked, orbit[0][0]), tuple(orbit)) for orbit in members.values()]


def board_levels(
    deck: Deck, sizes: Sequence[int], perms: Perms | None = None, start: History = ()
) -> Iterator[list[CanonicalBoard]]:
    """Enumerate canonical boards round by round: first a list with `start` alone, then a list for each later round.

    >>> [len(level) for level in board_levels(Deck(num_ranks=3, num_suits=2), (1, 1))]
    [1, 3, 15]

    Args:
        sizes: number of cards that each round after the start deals.
        perms: the suit permutations that may be applied to boards; None: all of the deck's.
        start: the history from which the enumeration starts, canonical under `perms`.
    """
    identity = (suit_permutations(deck) if perms is None else perms)[0]
    level = [CanonicalBoard(start, -1, -1, (((), identity),))]
    yield level
    for size in sizes:
        level = [
            CanonicalBoard(deal.history, parent, entry, deal.members)
            for parent, board in enumerate(level)
            for entry, deal in enumerate(deals(board.history, size, deck, perms))
        ]
        yield level


@lru_cache(maxsize=8)
def canonical_flops(
    deck: Deck | None = None, n_cards: int = 3
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one flop of each set of flops that are equal up to suits, and the sizes of these sets.

    The shapes are (n_flops, n_cards) and (n_flops,).

    >>> flops, counts = canonical_flops()
    >>> len(flops), int(counts.sum())
    (1755, 22100)
    """
    orbits = deals((), n_cards, deck or Deck())
    flops = np.array([orbit.history[0] for orbit in orbits], dtype=np.int64)
    counts = np.array([len(orbit.members) for orbit in orbits], dtype=np.int64)
    flops.flags.writeable = counts.flags.writeable = False
    return flops, counts


def count_boards(deck: Deck, n_cards: int) -> int:
    """Count the sets of `n_cards` cards up to symmetry, without listing them (Burnside's lemma).

    A permutation of suits splits the cards into cycles: each cycle of suits makes one cycle of cards for every rank. It
    leaves a board unchanged if the board consists of whole cycles.

    >>> [count_boards(Deck(), n_cards) for n_cards in (0, 3, 4, 5)]
    [1, 1755, 16432, 134459]
    """
    perms = suit_permutations(deck).tolist()
    fixed = 0
    for perm in perms:
        boards = [1] + [0] * n_cards  # by number of cards
        for length in _cycle_lengths(perm, range(len(SUITS) - deck.num_suits, len(SUITS))):
            boards = [
                sum(comb(deck.num_ranks, k) * boards[n - k * length] for k in range(n // length + 1))
                for n in range(n_cards + 1)
            ]
        fixed += boards[n_cards]
    return fixed // len(perms)


@lru_cache(maxsize=32)
def suit_permutations(deck: Deck) -> Perms:
    """Return all permutations of the deck's suits, (n_perms, 4), the identity first; other suits stay unchanged."""
    absent = range(len(SUITS) - deck.num_suits)
    present = range(len(SUITS) - deck.num_suits, len(SUITS))
    perms = np.array([(*absent, *images) for images in permutations(present)], dtype=np.int8)
    perms.flags.writeable = False
    return perms


def permute_cards(cards: ArrayLike, perm: ArrayLike) -> NDArray[np.int64]:
    """Apply a suit permutation to an array of cards."""
    card_array = np.asarray(cards, dtype=np.int64)
    renamed: NDArray[np.int64] = (card_array & ~3) | np.asarray(perm, dtype=np.int64)[card_array & 3]
    return renamed


def hand_orbits(board: Sequence[int], hands: NDArray[np.integer], deck: Deck) -> NDArray[np.int64]:
    """Return a number for each hand, equal for hands that are equal up to suits on a board: shape (n_hands,).

    Numbers start at 0, without gaps.
    """
    perms = stabilizer((tuple(sorted(board)),), suit_permutations(deck))
    place = NUM_CARDS ** np.arange(hands.shape[1])
    codes = [np.sort(permute_cards(hands, perm), axis=1) @ place for perm in perms]
    kinds: NDArray[np.int64] = np.unique(np.min(codes, axis=0), return_inverse=True)[1]
    return kinds


def permute_history(history: Sequence[Sequence[int]], perm: ArrayLike) -> History:
    """Apply a suit permutation to a history; the cards of each round of the result are ascending."""
    return _image(history, np.asarray(perm).tolist())


def hand_permutation(deck: Deck, hole_cards: int, perm: ArrayLike) -> NDArray[np.int64]:
    """Return the number of the hand that each hand becomes under a suit permutation: hand h becomes hand ``out[h]``.

    So ``permuted[out] = weights`` permutes a range.
    """
    return _hand_permutation(deck, hole_cards, tuple(np.asarray(perm).tolist()))


def hand_permutations(deck: Deck, hole_cards: int) -> NDArray[np.int16]:
    """Return the number of the hand that each hand becomes under each suit permutation: ``[permutation, hand]``."""
    perms = suit_permutations(deck)
    return np.array([hand_permutation(deck, hole_cards, perm) for perm in perms], dtype=np.int16)


def range_symmetries(
    weights: NDArray[np.floating], deck: Deck, hole_cards: int, perms: Perms | None = None
) -> Perms:
    """Select the suit permutations that leave a range exactly unchanged.

    Args:
        weights: (n_hands,), the range.
        perms: permutations to select from; None: all of the deck's. To get the symmetries that two ranges have in
            common, call the function for one range, and pass the result in the call for the other range.
    """
    n_hands = len(hands(deck, hole_cards))
    if weights.shape != (n_hands,):
        raise RangeError(f"weights: expected shape ({n_hands},), got {weights.shape}")
    group = suit_permutations(deck) if perms is None else perms
    kept = [np.array_equal(weights[hand_permutation(deck, hole_cards, perm)], weights) for perm in group]
    return group[kept]


def check_history(history: Sequence[Sequence[int]], deck: Deck) -> History:
    """Return a history with the cards of each round ascending.

    Raises:
        BoardError: a card is not in the deck, or occurs twice.
    """
    checked = tuple(tuple(sorted(int(card) for card in dealt)) for dealt in history)
    cards = [card for dealt in checked for card in dealt]
    foreign = set(cards).difference(deck.cards)
    if foreign:
        raise BoardError(f"history: expected cards of {deck}, got {_describe(sorted(foreign))}")
    if len(set(cards)) < len(cards):
        raise BoardError(f"history: expected each card once, got {cards_name(cards)}")
    return checked


def _cycle_lengths(perm: Sequence[int], suits: Iterable[int]) -> Iterator[int]:
    remaining = set(suits)
    while remaining:
        length, suit = 0, min(remaining)
        while suit in remaining:
            remaining.remove(suit)
            length, suit = length + 1, perm[suit]
        yield length


def _image(history: Sequence[Sequence[int]], perm: Sequence[int]) -> History:
    return tuple(tuple(sorted([(card & ~3) | perm[card & 3] for card in dealt])) for dealt in history)


def _smallest_images(cards: NDArray[np.int64], perms: Perms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the smallest row of cards that a suit permutation makes of each row of cards.

    The smallest row is a number in base 52; the second result is the index of the first permutation that makes it.
    """
    n_cards = cards.shape[1]
    place_values = NUM_CARDS ** np.arange(n_cards - 1, -1, -1, dtype=np.int64)
    smallest = np.full(len(cards), np.iinfo(np.int64).max)
    by_perm = np.zeros(len(cards), dtype=np.int64)
    for number, perm in enumerate(perms):
        codes = np.sort(permute_cards(cards, perm), axis=1) @ place_values
        better = codes < smallest
        smallest[better] = codes[better]
        by_perm[better] = number
    return smallest, by_perm


@lru_cache(maxsize=256)
def _hand_permutation(deck: Deck, hole_cards: int, perm: tuple[int, ...]) -> NDArray[np.int64]:
    moved = hand_index(deck, permute_cards(hands(deck, hole_cards), perm))
    moved.flags.writeable = False
    return moved


@lru_cache(maxsize=256)
def _check_group(perms: tuple[tuple[int, ...], ...], deck: Deck) -> None:
    allowed = {tuple(perm) for perm in suit_permutations(deck).tolist()}
    if not allowed.issuperset(perms):
        raise BoardError(f"suit permutations: expected only those of {deck}, got {perms}")
    if perms[:1] != (tuple(range(len(SUITS))),):
        raise BoardError(f"suit permutations: expected the identity first, got {perms[:1]}")
    products = {tuple(left[suit] for suit in right) for left in perms for right in perms}
    if not products.issubset(perms):
        raise BoardError(f"suit permutations: expected a group, but {products.difference(perms)} is missing")


def _describe(cards: Sequence[int]) -> str:
    return ", ".join(cards_name([card]) if 0 <= card < NUM_CARDS else str(card) for card in cards)
