"""Connect a bot to an ACPC dealer: read match states, and send the bot's actions.

The client reports lines that a dealer should not send, and stops after too many of them. If the bot fails, the client
reports the error and checks, or folds if checking is not free.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from spewy.bot.bot import Bot
from spewy.errors import InputError, PeerError, error_line, visible
from spewy.match.acpc_text import VERSION, MatchState, is_comment, parse_state
from spewy.match.connection import Connection
from spewy.match.table import hand_seed

PATIENCE = 1800.0
"""Seconds without a match state after which the dealer counts as gone.

The opponent may take 600 seconds for an answer.
"""
MOST_STRAY = 1000
"""Largest number of consecutive lines that are not match states."""

Note = Callable[[str], None]


@dataclass
class Match:
    """Statistics of a client in a match: its hands, the times of its answers, and the failures of its bot.

    Attributes:
        seconds: seconds that the bot took for each answer.
        faults: number of times that the bot failed.
    """

    hands: int = 0
    seconds: list[float] = field(default_factory=list)
    faults: int = 0


def play(
    dealer: Connection,
    bot: Bot,
    seed: int = 0,
    patience: float = PATIENCE,
    note: Note | None = None,
    tolerant: bool = True,
) -> Match:
    """Play until the dealer closes the connection; the caller must close this side of the connection.

    Args:
        tolerant: whether the match goes on after an error of the bot; otherwise the error is raised.
    """
    return _Client(dealer, bot, seed, patience, note or (lambda text: None), tolerant).play()


class _Client:
    def __init__(
        self, dealer: Connection, bot: Bot, seed: int, patience: float, note: Note, tolerant: bool
    ) -> None:
        self._dealer, self._bot, self._seed, self._patience, self._note = dealer, bot, seed, patience, note
        self._tolerant = tolerant
        self._last: MatchState | None = None
        self._over = False
        self._match = Match()

    def play(self) -> Match:
        self._send(VERSION)
        while (state := self._state()) is not None:
            self._heard(state)
        if self._last is None or not self._over:
            where = "before the first hand" if self._last is None else f"in hand {self._last.number}"
            raise PeerError(f"{self._dealer.peer}: the dealer closed the connection {where}")
        return self._match

    def _state(self) -> MatchState | None:
        deadline = time.monotonic() + self._patience
        for _ in range(MOST_STRAY):
            line = self._dealer.receive(deadline)
            if line is None:
                return None
            self._note(f"FROM {visible(line.decode('ascii', errors='backslashreplace'))}")
            if is_comment(line):
                continue
            try:
                return parse_state(self._bot.game, line)
            except InputError as error:
                self._note(f"WARNING: ignored a line: {error}")
        raise PeerError(
            f"{self._dealer.peer}: expected match states, found {MOST_STRAY:,} other lines in a row"
        )

    def _heard(self, state: MatchState) -> None:
        last, self._last = self._last, state
        if last is None or not _follows(last, state):
            if last is not None and not self._over:
                self._note(
                    f"WARNING: hand {last.number}: the dealer began another hand before the end of this hand"
                )
            self._over = False
            self._tell(
                lambda: self._bot.new_hand(state.hand, state.position, hand_seed(self._seed, state.number))
            )
        if state.hand.is_over:
            if not self._over:
                self._tell(lambda: self._bot.hand_over(state.hand))
                self._match.hands += 1
            self._over = True
        elif state.is_asking:
            self._send(self._answer(state))

    def _answer(self, state: MatchState) -> str:
        begun = time.monotonic()
        try:
            text = state.reply(self._bot.act(state.hand))
        except Exception as error:
            self._failed(error)
            text = state.reply(state.hand.betting.passive)
        self._match.seconds.append(time.monotonic() - begun)
        return text

    def _tell(self, function: Callable[[], None]) -> None:
        try:
            function()
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        if not self._tolerant:
            raise error
        self._match.faults += 1
        self._note(f"ERROR: the bot failed: {error_line(error)}")

    def _send(self, text: str) -> None:
        self._note(f"TO {text}")
        self._dealer.send(text, time.monotonic() + self._patience)


def _follows(before: MatchState, state: MatchState) -> bool:
    """Whether ``state`` belongs to the same hand as ``before``, at the same decision or later."""
    same = (before.position, before.number) == (state.position, state.number)
    held = before.hand.hole[before.position] == state.hand.hole[state.position]
    dealt = state.hand.board[: len(before.hand.board)] == before.hand.board
    return same and held and dealt and state.hand.betting.line.startswith(before.hand.betting.line)
