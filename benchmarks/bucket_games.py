"""Boards and payoff matrices of whole games with board buckets, for studies.

A *layout* (boards, hands, rows and betting) is built around a single board. It has one board in each round up to that
board, so that both ranges can be computed there, and all boards that can follow in the next round, to which the chance
leaves of the board's chunks lead. Strategy rows (groups of hands) are those of the board buckets.

A payoff matrix of a chunk in a board bucket is a mean over boards of the bucket, row against row:
``U[x, y] = Σ_boards A[x, y] / Σ_boards W[x, y]``, where on each board ``W[x, y]`` is the joint weight of player 0's row
x and player 1's row y, and ``A[x, y]`` is this weight times the chips that player 0 wins.

On each board both ranges are computed from the average strategies. The ranges weigh the hands within a row, as in
the payoff matrices of chunks. Card removal is exact for both hands. The values of chance leaves are the payoff matrices
of the next round's buckets. A small constant (*tremble*) is added to the weight of each hand, so that no weight is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import comb

import numpy as np

from buckets.abstraction import Abstraction
from buckets.cards import History, canonical, suit_permutations
from solvers.matrix.chunk import Chunk, normalise, root_matrices
from solvers.state import ChunkStrategy
from solvers.tree import Floats, Ints
from spewy.chunks.boards import Board, BoardRound, Branch, board_hands, following_deals
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES
from spewy.learn.payoffs import FOLD_OPERATOR, Weighing, build_chunk, per_pair, row_reach
from spewy.learn.playdown import PlayDown
from spewy.records.policy import BoardAbstraction

SAME = np.arange(4, dtype=np.int8)
"""The suit permutation that leaves every card as it is."""
DEALS_AT_ONCE = 1024
"""Number of deals that `drawn_boards` requests at a time."""
MOST_DEALS = 1024
"""Factor in the limit on random deals: at most this number times the buckets times the boards per bucket."""


@dataclass(frozen=True)
class BucketBoard:
    """A board of some round t, the boards before it, and all boards that can follow it in round t + 1.

    Attributes:
        layout: a layout with one board in each of the rounds 0 to t, and all boards that can follow in round t + 1.
        buckets: for each round of the layout ``[board]``, the board bucket of each board.
    """

    layout: Layout
    buckets: tuple[Ints, ...]


@dataclass(frozen=True)
class BucketGame:
    """Builds small layouts of a whole game: one board, the boards before it, and the boards that can follow next.

    Args:
        problem: the whole game.
        betting: betting of all rounds.
        abstraction: board buckets and rows of the game.
        n_rows: for each round, the number of rows in a board bucket.
        symmetry: whether hands that are equal up to suits share rows. If so, boards that are equal up to suits appear
            once.
    """

    problem: Problem
    betting: Sequence[BettingRound]
    abstraction: BoardAbstraction
    n_rows: tuple[int, ...]
    symmetry: bool = False
    _bare: dict[int, BucketBoard] = field(default_factory=dict)

    @property
    def n_rounds(self) -> int:
        return len(self.betting)

    @cached_property
    def players(self) -> dict[str, int]:
        """The player to act after each betting line that leads to a decision, by line."""
        nodes = [node for bets in self.betting for node in bets.nodes]
        return {node.line: node.player for node in nodes if node.player is not None and node.actions}

    def board(self, t: int, cards: Sequence[int]) -> BucketBoard:
        """Build the layout with a board, the boards before it, and all boards that can follow in the next round.

        The layout of the empty board has all flops; it is built once and cached.

        Args:
            t: round of the board.
            cards: cards of the board, in the order in which the rounds deal them.
        """
        if len(cards):
            return self._laid_out(t, cards)
        if t not in self._bare:
            self._bare[t] = self._laid_out(t, cards)
        return self._bare[t]

    def _laid_out(self, t: int, cards: Sequence[int]) -> BucketBoard:
        game, problem = self.problem.game, self._problem
        path = [game.cut(cards[:size]) for size in game.board_sizes[: t + 1]]
        entered: list[tuple[Branch, ...]] = [(Branch(0, (((), SAME),)),)] * t
        below: list[History] = []
        if t + 1 < self.n_rounds:
            following = following_deals(problem, t, path[t])
            below = [deal.history for deal in following]
            entered.append(tuple(Branch(b, deal.members) for b, deal in enumerate(following)))
        else:
            entered.append(())
        rounds, buckets = [], []
        for i, histories in enumerate([[history] for history in path] + ([below] if below else [])):
            entries = entered[i] if i <= t else ()
            table, numbers = self._round(problem, i, histories, entries)
            rounds.append(table)
            buckets.append(numbers)
        return BucketBoard(Layout(problem, list(self.betting[: len(rounds)]), rounds), tuple(buckets))

    @cached_property
    def _problem(self) -> Problem:
        return replace(self.problem, rows=self.n_rows, symmetry=self.symmetry)

    def _round(
        self, problem: Problem, t: int, histories: Sequence[History], entries: tuple[Branch, ...]
    ) -> tuple[BoardRound, Ints]:
        """Build the boards of one round of a layout, and look up their board buckets: ``[board]``.

        Args:
            problem: the whole game, with the rows of the abstraction.
            t: the round.
            histories: the public cards of the boards, which all follow the same board.
            entries: the branches from each of these boards to boards of the next round.
        """
        game, by_hand = problem.game, replace(problem, rows=(None,) * problem.game.num_rounds)
        cards = np.array([[card for group in history for card in group] for history in histories])
        buckets, rows = self.abstraction.boards(t, cards.reshape(len(histories), -1).astype(np.int64))
        boards = []
        for e, (history, row) in enumerate(zip(histories, rows, strict=True)):
            first, second = (
                replace(hands, row=row[hands.numbers], n_rows=self.n_rows[t])
                for hands in board_hands(by_hand, t, history)
            )
            boards.append(Board(history, 0 if t else -1, e if t else -1, (first, second), entries))
        n_left = len(game.deck) - game.board_sizes[t] - 2 * game.num_hole_cards
        n_dealt = game.num_board_cards[t + 1] if t + 1 < game.num_rounds else 0
        return BoardRound(t, tuple(boards), 1.0 / comb(n_left, n_dealt)), buckets


Drawn = list[tuple[tuple[int, ...], int]]
"""Pairs (cards of a board in the order in which the rounds deal them, how often the board was drawn)."""


def drawn_boards(abstraction: Abstraction, t: int, seed: int, n: int, turn: int = 0) -> list[Drawn]:
    """Draw ``n`` boards of round t for each board bucket, by dealing at random; boards equal up to suits are merged.

    Args:
        abstraction: board buckets of the game.
        t: the round.
        seed: seed of the deals.
        n: number of boards to draw for each bucket.
        turn: number of the draw, from 0; draws with different numbers use different deals.

    Returns:
        For each board bucket, pairs (cards, number of draws); fewer than ``n`` draws for buckets dealt too rarely.

    Raises:
        InputError: the deals contain no board of one of the buckets.
    """
    size, n_buckets = sum(abstraction.board_sizes[: t + 1]), abstraction.n_board_buckets[t]
    drawn: list[list[tuple[int, ...]]] = [[] for _ in range(n_buckets)]
    most = MOST_DEALS * n_buckets * n
    first, last = turn * most, (turn + 1) * most
    while first < last and min(len(boards) for boards in drawn) < n:
        dealt = abstraction.deal(seed, range(first, first + DEALS_AT_ONCE))
        for bucket, board in zip(
            dealt.board_buckets[:, t].tolist(), dealt.boards[:, :size].tolist(), strict=True
        ):
            if len(drawn[bucket]) < n:
                drawn[bucket].append(tuple(board))
        first += DEALS_AT_ONCE
    for bucket, boards in enumerate(drawn):
        if not boards:
            raise InputError(
                f"board bucket {bucket} of the {ROUND_NAMES[t]}: {most:,} deals contain no board of this bucket"
            )
    return [_together(abstraction, t, boards) for boards in drawn]


def _together(abstraction: Abstraction, t: int, boards: Sequence[tuple[int, ...]]) -> Drawn:
    """Merge boards of round t that differ only in suits, and count how often each was drawn."""
    perms, sizes = suit_permutations(abstraction.deck), [n for n in abstraction.board_sizes[: t + 1] if n]
    counts: dict[History, tuple[tuple[int, ...], int]] = {}
    for board in boards:
        groups = [board[a:b] for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]
        same = canonical(groups, abstraction.deck, perms)[0] if groups else ()
        first, times = counts.get(same, (board, 0))
        counts[same] = first, times + 1
    return list(counts.values())


TREMBLE = 1e-3
"""Weight added to every hand, as a fraction of the largest weight that a hand of its range has on the board."""
LEAST = 1e-12
"""Assumed largest weight of a range in which all weights are 0, so that the tremble is not 0."""

Strategy = Callable[[int, int, int], ChunkStrategy]
"""Function of a chunk's (round, board bucket, entering line) that returns both players' unnormalised strategies."""
Continuation = Callable[[int, int, int], Floats]
"""Function of a chunk's (round, board bucket, entering line) that returns its payoff matrix.

