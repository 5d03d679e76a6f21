"""``spewy estimate``: estimate the cost of a job before it starts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bars import Bar
from spewy.cli.options import job_argument, json_option, lock_option, locking, set_option, verbose_option
from spewy.cli.progress import counting
from spewy.cli.tables import count, duration, facts, json_text, size

if TYPE_CHECKING:
    from spewy.batch.batch import Batch
    from spewy.batch.run import BatchCost
    from spewy.job.job import Job
    from spewy.run.bounds import Bounds
    from spewy.run.cuts import Cut
    from spewy.run.sampled_cost import SampledCost
    from spewy.run.walked_cost import WalkedCost
    from spewy.run.walked_plan import WalkedPlan

SOON = 256 << 20
"""Estimated size in bytes up to which jobs are counted exactly even if ``solve.memory`` is smaller (one second)."""
SWEEPS = 100
"""Number of sweeps whose time is printed."""
SUMS = (
    *("information_sets", "memory_bytes", "disk_bytes", "most_disk_bytes", "kept_bytes"),
    "seconds_per_sweep",
)
"""Fields of the cost that are summed over all boards of a batch."""


@click.command()
@job_argument
@lock_option(
    'Fix how a range or some hands play at one decision, as in spewy solve: with "x: bet" the player always bets '
    "after a check. Can be given several times."
)
@set_option
@json_option
@verbose_option
def estimate(job_file: Path, locks: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> None:
    """Estimate a job's size, memory and time.

    The command counts boards, chunks (one betting round each) and information sets, and estimates memory, disk space
    and time.

    For a job that is far too large, the command prints lower bounds at once, without building anything. For several
    boards (spot.boards) it prints the sums over all boards, and the memory of the largest board. The printed time is
    that of 100 sweeps on one core, after which exploitability is often below 0.5 % of the pot. No time is printed for
    jobs with buckets of hands or with stored leaves.

    \b
    Examples:
      spewy estimate examples/T1.toml
      spewy estimate flops.toml
      spewy estimate examples/T1.toml --set solve.precision=single --set rows.river=40

    \b
    --json prints one object:
      name, rounds [...], boards [...], chunks [...] (numbers per round, from the round of the root on),
      short_boards [...] (per round: boards with fewer different hands than the job asks rows for), information_sets,
      state_bytes (regrets and strategy sums), table_bytes (betting tree, and tables of hands and boards),
      payoff_bytes (stored payoff matrices),
      memory_bytes (without interpreter and libraries), process_bytes (with them, if nothing is streamed from disk),
      disk_bytes (after the first save), most_disk_bytes (largest size during later saves),
      kept_bytes (disk space once the job is solved, without the rounds that save.rounds drops),
      program {variables, constraints, nonzeros} (of the linear program if solve.method = "lp", else null),
      seconds_per_sweep (rough, on one core; null: not known),
      budget_bytes (solve.memory), fits, streamed_bytes (in a file instead of in memory; null: the job does not fit),
      betting_nodes (decisions and ends of the betting tree), betting_counted (false: there are more nodes),
      cuts [{words, key, value, size, share, memory_bytes}, ...] (if not all fits into solve.memory: the changes that
      save most, each a new value of a key; words: the change in words; size: the bet size that is left out, or null;
      share and memory_bytes: rough memory after the change, as a share and in bytes),
      least_boards [...], least_chunks [...], least_memory_bytes (lower bounds)
    If a lower bound exceeds solve.memory by far, the other figures are null.
    For a job with spot.boards:
      name, by_board {"Qc2d2c": {boards to seconds_per_sweep, as above}, ..} (without boards that equal another board
      up to suits), same {"Qd2h2d": "Qc2d2c", ..} (these boards), at_once (number of solves at the same time),
      information_sets, memory_bytes (of the largest solves at the same time, with their processes), disk_bytes,
      most_disk_bytes, kept_bytes, seconds_per_sweep (of all boards together), budget_bytes (of each board), fits,
      cuts (of the largest board, as above)
    For a job with [boards]:
      name, rounds [...], lines [...], board_buckets [...], rows [...] (numbers per round), information_sets,
      state_bytes, table_bytes, memory_bytes, process_bytes, disk_bytes, most_disk_bytes (as above),
      play_bytes (part of disk_bytes: the strategy locker), judged_bytes (part of disk_bytes: results of exploit
      --flops all), seconds_per_deal (rough, on one core), making_seconds (rough, for computing board buckets and rows;
      0: they are computed already), budget_bytes, fits, betting_nodes
    """  # noqa: D301
    from spewy.batch.job_files import lists_boards
    from spewy.job.job import Job

    overrides += locking(locks)
    if lists_boards(job_file, overrides):
        data, rows = _of_boards(job_file, overrides)
        click.echo(json_text(data) if as_json else facts(rows))
        return
    job = Job.load(job_file, overrides)
    if job.sampled:
        data, rows = _sampled(job)
        click.echo(json_text(data) if as_json else facts(rows))
        return
    from spewy.run.bounds import lower_bounds  # this import loads Numba
    from spewy.run.cuts import cuts

    least = lower_bounds(job)
    first, tree = job.tree_config.start_round, job.tree_count
    data, rows = _seen(job) if _can_be_seen(job, least) else _guessed(job, least)
    needed = data["memory_bytes"] or least.memory_bytes
    smaller = cuts(job, needed) if needed > data["budget_bytes"] or not data["fits"] else ()
    if not as_json:
        rows += _cut_rows(smaller)
        click.echo(facts([("job", f"{job.name}, {job.leaves}"), *_amounts(job), *rows]))
        return
    data["cuts"] = [asdict(cut) for cut in smaller]
    bounds = {f"least_{name}": value for name, value in asdict(least).items()}
    rounds = job.rules.round_names[first:]
    known = {"betting_nodes": tree.nodes, "betting_counted": tree.complete} | bounds
    click.echo(json_text({"name": job.name, **job.amounts.key, "rounds": rounds} | data | known))


def _can_be_seen(job: Job, least: Bounds) -> bool:
    """Whether a job with the lower bounds ``least`` on its cost is small enough to enumerate its boards."""
    from spewy.job.texts import parse_memory

    return job.tree_count.complete and least.memory_bytes <= max(parse_memory(job.solve.memory), SOON)


def _amounts(job: Job) -> list[tuple[str, str]]:
    """Table row with the unit of a job's amounts; no row if the unit is a chip."""
    unit = job.amounts
    return [("amounts", f"in {unit.name} of {unit.chips} chips")] if unit.key else []


