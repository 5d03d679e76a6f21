"""Made hands, draws and blockers by their usual names, for all hands on a board at once.

Each hand has one name of `MADE`. Below a straight, only pairs that use a hole card count:

- straight flush, quads, full house, flush, straight: the best five cards, even if they all lie on the board;
- set: a pocket pair and a third card of its rank on the board;
- trips: a pair on the board and a hole card of its rank;
- two pair: both hole cards pair cards of the board;
- overpair: a pocket pair above all ranks of the board;
- pocket below top: a pocket pair below one rank of the board;
- underpair: a pocket pair below two or more ranks of the board;
- pocket pair: any pair before the flop;
- top pair, second pair, low pair: a hole card pairs the highest, the second highest, or a lower rank of the board;
- ace high, king high, nothing: no pair; the name depends on the higher hole card.

A pair that is not among the best five cards, such as 33 on KK77, does not count. Board cards of equal rank count as one
rank. The names in `MADE` go from weak to strong, except that some underpairs beat some low pairs.

A hand has any number of `DRAWS`, but only to hands that beat its made hand, and none before the flop or on the river:

- flush draw: four cards of a suit, with at least one hole card;
- nut flush draw: a flush draw with the highest card of the suit that is not on the board;
- OESD: four consecutive ranks that a card at either end completes to a straight;
- double gutshot: no OESD, but two or more ranks complete a straight;
- gutshot: one rank completes a straight;
- backdoor flush draw: on the flop, two hole cards and one board card of the same suit;
- backdoor straight draw: on the flop, without an OESD or a gutshot, two hole cards and one board card with different
  ranks within five consecutive ranks;
- overcards: two unpaired hole cards above all ranks of the board.

A straight counts only if it beats the straight that the board makes with the same card.

A hand has `BLOCKERS` only of hands that are better than the hand itself:

- nut flush blocker: the board has three or more cards of a suit, and the hand has the highest other card of the suit;
- nut straight blocker: the hand has a card of a rank that the highest possible straight needs beside the board.

>>> from buckets.cards import parse_hand
>>> kinds = kinds_of("Qs Jh 2h", [parse_hand("AhTh"), parse_hand("QdJd"), parse_hand("8c8d")])
>>> kinds.made_names
('ace high', 'two pair', 'underpair')
>>> kinds.draw_names
('nut flush draw, gutshot', '', '')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards import Deck, cards_name, hands, parse_cards
from buckets.cards.rank_sets import (
    CATEGORY_SHIFT,
    FLUSH,
    FULL_HOUSE,
    N_RANKS,
    QUADS,
    STRAIGHT,
    STRAIGHT_FLUSH,
    STRAIGHT_TOP,
    TRIPS,
    board_strength,
)
from buckets.errors import BoardError
from buckets.types import Ints

__all__ = ["BLOCKERS", "DRAWS", "MADE", "HandKinds", "kinds_of"]

MADE = (
    "nothing",
    "king high",
    "ace high",
    "low pair",
    "underpair",
    "second pair",
    "pocket below top",
    "top pair",
    "overpair",
    "pocket pair",
    "two pair",
    "trips",
    "set",
    "straight",
    "flush",
    "full house",
    "quads",
    "straight flush",
)
"""Names of made hands, from the weakest to the strongest."""
DRAWS = (
    "overcards",
    "backdoor straight draw",
    "backdoor flush draw",
    "gutshot",
    "double gutshot",
    "OESD",
    "flush draw",
    "nut flush draw",
)
"""Names of draws, from the weakest to the strongest."""
BLOCKERS = ("nut straight blocker", "nut flush blocker")

_NUMBER = {name: number for number, name in enumerate(MADE)}
_BEST_FIVE = {
    STRAIGHT: "straight",
    FLUSH: "flush",
    FULL_HOUSE: "full house",
    QUADS: "quads",
    STRAIGHT_FLUSH: "straight flush",
}
_BITS = 1 << np.arange(N_RANKS)
_TOPS = range(3, N_RANKS)
"""Highest rank of each possible straight, from five-high to ace-high."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class HandKinds:
    """Made hands, draws and blockers of hands on a board.

    Attributes:
        made: ``[hand]``, the position of the made hand in `MADE`; -1: the board blocks the hand.
        draws: ``[hand, draw]``, whether each hand has each of `DRAWS`. A nut flush draw is a flush draw, too.
        blockers: ``[hand, blocker]``, whether each hand has each of `BLOCKERS`.
        strength: ``[hand]``, the strength as in `buckets.cards.strength`; -1: the board blocks the hand.
    """

    made: NDArray[np.int8]
    draws: Bools
    blockers: Bools
    strength: Ints

    @cached_property
    def made_names(self) -> tuple[str, ...]:
        """Name of each hand's made hand; an empty text if the board blocks the hand."""
        return tuple(MADE[number] if number >= 0 else "" for number in self.made.tolist())

    @cached_property
    def draw_names(self) -> tuple[str, ...]:
        """Names of each hand's draws, separated by commas, the strongest first."""
        draws = self.draws.copy()
        draws[:, DRAWS.index("flush draw")] &= ~draws[:, DRAWS.index("nut flush draw")]
        return _joined(draws, DRAWS)

    @cached_property
    def blocker_names(self) -> tuple[str, ...]:
        """Names of each hand's blockers, separated by commas."""
        return _joined(self.blockers, BLOCKERS)


