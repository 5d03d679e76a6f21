"""Kuhn and Leduc poker as live games, written out by hand: the solvers need no card room."""

from dataclasses import replace

import numpy as np

from solvers.game import Deal, Hands, LiveGame, Round
from solvers.tree import Chance, Decision, Fold, Forest, Showdown


def kuhn():
    def bet(stake, caller):  # fold or call a bet of one
        lost = 1 if caller == 1 else -1
        return Decision(caller, (Fold(lost), Showdown(stake)))

    tree = Decision(0, (Decision(1, (Showdown(1), bet(2, 0))), bet(2, 1)))
    rows = one_card_rows(np.array([[0, 1, 2]]), np.array([[0, 1, 2]]))
    ones = np.ones((1, 3))
    return as_dealt(LiveGame([Round(Forest.build([tree]), (rows, rows), None)], (ones, ones), 3))


def limit_round(spent, raise_size, max_raises, close, player=0, raises=0, checked=False):
    """A limit betting round: trees whose leaves for a closed round come from ``close(spent)``."""
    me, you = spent[player], spent[1 - player]
    facing = you > me
    children = []
    if facing:
        children.append(Fold(me if player == 1 else -me))
    called = (you, you)
    if facing or checked:
        children.append(close(called))
    else:
        children.append(limit_round(spent, raise_size, max_raises, close, 1 - player, raises, True))
    if raises < max_raises:
        to = you + raise_size
        after = (to, you) if player == 0 else (you, to)
        children.append(limit_round(after, raise_size, max_raises, close, 1 - player, raises + 1, True))
    return Decision(player, tuple(children))


def leduc():
    entering = []

    def deal(spent):
        entering.append(spent)
        return Chance(len(entering) - 1)

    first = limit_round((1, 1), 2, 2, deal)
    second = [limit_round(spent, 4, 2, lambda s: Showdown(s[0])) for spent in entering]
    cards = np.arange(6)  # rank = card // 2
    top = one_card_rows(cards[None], np.zeros((1, 6), int))
    hands, strength, origin, images = [], [], [], []
    for board in cards:
        left = np.delete(cards, board)
        power = np.where(left // 2 == board // 2, 10, left // 2)
        order = np.argsort(power, kind="stable")
        hands.append(left[order])
        strength.append(power[order])
        origin.append(left[order])
        image = np.full(6, -1)
        image[left[order]] = np.arange(5)
        images.append(image)
    below = one_card_rows(np.array(hands), np.array(strength))
    origin, images = np.array(origin), np.array(images)
    passage = Deal(np.array([0, 6]), np.arange(6), (origin, origin), np.arange(7), (images, images), 1 / 4)
    ones = np.ones((1, 6))
    rounds = [
        Round(Forest.build([first]), (top, top), passage),
        Round(Forest.build(second), (below, below), None),
    ]
    return as_dealt(LiveGame(rounds, (ones, ones), 6))


def one_card_rows(cards, strength):
    boards, n = cards.shape
    return Hands.of(
        n_hands=np.full(boards, n),
        cards=cards[:, :, None],
        strength=strength,
        same_cards=np.tile(np.arange(n), (boards, 1)),
        row=np.tile(np.arange(n), (boards, 1)),
        weight=np.ones((boards, n)),
        n_rows=n,
    )


def as_dealt(game):
    """The game with numbers of the types that the card room makes: kernels are compiled for no other types."""
    rounds = []
    for r in game.rounds:
        hands = tuple(
            own._replace(
                cards=own.cards.astype(np.int16),
                strength=own.strength.astype(np.int32),
                same_cards=own.same_cards.astype(np.int16),
                row=own.row.astype(np.int16),
            )
            for own in r.hands
        )
        deal = r.deal and replace(
            r.deal,
            parent_row=tuple(rows.astype(np.int16) for rows in r.deal.parent_row),
            child_row=tuple(rows.astype(np.int16) for rows in r.deal.child_row),
        )
        rounds.append(replace(r, hands=hands, deal=deal))
    return replace(game, rounds=rounds)
