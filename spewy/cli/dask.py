"""``--dask``: commands whose work is done by a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from spewy.cli.options import Decorated
from spewy.cli.progress import say

if TYPE_CHECKING:
    from spewy.system.cluster import Cluster


def dask_option(function: Decorated) -> Decorated:
    """``--dask``, the cluster that works in place of processes here."""
    return click.option(
        "--dask",
        "address",
        metavar="ADDRESS",
        help="In place of processes here, the workers of a Dask cluster work, whose scheduler is at this address, "
        "such as tcp://10.0.0.1:8786. No folder is shared.",
    )(function)


@contextmanager
def on_cluster(
    address: str | None, processes: int | None, option: str = "--workers"
) -> Iterator[Cluster | None]:
    """Reach the cluster that was asked for; None where there was none.

    Args:
        address: of its scheduler.
        processes: that were asked for here.
        option: which asks for them.

    Raises:
        click.UsageError: processes were asked for, too.
    """
    if address is None:
        yield None
        return
    if processes is not None:
        raise click.UsageError(f"--dask: expected no {option} beside it, found both")
    from spewy.system.cluster import Cluster

    with Cluster(address, 0, say) as cluster:
        yield cluster
