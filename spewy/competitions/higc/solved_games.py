"""Poker games of the HIGC that are solved when they are first met, and kept in a folder to be played from."""

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

from spewy.bot.options import Resolve
from spewy.bot.player import LockerBot, open_bot
from spewy.competitions.higc.spiel_poker import PokerTable
from spewy.errors import InputError
from spewy.game.gamefile import Game, format_game
from spewy.learn.engine import Stop

MOST_DEALS = 20_000
"""Hands times boards of a game that is solved when it is met."""
TARGET = "0.5 mbb"
BETS = (0.5, 1.0, 2.0, np.inf)
"""Shares of the pot for games that allow any bet; inf: all-in."""


def locker_bot(folders: Sequence[Path], game: Game, resolve: Resolve = "off-tree") -> LockerBot | None:
    """The bot of the first folder that has this game; None: no folder has it.

    Raises:
        lockers.LockerError: nothing is in a folder, or it is damaged.
        InputError: a folder's lockers are not those of a whole game.
    """
    for folder in folders:
        bot = open_bot(folder, resolve=resolve)
        if _rules(bot.game) == _rules(game):
            return bot
        bot.close()
    return None


def is_small(game: Game) -> bool:
    """Whether a game is solved when it is met."""
    deals, left = comb(len(game.deck), game.num_hole_cards), len(game.deck)
    for cards in game.num_board_cards:
        deals *= comb(left, cards)
        left -= cards
    return deals <= MOST_DEALS


def kept_bot(
    shelf: Path, table: PokerTable, seconds: float, note: Callable[[str], None], resolve: Resolve = "off-tree"
) -> LockerBot:
    """The bot of a small game, which is solved first where the shelf lacks it.

    Args:
        shelf: folder of what is kept.
        table: the game.
        seconds: for solving, about.
        note: hears what is solved.
        resolve: as of `spewy.bot.player.open_bot`.

    Raises:
        InputError: it cannot be solved within the memory that is allowed, or the folder cannot be written.
    """
    folder = shelf / shelf_name(table)
    if not folder.is_dir():
        _solve(folder, table, seconds, note)
    return open_bot(folder / "lockers", resolve=resolve)


def keep(
    shelf: Path, table: PokerTable, seconds: float, note: Callable[[str], None], stop: Stop | None = None
) -> None:
    """Solve a small game anew, in place of what was kept of it.

    Args:
        shelf: folder of what is kept.
        table: the game.
        seconds: for solving, about.
        note: hears what is solved.
        stop: ends it too; what was found until then is kept.

    Raises:
        InputError: as `kept_bot`.
    """
    _solve(shelf / shelf_name(table), table, seconds, note, stop, again=True)


def shelf_name(table: PokerTable) -> str:
    """The name of a game's folder."""
    text = f"{_rules(table.game)} {sorted(table.menu.items())} {table.actions}"
    return f"{table.game.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def job_text(table: PokerTable, game_file: str) -> str:
    """The job that solves a game, as a TOML file."""
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
    """Solve into a folder beside, which then takes its name; where somebody else was faster, theirs stays."""
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
        note(f"{folder.name}: solved to {result.exploitability:.3g} chips in {result.sweeps:,} sweeps")
        if again and folder.is_dir():
            folder.rename(before)
        try:
            work.rename(folder)
        except OSError as error:
            if not folder.is_dir():  # it is nobody else's that is in the way
                raise InputError(
                    f"folder {folder}: expected one that can be made, found: {error.strerror}"
                ) from error
    finally:
        shutil.rmtree(before, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class _Deadline:
    """Stops a solve at a time of `time.monotonic`, or when it is told to."""

    at: float
    stop: Stop | None = None

    def is_set(self) -> bool:
        """Whether it is that time."""
        return time.monotonic() >= self.at or (self.stop is not None and self.stop.is_set())


def _rules(game: Game) -> str:
    return format_game(game)
