"""A bot's side of the HIGC's protocol: what is said to what is heard, whatever that is.

A line that cannot be read is noted; where it asks for an action all the same, one of its legal actions answers it. A
brain that fails is noted too, and a legal action drawn at random stands for its answer, as the referee would do it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol, TypeVar

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

Note = Callable[[str], None]
Found = TypeVar("Found")


class Brain(Protocol):
    """Plays one seat of a game, match after match."""

    def new_match(self) -> None:
        """A match begins."""
        ...

    def see(self, state: State) -> None:
        """A state of the match, as the player sees it; also those where others act, or chance does."""
        ...

    def act(self, legal: tuple[int, ...]) -> int:
        """One of the legal actions at the state that was seen last."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...


class Talk:
    """One bot's conversation with a referee.

    Args:
        prepare: makes the brain for a game's name and a player's number.
        dialect: which is spoken.
        note: hears what went wrong.
        seed: of the actions that are drawn where the brain fails.

    Attributes:
        is_over: whether the process is to end.
        scores: of the matches that ended.
        faults: how often a line could not be read or the brain failed.
    """

    def __init__(
        self, prepare: Callable[[str, int], Brain], dialect: Dialect, note: Note, seed: int = 0
    ) -> None:
        self.is_over = False
        self.scores: list[float] = []
        self.faults = 0
        self._prepare, self._dialect, self._note = prepare, dialect, note
        self._rng = Random(seed)
        self._game: str | None = None
        self._brain: Brain | None = None

    def hear(self, line: str) -> list[str]:
        """The lines that answer a line.

        Raises:
            InputError: the beginning, which names game and player, names none that can be played.
        """
        if self._game is None:
            self._game = line.strip()
            return []
        if self._brain is None:
            self._brain = self._prepare(self._game, parse_seat(line))
            self._brain.new_match()
            return [READY, START] if self._dialect == "older" else []
        try:
            heard = parse_line(line, self._dialect)
        except InputError as error:
            return self._unread(self._brain, line, error)
        if isinstance(heard, State):
            return self._seen(self._brain, heard)
        return self._ended(self._brain, heard)

    def close(self) -> None:
        """No line follows."""
        if self._brain is not None:
            self._brain.close()

    def _seen(self, brain: Brain, state: State) -> list[str]:
        self._tried(lambda: brain.see(state))
        if not state.legal:
            return [PONDER] if self._dialect == "older" else []
        return [str(self._action(brain, state.legal))]

    def _action(self, brain: Brain, legal: tuple[int, ...]) -> int:
        found = self._tried(lambda: brain.act(legal))
        if found is not None and found not in legal:
            self._fault(f"action: expected a legal one, found {found}")
        return found if found in legal else self._rng.choice(legal)

    def _ended(self, brain: Brain, heard: MatchOver | TournamentOver) -> list[str]:
        if isinstance(heard, TournamentOver):
            self.is_over = True
            return [TOURNAMENT_OVER]
        self.scores.append(heard.score)
        if self._dialect == "rules":
            self.is_over = True
            return []
        self._tried(brain.new_match)
        return [OVER["older"], START]

    def _unread(self, brain: Brain, line: str, error: InputError) -> list[str]:
        """A line that cannot be read may ask for an action all the same; an end without a score is an end."""
        self._fault(str(error))
        if line.strip().startswith(OVER[self._dialect]):
            return self._ended(brain, MatchOver(0.0))
        try:
            legal = parse_actions(line.split()[N_TENSORS[self._dialect] :])
        except InputError:
            legal = ()
        if legal:
            return [str(self._rng.choice(legal))]
        return [PONDER] if self._dialect == "older" else []

    def _tried(self, function: Callable[[], Found]) -> Found | None:
        try:
            return function()
        except Exception as error:  # whatever it is, the match goes on
            self._fault(f"{type(error).__name__}: {error}")
            return None

    def _fault(self, text: str) -> None:
        self.faults += 1
        self._note(f"WARNING: {one_line(text)}")
