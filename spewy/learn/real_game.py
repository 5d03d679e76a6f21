"""Measure exploitability in the real game, where best responses know each hand and each board.

A game is judged first board by first board (`spewy.learn.board_trees`), in hold'em flop by flop: on one of them,
everything that can follow is walked, exactly. What is found is put together by `spewy.learn.combined_flops`.

Flops may be a sample: drawn with replacement, each as often as there are of it, so that more draws with the same seed
begin with the same flops. Flops that look alike stand next to each other, and draws are spread evenly over all of them
(by multiples of the golden ratio from a random start), which makes for less error than draws without each other's
knowledge; the standard error that is told is that of the latter.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cached_property
from queue import SimpleQueue

import numpy as np

from buckets.abstraction.row_kinds import BY_HAND
from buckets.cards import History
from solvers.sampled.batches import LineBatches
from solvers.sampled.boards import tree
from solvers.sampled.first_round import FirstRound
from solvers.sampled.judge import BoardJudge, Buffers
from solvers.sampled.numbers import Pair
from solvers.stopping import Stopped, StoppedError, never
from solvers.tree import Chance, Floats, Forest
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.learn.board_trees import BoardTrees
from spewy.learn.combined_flops import Before, Finding, of_all, of_sample
from spewy.learn.engine import Stop
from spewy.records.bucket_policy import BoardAbstraction
from spewy.records.response_cache import FlopFinding

FEW_BOARDS = 10_000
"""Number of final boards up to which a game is measured on all first boards, whatever sample is requested."""

SEED = 0
"""Default seed of a sample of flops."""

GOLDEN = (5**0.5 - 1) / 2

Draw = Mapping[int, int]
"""First boards by number, with how often each was drawn."""


class RealGame:
    """A game with average strategies by board bucket and row, whose exploitability is measured.

    Args:
        game: the rules.
        forests: the betting, round by round.
        batches: of the forests.
        classes: of boards, and rows of hands there.
        n_classes, n_rows: per round.
        sums: average strategies as `solvers.sampled.numbers.Numbers` has them; they may change between two checks.
        symmetric: whether hands that suits alone tell apart share rows.
    """

    def __init__(
        self,
        game: Game,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        classes: BoardAbstraction,
        n_classes: Sequence[int],
        n_rows: Sequence[int],
        sums: tuple[Pair, ...],
        *,
        symmetric: bool,
    ) -> None:
        trees = BoardTrees(game, classes, symmetric=symmetric)
        self.trees, self._forests, self._n_rows, self._sums = trees, forests, n_rows, sums
        self._judge = BoardJudge(
            forests, batches, n_classes, n_rows, sums, trees.most_hands, trees.most_cards, trees.probabilities
        )

    @cached_property
    def n_firsts(self) -> int:
        """Number of first boards up to suits."""
        return len(self.trees.firsts[0])

    @property
    def n_pairs(self) -> float:
        """Weight of the pairs of hands that can be dealt together."""
        return self._first_betting().n_pairs

    def desk(self) -> Buffers:
        """Make the buffers for a thread."""
        return self._judge.buffers()

    def drawn(self, flops: int | None, seed: int) -> Draw | None:
        """Draw a sample of first boards; None stands for all boards, on which small games are always measured.

        Args:
            flops: how many draws; None: all.
            seed: of the draws.

        Raises:
            InputError: fewer than one.
        """
        if flops is not None and flops < 1:
            raise InputError(f"flops: expected at least 1, found {flops}")
        if flops is None or flops >= self.n_firsts or self.trees.most_last <= FEW_BOARDS:
            return None
        histories, counts = self.trees.firsts
        order = np.array(sorted(range(len(counts)), key=lambda first: _looks(histories[first])))
        cuts = np.cumsum(counts[order])
        spread = (np.random.default_rng(seed).random() + GOLDEN * np.arange(flops)) % 1.0
        return Counter(order[np.searchsorted(cuts, spread * cuts[-1], side="right")].tolist())

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of `FlopFinding.best`."""
        lines = self._forests[1].arrays.n_roots if self.trees.first_round else 1
        return 2, lines, int(self.trees.kinds.max()) + 1

    def to_judge(self, draw: Draw | None) -> list[int]:
        """Return the first boards of a draw, each once, in order."""
        return list(range(self.n_firsts)) if draw is None else sorted(draw)

    def flop(self, first: int, desk: Buffers, stopped: Stopped = never) -> FlopFinding:
        """Measure best responses on all boards that can follow one first board.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        start = time.thread_time()
        boards = tree(self.trees.tree(first, stopped))
        judge = self._judge.below if self.trees.first_round else self._judge.whole
        found = judge(boards, desk, stopped)
        kinds, n = self.trees.kinds[self.trees.hands_on(first)], np.bincount(self.trees.kinds)
        best = [[np.bincount(kinds, line, minlength=len(n)) / n for line in lines] for lines in found.best]
        return FlopFinding(np.array(best), float(found.own.sum()), time.thread_time() - start)

    def later(self, first: int, desk: Buffers) -> Floats:
        """Return ``[round - 1]``: chips per deal of best responses on a first board that begin in each round.

        The numbers are half the sum for both players, as exploitability is.
        """
        found = self._judge.later(tree(self.trees.tree(first)), desk)
        out: Floats = self.trees.per_pair * found.sum(axis=1) / 2 / self.n_pairs
        return out

    def judge(
        self,
        flops: int | None,
        *,
        seed: int = SEED,
        threads: int = 1,
        tell: Callable[[int, int], object] = lambda done, of: None,
        stop: Stop | None = None,
    ) -> Finding | None:
        """Measure a sample of first boards, or all, in threads.

        Args:
            flops: number of draws; None for all first boards.
            seed: seed of the draws.
            threads: number of threads.
            tell: called with the number of first boards that are done, and of all.
            stop: once it is set, judging ends early and returns None.
        """
        draw, findings = self.drawn(flops, seed), dict[int, FlopFinding]()
        waiting = self.to_judge(draw)
        total, desks, ended = len(waiting), SimpleQueue[Buffers](), threading.Event()
        tell(0, total)
        for _ in range(threads):
            desks.put(self.desk())

        def stopped() -> bool:
            return ended.is_set() or (stop is not None and stop.is_set())

        def work(first: int) -> tuple[int, FlopFinding]:
            desk = desks.get()
            try:
                return first, self.flop(first, desk, stopped)
            finally:
                desks.put(desk)

        running: set[Future[tuple[int, FlopFinding]]] = set()
        with ThreadPoolExecutor(threads) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < threads:
                        running.add(pool.submit(work, waiting.pop(0)))
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    findings.update(future.result() for future in done)
                    tell(len(findings), total)
            except StoppedError:
                return None
            finally:  # also after an error or a second interruption, the threads stop
                ended.set()
        return self.combined(findings, draw)

    def combined(self, findings: Mapping[int, FlopFinding], draw: Draw | None) -> Finding:
        """Combine the findings on all first boards of a draw."""
        trees = self.trees
        before = Before(self._first_betting(), trees.kinds, trees.per_pair)
        mine = [findings[first] for first in self.to_judge(draw)]
        if draw is None:
            return of_all(before, mine, trees.firsts[1])
        return of_sample(before, mine, np.array([draw[first] for first in sorted(draw)]))

    def _first_betting(self) -> FirstRound:
        """Return the betting before the first boards; a single chance leaf if there is none."""
        cards, n_cards = self.trees.root_cards
        if self.trees.first_round:
            rows = self.trees.root_rows()
            return FirstRound(self._forests[0], self._sums[0], self._n_rows[0], rows, cards, n_cards)
        rows, nothing = np.zeros(len(cards), dtype=np.int64), np.zeros(0)
        return FirstRound(Forest.build([Chance(0)]), (nothing, nothing), 1, rows, cards, n_cards)


def _looks(history: History) -> tuple[list[int], list[int], list[int]]:
    """Return a board's sort key: numbers of cards of one suit and of one rank, and the ranks."""
    cards = [card for group in history for card in group]
    suits, ranks = Counter(card & 3 for card in cards), Counter(card >> 2 for card in cards)
    return (
        sorted(suits.values(), reverse=True),
        sorted(ranks.values(), reverse=True),
        sorted((card >> 2 for card in cards), reverse=True),
    )


def rows_know_suits(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether rows of some round are single hands, so that hands that differ in suits have different rows."""
    return BY_HAND in arrays["kinds"]
