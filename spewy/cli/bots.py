"""Options of commands that play, and the bot that they open."""

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
    """``--lockers FOLDER``."""
    return click.option(
        "--lockers",
        "folder",
        metavar="FOLDER",
        required=True,
        type=click.Path(path_type=Path),
        help="What the bot plays from: a solve's folder, or a copy of its play locker.",
    )(function)


def resolve_option(function: Decorated) -> Decorated:
    """``--resolve``."""
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When a bot from a folder solves anew what it stands in.",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    """``--safe [GADGET]``."""
    return click.option(
        "--safe",
        type=click.Choice(["cfr-d", "mixed"]),
        is_flag=False,
        flag_value="mixed",
        help="Re-solve safely, so that the other player cannot gain from it: with the gadget of CFR-D, or with that "
        "gadget beside the range that is believed (mixed, which --safe alone means).",
    )(function)


def solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """All that says how a bot solves, handed over as ``how``, keywords of `spewy.open_bot`."""

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
        help="Time budget of one decision, re-solving included; the best strategy so far is played.",
    )
    threads_option = click.option(
        "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="That solve."
    )
    return resolve_option(safe_option(budget_option(threads_option(gathered))))


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    """Rows of a table: a bot's decisions by source, and its failures if there are any."""
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def open_bot(folder: Path, **how: Any) -> LockerBot:
    """The bot that plays from a folder.

    Args:
        folder: of a solve, or its play locker.
        how: as `spewy.open_bot` takes it.

    Raises:
        InputError: nothing there can be played from.
        lockers.LockerError: it is damaged.
    """
    import spewy

    return spewy.open_bot(folder, **how)
