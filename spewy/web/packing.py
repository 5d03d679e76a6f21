"""Packs the positions of one betting round into compact JSON, which ``static/unpack.js`` reads.

The unpacked positions equal those of `spewy.look.position.position`, with numbers of five significant digits. Hands are
named once for all positions. A table has a column for each quantity, and stores each distinct row once, since many
hands play alike. The hands of a position are compressed, unless the whole file is small without compression.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from buckets.cards import cards_name
from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Line, Node
from spewy.look.chunk import Cards
from spewy.look.position import position, summary
from spewy.look.solution import Solution

MOST_BYTES = 5_000_000
"""Largest size of packed positions."""
PLAIN_BYTES = 2_000_000
"""Size up to which hands are not compressed, so that browsers older than 2023 can read them."""
ENOUGH = 10
"""Number of decisions after whose packing the size of the whole page is estimated."""
DIGITS = 5
SMALLEST = 1e-5
"""Absolute value below which a number is packed as 0."""

Json = Any
Progress = Callable[[int, int], None]
"""Function that is called with the number of packed positions, and the number of all of them."""


def packed(
    solution: Solution, line: str = "", board: str | None = None, progress: Progress | None = None
) -> str:
    """Pack all positions of a round after a line, as the text of a JSON object.

    Args:
        solution: the solution.
        line: betting before the first position, which must be a decision.
        board: all public cards; None for the root's.
        progress: called before the first and after each position, with the number of packed positions and of all.

    Raises:
        InputError: the line does not exist or leads to no decision, the board is impossible after it, or the result
            would be larger than `MOST_BYTES`.
    """
    node, cards = solution.at(line, board)
    if node.kind != "decision":
        raise InputError(
            f"line {shown(line)}: expected a line before a decision, found one before a {node.kind}"
        )
    nodes = list(_of_round(node))
    packing = _Packing(solution, cards, sum(each.kind == "decision" for each in nodes))
    for done, each in enumerate(nodes):
        if progress is not None:
            progress(done, len(nodes))
        packing.add(each)
    if progress is not None:
        progress(len(nodes), len(nodes))
    return _text(
        {
            "summary": summary(solution),
            "root": {"line": packing.first["line"], "board": cards_name(cards)},
            "path": [_absent(stage) for stage in packing.first["path"]],
            "later": _later(node.round, solution.job.rules.num_rounds),
            "hands": list(packing.names.numbers),
            "kinds": packing.names.kinds or None,
            "positions": packing.positions(),
        }
    )


def rounded(value: Json) -> Json:
    """Round all numbers in a JSON value to five significant digits, and tiny ones to 0.

    >>> rounded([0.123456789, {"ev": -98765.4321}, 3.5e-7, None])
    [0.12346, {'ev': -98765}, 0, None]
    """
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return value


class _Packing:
    """Packs the positions of a round on one board.

    Args:
        solution: the solution.
        cards: the public cards.
        decisions: number of all decisions of the round, to estimate the size of the whole.

    Attributes:
        names: gives each name of a hand its number in the file.
        first: the first position, not packed.
    """

    def __init__(self, solution: Solution, cards: Cards, decisions: int) -> None:
        self.names = _Names()
        self.first: dict[str, Json] = {}
        self._solution, self._cards, self._decisions = solution, cards, decisions
        self._positions: dict[str, dict[str, Json]] = {}
        self._plain: dict[str, str] = {}
        self._compressed: dict[str, str] = {}

    def add(self, node: Node) -> None:
        """Pack the position of a node.

        Raises:
            InputError: the positions do not fit into a page.
        """
        found = position(self._solution, Line(node.line), self._cards, deals=False)
        self.first = self.first or found
        kept = {key: value for key, value in found.items() if key not in ("path", "views")}
        for value in (kept, *kept["steps"]):
            value.update({key: rounded(value[key]) for key in ("totals", "frequency") if key in value})
        self._positions[found["line"]] = kept
        if "views" in found:
            text = _text([self.names.view(view) for view in found["views"]])
            self._plain[found["line"]] = text
            self._compressed[found["line"]] = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
            self._require_room()

    def positions(self) -> dict[str, Json]:
        """Return all positions by line, with the hands of decisions as ``views``."""
        if sum(map(len, self._plain.values())) < PLAIN_BYTES:
            views = {line: json.loads(text) for line, text in self._plain.items()}
        else:
            views = dict(self._compressed)
        return {
            line: found | ({"views": views[line]} if line in views else {})
            for line, found in self._positions.items()
        }

    def _require_room(self) -> None:
        """Check that the hands fit into a page.

        Raises:
            InputError: the hands of the decisions so far are larger than `MOST_BYTES`, or the estimated size of all
                decisions is more than twice as large. The message has the estimate.
        """
        size, done = sum(map(len, self._compressed.values())), len(self._compressed)
        estimate = size * self._decisions / done
        if size <= MOST_BYTES and (done < ENOUGH or estimate <= 2 * MOST_BYTES):
            return
        example = next(step["line"] for step in self.first["steps"] if step["kind"] == "decision")
        raise InputError(
            f"the page of {self._decisions:,} decisions would have about {estimate / 1e6:,.0f} MB, and "
            f"{MOST_BYTES / 1e6:.0f} MB are the most; choose the decisions after a line, such as "
            f'--line "{example}", or solve with fewer bet sizes'
        )


class _Names:
    """Gives each name of a hand or hand class a number, in the order in which the names first occur.

    Attributes:
        numbers: number of each name so far.
        kinds: made hand and draws of each hand, as a text, by the hand's number; empty in games without such names.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.kinds: dict[int, str] = {}

    def view(self, view: dict[str, Json]) -> Json:
        """Pack one player's hands at a decision."""
        found = rounded({key: value for key, value in view.items() if key not in ("hands", "kinds", "grid")})
        found["hands"] = self._table(view["hands"])
        if "kinds" in view:
            self.kinds.update(zip(found["hands"]["names"], view["kinds"], strict=True))
        if "grid" in view:
            classes = self._table(view["grid"]["classes"])
            found["grid"] = rounded(view["grid"] | {"classes": None}) | {"classes": classes}
        return found

    def _table(self, rows: dict[str, dict[str, Json]]) -> Json:
        """Pack a table whose rows have names, such as hands; rows with equal numbers are stored once.

        Returns:
            ``names``, the number of each row's name; ``columns``, the numbers of the distinct rows by quantity; and
            ``rows``, for each name the number of its distinct row, or None if all rows are distinct.
        """
        names = [self.numbers.setdefault(name, len(self.numbers)) for name in rows]
        widths = {
            key: len(value) if isinstance(value, list) else None
            for key, value in next(iter(rows.values()), {}).items()
        }
        columns = [[_short(number) for number in column] for column in _columns(rows, widths)]
        distinct: dict[tuple[Json, ...], int] = {}
        numbers = [distinct.setdefault(row, len(distinct)) for row in zip(*columns, strict=True)]
        kept = iter([list(column) for column in zip(*distinct, strict=True)])
        return {
            "names": names,
            "rows": None if len(distinct) == len(names) else numbers,
            "columns": {
                key: next(kept) if width is None else [next(kept) for _ in range(width)]
                for key, width in widths.items()
            },
        }


