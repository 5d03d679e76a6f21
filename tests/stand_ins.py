"""Bots for tests of matches: random strategies that are told, fixed rules, and bots that fail."""

import itertools
import time
import zlib
from contextlib import suppress
from dataclasses import replace

import numpy as np

from buckets.cards import blocked, hands
from spewy.bot.bot import Mix
from spewy.errors import SpewyError


def choices(betting):
    """Legal actions: fold, call, the smallest raise and all-in."""
    out = ["f", "c"] if betting.can_fold else ["c"]
    bounds = betting.raise_bounds()
    if bounds is not None:
        out += ["r"] if betting.game.limit else [f"r{total}" for total in sorted(set(bounds))]
    return out


class Rule:
    """Does what a function of betting and own cards says."""

    def __init__(self, game, rule):
        self.game, self.rule = game, rule
        self.over = []
        self.closed = False

    def new_hand(self, hand, seat, seed):
        self.seat, self.rng = seat, np.random.default_rng(seed)

    def act(self, hand):
        return self.rule(hand)

    def hand_over(self, hand):
        self.over.append(hand)

    def close(self):
        self.closed = True


def call(game):
    return Rule(game, lambda hand: "c")


def raiser(game):
    return Rule(game, lambda hand: choices(hand.betting)[-1])


def fail(error):
    raise error


def failing(game):
    return Rule(game, lambda hand: fail(SpewyError("by chance")))


def crashing(game):
    return Rule(game, lambda hand: 1 // 0)


def illegal(game):
    return Rule(game, lambda hand: "x")


def looping(game):
    def forever(hand):
        while True:
            with suppress(Exception):
                time.sleep(0.01)

    return Rule(game, forever)


class Told:
    """A strategy that some seed makes up, hand by hand, and that it tells.

    Frequencies depend on the seat, the line, the board and the hand alone.
    """

    def __init__(self, game, number=0):
        self.game, self.number = game, number
        self.deck = hands(game.deck, game.num_hole_cards)
        self.known = {}

    def new_hand(self, hand, seat, seed):
        self.seat, self.rng = seat, np.random.default_rng(seed)

    def strategy(self, hand):
        key = f"{self.number} {hand.to_act} {hand.betting.line} {hand.board}"
        if key not in self.known:
            self.known[key] = self.made_up(hand, key)
        return self.known[key]

    def made_up(self, hand, key):
        actions = tuple(choices(hand.betting))
        left = np.flatnonzero(~blocked(self.deck, hand.board))
        rng = np.random.default_rng(zlib.crc32(key.encode()))
        weights = rng.dirichlet(np.full(len(actions), 0.7), size=len(self.deck)).T
        return Mix(actions, left, weights[:, left])

    def act(self, hand):
        mix = self.strategy(replace(hand, hole=(None, None)))
        frequencies = mix.of(self.game.hand_number(hand.hole[self.seat]))
        return mix.actions[self.rng.choice(len(mix.actions), p=frequencies)]

    def hand_over(self, hand):
        pass

    def close(self):
        pass


def told(game):
    return Told(game, 1)


def other_told(game):
    return Told(game, 2)


def all_deals(game):
    """Every deal of a game, hole cards of one card in their order."""
    sizes = [game.num_hole_cards] * 2 + [sum(game.num_board_cards)]
    for cards in itertools.permutations(game.deck.cards, sum(sizes)):
        yield cards[: sizes[0]], cards[sizes[0] : 2 * sizes[0]], cards[2 * sizes[0] :]
