"""``spewy serve``: show, start and play solves in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.files import appearing, check_file, draw_without_windows, require
from spewy.cli.options import refuse_unused
from spewy.cli.progress import Bar
from spewy.cli.tables import say
from spewy.system.interrupts import INTERRUPTED

RESULTS = Path("results")
"""Folder that is served if none is given; `spewy solve` writes there."""
PORT = 8417


@click.command()
@click.argument("folders", metavar="[FOLDER...]", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 for a free port.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Network address to listen on; 0.0.0.0 lets other machines open the page, too. They must use the printed "
    "address, which contains a secret token.",
)
@click.option(
    "--token",
    "asks_token",
    is_flag=True,
    help="Require a secret token even if only this machine can reach the page; otherwise every user of this machine "
    "can open the page.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the default browser.")
@click.option(
    "--export",
    "file",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    help="Instead of serving, write one betting round of a solve into a single HTML file, which any browser opens.",
)
@click.option(
    "--line",
    metavar="LINE",
    help="With --export: betting line from the solve's root to the first decision on the page; default: the root.",
)
@click.option(
    "--board",
    metavar="CARDS",
    help='With --export: all public cards at the first decision on the page, such as "Qs Jh 2h 8c 3d"; default: the '
    "cards at the root.",
)
@click.option("--force", is_flag=True, help="Let --export replace an existing file.")
def serve(
    folders: tuple[Path, ...],
    port: int,
    host: str,
    asks_token: bool,
    opens: bool,
    file: Path | None,
    line: str | None,
    board: str | None,
    force: bool,
) -> None:
    """Show, start and play solves in the browser.

    The command prints the address of a page and serves it until Ctrl-C. Each FOLDER is that of a solve or of a batch,
    or contains such folders; default: results. The page shows solves that are still running, too.

    Only this machine can reach the page, unless --host names another address. With another address, the printed
    address of the page has a token, and anybody with the token can start solves on this machine. Ctrl-C ends the server
    with exit code 130.

    With --export the command writes a single file of at most 5 MB, to be sent to others: a river with all its lines,
    the turn or the flop of a solve without the later rounds, or a whole game before the flop. --line and --board choose
    a later round or a part of a round. Whoever opens the file can click through the decisions and sees both players'
    hands.

    \b
    Examples:
      spewy serve
      spewy serve results/T1 results/flops --port 9000
      spewy serve results/T1 --export T1.html
      spewy serve results/T1 --export river.html --line "x x" --board "Qs Jh 2h 8c 3d"
    """  # noqa: D301
    if file is not None:
        refuse_unused("with --export, which serves nothing", "port", "host", "asks_token")
        return _export(folders, file, line or "", board, force, opens)
    refuse_unused("without --export", "line", "board", "force")
    require("starlette", "uvicorn")
    draw_without_windows()
    import webbrowser

    from spewy.errors import InputError, path_text
    from spewy.web.server import serve as run

    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"folder {path_text(folder)} does not exist")

    def ready(address: str) -> None:
        click.echo(address)
        say("serving until Ctrl-C")
        if opens:
            webbrowser.open(address)

    def waits(name: str) -> None:
        say(f"{name} is being saved; Ctrl-C again stops it at once")

    if not folders:
        RESULTS.mkdir(exist_ok=True)
    try:
        run(folders or (RESULTS,), host, port, ready, waits, asks_token=asks_token)
    except KeyboardInterrupt:
        say("\nthe server has ended")
        click.get_current_context().exit(INTERRUPTED)


def _export(
    folders: tuple[Path, ...], file: Path, line: str, board: str | None, force: bool, opens: bool
) -> None:
    import webbrowser

    from spewy.errors import InputError, path_text
    from spewy.look.folder import board_folder
    from spewy.look.solution import Solution
    from spewy.web.export import export_page

    if len(folders) != 1:
        raise click.UsageError(f"--export needs the folder of one solve, found {len(folders)} folders")
    check_file(file, (".html",))
    if file.exists() and not force:
        raise InputError(
            f"file {path_text(file)} exists already; give another name, or --force to replace it"
        )
    with (
        Solution.open(board_folder(folders[0], board), note=say) as solution,
        Bar("positions", None) as bar,
        appearing(file) as temporary,
    ):
        temporary.write_text(export_page(solution, line, board, bar.move), "utf-8")
    click.echo(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    if opens:
        webbrowser.open(file.absolute().as_uri())
