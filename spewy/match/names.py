"""Names of bots in logs and tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePath

from spewy.errors import InputError, shown
from spewy.system.textfile import exists

_NAMED = re.compile(r"([A-Za-z0-9._-]+)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")
_WITH_VALUE = ("-W", "-X")
"""Options of the Python command that take the next word as their value."""


def plain_name(name: str) -> str:
    """A name that separates no fields of logs.

    >>> plain_name("a b|c"), plain_name("//")
    ('a-b-c', '-')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60] or "bot"


def parse_named(text: str, base: Path = Path()) -> tuple[str | None, str]:
    """Split ``NAME=BOT`` into name and bot; the name is None if the text has none.

    A text that is the path of a file or folder below ``base`` has no name before it.

    >>> parse_named("mine=cmd:./bot.sh x=1"), parse_named("cmd:./bot.sh x=1")
    (('mine', 'cmd:./bot.sh x=1'), (None, 'cmd:./bot.sh x=1'))

    Raises:
        InputError: the name is too long, or no bot follows it.
    """
    found = _NAMED.fullmatch(text)
    if found is None or exists(base / text):
        return None, text
    name, bot = found.groups()
    if len(name) > 60 or not bot.strip():
        raise InputError(f"bot {shown(text)}: expected NAME=BOT with a name of up to 60 characters")
    return name, bot


def command_name(command: str) -> str:
    """The name of a command's program; for a Python command the name of its script or module.

    >>> [command_name(each) for each in ("/opt/deep.sh -v", "python3 -u bots/mine.py 7", "python -m rival.bot")]
    ['deep.sh', 'mine', 'rival.bot']
    """
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote, which is an error when the command is started
        words = command.split()
    program = PurePath(words[0]).name if words else ""
    if program == "env":
        rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return command_name(shlex.join(rest)) if rest else plain_name(program)
    script = _script(iter(words[1:])) if _PYTHON.fullmatch(program) else None
    return plain_name(program if script is None else script)


def apart(first: str, second: str) -> tuple[str, str]:
    """Both names; the second one gets a suffix if both are the same.

    >>> apart("a", "b"), apart("a", "a")
    (('a', 'b'), ('a', 'a-2'))
    """
    return first, second if second != first else f"{second}-2"


def _script(words: Iterator[str]) -> str | None:
    """The script or module that a Python command with these words runs; None for ``-c`` and for no script."""
    for word in words:
        if word == "-m":
            return next(words, None)
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return PurePath(word).name.removesuffix(".py")
        elif word == "-c":
            return None
    return None
