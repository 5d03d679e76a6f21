"""Reports over boards: frequencies, EVs and equities of both ranges at one line, board by board and on average.

A board's weight is how many boards it stands for times how likely both players come to the decision on it, given both
ranges: ``weight_f = n_f W_f / Σ_f n_f W_f`` with W as in `spewy.look.report`. Where no file says how many
(`WEIGHTS_FILE` of `spewy.look.boards`), those that are the same up to suits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from buckets.cards import cards_name, permute_cards, suit_permutations
from spewy.errors import InputError, NotSolvedError, path_text
from spewy.job.job import Job
from spewy.look.boards import find_boards
from spewy.look.dropped import Note
from spewy.look.report import BoardSolve, CardRow, Report, average, line_totals
from spewy.look.solution import Solution

MUST_AGREE = ("unit", "game", "pot", "stack", "oop", "ip", "rake", "bets", "tree")
"""Parts of a job that must be the same on all boards of an average."""


def report_boards(
    paths: Sequence[str | Path],
    line: str = "",
    target: str | None = None,
    note: Note = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Report one line over several boards of one game.

    The report leaves out folders that hold no saved strategy yet, and names them.

    Args:
        paths: folders of lockers, or folders of such folders.
        line: a decision of the first round, or a line that a deal of cards follows; then the report is over its cards.
        target: target for rounds that were dropped.
        note: called with a line for each sub-game that is solved, and for boards that are missing or not solved yet.
        progress: called with the number of boards that are done, and of all boards.

    Raises:
        NotSolvedError: no folder holds a saved strategy yet.
        InputError: no lockers, no such line, a whole game, games that differ, or a board twice.
        lockers.LockerError: lockers are damaged.
    """
    found = find_boards(paths)
    if found.missing:
        n, first = len(found.missing), found.missing[0]
        note(f"{n} of {len(found.weights)} boards are missing, such as {first}: the average is without them")
    rows: dict[tuple[int, ...], CardRow] = {}
    jobs: list[Job] = []
    solved: list[Path] = []
    unsolved: list[str] = []
    for done, folder in enumerate(found.folders, 1):
        try:
            opened = Solution.open(folder, target, note)
        except NotSolvedError:
            if done == len(found.folders) and not solved:
                raise
            note(f"folder {path_text(folder)}: not solved yet; the average is without it")
            unsolved.append(path_text(folder))
            continue
        with closing(opened) as solution:
            job = solution.job
            solved.append(folder)
            _require_same(jobs, job, folder, solved[0])
            cards = tuple(sorted(job.board))
            if cards in rows:
                again = cards_name(job.board)
                raise InputError(f"folder {path_text(folder)}: expected another board, found {again} again")
            node, totals = line_totals(solution, line)
            pot, words = solution.problem.pot + sum(node.put_in), solution.words(node)
            stands_for = found.weights.get(cards) or alike_boards(job)
            weight = totals.weight * stands_for * _unit(solution)
            solve = BoardSolve(stands_for, solution.sweeps, solution.checked_pct)
            rows[cards] = CardRow.of(job.board, weight, totals, pot, solve)
            jobs.append(job)
        if progress is not None:
            progress(done, len(found.folders))
    total = sum(row.weight for row in rows.values())
    shares = tuple(row.weighing(row.weight / total if total > 0 else np.nan) for row in rows.values())
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


def alike_boards(job: Job) -> int:
    """Number of boards that equal a job's board up to suits."""
    perms = suit_permutations(job.rules.deck)
    return len({tuple(sorted(permute_cards(job.board, perm).tolist())) for perm in perms})


def _unit(solution: Solution) -> float:
    """Scale by which the solve divided the product of both players' hand weights."""
    problem = solution.problem
    if problem.units is None:
        return 1.0
    held = (units[weights > 0] for units, weights in zip(problem.units, problem.ranges, strict=True))
    return float(np.prod([units.min() for units in held]))  # of a hand that meets nobody it may be larger


def _require_same(jobs: Sequence[Job], job: Job, folder: Path, first: Path) -> None:
    if job.spot is None:
        raise InputError(
            f"folder {path_text(folder)}: expected a spot, which has a board, found a whole game"
        )
    if not jobs:
        return
    for name in MUST_AGREE:
        mine, theirs = _part(job, name), _part(jobs[0], name)
        if mine != theirs:
            raise InputError(
                f"folder {path_text(folder)}: expected the same {name} as in {path_text(first)}, found another"
            )


def _part(job: Job, name: str) -> object:
    return getattr(job.spot, name) if hasattr(job.spot, name) else getattr(job, name)
