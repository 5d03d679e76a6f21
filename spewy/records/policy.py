"""The average strategy at one decision, from one read of the lockers: neither boards nor betting are laid out.

A `spewy.records.chunks.Chunks` knows all chunks of a layout, for which every board was listed and the whole
betting tree built. A `Policy` finds the key of the one chunk that a line and a board are in, by the betting of
that round and the rows of that board alone, and keeps a few of both.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from buckets.cards import History, blocked, cards_name, hand_name, hand_permutation
from buckets.errors import CardError
from lockers import Store
from solvers.state import normalised
from solvers.tree import Floats
from spewy.chunks.boards import BoardRows, board_rows
from spewy.chunks.locate import board_cards, line_to, read_cards, solved_board
from spewy.chunks.place import Place
from spewy.chunks.problem import Ints, Problem, Shorts
from spewy.chunks.rounds import chunk_exits, chunk_nodes, decision_slots
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Action, Node, decision_at, entry_line, find_node
from spewy.records.chunks import Kind, require_size, split
from spewy.records.overlay import Overlay
from spewy.records.progress import dropped_error, saved_sweeps
from spewy.system import html
from spewy.system.closing import Closing

LINES, BOARDS = 256, 128
"""Betting rounds by the line that enters them, and boards, that a policy keeps: some 10 MB at most."""


@dataclass(frozen=True)
class Decision:
    """Strategy at one decision, for the range of the player to act.

    Attributes:
        line: the ACPC betting string from the solve's root.
        board: the public cards that were asked for, in `Game.board_order`.
        player: the player who acts.
        actions: the actions that the player can take.
        deck: ``[hand of the deck, hole card]``.
        hands: ``[hand]``, numbers of the hands of the deck that the player's initial range and the board leave,
            ascending.
        frequencies: ``[action, hand]``: how often each hand takes each action, adding up to 1 over the actions.
    """

    line: str
    board: tuple[int, ...]
    player: int
    actions: tuple[Action, ...]
    deck: Ints
    hands: Ints
    frequencies: Floats

    @cached_property
    def names(self) -> tuple[str, ...]:
        """``[hand]``: their names, such as ``AsKh``."""
        return tuple(hand_name(cards) for cards in self.deck[self.hands])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        after = f" after {self.line}" if self.line else ""
        title = f"{SEAT_NAMES[self.player]} to act on {cards_name(self.board) or 'no cards'}{after}"
        columns = ("hand", *(action.label for action in self.actions))
        return html.table(title, columns, zip(self.names, *self.frequencies.tolist(), strict=True))


@dataclass(frozen=True)
class ChunkPlay:
    """What both ranges do in one chunk on one board.

    Attributes:
        nodes: of its betting, the root first, in the order of `spewy.chunks.rounds.chunk_nodes`.
        history: of the board that was solved in place of the one that was asked for.
        key: of the chunk in the lockers.
        hands: per player ``[hand]``, as `Decision.hands`.
        rows: per player ``[hand]``: which hand of the solved board each is.
        frequencies: by the line of each decision ``[action, hand]``, adding up to 1 over the actions.
    """

    nodes: tuple[Node, ...]
    history: History
    key: bytes
    hands: tuple[Ints, Ints]
    rows: tuple[Ints, Ints]
    frequencies: Mapping[str, Floats]

    @property
    def round(self) -> int:
        """Of the game."""
        return self.nodes[0].round

    @cached_property
    def exits(self) -> list[str]:
        """The lines of the chance leaves, in the order in which their values are kept."""
        return [leaf.line for leaf in chunk_exits(self.nodes[0])]


class Stacked(NamedTuple):
    """Some decisions of one player and round on one board.

    Attributes:
        frequencies: ``[action, row]``, the decisions' actions one after another.
        rows: ``[hand of the deck]``, the row of each; -1: it cannot be held.
    """

    frequencies: Floats
    rows: Ints

    @classmethod
    def by_hand(cls, frequencies: Floats) -> Stacked:
        """Of ``[action, hand of the deck]``."""
        return cls(frequencies, np.arange(frequencies.shape[1]))

    def of(self, hands: Ints | Shorts) -> Floats:
        """``[action, hand]``; 0 for hands that cannot be held."""
        rows = self.rows[hands]
        out: Floats = self.frequencies[:, rows]
        out[:, rows < 0] = 0.0
        return out


class Decides(Closing):
    """Average strategies, decision by decision.

    Args:
        problem: what is played.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._root = lru_cache(LINES)(lambda line: find_node(problem.tree.entered(line), line))
        self._betting = lru_cache(LINES)(self._entered)

    @abstractmethod
    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """The decision after ``line`` (from the solve's root) on ``board`` (default: the root's), for all hands.

        Raises:
            InputError: no such line, no decision there, a board that cannot follow, or nothing is stored for it.
        """

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """Some decisions of one player and round on one board, which takes less time than one by one.

        Raises:
            InputError: as `decision`.
        """
        found = [self.decision(line, board) for line in lines]
        rows = np.full(len(self.problem.hands), -1)
        rows[found[0].hands] = np.arange(len(found[0].hands))
        return Stacked(np.concatenate([each.frequencies for each in found]), rows)

    def node(self, line: str = "", board: str | Sequence[int] | None = None) -> Node:
        """The decision at a line of the betting tree, on a board; rounds after its own are not built.

        At the end of a round the line's last ``/`` can be left out if the board shows the next round's cards.

        Raises:
            InputError: no such line, or no decision there.
        """
        return self._node(line, board)[0]

    def entered(self, t: int) -> tuple[Node, ...]:
        """The nodes that start round t, in the order in which the betting enters it; all-in ones are no decisions."""
        if t == self.problem.first_round:
            return (self._root(""),)
        return tuple(
            leaf.children[0] for node in self.entered(t - 1) for leaf in chunk_exits(self._root(node.line))
        )

    def frequencies(self, line: str, board: str | Sequence[int] | None, hand: str | Sequence[int]) -> Floats:
        """``[action]``: how often a hand takes each action of the decision after ``line`` on ``board``.

        Raises:
            InputError: as `decision`, or the player to act cannot have the hand.
        """
        found = self.decision(line, board)
        number = self._number(hand)
        place = int(np.searchsorted(found.hands, number))
        if place == len(found.hands) or found.hands[place] != number:
            cards = self.problem.hands[number]
            dead = bool(blocked(cards[None], found.board)[0])
            why = f"one that {cards_name(found.board)} blocks" if dead else "one that is not in it"
            raise InputError(
                f"hand {hand_name(cards)}: expected one of the range of {SEAT_NAMES[found.player]}, found {why}"
            )
        out: Floats = found.frequencies[:, place]
        return out

    def _node(self, line: str, board: str | Sequence[int] | None = None) -> tuple[Node, int, tuple[int, int]]:
        """The decision at a line on a board, its first slot, and both players' slots in its chunk."""
        line = read_line(self.problem.tree, line)
        try:
            decisions, slots = self._betting(entry_line(line))
            return *decisions[line], slots
        except (InputError, KeyError):
            further = line_to(self.problem, line, board)
            if further != line:
                return self._node(further)
            decision_at(self.problem.tree.entered(entry_line(line)), line)  # says where the line goes wrong
            raise

    def _entered(self, line: str) -> tuple[dict[str, tuple[Node, int]], tuple[int, int]]:
        return decision_slots(self._root(line))

    def _number(self, hand: str | Sequence[int]) -> int:
        try:
            return self.problem.game.hand_number(read_cards("hand", "AsKh", hand))
        except CardError as error:
            raise InputError(f"hand {shown(hand)}: {error}") from None


