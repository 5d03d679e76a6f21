"""Options of commands that play, and the bot that they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from spewy.bot.bot import Reveals
    from spewy.bot.options import Resolve

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


def open_bot(folder: Path, resolve: Resolve) -> Reveals:
    """The bot that plays from a folder.

    Raises:
        InputError: nothing there can be played from.
        lockers.LockerError: it is damaged.
    """
    import spewy

    return spewy.open_bot(folder, resolve=resolve)
