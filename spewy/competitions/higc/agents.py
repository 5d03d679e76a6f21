"""Who plays which game at a HIGC referee's table, and what is solved and kept for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from spewy.bot.bot import Bot
from spewy.bot.options import Resolve
from spewy.competitions.higc.gin import GinBrain
from spewy.competitions.higc.poker import PokerBrain
from spewy.competitions.higc.search import SearchBrain
from spewy.competitions.higc.session import Brain
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.spiel_cfr import solve_tree
from spewy.competitions.higc.spiel_poker import PokerTable, poker_table
from spewy.competitions.higc.spiel_tree import spiel_tree
from spewy.competitions.higc.tabular import Tabular, TabularBrain, tabular_path
from spewy.competitions.higc.text import Dialect
from spewy.errors import InputError
from spewy.learn.engine import Stop
from spewy.match.cards import hand_seed

NODES_PER_SECOND, MOST_NODES = 40_000, 4_000_000
"""How large a tree may be that is walked through in the time that there is, and in any time."""
WALKING = 0.6
"""Share of that time for the walk."""
TARGET = 1e-4
"""Exploitability at which a solve stops, in the game's largest gain."""


@dataclass(frozen=True)
class Brains:
    """Makes brains.

    Attributes:
        folders: lockers of poker games.
        shelf: folder of what is solved when it is first met.
        resolve: as of `spewy.bot.player.open_bot`.
        seconds: for an answer that is searched for.
        prepare_seconds: for solving a game when it is first met.
        note: hears what is solved, and how games are played.
    """

    folders: tuple[Path, ...]
    shelf: Path
    resolve: Resolve
    seconds: float
    prepare_seconds: float
    note: Callable[[str], None]

    def brain(self, name: str, seat: int, dialect: Dialect, seed: int) -> Brain:
        """Who plays a seat of a game.

        Raises:
            InputError: nobody can.
            MissingError: OpenSpiel would be needed for it.
            lockers.LockerError: a folder is damaged.
        """
        table = poker_table(name, dialect)
        if table is not None:
            return PokerBrain(table, self._poker_bot(table), seat, _seeds(seed), self.note)
        game = SpielGame(name, dialect)
        if GinBrain.plays(game):
            return GinBrain(game, seat, seed)
        tabular = self._kept(game)
        if tabular is not None:
            return TabularBrain(tabular, seed)
        return SearchBrain(game, seat, self.seconds, seed)

    def prepare(self, name: str, dialect: Dialect, stop: Stop) -> None:
        """Solve a game anew and keep it, also what was found until it was stopped.

        Raises:
            InputError: it is too large, or nothing can be written.
            MissingError: OpenSpiel would be needed for it.
        """
        from spewy.competitions.higc.solved_games import is_small, keep

        table = poker_table(name, dialect)
        if table is not None and is_small(table.game):
            keep(self.shelf, table, self.prepare_seconds, self.note, stop)
            return
        game = SpielGame(name, dialect)
        if self._solved(game, stop) is None and not stop.is_set():
            raise InputError(
                f"game {name!r}: expected one to be walked through within {self.prepare_seconds:g} s and "
                f"{self._most:,} states, found a larger one"
            )

    def _poker_bot(self, table: PokerTable) -> Bot:
        # Loads the solvers, which other games do without.
        from spewy.competitions.higc.solved_games import is_small, kept_bot, locker_bot
        from spewy.match.opponents import opponent

        found = locker_bot(self.folders, table.game, self.resolve)
        if found is not None:
            return found
        if is_small(table.game):
            return kept_bot(self.shelf, table, self.prepare_seconds, self.note, self.resolve)
        self.note(f"{table.game.name}: no --lockers have it; played by pot odds")
        return opponent("equity", table.game)

    def _kept(self, game: SpielGame) -> Tabular | None:
        """The strategy of a small game; a larger one is remembered as such."""
        path = tabular_path(self.shelf, game.name, game.dialect)
        large = path.with_suffix(".large")
        if path.exists():
            return Tabular.read(path)
        if large.exists():
            return None
        found = self._solved(game)
        if found is None:
            self.shelf.mkdir(parents=True, exist_ok=True)
            large.touch()
        return found

    @property
    def _most(self) -> int:
        return min(int(NODES_PER_SECOND * self.prepare_seconds), MOST_NODES)

    def _solved(self, game: SpielGame, stop: Stop | None = None) -> Tabular | None:
        """Solve a game and keep it; None where it is too large."""
        begun = time.monotonic()
        tree = spiel_tree(game, self._most, WALKING * self.prepare_seconds, stop)
        if tree is None:
            return None
        left = self.prepare_seconds - (time.monotonic() - begun)
        found = solve_tree(tree, TARGET * game.game.max_utility(), left, stop=stop)
        tabular = Tabular.of(game.name, tree, found)
        tabular.write(tabular_path(self.shelf, game.name, game.dialect))
        self.note(
            f"{game.name}: {len(tree.owner):,} nodes solved to {found.exploitability:.3g} "
            f"in {found.iterations:,} iterations"
        )
        return tabular


def _seeds(seed: int) -> Iterator[int]:
    """Of one match after another."""
    return (hand_seed(seed, number) for number in count())
