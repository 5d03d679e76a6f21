"""The average strategy at one decision of a whole game whose boards have classes, from one read of its play locker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from buckets.cards import check_history
from buckets.errors import BoardError
from lockers import DamagedLockerError
from solvers.tree import Ints
from spewy.chunks.locate import board_cards, dealt_error
from spewy.chunks.problem import Problem
from spewy.game.gamefile import Game
from spewy.game.nodes import Node, entry_line
from spewy.records.averages import Averages
from spewy.records.keys import CLASSES
from spewy.records.policy import BOARDS, Decides, Decision, Stacked

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


class BoardClasses(Protocol):
    """Which class boards have, and which row each hand has there."""

    def boards(self, t: int, boards: Ints, /) -> tuple[Ints, Ints]:
        """Of boards ``[board, card]`` of round t: ``[board]`` classes, ``[board, hand of the deck]`` rows or -1."""
        ...


class ClassPolicy(Decides):
    """Average strategies of a play locker, while it may be written to by others.

    Args:
        problem: what the locker was made for: a whole game.
        averages: the locker; `close` closes it.
        classes: of its boards.
    """

    def __init__(self, problem: Problem, averages: Averages, classes: BoardClasses) -> None:
        super().__init__(problem)
        self.averages = averages
        self.classes = classes
        self._rows = lru_cache(BOARDS)(self._on_board)
        self._wanted = lru_cache(BOARDS)(self._several)

    @classmethod
    def of(cls, problem: Problem, averages: Averages) -> ClassPolicy:
        """That of a play locker which was made by a solve.

        Raises:
            InputError: nothing was saved yet.
            lockers.DamagedLockerError: it does not tell its classes and rows.
        """
        averages.saved  # noqa: B018 - which refuses a locker with nothing in it
        return cls(problem, averages, board_classes(problem.game, averages.arrays()))

    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """The decision after ``line`` on ``board``, for all hands, as `Decides` has it."""
        node, free, player = self._slot(line, board)
        cards = board_cards(self.problem, node.round, board)
        class_, rows = self._rows(node.round, cards)
        hands = np.flatnonzero(rows >= 0)
        found = self.averages.frequencies(
            node.round, class_, entry_line(node.line), player, free, len(node.actions)
        )
        deck = self.problem.hands
        return Decision(node.line, cards, player, node.actions, deck, hands, found[:, rows[hands]])

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """As `Decides.stacked`, from one read of the board's class."""
        nodes, player, wanted = self._wanted(tuple(lines))
        cards = board_cards(self.problem, nodes[0].round, board)
        class_, rows = self._rows(nodes[0].round, cards)
        return Stacked(self.averages.many_frequencies(nodes[0].round, class_, player, wanted), rows)

    def _several(self, lines: tuple[str, ...]) -> tuple[list[Node], int, list[tuple[str, int, int]]]:
        """The decisions at lines, their player, and what `Averages.many_frequencies` is asked for."""
        slots = [self._slot(line) for line in lines]
        wanted = [(entry_line(node.line), free, len(node.actions)) for node, free, _ in slots]
        return [node for node, _, _ in slots], slots[0][2], wanted

    def _slot(self, line: str, board: str | Sequence[int] | None = None) -> tuple[Node, int, int]:
        """The decision at a line, its first free slot in its chunk, and its player."""
        node, first, _ = self._node(line, board)
        player = node.player
        assert player is not None
        before = sum(
            other.player == player and slot < first
            for other, slot in self._betting(entry_line(node.line))[0].values()
        )
        return node, first - before, player

    def class_of(self, t: int, board: str | Sequence[int] | None = None) -> int:
        """The class of a board of round t.

        Raises:
            InputError: a board that cannot be dealt.
        """
        return self._rows(t, board_cards(self.problem, t, board))[0]

    def close(self) -> None:
        """Close the locker."""
        self.averages.close()

    def _on_board(self, t: int, cards: tuple[int, ...]) -> tuple[int, Ints]:
        """The class of a board, and the row of each hand of the deck."""
        game = self.problem.game
        try:
            history = check_history(game.cut(cards), game.deck)
        except BoardError:
            raise dealt_error(cards) from None
        dealt = np.array([[card for group in history for card in group]], dtype=np.int64)
        classes, rows = self.classes.boards(t, dealt.reshape(1, len(cards)))
        return int(classes[0]), rows[0]


def board_classes(game: Game, arrays: Mapping[str, np.ndarray]) -> Abstraction:
    """The classes of a game's boards and the rows of hands there, from what a play locker keeps of them.

    Raises:
        lockers.DamagedLockerError: some of it is missing.
    """
    from buckets.abstraction import Abstraction
    from buckets.abstraction.making import ARRAYS

    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise DamagedLockerError(f"locker {CLASSES!r}: expected {', '.join(ARRAYS)}, found no {missing[0]}")
    return Abstraction(game.deck, game.num_hole_cards, game.num_board_cards, dict(arrays))
