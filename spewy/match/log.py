"""Matches as the ACPC's dealer writes them: ``STATE:hand:betting:cards:values:names``, in the order of positions.

Lines that begin with ``#`` are comments. Of these we write two kinds, which stand before the hand that they are about:
``# aivat HAND:VALUE``, player 0's chips with the luck taken out, and ``# fault HAND:PLAYER:WHAT``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.betting import parse_line
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards

MOST_DIGITS = 18


@dataclass(frozen=True)
class Record:
    """One hand of a log.

    Attributes:
        number: its number in the match.
        hand: how it ended, with the hole cards that are told.
        values: chips that players 0 and 1 won.
        names: of players 0 and 1.
    """

    number: int
    hand: Hand
    values: tuple[float, float]
    names: tuple[str, str]


def state_line(number: int, hand: Hand, names: tuple[str, str]) -> str:
    """The line of a hand that is over."""
    values = "|".join(map(str, hand.net()))
    return f"STATE:{number}:{hand.betting.line}:{cards_text(hand)}:{values}:{'|'.join(names)}"


def cards_text(hand: Hand) -> str:
    """All cards that are known: ``5d5c|9hQd/8dAs8s/4h``."""
    hole = "|".join("" if cards is None else cards_name(cards) for cards in hand.hole)
    return "/".join([hole, *(cards_name(group) for group in _groups(hand.game, hand.board))])


def read_log(game: Game, lines: Iterable[str], subject: str = "log") -> Iterator[Record]:
    """The hands of a log; comments and scores are skipped.

    Args:
        game: what was played.
        lines: of the log.
        subject: begins the texts of errors.

    Raises:
        InputError: a line is something else, or cannot have been played.
    """
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";", "SCORE:")):
            continue
        try:
            yield parse_state(game, line)
        except InputError as error:
            raise InputError(f"{subject}, line {number}: {error}") from None


def parse_state(game: Game, line: str) -> Record:
    """Read a ``STATE`` line.

    Raises:
        InputError: it is none, or what it tells cannot have been played.
    """
    fields = line.split(":")
    if len(fields) != 6 or fields[0] != "STATE":
        raise InputError(f"expected STATE:hand:betting:cards:values:names, found {shown(line)}")
    number, names = _number(fields[1]), fields[5].split("|")
    if len(names) != 2:
        raise InputError(f"names: expected two, found {shown(fields[5])}")
    hand = _replayed(game, fields[2], fields[3])
    first, second = _values(fields[4], hand)
    return Record(number, hand, (first, second), (names[0], names[1]))


def _number(text: str) -> int:
    if not re.fullmatch(rf"[0-9]{{1,{MOST_DIGITS}}}", text):
        raise InputError(f"hand: expected a whole number, found {shown(text)}")
    return int(text)


def _replayed(game: Game, line: str, cards: str) -> Hand:
    hole, board = _cards(cards)
    betting = parse_line(game, line)
    hand = Hand.start(game, hole)
    for actions in betting.rounds:
        hand, board = _dealt(hand, board)
        for action in actions:
            hand = hand.apply(action)
    hand, board = _dealt(hand, board)
    if not hand.is_over:
        raise InputError(f"betting {shown(line)}: expected a hand that is over, found one that goes on")
    if board:
        raise InputError(f"cards {shown(cards)}: expected {len(hand.board)} public cards, found more")
    return hand


def _dealt(hand: Hand, board: tuple[int, ...]) -> tuple[Hand, tuple[int, ...]]:
    """The hand after all cards that come next, and those that are left."""
    while hand.to_deal:
        number = hand.to_deal
        hand, board = hand.deal(board[:number]), board[number:]
    return hand, board


def _cards(text: str) -> tuple[tuple[HoleCards, HoleCards], tuple[int, ...]]:
    hole, *board = text.split("/")
    if hole.count("|") != 1:
        raise InputError(f"cards: expected hole cards such as 5d5c|9hQd, found {shown(hole)}")
    try:
        first, second = (parse_cards(part) or None for part in hole.split("|"))
        return (first, second), tuple(card for part in board for card in parse_cards(part))
    except CardError as error:
        raise InputError(f"cards {shown(text)}: {error}") from None


def _values(text: str, hand: Hand) -> tuple[float, float]:
    """Values as told, which are those of the hand where its cards tell them."""
    parts = text.split("|")
    if len(parts) != 2 or not all(re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", part) for part in parts):
        raise InputError(f"values: expected two numbers such as 90|-90, found {shown(text)}")
    told = float(parts[0]), float(parts[1])
    if hand.betting.folded is not None or None not in hand.hole:
        won = hand.net()
        if told != won:
            raise InputError(f"values: expected {won[0]}|{won[1]}, found {shown(text)}")
    return told


def _groups(game: Game, board: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The public cards of each round after the first that dealt some."""
    start = 0
    for size in game.board_sizes[1:]:
        if start < len(board):
            yield board[start:size]
        start = size
