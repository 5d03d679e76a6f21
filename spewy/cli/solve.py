"""``spewy solve``: from start or resume to the target."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli._clock import STARTED
from spewy.cli.options import job_argument, json_option, set_option, verbose_option
from spewy.cli.progress import say, solve_reporter
from spewy.cli.tables import duration, facts, json_text, number

if TYPE_CHECKING:
    from spewy.job import Job
    from spewy.solution import NodeView
    from spewy.solve.session import Session, SolveResult

INTERRUPTED = 130


@click.command()
@job_argument
@click.option(
    "--out",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Where the lockers are or shall be; default: results/NAME, after the job's name.",
)
@set_option
@json_option
@verbose_option
@click.pass_context
def solve(
    ctx: click.Context, job_file: Path, folder: Path | None, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Solve a job, or go on where its folder stopped.

    Stops at solve.target or after solve.max_sweeps, whichever comes first; "converged" tells which, and the exit
    code is 0 for both. The first Ctrl-C saves everything and exits with 130, the second one breaks off.

    \b
    Examples:
      spewy solve examples/T1.toml
      spewy solve examples/T1.toml --out T1-fine --set solve.target=0.1% --set solve.workers=4
      spewy solve examples/leduc.toml --json > leduc.json

    \b
    --json prints one object; what does not apply is null:
      name, converged, interrupted, sweeps,
      exploitability (chips), exploitability_pct (of the pot), exploitability_mbb (whole games),
      ev [oop, ip], equity [oop, ip] (spots), value, value_bracket (net chips of player 0, whole games),
      seconds {build, solve, best_response, total}, peak_rss_mib,
      trace [[sweep, seconds, exploitability], ...]
    """  # noqa: D301
    from spewy.job import Job
    from spewy.solve.session import Session

    job = Job.load(job_file, overrides)
    where = folder or default_folder(job.name)
    say(f"{job.name}: lockers in {where}")
    session = Session(job, where)
    reporter = solve_reporter()
    try:
        result = session.solve(reporter)
        root = None if as_json or result.interrupted or not result.sweeps else _root(job, session)
    finally:
        reporter.end()
        session.close()
    result = replace(result, seconds={**result.seconds, "total": time.perf_counter() - STARTED})
    click.echo(json_text(result.to_json()) if as_json else facts(summary(result, root)))
    if result.interrupted:
        say(f"interrupted after sweep {result.sweeps}; everything is saved, the same command goes on")
        ctx.exit(INTERRUPTED)


def default_folder(name: str) -> Path:
    """``results/<job name>``, in which nothing leads out of ``results``.

    >>> default_folder("Rhode Island").as_posix(), default_folder("../T1").as_posix()
    ('results/Rhode Island', 'results/-T1')
    """
    return Path("results") / (re.sub(r"[/\\\0]", "-", name).strip(". ") or "job")


def summary(result: SolveResult, root: NodeView | None) -> Iterator[tuple[str, str]]:
    """What a solve reached, fact by fact."""
    yield "job", result.name
    yield "converged", "yes" if result.converged else "no, interrupted" if result.interrupted else "no"
    yield "sweeps", f"{result.sweeps:,}"
    yield "exploitability", _exploitability(result)
    if result.ev is not None:
        yield "EV", f"oop {number(result.ev[0])}, ip {number(result.ev[1])} chips of the pot"
    if result.equity is not None:
        yield "equity", f"oop {number(result.equity[0], 6)}, ip {number(result.equity[1], 6)}"
    if result.value is not None:
        bracket = result.value_bracket
        between = "" if bracket is None else f", between {number(bracket[0], 6)} and {number(bracket[1], 6)}"
        yield "value", f"{number(result.value, 6)} chips for player 0{between}"
    if root is not None:
        pairs = zip(root.actions, root.frequencies, strict=True)
        yield "first action", ", ".join(f"{action} {number(share)}" for action, share in pairs)
    yield (
        "time",
        f"{duration(result.seconds['total'])} in all, {duration(result.seconds['solve'])} to solve, "
        f"{duration(result.seconds['best_response'])} of it to check",
    )
    yield "memory", f"{result.peak_rss_mib:,.0f} MiB at most"


def _exploitability(result: SolveResult) -> str:
    if result.exploitability is None:
        return "not measured: no sweep was finished"
    text = f"{number(result.exploitability, 4)} chips"
    if result.exploitability_pct is not None:
        return f"{text}, {number(result.exploitability_pct, 4)}% of the pot"
    return f"{text}, {number(result.exploitability_mbb)} mbb per hand"


def _root(job: Job, session: Session) -> NodeView | None:
    """The first decision; None where nobody has any."""
    from spewy.solution import Solution

    if job.betting_tree.root.kind != "decision":
        return None
    return Solution(job, session.store).node()
