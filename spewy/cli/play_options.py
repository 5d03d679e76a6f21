"""Command-line options of matches and bots: logs, workers, seeds, patience, and folders of solved games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from spewy.cli.options import Seconds

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
MOST_SEED = 2**32 - 1


def logs_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add ``--out``, the folder for the logs of a match or a tournament."""
    return click.option(
        "--out",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help=f"Folder for the logs; the same command continues an interrupted {what}. Default: keep no logs.",
    )


def workers_option(default: str = "one for each core") -> Callable[[Decorated], Decorated]:
    """Add ``--workers``, the number of processes."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        help=f"Number of processes that play at the same time; default: {default}.",
    )


def bot_seed_option(function: Decorated) -> Decorated:
    """Add ``--seed``, the seed of a bot's random choices."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        help="Seed of the bot's random choices; default: a new seed each time.",
    )(function)


def phh_option(function: Decorated) -> Decorated:
    """Add ``--phh``, which writes all hands into a file."""
    return click.option(
        "--phh",
        metavar="FILE.phhs",
        type=click.Path(path_type=Path),
        help="Write all hands into this file, in the Poker Hand History format.",
    )(function)


def patience_option(peer: str) -> Callable[[Decorated], Decorated]:
    """Add ``--patience``, the seconds after which the command ends if ``peer`` (dealer or referee) sends no line."""
    return click.option(
        "--patience",
        type=Seconds(),
        default=1800.0,
        show_default=True,
        help=f"Seconds to wait for a line from the {peer} before the command gives up.",
    )


def game_bot_options(name: str) -> Callable[[Decorated], Decorated]:
    """Add ``--lockers`` for folders of poker solves, and ``--data`` for a folder of other games that a bot has solved.

    Args:
        name: name of the bot in the help texts.
    """
    lockers = click.option(
        "--lockers",
        metavar="FOLDER",
        multiple=True,
        type=click.Path(path_type=Path),
        help=f"Folder of a solved poker game that {name} plays; can be given several times.",
    )
    solved = click.option(
        "--data",
        "solved",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help=f"Folder for the solutions of games that {name} meets for the first time; default: in the user's cache.",
    )
    return lambda function: lockers(solved(function))
