"""UPAC's games by its rules: hands of no-limit hold'em with blinds 1 and 2 whose stacks are carried over.

Everything here is text and state; `spewy.competitions.upac.seats` hears and answers the lines. Seat 0 is the defender,
who has the small blind in the first round and hears every line first. A reply that is not of the protocol ends the
game: its bot has nothing, the other all. All that was pushed goes no higher than the smaller stack.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from buckets.cards import card_name, strength
from spewy.errors import InputError, shown

SMALL_BLIND, BIG_BLIND = 1, 2
MOST_CHIPS = 10**6
_STREETS = (("FLOP", 0, 3), ("TURN", 3, 4), ("RIVER", 4, 5))
_REPLY = re.compile(r"F|C|R[0-9]{1,10}")
_MOST_RAISE = 2**32 - 1


class Line(NamedTuple):
    """A line for one seat, and whether an answer is due."""

    seat: int
    text: str
    asks: bool = False


@dataclass(frozen=True)
class Rules:
    """What is played.

    Attributes:
        chips: of each bot at first.
        rounds: at most.
        most: chips that may be pushed in a hand; None: no such limit.
        old_labels: whether START tells the other blind, as the engine did before October 2023.
    """

    chips: int = 50
    rounds: int = 100
    most: int | None = None
    old_labels: bool = False

    def __post_init__(self) -> None:
        for name, value, least in (
            ("chips", self.chips, 1),
            ("rounds", self.rounds, 1),
            ("most", self.most, 2),
        ):
            if value is not None and not least <= value <= MOST_CHIPS:
                raise InputError(f"{name}: expected {least} to {MOST_CHIPS:,}, found {shown(value)}")


@dataclass(frozen=True)
class Cards:
    """The cards of one hand: of both seats, and the board."""

    hole: tuple[tuple[int, int], tuple[int, int]]
    board: tuple[int, int, int, int, int]


class BadReplyError(Exception):
    """A reply that ends the game.

    Attributes:
        seat: whose it was.
    """

    def __init__(self, seat: int, text: str) -> None:
        super().__init__(text)
        self.seat = seat


Talk = Generator[Line, str, tuple[int, int]]
"""Lines, for each that asks the reply is sent in; at last what both stacks are."""


def dealt(rng: Random) -> Cards:
    """The cards of the next hand."""
    deck = list(range(52))
    rng.shuffle(deck)
    a, b, c, d, *rest = deck[:9]
    return Cards(((a, b), (c, d)), (rest[0], rest[1], rest[2], rest[3], rest[4]))


def play_hand(rules: Rules, cards: Cards, stacks: tuple[int, int], button: int) -> Talk:
    """One hand.

    Args:
        rules: of the game.
        cards: of the hand.
        stacks: of both seats.
        button: the seat that has the small blind.

    Raises:
        BadReplyError: a reply is none.
    """
    hand = _Hand(rules, cards, stacks, button)
    for seat in (0, 1):
        yield Line(seat, f"START {hand.label(seat, of_start=True)}")
    for seat in (0, 1):
        yield Line(seat, f"PREFLOP {_names(cards.hole[seat])}")
    folded = yield from hand.betting(first=button)
    for word, begin, end in _STREETS:
        if folded is not None:
            break
        for seat in (0, 1):
            yield Line(seat, f"{word} {_names(cards.board[begin:end])}")
        folded = yield from hand.betting(first=1 - button)
    for seat, text in enumerate(hand.endings(folded)):
        yield Line(seat, text)
    return hand.paid(folded)


class _Hand:
    """A hand while it is played."""

    def __init__(self, rules: Rules, cards: Cards, stacks: tuple[int, int], button: int) -> None:
        self._cards, self._stacks, self._button = cards, stacks, button
        self._most = min(*stacks, rules.most or MOST_CHIPS)
        self._old_labels = rules.old_labels
        self._aggressor = 1 - button
        self.pushed = [min(stack, BIG_BLIND) for stack in stacks]
        self.pushed[button] = SMALL_BLIND

    def label(self, seat: int, *, of_start: bool = False) -> str:
        """``SB`` or ``BB``."""
        small = (seat == self._button) != (of_start and self._old_labels)
        return "SB" if small else "BB"

    def betting(self, first: int) -> Generator[Line, str, int | None]:
        """A betting round; the seat that folded."""
        seat, acted = first, 0
        while acted < 2 or self.pushed[0] != self.pushed[1]:
            other = 1 - seat
            numbers = self.pushed[seat], self._stacks[seat], self.pushed[other], self._stacks[other]
            reply = yield Line(seat, "STACK {} {} {} {}".format(*numbers), asks=True)
            raised = _read(seat, reply)
            if raised is None:
                return seat
            if raised:
                self._aggressor = seat
            self.pushed[seat] = min(self.pushed[other] + raised, self._most)
            seat, acted = other, acted + 1
        return None

    def endings(self, folded: int | None) -> tuple[str, str]:
        """What both seats hear at the end."""
        if folded is not None:
            return (text := f"END FOLD {self.label(folded)}"), text
        winner = self._winner()
        shown_to = [f"{_names(self._cards.hole[1 - seat])}" for seat in (0, 1)]
        if winner is None:
            return f"END SHOWDOWN TIE {shown_to[0]}", f"END SHOWDOWN TIE {shown_to[1]}"
        told = [f"END SHOWDOWN WINNER {self.label(winner)} SHOWN {cards}" for cards in shown_to]
        if self._aggressor == winner:
            told[winner] = f"END SHOWDOWN WINNER {self.label(winner)} HIDDEN"
        return told[0], told[1]

    def paid(self, folded: int | None) -> tuple[int, int]:
        """Both stacks after the hand."""
        winner = self._winner() if folded is None else 1 - folded
        if winner is None:
            return self._stacks
        lost = min(self.pushed[1 - winner], self._most)
        after = [stack - lost for stack in self._stacks]
        after[winner] += 2 * lost
        return after[0], after[1]

    def _winner(self) -> int | None:
        first, second = strength(self._cards.board, self._cards.hole).tolist()
        return None if first == second else 0 if first > second else 1


def _read(seat: int, reply: str) -> int | None:
    """Chips that a reply raises by; None: it folds."""
    text = reply.strip()
    if not _REPLY.fullmatch(text) or (text[0] == "R" and int(text[1:]) > _MOST_RAISE):
        raise BadReplyError(seat, f"expected F, C or R and a number, found {shown(reply)}")
    return None if text == "F" else int(text[1:] or 0)


def _names(cards: tuple[int, ...]) -> str:
    return " ".join(map(card_name, cards))
