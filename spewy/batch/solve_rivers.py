"""Solves one river job on many boards with ranges as arrays: for bots, trainers, and data sets of hand values.

A whole `Session` per river takes ten to a hundred times as long as its iterations alone, because it reads the job's
text, makes a plan and writes lockers. Here one kernel goes from river to river (`solvers.exact.many`), and threads
share the rivers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards import cards_name, parse_cards, strengths
from buckets.errors import CardError
from buckets.types import Floats, Ints
from solvers.discount import exact_variant, variant
from solvers.exact.many import Games, Limits, ManyGames, Results
from solvers.tree import Forest
from spewy.chunks.rounds import line_forests
from spewy.errors import InputError, SolveError, shown
from spewy.game.gamefile import MAX_CHIPS
from spewy.game.nodes import Node
from spewy.game.ranges.range import SMALLEST
from spewy.game.sizes import Size
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import PlayerSizes, TreeConfig
from spewy.job.job import Job, SpotJob
from spewy.run.events import Advanced, unfailing
from spewy.run.stopping import Stopping
from spewy.system.html import Printed, Table

AT_ONCE = 64
"""Number of rivers that a thread solves in one call of the kernel."""
MOST_SWEEPS, CHECK_EVERY = 1_000_000, 10
"""Default largest number of iterations, and default number of iterations between two checks of exploitability."""
NAMES = ("oop", "ip")
PARTS = 1000
"""Number of units to a chip in the betting tree of a river whose pot or stack is a fraction."""


@dataclass(frozen=True, repr=False)
class Rivers(Printed):
    """Solutions of many rivers; hands have the numbers of `buckets.cards.hands`.

    Attributes:
        actions: the actions of oop at the root with the job's own pot and stack, such as ``"check"`` and ``"bet 45"``.
        ev: ``[river, player, hand]``, chips of the pot that a hand wins on average under the solution, oop first. NaN
            for a hand that is not in the range, that the board blocks, or that shares a card with every opposing hand.
        strategy: ``[river, action, hand]``, frequencies of oop's actions at the root; NaN for hands not in the range,
            and for actions that a river does not have.
        exploitability_pct: ``[river]``, exploitability in % of the pot.
        sweeps: ``[river]``, number of iterations.
        river_actions: for each river the actions of oop at the root. They differ from ``actions`` if the rivers have
            pots and stacks of their own.
        action_ev: ``[river, action, hand]``, chips of the pot that oop's hand wins if it takes the action; NaN as in
            ``ev`` and ``strategy``. The attributes from here on are None unless `solve_rivers` got ``every_action``.
        reply_actions: for each river and each action of oop, the actions of ip's first decision.
        reply_strategy: ``[river, action, reply, hand]``, frequencies of ip's actions after each action of oop.
        reply_ev: ``[river, action, reply, hand]``, chips of the pot that ip's hand wins if it takes the action, against
            the hands with which oop takes its action; NaN as in ``ev``, and if no such hand can be dealt beside ip's.
    """

    actions: tuple[str, ...]
    ev: NDArray[np.float32]
    strategy: NDArray[np.float32]
    exploitability_pct: Floats
    sweeps: Ints
    river_actions: tuple[tuple[str, ...], ...]
    action_ev: NDArray[np.float32] | None = None
    reply_actions: tuple[tuple[tuple[str, ...], ...], ...] | None = None
    reply_strategy: NDArray[np.float32] | None = None
    reply_ev: NDArray[np.float32] | None = None

    def _table(self) -> Table:
        actions = "of their own" if len(set(self.river_actions)) > 1 else ", ".join(self.actions)
        facts = {
            "actions of oop": actions,
            "exploitability (% of the pot)": f"{self.exploitability_pct.mean():.3g} on average, "
            f"{self.exploitability_pct.max():.3g} at most",
            "sweeps": f"{self.sweeps.mean():,.0f} on average, {self.sweeps.max():,} at most",
            "shape of ev": str(self.ev.shape),
            "shape of strategy": str(self.strategy.shape),
        }
        return Table.of_facts(f"{len(self.ev):,} rivers", facts)


class _Betting(NamedTuple):
    """Pot (in chips) and betting that some rivers share, with the numbers of these rivers."""

    pot: float
    actions: tuple[str, ...]
    replies: tuple[tuple[str, ...], ...]
    forest: Forest
    rivers: Ints


def solve_rivers(
    job: Job,
    boards: Sequence[str] | Ints,
    oop: ArrayLike,
    ip: ArrayLike,
    *,
    pots: ArrayLike | None = None,
    stacks: ArrayLike | None = None,
    every_action: bool = False,
    workers: int = 1,
    listener: Callable[[Advanced], object] | None = None,
) -> Rivers:
    """Solve a river job on other boards and with other ranges.

    The job gives pot, stacks, bet sizes, rake, the CFR variant, the target and the largest number of sweeps. Its board,
    ranges and other settings are not used. Each river is solved by one thread, with a row for each hand, so the results
    do not depend on the number of threads.

    Args:
        job: a spot with a board of five cards and without locks.
        boards: texts such as ``"Qs Jh 2h 8c 3d"``, or an array ``[river, card]`` of card numbers.
        oop: ``[river, hand]``, or ``[hand]`` for the same range on all boards: weights of at least 0, in the order of
            `buckets.cards.hands` (2c2d, 2c2h, 2c2s, 2c3c, ..., AhAs), which is not PioSOLVER's;
            ``parse_range("order = pio ...").weights`` converts a list in PioSOLVER's order. Weights of hands that the
            board blocks are ignored.
        ip: the other player's weights, in the same form.
        pots: ``[river]``, the pot of each river in chips; None: the job's pot. If the pot or the stack of a river is a
            fraction, both are rounded to thousandths of a chip, and bets too; otherwise bets are whole chips. Each
            different pair of pot and stack needs a betting tree, which takes a few milliseconds.
        stacks: ``[river]``, the effective stack of each river in chips; None: the job's stack.
        every_action: whether to return the EV of each of oop's actions, and strategy and EVs of ip's first decisions.
            These arrays take about ten times the memory of the others.
        workers: number of threads.
        listener: called with an `Advanced` event after every few dozen solved rivers, by one thread at a time.

    Raises:
        InputError: the job is not a river that this function can solve; a board is not five cards; the weights do not
            fit, are negative or not finite, or leave no two hands that can be dealt together; or a pot or stack is not
            a number of at least 0.001.
        SolveError: a solution is not finite.
    """
    spot = _checked_job(job)
    cards = _checked_boards(boards, spot.rules.deck.cards)
    shape = len(cards), len(spot.problem.hands)
    first, second = (
        _checked_weights(name, weights, shape) for name, weights in zip(NAMES, (oop, ip), strict=True)
    )
    if workers < 1:
        raise InputError(f"workers: expected a number of at least 1, found {workers}")
    config = spot.problem.tree.config
    chips = np.stack(
        [
            _checked_chips("pots", pots, config.pot, len(cards)),
            _checked_chips("stacks", stacks, config.stack, len(cards)),
        ],
        axis=1,
    )
    betting = list(_betting(spot, chips))
    actions = tuple(action.label for action in spot.problem.tree.root.actions)
    n_actions = max((len(part.actions) for part in betting), default=len(actions))
    n_replies = max((len(each) for part in betting for each in part.replies), default=0)
    n = len(cards) if every_action else 0

    def blank(*sizes: int) -> NDArray[np.float32]:
        return np.full((*sizes, shape[1]), np.nan, dtype=np.float32)

    results = Results(
        blank(len(cards), 2),
        blank(len(cards), n_actions),
        np.full(len(cards), np.nan),
        np.zeros(len(cards), dtype=np.int64),
        blank(n, n_actions),
        blank(n, n_actions, n_replies),
        blank(n, n_actions, n_replies),
    )
    _solve_all(_Work(spot, cards, (first, second), results), betting, workers, listener)
    part_of = {river: part for part in betting for river in part.rivers.tolist()}
    parts = [part_of[river] for river in range(len(cards))]
    rivers = Rivers(
        actions,
        results.ev,
        results.strategy,
        results.exploitability * (100 / np.array([part.pot for part in parts])),
        results.iterations,
        tuple(part.actions for part in parts),
    )
    if not every_action:
        return rivers
    replies = tuple(part.replies for part in parts)
    return replace(
        rivers,
        action_ev=results.action_ev,
        reply_actions=replies,
        reply_strategy=results.reply_strategy,
        reply_ev=results.reply_ev,
    )


def _betting(job: SpotJob, chips: Floats) -> Iterator[_Betting]:
    """Build the betting for each different pair of pot and stack; ``chips[river]`` is the pair of a river."""
    pairs, number = np.unique(chips, axis=0, return_inverse=True)
    own = job.problem.tree
    for k, (pot, stack) in enumerate(pairs.tolist()):
        parts = 1 if pot == int(pot) and stack == int(stack) else PARTS
        if max(pot, stack) * parts > MAX_CHIPS:
            raise InputError(
                f"pots and stacks: expected at most {MAX_CHIPS // parts:,} chips, found {max(pot, stack):,}"
            )
        config = _in_parts(own.config, parts)
        config = replace(config, pot=round(pot * parts), stack=round(stack * parts) or None)
        tree = own if config == own.config else BettingTree(config)
        forest = line_forests(tree)[0].forest
        if parts > 1:
            arrays = forest.arrays
            arrays = arrays._replace(stake=arrays.stake / parts, rake=arrays.rake / parts)
            forest = replace(forest, arrays=arrays)
        replies = tuple(_labels(child) for child in tree.root.children)
        rivers = np.flatnonzero(number.ravel() == k)
        yield _Betting(pot, _labels(tree.root), replies, forest, rivers)


def _in_parts(config: TreeConfig, parts: int) -> TreeConfig:
    """Convert a tree's amounts, except pot and stack, to units of 1 / ``parts`` chips; labels keep the job's unit."""
    if parts == 1:
        return config

    def size(each: Size) -> Size:
        return each._replace(value=each.value * parts) if each.kind == "chips" else each

    def player(sizes: PlayerSizes) -> PlayerSizes:
        donk = None if sizes.donk is None else tuple(map(size, sizes.donk))
        return PlayerSizes(tuple(map(size, sizes.bet)), tuple(map(size, sizes.raises)), donk)

    cap = config.rake.cap
    return replace(
        config,
        sizes=tuple((player(oop), player(ip)) for oop, ip in config.sizes),
        min_bet=None if config.min_bet is None else config.min_bet * parts,
        rake=config.rake if cap is None else replace(config.rake, cap=cap * parts),
        unit=replace(config.unit, chips=config.unit.chips * parts),
        lines=tuple(
            re.sub("[0-9]+", lambda amount: str(int(amount[0]) * parts), line) for line in config.lines
        ),
    )


def _labels(node: Node) -> tuple[str, ...]:
    return tuple(action.label for action in node.actions)


class _Work:
    """The rivers to solve: ``cards[river, card]``, and ``weights`` per player ``[river, hand]`` or ``[1, hand]``."""

    def __init__(self, job: SpotJob, cards: Ints, weights: tuple[Floats, Floats], results: Results) -> None:
        self._job, self._cards, self._weights, self._results = job, cards, weights, results
        self._most_hands = max(
            (int(np.count_nonzero(own > 0, axis=1).max(initial=1)) for own in weights), default=1
        )
        self._stopping = Stopping.of(job)

    def solver(self, betting: _Betting) -> ManyGames:
        stopping, own_pot = self._stopping, self._job.problem.pot
        per_pot = betting.pot / own_pot if stopping.unit == "%" else 1.0
        limits = Limits(
            stopping.target * per_pot, stopping.last or MOST_SWEEPS, stopping.every or CHECK_EVERY, SMALLEST
        )
        best = variant(self._job.solve.variant or exact_variant(1))
        n_hands = len(self._job.problem.hands)
        return ManyGames(betting.forest, best, betting.pot, limits, n_hands, self._most_hands)

    def solve(self, solver: ManyGames, rivers: Ints) -> None:
        hands, cards = self._job.problem.hands, self._cards[rivers]
        games = Games(rivers, strengths(cards, hands), hands, self._weights)
        n_solved = solver.solve(games, self._results)
        if n_solved < len(rivers):
            raise InputError(
                f"board {cards_name(cards[n_solved])}: expected two ranges that can be dealt together, but all pairs "
                "of hands share a card"
            )
        finite = np.isfinite(self._results.exploitability[rivers])
        if not finite.all():
            name = cards_name(cards[int(np.argmin(finite))])
            raise SolveError(f"board {name}: the solution is not finite; scale the job's amounts")


def _solve_all(
    work: _Work,
    betting: Sequence[_Betting],
    workers: int,
    listener: Callable[[Advanced], object] | None,
) -> None:
    total, done, tell = sum(len(part.rivers) for part in betting), 0, unfailing(listener)
    tasks = [
        (part, part.rivers[start : start + AT_ONCE])
        for part in betting
        for start in range(0, len(part.rivers), AT_ONCE)
    ]
    lock = Lock()

    def thread() -> None:
        nonlocal done
        latest: tuple[_Betting, ManyGames] | None = None
        while True:
            with lock:
                if not tasks:
                    return
                part, rivers = tasks.pop(0)
            try:
                if latest is None or latest[0] is not part:
                    latest = part, work.solver(part)
                work.solve(latest[1], rivers)
                with lock:
                    done += len(rivers)
                    tell(Advanced(done, total))
            except BaseException:  # also on KeyboardInterrupt
                with lock:
                    tasks.clear()
                raise

    _in_threads(thread, min(workers, len(tasks)))


def _in_threads(work: Callable[[], None], n: int) -> None:
    """Call ``work`` in n threads at the same time, one of which is the caller's thread."""
    if n <= 1:
        work()
        return
    with ThreadPoolExecutor(n - 1) as pool:
        others = [pool.submit(work) for _ in range(n - 1)]
        work()
        for other in others:
            other.result()


