"""Compare all pairs of both players' hands on a board: how often one hand beats the other.

A matrix ``[hand of player 0, hand of player 1]`` suffices to compute equities on a board. NumPy computes it, so that
showing a decision loads no machine code; if machine code is loaded already, it counts the wins on many boards.
Hold'em's wins before the flop come from a file. A *final board* has all public cards of the game. No matrix is needed
there: if the opponent's hands are sorted by strength, running sums of their weights give the total weight of the weaker
and of the stronger hands. Throughout, ``deck`` has the cards of all hands of the deck, ``[hand, hole card]``.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from buckets.cards import (
    Deck,
    Perms,
    deals,
    hand_permutation,
    preflop_classes,
    stabilizer,
    strengths,
    suit_permutations,
)
from buckets.cards.rank_sets import board_strength
from buckets.types import Ints
from solvers.tree import Floats
from spewy.game.gamefile import Game

T = TypeVar("T")
_PREFLOP_FILE = Path(__file__).with_name("preflop_wins.npz")
"""Wins before the flop, which take minutes to count (`benchmarks/studies/preflop_odds.py`)."""
_FLUSH_EVERY = 127
"""Largest number of wins in an 8-bit counter, which is much faster than a larger one."""
_MANY_WINS = 10_000_000
"""Number of comparisons above which machine code counts wins if Numba is loaded already; loading takes longer.

A turn with wide ranges has 50 million comparisons.
"""
MOST_FINAL_BOARDS = 2000
"""Largest number of final boards on which hands are compared: a flop of hold'em has 990, preflop has 1.7 million."""


@dataclass(frozen=True)
class Pairs:
    """Sums over all pairs of both players' compatible hands on a board.

    In all methods, ``ranges`` are the weights of the opponent's hands in one or more ranges: ``[opponent's hand]`` or
    ``[opponent's hand, range]``. Results are ``[hand of player p]`` or ``[hand of player p, range]``.

    Attributes:
        sums: the sums over the opponent's compatible hands, for each player.
        lead: ``[hand of player 0, hand of player 1]``, share of final boards on which player 0's hand wins minus the
            share on which it loses, so that its equity is ``(1 + lead) / 2``; 0 for hands with a common card. None if
            the matrix was not computed.
    """

    sums: tuple[_CardSums, _CardSums]
    lead: Floats | None

    @property
    def has_leads(self) -> bool:
        return self.lead is not None

    def masses(self, p: int, ranges: Floats) -> Floats:
        """Sum ``ranges`` over the hands that are compatible with each hand of player p: ``[hand, range]``."""
        return self.sums[p].masses(ranges)

    def leads(self, p: int, ranges: Floats) -> Floats:
        """Sum ``ranges`` over the opponent's hands, times player p's wins less losses: ``[hand, range]``."""
        assert self.lead is not None
        return self.lead @ ranges if p == 0 else -(self.lead.T @ ranges)


def pairs(
    game: Game, deck: Ints, board: Sequence[int], hands: tuple[Ints, Ints], most_boards: int | None = None
) -> Pairs:
    """Compute how often each of two hands wins, for each pair of both players' hands.

    Args:
        hands: per player, numbers in ``deck`` of the hands that the board does not block.
        most_boards: if more final boards can follow, `Pairs.lead` is None, except in hold'em before the flop; None
            for no limit.
    """
    sums = _CardSums(deck, *hands), _CardSums(deck, hands[1], hands[0])
    n_left, missing = len(game.deck) - len(board) - 2 * game.num_hole_cards, _missing(game, board)
    known = _is_holdem_deal(game, board)
    if most_boards is not None and comb(n_left, missing) > most_boards and not known:
        return Pairs(sums, None)
    in_ranges = np.zeros(len(deck), dtype=np.bool_)
    in_ranges[np.concatenate(hands)] = True  # np.union1d would load numpy.ma, which takes longer than a river
    every = np.flatnonzero(in_ranges)
    wins = _preflop_counts()[np.ix_(every, every)] if known else count_wins(game, deck, every, board)
    first, second = (np.searchsorted(every, player_hands) for player_hands in hands)
    ahead = wins - wins.T
    if len(first) < len(every) or len(second) < len(every):
        ahead = ahead[np.ix_(first, second)]
    lead = ahead / comb(n_left, missing)
    for held in zip(sums[1].holding, sums[0].holding, strict=True):  # the hands that hold a card
        lead[np.ix_(*map(np.flatnonzero, held))] = 0.0
    return Pairs(sums, lead)


