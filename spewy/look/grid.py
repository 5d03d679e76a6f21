"""One decision as the chart that players know: 13 x 13 classes of hold'em hands, aces first, suited hands above.

A cell is the mean over its class's hands that the board leaves: ``reach``, and the frequencies by that reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, blocked, hand_index, hands, parse_hand, preflop_classes
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.ranges.classes import NUM_HANDS

SIZE = 13


class Looked(Protocol):
    """What is read here of a `spewy.look.node.NodeView`, which shows itself as a grid."""

    @property
    def board(self) -> tuple[int, ...]:
        """Public cards."""

    @property
    def actions(self) -> tuple[str, ...]:
        """What there is to do."""

    @property
    def hands(self) -> tuple[str, ...]:
        """Names."""

    @property
    def reach(self) -> Floats:
        """``[hand]``."""

    @property
    def strategy(self) -> Floats:
        """``[action, hand]``."""

    @property
    def frequencies(self) -> Floats:
        """``[action]``, of the whole range."""


@dataclass(frozen=True)
class Grid:
    """A decision of a whole range.

    Attributes:
        actions: what there is to do.
        reach: ``[row, column]``; NaN where the board leaves no hand of the class.
        frequencies: ``[action, row, column]``, adding up to 1; NaN where no hand of the class gets here.
        shares: ``[action]``, how often the whole range takes each; NaN if it never comes here.
    """

    actions: tuple[str, ...]
    reach: Floats
    frequencies: Floats
    shares: Floats

    @classmethod
    def of(cls, game: Game, view: Looked) -> Grid:
        """Average over the hands of each class.

        Raises:
            InputError: the game's hands are not hold'em's.
        """
        require_holdem(game)
        return cls.of_holdem(view)

    @classmethod
    def of_holdem(cls, view: Looked) -> Grid:
        """The same of a game that is known for hold'em."""
        numbers = _numbers(view.hands)
        weights = np.zeros((1 + len(view.actions), NUM_HANDS))
        weights[0, numbers] = view.reach
        weights[1:, numbers] = view.reach * view.strategy
        left = ~blocked(hands(Deck(), 2), view.board)
        reach, *taken = (_by_class(mine) for mine in weights)
        mixes = np.array(taken).reshape(-1, SIZE, SIZE)
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(view.actions, reach / _by_class(left), mixes / reach, view.frequencies)


def class_means(game: Game, view: Looked, values: Floats) -> Floats:
    """``[row, column]``: the mean of hands' values by their reach; NaN where no hand of a class has any of both.

    Raises:
        InputError: the game's hands are not hold'em's.
    """
    return means_by_class(hand_numbers(game, view.hands), view.reach, values)


def means_by_class(numbers: NDArray[np.int64], reach: Floats, values: Floats) -> Floats:
    """The same of any hold'em hands, by their numbers."""
    known = ~np.isnan(values)
    weights = np.zeros((2, NUM_HANDS))
    weights[:, numbers[known]] = np.array([reach * values, reach])[:, known]
    total, mass = (_by_class(mine) for mine in weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = total / mass
    return found


def hand_numbers(game: Game, names: Sequence[str]) -> NDArray[np.int64]:
    """``[hand]``: the numbers of hands by their names.

    Raises:
        InputError: the game's hands are not hold'em's.
    """
    require_holdem(game)
    return _numbers(names)


def _numbers(names: Sequence[str]) -> NDArray[np.int64]:
    return np.array([hand_index(Deck(), parse_hand(name)) for name in names], dtype=np.int64)


def _by_class(weights: np.ndarray) -> Floats:
    """``[row, column]``: the sums of hands' weights."""
    found = np.bincount(preflop_classes()[0], weights, SIZE * SIZE)
    return found.astype(np.float64).reshape(SIZE, SIZE)


def require_holdem(game: Game) -> None:
    """Refuse other games.

    Raises:
        InputError: the game's hands are not hold'em's.
    """
    if not is_holdem(game):
        raise InputError(f"grid: expected a hold'em game (two hole cards, 52 cards), found {game.name}")


def is_holdem(game: Game) -> bool:
    """Whether hands are two of 52 cards."""
    return game.num_hole_cards == 2 and len(game.deck) == 52
