"""A bot's side of the HIGC's protocol: answer each line of the referee.

The session reports each line that cannot be read, and each failure of the agent. If an action is due, it then answers
with a random legal action, as the referee would.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import TypeVar

from spewy.competitions.higc.text import (
    N_TENSORS,
    OVER,
    PONDER,
    READY,
    START,
    TOURNAMENT_OVER,
    Dialect,
    MatchOver,
    State,
    TournamentOver,
    parse_actions,
    parse_line,
    parse_seat,
)
from spewy.errors import InputError, one_line
from spewy.match.connection import Channel

PATIENCE = 1800.0
"""Seconds without a line from the referee after which the referee counts as gone."""
MOST_OF_LINE = 1 << 22
"""Largest number of bytes in a line; with unlimited raises, a line lists every legal raise."""

Note = Callable[[str], None]
Result = TypeVar("Result")


class Agent:
    """Plays one seat of a game in successive matches."""

    def new_match(self) -> None:
        """Begin a match."""

    def see(self, state: State) -> None:
        """Take note of a state as the player sees it; it may be the turn of either player or of chance."""

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action at the last state.

        Raises:
            InputError: the agent cannot choose, for instance because it has lost track of the match.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release files and memory."""


class Session:
    """A bot's conversation with a referee.

    Args:
        prepare: function of (game's name, player's number) that makes the agent.
        seed: seed of the random actions after a failure.

    Attributes:
        is_over: whether the conversation is over, so that the bot's process must end.
    """

    def __init__(
        self, prepare: Callable[[str, int], Agent], dialect: Dialect, note: Note, seed: int = 0
    ) -> None:
        self.is_over = False
        self.scores: list[float] = []
        self._prepare, self._dialect, self._note = prepare, dialect, note
        self._rng = Random(seed)
        self._game: str | None = None
        self._agent: Agent | None = None

    def hear(self, line: str) -> list[str]:
        """Read a line of the referee, and return the lines that answer it."""
        if self._game is None:
            self._game = line.strip()
            return []
        if self._agent is None:
            self._agent = self._prepare(self._game, parse_seat(line))
            self._agent.new_match()
            return [READY, START] if self._dialect == "older" else []
        try:
            message = parse_line(line, self._dialect)
        except InputError as error:
            return self._unreadable(self._agent, line, error)
        if isinstance(message, State):
            return self._state(self._agent, message)
        return self._end(self._agent, message)

    def close(self) -> None:
        if self._agent is not None:
            self._agent.close()

    def _state(self, agent: Agent, state: State) -> list[str]:
        self._try(lambda: agent.see(state))
        if not state.legal:
            return [PONDER] if self._dialect == "older" else []
        return [str(self._action(agent, state.legal))]

    def _action(self, agent: Agent, legal: tuple[int, ...]) -> int:
        action = self._try(lambda: agent.act(legal))
        if action is not None and action not in legal:
            self._fault(f"the agent chose {action}, which is not a legal action")
        return action if action in legal else self._rng.choice(legal)

    def _end(self, agent: Agent, message: MatchOver | TournamentOver) -> list[str]:
        if isinstance(message, TournamentOver):
            self.is_over = True
            return [TOURNAMENT_OVER]
        self.scores.append(message.score)
        if self._dialect == "rules":
            self.is_over = True
            return []
        self._try(agent.new_match)
        return [OVER["older"], START]

    def _unreadable(self, agent: Agent, line: str, error: InputError) -> list[str]:
        """Record a fault; end the match if the invalid line says so, act at random if the line lists legal actions."""
        self._fault(str(error))
        if line.strip().startswith(OVER[self._dialect]):
            return self._end(agent, MatchOver(0.0))
        try:
            legal = parse_actions(line.split()[N_TENSORS[self._dialect] :])
        except InputError:
            legal = ()
        if legal:
            return [str(self._rng.choice(legal))]
        return [PONDER] if self._dialect == "older" else []

    def _try(self, function: Callable[[], Result]) -> Result | None:
        try:
            return function()
        except Exception as error:  # the match goes on after any error
            self._fault(f"{type(error).__name__}: {error}")
            return None

    def _fault(self, text: str) -> None:
        self._note(f"WARNING: {one_line(text)}")


def converse(session: Session, referee: Channel, patience: float = PATIENCE) -> None:
    """Answer a referee's lines until the match or, in the older dialect, the tournament is over."""
    while not session.is_over:
        line = referee.receive(time.monotonic() + patience)
        if line is None:
            raise referee.gone("to hear the end of the match")
        for answer in session.hear(line.decode("ascii", errors="replace")):
            referee.send(answer, time.monotonic() + patience)