def compatible(deck: Ints, hands: tuple[Ints, Ints]) -> Floats:
    """Compute ``[hand of player 0, hand of player 1]``: 1 for two hands without a common card, else 0.

    ``hands`` are the indices of each player's hands in ``deck``, which is ``[hand, hole card]``.
    """
    sharing = np.zeros((len(hands[0]), len(hands[1])), dtype=np.bool_)
    for own in deck[hands[0]].T:
        for other in deck[hands[1]].T:
            sharing |= own[:, None] == other
    return (~sharing).astype(np.float64)


def _is_holdem_deal(game: Game, board: Sequence[int]) -> bool:
    return not board and (game.deck, game.num_hole_cards, _missing(game, board)) == (Deck(), 2, 5)


@lru_cache(maxsize=1)
def _preflop_counts() -> NDArray[np.int32]:
    """Return, for all hold'em hands, on how many final boards the first beats the second: ``[hand, other hand]``.

    Spewy ships a file with the numbers for one hand of each of the 169 hand classes; suits are renamed to get all
    hands.
    """
    with np.load(_PREFLOP_FILE) as counts:
        wins = counts["wins"]
    _, first_hands = np.unique(preflop_classes()[0], return_index=True)
    out = np.zeros((wins.shape[1], wins.shape[1]), dtype=np.int32)
    for perm in suit_permutations(Deck()):
        to = hand_permutation(Deck(), 2, perm)
        out[np.ix_(to[first_hands], to)] = wins
    return out


def _missing(game: Game, board: Sequence[int]) -> int:
    return sum(game.num_board_cards) - len(board)


def count_wins(game: Game, deck: Ints, every: Ints, board: Sequence[int]) -> NDArray[np.int32]:
    """Count, for each pair of hands, the final boards on which the first hand beats the second.

    Of k final boards that are equal up to suits, NumPy evaluates only one. If ``W[i, j]`` says whether hand i beats
    hand j there, the k boards together have ``k / |G| · Σ_g W[g i, g j]`` wins of hand i over hand j, where the sum
    runs over the set G of all suit permutations g that fix the board and the set of hands.

    Args:
        every: numbers in ``deck`` of the hands to compare, ascending.

    Returns:
        Counts ``[hand, other hand]``.
    """
    missing = _missing(game, board)
    left = [card for card in game.deck.cards if card not in board]
    if "numba" in sys.modules and comb(len(left), missing) * len(every) ** 2 > _MANY_WINS:
        return _wins_by_kernel([(*board, *dealt) for dealt in combinations(left, missing)], deck[every])
    perms = _symmetries(game, deck, every, board)
    total = np.zeros((len(every), len(every)), dtype=np.int32)
    for alike, boards in _final_boards(game, board, perms).items():
        total += alike * _wins_on(boards, deck[every])
    if len(perms) == 1:  # the identity
        return total
    wins = np.zeros_like(total)
    for perm in perms:
        to = np.searchsorted(every, _renamed(game, perm)[every])
        wins += total[np.ix_(to, to)]
    return wins // len(perms)


@cache
def load_kernels() -> None:
    """Load, in a new thread, the machine code that counts wins; called before hands are compared on many boards."""
    hands = np.array([(0, 1), (2, 3)], dtype=np.int64)

    def load() -> None:
        from buckets.kernels.showdowns import fill_wins

        wins = _wins_by_kernel([(4, 5, 6, 7, 8)] * 2, hands)  # with orders of 8 bits
        fill_wins(np.zeros((1, len(hands)), dtype=np.uint16), 1, 0, wins)

    threading.Thread(target=load, name="kernels").start()


def _symmetries(game: Game, deck: Ints, every: Ints, board: Sequence[int]) -> Perms:
    """Return the suit permutations that leave the board and the set of hands ``every`` unchanged."""
    in_set = np.zeros(len(deck), dtype=np.bool_)
    in_set[every] = True
    keeping = stabilizer((tuple(sorted(board)),), suit_permutations(game.deck))
    return keeping[[np.array_equal(in_set[_renamed(game, perm)], in_set) for perm in keeping]]


