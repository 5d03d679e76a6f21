"""A solve with a row per hand: regrets and sums in the order of use, iterations in threads, exact best responses.

Takes the same `LiveGame` as `solvers.cfr.Cfr` and does the same mathematics in single precision. The game is not needed
once the engine is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from solvers.errors import SolverError
from solvers.exact.kernels import N_CARDS, STRIP, RoundPass, Scratch
from solvers.exact.passes import (
    Deals,
    Entry,
    Goal,
    Plan,
    Team,
    View1,
    View2,
    View3,
    run_one,
    run_three,
    run_two,
)
from solvers.exact.program import Program, program
from solvers.exact.storage import Storage, dither
from solvers.exact.tables import (
    HandTable,
    class_table,
    deal_table,
    entering_reach,
    hand_table,
    n_blocks,
    no_classes,
)
from solvers.exact.threads import SYNC_SIZE
from solvers.exact.vector import HALF, HANDS, LARGEST, SINGLE, aligned, bare
from solvers.exploit import Exploitability
from solvers.forest import Floats, Ints
from solvers.kernels import BEST, EVALUATE, UPDATE
from solvers.live import LiveGame
from solvers.variants import Variant

T = TypeVar("T")
MAX_ROUNDS = 3
HEADROOM, LARGEST_SUM = 64, 32768.0
"""In 16 bits: how many times one iteration's regret fits, and what the largest sum is kept as."""

MOST_PORTIONS = 24, 64
"""That share the boards of the second of two rounds, of three: the more, the fairer their shares, and the more to add.

Whatever the number of threads, so that sums have one order.
"""

WORTH_SHARING = 2**22
"""Bytes above which threads share the work of clearing them."""

COMMON = ("theirs", "wins", "total", "by_card", "exits", "below", "roots")
"""Buffers for the first board that all threads share: those with a row per hand."""

Whole = list[tuple[Storage, Storage]]
"""Per round and player."""


def n_portions(n_rounds: int, n_entries: int) -> int:
    """Portions of so many boards after the first deal of two or three rounds."""
    return min(MOST_PORTIONS[n_rounds - 2], n_entries)


def supports(game: LiveGame, variant: Variant) -> bool:
    """Whether the engine can take a game: hands of two cards, a row each, up to three rounds, no prediction."""
    rows = [rows for r in game.rounds for rows in r.rows]
    return (
        len(game.rounds) <= MAX_ROUNDS
        and not variant.predictive
        and all(r.direct and r.blockers.shape[2] == 2 for r in rows)
        and len(game.reach[0]) == len(game.reach[1]) == 1
    )


