"""The bot between two streams: lines of the engine in, answers out, everything told to a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.protocol import Table

MOST_OF_LINE = 4096
"""Bytes of a line; what is longer is cut into several."""

Note = Callable[[str], None]


class Source(Protocol):
    """Where the engine's lines come from."""

    def readline(self, size: int, /) -> bytes:
        """The next line, or the beginning of one that is longer; empty after the last."""
        ...


class Sink(Protocol):
    """Where answers go."""

    def write(self, data: bytes, /) -> object:
        """Write."""
        ...

    def flush(self) -> None:
        """Have it written out."""
        ...


def serve(source: Source, sink: Sink, player: Player, note: Note) -> int:
    """Answer until the engine has nothing more to say, or hears nothing more.

    What goes wrong is told as a line that begins with ``WARNING``, and the question is answered by a call.

    Args:
        source: the engine's lines.
        sink: answers, each written out at once.
        player: who answers.
        note: told every line that came and went.

    Returns:
        How many hands began.
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
    """The answer to a line; empty: none is due."""
    heard = table.hear(text)
    if heard.wrong:
        note(f"WARNING {heard.wrong}")
    if not heard.asked:
        return ""
    if heard.spot is None:
        return "C"
    try:
        answer = player.answer(heard.spot)
    except Exception as error:  # whatever it is, silence would lose the game
        note(f"WARNING answer to {text!r}: expected one, found {type(error).__name__}: {error}")
        answer = "C"
    table.answered(heard.spot, answer)
    return answer
