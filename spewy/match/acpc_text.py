"""Text of the ACPC's protocol 2.0.0: match states, replies and lines of a match's log.

This module knows neither sockets nor strategies. The parsers accept only text in canonical form, and raise an
`InputError` for any other text. Positions are players' numbers: 0 is the big blind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, short, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards

VERSION = "VERSION:2.0.0"
"""First line that a client sends."""
COMMENTS = ("#", ";")
"""First characters of lines that are no messages of a match: comments, and lines for user interfaces."""
MOST_TOLD = 200
"""Largest number of characters of a line that an error quotes."""

_NUMBER = re.compile(r"[0-9]{1,10}")
_VERSION = re.compile(r"VERSION:[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")
_TOKEN = re.compile(r"[fc]|r[0-9]{0,18}")
_AMOUNT = re.compile(r"\s*([+-]?)([0-9]+)")
_MOST_DIGITS = 18
"""Largest number of digits of an amount; no stack has as many."""


@dataclass(frozen=True)
class MatchState:
    """A state of a hand as a dealer sends it to one player.

    Attributes:
        position: number of the player who receives the state.
        hand: the hand, with the cards that the receiver may see.
        text: the dealer's line, which a reply repeats.
    """

    position: int
    number: int
    hand: Hand
    text: str

    @property
    def is_asking(self) -> bool:
        return self.hand.to_act == self.position

    def reply(self, action: str) -> str:
        """Return the line with which a client answers this state by a legal action."""
        self.hand.apply(action)
        return f"{self.text}:{action}"


def is_comment(line: bytes) -> bool:
    """Whether a line is empty, a comment, or meant for a user interface."""
    return not line.strip() or line.lstrip().startswith(tuple(mark.encode() for mark in COMMENTS))


def parse_version(line: bytes) -> str:
    """Read the version of the protocol in a client's first line."""
    text = _text("first line of a client", line).strip()
    if not _VERSION.fullmatch(text):
        raise InputError(f"first line of a client: expected {VERSION}, found {shown(text)}")
    return text


def is_spoken(version: str) -> bool:
    """Whether a version read by `parse_version` is supported; versions 2.x.y are.

    >>> is_spoken("VERSION:2.0.1"), is_spoken("VERSION:1.0.0")
    (True, False)
    """
    return version.partition(".")[0] == VERSION.partition(".")[0]


def parse_state(game: Game, line: bytes | str) -> MatchState:
    """Read a ``MATCHSTATE`` line, by which a dealer sends the state of a hand.

    >>> from spewy.game.gamefile import load_game
    >>> game = load_game("holdem.limit.2p.reverse_blinds")
    >>> state = parse_state(game, "MATCHSTATE:1:0:rc/r:|9hQd/8dAs8s")
    >>> state.is_asking, state.hand.betting.spent, state.reply("c")
    (True, (30, 20), 'MATCHSTATE:1:0:rc/r:|9hQd/8dAs8s:c')
    """
    subject = "match state"
    text = _text(subject, line)
    fields = text.split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise InputError(f"{subject}: expected MATCHSTATE:position:hand:betting:cards, found {shown(text)}")
    position, number = _number(f"{subject}, position", fields[1]), _number(f"{subject}, hand", fields[2])
    if position > 1:
        raise InputError(f"{subject}, position: expected 0 or 1, found {position}")
    hand = _hand(game, subject, fields[3], fields[4])
    if hand.hole[position] is None:
        raise InputError(f"{subject}: expected the cards of player {position}, found {shown(text)}")
    state = MatchState(position, number, hand, text)
    _require_same(subject, text, f"MATCHSTATE:{position}:{number}:{hand.betting.line}:{cards_text(hand)}")
    return state


def state_text(hand: Hand, position: int, number: int) -> str:
    """Return the line by which a dealer sends the state of hand ``number`` to the player in ``position``."""
    return f"MATCHSTATE:{position}:{number}:{hand.betting.line}:{cards_text(hand.seen_by(position))}"


def cards_text(hand: Hand) -> str:
    """Format the cards of a hand: known hole cards, then the public cards of each round that was reached.

    >>> from spewy.game.gamefile import load_game
    >>> hand = Hand.start(load_game("kuhn"), (None, (51,)))
    >>> cards_text(hand)
    '|As'
    """
    text = "|".join("" if cards is None else cards_name(cards) for cards in hand.hole)
    for before, size in pairwise(hand.game.board_sizes[: len(hand.betting.rounds)]):
        text += "/" + cards_name(hand.board[before:size])
    return text


