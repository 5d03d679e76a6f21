"""The bots of a match, each given by one word: a rule, a folder, ``lbr:SETTING``, ``cmd:COMMAND`` or ``tcp:PORT``.

``NAME=`` before the word gives the bot a name in logs and tables.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from spewy.bot.bot import Bot, Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game, format_game, load_game, shipped_games
from spewy.match.lbr import Lbr, lbr_setting
from spewy.match.names import command_name, parse_named, plain_name
from spewy.match.opponents import OPPONENTS, opponent
from spewy.match.remote import RemoteBot


@dataclass(frozen=True)
class _Named(ABC):
    """A bot with a name.

    Attributes:
        called: name in logs and tables; if empty, the bot has a name of its own.
    """

    called: str = field(default="", kw_only=True)

    @property
    def name(self) -> str:
        """The bot's name in logs and tables."""
        return self.called or self._own_name

    @property
    @abstractmethod
    def _own_name(self) -> str:
        """The bot's name if the user gave none."""


@dataclass(frozen=True)
class Rules(_Named):
    """An opponent that plays by fixed rules."""

    rule: str
    needs_other: bool = False
    alone: bool = False

    @property
    def _own_name(self) -> str:
        return self.rule

    def open(self, game: Game, other: Bot | None = None, begun: int = 0) -> Bot:
        """The bot."""
        return opponent(self.rule, game)


@dataclass(frozen=True)
class Folder(_Named):
    """A bot that plays from lockers.

    Attributes:
        path: of its folder.
        settings: of `spewy.open_bot`, such as ``resolve``.
    """

    path: Path
    settings: tuple[tuple[str, Any], ...] = ()
    needs_other: bool = False
    alone: bool = False

    @property
    def _own_name(self) -> str:
        """The folder's last name."""
        return plain_name(self.path.resolve().name or "folder")

    def open(self, game: Game, other: Bot | None = None, begun: int = 0) -> Bot:
        """The bot.

        Raises:
            InputError: it plays another game, or nothing there can be played from.
        """
        bot = self.opened()
        if not same_rules(bot.game, game):
            bot.close()
            raise InputError(
                f"folder {path_text(self.path)}: expected lockers of {game.name}, found those of another game"
            )
        return bot

    def game(self) -> Game:
        """The game that the folder's bot plays.

        Raises:
            InputError: no bot can play from this folder.
        """
        from spewy.bot.options import Options
        from spewy.bot.player import bot_of  # which loads the solvers

        with bot_of(self.path, Options(resolve="never")) as bot:
            return bot.game

    def opened(self) -> Reveals:
        """The bot, whatever it plays."""
        from spewy.bot.player import open_bot  # which loads the solvers

        return open_bot(self.path, strict=True, **dict(self.settings))


@dataclass(frozen=True)
class Judge(_Named):
    """Local Best Response against the other bot."""

    setting: str
    needs_other: bool = True
    alone: bool = False

    @property
    def _own_name(self) -> str:
        """The name, which ends with the setting."""
        return f"lbr-{self.setting}"

    def open(self, game: Game, other: Bot | None = None, begun: int = 0) -> Bot:
        """The bot.

        Raises:
            InputError: the other does not tell its strategy.
        """
        if other is None or not hasattr(other, "strategy"):
            raise InputError(
                f"lbr:{self.setting}: expected a bot from a folder as the opponent, found one that tells no strategy"
            )
        return Lbr(cast("Reveals", other), lbr_setting(self.setting))


@dataclass(frozen=True)
class Remote(_Named):
    """A client of the ACPC's protocol.

    Attributes:
        command: that is run with a host and a port behind it; empty: somebody else starts the client.
        port: that is listened at; 0: any that is free.
        seconds: for which to wait for it, and for its answers.
    """

    command: str
    port: int
    seconds: float
    needs_other: bool = False

    @property
    def alone(self) -> bool:
        """Whether there is one port only."""
        return self.port != 0

    @property
    def _own_name(self) -> str:
        """The name of the command, or the port."""
        return command_name(self.command) if self.command else f"tcp-{self.port}"

    def open(self, game: Game, other: Bot | None = None, begun: int = 0) -> Bot:
        """The bot."""
        return RemoteBot(game, self.name, self.command, self.port, self.seconds, begun)


Known = Rules | Folder | Judge | Remote


def entrant(text: str, seconds: float, settings: tuple[tuple[str, Any], ...] = ()) -> Known:
    """Read the word that gives a bot.

    Args:
        text: the word, maybe with ``NAME=`` before it.
        seconds: time that a client may take for an answer.
        settings: keywords of `spewy.open_bot` for bots from folders.

    Raises:
        InputError: the word gives no bot.
    """
    name, word = parse_named(text)
    return replace(_unnamed(word, seconds, settings), called=name or "")


def _unnamed(text: str, seconds: float, settings: tuple[tuple[str, Any], ...]) -> Known:
    if text in OPPONENTS:
        return Rules(text)
    kind, colon, rest = text.partition(":")
    if kind == "lbr" and colon:
        return Judge(lbr_setting(rest).name)
    if kind == "cmd" and rest.split():
        return Remote(rest, 0, seconds)
    if kind == "tcp" and re.fullmatch(r"[0-9]{1,5}", rest) and 1 <= int(rest) <= 65535:
        return Remote("", int(rest), seconds)
    if not text or not Path(text).is_dir():
        raise InputError(
            f"bot {shown(text)}: expected one of {', '.join(OPPONENTS)}, lbr:SETTING, cmd:COMMAND, tcp:PORT "
            "or a folder, maybe with NAME= before it, found none of these"
        )
    return Folder(Path(text), settings)


def same_rules(first: Game, second: Game) -> bool:
    """Whether two games differ in name at most."""
    return format_game(first) == format_game(second)


def shipped(game: Game) -> Game:
    """The shipped game with the same rules, which has a better name than lockers know; or the game itself."""
    found = (known for known in map(load_game, shipped_games()) if same_rules(known, game))
    return next(found, game)
