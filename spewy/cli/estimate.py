"""``spewy estimate``: estimate the cost of a job before it starts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.options import job_argument, json_option, lock_option, locking, set_option
from spewy.cli.progress import Bar, counting
from spewy.cli.tables import count, duration, facts, json_text, size

if TYPE_CHECKING:
    from spewy.batch.batch import Batch
    from spewy.batch.solve_batch import BatchCost
    from spewy.job.job import Job
    from spewy.run.walked_cost import Bounds, WalkedCost
    from spewy.run.walked_plan import Cut, WalkedPlan

Rows = list[tuple[str, str]]
Estimate = tuple[dict[str, Any], Rows]
"""A cost as the object of ``--json`` and as rows of the printed table."""
SOON = 256 << 20
"""Size in bytes up to which jobs are counted exactly, in a second, even if ``solve.memory`` is smaller."""
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
def estimate(job_file: Path, locks: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> None:
    """Estimate a job's size, memory and time.

    The command counts boards, chunks (one betting round each) and information sets, and estimates memory, disk space
    and time.

    For a job that is far too large, the command prints lower bounds at once, without building anything. For several
    boards (spot.boards) it prints the sums over all boards, and the memory of the largest board. The printed time is
    that of 100 sweeps on one core, after which exploitability is often below 0.5 % of the pot. No time is printed for
    jobs with buckets of hands or with stored leaves (solve.leaves).

    \b
    Examples:
      spewy estimate examples/T1.toml
      spewy estimate flops.toml
      spewy estimate examples/T1.toml --set solve.precision=single --set rows.river=40

    \b
    --json prints one object:
      name, rounds [...], boards [...], chunks [...] (numbers per round, from the round of the root on),
      short_boards [...] (per round: boards with fewer different hands than the job asks rows for), information_sets,
      state_bytes (regrets, strategy sums and predicted regrets),
      table_bytes (betting tree, and tables of hands and boards), payoff_bytes (stored payoff matrices),
      memory_bytes (without interpreter and libraries), process_bytes (with them, if nothing is streamed from disk),
      disk_bytes (after the first save), most_disk_bytes (largest size during later saves),
      kept_bytes (disk space once the job is solved, without the rounds that save.rounds drops),
      variant (of CFR),
      program {variables, constraints, nonzeros, sums} (of the linear program if solve.method = "lp", else null),
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
    from spewy.job.job import Job
    from spewy.job.load import lists_boards

    overrides += locking(locks)
    if lists_boards(job_file, overrides):
        data, rows = _of_boards(job_file, overrides)
    else:
        job = Job.load(job_file, overrides)
        data, rows = _sampled(job) if job.sampled else _walked(job)
    click.echo(json_text(data) if as_json else facts(rows))


def _walked(job: Job) -> Estimate:
    from spewy.run.quick import lean
    from spewy.run.walked_cost import lower_bounds  # this import loads Numba
    from spewy.run.walked_plan import cuts

    game = lean(job)
    job = game.job
    least, tree = lower_bounds(job), job.tree_count
    data, rows = _seen(job) if _can_be_seen(job, least) else _guessed(job, least)
    needed = data["memory_bytes"] or least.memory_bytes
    smaller = cuts(job, needed) if needed > data["budget_bytes"] or not data["fits"] else ()
    head = {"name": job.name, **job.amounts.key, "rounds": _rounds(job)}
    known = {
        "cuts": [asdict(cut) for cut in smaller],
        "betting_nodes": tree.nodes,
        "betting_counted": tree.complete,
        **{f"least_{name}": value for name, value in asdict(least).items()},
    }
    quick = [("quick", f"{game.bets} on later rounds")] if game.bets else []
    return head | data | known, [*_head(job, str(job.leaves)), *quick, *rows, *_cut_rows(smaller)]


def _head(job: Job, leaves: str) -> Rows:
    unit = job.amounts
    amounts = [("amounts", f"in {unit.name} of {unit.chips} chips")] if unit.key else []
    return [("job", f"{job.name}, {leaves}"), *amounts]


def _rounds(job: Job) -> tuple[str, ...]:
    return job.rules.round_names[job.tree_config.start_round :]


def _can_be_seen(job: Job, least: Bounds) -> bool:
    return job.tree_count.complete and least.memory_bytes <= max(job.solve.memory_bytes, SOON)


