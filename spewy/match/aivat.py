"""Estimate the chips won in a hand without luck (N. Burch et al., "AIVAT", AAAI 2018).

At least one player reveals its strategy. The estimate averages over all hands that this player could hold, weighted by
the probability that it would have played as it did; the opponent keeps its cards. Let V be any function of the public
state s, of the player's range in s and of the opponent's cards. The estimate is

``E[chips won | end] + Σ (E[V(s') | s] - V(s'))``

where the sum is over the steps from a state s to the next state s' that have known probabilities: deals of cards, the
player's decisions, and the opponent's decisions if the opponent reveals its strategy too. Each term of the sum is zero
on average, however the opponent decides, so the estimate is unbiased. The better V predicts the result, the less luck
is left. Here ``V(s) = stake * (2 * equity - 1)``, which is right if both players check and call from s on. Then the
mean of V over the next cards is V before these cards, so that the term of a deal needs two equities only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats
from spewy.bot.bot import Mix
from spewy.game.betting import Betting
from spewy.match.odds import shares
from spewy.match.table import Played, Step

BOARDS = 200
"""Number of random final boards for an equity; the sampling adds little variance and no bias."""


def estimate(played: Played, known: tuple[bool, bool], seed: int) -> float:
    """Estimate the chips that player 0 won without luck; the mean of two estimates if both strategies are known.

    If a player who reveals its strategy has acted against it, or had a fault, the estimate is the chips won. Faults of
    the other player do not matter, since its decisions may depend on its cards in any way.

    Args:
        played: the hand with all cards, and the revealed strategies at the decisions.
        known: for each player whether it reveals its strategy.
        seed: seed of the random final boards.
    """
    failed = any(known[fault.player] for fault in played.faults)
    if failed or not all(_tells(step) for step in played.steps if known[step.player]):
        return float(played.hand.net()[0])
    averaged = [player for player in (0, 1) if known[player]] or [0]
    estimates = [_Estimate(played, player, known, seed).chips() for player in averaged]
    return float(np.mean(estimates))


def _tells(step: Step) -> bool:
    """Whether the revealed strategy takes the played action with at least one hand."""
    mix = step.mix
    return mix is not None and step.action in mix.actions and bool(_row(mix, step.action).any())


def _row(mix: Mix, action: str) -> Floats:
    """Frequencies of an action for each hand of the strategy."""
    out: Floats = mix.frequencies[mix.actions.index(action)]
    return out


class _Estimate:
    """The estimate for one hand, summed along the play.

    Args:
        played: the hand.
        player: the player over whose hands the estimate averages; if the player reveals no strategy, it keeps its hand.
        known: for each player whether it reveals its strategy.
        seed: seed of the random final boards.
    """

    def __init__(self, played: Played, player: int, known: tuple[bool, bool], seed: int) -> None:
        self.hand, self.steps = played.hand, played.steps
        self.player, self.known, self.seed = player, known, seed
        self.game = played.hand.game
        self.board: tuple[int, ...] = ()
        self.total = 0.0
        self.range = self._first_range()
        self.margin = self._margins()

    @cached_property
    def deck(self) -> np.ndarray:
        """Cards of all hands of the deck (an int array ``[hand, card]``)."""
        return hands(self.game.deck, self.game.num_hole_cards)

    def chips(self) -> float:
        """Number of chips that player 0 won, without luck."""
        blinds = Betting.start(self.game)
        self.total -= stake(blinds) * self._mean()  # the mean over all deals of hole cards is 0 by symmetry
        for step in self.steps:
            self._deal(step.hand.betting, step.hand.board)
            self._decide(step)
        self._deal(self.hand.betting, self.hand.board)
        self.total += float(self.range @ self._value(self.hand.betting))
        return self.total if self.player == 0 else -self.total

    def _first_range(self) -> Floats:
        """The player's range at the deal: all hands without the opponent's cards, or the player's hand alone.

        The player's hand alone is the range of a player who reveals no strategy.
        """
        if self.known[self.player]:
            weights = (~blocked(self.deck, self._held(1 - self.player))).astype(np.float64)
        else:
            weights = np.zeros(len(self.deck))
            weights[self.game.hand_number(self._held(self.player))] = 1.0
        out: Floats = weights / weights.sum()
        return out

    def _held(self, player: int) -> Sequence[int]:
        cards = self.hand.hole[player]
        assert cards is not None
        return cards

    def _margins(self) -> Floats:
        """Share of the stake that each hand wins against the opponent's hand without further betting (an array)."""
        share = shares(self.game, self._held(1 - self.player), self.board, self.seed, BOARDS)
        out: Floats = np.nan_to_num(1.0 - 2.0 * share)
        return out

    def _mean(self) -> float:
        return float(self.range @ self.margin)

    def _value(self, betting: Betting) -> Floats:
        """Chips that each hand wins after this betting if nobody bets again (an array ``[hand]``)."""
        if betting.folded is None:
            return stake(betting) * self.margin
        lost = betting.spent[betting.folded]
        return np.full(len(self.deck), -lost if betting.folded == self.player else lost, dtype=np.float64)

    def _deal(self, betting: Betting, board: tuple[int, ...]) -> None:
        """Update range, margins and total for a board, if it has new cards."""
        if board == self.board:
            return
        before = self._mean()
        self.board = board
        weights = np.where(blocked(self.deck, board), 0.0, self.range)
        self.range = weights / weights.sum()
        self.margin = self._margins()
        self.total += stake(betting) * (before - self._mean())

    def _decide(self, step: Step) -> None:
        """Update range and total for a decision, if the strategy of the player who acted is known."""
        if not self.known[step.player] or step.mix is None:
            return
        taken = step.mix.actions.index(step.action)
        values = np.array([self._value(step.hand.betting.apply(action)) for action in step.mix.actions])
        if step.player == self.player:
            joint = np.zeros((len(values), len(self.deck)))
            joint[:, step.mix.hands] = step.mix.frequencies * self.range[step.mix.hands]
            self.range = joint[taken] / joint[taken].sum()
            expected = float((joint * values).sum() / joint.sum())
        else:
            frequencies = step.mix.of(self.game.hand_number(self._held(step.player)))
            expected = float(frequencies @ (values @ self.range))
        self.total += expected - float(self.range @ values[taken])


def stake(betting: Betting) -> int:
    """Chips that change hands at the showdown if every bet is called and nobody bets again."""
    return min(max(betting.spent), betting.stack(0), betting.stack(1))
