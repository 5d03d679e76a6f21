"""Measure exploitability in the real game, where best responses distinguish all hands and all boards.

The measurement goes flop by flop. (A *flop* here is a board of the first round that has public cards, in any game.)
Best responses on all boards that can follow a flop (`spewy.learn.board_trees`) are exact.
`spewy.learn.combined_flops` combines the flops.

If only a sample of flops is measured, they are drawn with replacement, with probabilities as in the real deck. A larger
sample with the same seed begins with the flops of a smaller one. The draws are stratified: similar flops are next to
each other in a list, and draws are spread evenly over this list (by multiples of the golden ratio from a random start).
This reduces the error. The reported standard error ignores this, so it is too large rather than too small.
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

from buckets.abstraction.spec import BY_HAND
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
"""Games with at most this number of last-round boards are measured on all flops, whatever sample is requested."""

SEED = 0
"""Default seed of a sample of flops."""

GOLDEN = (5**0.5 - 1) / 2

Draw = Mapping[int, int]
"""How often each flop of a sample was drawn, by the number of the flop."""


class RealGame:
    """Measures the exploitability of average strategies that are stored by board bucket and row.

    Args:
        game: the rules of the game.
        forests: the betting of each round.
        batches: for each round, its betting lines in batches of 16.
        board_buckets: board buckets and rows of the game.
        n_board_buckets: for each round, the number of board buckets.
        n_rows: for each round, the number of rows in a board bucket.
        sums: strategy sums by board bucket and row; they may change between two measurements.
        symmetric: whether hands that are equal up to suits share rows.
    """

    def __init__(
        self,
        game: Game,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        board_buckets: BoardAbstraction,
        n_board_buckets: Sequence[int],
        n_rows: Sequence[int],
        sums: tuple[Pair, ...],
        *,
        symmetric: bool,
    ) -> None:
        trees = BoardTrees(game, board_buckets, symmetric=symmetric)
        self.trees, self._forests, self._n_rows, self._sums = trees, forests, n_rows, sums
        self._judge = BoardJudge(
            forests,
            batches,
            n_board_buckets,
            n_rows,
            sums,
            trees.most_hands,
            trees.most_cards,
            trees.probabilities,
        )

    @cached_property
    def n_firsts(self) -> int:
        """Number of flops up to suits."""
        return len(self.trees.firsts[0])

    @property
    def n_pairs(self) -> float:
        """Number of pairs of hands that can be dealt together."""
        return self._first_betting().n_pairs

    def desk(self) -> Buffers:
        """Allocate the buffers with which one thread measures flops."""
        return self._judge.buffers()

    def drawn(self, flops: int | None, seed: int) -> Draw | None:
        """Draw a sample of flops.

        Args:
            flops: number of draws; None for all flops.
            seed: seed of the draws.

        Returns:
            How often each flop was drawn; None if all flops are to be measured, as they always are in small games.

        Raises:
            InputError: ``flops`` is less than 1.
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
        """Shape of a flop's best-response values: players, betting lines that lead to the flop, groups of hands."""
        lines = self._forests[1].arrays.n_roots if self.trees.first_round else 1
        return 2, lines, int(self.trees.kinds.max()) + 1

    def to_judge(self, draw: Draw | None) -> list[int]:
        """Return the numbers of the drawn flops, each once, in ascending order; without a draw, those of all flops."""
        return list(range(self.n_firsts)) if draw is None else sorted(draw)

    def flop(self, first: int, desk: Buffers, stopped: Stopped = never) -> FlopFinding:
        """Measure best responses on all boards that can follow a flop.

        Args:
            first: number of the flop.
            desk: buffers of this thread.
            stopped: called every few boards, to ask whether to give up.

        Raises:
            StoppedError: ``stopped()`` returned True.
        """
        start = time.thread_time()
        boards = tree(self.trees.tree(first, stopped))
        judge = self._judge.below if self.trees.first_round else self._judge.whole
        values = judge(boards, desk, stopped)
        kinds, n = self.trees.kinds[self.trees.hands_on(first)], np.bincount(self.trees.kinds)
        best = [[np.bincount(kinds, line, minlength=len(n)) / n for line in lines] for lines in values.best]
        return FlopFinding(np.array(best), float(values.own.sum()), time.thread_time() - start)

    def later(self, first: int, desk: Buffers) -> Floats:
        """Measure best responses that begin in a later round, and follow the average strategy in earlier rounds.

        Args:
            first: number of the flop.
            desk: buffers of this thread.

        Returns:
            For each round after the first, the chips per deal won by a best response that begins in this round, as a
            mean over both players.
        """
        values = self._judge.later(tree(self.trees.tree(first)), desk)
        out: Floats = self.trees.per_pair * values.sum(axis=1) / 2 / self.n_pairs
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
        """Measure exploitability on a sample of flops, or on all flops, in threads.

        Args:
            flops: number of draws; None for all flops.
            seed: seed of the draws.
            threads: number of threads.
            tell: called with the number of measured flops and the number of flops to measure.
            stop: once set, the measurement ends.

        Returns:
            The exploitability, or None if ``stop`` was set.
        """
        draw, findings = self.drawn(flops, seed), dict[int, FlopFinding]()
        waiting = self.to_judge(draw)
        total, desks, ended = len(waiting), SimpleQueue[Buffers](), threading.Event()
        tell(0, total)
        for _ in range(threads):
            desks.put(self.desk())

        def stopped() -> bool:
            """Whether to end the measurement early."""
            return ended.is_set() or (stop is not None and stop.is_set())

        def work(first: int) -> tuple[int, FlopFinding]:
            """Measure a flop with buffers that no other thread uses meanwhile."""
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
        """Combine measurements of single flops into the exploitability of the whole game.

        Args:
            findings: measurements of flops, by number of the flop.
            draw: how often each flop was drawn; None if all flops were measured.
        """
        trees = self.trees
        before = Before(self._first_betting(), trees.kinds, trees.per_pair)
        in_order = [findings[first] for first in self.to_judge(draw)]
        if draw is None:
            return of_all(before, in_order, trees.firsts[1])
        return of_sample(before, in_order, np.array([draw[first] for first in sorted(draw)]))

    def _first_betting(self) -> FirstRound:
        """Return the betting before the flop; a single chance leaf if the game begins with the flop."""
        cards, n_cards = self.trees.root_cards
        if self.trees.first_round:
            rows = self.trees.root_rows()
            return FirstRound(self._forests[0], self._sums[0], self._n_rows[0], rows, cards, n_cards)
        rows, nothing = np.zeros(len(cards), dtype=np.int64), np.zeros(0)
        return FirstRound(Forest.build([Chance(0)]), (nothing, nothing), 1, rows, cards, n_cards)


def _looks(history: History) -> tuple[list[int], list[int], list[int]]:
    """Return the sort key of a flop; it puts similar flops next to each other.

    Returns:
        The number of cards in each suit, the number of cards in each rank, and the ranks, each in descending order.
    """
    cards = [card for group in history for card in group]
    suits, ranks = Counter(card & 3 for card in cards), Counter(card >> 2 for card in cards)
    return (
        sorted(suits.values(), reverse=True),
        sorted(ranks.values(), reverse=True),
        sorted((card >> 2 for card in cards), reverse=True),
    )


def rows_know_suits(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether any round has one row for each hand, so that hands that are equal up to suits have different rows.

    Args:
        arrays: the arrays of an abstraction, by name.
    """
    return BY_HAND in arrays["kinds"]
