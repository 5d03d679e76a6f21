"""Functions that all commands with bots share: options, folders, logs, and the words for a bot's decisions."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spewy.cli.files import appearing, check_file, line_writer
from spewy.cli.options import Decorated, Seconds, Span
from spewy.cli.tables import say
from spewy.errors import one_line

if TYPE_CHECKING:
    from solvers.resolve import Gadget
    from spewy.bot.options import Flops, OwnMenu, Resolve
    from spewy.bot.tally import Tally
    from spewy.match.acpc_text import LoggedHand
    from spewy.match.entrant import Entrant

MOST_SEED = 2**32 - 1
"""Largest seed of cards and questions."""
MOST_PRINTED = 5
"""Largest number of faults (illegal, late or missing answers) and of failed re-solves that are printed for each bot."""
BUDGET = 1.0
"""Default of ``--budget`` in seconds."""
SOLVING = ("resolve", "safe", "budget", "time_per_hand", "threads", "menu", "flops")
"""Parameters of the options of re-solving."""
ACPC_PER_HAND = 7.0
"""Seconds per hand that the ACPC's rules allow for all answers of a player in a match."""


def logs_option(what: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--out",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help=f"Folder for the logs; the same command continues an interrupted {what}. Default: keep no logs.",
    )


def workers_option(default: str = "one for each core") -> Callable[[Decorated], Decorated]:
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        help=f"Number of processes that play at the same time; default: {default}.",
    )


def bot_seed_option(function: Decorated) -> Decorated:
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        help="Seed of the bot's random choices; default: a new seed each time.",
    )(function)


def patience_option(peer: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--patience",
        type=Seconds(),
        default=1800.0,
        show_default=True,
        help=f"Seconds to wait for a line from the {peer} before the command gives up.",
    )


def phh_option(function: Decorated) -> Decorated:
    return click.option(
        "--phh",
        metavar="FILE.phhs",
        type=click.Path(path_type=Path),
        help="Write all hands into this file, in the Poker Hand History format.",
    )(function)


def pokerstars_option(function: Decorated) -> Decorated:
    return click.option(
        "--pokerstars",
        metavar="FILE.txt",
        type=click.Path(path_type=Path),
        help="Write all hands into this file as PokerStars does, for trackers; a chip is a dollar.",
    )(function)


def lockers_option(function: Decorated) -> Decorated:
    return click.option(
        "--lockers",
        "folder",
        metavar="FOLDER",
        required=True,
        type=click.Path(path_type=Path),
        help='Folder of the solved whole game that the bot plays; a copy of its subfolder "play" is enough.',
    )(function)


def game_bot_options(name: str) -> Callable[[Decorated], Decorated]:
    """Add ``--lockers`` and ``--data`` of the bot that the help texts call ``name``."""
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


def resolve_option(function: Decorated) -> Decorated:
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When to re-solve the rest of the hand. off-tree: if, on the turn or river, no strategy is stored for the "
        "betting so far. always: in this case, and whenever the hand reaches the turn.",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    return click.option(
        "--safe",
        metavar="[cfr-d|mixed]",
        type=click.Choice(["cfr-d", "mixed"]),
        is_flag=False,
        flag_value="mixed",
        help="Gadget for safe re-solving, which protects the bot where its estimate of the opponent's range is wrong. "
        "cfr-d: each hand of the opponent chooses between playing the re-solved subgame and taking the hand's "
        "best-response value against the stored strategy. mixed: the estimated range plays the subgame, and on top of "
        "it each hand may enter more often, by the choice of cfr-d. --safe alone means mixed. Default: no gadget.",
    )(function)


def acpc_solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return solving_options(function, ACPC_PER_HAND)


def solving_options(function: Callable[..., Any], per_hand: float | None = None) -> Callable[..., Any]:
    """Add the options of re-solving, which the command receives as ``options``.

    The default limit is ``per_hand`` seconds per hand; None: `BUDGET` seconds per decision.
    """

    @wraps(function)
    def gathered(
        resolve: Resolve,
        safe: Gadget | None,
        budget: float | None,
        time_per_hand: float | None,
        threads: int | None,
        menu: OwnMenu,
        flops: Flops,
        **others: Any,
    ) -> Any:
        if budget is not None and time_per_hand is not None:
            raise click.UsageError("--budget and --time-per-hand: expected one of them, found both.")
        from spewy.bot.options import Options

        options = Options.of(
            resolve=resolve,
            safe=safe or False,
            seconds=BUDGET if budget is None else budget,
            seconds_per_hand=per_hand if budget is None and time_per_hand is None else time_per_hand,
            threads=threads,
            menu=menu,
            flops=flops,
        )
        return function(options=options, **others)

    budget_option = click.option(
        "--budget",
        metavar="SECONDS",
        type=Seconds(some=True),
        help="Time limit in seconds for one decision. At the limit the bot plays the re-solved strategy as far as it "
        "has got, or the stored strategy if that is better or there was no time to solve. "
        f"Default: {'no limit' if per_hand else f'{BUDGET:g} second, or no limit if --time-per-hand is given'}.",
    )
    bank_default = "none; --budget limits each decision"
    if per_hand is not None:
        bank_default = f"{per_hand:g}s, the limit of the ACPC, unless --budget is given"
    bank_option = click.option(
        "--time-per-hand",
        metavar="TIME",
        type=Span(),
        help="Average time limit per hand, such as 7s, instead of --budget: the decisions of the first N hands take at "
        "most N times TIME together, and later hands can use the time that earlier hands did not need. "
        f"Default: {bank_default}.",
    )
    threads_option = click.option(
        "--threads",
        type=click.IntRange(min=1),
        help="Number of threads for re-solving a decision. Default: 1, or all cores with --resolve always; a match "
        "divides the cores among its --workers.",
    )
    menu_option = click.option(
        "--menu",
        type=click.Choice(["lean", "job"]),
        default="lean",
        show_default=True,
        help="Bet sizes in the tree of a no-limit re-solve, besides the bets that were really made: the pot and all-in "
        "(lean), or all sizes of the job file (job). If the tree would take too much memory or time, the bot uses "
        "fewer sizes.",
    )
    flops_option = click.option(
        "--flops",
        type=click.Choice(["stored", "sampled", "quick", "exact"]),
        default="stored",
        show_default=True,
        help="How to play flops: by the stored strategy without re-solving (stored), by re-solving with sampled turns "
        "and rivers (sampled), with all turns and rivers but few bets on them (quick, in no-limit games), or with all "
        "turns and rivers (exact), which takes many cores and some GiB in no-limit games.",
    )
    for option in (flops_option, menu_option, threads_option, bank_option, budget_option, safe_option):
        gathered = option(gathered)
    return resolve_option(gathered)


