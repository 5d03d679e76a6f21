"""UPAC's rules: hands of no-limit hold'em with blinds 1 and 2, and stacks that carry over to the next hand.

This module handles text and state only; `spewy.competitions.upac.games` sends the lines to bots. Seat 0 is the
defender, who has the small blind in the first round and receives every line first. An invalid reply ends the game, and
its bot loses all chips. No player puts in more than the smaller stack. A raise may add any number of chips, without the
minimum raise of poker's rules. Therefore `spewy.match.table.Table` cannot play these hands.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from buckets.cards import card_name, strength
from spewy.errors import InputError, PeerError, shown

SMALL_BLIND, BIG_BLIND = 1, 2
MOST_CHIPS = 10**6
_STREETS = (("FLOP", 0, 3), ("TURN", 3, 4), ("RIVER", 4, 5))
_REPLY = re.compile(r"F|C|R[0-9]{1,10}")
_MOST_RAISE = 2**32 - 1


class Line(NamedTuple):
    """A line of text that the competition's engine sends to the bot in one seat."""

    seat: int
    text: str
    asks: bool = False


@dataclass(frozen=True)
class Rules:
    """The rules of a UPAC game that can be varied.

    Attributes:
        most: largest number of chips that a player may put in during a hand; None: no limit.
        old_labels: whether the line START names the opponent's blind instead of the receiver's, as the
            competition's engine did before October 2023.
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
    """The cards of one hand."""

    hole: tuple[tuple[int, int], tuple[int, int]]
    board: tuple[int, int, int, int, int]


class BadReplyError(PeerError):
    """A reply was invalid, which ends the game."""

    def __init__(self, seat: int, text: str) -> None:
        super().__init__(text)
        self.seat = seat

    def __reduce__(self) -> tuple[type[BadReplyError], tuple[int, str]]:
        return type(self), (self.seat, str(self))


Lines = Generator[Line, str, tuple[int, int]]
"""Generator that yields lines, receives the replies to lines that ask, and returns both stacks."""


def dealt(rng: Random) -> Cards:
    """Draw both seats' hole cards and a final board from a shuffled deck."""
    deck = list(range(52))
    rng.shuffle(deck)
    a, b, c, d, *rest = deck[:9]
    return Cards(((a, b), (c, d)), (rest[0], rest[1], rest[2], rest[3], rest[4]))


def play_hand(rules: Rules, cards: Cards, stacks: tuple[int, int], button: int) -> Lines:
    """Play one hand: a generator of the lines to send, which receives the bots' replies.

    Yields:
        The lines for both seats; if a line asks for a reply, the caller sends the reply to the generator.

    Returns:
        The stacks of both seats after the hand.
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
    def __init__(self, rules: Rules, cards: Cards, stacks: tuple[int, int], button: int) -> None:
        self._cards, self._stacks, self._button = cards, stacks, button
        self._most = min(*stacks, rules.most or MOST_CHIPS)
        self._old_labels = rules.old_labels
        self._aggressor = 1 - button
        self.pushed = [min(stack, BIG_BLIND) for stack in stacks]
        self.pushed[button] = SMALL_BLIND

    def label(self, seat: int, *, of_start: bool = False) -> str:
        """Return the blind of a seat, ``SB`` or ``BB``; in START by the old rules, the blind of its opponent."""
        small = (seat == self._button) != (of_start and self._old_labels)
        return "SB" if small else "BB"

    def betting(self, first: int) -> Generator[Line, str, int | None]:
        """Play a betting round, in which seat ``first`` acts first; return the seat that folded, or None."""
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
        """Return each seat's last line, after a fold of seat ``folded``, or after a showdown if it is None."""
        if folded is not None:
            return (text := f"END FOLD {self.label(folded)}"), text
        winner = self._winner()
        shown_to = [f"{_names(self._cards.hole[1 - seat])}" for seat in (0, 1)]
        if winner is None:
            return f"END SHOWDOWN TIE {shown_to[0]}", f"END SHOWDOWN TIE {shown_to[1]}"
        lines = [f"END SHOWDOWN WINNER {self.label(winner)} SHOWN {cards}" for cards in shown_to]
        if self._aggressor == winner:
            lines[winner] = f"END SHOWDOWN WINNER {self.label(winner)} HIDDEN"
        return lines[0], lines[1]

    def paid(self, folded: int | None) -> tuple[int, int]:
        """Return both seats' stacks after a hand that ended by a fold of seat ``folded``; None: by a showdown."""
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
    """Return the number of chips that a reply raises by: 0 for a check or call, None for a fold."""
    text = reply.strip()
    if not _REPLY.fullmatch(text) or (text[0] == "R" and int(text[1:]) > _MOST_RAISE):
        raise BadReplyError(seat, f"expected F, C or R and a number, found {shown(reply)}")
    return None if text == "F" else int(text[1:] or 0)


def _names(cards: tuple[int, ...]) -> str:
    return " ".join(map(card_name, cards))
