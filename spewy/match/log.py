"""Logs of matches as the ACPC's dealer writes them.

Lines that begin with ``#`` are comments. Of these we write two kinds, which stand before the hand that they are about:
``# aivat HAND:VALUE``, player 0's chips with the luck taken out, and ``# fault HAND:PLAYER:WHAT``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spewy.bot.acpc import LoggedHand, parse_logged
from spewy.errors import InputError
from spewy.game.gamefile import Game


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
