"""Choose the agent for each game of the HIGC, and solve and store small games."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from spewy.bot.bot import Bot
from spewy.bot.options import Options, Resolve
from spewy.competitions.higc.gin import GinAgent
from spewy.competitions.higc.poker import PokerAgent
from spewy.competitions.higc.search import SearchAgent
from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.spiel_cfr import solve_tree
from spewy.competitions.higc.spiel_poker import PokerTable, poker_table
from spewy.competitions.higc.spiel_tree import spiel_tree
from spewy.competitions.higc.tabular import Tabular, TabularAgent, tabular_path
from spewy.competitions.higc.text import Dialect, State
from spewy.errors import InputError
from spewy.learn.engine import Stop

NODES_PER_SECOND, MOST_NODES = 40_000, 4_000_000
"""Largest number of tree nodes for each second of preparation, and largest number in all."""
WALKING = 0.6
"""Share of the preparation time for enumerating the game's tree."""
TARGET = 1e-4
"""Exploitability at which a solve stops, as a share of the largest gain in the game."""


@dataclass(frozen=True)
class Agents:
    """Makes the agents that play the HIGC's games, and solves small games for them.

    Attributes:
        lockers: folders of poker solves.
        solved: folder in which solved games are stored.
        resolve: when a poker bot re-solves: "never", "off-tree" or "always".
        seconds: seconds that an agent searches for an answer.
        prepare_seconds: seconds to solve a game that is not stored yet.
        note: called with a text after each solve, and if a game can only be played by pot odds.
    """

    lockers: tuple[Path, ...]
    solved: Path
    resolve: Resolve
    seconds: float
    prepare_seconds: float
    note: Callable[[str], None]

    def agent(self, name: str, seat: int, dialect: Dialect, seed: int) -> Agent:
        """Make the agent that plays one seat of a game.

        Args:
            name: OpenSpiel's name of the game with its parameters.
            seat: number of the player.
            dialect: form of the referee's protocol.
            seed: seed of the agent's random choices.

        Raises:
            InputError: no agent can play the game.
            MissingError: the game needs OpenSpiel, which is not installed.
            lockers.LockerError: a folder is damaged.
        """
        table = poker_table(name, dialect)
        if table is not None:
            return PokerAgent(table, self._poker_bot(table), seat, seed, self.note)
        game = SpielGame(name, dialect)
        if GinAgent.plays(game):
            return GinAgent(game, seat, seed)
        tabular = self._stored(game)
        if tabular is not None:
            return TabularAgent(tabular, seed)
        return SearchAgent(game, seat, self.seconds, seed)

    def prepare(self, name: str, dialect: Dialect, stop: Stop) -> None:
        """Solve a game from scratch and store its strategy; a solve that is stopped stores its last strategy.

        Raises:
            InputError: the game is too large, or the strategy cannot be written.
            MissingError: the game needs OpenSpiel, which is not installed.
        """
        from spewy.competitions.higc.solved_games import is_small, solve_anew

        table = poker_table(name, dialect)
        if table is not None and is_small(table.game):
            solve_anew(self.solved, table, self.prepare_seconds, self.note, stop)
            return
        game = SpielGame(name, dialect)
        if self._solve(game, stop) is None and not stop.is_set():
            raise InputError(
                f"game {name!r} is too large to solve within {self.prepare_seconds:g} s and {self._most:,} states; "
                "allow more time"
            )

    def identity(self, name: str, dialect: Dialect) -> dict[str, Any]:
        """Return the values that identify the agents of a game in the head of a log, as JSON values by name.

        A game whose solve is stored before its first match is solved now if none is stored.

        Raises:
            InputError: no agent can play the game.
            MissingError: the game needs OpenSpiel, which is not installed.
            lockers.LockerError: a folder is damaged.
        """
        table, seconds = poker_table(name, dialect), {"search_seconds": self.seconds}
        if table is None:
            game = SpielGame(name, dialect)
            if GinAgent.plays(game) or self._stored(game) is None:
                return seconds
            content = tabular_path(self.solved, game.name, game.dialect).read_bytes()
            return {**seconds, "solved": hashlib.sha256(content).hexdigest()[:16]}
        folder = self._poker_folder(table)
        if folder is None:
            return {**seconds, "plays": "equity"}
        from spewy.look.folder import solve_identity

        return {**seconds, **solve_identity(folder), **Options.of(resolve=self.resolve).to_json()}

    def _poker_bot(self, table: PokerTable) -> Bot:
        # These imports load the solvers, which other games do not need.
        from spewy.bot.agent import open_bot
        from spewy.match.opponents import opponent

        folder = self._poker_folder(table)
        if folder is not None:
            return open_bot(folder, resolve=self.resolve)
        self.note(f"{table.game.name}: no folder holds a solve of this game; the bot plays by pot odds")
        return opponent("equity", table.game)

    def _poker_folder(self, table: PokerTable) -> Path | None:
        """Return the folder with the solve that plays a poker game; None if there is none, and the game is large."""
        from spewy.competitions.higc.solved_games import folder_with, is_small, solve_if_new

        folder = folder_with(self.lockers, table.game)
        if folder is None and is_small(table.game):
            return solve_if_new(self.solved, table, self.prepare_seconds, self.note)
        return folder

    def _stored(self, game: SpielGame) -> Tabular | None:
        """Return the stored strategy of a game, after a solve if none is stored; None if the game is too large."""
        path = tabular_path(self.solved, game.name, game.dialect)
        too_large = path.with_suffix(".large")
        if path.exists():
            return Tabular.read(path)
        if too_large.exists():
            return None
        tabular = self._solve(game)
        if tabular is None:
            self.solved.mkdir(parents=True, exist_ok=True)
            too_large.touch()
        return tabular

    @property
    def _most(self) -> int:
        return min(int(NODES_PER_SECOND * self.prepare_seconds), MOST_NODES)

    def _solve(self, game: SpielGame, stop: Stop | None = None) -> Tabular | None:
        """Solve a game and store its strategy; return None if the game is too large."""
        begun = time.monotonic()
        tree = spiel_tree(game, self._most, WALKING * self.prepare_seconds, stop)
        if tree is None:
            return None
        remaining = self.prepare_seconds - (time.monotonic() - begun)
        solution = solve_tree(tree, TARGET * game.game.max_utility(), remaining, stop=stop)
        tabular = Tabular.of(game.name, tree, solution)
        tabular.write(tabular_path(self.solved, game.name, game.dialect))
        self.note(
            f"{game.name}: {len(tree.owner):,} nodes solved to {solution.exploitability:.3g} "
            f"in {solution.iterations:,} iterations"
        )
        return tabular


class RandomAgent:
    """Plays random legal actions.

    Args:
        seed: seed of the random actions.
    """

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def new_match(self) -> None:
        """Begin a match."""

    def see(self, state: State) -> None:
        """Ignore a state."""

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action at random."""
        return self._rng.choice(legal)

    def close(self) -> None:
        """Do nothing; the agent holds no files."""
