"""What tables, clients and judges ask of whoever plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.tree import Floats, Ints
from spewy.game.gamefile import Game
from spewy.game.hand import Hand


class Bot(Protocol):
    """Plays one seat of one hand after another.

    A hand is `new_hand`, then `act` whenever it is the bot's turn, then `hand_over`. Each gets the whole hand as far as
    the bot may know it, so that whoever missed a part of it can go on. All that a bot draws at random in a hand comes
    from the hand's seed: the same hand is played the same way again.
    """

    @property
    def game(self) -> Game:
        """What is played."""
        ...

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """A hand begins, in which the bot is player `seat` and knows that player's hole cards."""
        ...

    def act(self, hand: Hand) -> str:
        """A legal ACPC action of the bot, whose turn it is."""
        ...

    def hand_over(self, hand: Hand) -> None:
        """The hand is over; the opponent's cards are known if they were shown."""
        ...

    def close(self) -> None:
        """Give back what is held; no hand follows."""
        ...


@dataclass(frozen=True)
class Mix:
    """What a player does at one decision with each hand.

    Attributes:
        actions: ACPC actions, legal at the decision.
        hands: ``[hand]``: numbers of the deck's hands (`buckets.cards.hands`) that the board leaves, ascending.
        frequencies: ``[action, hand]``, adding up to 1 over the actions.
    """

    actions: tuple[str, ...]
    hands: Ints
    frequencies: Floats

    def of(self, hand: int) -> Floats:
        """``[action]``: what one hand of the deck does, by its number."""
        out: Floats = self.frequencies[:, int(np.searchsorted(self.hands, hand))]
        return out


class Reveals(Bot, Protocol):
    """A bot whose strategy can be asked for: what judges need."""

    def strategy(self, hand: Hand) -> Mix:
        """What the player to act would do with each hand, cards held and the bot's own part in the hand apart.

        It depends on the public state alone: betting, board, and the seed of the hand.
        """
        ...
