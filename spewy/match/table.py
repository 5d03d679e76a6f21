"""Deal the cards of a match from its seed, and play a hand step by step between two seats of a table.

Cards come as the ACPC's reference dealer deals them. The caller asks the player whose turn it is for an action, and
passes it to the table, so the players can be people or programs of any kind. `play_hand` plays a hand between two bots.

A seat records a bot's wrong answers and replaces them, as the ACPC's dealer does. An illegal no-limit raise becomes the
nearest legal raise; any other illegal answer becomes a call. A bot that fails folds if it faces a bet, and else checks.
A bot that is late is not asked again, since it would be late in all further hands. A bug in a bot's program, such as a
TypeError, ends the match, since the score would not measure the bot as it was designed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from types import FrameType
from typing import Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from solvers.tree import Floats
from spewy.bot.bot import Bot, Mix, Reveals, is_cheap
from spewy.bot.tally import Tally, is_expected, tally_of
from spewy.errors import InputError, PeerError, SpewyError, error_line, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import read_action

Answer = TypeVar("Answer")

MOST_SEED = 2**32 - 1
_WORDS = 624
MOST_AHEAD = 64
"""Largest number of states after a decision at which `look_ahead` asks for strategies."""
AGAIN_SECONDS = 1.0
"""Seconds after which a late bot is interrupted again, if its code has caught the first interruption."""


@dataclass(frozen=True)
class Dealt:
    """All cards of one hand.

    Attributes:
        board: public cards of all rounds in the order of the deal, also of rounds that the hand does not reach.
    """

    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def deals(game: Game, seed: int) -> Iterator[Dealt]:
    rng = _generator(seed)
    # The reference dealer's deck goes suit by suit.
    cards = sorted(game.deck.cards, key=lambda card: (card & 3, card >> 2))
    size, n_board = game.num_hole_cards, sum(game.num_board_cards)
    while True:
        drawn = _drawn(rng, list(cards), 2 * size + n_board)
        yield Dealt((drawn[:size], drawn[size : 2 * size]), drawn[2 * size :])


def hand_seed(seed: int, number: int) -> int:
    """Return the seed of a bot's random choices in hand ``number`` of a match that has the seed ``seed``."""
    return seed << 32 | number


def _drawn(rng: Random, deck: list[int], number: int) -> tuple[int, ...]:
    """Draw cards one by one; after each draw the deck's last card moves to where the drawn card was."""
    out = []
    for _ in range(number):
        place = rng.getrandbits(32) % len(deck)
        out.append(deck[place])
        deck[place] = deck[-1]
        deck.pop()
    return tuple(out)


def _generator(seed: int) -> Random:
    """Make a Mersenne Twister that is seeded as in C programs; Python's own `seed` would mix the number first."""
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
    words = [seed]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    rng = Random()
    rng.setstate((3, (*words, _WORDS), None))
    return rng


class Table:
    """One hand, played step by step.

    Args:
        dealt: all cards of the hand; public cards are revealed round by round.

    Attributes:
        hand: the hand so far, with the hole cards of both players.

    >>> from spewy.game.gamefile import load_game
    >>> table = Table(load_game("leduc"), Dealt(((51,), (47,)), (50,)))
    >>> table.to_act, table.legal
    (0, ('c', 'r'))
    >>> [table.step(action) for action in "crc"]
    [(), (), ((50,),)]
    >>> [table.step(action) for action in "rf"], table.is_over, table.result
    ([(), ()], True, (3, -3))
    """

    def __init__(self, game: Game, dealt: Dealt, *, free_folds: bool = False) -> None:
        self.hand = Hand.start(game, dealt.hole)
        self._board, self._free_folds = dealt.board, free_folds
        self._deal()

    @property
    def to_act(self) -> int | None:
        return self.hand.to_act

    @property
    def is_over(self) -> bool:
        return self.hand.is_over

    @property
    def legal(self) -> tuple[str, ...]:
        """Legal ACPC actions of the player to act; of all no-limit raises only the smallest and the largest."""
        betting = self.hand.betting
        if betting.to_act is None:
            return ()
        folds = ("f",) if betting.can_fold or self._free_folds else ()
        bounds = betting.raise_bounds()
        if bounds is None:
            return (*folds, "c")
        raises = ("r",) if betting.game.limit else tuple(f"r{total}" for total in sorted(set(bounds)))
        return (*folds, "c", *raises)

    @property
    def result(self) -> tuple[int, int]:
        """Net chips that each player has won; a loss is negative."""
        return self.hand.net()

    def view(self, player: int) -> Hand:
        """Return the hand as a player sees it."""
        return self.hand.seen_by(player)

    def step(self, action: str) -> tuple[tuple[int, ...], ...]:
        """Play an ACPC action of the player to act, and deal the public cards that follow.

        Returns:
            The board after each deal of public cards: no boards within a round, several boards after an all-in.
        """
        gives_up = action == "f" and self._free_folds
        self.hand = self.hand.given_up() if gives_up else self.hand.apply(action)
        return self._deal()

    def _deal(self) -> tuple[tuple[int, ...], ...]:
        boards = []
        while size := self.hand.to_deal:
            begun = len(self.hand.board)
            self.hand = self.hand.deal(self._board[begun : begun + size])
            boards.append(self.hand.board)
        return tuple(boards)