def read_reply(sent: str, line: bytes) -> str | None:
    """Read a client's answer to a state: the text after a copy of the state and a colon.

    The opponent's cards in the copy are not compared.

    Args:
        sent: line of the state that the dealer has sent to the client.

    Returns:
        The answer, which may be empty; None if the line does not answer this state.
    """
    fields = line.decode("ascii", errors="replace").split(":", 5)
    asked = sent.split(":")
    position = int(asked[1])
    if len(fields) < 5 or fields[:4] != asked[:4] or _seen(fields[4], position) != _seen(asked[4], position):
        return None
    return fields[5] if len(fields) == 6 else ""


def read_action(hand: Hand, answer: str, free_folds: bool = False) -> tuple[str, str | None]:
    """Return the legal action that a client's answer stands for, and what is wrong with the answer.

    Args:
        answer: the client's answer; text after the action is ignored.

    Returns:
        The action (``f``, ``c``, ``r`` or ``r`` with a total), and a text about what is wrong, or None for a legal
        answer.
    """
    letter = answer[:1].lower()
    if letter and letter in "ck":
        return "c", None
    if letter == "f":
        if hand.betting.can_fold or free_folds:
            return "f", None
        return "c", "a fold where a check is free"
    if letter and letter in "rb":
        return _read_raise(hand, answer[1:])
    return "c", f"no action, {shown(answer)}"


def _read_raise(hand: Hand, rest: str) -> tuple[str, str | None]:
    bounds = hand.betting.raise_bounds()
    if bounds is None:
        return "c", "a raise where none is legal"
    if hand.game.limit:
        return "r", None
    amount = _AMOUNT.match(rest)
    if amount is None:
        return "c", "a raise without a number"
    digits = amount[2].lstrip("0")
    asked = int(digits[:_MOST_DIGITS] or "0") if len(digits) <= _MOST_DIGITS else bounds[1] + 1
    total = min(max(-asked if amount[1] == "-" else asked, bounds[0]), bounds[1])
    wrong = None if total == asked and amount[1] != "-" else f"a raise to {shown(amount[0])}"
    return f"r{total}", wrong


@dataclass(frozen=True)
class Origin:
    """Facts about a poker room's hand before the flop that the betting of the two later players does not show.

    Attributes:
        positions: seats of players 0 and 1 at the table, such as "BB" and "CO".
        depth: the smaller of these players' stacks at the deal, in big blinds.
        actions: calls and raises before the flop as (seat, "call" or "raise", total in big blinds), if
            the hand lacks them and begins as if each of the two had put in half of the pot and checked; else None.
        extra: chips that each player won beyond `Hand.net`, since others folded; None: the result is unknown, since the
            board was dealt more than once.
        players: number of players at the deal.
    """

    positions: tuple[str, str]
    depth: float
    actions: tuple[tuple[str, str, float], ...] | None = None
    extra: tuple[int, int] | None = (0, 0)
    players: int = 2


@dataclass(frozen=True)
class LoggedHand:
    """A finished hand from a match's log, or from another record of hands.

    Attributes:
        hand: the hand with all known cards.
        names: names of the players, in the order of their positions in this hand.
        origin: how the hand came to two players; None: it was a hand of two players from the start.
    """

    number: int
    hand: Hand
    names: tuple[str, str]
    origin: Origin | None = None

    def __repr__(self) -> str:
        return f"LoggedHand({self.text!r})"

    @property
    def big_blind(self) -> int:
        """The big blind in chips, without antes."""
        return self.hand.betting.min_bet

    def won(self) -> tuple[int, int] | None:
        """Return the chips that each player has won; None if the result is unknown."""
        extra = (0, 0) if self.origin is None else self.origin.extra
        if extra is None or (self.hand.betting.folded is None and None in self.hand.hole):
            return None
        first, second = self.hand.net()
        return first + extra[0], second + extra[1]

    @property
    def text(self) -> str:
        """The hand's line in the log: ``STATE:hand:betting:cards:chips won:names``."""
        values = "|".join(str(chips) for chips in self.hand.net())
        cards = cards_text(self.hand)
        return f"STATE:{self.number}:{self.hand.betting.line}:{cards}:{values}:{'|'.join(self.names)}"


@dataclass(frozen=True)
class UnreadHand:
    """A hand of a file that cannot be read, or that has no betting of exactly two players after the flop.

    Attributes:
        read: whether the hand could be read, so that only the betting of two players is missing.
    """

    number: int
    reason: str
    read: bool = False


class NotTwoPlayersError(InputError):
    """A hand was read, but has no betting of exactly two players after the flop."""


