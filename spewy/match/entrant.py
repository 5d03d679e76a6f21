"""Bots that a user specifies by one word each, in matches, competitions and tournaments.

``NAME=`` before the word names the bot in tables and logs.

==================  ===========================================================================================
word                the bot
==================  ===========================================================================================
a rule's name       plays by a fixed rule, such as ``call``
a folder            plays the stored strategy of a solve
``lbr:SETTING``     Local Best Response against the other bot
``cmd:COMMAND``     a program that the competition starts
``tcp:PORT``        a client of the ACPC's protocol that somebody else starts
``OUT.zip``         UPAC's package, unpacked, built and run as the competition does it
``tables:OUT.zip``  the bot of such a package, in this process
==================  ===========================================================================================
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Literal, cast

from spewy.bot.bot import Bot, Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game, format_game, load_game, shipped_games
from spewy.match.opponents import OPPONENTS, opponent
from spewy.match.remote import RemoteBot
from spewy.system.textfile import exists

Kind = Literal["rule", "folder", "lbr", "cmd", "tcp", "package", "tables"]
FORMS: dict[Kind, str] = {
    "lbr": "lbr:SETTING",
    "cmd": "cmd:COMMAND",
    "tcp": "tcp:PORT",
    "tables": "tables:OUT.zip",
    "package": "OUT.zip",
    "folder": "a folder",
}
"""Form of the word for each kind of bot."""
OF_MATCHES: tuple[Kind, ...] = ("lbr", "cmd", "tcp", "folder")
"""Kinds that `Entrant.open` opens, in addition to rules."""
MOST_NAME = 60
"""Largest number of characters in a name."""

_NAMED = re.compile(r"([A-Za-z0-9._-]+)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")
_WITH_VALUE = ("-W", "-X")
"""Options of the Python command that take the next word as their value."""


@dataclass(frozen=True)
class Entrant:
    """A bot that can be asked to play; other processes can open it, too.

    Attributes:
        kind: how ``value`` is to be read.
        value: name of a rule, path, LBR setting, command or port.
        settings: keywords for whatever opens the bot, such as those of `spewy.open_bot`.
        called: the name that the user gave; empty if there is none.
    """

    kind: Kind
    value: str
    settings: tuple[tuple[str, Any], ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        """The bot's name in tables and logs."""
        return self.called or self._own_name

    @property
    def word(self) -> str:
        """Word that specifies the bot, without a name."""
        return f"{self.kind}:{self.value}" if self.kind in ("lbr", "cmd", "tcp", "tables") else self.value

    @property
    def needs_other(self) -> bool:
        """Whether the bot needs access to its opponent."""
        return self.kind == "lbr"

    @property
    def alone(self) -> bool:
        """Whether the bot can play only one run at a time."""
        return self.kind == "tcp"

    def open(
        self,
        game: Game,
        other: Bot | None = None,
        begun: int = 0,
        seconds: float | None = None,
        log: Path | None = None,
    ) -> Bot:
        """Open the bot for one run of a match.

        Args:
            game: the game to play.
            other: the other bot, if it is open already.
            begun: number of hands of the run that were played earlier.
            seconds: time limit of an answer for programs; None: no limit.
            log: file that a program's stderr is added to.

        Raises:
            InputError: the bot cannot be opened, or plays another game.
            PeerError: a program does not connect, or speaks another protocol.
        """
        if self.kind == "rule":
            return opponent(self.value, game)
        if self.kind == "folder":
            return self._from_folder(game)
        if self.kind == "lbr":
            return self._lbr(other)
        command, port = ("", int(self.value)) if self.kind == "tcp" else (self.value, 0)
        return RemoteBot(game, self.name, command, port, seconds, begun, log)

    def game(self) -> Game:
        """The game of the bot's folder.

        Raises:
            InputError: no bot can play from this folder.
        """
        from spewy.bot.agent import bot_of  # this import loads the solvers
        from spewy.bot.options import Options
        from spewy.look.boards import require_one_solve

        require_one_solve(self.value)
        with bot_of(self.value, Options(resolve="never")) as bot:
            return bot.game

    @property
    def _own_name(self) -> str:
        """Name of the bot if the user gave none."""
        match self.kind:
            case "folder":
                return plain_name(Path(self.value).resolve().name or "folder")
            case "cmd":
                return command_name(self.value)
            case "package":
                return plain_name(Path(self.value).stem)
            case "lbr" | "tcp":
                return f"{self.kind}-{self.value}"
            case "tables":
                return f"tables:{self.value}"
        return self.value

    def _from_folder(self, game: Game) -> Bot:
        from spewy.bot.agent import open_bot  # this import loads the solvers
        from spewy.look.boards import require_one_solve

        require_one_solve(self.value)
        bot = open_bot(self.value, strict=True, **dict(self.settings))
        if not same_rules(bot.game, game):
            bot.close()
            raise InputError(
                f"folder {path_text(Path(self.value))}: expected lockers of {game.name}, "
                "found those of another game"
            )
        return bot

    def _lbr(self, other: Bot | None) -> Bot:
        from spewy.match.lbr import Lbr, lbr_setting

        if other is None or not hasattr(other, "strategy"):
            raise InputError(
                f"lbr:{self.value}: expected a bot from a folder as the opponent, "
                "found one that tells no strategy"
            )
        return Lbr(cast("Reveals", other), lbr_setting(self.value))


