"""Measure exploitability in the real game, where best responses distinguish all hands and all boards, flop by flop.

A *flop* here is a board of the first round that has public cards, in any game; as a canonical board it represents all
boards that are equal to it up to suits. Best responses on all boards that can follow a flop (`BoardTrees`) are exact.

If only a sample of flops is measured, they are drawn with replacement, with probabilities as in the real deck. A larger
sample with the same seed begins with the flops of a smaller one. The draws are stratified: similar flops are next to
each other in a list, and draws are spread evenly over this list (by multiples of the golden ratio from a random start).
This reduces the error. The reported standard error ignores this, so it is too large rather than too small.

The exploitability of a sample is an estimate. Best responses from the flop on are measured exactly for each flop, so
their mean is unbiased. The best response before the flop has to be chosen on the same sample. If it is chosen on the
flops on which it is measured, its value is too high (the bound ``high``). If it is chosen for each flop on all other
flops, its value is too low (the bound ``low``). The reported exploitability is the midpoint of both bounds. Its
standard error is that of ``low``, which is a mean of nearly independent numbers.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from math import comb
from queue import SimpleQueue

import numpy as np

from buckets.abstraction.spec import BY_HAND
from buckets.cards import (
    CanonicalBoard,
    History,
    board_levels,
    cards_name,
    hand_permutation,
    hands,
    strengths,
    suit_permutations,
)
from solvers.sampled.batches import LineBatches
from solvers.sampled.boards import Board, tree
from solvers.sampled.judge import BoardJudge, Buffers, FirstRound
from solvers.sampled.numbers import Pair
from solvers.stopping import Stopped, StoppedError, go_on, never
from solvers.tree import Chance, Floats, Forest, Ints
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.learn.engine import Stop
from spewy.records.caches import FlopFinding
from spewy.records.policy import BoardAbstraction

NO_HAND = np.iinfo(np.int64).max
FEW_BOARDS = 10_000
"""Games with at most this number of last-round boards are measured on all flops, whatever sample is requested."""
SEED = 0
"""Default seed of a sample of flops."""
GOLDEN = (5**0.5 - 1) / 2
Draw = Mapping[int, int]
"""How often each flop of a sample was drawn, by the number of the flop."""


@dataclass(frozen=True)
class Finding:
    """Exploitability of average strategies, in chips per deal.

    Attributes:
        exploitability: half the sum of the values of both best responses. For a sample of flops, the midpoint of
            ``low`` and ``high``.
        stderr: standard error of ``exploitability``; None if all flops were measured, or only one.
        low: exploitability if winnings on each flop are measured with the response before the flop that is best on all
            other flops; None for a single flop.
        high: exploitability if the response before the flop is the one that is best on all measured flops.
        best_response: values of player 0's and of player 1's best response.
        value: value for player 0 if both players follow their average strategies.
        value_stderr: standard error of ``value``; None if all flops were measured, or only one.
        flops: number of flops that were drawn; if all were measured, the number of flops up to suits.
        seconds: seconds of computation, summed over threads.
    """

    exploitability: float
    stderr: float | None
    low: float | None
    high: float
    best_response: tuple[float, float]
    value: float
    value_stderr: float | None
    flops: int
    seconds: float


@dataclass(frozen=True)
class Before:
    """The betting before the flop, with which best responses before the flop are computed.

    Attributes:
        betting: the betting tree; its chance leaves lead to the flop.
        kinds: group number of each hand; hands that are equal up to suits form a group.
        per_pair: number of all flops, divided by the number of flops that are possible once two hands are dealt.
    """

    betting: FirstRound
    kinds: Ints
    per_pair: float

    def respond(self, p: int, best: Floats, chosen_on: Floats | None = None) -> float:
        """Compute the chips per deal that player p's best response wins.

        ``best`` is ``[line that leads to the flop, group of hands]``, values of p's best response from the flop on. The
        actions before the flop are chosen by ``chosen_on``, in the same form, or by ``best``.
        """
        exits, chosen = (
            None if values is None else self.per_pair * values[:, self.kinds] for values in (best, chosen_on)
        )
        assert exits is not None
        return float(self.betting.best(p, exits, chosen).sum()) / self.betting.n_pairs

    def values(self, own: Floats) -> Floats:
        """Estimate player 0's chips per deal under the average strategies from each flop alone: ``[flop]``.

        ``own[flop]`` is player 0's value on the flop (`FlopFinding.own`). The mean over all flops is the exact value.
        """
        out: Floats = (self.per_pair * own + self.betting.folds(0).sum()) / self.betting.n_pairs
        return out


def of_all(before: Before, findings: list[FlopFinding], counts: Ints) -> Finding:
    """Combine the measurements of all flops up to suits; ``counts[flop]`` boards are equal to the flop up to suits."""
    best, values, seconds = _together(before, findings)
    first, second = _at_once(before, best, counts)
    exact, value = (first + second) / 2, float(counts @ values / counts.sum())
    return Finding(exact, None, exact, exact, (first, second), value, None, len(findings), seconds)


def of_sample(before: Before, findings: list[FlopFinding], times: Ints) -> Finding:
    """Combine the measurements of the drawn flops, each of which was drawn ``times[flop]`` times."""
    best, values, seconds = _together(before, findings)
    total, value = int(times.sum()), float(times @ values / times.sum())
    high = _at_once(before, best, times)
    if total == 1:
        half = sum(high) / 2
        return Finding(half, None, None, half, high, value, None, 1, seconds)
    sums = np.tensordot(times, best, axes=1)
    parts = np.array(
        [
            [before.respond(p, of_flop[p], (sums[p] - of_flop[p]) / (total - 1)) for p in (0, 1)]
            for of_flop in best
        ]
    )
    low = times @ parts / total
    first, second = ((low[p] + high[p]) / 2 for p in (0, 1))
    return Finding(
        float(first + second) / 2,
        _stderr(parts.mean(axis=1), times),
        float(low.mean()),
        sum(high) / 2,
        (float(first), float(second)),
        value,
        _stderr(values, times),
        total,
        seconds,
    )


def _together(before: Before, findings: list[FlopFinding]) -> tuple[Floats, Floats, float]:
    """Stack measurements: best ``[flop, player, line, group of hands]``, values ``[flop]``, and the sum of seconds.

    The values are player 0's chips per deal under the average strategies (`Before.values`).
    """
    best = np.stack([finding.best for finding in findings])
    values = before.values(np.array([finding.own for finding in findings]))
    return best, values, sum(finding.seconds for finding in findings)


def _at_once(before: Before, best: Floats, weights: Ints) -> tuple[float, float]:
    """Compute the value of each player's best response, with one choice of actions before the flop for all flops.

    ``best`` is ``[flop, player, line, group of hands]``, ``weights`` is ``[flop]``.
    """
    mean = np.tensordot(weights / weights.sum(), best, axes=1)
    return before.respond(0, mean[0]), before.respond(1, mean[1])


def _stderr(values: Floats, times: Ints) -> float:
    """Compute the standard error of the mean of a sample in which ``values[i]`` was drawn ``times[i]`` times."""
    total = times.sum()
    off = values - times @ values / total
    return float(np.sqrt(times @ off**2 / (total - 1) / total))


@dataclass(frozen=True)
class _Level:
    """The canonical boards of one round below a flop, with the hands that are possible on each.

    Attributes:
        rows: ``[board, hand]``, the row of each possible hand.
        order: ``[board, hand]``, the deck's number of each possible hand; in the last round sorted by strength.
        strength: ``[board, hand]``, the strength of each possible hand in the last round, else 0.
        numbers: ``[board, hand, 2]``, the two cards of each possible hand, numbered among the cards that are not on the
            board.
        position: ``[board, hand of the deck]``, the index of each hand in ``order``; -1 for hands that the board
            blocks.
    """

    boards: list[CanonicalBoard]
    board_buckets: Ints
    rows: Ints
    order: Ints
    strength: Ints
    numbers: Ints
    position: Ints


class BoardTrees:
    """Lists the boards below each flop of a whole game.

    Args:
        symmetric: whether hands that are equal up to suits share rows. If so, boards that are equal up to suits are
            listed once.

    Attributes:
        hands: ``[hand of the deck, card]``, the cards of all hands of the deck.
        perms: the permutations of suits under which boards count as equal.
        first_round: the round of the flop: 1 if the game has a round without public cards, else 0.
    """

    def __init__(self, game: Game, board_buckets: BoardAbstraction, *, symmetric: bool) -> None:
        self.game, self.deck, self.hole = game, game.deck, game.num_hole_cards
        self._classes = board_buckets
        self.hands = hands(game.deck, game.num_hole_cards).astype(np.int64)
        self.perms = suit_permutations(game.deck)[: None if symmetric else 1]
        self.first_round = int(game.num_rounds > 1 and game.num_board_cards[0] == 0)

    @cached_property
    def firsts(self) -> tuple[list[History], Ints]:
        """The flops of the game up to suits, and how many boards each of them represents."""
        *_, boards = board_levels(self.deck, self.game.num_board_cards[: self.first_round + 1], self.perms)
        return [board.history for board in boards], np.array([len(board.members) for board in boards])

    def name(self, first: int) -> str:
        return cards_name(self.game.board_order([card for group in self.firsts[0][first] for card in group]))

    @cached_property
    def kinds(self) -> Ints:
        """Group number, from 0, of each hand of the deck; hands that are equal up to suits form a group."""
        moved = [hand_permutation(self.deck, self.hole, perm) for perm in self.perms]
        kinds: Ints = np.unique(np.min(moved, axis=0), return_inverse=True)[1]
        return kinds

    @property
    def per_pair(self) -> float:
        """Number of all flops, divided by the number of flops that are possible once two hands are dealt.

        If impossible flops count 0, the mean over all flops times this number is the mean over the possible flops.
        """
        k, n_left = self.game.num_board_cards[self.first_round], len(self.deck) - 2 * self.hole
        return comb(len(self.deck), k) / comb(n_left, k)

    @property
    def probabilities(self) -> list[float]:
        """Probability of each board of a round, given both hands and the previous board; one number for each round.

        The number is 1 for the flop and earlier rounds, since boards are listed for one flop at a time.
        """
        out, n_left = [], len(self.deck) - 2 * self.hole
        for t, k in enumerate(self.game.num_board_cards):
            out.append(1.0 if t <= self.first_round else 1 / comb(n_left, k))
            n_left -= k
        return out

    @property
    def most_hands(self) -> list[int]:
        """Number of hands, for each round, that share no card with a given board."""
        return [comb(len(self.deck) - n, self.hole) for n in self.game.board_sizes]

    @property
    def most_cards(self) -> int:
        """Largest number of cards of the deck that are not on a board."""
        return len(self.deck) - self.game.num_board_cards[0]

    @property
    def most_last(self) -> int:
        """Upper bound on the number of last-round boards below all flops together."""
        out, n_left = len(self.firsts[0]), len(self.deck) - self.game.board_sizes[self.first_round]
        for k in self.game.num_board_cards[self.first_round + 1 :]:
            out *= comb(n_left, k)
            n_left -= k
        return out

    @property
    def root_cards(self) -> tuple[Ints, int]:
        """Cards ``[hand, 2]`` of all hands of the deck, as numbers from 0, and the number of cards in the deck.

        If a hand has one card, its second number is the number of cards in the deck.
        """
        cards = self._card_numbers(np.zeros((1, 0), dtype=np.int64), np.arange(len(self.hands))[None])[0]
        return cards, len(self.deck)

    def root_rows(self) -> Ints:
        rows: Ints = self._classes.boards(0, np.zeros((1, 0), dtype=np.int64))[1][0].astype(np.int64)
        return rows

    def hands_on(self, first: int) -> Ints:
        """Return the possible hands at the start of the game, as indices into ``hands``.

        These are all hands if the game has a round before the flop, else those that share no card with flop ``first``.
        """
        if self.first_round:
            return np.arange(len(self.hands))
        only: Ints = self._level(0, self._start(self.firsts[0][first])).order[0]
        return only

    def tree(self, first: int, stopped: Stopped = never) -> list[Board]:
        """List flop number ``first`` and all boards that can follow it, depth first.

        If the game has a round without public cards, the list begins with the empty board.
        """
        t, start = self.first_round, self.firsts[0][first]
        levels = [self._level(0, self._start(()))] if t else []
        sizes = self.game.num_board_cards[t + 1 :]
        for boards in board_levels(self.deck, sizes, self.perms, start):
            go_on(stopped)
            levels.append(
                self._level(len(levels), [board._replace(parent=max(board.parent, 0)) for board in boards])
            )
        return self._in_depth(levels, stopped)

    def _start(self, history: History) -> list[CanonicalBoard]:
        return next(board_levels(self.deck, (), self.perms, history))

    def _level(self, t: int, canonical: list[CanonicalBoard]) -> _Level:
        boards = np.array([[card for group in board.history for card in group] for board in canonical])
        boards = boards.reshape(len(canonical), -1).astype(np.int64)
        board_buckets, rows = self._classes.boards(t, boards)
        n, n_deck = len(boards), len(self.hands)
        if t == self.game.num_rounds - 1:
            power = strengths(boards, self.hands).astype(np.int64)
            codes = (power * (int(rows.max()) + 1) + rows) * n_deck + np.arange(n_deck)
            codes[rows < 0] = NO_HAND
            n_live = int((rows[0] >= 0).sum())
            order = np.sort(codes, axis=1)[:, :n_live] % n_deck
            strength = np.take_along_axis(power, order, axis=1)
        else:
            order = np.nonzero(rows >= 0)[1].reshape(n, -1)
            strength = np.zeros_like(order)
        position = np.full((n, n_deck), -1, dtype=np.int64)
        np.put_along_axis(position, order, np.arange(order.shape[1])[None], axis=1)
        return _Level(
            canonical,
            board_buckets,
            np.take_along_axis(rows, order, axis=1),
            order,
            strength,
            self._card_numbers(boards, order),
            position,
        )

    def _card_numbers(self, boards: Ints, order: Ints) -> Ints:
        """Return ``[board, hand, 2]``, the cards of hands, numbered from 0 among the cards that are not on the board.

        If a hand has one card, its second number is the number of cards that are not on the board. ``boards`` is
        ``[board, card]``, and ``order`` is ``[board, hand]``, the deck's number of each hand.
        """
        available = np.zeros((len(boards), max(self.deck.cards) + 1), dtype=np.int64)
        available[:, list(self.deck.cards)] = 1
        np.put_along_axis(available, boards, 0, axis=1)
        numbers = np.cumsum(available, axis=1) - 1
        out = np.full((*order.shape, 2), len(self.deck) - boards.shape[1], dtype=np.int64)
        for place in range(self.hole):
            out[:, :, place] = np.take_along_axis(numbers, self.hands[order, place], axis=1)
        return out

    def _in_depth(self, levels: Sequence[_Level], stopped: Stopped) -> list[Board]:
        """List the boards of all rounds depth first: each board is followed by all boards below it."""
        below: list[dict[int, list[int]]] = [{} for _ in levels]
        for depth, level in enumerate(levels[1:]):
            for b, canonical in enumerate(level.boards):
                below[depth].setdefault(canonical.parent, []).append(b)
        out = []
        for board in self._branch(levels, below, 0, 0):
            go_on(stopped)
            out.append(board)
        return out

    def _branch(
        self, levels: Sequence[_Level], below: Sequence[dict[int, list[int]]], depth: int, b: int
    ) -> Iterator[Board]:
        """Yield a board and those below it, depth first; no nested function, which would keep all boards in memory."""
        yield self._board(levels, depth, b)
        for child in below[depth].get(b, ()):
            yield from self._branch(levels, below, depth + 1, child)

    def _board(self, levels: Sequence[_Level], depth: int, b: int) -> Board:
        level = levels[depth]
        board = level.boards[b]
        if depth:
            above = levels[depth - 1].position[board.parent]
            back = (hand_permutation(self.deck, self.hole, np.argsort(perm)) for _, perm in board.members)
            origins = np.array([above[moved[level.order[b]]] for moved in back])
        else:
            origins = np.arange(level.order.shape[1])[None]
        n_cards = len(self.deck) - sum(len(group) for group in board.history)
        return Board(
            depth,
            int(level.board_buckets[b]),
            level.numbers[b],
            n_cards,
            level.rows[b],
            level.strength[b],
            origins,
        )


class RealGame:
    """Measures the exploitability of average strategies that are stored by board bucket and row.

    Args:
        batches: for each round, its betting lines in batches of 16.
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
        return len(self.trees.firsts[0])

    @property
    def n_pairs(self) -> float:
        """Number of pairs of hands that can be dealt together."""
        return self._first_betting().n_pairs

    def desk(self) -> Buffers:
        return self._judge.buffers()

    def drawn(self, flops: int | None, seed: int) -> Draw | None:
        """Return how often each flop is drawn in ``flops`` draws.

        Return None for all flops: if ``flops`` is None or too large, and always in small games.
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
        """Measure best responses on all boards that can follow flop ``first``, with this thread's buffers ``desk``."""
        start = time.thread_time()
        boards = tree(self.trees.tree(first, stopped))
        judge = self._judge.below if self.trees.first_round else self._judge.whole
        values = judge(boards, desk, stopped)
        kinds, n = self.trees.kinds[self.trees.hands_on(first)], np.bincount(self.trees.kinds)
        best = [[np.bincount(kinds, line, minlength=len(n)) / n for line in lines] for lines in values.best]
        return FlopFinding(np.array(best), float(values.own.sum()), time.thread_time() - start)

    def later(self, first: int, desk: Buffers) -> Floats:
        """Measure, on flop ``first``, best responses that begin in round 1, 2, ... after the average strategy.

        Returns ``[round - 1]``, the chips per deal that such a response wins, as a mean over both players.
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
        """Measure exploitability on a sample of flops, or on all (None), in threads; None if ``stop`` was set.

        ``tell`` is called with the number of measured flops and the number of flops to measure.
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
        """Combine findings by number of the flop; ``draw``: how often each was drawn; None: all flops were measured."""
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
    """Return the sort key of a flop, which puts similar flops next to each other.

    It has the number of cards in each suit, the number of cards in each rank, and the ranks, each in descending order.
    """
    cards = [card for group in history for card in group]
    suits, ranks = Counter(card & 3 for card in cards), Counter(card >> 2 for card in cards)
    return (
        sorted(suits.values(), reverse=True),
        sorted(ranks.values(), reverse=True),
        sorted((card >> 2 for card in cards), reverse=True),
    )


def rows_know_suits(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether any round has one row for each hand, so that hands that are equal up to suits differ."""
    return BY_HAND in arrays["kinds"]
