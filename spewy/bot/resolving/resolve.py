"""Solve a subgame within a decision's time, up to a number of iterations or a deadline.

An unsafe solve takes both ranges as estimated. A safe solve re-solves one player so that the opponent gains nothing
(`solvers.resolve`); it needs the value of each hand of the opponent against the blueprint, which is the strategy that
the bot plays without a re-solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from solvers.exact import ExactCfr
from solvers.game import LiveGame, compatible_reach
from solvers.resolve import STEPS, Gadget, run_with_gadget
from solvers.solver import Solver
from solvers.tree import Floats
from spewy.bot.resolving.budget import Pace, Stage
from spewy.bot.resolving.builder import (
    PlayerStrategy,
    Root,
    SubgameBuilder,
    live_game,
    new_solver,
    strategy_size,
)
from spewy.bot.resolving.resolved import Resolved, best_values
from spewy.bot.resolving.warm_start import start_from_earlier, start_warm, write_strategy
from spewy.chunks.layout import Layout

BATCH = 0.25
"""Largest share of the remaining time for one batch of iterations; the clock is read after each batch."""
PAGE, PAGES = 4096, 2048
"""Size of a memory page in bytes, and number of pages to touch before the clock is read again."""
Start = tuple[PlayerStrategy, PlayerStrategy] | Resolved
"""The start of a solve: both players' strategies, or an earlier solve of the round in a tree with other bets."""
SHORTEST: tuple[Stage, ...] = ("first", "judge", "judge")
"""Stages of the shortest solve: one iteration and both best responses."""


@dataclass(frozen=True)
class Limits:
    """Limits of a solve; the first limit that is reached ends the solve.

    A solve fails if there is no time for one iteration and both best responses.

    Attributes:
        iterations: largest number of iterations. Without a deadline, equal solves give identical results.
        deadline: deadline on the clock of `time.monotonic`; None: no limit.
        threads: number of threads, which share the boards.
    """

    iterations: int
    deadline: float | None = None
    threads: int = 1


@dataclass(frozen=True)
class Safety:
    """Settings of a safe solve, which re-solves one player so that no hand of the opponent gains.

    Attributes:
        player: the player who is re-solved.
        alternatives: ``[hand of the deck]``, alternative payoffs of the opponent's hands (`solvers.resolve`), computed
            by `best_responses`.
        gadget: name of the gadget, which determines the opponent's range in the subgame.
    """

    player: int
    alternatives: Floats
    gadget: Gadget


def resolve(
    builder: SubgameBuilder,
    root: Root,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    limits: Limits,
    start: Start | None = None,
    safety: Safety | None = None,
    kept: Mapping[str, Floats] | None = None,
) -> Resolved:
    """Solve a subgame for both players, or safely for one player.

    Args:
        builder: the builder of subgames.
        root: betting at the root.
        board: public cards at the root.
        ranges: both players' ranges at the root, each ``[hand of the deck]``. In a safe solve the opponent's range is
            only an estimate, which some gadgets use.
        limits: limits of the solve.
        start: both players' strategies, or a solve of the same board and ranges in a tree with other bets, that the
            solve starts from; None: the solve starts from zero.
        safety: settings of a safe solve; None: solve for both players, with the ranges as they are.
        kept: fixed frequencies ``[action, hand of the deck]`` of decisions in the subgame's first round, by line; NaN:
            not fixed. None: no decision is fixed.

    Raises:
        InputError: the subgame is impossible or too large.
        OutOfTimeError: there is no time for one iteration and the best responses.
        solvers.errors.SolverError: every pair of hands in the two ranges shares a card.
    """
    with builder.pace.spending("lay"):
        layout = builder.layout(root, board)
        dealt = ranges if safety is None else _against_all(safety.player, ranges[safety.player])
        game = live_game(layout, dealt, kept)
        solver, size = new_solver(game, limits.threads), strategy_size(layout)
    try:
        run: Callable[[int], None] = solver.run
        responding: tuple[int, ...] = (0, 1)
        if safety is not None:
            run, responding = _with_gadget(layout, game, solver, ranges, safety), (1 - safety.player,)
        started = 0
        if start is not None:
            latest = None if limits.deadline is None else _latest_start(limits.deadline, builder.pace, size)
            with builder.pace.spending("read"):
                if isinstance(start, Resolved):
                    started = start_from_earlier(builder, root, layout, solver, start)
                else:
                    started = start_warm(builder, root, layout, game, solver, start, latest)
        with builder.pace.spending("lay"):
            _take_memory(solver, limits, builder.pace, size)
        _run(run, limits, builder.pace, size)
        return Resolved(builder, root, layout, solver, responding, started)
    finally:
        solver.close()


