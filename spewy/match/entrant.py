"""Bots that a user specifies by one word, such as ``call`` or a folder, in matches, competitions and tournaments.

``NAME=`` before the word names the bot in tables and logs.

==================  ===========================================================================================
word                the bot
==================  ===========================================================================================
name of a rule      plays by a fixed rule, such as ``call``
a folder            plays the stored strategy of a solve, and re-solves as the options say
``stored:FOLDER``   plays the stored strategy of a solve, and re-solves nothing
``lbr:SETTING``     plays Local Best Response against the other bot
``cmd:COMMAND``     is a program that the match starts
``tcp:PORT``        is a client of the ACPC's protocol that the user starts
``OUT.zip``         is a package of UPAC, which is unpacked, built and run as in the competition
``tables:OUT.zip``  is the bot of a package that spewy wrote for UPAC, run in this process
==================  ===========================================================================================
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, cast

from spewy.bot.bot import Bot, Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game, format_game, load_game, shipped_games
from spewy.match.opponents import OPPONENTS, opponent
from spewy.match.remote import RemoteBot
from spewy.system.textfile import exists

if TYPE_CHECKING:
    from spewy.bot.options import Options

Kind = Literal["rule", "folder", "stored", "lbr", "cmd", "tcp", "package", "tables"]
FORMS: dict[Kind, str] = {
    "stored": "stored:FOLDER",
    "lbr": "lbr:SETTING",
    "cmd": "cmd:COMMAND",
    "tcp": "tcp:PORT",
    "tables": "tables:OUT.zip",
    "package": "OUT.zip",
    "folder": "a folder",
}
"""Form of the word for each kind of bot, as errors show it."""
OF_MATCHES: tuple[Kind, ...] = ("stored", "lbr", "cmd", "tcp", "folder")
"""Kinds of bots that `Entrant.open` opens, in addition to rules."""
WITH_COLON: tuple[Kind, ...] = ("stored", "lbr", "cmd", "tcp", "tables")
"""Kinds of bots whose word begins with the kind and a colon."""
MOST_NAME = 60
"""Largest number of characters in a name."""

_NAMED = re.compile(r"([A-Za-z0-9._-]+)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")
_WITH_VALUE = ("-W", "-X")
"""Options of the Python command after which the next word is the option's value."""


@dataclass(frozen=True)
class Entrant:
    """The specification of a bot in a match, from which any process can open the bot.

    Attributes:
        value: name of a rule, path, LBR setting, command or port, depending on the kind.
        options: options of a bot that plays from a folder; None: the defaults of `Options`.
        called: the name that the user gave to the bot; empty if the user gave none.
    """

    kind: Kind
    value: str
    options: Options | None = None
    called: str = ""

    @property
    def name(self) -> str:
        return self.called or self._own_name

    @property
    def word(self) -> str:
        return f"{self.kind}:{self.value}" if self.kind in WITH_COLON else self.value

    @property
    def is_solved(self) -> bool:
        return self.kind in ("folder", "stored")

    @property
    def needs_other(self) -> bool:
        """Whether the bot needs its opponent's strategy, so that the opponent is opened first."""
        return self.kind == "lbr"

    @property
    def alone(self) -> bool:
        """Whether the bot can play only one run at a time."""
        return self.kind == "tcp"

    @property
    def identity(self) -> dict[str, Any]:
        """Values that identify the bot in the head of a log, as JSON values by name.

        A bot from a folder is identified by its saved strategy (`spewy.look.folder.solve_identity`) and all options,
        any other bot by its word (`parse_entrant`) only: a program, or a client at a port, can change without a sign.
        """
        if not self.is_solved:
            return {"bot": self.word}
        from spewy.look.folder import require_one_solve, solve_identity

        require_one_solve(self.value)
        return {"bot": self.kind, **solve_identity(self.value), **self._options_in_matches.to_json()}

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
            other: the opponent, if it is open already.
            begun: number of hands of the run that were played before.
            seconds: seconds that a program may take for each answer; None: no limit.
        """
        if self.kind == "rule":
            return opponent(self.value, game)
        if self.is_solved:
            return self._from_folder(game)
        if self.kind == "lbr":
            return self._lbr(other)
        command, port = ("", int(self.value)) if self.kind == "tcp" else (self.value, 0)
        return RemoteBot(game, self.name, command, port, seconds, begun, log)

    def game(self) -> Game:
        """Return the game of the strategy in the bot's folder."""
        from spewy.bot.agent import bot_of  # this import loads the solvers
        from spewy.bot.options import Options

        with bot_of(self.value, Options(resolve="never")) as bot:
            return bot.game

    @property
    def _own_name(self) -> str:
        match self.kind:
            case "folder":
                return plain_name(Path(self.value).resolve().name or "folder")
            case "stored":
                return plain_name(f"stored-{Path(self.value).resolve().name}")
            case "cmd":
                return command_name(self.value)
            case "package":
                return plain_name(Path(self.value).stem)
            case "lbr" | "tcp":
                return f"{self.kind}-{self.value}"
            case "tables":
                return f"tables:{self.value}"
        return self.value

    @property
    def _options_in_matches(self) -> Options:
        """Options of a bot from a folder in a match, in which errors that only a bug can cause are raised."""
        from spewy.bot.options import Options  # this import loads the solvers

        options = self.options if self.kind == "folder" else Options(resolve="never")
        return replace(options or Options(), strict=True)

    def _from_folder(self, game: Game) -> Bot:
        from spewy.bot.agent import open_bot  # this import loads the solvers

        bot = open_bot(self.value, self._options_in_matches)
        if not same_rules(bot.game, game):
            bot.close()
            raise InputError(
                f"folder {path_text(Path(self.value))}: expected a strategy for {game.name}, found one for "
                f"{shipped(bot.game).name}"
            )
        return bot

    def _lbr(self, other: Bot | None) -> Bot:
        from spewy.match.lbr import Lbr, lbr_setting

        if other is None or not hasattr(other, "strategy"):
            raise InputError(
                f"lbr:{self.value}: the opponent reveals no strategy; let the bot play against a folder"
            )
        return Lbr(cast("Reveals", other), lbr_setting(self.value))


