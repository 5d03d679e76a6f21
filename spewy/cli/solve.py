"""``spewy solve``: start or continue a solve, or a batch of several jobs or boards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli import STARTED
from spewy.cli.options import (
    Seconds,
    dask_option,
    is_verbose,
    json_option,
    lock_option,
    locking,
    on_cluster,
    refuse_unused,
    set_option,
)
from spewy.cli.progress import Bar, check_text, draws_bars, solve_listener
from spewy.cli.tables import count, duration, facts, fine, json_text, number, percent, say, size, table_text
from spewy.errors import InputError, one_line, path_text
from spewy.game.names import SEAT_NAMES
from spewy.run.events import Advanced, Checked, Ended
from spewy.system.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from spewy.batch.batch import Batch, BatchJob, Outcome
    from spewy.batch.solve_batch import BatchCost, BatchEvent
    from spewy.job.job import Job
    from spewy.records.policy import Policy
    from spewy.run.result import SolveResult

SLOW_LAYOUT = 16 * 2**20
"""Lower bound of a job's memory in bytes from which laying out its boards and betting takes seconds."""
FAILED = 1
QUIET_SECONDS = 1.0
"""Shortest time in seconds between two printed checks of a job; a small river has hundreds of checks a second."""
SHOWN_RUNNING = 4
"""Largest number of running jobs that are listed beside the progress bar."""


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
    "--quick",
    is_flag=True,
    help="Solve a flop or turn for 3 seconds, with few bets on later rounds. Commands that show a later round then "
    'solve it with all bets. --set solve.quick="10 s" gives another time; without --quick, the same command goes on to '
    "a solve of the whole game.",
)
@click.option(
    "--go-on",
    is_flag=True,
    help="With --quick: go on to solve the whole game with all bets. Until that solve saves, spewy show reads the "
    "quick answer.",
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
@click.pass_context
def solve(
    ctx: click.Context,
    job_files: tuple[Path, ...],
    folder: Path | None,
    at_once: int | None,
    again: bool,
    quick: bool,
    go_on: bool,
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
      value_bracket [low, high] (bounds on the value of the game), decision_loss_pct (with solve.refine),
      seconds {build (tree, boards, folder), solve, best_response (part of solve), total}, peak_rss_mib,
      trace [[sweep, seconds, exploitability], ...], process_mib (peak memory without mapped files),
      variant (of CFR),
      choice {choose, programs, entropy, sizes, bluff} (with solve.choose),
      quick {seconds, bets (of later rounds; null: all), loss (measured for such flops; in words)} (of a quick solve)
    A job with amounts in big blinds adds "unit": "bb". Several jobs, or a job with spot.boards, give an array of these
    objects in the order of the input, each also with
      board, same_as (a board that equals this board up to suits, with which it is solved), folder,
      skipped (whether it was solved before), error

    All jobs are validated before the first one starts. If a job fails, the others finish, and the exit code is 1.
    """  # noqa: D301
    from spewy.job.job import Job
    from spewy.job.load import lists_boards
    from spewy.run.session import Session
    from spewy.run.walked_cost import lower_bounds

    overrides += (*locking(locks), *(('solve.quick="3 s"',) if quick else ()))
    if address is not None and save_every is not None:
        raise click.UsageError(
            "--save-every has no effect with --dask, whose workers send the folders back at the end; remove it"
        )
    if len(job_files) > 1 or lists_boards(job_files[0], overrides):
        if start_from is not None:
            raise InputError("--start-from works for one job only, and there are several")
        if go_on:
            raise InputError("--go-on works for one job only, and there are several")
        with _naming_out():
            code = solve_batch(job_files, overrides, folder, at_once, again, save_every, as_json, address)
        ctx.exit(code)
    if address is not None:
        raise InputError(
            '--dask divides several jobs or boards among workers; for one job set solve.workers = "dask" instead'
        )
    refuse_unused("for one job on one board, whose threads solve.workers sets", "at_once")
    job = Job.load(job_files[0], overrides)
    if go_on and job.solve.quick is None:
        raise InputError("--go-on follows a quick solve; add --quick, or leave it out")
    if job.one_program:
        refuse_unused("for one linear program, which is saved at its end", "save_every")
    where = folder or default_folder(job.name)
    say(f"{job.name}: lockers in {path_text(where)}")
    for each in (job, job.replace({"solve.quick": None})) if go_on else (job,):
        if not job.sampled and each.solve.quick is None and lower_bounds(each).memory_bytes >= SLOW_LAYOUT:
            say(f"{job.name}: laying out boards and betting")
        started = STARTED if each is job else time.perf_counter()
        since = None if each.solve.quick is None else started  # its seconds are those of the command
        with _naming_out():
            again_now = again and each is job
            session = Session(each, where, save_every, start_from=start_from, again=again_now, started=since)
        listener = solve_listener()
        try:
            result = session.solve(listener)
            saved = session.saved
            first = () if as_json or not saved else _first_action(each, session.policy())
        finally:
            listener.close()
            session.close()
        result = replace(result, seconds={**result.seconds, "total": time.perf_counter() - started})
        lost = _mean_loss(where) if job.solve.refine and each.first_dropped is None and saved else None
        if not as_json:
            rows = [*summary(result, first)]
            if lost is not None:
                rows.append(
                    ("mean loss", f"{fine(lost, 4)}% of the pot, at all decisions and by all hands alike")
                )
            click.echo(facts(rows))
        if result.interrupted:
            break
    if as_json:
        click.echo(json_text(result.to_json() | ({} if lost is None else {"decision_loss_pct": lost})))
    if result.interrupted:
        state = (
            "everything is saved, the same command continues"
            if saved == result.sweeps
            else "its sweeps are not saved"
        )
        say(f"interrupted after sweep {result.sweeps}; {state}")
        ctx.exit(INTERRUPTED)


@contextmanager
def _naming_out() -> Iterator[None]:
    from lockers import ManifestMismatchError

    try:
        yield
    except ManifestMismatchError as error:
        raise InputError(f"{error}; --out FOLDER solves this job in another folder") from None


def default_folder(name: str) -> Path:
    """Folder ``results/NAME``; slashes and leading dots of a job's name are replaced.

    >>> default_folder("Rhode Island").as_posix(), default_folder("../T1").as_posix()
    ('results/Rhode Island', 'results/-T1')
    """
    from spewy.batch.batch import folder_name

    return Path("results") / folder_name(name)


def summary(result: SolveResult, first: tuple[tuple[str, float], ...]) -> Iterator[tuple[str, str]]:
    yield "job", result.name
    if result.quick is None or result.interrupted:
        yield "converged", "yes" if result.converged else "no, interrupted" if result.interrupted else "no"
    groups = (result.quick or {}).get("groups", 1)  # results of earlier versions have none
    on_group = f", each on one of {groups} groups of the last round's boards" if groups > 1 else ""
    yield "sweeps", f"{result.sweeps:,}{on_group}"
    if result.variant is not None:
        yield "variant", result.variant
    if result.quick is None:
        yield "exploitability", _exploitability(result)
    else:
        bets = result.quick["bets"] or "all bets of the job"
        yield (
            "quick",
            f"{result.quick['seconds']:g} s; later rounds have {bets}, and are solved when they are shown",
        )
        if result.quick.get("loss"):
            yield "expected loss", result.quick["loss"]
    if result.ev is not None:
        yield "EV", f"oop {number(result.ev[0])}, ip {number(result.ev[1])} {result.unit} of the pot"
    if result.equity is not None:
        yield "equity", f"oop {number(result.equity[0], 6)}, ip {number(result.equity[1], 6)}"
    if result.value is not None:
        bracket = result.value_bracket
        between = "" if bracket is None else f", between {fine(bracket[0], 6)} and {fine(bracket[1], 6)}"
        yield "value", f"{fine(result.value, 6)} {result.unit} for player 0{between}"
    yield from _choice(result)
    if first:
        yield "first action", ", ".join(f"{action} {percent(share, 1)}" for action, share in first)
    yield (
        "time",
        f"{duration(result.seconds['total'])} in all, {duration(result.seconds['solve'])} to solve, "
        f"{duration(result.seconds['best_response'])} of it to check",
    )
    if result.process_mib is not None:
        yield "process", f"{result.process_mib:,.0f} MiB at most"


def _choice(result: SolveResult) -> Iterator[tuple[str, str]]:
    """Yield what the choice among equilibria has changed: both players' numbers, and those before in brackets."""
    if result.choice is None:
        return
    players = SEAT_NAMES if result.ev is not None else ("player 0", "player 1")
    yield "choice", f"{result.choice['choose']}, by {result.choice['programs']} linear programs"
    for name, words, factor, unit in (
        ("entropy", "entropy", 1, " bits"),
        ("sizes", "bet sizes", 1, ""),
        ("bluff", "bluffs", 100, "%"),
    ):
        measured = result.choice[name]
        parts = [
            f"{player} {factor * after:.4g}{unit} (before {factor * before:.4g}{most})"
            for player, after, before, most in zip(
                players,
                measured["after"],
                measured["before"],
                [f", at most {bound:.4g}" for bound in measured.get("bound", ())] or ("", ""),
                strict=True,
            )
        ]
        yield words, ", ".join(parts)


def _exploitability(result: SolveResult) -> str:
    if result.exploitability is None:
        return "not measured" if result.sweeps else "not measured: no sweep was finished"
    text = f"{fine(result.exploitability, 4)} {result.unit}"
    if result.exploitability_pct is not None:
        return f"{text}, {fine(result.exploitability_pct, 4)}% of the pot"
    return f"{text}, {fine(result.exploitability_mbb)} mbb per hand"


def _mean_loss(folder: Path) -> float | None:
    from spewy.look.solution import Solution

    with Solution.open(folder) as solution:
        losses = solution.exploitability().losses
    return None if losses is None else losses.decision_loss_pct


def _first_action(job: Job, policy: Policy) -> tuple[tuple[str, float], ...]:
    """Label of each action at the root, with its mean frequency over the range of the player to act.

    Empty if cards are dealt first.
    """
    if job.betting_tree.root.player is None or (job.spot is None and job.rules.num_board_cards[0]):
        return ()
    root = policy.decision()
    weight = policy.problem.ranges[root.player][root.hands]
    shares = root.frequencies @ weight / weight.sum()
    return tuple((action.label, float(share)) for action, share in zip(root.actions, shares, strict=True))


def solve_batch(
    files: Sequence[Path],
    overrides: Sequence[str],
    out: Path | None,
    jobs: int | None,
    again: bool,
    save_every: float | None,
    as_json: bool,
    address: str | None = None,
) -> int:
    """Solve a batch, print its results, and return the exit code."""
    from spewy.batch.batch import Batch
    from spewy.batch.solve_batch import run_batch

    batch = replace(Batch.load(files, overrides, out), save_every=save_every, again=again)
    batch.write_weights()
    with on_cluster(address, jobs, "--jobs"):
        outcomes = run_batch(batch, batch_listener(batch), jobs)
    click.echo(json_text(batch.to_json(outcomes)) if as_json else _table(batch, outcomes))
    return _verdict(batch, outcomes)


class BatchLines:
    """A listener of a batch that prints lines, each of which begins with a job's name."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._printed_at: dict[int, float] = {}
        self._ended = 0

    def __call__(self, event: BatchEvent) -> None:
        from spewy.batch.solve_batch import BatchBegan, BatchStopping, JobBegan, JobChecked, JobEnded

        match event:
            case BatchBegan():
                for line in cost_lines(event.batch, event.cost):
                    say(line)
            case JobBegan():
                self.began(event.number)
            case JobChecked():
                self.checked(event.number, event.check)
            case JobEnded():
                self.ended(event.number, event.outcome)
            case BatchStopping():
                say("interrupted: the running jobs are being saved; Ctrl-C again stops them at once")

    def began(self, number: int) -> None:
        entry, sweeps = self._batch.entries[number], self._batch.stored[number].sweeps
        further = f", continuing after sweep {sweeps}" if sweeps and not self._batch.again else ""
        say(f"{entry.label}: lockers in {entry.folder}{further}")

    def checked(self, number: int, check: Checked) -> None:
        now = time.monotonic()
        if now - self._printed_at.get(number, -QUIET_SECONDS) >= QUIET_SECONDS:
            self._printed_at[number] = now
            text = check_text(check.exploitability, check.unit, check.seconds_left)
            say(f"{self._batch.entries[number].label}: sweep {check.done}: {text}")

    def ended(self, number: int, outcome: Outcome) -> None:
        self._ended += 1
        place = f"{self._ended} of {len(self._batch.to_do)}"
        say(f"{self._batch.entries[number].label}: {ending(outcome)} ({place})")
        if outcome.details and is_verbose():
            say(outcome.details)


class BatchBar(BatchLines):
    """A listener of a batch that draws a bar of the jobs, with the exploitability of running jobs beside it."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self._bar: Bar | None = None
        self._running: dict[int, str] = {}

    def __call__(self, event: BatchEvent) -> None:
        from spewy.batch.solve_batch import BatchBegan

        match event:
            case Advanced():
                if self._bar is None:
                    self._bar = self._new("preparing", event.total)
                self._bar.move(event.done)
            case Ended() | BatchBegan():
                self._close()
        super().__call__(event)
        if isinstance(event, BatchBegan) and event.batch.to_do:
            self._bar = self._new("solving", len(event.batch.to_do))

    def began(self, number: int) -> None:
        self._running[number] = "..."
        self._show()

    def checked(self, number: int, check: Checked) -> None:
        unit = "%" if check.unit == "%" else f" {check.unit}"
        self._running[number] = f"{max(check.exploitability, 0.0):.3g}{unit}"
        self._show()

    def ended(self, number: int, outcome: Outcome) -> None:
        self._running.pop(number, None)
        if outcome.error is not None:
            super().ended(number, outcome)
        if self._bar is not None:
            self._bar.advance()
        self._show()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _new(self, name: str, total: int) -> Bar:
        return Bar(name, total, unit="jobs", keep=True, time_left=False)

    def _show(self) -> None:
        if self._bar is not None:
            entries = self._batch.entries
            shown = [f"{entries[i].label} {amount}" for i, amount in self._running.items()][:SHOWN_RUNNING]
            self._bar.show(", ".join(shown))


def batch_listener(batch: Batch) -> BatchLines:
    return BatchBar(batch) if draws_bars() else BatchLines(batch)


def cost_lines(batch: Batch, cost: BatchCost) -> list[str]:
    same = sum(entry.same_as is not None for entry in batch.entries)
    parts = [f"{len(batch.done)} done before"] if batch.done else []
    parts += [f"{same} the same as another up to suits"] if same else []
    parts.append(f"{len(batch.to_do)} to solve" + (f", {cost.at_once} at once" if batch.to_do else ""))
    lines = [f"batch of {count(len(batch.entries), 'job')}: {', '.join(parts)}"]
    if batch.to_do:
        available = cost.available_bytes
        short = available is not None and cost.memory_bytes > available
        room = "" if available is None else f" ({'MORE THAN ' if short else ''}{size(available)} available)"
        lines.append(
            f"{count(cost.information_sets, 'information set')}, about {size(cost.memory_bytes)} of memory at once"
            f"{room} and {size(cost.disk_bytes)} on disk"
        )
    return lines


def ending(outcome: Outcome) -> str:
    result = outcome.result
    if outcome.error is not None:
        return f"failed: {outcome.error}"
    if result is None:
        return "not reached"
    state = "interrupted" if result.interrupted else "done" if result.converged else "done, not converged"
    return f"{state} after {count(result.sweeps, 'sweep')}, exploitability {exploitability_text(outcome)}"


def _table(batch: Batch, outcomes: Sequence[Outcome]) -> str:
    rows = [_row(batch, entry, outcome) for entry, outcome in zip(batch.entries, outcomes, strict=True)]
    titles = [title for title in rows[0] if any(row[title] not in ("", "-") for row in rows)]
    cells = ([row[title] for title in titles] for row in rows)
    return table_text(titles, cells, left=("name", "board", "converged", "note"), fold=True)


def _row(batch: Batch, entry: BatchJob, outcome: Outcome) -> dict[str, str]:
    result = outcome.result
    ev = None if result is None else result.ev
    state = "-" if result is None else "yes" if result.converged else "no"
    return {
        "name": entry.job.name,
        "board": entry.board or "-",
        "converged": state,
        "sweeps": f"{outcome.stored.sweeps if result is None else result.sweeps:,}",
        "exploitability": exploitability_text(outcome),
        "EV oop": "-" if ev is None else number(ev[0]),
        "EV ip": "-" if ev is None else number(ev[1]),
        "value": "-" if result is None else number(result.value, 6),
        "time": "-" if result is None else duration(result.seconds["total"]),
        "note": _note(batch, entry, outcome),
    }


def exploitability_text(outcome: Outcome) -> str:
    result = outcome.result
    if result is None or result.exploitability is None:
        return "-"
    if result.exploitability_pct is not None:
        return f"{number(result.exploitability_pct, 4)}%"
    return f"{number(result.exploitability_mbb)} mbb"


def _note(batch: Batch, entry: BatchJob, outcome: Outcome) -> str:
    notes = []
    if entry.same_as is not None:
        notes.append(f"same as {batch.entries[entry.same_as].board} up to suits")
    if outcome.error is not None:
        notes.append("failed")
    elif not outcome.done:
        notes.append("interrupted")
    elif outcome.skipped:
        notes.append("done before")
    return ", ".join(notes)


def _verdict(batch: Batch, outcomes: Sequence[Outcome]) -> int:
    own = [
        (entry, outcome)
        for entry, outcome in zip(batch.entries, outcomes, strict=True)
        if entry.same_as is None
    ]
    failed = [(entry, outcome) for entry, outcome in own if outcome.error is not None]
    for entry, outcome in failed:
        say(one_line(f"Error: {entry.label}: {outcome.error}"))
    left = sum(not outcome.done and outcome.error is None for _, outcome in own)
    if left:
        say(f"interrupted with {count(left, 'job')} left; everything is saved, the same command continues")
        return INTERRUPTED
    return FAILED if failed else 0
