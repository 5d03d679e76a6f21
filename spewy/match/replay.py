"""The decisions of a hand, one by one, and strategies there, spread over the whole deck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from solvers.tree import Floats
from spewy.bot.bot import Mix
from spewy.game.betting import Betting
from spewy.game.hand import Hand


def decisions(hand: Hand) -> Iterator[tuple[Hand, str]]:
    """Each state of a hand in which somebody acted, without hole cards, and what was done there."""
    now, dealt = Hand(Betting.start(hand.game)), hand.board
    for actions in hand.betting.rounds:
        for action in actions:
            if now.to_deal:
                now = now.deal(dealt[len(now.board) : len(now.board) + now.to_deal])
            yield now, action
            now = replace(now, betting=acted(now.betting, action))


def by_action(mix: Mix, n_hands: int) -> dict[str, Floats]:
    """Of each action, ``[hand of the deck]``: how often it is taken; 0 by hands that the board hits."""
    out: dict[str, Floats] = {}
    for action, row in zip(mix.actions, mix.frequencies, strict=True):
        out[action] = np.zeros(n_hands)
        out[action][mix.hands] = row
    return out


def acted(betting: Betting, action: str) -> Betting:
    """Betting after an action; folds may be where a check is free, as some rules have it."""
    return betting.given_up() if action == "f" else betting.apply(action)
