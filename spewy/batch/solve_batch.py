"""Solves one job on many boards from Python, and reads the solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spewy.batch.batch import Batch, BatchJob, Outcome
from spewy.batch.run import BatchCost, BatchReporter, run_batch
from spewy.batch.work import News
from spewy.errors import InputError, shown
from spewy.job.job import Job
from spewy.look.report import Report, report_boards
from spewy.look.solution import Solution
from spewy.system.html import Printed, Table
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class BatchResult(Printed):
    """The solutions of one job on many boards.

    Attributes:
        folder: folder that contains a folder for each board.
        entries: one job for each board.
        outcomes: the result or error of each job.
    """

    folder: Path
    entries: tuple[BatchJob, ...]
    outcomes: tuple[Outcome, ...]

    def frame(self) -> pd.DataFrame:
        """Make a table with a row for each board.

        The columns are ``board``, ``stands_for`` (number of flops that the board represents), ``error``, and the
        results of the solve: ``sweeps``, ``converged``, ``exploitability``, ``exploitability_pct`` (percent of the
        pot), ``ev_oop``, ``ev_ip``, ``equity_oop`` and ``seconds``.
        """
        import pandas as pd

        fields = ("sweeps", "converged", "exploitability", "exploitability_pct")
        rows = []
        for entry, outcome in zip(self.entries, self.outcomes, strict=True):
            row: dict[str, Any] = {
                "board": entry.board,
                "stands_for": entry.stands_for,
                "error": outcome.error,
            }
            row |= {name: getattr(outcome.result, name, None) for name in fields}
            ev, equity = (getattr(outcome.result, name, None) or (None, None) for name in ("ev", "equity"))
            row |= {"ev_oop": ev[0], "ev_ip": ev[1], "equity_oop": equity[0]}
            row["seconds"] = None if outcome.result is None else outcome.result.seconds.get("total")
            rows.append(row)
        return pd.DataFrame(rows)

    def _table(self) -> Table:
        columns = ("board", "sweeps", "exploitability (% of the pot)", "EV of oop", "EV of ip", "error")
        rows = tuple(
            (
                entry.board,
                getattr(outcome.result, "sweeps", None),
                getattr(outcome.result, "exploitability_pct", None),
                *(getattr(outcome.result, "ev", None) or (None, None)),
                outcome.error or "",
            )
            for entry, outcome in zip(self.entries, self.outcomes, strict=True)
        )
        return Table(f"{len(rows):,} boards in {self.folder}", columns, rows)

    def report(self, line: str = "") -> Report:
        """Report both ranges at a betting line on every board and on average, see `report_boards`."""
        return report_boards([self.folder], line)

    def solution(self, board: str) -> Solution:
        """Open the solution of a board.

        Args:
            board: name of the board, as in the column ``board`` of `frame`.

        Raises:
            InputError: the batch lacks the board.
            NotSolvedError: the solve of the board has saved nothing.
        """
        folders = {entry.board: entry.folder for entry in self.entries}
        if board not in folders:
            raise InputError(f"board {shown(board)}: expected one of {', '.join(map(str, folders))}")
        return Solution.open(folders[board])


def solve_batch(
    job: Job | str | Path,
    boards: Sequence[str] | int,
    folder: str | Path,
    *,
    jobs: int | None = None,
    reporter: BatchReporter | None = None,
) -> BatchResult:
    """Solve a spot on many boards; boards that are solved already are not solved again.

    >>> import spewy
    >>> batch = spewy.solve_batch("examples/F1.toml", ["Ks7h2d", "Qc8d3s"], "results/set")  # doctest: +SKIP
    >>> batch.frame()  # doctest: +SKIP

    Args:
        job: the job, or the path of its file; the job's own board is ignored.
        boards: the boards; or the number of weighted flops that represent all 1,755.
        folder: folder for the results, with a folder for each board; created if necessary.
        jobs: number of solves that run at the same time; None for as many as cores and memory allow.
        reporter: receives the progress of the batch; None for no reports.

    Raises:
        InputError: the job is a whole game, a board is invalid, or a solve needs more memory than ``solve.memory``.
        lockers.LockerError: a folder contains another job, or is damaged.
    """
    path = as_path(folder, "folder")
    batch = Batch.of_boards(job if isinstance(job, Job) else Job.load(job), boards, path)
    outcomes = run_batch(batch, _Silent() if reporter is None else reporter, jobs)
    batch.write_weights()
    return BatchResult(path, batch.entries, outcomes)


class _Silent:
    """A `BatchReporter` that reports nothing."""

    def laid_out(self, done: int, total: int) -> None:
        """Ignore the number of jobs for which the cost was estimated."""

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Ignore the estimated cost of the batch."""

    def started(self, number: int) -> None:
        """Ignore that a solve begins."""

    def check(self, number: int, check: News) -> None:
        """Ignore a check of a solve."""

    def ended(self, number: int, outcome: Outcome) -> None:
        """Ignore that a solve has ended."""

    def stopping(self) -> None:
        """Ignore that the user has interrupted the batch."""

    def end(self) -> None:
        """Ignore the end of the batch."""
