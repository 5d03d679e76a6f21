"""Export the decisions of a solve or of a batch to a table file.

The export has a row for each hand, with its reach, strategy, EV and equity. For a whole game with board buckets this
needs a board; without one, the export has the strategy of each hand row in each board bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from spewy.errors import InputError, path_text
from spewy.game.names import ROUND_NAMES
from spewy.look.dropped import Note
from spewy.look.folder import batch_folders, board_folder
from spewy.look.selection import Selection
from spewy.look.solution import Solution
from spewy.look.table_files import require_rows, write_table
from spewy.records.policy import BucketPolicy
from spewy.system.tools import Closing

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE = 200_000
"""Smallest number of rows that are written at once, since small writes are slow and bad for Parquet files."""


@dataclass(frozen=True)
class Query:
    """Conditions for the decisions to export, and the form of the table; a condition that is None selects everything.

    Attributes:
        line: line of the decision.
        board: all public cards.
        round_name: name of the round.
        player: player who acts.
        wide: whether to export one row for each hand, with columns for each action; otherwise one row for each hand and
            action.
    """

    line: str | None = None
    board: str | None = None
    round_name: str | None = None
    player: int | None = None
    wide: bool = False

    def select(self, solution: Solution, board: str | None) -> Selection:
        """Select the decisions of a solution that fulfil the conditions, on ``board``; None for all boards."""
        return solution.select(self.line, board, self.round_name, self.player)


class Export(Closing):
    """Decisions of one or more solutions, ready to be exported.

    Args:
        parts: pairs of a solution and the decisions to export from it; `close` closes the solutions.
        query: conditions that selected the decisions, and the form of the table.
    """

    def __init__(self, parts: Sequence[tuple[Solution, Selection]], query: Query) -> None:
        self._parts, self._query = tuple(parts), query

    @classmethod
    def open(
        cls, folder: str | Path, query: Query, target: str | None = None, note: Note | None = None
    ) -> Self:
        """Open the folder of a solve, a copied strategy locker, or the folder of a batch.

        ``target`` and ``note`` are those of `spewy.Solution.open`.
        """
        batch = batch_folders(folder)
        if batch is None:
            folders: tuple[str | Path, ...] = (folder,)
        elif query.board is None:
            folders = batch.folders
        else:
            folders = (board_folder(folder, query.board),)
        with ExitStack() as opened:
            parts = []
            for path in folders:
                solution = opened.enter_context(Solution.open(path, target, note))
                parts.append((solution, query.select(solution, query.board)))
            if len(parts) > 1 and any(solution.job.sampled for solution, _ in parts):
                raise InputError(
                    f"folder {path_text(folder)}: expected spots, found whole games with [boards]"
                )
            opened.pop_all()
        return cls(parts, query)

    @property
    def n_frames(self) -> int:
        return sum(
            _n_buckets(solution, selection) if self._by_bucket(solution) else len(selection)
            for solution, selection in self._parts
        )

    @property
    def n_rows(self) -> int:
        return sum(
            _n_bucket_rows(solution, selection, self._query.wide)
            if self._by_bucket(solution)
            else selection.n_rows(wide=self._query.wide)
            for solution, selection in self._parts
        )

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the data frames to export, one for each decision and board, or for each board bucket and round."""
        actions = tuple(dict.fromkeys(a for _, selection in self._parts for a in selection.actions))
        for solution, selection in self._parts:
            if self._by_bucket(solution):
                yield from _bucket_frames(solution, selection, actions if self._query.wide else None)
                continue
            for view in solution.views(selection):
                yield view.wide_frame(actions) if self._query.wide else view.frame()

    def write(
        self,
        file: Path,
        suffix: str,
        progress: Callable[[], None] = lambda: None,
        digits: int | None = None,
    ) -> int:
        """Write all data frames to one file by `write_table`, and return the number of rows.

        ``progress`` is called after each data frame.
        """
        if suffix == ".xlsx":
            require_rows(self.n_rows)

        def counted() -> Iterator[pd.DataFrame]:
            for frame in self.frames():
                yield frame
                progress()

        return write_table(file, suffix, _joined(counted()), digits)

    def close(self) -> None:
        for solution, _ in self._parts:
            solution.close()

    def _by_bucket(self, solution: Solution) -> bool:
        return solution.job.sampled and self._query.board is None


def _bucket_frames(
    solution: Solution, selection: Selection, wide: Sequence[str] | None
) -> Iterator[pd.DataFrame]:
    """Yield a data frame for each round and board bucket, with the strategies of its hand rows.

    The actions in ``wide`` get columns; without it, each action gets a row of its own.
    """
    import pandas as pd

    policy = solution.reads.policy
    assert isinstance(policy, BucketPolicy)
    for t, chunks in selection.chunks.items():
        nodes = [node for chunk in chunks for node in chunk]
        for bucket in range(policy.strategies.saved.board_buckets[t]):
            parts = []
            for p in (0, 1):
                acting = [node for node in nodes if node.player == p]
                if not acting:
                    continue
                tables = policy.bucket_frequencies(t, bucket, [node.line for node in acting])
                for node, table in zip(acting, tables, strict=True):
                    n_actions, n_rows = table.shape
                    labels = [action.label for action in node.actions]
                    line = solution.job.amounts.line_text(node.line)
                    head = {"round": ROUND_NAMES[t], "board_bucket": bucket, "line": line, "player": p}
                    if wide is None:
                        columns = {
                            "hand_bucket": np.repeat(np.arange(n_rows), n_actions),
                            "action": np.tile(np.array(labels, dtype=object), n_rows),
                            "frequency": table.T.ravel(),
                        }
                    else:
                        taken = dict(zip(labels, table, strict=True))
                        nothing = np.full(n_rows, np.nan)
                        columns = {"hand_bucket": np.arange(n_rows)}
                        columns |= {f"frequency_{action}": taken.get(action, nothing) for action in wide}
                    parts.append(pd.DataFrame(head | columns))
            yield pd.concat(parts, ignore_index=True)


def _n_buckets(solution: Solution, selection: Selection) -> int:
    policy = solution.reads.policy
    assert isinstance(policy, BucketPolicy)
    return sum(policy.strategies.saved.board_buckets[t] for t in selection.chunks)


def _n_bucket_rows(solution: Solution, selection: Selection, wide: bool) -> int:
    policy = solution.reads.policy
    assert isinstance(policy, BucketPolicy)
    saved, total = policy.strategies.saved, 0
    for t, chunks in selection.chunks.items():
        cells = sum(1 if wide else len(node.actions) for chunk in chunks for node in chunk)
        total += saved.board_buckets[t] * saved.rows[t] * cells
    return total


def _joined(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    waiting: list[pd.DataFrame] = []
    rows = 0
    for frame in frames:
        waiting.append(frame)
        rows += len(frame)
        if rows >= ROWS_AT_ONCE:
            yield pd.concat(waiting, ignore_index=True)
            waiting, rows = [], 0
    if waiting:
        yield pd.concat(waiting, ignore_index=True)