def parse_entrant(
    text: str,
    options: Options | None = None,
    *,
    rules: Collection[str] = tuple(OPPONENTS),
    kinds: Collection[Kind] = OF_MATCHES,
    base: Path = Path(),
) -> Entrant:
    """Read the word that specifies a bot, optionally with ``NAME=`` before it.

    Args:
        rules: names of the rules that are allowed.
        kinds: other kinds of bots that are allowed.
        base: folder of relative paths.

    >>> parse_entrant("mine=cmd:python3 bots/deep.py").name, parse_entrant("equity").kind
    ('mine', 'rule')
    """
    called, word = parse_named(text, base)
    kind, colon, value = word.partition(":")
    if word in rules:
        entrant = Entrant("rule", word)
    elif kind == "stored" and kind in kinds and value:
        entrant = Entrant("stored", str(_folder(text, base / value)))
    elif colon and kind in kinds and kind in WITH_COLON and kind != "stored" and _is_sound(kind, value):
        entrant = Entrant(cast("Kind", kind), value)
    elif "package" in kinds and word.endswith(".zip"):
        entrant = Entrant("package", str(base / word))
    elif "folder" in kinds and word and ((base / word).is_dir() or "/" in word):
        entrant = Entrant("folder", str(_folder(text, base / word)))
    else:
        forms = [form for kind, form in FORMS.items() if kind in kinds]
        raise InputError(
            f"bot {shown(text)}: expected one of {', '.join([*rules, *forms[:-1]])} or {forms[-1]}, "
            "optionally with NAME= before it"
        )
    return replace(entrant, options=options, called=called or "")


def parse_named(text: str, base: Path = Path()) -> tuple[str | None, str]:
    """Split ``NAME=BOT`` into the name and the bot's word; the name is None for a text without a name.

    The path of an existing file or folder in ``base`` is never split.

    >>> parse_named("mine=cmd:./bot.sh x=1"), parse_named("cmd:./bot.sh x=1")
    (('mine', 'cmd:./bot.sh x=1'), (None, 'cmd:./bot.sh x=1'))
    """
    match = _NAMED.fullmatch(text)
    if match is None or exists(base / text):
        return None, text
    name, bot = match.groups()
    if len(name) > MOST_NAME or not bot.strip():
        raise InputError(f"bot {shown(text)}: expected NAME=BOT with a name of up to {MOST_NAME} characters")
    return name, bot


def plain_name(name: str) -> str:
    """Replace all characters of a name that may separate fields in logs by hyphens, and shorten the name.

    >>> plain_name("a b|c"), plain_name("//")
    ('a-b-c', '-')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:MOST_NAME] or "bot"


def command_name(command: str) -> str:
    """Name of a bot that is a command: the name of its program, or of the script or module of a Python command.

    >>> [command_name(each) for each in ("/opt/deep.sh -v", "python3 -u bots/mine.py 7", "python -m rival.bot")]
    ['deep.sh', 'mine', 'rival.bot']
    """
    try:
        words = shlex.split(command)
    except ValueError:  # a quote is not closed; starting the command will raise an error
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
    return format_game(first) == format_game(second)


def shipped(game: Game) -> Game:
    """Return the game that comes with spewy and has the rules of ``game``; ``game`` itself if there is none."""
    known = (each for each in map(load_game, shipped_games()) if same_rules(each, game))
    return next(known, game)


def _folder(text: str, path: Path) -> Path:
    if not path.is_dir():
        raise InputError(f"bot {shown(text)}: expected a folder, and {path_text(path)} is none")
    return path


def _is_sound(kind: str, value: str) -> bool:
    """Whether ``value`` has the right form in a bot's word ``kind:value``."""
    if kind == "lbr":
        from spewy.match.lbr import lbr_setting

        return bool(lbr_setting(value))
    if kind == "tcp":
        return re.fullmatch(r"[0-9]{1,5}", value) is not None and 1 <= int(value) <= 65535
    return bool(value.strip())


def _script(words: Iterator[str]) -> str | None:
    """Name of the script or module that a Python command runs, or None if it runs neither."""
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
