"""Small games of OpenSpiel: their whole tree, its solution by CFR, and an agent that plays the stored solution.

An information set is everything that a player at the table has seen and done; its key has 64 bits. A single tensor does
not show the earlier betting, so the key depends on all tensors so far. All tensors together tell at least as much as
the player's information state in OpenSpiel. They can tell more, because they also show how many states have passed,
which a bot at the table knows. Where both players move at once, the tree lets player 1 decide after player 0, without
seeing player 0's action.

The solution is by CFR, level by level: DCFR with exponents (1.5, 0, 2) and alternating updates (N. Brown and
T. Sandholm, "Solving Imperfect-Information Games via Discounted Regret Minimization", AAAI 2019).
"""
# OpenSpiel's own CFR+ would save this module, and is weaker in the same time: it reaches 0.025 in 15 s in liar's dice
# with six-sided dice (here 0.003), and 0.0014 in 5 s in goofspiel with four cards (here 0.0003). It also enumerates a
# game's states without a limit of time or memory, and a bot meets games whose size nobody knows.

from __future__ import annotations

import hashlib
import os
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from solvers.tree import Floats, Ints
from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.spiel import SpielGame, SpielState, legal
from spewy.competitions.higc.text import Dialect, State
from spewy.errors import InputError, path_text
from spewy.learn.engine import Stop

CHANCE, END = -1, -2
START_KEY = bytes(8)
"""Key of the information set before the first state."""
POSITIVE, SUMS = 1.5, 2.0
"""DCFR's exponents for positive regrets and strategy sums; negative regrets are halved in each iteration."""
CHECK_EVERY = 25
FIELDS = ("keys", "first", "actions", "average", "exploitability", "name")
"""Names of the arrays in a strategy's file, in a fixed order, so that files of equal strategies are equal."""

Keys = tuple[bytes, bytes]
Waiting = tuple[SpielState, int, int, int, float, Keys]
"""A state whose node is to be added, its depth, parent, slot and chance as in `SpielTree`, and both players' keys."""


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

    def below_root(self) -> Iterator[tuple[int, int]]:
        """Yield the first node of each level below the root, and the first node after the level."""
        yield from zip(self.levels[1:-1].tolist(), self.levels[2:].tolist(), strict=True)


def spiel_tree(game: SpielGame, most: int, seconds: float, stop: Stop | None = None) -> SpielTree | None:
    """Build the tree of a game.

    Returns:
        The tree; None if the game is not zero-sum or has more than ``most`` nodes, or the time was over or the work
        was stopped before the end.
    """
    if not game.is_zero_sum:
        return None
    walk, deadline = _Walk(game), time.monotonic() + seconds
    waiting: list[Waiting] = [(game.start(), 0, 0, -1, 1.0, (START_KEY, START_KEY))]
    while waiting:
        if len(walk.nodes) > most or time.monotonic() > deadline or (stop is not None and stop.is_set()):
            return None
        waiting.extend(walk.children(*waiting.pop()))
    return walk.arrays()


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
    """Lists the nodes of a game's tree.

    Attributes:
        nodes: depth, owner, parent, slot, chance and payoff of each node, as in `SpielTree`.
        sets: position of the first action of each information set, by player and key.
    """

    game: SpielGame
    nodes: list[tuple[int, int, int, int, float, float]] = field(default_factory=list)
    sets: dict[tuple[int, bytes], int] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)

    def children(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: Keys
    ) -> list[Waiting]:
        """Add the node of a state, and return the states that follow."""
        if state.is_terminal():
            self._note(depth, END, parent, slot, chance, state.returns()[0])
            return []
        seen = self.game.seen(state, 0), self.game.seen(state, 1)
        keys = key_after_state(keys[0], seen[0]), key_after_state(keys[1], seen[1])
        if state.is_simultaneous_node():
            return self._both(state, depth, parent, slot, chance, keys)
        player = state.current_player()  # OpenSpiel's number for chance is -1, too
        node = self._note(depth, player, parent, slot, chance)
        if player == CHANCE:
            return [
                (state.child(action), depth + 2, node, -1, chance * share, keys)
                for action, share in state.chance_outcomes()
            ]
        first = self._set(player, keys, seen[player].legal)
        return [
            (state.child(action), depth + 2, node, first + i, chance, _after(keys, player, action))
            for i, action in enumerate(seen[player].legal)
        ]

    def _both(
        self, state: SpielState, depth: int, parent: int, slot: int, chance: float, keys: Keys
    ) -> list[Waiting]:
        """Add a state in which both players move at once: a node of player 0, followed by nodes of player 1."""
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

    def _set(self, player: int, keys: Keys, menu: tuple[int, ...]) -> int:
        """Return the position of an information set's first action; add the set if it is new."""
        key = player, keys[player]
        if key not in self.sets:
            self.sets[key] = len(self.actions)
            self.actions.extend(menu)
        return self.sets[key]

    def arrays(self) -> SpielTree:
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


