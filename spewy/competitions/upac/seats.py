"""Who sits at UPAC's table: simple rules to be beaten, a bot in this process, or any command with pipes."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

from spewy.competitions.upac.runtime.odds import equity
from spewy.competitions.upac.runtime.protocol import Spot, Table
from spewy.errors import InputError, PeerError, shown
from spewy.match.pipes import write_line
from spewy.system.outsider import Outsider

ANSWER_SECONDS = 1.0
"""By the competition's text."""
_READ = 4096
_MOST_HELD = 1 << 20
"""Bytes that a bot may have written without being asked."""


class Seat(Protocol):
    """Hears lines, and answers those that ask."""

    def tell(self, text: str) -> None:
        """A line that asks nothing.

        Raises:
            PeerError: it is gone.
        """
        ...

    def ask(self, text: str) -> str:
        """The answer to a line.

        Raises:
            PeerError: there is none, or not in time.
        """
        ...

    def close(self) -> None:
        """The game is over."""
        ...


@dataclass
class Spent:
    """The most time and memory that a bot took in some games.

    Attributes:
        slowest: seconds for an answer.
        game: seconds for all answers of a game.
        cpu: seconds of the processor in a game, its start included; 0 if it is not known.
        mib: memory in MiB; 0 if it is not known.
        unasked: lines that the bot wrote in all games while nothing was asked.
    """

    slowest: float = 0.0
    game: float = 0.0
    cpu: float = 0.0
    mib: float = 0.0
    unasked: int = 0

    def add(self, slowest: float, game: float, cpu: float, mib: float, unasked: int) -> None:
        """Add a game's."""
        self.unasked += unasked
        self.slowest, self.game = max(self.slowest, slowest), max(self.game, game)
        self.cpu, self.mib = max(self.cpu, cpu), max(self.mib, mib)


Rule = Callable[[Spot, Random], str]


class RuleSeat:
    """A seat in this process that plays by a rule.

    Args:
        rule: from what is known to an answer.
        seed: of what it draws.
    """

    def __init__(self, rule: Rule, seed: int) -> None:
        self._rule, self._rng, self._table = rule, Random(seed), Table()

    def tell(self, text: str) -> None:
        """Hear a line."""
        self._table.hear(text)

    def ask(self, text: str) -> str:
        """Answer by the rule."""
        spot = self._table.hear(text).spot
        if spot is None:
            raise PeerError(f"line {shown(text)}: expected one that can be answered, found another")
        answer = self._rule(spot, self._rng)
        self._table.answered(spot, answer)
        return answer

    def close(self) -> None:
        """Give back nothing."""


def _random(spot: Spot, rng: Random) -> str:
    """Anything, each kind of answer as often; it folds to a bet only, and raises by up to all that is left."""
    kind = rng.choice("FCR" if spot.to_call else "CR")
    return kind if kind != "R" else f"R{rng.randint(1, spot.effective)}"


def _call(spot: Spot, rng: Random) -> str:
    return "C"


def _allin(spot: Spot, rng: Random) -> str:
    return f"R{spot.effective}"


def _equity(spot: Spot, rng: Random) -> str:
    """Bets and raises the pot with good hands, calls where the pot pays for it."""
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
"""Opponents by name."""


class CommandSeat:
    """A bot as a process, which hears lines on stdin and answers on stdout.

    Args:
        command: what starts it.
        seconds: for an answer; the first includes the start.
        folder: where it runs.
        log: where its stderr goes; None: nowhere.
        spent: told what the game took when it is over.

    Raises:
        InputError: the command cannot be run.
    """

    def __init__(
        self,
        command: list[str],
        seconds: float,
        folder: Path | None = None,
        log: Path | None = None,
        spent: Spent | None = None,
    ) -> None:
        self._seconds, self._held = seconds, bytearray()
        self._slowest, self._game, self._unasked, self._spent = 0.0, 0.0, 0, spent or Spent()
        self._process = _started(command, folder, log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            os.set_blocking(pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)

    def tell(self, text: str) -> None:
        """Write a line, which has to be read within the time for an answer."""
        write_line(self._in.fileno(), text, "bot", time.monotonic() + self._seconds)

    def ask(self, text: str) -> str:
        """Write a line and read the answer; by the competition's rules a line that was written before is the answer."""
        if b"\n" not in self._held:
            self._read()
        self._unasked += b"\n" in self._held
        begun = time.monotonic()
        self.tell(text)
        try:
            return self._line(begun + self._seconds)
        finally:
            took = time.monotonic() - begun
            self._slowest, self._game = max(self._slowest, took), self._game + took

    def close(self) -> None:
        """End the process, and all that it started."""
        cpu, mib = _cpu_seconds(self._process.pid), _peak_mib(self._process.pid)
        self._selector.close()
        with suppress(OSError):
            self._in.close()
        self._process.end()
        self._read()
        self._unasked += self._held.count(b"\n")
        self._spent.add(self._slowest, self._game, cpu, mib, self._unasked)
        self._out.close()

    def _line(self, deadline: float) -> str:
        while (end := self._held.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                raise PeerError(f"expected an answer within {self._seconds:g} s, found none")
            if not self._read():
                raise PeerError("expected an answer, found its output closed")
            if len(self._held) > _MOST_HELD:
                raise PeerError(f"expected an answer, found {len(self._held):,} bytes without end")
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line.decode("ascii", errors="replace")

    def _read(self) -> bool:
        """Read what the process has written; False if its output is closed."""
        found = self._out.read(_READ)
        self._held += found or b""
        return found != b""


def _started(command: list[str], folder: Path | None, log: Path | None) -> Outsider:
    try:
        with open(log or os.devnull, "ab") as stderr:
            return Outsider(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
            )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        told = shown(" ".join(command))
        raise InputError(f"command {told}: expected one that can be run, found: {reason}") from None


def _peak_mib(process: int) -> float:
    """Memory that a process took at most, in MiB; 0: nobody knows."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        return 0.0


def _cpu_seconds(process: int) -> float:
    """Seconds of the processor that a process took; 0: nobody knows."""
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
        )
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0
