"""Games between two UPAC bots, with equal cards in both seatings: start the bots, play, score by chips and by Elo.

Bots that follow a simple rule, and bots that read a package's tables, play in this process. Whole packages and commands
run as programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from spewy.competitions.upac.package import open_tables, unpack
from spewy.competitions.upac.rules import BadReplyError, Line, Rules, dealt, play_hand
from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.protocol import Spot, Table
from spewy.competitions.upac.runtime.tables import equity, start_class
from spewy.errors import PeerError, visible
from spewy.match.connection import Channel, LocalChannel, Program, TimedOutError
from spewy.match.entrant import apart, parse_entrant
from spewy.match.score import START, Mean, elo_difference, pair_means, rated
from spewy.system.folders import scratch_folder
from spewy.system.tools import Closing

NAMES = ("Defender", "Challenger")
"""Names of the seats in the competition's log."""

Log = Callable[[str], None]
"""Function that receives lines in the format of the competition's log."""

Rule = Callable[[Spot, Random], str]
"""Function that returns the answer to a spot; it draws from the random generator."""


@dataclass
class Spent:
    """The most time and memory that a bot used in any of its games.

    Attributes:
        slowest, game: seconds for one answer, and for all answers of a game.
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
        if entrant.kind == "tables":  # plays without a new process for each game
            tables = open_tables(Path(entrant.value))
            self._held.callback(tables.close)
            return Contender(entrant.name, lambda seed, peer: _local(Player(tables, seed).answer, peer))
        if entrant.kind == "package":
            folder = self._held.enter_context(scratch_folder("upac"))
            bot = unpack(Path(entrant.value), folder)
            return command_contender(entrant.called or bot.name, bot.run, bot.folder)
        return command_contender(entrant.name, entrant.value)


def rule_contender(name: str, rule: Rule) -> Contender:
    def opened(seed: int, peer: str) -> Channel:
        rng = Random(seed)
        return _local(lambda spot: rule(spot, rng), peer)

    return Contender(name, opened)


def command_contender(
    name: str, command: str, folder: Path | None = None, log: Path | None = None
) -> Contender:
    """Make a contender whose command is started again for each game.

    Args:
        folder: working folder; None: the working folder of this process.
        log: file to append the bot's stderr to; None: stderr is dropped.
    """
    return Contender(name, lambda seed, peer: Program(["sh", "-c", command], peer, folder=folder, log=log))


def _local(answer_to: Callable[[Spot], str], peer: str) -> Channel:
    """Return a channel to a bot in this process; ``peer`` is the bot's name in messages."""
    table = Table()

    def hear(line: str) -> list[str]:
        spot = table.hear(line).spot
        if spot is None:
            return []
        answer = answer_to(spot)
        table.answered(spot, answer)
        return [answer]

    return LocalChannel(peer, hear)


def _random(spot: Spot, rng: Random) -> str:
    """Choose a random action: a fold only if there is a bet, and a raise by up to the smaller stack."""
    kind = rng.choice("FCR" if spot.to_call else "CR")
    return kind if kind != "R" else f"R{rng.randint(1, spot.effective)}"


def _equity(spot: Spot, rng: Random) -> str:
    """Bet or raise the pot with good hands, and call if the pot odds suffice."""
    if spot.board:
        wins = equity(spot.hole, spot.board)
    else:
        from spewy.competitions.upac.push_fold import equities  # loads SciPy

        wins = float(equities()[start_class(spot.hole)])
    pot = sum(spot.pushed)
    if wins >= (0.65 if not spot.to_call else 0.75):
        return f"R{pot + spot.to_call}"
    return "C" if not spot.to_call or wins >= spot.to_call / (pot + spot.to_call) + 0.05 else "F"


RULES: Mapping[str, Rule] = {
    "random": _random,
    "call": lambda spot, rng: "C",
    "allin": lambda spot, rng: f"R{spot.effective}",
    "equity": _equity,
}
"""Rules by name; the name of a rule specifies its bot."""


@dataclass(frozen=True)
class Game:
    """The result of a finished game between two bots.

    Attributes:
        swapped: whether the first bot had seat 1 (the challenger's) instead of seat 0 (the defender's).
        share: share of all chips that the first bot had at the end.
        fault: error that ended the game early; empty if there was none.
    """

    seed: int
    swapped: bool
    share: float
    rounds: int
    fault: str = ""


def play_games(
    rules: Rules,
    contenders: tuple[Contender, Contender],
    seeds: Sequence[int],
    seconds: float,
    log: Log | None = None,
) -> Iterator[Game]:
    """Play two games for each seed, the second with the seats swapped, and yield their results."""
    for seed in seeds:
        for swapped in (False, True):
            seated = contenders[::-1] if swapped else contenders
            shares, rounds, fault = _game(
                rules, (seated[0], seated[1]), seed, seconds, log or (lambda text: None)
            )
            yield Game(seed, swapped, shares[int(swapped)], rounds, fault)


