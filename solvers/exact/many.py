"""Many one-round games that share their betting, such as rivers on many boards with many ranges, at a kernel's rate.

An `ExactCfr` for each game would take several times as long as the iterations of a small game, because Python makes its
tables and allocates its buffers. A `ManyGames` has tables and buffers for the largest game, and its kernel refills them
for each game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiled.vector import bare
from solvers.discount import Variant
from solvers.errors import SolverError
from solvers.exact.context import Context
from solvers.exact.engine import NO_VALUES, iteration_numbers
from solvers.exact.plan import Plan
from solvers.exact.refill import solve_games
from solvers.exact.seats import Bench, Games, Results, Seat, Terms
from solvers.exact.storage import Storage
from solvers.exact.tables import NO_CARD, hand_table
from solvers.exact.views import N_CARDS
from solvers.game import Hands, LiveGame, Round
from solvers.reference.kernels import UPDATE
from solvers.tree import Forest, Ints

__all__ = ["Games", "Limits", "ManyGames", "Results"]


@dataclass(frozen=True)
class Limits:
    """When the solve of a game ends, and which hands it leaves out.

    Attributes:
        target: exploitability in chips at which a solve ends.
        most: largest number of iterations.
        every: number of iterations between two measurements of exploitability.
        smallest: smallest weight of a hand, after the range's largest weight was scaled to 1.
    """

    target: float
    most: int
    every: int
    smallest: float


class ManyGames:
    """Solver of one-round games with the same betting, for one thread.

    Args:
        forest: the betting, a single tree in which player 0 acts first.
        variant: the variant of CFR.
        pot: chips in the middle at the root.
        limits: when a solve ends.
        n_hands: number of different hands.
        most_hands: largest number of hands that a player has in a game.

    Raises:
        SolverError: the variant predicts regrets.
    """

    def __init__(
        self, forest: Forest, variant: Variant, pot: float, limits: Limits, n_hands: int, most_hands: int
    ) -> None:
        if variant.predictive:
            raise SolverError("exact engine: expected a variant of CFR that does not predict regrets")
        first_player, *_ = forest.arrays.player.tolist()
        if forest.n_roots != 1 or first_player != 0:
            raise SolverError("many games: expected a single betting tree in which player 0 acts first")
        game = _largest_game(forest, most_hands)
        rows = game.rounds[0].hands
        tables = hand_table(rows[0], rows[1]), hand_table(rows[1], rows[0])
        context = Context(game, [tables], 1, 1.0, [game.reach[p][0] for p in (0, 1)])
        context.weigh(1.0)  # the kernel divides measured values by each game's own weight
        regrets, sums = (
            tuple(Storage.blank(forest.n_slots[p], tables[p], short=False) for p in (0, 1)) for _ in range(2)
        )
        context.bind([(regrets[0], regrets[1])], [(sums[0], sums[1])])
        self._views, self._desk, counters, weights = context.of_one_thread()
        seats = [
            Seat(
                *tables[p],
                *context.classes[0][p],
                context.entries[1 - p].reach,
                weights[p],
                regrets[p].values,
                sums[p].values,
                context.workspaces[0][0][p].roots,
                np.zeros(most_hands, dtype=np.int64),
                np.zeros(most_hands),
                np.zeros(most_hands),
                np.full(n_hands, -1, dtype=np.int64),
            )
            for p in (0, 1)
        ]
        measured = np.zeros((-(-limits.most // limits.every), 4))
        keys = np.zeros(most_hands, dtype=np.int64)
        self._bench = Bench((seats[0], seats[1]), np.zeros(N_CARDS), keys, counters, measured)
        self._terms = Terms(
            float(limits.target),
            limits.most,
            limits.every,
            forest.raked,
            limits.smallest,
            float(pot),
            int(forest.arrays.n_actions[0]),
            *forest.n_slots,
        )
        self._numbers = iteration_numbers(variant, 0, limits.most, False)
        clip = variant.discount.clip
        plan = Plan(UPDATE, 0, 0, *self._numbers, clip, -np.inf, measured, NO_VALUES, -1)
        self._plan = bare(plan)

    def solve(self, games: Games, results: Results) -> int:
        """Solve games, and write their results.

        Returns:
            The number of solved games; fewer than all of them if no two hands of the next game can be dealt together.
        """
        solved: int = solve_games(
            games, self._terms, results, self._bench, self._plan, self._views, self._desk
        )
        return solved


def _largest_game(forest: Forest, n: int) -> LiveGame:
    """Make a game with n hands for each player, whose arrays have room for any game with at most n hands."""
    rows = np.arange(n, dtype=np.int16)[None]

    def hands(p: int) -> Hands:
        cards = np.tile(np.array([2 * p, 2 * p + 1], dtype=np.int16), (1, n, 1))
        strength = np.arange(p, 2 * n + p, 2, dtype=np.int32)[None]
        nobody = np.full((1, n), -1, dtype=np.int16)
        count: Ints = np.array([n])
        return Hands.of(count, cards, strength, nobody, rows, np.ones((1, n)), n)

    ranges = np.ones((1, n)), np.ones((1, n))
    return LiveGame([Round(forest, (hands(0), hands(1)), None)], ranges, NO_CARD)