def _renamed(game: Game, perm: Perms) -> Ints:
    """``[hand of the deck]``, number of the hand into which a suit permutation turns the hand."""
    return hand_permutation(game.deck, game.num_hole_cards, perm)


def _final_boards(game: Game, board: Sequence[int], perms: Perms) -> dict[int, list[list[int]]]:
    """List one final board of each set of boards that are equal up to suits, by the number of boards in the set."""
    missing, boards = _missing(game, board), defaultdict[int, list[list[int]]](list)
    if not missing:
        return {1: [list(board)]}
    for deal in deals((sorted(board),), missing, game.deck, perms):
        boards[len(deal.members)].append([*board, *deal.history[-1]])
    return boards


def _wins_on(boards: Sequence[Sequence[int]], hands: Ints) -> NDArray[np.int32]:
    """Count ``[hand, other hand]``, the boards on which the first of two hands beats the second."""
    n = len(hands)
    total, few = np.zeros((n, n), dtype=np.int32), np.zeros((n, n), dtype=np.int8)
    stronger = np.empty((n, n), dtype=np.bool_)
    strength = np.array([board_strength(np.array(board, dtype=np.int64), hands) for board in boards])
    orders = _orders(strength)
    beatable = np.where(strength < 0, np.iinfo(orders.dtype).max, orders)
    for done, (order, beaten) in enumerate(zip(orders, beatable, strict=True), 1):
        np.greater(order[:, None], beaten, out=stronger)
        few += stronger.view(np.int8)
        if done % _FLUSH_EVERY == 0:
            total += few
            few[:] = 0
    return total + few


def _wins_by_kernel(boards: Sequence[Sequence[int]], hands: Ints) -> NDArray[np.int32]:
    """Count wins as `_wins_on`, an array ``[hand, other hand]``, but by machine code: five to ten times as fast."""
    from buckets.kernels.showdowns import fill_order, fill_wins

    def ordered(part: slice) -> int:
        return int(fill_order(strengths(dealt[part], hands), order[part]))

    def counted(part: slice) -> None:
        fill_wins(order, np.iinfo(order.dtype).max, part.start, wins[part])

    dealt = np.array(boards, dtype=np.int64)
    order = np.empty((len(dealt), len(hands)), dtype=np.uint16)
    wins = np.empty((len(hands), len(hands)), dtype=np.int32)
    highest = max(_in_two_threads(ordered, len(dealt)))
    if highest < np.iinfo(np.uint8).max:
        order = order.astype(np.uint8)  # also the number of blocked hands: 65,535 becomes 255
    _in_two_threads(counted, len(hands))
    return wins


def _in_two_threads(work: Callable[[slice], T], length: int) -> tuple[T, T]:
    half = length // 2
    second = _second_thread().submit(work, slice(half, length))
    return work(slice(0, half)), second.result()


@cache
def _second_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "wins")


def _orders(strength: NDArray[np.int32]) -> NDArray[np.unsignedinteger]:
    """Replace strengths ``[board, hand]`` by small numbers in the same order, since 8-bit numbers compare fastest."""
    order = np.argsort(strength, axis=1)
    levels = np.diff(np.take_along_axis(strength, order, axis=1), axis=1, prepend=strength.min()) > 0
    ranks = np.cumsum(levels, axis=1, dtype=np.uint16)
    out = np.empty(strength.shape, dtype=np.min_scalar_type(ranks.max(initial=0)))
    np.put_along_axis(out, order, ranks.astype(out.dtype), axis=1)
    return out


@dataclass(frozen=True)
class _Side:
    """Positions of a player's hands among the opponent's hands, which are sorted by strength and by card.

    Attributes:
        order: ``[opponent's hand]``, the opponent's hands by strength, the weakest first.
        weaker, not_stronger: ``[hand]``, number of the opponent's hands that the hand beats, and that it beats or ties.
        holders: ``[position]``, the opponent's hands with the first card, by strength, then those with the next card.
        first, low, high, end: ``[hand, hole card]``, positions in ``holders``: where the hands with the card begin,
            where the hands that tie with the player's hand begin and end, and where the hands with the card end.
    """

    order: Ints
    weaker: Ints
    not_stronger: Ints
    holders: Ints
    first: Ints
    low: Ints
    high: Ints
    end: Ints


