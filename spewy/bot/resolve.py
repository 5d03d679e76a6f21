"""Solving a sub-game while a hand waits for its answer: to a budget of iterations or of time, the best average so far.

Both ranges come in as they were played down (unsafe), or one player is re-solved so that the other gains nothing by it
(`solvers.gadget`), for which values are needed of what is played otherwise.

Where it is known what both play otherwise, regrets begin with that: after N. Brown and T. Sandholm, "Strategy-Based
Warm Starting for Regret Minimization in Games" (AAAI 2016), but with regrets of a size that goes by the pot alone. A
few iterations are then worth many (`docs/bots.md`).
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from lockers import LockerError
from solvers.exact import ExactCfr
from solvers.gadget import STEPS, Gadget, iterate
from solvers.game import LiveGame, compatible_reach
from solvers.matrix.chunk import ChunkStrategy
from solvers.solver import Solver
from solvers.state import normalised
from solvers.tree import Floats
from spewy.bot.pace import OutOfTimeError, Pace, Stage
from spewy.bot.subgames import Root, SubGames, entered, numbers, solver_of
from spewy.chunks.layout import Layout
from spewy.errors import InputError, SolveError
from spewy.records.policy import Stacked

Plays = Callable[[list[str], tuple[int, ...]], Stacked]
"""What a player plays on a board after lines of a sub-game."""

LOG = logging.getLogger(__name__)
_Numbers = tuple[ChunkStrategy, ChunkStrategy]
BOARDS_READ = 4
BATCH = 0.25
"""Share of the remaining time that one batch of iterations may take before the clock is read again."""
PAGE, PAGES = 4096, 2048
"""Bytes of a page of memory, and number of pages that are touched before the clock is read again."""
_LEAST: tuple[Stage, ...] = ("first", "judge", "judge")
"""Stages of every solve: one iteration and both best responses."""
WARM, WARMTH = 5, 0.15
"""A strategy that regrets begin with counts as so many iterations; its regrets, in pots times the other's hands."""


@dataclass(frozen=True)
class Limits:
    """Limits of a solve, which ends at the first limit that it reaches.

    A solve fails if there is no time for one iteration and both best responses.

    Attributes:
        iterations: most iterations. Without a deadline a solve gives the same bits whenever it is repeated.
        deadline: deadline on the clock of `time.monotonic`; None for no limit.
        threads: number of threads, which share the boards.
    """

    iterations: int
    deadline: float | None = None
    threads: int = 1


class Resolved:
    """A sub-game that is solved.

    Args:
        games: where the sub-game comes from.
        root: its betting.
        layout: of it.
        solver: of it, done, and not closed yet.
        judged: the players whose best responses are found.
        begun: what the solver's iterations began with.

    Attributes:
        iterations: how many were done.
    """

    def __init__(
        self,
        games: SubGames,
        root: Root,
        layout: Layout,
        solver: Solver,
        judged: tuple[int, ...] = (0, 1),
        begun: int = 0,
    ) -> None:
        self._games, self.root, self._layout, self._solver = games, root, layout, solver
        self.iterations = solver.iteration - begun
        self._best = {player: _best_values(games, layout, solver, player) for player in judged}
        self._numbers = OrderedDict[tuple[int, int], _Numbers]()  # `lru_cache` would keep all this alive

    @property
    def n_bytes(self) -> int:
        """Of memory, about."""
        return self._solver.state_bytes

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """``[action, hand of the deck]`` of the average strategy after a line of the sub-game; 0: the board's cards.

        A hand that its player never brings here plays by its regrets.

        Raises:
            KeyError: no such line or board.
        """
        found = self._games.decision(self.root, line)
        if found is None:
            raise KeyError(line)
        t, first, node = found
        p, n = node.player, len(node.actions)
        assert p is not None
        b = self._layout.boards[t].numbers[self._games.game.cut(board)]
        hands = self._layout.board(t, b).hands[p].numbers
        sums, regrets = self._read(t, b)
        mine = sums[p][first : first + n, : len(hands)].astype(np.float64)
        never = ~(mine.sum(axis=0) > 0)
        mine[:, never] = regrets[p][first : first + n, : len(hands)][:, never]
        if not np.isfinite(mine).all():
            raise SolveError(f"sub-game, line {line!r}: expected numbers, found others")
        out = np.zeros((n, self._games.n_hands))
        out[:, hands] = normalised(mine)
        return out

    def best_values(self, player: int) -> Floats:
        """``[hand of the deck]``: what a player's hands make of the sub-game against the other's average strategy.

        They are values of a best response, counterfactual against the other's range with its largest weight scaled to
        1.

        Raises:
            KeyError: the player is not judged.
        """
        return self._best[player]

    def _read(self, t: int, b: int) -> _Numbers:
        """Sums and regrets of a board; the latest are kept."""
        if (t, b) not in self._numbers:
            self._numbers[t, b] = self._solver.read("sums", t, b), self._solver.read("regrets", t, b)
        self._numbers.move_to_end((t, b))
        while len(self._numbers) > BOARDS_READ:
            self._numbers.popitem(last=False)
        return self._numbers[t, b]