def best_responses(
    builder: SubgameBuilder,
    root: Root,
    board: tuple[int, ...],
    player: int,
    reach: Floats,
    strategy: PlayerStrategy,
    deadline: float | None = None,
    own: PlayerStrategy | None = None,
) -> Floats:
    """Compute the opponent's best-response value of each hand against a player's strategy in a subgame.

    The values are counterfactual: they are weighted by the player's range, scaled to a largest weight of 1.

    Args:
        builder: the builder of subgames.
        root: betting at the root.
        board: public cards at the root.
        player: the player who follows ``strategy``.
        reach: the player's range, ``[hand of the deck]``.
        strategy: the player's strategy.
        deadline: deadline for reading strategies, on the clock of `time.monotonic`; None: no limit.
        own: a strategy that the opponent follows in place of the best response; None: the best response.

    Returns:
        The opponent's values ``[hand of the deck]``.

    Raises:
        InputError: the subgame is impossible or too large.
        OutOfTimeError: the strategies cannot be read before the deadline.
    """
    opponent = 1 - player
    with builder.pace.spending("lay"):
        layout = builder.layout(root, board)
        builder.pace.require(deadline, strategy_size(layout), "read", "judge")
        solver = new_solver(live_game(layout, _against_all(player, reach)))
    try:
        with builder.pace.timed("read", strategy_size(layout)):
            write_strategy(builder, root, layout, solver, "sums", player, strategy, deadline)
            if own is not None:
                write_strategy(builder, root, layout, solver, "sums", opponent, own, deadline)
        return best_values(builder, layout, solver, opponent, average=own is not None)
    finally:
        solver.close()


def _with_gadget(
    layout: Layout, game: LiveGame, solver: Solver, ranges: tuple[Floats, Floats], safety: Safety
) -> Callable[[int], None]:
    """Return a function that runs a given number of iterations of a safe solve."""
    opponent = 1 - safety.player
    hands = layout.board(0, 0).hands[opponent].numbers
    estimated = ranges[opponent][hands]
    step = STEPS[safety.gadget](
        safety.alternatives[hands],
        _compatible(game, safety.player)[: len(hands)],
        estimated / max(estimated.max(initial=0.0), 1e-300),
    )
    return lambda iterations: run_with_gadget(solver, opponent, step, iterations)


def _against_all(player: int, reach: Floats) -> tuple[Floats, Floats]:
    """Pair a player's range with an opponent's range that has weight 1 for every hand."""
    all_hands = np.ones_like(reach)
    return (reach, all_hands) if player == 0 else (all_hands, reach)


def _compatible(game: LiveGame, player: int) -> Floats:
    """Sum, for each hand of the opponent, the weights of the player's hands that share no card with it.

    The result is an array ``[row of the opponent]``.
    """
    rows = game.rounds[0].hands
    mass = compatible_reach(rows[1 - player], rows[player], 0, game.reach[player][0], game.n_ids)
    return np.where(mass > 1e-9, mass, 0.0)


def _latest_start(deadline: float, pace: Pace, size: int) -> float:
    """Latest start of the first iteration that leaves time for this iteration and both best responses.

    The subgame has ``size`` strategy entries.
    """
    return deadline - sum(pace.seconds(stage, size) for stage in SHORTEST)


def _take_memory(solver: Solver, limits: Limits, pace: Pace, size: int) -> None:
    """Write to each memory page of a solver before the first iteration, so that the system provides the memory now.

    A busy machine is slow to provide memory, and an iteration cannot be interrupted. The subgame has ``size`` strategy
    entries.

    Raises:
        OutOfTimeError: there is no time to touch all pages.
    """
    if limits.deadline is None or not isinstance(solver, ExactCfr):
        return
    for storage in (each for pair in (*solver.regrets, *solver.sums) for each in pair):
        pages = storage.values[:: PAGE // storage.values.itemsize]
        for first in range(0, len(pages), PAGES):
            pace.require(limits.deadline, size, *SHORTEST)
            pages[first : first + PAGES] += 0  # a write that changes nothing


def _run(run: Callable[[int], None], limits: Limits, pace: Pace, size: int) -> None:
    """Run iterations until a limit is reached, in smaller batches as time runs out; leave time for both best responses.

    Args:
        run: the function that runs a given number of iterations.
        limits: limits of the solve.
        pace: predicts the time of stages, and receives measured times.
        size: strategy entries of the subgame.

    Raises:
        OutOfTimeError: there is no time for one iteration and the best responses.
    """
    pace.require(limits.deadline, size, *SHORTEST)
    with pace.timed("first", size):
        run(1)
    done, last = 1, 0.0
    while done < limits.iterations:
        batch = limits.iterations - done
        if limits.deadline is not None:
            remaining = limits.deadline - time.monotonic() - 2 * pace.seconds("judge", size)
            fitting = remaining / max(pace.seconds("iterate", size), last, 1e-9)
            batch = min(batch, done, max(int(BATCH * fitting), int(fitting >= 2)))
            if batch < 1:
                return
        began = time.monotonic()
        run(batch)
        done, last = done + batch, (time.monotonic() - began) / batch
        pace.took("iterate", size * batch, last * batch)
