"""Exact best responses of single hands to average strategies by board bucket and row.

`BoardJudge` computes the values of best responses on a tree of boards below one board (`boards.tree`). A value is
counterfactual: chips times the opponent's reach under its average strategy, summed over the opponent's hands and,
weighted by probability, over the boards that follow. Divided by the number of pairs of hands it is chips per deal.
`FirstRound` computes best responses in the first round alone, in double precision, from given counterfactual values at
the round's chance leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.records import Packed
from compiled.vector import WIDTH
from solvers.game import compatible_sums
from solvers.sampled.batches import LineBatches
from solvers.sampled.engine import Context
from solvers.sampled.numbers import Numbers, Pair
from solvers.sampled.views import Boards, Workspace
from solvers.state import normalised
from solvers.stopping import Stopped, never
from solvers.tree import CHANCE, DECISION, Floats, Forest, Ints


@dataclass(frozen=True)
class Buffers:
    """Buffers of a thread for `BoardJudge`.

    Attributes:
        parts: the arrays of each round.
        packed: the addresses of the arrays, for kernels.
        out: flat ``[batch, hand, lane]``, values of the hands on the first board, for batches of 16 lines.
    """

    parts: tuple[Workspace, ...]
    packed: Packed
    out: np.ndarray

    @property
    def n_bytes(self) -> int:
        arrays = (array for part in self.parts for array in part if isinstance(array, np.ndarray))
        return self.out.nbytes + sum(array.nbytes for array in arrays)


@dataclass(frozen=True)
class Judged:
    """Counterfactual values on a tree of boards, for each hand of the tree's first board.

    Attributes:
        best: ``[player, line, hand]``, values of best responses.
        own: ``[hand]``, player 0's values when both players follow their average strategies, summed over all lines with
            the weight of player 0's reach.
    """

    best: Floats
    own: Floats


class BoardJudge:
    """Computes values of best responses on trees of boards; each thread that calls a method needs its own `Buffers`.

    Its methods take a tree of boards that begins with a board of the first round (`solvers.sampled.boards.tree`). They
    call ``stopped`` every few boards; once it returns True, they raise `StoppedError`.

    Args:
        n_rows: number of rows of a board bucket, per round.
        sums: average strategies per round and player, as in `Numbers`.
        most_hands: largest number of hands that are possible on a board, per round.
        n_cards: number of cards that are not on the first board.
        probabilities: probability of a board given both hands and the previous board, per round.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        n_board_buckets: Sequence[int],
        n_rows: Sequence[int],
        sums: tuple[Pair, ...],
        most_hands: Sequence[int],
        n_cards: int,
        probabilities: Sequence[float],
    ) -> None:
        visits = tuple(np.zeros((2, n), dtype=np.int64) for n in n_board_buckets)
        numbers = Numbers(sums, sums, visits, visits)
        gains = [1.0] * len(forests)
        self._context = Context(forests, batches, n_rows, numbers, most_hands, n_cards, probabilities, gains)
        self._most_hands = most_hands[0]
        first = batches[0]
        self._targets = forests[0].arrays.target[first.nodes[0][first.shape_of(0).exits, 0]]

    def buffers(self) -> Buffers:
        parts = self._context.workspaces()
        return Buffers(parts, Packed(parts), self._context.out())

    def below(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Compute the values on the betting lines that enter the second round."""
        n = len(boards.nodes)
        top, packed = buffers.parts[0], Packed(boards)
        best = []
        for p in (1, 0):  # player 0 comes last and leaves its own values in the buffers
            self._context.values(p, buffers.packed, packed, n, buffers.out, own=p == 0, stopped=stopped)
            by_exit = top.continuation.reshape(-1, self._most_hands, WIDTH)[:, :, 0]
            by_line = np.empty(by_exit.shape)
            by_line[self._targets] = by_exit
            best.append(by_line)
        return Judged(np.stack(best[::-1]), self._first_lane(top.hand_exits))

    def later(self, boards: Boards, buffers: Buffers) -> Floats:
        """Total value per player of best responses from the second, third, ... round on: ``[round, player]``.

        In earlier rounds the player follows its average strategy. The total is the sum of the values on all lines that
        enter the second round, over all hands, weighted by the player's reach.
        """
        n, packed, out = len(boards.nodes), Packed(boards), np.zeros((self._context.n_rounds - 1, 2))
        for t, p in np.ndindex(out.shape):
            self._context.values(p, buffers.packed, packed, n, buffers.out, best_from=t + 1)
            out[t, p] = self._first_lane(buffers.parts[0].hand_exits).sum()
        return out

    def whole(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Compute the values at the start of the first round; the axis of betting lines in the result has length 1."""
        n, packed, best = len(boards.nodes), Packed(boards), []
        for p in (1, 0):  # player 0 comes last and leaves its own values in the buffers
            by_batch = self._context.values(
                p, buffers.packed, packed, n, buffers.out, own=p == 0, stopped=stopped
            )
            best.append(by_batch[:1, :, 0])
        return Judged(np.stack(best[::-1]), self._first_lane(buffers.parts[0].own_values))

    def _first_lane(self, values: np.ndarray) -> Floats:
        """Return the values ``[hand]`` of the first line, from values ``[hand][lane]`` of the first batch of lines."""
        first: Floats = values[: WIDTH * self._most_hands].reshape(-1, WIDTH)[:, 0].astype(np.float64)
        return first


class FirstRound:
    """A betting tree that ends in folds and chance leaves, with both players' average strategies.

    Args:
        forest: the betting, with a single betting tree.
        sums: flat averages ``[row][slot][lane]`` of each player; of the 16 lanes only lane 0 is used.
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
        """Counterfactual value of each hand of player p if p plays a best response: ``[hand]``.

        Args:
            exits: ``[line, hand]``, values on the betting lines that enter the second round.
            chosen_on: ``[line, hand]``, values by which the best response chooses its actions; None: ``exits``.
        """
        out: Floats = self._values(
            p, np.stack([exits if chosen_on is None else chosen_on, exits]), best=True
        )[1]
        return out

    def folds(self, p: int) -> Floats:
        """Counterfactual value of each hand of player p if both players follow their averages: ``[hand]``.

        Only folds count; chance leaves have the value 0.
        """
        n_exits = int((self._arrays.kind == CHANCE).sum())
        out: Floats = self._values(p, np.zeros((1, n_exits, len(self._cards))), best=False)[0]
        return out

    def _values(self, p: int, exits: Floats, *, best: bool) -> Floats:
        """Values of p's hands at the root, ``[set, hand]``, from sets of values ``[set, line, hand]`` at chance leaves.

        With ``best`` player p takes the actions that are best by the first set of values, for all sets; otherwise p
        follows the average strategy.
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
    """Frequencies of player p's actions from averages: ``[slot, row]``."""
    a, out = forest.arrays, np.empty_like(sums)
    for n in np.flatnonzero((a.kind == DECISION) & (a.player == p)).tolist():
        slots = slice(int(a.slot[n]), int(a.slot[n] + a.n_actions[n]))
        out[slots] = normalised(sums[slots])
    return out
