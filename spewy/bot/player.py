"""One seat in a hand that is reported by single observations of actions and cards.

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
    """One seat of one hand after another, which observes actions and cards one by one.

    Args:
        bot: the bot that decides.
    """

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._hand: Hand | None = None
        self._seat = 0

    @property
    def hand(self) -> Hand:
        """The hand as observed so far.

        Raises:
            InputError: no hand has begun.
        """
        if self._hand is None:
            raise InputError("player: expected a hand that has begun, found none")
        return self._hand

    def new_hand(self, hole: str | tuple[int, ...], seat: int, seed: int = 0) -> None:
        """Begin a hand.

        Args:
            hole: the player's own cards.
            seat: 0 acts first after the flop, 1 is the button.
            seed: seed of the bot's random choices in this hand.

        Raises:
            InputError: the cards are not of the game, or the seat is neither 0 nor 1.
        """
        if seat not in (0, 1):
            raise InputError(f"seat: expected 0 or 1, found {shown(seat)}")
        cards = _cards("hole cards", hole)
        self._hand = Hand.start(self.bot.game, (cards, None) if seat == 0 else (None, cards))
        self._seat = seat
        self.bot.new_hand(self._hand, seat, seed)

    def observe(self, what: str | tuple[int, ...]) -> None:
        """Observe an ACPC action of either player (the bot's own actions too), or public cards.

        Raises:
            InputError: the action or the cards are not possible now.
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
            turn = "nobody's" if hand.to_act is None else "the other player's"
            raise InputError(f"act after {hand.betting.line!r}: expected this player's turn, found {turn}")
        return self.bot.act(hand)

    def strategy(self) -> Mix:
        """Return the strategy of the player to act, for each hand.

        Raises:
            InputError: nobody acts, or the bot does not reveal its strategy.
        """
        if not hasattr(self.bot, "strategy"):
            raise InputError("strategy: expected a bot that tells it, found one that does not")
        return cast("Reveals", self.bot).strategy(self.hand)


def _cards(subject: str, cards: str | tuple[int, ...]) -> tuple[int, ...]:
    try:
        return parse_cards(cards if isinstance(cards, str) else cards_name(cards))
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None
