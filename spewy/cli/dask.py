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
        help="In place of --workers: have the workers of a Dask cluster work, whose scheduler is at this address, "
        "such as tcp://10.0.0.1:8786. No folder is shared.",
    )(function)


@contextmanager
def on_cluster(address: str | None, workers: int | None) -> Iterator[Cluster | None]:
    """Reach the cluster that was asked for; None where there was none.

    Raises:
        click.UsageError: there is ``--workers`` beside it.
    """
    if address is None:
        yield None
        return
    if workers is not None:
        raise click.UsageError("--dask: expected no --workers beside it, found both")
    from spewy.system.cluster import Cluster

    with Cluster(address, 0, say) as cluster:
        yield cluster
