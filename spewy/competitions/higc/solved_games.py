"""Solve small poker games of the HIGC before their first match, and store the solves for later matches."""

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

from spewy.bot.agent import bot_of
from spewy.bot.options import Options
from spewy.competitions.higc.spiel_poker import PokerTable
from spewy.errors import InputError
from spewy.game.gamefile import Game, format_game
from spewy.learn.engine import Stop
from spewy.match.entrant import same_rules

MOST_DEALS = 20_000
"""Largest number of hands times boards of a game that is solved before its first match."""
TARGET = "0.5 mbb"
BETS = (0.5, 1.0, 2.0, np.inf)
"""Bets that are solved in games that allow any bet, as shares of the pot; inf is all-in."""


def folder_with(lockers: Sequence[Path], game: Game) -> Path | None:
    """Return the first of some folders that has a solve of a game; None if no folder has one.

    Raises:
        lockers.LockerError: a folder is empty or damaged.
        InputError: a folder does not hold a whole game.
    """
    for folder in lockers:
        with bot_of(folder, Options(resolve="never")) as bot:
            if same_rules(bot.game, game):
                return folder
    return None


def is_small(game: Game) -> bool:
    """Whether a game is small enough to be solved before its first match."""
    deals, n_cards = comb(len(game.deck), game.num_hole_cards), len(game.deck)
    for n_dealt in game.num_board_cards:
        deals *= comb(n_cards, n_dealt)
        n_cards -= n_dealt
    return deals <= MOST_DEALS


def solve_if_new(solved: Path, table: PokerTable, seconds: float, note: Callable[[str], None]) -> Path:
    """Return the folder with the solve of a small game; solve the game first if no solve is stored.

    Args:
        solved: folder of solved games.
        table: the poker game to play.
        seconds: approximate seconds for solving.
        note: called with a text for each solve.

    Raises:
        InputError: the game cannot be solved within the allowed memory, or the folder cannot be written.
    """
    folder = solved / folder_name(table)
    if not folder.is_dir():
        _solve(folder, table, seconds, note)
    return folder / "lockers"


def solve_anew(
    solved: Path, table: PokerTable, seconds: float, note: Callable[[str], None], stop: Stop | None = None
) -> None:
    """Solve a small game from scratch and replace its stored solve.

    Args:
        solved: folder of solved games.
        table: the poker game to solve.
        seconds: approximate seconds for solving.
        note: called with a text for each solve.
        stop: ends the solve early when it is set; the strategy so far is stored.

    Raises:
        InputError: the game cannot be solved within the allowed memory, or the folder cannot be written.
    """
    _solve(solved / folder_name(table), table, seconds, note, stop, again=True)


def folder_name(table: PokerTable) -> str:
    """Return the name of the folder for a game's solve."""
    text = f"{format_game(table.game)} {sorted(table.menu.items())} {table.actions}"
    return f"{table.game.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def job_text(table: PokerTable, game_file: str) -> str:
    """Return the text of a job file that solves a game.

    Args:
        table: the poker game to solve.
        game_file: path of the game file, for the job file.
    """
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
    """Solve a game in a temporary folder, then rename the folder.

    If ``again``, the new solve replaces an existing folder. If another process has made the folder meanwhile, that
    folder is kept.
    """
    from spewy.job.job import Job
    from spewy.run.session import Session

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)).absolute()
    except OSError as error:
        raise InputError(f"folder {folder.parent} cannot be written: {error.strerror}") from error
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
                raise InputError(f"folder {folder} cannot be made: {error.strerror}") from error
    finally:
        shutil.rmtree(before, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class _Deadline:
    """Stops a solve at a time of `time.monotonic`, or earlier if another stop is set."""

    at: float
    stop: Stop | None = None

    def is_set(self) -> bool:
        """Whether the solve must stop."""
        return time.monotonic() >= self.at or (self.stop is not None and self.stop.is_set())
