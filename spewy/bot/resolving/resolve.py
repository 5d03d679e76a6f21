"""Solve a subgame on all boards within a decision's time, up to a number of iterations or a deadline.

An unsafe solve takes both ranges as estimated. A safe solve re-solves one player so that the opponent gains nothing
(`solvers.resolve`); it needs the value of each hand of the opponent against the blueprint, which is the strategy that
the bot plays without a re-solve.

A solve starts from the blueprint, or from an earlier solve of the round in a tree with other bets. The start from the
blueprint follows N. Brown and T. Sandholm, "Strategy-Based Warm Starting for Regret Minimization in Games" (AAAI 2016),
but the size of its regrets depends only on the pot. A few iterations after such a start reach the quality of many
iterations from zero (`docs/research/re-solving.md`).

Three arguments describe a subgame: its ``builder``, the betting at its ``root``, and the public cards there, ``board``.
A ``layout`` has all its boards and betting. A ``deadline`` is a time on the clock of `time.monotonic`; None: no limit.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from buckets.cards import blocked
from buckets.cards import hands as hands_of
from lockers import LockerError
from solvers.exact import ExactCfr
from solvers.game import LiveGame, compatible_reach
from solvers.resolve import Gadget, GadgetStep, run_with_gadget
from solvers.solver import Solver
from solvers.state import ChunkStrategy, normalised
from solvers.tree import Floats, Ints
from spewy.bot.resolving.budget import OutOfTimeError, Pace, Stage
from spewy.bot.resolving.builder import (
    PlayerStrategy,
    Root,
    SubgameBuilder,
    live_game,
    new_solver,
    strategy_size,
)
from spewy.bot.resolving.translation import Counterpart, counterparts_of
from spewy.chunks.layout import Layout
from spewy.errors import InputError, SolveError
from spewy.game.nodes import Node

LOG = logging.getLogger(__name__)
BATCH = 0.25
"""Largest share of the remaining time for one batch of iterations; the clock is read after each batch."""
PAGE, PAGES = 4096, 2048
"""Size of a memory page in bytes, and number of pages to touch before the clock is read again."""
LEAST_REACH = 0.01
"""Smallest weight of a hand in a round that is solved alone, as a share of the largest weight of its range."""
QUICK_VARIANT = "pdcfr"
"""Variant of CFR for rounds alone, which loses least after few iterations (`docs/research/quick-flops.md`)."""
SHORTEST: tuple[Stage, ...] = ("first", "judge", "judge")
"""Stages of the shortest solve: one iteration and both best responses."""
ITERATIONS, REGRET = 5, 0.15
"""Settings of a warm start: the number of iterations that it counts as, and the size of its regrets.

The size is in units of the pot times the total weight of the opponent's range.
"""

AS_MANY = 20
"""Number of iterations that a start from an earlier solve counts as (`docs/research/re-solving.md`)."""
AFTER_NEW_BET = 0.5
"""Factor of the regrets after a new bet in a start from an earlier solve (`docs/research/re-solving.md`)."""
BOARDS_KEPT = 4
"""Number of boards for which strategy sums and regrets are cached."""


@dataclass(frozen=True)
class Limits:
    """Limits of a solve; the first limit that is reached ends the solve.

    An exact solve fails if there is no time for one iteration and both best responses.

    Attributes:
        iterations: largest number of iterations. Without a deadline, equal solves give identical results.
    """

    iterations: int
    deadline: float | None = None
    threads: int = 1


@dataclass(frozen=True)
class Safety:
    """Settings of a safe solve, which re-solves one player so that no hand of the opponent gains.

    Attributes:
        alternatives: ``[hand of the deck]``, alternative payoffs of the opponent's hands (`solvers.resolve`), computed
            by `best_responses`.
        gadget: name of the gadget, which determines the opponent's range in the subgame.
    """

    player: int
    alternatives: Floats
    gadget: Gadget


class Resolved:
    """A subgame that was solved on all boards, with its average strategies and best-response values.

    Args:
        solver: the solver after its iterations; it must still be open.
        responding: players to compute best responses for.
        warm_start: number of iterations that the solver's warm start counts as.

    Attributes:
        iterations: number of iterations, without the warm start.
    """

    def __init__(
        self,
        builder: SubgameBuilder,
        root: Root,
        layout: Layout,
        solver: Solver,
        responding: tuple[int, ...] = (0, 1),
        warm_start: int = 0,
    ) -> None:
        self._builder, self.root, self._layout, self._solver = builder, root, layout, solver
        self.iterations = solver.iteration - warm_start
        self._best_values = dict[int, Floats]()
        for player in responding:
            self._best_values[player] = _best_values(builder, layout, solver, player)
        # not `lru_cache`, which would keep the solver alive
        self._numbers = OrderedDict[tuple[int, int], tuple[ChunkStrategy, ChunkStrategy]]()

    @property
    def n_bytes(self) -> int:
        return self._solver.state_bytes

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        decision = self._builder.decision(self.root, line)
        if decision is None:
            raise KeyError(line)
        t, first, node = decision
        p, n = node.player, len(node.actions)
        assert p is not None
        b = self._layout.boards[t].numbers[self._builder.game.cut(board)]
        hands = self._layout.board(t, b).hands[p].numbers
        sums, regrets = self._read(t, b)
        out = np.zeros((n, self._builder.n_hands))
        here = slice(first, first + n), slice(len(hands))
        out[:, hands] = played(sums[p][here], regrets[p][here], line)
        return out

    def regrets(self, t: int, b: int) -> ChunkStrategy:
        """Return both players' regrets, ``[action of all decisions, row]``, on board ``b`` of round ``t``."""
        return self._solver.read("regrets", t, b)

    def best_values(self, player: int) -> Floats:
        """Return a player's counterfactual best-response values ``[hand of the deck]``.

        The values are weighted by the opponent's range, whose largest weight is scaled to 1.
        """
        return self._best_values[player]

    def _read(self, t: int, b: int) -> tuple[ChunkStrategy, ChunkStrategy]:
        if (t, b) not in self._numbers:
            self._numbers[t, b] = self._solver.read("sums", t, b), self._solver.read("regrets", t, b)
        self._numbers.move_to_end((t, b))
        while len(self._numbers) > BOARDS_KEPT:
            self._numbers.popitem(last=False)
        return self._numbers[t, b]


