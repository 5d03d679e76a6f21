"""Protocols of bots, for tables, clients and judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.tree import Floats, Ints
from spewy.game.gamefile import Game
from spewy.game.hand import Hand


class Bot(Protocol):
    """Plays one seat of one hand after another.

    The calls of a hand are `new_hand`, then `act` whenever it is the bot's turn, then `hand_over`. Each call gets the
    whole hand as far as the bot may know it, so a bot that missed some calls can go on. The hand's seed determines all
    random choices of the bot: it plays the same hand the same way again.
    """

    @property
    def game(self) -> Game:
        """The rules of the game."""
        ...

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """Begin a hand in which the bot is player `seat` and knows that player's hole cards."""
        ...

    def act(self, hand: Hand) -> str:
        """Return a legal ACPC action; the bot is the player to act."""
        ...

    def hand_over(self, hand: Hand) -> None:
        """End the hand; the opponent's cards are known if they were shown."""
        ...

    def close(self) -> None:
        """Release files and memory; no hand follows."""
        ...


@dataclass(frozen=True)
class Mix:
    """A player's strategy at one decision, for each hand.

    Attributes:
        actions: ACPC actions, legal at the decision.
        hands: ``[hand]``: numbers of the deck's hands (`buckets.cards.hands`) that the board does not block, ascending.
        frequencies: ``[action, hand]``, adding up to 1 over the actions.
    """

    actions: tuple[str, ...]
    hands: Ints
    frequencies: Floats

    def of(self, hand: int) -> Floats:
        """Return ``[action]``, the strategy of one hand of the deck, given by its number."""
        out: Floats = self.frequencies[:, int(np.searchsorted(self.hands, hand))]
        return out


class Reveals(Bot, Protocol):
    """A bot that reveals its strategy, which AIVAT and best responses need."""

    def strategy(self, hand: Hand) -> Mix:
        """Return the strategy of the player to act, for each hand.

        The strategy depends on betting, board and the hand's seed alone, not on hole cards or on the bot's own seat.
        """
        ...
