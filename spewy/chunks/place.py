"""Where a chunk is: its address, which takes no list of all boards or lines to be written down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from buckets.cards import History, cards_name


@dataclass(frozen=True)
class Place:
    """A chunk's address.

    Attributes:
        round: of the game.
        history: the public cards dealt so far, a group for each round that dealt any: of boards that are the same up to
            suits, the one that is solved.
        line: the ACPC betting string, from the root of the solve, that enters the chunk.
    """

    round: int
    history: History
    line: str

    def key(self, rows: tuple[int, int]) -> bytes:
        """The chunk's key in every locker; ``rows`` are those of both players' strategies there."""
        return f"{self.round}.{_text(self.history)}|{self.line}|{rows[0]}x{rows[1]}".encode()


@lru_cache(maxsize=1 << 14)
def _text(history: History) -> str:
    """The public cards, rounds apart by a slash; a board has many lines."""
    return "/".join(cards_name(group) for group in history)
