"""The problem to solve: rules, betting tree, board, ranges, rows and node locks.

A node lock fixes the frequencies of hands at a decision of the betting tree, on one board or on all boards. Suit
symmetry uses only permutations that leave every lock unchanged (`keeping`), so a lock that names suits or a board may
make a solve larger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, History, Perms, hands, range_symmetries, stabilizer, suit_permutations
from buckets.types import Ints
from solvers.tree import Floats
from spewy.game.gamefile import Game
from spewy.game.tree import BettingTree

Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class Problem:
    """A spot or a whole game to solve.

    Attributes:
        history: public cards at the root, in one group for each round that dealt any; empty for whole games.
        pot: chips in the middle at the root of a spot; 0 for whole games, whose blinds are in the tree.
        ranges: per player ``[hand]``, the initial weight of every hand of the deck.
        rows: ``[round of the game]``, number of buckets on a board; None: a row per hand.
        grouping: name of the clustering in `buckets.abstraction.GROUPINGS`.
        range_weights: whether each player's buckets are made for the player's own range, instead of for all hands.
        symmetry: whether boards that differ only by suits are solved once.
        locks: the node locks; no two locks apply to the same hand at the same decision.
        units: per player ``[hand]``, factors from the weights in `ranges` to the weights that the user wrote; None: all
            factors are 1.
    """

    game: Game
    tree: BettingTree
    history: History
    pot: float
    ranges: tuple[Floats, Floats]
    rows: tuple[int | None, ...]
    grouping: str
    range_weights: bool = False
    symmetry: bool = True
    locks: tuple[NodeLock, ...] = ()
    units: tuple[Floats, Floats] | None = None

    @property
    def first_round(self) -> int:
        """Number of the round in which the problem begins (0: preflop)."""
        return self.tree.config.start_round

    @property
    def depth(self) -> float:
        """The stack behind as a multiple of the pot; 0 for whole games and for games without stacks."""
        stack = self.tree.config.stack
        return 0.0 if stack is None or not self.pot else stack / self.pot

    @cached_property
    def hands(self) -> Ints:
        """All hands of the deck, in the order of the ranges: ``[hand, hole card]``."""
        return hands(self.game.deck, self.game.num_hole_cards).astype(np.int64)

    @cached_property
    def symmetries(self) -> Perms:
        """The suit permutations that leave the root's board, both ranges and all locks unchanged; identity first."""
        deck, hole = self.game.deck, self.game.num_hole_cards
        if not self.symmetry:
            return suit_permutations(deck)[:1]
        return keeping(self.locks, deck, hole, root_symmetries(self.game, self.history, self.ranges))

    def in_units(self, chips: float) -> tuple[float | None, float | None]:
        """Convert chips to a pair: (% of the pot, None) for a spot, (None, mbb per hand) for a whole game."""
        if self.is_spot:
            return 100 * chips / self.pot, None
        return None, 1000 * chips / self.game.big_blind

    @property
    def is_spot(self) -> bool:
        return self.pot > 0


def root_symmetries(game: Game, history: History, ranges: tuple[Floats, Floats]) -> Perms:
    """Return the suit permutations that leave the root's board and both initial ranges unchanged; identity first."""
    # The board comes first: few permutations remain for the slower test of ranges.
    perms = _of_board(game.deck, history)
    for weights in ranges:
        perms = range_symmetries(weights, game.deck, game.num_hole_cards, perms)
    return perms


@lru_cache(maxsize=256)  # the estimate of a job's cost asks before the job's boards are made
def _of_board(deck: Deck, history: History) -> Perms:
    return stabilizer(history, suit_permutations(deck))


def by_hand(problem: Problem, first: int | None) -> Problem:
    """Return the problem with a strategy row for each hand, instead of buckets, from round ``first`` of the game on.

    With None, the problem stays as it is. Rounds whose strategies a solve did not save ("dropped" rounds) are re-solved
    in this form.
    """
    if first is None:
        return problem
    rows = tuple(None if t >= first else k for t, k in enumerate(problem.rows))
    return replace(problem, rows=rows)


@dataclass(frozen=True)
class NodeLock:
    """The frequencies of one player's locked hands at one decision.

    Attributes:
        line: the betting line that leads to the decision.
        round: the decision's round, counted from the deal (0: preflop).
        history: the public cards of the board on which the lock applies; None: it applies on all boards.
        frequencies: ``[action, hand]`` for all hands of the deck; NaN: the hand is not locked.
    """

    line: str
    player: int
    round: int
    history: History | None
    frequencies: Floats

    def write(self, into: Floats, history: History, hands: NDArray[np.integer]) -> None:
        """Overwrite a strategy with the frequencies of the locked hands, if the lock applies on the board.

        Args:
            into: the strategy at the locked decision, ``[action, hand]``, changed in place.
            history: the public cards of the board.
            hands: ``[hand]``, the number of each hand of `into` among all hands of the deck.
        """
        if self.history in (None, history):
            locked = self.frequencies[:, hands]
            np.copyto(into, locked, where=~np.isnan(locked))


def keeping(locks: Iterable[NodeLock], deck: Deck, hole_cards: int, perms: Perms) -> Perms:
    """Select the suit permutations that leave the boards and frequencies of all locks unchanged; their order stays."""
    for lock in locks:
        if lock.history is not None:
            perms = stabilizer(lock.history, perms)
        for frequencies in np.nan_to_num(lock.frequencies, nan=-1.0):
            perms = range_symmetries(frequencies, deck, hole_cards, perms)
    return perms