def parse_entrant(
    text: str,
    settings: tuple[tuple[str, Any], ...] = (),
    *,
    rules: Collection[str] = tuple(OPPONENTS),
    kinds: Collection[Kind] = OF_MATCHES,
    base: Path = Path(),
) -> Entrant:
    """Read the word for a bot, optionally with ``NAME=`` before it.

    Args:
        text: the word.
        settings: keywords for whatever opens the bot.
        rules: names of rules that can be played.
        kinds: kinds of bots that can be played beside rules.
        base: folder that relative paths begin at.

    >>> parse_entrant("mine=cmd:python3 bots/deep.py").name, parse_entrant("equity").kind
    ('mine', 'rule')

    Raises:
        InputError: the word gives no bot.
    """
    called, word = parse_named(text, base)
    kind, colon, value = word.partition(":")
    if word in rules:
        entrant = Entrant("rule", word)
    elif colon and kind in kinds and kind in ("lbr", "cmd", "tcp", "tables") and _is_sound(kind, value):
        entrant = Entrant(cast("Kind", kind), value)
    elif "package" in kinds and word.endswith(".zip"):
        entrant = Entrant("package", str(base / word))
    elif "folder" in kinds and word and (base / word).is_dir():
        entrant = Entrant("folder", str(base / word))
    else:
        forms = [form for kind, form in FORMS.items() if kind in kinds]
        raise InputError(
            f"bot {shown(text)}: expected one of {', '.join([*rules, *forms[:-1]])} or {forms[-1]}, "
            "maybe with NAME= before it, found none of these"
        )
    return replace(entrant, settings=settings, called=called or "")


def parse_named(text: str, base: Path = Path()) -> tuple[str | None, str]:
    """Split ``NAME=BOT`` into name and bot; the name is None if the text has none.

    A text that is the path of a file or folder below ``base`` has no name before it.

    >>> parse_named("mine=cmd:./bot.sh x=1"), parse_named("cmd:./bot.sh x=1")
    (('mine', 'cmd:./bot.sh x=1'), (None, 'cmd:./bot.sh x=1'))

    Raises:
        InputError: the name is too long, or no bot follows it.
    """
    match = _NAMED.fullmatch(text)
    if match is None or exists(base / text):
        return None, text
    name, bot = match.groups()
    if len(name) > MOST_NAME or not bot.strip():
        raise InputError(f"bot {shown(text)}: expected NAME=BOT with a name of up to {MOST_NAME} characters")
    return name, bot


def plain_name(name: str) -> str:
    """Replace characters that separate fields of logs.

    >>> plain_name("a b|c"), plain_name("//")
    ('a-b-c', '-')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:MOST_NAME] or "bot"


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
    """Return both names; if they are equal, the second one gets a suffix.

    >>> apart("a", "b"), apart("a", "a")
    (('a', 'b'), ('a', 'a-2'))
    """
    return first, second if second != first else f"{second}-2"


def same_rules(first: Game, second: Game) -> bool:
    """Whether two games are equal except for their names."""
    return format_game(first) == format_game(second)


def shipped(game: Game) -> Game:
    """The shipped game with the same rules, whose name is better known, or else the game itself."""
    known = (each for each in map(load_game, shipped_games()) if same_rules(each, game))
    return next(known, game)


def _is_sound(kind: str, value: str) -> bool:
    """Whether the value after the colon of a word can be opened.

    Raises:
        InputError: there is no such setting of Local Best Response.
    """
    if kind == "lbr":
        from spewy.match.lbr import lbr_setting

        return bool(lbr_setting(value))
    if kind == "tcp":
        return re.fullmatch(r"[0-9]{1,5}", value) is not None and 1 <= int(value) <= 65535
    return bool(value.strip())


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
