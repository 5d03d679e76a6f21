"""Decisions of a solve, selected by line, board, round and player."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from buckets.cards import blocked, board_levels
from spewy.chunks.locate import board_cards, line_to, read_cards, solved_board
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import chunk_nodes
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Node, decision_at, entry_line, line_as_written

Cards = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Selected decisions of a solve and their boards; boards that equal each other up to suits count once.

    Attributes:
        problem: of the solve.
        chunks: by round of the game, of each chunk the decisions that are asked for.
        only: the only board, as it is named to whoever looks; None: all.
    """

    problem: Problem
    chunks: Mapping[int, tuple[tuple[Node, ...], ...]]
    only: Cards | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        line: str | None = None,
        board: str | None = None,
        round_name: str | None = None,
        player: int | None = None,
    ) -> Selection:
        """Select decisions by line, board (all its cards), round and player; None selects any.

        Raises:
            InputError: no such line, board or round, or nothing is left.
        """
        line = None if line is None else line_to(problem, line, board)
        node = None if line is None else decision_at(problem.tree.entered(entry_line(line)), line)
        rounds = set(range(problem.first_round, problem.game.num_rounds) if node is None else (node.round,))
        if round_name is not None:
            rounds &= {_round_number(problem, round_name)}
        only = None
        if board is not None:
            t, only = _one_board(problem, board, rounds)
            rounds = {t}
        every = {node.round: [(node,)]} if node is not None else _decisions(problem, rounds)
        kept = {
            t: tuple(tuple(node for node in nodes if player in (None, node.player)) for nodes in every[t])
            for t in sorted(rounds & set(every))
        }
        chunks = {t: tuple(nodes for nodes in kept[t] if nodes) for t in kept if any(kept[t])}
        if not chunks:
            told = [None if line is None else f"line {line_as_written(line)!r}", board and f"board {board}"]
            told += [round_name, None if player is None else SEAT_NAMES[player]]
            asked = ", ".join(text for text in told if text)
            raise InputError(f"decisions of {asked or 'this solve'}: expected at least one, found none")
        return cls(problem, chunks, only)

    @property
    def last_round(self) -> int:
        """Last round of the game with a selected decision."""
        return max(self.chunks)

    @property
    def actions(self) -> tuple[str, ...]:
        """Labels of all actions, without repetition."""
        labels = (action.label for t in self.chunks for node in self._nodes(t) for action in node.actions)
        return tuple(dict.fromkeys(labels))

    @cached_property
    def boards(self) -> dict[int, list[Cards]]:
        """Selected boards, by round of the game."""
        if self.only is not None:
            return {t: [self.only] for t in self.chunks}
        return {t: _solved_boards(self.problem, t) for t in self.chunks}

    def places(self) -> Iterator[tuple[Cards, tuple[Node, ...]]]:
        """Yield pairs of a board and the decisions of one chunk, round by round and board by board."""
        for t, chunks in self.chunks.items():
            for cards in self.boards[t]:
                for nodes in chunks:
                    yield cards, nodes

    def __len__(self) -> int:
        """Number of pairs of a decision and a board."""
        return sum(len(self.boards[t]) * len(list(self._nodes(t))) for t in self.chunks)

    def n_rows(self, *, wide: bool) -> int:
        """Number of rows of a table: one per hand (wide), or one per hand and action."""
        total = 0
        for t in self.chunks:
            cells = [0, 0]
            for node in self._nodes(t):
                assert node.player is not None
                cells[node.player] += 1 if wide else len(node.actions)
            for cards in self.boards[t]:
                free = ~blocked(self.problem.hands, cards)
                held = (int(np.count_nonzero(free & (mine > 0))) for mine in self.problem.ranges)
                total += sum(n * hands for n, hands in zip(cells, held, strict=True))
        return total

    def _nodes(self, t: int) -> Iterator[Node]:
        return (node for nodes in self.chunks[t] for node in nodes)


def _decisions(problem: Problem, rounds: set[int]) -> dict[int, list[tuple[Node, ...]]]:
    """Decisions of each chunk, by round."""
    roots = problem.tree.rounds
    return {
        t: [
            tuple(node for node in chunk_nodes(root) if node.kind == "decision") for root in roots[t].values()
        ]
        for t in rounds
    }


def _solved_boards(problem: Problem, t: int) -> list[Cards]:
    """Boards of a round of the game; boards that equal each other up to suits count once."""
    game = problem.game
    sizes = game.num_board_cards[problem.first_round + 1 : t + 1]
    *_, boards = board_levels(game.deck, sizes, problem.symmetries, problem.history)
    return [game.board_order([card for group in board.history for card in group]) for board in boards]


def _round_number(problem: Problem, name: str) -> int:
    names = ROUND_NAMES[problem.first_round : problem.game.num_rounds]
    if name not in names:
        raise InputError(f"round {name}: expected one of this solve, {', '.join(names)}")
    return problem.first_round + names.index(name)


def _one_board(problem: Problem, board: str, rounds: set[int]) -> tuple[int, Cards]:
    """The selected board and its round: the first selected round with as many cards."""
    n_cards = len(read_cards("board", "Qs Jh 2h", board))
    possible = sorted(rounds) or [problem.first_round]
    t = next((k for k in possible if sum(problem.game.num_board_cards[: k + 1]) == n_cards), possible[0])
    cards = board_cards(problem, t, board)
    solved_board(problem, t, cards)  # which refuses cards that cannot be dealt
    return t, cards
