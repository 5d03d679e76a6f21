"""The option ``--dask``, with which a cluster does the work of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from spewy.cli.options import Decorated
from spewy.cli.progress import say


def dask_option(function: Decorated) -> Decorated:
    """Add ``--dask``, the address of a cluster whose workers replace the processes on this machine."""
    return click.option(
        "--dask",
        "address",
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786. Its workers then do the work, instead of "
        "processes on this machine; the workers need no shared folder.",
    )(function)


@contextmanager
def on_cluster(address: str | None, processes: int | None, option: str = "--workers") -> Iterator[None]:
    """Run joblib's work on the workers of a cluster while the block lasts.

    Args:
        address: address of the cluster's scheduler; None runs the work in processes on this machine.
        processes: number of processes on this machine that the user asks for; None: the user names no number.
        option: the option with which the user names a number of processes.

    Raises:
        click.UsageError: the user gives both an address and a number of processes.
        InputError: no scheduler answers, or no worker has this version of spewy.
    """
    if address is None:
        yield
        return
    if processes is not None:
        raise click.UsageError(
            f"{option} has no effect with --dask, which uses all workers; remove one of them"
        )
    from joblib import parallel_config

    from spewy.system.cluster import Cluster

    with Cluster(address, 0, say) as cluster, parallel_config(backend="dask", client=cluster.client):
        yield
