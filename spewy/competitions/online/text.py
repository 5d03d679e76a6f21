"""Text of the hands of a server: the actions that are sent to it, and the hands that it describes.

The game is heads-up no-limit hold'em with blinds of 50 and 100 and stacks of 20,000 chips. A position is a player's
number as in the rest of the program: 0 is the big blind, 1 the button. The actions are ``k`` (check), ``c`` (call),
``f`` (fold) and ``bN`` (bet or raise to N chips *of this round*); a ``/`` stands between two rounds.

The server may raise by less than the smallest legal raise when a player is nearly all-in. Then a hand has two forms: as
it was played, and its *legal form*, in which each such raise is increased to the smallest legal raise. The bot is shown
the legal form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from buckets.cards import parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game, load_game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import read_action

GAME = "holdem.nolimit.2p.reverse_blinds"
"""Name of the game that all servers play."""
MOST_TEXT = 2000
"""Largest number of characters in the text of a hand's actions."""
MOST_CHIPS = 10**12
_TOKEN = re.compile(r"[kcf/]|b[0-9]{1,9}")
_ACTION = re.compile(r"[kcf]|b[0-9]+")


@dataclass(frozen=True)
class Replayed:
    """A hand that was read from the text of its actions.

    Attributes:
        hand: the hand as it was played; a raise in it may be below the smallest legal raise.
        legal: the hand with every such raise increased to the smallest legal raise; None if these larger raises would
            have ended the hand, or a round, earlier.
        put_in_before: chips that each player had put in before the current round.
        short: descriptions of the raises below the smallest legal raise.
    """

    hand: Hand
    legal: Hand | None
    put_in_before: int
    short: tuple[str, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether the known cards say who wins: somebody has folded, or both players' cards are known."""
        return self.hand.betting.folded is not None or None not in self.hand.hole

    def incr(self, action: str) -> str:
        """Convert a legal ACPC action of the player to act to the text of the server's protocol."""
        return incr_text(self.hand, action, self.put_in_before)


def online_game() -> Game:
    return load_game(GAME)


def incr_text(hand: Hand, action: str, put_in_before: int) -> str:
    """Convert an ACPC action to the text of an action, as servers write it.

    >>> incr_text(Hand.start(online_game()), "r300", 0), incr_text(Hand.start(online_game()).apply("c"), "c", 0)
    ('b300', 'k')
    """
    if action.startswith("r"):
        return f"b{int(action[1:]) - put_in_before}"
    return "k" if action == "c" and not hand.betting.can_fold else action


def parse_incr(hand: Hand, incr: str, put_in_before: int) -> str:
    """Convert the text of an action, as servers write it, to an ACPC action.

    The action must be legal, but a raise may be below the smallest legal raise.
    """
    betting = hand.betting
    subject = f"action {shown(incr)}"
    if not _TOKEN.fullmatch(incr) or incr == "/":
        raise InputError(f"{subject}: expected k, c, f or b with a number")
    if incr == "k" and betting.can_fold:
        raise InputError(f"{subject}: a check where a bet must be answered")
    if incr in ("c", "f") and not betting.can_fold:
        raise InputError(f"{subject}: a {'call' if incr == 'c' else 'fold'} where there is no bet")
    if not incr.startswith("b"):
        return "f" if incr == "f" else "c"
    bounds, total = betting.raise_bounds(), put_in_before + int(incr[1:])
    if bounds is None or not max(betting.spent) < total <= bounds[1]:
        most = "none is legal" if bounds is None else f"the most is {bounds[1] - put_in_before}"
        raise InputError(f"{subject}: a bet that is not legal ({most})")
    return f"r{total}"


def replayed(
    game: Game, text: str, hole: tuple[HoleCards, HoleCards], board: tuple[int, ...], marks: bool = True
) -> Replayed:
    """Read a hand from the text of its actions; a ``/`` may be missing at the end of the text.

    Args:
        marks: whether a ``/`` must stand between two rounds, and nowhere else; otherwise each ``/`` is skipped.
    """
    if len(text) > MOST_TEXT:
        raise InputError(f"actions {shown(text)}: expected at most {MOST_TEXT:,} characters")
    reading, position = _Reading(game, hole, board, marks), 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        try:
            if match is None:
                raise InputError(f"expected k, c, f, / or b with a number, found {shown(text[position])}")
            reading.take(match.group())
        except InputError as error:
            raise InputError(f"actions {shown(text)}, position {position}: {error}") from None
        position = match.end()
    return reading.end()


def read_cards(value: object, number: int | None, subject: str) -> tuple[int, ...]:
    """Read a list of cards.

    Args:
        value: the list, such as ``["Ac", "9d"]``.
        number: number of cards; None: any number.
        subject: name of the list, with which an error message begins.
    """
    cards = None
    if isinstance(value, list) and all(isinstance(card, str) and len(card) == 2 for card in value):
        with suppress(CardError):
            cards = parse_cards("".join(value), strict=True)
    if cards is None or number not in (None, len(cards)):
        many = "cards" if number is None else f"{number} cards"
        raise InputError(f"{subject}: expected a list of {many} such as Ac, found {shown(value)}")
    return cards


class _Reading:
    """Builds a hand action by action: as it was played, and in its legal form with legal raises only."""

    def __init__(
        self, game: Game, hole: tuple[HoleCards, HoleCards], board: tuple[int, ...], marks: bool
    ) -> None:
        self._hand = Hand.start(game, hole)
        self._marks = marks
        self._legal: Hand | None = self._hand
        self._board, self._before, self._slashes = board, 0, 0
        self._short: list[str] = []

    def take(self, token: str) -> None:
        if not self._marks and token == "/":
            return
        if token == "/":
            if not self._slashes:
                raise InputError("expected an action, found '/' inside a round or after the hand")
            self._slashes -= 1
            return
        if self._slashes and self._marks:
            raise InputError(f"expected '/' after a round, found {shown(token)}")
        self._deal()
        if self._hand.to_act is None:
            raise InputError(f"expected no action after the end of the hand, found {shown(token)}")
        self._act(parse_incr(self._hand, token, self._before))

    def end(self) -> Replayed:
        """Deal the public cards that are not dealt yet, and return the hand."""
        self._deal()
        dealt = len(self._hand.board)
        if dealt < len(self._board):
            raise InputError(
                f"board: expected {dealt} cards after the actions {shown(self._hand.betting.line)}, "
                f"found {len(self._board)}"
            )
        legal = self._hand if not self._short else self._legal
        return Replayed(self._hand, legal, self._before, tuple(self._short))

    def _act(self, action: str) -> None:
        betting, before = self._hand.betting, self._hand.betting.round
        bounds = betting.raise_bounds()
        if action.startswith("r") and bounds is not None and int(action[1:]) < bounds[0]:
            total = int(action[1:])
            self._short.append(f"raise to {total}, below the smallest legal raise to {bounds[0]}")
            after = replace(self._hand, betting=betting.raised(total))
        else:
            after = self._hand.apply(action)
        self._hand, legal = after, self._legal
        playing = legal is not None and legal.to_act is not None
        self._legal = legal.apply(read_action(legal, action)[0]) if legal is not None and playing else None
        self._slashes = after.betting.round - before
        if self._slashes and after.betting.to_act is not None:
            self._before = max(after.betting.spent)
        if self._legal is not None and self._legal.betting.round != after.betting.round:
            self._legal = None

    def _deal(self) -> None:
        while size := self._hand.to_deal:
            cards = self._board[len(self._hand.board) : len(self._hand.board) + size]
            self._hand = self._hand.deal(cards)
            if self._legal is not None and self._legal.to_deal:
                self._legal = self._legal.deal(cards)


@dataclass(frozen=True)
class Answer:
    """A state of a hand as a server sends it to the client.

    Attributes:
        action: the actions so far, as servers write them.
        position: the client's player number: 0 is the big blind, 1 the button.
        played: the hand with all actions so far and the known cards.
        winnings: chips that the client has won; None while the hand goes on.
        estimate: the server's own figure beside the winnings, in chips (`Results.estimates`); None if unknown.
        token: the session's token; None: the server sends none.
    """

    action: str
    position: int
    played: Replayed
    winnings: int | None = None
    estimate: float | None = None
    token: str | None = None

    @property
    def is_over(self) -> bool:
        return self.winnings is not None

    @property
    def tokens(self) -> list[str]:
        """The actions so far, one by one."""
        return _ACTION.findall(self.action)

    @property
    def own_actions(self) -> int:
        """Number of the client's actions so far."""
        betting = self.played.hand.betting
        firsts = betting.game.first_player[: len(betting.rounds)]
        return sum(
            (first + n) % 2 == self.position
            for first, actions in zip(firsts, betting.rounds, strict=True)
            for n in range(len(actions))
        )


def check_turn(played: Replayed, action: str, position: int, winnings: int | None) -> None:
    """Check that the client is to act, or that the hand is over and the client has won what the rules say."""
    hand = played.hand
    if winnings is None:
        if hand.is_over:
            raise InputError(f"winnings: expected those of a hand that is over, {shown(action)}, found none")
        if hand.to_act != position:
            raise InputError(f"state {shown(action)} out of order: it is not the client's turn")
        return
    if not hand.is_over:
        raise InputError(f"state {shown(action)} out of order: it has winnings, but the hand is not over")
    won = hand.net()[position]
    if winnings != won:
        raise InputError(f"winnings after {shown(action)}: expected {won}, found {winnings}")


def read_text_field(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a text, found {shown(value)}")
    return value


def read_whole(fields: Mapping[str, Any], name: str) -> int:
    value: Any = fields.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and abs(value) <= MOST_CHIPS and value == int(value)):
        raise InputError(f"{name}: expected a whole number, found {shown(value)}")
    return int(value)
