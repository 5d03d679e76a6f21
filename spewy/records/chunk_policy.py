"""Average strategies of single chunks in a store.

`spewy.records.chunks.Chunks` needs a list of all boards and the whole betting tree. `ChunkPolicy` needs only the
betting of one round and the hands on one board to read a chunk, so it can show a decision at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from buckets.cards import History, hand_permutation
from buckets.types import Ints
from lockers import Store
from solvers.state import normalised
from solvers.tree import Floats
from spewy.chunks.boards import BoardHands, board_hands
from spewy.chunks.layout import Place
from spewy.chunks.locate import board_cards, solved_board
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import chunk_nodes
from spewy.errors import InputError
from spewy.game.nodes import Node, entry_line
from spewy.records.chunks import Kind, require_size, split
from spewy.records.patched_reads import PatchedReads
from spewy.records.policy import BOARDS, ChunkPlay, Decision, Policy, SolvedBoard
from spewy.records.progress import dropped_error, saved_sweeps
from spewy.system.tools import kept_results


class ChunkPolicy(Policy):
    """Average strategies of a store; a running solve may be writing to it meanwhile.

    Args:
        problem: game or spot that was solved.
        store: lockers of the solve; `close` closes them.
        patched: reads the store together with re-solved strategies of dropped rounds; this requires a problem with a
            row for each hand. None: read the store alone.
    """

    def __init__(self, problem: Problem, store: Store, patched: PatchedReads | None = None) -> None:
        super().__init__(problem)
        self.store = store
        self._reads = PatchedReads(store) if patched is None else patched
        self._swept = False
        self._hands = kept_results(BOARDS, self._on_board)

    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """Return the decision after ``line`` on ``board`` for all hands: see `Policy.decision`.

        Among boards that are equal up to suits, the store has strategies for one; they are mapped onto ``board``.
        """
        node, first, slots = self._node(line, board)
        player = node.player
        assert player is not None
        cards = board_cards(self.problem, node.round, board)
        on_board = self._hands(node.round, cards)
        frequencies = self._frequencies(node, first, on_board, self._sums(node, on_board, slots))
        return Decision(
            node.line,
            cards,
            player,
            node.actions,
            self.problem.hands,
            on_board.players[player].hands,
            frequencies,
        )

    @property
    def saved(self) -> int:
        """Number of finished sweeps in the store."""
        return saved_sweeps(self.store)

    def chunk(self, line: str = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Read all strategies of the chunk that ``line`` (``""``, or ending in ``/``) enters on ``board``.

        Before the first finished sweep all strategies are uniform.

        Raises:
            InputError: the line enters no chunk, the board is impossible after it, or the chunk was dropped.
        """
        root = self._root(line)
        on_board = self._hands(root.round, board_cards(self.problem, root.round, board))
        decisions, slots = self._betting(line)
        sums = self._sums(root, on_board, slots) if self._has_swept() else _nothing(slots, on_board.n_rows)
        frequencies = {
            at: self._frequencies(node, first, on_board, sums) for at, (node, first) in decisions.items()
        }
        oop, ip = on_board.players
        solved = SolvedBoard(
            on_board.history, on_board.key(root.round, line), (oop.rows_of_hands, ip.rows_of_hands)
        )
        return ChunkPlay(chunk_nodes(root), (oop.hands, ip.hands), frequencies, solved)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _frequencies(self, node: Node, first: int, on_board: _Board, sums: tuple[Floats, Floats]) -> Floats:
        """Return the frequencies ``[action, hand]`` at a decision.

        Args:
            node: node of the decision in the betting tree.
            first: number of its first slot among the player's slots in the chunk.
            on_board: both players' hands on the board.
            sums: strategy sums of the chunk, ``[slot, row]`` for each player.
        """
        assert node.player is not None
        player_hands = on_board.players[node.player]
        taken = sums[node.player][first : first + len(node.actions)].astype(np.float64)
        for lock in self.problem.locks:
            if lock.line == node.line:
                lock.write(taken, on_board.history, player_hands.rows.numbers)
        return normalised(taken)[:, player_hands.row]

    def _sums(self, node: Node, on_board: _Board, slots: tuple[int, int]) -> tuple[Floats, Floats]:
        """Read the strategy sums of a node's chunk, per player ``[slot, row]``, with a slot for each action.

        ``slots`` is the number of slots of each player.
        """
        subject, dropped = f"line {node.line!r}: expected a stored strategy", self._reads.first
        if not self._has_swept():
            raise InputError(f"{subject}, found no finished sweep")
        n_rows = on_board.n_rows
        size = slots[0] * n_rows[0] + slots[1] * n_rows[1]
        if not size:  # nobody has a decision, or the board leaves neither player a hand
            return _nothing(slots, n_rows)
        key = on_board.key(node.round, entry_line(node.line))
        array = self._reads.get(Kind.SUMS, key)
        if array is None and dropped is not None and node.round >= dropped:
            raise dropped_error(subject, dropped, self.problem.game.num_rounds)
        return split(require_size(array, size, Kind.SUMS, key), slots, n_rows)

    def _has_swept(self) -> bool:
        """Whether the store has a finished sweep."""
        self._swept = self._swept or saved_sweeps(self.store) > 0
        return self._swept

    def _on_board(self, t: int, cards: tuple[int, ...]) -> _Board:
        problem = self.problem
        history, perm = solved_board(problem, t, cards)
        moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
        players = []
        for rows in board_hands(problem, t, history):
            place = np.full(len(moved), -1)
            place[rows.numbers] = np.arange(len(rows.numbers))
            solved_hands = place[moved]
            hands = np.flatnonzero(solved_hands >= 0)
            players.append(_Held(rows, hands, solved_hands[hands], rows.row[solved_hands[hands]]))
        return _Board(history, (players[0], players[1]))


def _nothing(slots: tuple[int, int], n_rows: tuple[int, int]) -> tuple[Floats, Floats]:
    return np.zeros((slots[0], n_rows[0])), np.zeros((slots[1], n_rows[1]))


class _Held(NamedTuple):
    """A player's hands on the requested board, and their rows on the solved board, which equals it up to suits.

    Attributes:
        rows: the player's hands on the solved board, with the row of each hand.
        hands: ``[hand]``, numbers in the deck of the player's hands on the requested board, ascending.
        rows_of_hands: ``[hand]``, position in ``rows`` of each hand of ``hands``, with its suits renamed as on the
            solved board.
        row: ``[hand]``, row of the strategy for each hand of ``hands``.
    """

    rows: BoardHands
    hands: Ints
    rows_of_hands: Ints
    row: Shorts


class _Board(NamedTuple):
    """The solved board that equals a requested board up to suits, and both players' hands."""

    history: History
    players: tuple[_Held, _Held]

    @property
    def n_rows(self) -> tuple[int, int]:
        """Number of strategy rows of each player."""
        return self.players[0].rows.n_rows, self.players[1].rows.n_rows

    def key(self, t: int, line: str) -> bytes:
        """Return the key under which the lockers store the chunk that a line enters on this board in round t."""
        return Place(t, self.history, line).key(self.n_rows)
