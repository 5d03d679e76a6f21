"""A solve with a row per hand: regrets and sums in the order of use, iterations in threads, exact best responses.

Takes the same `LiveGame` as `solvers.cfr.Cfr` and does the same mathematics in single precision. The game is not needed
once the engine is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from solvers.errors import SolverError
from solvers.exact.bundle import Packed
from solvers.exact.kernels import N_CARDS, STRIP, RoundPass, Scratch
from solvers.exact.passes import (
    Deals,
    Desk,
    Entry,
    Plan,
    Ranges,
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
from solvers.exact.threads import SYNC_SIZE, clock
from solvers.exact.vector import HALF, HANDS, LARGEST, SINGLE, aligned, bare
from solvers.exploit import Exploitability
from solvers.forest import Floats, Ints
from solvers.kernels import BEST, EVALUATE, UPDATE
from solvers.live import LiveGame
from solvers.variants import Variant

T = TypeVar("T")
NOTHING = np.zeros((1, 4))
NO_NUMBERS = np.ones((1, 4), dtype=np.float32), np.zeros(1, dtype=np.int32)
MAX_ROUNDS = 3
HEADROOM, LARGEST_SUM = 64, 32768.0
"""In 16 bits: how many times one iteration's regret fits, and what the largest sum is kept as."""

MOST_PORTIONS = 24, 64
"""That share the boards of the second of two rounds, of three: the more, the fairer their shares, and the more to add.

Whatever the number of threads, so that sums have one order.
"""

WORTH_A_THREAD = 40_000
"""Numbers that a pass of a thread goes through, hands times actions, so that the thread is worth its meetings."""

WORTH_SHARING = 2**22
"""Bytes above which threads share the work of clearing them."""

COMMON = ("theirs", "wins", "total", "by_card", "exits", "below", "roots")
"""Buffers for the first board that all threads share: those with a row per hand."""

Whole = list[tuple[Storage, Storage]]
"""Per round and player."""


class Measurement(NamedTuple):
    """Exploitability after so many iterations, ``seconds`` after the start; measuring it ``took`` seconds of them."""

    iteration: int
    seconds: float
    took: float
    exploitability: Exploitability


def n_portions(n_rounds: int, n_entries: int) -> int:
    """Portions of so many boards after the first deal of two or three rounds."""
    return min(MOST_PORTIONS[n_rounds - 2], n_entries)


