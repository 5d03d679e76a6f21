"""Read and check the answers of Slumbot's server: JSON objects with the state of a hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spewy.competitions.slumbot.text import Replayed, read_cards, replayed
from spewy.competitions.slumbot.wire import MOST_TOKEN
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import HoleCards

MOST_CHIPS = 10**12
"""Largest number of chips in a total."""


@dataclass(frozen=True)
class Answer:
    """A state of a hand as the server sends it to the client.

    Attributes:
        old_action: the actions before the client's last action; None if the server does not send them.
        action: all actions so far.
        position: the client's player number: 0 is the big blind, 1 the button.
        played: the hand with all actions so far and the known cards.
        token: the session's token; None if the server does not send it.
        winnings: chips that the client has won; None while the hand goes on.
        baseline: the server's estimate of the chips that it would have won with the client's cards; None if unknown.
        session_total: chips that the client has won in the session by the server's count; None if it sends none.
    """

    old_action: str | None
    action: str
    position: int
    played: Replayed
    token: str | None
    winnings: int | None = None
    baseline: int | None = None
    session_total: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the hand is over."""
        return self.winnings is not None


def parse_answer(game: Game, fields: Mapping[str, Any]) -> Answer:
    """Read and check a state of a hand that the server has sent.

    Args:
        game: the game that is played.
        fields: the server's JSON object.

    Raises:
        InputError: a field is missing or has another form, an action is illegal, the cards do not fit the actions, it
            is not the client's turn, or the stated winnings contradict the rules.
    """
    action = _text(fields, "action")
    position = _whole(fields, "client_pos")
    if position not in (0, 1):
        raise InputError(f"client_pos: expected 0 or 1, found {shown(fields.get('client_pos'))}")
    own = read_cards(fields.get("hole_cards"), game.num_hole_cards, "hole_cards")
    other = fields.get("bot_hole_cards") or None
    shown_cards = None if other is None else read_cards(other, game.num_hole_cards, "bot_hole_cards")
    hole: tuple[HoleCards, HoleCards] = (own, shown_cards) if position == 0 else (shown_cards, own)
    played = replayed(game, action, hole, read_cards(fields.get("board"), None, "board"))
    winnings = None if fields.get("winnings") is None else _whole(fields, "winnings")
    _check_turn(played, action, position, winnings)
    baseline, session_total = (
        None if fields.get(name) is None else _whole(fields, name)
        for name in ("baseline_winnings", "session_total")
    )
    stack = max(game.stacks or (0,))
    if baseline is not None and abs(baseline) > stack:
        raise InputError(f"baseline_winnings: expected at most {stack:,} chips, found {baseline:,}")
    return Answer(
        _text(fields, "old_action") if fields.get("old_action") is not None else None,
        action,
        position,
        played,
        parse_token(fields) if fields.get("token") is not None else None,
        winnings,
        baseline,
        session_total,
    )


def parse_token(fields: Mapping[str, Any]) -> str:
    """Read the session's token.

    Raises:
        InputError: there is no token, or it is empty or very long.
    """
    token = fields.get("token")
    if not isinstance(token, str) or not 0 < len(token) <= MOST_TOKEN:
        found = f"{len(token):,} characters" if isinstance(token, str) else shown(token)
        raise InputError(f"token: expected a text of 1 to {MOST_TOKEN:,} characters, found {found}")
    return token


def _check_turn(played: Replayed, action: str, position: int, winnings: int | None) -> None:
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


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a text, found {shown(value)}")
    return value


def _whole(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_CHIPS:
        raise InputError(f"{name}: expected a whole number, found {shown(value)}")
    if value != int(value):
        raise InputError(f"{name}: expected a whole number, found {shown(value)}")
    return int(value)
