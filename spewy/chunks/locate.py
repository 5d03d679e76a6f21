"""Read the places that users name by a line and a board, and find the solved board that represents a board.

Functions take the cards of a board with the root's cards first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from buckets.cards import Deck, History, canonical, cards_name, deals, parse_cards, permute_cards
from buckets.errors import BoardError, CardError
from buckets.types import Ints
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Problem
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.nodes import Line, Node, entry_line, line_as_written, require_decision

N_CARDS = 52


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Place:
    """A node of the betting tree, and the public cards there: what a line and a board name.

    Places with equal lines and equal cards are equal.

    Attributes:
        node: the node, with the whole tree below it up to the end of its round.
        cards: all public cards at the node, in `Game.board_order`.
    """

    node: Node
    cards: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.line == other.line and self.cards == other.cards

    def __hash__(self) -> int:
        return hash((self.line, self.cards))

    def __repr__(self) -> str:
        return f"Place({self.line!r}, {cards_name(self.cards)!r})"

    @property
    def line(self) -> str:
        """ACPC betting string from the root of the solve."""
        return self.node.line

    @property
    def entry(self) -> str:
        """The line that enters the chunk of the node: ``""``, or ending in ``/``."""
        return entry_line(self.node.line)

    @property
    def round(self) -> int:
        """Round of the game; at a chance node, the round that has just ended."""
        return self.node.round


def place_at(
    problem: Problem,
    line: str,
    board: str | Sequence[int] | None = None,
    *,
    decision: bool = False,
    find: Callable[[str], Node] | None = None,
) -> Place:
    """Return the place after a line on a board (None: the root's).

    Args:
        decision: whether to refuse a place where nobody acts.
        find: function that returns the node after an ACPC betting string; None: `BettingTree.alone`.
    """
    node, cards = node_at(problem, line, board, decision=decision, find=find)
    return Place(node, _in_round(problem, node.round, cards))


def node_at(
    problem: Problem,
    line: str,
    board: str | Sequence[int] | None = None,
    *,
    decision: bool = False,
    find: Callable[[str], Node] | None = None,
) -> tuple[Node, tuple[int, ...] | None]:
    """Find the node that a line and a board name; return the node and the board's cards, which are not checked.

    If the line ends a round, and the board has the cards of the next round, the node is the first one of that round:
    ``x b120 c`` on the turn with a board of five cards leads to the first decision on the river.
    """
    find = problem.tree.alone if find is None else find
    written = read_line(problem.tree, line)
    cards = None if board is None else read_cards("board", "Qs Jh 2h", board)
    node = find(written)
    if cards is not None and node.kind == "chance":
        sizes = problem.game.board_sizes
        while node.kind == "chance" and sizes[node.round] < sizes[node.round + 1] <= len(cards):
            written = Line(f"{written}/", line_as_written(written))
            node = find(written)
    if decision:
        require_decision(node, written)
    return node, cards


def board_cards(problem: Problem, t: int, board: str | Sequence[int] | None) -> tuple[int, ...]:
    """Read a board of round ``t`` (None: the root's); return its cards, sorted within each round.

    The order is that of `Game.board_order`: high cards first.
    """
    return _in_round(problem, t, None if board is None else read_cards("board", "Qs Jh 2h", board))


def _in_round(problem: Problem, t: int, board: tuple[int, ...] | None) -> tuple[int, ...]:
    """Check that a board (None: the root's) fits round ``t`` of the game; return it in `Game.board_order`."""
    root = [card for group in problem.history for card in group]
    cards = problem.game.board_order(root) if board is None else board
    needed = sum(problem.game.num_board_cards[: t + 1])
    if len(cards) != needed:
        raise InputError(
            f"board: expected {needed} cards in this round, found {len(cards)} ({cards_name(cards) or 'none'})"
        )
    if set(cards[: len(root)]) != set(root):
        begin = cards_name(problem.game.board_order(root))
        raise InputError(f"board: expected to begin with {begin}, found {cards_name(cards)}")
    return problem.game.board_order((*root, *cards[len(root) :]))


def read_cards(subject: str, example: str, given: str | Sequence[int]) -> tuple[int, ...]:
    """Read cards from text or from their numbers; an error begins with ``subject`` and shows the text ``example``."""
    try:
        if isinstance(given, str):
            return parse_cards(given)
        cards = tuple(operator.index(card) for card in given)
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None
    except TypeError:
        cards = (-1,)
    if not all(0 <= card < N_CARDS for card in cards):
        raise InputError(
            f"{subject}: expected text such as {example!r}, or cards' numbers, found {shown(given)}"
        )
    return cards


def solved_board(problem: Problem, t: int, cards: Sequence[int]) -> tuple[History, Ints]:
    """Find the solved board that represents a board, and the suit permutation from the board onto the solved board.

    ``t`` is the round of the game. The result has the public cards of the solved board by round.
    """
    history = problem.history
    position = sum(len(group) for group in history)
    for dealt in problem.game.num_board_cards[problem.first_round + 1 : t + 1]:
        if dealt:
            history = (*history, tuple(cards[position : position + dealt]))
        position += dealt
    try:
        solved, perm = canonical(history, problem.game.deck, problem.symmetries)
    except BoardError:
        raise dealt_error(cards) from None
    return solved, perm.astype(np.int64)


def possible_deals(problem: Problem, t: int, cards: Sequence[int]) -> tuple[tuple[tuple[int, ...], int], ...]:
    """List the deals that can follow a board of round ``t`` of the game, those with high cards first.

    Each deal has its cards, the highest first, and the number of deals that it represents. A deal of several cards
    represents all deals that are equal up to suits; a single card represents only itself.
    """
    if problem.game.num_board_cards[t + 1] == 1:
        return tuple(((card,), 1) for card in reversed(problem.game.deck.cards) if card not in cards)
    history, perm = solved_board(problem, t, cards)
    symmetries = tuple(tuple(each) for each in problem.symmetries.tolist())
    firsts, counts = _distinct_deals(
        history, problem.game.num_board_cards[t + 1], problem.game.deck, symmetries
    )
    dealt = -np.sort(-permute_cards(firsts, np.argsort(perm)), axis=1)
    found = zip(map(tuple, dealt.tolist()), counts, strict=True)
    return tuple(sorted(found, reverse=True))


@lru_cache(maxsize=64)
def _distinct_deals(
    history: History, n_cards: int, deck: Deck, symmetries: tuple[tuple[int, ...], ...]
) -> tuple[Ints, list[int]]:
    """Return one deal for each set of deals that are equal up to suits, ``[deal, card]``, and the sizes of the sets."""
    found = deals(history, n_cards, deck, np.array(symmetries))
    return np.array([members[0][0] for _, members in found]), [len(members) for _, members in found]


def dealt_error(cards: Sequence[int]) -> InputError:
    return InputError(f"board: expected cards that can be dealt here, found {cards_name(cards)}")


def locate(layout: Layout, t: int, cards: Sequence[int]) -> tuple[int, Ints]:
    """Find the number of the solved board that represents a board, and the suit permutation onto the solved board.

    Here, ``t`` counts from the root's round.
    """
    table = layout.boards[t]
    history, perm = solved_board(layout.problem, table.round, cards)
    return table.numbers[history], perm
