"""The whole tree of a small game of OpenSpiel as arrays, for a solver.

An information set is everything that a player at the table has seen and done, as a key of 64 bits. Tensors alone forget
how betting went; all of them together are never less than the player's information state. They may be more: they also
tell how many states passed, which a bot at the table knows. Where both players move at once, player 1's decision
follows player 0's, which player 1 does not see.
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
    """A tree; nodes are ordered by depth, the root first.

    Attributes:
        levels: ``[level + 1]``, first node of each depth, then the number of nodes.
        owner: ``[node]``, player to act, or `CHANCE` or `END`.
        parent: ``[node]``, parent of each node; the root is its own parent.
        slot: ``[node]``, slot of the action that leads to the node; -1 after chance, and for the root.
        chance: ``[node]``, product of the chance probabilities on the path to the node.
        payoff: ``[node]``, return of player 0 at the end, else 0.
        first: ``[set + 1]``, first slot of each information set, then the number of slots.
        player: ``[set]``, player of each information set.
        actions: ``[slot]``, OpenSpiel's number of each action.
        keys: ``[set]``, keys of the information sets as unsigned numbers.
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
    """Build the tree of a game; None if the game is too large or not zero-sum.

    Args:
        game: the game.
        most: largest number of nodes.
        seconds: time for the walk through the game.
        stop: ends the walk early, without a tree.
    """
    if not game.is_zero_sum:
        return None
    return _Walk(game, most, time.monotonic() + seconds, stop).tree()


def key_after_state(key: bytes, state: State) -> bytes:
    """Key of a player's information set after another state."""
    digest = hashlib.blake2b(key, digest_size=8)
    for tensor in state.tensors:
        digest.update(tensor)
    digest.update(repr(state.legal).encode())
    return digest.digest()


def key_after_action(key: bytes, action: int) -> bytes:
    """Key of a player's information set after an action of that player."""
    return hashlib.blake2b(key + str(action).encode(), digest_size=8).digest()


@dataclass
class _Walk:
    """Enumerates the nodes of a game's tree."""

    game: SpielGame
    most: int
    deadline: float
    stop: Stop | None
    found: list[tuple[int, int, int, int, float, float]] = field(default_factory=list)
    """Depth, owner, parent, slot, chance and payoff of each node."""
    sets: dict[tuple[int, bytes], int] = field(default_factory=dict)
    """The first slot of each information set."""
    actions: list[int] = field(default_factory=list)

    def tree(self) -> SpielTree | None:
        """Build the tree; None if it is too large."""
        keys = (START_KEY, START_KEY)
        waiting: list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]] = [
            (self.game.start(), 0, 0, -1, 1.0, keys)
        ]
        while waiting:
            if len(self.found) > self.most or time.monotonic() > self.deadline:
                return None
            if self.stop is not None and self.stop.is_set():
                return None
            waiting.extend(self._children(*waiting.pop()))
        return self._arrays()

    def _children(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: tuple[bytes, bytes]
    ) -> list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]]:
        """Add a node; return the states that follow it."""
        if state.is_terminal():
            self._note(depth, END, parent, slot, chance, state.returns()[0])
            return []
        views = self.game.seen(state, 0), self.game.seen(state, 1)
        keys = key_after_state(keys[0], views[0]), key_after_state(keys[1], views[1])
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
            self._set(player, keys, views[player].legal),
        )
        return [
            (state.child(action), depth + 2, node, first + i, chance, _after(keys, player, action))
            for i, action in enumerate(views[player].legal)
        ]

    def _both(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: tuple[bytes, bytes]
    ) -> list[tuple[SpielState, int, int, int, float, tuple[bytes, bytes]]]:
        """Add a simultaneous node, as a node of player 0 followed by nodes of player 1."""
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
        self.found.append((depth, owner, parent, slot, chance, payoff))
        return len(self.found) - 1

    def _set(self, player: int, keys: tuple[bytes, bytes], menu: tuple[int, ...]) -> int:
        """The first slot of an information set."""
        key = player, keys[player]
        if key not in self.sets:
            self.sets[key] = len(self.actions)
            self.actions.extend(menu)
        return self.sets[key]

    def _arrays(self) -> SpielTree:
        depth, owner, parent, slot = (
            np.array([node[i] for node in self.found], dtype=np.int64) for i in range(4)
        )
        chance, payoff = (np.array([node[i] for node in self.found], dtype=np.float64) for i in (4, 5))
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
