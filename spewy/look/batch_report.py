"""Report a line over the boards of a batch for a web page.

The page shows the actions before and after the line in the betting tree, and a row for each board with frequencies,
EVs and equities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spewy.errors import InputError
from spewy.game.lines import action_words, read_line
from spewy.game.nodes import Line, Node, entry_line, line_as_written, path_to
from spewy.look.board_report import report_boards
from spewy.look.colours import action_colours, hex_colour
from spewy.look.runouts import report_json
from spewy.look.solution import Solution


def batch_place(solution: Solution, line: str = "") -> dict[str, Any]:
    """Describe a line in the betting tree of a batch, as a JSON object.

    Args:
        solution: the solve of one of the boards.
        line: betting since the root; if it ends the first round, the result describes the decision after the next card.

    Returns:
        ``line`` and ``words`` of the node after the line, its ``kind``, and the ``player`` who acts; ``path``, the
        decisions before the node, each with its ``line``, its ``player`` and the words of the action that was
        ``taken``; ``steps``, the actions that can follow, each with its ``name``, ``words``, ``line``, ``colour`` and
        ``kind``; and ``deals``, whether the node comes after a deal, so that a report takes the mean over all cards.

    Raises:
        InputError: the line does not exist, or goes beyond the second round.
    """
    problem, unit = solution.problem, solution.job.amounts
    written = read_line(problem.tree, line)
    node = problem.tree.alone(written)
    if node.kind == "chance" and node.round == problem.first_round:
        node = problem.tree.alone(f"{written}/")
    if node.round > problem.first_round + 1:
        raise InputError(
            f"line {line_as_written(written)!r}: expected a line of the first two rounds, found a later round"
        )
    return {
        "line": unit.line_text(Line(node.line)),
        "words": solution.words(node),
        "kind": node.kind,
        "player": node.player,
        "path": list(_path(solution, node)),
        "steps": list(_steps(solution, node)),
        "deals": node.round > problem.first_round,
    }


def batch_report(
    folder: Path, line: str = "", progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Report a line over the boards of a batch, as a JSON object.

    The object has the keys of `spewy.look.runouts.report_json`, and ``notes``, lines of text about missing boards.
    Folders in ``not_solved`` are written without the path.

    Args:
        folder: folder of the batch.
        line: a line of a decision in the first round, or of a decision after the next card.
        progress: called with the number of boards that are done, and the number of all boards.

    Raises:
        NotSolvedError: no board has a saved strategy yet.
        InputError: the line does not exist, or the folder is not that of a batch.
        lockers.LockerError: lockers are damaged.
    """
    notes: list[str] = []
    report = report_boards((folder,), line, note=notes.append, progress=progress)
    found = report_json(report)
    found["not_solved"] = [Path(path).name for path in found["not_solved"]]
    return found | {"notes": [note for note in notes if "missing" in note]}


def _path(solution: Solution, end: Node) -> Iterator[dict[str, Any]]:
    """Yield the decisions before a node as JSON objects, from the root on, each with the action that was taken."""
    root = solution.problem.tree.entered(entry_line(end.line))
    for node, taken in path_to(root, end.line):
        if node.kind == "decision":
            yield {
                "line": solution.job.amounts.line_text(Line(node.line)),
                "player": node.player,
                "taken": action_words(node.actions[taken].label),
            }


def _steps(solution: Solution, node: Node) -> Iterator[dict[str, Any]]:
    """Yield the actions at a node as JSON objects; none if the hand is over."""
    labels = [action.label for action in node.actions]
    for label, child, colour in zip(labels, node.children, action_colours(labels), strict=False):
        yield {
            "name": label,
            "words": action_words(label),
            "line": solution.job.amounts.line_text(Line(child.line)),
            "colour": hex_colour(colour),
            "kind": child.kind,
        }
