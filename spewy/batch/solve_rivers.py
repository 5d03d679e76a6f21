"""Solves one river job on many boards with ranges as arrays: for bots, trainers, and data sets of hand values.

A whole `Session` per river takes ten to thirty times as long as its iterations alone, because it reads the job's text,
makes a plan and writes lockers. This module builds the betting once and keeps nothing but the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import blocked, cards_name, parse_cards
from buckets.errors import CardError
from buckets.types import Floats, Ints
from solvers.discount import EXACT_VARIANT, variant
from solvers.exact import ExactCfr
from solvers.game import LiveGame
from spewy.chunks.boards import board_rounds
from spewy.chunks.live_game import live_game
from spewy.chunks.problem import Shorts
from spewy.chunks.rounds import betting_rounds
from spewy.errors import InputError, SolveError, shown
from spewy.game.ranges.pair import meet
from spewy.job.job import Job, SpotJob
from spewy.run.stopping import Stopping
from spewy.system.local_pool import LocalPool
from spewy.system.worker import Parent

AT_ONCE = 64
"""Number of rivers in a task of a worker process."""
MOST_SWEEPS, CHECK_EVERY = 1_000_000, 10
"""Default largest number of iterations, and default number of iterations between two checks of exploitability."""
N_CARDS = 52
NAMES = ("oop", "ip")
Task = tuple[SpotJob, Ints, Floats, Floats]
"""Work for one worker: the job, boards ``[river, card]``, and both players' weights ``[river, hand]``."""


@dataclass(frozen=True)
class Rivers:
    """Solutions of many rivers; hands have the numbers of `buckets.cards.hands`.

    Attributes:
        actions: the actions of oop at the root, such as ``"Check"`` and ``"Bet(45)"``.
        ev: ``[river, player, hand]``, chips of the pot that a hand wins on average under the solution, oop first. NaN
            for a hand that is not in the range, that the board blocks, or that shares a card with every opposing hand.
        strategy: ``[river, action, hand]``, frequencies of oop's actions at the root; NaN for hands not in the range.
        exploitability_pct: ``[river]``, exploitability in % of the pot.
        sweeps: ``[river]``, number of iterations.
    """

    actions: tuple[str, ...]
    ev: NDArray[np.float32]
    strategy: NDArray[np.float32]
    exploitability_pct: Floats
    sweeps: Ints


def solve_rivers(
    job: Job,
    boards: Sequence[str] | Ints,
    oop: Floats,
    ip: Floats,
    *,
    workers: int = 1,
) -> Rivers:
    """Solve a river job on other boards and with other ranges.

    The job gives pot, stacks, bet sizes, rake, the CFR variant, the target and the largest number of sweeps. Its board,
    ranges and other settings are not used. Each river is solved by one thread, with a row for each hand.

    Args:
        job: a spot with a board of five cards and without locks.
        boards: texts such as ``"Qs Jh 2h 8c 3d"``, or an array ``[river, card]`` of card numbers.
        oop: ``[river, hand]``, or ``[hand]`` for the same range on all boards: weights of at least 0, by the numbers of
            `buckets.cards.hands`. Weights of hands that the board blocks are ignored.
        ip: the other player's weights, in the same form.
        workers: number of processes.

    Raises:
        InputError: the job is not a river that this function can solve; a board is not five cards; or the weights do
            not fit, are negative or not finite, or leave no two hands that can be dealt together.
        SolveError: a solution is not finite.
        ChildProcessError: a worker process died.
    """
    spot = _checked_job(job)
    cards = _checked_boards(boards)
    shape = len(cards), len(spot.problem.hands)
    weights = tuple(
        _checked_weights(name, given, shape) for name, given in zip(NAMES, (oop, ip), strict=True)
    )
    if workers < 1:
        raise InputError(f"workers: expected a number of at least 1, found {workers}")
    ends = [*range(0, len(cards), AT_ONCE), len(cards)]
    tasks = [(spot, cards[i:j], weights[0][i:j], weights[1][i:j]) for i, j in pairwise(ends) if i < j]
    actions = _Solver(spot).actions
    out = _blank(shape, actions)
    for number, rivers in _solved(tasks, min(workers, len(tasks))):
        for k, river in enumerate(rivers, ends[number]):
            for name in ("ev", "strategy", "exploitability_pct", "sweeps"):
                getattr(out, name)[k] = getattr(river, name)[0]
    return out


