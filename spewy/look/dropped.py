"""Re-solve dropped rounds, whose strategies were deleted from the folder, when a decision in them is requested.

The subgame from a chunk of the first dropped round on is a game of its own, with the ranges, pot, stacks and betting of
the solve. It is solved with a row for each hand until its own exploitability reaches a target. The chunk at its root is
kept in memory and in the folder of the solve (`spewy.records.caches`). Its other chunks stay in memory until the
next subgame is solved or, if they were requested, as long as all re-solved chunks together take at most `MOST_BYTES`.
The subgame's value equals the value of the dropped strategies up to the targets of both solves. Its strategies can
differ from the dropped ones, because a game can have many equilibria. They differ most after lines that are hardly ever
reached.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from buckets.cards import History, cards_name
from lockers import LockerError, Store
from solvers.discount import DEFAULT_VARIANT, exact_variant, variant
from solvers.errors import SolverError
from solvers.game import LiveGame
from solvers.tree import Floats
from spewy.chunks.layout import Layout, subgame_at
from spewy.chunks.live_game import with_ranges
from spewy.chunks.locate import Place, solved_board
from spewy.chunks.problem import by_hand
from spewy.errors import InputError, SolveError, shown
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.job.texts import parse_target, unit_chips
from spewy.look.chunk import ChunkReads
from spewy.records.caches import SolvedAgain, mark_of, name_of
from spewy.records.chunks import Pair, PatchedReads
from spewy.records.policy import ChunkPlay, ChunkPolicy
from spewy.records.progress import last_target

if TYPE_CHECKING:
    from solvers.solver import Solver

MOST_BYTES = 1 << 28
"""Whole re-solved subgames are kept in memory up to this number of bytes of all re-solved chunks."""
Note = Callable[[str], None]
T = TypeVar("T")
CHECK_EVERY = 10
MAX_ITERATIONS = 2000
"""Largest number of iterations of a re-solve, since a solve in single precision may never reach a small target."""


class StoreReads(ChunkReads):
    """Reads the chunks of a store; re-solves dropped chunks, and computes missing values at chance leaves.

    The arguments are those of `spewy.look.view.SolveView`.

    Attributes:
        store: reads the lockers and the re-solved chunks in memory.
        n_solved: number of subgames that were re-solved.
    """

    suits_matter = False

    def __init__(
        self,
        job: Job,
        store: Store,
        target: str | None = None,
        note: Note | None = None,
        folder: Path | None = None,
    ) -> None:
        self._lockers, self._folder = store, folder
        self.store = PatchedReads(store)
        self._problem = by_hand(job.problem, self.store.first)
        super().__init__(ChunkPolicy(self._problem, store, self.store), most_boards=None)
        self._job, self._note = job, note or (lambda text: None)
        self._target = (last_target(store) or job.solve.target) if target is None else target
        try:
            unit = parse_target(self._target)[1]
        except ValueError as error:
            raise InputError(f"target: {error}, found {shown(target)}") from None
        if unit != "%":
            unit_chips(job.rules, job.pot, unit)
        self._whole = OrderedDict[Place, Layout]()  # by the root of the subgame, on its solved board
        self._roots: set[Place] = set()
        self._deep: set[Place] = set()
        self.n_solved = 0
        self._unusable = False

    def require(self, place: Place, *, below: bool = False) -> None:
        """Re-solve the subgame in which a dropped chunk lies, unless it was re-solved before.

        With ``below``, the chunks that follow are needed, too.
        """
        first = self.store.first
        if first is None or place.round < first:
            return
        begin = self.policy.start_of(place, first)
        history = solved_board(self._problem, first, begin.cards)[0]
        root = self._on_solved_board(begin, history)
        alone = begin.line == place.line and not below
        if not alone:
            self._deep.add(root)
        if root in self._whole:
            self._whole.move_to_end(root)
            return
        if alone and root in self._roots:
            return
        subgame, ranges = self.subgame(begin, history)
        cards = tuple(card for group in history for card in group)
        name = name_of(root.line, cards, self._target, ranges)
        if alone and self._cached(lambda cache: cache.read(name, subgame, self.store)):
            self._roots.add(root)
            return
        _Resolve(self._job, self._target, self._note, subgame).run(ranges, self.store)
        self._whole[root] = subgame
        self.n_solved += 1
        self._cached(lambda cache: cache.keep(name, subgame, self.store))
        self._forget()

    def _cached(self, work: Callable[[SolvedAgain], T]) -> T | None:
        """Call ``work`` with the cache of re-solved chunks in the folder of the solve, and return its result.

        None if the solve has no folder, or the cache cannot be used.
        """
        if self._folder is None or self._unusable:
            return None
        mark = mark_of(self._lockers)
        try:
            with SolvedAgain.of(self._folder, self._lockers.manifest, mark) as cache:
                return work(cache)
        except LockerError as error:
            self._unusable = True
            self._note(f"chunks that are solved again are not kept on disk: {error}")
            return None

    def _forget(self) -> None:
        """Free the memory of all subgames but the last one, except for their root chunks.

        A subgame whose other chunks were requested stays whole, unless all chunks take more than `MOST_BYTES`.
        """
        *earlier, _ = self._whole
        for root in earlier:
            if root in self._deep and self.store.nbytes <= MOST_BYTES:
                continue
            self._deep.discard(root)
            if self.store.keep_root(self._whole.pop(root)):
                self._roots.add(root)

    def _on_solved_board(self, place: Place, history: History) -> Place:
        return Place(place.node, self._job.rules.board_order([card for group in history for card in group]))

    def subgame(self, place: Place, history: History) -> tuple[Layout, tuple[Floats, Floats]]:
        """Return the layout of the subgame that begins with a chunk, and both ranges at its root.

        Args:
            history: public cards of the solved board that equals the board of the place up to suits.

        Returns:
            The layout, and per player ``[hand of the layout]``.
        """
        subgame = subgame_at(self._problem, place.round, history, place.line)
        root, rows = self._on_solved_board(place, history), subgame.board(0, 0).hands
        hands, ranges = self.hands(root.cards), self.ranges(root)
        oop, ip = (ranges[p][np.searchsorted(hands[p], rows[p].numbers)] for p in (0, 1))
        return subgame, (oop, ip)

    def leaf_values(self, place: Place, play: ChunkPlay) -> Pair | None:
        """Return each player's values ``[chance leaf, hand]``: stored values, or else computed ones, which are kept."""
        n_leaves, n_hands = len(play.chance_leaves), (len(play.hands[0]), len(play.hands[1]))
        if not n_leaves:
            return super().leaf_values(place, play)
        solved = play.solved
        assert solved is not None
        values = self.store.leaves(play.round, solved.key, n_leaves, n_hands)
        if values is None:
            from spewy.learn.playdown import walked_leaves

            subgame, (oop, ip) = self.subgame(place, solved.history)
            walked = walked_leaves(subgame, self.store, (oop[None], ip[None]), self._job.solve.threads)
            self.store.put_leaves(subgame, 0, 0, walked)
            values = walked[0][:, : n_hands[0]], walked[1][:, : n_hands[1]]
        return values[0][:, solved.rows[0]], values[1][:, solved.rows[1]]


