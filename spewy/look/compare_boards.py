"""Compare two batches at one decision, board by board and on average over the boards that both have."""

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
        stands_for: number of boards that this board counts as.
        frequencies: ``[solve, action]``, of the range of the player who acts.
        moved: how often the range does something else in B than in A.
        ev: per solve, EV of the player who acts.
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
        line: line of the decision, from both roots.
        player: player who acts.
        actions: labels of all actions.
        rows: boards of both batches, those whose ranges move most first.
        only: names of boards that A alone has, and that B alone has.
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
        """Mean over the boards, weighted by the number of boards that each stands for."""
        weights = np.array([row.stands_for for row in self.rows])
        weights = weights / weights.sum()
        moved = weights @ np.array([row.moved for row in self.rows])
        ev = weights @ np.array([row.ev for row in self.rows])
        frequencies = np.tensordot(weights, np.array([row.frequencies for row in self.rows]), 1)
        total = sum(row.stands_for for row in self.rows)
        return BoardChange((), total, frequencies, float(moved), (float(ev[0]), float(ev[1])))

    def frame(self) -> pd.DataFrame:
        """One row per board."""
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
        """Return the object that ``spewy compare --json`` prints for two batches."""
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
        line: line of the decision.
        target: accuracy of dropped rounds.
        note: called with a line for boards that are left out.
        progress: called with the number of boards that are done, and of all boards.

    Raises:
        InputError: no board is in both batches, or as `spewy.look.compare.compare`.
        lockers.LockerError: lockers are damaged.
    """
    sides = [_by_board(folder, note) for folder in (a, b)]
    both = [board for board in sides[0] if board in sides[1]]
    if not both:
        raise InputError(
            f"folders {path_text(a)} and {path_text(b)}: expected a solved board that both have, found none"
        )
    weights = find_boards([a]).weights
    rows: list[BoardChange] = []
    for done, board in enumerate(both, 1):
        with (
            Solution.open(sides[0][board], target, note) as first,
            Solution.open(sides[1][board], target, note) as second,
        ):
            found = compare(first, second, line)
            stands_for = weights.get(board) or alike_boards(first.job)
            ev = (found.totals[0].ev[found.player], found.totals[1].ev[found.player])
            rows.append(BoardChange(first.job.board, stands_for, found.frequencies, found.range_moved, ev))
            if rows[0].frequencies.shape != found.frequencies.shape:
                raise InputError(
                    f"folder {path_text(a)}: expected the same actions on all boards, found others"
                )
        if progress is not None:
            progress(done, len(both))
    rows.sort(key=lambda row: -row.moved)
    only = tuple(
        tuple(sides[i][board].name for board in sides[i] if board not in sides[1 - i]) for i in (0, 1)
    )
    return BoardsComparison(
        found.line, found.player, found.actions, tuple(rows), (only[0], only[1]), found.unit
    )


def _by_board(folder: Path, note: Note) -> dict[tuple[int, ...], Path]:
    """Folders of a batch's finished solves, by the cards of their boards in ascending order."""
    out = {}
    for each in find_boards([folder]).folders:
        try:
            with Solution.open(each) as solution:
                if solution.job.spot is None:
                    raise InputError(f"folder {path_text(each)}: expected a spot, which has a board")
                out[tuple(sorted(solution.job.board))] = each
        except NotSolvedError:
            note(f"folder {path_text(each)}: not solved yet; the comparison is without it")
    return out


def _row_json(row: BoardChange) -> dict[str, Any]:
    return {
        "stands_for": row.stands_for,
        "frequencies": row.frequencies,
        "moved": row.moved,
        "ev": row.ev,
        "ev_difference": row.ev[1] - row.ev[0],
    }