def _after(keys: Keys, player: int, action: int) -> Keys:
    key = key_after_action(keys[player], action)
    return (key, keys[1]) if player == 0 else (keys[0], key)


@dataclass(frozen=True)
class SpielStrategy:
    """The result of solving a game.

    Attributes:
        average: average frequency of each action, ``[position]``, in the order of `SpielTree.actions`.
        exploitability: exploitability in the game's units.
    """

    average: Floats
    exploitability: float
    iterations: int


def solve_tree(
    tree: SpielTree, target: float, seconds: float, most: int = 100_000, stop: Stop | None = None
) -> SpielStrategy:
    """Solve a game until its exploitability is at most ``target``, for at most ``seconds`` and ``most`` iterations."""
    begun, iterations = time.monotonic(), 0
    regrets, sums = np.zeros(len(tree.actions)), np.zeros(len(tree.actions))
    while True:
        for _ in range(CHECK_EVERY):
            iterations += 1
            for player in (0, 1):
                _improve(tree, player, float(iterations), regrets, sums)
        average = shares(tree, sums)
        reached = exploitability(tree, average)
        over = time.monotonic() - begun >= seconds or (stop is not None and stop.is_set())
        if reached <= target or iterations >= most or over:
            return SpielStrategy(average, reached, iterations)


def _improve(tree: SpielTree, player: int, t: float, regrets: Floats, sums: Floats) -> None:
    """Update a player's regrets and strategy sums ``[position]`` in iteration ``t``, from 1."""
    strategy = shares(tree, regrets)
    reach, value = reaches(tree, strategy), values(tree, strategy)
    own = (tree.slot >= 0) & (tree.owner[tree.parent] == player)
    nodes, slots = np.flatnonzero(own), tree.slot[own]
    parents = tree.parent[nodes]
    gain = (value[nodes] - value[parents]) * (1 if player == 0 else -1)
    weight = tree.chance[parents] * reach[1 - player][parents]
    instant = np.bincount(slots, weight * gain, len(strategy))
    own_slots = np.unique(slots)
    before = regrets[own_slots]
    scale = np.where(before > 0, t**POSITIVE / (t**POSITIVE + 1), 0.5)
    regrets[own_slots] = before * scale + instant[own_slots]
    # The player reaches all nodes of an information set with the same probability of its own.
    played = np.zeros(len(strategy))
    played[slots] = reach[player][nodes]
    sums[own_slots] = sums[own_slots] * ((t - 1) / t) ** SUMS + played[own_slots]


def shares(tree: SpielTree, weights: Floats) -> Floats:
    """Normalise each information set's positive weights ``[position]`` to sum 1; equal shares in a set without any."""
    positive = np.maximum(weights, 0.0)
    sizes = np.diff(tree.first)
    totals = np.repeat(np.add.reduceat(positive, tree.first[:-1]), sizes)
    out = np.repeat(1.0 / sizes, sizes)
    np.divide(positive, totals, out=out, where=totals > 0)
    return out


def reaches(tree: SpielTree, strategy: Floats) -> Floats:
    """Return each player's contribution to the probability of reaching each node, ``[player, node]``."""
    out = np.ones((2, len(tree.owner)))
    for low, high in tree.below_root():
        parents, slots = tree.parent[low:high], tree.slot[low:high]
        out[:, low:high] = out[:, parents]
        taken = np.flatnonzero(slots >= 0)
        out[tree.owner[parents[taken]], low + taken] *= strategy[slots[taken]]
    return out


def values(tree: SpielTree, strategy: Floats) -> Floats:
    """Return the expected return of player 0 from each node, ``[node]``, if both players follow a strategy."""
    out = tree.payoff.copy()
    for low, high in reversed(list(tree.below_root())):
        _give(tree, strategy, out, low, high)
    return out


def exploitability(tree: SpielTree, strategy: Floats) -> float:
    """Return the exploitability of a strategy: half the sum of both players' best-response values."""
    return (_best_value(tree, strategy, 0) + _best_value(tree, strategy, 1)) / 2


def _best_value(tree: SpielTree, strategy: Floats, player: int) -> float:
    out = (1 if player == 0 else -1) * tree.payoff
    reach = reaches(tree, strategy)[1 - player] * tree.chance
    best = strategy.copy()
    numbers, sizes = np.arange(len(best)), np.diff(tree.first)
    for low, high in reversed(list(tree.below_root())):
        slots, parents = tree.slot[low:high], tree.parent[low:high]
        own = (slots >= 0) & (tree.owner[parents] == player)
        if own.any():
            weights = reach[parents[own]] * out[low:high][own]
            worth = np.bincount(slots[own], weights, len(strategy)).astype(np.float64)
            highest = np.repeat(np.maximum.reduceat(worth, tree.first[:-1]), sizes)
            candidates = np.where(worth >= highest, numbers, len(worth))
            chosen = np.repeat(np.minimum.reduceat(candidates, tree.first[:-1]), sizes)
            here = np.unique(slots[own])
            best[here] = chosen[here] == here
        _give(tree, best, out, low, high)
    return float(out[0])


