"""A whole game in classes of boards, learnt chunk by chunk through stored payoff matrices, as Spewy Louie was.

A *visit* takes all chunks of one class: on a board of it that is dealt for this visit both ranges are played down by
the averages, a local optimum is found against the payoff matrices of the classes below, and is added to the sums,
weighted by the number of the visit and by own reach. What the averages are worth then goes into the payoff locker. A
sweep visits every class once, the last round first. Visits stand where the sampled engine has deals: they are counted,
saved and judged in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from compiled.vector import WIDTH
from lockers import Store
from solvers.matrix.chunk import ChunkStrategy, reach_of
from solvers.tree import Floats
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import LineForest, betting_rounds
from spewy.learn.class_boards import ClassGame, Drawn, drawn_boards
from spewy.learn.class_matrices import class_chunks, class_payoffs
from spewy.learn.engine import Stop
from spewy.learn.real_game import rows_know_suits
from spewy.learn.sampled import SampledEngine
from spewy.learn.visit import VisitSettings, local_optimum
from spewy.records.bucket_payoffs import BucketPayoffs

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

BOARDS = 1
"""Dealt for a visit."""


class AveragingEngine(SampledEngine):
    """A solve by visits of classes, which goes on from what a store holds.

    Args:
        problem: the whole game.
        rounds: the betting.
        abstraction: of the game's boards.
        seed: of the boards that are dealt.
        settings: how chunks are solved.
        opened: opens the store of earlier runs, to read it.
        payoffs: the payoff locker, open as long as the engine is at work.

    Raises:
        lockers.DamagedLockerError: what the store holds is not what was written.
    """

    visits_every_round = False

    def __init__(
        self,
        problem: Problem,
        rounds: Sequence[LineForest],
        abstraction: Abstraction,
        seed: int,
        settings: VisitSettings,
        *,
        opened: Callable[[], Store] | None,
        payoffs: BucketPayoffs,
    ) -> None:
        super().__init__(
            problem.game, rounds, abstraction, seed, threads=1, short=False, answers=0.0, opened=opened
        )
        self._payoffs = payoffs
        payoffs.begin(f"average|{seed}")
        self._settings = settings
        symmetry = not rows_know_suits(abstraction.arrays)
        self._classes = ClassGame(
            problem, betting_rounds(problem.tree), abstraction, abstraction.n_rows, symmetry
        )
        self._matrices: dict[tuple[int, int], Floats] = {}
        self._kept = [payoffs.done(t) for t in range(len(rounds))]
        self._drawn = lru_cache(len(rounds))(self._draw)
        self._first = [
            tuple(strips.first(p, k) for p in (0, 1))
            for strips, k in zip(self._cfr.strips, abstraction.n_rows, strict=True)
        ]

    def deal(self, n: int, stop: Stop) -> None:
        """Make so many visits more, fewer where they are stopped."""
        for _ in range(n):
            if stop.is_set():
                return
            sweep, t, class_ = self._next()
            ahead = self.numbers.ahead[t][:, class_]
            if ahead.any():  # the numbers include this visit already
                ahead -= 1
            else:
                self._visit(sweep, t, class_)
            self._cfr.iteration += 1

    def _next(self) -> tuple[int, int, int]:
        """The visit that comes next: its sweep, from 0, its round and class."""
        sizes = self._abstraction.n_classes[::-1]
        sweep, position = divmod(self.done, sum(sizes))
        for t, (size, end) in enumerate(zip(sizes, accumulate(sizes), strict=True)):
            if position < end:
                return sweep, len(sizes) - 1 - t, position - end + size
        raise AssertionError("a position within a sweep")

    def _visit(self, sweep: int, t: int, class_: int) -> None:
        """Improve all chunks of a class, and keep what they are worth."""
        visits = self.numbers.visits[t]
        number = int(visits[0, class_]) + 1
        chunks = class_chunks(
            self._classes,
            t,
            self._drawn(sweep, t)[class_],
            self._strategies,
            self._below,
            self._settings.tremble,
        )
        played = []
        for one in chunks:
            local = local_optimum(one.chunk, self._settings, number)
            played.append([number * reach_of(one.chunk, local, p, one.reach[p])[1:] for p in (0, 1)])
        with self.changing:
            for r, both in enumerate(played):
                for p in (0, 1):
                    self._slots(t, class_, r, p)[:] += both[p]
            visits[:, class_] = number
        worth = [one.payoffs(self._strategies(t, class_, r)) for r, one in enumerate(chunks)]
        if self._abstraction.board_sizes[t]:
            self._keep(t, class_, np.array(worth, dtype=np.float32))

    def _draw(self, sweep: int, t: int) -> list[Drawn]:
        """Boards of all classes of a round, for a sweep."""
        return drawn_boards(self._abstraction, t, self._seed, BOARDS, sweep)

    def _slots(self, t: int, class_: int, r: int, p: int) -> Floats:
        """Player p's sums in a chunk as they lie in memory, ``[slot, row]``."""
        strip, lane = self._cfr.strips[t].place[r]
        first, k = self._first[t][p], self._n_rows[t]
        begin, end = (class_ * first[-1] + first[s] for s in (strip, strip + 1))
        return self.numbers.sums[t][p][begin:end].reshape(k, -1, WIDTH)[:, :, lane].T

    def _strategies(self, t: int, class_: int, r: int) -> ChunkStrategy:
        """The averages of a chunk, to be normalised."""
        first, second = (np.ascontiguousarray(self._slots(t, class_, r, p), dtype=np.float64) for p in (0, 1))
        return first, second

    def _below(self, t: int, class_: int, r: int) -> Floats:
        """The payoff matrix of a chunk, from the locker; made, where it has none."""
        found = self._matrices.get((t, class_))
        if found is None and class_ in self._kept[t]:
            k = self._n_rows[t]
            found = self._payoffs.get(t, class_, (len(self._rounds[t].lines), k, k))
            self._matrices[t, class_] = found
        elif found is None:
            boards = self._drawn(self._next()[0], t)[class_]
            found = class_payoffs(self._classes, t, class_, boards, self._strategies, self._below)
            self._keep(t, class_, found)
        matrix: Floats = found[r]
        return matrix

    def _keep(self, t: int, class_: int, matrices: Floats) -> None:
        self._matrices[t, class_] = matrices
        self._payoffs.put(t, class_, matrices)
