"""Slumbot's protocol (slumbot.com): a token names the session, and each answer has the whole hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spewy.bot.bot import Bot
from spewy.competitions.online.record import Record
from spewy.competitions.online.server import RefusedError, Reply, Server, Site
from spewy.competitions.online.session import Session
from spewy.competitions.online.text import (
    Answer,
    check_turn,
    read_cards,
    read_text_field,
    read_whole,
    replayed,
)
from spewy.errors import InputError, PeerError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import HoleCards

SITE = Site("slumbot", "Slumbot's server", "https://slumbot.com", "/api", "error_msg")
IDLE = 24 * 3600.0
"""Seconds after which the server forgets a hand in which nobody acts."""
MOST_TOKEN = 1000
"""Largest number of characters of a session's token."""


@dataclass(frozen=True)
class Login:
    """Name and password with which a client logs in at the server.

    Attributes:
        password: the user's password, which never appears in logs or messages to the user.
    """

    user: str
    password: str = field(repr=False)


class SlumbotSession(Session):
    """A session at Slumbot's server; without a login, the server gives each session a token."""

    idle = IDLE

    def __init__(
        self,
        server: Server,
        bot: Bot,
        record: Record,
        names: tuple[str, str],
        login: Login | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(server, bot, record, names, seed)
        if login is not None:
            server.require_private("a password")
            server.hide(login.password)
        self._login = login
        self._total: int | None = None

    def parse(self, fields: dict[str, object]) -> Answer:
        return parse_answer(self.bot.game, fields)

    def begin(self) -> Reply:
        """Ask for a new hand, after a login if there is no token."""
        known = self.record.token
        if known is None and self._login is not None:
            self._log_in(self._login)

        def post() -> Reply:
            token = self.record.token
            return self.server.post("new_hand", {} if token is None else {"token": token})

        try:
            reply = post()
        except RefusedError as error:
            if known is None:
                raise
            if self._login is None:
                raise PeerError(
                    f"{error}; the session may have expired: remove session.jsonl from the folder to begin a new one, "
                    "the logged hands stay"
                ) from None
            self.server.note(f"WARNING: {error}; logging in again")
            self._log_in(self._login)
            reply = post()
        if self.parsed(reply.fields).token is None and self.record.token is None:
            raise self.wrong("token: expected one in the answer to new_hand, found none")
        return reply

    def send(self, before: Answer, fields: dict[str, object], action: str) -> Reply:
        return self.server.post("act", {"token": self.record.token, "incr": action})

    def ended(self, answer: Answer) -> None:
        """Compare the server's total of the session with the chips won."""
        assert isinstance(answer, SlumbotAnswer)
        assert answer.winnings is not None
        before, self._total = self._total, answer.session_total
        if before is not None and self._total not in (None, before + answer.winnings):
            self.server.note(
                f"WARNING: hand {self.record.count}: the chips won are {answer.winnings}, and the server's total of "
                f"the session went from {before} to {self._total}"
            )

    def _log_in(self, login: Login) -> None:
        fields = self.server.post("login", {"username": login.user, "password": login.password}).fields
        try:
            token = _parse_token(fields)
        except InputError as error:
            raise PeerError(f"{self.server.url}, answer to login: {error}") from None
        self.record.keep(token, None)
        self._total = None  # the server counts the chips of each login by themselves


@dataclass(frozen=True)
class SlumbotAnswer(Answer):
    """An answer of Slumbot's server; ``estimate`` is Slumbot's baseline (`Results.estimates`).

    Attributes:
        session_total: chips that the client has won in the session by the server's count; None: not sent.
    """

    session_total: int | None = None


def parse_answer(game: Game, fields: Mapping[str, Any]) -> SlumbotAnswer:
    """Read and check a state of a hand that the server has sent."""
    action = read_text_field(fields, "action")
    position = read_whole(fields, "client_pos")
    if position not in (0, 1):
        raise InputError(f"client_pos: expected 0 or 1, found {shown(fields.get('client_pos'))}")
    own = read_cards(fields.get("hole_cards"), game.num_hole_cards, "hole_cards")
    other = fields.get("bot_hole_cards") or None
    shown_cards = None if other is None else read_cards(other, game.num_hole_cards, "bot_hole_cards")
    hole: tuple[HoleCards, HoleCards] = (own, shown_cards) if position == 0 else (shown_cards, own)
    played = replayed(game, action, hole, read_cards(fields.get("board"), None, "board"))
    winnings = None if fields.get("winnings") is None else read_whole(fields, "winnings")
    check_turn(played, action, position, winnings)
    baseline, session_total = (
        None if fields.get(name) is None else read_whole(fields, name)
        for name in ("baseline_winnings", "session_total")
    )
    stack = max(game.stacks or (0,))
    if baseline is not None and abs(baseline) > stack:
        raise InputError(f"baseline_winnings: expected at most {stack:,} chips, found {baseline:,}")
    token = _parse_token(fields) if fields.get("token") is not None else None
    return SlumbotAnswer(action, position, played, winnings, baseline, token, session_total)


def _parse_token(fields: Mapping[str, Any]) -> str:
    token = fields.get("token")
    if not isinstance(token, str) or not 0 < len(token) <= MOST_TOKEN:
        found = f"{len(token):,} characters" if isinstance(token, str) else shown(token)
        raise InputError(f"token: expected a text of 1 to {MOST_TOKEN:,} characters, found {found}")
    return token
