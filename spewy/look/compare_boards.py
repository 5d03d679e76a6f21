"""Compare two batches (jobs solved on many boards), A and B, at a decision: on each common board and on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import cards_name
from solvers.tree import Floats
from spewy.errors import InputError, NotSolvedError, path_text
from spewy.look.board_report import alike_boards
from spewy.look.boards import find_boards
from spewy.look.compare import SIDES, Two, compare
from spewy.look.dropped import Note
from spewy.look.solution import Solution

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BoardChange:
    """Comparison of two batches on one board.

    Attributes:
        board: public cards.
        stands_for: number of boards that this board represents.
        frequencies: ``[batch, action]``, share of the acting range that takes each action, in A and in B.
        moved: share of the acting range that plays differently in A and in B.
        ev: EV of the player who acts, in A and in B.
    """

    board: tuple[int, ...]
    stands_for: float
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
        """Mean over the boards, weighted by the number of boards that each represents."""
        weights = np.array([row.stands_for for row in self.rows])
        weights = weights / weights.sum()
        moved = weights @ np.array([row.moved for row in self.rows])
        ev = weights @ np.array([row.ev for row in self.rows])
        frequencies = np.tensordot(weights, np.array([row.frequencies for row in self.rows]), 1)
        total = sum(row.stands_for for row in self.rows)
        return BoardChange((), total, frequencies, float(moved), (float(ev[0]), float(ev[1])))

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each board."""
        import pandas as pd

        columns: dict[str, Any] = {
            "board": [cards_name(row.board) for row in self.rows],
            "stands_for": [row.stands_for for row in self.rows],
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
    sides = [_by_board(folder, note) for folder in (a, b)]
    both = [board for board in sides[0] if board in sides[1]]
    if not both:
        raise InputError(
            f"folders {path_text(a)} and {path_text(b)}: no board is solved in both; compare batches with equal boards"
        )
    weights = find_boards([a]).weights
    rows: list[BoardChange] = []
    for done, board in enumerate(both, 1):
        with (
            Solution.open(sides[0][board], target, note) as first,
            Solution.open(sides[1][board], target, note) as second,
        ):
            comparison = compare(first, second, line)
            stands_for = weights.get(board) or alike_boards(first.job)
            p, frequencies = comparison.player, comparison.frequencies
            ev = (comparison.totals[0].ev[p], comparison.totals[1].ev[p])
            rows.append(BoardChange(first.job.board, stands_for, frequencies, comparison.range_moved, ev))
            if rows[0].frequencies.shape != frequencies.shape:
                raise InputError(
                    f"folder {path_text(a)}: expected the same actions on all boards, found different ones"
                )
        if progress is not None:
            progress(done, len(both))
    rows.sort(key=lambda row: -row.moved)
    only = tuple(
        tuple(sides[i][board].name for board in sides[i] if board not in sides[1 - i]) for i in (0, 1)
    )
    return BoardsComparison(
        comparison.line,
        comparison.player,
        comparison.actions,
        tuple(rows),
        (only[0], only[1]),
        comparison.unit,
    )


def _by_board(folder: Path, note: Note) -> dict[tuple[int, ...], Path]:
    """Find the folders of a batch that hold saved strategies, by the cards of their boards in ascending order.

    Args:
        folder: folder of the batch.
        note: called with a line of text for each folder without saved strategies.
    """
    out = {}
    for solve in find_boards([folder]).folders:
        try:
            with Solution.open(solve) as solution:
                if solution.job.spot is None:
                    raise InputError(f"folder {path_text(solve)}: expected a spot, found a whole game")
                out[tuple(sorted(solution.job.board))] = solve
        except NotSolvedError:
            note(f"folder {path_text(solve)}: not solved yet; the comparison is without it")
    return out


def _row_json(row: BoardChange) -> dict[str, Any]:
    return {
        "stands_for": row.stands_for,
        "frequencies": row.frequencies,
        "moved": row.moved,
        "ev": row.ev,
        "ev_difference": row.ev[1] - row.ev[0],
    }
