"""Start bots for UPAC's games.

Bots that follow a simple rule, and bots that read a package's tables, play in this process. Whole packages and commands
run as programs.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from spewy.competitions.upac.package import open_tables, require_small
from spewy.competitions.upac.runtime.odds import equity
from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.protocol import Spot, Table
from spewy.errors import InputError, one_line, path_text
from spewy.match.connection import Channel, LocalChannel, Program, wait_for_any
from spewy.match.entrant import Entrant, apart, parse_entrant, plain_name
from spewy.system.failures import failure_text
from spewy.system.folders import scratch_folder
from spewy.system.tools import Closing

BUILD_SECONDS = 60.0
BUILD_POLL_SECONDS = 0.05
BUILD_LINES, MOST_OF_BUILD = 20, 400
"""Largest number of lines and characters from a failed build's output that the error shows."""

Rule = Callable[[Spot, Random], str]
"""Function that returns the answer to a spot; it draws from the random generator."""


@dataclass
class Spent:
    """The most time and memory that a bot used in any of its games.

    Attributes:
        slowest: seconds for one answer.
        game: seconds for all answers of a game.
        cpu: processor seconds of a game, including the start of the bot; 0 if unknown.
        mib: memory in MiB; 0 if unknown.
        unasked: number of lines, in all games, that the bot wrote while no question was open.
    """

    slowest: float = 0.0
    game: float = 0.0
    cpu: float = 0.0
    mib: float = 0.0
    unasked: int = 0


@dataclass
class Contender:
    """A bot that can be started for a game.

    Attributes:
        name: the bot's name in reports.
        open: starts the bot for one game, given a seed and the bot's name in messages.
        spent: time and memory that the bot used; zero for a bot in this process.
    """

    name: str
    open: Callable[[int, str], Channel]
    spent: Spent = field(default_factory=Spent)


class Contenders(Closing):
    """The two bots of a series of games, given by words; unpacked packages stay on the disk until `close`.

    Args:
        first, second: ``random``, ``call``, ``allin``, ``equity``, ``cmd:SHELL``, a package's file, or ``tables:`` and
            a package's file; ``NAME=`` before the word gives the bot a name.

    Raises:
        InputError: a word does not denote a bot, or a package is not valid.
    """

    def __init__(self, first: str, second: str) -> None:
        self._held = ExitStack()
        try:
            one, two = self._contender(first), self._contender(second)
            one.name, two.name = apart(one.name, two.name)
            self.both: tuple[Contender, Contender] = one, two
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove unpacked packages from the disk, and close files of tables."""
        self._held.close()

    def _contender(self, word: str) -> Contender:
        entrant = parse_entrant(word, rules=RULES, kinds=("cmd", "tables", "package"))
        if entrant.kind == "rule":
            return rule_contender(entrant.name, RULES[entrant.value])
        if entrant.kind == "tables":
            return self._from_tables(entrant)
        if entrant.kind == "package":
            folder = self._held.enter_context(scratch_folder("upac"))
            bot = unpack(Path(entrant.value), folder)
            return command_contender(entrant.called or bot.name, bot.run, bot.folder)
        return command_contender(entrant.name, entrant.value)

    def _from_tables(self, entrant: Entrant) -> Contender:
        """Make a contender that plays from a package's tables in this process, without a new process for each game."""
        tables = open_tables(Path(entrant.value))
        self._held.callback(tables.close)

        def seat(seed: int, name: str) -> Channel:
            player = Player(tables, seed)
            return _local(lambda spot, rng: player.answer(spot), seed, name)

        return Contender(entrant.name, seat)


def rule_contender(name: str, rule: Rule) -> Contender:
    """Make a contender that plays by a rule in this process."""
    return Contender(name, lambda seed, peer: _local(rule, seed, peer))


def command_contender(
    name: str, command: str, folder: Path | None = None, log: Path | None = None
) -> Contender:
    """Make a contender whose command is started again for each game.

    Args:
        name: the bot's name in reports.
        command: command for the shell.
        folder: working folder; None: the working folder of this process.
        log: file to append the bot's stderr to; None: stderr is dropped.
    """
    return Contender(name, lambda seed, peer: Program(["sh", "-c", command], peer, folder=folder, log=log))


