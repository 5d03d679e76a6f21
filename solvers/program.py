"""Betting trees as lists of steps, in the order in which the engines' kernels run through them.

A *row* of a buffer holds `WIDTH` numbers, so offsets in buffers are `WIDTH` times the number of a sequence or node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from compiled.vector import WIDTH
from solvers.tree import DECISION, Ints

UNLOCKED = -1


class ReachStep(NamedTuple):
    """One decision on the way down: reach passes from a player's sequence to the sequences of its actions.

    Attributes:
        n_actions: number of actions.
        parent: offset of the sequence that leads to the decision.
        slot: number of the first action's slot among the player's slots.
        lock: number of the decision's lock, or `UNLOCKED`.
    """

    n_actions: int
    parent: int
    slot: int
    lock: int


class ValueStep(NamedTuple):
    """One decision on the way up: its value comes from the values of its children.

    Attributes:
        own: 1 if the traverser decides, 0 if the opponent does.
        n_actions: number of actions.
        node: offset of the decision.
        child: offset of the first action's node; the nodes of the other actions follow.
        slot: number of the first action's slot among the slots of the player who decides.
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
        """Kind of each node: ``[node]``."""
        ...

    @property
    def player(self) -> Ints:
        """Player of each node: ``[node]``."""
        ...

    @property
    def n_actions(self) -> Ints:
        """Number of actions at each node: ``[node]``."""
        ...

    @property
    def first_child(self) -> Ints:
        """First child of each node: ``[node]``."""
        ...

    @property
    def slot(self) -> Ints:
        """First slot of each node: ``[node]``."""
        ...

    @property
    def sequence(self) -> Ints:
        """Sequence of each player at each node: ``[player, node]``."""
        ...


def reach_steps(a: BettingArrays, player: int, locks: Mapping[int, int]) -> list[ReachStep]:
    """The decisions of a player, parents before children; ``locks`` gives the numbers of locked decisions."""
    return [
        ReachStep(
            int(a.n_actions[n]), WIDTH * int(a.sequence[player, n]), int(a.slot[n]), locks.get(n, UNLOCKED)
        )
        for n in np.flatnonzero((a.kind == DECISION) & (a.player == player)).tolist()
    ]


def value_steps(a: BettingArrays, traverser: int, locks: Mapping[int, int]) -> list[ValueStep]:
    """All decisions, children before parents."""
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
