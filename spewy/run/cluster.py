"""The cluster that a job asks for."""

from __future__ import annotations

from collections.abc import Callable

from spewy.job.sections import DaskSection
from spewy.system.cluster import Cluster


def open_cluster(settings: DaskSection, note: Callable[[str], None]) -> Cluster:
    """Reach a job's cluster, or start one on this machine.

    Args:
        settings: of the job.
        note: hears of workers that come and go.

    Raises:
        MissingError: Dask is not installed.
        InputError: there is no scheduler, or all of its workers are of another version.
    """
    from joblib import cpu_count  # a tenth of a second, which other jobs shall not pay

    return Cluster(settings.address, settings.workers or cpu_count(), note)