class ResolvedRound:
    """A betting round that was solved with few bets on later rounds; implements `subgame.Solution`.

    Only the round's own strategy is kept.

    Args:
        ranges: both players' ranges at the root, each ``[hand of the deck]``.
        solver: the solver after its iterations; it must still be open.
    """

    def __init__(
        self,
        builder: SubgameBuilder,
        root: Root,
        layout: Layout,
        board: tuple[int, ...],
        ranges: tuple[Floats, Floats],
        solver: Solver,
    ) -> None:
        self._builder, self._root, self._board, self._ranges = builder, root, board, ranges
        self._hands = [rows.numbers for rows in layout.board(0, 0).hands]
        self._sums, self._regrets = solver.read("sums", 0, 0), solver.read("regrets", 0, 0)
        self.iterations = solver.iteration

    @property
    def n_bytes(self) -> int:
        return sum(each.nbytes for part in (self._sums, self._regrets) for each in part)

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """Return the average strategy ``[action, hand of the deck]``; hands that were left out play its mean."""
        decision = self._builder.decision(self._root, line)
        if decision is None or decision[0] > 0:
            raise KeyError(line)
        if board != self._board:
            raise KeyError(board)
        _, first, node = decision
        p, n = node.player, len(node.actions)
        assert p is not None
        hands = self._hands[p]
        here = slice(first, first + n), slice(len(hands))
        strategy = played(self._sums[p][here], self._regrets[p][here], line)
        out = np.zeros((n, self._builder.n_hands))
        left = ~blocked(hands_of(self._builder.game.deck, self._builder.game.num_hole_cards), board)
        out[:, left] = np.average(strategy, axis=1, weights=self._ranges[p][hands])[:, None]
        out[:, hands] = strategy
        return out

    def best_values(self, player: int) -> Floats:
        raise KeyError(player)  # a best response in a tree with few bets would tell nothing about the hand


def played(sums: Floats, regrets: Floats, line: str) -> Floats:
    """Return the average strategy ``[action, row]``; hands that never reach the decision play by their regrets."""
    strategy = sums.astype(np.float64)
    absent = ~(strategy.sum(axis=0) > 0)
    strategy[:, absent] = regrets[:, absent]
    if not np.isfinite(strategy).all():
        raise SolveError(f"subgame, line {line!r}: the strategy has values that are not finite")
    return normalised(strategy)


Start = tuple[PlayerStrategy, PlayerStrategy] | Resolved
"""The start of a solve: both players' strategies, or an earlier solve of the round in a tree with other bets."""


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
        ranges: both players' ranges at the root, each ``[hand of the deck]``. In a safe solve the opponent's range is
            only an estimate, which the gadget "mixed" uses.
        start: both players' strategies, or a solve of the same board and ranges in a tree with other bets, that the
            solve starts from; None: the solve starts from zero.
        safety: settings of a safe solve; None: solve for both players, with the ranges as they are.
        kept: fixed frequencies ``[action, hand of the deck]`` of decisions in the subgame's first round, by line; NaN:
            not fixed. None: no decision is fixed.
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


