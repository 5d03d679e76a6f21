"""Report one line over several boards: frequencies, EVs and equities of both ranges on each board and on average.

The weight of board f is ``n_f W_f / Σ_f n_f W_f``, here and in a comparison of batches (`spewy.look.compare_boards`).
Here ``n_f`` is the number of boards that f stands for: it is in the file of weights
(`spewy.look.boards.WEIGHTS_FILE`), or else it is the number of boards that equal f up to suits. ``W_f`` is the weight
of all pairs of hands with which both players reach the decision on f, as in `spewy.look.report`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from buckets.cards import cards_name, permute_cards, suit_permutations
from spewy.errors import InputError, NotSolvedError, path_text
from spewy.job.job import Job
from spewy.look.boards import BoardFolders, find_boards
from spewy.look.chunk import NodeTotals
from spewy.look.dropped import Note
from spewy.look.report import BoardSolve, CardRow, Report, average, line_totals
from spewy.look.solution import Solution

MUST_AGREE = ("unit", "game", "pot", "stack", "oop", "ip", "rake", "bets", "tree")
"""Keys of the job file that must be equal in all solves of a report."""


def report_boards(
    paths: Sequence[str | Path],
    line: str = "",
    target: str | None = None,
    note: Note = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Report one line over solves of several boards.

    The report leaves out folders that hold no saved strategy yet, and names them.

    Args:
        paths: folders of solves, or folders that contain them.
        line: line of a decision in the first round; or a line with one deal, and then a board's row in the report is
            the mean over all cards of the deal.
        target: accuracy to which dropped rounds are re-solved; None for the target of each solve's last run.
        note: called with a line of text for each re-solved subgame, and for boards that are missing or not solved yet.
        progress: called with the number of boards that are done, and the number of all boards.

    Raises:
        NotSolvedError: no folder holds a saved strategy yet.
        InputError: a path has no lockers, the line does not exist, a solve is a whole game, two solves differ in more
            than the board, or two solves have the same board.
        lockers.LockerError: lockers are damaged.
    """
    boards = find_boards(paths)
    if boards.missing:
        n, first = len(boards.missing), boards.missing[0]
        note(f"{n} of {len(boards.weights)} boards are missing, such as {first}; the average is without them")
    rows: dict[tuple[int, ...], CardRow] = {}
    jobs: list[Job] = []
    solved: list[Path] = []
    unsolved: list[str] = []
    for done, folder in enumerate(boards.folders, 1):
        try:
            opened = Solution.open(folder, target, note)
        except NotSolvedError:
            if done == len(boards.folders) and not solved:
                raise
            note(f"folder {path_text(folder)}: not solved yet; the average is without it")
            unsolved.append(path_text(folder))
            continue
        with closing(opened) as solution:
            job = solution.job
            solved.append(folder)
            require_same(job, folder, jobs[0] if jobs else job, solved[0])
            cards = tuple(sorted(job.board))
            if cards in rows:
                name = cards_name(job.board)
                raise InputError(
                    f"folder {path_text(folder)}: another folder has the board {name}, too; omit one"
                )
            node, totals = line_totals(solution, line)
            pot, words = solution.problem.pot + sum(node.put_in), solution.words(node)
            weight = board_weight(boards, solution, totals)
            solve = BoardSolve(stands_for(boards, job), solution.sweeps, solution.checked_pct)
            rows[cards] = CardRow.of(job.board, weight, totals, pot, solve)
            jobs.append(job)
        if progress is not None:
            progress(done, len(boards.folders))
    weights = shares_of([row.weight for row in rows.values()])
    shares = tuple(row.weighing(weight) for row, weight in zip(rows.values(), weights, strict=True))
    actions = tuple(action.label for action in node.actions)
    mean = average(shares, pot)
    report = Report(
        node.line,
        (),
        node.player,
        actions,
        pot,
        shares,
        mean,
        by="board",
        words=words,
        not_solved=tuple(unsolved),
    )
    return report.in_unit(jobs[0].amounts)


def board_weight(boards: BoardFolders, solution: Solution, totals: NodeTotals) -> float:
    """Return the weight of a board, ``n_f W_f``, at the decision of ``totals``."""
    return stands_for(boards, solution.job) * totals.weight * _unit(solution)


def shares_of(weights: Sequence[float]) -> list[float]:
    """Divide weights by their sum; NaN if the sum is 0."""
    total = sum(weights)
    return [weight / total if total > 0 else np.nan for weight in weights]


def stands_for(boards: BoardFolders, job: Job) -> float:
    """Return the number of boards that the board of a job represents in a batch."""
    return boards.weights.get(tuple(sorted(job.board))) or alike_boards(job)


def alike_boards(job: Job) -> int:
    """Count the boards that equal the board of a job up to suits, including the board itself."""
    perms = suit_permutations(job.rules.deck)
    return len({tuple(sorted(permute_cards(job.board, perm).tolist())) for perm in perms})


def _unit(solution: Solution) -> float:
    """Return the weight of a pair of hands in the job file's ranges, divided by the pair's weight in the solve."""
    problem = solution.problem
    if problem.units is None:
        return 1.0
    positive = (units[weights > 0] for units, weights in zip(problem.units, problem.ranges, strict=True))
    # The minimum, since only hands that no opposing hand is compatible with have larger factors.
    return float(np.prod([units.min() for units in positive]))


def require_same(job: Job, folder: Path, first_job: Job, first: Path) -> None:
    """Check that two solves of a batch differ in their boards alone.

    Args:
        job: job of a solve.
        folder: folder of this solve.
        first_job: job of another solve of the batch.
        first: folder of that solve.

    Raises:
        InputError: a job is a whole game, or the jobs differ in one of `MUST_AGREE`.
    """
    if job.spot is None:
        raise InputError(
            f"folder {path_text(folder)}: expected a spot, which has a board, found a whole game"
        )
    for name in MUST_AGREE:
        if _part(job, name) != _part(first_job, name):
            raise InputError(
                f"folder {path_text(folder)}: expected the same {name} as in {path_text(first)}, found another"
            )


def _part(job: Job, name: str) -> object:
    return getattr(job.spot, name) if hasattr(job.spot, name) else getattr(job, name)
