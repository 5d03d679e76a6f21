"""The whole tree of a small game of OpenSpiel as arrays, for a solver.

An information set is everything that a player at the table has seen and done; its key has 64 bits. A single tensor does
not show the earlier betting, so the key depends on all tensors so far. All tensors together tell at least as much as
the player's information state in OpenSpiel. They can tell more, because they also show how many states have passed,
which a bot at the table knows. Where both players move at once, the tree lets player 1 decide after player 0, without
seeing player 0's action.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field

import numpy as np

from solvers.tree import Floats, Ints
from spewy.competitions.higc.spiel import SpielGame, SpielState, legal
from spewy.competitions.higc.text import State
from spewy.learn.engine import Stop

CHANCE, END = -1, -2
START_KEY = bytes(8)
"""Key of the information set before the first state."""


@dataclass(frozen=True)
class SpielTree:
    """A game tree as arrays; nodes are ordered by depth, and the root is first.

    The actions of all information sets stand in one list, set by set; a *position* is an index in this list.

    Attributes:
        levels: first node of each depth, then the number of all nodes, ``[depth + 1]``.
        owner: player to act at each node, or `CHANCE` or `END`, ``[node]``.
        parent: parent of each node, ``[node]``; the root is its own parent.
        slot: position of the action that leads to each node, ``[node]``; -1 after chance and for the root.
        chance: product of the chance probabilities on the path to each node, ``[node]``.
        payoff: return of player 0 at the end of a game, else 0, ``[node]``.
        first: position of each information set's first action, then the number of all positions, ``[set + 1]``.
        player: player of each information set, ``[set]``.
        actions: OpenSpiel's number of each action, ``[position]``.
        keys: key of each information set as an unsigned number, ``[set]``.
    """

    levels: Ints
    owner: Ints
    parent: Ints
    slot: Ints
    chance: Floats
    payoff: Floats
    first: Ints
    player: Ints
    actions: Ints
    keys: Ints


def spiel_tree(game: SpielGame, most: int, seconds: float, stop: Stop | None = None) -> SpielTree | None:
    """Build the tree of a game; return None if the game is too large or not zero-sum.

    Args:
        game: the game whose tree is built.
        most: largest number of nodes.
        seconds: time limit.
        stop: ends the work early when it is set; the result is then None.
    """
    if not game.is_zero_sum:
        return None
    return _Walk(game, most, time.monotonic() + seconds, stop).tree()


def key_after_state(key: bytes, state: State) -> bytes:
    """Return the key of a player's information set after the player has seen another state."""
    digest = hashlib.blake2b(key, digest_size=8)
    for tensor in state.tensors:
        digest.update(tensor)
    digest.update(repr(state.legal).encode())
    return digest.digest()


def key_after_action(key: bytes, action: int) -> bytes:
    """Return the key of a player's information set after an action of this player."""
    return hashlib.blake2b(key + str(action).encode(), digest_size=8).digest()


