"""Average strategies, decision by decision, for bots and for `spewy.look`.

A `Policy` is one table of strategies keyed by round, board bucket and line. Two back ends hold it: the chunks of a
store (`spewy.records.chunk_policy`), where each board that differs by more than suits is a bucket of its own, and the
strategy locker of a whole game with board buckets (`spewy.records.bucket_policy`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from buckets.cards import History, blocked, cards_name, hand_name
from buckets.errors import CardError
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.locate import line_to, read_cards
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import chunk_exits, decision_slots
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Action, Node, decision_at, entry_line, find_node
from spewy.system import html
from spewy.system.closing import Closing

LINES, BOARDS = 256, 128
"""Number of betting rounds, by the line that enters them, and of boards that a policy caches: some 10 MB at most."""


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
        """Names of the hands, such as ``AsKh``."""
        return tuple(hand_name(cards) for cards in self.deck[self.hands])

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        after = f" after {self.line}" if self.line else ""
        title = f"{SEAT_NAMES[self.player]} to act on {cards_name(self.board) or 'no cards'}{after}"
        columns = ("hand", *(action.label for action in self.actions))
        return html.table(title, columns, zip(self.names, *self.frequencies.tolist(), strict=True))


class SolvedBoard(NamedTuple):
    """Chunk of a store that a strategy was read from.

    Attributes:
        history: public cards of the board that was solved in place of the requested one.
        key: key of the chunk in the lockers.
        rows: per player ``[hand]``, the number of each hand among those of the solved board.
    """

    history: History
    key: bytes
    rows: tuple[Ints, Ints]


@dataclass(frozen=True)
class ChunkPlay:
    """Strategies of both ranges in one chunk on one board.

    Attributes:
        nodes: nodes of the chunk's betting, the root first, in the order of `spewy.chunks.rounds.chunk_nodes`.
        hands: per player ``[hand]``, as `Decision.hands`.
        frequencies: by the line of each decision ``[action, hand]``, adding up to 1 over the actions.
        solved: the chunk in the store; None for a strategy locker, which has no values of chance leaves.
    """

    nodes: tuple[Node, ...]
    hands: tuple[Ints, Ints]
    frequencies: Mapping[str, Floats]
    solved: SolvedBoard | None = None

    @property
    def round(self) -> int:
        """Round of the game."""
        return self.nodes[0].round

    @cached_property
    def chance_leaves(self) -> list[str]:
        """Lines of the chance leaves, in the order in which their values are stored."""
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
        """Make decisions with a row for each hand from ``[action, hand of the deck]``."""
        return cls(frequencies, np.arange(frequencies.shape[1]))

    def of(self, hands: Ints | Shorts) -> Floats:
        """Return the strategies ``[action, hand]`` of some hands; 0 for hands that cannot be held."""
        rows = self.rows[hands]
        out: Floats = self.frequencies[:, rows]
        out[:, rows < 0] = 0.0
        return out


class Policy(Closing):
    """Average strategies, decision by decision.

    Args:
        problem: the game or spot that the strategies are for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._root = lru_cache(LINES)(lambda line: find_node(problem.tree.entered(line), line))
        self._betting = lru_cache(LINES)(self._entered)

    @property
    @abstractmethod
    def saved(self) -> int:
        """Number of sweeps, or of deals with board buckets, that the strategies average; 0 before the first save."""

    @abstractmethod
    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """Return the decision after ``line`` (from the solve's root) on ``board`` (default: the root's), for all hands.

        Raises:
            InputError: no such line, no decision there, a board that cannot follow, or nothing is stored for it.
        """

    @abstractmethod
    def chunk(self, line: str = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Return all decisions of the chunk that ``line`` (``""``, or ending in ``/``) enters on ``board``.

        Raises:
            InputError: as `decision`.
        """

    def board_bucket(self, t: int, board: str | Sequence[int] | None = None) -> int | None:
        """Return the board bucket of a board of round t; None if the game has no board buckets.

        Raises:
            InputError: a board that cannot be dealt.
        """
        return None

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """Return some decisions of one player and round on one board, faster than one by one.

        Raises:
            InputError: as `decision`.
        """
        found = [self.decision(line, board) for line in lines]
        rows = np.full(len(self.problem.hands), -1)
        rows[found[0].hands] = np.arange(len(found[0].hands))
        return Stacked(np.concatenate([each.frequencies for each in found]), rows)

    def node(self, line: str = "", board: str | Sequence[int] | None = None) -> Node:
        """Return the decision at a line of the betting tree on a board, without building later rounds.

        At the end of a round the line's last ``/`` can be left out if the board shows the next round's cards.

        Raises:
            InputError: no such line, or no decision there.
        """
        return self._node(line, board)[0]

    def entered(self, t: int) -> tuple[Node, ...]:
        """Return the nodes that start round t, in the order of the betting, all-in nodes included."""
        if t == self.problem.first_round:
            return (self._root(""),)
        return tuple(
            leaf.children[0] for node in self.entered(t - 1) for leaf in chunk_exits(self._root(node.line))
        )

    def frequencies(self, line: str, board: str | Sequence[int] | None, hand: str | Sequence[int]) -> Floats:
        """``[action]``: frequencies of a hand's actions at the decision after ``line`` on ``board``.

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
