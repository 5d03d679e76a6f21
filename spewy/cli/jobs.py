"""``spewy new``, ``examples``, ``schema`` and ``tree``: write job files, and look at them before a solve."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import appearing
from spewy.cli.options import Decorated, job_argument, json_option, refuse_unused, set_option
from spewy.cli.tables import count, facts, json_text, say, size
from spewy.errors import InputError, path_text
from spewy.game.names import ROUND_NAMES

if TYPE_CHECKING:
    from spewy.job.job import Job
    from spewy.job.write import Answers

DRAWN = 3
"""Default number of cards of a random board."""
MOST_SEED = 10**6
"""Upper bound of the random seed of the board, which is used if the user gives no seed."""


def _size_options(function: Decorated) -> Decorated:
    """Add options for the bet sizes of each round, such as ``--flop-bet``; the command receives them as keywords."""
    for name in reversed(ROUND_NAMES[1:]):
        donk = click.option(
            f"--{name}-donk",
            metavar="SIZES",
            help=f"Sizes of oop's donk bets (into the player who bet or raised last) on the {name}; default: none.",
        )
        each = [
            click.option(
                f"--{name}-{kind}",
                metavar="SIZES",
                help=f"{kind.title()} sizes on the {name}; default: those of --{kind}.",
            )
            for kind in ("bet", "raise")
        ]
        for option in reversed(each if name == "flop" else [*each, donk]):
            function = option(function)
    return function


@click.command()
@click.argument("file", metavar="[FILE.toml]", type=click.Path(path_type=Path), required=False)
@click.option("--list", "as_list", is_flag=True, help="List the presets.")
@click.option("--list-ranges", is_flag=True, help="List the shipped ranges, for --oop @NAME and --ip @NAME.")
@click.option(
    "--preset",
    "preset_name",
    metavar="NAME",
    help="Preset that gives pot, stacks, ranges and bet sizes; --list lists the presets.",
)
@click.option(
    "--board",
    metavar="CARDS",
    help='Board of three to five cards, such as "Ks 7h 2d"; default: a random board.',
)
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of the random board; default: a new board each time."
)
@click.option(
    "--cards",
    type=click.IntRange(3, 5),
    default=DRAWN,
    show_default=True,
    help="Number of cards on the random board, if --board is not given.",
)
@click.option(
    "--subset",
    type=int,
    metavar="N",
    help="Write a batch of N weighted flops that represent all 1,755, instead of one board. "
    "The solved folders keep flop strategies only.",
)
@click.option("--pot", type=float, help="Pot at the root in big blinds; default: the pot of the preset.")
@click.option(
    "--stack", type=float, help="Effective stack at the root in big blinds; default: the stack of the preset."
)
@click.option(
    "--oop",
    metavar="RANGE",
    help="Range of the player who acts first, or @NAME for a file or a shipped range; default: the preset's range.",
)
@click.option(
    "--ip",
    metavar="RANGE",
    help="Range of the player who acts last, or @NAME for a file or a shipped range; default: the preset's range.",
)
@click.option(
    "--bet",
    metavar="SIZES",
    help='Bet sizes in all rounds, such as "33%, 75%" (of the pot); default: sizes that suit the stacks.',
)
@click.option(
    "--raise",
    "raise_",
    metavar="SIZES",
    help='Raise sizes in all rounds, such as "60%, a" (a: all-in); default: 60%.',
)
@_size_options
@set_option
@click.option("--name", metavar="NAME", help="Name of the job; default: the preset's name and the board.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def new(
    file: Path | None,
    as_list: bool,
    list_ranges: bool,
    preset_name: str | None,
    board: str | None,
    seed: int | None,
    cards: int,
    subset: int | None,
    pot: float | None,
    stack: float | None,
    oop: str | None,
    ip: str | None,
    bet: str | None,
    raise_: str | None,
    overrides: tuple[str, ...],
    name: str | None,
    force: bool,
    **by_round: str | None,
) -> None:
    """Write a job file with comments.

    The file can be solved as it is, and its comments explain how to change it.

    Give a preset, or --pot, --stack, --oop and --ip. With a preset, these options replace the preset's values. In a
    terminal the command asks for what is missing. Without FILE, the job is printed on stdout. Amounts are in big
    blinds; docs/how-to/jobs.md explains how to write ranges.

    \b
    Examples:
      spewy new --list
      spewy new --list-ranges
      spewy new job.toml --preset srp-btn-bb --board "Ks 7h 2d"
      spewy new river.toml --preset 3bet-co-btn --cards 5 --seed 7
      spewy new flops.toml --preset srp-btn-bb --subset 25 --bet 66% --raise 100%
      spewy new job.toml --preset srp-btn-bb --flop-bet 33% --turn-bet 66% --river-bet "75%, a" --river-raise a
      spewy new job.toml --preset srp-btn-bb --set bets.flop.oop.bet=33% --set tree.add_allin=1.5
      spewy new --pot 20 --stack 90 --oop "TT+,AKs" --ip "top 15%" --board "Ks 7h 2d 5c" > job.toml
      spewy new job.toml --preset srp-btn-bb --oop @bb.txt --ip @btn.txt --board "Ks 7h 2d"
    """  # noqa: D301
    from dataclasses import replace

    from spewy.job.write import job_text

    if as_list or list_ranges:
        click.echo(_listed() if as_list else _ranges_listed())
        return
    if file is not None and file.exists() and not force:
        raise _existing(file)
    if board is not None and subset is None:
        refuse_unused("with --board", "cards")
    own = (pot, stack, oop, ip)
    if preset_name is None and None in own and _asks():
        preset_name, board, file = _asked(board, seed, file)
    if file is None:
        refuse_unused("without FILE.toml", "force")
    drawn = _board(board, seed, cards) if subset is None else _no_board(board, seed, cards)
    answers = replace(
        _answers(preset_name, drawn, own, name),
        subset=subset,
        bet=bet,
        raise_=raise_,
        sizes=_sizes(by_round, len(drawn[0]) or DRAWN),
        overrides=overrides,
    )
    text = job_text(answers)
    job = _checked(text)
    if file is None:
        click.echo(text, nl=False)
    else:
        with appearing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    where = "the job" if file is None else path_text(file)
    takes = (
        _cost(job)
        if subset is None
        else f"{count(subset, 'flop')}; spewy estimate prints their memory and time"
    )
    say(f"{where}: {answers.about}; {takes}")


def _sizes(by_round: Mapping[str, str | None], n_cards: int) -> dict[str, str]:
    """Bet sizes by key, such as ``flop.bet``."""
    given = {name: sizes for name, sizes in by_round.items() if sizes is not None}
    for name in given:
        if ROUND_NAMES.index(name.partition("_")[0]) < n_cards - 2:
            raise click.UsageError(
                f"--{name.replace('_', '-')} has no effect on a board of {n_cards} cards; remove it"
            )
    return {name.replace("_", "."): sizes for name, sizes in given.items()}


def _existing(file: Path) -> InputError:
    return InputError(f"file {path_text(file)} exists; give another name, or --force to overwrite the file")


def _asks() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _listed() -> str:
    from spewy.job.shipped import presets

    return facts(
        (name, f"{each.about}; pot {each.pot:g}, {each.stack:g} behind") for name, each in presets().items()
    )


def _ranges_listed() -> str:
    from spewy.job.shipped import shipped_ranges

    return facts((name, each.about) for name, each in shipped_ranges().items())


def _asked(board: str | None, seed: int | None, file: Path | None) -> tuple[str, str | None, Path]:
    from spewy.job.shipped import preset

    try:
        say(_listed())
        name = click.prompt("Preset", default="srp-btn-bb", err=True)
        preset(name)  # raises an error for an unknown name before the next question
        if board is None and seed is None:
            board = (
                click.prompt("Board (empty: a random flop)", default="", show_default=False, err=True) or None
            )
        if file is None:
            file = Path(click.prompt("File", default=f"{name}.toml", err=True))
    except click.Abort:
        raise KeyboardInterrupt from None
    if file.exists():
        raise _existing(file)
    return name, board, file


def _no_board(board: str | None, seed: int | None, cards: int) -> tuple[tuple[int, ...], None]:
    if (board, seed, cards) != (None, None, DRAWN):
        raise click.UsageError("--subset chooses the boards itself; remove --board, --seed and --cards")
    return (), None


def _board(text: str | None, seed: int | None, cards: int) -> tuple[tuple[int, ...], str | None]:
    """The board, and the options that draw it again (None if the user named the board)."""
    from random import randrange

    from buckets.cards import parse_cards
    from buckets.errors import CardError
    from spewy.game.gamefile import load_game
    from spewy.job.write import HOLDEM, drawn_board

    if text is None:
        seed = randrange(MOST_SEED) if seed is None else seed
        return drawn_board(seed, cards), f"drawn by --seed {seed}" + (
            f" --cards {cards}" if cards > 3 else ""
        )
    if seed is not None:
        raise click.UsageError("--board names the board, and --seed draws a random one; remove one of them")
    try:
        cards_on_board = parse_cards(text)
    except CardError as error:
        raise InputError(f"--board: {error}") from None
    if not 3 <= len(cards_on_board) <= 5:
        raise InputError(f"--board: expected three to five cards, found {len(cards_on_board)} ({text})")
    return load_game(HOLDEM).board_order(cards_on_board), None


def _answers(
    preset_name: str | None,
    board: tuple[tuple[int, ...], str | None],
    own: tuple[float | None, float | None, str | None, str | None],
    name: str | None,
) -> Answers:
    from dataclasses import replace

    from buckets.cards import cards_name
    from spewy.job.shipped import GivenRange, preset
    from spewy.job.write import Answers

    pot, stack, oop, ip = own
    texts = _range("--oop", oop), _range("--ip", ip)
    if preset_name is not None:
        answers = Answers.of(preset(preset_name), *board)
    elif pot is not None and stack is not None and None not in texts:
        nobody = GivenRange("", "")
        title = f"pot {pot:g}, {stack:g} behind"
        answers = Answers(
            f"spot-{cards_name(board[0]) or 'flops'}", title, *board, pot, stack, (nobody, nobody), False
        )
    else:
        raise click.UsageError(
            "give --preset NAME (spewy new --list lists the presets), or --pot, --stack, --oop and --ip"
        )
    ranges = [
        of_preset if text is None else GivenRange("", text)
        for of_preset, text in zip(answers.ranges, texts, strict=True)
    ]
    return replace(
        answers,
        name=answers.name if name is None else name,
        pot=answers.pot if pot is None else pot,
        stack=answers.stack if stack is None else stack,
        ranges=(ranges[0], ranges[1]),
    )


def _range(option: str, value: str | None) -> str | None:
    from spewy.game.ranges import parse_range
    from spewy.job.load import text_of_file

    if value is None:
        return None
    text = text_of_file(value, Path(), option)
    if text is not None:
        return text
    try:
        notes = parse_range(value).notes
    except InputError as error:
        raise InputError(f"{option}: {error}") from None
    for note in notes:
        say(f"{option}: {note}")
    return value


def _checked(text: str) -> Job:
    """Validate the text of a job file; of a subset of flops, return the job of the first flop."""
    import tomllib

    from spewy.batch.batch import JobBoards
    from spewy.job.job import Job

    data = tomllib.loads(text)
    listed = JobBoards.of(data, "of the options")
    return Job.of(data) if listed is None else listed.job(0)


def _cost(job: Job) -> str:
    from spewy.run.walked_plan import WalkedPlan, cuts

    plan = WalkedPlan.counted(job, streaming=True)
    cost = plan.cost
    sentence = f"it takes {size(cost.memory_bytes)} of memory and {size(cost.disk_bytes)} of disk"
    fits = "" if plan.refusal is None else f", MORE THAN the {job.solve.memory} that solve.memory allows"
    needs = f"{sentence}{fits}, for {cost.information_sets:,} information sets"
    if cost.memory_bytes <= job.solve.memory_bytes:
        return needs
    streams = (
        "" if fits else f"; only {job.solve.memory} are allowed in memory, so the rest streams from disk"
    )
    return "\n  ".join((f"{needs}{streams}; smaller:", *map(str, cuts(job, cost.memory_bytes))))


@click.command()
@click.argument("folder", metavar="[FOLDER]", type=click.Path(path_type=Path), required=False)
@click.option(
    "--benchmark",
    is_flag=True,
    help="List the benchmark games with their exact values; with FOLDER, write them there, also as matrices.",
)
def examples(folder: Path | None, benchmark: bool) -> None:
    """List the example files, or copy them.

    The files are jobs, games and a tournament, which come with the package. With FOLDER, all are copied there, so that
    commands of the documentation work, such as ``spewy solve examples/T1.toml``. Nothing is written if FOLDER has a
    file that differs from the example of the same name.

    \b
    Examples:
      spewy examples
      spewy examples examples
      spewy examples --benchmark games
    """  # noqa: D301
    if benchmark:
        from spewy.cli.benchmark import show_benchmark

        show_benchmark(folder)
        return
    from spewy.job.shipped import copy_examples
    from spewy.job.shipped import examples as all_examples

    if folder is not None:
        say(f"{path_text(folder)}: {count(len(copy_examples(folder)), 'file')}")
        return
    found = all_examples()
    width = max(len(each.name) for each in found)
    for each in found:
        click.echo(f"{each.name:{width}}  {each.about}")


@click.command()
def schema() -> None:
    """Print the JSON Schema of job files.

    Editors complete and check job files by this schema.

    An editor that supports TOML (Taplo, Even Better TOML for VS Code) uses the schema if the job file begins with
    #:schema ./job.schema.json

    \b
    Examples:
      spewy schema > job.schema.json
    """  # noqa: D301
    from spewy.job.schema import job_schema

    click.echo(json.dumps(job_schema(), indent=2))


@click.command()
@job_argument
@set_option
@json_option
def tree(job_file: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Print the betting tree of a job.

    The tree has every betting line. The amount in an action's label is what the player has then put in during the
    round; "put in" is what both players have put in since the root of the solve. Amounts are in chips, or in big blinds
    if the job has unit = "bb".

    \b
    Examples:
      spewy tree examples/T1.toml
      spewy tree examples/T1.toml --set "bets.turn.bet=50%" --json

    \b
    --json prints {"betting_nodes": n, "root": node}; a node is "terminal" or
      {"actions": {"Check": node, "Bet(120)": node}, "put_in": [0, 0]}, with "new_street": true if a round starts at
      the node
    """  # noqa: D301
    from spewy.game.tree import tree_json, tree_text
    from spewy.job.job import Job

    betting = Job.load(job_file, overrides).betting_tree
    click.echo(json_text(tree_json(betting)) if as_json else tree_text(betting), nl=as_json)