class FinalPairs:
    """`Pairs` of a final board: the same sums over the opponent's hands, from hands sorted by strength.

    No matrix of all pairs of hands is computed.

    Args:
        hands: for each player, the indices in ``deck`` of the hands that the board does not block, ascending.
    """

    has_leads = True

    def __init__(self, deck: Ints, board: Sequence[int], hands: tuple[Ints, Ints]) -> None:
        strength = board_strength(np.array(board, dtype=np.int64), deck)
        levels = np.searchsorted(np.sort(strength), strength)  # equal for hands of equal strength
        self._sides = tuple(_side(deck, levels, hands[p], hands[1 - p]) for p in (0, 1))
        self._sums = tuple(_CardSums(deck, hands[p], hands[1 - p]) for p in (0, 1))

    def masses(self, p: int, ranges: Floats) -> Floats:
        return self._sums[p].masses(ranges)

    def leads(self, p: int, ranges: Floats) -> Floats:
        """Sum ``ranges`` over the hands that player p's hand beats, minus those that beat it: ``[hand, range]``."""
        side = self._sides[p]
        total, by_card = _running(ranges[side.order]), _running(ranges[side.holders])
        beaten = total[side.weaker] - (by_card[side.low] - by_card[side.first]).sum(axis=1)
        lost: Floats = (
            total[-1] - total[side.not_stronger] - (by_card[side.end] - by_card[side.high]).sum(axis=1)
        )
        return np.asarray(beaten - lost)


def _side(deck: Ints, levels: Ints, own: Ints, other: Ints) -> _Side:
    """Find where each hand of a player stands among the opponent's hands.

    Args:
        levels: ``[hand of the deck]``, strength as a number below the number of hands; larger is stronger.
        own, other: the player's and the opponent's hands, as indices in ``deck``.
    """
    order = np.argsort(levels[other], kind="stable")
    weaker, not_stronger = (
        np.searchsorted(levels[other][order], levels[own], end) for end in ("left", "right")
    )
    # One number for card and level sorts the opponent's hands by the cards that they hold, and then by strength.
    step = len(deck) + 1
    keys = (deck[other] * step + levels[other][:, None]).ravel()
    sorting = np.argsort(keys, kind="stable")
    holders, keys = sorting // deck.shape[1], keys[sorting]
    cards, level = deck[own] * step, levels[own][:, None]
    return _Side(
        order,
        weaker,
        not_stronger,
        holders,
        np.searchsorted(keys, cards),
        np.searchsorted(keys, cards + level),
        np.searchsorted(keys, cards + level, "right"),
        np.searchsorted(keys, cards + step),
    )


def _running(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, … entries along the first axis."""
    out = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=out[1:])
    return out


class _CardSums:
    """Sums the weights of the opponent's hands that share no card with a hand, without a matrix of all pairs.

    Such a sum is that over all opposing hands, minus the sums over the hands that hold each of the hand's cards, plus
    the weight of the same two cards, which were subtracted twice.

    Args:
        own: numbers in ``deck`` of the player's hands, ascending.
        other: numbers in ``deck`` of the opponent's hands, ascending.

    Attributes:
        holding: ``[card, opponent's hand]``, 1 for the hands that hold a card, else 0.
    """

    def __init__(self, deck: Ints, own: Ints, other: Ints) -> None:
        self._cards = deck[own]
        self.holding = np.zeros((int(deck.max(initial=0)) + 1, len(other)))
        for held in deck[other].T:
            self.holding[held, np.arange(len(other))] = 1.0
        self._same = np.full(len(own), len(other))
        if deck.shape[1] == 2:
            place = np.searchsorted(other, own)
            found = place < len(other)
            found[found] = other[place[found]] == own[found]
            self._same[found] = place[found]

    def masses(self, ranges: Floats) -> Floats:
        """Sum the weights of the compatible opposing hands of each hand: ``[hand]`` or ``[hand, range]``."""
        by_card = self.holding @ ranges
        same = np.concatenate([ranges, np.zeros((1, *ranges.shape[1:]))])[self._same]
        total: Floats = ranges.sum(axis=0) - by_card[self._cards].sum(axis=1) + same
        return total