class _Resolve:
    """Re-solves a dropped chunk together with everything that follows it.

    Args:
        target: accuracy, as in a job file; % are of the pot where the chunk begins.
        part: layout of the subgame, with a row for each hand; the chunk is its root.
    """

    def __init__(self, job: Job, target: str, note: Callable[[str], None], part: Layout) -> None:
        self._job, self._target, self._note, self._part = job, target, note, part
        board = job.rules.board_order(part.board(0, 0).cards)
        name, line = ROUND_NAMES[part.boards[0].round], job.amounts.line_text(part.tree(0, 0).line)
        self._subject = f"{name} {cards_name(board)} after {line}"

    def run(self, ranges: tuple[Floats, Floats], patched: PatchedReads) -> None:
        """Re-solve from ``ranges``, per player ``[hand of the layout]``; add the results to ``patched``.

        Raises:
            SolveError: numbers become infinite or NaN both in single and in double precision.
        """
        part, subject = self._part, self._subject
        if not any(sum(bets.forest.n_slots) for bets in part.betting):
            return  # no player has a decision in the subgame
        self._require_memory()
        largest = [float(weights.max(initial=0.0)) or 1.0 for weights in ranges]
        oop, ip = (weights[None] / most for weights, most in zip(ranges, largest, strict=True))
        game = with_ranges(part.live, (oop, ip))  # scaling changes no strategy, and keeps numbers small
        try:
            game.deal_weight  # noqa: B018 - raises an error if no pair of hands is possible
        except SolverError:
            self._note(f"{subject} was dropped, and no hands reach it: all strategies are uniform")
            nothing = part.live.zeros()
            for t, b in part.every_board():
                patched.put_board(part, t, b, (nothing[t][0][b], nothing[t][1][b]))
            return
        for solver in self._solvers(game):
            with closing(solver):
                if not self._solve(solver):
                    continue
                for t, b in part.every_board():
                    patched.put_board(part, t, b, solver.read("sums", t, b))
                for (t, b), (oop_values, ip_values) in solver.leaf_values().items():
                    patched.put_leaves(part, t, b, (oop_values * largest[1], ip_values * largest[0]))
                return
        raise SolveError(
            f"{subject}, which was dropped: its solve gave infinite numbers, also in double precision"
        )

    def _solvers(self, game: LiveGame) -> Iterator[Solver]:
        """Yield a solver in single precision if it supports the game, then a solver in double precision.

        The caller asks for the second solver only if numbers overflow in single precision.
        """
        from solvers.exact.engine import (  # imported here, since they load kernels
            ExactCfr,
            supports,
            useful_threads,
        )
        from solvers.reference.cfr import Cfr
        from spewy.run.warmup import Kernels, warm_up

        threads, n_rounds = self._job.solve.threads, self._part.n_rounds
        best = variant(exact_variant(n_rounds))
        if supports(game):
            warm_up([Kernels("exact", n_rounds)], self._note)
            yield ExactCfr(game, best, threads=useful_threads(game, threads))
            self._note(
                f"{self._subject}: numbers overflowed in single precision; solving in double precision"
            )
        yield Cfr(game, variant(DEFAULT_VARIANT), threads=threads)

    def _solve(self, solver: Solver) -> bool:
        """Run a solver until the subgame reaches the target; False if a number became infinite or NaN."""
        amount, unit = parse_target(self._target)
        pot = self._part.problem.pot + sum(self._part.tree(0, 0).nodes[0].put_in)
        chips = pot / 100 if unit == "%" else unit_chips(self._job.rules, self._job.pot, unit)
        self._note(f"{self._subject} was dropped: solving it from the played-down ranges to {self._target}")
        started, gap = time.perf_counter(), np.inf
        while gap > amount * chips and solver.iteration < MAX_ITERATIONS:
            solver.run(CHECK_EVERY)
            gap = solver.exploitability().value
        if not (math.isfinite(gap) and solver.finite()):
            return False
        missed = "" if gap <= amount * chips else ", which misses the target"
        self._note(
            f"{self._subject}: exploitability {max(gap, 0.0) / chips:.3g} {unit}{missed} "
            f"after {solver.iteration} iterations, {time.perf_counter() - started:.2f} s".replace(" %", "%")
        )
        return True

    def _require_memory(self) -> None:
        """Check that regrets and sums fit in the job's memory in double precision; everything else needs little."""
        needed = 0
        for bets, table in zip(self._part.betting, self._part.boards, strict=True):
            for p, slots in enumerate(bets.forest.n_slots):
                widest = max(len(board.hands[p].numbers) for board in table.boards)
                needed += 2 * 8 * len(table.boards) * slots * widest
        if needed > self._job.solve.memory_bytes:
            raise InputError(
                f"solve.memory: solving {self._subject}, which was dropped, needs {needed / 2**20:,.0f} MiB, "
                f"found {self._job.solve.memory}"
            )
