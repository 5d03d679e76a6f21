"""Select decisions of a solve by line, board, round and player."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from buckets.cards import blocked, board_levels
from spewy.chunks.locate import Place, board_cards, node_at, read_cards, solved_board
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import chunk_nodes
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Node, line_as_written

Cards = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Selected decisions of a solve, and the boards on which they are selected.

    Of all boards that are equal up to suits, one is selected.

    Attributes:
        chunks: by round of the game, the selected decisions of each chunk.
        only: public cards of the single selected board; None if all boards are selected.
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
        """Select the decisions that fulfil all given conditions; a condition that is None selects everything."""
        node, cards = (None, None) if line is None else node_at(problem, line, board, decision=True)
        rounds = set(range(problem.first_round, problem.game.num_rounds) if node is None else (node.round,))
        if round_name is not None:
            rounds &= {_round_number(problem, round_name)}
        only = None
        if board is not None:
            t, only = _one_board(problem, board if cards is None else cards, rounds)
            rounds = {t}
        every = {node.round: [(node,)]} if node is not None else _decisions(problem, rounds)
        selected = {
            t: tuple(tuple(node for node in nodes if player in (None, node.player)) for nodes in every[t])
            for t in sorted(rounds & set(every))
        }
        chunks = {t: tuple(nodes for nodes in selected[t] if nodes) for t in selected if any(selected[t])}
        if not chunks:
            words = [None if line is None else f"line {line_as_written(line)!r}", board and f"board {board}"]
            words += [round_name, None if player is None else SEAT_NAMES[player]]
            conditions = ", ".join(text for text in words if text)
            raise InputError(f"decisions of {conditions or 'this solve'}: expected at least one, found none")
        return cls(problem, chunks, only)

    @property
    def last_round(self) -> int:
        return max(self.chunks)

    @property
    def actions(self) -> tuple[str, ...]:
        labels = (action.label for t in self.chunks for node in self._nodes(t) for action in node.actions)
        return tuple(dict.fromkeys(labels))

    @cached_property
    def boards(self) -> dict[int, list[Cards]]:
        if self.only is not None:
            return {t: [self.only] for t in self.chunks}
        return {t: _solved_boards(self.problem, t) for t in self.chunks}

    def places(self) -> Iterator[tuple[Place, ...]]:
        """Yield the selected decisions of each chunk on each board, round by round."""
        for t, chunks in self.chunks.items():
            for cards in self.boards[t]:
                for nodes in chunks:
                    yield tuple(Place(node, cards) for node in nodes)

    def __len__(self) -> int:
        """Number of pairs of a selected decision and a board."""
        return sum(len(self.boards[t]) * len(list(self._nodes(t))) for t in self.chunks)

    def n_rows(self, *, wide: bool) -> int:
        """Number of rows in a table of the decisions: one per hand if ``wide``, else one per hand and action."""
        total = 0
        for t in self.chunks:
            cells = [0, 0]
            for node in self._nodes(t):
                assert node.player is not None
                cells[node.player] += 1 if wide else len(node.actions)
            for cards in self.boards[t]:
                free = ~blocked(self.problem.hands, cards)
                n_hands = (int(np.count_nonzero(free & (weights > 0))) for weights in self.problem.ranges)
                total += sum(n * hands for n, hands in zip(cells, n_hands, strict=True))
        return total

    def _nodes(self, t: int) -> Iterator[Node]:
        return (node for nodes in self.chunks[t] for node in nodes)


def _decisions(problem: Problem, rounds: set[int]) -> dict[int, list[tuple[Node, ...]]]:
    roots = problem.tree.rounds
    return {
        t: [
            tuple(node for node in chunk_nodes(root) if node.kind == "decision") for root in roots[t].values()
        ]
        for t in rounds
    }


def _solved_boards(problem: Problem, t: int) -> list[Cards]:
    """List the boards of a round; of boards that are equal up to suits, only one is listed."""
    game = problem.game
    sizes = game.num_board_cards[problem.first_round + 1 : t + 1]
    *_, boards = board_levels(game.deck, sizes, problem.symmetries, problem.history)
    return [game.board_order([card for group in board.history for card in group]) for board in boards]


def _round_number(problem: Problem, name: str) -> int:
    names = ROUND_NAMES[problem.first_round : problem.game.num_rounds]
    if name not in names:
        raise InputError(f"round {name}: expected one of this solve, {', '.join(names)}")
    return problem.first_round + names.index(name)


def _one_board(problem: Problem, board: str | Cards, rounds: set[int]) -> tuple[int, Cards]:
    """Read the selected board, and find its round: the first of ``rounds`` with this number of public cards."""
    given = read_cards("board", "Qs Jh 2h", board)
    n_cards = len(given)
    possible = sorted(rounds) or [problem.first_round]
    t = next((k for k in possible if sum(problem.game.num_board_cards[: k + 1]) == n_cards), possible[0])
    cards = board_cards(problem, t, given)
    solved_board(problem, t, cards)  # raises an error if the cards cannot be dealt
    return t, cards
