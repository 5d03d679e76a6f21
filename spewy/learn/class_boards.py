"""One board of a whole game whose boards have classes, laid out as `Layout` has it: rows are those of the classes.

A layout goes down to the board as a *path* of one board for each round, so that both ranges can be played down to it,
and lists all boards that can follow it, so that its chunks can be seen with their chance leaves. It ends there.
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
"""The permutation that leaves suits as they are."""
DEALS_AT_ONCE = 1024
MOST_DEALS = 1024
"""For each board that is asked for, at most."""


@dataclass(frozen=True)
class ClassBoard:
    """A board, the way to it, and what can follow.

    Attributes:
        layout: rounds 0 to t are the path, round t + 1 what can follow.
        classes: per round ``[board]``.
    """

    layout: Layout
    classes: tuple[Ints, ...]


@dataclass(frozen=True)
class ClassGame:
    """What layouts of boards have in common.

    Args:
        problem: a whole game.
        betting: of it.
        classes: of its boards.
        n_rows: of a class, per round.
        symmetry: whether hands that suits alone tell apart share rows; following boards that are alike are one then.
    """

    problem: Problem
    betting: Sequence[BettingRound]
    classes: BoardAbstraction
    n_rows: tuple[int, ...]
    symmetry: bool = False
    _bare: dict[int, ClassBoard] = field(default_factory=dict)

    @property
    def n_rounds(self) -> int:
        """That betting reaches."""
        return len(self.betting)

    @cached_property
    def players(self) -> dict[str, int]:
        """Who acts after each line that leads to a decision."""
        nodes = [node for bets in self.betting for node in bets.nodes]
        return {node.line: node.player for node in nodes if node.player is not None and node.actions}

    def board(self, t: int, cards: Sequence[int]) -> ClassBoard:
        """Lay out a board of round t, its cards in order of the rounds. One without cards, with all flops, is kept."""
        if len(cards):
            return self._laid_out(t, cards)
        if t not in self._bare:
            self._bare[t] = self._laid_out(t, cards)
        return self._bare[t]

    def _laid_out(self, t: int, cards: Sequence[int]) -> ClassBoard:
        game, problem = self.problem.game, self._problem
        path = [game.cut(cards[:size]) for size in game.board_sizes[: t + 1]]
        entered: list[tuple[Branch, ...]] = [(Branch(0, (((), SAME),)),)] * t
        below: list[History] = []
        if t + 1 < self.n_rounds:
            found = following_deals(problem, t, path[t])
            below = [deal.history for deal in found]
            entered.append(tuple(Branch(b, deal.members) for b, deal in enumerate(found)))
        else:
            entered.append(())
        rounds, classes = [], []
        for i, histories in enumerate([[one] for one in path] + ([below] if below else [])):
            entries = entered[i] if i <= t else ()
            table, numbers = self._round(problem, i, histories, entries)
            rounds.append(table)
            classes.append(numbers)
        return ClassBoard(Layout(problem, list(self.betting[: len(rounds)]), rounds), tuple(classes))

    @cached_property
    def _problem(self) -> Problem:
        return replace(self.problem, rows=self.n_rows, symmetry=self.symmetry)

    def _round(
        self, problem: Problem, t: int, histories: Sequence[History], entries: tuple[Branch, ...]
    ) -> tuple[BoardRound, Ints]:
        """The boards of a round, all below the only one above, and their classes."""
        game, by_hand = problem.game, replace(problem, rows=(None,) * problem.game.num_rounds)
        cards = np.array([[card for group in history for card in group] for history in histories])
        classes, groups = self.classes.boards(t, cards.reshape(len(histories), -1).astype(np.int64))
        boards = []
        for e, (history, group) in enumerate(zip(histories, groups, strict=True)):
            first, second = (
                replace(rows, row=group[rows.numbers], n_rows=self.n_rows[t])
                for rows in board_hands(by_hand, t, history)
            )
            boards.append(Board(history, 0 if t else -1, e if t else -1, (first, second), entries))
        left = len(game.deck) - game.board_sizes[t] - 2 * game.num_hole_cards
        dealt = game.num_board_cards[t + 1] if t + 1 < game.num_rounds else 0
        return BoardRound(t, tuple(boards), 1.0 / comb(left, dealt)), classes


Drawn = list[tuple[tuple[int, ...], int]]
"""Boards, cards in order of the rounds, each with how often it was drawn."""


def drawn_boards(abstraction: Abstraction, t: int, seed: int, n: int, turn: int = 0) -> list[Drawn]:
    """``[class]``: boards of round t, drawn as they are dealt, the same up to suits together.

    Args:
        abstraction: of the game's boards.
        t: the round.
        seed: of the deals.
        n: draws for each class.
        turn: from 0; each one has deals of its own.

    Raises:
        InputError: a class has not been dealt once where each should have been many times.
    """
    size, n_classes = sum(abstraction.board_sizes[: t + 1]), abstraction.n_classes[t]
    drawn: list[list[tuple[int, ...]]] = [[] for _ in range(n_classes)]
    most = MOST_DEALS * n_classes * n
    first, last = turn * most, (turn + 1) * most
    while first < last and min(len(boards) for boards in drawn) < n:
        dealt = abstraction.deal(seed, range(first, first + DEALS_AT_ONCE))
        for class_, board in zip(dealt.classes[:, t].tolist(), dealt.boards[:, :size].tolist(), strict=True):
            if len(drawn[class_]) < n:
                drawn[class_].append(tuple(board))
        first += DEALS_AT_ONCE
    for class_, boards in enumerate(drawn):
        if not boards:
            raise InputError(
                f"class {class_} of the {ROUND_NAMES[t]}: expected a board of it in {most:,} deals, found none"
            )
    return [_together(abstraction, t, boards) for boards in drawn]


def _together(abstraction: Abstraction, t: int, boards: Sequence[tuple[int, ...]]) -> Drawn:
    """Boards that suits alone tell apart as one."""
    perms, sizes = suit_permutations(abstraction.deck), [n for n in abstraction.board_sizes[: t + 1] if n]
    found: dict[History, tuple[tuple[int, ...], int]] = {}
    for board in boards:
        groups = [board[a:b] for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]
        same = canonical(groups, abstraction.deck, perms)[0] if groups else ()
        found[same] = (found[same][0] if same in found else board, found.get(same, ((), 0))[1] + 1)
    return list(found.values())