def _of_boards(file: Path, overrides: tuple[str, ...]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Cost of a job on all its boards, as a JSON object and as table rows."""
    from spewy.batch.batch import Batch
    from spewy.batch.run import BatchCost, processes
    from spewy.job.texts import parse_memory
    from spewy.run.cuts import cuts
    from spewy.run.memory import available_memory

    batch = Batch.unstarted([file], overrides)
    plans = _board_plans(batch)
    costs = {i: plan.cost for i, plan in plans.items()}
    cost = BatchCost(costs, processes(batch), available_memory())
    fits = all(plan.refusal is None for plan in plans.values())
    job, entries = batch.entries[0].job, batch.entries
    most = max(plans.values(), key=lambda plan: plan.cost.memory_bytes)
    smaller = () if fits else cuts(most.job, most.cost.memory_bytes)
    data = {
        "name": job.name,
        **job.amounts.key,
        "by_board": {str(entries[i].board): asdict(each) for i, each in costs.items()},
        "same": {
            str(each.board): entries[each.same_as].board for each in entries if each.same_as is not None
        },
        "at_once": cost.at_once,
        **{name: getattr(cost, name) for name in SUMS},
        "budget_bytes": parse_memory(job.solve.memory),
        "fits": fits,
        "cuts": [asdict(cut) for cut in smaller],
    }
    same = len(entries) - len(plans)
    alike = f", {same:,} the same as another up to suits" if same else ""
    fit = f"{size(most.cost.memory_bytes)} for the largest, {_verdict(0 if fits else None, job.solve.memory)} for each"
    rows = [
        ("job", f"{job.name}, {job.leaves}"),
        *_amounts(job),
        ("boards", f"{len(entries):,}{alike}"),
        ("information sets", f"{cost.information_sets:,}"),
        ("memory", f"{fit}; {size(cost.memory_bytes)} with {cost.at_once:,} at once"),
        *_disk(job, cost),
        *_time(cost.seconds_per_sweep),
        *_cut_rows(smaller),
    ]
    return data, rows


def _board_plans(batch: Batch) -> dict[int, WalkedPlan]:
    """Plans of the boards that are not solved yet, by the board's number in the batch.

    Raises:
        InputError: a lower bound on the memory of a board exceeds ``solve.memory``.
    """
    from spewy.batch.work import refuse_impossible
    from spewy.run.bounds import lower_bounds
    from spewy.run.walked_plan import WalkedPlan

    plans: dict[int, WalkedPlan] = {}
    with counting("boards") as progress:
        for i in batch.to_do:
            job = batch.entries[i].job
            if not _can_be_seen(job, lower_bounds(job)):
                refuse_impossible(job, batch.entries[i].label)
            plans[i] = WalkedPlan.counted(job, streaming=False)  # the solves of a batch do not stream
            progress(len(plans), len(batch.to_do))
    return plans


def _disk(job: Job, cost: WalkedCost | BatchCost) -> list[tuple[str, str]]:
    """Table rows with the disk space of a solve, and with the disk space after ``save.rounds`` has dropped rounds."""
    rows = [("disk", f"{size(cost.disk_bytes)}, at most {size(cost.most_disk_bytes)} during later saves")]
    if job.first_dropped is not None:
        rows.append(("kept", f"{size(cost.kept_bytes)}, without the rounds after the {job.save.rounds}"))
    return rows


def _process(process_bytes: int) -> tuple[str, str]:
    """Table row with the memory of the whole process."""
    return "process", f"about {size(process_bytes)} with interpreter and libraries"


def _time(seconds_per_sweep: float | None) -> list[tuple[str, str]]:
    """Table row with the time of `SWEEPS` sweeps; no row if the time is not known."""
    if seconds_per_sweep is None:
        return []
    return [("time", f"roughly {duration(SWEEPS * seconds_per_sweep)} for {SWEEPS} sweeps on one core")]


def _sampled(job: Job) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Cost of a job that deals boards, as a JSON object and as table rows."""
    from spewy.job.texts import parse_memory
    from spewy.run.sampled_plan import SampledPlan

    plan = SampledPlan.of(job)
    cost, fits, names = plan.cost, plan.refusal is None, job.rules.round_names
    rows = [("job", f"{job.name}, boards dealt"), *_amounts(job)]
    for name, lines, board_buckets, k in zip(names, cost.lines, cost.board_buckets, cost.rows, strict=True):
        rows.append(
            (name, f"{count(lines, 'line')}, {count(board_buckets, 'board bucket')}, {count(k, 'row')}")
        )
    verdict = f"within the {job.solve.memory} allowed" if fits else _verdict(None, job.solve.memory)
    rows += [
        ("betting nodes", f"{job.tree_count.nodes:,}"),
        ("information sets", f"{cost.information_sets:,}"),
        ("state", size(cost.state_bytes)),
        ("tables", size(cost.table_bytes)),
        ("memory", f"{size(cost.memory_bytes)}, {verdict}"),
        _process(cost.process_bytes),
        (
            "disk",
            f"{size(cost.disk_bytes)}, with {size(cost.play_bytes)} for the strategy locker and "
            f"{size(cost.judged_bytes)} for exploit --flops all; at most {size(cost.most_disk_bytes)} "
            "during later saves",
        ),
        _pace(cost),
    ]
    if cost.making_seconds:
        rows.append(("before", f"roughly {duration(cost.making_seconds)} for board buckets and rows, once"))
    rounds = {"name": job.name, **job.amounts.key, "rounds": names}
    fit = {
        "budget_bytes": parse_memory(job.solve.memory),
        "fits": fits,
        "betting_nodes": job.tree_count.nodes,
    }
    return rounds | asdict(cost) | fit, rows


def _seen(job: Job) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Cost of a job whose boards are enumerated, as a JSON object and as table rows."""
    from spewy.job.texts import parse_memory

    plan = _plan(job)
    cost, fits = plan.cost, plan.refusal is None
    streamed = plan.memory_plan.streamed_bytes if fits else None
    budget = parse_memory(job.solve.memory)
    data = asdict(cost) | {"budget_bytes": budget, "fits": fits, "streamed_bytes": streamed}
    rows = []
    names = job.rules.round_names[job.tree_config.start_round :]
    for name, boards, chunks, short in zip(names, cost.boards, cost.chunks, cost.short_boards, strict=True):
        fewer = f"; {short:,} with fewer different hands than the job asks rows for" if short else ""
        rows.append((name, f"{count(boards, 'board')}, {count(chunks, 'chunk')}{fewer}"))
    if cost.program is not None:
        rows.append(("linear program", str(cost.program)))
    rows += [
        ("betting nodes", f"{job.tree_count.nodes:,}"),
        ("information sets", f"{cost.information_sets:,}"),
        ("state", size(cost.state_bytes)),
        ("tables", size(cost.table_bytes)),
        ("payoffs", size(cost.payoff_bytes)),
        ("memory", f"{size(cost.memory_bytes)}, {_verdict(streamed, job.solve.memory)}"),
        _process(cost.process_bytes - (streamed or 0)),
        *_disk(job, cost),
        *_time(cost.seconds_per_sweep),
    ]
    return data, rows


def _guessed(job: Job, least: Bounds) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Lower bounds ``least`` on the cost of a job too large to be counted, as a JSON object and as table rows."""
    from spewy.game.count import MAX_NODES
    from spewy.job.texts import parse_memory
    from spewy.run.walked_cost import WalkedCost

    budget, tree = parse_memory(job.solve.memory), job.tree_count
    data = dict.fromkeys(field.name for field in fields(WalkedCost))
    data |= {"budget_bytes": budget, "fits": False, "streamed_bytes": None}
    names = job.rules.round_names[job.tree_config.start_round :]
    rows = [
        (name, f"at least {count(boards, 'board')}, {count(chunks, 'chunk')}")
        for name, boards, chunks in zip(names, least.boards, least.chunks, strict=True)
    ]
    nodes = f"{tree.nodes:,}" if tree.complete else f"MORE THAN the {MAX_NODES:,} that are built"
    least_memory = f"at least {size(least.memory_bytes)}"
    over = least.memory_bytes > budget
    rows += [
        ("betting nodes", nodes),
        ("memory", f"{least_memory}, {_verdict(None, job.solve.memory)}" if over else least_memory),
    ]
    return data, rows


def _cut_rows(cuts: Sequence[Cut]) -> list[tuple[str, str]]:
    """Table rows with changes that save memory, and the memory with each."""
    return [("" if number else "smaller", str(cut)) for number, cut in enumerate(cuts)]


def _plan(job: Job) -> WalkedPlan:
    """Make the plan of a job, with a progress bar on a terminal."""
    from spewy.run.walked_plan import WalkedPlan

    with Bar("laying out boards") as bar:
        boards = itertools.count(1)
        return WalkedPlan.counted(job, streaming=True, progress=lambda _: bar.show(f"{next(boards):,}"))


def _pace(cost: SampledCost) -> tuple[str, str]:
    """Table row with the speed of a solve with board buckets."""
    return "deals", f"roughly {1 / cost.seconds_per_deal:,.0f} per second and core"


def _verdict(streamed: int | None, allowed: str) -> str:
    """Say whether a job fits its memory.

    Args:
        streamed: bytes that stream from disk; None: the job does not fit.
        allowed: the memory that the job allows.
    """
    if streamed is None:
        return f"MORE THAN the {allowed} allowed"
    if streamed:
        return f"of which the last round's {size(streamed)} stream from disk, within the {allowed} allowed"
    return f"within the {allowed} allowed"
