"""Start a solve from known strategies, and write strategies into solvers.

The start follows N. Brown and T. Sandholm, "Strategy-Based Warm Starting for Regret Minimization in Games" (AAAI
2016), but the size of its regrets depends on the pot alone. A few iterations from such a start are worth many
(`docs/bots.md`).
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import Literal

import numpy as np

from lockers import LockerError
from solvers.game import LiveGame
from solvers.solver import Solver
from solvers.tree import Floats
from spewy.bot.resolving.budget import OutOfTimeError
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.records.policy import Stacked

LOG = logging.getLogger(__name__)
ITERATIONS, REGRET = 5, 0.15
"""Number of iterations that a warm start counts as, and its regrets in pots times the opponent's number of hands."""


def start_warm(
    builder: SubgameBuilder,
    root: Root,
    layout: Layout,
    game: LiveGame,
    solver: Solver,
    strategies: tuple[PlayerStrategy, PlayerStrategy],
    latest: float | None,
) -> int:
    """Set a solver's regrets from both players' strategies; return the number of iterations this counts as.

    Reading takes at most half of the time until ``latest`` (on the clock of `time.monotonic`). If not everything can be
    read, the solve starts from the part that was read, which is better than nothing.
    """
    deadline = None if latest is None else (time.monotonic() + latest) / 2
    solver.iteration = ITERATIONS
    try:
        for p in (0, 1):
            regrets = _in_pots(builder, root, strategies[p], REGRET * float(game.reach[1 - p].sum()))
            write_strategy(builder, root, layout, solver, "regrets", p, regrets, deadline)
    except (OutOfTimeError, InputError, LockerError) as error:
        LOG.info("the solve starts from a part of the blueprint: %s", error)
        boards = (solver.read("regrets", t, b) for t, b in layout.every_board())
        if not any(player.any() for both in boards for player in both):
            solver.iteration = 0
    return solver.iteration


def write_strategy(
    builder: SubgameBuilder,
    root: Root,
    layout: Layout,
    solver: Solver,
    part: Literal["regrets", "sums"],
    player: int,
    strategy: PlayerStrategy,
    deadline: float | None,
) -> None:
    """Write a player's strategy on all boards into a solver's regrets or sums.

    Raises:
        OutOfTimeError: the deadline passed.
    """
    decisions = [builder.decisions(root, t, player) for t in range(layout.n_rounds)]
    for t, b in layout.every_board():
        (lines, slots), board = decisions[t], layout.board(t, b)
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTimeError("no time to read the blueprint's strategy")
        if lines:
            hands = board.hands[player].numbers
            numbers = solver.read(part, t, b)
            numbers[player][slots, : len(hands)] = strategy(lines, board.cards).of(hands)
            solver.write(part, t, b, numbers)


def _in_pots(builder: SubgameBuilder, root: Root, strategy: PlayerStrategy, factor: float) -> PlayerStrategy:
    """Multiply a strategy by a factor and by each decision's pot after a call."""

    @lru_cache(None)
    def sizes(lines: tuple[str, ...]) -> Floats:
        decisions = [builder.decision(root, line) for line in lines]
        nodes = [decision[2] for decision in decisions if decision is not None]
        pots = [2.0 * (root.put_in_before + max(node.put_in)) for node in nodes]
        return factor * np.repeat(pots, [len(node.actions) for node in nodes])[:, None]

    def scaled(lines: list[str], board: tuple[int, ...]) -> Stacked:
        stacked = strategy(lines, board)
        return stacked._replace(frequencies=sizes(tuple(lines)) * stacked.frequencies)

    return scaled
