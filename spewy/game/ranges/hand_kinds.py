"""Made hands, draws and blockers by their usual names, for all hands on a board at once.

A hand has one name of `MADE`, weakest first. Below a straight only the hole cards' contribution counts:

- straight flush, quads, full house, flush, straight: the best five cards, even if they all lie on the board;
- set: a pocket pair and a third card of its rank on the board; trips: a pair on the board and a hole card of its rank;
- two pair: both hole cards pair cards of the board;
- overpair, pocket below top: a pocket pair with no rank, or one rank, of the board above it;
- top pair, second pair: a hole card pairs the board's highest, or its second highest, rank;
- low pair: a hole card pairs a lower rank of the board;
- underpair: a pocket pair with two or more ranks of the board above it. Before the flop it is a pocket pair;
- ace high, king high, nothing: no pair, by the higher hole card.

A pair that is not among the best five cards, such as 33 on KK77, does not count, and a rank of a paired board counts
once. So of two hands with different names the hand with the later name is better, except that underpairs can be better
or worse than low pairs.

A hand has any number of `DRAWS`, only to hands that beat its made hand, and none before the flop or on the river:

- flush draw: four cards of a suit, with at least one hole card; nut flush draw: a hole card is the highest card of the
  suit that is not on the board;
- OESD: four ranks in a row that a card on either side completes to a straight; double gutshot: two or more ranks
  complete a straight in another way; gutshot: one rank does. The straight must beat the board's own straight with that
  card;
- backdoor flush draw: on the flop, two hole cards and one of the board's in a suit;
- backdoor straight draw: on the flop, without another draw to a straight, two hole cards and one board card with
  different ranks within five consecutive ranks;
- overcards: two hole cards above all of the board, neither paired.

A hand has `BLOCKERS` only of better hands than its own:

- nut flush blocker: three or more cards of a suit on the board, and the highest other card of the suit in the hand;
- nut straight blocker: a card of a rank that is missing on the board for the highest possible straight.

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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards import Deck, cards_name, hands, parse_cards, strength
from buckets.cards.categories import CATEGORY_SHIFT, N_RANKS
from buckets.cards.rank_sets import FLUSH, FULL_HOUSE, QUADS, STRAIGHT, STRAIGHT_FLUSH, STRAIGHT_TOP, TRIPS
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
"""Highest rank of each straight."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class HandKinds:
    """Made hands, draws and blockers of hands on a board.

    Attributes:
        made: ``[hand]``, the number of the made hand in `MADE`; -1: the board blocks the hand.
        draws: ``[hand, draw]``, whether the hand has each of `DRAWS`. A nut flush draw is a flush draw, too.
        blockers: ``[hand, blocker]``, whether the hand has each of `BLOCKERS`.
        strength: ``[hand]``, as in `buckets.cards.strength`; -1: the board blocks the hand.
    """

    made: NDArray[np.int8]
    draws: Bools
    blockers: Bools
    strength: Ints

    @property
    def made_names(self) -> tuple[str, ...]:
        """Names ``[hand]`` of the made hands; empty text if the board blocks the hand."""
        return tuple(MADE[number] if number >= 0 else "" for number in self.made.tolist())

    @property
    def draw_names(self) -> tuple[str, ...]:
        """Names ``[hand]`` of the draws, separated by commas, the strongest first."""
        draws = self.draws.copy()
        draws[:, DRAWS.index("flush draw")] &= ~draws[:, DRAWS.index("nut flush draw")]
        return _joined(draws, DRAWS)

    @property
    def blocker_names(self) -> tuple[str, ...]:
        """Names ``[hand]`` of the blockers, separated by commas."""
        return _joined(self.blockers, BLOCKERS)


def kinds_of(board: str | Sequence[int], combos: ArrayLike | None = None) -> HandKinds:
    """Name hold'em hands.

    Args:
        board: 0, 3, 4 or 5 cards.
        combos: ``[hand, hole card]``; None: all 1326, in the order of `buckets.cards.hands`.

    Raises:
        BoardError: the board has another number of cards, or a card twice.
    """
    public = np.array(parse_cards(board) if isinstance(board, str) else tuple(board), dtype=np.int64)
    if len(public) not in (0, 3, 4, 5):
        raise BoardError(f"board {cards_name(public)!r}: expected 0, 3, 4 or 5 cards, found {len(public)}")
    cards = np.asarray(hands(Deck(), 2) if combos is None else combos, dtype=np.int64).reshape(-1, 2)
    cards = np.sort(cards, axis=1)
    value = strength(public, cards).astype(np.int64)
    left = value >= 0
    made = np.where(left, _made(public, cards, value), -1).astype(np.int8)
    draws = np.zeros((len(cards), len(DRAWS)), dtype=np.bool_)
    blockers = np.zeros((len(cards), len(BLOCKERS)), dtype=np.bool_)
    category = value >> CATEGORY_SHIFT
    if len(public) in (3, 4):
        found = _flush_draws(public, cards, category) | _straight_draws(public, cards, category)
        found["overcards"] = (made <= _NUMBER["ace high"]) & (cards[:, 0] >> 2 > public.max() >> 2)
        for name, having in found.items():
            draws[:, DRAWS.index(name)] = having & left
    if len(public):
        blockers[:, 0] = _blocks_straight(public, cards) & (category < STRAIGHT) & left
        blockers[:, 1] = _blocks_flush(public, cards) & (category < FLUSH) & left
    return HandKinds(made, draws, blockers, value)


