"""``spewy play upac``: play as UPAC's bot on stdin and stdout."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import click

from spewy.cli.files import line_writer
from spewy.cli.options import log_option, verbose_option
from spewy.cli.play_options import bot_seed_option
from spewy.cli.progress import say


@click.command()
@click.argument("package", metavar="PACKAGE.zip", type=click.Path(path_type=Path))
@bot_seed_option
@log_option("Append all received and sent lines to this file.")
@verbose_option
def upac(package: Path, seed: int | None, log: Path | None) -> None:
    """Play UPAC's games on stdin and stdout.

    The bot answers the engine's lines until stdin ends.

    The command reports lines that do not follow UPAC's protocol on stderr and in the log; if it cannot read a question,
    it answers with a call. The bot uses the tables of PACKAGE.zip and runs no code of it. (spewy upac-match PACKAGE.zip
    does run its code, with your rights.)

    \b
    Examples:
      spewy play upac spewy-bot.zip
      spewy play upac spewy-bot.zip --seed 7 --log game.txt < lines.txt
    """  # noqa: D301
    from spewy.competitions.upac.package import open_tables
    from spewy.competitions.upac.runtime.player import Player
    from spewy.competitions.upac.runtime.protocol import serve

    drawn = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    with closing(open_tables(package)) as tables, line_writer(log, add=True) as write:

        def note(text: str) -> None:
            write(text)
            if text.startswith("WARNING"):
                say(text)

        with open(0, "rb", closefd=False) as source, open(1, "wb", buffering=0, closefd=False) as sink:
            serve(source, sink, Player(tables, drawn), note)
