"""Compare two batches (jobs solved on many boards), A and B, at a decision: on each common board and on average.

The average of each batch is that of its report (`spewy.look.board_report`) over the common boards. The average of the
share that plays differently weighs a board by the mean of its weights in both batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import cards_name
from lockers import open_store
from solvers.tree import Floats
from spewy.errors import InputError, NotSolvedError, path_text
from spewy.look.board_report import board_weight, shares_of, stands_for
from spewy.look.boards import BoardFolders, find_boards
from spewy.look.compare import SIDES, Comparison, Two, compare
from spewy.look.dropped import Note
from spewy.look.folder import stored_job, strategy_folder
from spewy.look.report import weighted_mean
from spewy.look.solution import Solution

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BoardChange:
    """Comparison of two batches on one board.

    Attributes:
        board: public cards.
        stands_for: number of boards that this board represents in A.
        weight: share of the board in the average of A and in that of B (`spewy.look.board_report`).
        frequencies: ``[batch, action]``, share of the acting range that takes each action, in A and in B.
        moved: share of the acting range that plays differently in A and in B.
        ev: EV of the player who acts, in A and in B.
    """

    board: tuple[int, ...]
    stands_for: float
    weight: Two
    frequencies: Floats
    moved: float
    ev: Two


@dataclass(frozen=True)
class BoardsComparison:
    """Comparison of two batches at one decision.

    Attributes:
        line: betting since the root of each solve.
        player: player who acts.
        actions: labels of all actions.
        rows: comparisons on the boards that both batches have, the largest difference first.
        only: names of boards that only A has, and of those that only B has.
        unit: unit of EVs.
    """

    line: str
    player: int
    actions: tuple[str, ...]
    rows: tuple[BoardChange, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    unit: str

    @property
    def average(self) -> BoardChange:
        """Mean over the boards, weighted by ``weight``."""
        weights = [[row.weight[i] for row in self.rows] for i in (0, 1)]
        both = [(first + second) / 2 for first, second in zip(*weights, strict=True)]
        (moved,) = weighted_mean(both, [[row.moved] for row in self.rows])
        a, b = (
            weighted_mean(weights[i], [[row.ev[i], *row.frequencies[i]] for row in self.rows]) for i in (0, 1)
        )
        stand_for = sum(row.stands_for for row in self.rows)
        total = sum(weights[0]), sum(weights[1])
        return BoardChange(
            (), stand_for, total, np.array([a[1:], b[1:]]), float(moved), (float(a[0]), float(b[0]))
        )

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each board."""
        import pandas as pd

        columns: dict[str, Any] = {
            "board": [cards_name(row.board) for row in self.rows],
            "stands_for": [row.stands_for for row in self.rows],
            **{f"weight_{side}": [row.weight[i] for row in self.rows] for i, side in enumerate(SIDES)},
            "moved": [row.moved for row in self.rows],
        }
        for i, side in enumerate(SIDES):
            columns[f"ev_{side}"] = [row.ev[i] for row in self.rows]
        columns["ev_difference"] = [row.ev[1] - row.ev[0] for row in self.rows]
        for a, action in enumerate(self.actions):
            for i, side in enumerate(SIDES):
                columns[f"frequency_{action}_{side}"] = [row.frequencies[i, a] for row in self.rows]
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as the JSON object that ``spewy compare --json`` prints for two batches."""
        return {
            "line": self.line,
            "player": self.player,
            "actions": self.actions,
            "boards": {cards_name(row.board): _row_json(row) for row in self.rows},
            "average": _row_json(self.average),
            "only": self.only,
        }


def compare_boards(
    a: Path,
    b: Path,
    line: str = "",
    target: str | None = None,
    note: Note = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> BoardsComparison:
    """Compare two batches at a decision, on every board that both have.

    Args:
        a: folder of batch A.
        b: folder of batch B.
        line: betting since the root of each solve.
        target: accuracy to which dropped rounds are re-solved; None for the target of each solve's last run.
        note: called with a line of text for each board that is left out.
        progress: called with the number of boards that are done, and the number of all boards.

    Raises:
        InputError: no board is solved in both batches, or two solves cannot be compared (`spewy.look.compare`).
        lockers.LockerError: lockers are damaged.
    """
    batches = [find_boards([folder]) for folder in (a, b)]
    sides = [{_board_of(folder): folder for folder in batch.folders} for batch in batches]
    common = [board for board in sides[0] if board in sides[1]]
    rows: list[BoardChange] = []
    comparison: Comparison | None = None
    unsolved: set[Path] = set()
    for done, board in enumerate(common, 1):
        with ExitStack() as stack:
            pair = []
            for side in sides:
                try:
                    pair.append(stack.enter_context(Solution.open(side[board], target, note)))
                except NotSolvedError:
                    note(f"folder {path_text(side[board])}: not solved yet; the comparison is without it")
                    unsolved.add(side[board])
            if len(pair) == 2:
                actions = comparison and comparison.actions
                comparison = compare(pair[0], pair[1], line)
                if actions not in (None, comparison.actions):
                    raise InputError(
                        f"folder {path_text(a)}: expected the same actions on all boards, found different ones"
                    )
                rows.append(_row(comparison, batches, pair))
        if progress is not None:
            progress(done, len(common))
    if comparison is None:
        raise InputError(
            f"folders {path_text(a)} and {path_text(b)}: no board is solved in both; compare batches with equal boards"
        )
    shares = zip(*(shares_of([row.weight[i] for row in rows]) for i in (0, 1)), strict=True)
    rows = [replace(row, weight=weight) for row, weight in zip(rows, shares, strict=True)]
    rows.sort(key=lambda row: -row.moved)
    only = [
        tuple(
            folder.name
            for board, folder in own.items()
            if folder not in unsolved and (board not in other or other[board] in unsolved)
        )
        for own, other in (sides, sides[::-1])
    ]
    return BoardsComparison(
        comparison.line,
        comparison.player,
        comparison.actions,
        tuple(rows),
        (only[0], only[1]),
        comparison.unit,
    )


def _board_of(folder: Path) -> tuple[int, ...]:
    """Return the cards of the board in the manifest of a solve, in ascending order.

    Raises:
        InputError: the solve is a whole game.
    """
    with open_store(strategy_folder(folder), read_only=True) as store:
        job = stored_job(store, folder)
    if job.spot is None:
        raise InputError(f"folder {path_text(folder)}: expected a spot, found a whole game")
    return tuple(sorted(job.board))


def _row(comparison: Comparison, batches: Sequence[BoardFolders], pair: Sequence[Solution]) -> BoardChange:
    """Make the row of a board; its weights are not divided by their sums yet."""
    first, second = (
        board_weight(batch, solution, totals)
        for batch, solution, totals in zip(batches, pair, comparison.totals, strict=True)
    )
    a, b = (totals.ev[comparison.player] for totals in comparison.totals)
    return BoardChange(
        pair[0].job.board,
        stands_for(batches[0], pair[0].job),
        (first, second),
        comparison.frequencies,
        comparison.range_moved,
        (a, b),
    )


def _row_json(row: BoardChange) -> dict[str, Any]:
    return {
        "stands_for": row.stands_for,
        "weight": row.weight,
        "frequencies": row.frequencies,
        "moved": row.moved,
        "ev": row.ev,
        "ev_difference": row.ev[1] - row.ev[0],
    }
