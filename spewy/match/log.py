"""Logs of matches as the ACPC's dealer writes them.

Lines that begin with ``#`` are comments. Of these we write two kinds, which stand before the hand that they are about:
``# aivat HAND:VALUE``, player 0's chips with the luck taken out, and ``# fault HAND:PLAYER:WHAT``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spewy.errors import InputError, path_text
from spewy.game.gamefile import Game
from spewy.match.acpc_text import LoggedHand, parse_logged
from spewy.match.phh import SUFFIXES, read_phh
from spewy.system.textfile import read_text


def read_log(game: Game, lines: Iterable[str], subject: str = "log") -> Iterator[LoggedHand]:
    """The hands of a log; comments and scores are skipped.

    Args:
        game: what was played.
        lines: of the log.
        subject: begins the texts of errors.

    Raises:
        InputError: a line is something else, or cannot have been played.
    """
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";", "SCORE:")):
            continue
        try:
            yield parse_logged(game, line)
        except InputError as error:
            raise InputError(f"{subject}, line {number}: {error}") from None


def read_hands(game: Game, path: Path) -> Iterator[LoggedHand]:
    """The hands of a file: of a PHH by its name's end, else of a log.

    Raises:
        InputError: it cannot be read, has no hands, or tells what cannot have been played.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    is_phh = path.suffix.lower() in SUFFIXES
    found = read_phh(game, text, subject) if is_phh else read_log(game, text.splitlines(), subject)
    first = next(found, None)
    if first is None:
        raise InputError(f"{subject}: expected hands that were played, found none")
    yield first
    yield from found