def parse_logged(game: Game, line: bytes | str) -> LoggedHand:
    """Read a ``STATE`` line of a match's log.

    >>> from spewy.game.gamefile import load_game
    >>> text = "STATE:0:rc/rc/rrc/rc:5d5c|9hQd/8dAs8s/4h/6d:90|-90:Alice|Bob"
    >>> hand = parse_logged(load_game("holdem.limit.2p.reverse_blinds"), text)
    >>> hand.hand.net(), hand.text == text
    ((90, -90), True)
    """
    subject = "log line"
    text = _text(subject, line)
    fields = text.split(":")
    if len(fields) != 6 or fields[0] != "STATE":
        raise InputError(f"{subject}: expected STATE:hand:betting:cards:values:names, found {shown(text)}")
    hand = _hand(game, subject, fields[2], fields[3])
    if not hand.is_over:
        raise InputError(f"{subject}: expected a hand that is over, found {shown(fields[2])}")
    logged = LoggedHand(_number(f"{subject}, hand", fields[1]), hand, _names(subject, fields[5]))
    _require_same(subject, text, logged.text)
    return logged


@dataclass(frozen=True)
class FinalScore:
    """The last line of a match's log: the chips that each player won in the match."""

    totals: tuple[int, int]
    names: tuple[str, str]

    @property
    def text(self) -> str:
        """The log's line ``SCORE:chips|chips:name|name`` with the chips that each player won."""
        return f"SCORE:{'|'.join(map(str, self.totals))}:{'|'.join(self.names)}"


def check_name(name: str) -> str:
    """Return a player's name unchanged, or raise an error if logs cannot hold it."""
    if not re.fullmatch(r"[!-9;-{}~]{1,100}", name):
        raise InputError(
            f"player's name: expected 1 to 100 plain characters other than ':' and '|', found {shown(name)}"
        )
    return name


def _hand(game: Game, subject: str, line: str, cards: str) -> Hand:
    """Build a hand from its betting string and its cards; folds are accepted even when checking is free."""
    held, *groups = cards.split("/")
    owners = held.split("|")
    if len(owners) != 2:
        raise InputError(f"{subject}, cards: expected hole cards as cards|cards, found {shown(cards)}")
    rounds = line.split("/")
    if len(groups) != len(rounds) - 1:
        raise InputError(
            f"{subject}: expected cards of {len(rounds) - 1} rounds on the board, found {len(groups)} in {shown(cards)}"
        )
    hole = _cards(subject, owners[0]), _cards(subject, owners[1])
    try:
        hand = _played(Hand.start(game, hole), rounds, [_cards(subject, group) for group in groups])
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None
    if hand.betting.line != line:
        raise InputError(f"{subject}, betting: expected {shown(hand.betting.line)}, found {shown(line)}")
    return hand


def _played(hand: Hand, rounds: list[str], groups: list[HoleCards]) -> Hand:
    for actions, group in zip(rounds, [None, *groups], strict=True):
        if group is not None:
            hand = hand.deal(group)
        position = 0
        while position < len(actions):
            match = _TOKEN.match(actions, position)
            if match is None:
                raise InputError(f"betting: expected f, c or r, found {shown(actions[position])}")
            hand = hand.given_up() if match.group() == "f" else hand.apply(match.group())
            position = match.end()
    return hand


def _cards(subject: str, text: str) -> HoleCards:
    try:
        return parse_cards(text, strict=True) or None
    except CardError as error:
        raise InputError(f"{subject}, cards: {short(str(error), MOST_TOLD)}") from None


def _seen(cards: str, position: int) -> tuple[str, ...] | None:
    """Read one player's cards and the public cards from a state's field of cards; None for a field of another form."""
    hole, *board = cards.split("/")
    owners = hole.split("|")
    return (owners[position], *board) if len(owners) == 2 else None


def _text(subject: str, line: bytes | str) -> str:
    text = line if isinstance(line, str) else line.decode("ascii", errors="replace")
    if not text.isascii():
        raise InputError(f"{subject}: expected plain ASCII, found {shown(text)}")
    return text


def _number(subject: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise InputError(f"{subject}: expected a whole number, found {shown(text)}")
    return int(text)


def _names(subject: str, text: str) -> tuple[str, str]:
    names = text.split("|")
    if len(names) != 2:
        raise InputError(f"{subject}: expected two names as name|name, found {shown(text)}")
    return names[0], names[1]


def _require_same(subject: str, text: str, expected: str) -> None:
    if text != expected:
        raise InputError(f"{subject}: expected {short(expected, MOST_TOLD)}, found {short(text, MOST_TOLD)}")