def _give(tree: SpielTree, strategy: Floats, out: Floats, low: int, high: int) -> None:
    """Add the values of nodes ``low`` to ``high - 1``, times their probabilities, to their parents' values."""
    slots, parents = tree.slot[low:high], tree.parent[low:high]
    dealt = tree.chance[low:high] / tree.chance[parents]  # of one step: `chance` is of the whole path
    weight = np.where(slots >= 0, strategy[slots], dealt)
    out += np.bincount(parents, weight * out[low:high], len(out))


@dataclass(frozen=True)
class Tabular:
    """The strategy of a game by information set, as it is stored in a file: NumPy's ``.npz`` without pickles.

    Attributes:
        keys: key of each information set, ascending, ``[set]``.
        first: position of each set's first action, then the number of all actions, ``[set + 1]``.
        actions: OpenSpiel's number of each action, ``[position]``.
        average: frequency of each action, ``[position]``.
    """

    name: str
    keys: Ints
    first: Ints
    actions: Ints
    average: Floats
    exploitability: float

    @classmethod
    def of(cls, name: str, tree: SpielTree, solution: SpielStrategy) -> Tabular:
        order = np.argsort(tree.keys)
        sizes = np.diff(tree.first)[order]
        first = np.concatenate([[0], np.cumsum(sizes)])
        slots = np.repeat(tree.first[:-1][order] - first[:-1], sizes) + np.arange(first[-1])
        average = solution.average[slots]
        return cls(name, tree.keys[order], first, tree.actions[slots], average, solution.exploitability)

    def at(self, key: bytes) -> dict[int, float]:
        """Return the frequencies in an information set by OpenSpiel's numbers of actions; empty for an unknown key."""
        number = np.uint64(int.from_bytes(key, "little"))
        place = int(np.searchsorted(self.keys, number))
        if place == len(self.keys) or self.keys[place] != number:
            return {}
        here = slice(int(self.first[place]), int(self.first[place + 1]))
        return dict(zip(self.actions[here].tolist(), self.average[here].tolist(), strict=True))

    def write(self, path: Path) -> None:
        """Write the strategy to a file, which appears only when it is complete.

        Raises:
            InputError: the file cannot be written; if the disk is full, the error's cause is an `OSError`.
        """
        temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp.npz")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            arrays: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in FIELDS}
            np.savez_compressed(temporary, **arrays)
            temporary.replace(path)
        except OSError as error:
            raise InputError(f"file {path_text(path)} cannot be written: {error.strerror}") from error
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Tabular:
        subject = f"file {path_text(path)}: expected a stored strategy, found"
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {key: held[key] for key in FIELDS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{subject}: {error}") from None
        sizes = len(arrays["keys"]) + 1, len(arrays["actions"])
        if sizes != (len(arrays["first"]), len(arrays["average"])) or arrays["first"][-1] != sizes[1]:
            raise InputError(f"{subject} arrays whose lengths do not match")
        name, gap = str(arrays.pop("name")), float(arrays.pop("exploitability"))
        return cls(name=name, exploitability=gap, **arrays)


def tabular_path(solved: Path, name: str, dialect: Dialect) -> Path:
    """Return the path of a game's file in the folder of solved games."""
    digest = hashlib.sha256(f"{dialect} {name}".encode()).hexdigest()[:12]
    short = re.sub(r"\W.*", "", name, flags=re.DOTALL)[:40] or "game"
    return solved / f"{short}-{digest}.npz"


class TabularAgent(Agent):
    """Plays from a stored strategy."""

    def __init__(self, tabular: Tabular, seed: int) -> None:
        self._tabular, self._rng = tabular, Random(seed)
        self.new_match()

    def new_match(self) -> None:
        self._key = START_KEY

    def see(self, state: State) -> None:
        self._key = key_after_state(self._key, state)

    def act(self, legal: tuple[int, ...]) -> int:
        frequencies = self._tabular.at(self._key)
        if not set(frequencies) >= set(legal):
            raise InputError("information set: the stored strategy lacks it, or lacks a legal action there")
        weights = [max(frequencies[action], 0.0) for action in legal]
        action = self._rng.choices(legal, weights if sum(weights) > 0 else None)[0]
        self._key = key_after_action(self._key, action)
        return action
