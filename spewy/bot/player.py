"""Let a bot play one seat, in a program that reports actions and cards one at a time.

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

from typing import cast

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.bot.bot import Bot, Mix, Reveals
from spewy.errors import InputError, shown
from spewy.game.hand import Hand


class Player:
    """A bot's seat in successive hands; the caller reports each action and each public card.

    Args:
        bot: the bot that decides.
    """

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._hand: Hand | None = None
        self._seat = 0

    @property
    def hand(self) -> Hand:
        """The hand with all actions and cards so far.

        Raises:
            InputError: no hand has begun.
        """
        if self._hand is None:
            raise InputError("player: no hand has begun; call new_hand first")
        return self._hand

    def new_hand(self, hole: str | tuple[int, ...], seat: int, seed: int = 0) -> None:
        """Begin a hand.

        Args:
            hole: the player's own cards.
            seat: 0 acts first after the flop, 1 is the button.
            seed: seed of the bot's random choices in this hand.

        Raises:
            InputError: the cards are not in the game's deck, or the seat is neither 0 nor 1.
        """
        if seat not in (0, 1):
            raise InputError(f"seat: expected 0 or 1, found {shown(seat)}")
        cards = _cards("hole cards", hole)
        self._hand = Hand.start(self.bot.game, (cards, None) if seat == 0 else (None, cards))
        self._seat = seat
        self.bot.new_hand(self._hand, seat, seed)

    def observe(self, what: str | tuple[int, ...]) -> None:
        """Record an ACPC action or public cards; the caller must report the bot's own actions too.

        Raises:
            InputError: the action or the cards are impossible at this point of the hand.
        """
        hand = self.hand
        self._hand = hand.deal(_cards("board", what)) if hand.to_deal else hand.apply(str(what))
        if self._hand.is_over:
            self.bot.hand_over(self._hand)

    def act(self) -> str:
        """Return the bot's action; the caller must also pass it to `observe`.

        Raises:
            InputError: it is not this player's turn.
        """
        hand = self.hand
        if hand.to_act != self._seat:
            turn = "nobody's turn" if hand.to_act is None else "the other player's turn"
            raise InputError(f"act after {hand.betting.line!r}: expected this player's turn, found {turn}")
        return self.bot.act(hand)

    def strategy(self) -> Mix:
        """Return the strategy of the player to act, for each hand.

        Raises:
            InputError: no player is to act, or the bot does not reveal its strategy.
        """
        if not hasattr(self.bot, "strategy"):
            raise InputError("strategy: this bot does not reveal its strategy")
        return cast("Reveals", self.bot).strategy(self.hand)


def _cards(subject: str, cards: str | tuple[int, ...]) -> tuple[int, ...]:
    try:
        return parse_cards(cards if isinstance(cards, str) else cards_name(cards))
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None