def _checked_job(job: Job) -> SpotJob:
    if not isinstance(job, SpotJob) or len(job.board) != 5:
        raise InputError(f"job {job.name}: expected a spot with a board of five cards")
    if job.rules.num_hole_cards != 2:
        raise InputError(f"job {job.name}: expected a game with hands of two cards")
    if job.problem.locks:
        raise InputError(
            f"job {job.name}: expected a job without locks, whose hands may differ on other boards"
        )
    if any(rows is not None for rows in job.problem.rows[job.problem.first_round :]):
        raise InputError(f"job {job.name}: expected a row for each hand; remove rows.river")
    return job


def _checked_boards(boards: Sequence[str] | Ints, deck: Sequence[int]) -> Ints:
    rows = []
    for number, board in enumerate(boards):
        try:
            cards = parse_cards(board) if isinstance(board, str) else tuple(map(int, board))
        except (CardError, TypeError, ValueError) as error:
            raise InputError(f"board {number}: {error}") from None
        if len(set(cards)) != 5 or not set(cards) <= set(deck):
            raise InputError(f"board {number}: expected five different cards, found {shown(board)}")
        rows.append(cards)
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def _checked_weights(name: str, given: ArrayLike, shape: tuple[int, int]) -> Floats:
    """Return weights ``[river, hand]``, or ``[1, hand]`` for all rivers, after a check."""
    weights = np.require(given, np.float64, ["C", "W"])
    if weights.shape not in (shape, shape[1:]):
        raise InputError(f"{name}: expected weights of shape {shape} or {shape[1:]}, found {weights.shape}")
    if not np.all(np.isfinite(weights)) or weights.min(initial=0.0) < 0:
        raise InputError(f"{name}: expected finite weights of at least 0")
    return weights.reshape(-1, shape[1])


def _checked_chips(name: str, given: ArrayLike | None, own: int | None, n: int) -> Floats:
    """Return n rivers' pots or stacks ``[river]``, rounded to thousandths of a chip; ``own`` if none are given."""
    if given is None:
        return np.full(n, own or 0, dtype=np.float64)
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected a number of chips for each river, found {shown(given)}") from None
    if numbers.shape != (n,):
        raise InputError(f"{name}: expected {n} numbers, one for each river, found shape {numbers.shape}")
    if not np.all(np.isfinite(numbers) & (numbers >= 1 / PARTS)):
        raise InputError(f"{name}: expected numbers of at least {1 / PARTS} chips")
    rounded: Floats = np.round(numbers * PARTS) / PARTS
    return rounded
