"""Named tuples that the kernel for many one-round games receives: games, results, and the arrays of each thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.tree import Floats, Ints


class Games(NamedTuple):
    """Games to solve.

    Attributes:
        numbers: ``[game]``, the row of each game in ``weights`` and in `Results`.
        strength: ``[game, hand]``, a larger number beats a smaller one, equal numbers tie; below 0: nobody can have the
            hand.
        cards: ``[hand, 2]``, the two cards of each hand.
        weights: per player ``[row, hand]``, weights of at least 0; with a single row, all games have the same weights.
    """

    numbers: Ints
    strength: np.ndarray
    cards: Ints
    weights: tuple[Floats, Floats]


class Terms(NamedTuple):
    """Settings that all games share, beside the betting.

    Attributes:
        target: exploitability in chips at which a solve ends.
        most: largest number of iterations.
        every: number of iterations between two measurements.
        raked: whether rake is taken from any pot.
        smallest: hands with a smaller weight are left out, after a range's largest weight was scaled to 1.
        pot: chips in the middle at the root.
        n_actions: number of player 0's actions at the root.
        n_slots0, n_slots1: number of slots (actions of all decisions) of players 0 and 1.
    """

    target: float
    most: int
    every: int
    raked: bool
    smallest: float
    pot: float
    n_actions: int
    n_slots0: int
    n_slots1: int


class Results(NamedTuple):
    """Results; hands that are not in a range keep the numbers that the arrays had before.

    Attributes:
        ev: ``[row, player, hand]``, chips of the pot that the hand wins on average.
        strategy: ``[row, action, hand]``, frequencies of player 0's actions at the root.
        exploitability: ``[row]``, in chips.
        iterations: ``[row]``, number of iterations.
    """

    ev: np.ndarray
    strategy: np.ndarray
    exploitability: NDArray[np.float64]
    iterations: Ints


class Seat(NamedTuple):
    """Arrays of one player in the current game. The engine's passes read the first eight.

    Attributes:
        count, first_block, cards, same_cards: arrays of the player's `HandTable`.
        class_first, class_ends: arrays of the player's `ClassTable`.
        entry: flat ``[row, 8]``, the range, in the first of 8 columns.
        weights: ``[row]``, the range, by which measured values are weighted.
        regrets, sums, roots: the player's regrets, strategy sums and values at the root.
        numbers: ``[row]``, the hand's number.
        reach: ``[row]``, the range in double precision.
        met: ``[row]``, the opponent's weight of the hands that share no card with the hand.
        position: ``[hand]``, the hand's row; -1: the hand is not in the range.
    """

    count: Ints  # type: ignore[assignment]  # tuples have a method of that name
    first_block: Ints
    cards: np.ndarray
    same_cards: np.ndarray
    class_first: Ints
    class_ends: np.ndarray
    entry: np.ndarray
    weights: np.ndarray
    regrets: np.ndarray
    sums: np.ndarray
    roots: np.ndarray
    numbers: Ints
    reach: Floats
    met: Floats
    position: Ints


class Bench(NamedTuple):
    """A thread's seats, and its buffers for refilling them.

    Attributes:
        seats: both players' arrays.
        by_card: ``[card]``, a total for each card.
        keys: ``[row]``, keys by which hands are sorted.
        counters: counters of the passes, see `compiled.threads`.
        measured: ``[measurement, 4]``, see `Plan`.
    """

    seats: tuple[Seat, Seat]
    by_card: Floats
    keys: Ints
    counters: Ints
    measured: Floats
