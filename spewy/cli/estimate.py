"""``spewy estimate``: what a job will cost, before it starts."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from spewy.cli.options import job_argument, json_option, set_option, verbose_option
from spewy.cli.tables import count, facts, json_text, size


@click.command()
@job_argument
@set_option
@json_option
@verbose_option
def estimate(job_file: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Count a job's boards, chunks and information sets, and estimate its memory and disk.

    \b
    Examples:
      spewy estimate examples/T1.toml
      spewy estimate examples/T1.toml --set solve.precision=single --set rows.river=40

    \b
    --json prints one object:
      name, rounds [...], boards [...], chunks [...], short_boards [...] (by round from the root's;
      short: fewer kinds of hands than rows asked for), information_sets,
      state_bytes, table_bytes, payoff_bytes, memory_bytes (beside interpreter and libraries), disk_bytes,
      budget_bytes (solve.memory), fits, streamed_bytes (in a file instead of memory; null: does not fit)
    """  # noqa: D301
    from spewy.job import Job, parse_memory

    job = Job.load(job_file, overrides)
    from spewy.solve.session import job_estimate, lay_out, streamed_bytes  # which load Numba

    problem = job.problem()
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(desc="laying out boards", unit=" boards", leave=False) as bar:

            def advance(_: int) -> None:
                bar.update()

            layout = lay_out(job, advance)
    else:
        layout = lay_out(job)
    cost = job_estimate(job, layout)
    budget = parse_memory(job.solve.memory)
    streamed = streamed_bytes(job, layout, cost)
    fits = streamed is not None
    rounds = problem.game.round_names[problem.first_round :][: layout.n_rounds]
    if as_json:
        found = {"name": job.name, "rounds": rounds, **asdict(cost), "budget_bytes": budget, "fits": fits}
        found["streamed_bytes"] = streamed
        click.echo(json_text(found))
        return
    rows = [("job", f"{job.name}, {'live' if job.live else 'stored'} leaves")]
    for name, boards, chunks, short in zip(rounds, cost.boards, cost.chunks, cost.short_boards, strict=True):
        fewer = f"; {short:,} with fewer kinds of hands than the rows asked for" if short else ""
        rows.append((name, f"{count(boards, 'board')}, {count(chunks, 'chunk')}{fewer}"))
    rows += [
        ("information sets", f"{cost.information_sets:,}"),
        ("state", size(cost.state_bytes)),
        ("tables", size(cost.table_bytes)),
        ("payoffs", size(cost.payoff_bytes)),
        (
            "memory",
            f"{size(cost.memory_bytes)}, {_verdict(streamed, job.solve.memory)}",
        ),
        ("disk", size(cost.disk_bytes)),
    ]
    click.echo(facts(rows))


def _verdict(streamed: int | None, allowed: str) -> str:
    if streamed is None:
        return f"MORE THAN the {allowed} allowed"
    if streamed:
        return f"of which the last round's {size(streamed)} stream from disk, within the {allowed} allowed"
    return f"within the {allowed} allowed"
