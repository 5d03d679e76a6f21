"""Best responses in the first round alone, in double precision, from given values at the round's chance leaves.

Values are counterfactual: chips times the opponent's reach, summed over the opponent's hands, each of weight 1. Values
at chance leaves include the opponent's reach at the leaf.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiled.vector import WIDTH
from solvers.game import compatible_sums
from solvers.state import normalised
from solvers.tree import CHANCE, DECISION, Floats, Forest, Ints


class FirstRound:
    """A betting tree that ends in folds and chance leaves, with both players' average strategies.

    Args:
        forest: the betting, with a single betting tree.
        sums: flat averages ``[row][slot][lane]`` of each player. A slot is one action of one decision; of the 16 lanes
            only lane 0 is used.
        n_rows: number of rows.
        rows: ``[hand]``, the row of each hand.
        cards: ``[hand, 2]``, the cards of each hand, numbered from 0 to n_cards - 1; the second card of one-card hands
            is n_cards.
        n_cards: number of cards in the deck.

    Attributes:
        n_pairs: number of pairs of hands, one for each player, that can be dealt together.
    """

    def __init__(
        self, forest: Forest, sums: Sequence[np.ndarray], n_rows: int, rows: Ints, cards: Ints, n_cards: int
    ) -> None:
        two_cards = bool(cards.max() < n_cards)
        self._arrays, self._cards, self._n_cards = forest.arrays, cards[:, : 2 if two_cards else 1], n_cards
        shape = [(n_rows, n, WIDTH) for n in forest.n_slots]
        averages = [sums[p][: int(np.prod(shape[p]))].reshape(shape[p])[:, :, 0] for p in (0, 1)]
        strategies = [_strategy(forest, p, averages[p].T.astype(np.float64))[:, rows] for p in (0, 1)]
        self._strategies, self._reach = strategies, [self._reached(p, strategies[p]) for p in (0, 1)]
        self.n_pairs = float(self._against(np.ones(len(rows))).sum())

    def best(self, p: int, exits: Floats, chosen_on: Floats | None = None) -> Floats:
        """Value of each hand when player p plays a best response: ``[hand]``.

        Args:
            p: the player who plays the best response.
            exits: ``[line, hand]``, values on the betting lines that enter the second round.
            chosen_on: ``[line, hand]``, values by which the best response chooses its actions; None: ``exits``.
        """
        out: Floats = self._values(
            p, np.stack([exits if chosen_on is None else chosen_on, exits]), best=True
        )[1]
        return out

    def folds(self, p: int) -> Floats:
        """Value of each hand from folds alone when player p follows the average strategy: ``[hand]``."""
        n_exits = int((self._arrays.kind == CHANCE).sum())
        out: Floats = self._values(p, np.zeros((1, n_exits, len(self._cards))), best=False)[0]
        return out

    def _values(self, p: int, exits: Floats, *, best: bool) -> Floats:
        """Value of each hand at the root, for several sets of values at chance leaves: ``[set, hand]``.

        Args:
            p: the player whose values are computed.
            exits: ``[set, line, hand]``, values on the lines that enter the second round.
            best: whether player p takes the best action by the first set of values; otherwise p follows the average
                strategy.
        """
        a = self._arrays
        values = np.empty((len(a.kind), len(exits), len(self._cards)))
        for n in reversed(range(len(a.kind))):
            if a.kind[n] == CHANCE:
                values[n] = exits[:, a.target[n]]
            elif a.kind[n] != DECISION:
                chips = a.stake[n] if p == 0 else -a.stake[n]
                values[n] = chips * self._against(self._reach[1 - p][n])
            else:
                children = values[a.first_child[n] : a.first_child[n] + a.n_actions[n]]
                if a.player[n] != p:
                    values[n] = children.sum(axis=0)
                elif best:
                    chosen = children[:, :1].argmax(axis=0, keepdims=True)
                    values[n] = np.take_along_axis(children, chosen, axis=0)[0]
                else:
                    played = self._strategies[p][a.slot[n] : a.slot[n] + a.n_actions[n]]
                    values[n] = (children * played[:, None]).sum(axis=0)
        out: Floats = values[0]
        return out

    def _reached(self, p: int, strategy: Floats) -> Floats:
        """Player p's reach with each hand at each node: ``[node, hand]``."""
        a = self._arrays
        out = np.ones((len(a.kind), len(self._cards)))
        for n in np.flatnonzero(a.kind == DECISION).tolist():
            for k in range(int(a.n_actions[n])):
                out[a.first_child[n] + k] = out[n] * (strategy[a.slot[n] + k] if a.player[n] == p else 1.0)
        return out

    def _against(self, reach: Floats) -> Floats:
        """Sum ``reach`` over the hands that share no card with each hand: ``[hand]``."""
        return compatible_sums(self._cards, self._cards, reach, reach, self._n_cards)


def _strategy(forest: Forest, p: int, sums: Floats) -> Floats:
    """Frequencies of player p's actions from averages: ``[slot, row]``; a slot is one action of a decision."""
    a, out = forest.arrays, np.empty_like(sums)
    for n in np.flatnonzero((a.kind == DECISION) & (a.player == p)).tolist():
        slots = slice(int(a.slot[n]), int(a.slot[n] + a.n_actions[n]))
        out[slots] = normalised(sums[slots])
    return out