The matrix is ``[row of player 0, row of player 1]``, in chips that player 0 wins.
"""


@dataclass(frozen=True)
class BucketChunk:
    """A chunk of a board bucket; the payoff matrices at its leaves are sums over boards of the bucket.

    Attributes:
        chunk: the chunk; both players use the same matrices at the leaves.
        reach: weight of each row, summed over the boards, for each player.
    """

    chunk: Chunk
    reach: ChunkStrategy

    def times(self, n: int) -> BucketChunk:
        """Return a copy of this chunk with all matrices and weights multiplied by ``n``."""
        matrices, (first, second) = n * self.chunk.matrices[0], self.reach
        return BucketChunk(replace(self.chunk, matrices=(matrices, matrices)), (n * first, n * second))

    def add(self, other: BucketChunk) -> None:
        """Add the matrices and weights of another chunk, in place."""
        parts = (self.chunk.matrices[0], *self.reach), (other.chunk.matrices[0], *other.reach)
        for array, added in zip(*parts, strict=True):
            array += added

    def payoffs(self, strategy: ChunkStrategy) -> Floats:
        """Compute the payoff matrix at the chunk's root, ``[row of player 0, row of player 1]`` in chips of player 0.

        Two rows that never occur together get the mean payoff of player 0's row.

        Args:
            strategy: strategies of both players in the chunk, which need not be normalised.
        """
        return _filled(*self.totals(strategy))

    def totals(self, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
        """Compute the payoff matrix times the joint weights, and the joint weights.

        Both are ``[row of player 0, row of player 1]``.

        Args:
            strategy: strategies of both players in the chunk, which need not be normalised.
        """
        gains = root_matrices(self.chunk, normalise(self.chunk, strategy))[0]
        return gains, self.chunk.matrices[0][FOLD_OPERATOR]


def bucket_payoffs(
    game: BucketGame, t: int, bucket: int, boards: Drawn, strategies: Strategy, continuation: Continuation
) -> Floats:
    """Compute the payoff matrices of a board bucket, one for each betting line that enters its round.

    Args:
        game: the whole game.
        t: the round.
        bucket: number of the bucket.
        boards: boards of the bucket.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.

    Returns:
        Chips that player 0 wins, ``[line, row of player 0, row of player 1]``.
    """
    chunks = bucket_chunks(game, t, boards, strategies, continuation)
    return np.array([chunk.payoffs(strategies(t, bucket, r)) for r, chunk in enumerate(chunks)])


def bucket_chunks(
    game: BucketGame,
    t: int,
    boards: Drawn,
    strategies: Strategy,
    continuation: Continuation,
    tremble: float = TREMBLE,
) -> list[BucketChunk]:
    """Build the chunks of a board bucket, one for each betting line that enters its round.

    Args:
        game: the whole game.
        t: the round.
        boards: boards of the bucket.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.
        tremble: weight added to every hand, as a fraction of the largest weight of its range.
    """
    out: list[BucketChunk] = []
    for cards, times in boards:
        for r, chunk in enumerate(board_chunks(game.board(t, cards), t, strategies, continuation, tremble)):
            if r == len(out):
                out.append(chunk.times(times))
            else:
                out[r].add(chunk.times(times))
    return out


def board_chunks(
    board: BucketBoard, t: int, strategies: Strategy, continuation: Continuation, tremble: float = TREMBLE
) -> Iterator[BucketChunk]:
    """Build the chunks of a single board, one for each betting line that enters its round.

    Args:
        board: the board, with the boards before it and after it.
        t: round of the board.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.
        tremble: weight added to every hand, as a fraction of the largest weight of its range.
    """
    layout, buckets = board.layout, board.buckets
    play_down = PlayDown(layout, lambda i, b, r: strategies(i, int(buckets[i][b]), r))
    ranges = play_down.ranges(t, 0)

    def following(i: int, b: int, r: int) -> Floats:
        return continuation(i, int(buckets[i][b]), r)[None]

    for r in range(len(layout.betting[t].chunks)):
        weighing = trembling(layout, t, (ranges[0][r], ranges[1][r]), tremble)
        chunk = build_chunk(layout, t, 0, r, weighing, following)
        yield BucketChunk(chunk, row_reach(layout, t, 0, weighing.own))


def trembling(layout: Layout, t: int, ranges: tuple[Floats, Floats], tremble: float = TREMBLE) -> Weighing:
    """Weigh both players' hands by reach, plus a small constant so that no weight is 0.

    Args:
        layout: layout of a board of round t.
        t: the round.
        ranges: both players' ranges at the chunk's root, each ``[hand]``.
        tremble: the constant, as a fraction of the largest weight of the range.
    """
    first, second = (reach + tremble * max(float(reach.max(initial=0.0)), LEAST) for reach in ranges)
    rows = layout.board(t, 0).hands
    weights = first, second
    return Weighing(weights, weights, (np.ones(rows[0].n_rows), np.ones(rows[1].n_rows)), 1)


def _filled(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by joint weights, and fill in the pairs of rows that have no joint weight.

    Such a pair gets the mean payoff of player 0's row, or of player 1's row if player 0's row has no weight at all.
    """
    out = per_pair(total, joint)
    filled = joint > 0
    for axis in (1, 0):
        gains, weight = (total * filled).sum(axis, keepdims=True), (joint * filled).sum(axis, keepdims=True)
        mean = np.divide(gains, weight, out=np.zeros_like(gains), where=weight > 0)
        missing = ~filled & (weight > 0)
        out = np.where(missing, mean, out)
        filled = filled | missing
    return out
