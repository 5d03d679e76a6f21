"""Games between two of UPAC's bots: the same cards from both seats, chip shares, and Elo by the competition's rule."""

from __future__ import annotations

import json
import math
import subprocess
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

from spewy.competitions.tournament.standings import K, expected_score
from spewy.competitions.upac.package import open_tables, require_small
from spewy.competitions.upac.rules import BadReplyError, Line, Rules, dealt, play_hand
from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.tables import Tables
from spewy.competitions.upac.seats import RULES, CommandSeat, RuleSeat, Seat, Spent
from spewy.errors import InputError, PeerError, one_line, path_text, shown, visible
from spewy.match.names import apart, command_name, parse_named, plain_name
from spewy.match.pipes import PipeReader
from spewy.match.score import NORMAL_95
from spewy.system.closing import Closing
from spewy.system.failures import failure_text
from spewy.system.outsider import Outsider

MOST_GAMES = 10**6
BUILD_SECONDS = 60.0
BUILD_POLL_SECONDS = 0.05
BUILD_LINES, MOST_OF_BUILD = 20, 400
"""Lines, and characters, at the end of a failed build's output that its error shows."""
NAMES = ("Defender", "Challenger")
"""Of the seats, as the competition's log calls them."""

Log = Callable[[str], None]
"""Hears the game in the words of the competition's log."""


class Entrant(Protocol):
    """Whoever can be asked to games."""

    name: str
    spent: Spent

    def open(self, seed: int, seconds: float) -> Seat:
        """The bot, for one game."""
        ...


@dataclass
class RuleEntrant:
    """A bot that plays by a fixed rule.

    Attributes:
        name: the bot's name in reports.
        rule: key of `spewy.competitions.upac.seats.RULES`.
        spent: always zero, since a rule is not measured.
    """

    name: str
    rule: str
    spent: Spent = field(default_factory=Spent)

    def open(self, seed: int, seconds: float) -> Seat:
        """Seat it."""
        return RuleSeat(RULES[self.rule], seed)


@dataclass
class TablesEntrant:
    """A package's tables, played in this process: what its bot does, without starting it for each game.

    Attributes:
        name: what reports call it.
        tables: which `Entrants` closes.
        spent: nobody measures it.
    """

    name: str
    tables: Tables
    spent: Spent = field(default_factory=Spent)

    def open(self, seed: int, seconds: float) -> Seat:
        """Seat it."""
        player = Player(self.tables, seed)
        return RuleSeat(lambda spot, rng: player.answer(spot), seed)


@dataclass
class CommandEntrant:
    """A command, which is started for each game.

    Attributes:
        name: what reports call it.
        command: for the shell.
        folder: where it runs.
        log: of its stderr.
        spent: what it took.
    """

    name: str
    command: str
    folder: Path | None = None
    log: Path | None = None
    spent: Spent = field(default_factory=Spent)

    def open(self, seed: int, seconds: float) -> Seat:
        """Start it."""
        return CommandSeat(["sh", "-c", self.command], seconds, self.folder, self.log, self.spent)


