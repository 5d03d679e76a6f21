"""Betting trees as lists of decisions, in the order in which the kernels of the engines process them.

The kernels' buffers hold a vector of `WIDTH` numbers for each node, or for each sequence of a player (see
`solvers.tree`). So an *offset* in a buffer is `WIDTH` times the number of a node or sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from compiled.vector import WIDTH
from solvers.tree import DECISION, Ints

UNLOCKED = -1
"""Number that stands for a decision without a lock."""


class ReachStep(NamedTuple):
    """A decision as kernels process it when they compute a player's reach, from the root to the leaves.

    Attributes:
        n_actions: number of actions.
        parent: offset, in a buffer of reach, of the sequence that leads to the decision.
        slot: number of the first action among all actions of all the player's decisions.
        lock: number of the decision's lock, or `UNLOCKED`.
    """

    n_actions: int
    parent: int
    slot: int
    lock: int


class ValueStep(NamedTuple):
    """A decision as kernels process it when they compute values, from the leaves to the root.

    Attributes:
        own: 1 if the player whose values are computed decides, 0 if the opponent decides.
        n_actions: number of actions.
        node: offset of the decision in a buffer of values.
        child: offset of the node after the first action in this buffer; the nodes after the other actions follow.
        slot: number of the first action among all actions of all decisions of the player who decides.
        lock: number of the decision's lock, or `UNLOCKED`.
    """

    own: int
    n_actions: int
    node: int
    child: int
    slot: int
    lock: int


class BettingArrays(Protocol):
    """Arrays of one or several betting trees; see `solvers.tree.ForestArrays`."""

    @property
    def kind(self) -> Ints:
        """Kind of each node (decision, fold, showdown or chance, as in `solvers.tree`): ``[node]``."""
        ...

    @property
    def player(self) -> Ints:
        """The player who decides at each node: ``[node]``."""
        ...

    @property
    def n_actions(self) -> Ints:
        """Number of actions at each node: ``[node]``."""
        ...

    @property
    def first_child(self) -> Ints:
        """Number of the node after the first action of each decision: ``[node]``."""
        ...

    @property
    def slot(self) -> Ints:
        """Number of each decision's first action among all actions of the player who decides: ``[node]``."""
        ...

    @property
    def sequence(self) -> Ints:
        """Number of each player's sequence (the player's last action) at each node: ``[player, node]``."""
        ...


def reach_steps(a: BettingArrays, player: int, locks: Mapping[int, int]) -> list[ReachStep]:
    """List the decisions of a player, each before the decisions that follow it.

    ``locks`` maps the nodes of locked decisions to the numbers of their locks.
    """
    return [
        ReachStep(
            int(a.n_actions[n]), WIDTH * int(a.sequence[player, n]), int(a.slot[n]), locks.get(n, UNLOCKED)
        )
        for n in np.flatnonzero((a.kind == DECISION) & (a.player == player)).tolist()
    ]


def value_steps(a: BettingArrays, traverser: int, locks: Mapping[int, int]) -> list[ValueStep]:
    """List the decisions of both players, each after the decisions that follow it.

    ``traverser`` is the player whose values are computed; ``locks`` maps the nodes of locked decisions to the numbers
    of their locks.
    """
    return [
        ValueStep(
            int(a.player[n] == traverser),
            int(a.n_actions[n]),
            WIDTH * n,
            WIDTH * int(a.first_child[n]),
            int(a.slot[n]),
            locks.get(n, UNLOCKED),
        )
        for n in np.flatnonzero(a.kind == DECISION)[::-1].tolist()
    ]