def resolve(
    games: SubGames,
    root: Root,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    limits: Limits,
    plays: tuple[Plays, Plays] | None = None,
) -> Resolved:
    """Solve a sub-game for both players with the ranges ``[hand of the deck]`` that they come with.

    Args:
        games: makes sub-games.
        root: its betting.
        board: public cards at the root.
        ranges: of both players.
        limits: when it ends.
        plays: what both do otherwise, which the solve begins with; None: with nothing.

    Raises:
        InputError: the sub-game cannot be, or is too large.
        solvers.errors.SolverError: no hand of one goes with a hand of the other.
    """
    layout = games.of(root, board)
    game = entered(layout, ranges)
    solver = solver_of(game, limits.threads)
    try:
        begun = 0 if plays is None else _begin(games, root, layout, game, solver, plays, limits)
        _take_memory(solver, limits, games.pace, numbers(layout))
        _run(solver.run, limits, games.pace, numbers(layout))
        return Resolved(games, root, layout, solver, begun=begun)
    finally:
        solver.close()


def resolve_safely(
    games: SubGames,
    root: Root,
    board: tuple[int, ...],
    mine: int,
    ranges: tuple[Floats, Floats],
    elsewhere: Floats,
    gadget: Gadget,
    limits: Limits,
    plays: tuple[Plays, Plays] | None = None,
) -> Resolved:
    """Solve a sub-game for one player, so that no hand of the other gets more than it can get elsewhere.

    Args:
        games: as `resolve`.
        root: as `resolve`.
        board: as `resolve`.
        mine: the player.
        ranges: as `resolve`; of the other's only what the gadget believes of it.
        elsewhere: ``[hand of the deck]``, of the other as `best_elsewhere` finds them.
        gadget: how that is seen to.
        limits: as `resolve`.
        plays: as `resolve`.

    Raises:
        InputError: as `resolve`.
        solvers.errors.SolverError: as `resolve`.
    """
    layout, other = games.of(root, board), 1 - mine
    game = entered(layout, _against_all(mine, ranges[mine]))
    hands = layout.board(0, 0).hands[other].numbers
    believed = ranges[other][hands]
    step = STEPS[gadget](
        elsewhere[hands], _meets(game, mine)[: len(hands)], believed / max(believed.max(initial=0.0), 1e-300)
    )
    solver = solver_of(game, limits.threads)
    try:
        begun = 0 if plays is None else _begin(games, root, layout, game, solver, plays, limits)
        _take_memory(solver, limits, games.pace, numbers(layout))
        _run(lambda few: iterate(solver, other, step, few), limits, games.pace, numbers(layout))
        return Resolved(games, root, layout, solver, (other,), begun)
    finally:
        solver.close()


def best_elsewhere(
    games: SubGames,
    root: Root,
    board: tuple[int, ...],
    mine: int,
    reach: Floats,
    plays: Plays,
    deadline: float | None = None,
) -> Floats:
    """``[hand of the deck]``: what each hand of the other player makes of a sub-game in which mine plays on as given.

    They are values of a best response, counterfactual against my range with its largest weight scaled to 1.

    Args:
        games: makes sub-games.
        root: its betting.
        board: public cards at the root.
        mine: the player who plays as given.
        reach: ``[hand of the deck]``, that player's range.
        plays: what the player does.
        deadline: on the clock of `time.monotonic`, until when it may be asked; None: however long it takes.

    Raises:
        InputError: the sub-game cannot be, or is too large.
        OutOfTimeError: it takes longer.
    """
    layout, other = games.of(root, board), 1 - mine
    games.pace.require(deadline, numbers(layout), "read", "judge")
    solver = solver_of(entered(layout, _against_all(mine, reach)))
    try:
        with games.pace.timed("read", numbers(layout)):
            _write(games, root, layout, solver, "sums", mine, plays, deadline)
        return _best_values(games, layout, solver, other)
    finally:
        solver.close()


def _begin(
    games: SubGames,
    root: Root,
    layout: Layout,
    game: LiveGame,
    solver: Solver,
    plays: tuple[Plays, Plays],
    limits: Limits,
) -> int:
    """Begin regrets with what both players do, as far as that can be read in time; the iterations it counts as.

    Half of it is still better than nothing.
    """
    until = None
    if limits.deadline is not None:
        until = (time.monotonic() + _last_begin(limits.deadline, games.pace, numbers(layout))) / 2
    solver.iteration = WARM
    try:
        for p in (0, 1):
            sized = _times_pots(games, root, plays[p], WARMTH * float(game.reach[1 - p].sum()))
            _write(games, root, layout, solver, "regrets", p, sized, until)
    except (OutOfTimeError, InputError, LockerError) as error:
        LOG.info("not all that is played without it is known: %s", error)
        boards = (solver.read("regrets", t, b) for t, b in layout.every_board())
        if not any(part.any() for both in boards for part in both):
            solver.iteration = 0
    return solver.iteration


