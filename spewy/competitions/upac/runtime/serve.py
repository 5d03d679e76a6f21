"""Run the bot between two streams: read the engine's lines, write answers, and log both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.protocol import Table

MOST_OF_LINE = 4096
"""Largest number of bytes that are read as one line; a longer line is cut into several lines."""

Note = Callable[[str], None]


class Source(Protocol):
    """A stream of the engine's lines."""

    def readline(self, size: int, /) -> bytes:
        """Return the next line, or the next ``size`` bytes of a longer line; empty after the last line."""
        ...


class Sink(Protocol):
    """A stream that receives answers."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""
        ...

    def flush(self) -> None:
        """Write out buffered bytes."""
        ...


def serve(source: Source, sink: Sink, player: Player, note: Note) -> int:
    """Answer the engine's lines until the engine closes a stream.

    If the player fails, the bot calls, and notes a line that begins with ``WARNING``.

    Args:
        source: stream of the engine's lines.
        sink: stream for answers; each answer is flushed at once.
        player: decides the answers.
        note: called with every line that is read or written.

    Returns:
        The number of hands that began.
    """
    table = Table()
    while line := source.readline(MOST_OF_LINE):
        text = line.decode("ascii", errors="replace").strip()
        note(f"< {text}")
        answer = _answer(table, text, player, note)
        if not answer:
            continue
        note(f"> {answer}")
        try:
            sink.write(f"{answer}\n".encode("ascii"))
            sink.flush()
        except BrokenPipeError:
            note("the engine has closed the pipe")
            break
    return table.hands


def _answer(table: Table, text: str, player: Player, note: Note) -> str:
    """Return the answer to a line; empty if the line does not ask for one."""
    heard = table.hear(text)
    if heard.wrong:
        note(f"WARNING {heard.wrong}")
    if not heard.asked:
        return ""
    if heard.spot is None:
        return "C"
    try:
        answer = player.answer(heard.spot)
    except Exception as error:  # a missing answer would lose the game
        note(f"WARNING no answer to {text!r} because of {type(error).__name__}: {error}; the bot calls")
        answer = "C"
    table.answered(heard.spot, answer)
    return answer
