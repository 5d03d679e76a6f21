"""``spewy solve``: start or continue a solve; `spewy.cli.batch` handles several jobs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli._clock import STARTED
from spewy.cli.batch import solve_batch
from spewy.cli.dask import dask_option
from spewy.cli.options import (
    Seconds,
    json_option,
    lock_option,
    locking,
    refuse_unused,
    set_option,
    verbose_option,
)
from spewy.cli.progress import say, solve_reporter
from spewy.cli.tables import duration, facts, json_text, number
from spewy.errors import InputError, path_text
from spewy.system.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from spewy.job.job import Job
    from spewy.records.policy import Policy
    from spewy.run.result import SolveResult

SLOW_LAYOUT = 16 * 2**20
"""Lower bound of a job's memory in bytes from which laying out its boards and betting takes seconds."""


@click.command()
@click.argument("job_files", metavar="JOB.toml...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--out",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder of the solve; if it holds a solve of this job, that solve is continued. Default: results/NAME, with "
    "the name of the job. Each of several jobs gets the folder FOLDER/NAME, each of several boards FOLDER/BOARD.",
)
@click.option(
    "--jobs",
    "at_once",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of jobs or boards that are solved at the same time, each with solve.workers threads; "
    "default: as many as cores and memory allow.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Remove the data of this job from the folder, and start from scratch. After spewy drop a further solve needs "
    "--again.",
)
@click.option(
    "--save-every",
    metavar="SECONDS",
    type=Seconds(),
    help="Seconds between two saves. Default: a save after the first check, then every 30 seconds, less often if saves "
    "take long. A job with board buckets saves in the background, by default after 30 seconds and then every 5 "
    "minutes.",
)
@click.option(
    "--start-from",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Start a new solve of a job with board buckets from the regrets and average strategies of the solve in "
    "FOLDER. Both jobs must have the same game and betting; their board buckets and rows may differ.",
)
@dask_option
@lock_option(
    'Fix how a range or some hands play at one decision: with "x: bet" the player always bets after a check, with '
    '"x b120 [QQ+]: call=0.8, fold" the hands QQ+ call a bet of 120 with 80% and fold otherwise. Can be given several '
    "times. The locked solve has its own folder, by default results/NAME-lock-LOCK (see docs/how-to/rake-and-locks.md)."
)
@set_option
@json_option
@verbose_option
@click.pass_context
def solve(
    ctx: click.Context,
    job_files: tuple[Path, ...],
    folder: Path | None,
    at_once: int | None,
    again: bool,
    save_every: float | None,
    start_from: Path | None,
    address: str | None,
    locks: tuple[str, ...],
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Solve a job, or continue it in its folder.

    Several jobs or boards are solved as a batch, without the boards that are solved already.

    The solve stops when its exploitability reaches solve.target, or after solve.max_sweeps. "converged" says whether
    the target was reached; the exit code is 0 in both cases. solve.method = "lp" solves a small game exactly, by one
    linear program. The first Ctrl-C, SIGTERM or SIGHUP saves everything and exits with 130; a second one stops at once.

    A job with [boards] deals boards at random, and counts deals instead of sweeps. Its exploitability is measured at
    intervals of solve.check_every and at the end; spewy status and spewy show can read the folder meanwhile. The solve
    also stops after solve.max_time, a time limit of all runs together that includes the last measurement; only the
    first measurement may exceed it, since its duration is not known before.

    \b
    Examples:
      spewy solve examples/T1.toml
      spewy solve examples/T1.toml --out T1-fine --set solve.target=0.1% --set solve.workers=4
      spewy solve examples/leduc.toml --json > leduc.json
      spewy solve examples/leduc-lp.toml            an exact solution, by linear programming
      spewy solve examples/R1.toml examples/T1.toml --out both --jobs 2
      spewy solve examples/T1.toml --lock "x b120: call=0.6, fold"
      spewy solve flops.toml                        a job with spot.boards instead of spot.board
      spewy solve flops.toml --dask tcp://10.0.0.1:8786

    \b
    --json prints one object; values that do not apply are null:
      name, converged, interrupted, sweeps,
      exploitability (chips), exploitability_pct (of the pot), exploitability_mbb (whole games),
      ev [oop, ip], equity [oop, ip] (spots), value (net chips of player 0, whole games),
      value_bracket [low, high] (bounds on the value of the game),
      seconds {build (tree, boards, folder), solve, best_response (part of solve), total}, peak_rss_mib,
      trace [[sweep, seconds, exploitability], ...], process_mib (peak memory without mapped files),
      variant (of CFR; and a restart from the averages, with its reason)
    A job with amounts in big blinds adds "unit": "bb". Several jobs, or a job with spot.boards, give an array of these
    objects in the order of the input, each also with
      board, same_as (a board that equals this board up to suits, with which it is solved), folder,
      skipped (whether it was solved before), error

    All jobs are validated before the first one starts. If a job fails, the others finish, and the exit code is 1.
    """  # noqa: D301
    from spewy.batch.job_files import lists_boards
    from spewy.job.job import Job
    from spewy.run.bounds import lower_bounds
    from spewy.run.session import Session

    overrides += locking(locks)
    if address is not None and save_every is not None:
        raise click.UsageError(
            "--save-every has no effect with --dask, whose workers send the folders back at the end; remove it"
        )
    if len(job_files) > 1 or lists_boards(job_files[0], overrides):
        if start_from is not None:
            raise InputError("--start-from works for one job only, and there are several")
        with _naming_out():
            code = solve_batch(job_files, overrides, folder, at_once, again, save_every, as_json, address)
        ctx.exit(code)
    if address is not None:
        raise InputError(
            '--dask divides several jobs or boards among workers; for one job set solve.workers = "dask" instead'
        )
    refuse_unused("for one job on one board, whose threads solve.workers sets", "at_once")
    job = Job.load(job_files[0], overrides)
    if job.one_program:
        refuse_unused("for one linear program, which is saved at its end", "save_every")
    where = folder or default_folder(job.name)
    say(f"{job.name}: lockers in {path_text(where)}")
    if not job.sampled and lower_bounds(job).memory_bytes >= SLOW_LAYOUT:
        say(f"{job.name}: laying out boards and betting")
    with _naming_out():
        session = Session(job, where, save_every, start_from=start_from, again=again)
    reporter = solve_reporter()
    try:
        result = session.solve(reporter)
        first = () if as_json or not session.saved else _first_action(job, session.policy())
    finally:
        reporter.end()
        session.close()
    result = replace(result, seconds={**result.seconds, "total": time.perf_counter() - STARTED})
    click.echo(json_text(result.to_json()) if as_json else facts(summary(result, first)))
    if result.interrupted:
        say(f"interrupted after sweep {result.sweeps}; everything is saved, the same command continues")
        ctx.exit(INTERRUPTED)


@contextmanager
def _naming_out() -> Iterator[None]:
    """Add a hint that names the option ``--out`` to the error about a folder that holds another job."""
    from lockers import ManifestMismatchError

    try:
        yield
    except ManifestMismatchError as error:
        raise InputError(f"{error}; --out FOLDER solves this job in another folder") from None


def default_folder(name: str) -> Path:
    """Return the folder ``results/NAME`` for the name of a job; slashes and leading dots of the name are replaced.

    >>> default_folder("Rhode Island").as_posix(), default_folder("../T1").as_posix()
    ('results/Rhode Island', 'results/-T1')
    """
    from spewy.batch.job_files import folder_name

    return Path("results") / folder_name(name)


def summary(result: SolveResult, first: tuple[tuple[str, float], ...]) -> Iterator[tuple[str, str]]:
    """Yield rows (name, text) that describe the result of a solve, for the printed table.

    Args:
        result: the result.
        first: label and frequency of each action of the range at the root; empty for no such row.
    """
    yield "job", result.name
    yield "converged", "yes" if result.converged else "no, interrupted" if result.interrupted else "no"
    yield "sweeps", f"{result.sweeps:,}"
    if result.variant is not None:
        yield "variant", result.variant
    yield "exploitability", _exploitability(result)
    if result.ev is not None:
        yield "EV", f"oop {number(result.ev[0])}, ip {number(result.ev[1])} {result.unit} of the pot"
    if result.equity is not None:
        yield "equity", f"oop {number(result.equity[0], 6)}, ip {number(result.equity[1], 6)}"
    if result.value is not None:
        bracket = result.value_bracket
        between = "" if bracket is None else f", between {number(bracket[0], 6)} and {number(bracket[1], 6)}"
        yield "value", f"{number(result.value, 6)} {result.unit} for player 0{between}"
    if first:
        yield "first action", ", ".join(f"{action} {number(share)}" for action, share in first)
    yield (
        "time",
        f"{duration(result.seconds['total'])} in all, {duration(result.seconds['solve'])} to solve, "
        f"{duration(result.seconds['best_response'])} of it to check",
    )
    if result.process_mib is not None:
        yield "process", f"{result.process_mib:,.0f} MiB at most"


def _exploitability(result: SolveResult) -> str:
    if result.exploitability is None:
        return "not measured" if result.sweeps else "not measured: no sweep was finished"
    text = f"{number(result.exploitability, 4)} {result.unit}"
    if result.exploitability_pct is not None:
        return f"{text}, {number(result.exploitability_pct, 4)}% of the pot"
    return f"{text}, {number(result.exploitability_mbb)} mbb per hand"


def _first_action(job: Job, policy: Policy) -> tuple[tuple[str, float], ...]:
    """Return (label, frequency) of each action of the range at the root; empty if cards are dealt first."""
    if job.betting_tree.root.player is None or (job.spot is None and job.rules.num_board_cards[0]):
        return ()
    root = policy.decision()
    weight = policy.problem.ranges[root.player][root.hands]
    shares = root.frequencies @ weight / weight.sum()
    return tuple((action.label, float(share)) for action, share in zip(root.actions, shares, strict=True))
