"""Decisions as `solvers.exact` and `solvers.sampled` process them in vectors: lists of steps, and regret matching.

The kernels' buffers hold a vector of `WIDTH` numbers for each node, or for each sequence of a player (see
`solvers.tree`). So an *offset* in a buffer is `WIDTH` times the number of a node or sequence. Slow, plain version of
regret matching: `solvers.reference.kernels.match`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from compiled import inlined
from compiled.precision import load_as
from compiled.several import load_each_as, positive_each, stepped, store_each, total_each
from compiled.vector import WIDTH, Address, fill16, int32_at, load16, maximum, store, where_positive
from solvers.state import FLOOR
from solvers.tree import DECISION, Ints

UNLOCKED = -1
"""Number that stands for a decision without a lock."""
TWO, THREE, FOUR = (0, 0), (0, 0, 0), (0, 0, 0, 0)
"""Tuples of zeros: their lengths tell `stepped` how many offsets to return."""
ZERO: Any = np.float32(0)
ONE: Any = np.float32(1)
LEAST: Any = np.float32(FLOOR)


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
    def kind(self) -> Ints: ...

    @property
    def player(self) -> Ints: ...

    @property
    def n_actions(self) -> Ints: ...

    @property
    def first_child(self) -> Ints: ...

    @property
    def slot(self) -> Ints: ...

    @property
    def sequence(self) -> Ints: ...


def reach_steps(a: BettingArrays, player: int, locks: Mapping[int, int]) -> list[ReachStep]:
    """List the decisions of a player, each before the decisions that follow it; ``locks`` has lock numbers by node."""
    return [
        ReachStep(
            int(a.n_actions[n]), WIDTH * int(a.sequence[player, n]), int(a.slot[n]), locks.get(n, UNLOCKED)
        )
        for n in np.flatnonzero((a.kind == DECISION) & (a.player == player)).tolist()
    ]


def value_steps(a: BettingArrays, traverser: int, locks: Mapping[int, int]) -> list[ValueStep]:
    """List the decisions of both players, each after the decisions that follow it; ``locks`` has lock numbers by node.

    ``traverser`` is the player whose values are computed.
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


@inlined
def matched(kind: Any, regrets: Address, at: Any, entering):  # type: ignore[no-untyped-def]
    """Return the reach after each action of a decision by regret matching, ``entering · x_a⁺ / Σ x⁺``, as vectors.

    x are the regrets of the actions, which lie at the offsets ``at`` of ``regrets`` in the precision ``kind``
    (`SINGLE` or `HALF`); ``entering`` is the reach before the decision.
    Where ``Σ x⁺`` is at most `FLOOR`, every action gets the same share.
    """
    weights = positive_each(load_each_as(kind, regrets, at))
    total = total_each(weights)
    above, nothing = total - fill16(LEAST), fill16(ZERO)
    scale = where_positive(above, entering / total, nothing)
    return weights * scale + where_positive(above, nothing, entering * (ONE / np.float32(len(at))))


@inlined
def regret_match(
    kind: Any, regrets: Address, at: int, n_actions: int, reach: Address, parent: int, child: int
) -> None:
    """Compute the reach after each action of a decision by regret matching.

    The decision's regrets begin at offset ``at`` of ``regrets``, whose precision is ``kind`` (see
    `compiled.precision`). The reach before the decision lies at offset ``parent`` of ``reach``. The reach after the
    first action goes to offset ``child``, and the other actions follow. Decisions with two or three actions, which are
    nearly all, are computed in registers.
    """
    entering = load16(reach, parent)
    if n_actions == 2:
        shares = matched(kind, regrets, stepped(TWO, at, WIDTH), entering)
        store_each(reach, stepped(TWO, child, WIDTH), shares)
    elif n_actions == 3:
        three_shares = matched(kind, regrets, stepped(THREE, at, WIDTH), entering)
        store_each(reach, stepped(THREE, child, WIDTH), three_shares)
    else:
        total = fill16(ZERO)
        for a in range(n_actions):
            total = total + _positive(kind, regrets, at + WIDTH * a)
        scaled, above = entering / total, total - fill16(LEAST)
        even = entering * (ONE / np.float32(n_actions))
        for a in range(n_actions):
            share = _positive(kind, regrets, at + WIDTH * a) * scaled
            store(reach, child + WIDTH * a, where_positive(above, share, even))


@inlined
def _positive(kind: Any, regrets: Address, at: int):  # type: ignore[no-untyped-def]
    return maximum(load_as(kind, regrets, at), fill16(ZERO))


@inlined
def cards_of(hands: Any, row: int) -> tuple[int, int]:
    """Offsets of the two cards of row ``row`` of ``hands.cards`` in a buffer of totals by card, ``[card, 16]``."""
    return WIDTH * int32_at(hands.cards, 2 * row), WIDTH * int32_at(hands.cards, 2 * row + 1)
