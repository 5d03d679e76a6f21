"""Writes one self-contained page of a small solution, which opens without a server and loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from datetime import date
from html import escape

from spewy import __version__
from spewy.look.position import summary
from spewy.look.solution import Solution
from spewy.look.status import status_of
from spewy.records.progress import read_trace
from spewy.records.status import Judged, judged_by
from spewy.web.bundle import STATIC, bundle, styles
from spewy.web.packing import Progress, packed

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="content-security-policy" content="{policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="generator" content="Spewy {version}" />
    <title>{title} – Spewy</title>
    <link rel="icon" href="data:image/svg+xml;base64,{icon}" />
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
        solution: the solution.
        line: betting before the first position of the page, which must be a decision.
        board: all public cards; None for the root's.
        progress: called with the number of finished positions, and the number of all of them.
        day: date that the page shows as the date of its writing; None for today.

    Raises:
        InputError: the line does not exist or leads to no decision, the board is impossible after it, or the page
            would be too large.
    """
    data = packed(solution, line, board, progress)
    script, style = _inside(bundle("exported.js")), _inside(styles())
    return PAGE.format(
        policy=POLICY.format(script=_hash(script), style=_hash(style)),
        version=__version__,
        title=escape(solution.job.name),
        icon=base64.b64encode((STATIC / "icon.svg").read_bytes()).decode(),
        style=style,
        facts=escape(", ".join(_facts(solution, day or date.today()))),
        data=data.replace("<", "\\u003c"),
        script=script,
    )


def _facts(solution: Solution, day: date) -> list[str]:
    """Return lines of text about a solution: its kind, its progress, its exploitability, and the date of the page."""
    kind = summary(solution)["kind"]
    if solution.folder is None:
        judged = judged_by(solution.problem, read_trace(solution.store))
    else:
        judged = status_of(solution.folder).judged
    return [kind, solution.progress, _exploitability(solution, judged), f"written on {day.isoformat()}"]


def _exploitability(solution: Solution, judged: Judged | None) -> str:
    if judged is None:
        return "exploitability not measured"
    unit = {"%": "% of the pot", "mbb": "mbb per hand"}.get(judged.unit, judged.unit)
    error = "" if judged.stderr is None else f" ± {judged.stderr:.1f}"
    unit_of_time = "deals" if solution.job.sampled else "sweeps"
    when = "" if judged.deals == solution.sweeps else f" after {judged.deals:,} {unit_of_time}"
    return f"exploitability {judged.exploitability:.3g}{error} {unit}{when}"


def _inside(text: str) -> str:
    """Escape texts such as ``</script>`` in a script or style sheet, which would end its HTML element."""
    return "\n" + text.replace("</", "<\\/").replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    """Return the hash by which a content security policy allows an inline script or style sheet."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
