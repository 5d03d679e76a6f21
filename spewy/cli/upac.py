"""UPAC's protocol: ``spewy play upac``, ``spewy upac-match`` and ``spewy package upac``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bots import MOST_PRINTED, bot_seed_option, drawn_seed
from spewy.cli.files import appearing, check_file, line_writer
from spewy.cli.options import FOREIGN_CODE, Seconds, json_option, log_option
from spewy.cli.progress import counting
from spewy.cli.tables import count, facts, json_text, number, say, size

if TYPE_CHECKING:
    from spewy.competitions.upac.games import Contenders, Game


@click.command("upac")
@click.argument("package", metavar="PACKAGE.zip", type=click.Path(path_type=Path))
@bot_seed_option
@log_option("Append all received and sent lines to this file.")
def play_upac(package: Path, seed: int | None, log: Path | None) -> None:
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

    drawn = drawn_seed(seed)
    with closing(open_tables(package)) as tables, line_writer(log, add=True) as write:

        def note(text: str) -> None:
            write(text)
            if text.startswith("WARNING"):
                say(text)

        with open(0, "rb", closefd=False) as source, open(1, "wb", buffering=0, closefd=False) as sink:
            serve(source, sink, Player(tables, drawn), note)


@click.command("upac-match", epilog=FOREIGN_CODE)
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option(
    "--games",
    type=click.IntRange(1, 10**6),
    default=200,
    show_default=True,
    help="Number of games; the cards of each seed are played in two games, with the seats swapped.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32),
    default=1,
    show_default=True,
    help="Seed of the cards of the first two games; each further two games have the next seed.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 10**6),
    default=100,
    show_default=True,
    help="Largest number of hands in a game.",
)
@click.option(
    "--chips",
    type=click.IntRange(1, 10**6),
    default=50,
    show_default=True,
    help="Chips that each bot begins with.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 10**6),
    help="Largest number of chips that a player may bet in one hand; default: all chips.",
)
@click.option(
    "--old-labels",
    is_flag=True,
    help="Swap the labels SB and BB in the message START, as UPAC's engine did before October 2023.",
)
@click.option(
    "--seconds",
    type=Seconds(some=True),
    default=1.0,
    show_default=True,
    help="Time limit of one answer, in seconds.",
)
@log_option("Write all games into this file, in the format of UPAC's log.")
@json_option
def upac_match(
    first: str,
    second: str,
    games: int,
    seed: int,
    rounds: int,
    chips: int,
    most: int | None,
    old_labels: bool,
    seconds: float,
    log: Path | None,
    as_json: bool,
) -> None:
    """Play a match by UPAC's rules.

    The two bots play the same cards from both seats.

    \b
    BOT is one of
      OUT.zip         a package, which is unpacked (at most 64 MiB and 1,000 files), built and run as in the competition
      tables:OUT.zip  the bot of a package of spewy package upac, run in this process, which is faster
      random, call, allin, equity  a bot that plays by a simple rule
      cmd:COMMAND     a shell command; the program reads lines on stdin and answers on stdout
    NAME= before BOT names the bot; without NAME= a command is named after its program, and a Python command after its
    script.

    A bot's score is its share of the chips at the end of a game. Elo ratings follow the competition's rule, K = 12. A
    bot that gives an illegal answer or is late loses all chips. After Ctrl-C the command prints the score so far.

    \b
    Examples:
      spewy upac-match spewy-bot.zip equity
      spewy upac-match tables:spewy-bot.zip random --games 1000
      spewy upac-match spewy-bot.zip "other=cmd:python3 bot.py" --games 20 --log games.txt --json

    \b
    --json prints one object:
      {"bots": ["a", "b"], "games", "won", "drawn", "lost", "share", "half", "elo", "ratings": [a, b],
       "faults": ["..."], "spent": [{"slowest", "game", "cpu", "mib", "unasked"}, ..]}
      half is half the width of the 95 % confidence interval of the share. elo is the difference of Elo ratings to
      which the share corresponds; ratings are the Elo ratings after the last game. spent has for each bot the largest
      seconds of an answer (slowest), of all answers in a game (game), and of the processor in a game (cpu); the
      largest MiB of memory (mib); and the number of lines that the bot wrote before it was asked, each of which
      counts as its next answer (unasked).
    """  # noqa: D301
    from spewy.competitions.upac.games import Contenders, play_games
    from spewy.competitions.upac.rules import Rules

    rules = Rules(chips, rounds, most, old_labels)
    n_seeds = (games + 1) // 2
    played: list[Game] = []
    with Contenders(first, second) as contenders, line_writer(log) as write:
        try:
            with counting("games") as watcher:
                run = play_games(
                    rules, contenders.both, range(seed, seed + n_seeds), seconds, write if log else None
                )
                for game in run:
                    played.append(game)
                    watcher(len(played), games)
                    if len(played) == games:
                        break
        except KeyboardInterrupt:
            _show(contenders, played, as_json)
            raise
        _show(contenders, played, as_json)


def _show(contenders: Contenders, games: Sequence[Game], as_json: bool) -> None:
    from dataclasses import asdict

    from spewy.competitions.upac.games import standing

    result = standing(games)
    names = [contender.name for contender in contenders.both]
    if as_json:
        spents = [asdict(contender.spent) for contender in contenders.both]
        click.echo(json_text({"bots": names} | result.to_json() | {"spent": spents}))
        return
    rows = [
        ("bots", f"{names[0]} against {names[1]}"),
        ("games", f"{result.games:,}: {result.won:,} won, {result.drawn:,} drawn, {result.lost:,} lost"),
        ("share", f"{number(result.share, 3)} ± {number(result.half, 3)} of the chips"),
        (
            "Elo",
            f"{number(result.elo, 0)} ahead by the share; {result.ratings[0]:.0f} and {result.ratings[1]:.0f} rated",
        ),
    ]
    for contender in contenders.both:
        if contender.spent.slowest:
            spent = contender.spent
            rows.append(
                (
                    contender.name,
                    f"{spent.slowest:.2f} s slowest answer, {spent.game:.1f} s a game, {spent.mib:.0f} MiB",
                )
            )
    click.echo(facts(rows))
    for contender in contenders.both:
        if unasked := contender.spent.unasked:
            say(
                f"{contender.name} wrote {count(unasked, 'line')} before it was asked; each counts as its next answer"
            )
    for text in result.faults[:MOST_PRINTED]:
        say(text)
    if len(result.faults) > MOST_PRINTED:
        say(f"{len(result.faults) - MOST_PRINTED:,} more faults")


@click.command("upac")
@click.argument("out", metavar="OUT.zip", type=click.Path(path_type=Path))
@click.option(
    "--ladder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with solves of UPAC's game, one for each stack depth (docs/how-to/upac.md); default: none.",
)
def package_upac(out: Path, ladder: Path | None) -> None:
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
