"""Options that commands with a bot share, and a function that opens a bot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spewy.cli.options import Seconds, Span

if TYPE_CHECKING:
    from solvers.resolve import Gadget
    from spewy.bot.agent import LockerBot
    from spewy.bot.options import Flops, OwnMenu, Resolve
    from spewy.bot.tally import Tally
    from spewy.match.entrant import Entrant

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
BUDGET = 1.0
"""Default of ``--budget`` in seconds."""
ACPC_PER_HAND = 7.0
"""Seconds per hand that the ACPC's rules allow for all answers of a player in a match."""


def lockers_option(function: Decorated) -> Decorated:
    """Add ``--lockers FOLDER``."""
    return click.option(
        "--lockers",
        "folder",
        metavar="FOLDER",
        required=True,
        type=click.Path(path_type=Path),
        help='Folder of the solved whole game that the bot plays; a copy of its subfolder "play" is enough.',
    )(function)


def resolve_option(function: Decorated) -> Decorated:
    """Add ``--resolve``."""
    return click.option(
        "--resolve",
        type=click.Choice(["never", "off-tree", "always"]),
        default="off-tree",
        show_default=True,
        help="When to re-solve the current subgame: never, only after a bet that the stored betting tree lacks "
        "(off-tree), or at every decision on turns and rivers (always).",
    )(function)


def safe_option(function: Decorated) -> Decorated:
    """Add ``--safe [GADGET]``."""
    return click.option(
        "--safe",
        metavar="[blended|cfr-d|estimate|mixed]",
        type=click.Choice(["blended", "cfr-d", "estimate", "mixed"]),
        is_flag=False,
        flag_value="mixed",
        help="Re-solve safely: prepare for hands that the bot does not expect the opponent to hold. blended: give all "
        "hands a small weight in the opponent's range. cfr-d: with each hand, the opponent chooses between playing the "
        "re-solved subgame and taking what a best response wins with the hand against the bot's stored strategy. "
        "mixed: each hand has the choice of cfr-d, and in addition the opponent's expected range always plays the "
        "subgame. estimate: like mixed, but the opponent can take what the hand wins if both players play the stored "
        "strategy. --safe alone means mixed.",
    )(function)


def solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving; the command receives them as ``how``, a dict of `spewy.open_bot`'s keywords.

    Without an option of time, a decision has a limit of one second.
    """
    return _solving_options(function, None)


def acpc_solving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of re-solving, as `solving_options` does; the default is the ACPC's limit of time."""
    return _solving_options(function, ACPC_PER_HAND)


