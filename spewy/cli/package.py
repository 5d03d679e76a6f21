"""``spewy package``: put a bot into a folder or file that can be sent to a competition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bots import acpc_solving_options, open_bot, solving_words
from spewy.cli.files import appearing, check_file
from spewy.cli.options import folder_argument, verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import facts, size

if TYPE_CHECKING:
    from spewy.bot.options import Options


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
@acpc_solving_options
@verbose_option
def acpc(folder: Path, out: Path, options: Options) -> None:
    """Package a bot for the ACPC.

    The new folder OUT has startme.sh, a copy of the strategy locker in FOLDER, the code and a README.

    startme.sh runs "spewy play acpc" with the options of re-solving that this command gets. By default all answers of
    the bot in a match together take at most 7 seconds times the number of hands, as the rules of the ACPC demand.

    The README says what must be installed on the machine that runs the bot. A solve in FOLDER may be running meanwhile.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package acpc results/nolimit-200bb submission --resolve always --threads 4
    """  # noqa: D301
    from spewy.competitions.acpc.package import package_acpc

    open_bot(folder, options, ready=False).close()  # raises an error if no bot can play from the folder
    n_bytes = package_acpc(folder, out, solving_words(options))
    click.echo(
        facts([("folder", str(out)), ("size", size(n_bytes)), ("start", f"{out}/startme.sh HOST PORT")])
    )


@package.command()
@click.argument("out", metavar="OUT.zip", type=click.Path(path_type=Path))
@click.option(
    "--ladder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with solves of UPAC's game, one for each stack depth (docs/how-to/upac.md); default: none.",
)
@verbose_option
def upac(out: Path, ladder: Path | None) -> None:
    """Package a bot for UPAC.

    The zip file has a folder "bot" with bot.json, tables, and code that needs only NumPy.

    The tables have the exact push-or-fold strategy for each short stack, and the strategies of the solves in the
    --ladder folder for deeper stacks. Without --ladder the bot plays deeper stacks by its equity. The command fails if
    the package is larger than 5 MB.

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
