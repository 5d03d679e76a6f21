"""Reports over cards and over boards, and comparisons: their JSON, and routes that compute it in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import Response
from starlette.routing import Route

from buckets.cards import cards_name, parse_cards, permute_cards
from lockers import LockerError, open_store
from spewy.chunks.boards import following_deals
from spewy.chunks.locate import read_cards, solved_board
from spewy.errors import InputError, NotSolvedError, shown
from spewy.game.lines import read_line, sized_words
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Line, Node, entry_line, line_as_written, path_to
from spewy.look.colours import action_colours, hex_colour
from spewy.look.compare import SIDES, Comparison
from spewy.look.folder import strategy_folder
from spewy.look.node import NodeView
from spewy.look.report import CardRow, Report, report, report_boards
from spewy.look.solution import Solution
from spewy.look.view import SolveView
from spewy.records.progress import first_dropped
from spewy.system.tools import plain
from spewy.web.answers import Parameters, csv, get, optional, require_package, text
from spewy.web.background import Progress
from spewy.web.folders import Entry, Folders

QUIET = ("check", "call")
"""Kinds of actions that neither raise nor fold."""
MOST_LINES = 12
"""Largest number of lines that are also written in words."""


def report_routes(folders: Folders) -> list[Route]:
    def places(parameters: Parameters) -> dict[str, Any]:
        with folders.solution(text(parameters, "folder")) as solution:
            line, board = text(parameters, "line", ""), optional(parameters, "board")
            return {"places": report_places(solution, line, board)}

    def by_card(parameters: Parameters) -> Any:
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board = optional(parameters, "board")

        def work(progress: Progress) -> tuple[dict[str, Any], Report]:
            with folders.apart(name) as solution:
                found = report(solution, line, board, progress)
                return card_report(solution, found), found

        return folders.computed(("cards", line, board), [name], work)

    def cards(parameters: Parameters) -> Any:
        found = by_card(parameters)
        return found if isinstance(found, Response) else found[0]

    def cards_table(parameters: Parameters) -> Response:
        require_package("pandas", "export")
        found = by_card(parameters)
        return found if isinstance(found, Response) else csv(found[1].frame())

    def place(parameters: Parameters) -> dict[str, Any]:
        return _place(folders, _batch(folders, text(parameters, "folder")), text(parameters, "line", ""))

    def boards(parameters: Parameters) -> Any:
        entry, line = _batch(folders, text(parameters, "folder")), text(parameters, "line", "")

        def work(progress: Progress) -> dict[str, Any]:
            return batch_report(entry.path, line, progress)

        return folders.computed(("boards", line), [entry.id], work)

    def comparable(parameters: Parameters) -> dict[str, Any]:
        return {"solves": _comparable(folders, folders.solve(text(parameters, "folder")))}

    def comparison(parameters: Parameters) -> Any:
        names = text(parameters, "folder"), text(parameters, "with")
        line, board = text(parameters, "line", ""), optional(parameters, "board")

        def work(progress: Progress) -> dict[str, Any]:
            del progress
            with ExitStack() as opened:
                a = opened.enter_context(folders.solution(names[0]))
                # A solve that is compared with itself is opened once, so that pages can look at it meanwhile.
                same = folders.solve(names[0]).path == folders.solve(names[1]).path
                b = a if same else opened.enter_context(folders.solution(names[1]))
                return side_by_side(a, b, line, board)

        return folders.computed(("comparison", line, board), names, work)

    return [
        get("/api/comparable", comparable),
        get("/api/comparison", comparison),
        get("/api/reports", places),
        get("/api/report", cards),
        get("/api/report.csv", cards_table),
        get("/api/boards/place", place),
        get("/api/boards", boards),
    ]


def _batch(folders: Folders, name: str) -> Entry:
    entry = folders.entry(name)
    if entry.kind != "batch":
        raise InputError(f"folder {shown(name)}: expected the folder of a batch, found a single solve")
    return entry


def _comparable(folders: Folders, entry: Entry) -> list[dict[str, Any]]:
    """List the other solves of the same game, with which a solve can be compared.

    Each has its ``id``, and ``batch``, the id of its batch or an empty text. The solves of a batch stand together.
    """
    wanted, entries = comparable_key(entry.path), folders.entries()
    in_batches = {board for other in entries for board in other.boards}
    found: list[dict[str, Any]] = []
    for other in entries:
        solves = other.boards or (() if other.id in in_batches else (other.id,))
        if solves and _fits(folders.entry(solves[0]), wanted):
            batch = other.id if other.kind == "batch" else ""
            found += ({"id": solve, "batch": batch} for solve in solves if solve != entry.id)
    return found


def _fits(entry: Entry, wanted: tuple[object, ...]) -> bool:
    try:
        return comparable_key(entry.path) == wanted
    except LockerError:
        return False


def _place(folders: Folders, entry: Entry, line: str) -> dict[str, Any]:
    """Describe a line on the first solved board of a batch; all boards have the same betting tree."""
    for board in entry.boards:
        try:
            with folders.solution(board) as solution:
                return batch_place(solution, line)
        except NotSolvedError:
            continue
    raise NotSolvedError(
        f"folder {shown(entry.id)}: no board of this batch is solved yet; wait until one has saved"
    )


def report_places(
    solution: SolveView, line: str = "", board: str | Sequence[int] | None = None
) -> list[dict[str, str]]:
    """List the reports over next cards that can be made after a line, as JSON objects.

    The ``id`` is ``"next"`` for the cards that are dealt next, if both players only check and call until the round
    ends, and ``"here"`` for the cards that could have been dealt at the beginning of this round. The other keys are the
    ``line`` of the report and its ``words``, the ``board`` before the deal, and ``slow``, why the report takes minutes;
    it is empty if the report takes seconds.
    """
    place = solution.at(line, board)
    node, cards = place.node, place.cards
    sizes = solution.job.rules.board_sizes
    places: list[tuple[str, Node, int]] = []
    end = _quiet_end(node)
    if end is not None:
        places.append(("next", end, end.round + 1))
    if node.kind == "decision" and node.round > solution.problem.first_round:
        places.append(("here", node, node.round))
    return [
        {
            "id": name,
            "line": solution.job.amounts.line_text(node.line),
            "words": solution.words(node),
            "board": cards_name(cards[: sizes[t - 1]]),
            "slow": _slow(solution, t),
        }
        for name, node, t in places
        if sizes[t] > sizes[t - 1]
    ]


def card_report(solution: SolveView, found: Report) -> dict[str, Any]:
    """Return a report over the cards that can be dealt as a JSON object.

    The object has the keys of `report_json`. If several cards are dealt at once, deals that are equal up to suits share
    one entry in ``cards``, whose ``count`` is the number of these deals.
    """
    several = any(len(row.cards) > 1 for row in found.rows)
    rows = alike(solution, found) if several else ()
    merged = {"cards": {row.name: row.to_json() | {"count": count} for row, count in rows}}
    return report_json(found) | (plain(merged) if several else {})


def report_json(found: Report) -> dict[str, Any]:
    """Return a report as a JSON object.

    It has the keys of ``spewy report --json``, and also the ``words`` of the line, the ``unit``, and the
    ``action_words`` and ``colours`` of the actions.
    """
    plained: dict[str, Any] = plain(found.to_json())
    return plained | {
        "words": found.words,
        "unit": found.unit,
        **_words_and_colours(found.actions),
    }


def _words_and_colours(actions: Sequence[str]) -> dict[str, list[str]]:
    return {
        "action_words": [sized_words(action) for action in actions],
        "colours": [hex_colour(colour) for colour in action_colours(actions)],
    }


def alike(solution: SolveView, found: Report) -> Iterator[tuple[CardRow, int]]:
    """Merge the rows of a report for deals that are equal up to suits, for which the rows are equal.

    Yields:
        For each set of such deals, a row with their total weight, and their number; the highest cards first.
    """
    t = solution.problem.first_round + found.line.count("/") - 1
    history, perm = solved_board(solution.problem, t, found.board)
    rows, back = {row.cards: row for row in found.rows}, np.argsort(perm)
    merged = []
    for _, members in following_deals(solution.problem, t, history):
        deals = [tuple(sorted(permute_cards(cards, back).tolist(), reverse=True)) for cards, _ in members]
        weight = sum(rows[deal].weight for deal in deals)
        merged.append((replace(rows[max(deals)], weight=weight), len(deals)))
    yield from sorted(merged, key=lambda pair: pair[0].cards, reverse=True)


def _slow(solution: SolveView, t: int) -> str:
    """Say why a report over the cards that round t deals takes minutes; an empty text if it takes seconds."""
    first = first_dropped(solution.store)
    if first is not None and t >= first:
        return f"the {ROUND_NAMES[first]} is solved again for each card, since its strategies were not kept"
    if solution.job.rules.num_board_cards[t] > 1:
        return f"every {ROUND_NAMES[t]} is computed"
    return ""


def _quiet_end(node: Node) -> Node | None:
    """Chance node at which checks and calls end the round; None if the hand or the last round ends."""
    while node.kind == "decision":
        node = next(
            child for action, child in zip(node.actions, node.children, strict=True) if action.kind in QUIET
        )
    return node if node.kind == "chance" else None


def batch_place(solution: Solution, line: str = "") -> dict[str, Any]:
    """Describe a line in the betting tree of a batch, as a JSON object; ``solution`` is that of any board.

    After a line that ends the first round, the object describes the decision after the next card.

    Returns:
        ``line`` and ``words`` of the node after the line, its ``kind``, and the ``player`` who acts; ``path``, the
        decisions before the node, each with its ``line``, its ``player``, its ``steps`` and the number of the one that
        was ``taken``; ``steps``, the actions that can follow, each with its ``name``, ``words``, ``line``, ``colour``
        and ``kind``; and ``deals``: whether the node comes after a deal, so that a report takes the mean over cards.
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

    The object has the keys of `report_json`, and ``notes``, lines of text about missing boards. Folders in
    ``not_solved`` are written without the path.
    """
    notes: list[str] = []
    found = report_json(report_boards((folder,), line, note=notes.append, progress=progress))
    found["not_solved"] = [Path(path).name for path in found["not_solved"]]
    return found | {"notes": [note for note in notes if "missing" in note]}


def _path(solution: Solution, end: Node) -> Iterator[dict[str, Any]]:
    root = solution.problem.tree.entered(entry_line(end.line))
    for node, taken in path_to(root, end.line):
        if node.kind == "decision":
            yield {
                "line": solution.job.amounts.line_text(Line(node.line)),
                "player": node.player,
                "kind": "decision",
                "steps": list(_steps(solution, node)),
                "taken": taken,
            }


def _steps(solution: Solution, node: Node) -> Iterator[dict[str, Any]]:
    labels = [action.label for action in node.actions]
    for label, child, colour in zip(labels, node.children, action_colours(labels), strict=False):
        yield {
            "name": label,
            "words": sized_words(label),
            "line": solution.job.amounts.line_text(Line(child.line)),
            "colour": hex_colour(colour),
            "kind": child.kind,
        }


def side_by_side(a: Solution, b: Solution, line: str = "", board: str | None = None) -> dict[str, Any]:
    """Compare two solves at a decision, as a JSON object.

    If ``board`` is None or the board of A's root, each solve is read on the board of its own root.

    Returns:
        The keys of ``spewy compare --json``; the ``words`` of the line, the ``unit``, and the ``action_words`` and
        ``colours`` of the actions; ``range_moved``, the share of the range that plays differently; ``order``, the names
        of the hands, the largest difference in EV first (in strategy, if no EV is known); ``line_words``, the lines
        that differ most, in words; ``progress`` of A and of B; ``start_ev`` of A and of B, the EVs of both players at
        the root, or null; and for hold'em ``sides``, with a ``grid`` for each of ``a`` and ``b``, and ``maps`` of the
        differences by hand class.
    """
    cards = None if board is None else read_cards("board", "Qs Jh 2h", board)
    at = None if cards is None or set(cards) == set(a.job.board) else cards
    comparison = a.compare(b, line, at)
    known = comparison.ev_difference == comparison.ev_difference
    found: dict[str, Any] = plain(comparison.to_json())
    found |= {
        "words": comparison.words,
        "unit": comparison.unit,
        **_words_and_colours(comparison.actions),
        "range_moved": comparison.range_moved,
        "order": [comparison.hands[h] for h in comparison.order("ev" if known.any() else "moved")],
        "line_words": {change.line: a.words(change.place.node) for change in comparison.lines[:MOST_LINES]},
        "progress": [solution.progress for solution in (a, b)],
        "start_ev": plain([_start_ev(solution) for solution in (a, b)]),
    }
    views = [solution.node(line, at, ev=False) for solution in (a, b)]
    return found | (_grids(comparison, views) if views[0].holdem else {})


def _start_ev(solution: Solution) -> Sequence[float] | None:
    try:
        return solution.totals().ev
    except NotSolvedError:
        return None


def comparable_key(folder: Path) -> tuple[object, ...]:
    """Return a key that is equal for solves that can be compared: game, unit and number of public cards."""
    with open_store(strategy_folder(folder), read_only=True) as store:
        job: Any = store.manifest.get("job")
    if not isinstance(job, dict):
        return ()
    spot = job.get("spot")
    cards = parse_cards(spot["board"]) if isinstance(spot, dict) else ()
    return job["game"]["text"], job["unit"], spot is None, len(cards)


def _grids(comparison: Comparison, views: Sequence[NodeView]) -> dict[str, Any]:
    change = comparison.strategy[1] - comparison.strategy[0]
    maps = {"EV": comparison.ev_difference, "moved": comparison.moved}
    maps |= dict(zip(comparison.actions, change, strict=True))
    return {
        "sides": {
            side: {
                "grid": plain(view.grid().to_json()),
                "actions": view.actions,
                "colours": [hex_colour(colour) for colour in action_colours(view.actions)],
                "words": [sized_words(action) for action in view.actions],
            }
            for side, view in zip(SIDES, views, strict=True)
        },
        "maps": {name: plain(comparison.by_class(values)) for name, values in maps.items()},
    }
