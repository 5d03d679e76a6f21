"""``spewy check``: an audit of the lockers in a folder."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.options import folder_argument, verbose_option

UNHEALTHY = 1


@click.command()
@folder_argument
@verbose_option
@click.pass_context
def check(ctx: click.Context, folder: Path) -> None:
    """Audit a folder of lockers: structure, checksums, counters.

    Prints one line per finding and exits with 1 if there is any. The lockers may be in use meanwhile.

    \b
    Examples:
      spewy check results/T1
    """  # noqa: D301
    from lockers import DamagedLockerError, LmdbStore, open_store

    findings = []
    try:
        with open_store(folder, read_only=True):
            pass  # opened before the audit: what is no store at all is bad input
    except DamagedLockerError as error:
        findings.append(str(error))
    with LmdbStore(folder, read_only=True) as store:
        findings += [finding for finding in store.check() if finding not in findings]
    for finding in findings:
        click.echo(finding)
    if findings:
        ctx.exit(UNHEALTHY)
    click.echo(f"{folder}: healthy")