class PackageBot(NamedTuple):
    """An unpacked package.

    Attributes:
        name: name of the bot.
        run: shell command that starts the bot.
        folder: folder to start the bot in.
    """

    name: str
    run: str
    folder: Path


def unpack(package: Path, folder: Path) -> PackageBot:
    """Unpack a package into a folder, and run its build command.

    Raises:
        InputError: the file is not a package, or its build fails.
    """
    subject = f"package {path_text(package)}"
    try:
        with zipfile.ZipFile(package) as archive:
            require_small(archive)
            archive.extractall(folder)
        config = json.loads((folder / "bot" / "bot.json").read_text(encoding="utf-8"))
        name, build, run = (str(config[key]) for key in ("name", "build", "run"))
    except Exception as error:  # zip files fail in many ways
        if failure_text(error) is not None:
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{subject}: expected a zip file with bot/bot.json, found: {reason}") from None
    wrong = _build(build, folder / "bot")
    if wrong:
        raise InputError(f"{subject}: the build failed: {wrong}")
    return PackageBot(plain_name(name), run, folder / "bot")


def _build(command: str, folder: Path) -> str:
    """Run a package's build command, and kill all processes that it has left.

    Returns:
        The reason why the build failed; empty if it succeeded.
    """
    deadline, lines = time.monotonic() + BUILD_SECONDS, deque[bytes](maxlen=BUILD_LINES)
    if "\0" in command:
        return "embedded null byte"
    with Program(["sh", "-c", command], "build", folder=folder, merged=True) as build:
        while time.monotonic() < deadline:
            ended = build.exit_code is not None
            wait_for_any([build], min(deadline, time.monotonic() + BUILD_POLL_SECONDS))
            while time.monotonic() < deadline and (line := build.poll()) is not None:
                lines.append(line)
            if build.ended:
                build.wait(deadline)
            if ended or build.ended:  # a child of the build may keep its output open
                break
        code = build.exit_code
    wrong = (
        f"not finished within {BUILD_SECONDS:g} s" if code is None else f"exit code {code}" if code else ""
    )
    text = b"\n".join(lines).decode(errors="replace").strip()
    text = one_line(text if len(text) <= MOST_OF_BUILD else f"... {text[-MOST_OF_BUILD:]}", 2 * MOST_OF_BUILD)
    return f"{wrong}; the end of its output: {text}" if wrong and text else wrong


def _local(rule: Rule, seed: int, peer: str) -> Channel:
    """Return a channel to a bot in this process that answers by a rule; ``peer`` is the bot's name in messages."""
    table, rng = Table(), Random(seed)

    def hear(line: str) -> list[str]:
        spot = table.hear(line).spot
        if spot is None:
            return []
        answer = rule(spot, rng)
        table.answered(spot, answer)
        return [answer]

    return LocalChannel(peer, hear)


def _random(spot: Spot, rng: Random) -> str:
    """Choose a random action: a fold only if there is a bet, and a raise by up to the smaller stack."""
    kind = rng.choice("FCR" if spot.to_call else "CR")
    return kind if kind != "R" else f"R{rng.randint(1, spot.effective)}"


def _call(spot: Spot, rng: Random) -> str:
    return "C"


def _allin(spot: Spot, rng: Random) -> str:
    return f"R{spot.effective}"


def _equity(spot: Spot, rng: Random) -> str:
    """Bet or raise the pot with good hands, and call if the pot odds suffice."""
    wins = equity(spot.hole, spot.board) if spot.board else _start_equity(spot.hole)
    pot = sum(spot.pushed)
    if wins >= (0.65 if not spot.to_call else 0.75):
        return f"R{pot + spot.to_call}"
    return "C" if not spot.to_call or wins >= spot.to_call / (pot + spot.to_call) + 0.05 else "F"


def _start_equity(hole: tuple[int, ...]) -> float:
    from spewy.competitions.upac.push_fold import equities
    from spewy.competitions.upac.runtime.cards import start_class

    return float(equities()[start_class(hole)])


RULES: Mapping[str, Rule] = {"random": _random, "call": _call, "allin": _allin, "equity": _equity}
"""Rules by name; each name is a word for a bot."""
