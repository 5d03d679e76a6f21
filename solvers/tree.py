"""The betting of one round as arrays: a forest with one tree per line that enters the round.

Cards do not shape betting, so all boards of a round share one forest; a chunk is one of its trees on one board.

Conventions that bite:

- Nodes are numbered breadth first, so parents come before children, the children of a node are adjacent
  (``first_child[n] + a``) and nodes ``0 .. n_roots - 1`` are the roots.
- Each player's decisions own *slots*, one per (node, action): regrets and strategies are arrays ``[slot, row]``.
- A player's *sequence* at a node is the last slot that the player chose on the way there (von Stengel 1996).
  Sequences ``0 .. n_roots - 1`` stand for entering by that root; slot ``s`` is sequence ``n_roots + s``.
  A player's reach at a node depends only on the player's own sequence: ``reach[sequence, row]``.
- ``stake`` of a fold is what player 0 wins (negative when player 0 folds); of a showdown what the winner wins.
- ``rake`` is taken from the pot where play ends: whoever wins gets so much less, and a tie costs each player half.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError

Ints = NDArray[np.signedinteger[Any]]  # tables of large games are kept in narrow numbers
Floats = NDArray[np.floating[Any]]  # single or double precision

DECISION, FOLD, SHOWDOWN, CHANCE = range(4)


@dataclass(frozen=True)
class Decision:
    """A player to act: ``children[a]`` is what follows action ``a``."""

    player: int
    children: tuple[Tree, ...]


@dataclass(frozen=True)
class Fold:
    """Play ends without a showdown: player 0 wins ``stake`` chips (negative: loses), the winner less ``rake``."""

    stake: float
    rake: float = 0.0


@dataclass(frozen=True)
class Showdown:
    """Play ends with a showdown: the stronger hand wins ``stake - rake``, a tie ``-rake / 2``."""

    stake: float
    rake: float = 0.0


@dataclass(frozen=True)
class Chance:
    """The round ends and cards are dealt; play continues at root ``target`` of the next round's forest."""

    target: int


Tree = Decision | Fold | Showdown | Chance


class ForestArrays(NamedTuple):
    """Arrays by node, for N nodes; see the module's conventions."""

    n_roots: int
    kind: Ints  # [N]
    player: Ints  # [N], -1 at leaves
    first_child: Ints  # [N], -1 at leaves
    n_actions: Ints  # [N]
    slot: Ints  # [N] first slot of a decision among its player's slots
    sequence: Ints  # [2, N]
    stake: Floats  # [N]
    target: Ints  # [N] next root of a chance leaf, -1 elsewhere
    rake: Floats  # [N] chips taken from the pot at a fold or showdown, 0 elsewhere


class Lanes(NamedTuple):
    """The opponent's sequences that end in folds, and those that end in showdowns.

    A leaf's value needs only the opponent's reach there, so all leaves of a sequence share one *lane* of totals.
    """

    fold_sequence: Ints  # [fold lanes]
    fold_leaf: Ints  # nodes
    fold_lane: Ints  # lane of each of those nodes
    showdown_sequence: Ints
    showdown_leaf: Ints
    showdown_lane: Ints


