"""Locked hands in the form that the kernels of `solvers.reference` need."""

from typing import NamedTuple

import numpy as np

from compiled import part
from solvers.game import LiveGame
from solvers.tree import Floats, ForestArrays, Ints


class LockArrays(NamedTuple):
    """Locked hands of a player on all boards of a round; the arrays are empty if no hand is locked.

    Attributes:
        node: ``[lock]``, the locked decisions.
        first: ``[node]``, the index of a decision's first action in ``frequencies``; -1: the decision is not locked.
        frequencies: ``[board, locked action, hand]``; NaN: the hand is not locked.
    """

    node: Ints
    first: Ints
    frequencies: Floats


def lock_arrays(game: LiveGame, t: int, p: int, dtype: type = np.float64) -> LockArrays:
    """Return player p's locks of round t in the form that the kernels need."""
    locks = [lock for lock in game.locks if (lock.round, lock.player) == (t, p)]
    if not locks:
        nothing = np.zeros(0, dtype=np.int64)
        return LockArrays(nothing, nothing, np.zeros((0, 0, 0), dtype))
    first = np.full(game.rounds[t].forest.n_nodes, -1, dtype=np.int64)
    sizes = [lock.frequencies.shape[1] for lock in locks]
    nodes = np.array([lock.node for lock in locks], dtype=np.int64)
    first[nodes] = np.cumsum([0, *sizes[:-1]])
    frequencies = np.concatenate([lock.frequencies for lock in locks], axis=1)
    return LockArrays(nodes, first, frequencies.astype(dtype))


@part
def impose(forest: ForestArrays, locks: LockArrays, b: int, count: int, strategy: Floats) -> None:
    """Replace the strategy of locked hands on board b by the locked frequencies, in ``strategy[slot, hand]``."""
    for n in locks.node:
        for a in range(forest.n_actions[n]):
            given, s = locks.frequencies[b, locks.first[n] + a], forest.slot[n] + a
            for h in range(count):
                if not np.isnan(given[h]):
                    strategy[s, h] = given[h]
