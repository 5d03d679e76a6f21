"""The problem to solve, without files and formats: rules, betting tree, board, ranges, rows and locks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from buckets.cards import History, Perms, hands, range_symmetries, stabilizer, suit_permutations
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.locks import NodeLock, keeping
from spewy.game.gamefile import Game
from spewy.game.tree import BettingTree

Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class Problem:
    """A spot or a whole game.

    Attributes:
        game: the rules.
        tree: the betting tree.
        history: public cards at the root, one group per round that dealt any; empty for whole games.
        pot: chips in the middle at the root of a spot; 0 for whole games, whose blinds are in the tree.
        ranges: per player ``[hand]``, the initial weight of every hand of the deck.
        rows: ``[round of the game]``, number of buckets of a board; None: a row per hand.
        grouping: name of the clustering in `buckets.abstraction.GROUPINGS`.
        range_weights: whether each player's buckets are made for the player's own range, instead of for all hands.
        symmetry: whether boards that differ by suits alone are solved once.
        locks: decisions where some hands play given frequencies; at most one for each hand and board of a line.
        units: per player ``[hand]``, the user's weight divided by the weight in `ranges`; None: 1.
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
        """The round of the root."""
        return self.tree.config.start_round

    @cached_property
    def hands(self) -> Ints:
        """``[hand, hole card]``, all hands of the deck, in the order of the ranges."""
        return hands(self.game.deck, self.game.num_hole_cards).astype(np.int64)

    @cached_property
    def symmetries(self) -> Perms:
        """Suit permutations that leave the root's board, both ranges and all locks unchanged; identity first."""
        deck, hole = self.game.deck, self.game.num_hole_cards
        if not self.symmetry:
            return suit_permutations(deck)[:1]
        return keeping(self.locks, deck, hole, root_symmetries(self.game, self.history, self.ranges))

    def in_units(self, chips: float) -> tuple[float | None, float | None]:
        """Convert chips to % of the pot (spots) and to mbb per hand (whole games); the other value is None."""
        if self.is_spot:
            return 100 * chips / self.pot, None
        return None, 1000 * chips / self.game.big_blind

    @property
    def is_spot(self) -> bool:
        """Whether the root has a pot in the middle; otherwise the problem is a whole game."""
        return self.pot > 0


def root_symmetries(game: Game, history: History, ranges: tuple[Floats, Floats]) -> Perms:
    """Return the suit permutations that leave the root's board and both initial ranges unchanged; identity first."""
    perms = stabilizer(
        history, suit_permutations(game.deck)
    )  # few permutations remain for the slower test on ranges
    for weights in ranges:
        perms = range_symmetries(weights, game.deck, game.num_hole_cards, perms)
    return perms


def by_hand(problem: Problem, first: int | None) -> Problem:
    """Return the problem with a row per hand from round `first` on, as dropped rounds have; None changes nothing."""
    if first is None:
        return problem
    rows = tuple(None if t >= first else k for t, k in enumerate(problem.rows))
    return replace(problem, rows=rows)
