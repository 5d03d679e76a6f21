"""Report over next cards for a web page: list the reports that can be made after a line, and return them as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from buckets.cards import cards_name, permute_cards
from spewy.chunks.boards import following_deals
from spewy.chunks.locate import solved_board
from spewy.game.lines import action_words, read_line
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Node
from spewy.look.colours import action_colours, hex_colour
from spewy.look.report import CardRow, Report, report
from spewy.look.view import SolveView
from spewy.records.progress import first_dropped
from spewy.system.tools import plain

QUIET = ("check", "call")
"""Kinds of actions that neither raise nor fold."""


@dataclass(frozen=True)
class ReportPlace:
    """A report over next cards that can be made after a line of a solution.

    Attributes:
        id: ``"next"`` for the cards that are dealt next, if both players only check and call until the round ends;
            ``"here"`` for the cards that could have been dealt at the beginning of this round.
        line: line of the report, in the unit of the job.
        words: the line in words.
        board: public cards before the deal.
        slow: why the report takes minutes, in words; empty if it takes seconds.
    """

    id: str
    line: str
    words: str
    board: str
    slow: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the attributes as a JSON object."""
        return asdict(self)


def report_places(
    solution: SolveView, line: str = "", board: str | Sequence[int] | None = None
) -> tuple[ReportPlace, ...]:
    """List the reports that can be made after a line: over the cards of the next deal, and over those of the last deal.

    Args:
        solution: the solve.
        line: betting since the root of the solve.
        board: all public cards; None for the root's.

    Raises:
        InputError: the line does not exist, or the board is impossible after it.
    """
    node, cards = solution.at(line, board)
    sizes = solution.job.rules.board_sizes
    places: list[tuple[str, Node, int]] = []
    end = _quiet_end(node)
    if end is not None:
        places.append(("next", end, end.round + 1))
    if node.kind == "decision" and node.round > solution.problem.first_round:
        places.append(("here", node, node.round))
    return tuple(
        ReportPlace(
            name,
            solution.job.amounts.line_text(node.line),
            solution.words(node),
            cards_name(cards[: sizes[t - 1]]),
            _slow(solution, t),
        )
        for name, node, t in places
        if sizes[t] > sizes[t - 1]
    )


def card_report(
    solution: SolveView,
    line: str,
    board: str | Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Report both ranges after a line, for every card that can be dealt, as a JSON object.

    The object has the keys of `report_json`. If several cards are dealt at once, deals that are equal up to suits share
    one entry in ``cards``, whose ``count`` is the number of these deals.

    Args:
        solution: the solve.
        line: a line that ends a round, or that leads to a decision in the next round.
        board: public cards before the deal; None for the root's.
        progress: called with the numbers of computed boards and of all boards.

    Raises:
        InputError: the line does not exist or has no deal, or the board is impossible before the deal.
    """
    found = report(solution, line, board, progress)
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
        "action_words": [action_words(action) for action in found.actions],
        "colours": [hex_colour(colour) for colour in action_colours(found.actions)],
    }


def alike(solution: SolveView, found: Report) -> Iterator[tuple[CardRow, int]]:
    """Merge the rows of a report for deals that are equal up to suits.

    Args:
        solution: the solve.
        found: a report over deals, whose rows are equal for deals that are equal up to suits.

    Yields:
        A row with the total weight of such deals, and their number; the highest cards first.
    """
    t = solution.problem.tree.alone(read_line(solution.problem.tree, found.line)).round - 1
    history, perm = solved_board(solution.problem, t, found.board)
    rows, back = {row.cards: row for row in found.rows}, np.argsort(perm)
    merged = []
    for _, members in following_deals(solution.problem, t, history):
        deals = [tuple(sorted(permute_cards(cards, back).tolist(), reverse=True)) for cards, _ in members]
        weight = sum(rows[deal].weight for deal in deals)
        merged.append((rows[max(deals)].weighing(weight), len(deals)))
    yield from sorted(merged, key=lambda pair: pair[0].cards, reverse=True)


def _slow(solution: SolveView, t: int) -> str:
    """Return why a report over the cards that round t deals takes minutes; an empty text if it takes seconds."""
    first = first_dropped(solution.store)
    if first is not None and t >= first:
        return f"the {ROUND_NAMES[first]} is solved again for each card, since its strategies were not kept"
    if solution.job.rules.num_board_cards[t] > 1:
        return f"every {ROUND_NAMES[t]} is computed"
    return ""


def _quiet_end(node: Node) -> Node | None:
    """Return the chance node at which checks and calls end the round; None if the hand or the last round ends."""
    while node.kind == "decision":
        node = next(
            child for action, child in zip(node.actions, node.children, strict=True) if action.kind in QUIET
        )
    return node if node.kind == "chance" else None
