"""Options of commands with a bot, and the bot that these options open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spewy.cli.options import Seconds

if TYPE_CHECKING:
    from solvers.resolve import Gadget
    from spewy.bot.agent import LockerBot
    from spewy.bot.options import Resolve
    from spewy.bot.tally import Tally

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def lockers_option(function: Decorated) -> Decorated:
    """Add ``--lockers FOLDER``."""
    return click.option(
        "--lockers",
        "folder",
        metavar="FOLDER",
        required=True,
        type=click.Path(path_type=Path),
        help="Folder of the solve that the bot plays, or a copy of its strategy locker.",
    )(function)


def resolve_option(function: Decorated) -> Decorated:
    """Add ``--resolve``."""
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When to re-solve the current subgame: never, only after bets that the tree lacks (off-tree), or on every "
        "turn and river (always).",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    """Add ``--safe [GADGET]``."""
    return click.option(
        "--safe",
        type=click.Choice(["cfr-d", "mixed"]),
        is_flag=False,
        flag_value="mixed",
        help="Use safe re-solving, from which the opponent cannot gain, with CFR-D's gadget or the mixed one (the "
        "default).",
    )(function)


def solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving; the command gets them as ``how``, keyword arguments of `spewy.open_bot`."""

    @wraps(function)
    def gathered(resolve: Resolve, safe: Gadget | None, budget: float, threads: int, **others: Any) -> Any:
        how = {
            "resolve": resolve,
            "safe": safe or False,
            "seconds": budget,
            "threads": threads,
        }
        return function(how=how, **others)

    budget_option = click.option(
        "--budget",
        metavar="SECONDS",
        type=Seconds(some=True),
        default=1.0,
        show_default=True,
        help="Time limit in seconds for one decision, re-solving included; the best strategy so far is played.",
    )
    threads_option = click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Threads for re-solving a decision.",
    )
    return resolve_option(safe_option(budget_option(threads_option(gathered))))


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield table rows with a bot's decisions by source, and with its failures."""
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def open_bot(folder: Path, **how: Any) -> LockerBot:
    """Open the bot that plays from a folder.

    Args:
        folder: folder of a solve, or its strategy locker.
        how: keywords of `spewy.open_bot`.

    Raises:
        InputError: the folder has no strategy that can be played.
        lockers.LockerError: the strategy is damaged.
    """
    import spewy

    return spewy.open_bot(folder, **how)