def _times_pots(games: SubGames, root: Root, plays: Plays, size: float) -> Plays:
    """The same times a size and the pot of each decision, as if what is bet there were called."""

    @lru_cache(None)
    def sizes(lines: tuple[str, ...]) -> Floats:
        found = [games.decision(root, line) for line in lines]
        nodes = [each[2] for each in found if each is not None]
        pots = [2.0 * (root.base + max(node.put_in)) for node in nodes]
        return size * np.repeat(pots, [len(node.actions) for node in nodes])[:, None]

    def sized(lines: list[str], board: tuple[int, ...]) -> Stacked:
        found = plays(lines, board)
        return found._replace(frequencies=sizes(tuple(lines)) * found.frequencies)

    return sized


def _write(
    games: SubGames,
    root: Root,
    layout: Layout,
    solver: Solver,
    part: Literal["regrets", "sums"],
    player: int,
    plays: Plays,
    deadline: float | None,
) -> None:
    """Make a solver's numbers what a player does.

    Raises:
        OutOfTimeError: it takes longer than to a deadline.
    """
    decisions = [games.decisions(root, t, player) for t in range(layout.n_rounds)]
    for t, b in layout.every_board():
        (lines, slots), here = decisions[t], layout.board(t, b)
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTimeError("no time to read what is played without it")
        if lines:
            hands = here.hands[player].numbers
            numbers = solver.read(part, t, b)
            numbers[player][slots, : len(hands)] = plays(lines, here.cards).of(hands)
            solver.write(part, t, b, numbers)


def _best_values(games: SubGames, layout: Layout, solver: Solver, player: int) -> Floats:
    """Values ``[hand of the deck]`` of a player's best response to the other player's average strategy in a solver.

    Raises:
        SolveError: a value is not finite.
    """
    hands = layout.board(0, 0).hands[player].numbers
    out = np.zeros(games.n_hands)
    with games.pace.timed("judge", numbers(layout)):
        out[hands] = solver.best_values(player)[: len(hands)]
    if not np.isfinite(out).all():
        raise SolveError("sub-game: a value of a best response is infinite or not a number")
    return out


def _against_all(mine: int, reach: Floats) -> tuple[Floats, Floats]:
    everything = np.ones_like(reach)
    return (reach, everything) if mine == 0 else (everything, reach)


def _meets(game: LiveGame, mine: int) -> Floats:
    """``[row of the other]``: mass of my range that a hand goes with."""
    rows = game.rounds[0].hands
    found = compatible_reach(rows[1 - mine], rows[mine], 0, game.reach[mine][0], game.n_ids)
    return np.where(found > 1e-9, found, 0.0)


def _last_begin(deadline: float, pace: Pace, size: int) -> float:
    """The latest time to begin the first iteration, so that it and both best responses end before a deadline."""
    return deadline - sum(pace.seconds(stage, size) for stage in _LEAST)


def _take_memory(solver: Solver, limits: Limits, pace: Pace, size: int) -> None:
    """Touch a solve's memory before its first iteration.

    A busy machine is slow to provide memory, and an iteration cannot be broken off.

    Raises:
        OutOfTimeError: there is no time to touch all of the memory.
    """
    if limits.deadline is None or not isinstance(solver, ExactCfr):
        return
    for storage in (each for pair in (*solver.regrets, *solver.sums) for each in pair):
        pages = storage.values[:: PAGE // storage.values.itemsize]
        for first in range(0, len(pages), PAGES):
            pace.require(limits.deadline, size, *_LEAST)
            pages[first : first + PAGES] += 0  # a write that changes nothing


def _run(run: Callable[[int], None], limits: Limits, pace: Pace, size: int) -> None:
    """Do iterations up to a limit, in smaller batches as time runs out, and leave time for both best responses.

    Raises:
        OutOfTimeError: there is no time for one iteration and the best responses.
    """
    pace.require(limits.deadline, size, *_LEAST)
    with pace.timed("first", size):
        run(1)
    done, last = 1, 0.0
    while done < limits.iterations:
        few = limits.iterations - done
        if limits.deadline is not None:
            left = limits.deadline - time.monotonic() - 2 * pace.seconds("judge", size)
            fitting = left / max(pace.seconds("iterate", size), last, 1e-9)
            few = min(few, done, max(int(BATCH * fitting), int(fitting >= 2)))
            if few < 1:
                return
        began = time.monotonic()
        run(few)
        done, last = done + few, (time.monotonic() - began) / few
        pace.took("iterate", size * few, last * few)