def resolve_round(
    builder: SubgameBuilder,
    root: Root,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    limits: Limits,
    kept: Mapping[str, Floats] | None = None,
) -> ResolvedRound:
    """Solve a subgame with few bets after its first round, from zero; only the first round is to be played.

    Hands with less than `LEAST_REACH` of their range's largest weight are left out. `resolve` explains the arguments.
    """
    held = round_ranges(ranges)
    size = builder.held_size(root, held)
    builder.pace.require(limits.deadline, size, "lay", "first")
    with builder.pace.timed("lay", size):
        layout = builder.layout_of(root, board, held)
        size = strategy_size(layout)
        solver = new_solver(live_game(layout, held, kept), limits.threads, name=QUICK_VARIANT, short=True)
    try:
        _run(solver.run, limits, builder.pace, size, ("first",))
        return ResolvedRound(builder, root, layout, board, ranges, solver)
    finally:
        solver.close()


def round_ranges(ranges: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return both players' ranges without the hands that `resolve_round` leaves out."""
    first, second = (np.where(each >= LEAST_REACH * each.max(initial=0.0), each, 0.0) for each in ranges)
    return first, second


def best_responses(
    builder: SubgameBuilder,
    root: Root,
    board: tuple[int, ...],
    player: int,
    reach: Floats,
    strategy: PlayerStrategy,
    deadline: float | None = None,
) -> Floats:
    """Compute the opponent's counterfactual best-response values ``[hand of the deck]`` in a subgame.

    The values are weighted by the player's range, whose largest weight is scaled to 1.

    Args:
        player: the player who follows ``strategy``.
        reach: the player's range, ``[hand of the deck]``.
        deadline: deadline for reading the strategy.
    """
    with builder.pace.spending("lay"):
        layout = builder.layout(root, board)
        builder.pace.require(deadline, strategy_size(layout), "read", "judge")
        solver = new_solver(live_game(layout, _against_all(player, reach)))
    try:
        with builder.pace.timed("read", strategy_size(layout)):
            _write_strategy(builder, root, layout, solver, "sums", player, strategy, deadline)
        return _best_values(builder, layout, solver, 1 - player)
    finally:
        solver.close()


def _best_values(builder: SubgameBuilder, layout: Layout, solver: Solver, player: int) -> Floats:
    hands = layout.board(0, 0).hands[player].numbers
    out = np.zeros(builder.n_hands)
    with builder.pace.timed("judge", strategy_size(layout)):
        out[hands] = solver.best_values(player)[: len(hands)]
    if not np.isfinite(out).all():
        raise SolveError("subgame: a value of a hand is infinite or not a number")
    return out


def _with_gadget(
    layout: Layout, game: LiveGame, solver: Solver, ranges: tuple[Floats, Floats], safety: Safety
) -> Callable[[int], None]:
    opponent = 1 - safety.player
    hands = layout.board(0, 0).hands[opponent].numbers
    estimated = ranges[opponent][hands]
    step = GadgetStep(
        safety.alternatives[hands],
        _compatible(game, safety.player)[: len(hands)],
        estimated / max(estimated.max(initial=0.0), 1e-300) if safety.gadget == "mixed" else None,
    )
    return lambda iterations: run_with_gadget(solver, opponent, step, iterations)


def _against_all(player: int, reach: Floats) -> tuple[Floats, Floats]:
    """Return both players' ranges: ``reach`` for ``player``, and weight 1 for every hand of the opponent."""
    all_hands = np.ones_like(reach)
    return (reach, all_hands) if player == 0 else (all_hands, reach)


def _compatible(game: LiveGame, player: int) -> Floats:
    """Sum the weights of the player's hands that share no card with an opposing hand: ``[opponent's row]``."""
    rows = game.rounds[0].hands
    mass = compatible_reach(rows[1 - player], rows[player], 0, game.reach[player][0], game.n_ids)
    return np.where(mass > 1e-9, mass, 0.0)


def _latest_start(deadline: float, pace: Pace, size: int) -> float:
    """Latest time to start the first iteration, so that it and both best responses end before ``deadline``."""
    return deadline - sum(pace.seconds(stage, size) for stage in SHORTEST)


def _take_memory(solver: Solver, limits: Limits, pace: Pace, size: int) -> None:
    """Write to each memory page of a solver, so that no iteration waits until a busy machine provides the memory."""
    if limits.deadline is None or not isinstance(solver, ExactCfr):
        return
    for storage in (each for pair in (*solver.regrets, *solver.sums) for each in pair):
        pages = storage.values[:: PAGE // storage.values.itemsize]
        for first in range(0, len(pages), PAGES):
            pace.require(limits.deadline, size, *SHORTEST)
            pages[first : first + PAGES] += 0  # a write that changes nothing


def _run(
    run: Callable[[int], None], limits: Limits, pace: Pace, size: int, stages: tuple[Stage, ...] = SHORTEST
) -> None:
    """Run iterations in batches until a limit is reached, or only the time for what follows them is left.

    Args:
        stages: the first iteration and what follows the last one.
    """
    pace.require(limits.deadline, size, *stages)
    after = sum(pace.seconds(stage, size) for stage in stages[1:])
    with pace.timed("first", size):
        run(1)
    done, last = 1, 0.0
    while done < limits.iterations:
        batch = limits.iterations - done
        if limits.deadline is not None:
            remaining = limits.deadline - time.monotonic() - after
            fitting = remaining / max(pace.seconds("iterate", size), last, 1e-9)
            batch = min(batch, done, max(int(BATCH * fitting), int(fitting >= 2)))
            if batch < 1:
                return
        began = time.monotonic()
        run(batch)
        done, last = done + batch, (time.monotonic() - began) / batch
        pace.took("iterate", size * batch, last * batch)


# Starts


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
        latest: latest start of the first iteration, on the clock of `time.monotonic`; None: no limit.

    Returns:
        The number of iterations that the start counts as.
    """
    deadline = None if latest is None else (time.monotonic() + latest) / 2
    solver.iteration = ITERATIONS
    try:
        for p in (0, 1):
            factor = REGRET * float(game.reach[1 - p].sum())
            _write_strategy(builder, root, layout, solver, "regrets", p, strategies[p], deadline, factor)
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

    Returns:
        The number of iterations that the start counts as.
    """
    trees = builder.tree(root).root, builder.tree(earlier.root).root
    before = root.put_in_before, earlier.root.put_in_before
    smaller, larger = (dict(counterparts_of(*trees, *before, draw)) for draw in (0.0, 1.0))

    def moves(t: int, player: int) -> tuple[Ints, Ints, Ints, Floats]:
        """List a player's slots in round ``t`` that get regrets, and their sources: slots of the earlier tree.

        Returns the slots, the index of each slot's first source, all sources, and the weight of each source.
        """
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
    """List the decisions of an earlier tree from which the decision ``node`` gets its regrets.

    After a new bet, these are the decisions after the two neighbouring bets, with weights by the pot after a call.

    Returns:
        For each such decision: the action of ``node`` (as an index) for each of the decision's actions, the decision's
        first slot in its round, and the weight of its regrets.
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
    """Return the chips in the pot after a call at ``node``."""
    return 2 * (root.put_in_before + max(node.put_in))


def _write_strategy(
    builder: SubgameBuilder,
    root: Root,
    layout: Layout,
    solver: Solver,
    part: Literal["regrets", "sums"],
    player: int,
    strategy: PlayerStrategy,
    deadline: float | None,
    factor: float | None = None,
) -> None:
    """Write a player's strategy on all boards into a solver's regrets or strategy sums.

    With a ``factor``, the frequencies are multiplied by it and by the chips in the pot after a call.
    """
    decisions, pots = list[tuple[list[str], Ints]](), list[Ints]()
    for t in range(layout.n_rounds):
        decisions.append(builder.decisions(root, t, player))
        if factor is not None:
            pots.append(_pots(builder, root, decisions[t][0]))
    for t, b in layout.every_board():
        (lines, slots), board = decisions[t], layout.board(t, b)
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTimeError("no time to read the stored strategy")
        if lines:
            hands = board.hands[player].numbers
            numbers = solver.read(part, t, b)
            stacked = strategy(lines, board.cards)
            if factor is not None:
                stacked = stacked._replace(frequencies=factor * pots[t] * stacked.frequencies)
            numbers[player][slots, : len(hands)] = stacked.of(hands)
            solver.write(part, t, b, numbers)


def _pots(builder: SubgameBuilder, root: Root, lines: list[str]) -> Ints:
    """Return the chips in the pot after a call, for each action of the decisions at ``lines``: ``[action, 1]``."""
    pots = list[int]()
    for line in lines:
        decision = builder.decision(root, line)
        assert decision is not None
        pots += [_pot(root, decision[2])] * len(decision[2].actions)
    return np.array(pots, dtype=np.int64)[:, None]