def _joined(having: Bools, names: tuple[str, ...]) -> tuple[str, ...]:
    strongest_first = range(len(names) - 1, -1, -1)
    return tuple(", ".join(names[n] for n in strongest_first if row[n]) for row in having.tolist())


def _made(public: Ints, cards: Ints, value: Ints) -> Ints:
    """Return the number of each made hand: ``[hand]``."""
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
    """Number of each pair's name: ``[hand]``; the name depends on the board ranks above the pair."""
    above = on_board.sum() - np.cumsum(on_board)[rank]
    names = ("overpair", "pocket below top", "underpair"), ("top pair", "second pair", "low pair")
    numbers = np.array([[_NUMBER[name] for name in row] for row in names])
    names_of_pairs: Ints = numbers[np.where(pocket, 0, 1), np.minimum(above, 2)]
    return names_of_pairs


def _flush_draws(public: Ints, cards: Ints, category: Ints) -> dict[str, Bools]:
    """Tell which hands have each draw to a flush."""
    mine = (cards[:, :, None] & 3 == np.arange(4)).sum(axis=1)  # [hand, suit]
    together = mine + np.bincount(public & 3, minlength=4)
    open_ = category < FLUSH
    drawing = (together == 4) & (mine > 0) & open_[:, None]
    three = (together == 3) & (mine == 2) & open_[:, None]
    return {
        "flush draw": drawing.any(axis=1),
        "nut flush draw": (drawing & _holds(cards, _highest_others(public))).any(axis=1),
        "backdoor flush draw": three.any(axis=1) & (len(public) == 3),
    }


def _straight_draws(public: Ints, cards: Ints, category: Ints) -> dict[str, Bools]:
    """Tell which hands have each draw to a straight."""
    board = int(np.bitwise_or.reduce(_BITS[public >> 2]))
    mine = np.bitwise_or.reduce(_BITS[cards >> 2], axis=1)
    outs = STRAIGHT_TOP[mine | board | _BITS[:, None]] > STRAIGHT_TOP[board | _BITS][:, None]  # [rank, hand]
    outs &= category < STRAIGHT
    both_sides = np.zeros(len(cards), dtype=np.bool_)
    for rank in range(-1, N_RANKS - 5):  # the ace counts below the deuce, which is rank 0
        row = 0b1111 << rank + 1
        both_sides |= ((mine | board) & row == row) & outs[rank] & outs[rank + 5]
    n_outs = outs.sum(axis=0)
    near = np.zeros(len(cards), dtype=np.bool_)
    for top in _TOPS:
        run = _run(top)
        near |= (mine & ~run == 0) & ((board & run & ~mine) > 0)
    two_ranks = cards[:, 0] >> 2 != cards[:, 1] >> 2
    backdoor = near & two_ranks & (n_outs == 0) & (category < STRAIGHT)
    return {
        "OESD": both_sides,
        "double gutshot": (n_outs > 1) & ~both_sides,
        "gutshot": n_outs == 1,
        "backdoor straight draw": backdoor & (len(public) == 3),
    }


def _blocks_flush(public: Ints, cards: Ints) -> Bools:
    """Tell which hands block the nut flush."""
    possible = np.bincount(public & 3, minlength=4) >= 3
    wanted = _highest_others(public)[possible]
    return np.asarray(np.isin(cards, wanted).any(axis=1))


def _blocks_straight(public: Ints, cards: Ints) -> Bools:
    """Tell which hands block the highest possible straight."""
    board = int(np.bitwise_or.reduce(_BITS[public >> 2]))
    runs = [run for run in map(_run, _TOPS) if (board & run).bit_count() >= 3]
    missing = runs[-1] & ~board if runs else 0
    return np.asarray(np.isin(cards >> 2, np.flatnonzero(missing & _BITS)).any(axis=1))


def _run(top: int) -> int:
    """The ranks of a straight, as bits."""
    return sum(1 << rank % N_RANKS for rank in range(top - 4, top + 1))


def _highest_others(public: Ints) -> Ints:
    """Return the highest card of each suit that is not on the board: ``[suit]``."""
    left = np.setdiff1d(np.arange(4 * N_RANKS), public)
    return np.array([left[left & 3 == suit][-1] for suit in range(4)])


def _holds(cards: Ints, wanted: Ints) -> Bools:
    """Tell whether each hand holds each wanted card: ``[hand, k]``."""
    held: Bools = (cards[:, :, None] == wanted).any(axis=1)
    return held
