"""CFR with a row for each hand, in vectors and threads, and exact best responses.

The engine takes the same `LiveGame` as `solvers.reference.cfr.Cfr` and computes the same numbers in single precision.
Of the `LiveGame`, the engine keeps only the first round and both ranges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from compiled.precision import LARGEST
from compiled.threads import clock
from compiled.vector import WIDTH
from solvers.discount import Variant
from solvers.errors import SolverError
from solvers.exact.context import Context, Whole
from solvers.exact.passes import Plan
from solvers.exact.storage import Storage, dither
from solvers.exact.tables import HandTable, hand_table, padded_rows
from solvers.game import BEST, EVALUATE, UPDATE, LeafValues, LiveGame
from solvers.measure import Exploitability, Measurement
from solvers.solver import Part, Solver, step_by_step
from solvers.state import ChunkStrategy
from solvers.tree import Floats, Ints

NOTHING = np.zeros((1, 4))
NO_NUMBERS = np.ones((1, 6), dtype=np.float32), np.zeros(1, dtype=np.int32)
NO_VALUES = np.zeros(1, dtype=np.float32)
MAX_ROUNDS = 3
HEADROOM, LARGEST_SUM = 64, 32768.0
"""Largest 16-bit regret as a multiple of the largest regret of one iteration; and largest 16-bit sum."""

WORTH_A_THREAD = 40_000
"""Number of (hand, action) pairs that a pass must have for each of its threads."""

WORTH_SHARING = 2**22
"""Size of regrets and sums in bytes above which threads share the work of clearing them."""


def useful_threads(game: LiveGame, asked: int) -> int:
    """Number of threads, at most ``asked``, for which a pass has enough work.

    Threads wait for each other about four times in a pass. On a river with two ranges of 400 hands a pass takes ten
    microseconds, and each wait takes at least half a microsecond.
    """
    work = 0
    for r in game.rounds:
        for p in (0, 1):
            rows = int(padded_rows(r.hands[p].n_hands).sum())
            work += rows * max(r.forest.n_slots[p], WIDTH)
    return max(1, min(asked, work // WORTH_A_THREAD))


def supports(game: LiveGame) -> bool:
    """Whether the engine can solve a game.

    The engine needs hands of two cards, a strategy row for each hand, at most three rounds, and a single betting tree
    in the first round.
    """
    rows = [rows for r in game.rounds for rows in r.hands]
    return (
        len(game.rounds) <= MAX_ROUNDS
        and all(r.direct and r.cards.shape[2] == 2 for r in rows)
        and len(game.reach[0]) == len(game.reach[1]) == 1
    )


class ExactCfr(Solver):
    """A solve in progress with a strategy row for each hand.

    Attributes:
        regrets, sums: `Storage` of regrets and of strategy sums, per round and player.
        guesses: predicted regrets of a predictive variant, per round and player; else None.
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
        groups: int = 1,
    ) -> None:
        """Allocate regrets and sums and load the machine code.

        Args:
            game: the game to solve; see `supports`.
            variant: the variant of CFR; see `supports`.
            short: whether regrets and sums have 16 bits instead of single precision.
            folder: folder for temporary files that hold the last round's regrets and sums, if there are several rounds;
                None: memory holds them.
            kept: share (0 to 1) of the regrets and sums in files that also stays in memory from pass to pass.
            groups: number of groups of boards of the last round, if there are several rounds. An iteration visits one
                group in place of all boards, so it is faster, and its values are estimates. Measurements visit all.

        Raises:
            SolverError: the engine does not support the game.
            OSError: the disk of the folder has no room.
        """
        if not supports(game):
            raise SolverError("exact engine: expected a row per hand of two cards, and at most three rounds")
        self.variant = variant
        self._short = short
        self.groups = groups
        self._top = replace(game, rounds=[replace(game.rounds[0], deal=None)], locks=())
        self._raked = game.raked
        hands = [tuple(hand_table(r.hands[p], r.hands[1 - p]) for p in (0, 1)) for r in game.rounds]
        units = _regret_units(game, short)
        self.regrets = _blank(game, hands, short=short, units=units, folder=folder)
        self.sums = _blank(game, hands, short=short, units=(1.0, 1.0), folder=folder)
        self.guesses = (
            _blank(game, hands, short=short, units=units, folder=folder) if variant.predictive else None
        )
        self.parts: tuple[Part, ...] = ("regrets", "sums", *(("guesses",) if variant.predictive else ()))
        self._context = Context(game, hands, threads, 1.0 if folder is None else kept, self._reach())
        self._context.bind(self.regrets, self.sums, self.guesses)
        self._context.weigh(self._top.deal_weight)
        # no iteration: the call loads the machine code, which takes longer than solving a small river
        self._context.run(_plain(UPDATE, 0, NOTHING))
        self.iteration = 0

    @property
    def iteration(self) -> int:
        """Number of iterations done; set it before you `write` the regrets and sums of a saved solve."""
        return self._iteration

    @iteration.setter
    def iteration(self, done: int) -> None:
        self._iteration = done
        if self._short:
            for t, pair in enumerate(self.sums):
                seen = done if t == 0 or t < len(self.sums) - 1 else done // self.groups
                unit = float(_sum_units(self.variant, np.array([seen]))[0])
                for part in pair:
                    part.unit = unit

    def run(self, iterations: int) -> None:
        self._take_memory()
        self._context.run(self._plan(iterations))
        self.iteration += iterations

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        # one call of a kernel does all iterations, since on a river a call takes longer than an iteration
        if self._raked:
            return step_by_step(self, target, iterations, every)
        self._take_memory()
        self._context.weigh(self._top.deal_weight)
        measured, first, started = np.zeros((-(-iterations // every), 4)), self.iteration, clock()
        passes = self._context.run(self._plan(iterations, every, target, measured))
        n_measured = -(-passes // (2 * every + 2))
        self.iteration += (passes - 2 * n_measured) // 2
        return [
            Measurement(
                min(first + (i + 1) * every, self.iteration),
                when - started,
                took,
                Exploitability((own, other)),
            )
            for i, (own, other, when, took) in enumerate(measured[:n_measured].tolist())
        ]

    def exploitability(self) -> Exploitability:
        measured = np.zeros((1, 4))
        self._context.weigh(self._top.deal_weight)
        self._context.run(_plain(BEST, 1, measured))
        best = float(measured[0, 0]), float(measured[0, 1])
        return Exploitability(best, self.expected_values() if self._raked else None)

    def expected_values(self) -> tuple[float, float]:
        self._context.run(_plain(EVALUATE, 1, NOTHING))
        first, second = (
            float(w @ self._context.root_values(p)[: len(w)]) / self._top.deal_weight
            for p, w in enumerate(self._reach())
        )
        return first, second

    def leaf_values(self) -> LeafValues:
        kept, second = self._context.room_to_keep()
        self._context.run(_plain(EVALUATE, 1, NOTHING, kept, second))
        return self._context.leaf_values(kept, second)

    def enter(self, p: int, reach: Floats) -> None:
        self._top = self._top.entered(p, reach)
        self._context.enter(p, reach)

    def root_values(self, p: int) -> Floats:
        """Player p's counterfactual values ``[row]`` at the root, from the last pass that computed p's values.

        This pass belongs to the last iteration, or to a later call of `best_values` or `average_values`. A variant that
        looks ahead mixes in the values of the next strategy (`solvers.discount`).
        """
        return self._context.root_values(p)[: int(self._top.rounds[0].hands[p].n_hands[0])]

    def average_values(self, p: int) -> Floats:
        self._context.run(_plain(EVALUATE, 1, NOTHING))
        return self.root_values(p)

    def best_values(self, p: int) -> Floats:
        self._context.run(_plain(BEST, 1, np.zeros((1, 4))))
        return self.root_values(p)

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        first, second = self._whole(part)[t]
        return first.read(b), second.read(b)

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        written = [self._whole(part)[t]]
        if part == "regrets" and self.guesses is not None:  # until somebody writes others
            written.append(self.guesses[t])
        for storages in written:
            for storage, values in zip(storages, numbers, strict=True):
                storage.write(b, values)

    def finite(self) -> bool:
        return all(storage.finite() for storage in self._storages())

    def let_go(self) -> None:
        for storage in self._storages():
            storage.let_go()

    def close(self) -> None:
        """End the threads; regrets and sums can still be read.

        A run in another thread ends after its current pass, and raises a `SolverError` there, as all later runs and
        measurements do.
        """
        self._context.close()

    @property
    def state_bytes(self) -> int:
        return sum(storage.values.nbytes for storage in self._storages())

    def _reach(self) -> list[Floats]:
        rows = self._top.rounds[0].hands
        return [self._top.reach[p][0, : int(rows[p].n_hands[0])] for p in (0, 1)]

    def _whole(self, part: Part) -> Whole:
        whole = {"regrets": self.regrets, "sums": self.sums, "guesses": self.guesses}[part]
        assert whole is not None
        return whole

    def _storages(self) -> list[Storage]:
        return [storage for part in self.parts for pair in self._whole(part) for storage in pair]

    def _take_memory(self) -> None:
        parts = [storage for storage in self._storages() if storage.untouched]
        n = self._context.threads if self.state_bytes > WORTH_SHARING else 1

        def take(thread: int) -> None:
            for part in parts:
                part.take_memory(thread, n)

        if parts:
            self._context.each(take, n)
        for part in parts:
            part.untouched = False

    def _plan(
        self, iterations: int, every: int = 0, target: float = -np.inf, measured: Floats = NOTHING
    ) -> Plan:
        done = (
            0 if self.groups == 1 else self.iteration
        )  # the last round also needs numbers of earlier iterations
        numbers, fractions = iteration_numbers(
            self.variant, self.iteration - done, done + iterations, self._short
        )
        clip, predicted = self.variant.discount.clip, float(self.variant.predicted)
        return Plan(
            UPDATE,
            iterations,
            every,
            numbers,
            fractions,
            clip,
            predicted,
            float(target),
            measured,
            NO_VALUES,
            -1,
            self.groups,
            done,
        )


@lru_cache(maxsize=64)  # solves of many small games ask for the same iterations
def iteration_numbers(
    variant: Variant, done: int, iterations: int, short: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Make the fields ``numbers`` and ``dither`` of a `Plan` for the iterations that follow iteration ``done``.

    ``iterations`` is their number, and ``short`` says whether strategy sums have 16 bits.
    """
    numbers = np.empty((iterations, 6), dtype=np.float32)
    numbers[:, :5] = variant.table(done + 1, iterations)
    before = np.arange(done, done + iterations + 1)
    units = _sum_units(variant, before) if short else np.ones(len(before))
    numbers[:, 2] *= units[:-1] / units[1:]
    numbers[:, 5] = 1 / units[1:]
    return numbers, dither(before[:-1])


def _sum_units(variant: Variant, iterations: Ints) -> Floats:
    """Unit of 16-bit strategy sums after each number of iterations; a sum is its stored value times the unit.

    With these units no stored value exceeds `LARGEST_SUM`.
    """
    return np.maximum(variant.weight(iterations), 1.0) / LARGEST_SUM


def _plain(
    mode: int, iterations: int, measured: Floats, kept: np.ndarray = NO_VALUES, kept_second: int = -1
) -> Plan:
    """Make a plan that leaves regrets and sums unchanged: a pass per player, or none for 0 iterations."""
    return Plan(mode, iterations, 0, *NO_NUMBERS, False, 0.0, -np.inf, measured, kept, kept_second, 1, 0)


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
    """Unit of 16-bit regrets, for each player; a regret is its stored value times the unit.

    With these units the largest 16-bit regret is `HEADROOM` times the largest regret of one iteration. If ``short`` is
    False, regrets have single precision and their unit is 1.
    """
    if not short:
        return 1.0, 1.0
    stake = max(float((np.abs(r.forest.arrays.stake) + r.forest.arrays.rake).max()) for r in game.rounds)
    first, second = (
        HEADROOM * 2 * stake * max(float(game.reach[1 - p].sum()), 1e-30) / LARGEST for p in (0, 1)
    )
    return first, second
