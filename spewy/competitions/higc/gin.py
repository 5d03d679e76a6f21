"""Gin rummy by simple rules: collect melds, knock as soon as possible, lay off as many cards as possible."""

from __future__ import annotations

from random import Random

import numpy as np

from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import State, tensor_values

STANDARD = {"num_ranks": 13, "num_suits": 4, "hand_size": 10}
"""Parameters of the games that this agent can play; other games have other tensors and numbers of actions."""
SIZE, CARDS = 644, 52
HANDS, UPCARD = 2, 118
"""Positions in a tensor at which the hands and the upcard begin."""
DRAW_UPCARD, DRAW_STOCK, PASS, KNOCK, MELDS = 52, 53, 54, 55, 56
"""OpenSpiel's numbers of these actions; a number below 52 is a card, and a number from `MELDS` on is a meld."""


class GinAgent(Agent):
    """Plays one seat of gin rummy."""

    def __init__(self, game: SpielGame, seat: int, seed: int) -> None:
        import pyspiel

        knock = int(game.game.get_parameters()["knock_card"])
        self._utils = pyspiel.gin_rummy.GinRummyUtils(STANDARD["num_ranks"], STANDARD["num_suits"], knock)
        self._seat, self._rng = seat, Random(seed)
        self.new_match()

    @staticmethod
    def plays(game: SpielGame) -> bool:
        parameters = game.game.get_parameters()
        known = game.game.get_type().short_name == "gin_rummy" and game.dialect == "rules"
        return known and all(parameters[key] == value for key, value in STANDARD.items())

    def new_match(self) -> None:
        self._hand: list[int] = []
        self._upcard: list[int] = []

    def see(self, state: State) -> None:
        values = tensor_values(state.tensors[0], SIZE, "rules")
        hands = values[HANDS : HANDS + 2 * CARDS].reshape(2, CARDS)
        self._hand = np.flatnonzero(hands[self._seat]).tolist()
        self._upcard = np.flatnonzero(values[UPCARD : UPCARD + CARDS]).tolist()

    def act(self, legal: tuple[int, ...]) -> int:
        if DRAW_UPCARD in legal:
            return self._drawn(legal)
        if KNOCK in legal:
            return KNOCK
        cards = [action for action in legal if action < CARDS]
        if cards and PASS not in legal:
            return self._discarded(cards)
        return self._laid(legal, cards)

    def _drawn(self, legal: tuple[int, ...]) -> int:
        if self._upcard and self._least([*self._hand, *self._upcard]) < self._deadwood(self._hand):
            return DRAW_UPCARD
        return next(action for action in (PASS, DRAW_STOCK, DRAW_UPCARD) if action in legal)

    def _discarded(self, cards: list[int]) -> int:
        """Choose the discard that leaves the least deadwood; of equally good cards, the card with the highest value."""
        return min(
            cards, key=lambda card: (self._without(card), -self._utils.card_value(card), self._rng.random())
        )

    def _laid(self, legal: tuple[int, ...], cards: list[int]) -> int:
        group = self._utils.best_meld_group(self._hand)
        held = {card for meld in group for card in meld}
        for meld in group:
            action = MELDS + self._utils.meld_to_int(meld)
            if action in legal:
                return int(action)
        loose = [card for card in cards if card not in held]
        return loose[0] if loose else PASS if PASS in legal else legal[0]

    def _least(self, hand: list[int]) -> int:
        return min(self._deadwood([card for card in hand if card != out]) for out in hand)

    def _without(self, card: int) -> int:
        return self._deadwood([held for held in self._hand if held != card])

    def _deadwood(self, hand: list[int]) -> int:
        return int(self._utils.min_deadwood(hand))
