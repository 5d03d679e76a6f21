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
    from spewy.match.acpc_text import LoggedHand

MOST_UNREAD = 5
"""Largest number of unreadable hands that are named."""
DRAWN = 3
"""Default number of cards of a random board."""
PROGRAMS = ("pioviewer", "texassolver", "postflop")
"""Programs whose texts ``spewy new --to`` writes."""
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
@click.option(
    "--from",
    "source",
    metavar="SPOT",
    type=click.Path(path_type=Path),
    help="Text file with a spot of PioViewer, TexasSolver, or WASM or Desktop Postflop, or a job file; "
    "--board, --pot, --stack, --oop, --ip, --name and --set replace its values.",
)
@click.option(
    "--to",
    "program",
    type=click.Choice(PROGRAMS),
    help="Write the spot as a text of this program instead of a job file.",
)
@click.option("--list-ranges", is_flag=True, help="List the shipped ranges, for --oop @NAME and --ip @NAME.")
@click.option(
    "--preset",
    "preset_name",
    metavar="NAME",
    help="Preset that gives pot, stacks, ranges and bet sizes; --list lists the presets.",
)
@click.option(
    "--from-hand",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Take board, pot, stacks, bets and ranges from a hand in FILE: text of PokerStars or GGPoker, a .phh or .phhs "
    "file, or a log. With --list, list its hands.",
)
@click.option(
    "--hand", type=int, metavar="N", help="Number of the hand in --from-hand; default: the only hand."
)
@click.option(
    "--street",
    type=click.Choice(ROUND_NAMES[1:]),
    help="Street of the hand on which the spot begins; default: flop.",
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
    source: Path | None,
    program: str | None,
    list_ranges: bool,
    preset_name: str | None,
    from_hand: Path | None,
    hand: int | None,
    street: str | None,
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

    Give a preset, a hand that was played (--from-hand), a file of another program (--from; docs/how-to/spots.md says
    what is read), or --pot, --stack, --oop and --ip, which replace the values of the others. In a terminal the command
    asks for what is missing. Without FILE, the job is printed on stdout. Amounts are in big blinds;
    docs/how-to/jobs.md explains how to write ranges.

    With --from-hand, the sizes of the hand's bets come first in the menus, and the ranges are those that come with
    Spewy and fit the hand's line before the flop best; stderr says which, and why.

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
      spewy new job.toml --from pioviewer.txt
      spewy new --from job.toml --to pioviewer > spot.txt
      spewy new --from-hand session.txt --list
      spewy new job.toml --from-hand session.txt --hand 17
    """  # noqa: D301
    import tomllib
    from dataclasses import replace

    from spewy.job.write import job_text

    if from_hand is None:
        if hand is not None or street is not None:
            raise click.UsageError("--hand and --street belong to --from-hand FILE")
    elif as_list:
        click.echo(_hands_listed(from_hand))
        return
    if as_list or list_ranges:
        click.echo(_listed() if as_list else _ranges_listed())
        return
    if file is not None and file.exists() and not force:
        raise _existing(file)
    if program is not None:
        refuse_unused("with --to, which writes one spot", "subset")
    own = (pot, stack, oop, ip)
    if source is not None:
        unused = ("preset_name", "seed", "cards", "subset", "bet", "raise_", "from_hand", "hand", "street")
        refuse_unused("with --from", *unused, *by_round.keys())
        text, about = _from_file(source, board, own, name, overrides)
    else:
        if from_hand is not None:
            if (preset_name, board, seed, subset, cards) != (None, None, None, None, DRAWN):
                raise click.UsageError(
                    "--from-hand gives the board; remove --preset, --board, --seed, --cards and --subset"
                )
            base = _answers_of_hand(from_hand, hand, street or "flop", bet, raise_)
        else:
            if board is not None and subset is None:
                refuse_unused("with --board", "cards")
            if preset_name is None and None in own and _asks():
                preset_name, board, file = _asked(board, seed, file)
            drawn = _board(board, seed, cards) if subset is None else _no_board(board, seed, cards)
            base = _base_answers(preset_name, drawn, own)
        answers = replace(
            _answers(base, own, name),
            subset=subset,
            bet=bet,
            raise_=raise_,
            sizes={**base.sizes, **_sizes(by_round, len(base.board) or DRAWN)},
            overrides=(*base.overrides, *overrides),
        )
        text, about = job_text(answers), answers.about
    if file is None:
        refuse_unused("without FILE.toml", "force")
    job = _checked(text)
    if program is not None:
        if "boards" in tomllib.loads(text).get("spot", {}):
            raise InputError(f"job {job.name}: the job has several boards; choose one with --board")
        text = _translated(job, program)
    if file is None:
        click.echo(text, nl=False)
    else:
        with appearing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    where = "the job" if file is None else path_text(file)
    if program is not None:
        return
    takes = (
        _cost(job)
        if subset is None
        else f"{count(subset, 'flop')}; spewy estimate prints their memory and time"
    )
    say(f"{where}: {about}; {takes}")


def _from_file(
    source: Path,
    board: str | None,
    own: tuple[float | None, float | None, str | None, str | None],
    name: str | None,
    overrides: tuple[str, ...],
) -> tuple[str, str]:
    """Return the text of a job file for the spot in a file of another program or in a job file, and a description.

    ``own`` are the user's pot, stack and ranges. Parts of the spot that a job cannot have are named on stderr.
    """
    from buckets.cards import card_name
    from spewy.bridges.spots import read_spot
    from spewy.job.load import override, read_job
    from spewy.job.write import DOCS, write_job
    from spewy.system.textfile import read_text

    pot, stack, oop, ip = own
    cards = None if board is None else " ".join(map(card_name, _board(board, None, DRAWN)[0]))
    given = {
        "board": cards,
        "pot": pot,
        "stack": stack,
        "oop": _range("--oop", oop),
        "ip": _range("--ip", ip),
    }
    changes = {key: value for key, value in given.items() if value is not None}
    subject = f"file {path_text(source)}"
    if source.suffix == ".toml":
        data, program = read_job(source), "a job"
        dropped = ("boards",) if "board" in changes else ()
        given_spot = {key: value for key, value in data.get("spot", {}).items() if key not in dropped}
        data["spot"] = given_spot | changes
        data["name"] = name or data.get("name", "spot")
    else:
        spot = read_spot(read_text(source, subject), subject, changes, name)
        data, program = spot.data, spot.program
        for note in spot.notes:
            say(f"{path_text(source)}: {note}")
    for text in overrides:
        override(data, text)
    about = f"the spot of {source.name}, of {program}"
    return write_job(data, (about, f"Written by spewy new. {DOCS}")), about


def _translated(job: Job, program: str) -> str:
    from spewy.bridges.spots import write_spot

    text, notes = write_spot(job, program)
    for note in notes:
        say(f"job {job.name}: {note}")
    return text


def _sizes(by_round: Mapping[str, str | None], n_cards: int) -> dict[str, str]:
    """Return the bet sizes that were given, by key, such as ``flop.bet``; refuse rounds before the board's."""
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


def _hands(file: Path) -> list[LoggedHand]:
    """Read a file's hands with a flop between two players; say which hands cannot be read, and why."""
    from spewy.match.acpc_text import UnreadHand
    from spewy.match.hand_files import game_of_file, read_hands

    found = list(read_hands(game_of_file(file), file, own_stakes=True))
    unread = [each for each in found if isinstance(each, UnreadHand) and not each.read]
    for each in unread[:MOST_UNREAD]:
        say(f"hand {each.number} not readable: {each.reason}")
    if len(unread) > MOST_UNREAD:
        say(f"and {count(len(unread) - MOST_UNREAD, 'more hand')} not readable")
    others = sum(isinstance(each, UnreadHand) and each.read for each in found)
    if others:
        say(f"{count(others, 'hand')} without a flop of two players left out")
    return [each for each in found if not isinstance(each, UnreadHand)]


def _hands_listed(file: Path) -> str:
    from spewy.bridges.from_hand import hand_line

    return "\n".join(f"{each.number}  {hand_line(each)}" for each in _hands(file))


def _answers_of_hand(
    file: Path, number: int | None, street: str, bet: str | None, raise_: str | None
) -> Answers:
    from dataclasses import replace

    from spewy.bridges.from_hand import hand_numbered, spot_of_hand

    spot = spot_of_hand(hand_numbered(_hands(file), number, path_text(file)), street)
    for note in spot.notes:
        say(note)
    # An option for all rounds replaces the menus of the hand.
    replaced = tuple(
        end for end, given in ((".bet", bet), (".donk", bet), (".raise", raise_)) if given is not None
    )
    sizes = {key: text for key, text in spot.answers.sizes.items() if not key.endswith(replaced)}
    return replace(spot.answers, sizes=sizes)


def _base_answers(
    preset_name: str | None,
    board: tuple[tuple[int, ...], str | None],
    own: tuple[float | None, float | None, str | None, str | None],
) -> Answers:
    """Answers from a preset; without a preset, from the pot and the stack in ``own``, with empty ranges."""
    from buckets.cards import cards_name
    from spewy.job.shipped import GivenRange, preset
    from spewy.job.write import Answers

    pot, stack, oop, ip = own
    if preset_name is not None:
        return Answers.of(preset(preset_name), *board)
    if pot is None or stack is None or None in (oop, ip):
        raise click.UsageError(
            "give --preset NAME (spewy new --list lists the presets), or --pot, --stack, --oop and --ip"
        )
    nobody = GivenRange("", "")
    title, name = f"pot {pot:g}, {stack:g} behind", f"spot-{cards_name(board[0]) or 'flops'}"
    return Answers(name, title, *board, pot, stack, (nobody, nobody), False)


def _answers(
    base: Answers, own: tuple[float | None, float | None, str | None, str | None], name: str | None
) -> Answers:
    from dataclasses import replace

    from spewy.job.shipped import GivenRange

    pot, stack, oop, ip = own
    texts = _range("--oop", oop), _range("--ip", ip)
    ranges = [
        given if text is None else GivenRange("", text)
        for given, text in zip(base.ranges, texts, strict=True)
    ]
    return replace(
        base,
        name=base.name if name is None else name,
        pot=base.pot if pot is None else pot,
        stack=base.stack if stack is None else stack,
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
    """Validate the text of a job file, and return the job; for several boards, the job of the first board."""
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
      {"actions": {"check": node, "bet 120": node}, "put_in": [0, 0]}, with "new_street": true if a round starts at
      the node
    """  # noqa: D301
    from spewy.game.tree import tree_json, tree_text
    from spewy.job.job import Job

    betting = Job.load(job_file, overrides).betting_tree
    click.echo(json_text(tree_json(betting)) if as_json else tree_text(betting), nl=as_json)
