"""Small matches for tests: entrants that other processes can open, and how they are played."""

import importlib
from dataclasses import dataclass

from spewy.match.match import play_match


@dataclass(frozen=True)
class StandIn:
    """A bot of `stand_ins`, by the name of its function."""

    name: str
    needs_other: bool = False
    alone: bool = False

    def open(self, game, other=None):
        return getattr(importlib.import_module("stand_ins"), self.name)(game)


def entrants(*names):
    return tuple(StandIn(name) for name in names)


def quietly(done, total):
    pass


def play(match, folder, workers=1):
    return play_match(match, folder, quietly, workers)


def logs(folder):
    """All logs of a match, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
