"""Strategies of small games as files, and the agent that plays them.

A file is NumPy's ``.npz`` without pickles. Its arrays are named after the attributes of `Tabular`.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from solvers.tree import Floats, Ints
from spewy.competitions.higc.spiel_cfr import SpielStrategy
from spewy.competitions.higc.spiel_tree import START_KEY, SpielTree, key_after_action, key_after_state
from spewy.competitions.higc.text import Dialect, State
from spewy.errors import InputError, path_text

FIELDS = {"keys", "first", "actions", "average", "exploitability", "name"}


@dataclass(frozen=True)
class Tabular:
    """The strategy of a game by information set.

    Frequencies of all information sets stand in one array. The actions of set i have the positions ``first[i]`` to
    ``first[i + 1] - 1``.

    Attributes:
        name: OpenSpiel's name of the game.
        keys: key of each information set, ascending, ``[set]``.
        first: position of each set's first action, then the number of all actions, ``[set + 1]``.
        actions: OpenSpiel's number of each action, ``[position]``.
        average: frequency of each action, ``[position]``.
        exploitability: exploitability in the game's units.
    """

    name: str
    keys: Ints
    first: Ints
    actions: Ints
    average: Floats
    exploitability: float

    @classmethod
    def of(cls, name: str, tree: SpielTree, solution: SpielStrategy) -> Tabular:
        """Make the strategy from a solved tree."""
        order = np.argsort(tree.keys)
        sizes = np.diff(tree.first)[order]
        first = np.concatenate([[0], np.cumsum(sizes)])
        slots = np.repeat(tree.first[:-1][order] - first[:-1], sizes) + np.arange(first[-1])
        return cls(
            name,
            tree.keys[order],
            first,
            tree.actions[slots],
            solution.average[slots],
            solution.exploitability,
        )

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
            np.savez_compressed(
                temporary,
                keys=self.keys,
                first=self.first,
                actions=self.actions,
                average=self.average,
                exploitability=np.array(self.exploitability),
                name=np.array(self.name),
            )
            temporary.replace(path)
        except OSError as error:
            raise InputError(f"file {path_text(path)} cannot be written: {error.strerror}") from error
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Tabular:
        """Read a strategy from a file.

        Raises:
            InputError: the file is missing or damaged.
        """
        subject = f"file {path_text(path)}"
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {key: held[key] for key in FIELDS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{subject}: expected a stored strategy, found: {error}") from None
        sizes = len(arrays["keys"]) + 1, len(arrays["actions"])
        if sizes != (len(arrays["first"]), len(arrays["average"])) or arrays["first"][-1] != sizes[1]:
            raise InputError(
                f"{subject}: expected a stored strategy, found arrays whose lengths do not match"
            )
        return cls(
            str(arrays["name"]),
            arrays["keys"],
            arrays["first"],
            arrays["actions"],
            arrays["average"],
            float(arrays["exploitability"]),
        )


def tabular_path(solved: Path, name: str, dialect: Dialect) -> Path:
    """Return the path of a game's file in the folder of solved games."""
    digest = hashlib.sha256(f"{dialect} {name}".encode()).hexdigest()[:12]
    short = re.sub(r"\W.*", "", name, flags=re.DOTALL)[:40] or "game"
    return solved / f"{short}-{digest}.npz"


class TabularAgent:
    """Plays from a stored strategy; implements `spewy.competitions.higc.session.Agent`.

    Args:
        tabular: the stored strategy to play.
        seed: seed of the random choices.
    """

    def __init__(self, tabular: Tabular, seed: int) -> None:
        self._tabular, self._rng = tabular, Random(seed)
        self.new_match()

    def new_match(self) -> None:
        """Begin a match."""
        self._key = START_KEY

    def see(self, state: State) -> None:
        """Update the information set by the state that the referee shows."""
        self._key = key_after_state(self._key, state)

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action at random, with the stored frequencies.

        Raises:
            InputError: the strategy lacks the information set.
        """
        frequencies = self._tabular.at(self._key)
        if not set(frequencies) >= set(legal):
            raise InputError("information set: the stored strategy lacks it, or lacks a legal action there")
        weights = [max(frequencies[action], 0.0) for action in legal]
        action = self._rng.choices(legal, weights if sum(weights) > 0 else None)[0]
        self._key = key_after_action(self._key, action)
        return action

    def close(self) -> None:
        """Do nothing; the agent holds no files."""
