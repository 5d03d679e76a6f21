"""Text of Slumbot's protocol: the actions of a hand, and actions that are sent to the server.

The game is heads-up no-limit hold'em with blinds of 50 and 100 and stacks of 20,000 chips. A position is a player's
number as in the rest of the program: 0 is the big blind, 1 the button. The actions are ``k`` (check), ``c`` (call),
``f`` (fold) and ``bN`` (bet or raise to N chips *of this round*); a ``/`` stands between two rounds.

The server may raise by less than the smallest legal raise when a player is nearly all-in. Then a hand has two forms: as
it was played, and its *legal form*, in which each such raise is increased to the smallest legal raise. The bot is shown
the legal form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from buckets.cards import parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game, load_game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import read_action
from spewy.match.table import decisions

GAME = "holdem.nolimit.2p.reverse_blinds"
"""Name of the game that Slumbot plays."""
MOST_TEXT = 2000
"""Largest number of characters in the text of a hand's actions."""
_TOKEN = re.compile(r"[kcf/]|b[0-9]{1,9}")


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

    def incr(self, action: str) -> str:
        """Convert a legal ACPC action of the player to act to the text of the server's protocol."""
        return incr_text(self.hand, action, self.put_in_before)

    def played(self, action: str) -> str:
        """Translate an action from the hand's legal form to the hand as it was played.

        In the legal form, raises below the smallest legal raise are increased to that raise. In the translation a raise
        becomes the nearest legal raise; a call that the hand as played does not need becomes a check.
        """
        return read_action(self.hand, action)[0]


def slumbot_game() -> Game:
    """Load the game that Slumbot plays."""
    return load_game(GAME)


def incr_text(hand: Hand, action: str, put_in_before: int) -> str:
    """Convert an ACPC action to the text of Slumbot's protocol.

    Args:
        hand: the hand before the action.
        action: a legal ACPC action.
        put_in_before: chips that each player had put in before the round.

    >>> incr_text(Hand.start(slumbot_game()), "r300", 0), incr_text(Hand.start(slumbot_game()).apply("c"), "c", 0)
    ('b300', 'k')
    """
    if action.startswith("r"):
        return f"b{int(action[1:]) - put_in_before}"
    return "k" if action == "c" and not hand.betting.can_fold else action


def actions_text(hand: Hand) -> str:
    """Return all actions of a hand in the text of Slumbot's protocol, with a ``/`` between two rounds.

    >>> hand = Hand.start(slumbot_game()).apply("r300").apply("c")
    >>> actions_text(hand.deal(parse_cards("QsJh2h")).apply("r700"))
    'b300c/b400'
    """
    rounds = ["" for _ in hand.betting.rounds]
    before, now = 0, 0
    for state, action in decisions(hand):
        if state.betting.round != now:
            before, now = max(state.betting.spent), state.betting.round
        rounds[now] += incr_text(state, action, before)
    return "/".join(rounds)


def parse_incr(hand: Hand, incr: str, put_in_before: int) -> str:
    """Convert the text of an action in Slumbot's protocol to an ACPC action.

    Args:
        hand: a hand in which a player is to act.
        incr: text of the action, such as ``b300``.
        put_in_before: chips that each player had put in before the round.

    Raises:
        InputError: the text is no action, or the action is not legal; a raise below the smallest is allowed.
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


def replayed(game: Game, text: str, hole: tuple[HoleCards, HoleCards], board: tuple[int, ...]) -> Replayed:
    """Read a hand from the text of its actions in Slumbot's protocol.

    A ``/`` may be missing at the end of the text.

    Args:
        game: the game that is played.
        text: text of all actions, such as ``b300c/b400``.
        hole: the known hole cards of players 0 and 1.
        board: all public cards so far.

    Raises:
        InputError: the text is malformed, an action is illegal, or the cards do not fit the actions.
    """
    if len(text) > MOST_TEXT:
        raise InputError(f"actions {shown(text)}: expected at most {MOST_TEXT:,} characters")
    reading, position = _Reading(game, hole, board), 0
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
        subject: first words of error messages.

    Raises:
        InputError: the value is no list of cards, or has another length.
    """
    whole = isinstance(value, list) and all(isinstance(card, str) and len(card) == 2 for card in value)
    try:
        cards = parse_cards("".join(value), strict=True) if isinstance(value, list) and whole else None
    except CardError:
        cards = None
    if cards is None or number not in (None, len(cards)):
        many = "cards" if number is None else f"{number} cards"
        raise InputError(f"{subject}: expected a list of {many} such as Ac, found {shown(value)}")
    return cards


class _Reading:
    """Builds a hand action by action: as it was played, and in its legal form with legal raises only."""

    def __init__(self, game: Game, hole: tuple[HoleCards, HoleCards], board: tuple[int, ...]) -> None:
        self._hand = Hand.start(game, hole)
        self._legal: Hand | None = self._hand
        self._board, self._before, self._slashes = board, 0, 0
        self._short: list[str] = []

    def take(self, token: str) -> None:
        """Read an action or a ``/``."""
        if token == "/":
            if not self._slashes:
                raise InputError("expected an action, found '/' inside a round or after the hand")
            self._slashes -= 1
            return
        if self._slashes:
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
        self._legal = _followed(self._legal, action)
        self._hand = after
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


def _followed(legal: Hand | None, action: str) -> Hand | None:
    """Apply an action to a hand with legal raises only; a raise becomes the nearest legal raise.

    Returns:
        The hand after the action; None if ``legal`` is None, or nobody is to act in it.
    """
    if legal is None or legal.to_act is None:
        return None
    return legal.apply(read_action(legal, action)[0])
