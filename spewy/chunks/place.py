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
        line: the betting line that leads into the chunk: an ACPC betting string from the root of the solve.
    """

    round: int
    history: History
    line: str

    def key(self, rows: tuple[int, int]) -> bytes:
        """Return the key under which lockers store the chunk's arrays.

        Args:
            rows: number of strategy rows of each player in the chunk; the numbers are part of the key.
        """
        return f"{self.round}.{_text(self.history)}|{self.line}|{rows[0]}x{rows[1]}".encode()


@lru_cache(maxsize=1 << 14)
def _text(history: History) -> str:
    """Return public cards as text, with slashes between rounds; the text is cached, because a board has many chunks."""
    return "/".join(cards_name(group) for group in history)