def _game(
    rules: Rules, contenders: tuple[Contender, Contender], seed: int, seconds: float, log: Log
) -> tuple[tuple[float, float], int, str]:
    """Play one game; return each seat's share of the chips, the number of hands, and the error that ended it."""
    rng, stacks, number = Random(seed), (rules.chips, rules.chips), 0
    with ExitStack() as held:
        try:
            seats = []
            for place, contender in enumerate(contenders):
                channel = contender.open(2 * seed + place, contender.name)
                seats.append(
                    held.enter_context(closing(_Seat(contender, channel, seconds, NAMES[place], log)))
                )
            for number in range(1, rules.rounds + 1):
                log(f"System > round {number}/{rules.rounds}")
                lines, reply = play_hand(rules, dealt(rng), stacks, (number - 1) % 2), ""
                try:
                    while True:
                        line = lines.send(reply) if reply else next(lines)
                        reply = seats[line.seat].reply(line)
                except StopIteration as end:
                    stacks = end.value
                if not min(stacks):
                    break
        except BadReplyError as error:
            lost = (0.0, 1.0) if error.seat == 0 else (1.0, 0.0)
            log(f"System > {error}")
            return lost, number, f"{contenders[error.seat].name}: {error}"
    total = sum(stacks)
    return (stacks[0] / total, stacks[1] / total), number, ""


class _Seat:
    def __init__(self, contender: Contender, channel: Channel, seconds: float, name: str, log: Log) -> None:
        self._channel, self._seconds, self._spent = channel, seconds, contender.spent
        self._name, self._log, self._game = name, log, 0.0

    def reply(self, line: Line) -> str:
        """Send a line and return the bot's reply; empty if the line does not ask for a reply."""
        self._log(f"{self._name} < {line.text}")
        try:
            if not line.asks:
                self._channel.send(line.text, time.monotonic() + self._seconds)
                return ""
            reply = self._asked(line)
        except PeerError as error:
            raise BadReplyError(line.seat, str(error).partition(": ")[2]) from None
        self._log(f"{self._name} > {visible(reply)}")
        return reply or " "

    def _asked(self, line: Line) -> str:
        """Ask a question; by the competition's rules, a line that the bot wrote before the question is the answer."""
        if isinstance(self._channel, Program):
            self._spent.unasked += self._channel.read_available() > 0
        begun = time.monotonic()
        self._channel.send(line.text, begun + self._seconds)
        try:
            answer = self._channel.receive(begun + self._seconds)
        except TimedOutError:
            limit = f"{self._seconds:g} s"
            raise PeerError(f"{self._channel.peer}: expected an answer within {limit}, found none") from None
        finally:
            seconds = time.monotonic() - begun
            self._game += seconds
            if isinstance(self._channel, Program):
                self._spent.slowest = max(self._spent.slowest, seconds)
                self._spent.game = max(self._spent.game, self._game)
        if answer is None:
            raise self._channel.gone("an answer")
        return answer.decode("ascii", errors="replace")

    def close(self) -> None:
        """Kill a program with its child processes, and record its time and memory."""
        if isinstance(self._channel, Program):
            cpu, mib = self._channel.usage()
            self._channel.end()
            self._spent.cpu, self._spent.mib = max(self._spent.cpu, cpu), max(self._spent.mib, mib)
            self._spent.unasked += self._channel.read_available()
        self._channel.close()


@dataclass(frozen=True)
class Standing:
    """The first bot's score over several games.

    Attributes:
        won, drawn, lost: number of games that the first bot ended with more than half, half, or less than half of the
            chips.
        half: half the width of the 95 % interval of the share, from pairs of games with equal cards; nan for fewer than
            two pairs.
        elo: difference of Elo ratings that the mean share corresponds to; infinite if the first bot won or lost all
            chips.
        ratings: Elo ratings of both bots by the competition's rule, updated after each game, from 1500.
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
        """Return the score as plain values; None in place of a value that is not finite."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
        return finite | {"faults": list(self.faults), "ratings": list(self.ratings)}


def standing(games: Sequence[Game]) -> Standing:
    shares = [game.share for game in games]
    pairs = Mean.plain(pair_means({(game.seed, game.swapped): game.share for game in games}))
    ratings = (START, START)
    for game in games:
        ratings = rated(ratings, game.share)
    mean = Mean.plain(shares).mean
    return Standing(
        len(games),
        sum(share > 0.5 for share in shares),
        sum(share == 0.5 for share in shares),
        sum(share < 0.5 for share in shares),
        mean,
        pairs.half,
        elo_difference(mean),
        ratings,
        tuple(game.fault for game in games if game.fault),
    )