def solving_words(how: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that have the same meaning as a dict of `solving_options`.

    >>> how = {"resolve": "always", "safe": "mixed", "seconds": 1.0, "seconds_per_hand": 7.0}
    >>> " ".join(solving_words({**how, "threads": None, "menu": "lean", "flops": "stored"}))
    '--resolve always --safe mixed --time-per-hand 7s --menu lean --flops stored'
    """
    words = ["--resolve", how["resolve"]]
    words += ["--safe", how["safe"]] if how["safe"] else []
    per_hand = how["seconds_per_hand"]
    words += (
        ["--budget", f"{how['seconds']:.12g}"]
        if per_hand is None
        else ["--time-per-hand", f"{per_hand:.12g}s"]
    )
    words += [] if how["threads"] is None else ["--threads", str(how["threads"])]
    return [*words, "--menu", how["menu"], "--flops", how["flops"]]


def _solving_options(function: Callable[..., Any], per_hand: float | None) -> Callable[..., Any]:
    """Add all options of re-solving.

    Args:
        function: the command.
        per_hand: default of ``--time-per-hand`` in seconds; None: the default is ``--budget``.
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
        how = {
            "resolve": resolve,
            "safe": safe or False,
            "seconds": BUDGET if budget is None else budget,
            "seconds_per_hand": per_hand if budget is None and time_per_hand is None else time_per_hand,
            "threads": threads,
            "menu": menu,
            "flops": flops,
        }
        return function(how=how, **others)

    budget_option = click.option(
        "--budget",
        metavar="SECONDS",
        type=Seconds(some=True),
        help="Time limit in seconds for one decision; at the limit the bot plays the best strategy found so far. "
        f"Default: {'none' if per_hand else f'{BUDGET:g}, without --time-per-hand'}.",
    )
    bank_option = click.option(
        "--time-per-hand",
        metavar="TIME",
        type=Span(),
        help="Time limit of the whole match, in place of --budget: all decisions together take at most TIME, such as "
        "7s, for each hand so far. Time that a hand does not need is left for later hands. "
        f"Default: {f'{per_hand:g}s, the limit of the ACPC, without --budget' if per_hand else 'no such limit'}.",
    )
    threads_option = click.option(
        "--threads",
        type=click.IntRange(min=1),
        help="Number of threads for re-solving a decision. Default: all cores with --resolve always, divided among the "
        "processes of --workers; otherwise 1.",
    )
    menu_option = click.option(
        "--menu",
        type=click.Choice(["lean", "job"]),
        default="lean",
        show_default=True,
        help="Bet sizes to consider in a re-solve of a no-limit game, besides the bets that were really made: the "
        "pot and all-in (lean), or the sizes of the solve's job file (job). If these take too much memory or "
        "time, the bot uses fewer sizes.",
    )
    flops_option = click.option(
        "--flops",
        type=click.Choice(["stored", "sampled", "exact"]),
        default="stored",
        show_default=True,
        help="How to re-solve flops: not at all (stored), by sampling turns and rivers (sampled), or on all boards "
        "like turns, for which no-limit games need many cores and some GiB (exact).",
    )
    for option in (flops_option, menu_option, threads_option, bank_option, budget_option, safe_option):
        gathered = option(gathered)
    return resolve_option(gathered)


def tally_rows(tally: Tally, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield table rows with a bot's decisions by source, and with its failures.

    Args:
        tally: the counts of the bot.
        of: end of the rows' names, such as " of Alice".
    """
    if tally.sources:
        yield f"decisions{of}", tally.sources_text
    if tally.failures:
        yield f"failed{of}", tally.failures_text


def bot_description(entrant: Entrant, how: Mapping[str, Any]) -> str:
    """Text that identifies a bot in the folder of logs: its word, and for a solve's folder also its options."""
    if entrant.kind != "folder":
        return entrant.word
    safe = f" --safe {how['safe']}" if how["safe"] else ""
    flops = "" if how["flops"] == "stored" else f" --flops {how['flops']}"
    return f"{os.path.normpath(entrant.value)} --resolve {how['resolve']}{safe}{flops}"


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median, the 99 % quantile and the maximum of the seconds that decisions took; NaN without decisions.

    >>> quantiles([0.1, 0.3, 0.2])
    {'median': 0.2, 'p99': 0.2, 'most': 0.3}
    """
    from spewy.bot.spent import quantile

    ordered = sorted(seconds) or [float("nan")]
    median, high = (quantile(ordered, share) for share in (0.5, 0.99))
    return {"median": median, "p99": high, "most": ordered[-1]}


def times_text(seconds: Sequence[float]) -> str:
    """Describe the seconds that decisions took.

    >>> times_text([0.1, 0.3, 0.2])
    '3; 0.2000 s median, 0.2000 s 99 %, 0.3000 s at most'
    """
    found = quantiles(seconds)
    return f"{len(seconds):,}; {found['median']:.4f} s median, {found['p99']:.4f} s 99 %, {found['most']:.4f} s at most"


def open_bot(folder: Path, **how: Any) -> LockerBot:
    """Open the bot that plays a folder's strategy.

    Args:
        folder: folder of a solve, or a copy of its strategy locker.
        how: keywords of `spewy.open_bot`.

    Raises:
        InputError: the folder holds a batch, or no strategy of a whole game.
        lockers.LockerError: the folder holds no lockers, or damaged ones.
    """
    import spewy
    from spewy.look.boards import require_one_solve

    require_one_solve(folder)

    return spewy.open_bot(folder, **how)
