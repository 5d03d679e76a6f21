"""Some of a solve's decisions: those of a line, on a board, of a round, of a player."""

from __future__ import annotations

from dataclasses import dataclass

from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, locate, read_cards
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.tree import Node, decision_at


@dataclass(frozen=True)
class OneBoard:
    """A board that is looked at.

    Attributes:
        t: round from the solve's root.
        b: number of the board that is solved.
        cards: as they are named to whoever looks.
    """

    t: int
    b: int
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Decisions of a solve on boards of it; boards that are the same up to suits count once.

    Attributes:
        layout: of the solve.
        nodes: by round from the root's.
        only: the only board; None: all.
    """

    layout: Layout
    nodes: tuple[tuple[Node, ...], ...]
    only: OneBoard | None = None

    @classmethod
    def of(
        cls,
        layout: Layout,
        *,
        line: str | None = None,
        board: str | None = None,
        round_name: str | None = None,
        player: int | None = None,
    ) -> Selection:
        """Decisions at a line, on a board (all its cards), of a round, of a player; None: any.

        Raises:
            InputError: no such line, board or round, or nothing is left.
        """
        first = layout.problem.first_round
        rounds = None if line is None else {decision_at(layout.problem.tree.root, line).round}
        if round_name is not None:
            rounds = _both(rounds, {_round_number(layout, round_name)})
        only = None if board is None else _one_board(layout, board, rounds)
        if only is not None:
            rounds = {only.t + first}
        nodes = tuple(
            tuple(
                node
                for node in bets.nodes
                if node.kind == "decision"
                and (rounds is None or node.round in rounds)
                and line in (None, node.line)
                and player in (None, node.player)
            )
            for bets in layout.betting
        )
        if not any(nodes):
            told = [None if line is None else f"line {line!r}", board and f"board {board}", round_name]
            told.append(None if player is None else SEAT_NAMES[player])
            asked = ", ".join(text for text in told if text)
            raise InputError(f"decisions of {asked or 'this solve'}: expected at least one, found none")
        return cls(layout, nodes, only)

    @property
    def last_round(self) -> int:
        """The last round of the game that any of the decisions is in."""
        return max(node.round for nodes in self.nodes for node in nodes)

    @property
    def actions(self) -> tuple[str, ...]:
        """Labels of all actions, in the order in which they come."""
        labels = (action.label for nodes in self.nodes for node in nodes for action in node.actions)
        return tuple(dict.fromkeys(labels))

    def boards(self, t: int) -> range:
        """Numbers of the boards of a round."""
        if self.only is not None:
            return range(self.only.b, self.only.b + 1)
        return range(len(self.layout.boards[t].boards))

    def __len__(self) -> int:
        """How many decisions there are, on each of their boards."""
        return sum(len(nodes) * len(self.boards(t)) for t, nodes in enumerate(self.nodes) if nodes)

    def n_rows(self, *, wide: bool) -> int:
        """Rows of a table with one for each hand (wide), or for each hand and action."""
        total = 0
        for t, nodes in enumerate(self.nodes):
            cells = [0, 0]
            for node in nodes:
                assert node.player is not None
                cells[node.player] += 1 if wide else len(node.actions)
            for b in self.boards(t) if nodes else ():
                rows = self.layout.board(t, b).rows
                total += sum(cells[p] * len(rows[p].hands) for p in (0, 1) if cells[p])
        return total


def _both(a: set[int] | None, b: set[int]) -> set[int]:
    return b if a is None else a & b


def _round_number(layout: Layout, name: str) -> int:
    first = layout.problem.first_round
    names = ROUND_NAMES[first : first + layout.n_rounds]
    if name not in names:
        raise InputError(f"round {name}: expected one of this solve, {', '.join(names)}")
    return first + names.index(name)


def _one_board(layout: Layout, board: str, rounds: set[int] | None) -> OneBoard:
    """Find a board; its round is the one asked for, or the first that has as many cards."""
    problem = layout.problem
    n_cards = len(read_cards("board", "Qs Jh 2h", board))
    possible = [table.round for table in layout.boards if rounds is None or table.round in rounds]
    fitting = [k for k in possible if sum(problem.game.num_board_cards[: k + 1]) == n_cards]
    t = (fitting or possible or [problem.first_round])[0] - problem.first_round
    cards = board_cards(problem, layout.boards[t].round, board)
    b, _ = locate(layout, t, cards)
    return OneBoard(t, b, cards)