class Policy(Decides):
    """Average strategies of a store, while it may be written to by others.

    Args:
        problem: what the store was made for.
        store: its lockers; `close` closes them.
        overlay: the store with what was solved in place of dropped rounds, whose hands have a row each in the problem.
    """

    def __init__(self, problem: Problem, store: Store, overlay: Overlay | None = None) -> None:
        super().__init__(problem)
        self.store = store
        self._reads = Overlay(store) if overlay is None else overlay
        self._swept = False
        self._hands = lru_cache(BOARDS)(self._on_board)

    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """The decision after ``line`` on ``board``, for all hands, as `Decides` has it.

        Boards that are the same up to suits are solved once: what is stored for another one is turned onto this.
        """
        node, first, slots = self._node(line, board)
        player = node.player
        assert player is not None
        cards = board_cards(self.problem, node.round, board)
        held = self._hands(node.round, cards)
        found = self._frequencies(node, first, held, self._sums(node, held, slots))
        return Decision(
            node.line, cards, player, node.actions, self.problem.hands, held.players[player].hands, found
        )

    def chunk(self, line: str = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """All decisions of the chunk that ``line`` (``""``, or ending in ``/``) enters on ``board``, by one read.

        Before the first finished sweep play is uniform.

        Raises:
            InputError: as `decision`, but for that.
        """
        root = self._root(line)
        held = self._hands(root.round, board_cards(self.problem, root.round, board))
        decisions, slots = self._betting(line)
        sums = self._sums(root, held, slots) if self._has_swept() else _nothing(slots, held.n_rows)
        found = {at: self._frequencies(node, first, held, sums) for at, (node, first) in decisions.items()}
        first, second = held.players
        key = held.key(root.round, line)
        hands, rows = (first.hands, second.hands), (first.rows_of_hands, second.rows_of_hands)
        return ChunkPlay(chunk_nodes(root), held.history, key, hands, rows, found)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _frequencies(self, node: Node, first: int, held: _Board, sums: tuple[Floats, Floats]) -> Floats:
        """``[action, hand]`` of a decision, from what is stored of its chunk."""
        assert node.player is not None
        mine = held.players[node.player]
        taken = sums[node.player][first : first + len(node.actions)].astype(np.float64)
        for lock in self.problem.locks:
            if lock.line == node.line:
                lock.write(taken, held.history, mine.rows.hands)
        return normalised(taken)[:, mine.group]

    def _sums(self, node: Node, held: _Board, slots: tuple[int, int]) -> tuple[Floats, Floats]:
        """What is stored of the chunk that a node is in, per player ``[slot, row]``."""
        subject, dropped = f"line {node.line!r}: expected a strategy that is stored", self._reads.first
        if not self._has_swept():
            raise InputError(f"{subject}, found no finished sweep")
        n_rows = held.n_rows
        size = slots[0] * n_rows[0] + slots[1] * n_rows[1]
        if not size:  # nobody has a decision, or the board leaves neither player a hand
            return _nothing(slots, n_rows)
        key = held.key(node.round, entry_line(node.line))
        found = self._reads.get(Kind.SUMS, key)
        if found is None and dropped is not None and node.round >= dropped:
            raise dropped_error(subject, dropped, self.problem.game.num_rounds)
        return split(require_size(found, size, Kind.SUMS, key), slots, n_rows)

    def _has_swept(self) -> bool:
        """Whether a sweep was finished; it stays so."""
        self._swept = self._swept or saved_sweeps(self.store) > 0
        return self._swept

    def _on_board(self, t: int, cards: tuple[int, ...]) -> _Board:
        problem = self.problem
        history, perm = solved_board(problem, t, cards)
        moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
        players = []
        for rows in board_rows(problem, t, history):
            place = np.full(len(moved), -1)
            place[rows.hands] = np.arange(len(rows.hands))
            there = place[moved]
            hands = np.flatnonzero(there >= 0)
            players.append(_Held(rows, hands, there[hands], rows.group[there[hands]]))
        return _Board(history, (players[0], players[1]))


def _nothing(slots: tuple[int, int], n_rows: tuple[int, int]) -> tuple[Floats, Floats]:
    return np.zeros((slots[0], n_rows[0])), np.zeros((slots[1], n_rows[1]))


class _Held(NamedTuple):
    """A player's rows on a solved board; the hands of the board that was asked for, ascending.

    Of each the number among the solved board's hands, and the row of a strategy.
    """

    rows: BoardRows
    hands: Ints
    rows_of_hands: Ints
    group: Shorts


class _Board(NamedTuple):
    """The board that is solved for one that was asked for, and what the players hold there."""

    history: History
    players: tuple[_Held, _Held]

    @property
    def n_rows(self) -> tuple[int, int]:
        """Of both players' strategies."""
        return self.players[0].rows.n_groups, self.players[1].rows.n_groups

    def key(self, t: int, line: str) -> bytes:
        """Of the chunk that a line enters there."""
        return Place(t, self.history, line).key(self.n_rows)
