"""The address of a chunk, which does not need a list of all boards or lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from buckets.cards import History, cards_name


@dataclass(frozen=True)
class Place:
    """A chunk's address.

    Attributes:
        round: the round of the game.
        history: the public cards of the solved board, a group for each round that dealt any.
        line: the ACPC betting string, from the root of the solve, that enters the chunk.
    """

    round: int
    history: History
    line: str

    def key(self, rows: tuple[int, int]) -> bytes:
        """Return the chunk's key in every locker; `rows` are the numbers of rows of both players' strategies."""
        return f"{self.round}.{_text(self.history)}|{self.line}|{rows[0]}x{rows[1]}".encode()


@lru_cache(maxsize=1 << 14)
def _text(history: History) -> str:
    """Write the public cards with slashes between rounds; cached, because a board has many lines."""
    return "/".join(cards_name(group) for group in history)