@runtime_checkable
class Reporting(Protocol):
    """A bot that itself reports faults, such as a remote bot whose client program sent lines without being asked."""

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
    """Call a function; in the main thread an `_OutOfTimeError` interrupts the call after ``seconds``."""
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


@dataclass(frozen=True)
class Fault:
    """Something that a bot did wrong in a hand, such as an illegal answer, or no answer in time."""

    player: int
    text: str


@dataclass(frozen=True)
class Step:
    """One decision of a hand.

    Attributes:
        hand: the hand before the decision, without hole cards.
        mix: the player's strategy at the decision; None if the player does not reveal it.
        ahead: strategies at states that may follow the decision in its round, by betting line. Which states these are
            depends neither on the action nor on hole cards.
    """

    hand: Hand
    action: str
    mix: Mix | None
    ahead: Mapping[str, Mix] = field(default_factory=dict)

    @property
    def player(self) -> int:
        player = self.hand.to_act
        assert player is not None
        return player


@dataclass(frozen=True)
class Played:
    """A finished hand with its decisions, and with the faults and tallies of both bots.

    Attributes:
        hand: the hand with all cards.
        faults: illegal or missing answers, and lines that a client sent without being asked.
        tallies: for each player, the number of decisions from each source (such as the stored strategy), their times,
            and the failures.
    """

    hand: Hand
    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))


def play_hand(
    dealt: Dealt, seats: tuple[Seat, Seat], game: Game, seeds: tuple[int, int], record: bool = False
) -> Played:
    """Play one hand between two bots, players 0 and 1.

    Args:
        seeds: seed of each bot's random choices.
        record: whether to ask each bot that reveals its strategy for the strategy at each of its decisions.
    """
    table, steps = Table(game, dealt), list[Step]()
    for player, seat in enumerate(seats):
        seat.new_hand(table.view(player), player, seeds[player])
    while (player_to_act := table.to_act) is not None:
        seat, public = seats[player_to_act], replace(table.hand, hole=(None, None))
        mix = seat.strategy(public) if record else None
        ahead = {} if mix is None else look_ahead(seats, public, mix)
        steps.append(Step(public, seat.act(table.view(player_to_act)), mix, ahead))
        table.step(steps[-1].action)
    for player, seat in enumerate(seats):
        seat.hand_over(table.view(player))
    faults = [Fault(player, text) for player, seat in enumerate(seats) for text in seat.take_faults()]
    tallies = seats[0].take_tally(), seats[1].take_tally()
    return Played(table.hand, tuple(steps), tuple(faults), tallies)


def look_ahead(seats: tuple[Seat, Seat], public: Hand, mix: Mix) -> dict[str, Mix]:
    """Ask the bots for their strategies at states that may follow a decision in the same round.

    A bot is asked only where computing its strategy takes milliseconds: first at the states directly after the
    decision, then at the states after those, and so on, for at most `MOST_AHEAD` states. The states directly after the
    decision have no such limits if the player to act asks for these strategies anyway, as Local Best Response does.

    Args:
        public: the state of the decision, without hole cards.
        mix: the strategy of the player to act there.

    Returns:
        The strategies by betting line.
    """
    found: dict[str, Mix] = {}
    states = list(_following(public, mix))
    known = public.to_act is not None and seats[public.to_act].asks_answers
    while states and (known or len(found) + len(states) <= MOST_AHEAD):
        following: list[Hand] = []
        for state in states:
            seat = seats[1 if state.to_act else 0]
            answer = seat.strategy(state) if known or seat.is_cheap(state) else None
            if answer is not None:
                found[state.betting.line] = answer
                following.extend(_following(state, answer))
        states, known = following, False
    return found


def _following(public: Hand, mix: Mix) -> Iterator[Hand]:
    """Yield the decisions of the same round that follow a decision by actions which some hand takes."""
    for action, row in zip(mix.actions, mix.frequencies, strict=True):
        betting = public.betting.apply(action)
        if row.any() and betting.to_act is not None and betting.round == public.betting.round:
            yield replace(public, betting=betting)


def decisions(hand: Hand) -> Iterator[tuple[Hand, str]]:
    """Yield each decision of a hand: the hand before the decision, without hole cards, and the action."""
    state, board = Hand(Betting.start(hand.game, hand.betting.min_bet)), hand.board
    for actions in hand.betting.rounds:
        for action in actions:
            if state.to_deal:
                state = state.deal(board[len(state.board) : len(state.board) + state.to_deal])
            yield state, action
            state = replace(state, betting=acted(state.betting, action))


def acted(betting: Betting, action: str) -> Betting:
    """Return the betting after an action, which may be a fold even if checking is free."""
    return betting.given_up() if action == "f" else betting.apply(action)


def by_action(mix: Mix, n_hands: int) -> dict[str, Floats]:
    """Return the frequencies of each action, ``[hand of the deck]``; 0 for hands that the strategy lacks."""
    out: dict[str, Floats] = {}
    for action, row in zip(mix.actions, mix.frequencies, strict=True):
        out[action] = np.zeros(n_hands)
        out[action][mix.hands] = row
    return out
