"""Solve one job on many boards from Python, and read the solutions."""

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
from spewy.look.board_report import report_boards
from spewy.look.report import Report
from spewy.look.solution import Solution
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BatchResult:
    """Solves of one job on many boards.

    Attributes:
        folder: folder of the boards' folders.
        entries: one entry per board.
        outcomes: how each entry ended.
    """

    folder: Path
    entries: tuple[BatchJob, ...]
    outcomes: tuple[Outcome, ...]

    def frame(self) -> pd.DataFrame:
        """One row per board: ``board``, ``stands_for``, ``error``, and the result of its solve."""
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

    def report(self, line: str = "") -> Report:
        """Report both ranges at a line on every board and on average: see `spewy.look.board_report.report_boards`."""
        return report_boards([self.folder], line)

    def solution(self, board: str) -> Solution:
        """Open the solution of a board, named as in the frame.

        Raises:
            InputError: the batch lacks the board.
            NotSolvedError: nothing was saved for it.
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
    """Solve a spot on many boards; finished boards are only read.

    >>> import spewy
    >>> batch = spewy.solve_batch("examples/F1.toml", ["Ks7h2d", "Qc8d3s"], "results/set")  # doctest: +SKIP
    >>> batch.frame()  # doctest: +SKIP

    Args:
        job: the job, or the path of its file; its own board does not count.
        boards: boards, or the number of weighted flops that stand for all 1,755.
        folder: folder of the boards' folders, which may not exist yet.
        jobs: number of solves at once; None for as many as cores and memory hold.
        reporter: hears how the batch goes.

    Raises:
        InputError: the job is a whole game, a board is wrong, or a solve needs more memory than ``solve.memory``.
        lockers.LockerError: a folder holds another job, or is damaged.
    """
    path = as_path(folder, "folder")
    batch = Batch.of_boards(job if isinstance(job, Job) else Job.load(job), boards, path)
    outcomes = run_batch(batch, _Silent() if reporter is None else reporter, jobs)
    batch.write_weights()
    return BatchResult(path, batch.entries, outcomes)


class _Silent:
    """A `BatchReporter` that ignores everything."""

    def laid_out(self, done: int, total: int) -> None:
        """Ignore the number of jobs whose cost is known."""

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Ignore the cost."""

    def started(self, number: int) -> None:
        """Ignore a start."""

    def check(self, number: int, check: News) -> None:
        """Ignore a check."""

    def ended(self, number: int, outcome: Outcome) -> None:
        """Ignore an end."""

    def stopping(self) -> None:
        """Ignore an interruption."""

    def end(self) -> None:
        """Ignore the end of the batch."""
