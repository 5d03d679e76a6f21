"""``spewy flops``: print a weighted subset of flops that represents all flops of hold'em."""

from __future__ import annotations

import click

from spewy.cli.options import json_option, verbose_option
from spewy.cli.tables import json_text, render


@click.command()
@click.argument("n", metavar="N", type=int)
@json_option
@verbose_option
def flops(n: int, as_json: bool) -> None:
    """Print flops that represent all 1,755.

    Each of the N flops has a weight: how many of all 22,100 flops it represents.

    A batch with boards = { subset = N } solves these flops. Their weighted averages come close to the averages over all
    flops (docs/how-to/reports.md says how close). The same N gives the same flops on every machine.

    \b
    Examples:
      spewy flops 25
      spewy flops 184 --json

    \b
    --json prints one object:
      {"flops": {"AsKd2c": 24, ..}}, flops with their weights in the order of the table
    """  # noqa: D301
    from buckets.abstraction import flop_subset

    subset = flop_subset(n)
    named = subset.named()
    if as_json:
        click.echo(json_text({"flops": named}))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("flop", no_wrap=True)
    for name in ("stands for", "weight"):
        table.add_column(name, justify="right", no_wrap=True)
    total = sum(named.values())
    for name, stands_for in named.items():
        table.add_row(name, f"{stands_for:,}", f"{100 * stands_for / total:.2f}%")
    click.echo(render(table))
