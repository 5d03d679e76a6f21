"""From public cards as a person names them to the board that is solved for them."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from buckets.symmetry import permute_history
from spewy.chunks.boards import symmetries
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Ints
from spewy.errors import InputError, shown

N_CARDS = 52


def board_cards(layout: Layout, t: int, board: str | Sequence[int] | None) -> tuple[int, ...]:
    """The public cards of round t, root first; None stands for the root's board.

    Raises:
        InputError: no cards, another number of them than the round has, or not those of the root first.
    """
    root = tuple(card for group in layout.problem.history for card in group)
    if board is None:
        cards = root
    elif isinstance(board, str):
        try:
            cards = parse_cards(board)
        except CardError as error:
            raise InputError(f"board: {error}") from None
    else:
        cards = _numbers(board)
    needed = sum(layout.problem.game.num_board_cards[: layout.boards[t].round + 1])
    if len(cards) != needed:
        raise InputError(
            f"board: expected {needed} cards in this round, found {len(cards)} ({cards_name(cards) or 'none'})"
        )
    if set(cards[: len(root)]) != set(root):
        raise InputError(f"board: expected to begin with {cards_name(root)}, found {cards_name(cards)}")
    return cards


def _numbers(board: Sequence[int]) -> tuple[int, ...]:
    try:
        cards = tuple(operator.index(card) for card in board)
    except TypeError:
        cards = (-1,)
    if not all(0 <= card < N_CARDS for card in cards):
        raise InputError(f"board: expected text such as 'Qs Jh 2h', or cards' numbers, found {shown(board)}")
    return cards


def locate(layout: Layout, t: int, cards: Sequence[int]) -> tuple[int, Ints]:
    """The solved board of round t that stands for these cards, and the suit permutation onto it.

    Raises:
        InputError: these cards cannot be dealt.
    """
    problem = layout.problem
    history = problem.history
    position = sum(len(group) for group in history)
    for i in range(1, t + 1):
        dealt = problem.game.num_board_cards[layout.boards[i].round]
        if dealt:
            history = (*history, tuple(sorted(cards[position : position + dealt])))
        position += dealt
    for perm in symmetries(problem):
        b = layout.boards[t].numbers.get(permute_history(history, perm))
        if b is not None:
            return b, np.asarray(perm, dtype=np.int64)
    raise InputError(f"board: expected cards that can be dealt here, found {cards_name(cards)}")
