"""``spewy package``: a bot as a folder that can be sent to a competition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bots import open_bot, resolve_option
from spewy.cli.options import folder_argument, verbose_option
from spewy.cli.tables import facts, size

if TYPE_CHECKING:
    from spewy.bot.options import Resolve


@click.group()
def package() -> None:
    """Make a bot into a folder that can be sent to a competition.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
    """  # noqa: D301


@package.command()
@folder_argument
@click.argument("out", type=click.Path(path_type=Path))
@resolve_option
@verbose_option
def acpc(folder: Path, out: Path, resolve: Resolve) -> None:
    """Put into a new folder OUT what a bot of the ACPC needs: startme.sh, a copy of the play locker, code, a README.

    The README says what must be installed where it is to run. A job may go on improving FOLDER meanwhile.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package acpc results/nolimit-200bb submission --resolve always
    """  # noqa: D301
    from spewy.bot.package import package_acpc

    open_bot(folder, resolve).close()  # which says if it cannot be played from
    n_bytes = package_acpc(folder, out, resolve)
    click.echo(
        facts([("folder", str(out)), ("size", size(n_bytes)), ("start", f"{out}/startme.sh HOST PORT")])
    )
