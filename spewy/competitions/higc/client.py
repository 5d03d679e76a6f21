"""A bot at a HIGC referee's table: reads lines, answers, and ends when the match or the tournament does."""

from __future__ import annotations

import time

from spewy.competitions.higc.session import Talk
from spewy.errors import PeerError
from spewy.match.pipes import PipeReader, write_line

PATIENCE = 1800.0
"""Seconds without a line after which a referee counts as gone."""
MOST_OF_LINE = 1 << 22
"""Bytes: where any raise is legal, all of them are listed."""


def converse(talk: Talk, reader: PipeReader, writer: int, patience: float = PATIENCE) -> list[float]:
    """Talk until the match, or in the older dialect the tournament, is over.

    Args:
        talk: what is said to what.
        reader: of the referee's lines.
        writer: descriptor of the pipe to the referee.
        patience: seconds to wait for a line.

    Returns:
        Seconds that each answer took.

    Raises:
        PeerError: the referee vanished before the end, or said nothing for too long.
        InputError: it names no game that can be played.
    """
    seconds = []
    while not talk.is_over:
        line = reader.receive(time.monotonic() + patience)
        if line is None:
            raise PeerError(f"{reader.peer}: expected to hear the end of the match, found it gone")
        begun = time.monotonic()
        for answer in talk.hear(line.decode("ascii", errors="replace")):
            write_line(writer, answer, reader.peer, time.monotonic() + patience)
        seconds.append(time.monotonic() - begun)
    return seconds
