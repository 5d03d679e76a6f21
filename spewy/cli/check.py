"""``spewy check``: audit the lockers in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.options import folder_argument, verbose_option
from spewy.cli.tables import visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

UNHEALTHY = 1


@click.command()
@folder_argument
@verbose_option
@click.pass_context
def check(ctx: click.Context, folder: Path) -> None:
    """Check a folder of lockers for damage.

    The audit covers structure, checksums and counters.

    The command prints one line per finding and exits with 1 if there is any. Other processes may use the lockers
    meanwhile. For a whole game with [boards] it also audits the strategy locker, payoff matrices and judged flops.

    \b
    Examples:
      spewy check results/T1
    """  # noqa: D301
    findings = [finding for each in (folder, *_within(folder)) for finding in _audited(each)]
    for finding in findings:
        click.echo(visible_lines(finding))
    if findings:
        ctx.exit(UNHEALTHY)
    click.echo(f"{folder}: healthy")


def _within(folder: Path) -> Iterator[Path]:
    """Yield the folders of lockers inside a folder of lockers."""
    from lockers import holds_store

    yield from filter(holds_store, sorted(folder.glob("*/")))


def _audited(folder: Path) -> list[str]:
    """Return the findings about the lockers of one folder."""
    from lockers import DamagedLockerError, LmdbStore, open_store

    findings = []
    try:
        with open_store(folder, read_only=True):
            pass  # opened before the audit: what is no store at all is bad input
    except DamagedLockerError as error:
        findings.append(str(error))
    with LmdbStore(folder, read_only=True) as store:
        return findings + [finding for finding in store.check() if finding not in findings]