@dataclass(frozen=True)
class Forest:
    """Betting of one round; see the module. Only `build` makes forests."""

    arrays: ForestArrays
    n_slots: tuple[int, int]
    lanes: tuple[Lanes, Lanes]  # [q]: lanes over the sequences of player q
    chance_leaves: Ints  # [next round's roots]: the node that leads there

    @classmethod
    def build(cls, roots: Sequence[Tree]) -> Forest:
        """Number the nodes of the trees.

        Raises:
            SolverError: a decision without actions, a player other than 0 and 1, or chance targets that are
                not exactly 0 .. n-1, each once.
        """
        if not roots:
            raise SolverError("forest: expected at least one root, found none")
        order = _breadth_first(roots)
        nodes = [tree for tree, _, _ in order]
        n_roots, n_nodes = len(roots), len(order)
        kind, player, first_child, n_actions, slot, target = (
            np.full(n_nodes, fill, dtype=np.int64) for fill in (0, -1, -1, 0, -1, -1)
        )
        sequence = np.zeros((2, n_nodes), dtype=np.int64)
        stake, rake = np.zeros(n_nodes), np.zeros(n_nodes)
        n_slots = [0, 0]
        for n, (tree, parent, action) in enumerate(order):
            if parent < 0:
                sequence[:, n] = n
            else:
                sequence[:, n] = sequence[:, parent]
                mover = player[parent]
                sequence[mover, n] = n_roots + slot[parent] + action
                if action == 0:
                    first_child[parent] = n
            match tree:
                case Decision(mover, children):
                    if mover not in (0, 1) or not children:
                        raise SolverError(
                            f"decision node {n}: expected player 0 or 1 and at least one action, "
                            f"found player {mover} and {len(children)} actions"
                        )
                    kind[n], player[n], n_actions[n], slot[n] = DECISION, mover, len(children), n_slots[mover]
                    n_slots[mover] += len(children)
                case Fold(chips, taken):
                    kind[n], stake[n], rake[n] = FOLD, chips, taken
                case Showdown(chips, taken):
                    kind[n], stake[n], rake[n] = SHOWDOWN, chips, taken
                case Chance(root):
                    kind[n], target[n] = CHANCE, root
        chance = [n for n in range(n_nodes) if isinstance(nodes[n], Chance)]
        chance.sort(key=lambda n: int(target[n]))
        if [int(target[n]) for n in chance] != list(range(len(chance))):
            found = [int(target[n]) for n in chance]
            raise SolverError(f"chance targets: expected 0 .. {len(chance) - 1}, each once, found {found}")
        arrays = ForestArrays(
            n_roots, kind, player, first_child, n_actions, slot, sequence, stake, target, rake
        )
        lanes = (_lanes(arrays, 0), _lanes(arrays, 1))
        return cls(arrays, (n_slots[0], n_slots[1]), lanes, np.array(chance, dtype=np.int64))

    @property
    def n_nodes(self) -> int:
        """Number of decisions and leaves of all trees."""
        return len(self.arrays.kind)

    @property
    def n_roots(self) -> int:
        """Number of lines that enter the round."""
        return self.arrays.n_roots

    def n_sequences(self, player: int) -> int:
        """Number of rows in the player's ``reach`` array."""
        return self.n_roots + self.n_slots[player]

    @property
    def raked(self) -> bool:
        """Whether any pot is raked."""
        return bool(self.arrays.rake.any())

    def check(self) -> None:
        """Verify the invariants of the module's text.

        Raises:
            SolverError: an invariant does not hold.
        """
        a = self.arrays
        ends = (a.kind == FOLD) | (a.kind == SHOWDOWN)
        if np.any(a.rake < 0) or np.any(a.rake[~ends]):
            raise SolverError("rake: expected at least 0 chips, and none but at folds and showdowns")
        for n in range(self.n_nodes):
            if a.kind[n] != DECISION:
                continue
            children = np.arange(a.first_child[n], a.first_child[n] + a.n_actions[n])
            mover = a.player[n]
            if children[0] <= n or children[-1] >= self.n_nodes:
                raise SolverError(f"node {n}: expected children behind it, found {children}")
            expected = a.n_roots + a.slot[n] + np.arange(a.n_actions[n])
            if not np.array_equal(a.sequence[mover, children], expected):
                raise SolverError(
                    f"node {n}: expected sequences {expected} at its children, found other sequences"
                )
            if np.any(a.sequence[1 - mover, children] != a.sequence[1 - mover, n]):
                raise SolverError(f"node {n}: the other player's sequence changes below it")


def _breadth_first(roots: Sequence[Tree]) -> list[tuple[Tree, int, int]]:
    """List the nodes of the trees breadth first, each as (subtree, parent's index or -1, action at the parent)."""
    order: list[tuple[Tree, int, int]] = []
    queue: deque[tuple[Tree, int, int]] = deque((root, -1, 0) for root in roots)
    while queue:
        tree, parent, action = queue.popleft()
        number = len(order)
        order.append((tree, parent, action))
        if isinstance(tree, Decision):
            queue.extend((child, number, a) for a, child in enumerate(tree.children))
    return order


def _lanes(a: ForestArrays, q: int) -> Lanes:
    parts: list[Ints] = []
    for kind in (FOLD, SHOWDOWN):
        leaf = np.flatnonzero(a.kind == kind)
        sequences, lane = np.unique(a.sequence[q, leaf], return_inverse=True)
        parts += [sequences.astype(np.int64), leaf.astype(np.int64), lane.astype(np.int64)]
    return Lanes(*parts)
