"""Writes one self-contained page of a small solution, which opens without a server and loads nothing from anywhere.

The positions of one betting round are packed into compact JSON, which ``static/unpack.js`` reads. The unpacked
positions equal those of `spewy.web.position.position`, with numbers of five significant digits. Hands are named once
for all positions. A table has a column for each quantity, and stores each distinct row once, since many hands play
alike. The hands of a position are compressed, unless the whole file is small without compression.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator
from datetime import date
from html import escape
from typing import Any

from buckets.cards import cards_name
from spewy import __version__
from spewy.chunks.locate import Place
from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES
from spewy.game.nodes import Node
from spewy.look.node import BY_ACTION
from spewy.look.solution import Solution
from spewy.look.status import status_of
from spewy.records.progress import read_trace
from spewy.records.status import Judged, judged_by
from spewy.web.bundle import bundle, icon, styles
from spewy.web.position import position, summary

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="content-security-policy" content="{policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="generator" content="Spewy {version}" />
    <title>{title} – Spewy</title>
    <link rel="icon" href="{icon}" />
    <style>{style}</style>
  </head>
  <body>
    <header>
      <span class="brand">Spewy</span>
      <nav></nav>
      <button type="button" id="theme" aria-label="switch between the light and the dark colours">◐</button>
    </header>
    <main id="main" tabindex="-1">
      <div class="solve"><h1>{title}</h1><span class="note">{facts}</span></div>
      <div id="look"><noscript>This page needs JavaScript.</noscript></div>
    </main>
    <script type="application/json" id="solution">{data}</script>
    <script type="module">{script}</script>
  </body>
</html>
"""
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'"
)
"""Content security policy of a page, with the hashes of its only script and of its only style sheet."""
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


def export_page(
    solution: Solution,
    line: str = "",
    board: str | None = None,
    progress: Progress | None = None,
    *,
    day: date | None = None,
) -> str:
    """Return the HTML of a page with all positions of a betting round.

    Args:
        line: betting before the first position of the page, which must be a decision.
        progress: called with the number of finished positions, and the number of all of them.
        day: date that the page shows as the date of its writing; None for today.
    """
    data = packed(solution, line, board, progress)
    script, style = _inside(bundle("exported.js")), _inside(styles())
    return PAGE.format(
        policy=POLICY.format(script=_hash(script), style=_hash(style)),
        version=__version__,
        title=escape(solution.job.name),
        icon=icon(),
        style=style,
        facts=escape(", ".join(_facts(solution, day or date.today()))),
        data=data.replace("<", "\\u003c"),
        script=script,
    )


def _facts(solution: Solution, day: date) -> list[str]:
    kind = summary(solution)["kind"]
    if solution.folder is None:
        judged = judged_by(solution.problem, read_trace(solution.store))
    else:
        judged = status_of(solution.folder).judged
    return [kind, _exploitability(solution, judged), solution.progress, f"written on {day.isoformat()}"]


def _exploitability(solution: Solution, judged: Judged | None) -> str:
    if judged is None:
        return "exploitability not measured"
    unit = {"%": "% of the pot", "mbb": "mbb per hand"}.get(judged.unit, judged.unit)
    error = "" if judged.stderr is None else f" ± {judged.stderr:.1f}"
    when = "" if judged.deals == solution.sweeps else f" after {judged.deals:,} {solution.job.counted}"
    return f"exploitability {judged.exploitability:.3g}{error} {unit}{when}"


def _inside(text: str) -> str:
    """Escape texts such as ``</script>`` in a script or style sheet, which would end its HTML element."""
    return "\n" + text.replace("</", "<\\/").replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    """Hash by which a content security policy allows an inline script or style sheet."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def packed(
    solution: Solution, line: str = "", board: str | None = None, progress: Progress | None = None
) -> str:
    """Pack all positions of a round after a line, as the text of a JSON object: see `export_page`."""
    place = solution.at(line, board)
    if place.node.kind != "decision":
        raise InputError(
            f"line {shown(line)}: expected a line before a decision, found one before a {place.node.kind}"
        )
    nodes = list(_of_round(place.node))
    packing = _Packing(solution, sum(each.kind == "decision" for each in nodes))
    for done, each in enumerate(nodes):
        if progress is not None:
            progress(done, len(nodes))
        packing.add(Place(each, place.cards))
    if progress is not None:
        progress(len(nodes), len(nodes))
    return _text(
        {
            "summary": summary(solution),
            "root": {"line": packing.first["line"], "board": cards_name(place.cards)},
            "path": [_absent(stage) for stage in packing.first["path"]],
            "later": _later(place.round, solution.job.rules.num_rounds),
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
    def __init__(self, solution: Solution, decisions: int) -> None:
        self.names = _Names()
        self.first: dict[str, Json] = {}
        self._solution, self._decisions = solution, decisions
        self._positions: dict[str, dict[str, Json]] = {}
        self._plain: dict[str, str] = {}
        self._compressed: dict[str, str] = {}

    def add(self, place: Place) -> None:
        found = position(self._solution, place, deals=False)
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
    """Gives each name of a hand a number, in the order in which the names first occur.

    Attributes:
        numbers: number of each name so far.
        kinds: made hand and draws of each hand, as a text, by the hand's number; empty in games without such names.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.kinds: dict[int, str] = {}

    def view(self, view: dict[str, Json]) -> Json:
        found = rounded({key: value for key, value in view.items() if key not in ("hands", "kinds")})
        found["hands"] = self._table(**view["hands"])
        if "kinds" in view:
            self.kinds.update(zip(found["hands"]["names"], view["kinds"], strict=True))
        return found

    def _table(self, names: list[str], columns: dict[str, list[Json]]) -> Json:
        """Pack the columns of hands; hands with equal numbers are stored once.

        Returns:
            ``names``, the number of each hand's name; ``columns``, the numbers of the distinct hands; and ``rows``,
            for each hand the number of its distinct one, or None if all hands are distinct.
        """
        numbers = [self.numbers.setdefault(name, len(self.numbers)) for name in names]
        lists = {key: value if key in BY_ACTION else [value] for key, value in columns.items()}
        short = [[_short(number) for number in column] for value in lists.values() for column in value]
        distinct: dict[tuple[Json, ...], int] = {}
        rows = [distinct.setdefault(row, len(distinct)) for row in zip(*short, strict=True)]
        kept = iter([list(column) for column in zip(*distinct, strict=True)])
        packed = {key: [next(kept, []) for _ in value] for key, value in lists.items()}
        return {
            "names": numbers,
            "rows": None if len(distinct) == len(names) else rows,
            "columns": {key: value if key in BY_ACTION else value[0] for key, value in packed.items()},
        }


def _short(value: float | None) -> float | None:
    if value is None:
        return None
    short = float(f"{value:.{DIGITS}g}") if abs(value) >= SMALLEST else 0
    return int(short) if short == int(short) else short


def _of_round(node: Node) -> Iterator[Node]:
    queue = deque([node])
    while queue:
        found = queue.popleft()
        yield found
        if found.kind == "decision":
            queue.extend(found.children)


def _absent(stage: dict[str, Json]) -> Json:
    """Mark a decision or deal before the first position of the file, and its actions or cards, as missing."""
    steps = [
        step | {"frequency": rounded(step["frequency"]), "absent": True} for step in stage.get("steps", ())
    ]
    return stage | {"absent": True} | ({"steps": steps} if steps else {})


def _later(t: int, rounds: int) -> str:
    names = ROUND_NAMES[t + 1 : rounds]
    if not names:
        return ""
    return f"The {' and the '.join(names)} {'is' if len(names) == 1 else 'are'} not in this file."


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
