r"""Lines exchanged between a referee of the HIGC and a bot.

The protocol has two forms, its *dialects*. In the dialect ``rules``, that of the competition's rules, the referee sends
the game's name and the player's number. Then for each state of the match it sends the player's tensor in base64 and, if
the player is to act, the legal actions; the bot answers with a legal action. The score ends the match and the bot's
process.

The dialect ``older`` is that of OpenSpiel's former referee. The referee sends two tensors, public and private, in
OpenSpiel's compressed form. The bot sends ``ready`` once, ``start`` before each match, and ``ponder`` when it is not to
act. It plays matches until the tournament is over.

>>> parse_line("AACAPwAAAAA= 0 1", "rules")
State(tensors=(b'\x00\x00\x80?\x00\x00\x00\x00',), legal=(0, 1))
>>> parse_line("end of game -1.5", "rules")
MatchOver(score=-1.5)
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from solvers.tree import Floats
from spewy.errors import InputError, shown

Dialect = Literal["rules", "older"]

READY, START, PONDER = "ready", "start", "ponder"
OVER = {"rules": "end of game", "older": "match over"}
TOURNAMENT_OVER = "tournament over"
N_TENSORS = {"rules": 1, "older": 2}
MOST_ACTION = 2**63 - 1
PLAIN, BINARY = 0, 1
"""First byte of a compressed tensor: 0 before 32-bit floats, 1 before bits with the lowest bit first."""

_ACTION = re.compile(r"[0-9]{1,19}")
_SCORE = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{0,30})?(e[-+]?[0-9]{1,3})?")


@dataclass(frozen=True)
class State:
    """A state of the match as one player sees it.

    Attributes:
        tensors: bytes of the tensor, or of the public and the private tensor, as the referee sent them.
        legal: legal actions of the player; empty if the player is not to act.
    """

    tensors: tuple[bytes, ...]
    legal: tuple[int, ...] = ()


@dataclass(frozen=True)
class MatchOver:
    """The end of a match, with the player's score."""

    score: float


@dataclass(frozen=True)
class TournamentOver:
    """The end of the tournament."""


def parse_line(line: str, dialect: Dialect) -> State | MatchOver | TournamentOver:
    text = line.strip()
    if dialect == "older" and text == TOURNAMENT_OVER:
        return TournamentOver()
    if text.startswith(OVER[dialect]):
        return MatchOver(_score(text.removeprefix(OVER[dialect]).strip(), text))
    words = text.split()
    size = N_TENSORS[dialect]
    if len(words) < size:
        raise InputError(
            f"line {shown(text)}: expected {size} base64 words and legal actions, found fewer words"
        )
    return State(tuple(_bytes(word) for word in words[:size]), parse_actions(words[size:]))


def parse_actions(words: Sequence[str]) -> tuple[int, ...]:
    for word in words:
        if not _ACTION.fullmatch(word) or int(word) > MOST_ACTION:
            raise InputError(f"legal action {shown(word)}: expected a whole number from 0 on")
    return tuple(map(int, words))


def parse_seat(line: str) -> int:
    """Read the referee's line that says whether the bot is player 0 or player 1."""
    text = line.strip()
    if text not in ("0", "1"):
        raise InputError(f"player's number: expected 0 or 1, found {shown(text)}")
    return int(text)


def parse_answer(line: str) -> int | None:
    """Return the action in a bot's line; None if the line is not the number of an action.

    >>> parse_answer(" 12 "), parse_answer("raise"), parse_answer("-1")
    (12, None, None)
    """
    text = line.strip()
    return int(text) if _ACTION.fullmatch(text) else None


def state_text(tensors: Sequence[Floats], legal: Sequence[int], dialect: Dialect) -> str:
    """Write the line that shows a state to a player.

    >>> import numpy as np
    >>> state_text([np.array([1.0, 0.0])], (0, 1), "rules")
    'AACAPwAAAAA= 0 1'
    >>> state_text([np.array([1.0, 1.0]), np.array([1.0, 0, 0, 1, 0])], (), "older")
    'AQM= AQk='
    """
    pack = plain if dialect == "rules" else compressed
    words = [base64.b64encode(pack(tensor)).decode() for tensor in tensors]
    return " ".join([*words, *map(str, legal)])


def over_text(score: float, dialect: Dialect) -> str:
    """Write the line that ends a match; the older dialect rounds scores toward 0.

    >>> over_text(1.0, "rules"), over_text(-1.5, "older")
    ('end of game 1.0', 'match over -1')
    """
    return f"{OVER[dialect]} {float(score)!r}" if dialect == "rules" else f"{OVER[dialect]} {int(score)}"


def plain(tensor: Floats) -> bytes:
    return np.asarray(tensor, dtype="<f4").tobytes()


def compressed(tensor: Floats) -> bytes:
    """Encode a tensor in OpenSpiel's compressed form: as bits if all values are 0 or 1, else as floats."""
    values = np.asarray(tensor)
    if np.isin(values, (0, 1)).all():
        return bytes([BINARY]) + np.packbits(values != 0, bitorder="little").tobytes()
    return bytes([PLAIN]) + plain(values)


def tensor_values(data: bytes, size: int, dialect: Dialect) -> Floats:
    """Decode the values of a tensor from the referee's bytes."""
    if dialect == "older" and data[:1] == bytes([BINARY]):
        bits = np.unpackbits(np.frombuffer(data[1:], np.uint8), bitorder="little")
        if (len(data) - 1) * 8 - size not in range(8):
            raise _size_error(size, len(bits))
        return bits[:size].astype(np.float64)
    raw = data[1:] if dialect == "older" else data
    if dialect == "older" and data[:1] != bytes([PLAIN]):
        raise InputError(f"tensor: expected its first byte to be 0 or 1, found {shown(data[:1])}")
    if len(raw) != 4 * size:
        raise _size_error(size, len(raw) // 4)
    values = np.frombuffer(raw, "<f4").astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("tensor: a value is infinite or not a number")
    return values


def _size_error(size: int, found: int) -> InputError:
    return InputError(f"tensor: expected {size} numbers, found {found}")


def _bytes(word: str) -> bytes:
    try:
        return base64.b64decode(word, validate=True)
    except (binascii.Error, ValueError):  # a ValueError is raised for characters beyond ASCII
        raise InputError(f"tensor {shown(word)}: expected base64") from None


def _score(text: str, line: str) -> float:
    if not _SCORE.fullmatch(text) or not math.isfinite(float(text)):
        raise InputError(f"line {shown(line)}: expected a score at the end of the line")
    return float(text)
