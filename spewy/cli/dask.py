"""The option ``--dask``, which lets a cluster do the work of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from spewy.cli.options import Decorated
from spewy.cli.progress import say


def dask_option(function: Decorated) -> Decorated:
    """Add ``--dask``, the address of a cluster that works instead of processes on this machine."""
    return click.option(
        "--dask",
        "address",
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers do the work instead of processes "
        "on this machine. They need no shared folder.",
    )(function)


@contextmanager
def on_cluster(address: str | None, processes: int | None, option: str = "--workers") -> Iterator[None]:
    """Within the block, run joblib's work on the workers of a cluster.

    Args:
        address: address of the cluster's scheduler; None for processes here.
        processes: number of processes here that the command asks for.
        option: the option that asks for them.

    Raises:
        click.UsageError: the command asks for both.
        InputError: there is no scheduler, or no worker has this version of spewy.
    """
    if address is None:
        yield
        return
    if processes is not None:
        raise click.UsageError(f"--dask: expected no {option} beside it, found both")
    from joblib import parallel_config

    from spewy.system.cluster import Cluster

    with Cluster(address, 0, say) as cluster, parallel_config(backend="dask", client=cluster.client):
        yield
