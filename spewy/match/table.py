"""The table of one hand between two bots records wrong answers and replaces them, as the ACPC's dealer does.

A reply that is not legal becomes the nearest legal raise, if it is a no-limit raise of a wrong size, and else a call. A
bot that fails folds where it faces a bet, and checks where it does not. A bot that takes longer than it may is not
asked again: it would take as long in every hand to come. An error of a bot's program, such as a TypeError, ends the
match: a score with such errors would be the score of another bot.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Protocol, TypeVar, cast, runtime_checkable

from spewy.bot.bot import Bot, Mix, Reveals
from spewy.bot.tally import Tally, is_expected, tally_of
from spewy.errors import error_line, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import read_action
from spewy.match.cards import Dealt

Answer = TypeVar("Answer")

AGAIN_SECONDS = 1.0
"""After this a bot that caught the interruption, as it catches everything, is interrupted again."""


@dataclass(frozen=True)
class Fault:
    """Something that a bot did wrong: which player it was, and what."""

    player: int
    text: str


@dataclass(frozen=True)
class Step:
    """One decision of a hand.

    Attributes:
        hand: before it, without anybody's hole cards.
        action: what was done.
        mix: what the player would do there with each hand; None where it does not tell.
    """

    hand: Hand
    action: str
    mix: Mix | None

    @property
    def player(self) -> int:
        """Who decided."""
        player = self.hand.to_act
        assert player is not None
        return player


@dataclass(frozen=True)
class Played:
    """A hand that is over.

    Attributes:
        hand: the hand with all cards.
        steps: each decision.
        faults: answers that were not legal or did not come, and lines out of turn.
        tallies: decisions by source, and failures, of each player.
    """

    hand: Hand
    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))


@runtime_checkable
class Reporting(Protocol):
    """A bot that reports faults of its own, such as a client's lines out of turn."""

    def take_faults(self) -> list[str]:
        """Faults since the last call; none of them has kept the bot from its answer."""
        ...


class BotGoneError(Exception):
    """A bot that will never answer again: its process ended, or its connection is closed."""


class BotError(Exception):
    """The program of a bot in this process has a bug."""


class _OutOfTimeError(BaseException):
    """Passes through bots, which may catch every `Exception`."""


class Seated:
    """A bot at a table; its failures are noted and not raised, except for errors of its program.

    Args:
        bot: who plays.
        seconds: how long a single answer may take; None: forever. The limit holds in a process's main thread only.
        name: the bot's name in messages.
    """

    def __init__(self, bot: Bot, seconds: float | None = None, name: str = "bot") -> None:
        self.bot, self.name = bot, name
        self.seconds = seconds
        self._faults: list[str] = []
        self._out = False

    @property
    def reveals(self) -> bool:
        """Whether the bot tells its strategy."""
        return hasattr(self.bot, "strategy")

    def new_hand(self, hand: Hand, player: int, seed: int) -> None:
        """A hand begins."""
        self._ask("new_hand", lambda: self.bot.new_hand(hand, player, seed))

    def act(self, hand: Hand) -> str:
        """A legal action, what the bot does or what stands for it."""
        failed = len(self._faults)
        found = self._ask("act", lambda: self.bot.act(hand))
        if self._out or len(self._faults) > failed:
            return hand.betting.passive
        action, wrong = read_action(hand, found if isinstance(found, str) else "")
        if wrong is not None:
            subject, expected = f"action after {hand.betting.line!r}", hand.betting.legal_text()
            self._faults.append(f"{subject}: expected {expected}, found {shown(found)}")
        return action

    def strategy(self, hand: Hand) -> Mix | None:
        """What the bot would do with each hand; None if it does not tell."""
        if not self.reveals:
            return None
        return self._ask("strategy", lambda: cast("Reveals", self.bot).strategy(hand))

    def hand_over(self, hand: Hand) -> None:
        """The hand is over."""
        self._ask("hand_over", lambda: self.bot.hand_over(hand))

    def close(self) -> None:
        """No hand follows; a bot that is not asked any more is closed too."""
        self._out = False
        self._ask("close", self.bot.close)

    def take_faults(self) -> list[str]:
        """The faults since the last call, including those that the bot itself reports."""
        taken, self._faults = self._faults, []
        return taken + (self.bot.take_faults() if isinstance(self.bot, Reporting) else [])

    def take_tally(self) -> Tally:
        """The bot's counts since the last call; an empty tally for a bot that does not count."""
        return tally_of(self.bot).take()

    def _ask(self, name: str, function: Callable[[], Answer]) -> Answer | None:
        """Call a function of the bot; None if the bot fails, or is not asked any more.

        Raises:
            BotError: the bot's program has a bug.
        """
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
            told = f"{name}: expected an answer, found {error_line(error)}"
            if not is_expected(error):
                raise BotError(f"{self.name}, {told}") from error
            self._faults.append(told)
        return None


def _within(seconds: float | None, function: Callable[[], Answer]) -> Answer:
    """Call a function, and interrupt the call if it takes longer than ``seconds``."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        return function()

    def timed() -> Answer:
        return function()

    def on_alarm(number: int, frame: FrameType | None) -> None:
        """Interrupt the function, but never the code below that stops the clock."""
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


def play_hand(
    dealt: Dealt, bots: tuple[Seated, Seated], game: Game, seeds: tuple[int, int], record: bool = False
) -> Played:
    """Play one hand.

    Args:
        dealt: the cards.
        bots: players 0 and 1.
        game: the game.
        seeds: seed of each bot's random choices.
        record: whether to ask bots for their strategy at each of their decisions, if they tell it.

    Raises:
        BotError: the program of a bot has a bug.
    """
    hand, steps = Hand.start(game, dealt.hole), list[Step]()
    for player, bot in enumerate(bots):
        bot.new_hand(hand.seen_by(player), player, seeds[player])
    while not hand.is_over:
        if hand.to_deal:
            hand = hand.deal(dealt.board[len(hand.board) : len(hand.board) + hand.to_deal])
            continue
        steps.append(_decided(hand, bots, record))
        hand = hand.apply(steps[-1].action)
    for player, bot in enumerate(bots):
        bot.hand_over(hand.seen_by(player))
    faults = [Fault(player, text) for player, bot in enumerate(bots) for text in bot.take_faults()]
    tallies = bots[0].take_tally(), bots[1].take_tally()
    return Played(hand, tuple(steps), tuple(faults), tallies)


def _decided(hand: Hand, bots: tuple[Seated, Seated], record: bool) -> Step:
    player = hand.to_act
    assert player is not None
    public = replace(hand, hole=(None, None))
    mix = bots[player].strategy(public) if record else None
    return Step(public, bots[player].act(hand.seen_by(player)), mix)