def useful_threads(game: LiveGame, asked: int) -> int:
    """How many of so many threads a pass has enough work for: they meet some four times in it.

    On a river of two ranges of 400 hands a pass takes ten microseconds, and a meeting half of one at best.
    """
    work = 0
    for r in game.rounds:
        for p in (0, 1):
            rows = HANDS * sum(n_blocks(int(n)) for n in r.rows[p].count)
            work += rows * max(r.forest.n_slots[p], STRIP)
    return max(1, min(asked, work // WORTH_A_THREAD))


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
        self._rig.run(
            _plain(UPDATE, 0, NOTHING)
        )  # loads the machine code, which takes longer than a small river
        self.iteration = 0

    @property
    def iteration(self) -> int:
        """How many are done. Set it before regrets and sums are written from outside."""
        return self._iteration

    @iteration.setter
    def iteration(self, done: int) -> None:
        self._iteration = done
        if self._short:
            unit = float(_sum_units(self.variant, np.array([done]))[0])
            for pair in self.sums:
                for part in pair:
                    part.unit = unit

    def run(self, iterations: int) -> None:
        """Do so many iterations more."""
        self._take_memory()
        self._rig.run(self._plan(iterations))
        self.iteration += iterations

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        """Run, and measure exploitability after ``every`` so many, until it is at most ``target`` chips.

        All in one call of the kernels: on a river calling takes longer than an iteration. Not for raked games.

        Returns:
            Every measurement; the last was at ``target``, or NaN, or after so many iterations.
        """
        self._take_memory()
        found, first, started = np.zeros((-(-iterations // every), 4)), self.iteration, clock()
        passes = self._rig.run(self._plan(iterations, every, target, found))
        n_measured = -(-passes // (2 * every + 2))
        self.iteration += (passes - 2 * n_measured) // 2
        return [
            Measurement(
                min(first + (i + 1) * every, self.iteration),
                when - started,
                took,
                Exploitability((own, other)),
            )
            for i, (own, other, when, took) in enumerate(found[:n_measured].tolist())
        ]

    def exploitability(self) -> Exploitability:
        """Best responses to the averages."""
        found = np.zeros((1, 4))
        self._rig.run(_plain(BEST, 1, found))
        best = float(found[0, 0]), float(found[0, 1])
        return Exploitability(best, self.expected_values() if self._raked else None)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the averages."""
        self._rig.run(_plain(EVALUATE, 1, NOTHING))
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

    def _plan(
        self, iterations: int, every: int = 0, target: float = -np.inf, found: Floats = NOTHING
    ) -> Plan:
        """The next iterations, and measurements after ``every`` so many into ``found``."""
        numbers, fractions = _numbers(self.variant, self.iteration, iterations, self._short)
        return Plan(UPDATE, iterations, every, numbers, fractions, self.variant.clip, float(target), found)


@lru_cache(maxsize=64)
def _numbers(variant: Variant, done: int, iterations: int, short: bool) -> tuple[np.ndarray, np.ndarray]:
    """``numbers`` and ``dither`` of a `Plan` from iteration ``done + 1`` on; of small solves always the same."""
    numbers = np.empty((iterations, 4), dtype=np.float32)
    numbers[:, :3] = variant.table(done + 1, iterations)
    before = np.arange(done, done + iterations + 1)
    units = _sum_units(variant, before) if short else np.ones(len(before))
    numbers[:, 2] *= units[:-1] / units[1:]
    numbers[:, 3] = 1 / units[1:]
    return numbers, dither(before[:-1])


def _sum_units(variant: Variant, iterations: Ints) -> Floats:
    """In 16 bits, units of sums after so many iterations: averages are kept, of which none exceeds `LARGEST_SUM`."""
    return np.maximum(variant.weight(iterations), 1.0) / LARGEST_SUM


def _plain(mode: int, iterations: int, found: Floats) -> Plan:
    """A plan that learns nothing."""
    return Plan(mode, iterations, 0, *NO_NUMBERS, False, -np.inf, found)


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
            first, second = self.scratch[0][0]
            own[0] = _sharing(own[0][0], first), _sharing(own[0][1], second)
        self.n_portions = n_portions(n_rounds, len(self.deals[0][0].child)) if self.deals else 0
        self.n_kept = int(kept * self.n_portions)
        largest = max(len(self.scratch[0][0][p].below) for p in (0, 1))
        self.portions = aligned(self.n_portions * largest)
        weights = [w.astype(np.float32) for w in weights]
        ranges = Ranges(weights[0], len(weights[0]), weights[1], len(weights[1]), 1 / game.deal_weight)
        self._bare_tables = [
            [bare((self.programs[t][p], hands[t][p], hands[t][1 - p], self.classes[t][p])) for p in (0, 1)]
            for t in range(n_rounds)
        ]
        self._counters = aligned(SYNC_SIZE, np.int64)
        self._desks = [
            Packed(Desk((*own,), ranges, self._team(thread))) for thread, own in enumerate(self.scratch)
        ]
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def bind(self, regrets: Whole, sums: Whole) -> None:
        """Say which regrets and sums passes work on."""
        self._views = Packed(
            tuple(self._view(p, current, sums) for current in (regrets, sums) for p in (0, 1))
        )

    def run(self, plan: Plan) -> int:
        """Do the passes of a plan, or as many as it takes to its target; return how many."""
        self._counters[:] = 0
        kernel: Any = (run_one, run_two, run_three)[self.n_rounds - 1]
        steps = bare(plan)
        return self.each(lambda thread: int(kernel(steps, self._views, self._desks[thread])), self.threads)

    def each(self, work: Callable[[int], T], n_threads: int) -> T:
        """Have so many threads do their work; return what the first one gives."""
        others = [self.pool.submit(work, thread) for thread in range(1, n_threads)] if self.pool else []
        first = work(0)
        for other in others:
            other.result()
        return first

    def _team(self, thread: int) -> Team:
        return Team(self.portions, self.n_portions, self.n_kept, self._counters, self.threads, thread)

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
        steps, own_hands, other_hands, classes = self._bare_tables[t][p]
        return RoundPass(
            steps,
            own_hands,
            other_hands,
            classes,
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

    def _scratch(self, t: int) -> tuple[Scratch, Scratch]:
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
