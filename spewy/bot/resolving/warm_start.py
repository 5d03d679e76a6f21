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
from spewy.bot.resolving.translation import Counterpart, counterparts_of
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.game.nodes import Node
from spewy.records.policy import Stacked

LOG = logging.getLogger(__name__)
ITERATIONS, REGRET = 5, 0.15
"""Settings of a warm start: the number of iterations that it counts as, and the size of its regrets.

The size is in units of the pot times the total weight of the opponent's range.
"""

AS_MANY = 20
"""Number of iterations that a start from an earlier solve counts as (`docs/research/re-solving.md`)."""
AFTER_NEW_BET = 0.5
"""Factor of the regrets after a new bet in a start from an earlier solve (`docs/research/re-solving.md`)."""


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

    A decision that both trees have gets its regrets of the earlier solve. A decision after a new bet gets regrets
    between those after the next smaller and the next larger bet of the earlier tree (`_sources`). A new bet itself
    gets regret 0.

    Args:
        builder: the builder of both subgames.
        root: root of the subgame.
        layout: boards and betting of the subgame.
        solver: the solver to start.
        earlier: the earlier solve.

    Returns:
        The number of iterations that the start counts as.
    """
    trees = builder.tree(root).root, builder.tree(earlier.root).root
    before = root.put_in_before, earlier.root.put_in_before
    smaller, larger = (dict(counterparts_of(*trees, *before, draw)) for draw in (0.0, 1.0))

    def moves(t: int, player: int) -> tuple[Ints, Ints, Ints, Floats]:
        """Say which regrets a player gets in a round: slots, begins of their sources, sources, weights of sources."""
        found = []
        for line in builder.decisions(root, t, player)[0]:
            decision = builder.decision(root, line)
            assert decision is not None
            _, first, node = decision
            for places, source, weight in _sources(
                builder, root, earlier.root, node, smaller[line], larger[line]
            ):
                found += [(first + place, source + number, weight) for number, place in enumerate(places)]
        found.sort()
        slots, sources, weights = np.array(found).reshape(-1, 3).T
        targets, begins = np.unique(slots.astype(np.int64), return_index=True)
        return targets, begins, sources.astype(np.int64), weights.astype(np.float32)[:, None]

    all_moves = [[moves(t, player) for player in (0, 1)] for t in range(layout.n_rounds)]
    for t, b in layout.every_board():
        regrets, known = solver.read("regrets", t, b), earlier.regrets(t, b)
        for player, (targets, begins, sources, weights) in enumerate(all_moves[t]):
            if targets.size:
                regrets[player][targets] = np.add.reduceat(weights * known[player][sources], begins, axis=0)
        solver.write("regrets", t, b, regrets)
    solver.iteration = AS_MANY
    return AS_MANY


def _sources(
    builder: SubgameBuilder, root: Root, known: Root, node: Node, smaller: Counterpart, larger: Counterpart
) -> list[tuple[tuple[int, ...], int, float]]:
    """List the decisions of an earlier tree from which a decision gets its regrets.

    After a new bet, these are the decisions after the two neighbouring bets. Regrets grow with the pot, so they are
    interpolated linearly by the pot after a call. If only one neighbour has the decision, its regrets are not scaled.
    All regrets after a new bet are multiplied by `AFTER_NEW_BET`.

    Args:
        builder: the builder of both subgames.
        root: root of the new tree.
        known: root of the earlier tree.
        node: the decision of the new tree.
        smaller: the counterpart of the decision if each new bet is read as the next smaller bet.
        larger: the counterpart if each new bet is read as the next larger bet.

    Returns:
        For each source, the indices of the actions of ``node`` that its actions correspond to, the index of its first
        action among all actions of its player in the round, and the weight of its regrets.
    """
    sources, pots = [], []
    for counterpart in (smaller, larger):
        decision = None if counterpart.line is None else builder.decision(known, counterpart.line)
        if decision is not None:
            sources.append((counterpart.places, decision[1]))
            pots.append(_pot(known, decision[2]))
    if not sources:
        return []
    if smaller.line == node.line:
        return [(*sources[0], 1.0)]
    if pots[0] == pots[-1]:
        return [(*sources[0], AFTER_NEW_BET)]
    share = min(max((pots[1] - _pot(root, node)) / (pots[1] - pots[0]), 0.0), 1.0)
    return [(*sources[0], AFTER_NEW_BET * share), (*sources[1], AFTER_NEW_BET * (1.0 - share))]


def _pot(root: Root, node: Node) -> int:
    """Return the chips in the pot after a call at a decision of a subgame."""
    return 2 * (root.put_in_before + max(node.put_in))


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
            raise OutOfTimeError("no time to read the stored strategy")
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
        pots = [_pot(root, node) for node in nodes]
        return factor * np.repeat(pots, [len(node.actions) for node in nodes])[:, None]

    def scaled(lines: list[str], board: tuple[int, ...]) -> Stacked:
        stacked = strategy(lines, board)
        return stacked._replace(frequencies=sizes(tuple(lines)) * stacked.frequencies)

    return scaled
