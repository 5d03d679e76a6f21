"""Compare two solves for a web page: both grids of hand classes, and differences by hand and by hand class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from buckets.cards import parse_cards
from lockers import open_store
from spewy.chunks.locate import read_cards
from spewy.game.lines import action_words, read_line
from spewy.look.colours import action_colours, hex_colour
from spewy.look.compare import SIDES, Comparison
from spewy.look.folder import strategy_folder
from spewy.look.node import NodeView
from spewy.look.solution import Solution
from spewy.system.tools import plain

MOST_LINES = 12
"""Largest number of lines that are also written in words."""


def side_by_side(a: Solution, b: Solution, line: str = "", board: str | None = None) -> dict[str, Any]:
    """Compare two solves at a decision, as a JSON object.

    Args:
        a: solve A.
        b: solve B.
        line: betting since the root of each solve.
        board: all public cards, the same in A and B. None, or the board of A's root: each solve has the board of its
            own root.

    Returns:
        The keys of ``spewy compare --json``; the ``words`` of the line, the ``unit``, and the ``action_words`` and
        ``colours`` of the actions; ``range_moved``, the share of the range that plays differently; ``order``, the names
        of the hands, the largest difference in EV first; ``line_words``, the lines that differ most, in words;
        ``progress`` of A and of B; and for hold'em ``sides``, with a ``grid`` for each of ``a`` and ``b``, and ``maps``
        of the differences by hand class.

    Raises:
        InputError: the games differ, a solve lacks the line, different players act, or no hand is in both ranges.
    """
    at = None if board is None or set(read_cards("board", "Qs Jh 2h", board)) == set(a.job.board) else board
    comparison = a.compare(b, line, at)
    known = comparison.ev_difference == comparison.ev_difference
    found: dict[str, Any] = plain(comparison.to_json())
    found |= {
        "words": comparison.words,
        "unit": comparison.unit,
        "action_words": [action_words(action) for action in comparison.actions],
        "colours": [hex_colour(colour) for colour in action_colours(comparison.actions)],
        "range_moved": comparison.range_moved,
        "order": [comparison.hands[h] for h in comparison.order("ev" if known.any() else "moved")],
        "line_words": {
            change.line: a.words(a.problem.tree.alone(read_line(a.problem.tree, change.line)))
            for change in comparison.lines[:MOST_LINES]
        },
        "progress": [solution.progress for solution in (a, b)],
    }
    views = [solution.node(line, at, ev=False) for solution in (a, b)]
    return found | (_grids(comparison, views) if views[0].holdem else {})


def comparable_key(folder: Path) -> tuple[object, ...]:
    """Return a key that is equal for solves that can be compared: the game, the unit and the number of public cards.

    Raises:
        lockers.LockerError: the folder holds no lockers, or damaged ones.
    """
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
                "words": [action_words(action) for action in view.actions],
            }
            for side, view in zip(SIDES, views, strict=True)
        },
        "maps": {name: plain(comparison.by_class(values)) for name, values in maps.items()},
    }
