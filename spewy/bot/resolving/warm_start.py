"""Start a solve from known strategies, and write strategies into the regrets or strategy sums of a solver.

The warm start follows N. Brown and T. Sandholm, "Strategy-Based Warm Starting for Regret Minimization in Games" (AAAI
2016), but the size of its regrets depends only on the pot. A few iterations after a warm start reach the quality of
many iterations from zero (`docs/research/re-solving.md`).
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
from solvers.tree import Floats, Ints
from spewy.bot.resolving.budget import OutOfTimeError
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder
from spewy.bot.resolving.resolved import Resolved
from spewy.bot.resolving.translation import counterparts_of
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.records.policy import Stacked

LOG = logging.getLogger(__name__)
ITERATIONS, REGRET = 5, 0.15
"""Settings of a warm start: the number of iterations that it counts as, and the size of its regrets.

The size is in units of the pot times the total weight of the opponent's range.
"""

AS_MANY = 20
"""Number of iterations that a start from an earlier solve counts as (`docs/research/re-solving.md`)."""


def start_warm(
    builder: SubgameBuilder,
    root: Root,
    layout: Layout,
    game: LiveGame,
    solver: Solver,
    strategies: tuple[PlayerStrategy, PlayerStrategy],
    latest: float | None,
) -> int:
    """Set a solver's regrets from both players' strategies.

    Reading takes at most half of the time until ``latest``. If time runs out, or a strategy cannot be read, the solve
    starts from what was read.

    Args:
        builder: the builder of the subgame.
        root: root of the subgame.
        layout: boards and betting of the subgame.
        game: the subgame as arrays.
        solver: the solver to start.
        strategies: strategies of player 0 and player 1.
        latest: latest start of the first iteration, on the clock of `time.monotonic`; None: no limit.

    Returns:
        The number of iterations that the warm start counts as.
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


def start_from_earlier(
    builder: SubgameBuilder, root: Root, layout: Layout, solver: Solver, earlier: Resolved
) -> int:
    """Set a solver's regrets from an earlier solve of the same board and ranges, in a tree with other bets.

    Each action gets the regrets of the corresponding action of the earlier tree (`translation.counterparts_of`), in the
    decisions after a new bet those of the decisions after the nearest bet. Other actions get 0.

    Args:
        builder: the builder of both subgames.
        root: root of the subgame.
        layout: boards and betting of the subgame.
        solver: the solver to start.
        earlier: the earlier solve.

    Returns:
        The number of iterations that the start counts as.
    """
    counterparts = dict(
        counterparts_of(
            builder.tree(root).root,
            builder.tree(earlier.root).root,
            root.put_in_before,
            earlier.root.put_in_before,
        )
    )

    def moves(t: int, player: int) -> Ints:
        """Slots of a player's actions in a round, and the slots of the corresponding actions: ``[2, action]``."""
        pairs = []
        for line in builder.decisions(root, t, player)[0]:
            counterpart, decision = counterparts[line], builder.decision(root, line)
            known = None if counterpart.line is None else builder.decision(earlier.root, counterpart.line)
            if decision is not None and known is not None:
                pairs += [
                    (decision[1] + place, known[1] + number)
                    for number, place in enumerate(counterpart.places)
                ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    slots = [[moves(t, player) for player in (0, 1)] for t in range(layout.n_rounds)]
    for t, b in layout.every_board():
        if not any(each.size for each in slots[t]):
            continue
        regrets, known = solver.read("regrets", t, b), earlier.regrets(t, b)
        for player in (0, 1):
            to, of = slots[t][player]
            regrets[player][to] = known[player][of]
        solver.write("regrets", t, b, regrets)
    solver.iteration = AS_MANY
    return AS_MANY


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
    """Write a player's strategy on all boards into a solver's regrets or strategy sums.

    Args:
        builder: the builder of the subgame.
        root: root of the subgame.
        layout: boards and betting of the subgame.
        solver: the solver to write to.
        part: the arrays to write, regrets or strategy sums.
        player: the player.
        strategy: the player's strategy.
        deadline: deadline on the clock of `time.monotonic`; None: no limit.

    Raises:
        OutOfTimeError: the deadline passed before everything was written.
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
    """Scale the frequencies of a strategy, to get the regrets with which a warm start begins.

    The frequencies at each decision are multiplied by ``factor`` and by the chips in the pot after a call.
    """

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