def kinds_of(board: str | Sequence[int], combos: ArrayLike | None = None) -> HandKinds:
    """Find the made hand, the draws and the blockers of hold'em hands on a board.

    Args:
        board: 0, 3, 4 or 5 cards.
        combos: ``[hand, hole card]``, the hands; None: all 1326, in the order of `buckets.cards.hands`.
    """
    public = np.array(parse_cards(board) if isinstance(board, str) else tuple(board), dtype=np.int64)
    if len(public) not in (0, 3, 4, 5):
        raise BoardError(f"board {cards_name(public)!r}: expected 0, 3, 4 or 5 cards, found {len(public)}")
    cards = np.asarray(hands(Deck(), 2) if combos is None else combos, dtype=np.int64).reshape(-1, 2)
    cards = np.sort(cards, axis=1)
    value = board_strength(public, cards).astype(np.int64)
    left = value >= 0
    made = np.where(left, _made(public, cards, value), -1).astype(np.int8)
    draws = np.zeros((len(cards), len(DRAWS)), dtype=np.bool_)
    blockers = np.zeros((len(cards), len(BLOCKERS)), dtype=np.bool_)
    category = value >> CATEGORY_SHIFT
    if len(public) in (3, 4):
        drawing = _flush_draws(public, cards, category) | _straight_draws(public, cards, category)
        drawing["overcards"] = (made <= _NUMBER["ace high"]) & (cards[:, 0] >> 2 > public.max() >> 2)
        for name, having in drawing.items():
            draws[:, DRAWS.index(name)] = having & left
    if len(public):
        blockers[:, 0] = _blocks_straight(public, cards) & (category < STRAIGHT) & left
        blockers[:, 1] = _blocks_flush(public, cards) & (category < FLUSH) & left
    return HandKinds(made, draws, blockers, value)


def _joined(having: Bools, names: tuple[str, ...]) -> tuple[str, ...]:
    codes = (having @ (1 << np.arange(len(names)))).tolist()
    strongest_first = range(len(names) - 1, -1, -1)
    texts = {code: ", ".join(names[n] for n in strongest_first if code >> n & 1) for code in set(codes)}
    return tuple(texts[code] for code in codes)


def _made(public: Ints, cards: Ints, value: Ints) -> Ints:
    """Return the position of each hand's made hand in `MADE`: ``[hand]``.

    Args:
        cards: ``[hand, hole card]``, the lower hole card first.
        value: ``[hand]``, the strength as in `buckets.cards.strength`.
    """
    category, main = value >> CATEGORY_SHIFT, value >> N_RANKS & (1 << N_RANKS) - 1
    low, high = (cards >> 2).T
    pocket = low == high
    made = np.full(len(cards), _NUMBER["nothing"])
    made[high == N_RANKS - 2] = _NUMBER["king high"]
    made[high == N_RANKS - 1] = _NUMBER["ace high"]
    if not len(public):
        return np.where(pocket, _NUMBER["pocket pair"], made)
    on_board = np.isin(np.arange(N_RANKS), public >> 2)
    low_pairs = (main >> low & 1 > 0) & (pocket | on_board[low])
    high_pairs = (main >> high & 1 > 0) & (pocket | on_board[high])
    paired = low_pairs | high_pairs
    made = np.where(paired, _pairs(np.where(high_pairs, high, low), pocket, on_board), made)
    made[low_pairs & high_pairs & ~pocket] = _NUMBER["two pair"]
    made[paired & (category == TRIPS)] = _NUMBER["trips"]
    made[paired & pocket & (category == TRIPS)] = _NUMBER["set"]
    for number, name in _BEST_FIVE.items():
        made[category == number] = _NUMBER[name]
    return made


