"""The address of a chunk: round, public cards and betting line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from buckets.cards import History, cards_name


@dataclass(frozen=True)
class Place:
    """The address of a chunk.

    Attributes:
        round: the round of the game.
        history: the public cards of the solved board, in one group for each round that dealt any.
        line: the ACPC betting string, from the root of the solve, that enters the chunk.
    """

    round: int
    history: History
    line: str

    def key(self, rows: tuple[int, int]) -> bytes:
        """Return the chunk's key in lockers.

        Args:
            rows: the numbers of rows of both players' strategies, which are part of the key.
        """
        return f"{self.round}.{_text(self.history)}|{self.line}|{rows[0]}x{rows[1]}".encode()


@lru_cache(maxsize=1 << 14)
def _text(history: History) -> str:
    """Write public cards with slashes between rounds; cached, because a board has many chunks."""
    return "/".join(cards_name(group) for group in history)
