"""Where a chunk is: round, public cards and line; and its key in every locker."""

from __future__ import annotations

from buckets.cards import cards_name
from buckets.symmetry import History


def chunk_key(round_number: int, history: History, line: str, rows: tuple[int, int]) -> bytes:
    """The key of a chunk in every locker."""
    board = "/".join(cards_name(group) for group in history)
    return f"{round_number}.{board}|{line}|{rows[0]}x{rows[1]}".encode()
