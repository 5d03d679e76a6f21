"""Command-line options for bots that re-solve, and functions that open such a bot and describe its decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spewy.cli.options import Seconds, Span
from spewy.cli.progress import say

if TYPE_CHECKING:
    from solvers.resolve import Gadget
    from spewy.bot.agent import LockerBot
    from spewy.bot.options import Flops, Options, OwnMenu, Resolve
    from spewy.bot.tally import Tally
    from spewy.match.entrant import Entrant

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
BUDGET = 1.0
"""Default of ``--budget`` in seconds."""
SOLVING = ("resolve", "safe", "budget", "time_per_hand", "threads", "menu", "flops")
"""Parameters of the options of re-solving."""
ACPC_PER_HAND = 7.0
"""Seconds per hand that the ACPC's rules allow for all answers of a player in a match."""


def lockers_option(function: Decorated) -> Decorated:
    """Add the option ``--lockers FOLDER``, the folder of the solved game that the bot plays, as ``folder``."""
    return click.option(
        "--lockers",
        "folder",
        metavar="FOLDER",
        required=True,
        type=click.Path(path_type=Path),
        help='Folder of the solved whole game that the bot plays; a copy of its subfolder "play" is enough.',
    )(function)


def resolve_option(function: Decorated) -> Decorated:
    """Add the option ``--resolve``, which says when the bot re-solves the current subgame."""
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When to re-solve the current subgame: never, only after a bet that the stored betting tree lacks "
        "(off-tree), or at every decision on turns and rivers (always).",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    """Add the option ``--safe [GADGET]``, the gadget of safe re-solving; ``--safe`` alone means "mixed"."""
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


def solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving; the command receives them as ``options``, an `Options` record.

    If the user gives neither ``--budget`` nor ``--time-per-hand``, each decision may take one second.
    """
    return _solving_options(function, None)


def acpc_solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving, as `solving_options` does, but with the ACPC's time limit per hand as default."""
    return _solving_options(function, ACPC_PER_HAND)


def solving_words(options: Options) -> list[str]:
    """Turn options of `solving_options` back into command-line options with the same meaning.

    >>> from spewy.bot.options import Options
    >>> " ".join(solving_words(Options.of(resolve="always", safe=True, seconds_per_hand=7.0)))
    '--resolve always --safe mixed --time-per-hand 7s --menu lean --flops stored'
    """
    words = ["--resolve", options.resolve]
    words += ["--safe", options.safe] if options.safe else []
    per_hand = options.seconds_per_hand
    words += (
        ["--budget", f"{options.seconds:.12g}"]
        if per_hand is None
        else ["--time-per-hand", f"{per_hand:.12g}s"]
    )
    default = type(options).of(resolve=options.resolve).threads
    words += [] if options.threads == default else ["--threads", str(options.threads)]
    return [*words, "--menu", options.menu, "--flops", options.flops]


def say_unused_options(entrants: Sequence[Entrant]) -> None:
    """Print a line if the user gave options of re-solving to the current command, and no bot re-solves anything."""
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


def _solving_options(function: Callable[..., Any], per_hand: float | None) -> Callable[..., Any]:
    """Add all options of re-solving.

    Args:
        function: the command.
        per_hand: default of ``--time-per-hand`` in seconds; None: the default is a limit per decision, `BUDGET`.
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
        help="Time limit in seconds for one decision; at the limit the bot plays the best strategy found so far. "
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
        type=click.Choice(["stored", "sampled", "exact"]),
        default="stored",
        show_default=True,
        help="How to play flops: by the stored strategy without re-solving (stored), by re-solving with sampled turns "
        "and rivers (sampled), or by re-solving with all turns and rivers (exact), which takes many cores and some GiB "
        "in no-limit games.",
    )
    for option in (flops_option, menu_option, threads_option, bank_option, budget_option, safe_option):
        gathered = option(gathered)
    return resolve_option(gathered)


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield table rows with the number of a bot's decisions by source, and of its failed re-solves by error.

    Args:
        tally: the counts of the bot.
        of: text that is appended to the names of the rows, such as " of Alice".
    """
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median, the 99 % quantile and the maximum of the seconds that decisions took; NaN without decisions.

    >>> quantiles([0.1, 0.3, 0.2])
    {'median': 0.2, 'p99': 0.3, 'most': 0.3}
    """
    from spewy.bot.tally import quantile

    ordered = sorted(seconds) or [float("nan")]
    median, high = (quantile(ordered, share) for share in (0.5, 0.99))
    return {"median": median, "p99": high, "most": ordered[-1]}


def times_text(seconds: Sequence[float]) -> str:
    """Describe how long decisions took: their number, and the median, 99 % quantile and maximum of the seconds.

    >>> times_text([0.1, 0.3, 0.2])
    '3; 0.2000 s median, 0.3000 s 99 %, 0.3000 s at most'
    """
    found = quantiles(seconds)
    return f"{len(seconds):,}; {found['median']:.4f} s median, {found['p99']:.4f} s 99 %, {found['most']:.4f} s at most"


def open_bot(folder: Path, options: Options, *, ready: bool = True) -> LockerBot:
    """Open the bot that plays a folder's strategy.

    Args:
        folder: folder of a solve, or a copy of its strategy locker.
        options: options of the bot.
        ready: as in `spewy.open_bot`.

    Raises:
        InputError: the folder holds a batch, or no strategy of a whole game.
        lockers.LockerError: the folder holds no lockers, or damaged ones.
    """
    import spewy
    from spewy.look.folder import require_one_solve

    require_one_solve(folder)

    return spewy.open_bot(folder, options, ready=ready)
