"""Solve a job and open its solution in one call."""

from __future__ import annotations

from pathlib import Path

from spewy.job.job import Job
from spewy.look.solution import Solution
from spewy.run.reporter import Reporter
from spewy.run.session import Session


def solve(
    job: Job | str | Path, folder: str | Path | None = None, *, reporter: Reporter | None = None
) -> Solution:
    """Solve a job, or continue its solve, until it reaches its target or its last sweep.

    >>> import spewy
    >>> solution = spewy.solve("examples/R1.toml")  # doctest: +SKIP
    >>> solution.result.exploitability_pct  # doctest: +SKIP
    0.09

    Args:
        job: the job, or the path of its file.
        folder: folder for the lockers of the job, which is created if it is missing; None keeps them in memory.
        reporter: object that is told about the progress; None: nobody is told.

    Returns:
        The solution, with the result of the solve in ``solution.result``.

    Raises:
        InputError: the job is invalid or needs too much memory, or the folder is in use or not writable.
        NotSolvedError: the solve was interrupted before its first save.
        lockers.LockerError: the folder holds another job, or is damaged.
    """
    job = job if isinstance(job, Job) else Job.load(job)
    session = Session(job, folder)
    try:
        result = session.solve(reporter)
        solution = Solution(job, session.strategies) if folder is None else None
    except BaseException:
        session.close()
        raise
    if solution is None:
        assert folder is not None
        session.close()
        solution = Solution.open(folder)
    solution.result = result
    return solution
