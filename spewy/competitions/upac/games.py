"""Play games between two UPAC bots, with equal cards in both seatings, and score them by chips and by Elo."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any

from spewy.competitions.upac.contenders import Contender
from spewy.competitions.upac.rules import BadReplyError, Line, Rules, dealt, play_hand
from spewy.errors import PeerError, visible
from spewy.match.connection import Channel, Program, TimedOutError
from spewy.match.score import START, Mean, elo_difference, pair_means, rated

NAMES = ("Defender", "Challenger")
"""Names of the seats in the competition's log."""

Log = Callable[[str], None]
"""Function that receives lines in the format of the competition's log."""


@dataclass(frozen=True)
class Game:
    """The result of a finished game between two bots.

    Attributes:
        seed: seed of the cards.
        swapped: whether the first bot had seat 1 (the challenger's) instead of seat 0 (the defender's).
        share: share of all chips that the first bot had at the end.
        rounds: number of hands that were played.
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
    """Play two games for each seed, the second with the seats swapped, and yield their results.

    Args:
        rules: rules of all games.
        contenders: both bots.
        seeds: seeds of the cards.
        seconds: seconds that a bot may take for each answer.
        log: called with each line that is sent or received.
    """
    for seed in seeds:
        for swapped in (False, True):
            seated = contenders[::-1] if swapped else contenders
            shares, rounds, fault = _game(rules, (seated[0], seated[1]), seed, seconds, log)
            yield Game(seed, swapped, shares[int(swapped)], rounds, fault)


def _game(
    rules: Rules, contenders: tuple[Contender, Contender], seed: int, seconds: float, log: Log | None
) -> tuple[tuple[float, float], int, str]:
    """Play one game between two bots in their seats.

    Returns:
        Each seat's share of all chips, the number of hands, and the error that ended the game early, or an empty text.
    """
    rng, stacks, number = Random(seed), (rules.chips, rules.chips), 0
    with ExitStack() as held:
        try:
            seats = []
            for place, contender in enumerate(contenders):
                seats.append(_Seat(contender, contender.open(2 * seed + place, contender.name), seconds))
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
            return lost, number, f"{contenders[error.seat].name}: {error}"
    total = sum(stacks)
    return (stacks[0] / total, stacks[1] / total), number, ""


class _Seat:
    """A bot in a game; records the time and memory that the bot uses."""

    def __init__(self, contender: Contender, channel: Channel, seconds: float) -> None:
        self._channel, self._seconds, self._spent = channel, seconds, contender.spent
        self._game = 0.0

    def send(self, text: str) -> None:
        """Send a line, which the bot must read within the time limit of an answer."""
        self._channel.send(text, time.monotonic() + self._seconds)

    def ask(self, text: str) -> str:
        """Send a line and return the bot's answer.

        By the competition's rules, a line that the bot wrote before the question counts as its answer.

        Raises:
            PeerError: the bot does not answer in time.
        """
        if isinstance(self._channel, Program):
            self._spent.unasked += self._channel.read_available() > 0
        begun = time.monotonic()
        self.send(text)
        try:
            line = self._channel.receive(begun + self._seconds)
        except TimedOutError:
            limit = f"{self._seconds:g} s"
            raise PeerError(f"{self._channel.peer}: expected an answer within {limit}, found none") from None
        finally:
            seconds = time.monotonic() - begun
            self._game += seconds
            if isinstance(self._channel, Program):
                self._spent.slowest = max(self._spent.slowest, seconds)
                self._spent.game = max(self._spent.game, self._game)
        if line is None:
            raise self._channel.gone("an answer")
        return line.decode("ascii", errors="replace")

    def close(self) -> None:
        """Kill a program with its child processes, and record its time and memory."""
        if isinstance(self._channel, Program):
            usage = self._channel.usage()
            self._channel.end()
            self._spent.cpu, self._spent.mib = (
                max(self._spent.cpu, usage.cpu),
                max(self._spent.mib, usage.mib),
            )
            self._spent.unasked += self._channel.read_available()
        self._channel.close()


def _hand(
    rules: Rules,
    rng: Random,
    stacks: tuple[int, int],
    button: int,
    seats: tuple[_Seat, _Seat],
    log: Log | None,
) -> tuple[int, int]:
    """Play one hand between two bots; return both stacks after the hand."""
    lines = play_hand(rules, dealt(rng), stacks, button)
    reply = ""
    while True:
        try:
            line = lines.send(reply) if reply else next(lines)
        except StopIteration as end:
            after: tuple[int, int] = end.value
            return after
        reply = _reply(line, seats[line.seat], log)


def _reply(line: Line, seat: _Seat, log: Log | None) -> str:
    """Send a line and return the bot's reply; empty if the line does not ask for a reply."""
    if log:
        log(f"{NAMES[line.seat]} < {line.text}")
    try:
        if not line.asks:
            seat.send(line.text)
            return ""
        reply = seat.ask(line.text)
    except PeerError as error:
        raise BadReplyError(line.seat, str(error).partition(": ")[2]) from None
    if log:
        log(f"{NAMES[line.seat]} > {visible(reply)}")
    return reply or " "


@dataclass(frozen=True)
class Standing:
    """The first bot's score over several games.

    Attributes:
        games: number of games.
        won, drawn, lost: number of games that the first bot ended with more than half, half, or less than half of the
            chips.
        share: mean share of the chips.
        half: half the width of the 95 % interval of the share, from pairs of games with equal cards; nan for fewer than
            two pairs.
        elo: difference of Elo ratings that the mean share corresponds to; infinite if the first bot won or lost all
            chips.
        ratings: Elo ratings of both bots by the competition's rule, updated after each game, from 1500.
        faults: errors that ended games early.
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
    """Compute the first bot's score over several games."""
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
