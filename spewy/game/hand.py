"""A hand in play: its betting and cards so far, who acts, how many cards are dealt next, and who has won how much.

A `Hand` is immutable; `Hand.apply` and `Hand.deal` return a new `Hand`. Amounts are total chips that a player has put
in over the whole hand, as in `spewy.game.betting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from buckets.cards import cards_name, strength
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES

HoleCards = tuple[int, ...] | None
"""A player's hole cards; None: unknown."""


@dataclass(frozen=True)
class Hand:
    """A hand in play.

    Attributes:
        betting: blinds and actions so far.
        hole: the hole cards of players 0 and 1.
        board: public cards in the order of the deal.
    """

    betting: Betting
    hole: tuple[HoleCards, HoleCards] = (None, None)
    board: tuple[int, ...] = ()

    @classmethod
    def start(
        cls, game: Game, hole: tuple[HoleCards, HoleCards] = (None, None), min_bet: int | None = None
    ) -> Hand:
        """Start a hand; ``min_bet`` is the smallest no-limit bet in chips (None: the big blind)."""
        hand = cls(Betting.start(game, min_bet))
        for seat, cards in zip(SEAT_NAMES, hole, strict=True):
            if cards is not None:
                hand._require(f"hole cards of {seat}", cards, game.num_hole_cards)
        known = [card for cards in hole if cards is not None for card in cards]
        hand._require("hole cards", known, len(known))
        return replace(hand, hole=hole)

    @property
    def game(self) -> Game:
        return self.betting.game

    @property
    def to_deal(self) -> int:
        """Number of public cards to deal before the next action or the showdown."""
        if self.betting.folded is not None or len(self.board) >= self.game.board_sizes[self.betting.round]:
            return 0
        sizes = self.game.board_sizes
        return next(size for size in sizes if size > len(self.board)) - len(self.board)

    @property
    def to_act(self) -> int | None:
        """The player to act; None if cards must be dealt first or the hand is over."""
        return None if self.to_deal else self.betting.to_act

    @property
    def is_over(self) -> bool:
        """Whether somebody has folded, or all cards are dealt and no more action follows."""
        return self.betting.is_over and not self.to_deal

    def apply(self, action: str) -> Hand:
        """Return the hand after an ACPC action of the player to act."""
        self._require_dealt(action)
        return replace(self, betting=self.betting.apply(action))

    def given_up(self) -> Hand:
        """Return the hand after the player to act folds, even if the player faces no bet."""
        self._require_dealt("f")
        return replace(self, betting=self.betting.given_up())

    def deal(self, cards: Sequence[int]) -> Hand:
        """Return the hand after the next public cards."""
        self._require(f"public cards after {self.betting.line!r}", cards, self.to_deal)
        return replace(self, board=(*self.board, *cards))

    def seen_by(self, player: int) -> Hand:
        """Return the hand as a player sees it: without the opponent's hole cards unless there was a showdown."""
        if self.is_over and self.betting.folded is None:
            return self
        first, second = self.hole
        return replace(self, hole=(first, None) if player == 0 else (None, second))

    def net(self) -> tuple[int, int]:
        """Return the chips that each player has won; a loss is negative, and the two numbers sum to 0."""
        if not self.is_over:
            raise InputError(f"hand {self.betting.line!r}: the hand is not over, so nobody has won yet")
        spent, folded = self.betting.spent, self.betting.folded
        if folded is not None:
            return (-spent[0], spent[0]) if folded == 0 else (spent[1], -spent[1])
        first, second = self.hole
        if first is None or second is None:
            seat = SEAT_NAMES[0 if first is None else 1]
            raise InputError(f"hand {self.betting.line!r}: expected the hole cards of {seat} to be shown")
        first_strength, second_strength = strength(self.board, [first, second]).tolist()
        won = min(spent) * ((first_strength > second_strength) - (first_strength < second_strength))
        return won, -won

    def _require_dealt(self, action: str) -> None:
        if self.to_deal:
            raise InputError(
                f"action {action!r} after {self.betting.line!r}: "
                f"expected {self.to_deal} public cards first, found {cards_name(self.board) or 'none'}"
            )

    def _require(self, subject: str, cards: Sequence[int], number: int) -> None:
        if len(cards) != number:
            raise InputError(
                f"{subject}: expected {number}, found {len(cards)} ({cards_name(cards) or 'none'})"
            )
        seen = [card for held in self.hole if held is not None for card in held] + list(self.board)
        for card in cards:
            if card not in self.game.deck.cards or card in seen:
                raise InputError(f"{subject}: expected cards left in the deck, found {cards_name([card])}")
            seen.append(card)
