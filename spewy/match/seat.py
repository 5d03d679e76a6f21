"""A seat at a table: it records a bot's wrong answers and replaces them, as the ACPC's dealer does.

An illegal no-limit raise becomes the nearest legal raise; any other illegal answer becomes a call. A bot that fails
folds if it faces a bet, and else checks. A bot that is late is not asked again, since it would be late in all further
hands. A bug in a bot's program, such as a TypeError, ends the match, since the score would not measure the bot as it
was designed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Protocol, TypeVar, cast, runtime_checkable

from spewy.bot.bot import Bot, Mix, Reveals, is_cheap
from spewy.bot.tally import Tally, is_expected, tally_of
from spewy.errors import PeerError, SpewyError, error_line, shown
from spewy.game.hand import Hand
from spewy.match.acpc_text import read_action

Answer = TypeVar("Answer")

AGAIN_SECONDS = 1.0
"""Seconds after which a late bot is interrupted again, if its code has caught the first interruption."""


@runtime_checkable
class Reporting(Protocol):
    """A bot that reports its own faults, such as lines that a client sent unasked."""

    def take_faults(self) -> list[str]:
        """Return the bot's faults since the last call, except missing answers, which the seat records."""
        ...


class BotGoneError(PeerError):
    """A bot's process has ended, or its connection is closed."""


class BotError(SpewyError):
    """A bot in this process raised an unexpected exception."""


class _OutOfTimeError(BaseException):
    """Interrupts a late bot; it is no `Exception`, since bots may catch every `Exception`."""


class Seat:
    """A bot at a table; the seat records the bot's failures, and raises only unexpected exceptions.

    Args:
        seconds: seconds that the bot may take for each answer; None: no limit. The limit is enforced in the main
            thread of a process only.
    """

    def __init__(self, bot: Bot, seconds: float | None = None, name: str = "bot") -> None:
        self.bot, self.name = bot, name
        self.seconds = seconds
        self._faults: list[str] = []
        self._out = False

    @property
    def reveals(self) -> bool:
        return hasattr(self.bot, "strategy")

    @property
    def asks_answers(self) -> bool:
        """Whether the bot asks, before each action, for the opponent's strategy after the bets under consideration."""
        return bool(getattr(self.bot, "asks_answers", False))

    def is_cheap(self, hand: Hand) -> bool:
        return is_cheap(self.bot, hand)

    def new_hand(self, hand: Hand, player: int, seed: int) -> None:
        """Tell the bot, which is player ``player``, that a hand begins."""
        self._ask("new_hand", lambda: self.bot.new_hand(hand, player, seed))

    def act(self, hand: Hand) -> str:
        """Ask the bot for an action; return a legal action in place of a wrong or missing answer."""
        failed = len(self._faults)
        answer = self._ask("act", lambda: self.bot.act(hand))
        if self._out or len(self._faults) > failed:
            return hand.betting.passive
        action, wrong = read_action(hand, answer if isinstance(answer, str) else "")
        if wrong is not None:
            subject, expected = f"action after {hand.betting.line!r}", hand.betting.legal_text()
            self._faults.append(f"{subject}: expected {expected}, found {shown(answer)}")
        return action

    def strategy(self, hand: Hand) -> Mix | None:
        """Return the bot's action frequencies for each hand; None if the bot does not reveal them, or fails."""
        if not self.reveals:
            return None
        return self._ask("strategy", lambda: cast("Reveals", self.bot).strategy(hand))

    def hand_over(self, hand: Hand) -> None:
        self._ask("hand_over", lambda: self.bot.hand_over(hand))

    def close(self) -> None:
        self._out = False  # a bot that has failed is closed, too
        self._ask("close", self.bot.close)

    def take_faults(self) -> list[str]:
        """Return the texts of all faults since the last call, including those that the bot reports itself."""
        taken, self._faults = self._faults, []
        return taken + (self.bot.take_faults() if isinstance(self.bot, Reporting) else [])

    def take_tally(self) -> Tally:
        """Return the sources, failures and times of the bot's decisions since the last call; empty if not recorded."""
        return tally_of(self.bot).take()

    def _ask(self, name: str, function: Callable[[], Answer]) -> Answer | None:
        """Call a function of the bot; return None if the bot fails, or is not to be asked any more."""
        if self._out:
            return None
        try:
            return _within(self.seconds, function)
        except _OutOfTimeError:
            self._out = True
            self._faults.append(f"{name}: expected an answer within {self.seconds:g} s, found none")
        except BotGoneError as error:
            self._out = True
            self._faults.append(f"{name}: {error}")
        except Exception as error:
            text = f"{name}: expected an answer, found {error_line(error)}"
            if not is_expected(error):
                raise BotError(f"{self.name}, {text}") from error
            self._faults.append(text)
        return None


def _within(seconds: float | None, function: Callable[[], Answer]) -> Answer:
    """Call a function in at most ``seconds``; None: without limit."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        return function()

    def timed() -> Answer:
        return function()

    def on_alarm(number: int, frame: FrameType | None) -> None:
        """Interrupt the call when the timer ends, unless the call has returned and the timer is being stopped."""
        while frame is not None:
            if frame.f_code is timed.__code__:
                raise _OutOfTimeError
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
        return timed()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