@dataclass
class _Walk:
    """Lists the nodes of a game's tree."""

    game: SpielGame
    most: int
    deadline: float
    stop: Stop | None
    nodes: list[tuple[int, int, int, int, float, float]] = field(default_factory=list)
    """Depth, owner, parent, slot, chance and payoff of each node, as in `SpielTree`."""
    sets: dict[tuple[int, bytes], int] = field(default_factory=dict)
    """Position of the first action of each information set, by player and key."""
    actions: list[int] = field(default_factory=list)

    def tree(self) -> SpielTree | None:
        """Build the tree; return None if it is too large or the time is over."""
        keys = (START_KEY, START_KEY)
        waiting: list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]] = [
            (self.game.start(), 0, 0, -1, 1.0, keys)
        ]
        while waiting:
            if len(self.nodes) > self.most or time.monotonic() > self.deadline:
                return None
            if self.stop is not None and self.stop.is_set():
                return None
            waiting.extend(self._children(*waiting.pop()))
        return self._arrays()

    def _children(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: tuple[bytes, bytes]
    ) -> list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]]:
        """Add the node of a state; return the arguments of this method for each state that follows.

        Args:
            state: the state.
            depth: number of the node's level.
            parent: number of the parent.
            slot: position of the action that leads to the node; -1 after chance and for the root.
            chance: product of the chance probabilities on the path to the node.
            keys: both players' keys of their information sets before they see the state.
        """
        if state.is_terminal():
            self._note(depth, END, parent, slot, chance, state.returns()[0])
            return []
        seen = self.game.seen(state, 0), self.game.seen(state, 1)
        keys = key_after_state(keys[0], seen[0]), key_after_state(keys[1], seen[1])
        if state.is_chance_node():
            node = self._note(depth, CHANCE, parent, slot, chance)
            return [
                (state.child(action), depth + 2, node, -1, chance * share, keys)
                for action, share in state.chance_outcomes()
            ]
        if state.is_simultaneous_node():
            return self._both(state, depth, parent, slot, chance, keys)
        player = state.current_player()
        node, first = (
            self._note(depth, player, parent, slot, chance),
            self._set(player, keys, seen[player].legal),
        )
        return [
            (state.child(action), depth + 2, node, first + i, chance, _after(keys, player, action))
            for i, action in enumerate(seen[player].legal)
        ]

    def _both(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: tuple[bytes, bytes]
    ) -> list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]]:
        """Add a state in which both players move at once, as a node of player 0 followed by nodes of player 1.

        Arguments and result are those of `_children`, but ``keys`` are the keys after the players have seen the state.
        """
        menus = [legal(state, player) or (0,) for player in (0, 1)]
        firsts = [self._set(player, keys, menus[player]) for player in (0, 1)]
        node, out = self._note(depth, 0, parent, slot, chance), []
        for i, one in enumerate(menus[0]):
            below = self._note(depth + 1, 1, node, firsts[0] + i, chance)
            for j, two in enumerate(menus[1]):
                child = state.clone()
                child.apply_actions([one, two])
                after = _after(_after(keys, 0, one), 1, two)
                out.append((child, depth + 2, below, firsts[1] + j, chance, after))
        return out

    def _note(
        self, depth: int, owner: int, parent: int, slot: int, chance: float, payoff: float = 0.0
    ) -> int:
        self.nodes.append((depth, owner, parent, slot, chance, payoff))
        return len(self.nodes) - 1

    def _set(self, player: int, keys: tuple[bytes, bytes], menu: tuple[int, ...]) -> int:
        """Return the position of an information set's first action; add the set if it is new.

        Args:
            player: the player who decides.
            keys: both players' keys of their information sets.
            menu: the legal actions.
        """
        key = player, keys[player]
        if key not in self.sets:
            self.sets[key] = len(self.actions)
            self.actions.extend(menu)
        return self.sets[key]

    def _arrays(self) -> SpielTree:
        depth, owner, parent, slot = (
            np.array([node[i] for node in self.nodes], dtype=np.int64) for i in range(4)
        )
        chance, payoff = (np.array([node[i] for node in self.nodes], dtype=np.float64) for i in (4, 5))
        order = np.argsort(depth, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        _, starts = np.unique(depth[order], return_index=True)
        return SpielTree(
            levels=np.append(starts, len(order)),
            owner=owner[order],
            parent=place[parent[order]],
            slot=slot[order],
            chance=chance[order],
            payoff=payoff[order],
            first=np.array([*self.sets.values(), len(self.actions)], dtype=np.int64),
            player=np.array([player for player, _ in self.sets], dtype=np.int64),
            actions=np.array(self.actions, dtype=np.int64),
            keys=np.array([int.from_bytes(key, "little") for _, key in self.sets], dtype=np.uint64),
        )


def _after(keys: tuple[bytes, bytes], player: int, action: int) -> tuple[bytes, bytes]:
    key = key_after_action(keys[player], action)
    return (key, keys[1]) if player == 0 else (keys[0], key)