class Entrants(Closing):
    """Two bots, each given by a word; unpacked packages stay on the disk until `close`.

    Args:
        first, second: ``random``, ``call``, ``allin``, ``equity``, ``command:SHELL``, a package's
            file, or ``tables:`` and a package's file; maybe with ``NAME=`` before it.

    Raises:
        InputError: a word is none of these, or a package is not valid.
    """

    def __init__(self, first: str, second: str) -> None:
        self._held = ExitStack()
        try:
            one, two = self._entrant(first), self._entrant(second)
            one.name, two.name = apart(one.name, two.name)
            self.both: tuple[Entrant, Entrant] = one, two
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove what was unpacked."""
        self._held.close()

    def _entrant(self, text: str) -> Entrant:
        name, word = parse_named(text)
        found = self._unnamed(word)
        found.name = name or found.name
        return found

    def _unnamed(self, word: str) -> Entrant:
        if word in RULES:
            return RuleEntrant(word, word)
        if word.startswith("command:") and word.removeprefix("command:").strip():
            command = word.removeprefix("command:")
            return CommandEntrant(command_name(command), command)
        if word.startswith("tables:"):
            tables = open_tables(Path(word.removeprefix("tables:")))
            self._held.callback(tables.close)
            return TablesEntrant(word, tables)
        if word.endswith(".zip"):
            folder = Path(self._held.enter_context(TemporaryDirectory(prefix="spewy-upac-")))
            return unpacked(Path(word), folder)
        wanted = f"{', '.join(RULES)}, command:SHELL, OUT.zip or tables:OUT.zip"
        raise InputError(f"bot {shown(word)}: expected one of {wanted}")


def unpacked(package: Path, folder: Path) -> CommandEntrant:
    """Unpack and build a package.

    Raises:
        InputError: it is none, or its build fails.
    """
    subject = f"package {path_text(package)}"
    try:
        with zipfile.ZipFile(package) as archive:
            require_small(archive)
            archive.extractall(folder)
        found = json.loads((folder / "bot" / "bot.json").read_text(encoding="utf-8"))
        name, build, run = (str(found[key]) for key in ("name", "build", "run"))
    except Exception as error:  # zip files fail in many ways
        if failure_text(error) is not None:
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{subject}: expected a folder bot with bot.json, found: {reason}") from None
    found = _build(build, folder / "bot")
    if found:
        raise InputError(f"{subject}: expected a build that ends well, found: {found}")
    return CommandEntrant(plain_name(name), run, folder / "bot")


def _build(command: str, folder: Path) -> str:
    """Build a bot; what went wrong, in words. Whatever the build started ends with it."""
    try:
        process = Outsider(
            ["sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except ValueError as error:  # a null character
        return str(error)
    assert process.stdout is not None
    with process.stdout as output:
        try:
            said = _last_lines(output.fileno(), process, time.monotonic() + BUILD_SECONDS)
            code = process.poll()
        finally:
            process.end()
    wrong = f"no end within {BUILD_SECONDS:g} s" if code is None else f"exit code {code}" if code else ""
    return f"{wrong}, and at the end of its output: {said}" if wrong and said else wrong


def _last_lines(output: int, process: Outsider, deadline: float) -> str:
    """Read a process's output until the process ends, or a deadline; return the end of the output as one line."""
    reader, lines = PipeReader(output, "build"), deque[bytes](maxlen=BUILD_LINES)
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        came = not reader.ended and reader.wait(min(deadline, time.monotonic() + BUILD_POLL_SECONDS))
        while (line := reader.next()) is not None:
            lines.append(line)
        if ended and not came:
            break
        if reader.ended:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(deadline - time.monotonic(), 0.0))
            break
    text = b"\n".join(lines).decode(errors="replace").strip()
    return one_line(text if len(text) <= MOST_OF_BUILD else f"... {text[-MOST_OF_BUILD:]}", 2 * MOST_OF_BUILD)


@dataclass(frozen=True)
class Game:
    """A game that is over.

    Attributes:
        seed: of the cards.
        swapped: whether the first-named bot was the challenger.
        share: of all chips that the first-named bot ended with.
        rounds: that were played.
        fault: what ended it before its time; empty: nothing.
    """

    seed: int
    swapped: bool
    share: float
    rounds: int
    fault: str = ""


def play_games(
    rules: Rules,
    entrants: tuple[Entrant, Entrant],
    seeds: Sequence[int],
    seconds: float,
    log: Log | None = None,
) -> Iterator[Game]:
    """Play a game of each seed with both seatings.

    Args:
        rules: of all games.
        entrants: both bots.
        seeds: of the cards.
        seconds: for an answer.
        log: hears all lines.
    """
    for seed in seeds:
        for swapped in (False, True):
            seated = entrants[::-1] if swapped else entrants
            shares, rounds, fault = _game(rules, (seated[0], seated[1]), seed, seconds, log)
            yield Game(seed, swapped, shares[int(swapped)], rounds, fault)


