"""A person's game in solved spots: hands come from the spot's ranges, and the opponent plays the average strategy.

The person can play the bets of the spot's betting tree only. A bet of another size could be translated to the nearest
size of the tree, but then the strategy would answer a bet that was not made, the chips of later rounds would differ
from those of the tree, and the EVs of the solve would not apply.

The solve knows the EV of every action of every hand exactly. So the cost of a decision is the EV of the hand's own mix
less the EV of the played action, without an estimate. The result without luck is AIVAT's estimate
(`spewy.match.aivat`), whose value function is here the EV of the solve. At a deal, and at a decision of the strategy,
the EV is the mean of the EVs that can follow. So the estimate is the EV of the person's seat at the root, less the
costs of the person's decisions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from buckets.cards import cards_name
from spewy.bot.bet_translation import draw_action
from spewy.errors import InputError, shown
from spewy.game.amounts import Unit
from spewy.game.hand import Hand
from spewy.game.lines import action_words, faces_bet, read_action, wrong_word
from spewy.game.nodes import Node
from spewy.match.contest import Choices, Judged, label_text
from spewy.match.hand_review import Decided, decided_in_spot
from spewy.match.spots import Spot, Spots
from spewy.match.table import MOST_SEED, Table, decisions

HELP = """fold, check, call
bet 120    bet so that you have put 120 into the pot in this round
raise 336  raise to 336 in this round
all-in     bet all of your chips
f, x, c, b, a are short for fold, check, check or call, bet and all-in, r for bet or raise; an empty line checks if that
is free
Only the bets of the solved tree can be played."""


class SpotContest:
    """A person's game in the solved spots of a folder.

    Args:
        spots: the spots; the caller closes them.
        seed: seed of the boards, the cards and the strategy's random choices, from 0 to `MOST_SEED`.
    """

    help = HELP

    def __init__(self, spots: Spots, seed: int = 0) -> None:
        if not 0 <= seed <= MOST_SEED:
            raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
        self._spots, self._seed = spots, seed
        self._number = 0
        self._spot = spots.first

    @property
    def spot(self) -> Spot:
        """The spot of the current hand."""
        return self._spot

    @property
    def unit(self) -> Unit:
        return self._spot.unit

    @property
    def pot(self) -> int:
        return self._spot.pot

    def new_hand(self, number: int, person: int) -> tuple[Table, str]:
        """Draw a board, both hands and the cards of later rounds, which follow from the seed and the number."""
        self._number = number
        rng = np.random.default_rng([self._seed, number])
        self._spot = self._spots.draw(rng)
        table = self._spot.table(self._spot.deal(rng))
        place = "in position" if person == 1 else "out of position"
        cards = table.hand.hole[person]
        assert cards is not None
        stack = self._spot.config.stack
        behind = "" if stack is None else f", {self.unit.text(stack)} behind"
        return table, f"{place}, with {cards_name(cards)}{behind}"

    def round_name(self, t: int) -> str:
        problem = self._spot.problem
        return problem.game.round_names[problem.first_round + t]

    def in_order(self, board: tuple[int, ...]) -> tuple[int, ...]:
        return self._spot.in_order(board)

    def act(self, hand: Hand) -> str:
        assert hand.to_act is not None
        cards = hand.hole[hand.to_act]
        assert cards is not None
        actions, frequencies = self._spot.strategy(hand, cards)
        text = f"{self._number}{hand.betting.line}{hand.board}"
        return actions[draw_action(frequencies, self._seed, text)].acpc

    def choices(self, hand: Hand) -> Choices:
        """Return the actions of the spot's betting tree; no other sizes can be played."""
        node = self._spot.node(hand)
        texts = _texts(node)
        return Choices(tuple(action.acpc for action in node.actions), texts, ", ".join(texts))

    def read(self, hand: Hand, text: str) -> str:
        node = self._spot.node(hand)
        if not text.strip() and not hand.betting.can_fold:
            return "c"
        try:
            return node.actions[read_action(self._spot.config, node, text, "action")].acpc
        except InputError:
            why = wrong_word(text, faces_bet(node))
            if not why and any(map(str.isdigit, text)):
                why = "the solved tree has no other size"
            hint = f"; {why}" if why else ", or ? for help"
            raise InputError(f"{shown(text.strip())}: expected {', '.join(_texts(node))}{hint}") from None

    def check(self, hand: Hand, action: str) -> None:
        node = self._spot.node(hand)
        if all(action != each.acpc for each in node.actions):
            names = ", ".join(
                f"{each.acpc} ({text})" for each, text in zip(node.actions, _texts(node), strict=True)
            )
            raise InputError(f"action {shown(action)}: expected {names}; the solved tree has no other action")

    def told(self, hand: Hand, action: str) -> str:
        node = self._spot.node(hand)
        return label_text(next(each.label for each in node.actions if each.acpc == action))

    def won(self, hand: Hand, person: int) -> float:
        return self._spot.won(hand, person)

    def judge(self, hand: Hand, person: int, *, failed: bool) -> Judged:
        """Compare the person's decisions in a finished hand with the solved strategy.

        If ``failed`` is True, the strategy failed at a decision of its own, and the result without luck is unknown:
        the chips that the person won take its place.
        """
        own = hand.hole[person]
        assert own is not None
        decided = tuple(
            self._decided(public, action, person, own)
            for public, action in decisions(hand)
            if public.to_act == person
        )
        expected = self._spot.values[person]
        costs = [each.cost for each in decided]
        known = [cost for cost in costs if cost is not None]
        exact = not failed and len(known) == len(costs)
        without_luck = expected - sum(known) if exact else self.won(hand, person)
        return Judged(decided, self._spot.range_of(hand, 1 - person, own), without_luck, expected)

    def end(self, hand: Hand, person: int) -> None:
        pass  # a stored strategy need not know that a hand is over

    def _decided(self, public: Hand, action: str, person: int, own: tuple[int, ...]) -> Decided:
        decided = decided_in_spot(self._spot, public, action, person, own)
        return replace(decided, opponent_range=self._spot.range_of(public, 1 - person, own))


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(action_words(action.label) for action in node.actions)