class ExactCfr:
    """A solve in progress.

    Attributes:
        regrets, sums: per round and player; see `storage`.
    """

    def __init__(
        self,
        game: LiveGame,
        variant: Variant,
        *,
        threads: int = 1,
        short: bool = False,
        folder: Path | None = None,
        kept: float = 0.0,
    ) -> None:
        """Get ready.

        Args:
            game: what to solve; see `supports`.
            variant: the schedule.
            threads: how many share the boards.
            short: 16 bits for regrets and sums instead of single precision.
            folder: where regrets and sums of the last of several rounds are mapped from, instead of memory.
            kept: the share of them that stays in memory all the same.

        Raises:
            SolverError: the engine does not support the game.
            OSError: there is no room in the folder.
        """
        if not supports(game, variant):
            raise SolverError(
                "exact engine: expected a row per hand of two cards, at most three rounds and no prediction"
            )
        self.variant = variant
        self._short = short
        self._reach = [game.reach[p][0, : int(game.rounds[0].rows[p].count[0])] for p in (0, 1)]
        self._deal_weight = game.deal_weight
        self._raked = game.raked
        hands = [tuple(hand_table(r.rows[p], r.rows[1 - p]) for p in (0, 1)) for r in game.rounds]
        units = _regret_units(game, short)
        self.regrets = _blank(game, hands, short=short, units=units, folder=folder)
        self.sums = _blank(game, hands, short=short, units=(1.0, 1.0), folder=folder)
        self._rig = _Rig(game, hands, threads, 1.0 if folder is None else kept, self._reach)
        self._rig.bind(self.regrets, self.sums)
        self.iteration = 0

    @property
    def iteration(self) -> int:
        """How many are done. Set it before regrets and sums are written from outside."""
        return self._iteration

    @iteration.setter
    def iteration(self, done: int) -> None:
        self._iteration = done
        unit = float(self._units(np.array([done]))[0])
        for pair in self.sums:
            for part in pair:
                part.unit = unit

    def run(self, iterations: int) -> None:
        """Do so many iterations more."""
        self._take_memory()
        self._rig.run(self._plan(iterations))
        self.iteration += iterations

    def run_to(self, target: float, iterations: int, every: int) -> list[tuple[int, Exploitability]]:
        """Run, and measure exploitability after ``every`` so many, until it is at most ``target`` chips.

        All in one call of the kernels: on a river calling takes longer than an iteration. Not for raked games.

        Returns:
            (iteration, exploitability) of every measurement; the last was at ``target`` or after so many iterations.
        """
        self._take_memory()
        plan = _with_judgements(self._plan(iterations), every)
        found, first = np.zeros((-(-iterations // every), 2)), self.iteration
        passes = self._rig.run(plan, found, target)
        n_judged = -(-passes // (2 * every + 2))
        self.iteration += (passes - 2 * n_judged) // 2
        return [
            (min(first + (i + 1) * every, self.iteration), Exploitability((float(x), float(y))))
            for i, (x, y) in enumerate(found[:n_judged])
        ]

    def exploitability(self) -> Exploitability:
        """Best responses to the averages."""
        found = np.empty((1, 2))
        self._rig.run(_judging(BEST), found)
        best = float(found[0, 0]), float(found[0, 1])
        return Exploitability(best, self.expected_values() if self._raked else None)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the averages."""
        self._rig.run(_judging(EVALUATE))
        first, second = (
            float(w @ self._rig.root_values(p)[: len(w)]) / self._deal_weight
            for p, w in enumerate(self._reach)
        )
        return first, second

    def close(self) -> None:
        """Stop the threads."""
        self._rig.close()

    @property
    def state_bytes(self) -> int:
        """Bytes of regrets and sums."""
        return sum(part.values.nbytes for pair in (*self.regrets, *self.sums) for part in pair)

    def _take_memory(self) -> None:
        parts = [part for pair in (*self.regrets, *self.sums) for part in pair if part.untouched]
        n = self._rig.threads if self.state_bytes > WORTH_SHARING else 1

        def take(thread: int) -> None:
            for part in parts:
                part.take_memory(thread, n)

        if parts:
            self._rig.each(take, n)
        for part in parts:
            part.untouched = False

    def _plan(self, iterations: int) -> Plan:
        """The next iterations: a pass for player 0, one for player 1, and so on."""
        before = np.arange(self.iteration, self.iteration + iterations)
        numbers = np.empty((iterations, 4), dtype=np.float32)
        numbers[:, :3] = self.variant.table(self.iteration + 1, iterations)
        units = self._units(np.arange(self.iteration, self.iteration + iterations + 1))
        numbers[:, 2] *= units[:-1] / units[1:]
        numbers[:, 3] = 1 / units[1:]
        players, modes = np.tile(np.arange(2), iterations), np.full(2 * iterations, UPDATE)
        return Plan(
            players, modes, np.repeat(numbers, 2, axis=0), np.repeat(dither(before), 2), self.variant.clip
        )

    def _units(self, iterations: Ints) -> Floats:
        """Units of sums after so many iterations: in 16 bits averages are kept, of which none exceeds `LARGEST_SUM`."""
        if not self._short:
            return np.ones(len(iterations))
        return np.maximum(self.variant.weight(iterations), 1.0) / LARGEST_SUM


def _judging(mode: int) -> Plan:
    return Plan(
        np.arange(2),
        np.full(2, mode),
        np.ones((2, 4), dtype=np.float32),
        np.zeros(2, dtype=np.int32),
        False,
    )


def _with_judgements(plan: Plan, every: int) -> Plan:
    """Best responses of both after every so many iterations, and after the last."""
    n, between = len(plan.player), 2 * every
    passes = np.arange(n + 2 * -(-n // between))
    judged = passes % (between + 2) >= between
    judged[-2:] = True
    numbers, fractions = np.ones((len(passes), 4), dtype=np.float32), np.zeros(len(passes), dtype=np.int32)
    numbers[~judged], fractions[~judged] = plan.numbers, plan.dither
    return Plan(passes % 2, np.where(judged, BEST, UPDATE), numbers, fractions, plan.clip)


def _blank(
    game: LiveGame,
    hands: list[tuple[HandTable, ...]],
    *,
    short: bool,
    units: tuple[float, float],
    folder: Path | None,
) -> Whole:
    def blank(t: int, p: int) -> Storage:
        mapped = folder if 0 < t == len(game.rounds) - 1 else None
        n_slots = game.rounds[t].forest.n_slots[p]
        return Storage.blank(n_slots, hands[t][p], short=short, unit=units[p], folder=mapped)

    return [(blank(t, 0), blank(t, 1)) for t in range(len(game.rounds))]


def _regret_units(game: LiveGame, short: bool) -> tuple[float, float]:
    """Per player: in 16 bits, `HEADROOM` times the largest regret of one iteration is the largest that is kept."""
    if not short:
        return 1.0, 1.0
    stake = max(float((np.abs(r.forest.arrays.stake) + r.forest.arrays.rake).max()) for r in game.rounds)
    first, second = (
        HEADROOM * 2 * stake * max(float(game.reach[1 - p].sum()), 1e-30) / LARGEST for p in (0, 1)
    )
    return first, second


@dataclass(frozen=True)
class _Locks:
    """Locks of a round's player: their number by decision, and frequencies for the kernels."""

    by_node: dict[int, int]
    frequencies: np.ndarray
    first: np.ndarray


class _Rig:
    """All that passes need but regrets and sums: steps, tables, buffers and threads."""

    def __init__(
        self,
        game: LiveGame,
        hands: list[tuple[HandTable, ...]],
        threads: int,
        kept: float,
        weights: list[np.ndarray],
    ) -> None:
        n_rounds = len(game.rounds)
        self.n_rounds = n_rounds
        self.hands = hands
        self.threads = threads
        self.locks = [tuple(_locks(game, hands[t][p], t, p) for p in (0, 1)) for t in range(n_rounds)]
        self.programs = [
            tuple(program(r.forest, p, self.locks[t][0].by_node | self.locks[t][1].by_node) for p in (0, 1))
            for t, r in enumerate(game.rounds)
        ]
        self.classes = [
            tuple(
                no_classes() if r.deal is not None else class_table(r.rows[p], r.rows[1 - p]) for p in (0, 1)
            )
            for r in game.rounds
        ]
        self.entries = tuple(
            Entry(
                entering_reach(game, 1 - p),
                np.arange(HANDS * int(hands[0][1 - p].first_block[1]), dtype=np.int32),
            )
            for p in (0, 1)
        )
        self.deals = [
            tuple(deal_table(r.deal, r.rows[p], game.rounds[t + 1].rows[p], p) for p in (0, 1))
            for t, r in enumerate(game.rounds)
            if r.deal is not None
        ]
        self.scratch = [[self._scratch(t) for t in range(n_rounds)] for _ in range(threads)]
        for own in self.scratch[1:]:  # rows of the first board are common to all threads
            own[0] = tuple(
                _sharing(mine, common) for mine, common in zip(own[0], self.scratch[0][0], strict=True)
            )
        self.n_portions = n_portions(n_rounds, len(self.deals[0][0].child)) if self.deals else 0
        self.n_kept = int(kept * self.n_portions)
        largest = max(len(self.scratch[0][0][p].below) for p in (0, 1))
        self.portions = aligned(self.n_portions * largest)
        self._weights = [w.astype(np.float32) for w in weights]
        self._goal = Goal(
            bare(self._weights[0]),
            len(weights[0]),
            bare(self._weights[1]),
            len(weights[1]),
            1 / game.deal_weight,
            0.0,
            0,
        )
        self._bare_scratch = [[tuple(map(bare, pair)) for pair in own] for own in self.scratch]
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def bind(self, regrets: Whole, sums: Whole) -> None:
        """Say which regrets and sums passes work on."""
        self._views = tuple(bare(self._view(p, current, sums)) for current in (regrets, sums) for p in (0, 1))

    def run(self, plan: Plan, found: np.ndarray | None = None, target: float = -np.inf) -> int:
        """Do the passes of a plan, or as many as it takes to the target; return how many.

        ``found[judgement, 2]`` takes the best responses.
        """
        found = np.zeros((1, 2)) if found is None else found
        goal = self._goal._replace(target=float(target), found=bare(found))
        counters = np.zeros(SYNC_SIZE, dtype=np.int64)
        calls = [
            (
                plan,
                goal,
                self._views,
                *scratch,
                self._team(counters, thread),
            )
            for thread, scratch in enumerate(self._bare_scratch)
        ]
        kernel: Any = (run_one, run_two, run_three)[self.n_rounds - 1]
        return self.each(lambda thread: int(kernel(*calls[thread])), self.threads)

    def each(self, work: Callable[[int], T], n_threads: int) -> T:
        """Have so many threads do their work; return what the first one gives."""
        others = [self.pool.submit(work, thread) for thread in range(1, n_threads)] if self.pool else []
        first = work(0)
        for other in others:
            other.result()
        return first

    def _team(self, counters: np.ndarray, thread: int) -> Team:
        return Team(bare(self.portions), self.n_portions, self.n_kept, counters, self.threads, thread)

    def root_values(self, p: int) -> Floats:
        """``[row]``, values of the last pass of traverser p."""
        s = self.scratch[0][0][p]
        first: Floats = s.roots.reshape(-1, self.programs[0][p].n_root_lanes)[:, 0].astype(np.float64)
        return first

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def _view(self, p: int, current: Whole, sums: Whole) -> View1 | View2 | View3:
        rounds = [self._round(t, p, current, sums) for t in range(self.n_rounds)]
        parts: list[RoundPass | Deals] = [rounds[0]]
        for t, deal in enumerate(self.deals):
            parts += [Deals(deal[p], deal[1 - p]), rounds[t + 1]]
        kind = (View1, View2, View3)[len(rounds) - 1]
        return kind(self.entries[p], *parts)  # type: ignore[arg-type]

    def _round(self, t: int, p: int, current: Whole, sums: Whole) -> RoundPass:
        q = 1 - p
        own, other = self.locks[t][p], self.locks[t][q]
        return RoundPass(
            self.programs[t][p],
            self.hands[t][p],
            self.hands[t][q],
            self.classes[t][p],
            HALF if current[t][p].short else SINGLE,
            np.float32(1 / current[t][p].unit),
            current[t][p].values,
            current[t][q].values,
            sums[t][q].values,
            own.frequencies,
            own.first,
            other.frequencies,
            other.first,
        )

    def _scratch(self, t: int) -> tuple[Scratch, ...]:
        largest = [int(np.diff(hands.first_block).max()) for hands in self.hands[t]]
        return scratch(self.programs[t][0], largest, 0), scratch(self.programs[t][1], largest, 1)


def scratch(steps: Program, largest: Sequence[int], p: int) -> Scratch:
    """Buffers for passes of traverser p over one round; ``largest``: both players' most blocks on a board."""
    own, other = HANDS * largest[p], HANDS * largest[1 - p]
    n_lanes, n_exits, n_roots = steps.n_lanes, steps.n_exit_lanes, steps.n_root_lanes
    return Scratch(
        reach=aligned(HANDS * steps.n_sequences),
        value=aligned(HANDS * max(steps.n_nodes + 1, n_roots)),
        theirs=aligned((other + 1) * n_lanes),
        wins=aligned(own * n_lanes),
        total=aligned(n_lanes),
        by_card=aligned(N_CARDS * n_lanes),
        rows_win=aligned(HANDS * STRIP),
        rows_total=aligned(HANDS * STRIP),
        exits=aligned((other + 1) * n_exits),
        below=aligned(own * n_exits),
        lanes_below=aligned(HANDS * n_exits),
        roots=aligned(own * n_roots),
        places=np.zeros(HANDS, dtype=np.int64),
    )


def _sharing(own: Scratch, common: Scratch) -> Scratch:
    """A thread's buffers for the first board: blocks are its own, rows of hands are everybody's."""
    return own._replace(**{name: getattr(common, name) for name in COMMON})


def _locks(game: LiveGame, hands: HandTable, t: int, p: int) -> _Locks:
    """Frequencies ``[block, action, 16]`` of a player's locks in a round, one after another."""
    by_node: dict[int, int] = {}
    parts, start = [np.zeros(HANDS, dtype=np.float32)], HANDS
    first: list[int] = []
    for lock in game.locks:
        if (lock.round, lock.player) != (t, p):
            continue
        by_node[lock.node] = len(first)
        first.append(start)
        for b, board in enumerate(lock.frequencies):
            count, blocks = int(hands.count[b]), n_blocks(int(hands.count[b]))
            wide = np.full((board.shape[0], HANDS * blocks), np.nan, dtype=np.float32)
            wide[:, :count] = board[:, :count]
            parts.append(wide.reshape(-1, blocks, HANDS).transpose(1, 0, 2).ravel())
            start += wide.size
    return _Locks(by_node, np.concatenate(parts), np.array(first or [0], dtype=np.int64))
