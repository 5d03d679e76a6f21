"""Estimate the chips won in a hand without luck (N. Burch et al., "AIVAT", AAAI 2018).

For a player who reveals its strategy, the estimate averages over the player's whole range; for any other player it uses
the cards that the player held. Let V be any function of the public state s and of both ranges in s. The estimate is

``E[chips won | end] + Σ (E[V(s') | s] - V(s'))``

where the sum is over the steps from a state s to the next state s' that have known probabilities: deals of cards, and
decisions of players who reveal their strategies. Each term of the sum is zero on average, however the other decisions
are made, so the estimate is unbiased. The better V predicts the result, the less luck is left.

Here V is what player 0 wins if both players check and call from s on, except that a player who faces a bet folds each
hand that loses more by a call. Without these folds V would change by whole stacks at all-ins. Cards are dealt when no
bet is open, so the mean of V over the next cards is V before these cards.

After a decision V looks ahead: it uses the strategies that the players reveal at states that can follow the decision in
the same round (`spewy.match.table.Step.ahead`), and checks and calls only after these states. So each decision has a V
of its own. The sum stays unbiased, since how far V looks depends neither on the action nor on the players' cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats
from spewy.bot.bot import Mix
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.match.odds import BoardOdds, board_odds
from spewy.match.table import Played, Step


def estimate(played: Played, known: tuple[bool, bool]) -> float:
    """Estimate by AIVAT the chips that player 0 won in a hand, with luck removed.

    The estimate is the chips won if a player who reveals its strategy has taken an action that the strategy never
    takes, or has had a *fault*: an illegal or missing answer, or a line that answers no question. Faults of a player
    who reveals no strategy do not matter, since AIVAT allows this player any decision.

    Args:
        known: whether player 0, and whether player 1, reveals its strategy.
    """
    failed = any(known[fault.player] for fault in played.faults)
    if failed or not all(_fits(step, played.hand) for step in played.steps if known[step.player]):
        return float(played.hand.net()[0])
    return _Estimate(played, known).chips()


def _fits(step: Step, hand: Hand) -> bool:
    """Whether the revealed strategy ever takes the chosen action with the player's cards."""
    mix, cards = step.mix, hand.hole[step.player]
    assert cards is not None
    if mix is None or step.action not in mix.actions:
        return False
    return bool(mix.of(hand.game.hand_number(cards))[mix.actions.index(step.action)] > 0)


class _Estimate:
    """Computes AIVAT's estimate for one hand, step by step along the play; ranges are ``[hand of the deck]``."""

    def __init__(self, played: Played, known: tuple[bool, bool]) -> None:
        self.hand, self.steps, self.known = played.hand, played.steps, known
        self.game = played.hand.game
        self.board: tuple[int, ...] = ()
        self.ranges = self._first_range(0), self._first_range(1)

    @cached_property
    def deck(self) -> np.ndarray:
        return hands(self.game.deck, self.game.num_hole_cards)

    def chips(self) -> float:
        total = 0.0
        if not all(self.known):
            # The mean of this value over all deals is 0, since both players are dealt the same hands equally often.
            total -= self._even(Betting.start(self.game))
        for step in self.steps:
            total += self._deal(step.hand.betting, step.hand.board)
            total += self._decide(step)
        total += self._deal(self.hand.betting, self.hand.board)
        return total + self._value(self.hand.betting, self.ranges, {}) / self._mass(self.ranges)

    def _first_range(self, player: int) -> Floats:
        """Return the range to begin with: all hands if the player reveals its strategy, else the actual hand."""
        out = np.ones(len(self.deck))
        if not self.known[player]:
            cards = self.hand.hole[player]
            assert cards is not None
            out[:] = 0.0
            out[self.game.hand_number(cards)] = 1.0
        return out

    @property
    def _odds(self) -> BoardOdds:
        return board_odds(self.game, self.board)

    def _mass(self, ranges: tuple[Floats, Floats]) -> float:
        """Return the total weight of all pairs of hands that share no card with each other or the board."""
        return float(ranges[0] @ self._odds.met(ranges[1]))

    def _even(self, betting: Betting) -> float:
        """Return player 0's mean chips over both ranges if both players check and call from now on."""
        lead = float(self.ranges[0] @ self._odds.ahead(self.ranges[1]))
        return betting.stake * lead / self._mass(self.ranges)

    def _value(self, betting: Betting, ranges: tuple[Floats, Floats], ahead: Mapping[str, Mix]) -> float:
        """Sum AIVAT's value function after the betting over all pairs of hands; `_mass` gives the pairs' weight."""
        if betting.folded is not None:
            chips = -betting.spent[0] if betting.folded == 0 else betting.spent[1]
            return chips * self._mass(ranges)
        mix = ahead.get(betting.line)
        if mix is None or betting.to_act is None:
            return self._passive(betting, ranges)
        afters = ((action, self._after(ranges, betting.to_act, mix, action)) for action in mix.actions)
        return sum(
            self._value(betting.apply(action), after, ahead)
            for action, after in afters
            if after[betting.to_act].any()
        )

    def _passive(self, betting: Betting, ranges: tuple[Floats, Floats]) -> float:
        """Return AIVAT's value function if both check and call from now on, but fold where a call loses more."""
        player = betting.to_act if betting.can_fold else 0
        assert player is not None
        opponent = ranges[1 - player]
        values = betting.stake * self._odds.ahead(opponent)
        if betting.can_fold:
            values = np.maximum(values, -betting.spent[player] * self._odds.met(opponent))
        total = float(ranges[player] @ values)
        return total if player == 0 else -total

    def _deal(self, betting: Betting, board: tuple[int, ...]) -> float:
        """Remove hands that new cards block from both ranges; return how much the cards lower the value function."""
        if board == self.board:
            return 0.0
        before = self._even(betting)
        self.board = board
        live = ~blocked(self.deck, board)
        self.ranges = self.ranges[0] * live, self.ranges[1] * live
        return before - self._even(betting)

    def _decide(self, step: Step) -> float:
        """Update the range of the player who acted; return the mean value over all actions minus the action's value.

        The values are AIVAT's value function; the result is 0 if the player does not reveal its strategy.
        """
        player, mix = step.player, step.mix
        if not self.known[player] or mix is None:
            return 0.0
        expected = 0.0
        for action in mix.actions:
            after = self._after(self.ranges, player, mix, action)
            if not after[player].any():
                continue
            value = self._value(step.hand.betting.apply(action), after, step.ahead)
            expected += value
            if action == step.action:
                taken, chosen = value, after
        before, self.ranges = self._mass(self.ranges), chosen
        return expected / before - taken / self._mass(chosen)

    def _after(
        self, ranges: tuple[Floats, Floats], player: int, mix: Mix, action: str
    ) -> tuple[Floats, Floats]:
        own = np.zeros(len(self.deck))
        own[mix.hands] = ranges[player][mix.hands] * mix.frequencies[mix.actions.index(action)]
        return (own, ranges[1]) if player == 0 else (ranges[0], own)
