"""``spewy package``: a bot as a folder or file that can be sent to a competition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bots import open_bot, resolve_option
from spewy.cli.files import appearing, check_file
from spewy.cli.options import folder_argument, verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import facts, size

if TYPE_CHECKING:
    from spewy.bot.options import Resolve


@click.group()
def package() -> None:
    """Package a bot for a competition.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package upac spewy-bot.zip --ladder results/upac-ladder
    """  # noqa: D301


@package.command()
@folder_argument
@click.argument("out", type=click.Path(path_type=Path))
@resolve_option
@verbose_option
def acpc(folder: Path, out: Path, resolve: Resolve) -> None:
    """Package a bot for the ACPC.

    The new folder OUT has startme.sh, a copy of the strategy locker, the code and a README.

    The README says what must be installed where it is to run. A job may go on improving FOLDER meanwhile.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package acpc results/nolimit-200bb submission --resolve always
    """  # noqa: D301
    from spewy.competitions.acpc.package import package_acpc

    open_bot(folder, resolve=resolve, ready=False).close()  # which says if it cannot be played from
    n_bytes = package_acpc(folder, out, resolve)
    click.echo(
        facts([("folder", str(out)), ("size", size(n_bytes)), ("start", f"{out}/startme.sh HOST PORT")])
    )


@package.command()
@click.argument("out", metavar="OUT.zip", type=click.Path(path_type=Path))
@click.option(
    "--ladder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder of solves of UPAC's game with different stacks; default: none.",
)
@verbose_option
def upac(out: Path, ladder: Path | None) -> None:
    """Package a bot for UPAC.

    The zip file has a folder bot with bot.json, code that needs NumPy alone, and tables.

    The tables hold exact push-or-fold for each stack, and what the solves in the ladder's folder say, depth by depth.
    Without a ladder the bot pushes or folds when it is short, and plays by its equity else. More than 5 MB is refused.

    \b
    Examples:
      spewy package upac spewy-bot.zip --ladder results/upac-ladder
      spewy package upac short-stacks.zip
    """  # noqa: D301
    from spewy.competitions.upac.package import write_package
    from spewy.competitions.upac.tables import ladder_tables, rung_folders

    check_file(out, (".zip",))
    tables = ladder_tables(rung_folders(ladder) if ladder else [], say)
    with appearing(out) as temporary:
        n_bytes = write_package(tables, temporary)
    depths = ", ".join(f"{stack / 2:g}" for stack in tables["stacks"].tolist())
    rows = [("file", str(out)), ("size", size(out.stat().st_size)), ("unpacked", size(n_bytes))]
    click.echo(facts([*rows, ("depths", f"{depths or 'none'}, in big blinds")]))
