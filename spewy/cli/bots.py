"""Options that commands with a bot share, and a function that opens a bot."""

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
        help="Folder of the solved whole game that the bot plays, or a copy of its strategy locker (its folder play).",
    )(function)


def resolve_option(function: Decorated) -> Decorated:
    """Add ``--resolve``."""
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When to re-solve the current subgame: never, only after a bet that the stored betting tree lacks "
        "(off-tree), or at every decision on turns and rivers (always).",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    """Add ``--safe [GADGET]``."""
    return click.option(
        "--safe",
        metavar="[blended|cfr-d|estimate|mixed]",
        type=click.Choice(["blended", "cfr-d", "estimate", "mixed"]),
        is_flag=False,
        flag_value="mixed",
        help="Re-solve safely, so that the opponent gains little by hands that the bot does not expect. GADGET: all "
        "hands have a small share of the opponent's range (blended); no hand gains against the strategy without the "
        "re-solve (cfr-d); such a gain is estimated (estimate); the gadget of CFR-D, and also the opponent's estimated "
        "range (mixed). --safe alone means mixed.",
    )(function)


def solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving; the command receives them as ``how``, a dict of `spewy.open_bot`'s keywords."""

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
        help="Time limit in seconds for one decision; at the limit the bot plays the best strategy found so far.",
    )
    threads_option = click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Number of threads for re-solving a decision.",
    )
    return resolve_option(safe_option(budget_option(threads_option(gathered))))


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield table rows with a bot's decisions by source, and with its failures.

    Args:
        tally: the counts of the bot.
        of: end of the rows' names, such as " of Alice".
    """
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def open_bot(folder: Path, **how: Any) -> LockerBot:
    """Open the bot that plays a folder's strategy.

    Args:
        folder: folder of a solve, or a copy of its strategy locker.
        how: keywords of `spewy.open_bot`.

    Raises:
        InputError: the folder holds a batch, or no strategy of a whole game.
        lockers.LockerError: the folder holds no lockers, or damaged ones.
    """
    import spewy
    from spewy.look.boards import require_one_solve

    require_one_solve(folder)

    return spewy.open_bot(folder, **how)
