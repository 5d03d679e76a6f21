"""Protocols of bots: the methods that a match, or a measurement of a bot, calls.

`Player` lets a bot play one seat in a program that reports actions and cards one at a time.

>>> from spewy import Player, open_bot
>>> with open_bot("results/limit", resolve="always") as bot:  # doctest: +SKIP
...     player = Player(bot)
...     player.new_hand("AsKh", seat=1, seed=7)
...     player.observe(player.act())
...     player.observe("c")
...     player.observe("Qs Jh 2h")
...     player.strategy().actions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import translate_action
from spewy.bot.tally import Source
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand


class Bot(Protocol):
    """A bot that plays one seat in successive hands.

    In each hand the caller calls `new_hand`, then `act` whenever it is the bot's turn, then `hand_over`. Each call
    passes the whole hand as far as the bot may know it, so a bot that missed some calls can continue. The hand's seed
    determines all random choices of the bot: in a hand with the same seed and cards the bot makes the same choices.
    """

    @property
    def game(self) -> Game: ...

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """Begin a hand in which the bot is player ``seat`` and knows that player's hole cards."""
        ...

    def act(self, hand: Hand) -> str:
        """Return a legal ACPC action; it must be the bot's turn."""
        ...

    def hand_over(self, hand: Hand) -> None:
        """End the hand; ``hand`` has the opponent's hole cards if they were shown."""
        ...

    def close(self) -> None:
        """Release files and memory; the bot plays no further hand."""
        ...


@dataclass(frozen=True)
class Mix:
    """A player's strategy at one decision, for each hand.

    Attributes:
        actions: legal ACPC actions.
        hands: the hands that the board does not block, as ascending indices into `buckets.cards.hands`.
        frequencies: frequency of each action for each of these hands, ``[action, hand]``; a hand's frequencies add up
            to 1.
    """

    actions: tuple[str, ...]
    hands: Ints
    frequencies: Floats

    def of(self, hand: int) -> Floats:
        """Return the frequencies ``[action]`` of a hand, given by its index in `buckets.cards.hands`."""
        out: Floats = self.frequencies[:, int(np.searchsorted(self.hands, hand))]
        return out


@dataclass(frozen=True)
class Answer:
    """The strategy of the player to act, and its source.

    Attributes:
        actions: legal ACPC actions.
        frequencies: frequency of each action for each hand, ``[action, hand of the deck]``.
    """

    actions: tuple[str, ...]
    frequencies: Floats
    source: Source

    def among(self, actions: Sequence[str], taken: str, betting: Betting) -> Floats:
        """Translate the strategy to the actions that another betting tree has at the same decision.

        The frequency of a bet that the other tree lacks goes to the other tree's nearest bet, or to the check or call,
        but never to the action that was played.

        Args:
            actions: legal actions in the other tree; the action that was played is one of them.
            taken: the action that was played.

        Returns:
            ``[action, hand of the deck]``; NaN for hands without frequencies.
        """
        others = [action for action in actions if action != taken]
        out = np.zeros((len(actions), self.frequencies.shape[1]))
        for action, frequencies in zip(self.actions, self.frequencies, strict=True):
            if action not in actions:
                number = translate_action(action, others, betting)
                action = "c" if number is None else others[number]
            out[actions.index(action)] += frequencies
        total = out.sum(axis=0)
        shares: Floats = np.divide(out, total, out=np.full_like(out, np.nan), where=total > 0)
        return shares


class Reveals(Bot, Protocol):
    """A bot that reveals its strategy. AIVAT and best responses need such a bot."""

    def strategy(self, hand: Hand) -> Mix:
        """Return the strategy of the player to act, for each hand.

        The strategy depends only on the betting, the board and the hand's seed, not on hole cards or on the bot's seat.
        """
        ...


@runtime_checkable
class Foreseeable(Reveals, Protocol):
    """A bot that says at which public states its strategy takes only milliseconds.

    Callers may ask for the strategy at many such states, not only at the bot's own decisions.
    """

    def is_cheap(self, hand: Hand) -> bool:
        """Whether `strategy` takes only milliseconds at a public state."""
        ...


def is_cheap(bot: Bot, hand: Hand) -> bool:
    """Whether a bot's strategy at a public state takes only milliseconds; False if the bot is not `Foreseeable`."""
    return isinstance(bot, Foreseeable) and bot.is_cheap(hand)


class Player:
    """A bot's seat in successive hands; the caller reports each action and each public card."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._hand: Hand | None = None
        self._seat = 0

    @property
    def hand(self) -> Hand:
        """The hand with all actions and cards so far."""
        if self._hand is None:
            raise InputError("player: no hand has begun; call new_hand first")
        return self._hand

    def new_hand(self, hole: str | tuple[int, ...], seat: int, seed: int = 0) -> None:
        """Begin a hand.

        Args:
            hole: the player's own cards.
            seat: 0 acts first after the flop, 1 is the button.
            seed: seed of the bot's random choices in this hand.
        """
        if seat not in (0, 1):
            raise InputError(f"seat: expected 0 or 1, found {shown(seat)}")
        cards = _cards("hole cards", hole)
        self._hand = Hand.start(self.bot.game, (cards, None) if seat == 0 else (None, cards))
        self._seat = seat
        self.bot.new_hand(self._hand, seat, seed)

    def observe(self, what: str | tuple[int, ...]) -> None:
        """Record an ACPC action or public cards; the caller must report the bot's own actions too."""
        hand = self.hand
        self._hand = hand.deal(_cards("board", what)) if hand.to_deal else hand.apply(str(what))
        if self._hand.is_over:
            self.bot.hand_over(self._hand)

    def act(self) -> str:
        """Return the bot's action; the caller must also pass it to `observe`."""
        hand = self.hand
        if hand.to_act != self._seat:
            turn = "nobody's turn" if hand.to_act is None else "the other player's turn"
            raise InputError(f"act after {hand.betting.line!r}: expected this player's turn, found {turn}")
        return self.bot.act(hand)

    def strategy(self) -> Mix:
        """Return the strategy of the player to act, for each hand."""
        if not hasattr(self.bot, "strategy"):
            raise InputError("strategy: this bot does not reveal its strategy")
        return cast("Reveals", self.bot).strategy(self.hand)


def _cards(subject: str, cards: str | tuple[int, ...]) -> tuple[int, ...]:
    try:
        return parse_cards(cards if isinstance(cards, str) else cards_name(cards))
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None
