"""Packs the positions of one betting round into compact JSON, which ``static/unpack.js`` reads.

The unpacked positions equal those of `spewy.look.position.position`, with numbers of five significant digits. Hands are
named once for all positions. A table has a column for each quantity and each distinct row once, since many hands play
alike. The hands of a position are compressed, unless the whole file is small without.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

from buckets.cards import cards_name
from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Line, Node
from spewy.look.position import position, summary
from spewy.look.solution import Solution

MOST_BYTES = 5_000_000
"""Largest size of packed positions."""
PLAIN_BYTES = 2_000_000
"""Size up to which hands are not compressed, so that browsers older than 2023 can read them."""
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
        progress: called before the first and after each position.

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
    names = _Names()
    plain: dict[str, str] = {}
    small: dict[str, str] = {}
    positions: dict[str, Json] = {}
    first: dict[str, Any] = {}
    for done, each in enumerate(nodes):
        if progress is not None:
            progress(done, len(nodes))
        found = position(solution, Line(each.line), cards, deals=False)
        first = first or found
        name = found["line"]
        positions[name] = {key: value for key, value in found.items() if key not in ("path", "views")}
        for value in (positions[name], *positions[name]["steps"]):
            value.update({key: rounded(value[key]) for key in ("totals", "frequency") if key in value})
        if "views" in found:
            plain[name] = _text([names.view(view) for view in found["views"]])
            small[name] = base64.b64encode(gzip.compress(plain[name].encode(), mtime=0)).decode()
            _require_room(small, sum(each.kind == "decision" for each in nodes), first)
    views = plain if sum(map(len, plain.values())) < PLAIN_BYTES else small
    for name, text in views.items():
        positions[name]["views"] = json.loads(text) if views is plain else text
    if progress is not None:
        progress(len(nodes), len(nodes))
    return _text(
        {
            "summary": summary(solution),
            "root": {"line": first["line"], "board": cards_name(cards)},
            "path": [_absent(stage) for stage in first["path"]],
            "later": _later(node.round, solution.job.rules.num_rounds),
            "hands": list(names.numbers),
            "kinds": names.kinds or None,
            "positions": positions,
        }
    )


def rounded(value: Json) -> Json:
    """Round all numbers in a JSON value to five significant digits, and tiny ones to 0.

    >>> rounded([0.123456789, {"ev": -98765.4321}, 3.5e-7, None])
    [0.12346, {'ev': -98765}, 0, None]
    """
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}") if abs(value) >= SMALLEST else 0
        return int(short) if short == int(short) else short
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return value


class _Names:
    """Numbers of the names of hands and hand classes, in the order in which they first occur.

    Attributes:
        numbers: number by name.
        kinds: made hand and draws by the number of a hand, in games that name them.
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
        """Pack rows by name: ``names``, the number of each one's distinct row, and a column for each quantity."""
        distinct: dict[str, int] = {}
        numbers = [distinct.setdefault(_text(rounded(row)), len(distinct)) for row in rows.values()]
        kept = [json.loads(text) for text in distinct]
        columns = {
            key: [list(column) for column in zip(*(row[key] for row in kept), strict=True)]
            if isinstance(value, list)
            else [row[key] for row in kept]
            for key, value in (kept[0] if kept else {}).items()
        }
        names = [self.numbers.setdefault(name, len(self.numbers)) for name in rows]
        return {"names": names, "rows": None if len(kept) == len(names) else numbers, "columns": columns}


def _of_round(node: Node) -> Iterator[Node]:
    """Yield a node and all later nodes of its round; the deals that end the round are the last of them."""
    yield node
    if node.kind == "decision":
        for child in node.children:
            yield from _of_round(child)


def _absent(stage: dict[str, Json]) -> Json:
    """Return a stage before the first position, marked as absent from the file, with all its steps."""
    steps = [
        step | {"frequency": rounded(step["frequency"]), "absent": True} for step in stage.get("steps", ())
    ]
    return stage | {"absent": True} | ({"steps": steps} if steps else {})


def _later(t: int, rounds: int) -> str:
    """Say which rounds follow round ``t`` and are not in the file; empty after the last round."""
    names = ROUND_NAMES[t + 1 : rounds]
    if not names:
        return ""
    return f"The {' and the '.join(names)} {'is' if len(names) == 1 else 'are'} not in this file."


def _require_room(packed_views: dict[str, str], decisions: int, first: dict[str, Any]) -> None:
    """Check that the hands fit into the file.

    Raises:
        InputError: those packed so far are larger than `MOST_BYTES`; the message estimates the size of all decisions.
    """
    size = sum(map(len, packed_views.values()))
    if size <= MOST_BYTES:
        return
    whole = size * decisions / len(packed_views) / 1e6
    example = next(step["line"] for step in first["steps"] if step["kind"] == "decision")
    raise InputError(
        f"the page of {decisions:,} decisions would have about {whole:,.0f} MB, and {MOST_BYTES / 1e6:.0f} MB are the "
        f'most; choose the decisions after a line, such as --line "{example}", or solve with fewer bet sizes'
    )


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
