"""``spewy check``: check the lockers in a folder for damage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.options import folder_argument, verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockers import Store

UNHEALTHY = 1
"""Exit code for damaged or missing lockers."""


@click.command()
@folder_argument
@verbose_option
@click.pass_context
def check(ctx: click.Context, folder: Path) -> None:
    """Check a folder of lockers for damage.

    The check covers the structure, the checksums and the counters of the lockers.

    The command prints a line for each damaged or missing locker, and exits with 1 if there is any. Other processes may
    use the lockers meanwhile. In the folder of a whole game with [boards] it also checks the strategy locker, the
    payoff matrices and the cached results of exploit. In the folder of a batch it checks every board.

    \b
    Examples:
      spewy check results/T1
      spewy check results/srp
    """  # noqa: D301
    from lockers import holds_store, lacks_manifest

    solves = _solves(folder)
    findings = [finding for solve in solves for finding in _findings(solve)]
    for finding in findings:
        click.echo(visible_lines(finding))
    for solve in solves:
        if not (holds_store(solve) or lacks_manifest(solve)):
            say(f"{solve}: has only a strategy locker; a further solve would start from scratch")
    if findings:
        ctx.exit(UNHEALTHY)
    for solve in solves:
        click.echo(visible_lines(f"{solve}: healthy"))


def _solves(folder: Path) -> Sequence[Path]:
    """Return the folders of the solves of a batch; for any other folder the folder itself."""
    from lockers import holds_store, lacks_manifest
    from spewy.records.strategy_locker import FOLDER

    if holds_store(folder) or holds_store(folder / FOLDER) or lacks_manifest(folder):
        return (folder,)
    from spewy.look.folder import (
        batch_folders,  # this import loads kernels
        require_solve,
    )

    batch = batch_folders(folder)
    broken = [child for child in folder.glob("[!.]*/") if lacks_manifest(child)]
    if batch is None:
        if not broken:
            require_solve(folder)
        return sorted(broken) or (folder,)
    if batch.missing:
        say(f"{folder}: not solved yet: {', '.join(batch.missing)}")
    return sorted({*batch.folders, *broken})


def _findings(folder: Path) -> Iterator[str]:
    """Yield what is damaged or missing in the folder of a solve."""
    from lockers import holds_store, lacks_manifest
    from spewy.records.strategy_locker import FOLDER

    if holds_store(folder) or lacks_manifest(folder) or not holds_store(folder / FOLDER):
        yield from _audited(folder, solve=True)
    for inner in sorted(folder.glob("[!.]*/")):
        if holds_store(inner) or lacks_manifest(inner):
            yield from _audited(inner, solve=False)


def _audited(folder: Path, *, solve: bool) -> list[str]:
    """Return what is damaged in the lockers of one folder.

    Args:
        folder: the folder.
        solve: whether the folder is that of a solve, so that a missing strategy locker is reported too.
    """
    from lockers import DamagedLockerError, LmdbStore, open_store

    findings = []
    try:
        with open_store(folder, read_only=True) as store:
            if solve and _lacks_strategies(store, folder):
                findings.append(
                    f"{folder}: the strategy locker is missing, without which nothing can be shown or played; "
                    "`spewy solve` with the same job writes it again, unless the regrets were dropped"
                )
    except DamagedLockerError as error:
        findings.append(str(error))
    with LmdbStore(folder, read_only=True) as store:
        return findings + [finding for finding in store.check() if finding not in findings]


def _lacks_strategies(store: Store, folder: Path) -> bool:
    """Whether a whole game with board buckets was saved in a store, and its strategy locker is gone."""
    from lockers import holds_store
    from spewy.records.progress import saved_sweeps
    from spewy.records.strategy_locker import FOLDER

    job = store.manifest.get("job")
    dealt = isinstance(job, dict) and job.get("boards") is not None
    return dealt and not holds_store(folder / FOLDER) and saved_sweeps(store) > 0