def _pairs(rank: Ints, pocket: Bools, on_board: Bools) -> Ints:
    """Return the position of each pair's name in `MADE`: ``[hand]``.

    Args:
        rank: ``[hand]``, the rank of the pair.
        pocket: ``[hand]``, whether the hole cards are the pair.
        on_board: ``[rank]``, whether the board has the rank.
    """
    above = on_board.sum() - np.cumsum(on_board)[rank]
    names = ("overpair", "pocket below top", "underpair"), ("top pair", "second pair", "low pair")
    numbers = np.array([[_NUMBER[name] for name in row] for row in names])
    names_of_pairs: Ints = numbers[np.where(pocket, 0, 1), np.minimum(above, 2)]
    return names_of_pairs


def _flush_draws(public: Ints, cards: Ints, category: Ints) -> dict[str, Bools]:
    """Return a mask ``[hand]`` for each flush draw by name; ``category[hand]`` is that of the best five cards."""
    held = (cards[:, :, None] & 3 == np.arange(4)).sum(axis=1)  # [hand, suit]
    together = held + np.bincount(public & 3, minlength=4)
    open_ = category < FLUSH
    drawing = (together == 4) & (held > 0) & open_[:, None]
    three = (together == 3) & (held == 2) & open_[:, None]
    return {
        "flush draw": drawing.any(axis=1),
        "nut flush draw": (drawing & _holds(cards, _highest_others(public))).any(axis=1),
        "backdoor flush draw": three.any(axis=1) & (len(public) == 3),
    }


def _straight_draws(public: Ints, cards: Ints, category: Ints) -> dict[str, Bools]:
    """Return a mask ``[hand]`` for each straight draw by name; ``category[hand]`` is that of the best five cards."""
    board = int(np.bitwise_or.reduce(_BITS[public >> 2]))
    held = np.bitwise_or.reduce(_BITS[cards >> 2], axis=1)
    outs = STRAIGHT_TOP[held | board | _BITS[:, None]] > STRAIGHT_TOP[board | _BITS][:, None]  # [rank, hand]
    outs &= category < STRAIGHT
    both_sides = np.zeros(len(cards), dtype=np.bool_)
    for rank in range(-1, N_RANKS - 5):  # the ace counts below the deuce, which is rank 0
        row = 0b1111 << rank + 1
        both_sides |= ((held | board) & row == row) & outs[rank] & outs[rank + 5]
    n_outs = outs.sum(axis=0)
    near = np.zeros(len(cards), dtype=np.bool_)
    for top in _TOPS:
        run = _run(top)
        near |= (held & ~run == 0) & ((board & run & ~held) > 0)
    two_ranks = cards[:, 0] >> 2 != cards[:, 1] >> 2
    backdoor = near & two_ranks & (n_outs == 0) & (category < STRAIGHT)
    return {
        "OESD": both_sides,
        "double gutshot": (n_outs > 1) & ~both_sides,
        "gutshot": n_outs == 1,
        "backdoor straight draw": backdoor & (len(public) == 3),
    }


def _blocks_flush(public: Ints, cards: Ints) -> Bools:
    possible = np.bincount(public & 3, minlength=4) >= 3
    wanted = _highest_others(public)[possible]
    return np.asarray(np.isin(cards, wanted).any(axis=1))


def _blocks_straight(public: Ints, cards: Ints) -> Bools:
    board = int(np.bitwise_or.reduce(_BITS[public >> 2]))
    runs = [run for run in map(_run, _TOPS) if (board & run).bit_count() >= 3]
    missing = runs[-1] & ~board if runs else 0
    return np.asarray(np.isin(cards >> 2, np.flatnonzero(missing & _BITS)).any(axis=1))


def _run(top: int) -> int:
    """Return the five ranks of a straight, given its highest rank, as a bit mask."""
    return sum(1 << rank % N_RANKS for rank in range(top - 4, top + 1))


def _highest_others(public: Ints) -> Ints:
    """Return, for each suit, the highest card that is not on the board."""
    left = np.setdiff1d(np.arange(4 * N_RANKS), public, assume_unique=True)
    return np.array([left[left & 3 == suit][-1] for suit in range(4)])


def _holds(cards: Ints, wanted: Ints) -> Bools:
    """Return ``[hand, wanted card]``, whether each hand holds each wanted card."""
    held: Bools = (cards[:, :, None] == wanted).any(axis=1)
    return held