def _of_boards(file: Path, overrides: tuple[str, ...]) -> Estimate:
    from spewy.batch.batch import Batch
    from spewy.batch.solve_batch import BatchCost, processes
    from spewy.run.cost import available_memory
    from spewy.run.walked_plan import cuts

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
        "budget_bytes": job.solve.memory_bytes,
        "fits": fits,
        "cuts": [asdict(cut) for cut in smaller],
    }
    same = len(entries) - len(plans)
    alike = f", {same:,} the same as another up to suits" if same else ""
    fit = f"{size(most.cost.memory_bytes)} for the largest, {_verdict(0 if fits else None, job.solve.memory)} for each"
    rows = [
        *_head(job, str(job.leaves)),
        ("boards", f"{len(entries):,}{alike}"),
        ("information sets", f"{cost.information_sets:,}"),
        ("memory", f"{fit}; {size(cost.memory_bytes)} with {cost.at_once:,} at once"),
        *_disk(job, cost),
        *_time(cost.seconds_per_sweep),
        *_cut_rows(smaller),
    ]
    return data, rows


def _board_plans(batch: Batch) -> dict[int, WalkedPlan]:
    from spewy.batch.work import refuse_impossible
    from spewy.run.walked_cost import lower_bounds
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


def _disk(job: Job, cost: WalkedCost | BatchCost) -> Rows:
    rows = [("disk", f"{size(cost.disk_bytes)}, at most {size(cost.most_disk_bytes)} during later saves")]
    if job.first_dropped is not None:
        rows.append(("kept", f"{size(cost.kept_bytes)}, without the rounds after the {job.save.rounds}"))
    return rows


def _process(process_bytes: int) -> tuple[str, str]:
    return "process", f"about {size(process_bytes)} with interpreter and libraries"


def _time(seconds_per_sweep: float | None) -> Rows:
    if seconds_per_sweep is None:
        return []
    return [("time", f"roughly {duration(SWEEPS * seconds_per_sweep)} for {SWEEPS} sweeps on one core")]


def _sampled(job: Job) -> Estimate:
    from spewy.run.sampled_plan import SampledPlan

    plan = SampledPlan.of(job)
    cost, fits, names = plan.cost, plan.refusal is None, job.rules.round_names
    rows = _head(job, "boards dealt")
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
        ("deals", f"roughly {1 / cost.seconds_per_deal:,.0f} per second and core"),
    ]
    if cost.making_seconds:
        rows.append(("before", f"roughly {duration(cost.making_seconds)} for board buckets and rows, once"))
    rounds = {"name": job.name, **job.amounts.key, "rounds": names}
    fit = {
        "budget_bytes": job.solve.memory_bytes,
        "fits": fits,
        "betting_nodes": job.tree_count.nodes,
    }
    return rounds | asdict(cost) | fit, rows


def _seen(job: Job) -> Estimate:
    plan = _plan(job)
    cost, fits = plan.cost, plan.refusal is None
    streamed = plan.memory_plan.streamed_bytes if fits else None
    budget = job.solve.memory_bytes
    data = asdict(cost) | {"budget_bytes": budget, "fits": fits, "streamed_bytes": streamed}
    rows = []
    for name, boards, chunks, short in zip(
        _rounds(job), cost.boards, cost.chunks, cost.short_boards, strict=True
    ):
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


def _guessed(job: Job, least: Bounds) -> Estimate:
    from spewy.game.count import MAX_NODES
    from spewy.run.walked_cost import WalkedCost

    budget, tree = job.solve.memory_bytes, job.tree_count
    data = dict.fromkeys(field.name for field in fields(WalkedCost))
    data |= {"budget_bytes": budget, "fits": False, "streamed_bytes": None}
    rows = [
        (name, f"at least {count(boards, 'board')}, {count(chunks, 'chunk')}")
        for name, boards, chunks in zip(_rounds(job), least.boards, least.chunks, strict=True)
    ]
    nodes = f"{tree.nodes:,}" if tree.complete else f"MORE THAN the {MAX_NODES:,} that are built"
    least_memory = f"at least {size(least.memory_bytes)}"
    over = least.memory_bytes > budget
    rows += [
        ("betting nodes", nodes),
        ("memory", f"{least_memory}, {_verdict(None, job.solve.memory)}" if over else least_memory),
    ]
    return data, rows


def _cut_rows(cuts: Sequence[Cut]) -> Rows:
    return [("" if number else "smaller", str(cut)) for number, cut in enumerate(cuts)]


def _plan(job: Job) -> WalkedPlan:
    from spewy.run.walked_plan import WalkedPlan

    with Bar("laying out boards") as bar:
        boards = itertools.count(1)
        return WalkedPlan.counted(job, streaming=True, progress=lambda _: bar.show(f"{next(boards):,}"))


def _verdict(streamed: int | None, allowed: str) -> str:
    if streamed is None:
        return f"MORE THAN the {allowed} allowed"
    if streamed:
        return f"of which the last round's {size(streamed)} stream from disk, within the {allowed} allowed"
    return f"within the {allowed} allowed"
