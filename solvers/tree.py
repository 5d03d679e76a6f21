"""The betting of one round as arrays: a *forest*, that is one betting tree for each line that enters the round.

Betting does not depend on cards, so all boards of a round share one forest. A chunk is one of its trees on one board.

Conventions:

- Nodes are numbered breadth first. So the roots are the nodes ``0 .. n_roots - 1``, parents come before children, and
  action ``a`` of node ``n`` leads to node ``first_child[n] + a``.
- A player's *slot* is one action of one of the player's decisions. Regrets and strategies are arrays ``[slot, row]``.
- A player's *sequence* at a node is the last slot that the player chose on the way to the node (von Stengel 1996).
  Sequence ``r < n_roots`` says that the player has not acted yet after entering by root ``r``; slot ``s`` is sequence
  ``n_roots + s``. A player's reach at a node depends only on the player's own sequence: ``reach[sequence, row]``.
- The ``stake`` of a fold is what player 0 wins (negative if player 0 folds); the stake of a showdown is what the winner
  wins.
- ``rake`` is taken from the pot where play ends: the winner gets less by the rake, and a tie costs each player half
  of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError

Ints = NDArray[np.signedinteger[Any]]  # tables of large games have 16 or 32 bits per number
Floats = NDArray[np.floating[Any]]  # single or double precision

DECISION, FOLD, SHOWDOWN, CHANCE = range(4)


@dataclass(frozen=True)
class Decision:
    """A decision of a player: action ``a`` leads to ``children[a]``."""

    player: int
    children: tuple[Tree, ...]


@dataclass(frozen=True)
class Fold:
    """The end of play by a fold: player 0 wins ``stake`` chips (negative: loses); the winner pays ``rake`` chips."""

    stake: float
    rake: float = 0.0


@dataclass(frozen=True)
class Showdown:
    """The end of play by a showdown: the stronger hand wins ``stake - rake`` chips; in a tie both get ``-rake / 2``."""

    stake: float
    rake: float = 0.0


@dataclass(frozen=True)
class Chance:
    """The end of the round: cards are dealt, and play continues in tree number ``target`` of the next round."""

    target: int


Tree = Decision | Fold | Showdown | Chance


class ForestArrays(NamedTuple):
    """The betting trees of a round as arrays over their nodes; `solvers.tree` explains slots and sequences.

    Attributes:
        n_roots: number of trees.
        kind: ``[node]``, `DECISION`, `FOLD`, `SHOWDOWN` or `CHANCE`.
        player: ``[node]``, the player who decides; -1 at leaves.
        first_child: ``[node]``, the node after the first action; -1 at leaves.
        n_actions: ``[node]``, number of actions.
        slot: ``[node]``, the first action's slot among the slots of the player who decides.
        sequence: ``[player, node]``, the player's sequence at the node.
        stake: ``[node]``, chips that player 0 wins at a fold, or that the winner wins at a showdown.
        target: ``[node]``, the tree of the next round to which a chance leaf leads; -1 at other nodes.
        rake: ``[node]``, chips taken from the pot at a fold or showdown; 0 at other nodes.
    """

    n_roots: int
    kind: Ints
    player: Ints
    first_child: Ints
    n_actions: Ints
    slot: Ints
    sequence: Ints
    stake: Floats
    target: Ints
    rake: Floats


class Endings(NamedTuple):
    """The *endings* of one player: the player's sequences that lead to folds, and those that lead to showdowns.

    The values of a leaf depend on the betting only through a factor and the opponent's reach, which depends on the
    opponent's sequence alone. So kernels compute one column of sums for each ending of the opponent, and all leaves
    with the same ending share the column.

    Attributes:
        fold_sequence: ``[fold ending]``, the sequence of each ending.
        fold_leaf: ``[fold]``, the nodes that are folds.
        fold_ending: ``[fold]``, the ending of each fold.
        showdown_sequence: ``[showdown ending]``, the sequence of each ending.
        showdown_leaf: ``[showdown]``, the nodes that are showdowns.
        showdown_ending: ``[showdown]``, the ending of each showdown.
    """

    fold_sequence: Ints
    fold_leaf: Ints
    fold_ending: Ints
    showdown_sequence: Ints
    showdown_leaf: Ints
    showdown_ending: Ints


@dataclass(frozen=True, eq=False)
class Forest:
    """The betting trees of one round, one for each line that enters it; `build` makes them.

    Attributes:
        arrays: the nodes of the trees.
        n_slots: for each player the number of slots: actions of all the player's decisions.
        endings: for each player the sequences that lead to folds and showdowns.
        chance_leaves: ``[tree of the next round]``, the chance leaf that leads to the tree.
    """

    arrays: ForestArrays
    n_slots: tuple[int, int]
    endings: tuple[Endings, Endings]
    chance_leaves: Ints

    @classmethod
    def build(cls, roots: Sequence[Tree]) -> Forest:
        """Make the arrays of some betting trees."""
        if not roots:
            raise SolverError("betting of a round: expected at least one tree, found none")
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
            targets = [int(target[n]) for n in chance]
            raise SolverError(
                f"targets of chance leaves: expected 0 .. {len(chance) - 1}, each once, found {targets}"
            )
        arrays = ForestArrays(
            n_roots, kind, player, first_child, n_actions, slot, sequence, stake, target, rake
        )
        endings = (_endings(arrays, 0), _endings(arrays, 1))
        return cls(arrays, (n_slots[0], n_slots[1]), endings, np.array(chance, dtype=np.int64))

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees, decisions and leaves."""
        return len(self.arrays.kind)

    @property
    def n_roots(self) -> int:
        """Number of betting trees, one for each line that enters the round."""
        return self.arrays.n_roots

    def n_sequences(self, player: int) -> int:
        """Return the number of a player's sequences: one for each root and one for each slot (an action)."""
        return self.n_roots + self.n_slots[player]

    @property
    def raked(self) -> bool:
        """Whether rake is taken from any pot."""
        return bool(self.arrays.rake.any())

    def check(self) -> None:
        """Verify that the arrays follow the conventions of `solvers.tree`."""
        a = self.arrays
        ends = (a.kind == FOLD) | (a.kind == SHOWDOWN)
        if np.any(a.rake < 0) or np.any(a.rake[~ends]):
            raise SolverError("rake: expected at least 0 chips at folds and showdowns, and 0 at other nodes")
        for n in range(self.n_nodes):
            if a.kind[n] != DECISION:
                continue
            children = np.arange(a.first_child[n], a.first_child[n] + a.n_actions[n])
            mover = a.player[n]
            if children[0] <= n or children[-1] >= self.n_nodes:
                raise SolverError(f"node {n}: expected children with larger numbers, found {children}")
            expected = a.n_roots + a.slot[n] + np.arange(a.n_actions[n])
            if not np.array_equal(a.sequence[mover, children], expected):
                raise SolverError(
                    f"node {n}: expected sequences {expected} at its children, found "
                    f"{a.sequence[mover, children]}"
                )
            if np.any(a.sequence[1 - mover, children] != a.sequence[1 - mover, n]):
                raise SolverError(f"node {n}: the sequence of the player who does not act changes at a child")


def _breadth_first(roots: Sequence[Tree]) -> list[tuple[Tree, int, int]]:
    """List the trees' nodes breadth first: each one's subtree, parent's number (-1: a root) and parent's action."""
    order: list[tuple[Tree, int, int]] = []
    queue: deque[tuple[Tree, int, int]] = deque((root, -1, 0) for root in roots)
    while queue:
        tree, parent, action = queue.popleft()
        number = len(order)
        order.append((tree, parent, action))
        if isinstance(tree, Decision):
            queue.extend((child, number, a) for a, child in enumerate(tree.children))
    return order


def _endings(a: ForestArrays, q: int) -> Endings:
    parts: list[Ints] = []
    for kind in (FOLD, SHOWDOWN):
        leaf = np.flatnonzero(a.kind == kind)
        sequences, ending = np.unique(a.sequence[q, leaf], return_inverse=True)
        parts += [sequences.astype(np.int64), leaf.astype(np.int64), ending.astype(np.int64)]
    return Endings(*parts)