def say_unused_options(entrants: Sequence[Entrant]) -> None:
    if any(each.kind == "folder" for each in entrants):
        return
    context = click.get_current_context()
    given = [
        f"--{name.replace('_', '-')}"
        for name in SOLVING
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and context.params[name] != "never"
    ]
    if given:
        say(
            f"no bot is the FOLDER of a solve, so nothing is re-solved, and there is no effect of {', '.join(given)}"
        )


def drawn_seed(seed: int | None) -> int:
    """The user's seed, or a random one of 32 bits."""
    from secrets import randbits  # loading it would delay the start of each command with bots

    return randbits(32) if seed is None else seed


@contextmanager
def logs_folder(out: Path | None, name: str) -> Iterator[Path]:
    """Yield the folder that the user named, locked by the command ``name``, or a temporary folder."""
    if out is not None:
        from spewy.system.folders import FolderLock

        with FolderLock(out, name):
            yield out
        return
    from spewy.system.folders import scratch_folder

    with scratch_folder(name) as folder:
        yield folder


def solved_folder(chosen: Path | None) -> Path:
    from spewy.errors import InputError
    from spewy.system.folders import user_cache

    folder = chosen or user_cache("higc")
    if folder is None:
        raise InputError("the user has no home folder for solved games; name a folder with --data")
    return folder


@contextmanager
def noted(log: Path | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to the log, with the time; warnings and errors are also printed on stderr.

    Messages of the bot, which come through `logging`, are treated in the same way.
    """
    with line_writer(log, add=True) as write:

        def note(text: str) -> None:
            write(f"{time.time():.6f} {one_line(text)}")
            if text.startswith(("WARNING", "ERROR")):
                say(text)

        handler, logger = _LogHandler(note), logging.getLogger("spewy")
        level = logger.level
        if log is not None and not logger.isEnabledFor(logging.INFO):
            logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            yield note
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


class _LogHandler(logging.Handler):
    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        self._note(f"{record.levelname} {record.getMessage()}")
        if record.exc_info:
            for line in "".join(traceback.format_exception(*record.exc_info)).splitlines():
                self._note(f"TRACE {line}")


def check_hand_files(phh: Path | None, pokerstars: Path | None) -> None:
    """Check the names of files of hands before the hands are played."""
    if phh is not None:
        check_file(phh, (".phhs",))
    if pokerstars is not None:
        check_file(pokerstars, (".txt",))


def write_hands(
    hands: Iterable[LoggedHand], phh: Path | None, pokerstars: Path | None, hero: str | None = None
) -> None:
    """Write hands in the formats that have a file; PokerStars' text shows only the cards of a named ``hero``."""
    from datetime import datetime

    from spewy.match.phh import phh_text
    from spewy.match.room_text import pokerstars_text

    played = list(hands)
    if phh is not None:
        _write(phh_text(played), phh)
    if pokerstars is not None:
        _write(pokerstars_text(played, datetime.now(), hero), pokerstars)


def _write(text: str, file: Path) -> None:
    with appearing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
    say(f"hands in {file}")


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Number, median, 99 % quantile and maximum of the seconds that decisions took; NaN without decisions.

    >>> quantiles([0.1, 0.3, 0.2])
    {'n': 3, 'median': 0.2, 'p99': 0.3, 'most': 0.3}
    """
    from spewy.bot.tally import quantile

    ordered = sorted(seconds) or [float("nan")]
    median, high = (quantile(ordered, share) for share in (0.5, 0.99))
    return {"n": len(seconds), "median": median, "p99": high, "most": ordered[-1]}


def times_text(seconds: Sequence[float]) -> str:
    """Describe how long decisions took.

    >>> times_text([0.1, 0.3, 0.2])
    '3; 0.2000 s median, 0.3000 s 99 %, 0.3000 s at most'
    """
    found = quantiles(seconds)
    return f"{len(seconds):,}; {found['median']:.4f} s median, {found['p99']:.4f} s 99 %, {found['most']:.4f} s at most"
