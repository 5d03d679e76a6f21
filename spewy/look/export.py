"""Export the decisions of a solve or of a batch to a table file.

The export has a row for each hand, with its reach, strategy, EV and equity. For a whole game with board buckets this
needs a board; without one, the export has the strategy of each hand row in each board bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solvers.tree import Floats
from spewy.errors import InputError, path_text
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Node
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
        wide: whether to export one row for each hand, with columns for each action; otherwise one row for each hand and
            action.
    """

    line: str | None = None
    board: str | None = None
    round_name: str | None = None
    player: int | None = None
    wide: bool = False


class Export(Closing):
    """Decisions of one or more solutions, ready to be exported; `close` closes the solutions."""

    def __init__(self, parts: Sequence[_Decisions]) -> None:
        self._parts = tuple(parts)

    @classmethod
    def open(
        cls, folder: str | Path, query: Query, target: str | None = None, note: Note | None = None
    ) -> Self:
        """Open the folder of a solve, a copied strategy locker, or the folder of a batch.

        ``target`` is the accuracy to which dropped chunks are re-solved, and ``note`` is called with a line of text
        about each re-solve, as in `spewy.Solution.open`.
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
                selection = solution.select(query.line, query.board, query.round_name, query.player)
                by_bucket = solution.job.sampled and query.board is None
                parts.append((_Buckets if by_bucket else _Decisions)(solution, selection, query.wide))
                if by_bucket and len(folders) > 1:
                    raise InputError(
                        f"folder {path_text(folder)}: expected spots, found whole games with [boards]"
                    )
            opened.pop_all()
        return cls(parts)

    @property
    def n_frames(self) -> int:
        return sum(part.n_frames for part in self._parts)

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self._parts)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the data frames to export, one for each decision and board, or for each board bucket and round."""
        actions = tuple(dict.fromkeys(a for part in self._parts for a in part.selection.actions))
        for part in self._parts:
            yield from part.frames(actions)

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
        for part in self._parts:
            part.solution.close()


@dataclass(frozen=True)
class _Decisions:
    solution: Solution
    selection: Selection
    wide: bool

    @property
    def n_frames(self) -> int:
        return len(self.selection)

    @property
    def n_rows(self) -> int:
        return self.selection.n_rows(wide=self.wide)

    def frames(self, actions: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield the data frames; wide ones have columns for ``actions``, the labels at all exported decisions."""
        for view in self.solution.views(self.selection):
            yield view.wide_frame(actions) if self.wide else view.frame()


class _Buckets(_Decisions):
    @property
    def n_frames(self) -> int:
        return sum(self._policy.strategies.saved.board_buckets[t] for t in self.selection.chunks)

    @property
    def n_rows(self) -> int:
        saved, total = self._policy.strategies.saved, 0
        for t, chunks in self.selection.chunks.items():
            cells = sum(1 if self.wide else len(node.actions) for chunk in chunks for node in chunk)
            total += saved.board_buckets[t] * saved.rows[t] * cells
        return total

    def frames(self, actions: Sequence[str]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for t, chunks in self.selection.chunks.items():
            nodes = [node for chunk in chunks for node in chunk]
            for bucket in range(self._policy.strategies.saved.board_buckets[t]):
                parts = []
                for p in (0, 1):
                    acting = [node for node in nodes if node.player == p]
                    if acting:
                        tables = self._policy.bucket_frequencies(t, bucket, [node.line for node in acting])
                        for node, table in zip(acting, tables, strict=True):
                            head = {"round": ROUND_NAMES[t], "board_bucket": bucket}
                            parts.append(pd.DataFrame(head | self._columns(node, table, actions)))
                yield pd.concat(parts, ignore_index=True)

    @property
    def _policy(self) -> BucketPolicy:
        policy = self.solution.reads.policy
        assert isinstance(policy, BucketPolicy)
        return policy

    def _columns(self, node: Node, table: Floats, actions: Sequence[str]) -> dict[str, Any]:
        """Make the columns of a decision from its frequencies ``[action, hand row]``."""
        n_actions, n_rows = table.shape
        labels = [action.label for action in node.actions]
        head = {"line": self.solution.job.amounts.line_text(node.line), "player": node.player}
        if not self.wide:
            return head | {
                "hand_bucket": np.repeat(np.arange(n_rows), n_actions),
                "action": np.tile(np.array(labels, dtype=object), n_rows),
                "frequency": table.T.ravel(),
            }
        taken, nothing = dict(zip(labels, table, strict=True)), np.full(n_rows, np.nan)
        shares = {f"frequency_{action}": taken.get(action, nothing) for action in actions}
        return head | {"hand_bucket": np.arange(n_rows)} | shares


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
