"""Pairs of hands on a board: card removal between them, and how often one beats the other without further betting.

Two matrices ``[hand of player 0, hand of player 1]`` hold all that EVs and equities on a board depend on. NumPy alone
computes them; those of hold'em before the flop come from a file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, Perms, deals, hand_permutation, preflop_classes, stabilizer, suit_permutations
from buckets.cards.rank_sets import board_strength
from buckets.types import Ints
from solvers.tree import Floats
from spewy.game.gamefile import Game

_PREFLOP_FILE = Path(__file__).with_name("preflop_wins.npz")
"""Wins before the flop, which take minutes to count (`benchmarks/studies/preflop_odds.py`)."""
_FLUSH_EVERY = 127
"""Number of wins that an 8-bit counter holds; counting in 8 bits is much faster than in more."""


MOST_FINAL_BOARDS = 2000
"""Largest number of final boards to compare: hold'em has 990 from the flop, and 1.7 million before the deal."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of both players' hands on a board.

    Attributes:
        compatible: ``[hand, hand]``: 1 where the two hands share no card, 0 elsewhere.
        lead: ``[hand, hand]``: where the hands are compatible, the mean over all final boards of 1 for a win of the
            first hand and -1 for a loss, so that its equity is ``(1 + lead) / 2``; None if it was not computed.
    """

    compatible: Floats
    lead: Floats | None

    def seen_by(self, p: int) -> Pairs:
        """Return the pairs as ``[hand of player p, hand of the opponent]``, with player p's lead."""
        return self if p == 0 else self._mirrored

    @cached_property
    def _mirrored(self) -> Pairs:
        return Pairs(self.compatible.T, None if self.lead is None else -self.lead.T)


def pairs(
    game: Game, deck: Ints, board: Sequence[int], hands: tuple[Ints, Ints], most_boards: int | None = None
) -> Pairs:
    """Compute the pairs of two players' hands on a board.

    Args:
        game: rules of the game.
        deck: ``[hand of the deck, hole card]``.
        board: public cards.
        hands: per player, numbers of the hands of the deck that the board leaves.
        most_boards: number of final boards beyond which the lead is left out; None for no limit.
    """
    together = compatible(deck, hands)
    left, missing = len(game.deck) - len(board) - 2 * game.num_hole_cards, _missing(game, board)
    known = _is_holdem_deal(game, board)
    if most_boards is not None and comb(left, missing) > most_boards and not known:
        return Pairs(together, None)
    held = np.zeros(len(deck), dtype=np.bool_)
    held[np.concatenate(hands)] = True  # np.union1d would load numpy.ma, which takes longer than a river
    every = np.flatnonzero(held)
    wins = _preflop_wins(every) if known else count_wins(game, deck, every, board)
    first, second = (np.searchsorted(every, mine) for mine in hands)
    ahead = wins[np.ix_(first, second)].astype(np.float64) - wins[np.ix_(second, first)].T
    return Pairs(together, together * ahead / comb(left, missing))


def compatible(deck: Ints, hands: tuple[Ints, Ints]) -> Floats:
    """``[hand of player 0, hand of player 1]``: 1 where the two hands share no card, 0 elsewhere."""
    together = np.ones((len(hands[0]), len(hands[1])))
    for own in deck[hands[0]].T:
        for other in deck[hands[1]].T:
            together[own[:, None] == other] = 0.0
    return together


def _is_holdem_deal(game: Game, board: Sequence[int]) -> bool:
    """Whether the state is hold'em before the flop, with 52 cards."""
    return not board and (game.deck, game.num_hole_cards, _missing(game, board)) == (Deck(), 2, 5)


def _preflop_wins(every: Ints) -> NDArray[np.int32]:
    """``[hand, other hand]``: number of hold'em's final boards on which the first hand beats the second.

    The file has one hand of each starting hand's class; suits are renamed to get the others.
    """
    with np.load(_PREFLOP_FILE) as counts:
        wins = counts["wins"]
    _, first_hands = np.unique(preflop_classes()[0], return_index=True)
    out = np.zeros((wins.shape[1], wins.shape[1]), dtype=np.int32)
    for perm in suit_permutations(Deck()):
        to = hand_permutation(Deck(), 2, perm)
        out[np.ix_(to[first_hands], to)] = wins
    return out[np.ix_(every, every)]


def _missing(game: Game, board: Sequence[int]) -> int:
    return sum(game.num_board_cards) - len(board)


def count_wins(game: Game, deck: Ints, every: Ints, board: Sequence[int]) -> NDArray[np.int32]:
    """``[hand, other hand]``: number of final boards on which the first hand beats the second.

    Final boards that renaming suits turns into each other are looked at once: with W of one of them, the renamings g
    that leave board and hands as they are, and k boards alike, all k have the sum ``k / |g| · Σ_g W[g i, g j]``.
    """
    perms = _symmetries(game, deck, every, board)
    total = np.zeros((len(every), len(every)), dtype=np.int32)
    for alike, boards in _final_boards(game, board, perms).items():
        total += alike * _wins_on(boards, deck[every])
    found = np.zeros_like(total)
    for perm in perms:
        to = np.searchsorted(every, _renamed(game, perm)[every])
        found += total[np.ix_(to, to)]
    return found // len(perms)


def _symmetries(game: Game, deck: Ints, every: Ints, board: Sequence[int]) -> Perms:
    """Suit permutations that fix the board and the set of hands."""
    held = np.zeros(len(deck), dtype=np.bool_)
    held[every] = True
    keeping = stabilizer((tuple(sorted(board)),), suit_permutations(game.deck))
    return keeping[[np.array_equal(held[_renamed(game, perm)], held) for perm in keeping]]


def _renamed(game: Game, perm: Perms) -> Ints:
    """Row map ``[hand of the deck]`` of a suit permutation."""
    return hand_permutation(game.deck, game.num_hole_cards, perm)


def _final_boards(game: Game, board: Sequence[int], perms: Perms) -> dict[int, list[list[int]]]:
    """One representative final board per suit-equivalence class, grouped by the size of the class."""
    missing, found = _missing(game, board), defaultdict[int, list[list[int]]](list)
    if not missing:
        return {1: [list(board)]}
    for deal in deals((sorted(board),), missing, game.deck, perms):
        found[len(deal.members)].append([*board, *deal.history[-1]])
    return found


def _wins_on(boards: Sequence[Sequence[int]], hands: Ints) -> NDArray[np.int32]:
    """``[hand, other hand]``: number of the given final boards on which the first hand beats the second."""
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


def _orders(strength: NDArray[np.int32]) -> NDArray[np.unsignedinteger]:
    """Ranks of the hands on each board in the smallest integer type, since 8-bit numbers compare fastest."""
    order = np.argsort(strength, axis=1)
    levels = np.diff(np.take_along_axis(strength, order, axis=1), axis=1, prepend=strength.min()) > 0
    ranks = np.cumsum(levels, axis=1, dtype=np.uint16)
    out = np.empty(strength.shape, dtype=np.min_scalar_type(ranks.max(initial=0)))
    np.put_along_axis(out, order, ranks.astype(out.dtype), axis=1)
    return out
