"""Choose the agent for each game of the HIGC; small games are solved before their first match, and stored."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import numpy as np

from spewy.bot.bot import Bot
from spewy.bot.options import Options, Resolve
from spewy.competitions.higc.gin import GinAgent
from spewy.competitions.higc.poker import PokerAgent, PokerTable, poker_table
from spewy.competitions.higc.search import SearchAgent
from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.small_games import Tabular, TabularAgent, solve_tree, spiel_tree, tabular_path
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import Dialect
from spewy.errors import InputError
from spewy.game.gamefile import Game, format_game
from spewy.learn.engine import Stop
from spewy.match.entrant import same_rules

NODES_PER_SECOND, MOST_NODES = 40_000, 4_000_000
"""Largest tree of a game that is solved, in nodes: for each second of preparation, and in all."""
WALKING = 0.6
"""Share of the preparation time for enumerating the game's tree."""
TARGET = 1e-4
"""Exploitability at which a solve stops, as a share of the largest gain in the game."""
MOST_DEALS = 20_000
"""Largest number of hands times boards of a game that is solved before its first match."""
POKER_TARGET = "0.5 mbb"
BETS = (0.5, 1.0, 2.0, np.inf)
"""Bets that are solved in games that allow any bet, as shares of the pot; inf is all-in."""


@dataclass(frozen=True)
class Agents:
    """Makes the agents that play the HIGC's games, and solves small games for them.

    Attributes:
        resolve: when a poker bot re-solves: "never", "off-tree" or "always".
        seconds: seconds that an agent searches for an answer.
        note: called with a text after each solve, and if a game can only be played by pot odds.
    """

    lockers: tuple[Path, ...]
    solved: Path
    resolve: Resolve
    seconds: float
    prepare_seconds: float
    note: Callable[[str], None]

    def agent(self, name: str, seat: int, dialect: Dialect, seed: int) -> Agent:
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
        """Solve a game from scratch and store its strategy; a solve that is stopped stores its last strategy."""
        table = poker_table(name, dialect)
        if table is not None and is_small(table.game):
            self.solve_poker(table, stop, again=True)
            return
        game = SpielGame(name, dialect)
        if self._solve(game, stop) is None and not stop.is_set():
            raise InputError(
                f"game {name!r} is too large to solve within {self.prepare_seconds:g} s and {self._most:,} states; "
                "allow more time"
            )

    def identity(self, name: str, dialect: Dialect) -> dict[str, Any]:
        """Return the JSON values, by name, that identify a game's agents in the first line of a log.

        A game that has to be solved before its first match is solved now, unless its solve is stored.
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
        from spewy.bot.agent import open_bot  # loads the solvers
        from spewy.match.opponents import opponent

        folder = self._poker_folder(table)
        if folder is not None:
            return open_bot(folder, resolve=self.resolve)
        self.note(f"{table.game.name}: no folder holds a solve of this game; the bot plays by pot odds")
        return opponent("equity", table.game)

    def _poker_folder(self, table: PokerTable) -> Path | None:
        """Return the folder of a poker game's solve, or None; a small game without a solve is solved now."""
        folder = folder_with(self.lockers, table.game)
        if folder is None and is_small(table.game):
            return self.solve_poker(table)
        return folder

    def solve_poker(self, table: PokerTable, stop: Stop | None = None, *, again: bool = False) -> Path:
        """Solve a small poker game, unless its solve is stored; return the folder of the solve.

        If ``again``, the new solve replaces a stored one. The game is solved in a temporary folder, which is then
        renamed. If another process has made the folder meanwhile, that folder is kept.
        """
        from spewy.job.job import Job
        from spewy.run.session import Session

        folder = self.solved / folder_name(table)
        if folder.is_dir() and not again:
            return folder / "lockers"
        try:
            self.solved.mkdir(parents=True, exist_ok=True)
            work = Path(mkdtemp(prefix=f".{folder.name}-", dir=self.solved)).absolute()
        except OSError as error:
            raise InputError(f"folder {self.solved} cannot be written: {error.strerror}") from error
        before = work.with_name(f"{work.name}-before")
        try:
            file = work / f"{table.game.name}.game"
            file.write_text(format_game(table.game), encoding="utf-8")
            (work / "job.toml").write_text(job_text(table, file.name), encoding="utf-8")
            with Session(Job.load(work / "job.toml"), work / "lockers") as session:
                result = session.solve(stop=_Deadline(time.monotonic() + self.prepare_seconds, stop))
            reached = "" if result.exploitability is None else f" to {result.exploitability:.3g} chips"
            self.note(f"{folder.name}: solved{reached} in {result.sweeps:,} sweeps")
            if folder.is_dir() and again:
                folder.rename(before)
            try:
                work.rename(folder)
            except OSError as error:
                if not folder.is_dir():  # no other process has made the folder
                    raise InputError(f"folder {folder} cannot be made: {error.strerror}") from error
        finally:
            shutil.rmtree(before, ignore_errors=True)
            shutil.rmtree(work, ignore_errors=True)
        return folder / "lockers"

    def _stored(self, game: SpielGame) -> Tabular | None:
        """Return the stored strategy of a game; solve the game if none is stored. None: the game is too large."""
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


class RandomAgent(Agent):
    """Plays random legal actions."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def act(self, legal: tuple[int, ...]) -> int:
        return self._rng.choice(legal)


def folder_with(lockers: Sequence[Path], game: Game) -> Path | None:
    """Return the first of some folders that has a solve of a game; None if no folder has one."""
    from spewy.bot.agent import bot_of  # loads the solvers

    for folder in lockers:
        with bot_of(folder, Options(resolve="never")) as bot:
            if same_rules(bot.game, game):
                return folder
    return None


def is_small(game: Game) -> bool:
    deals, n_cards = comb(len(game.deck), game.num_hole_cards), len(game.deck)
    for n_dealt in game.num_board_cards:
        deals *= comb(n_cards, n_dealt)
        n_cards -= n_dealt
    return deals <= MOST_DEALS


def folder_name(table: PokerTable) -> str:
    text = f"{format_game(table.game)} {sorted(table.menu.items())} {table.actions}"
    return f"{table.game.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def job_text(table: PokerTable, game_file: str) -> str:
    shares = sorted(BETS if table.actions == "full" else table.menu.values())
    sizes = ", ".join("a" if share == np.inf else f"{share:.0%}" for share in shares)
    bets = [] if table.game.limit else ["[bets.preflop]", f'bet = "{sizes}"', f'raise = "{sizes}"']
    head = [f'name = "{table.game.name}"', "[game]", f'file = "{game_file}"']
    solve = ["[solve]", f'target = "{POKER_TARGET}"', "max_sweeps = 100000", "check_every = 50"]
    return "\n".join([*head, *bets, *solve, ""])


@dataclass(frozen=True)
class _Deadline:
    """Stops a solve at the time ``at`` of `time.monotonic`, or earlier when ``stop`` is set."""

    at: float
    stop: Stop | None = None

    def is_set(self) -> bool:
        return time.monotonic() >= self.at or (self.stop is not None and self.stop.is_set())
