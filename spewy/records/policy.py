"""Average strategies, decision by decision, for bots and for `spewy.look`.

A `Policy` returns the strategy at a betting line on a board. There are two kinds: `spewy.records.chunk_policy` reads
the chunks of a store, which has strategies for each canonical board; `spewy.records.bucket_policy` reads the strategy
locker of a whole game with board buckets.
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
from spewy.system.html import Printed, Table
from spewy.system.tools import Closing, kept_results

LINES, BOARDS = 256, 128
"""Number of chunks and number of boards that a policy caches, in some 10 MB at most."""


@dataclass(frozen=True, repr=False)
class Decision(Printed):
    """Strategy at one decision, for the range of the player to act.

    Attributes:
        line: ACPC betting string from the root of the solve.
        board: public cards, in `Game.board_order`.
        player: the player who acts.
        actions: the player's actions.
        deck: ``[hand, hole card]``, the cards of all hands of the deck.
        hands: ``[hand]``, numbers in ``deck`` of the player's possible hands, ascending: those in the initial range
            that the board does not block.
        frequencies: ``[action, hand]``, how often each hand of ``hands`` takes each action.
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

    def _table(self) -> Table:
        after = f" after {self.line}" if self.line else ""
        title = f"{SEAT_NAMES[self.player]} to act on {cards_name(self.board) or 'no cards'}{after}"
        columns = ("hand", *(action.label for action in self.actions))
        return Table(title, columns, tuple(zip(self.names, *self.frequencies.tolist(), strict=True)))


class SolvedBoard(NamedTuple):
    """The chunk of a store from which a strategy was read, on a board that equals the requested board up to suits.

    Attributes:
        history: public cards of the stored board.
        key: key of the chunk in the lockers.
        rows: per player ``[hand on the requested board]``, number, on the stored board, of the hand that equals it
            up to suits.
    """

    history: History
    key: bytes
    rows: tuple[Ints, Ints]


@dataclass(frozen=True)
class ChunkPlay:
    """Strategies of both ranges in one chunk on one board.

    Attributes:
        nodes: nodes of the chunk's betting, the root first, in the order of `spewy.chunks.rounds.chunk_nodes`.
        hands: per player ``[hand]``, ascending numbers of the possible hands among all hands of the deck.
        frequencies: strategy ``[action, hand]`` at each decision, by the decision's line.
        solved: the chunk in the store; None if the strategies come from a strategy locker.
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
        """Lines of the chunk's chance leaves, in the order in which their values are stored."""
        return [leaf.line for leaf in chunk_exits(self.nodes[0])]


class Stacked(NamedTuple):
    """Strategies of a player at several decisions of one round, on one board.

    Attributes:
        frequencies: ``[action, row]``, with the actions of the first decision, then of the second, and so on.
        rows: ``[hand of the deck]``, row of each hand; -1 for hands that the player cannot have.
    """

    frequencies: Floats
    rows: Ints

    @classmethod
    def by_hand(cls, frequencies: Floats) -> Stacked:
        """Make a `Stacked` from frequencies ``[action, hand of the deck]``; each hand has its own row."""
        return cls(frequencies, np.arange(frequencies.shape[1]))

    def of(self, hands: Ints | Shorts) -> Floats:
        """Return the frequencies ``[action, hand]`` of some hands; 0 for hands that the player cannot have.

        Args:
            hands: numbers of the hands in the deck.
        """
        rows = self.rows[hands]
        out: Floats = self.frequencies[:, rows]
        out[:, rows < 0] = 0.0
        return out


class Policy(Closing):
    """Reads average strategies, decision by decision.

    Args:
        problem: the game or spot that the strategies are for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._root = lru_cache(LINES)(lambda line: find_node(problem.tree.entered(line), line))
        self._betting = kept_results(LINES, self._entered)

    @property
    @abstractmethod
    def saved(self) -> int:
        """Number of sweeps, or of deals with board buckets, that the strategies average; 0 before the first save."""

    @abstractmethod
    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """Return the strategy of all hands at the decision after a line.

        Args:
            line: betting since the root of the solve.
            board: all public cards; None for the board of the root.

        Raises:
            InputError: the line does not exist or leads to no decision, the board is impossible after it, or its
                strategy is not stored.
        """

    @abstractmethod
    def chunk(self, line: str = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Return all strategies of the chunk that a line enters.

        Args:
            line: line that enters the chunk, ``""`` or ending in ``/``.
            board: all public cards; None for the board of the root.

        Raises:
            InputError: the line enters no chunk, the board is impossible after it, or its strategy is not stored.
        """

    def board_bucket(self, t: int, board: str | Sequence[int] | None = None) -> int | None:
        """Return the board bucket of a board in round t; None if the solve has no board buckets.

        Raises:
            InputError: the board cannot be dealt.
        """
        return None

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """Return the strategies at several decisions on one board, faster than one decision after another.

        Args:
            lines: lines of decisions of one player in one round.
            board: all public cards; None for the board of the root.

        Raises:
            InputError: a line leads to no decision, the board is impossible, or a strategy is not stored.
        """
        decisions = [self.decision(line, board) for line in lines]
        rows = np.full(len(self.problem.hands), -1)
        rows[decisions[0].hands] = np.arange(len(decisions[0].hands))
        return Stacked(np.concatenate([each.frequencies for each in decisions]), rows)

    def node(self, line: str = "", board: str | Sequence[int] | None = None) -> Node:
        """Return the node of the decision after a line; only the betting up to the decision's round is built.

        Args:
            line: betting since the root of the solve. At the end of a round the last ``/`` can be left out if the board
                has the cards of the next round.
            board: all public cards; None for the board of the root.

        Raises:
            InputError: the line does not exist, or leads to no decision.
        """
        return self._node(line, board)[0]

    def entered(self, t: int) -> tuple[Node, ...]:
        """Return the first nodes of round t, one for each line that enters the round, also after an all-in."""
        if t == self.problem.first_round:
            return (self._root(""),)
        return tuple(
            leaf.children[0] for node in self.entered(t - 1) for leaf in chunk_exits(self._root(node.line))
        )

    def frequencies(self, line: str, board: str | Sequence[int] | None, hand: str | Sequence[int]) -> Floats:
        """Return the frequencies of a hand's actions (an array ``[action]``) at the decision after a line on a board.

        Raises:
            InputError: `decision` refuses the line or the board, or the player to act cannot have the hand.
        """
        decision = self.decision(line, board)
        number = self._number(hand)
        place = int(np.searchsorted(decision.hands, number))
        if place == len(decision.hands) or decision.hands[place] != number:
            cards = self.problem.hands[number]
            dead = bool(blocked(cards[None], decision.board)[0])
            why = f"the board {cards_name(decision.board)} blocks it" if dead else "it is not in the range"
            raise InputError(
                f"hand {hand_name(cards)}: {SEAT_NAMES[decision.player]} cannot have it, since {why}"
            )
        out: Floats = decision.frequencies[:, place]
        return out

    def _node(self, line: str, board: str | Sequence[int] | None = None) -> tuple[Node, int, tuple[int, int]]:
        """Find the decision after a line.

        Returns:
            The decision; the number of its first action among all actions of its player in the chunk; and the number
            of these actions, for each player.
        """
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
