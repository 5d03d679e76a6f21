"""``spewy serve``: pages in the browser about the solves in some folders."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.extras import require
from spewy.cli.options import verbose_option
from spewy.cli.progress import say

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
    help="Address to listen on. Beyond this machine, every request must bring the token in the printed address.",
)
@click.option(
    "--token",
    "asks_token",
    is_flag=True,
    help="Ask for a token on this machine, too: without it, other users of this machine can open the page.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@verbose_option
def serve(folders: tuple[Path, ...], port: int, host: str, asks_token: bool, opens: bool) -> None:
    """Look, solve and play in the browser.

    The command prints the address of a page and serves it until Ctrl-C. Each FOLDER is that of a solve or of a batch,
    or contains such folders; default: results. The page shows solves that are still running, too.

    Only this machine can reach the page, unless --host names another address. Anybody with the token can then start
    solves on this machine. Ctrl-C ends the server with exit code 130.

    \b
    Examples:
      spewy serve
      spewy serve results/T1 results/flops --port 9000
    """  # noqa: D301
    require("starlette", "uvicorn")
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

    if not folders:
        RESULTS.mkdir(exist_ok=True)
    run(folders or (RESULTS,), host, port, ready, asks_token=asks_token)