def _game(
    rules: Rules, entrants: tuple[Entrant, Entrant], seed: int, seconds: float, log: Log | None
) -> tuple[tuple[float, float], int, str]:
    """Both shares, the rounds, and what went wrong."""
    rng, stacks, number = Random(seed), (rules.chips, rules.chips), 0
    with ExitStack() as held:
        try:
            seats = []
            for place, entrant in enumerate(entrants):
                seats.append(entrant.open(2 * seed + place, seconds))
                held.callback(seats[-1].close)
            for number in range(1, rules.rounds + 1):
                if log:
                    log(f"System > round {number}/{rules.rounds}")
                stacks = _hand(rules, rng, stacks, (number - 1) % 2, (seats[0], seats[1]), log)
                if not min(stacks):
                    break
        except BadReplyError as error:
            lost = (0.0, 1.0) if error.seat == 0 else (1.0, 0.0)
            if log:
                log(f"System > {error}")
            return lost, number, f"{entrants[error.seat].name}: {error}"
    total = sum(stacks)
    return (stacks[0] / total, stacks[1] / total), number, ""


def _hand(
    rules: Rules,
    rng: Random,
    stacks: tuple[int, int],
    button: int,
    seats: tuple[Seat, Seat],
    log: Log | None,
) -> tuple[int, int]:
    """Play a hand; both stacks after it."""
    talk = play_hand(rules, dealt(rng), stacks, button)
    reply = ""
    while True:
        try:
            line = talk.send(reply) if reply else next(talk)
        except StopIteration as end:
            after: tuple[int, int] = end.value
            return after
        reply = _said(line, seats[line.seat], log)


def _said(line: Line, seat: Seat, log: Log | None) -> str:
    """Say a line; the reply, empty where none is due."""
    if log:
        log(f"{NAMES[line.seat]} < {line.text}")
    try:
        if not line.asks:
            seat.tell(line.text)
            return ""
        reply = seat.ask(line.text)
    except PeerError as error:
        raise BadReplyError(line.seat, str(error)) from None
    if log:
        log(f"{NAMES[line.seat]} > {visible(reply)}")
    return reply or " "


@dataclass(frozen=True)
class Standing:
    """How games ended for the first-named bot.

    Attributes:
        games: how many.
        won, drawn, lost: more than half of the chips, half, less.
        share: mean share of the chips.
        half: half the 95 % interval of it, of pairs of games with the same cards; nan of fewer than two.
        elo: how much better a bot with that share is; infinite where it won or lost everything.
        ratings: of both by the competition's rule, game after game, from 1500.
        faults: what ended games before their time.
    """

    games: int
    won: int
    drawn: int
    lost: int
    share: float
    half: float
    elo: float
    ratings: tuple[float, float]
    faults: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values; what is not finite is None."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}
        return finite | {"faults": list(self.faults), "ratings": list(self.ratings)}


def standing(games: Sequence[Game]) -> Standing:
    """The score of some games."""
    shares = np.array([game.share for game in games])
    pairs: dict[int, list[float]] = {}
    for game in games:
        pairs.setdefault(game.seed, []).append(game.share)
    means = np.array([np.mean(both) for both in pairs.values() if len(both) == 2])
    half = NORMAL_95 * float(means.std(ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    ratings = (1500.0, 1500.0)
    for game in games:
        ratings = rated(ratings, game.share)
    mean = float(shares.mean()) if len(shares) else math.nan
    return Standing(
        len(games),
        int((shares > 0.5).sum()),
        int((shares == 0.5).sum()),
        int((shares < 0.5).sum()),
        mean,
        half,
        elo_difference(mean),
        ratings,
        tuple(game.fault for game in games if game.fault),
    )


def rated(ratings: tuple[float, float], share: float) -> tuple[float, float]:
    """Both ratings after a game in which the first had this share of the chips.

    >>> rated((1500.0, 1500.0), 0.8)
    (1503.6, 1496.4)
    """
    change = K * (share - expected_score(*ratings))
    return ratings[0] + change, ratings[1] - change


def elo_difference(share: float) -> float:
    """By how much a bot's rating exceeds another's when it expects this share of the chips.

    >>> round(elo_difference(0.64)), elo_difference(1.0)
    (100, inf)
    """
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5) if share == share else math.nan
    return 400 * math.log10(share / (1 - share))
