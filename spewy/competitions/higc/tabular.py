"""Strategies of small games as files, and who plays from them.

A file is NumPy's ``.npz`` without pickles: ``keys`` ``[set]`` of streams in ascending order, ``first`` ``[set + 1]``,
``actions`` and ``average`` ``[slot]``, ``exploitability`` and the game's ``name``.
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
    """A strategy by streams.

    Attributes:
        name: of the game.
        keys: ``[set]``, ascending.
        first: ``[set + 1]``: where each set's actions begin.
        actions: ``[slot]``.
        average: ``[slot]``: how often each is taken.
        exploitability: of all of it, in the game's units.
    """

    name: str
    keys: Ints
    first: Ints
    actions: Ints
    average: Floats
    exploitability: float

    @classmethod
    def of(cls, name: str, tree: SpielTree, found: SpielStrategy) -> Tabular:
        """What a solve found."""
        order = np.argsort(tree.keys)
        sizes = np.diff(tree.first)[order]
        first = np.concatenate([[0], np.cumsum(sizes)])
        slots = np.repeat(tree.first[:-1][order] - first[:-1], sizes) + np.arange(first[-1])
        return cls(
            name, tree.keys[order], first, tree.actions[slots], found.average[slots], found.exploitability
        )

    def at(self, key: bytes) -> dict[int, float]:
        """How often each action is taken; nothing where the stream is unknown."""
        number = np.uint64(int.from_bytes(key, "little"))
        place = int(np.searchsorted(self.keys, number))
        if place == len(self.keys) or self.keys[place] != number:
            return {}
        here = slice(int(self.first[place]), int(self.first[place + 1]))
        return dict(zip(self.actions[here].tolist(), self.average[here].tolist(), strict=True))

    def write(self, path: Path) -> None:
        """Write a file, all of it or nothing.

        Raises:
            InputError: nobody may write there; or, caused by an `OSError`, there is no room.
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
            raise InputError(
                f"file {path_text(path)}: expected one that can be written, found: {error.strerror}"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Tabular:
        """Read a file.

        Raises:
            InputError: it is none, or damaged.
        """
        subject = f"file {path_text(path)}"
        try:
            with np.load(path, allow_pickle=False) as held:
                found = {key: held[key] for key in FIELDS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{subject}: expected a kept strategy, found: {error}") from None
        sizes = len(found["keys"]) + 1, len(found["actions"])
        if sizes != (len(found["first"]), len(found["average"])) or found["first"][-1] != sizes[1]:
            raise InputError(f"{subject}: expected a kept strategy, found arrays of other lengths")
        return cls(
            str(found["name"]),
            found["keys"],
            found["first"],
            found["actions"],
            found["average"],
            float(found["exploitability"]),
        )


def tabular_path(shelf: Path, name: str, dialect: Dialect) -> Path:
    """The file of a game."""
    digest = hashlib.sha256(f"{dialect} {name}".encode()).hexdigest()[:12]
    short = re.sub(r"\W.*", "", name, flags=re.DOTALL)[:40] or "game"
    return shelf / f"{short}-{digest}.npz"


class TabularAgent:
    """Plays from a kept strategy; a `spewy.competitions.higc.session.Agent`.

    Args:
        tabular: the strategy.
        seed: of what is drawn.
    """

    def __init__(self, tabular: Tabular, seed: int) -> None:
        self._tabular, self._rng = tabular, Random(seed)
        self.new_match()

    def new_match(self) -> None:
        """A match begins."""
        self._key = START_KEY

    def see(self, state: State) -> None:
        """The next state."""
        self._key = key_after_state(self._key, state)

    def act(self, legal: tuple[int, ...]) -> int:
        """A legal action.

        Raises:
            InputError: the strategy does not know what was seen.
        """
        found = self._tabular.at(self._key)
        if not set(found) >= set(legal):
            raise InputError("stream: expected one of the game's, found none")
        weights = [max(found[action], 0.0) for action in legal]
        action = self._rng.choices(legal, weights if sum(weights) > 0 else None)[0]
        self._key = key_after_action(self._key, action)
        return action

    def close(self) -> None:
        """Give back nothing."""
