"""Suit symmetry: suits have no order, so boards and ranges that differ by a renaming of suits play alike.

A *suit permutation* is an array ``perm`` of shape (4,): suit s becomes ``perm[s]``. A set of permutations, shape
(n_perms, 4), must be a group with the identity in row 0; `suit_permutations`, `stabilizer` and `range_symmetries`
return such groups. The identity alone, ``suit_permutations(deck)[:1]``, turns symmetry off.

A *public history* is a tuple with one tuple of cards per round that dealt any, such as ``((f1, f2, f3), (t,),
(r,))``. The order of cards within a round has no meaning (they are ascending); the order of the rounds
has. See K. Waugh, "A Fast and Optimal Hand Isomorphism Algorithm" (2013), for the general problem; the
public cards alone are few enough for a search through at most 24 permutations.
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
"""Deals that are alike: the cards of each, and the suit permutation that maps them onto the first deal's cards."""


class Deal(NamedTuple):
    """All deals that are one deal up to symmetry.

    Attributes:
        history: the history after the deal that stands for all of them.
        members: the cards of each deal, with the suit permutation that leaves the history before the deal unchanged
            and maps these cards onto those of `history`. The first member is `history`'s own deal, with the identity.
    """

    history: History
    members: Members


class CanonicalBoard(NamedTuple):
    """A board of `board_levels`.

    Attributes:
        history: the public cards.
        parent: number of the board above, in the level above; -1 in the first level.
        entry: number of the board among those that follow its parent; -1 in the first level.
        members: the deals after `parent` for which this board stands, as in `Deal`.
    """

    history: History
    parent: int
    entry: int
    members: Members


def canonical(
    history: Sequence[Sequence[int]], deck: Deck, perms: Perms | None = None
) -> tuple[History, Perms]:
    """Return the smallest equivalent history, and a permutation that maps the given one onto it.

    >>> canonical(((46, 50, 51),), Deck())[0]
    ((44, 48, 49),)
    """
    checked = check_history(history, deck)
    group = suit_permutations(deck) if perms is None else perms
    images = [(_image(checked, perm), number) for number, perm in enumerate(group.tolist())]
    smallest, number = min(images)
    return smallest, group[number]


def stabilizer(history: History, perms: Perms) -> Perms:
    """Select the permutations that leave a history unchanged, in their order; each round is ascending."""
    return perms[[_image(history, perm) == history for perm in perms.tolist()]]


def deals(
    history: Sequence[Sequence[int]], n_cards: int, deck: Deck, perms: Perms | None = None
) -> list[Deal]:
    """List all ways to deal `n_cards` more after a history, deals that are alike together, in ascending order.

    Two deals are alike if a permutation in `perms` (default: all of the deck's) leaves `history` unchanged and maps one
    deal onto the other. If `history` is canonical under `perms`, then so is each `Deal.history`. The members of all
    deals together are all ``comb(cards left, n_cards)`` deals. No cards are one deal, after which the history is the
    same.
    """
    checked = check_history(history, deck)
    group = suit_permutations(deck) if perms is None else perms
    _check_group(tuple(tuple(perm) for perm in group.tolist()), deck)
    seen = {card for dealt in checked for card in dealt}
    left = [card for card in deck.cards if card not in seen]
    if not 0 <= n_cards <= len(left):
        raise BoardError(f"cards to deal: expected 0 to the {len(left)} that are left, got {n_cards!r}")
    if not n_cards:
        return [Deal(checked, (((), group[0]),))]
    fixing = stabilizer(checked, group)
    dealt = list(combinations(left, n_cards))
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
    """Enumerate the canonical boards of a start and of each following round, level by level.

    >>> [len(level) for level in board_levels(Deck(num_ranks=3, num_suits=2), (1, 1))]
    [1, 3, 15]

    Args:
        deck: the cards of the game.
        sizes: number of cards that each round after the start deals.
        perms: the suit permutations under which boards are alike; None: all of the deck's.
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
    """Return the first boards up to symmetry, shape (n_boards, n_cards), and for how many boards each one stands.

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

    A permutation of suits leaves a board unchanged if the board is made of whole cycles of cards. Each cycle of suits
    makes one cycle of cards for every rank.

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
    """Rename the suits of an array of cards."""
    card_array = np.asarray(cards, dtype=np.int64)
    renamed: NDArray[np.int64] = (card_array & ~3) | np.asarray(perm, dtype=np.int64)[card_array & 3]
    return renamed


def hand_orbits(board: Sequence[int], hands: NDArray[np.integer], deck: Deck) -> NDArray[np.int64]:
    """Number the orbits of hands under the symmetries of a board, from 0: shape (n_hands,)."""
    perms = stabilizer((tuple(sorted(board)),), suit_permutations(deck))
    place = NUM_CARDS ** np.arange(hands.shape[1])
    codes = [np.sort(permute_cards(hands, perm), axis=1) @ place for perm in perms]
    kinds: NDArray[np.int64] = np.unique(np.min(codes, axis=0), return_inverse=True)[1]
    return kinds


def permute_history(history: Sequence[Sequence[int]], perm: ArrayLike) -> History:
    """Rename the suits of a history; each round of the result is ascending."""
    return _image(history, np.asarray(perm).tolist())


def hand_permutation(deck: Deck, hole_cards: int, perm: ArrayLike) -> NDArray[np.int64]:
    """Return the image of each hand: hand h becomes ``out[h]``, so ``moved[out] = weights`` permutes a range."""
    return _hand_permutation(deck, hole_cards, tuple(np.asarray(perm).tolist()))


def range_symmetries(
    weights: NDArray[np.floating], deck: Deck, hole_cards: int, perms: Perms | None = None
) -> Perms:
    """Select the permutations (default: from all of the deck's) that leave a range exactly unchanged, in their order.

    The symmetries of two ranges are the result of a second call with the result of the first call as `perms`.
    """
    n_hands = len(hands(deck, hole_cards))
    if weights.shape != (n_hands,):
        raise RangeError(f"weights: expected shape ({n_hands},), got {weights.shape}")
    group = suit_permutations(deck) if perms is None else perms
    kept = [np.array_equal(weights[hand_permutation(deck, hole_cards, perm)], weights) for perm in group]
    return group[kept]


def check_history(history: Sequence[Sequence[int]], deck: Deck) -> History:
    """Return a history with each round ascending; raise BoardError if its cards are not cards of this deck."""
    checked = tuple(tuple(sorted(int(card) for card in dealt)) for dealt in history)
    cards = [card for dealt in checked for card in dealt]
    strangers = set(cards).difference(deck.cards)
    if strangers:
        raise BoardError(f"history: expected cards of {deck}, got {_describe(sorted(strangers))}")
    if len(set(cards)) < len(cards):
        raise BoardError(f"history: expected each card once, got {cards_name(cards)}")
    return checked


def _cycle_lengths(perm: Sequence[int], suits: Iterable[int]) -> Iterator[int]:
    left = set(suits)
    while left:
        length, suit = 0, min(left)
        while suit in left:
            left.remove(suit)
            length, suit = length + 1, perm[suit]
        yield length


def _image(history: Sequence[Sequence[int]], perm: Sequence[int]) -> History:
    return tuple(tuple(sorted([(card & ~3) | perm[card & 3] for card in dealt])) for dealt in history)


def _smallest_images(cards: NDArray[np.int64], perms: Perms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the smallest image of each row of cards, as a number in base 52, and the first permutation onto it."""
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
