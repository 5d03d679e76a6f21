"""Choose the agent for each game at a HIGC referee's table, and store the games that were solved for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from spewy.bot.bot import Bot
from spewy.bot.options import Resolve
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
"""Largest number of tree nodes per second of preparation, and in any time."""
WALKING = 0.6
"""Share of the preparation time for enumerating the game's tree."""
TARGET = 1e-4
"""Exploitability at which a solve stops, as a share of the game's largest gain."""


@dataclass(frozen=True)
class Agents:
    """Makes the agents for games.

    Attributes:
        lockers: folders of poker solves.
        solved: folder of games that are solved when they are first met.
        resolve: when a poker bot re-solves, as of `spewy.bot.agent.open_bot`.
        seconds: time for an answer that is searched for.
        prepare_seconds: time for solving a game when it is first met.
        note: called with a text for each solve, and for how each game is played.
    """

    lockers: tuple[Path, ...]
    solved: Path
    resolve: Resolve
    seconds: float
    prepare_seconds: float
    note: Callable[[str], None]

    def agent(self, name: str, seat: int, dialect: Dialect, seed: int) -> Agent:
        """Make the agent for a seat of a game.

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
        """Solve a game anew and store it; if the solve is stopped, store what it has reached.

        Raises:
            InputError: the game is too large, or nothing can be written.
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
                f"game {name!r}: expected one to be walked through within {self.prepare_seconds:g} s and "
                f"{self._most:,} states, found a larger one"
            )

    def _poker_bot(self, table: PokerTable) -> Bot:
        # Loads the solvers, which other games do without.
        from spewy.competitions.higc.solved_games import is_small, solved_bot, stored_bot
        from spewy.match.opponents import opponent

        bot = stored_bot(self.lockers, table.game, self.resolve)
        if bot is not None:
            return bot
        if is_small(table.game):
            return solved_bot(self.solved, table, self.prepare_seconds, self.note, self.resolve)
        self.note(f"{table.game.name}: no --lockers have it; played by pot odds")
        return opponent("equity", table.game)

    def _stored(self, game: SpielGame) -> Tabular | None:
        """Strategy of a small game, solved now if it is new; None if the game is too large."""
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
        """Solve a game and store it; None if the game is too large."""
        begun = time.monotonic()
        tree = spiel_tree(game, self._most, WALKING * self.prepare_seconds, stop)
        if tree is None:
            return None
        left = self.prepare_seconds - (time.monotonic() - begun)
        solution = solve_tree(tree, TARGET * game.game.max_utility(), left, stop=stop)
        tabular = Tabular.of(game.name, tree, solution)
        tabular.write(tabular_path(self.solved, game.name, game.dialect))
        self.note(
            f"{game.name}: {len(tree.owner):,} nodes solved to {solution.exploitability:.3g} "
            f"in {solution.iterations:,} iterations"
        )
        return tabular


class RandomAgent:
    """Plays a random legal action.

    Args:
        seed: seed of the draws.
    """

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def new_match(self) -> None:
        """Begin a match."""

    def see(self, state: State) -> None:
        """Ignore a state."""

    def act(self, legal: tuple[int, ...]) -> int:
        """Draw a legal action."""
        return self._rng.choice(legal)

    def close(self) -> None:
        """Release nothing."""
