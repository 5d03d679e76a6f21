"""Protocols of bots: the methods that a match, or a measurement of a bot, calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from solvers.tree import Floats, Ints
from spewy.game.gamefile import Game
from spewy.game.hand import Hand


class Bot(Protocol):
    """A bot that plays one seat in successive hands.

    In each hand the caller calls `new_hand`, then `act` whenever it is the bot's turn, then `hand_over`. Each call
    passes the whole hand as far as the bot may know it, so a bot that missed some calls can continue. The hand's seed
    determines all random choices of the bot: in a hand with the same seed and cards the bot makes the same choices.
    """

    @property
    def game(self) -> Game:
        """The rules of the game."""
        ...

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
        hands: numbers of the hands that the board does not block (rows of `buckets.cards.hands`), ascending.
        frequencies: frequency of each action for each of these hands, ``[action, hand]``; a hand's frequencies add up
            to 1.
    """

    actions: tuple[str, ...]
    hands: Ints
    frequencies: Floats

    def of(self, hand: int) -> Floats:
        """Return the frequency of each action (an array ``[action]``) for a hand, given by its number in the deck."""
        out: Floats = self.frequencies[:, int(np.searchsorted(self.hands, hand))]
        return out


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