class _Solver:
    """Solves rivers that have the betting of one job."""

    def __init__(self, job: SpotJob) -> None:
        self._problem = replace(job.problem, symmetry=False, units=None)
        self._betting = betting_rounds(self._problem.tree)
        self._variant = variant(job.solve.variant or EXACT_VARIANT)
        self._stopping = Stopping.of(job)

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The actions of oop at the root."""
        return tuple(action.label for action in self._problem.tree.root.actions)

    def solve(self, cards: tuple[int, ...], weights: tuple[Floats, Floats]) -> Rivers:
        """Solve one river.

        Args:
            cards: the numbers of the five public cards.
            weights: per player ``[hand]``, the weights of the hands.

        Returns:
            The solution, with arrays for this single river.

        Raises:
            SolveError: the solution is not finite.
        """
        game, numbers = self._game(cards, weights)
        limits = self._stopping
        with closing(ExactCfr(game, self._variant)) as solver:
            last = solver.run_to(limits.target, limits.last or MOST_SWEEPS, limits.every or CHECK_EVERY)[-1]
            first = solver.average_values(0)
            values = first, solver.root_values(1)
            sums = solver.read("sums", 0, 0)[0][: len(self.actions)]
        if not np.isfinite(last.exploitability.value):
            raise SolveError(
                f"board {cards_name(cards)}: the solution is not finite; scale the job's amounts"
            )
        out = _blank((1, len(self._problem.hands)), self.actions)
        out.exploitability_pct[0] = 100 * last.exploitability.value / self._problem.pot
        out.sweeps[0] = last.iteration
        for p in (0, 1):
            out.ev[0, p, numbers[p]] = game.chips_of_hands(p, values[p]) + self._problem.pot / 2
        total = sums.sum(axis=0)
        uniform = np.full_like(sums, 1 / len(sums))
        out.strategy[0][:, numbers[0]] = np.divide(sums, total, out=uniform, where=total > 0)
        return out

    def _game(
        self, cards: tuple[int, ...], weights: tuple[Floats, Floats]
    ) -> tuple[LiveGame, tuple[Shorts, Shorts]]:
        """Make the game of a river, and list the numbers of both players' hands in it."""
        problem = self._problem
        free = ~blocked(problem.hands, cards)
        try:
            ranges = meet(weights[0] * free, weights[1] * free, problem.hands).weights
        except InputError as error:
            raise InputError(f"board {cards_name(cards)}: {error}") from None
        rules = problem.game
        own = replace(problem, history=rules.cut(rules.board_order(cards)), ranges=ranges)
        boards = board_rounds(own)
        first, second = boards[0].boards[0].hands
        return live_game(own, self._betting, boards), (first.numbers, second.numbers)


def _blank(shape: tuple[int, int], actions: tuple[str, ...]) -> Rivers:
    """Make a `Rivers` with NaN in its arrays, for ``shape`` = (number of rivers, number of hands)."""
    n_rivers, n_hands = shape
    return Rivers(
        actions,
        np.full((n_rivers, 2, n_hands), np.nan, dtype=np.float32),
        np.full((n_rivers, len(actions), n_hands), np.nan, dtype=np.float32),
        np.full(n_rivers, np.nan),
        np.zeros(n_rivers, dtype=np.int64),
    )


def _solved(tasks: Iterable[Task], workers: int) -> Iterator[tuple[int, list[Rivers]]]:
    """Yield the number of each task, and the solution of each of its rivers; tasks come in any order."""
    if workers <= 1:
        for number, task in enumerate(tasks):
            yield number, _solve_some(*task)
        return
    with closing(LocalPool(workers)) as pool:
        for message in pool.results(_solve_there, tasks):
            if message is not None:
                yield message.task, message.value


def _solve_there(parent: Parent, *task: Any) -> list[Rivers]:
    """Solve the rivers of a task in a worker process."""
    del parent  # a task lasts a fraction of a second
    return _solve_some(*task)


def _solve_some(job: SpotJob, cards: Ints, oop: Floats, ip: Floats) -> list[Rivers]:
    solver = _Solver(job)
    return [solver.solve(tuple(map(int, cards[k])), (oop[k], ip[k])) for k in range(len(cards))]


def _checked_job(job: Job) -> SpotJob:
    if not isinstance(job, SpotJob) or len(job.board) != 5:
        raise InputError(f"job {job.name}: expected a spot with a board of five cards")
    if job.problem.locks:
        raise InputError(
            f"job {job.name}: expected a job without locks, whose hands may differ on other boards"
        )
    if any(rows is not None for rows in job.problem.rows[job.problem.first_round :]):
        raise InputError(f"job {job.name}: expected a row for each hand; remove rows.river")
    return job


def _checked_boards(boards: Sequence[str] | Ints) -> Ints:
    """Return the boards as card numbers ``[river, card]``."""
    rows = []
    for number, board in enumerate(boards):
        try:
            cards = parse_cards(board) if isinstance(board, str) else tuple(map(int, board))
        except (CardError, TypeError, ValueError) as error:
            raise InputError(f"board {number}: {error}") from None
        if len(set(cards)) != 5 or not all(0 <= card < N_CARDS for card in cards):
            raise InputError(f"board {number}: expected five different cards, found {shown(board)}")
        rows.append(cards)
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def _checked_weights(name: str, given: Floats, shape: tuple[int, int]) -> Floats:
    """Check one player's weights, and return them as an array ``[river, hand]``.

    Args:
        name: the player's name, with which error messages begin.
        given: the weights, ``[river, hand]``, or ``[hand]`` for the same weights on all rivers.
        shape: number of rivers and number of hands.

    Raises:
        InputError: the weights have another shape, are negative, or are not finite.
    """
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape not in (shape, shape[1:]):
        raise InputError(f"{name}: expected weights of shape {shape} or {shape[1:]}, found {weights.shape}")
    if not np.all(np.isfinite(weights)) or weights.min(initial=0.0) < 0:
        raise InputError(f"{name}: expected finite weights of at least 0")
    return np.broadcast_to(weights, shape)
