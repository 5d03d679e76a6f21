"""Build a layout (boards, hands, rows and betting) around a single board of a whole game with board buckets.

The layout has one board in each round up to the given board, so that both ranges can be played down. It also has all
boards that can follow in the next round, to which the chance leaves of the given board's chunks lead. Strategy rows are
those of the board buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import History, canonical, suit_permutations
from solvers.tree import Ints
from spewy.chunks.boards import Board, BoardRound, Branch, board_hands, following_deals
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES
from spewy.records.bucket_policy import BoardAbstraction

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

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
        """Number of rounds that the betting reaches."""
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
        """Build the layout that `board` returns, without its cache."""
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
        """Build the boards of one round of a layout, and look up their board buckets.

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
        The drawn boards of each board bucket; fewer than ``n`` for buckets that are dealt too rarely.

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