def _columns(rows: dict[str, dict[str, Json]], widths: dict[str, int | None]) -> Iterator[list[Json]]:
    """Yield the columns of numbers in a table.

    Args:
        rows: for each row of the table, by its name, the value of each quantity: a number or a list of numbers.
        widths: for each quantity the length of its list, which gets as many columns; None: a number, in one column.
    """
    for key, width in widths.items():
        values = [row[key] for row in rows.values()]
        if width is None:
            yield values
        else:
            yield from ([value[i] for value in values] for i in range(width))


def _short(value: float | None) -> float | None:
    """Round a number to five significant digits, and a tiny one to 0."""
    if value is None:
        return None
    short = float(f"{value:.{DIGITS}g}") if abs(value) >= SMALLEST else 0
    return int(short) if short == int(short) else short


def _of_round(node: Node) -> Iterator[Node]:
    """Yield a node and all later nodes of its round, the shortest lines first."""
    queue = deque([node])
    while queue:
        found = queue.popleft()
        yield found
        if found.kind == "decision":
            queue.extend(found.children)


def _absent(stage: dict[str, Json]) -> Json:
    """Return a copy of a decision or deal that is marked as missing from the file, as are its actions or cards.

    The decision or deal comes before the first position of the file. The mark is ``"absent": True``.
    """
    steps = [
        step | {"frequency": rounded(step["frequency"]), "absent": True} for step in stage.get("steps", ())
    ]
    return stage | {"absent": True} | ({"steps": steps} if steps else {})


def _later(t: int, rounds: int) -> str:
    """Return a sentence that says which rounds after round ``t`` are not in the file; empty after the last round."""
    names = ROUND_NAMES[t + 1 : rounds]
    if not names:
        return ""
    return f"The {' and the '.join(names)} {'is' if len(names) == 1 else 'are'} not in this file."


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
