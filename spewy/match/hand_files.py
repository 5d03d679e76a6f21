"""Files of played hands, whose format is recognised by their content.

The formats are those of poker rooms (`spewy.match.room_text`), the Poker Hand History (`spewy.match.phh`), and logs of
the ACPC's dealer, which are also the format of recorded sessions at Slumbot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spewy.errors import InputError, path_text
from spewy.game.gamefile import Game, load_game, shipped_games
from spewy.match.acpc_text import LoggedHand, UnreadHand, parse_logged
from spewy.match.log import hand_lines
from spewy.match.phh import SUFFIXES, read_phh
from spewy.match.room_text import ROOM, read_rooms
from spewy.system.textfile import read_text

_LINES = re.compile(r"^(STATE:\d|\s*actions\s*=)", re.MULTILINE)
"""Matches a line that only a log of the ACPC's dealer or a Poker Hand History has."""
HOLDEM = "holdem.nolimit.2p.reverse_blinds"
_PHH = re.compile(r"^\s*variant\s*=", re.MULTILINE)
_NAMED_GAME = re.compile(r"^# (?:game (\S+)|name/game/hands/seed \S+ (\S+) )", re.MULTILINE)
_PLAYED_OTHERWISE = re.compile(r"# hand ([0-9]{1,10}):")
"""Comment for a hand without a line ``STATE`` in the record of a session at Slumbot."""


def read_hands(game: Game, path: Path, *, own_stakes: bool = False) -> Iterator[LoggedHand | UnreadHand]:
    """Read the hands of a file in any of the formats.

    Args:
        own_stakes: whether hands may state other blinds and stacks than the game's, and have more than two players.

    Returns:
        The hands; an `UnreadHand` with the reason in place of a hand that cannot be read.

    Raises:
        InputError: no hand can be read.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    return read_hands_text(game, text, subject, own_stakes=own_stakes, is_phh=path.suffix.lower() in SUFFIXES)


def read_hands_text(
    game: Game, text: str, subject: str, *, own_stakes: bool = False, is_phh: bool = False
) -> Iterator[LoggedHand | UnreadHand]:
    """Read hands as `read_hands` does; ``is_phh``: the text is a Poker Hand History, whatever it looks like."""
    text = text.removeprefix("\ufeff")
    if not is_phh and ROOM.search(text):
        read = read_rooms(game, text, own_stakes=own_stakes)
    elif is_phh or _PHH.search(text):
        read = read_phh(game, text, subject, own_stakes=own_stakes)
    else:
        read = _read_lines(game, text.splitlines())
    unread: list[LoggedHand | UnreadHand] = []
    for each in read:
        unread.append(each)
        if isinstance(each, LoggedHand) or each.read:
            break
    if not unread:
        raise InputError(f"{subject} has no hands")
    last = unread[-1]
    if isinstance(last, UnreadHand) and not last.read:
        first = unread[0]
        assert isinstance(first, UnreadHand)
        only = "" if len(unread) == 1 else f"none of {len(unread):,} hands can be read; "
        raise InputError(f"{subject}: {only}hand {first.number}: {first.reason}")
    yield from unread
    yield from read


def has_hands(text: str) -> bool:
    """Whether a text is a file of hands, judged by the lines with which hands begin.

    >>> has_hands("PokerStars Hand #243490149326: Hold'em No Limit ($0.50/$1.00)"), has_hands("pot = 5.5")
    (True, False)
    """
    return bool(ROOM.search(text) or _LINES.search(text))


def game_of_file(path: Path) -> Game:
    return named_game(read_text(path, f"file {path_text(path)}"))


def named_game(text: str) -> Game:
    """Return the game that the head of a log names, if it comes with Spewy; no-limit hold'em otherwise."""
    match = _NAMED_GAME.search(text)
    name = (match[1] or match[2]) if match else HOLDEM
    return load_game(name if name in shipped_games() else HOLDEM)


def _read_lines(game: Game, lines: Iterable[str]) -> Iterator[LoggedHand | UnreadHand]:
    lines = list(lines)
    for number, line in enumerate(lines, start=1):
        if other := _PLAYED_OTHERWISE.match(line):
            yield UnreadHand(int(other[1]), f"line {number}: a raise below the smallest legal raise")
    for number, line in hand_lines(lines):
        try:
            yield parse_logged(game, line)
        except InputError as error:
            named = re.match(r"STATE:([0-9]{1,10}):", line)
            yield UnreadHand(int(named[1]) if named else number, f"line {number}: {error}")
