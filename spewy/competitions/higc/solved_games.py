"""Solve poker games of the HIGC at their first match, and store them for later matches."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from spewy.bot.agent import LockerBot, open_bot
from spewy.bot.options import Resolve
from spewy.competitions.higc.spiel_poker import PokerTable
from spewy.errors import InputError
from spewy.game.gamefile import Game, format_game
from spewy.learn.engine import Stop
from spewy.match.entrant import same_rules

MOST_DEALS = 20_000
"""Largest product of hands and boards of a game that is solved at its first match."""
TARGET = "0.5 mbb"
BETS = (0.5, 1.0, 2.0, np.inf)
"""Bets for games that allow any bet, as shares of the pot; inf: all-in."""


def stored_bot(lockers: Sequence[Path], game: Game, resolve: Resolve = "off-tree") -> LockerBot | None:
    """Open the bot of the first folder with a solve of this game; None if there is none.

    Raises:
        lockers.LockerError: a folder holds nothing, or is damaged.
        InputError: a folder's lockers are not those of a whole game.
    """
    for folder in lockers:
        bot = open_bot(folder, resolve=resolve)
        if same_rules(bot.game, game):
            return bot
        bot.close()
    return None


def is_small(game: Game) -> bool:
    """Whether a game is solved at its first match."""
    deals, left = comb(len(game.deck), game.num_hole_cards), len(game.deck)
    for cards in game.num_board_cards:
        deals *= comb(left, cards)
        left -= cards
    return deals <= MOST_DEALS


def solved_bot(
    solved: Path,
    table: PokerTable,
    seconds: float,
    note: Callable[[str], None],
    resolve: Resolve = "off-tree",
) -> LockerBot:
    """Open the bot of a small game; a new game is solved first.

    Args:
        solved: folder of solved games.
        table: the game.
        seconds: approximate time for solving.
        note: called with a text for each solve.
        resolve: when the bot re-solves, as of `spewy.bot.agent.open_bot`.

    Raises:
        InputError: the game cannot be solved within the allowed memory, or the folder cannot be written.
    """
    folder = solved / folder_name(table)
    if not folder.is_dir():
        _solve(folder, table, seconds, note)
    return open_bot(folder / "lockers", resolve=resolve)


def solve_anew(
    solved: Path, table: PokerTable, seconds: float, note: Callable[[str], None], stop: Stop | None = None
) -> None:
    """Solve a small game anew and replace its stored solve.

    Args:
        solved: folder of solved games.
        table: the game.
        seconds: approximate time for solving.
        note: called with a text for each solve.
        stop: ends the solve early; what it has reached is stored.

    Raises:
        InputError: as `solved_bot`.
    """
    _solve(solved / folder_name(table), table, seconds, note, stop, again=True)


def folder_name(table: PokerTable) -> str:
    """Name of the folder for a game."""
    text = f"{format_game(table.game)} {sorted(table.menu.items())} {table.actions}"
    return f"{table.game.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def job_text(table: PokerTable, game_file: str) -> str:
    """Write the job that solves a game, as TOML."""
    shares = sorted(BETS if table.actions == "full" else table.menu.values())
    sizes = ", ".join("a" if share == np.inf else f"{share:.0%}" for share in shares)
    bets = [] if table.game.limit else ["[bets.preflop]", f'bet = "{sizes}"', f'raise = "{sizes}"']
    return "\n".join(
        [
            f'name = "{table.game.name}"',
            "[game]",
            f'file = "{game_file}"',
            *bets,
            "[solve]",
            f'target = "{TARGET}"',
            "max_sweeps = 100000",
            "check_every = 50",
            "",
        ]
    )


def _solve(
    folder: Path,
    table: PokerTable,
    seconds: float,
    note: Callable[[str], None],
    stop: Stop | None = None,
    again: bool = False,
) -> None:
    """Solve into a temporary folder and rename it; if another process has finished earlier, keep its folder."""
    from spewy.job.job import Job
    from spewy.run.session import Session

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)).absolute()
    except OSError as error:
        raise InputError(
            f"folder {folder.parent}: expected one that can be written, found: {error.strerror}"
        ) from error
    before = work.with_name(f"{work.name}-before")
    try:
        file = work / f"{table.game.name}.game"
        file.write_text(format_game(table.game), encoding="utf-8")
        (work / "job.toml").write_text(job_text(table, file.name), encoding="utf-8")
        with Session(Job.load(work / "job.toml"), work / "lockers") as session:
            result = session.solve(stop=_Deadline(time.monotonic() + seconds, stop))
        reached = "" if result.exploitability is None else f" to {result.exploitability:.3g} chips"
        note(f"{folder.name}: solved{reached} in {result.sweeps:,} sweeps")
        if again and folder.is_dir():
            folder.rename(before)
        try:
            work.rename(folder)
        except OSError as error:
            if not folder.is_dir():  # no other process has made the folder
                raise InputError(
                    f"folder {folder}: expected one that can be made, found: {error.strerror}"
                ) from error
    finally:
        shutil.rmtree(before, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class _Deadline:
    """Stops a solve at a time of `time.monotonic`, or by another stop."""

    at: float
    stop: Stop | None = None

    def is_set(self) -> bool:
        """Whether the solve must stop."""
        return time.monotonic() >= self.at or (self.stop is not None and self.stop.is_set())
