"""What a solve reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class SolveResult:
    """What a solve reached; the fields of ``spewy solve --json``. What does not apply is None.

    ``exploitability`` is in chips, measured in the real game against the average strategies. ``seconds``: ``build``
    (tree, boards, stores), ``solve`` (first iteration to stop, checks included), ``best_response`` (the checks) and
    ``total``. ``trace`` holds (sweep, seconds, exploitability) of every check, earlier runs included.
    """

    name: str
    converged: bool
    interrupted: bool
    sweeps: int
    exploitability: float | None
    exploitability_pct: float | None
    exploitability_mbb: float | None
    ev: tuple[float, float] | None
    equity: tuple[float, float] | None
    value: float | None
    value_bracket: tuple[float, float] | None
    seconds: Mapping[str, float]
    peak_rss_mib: float
    trace: tuple[tuple[int, float, float], ...]

    def to_json(self) -> dict[str, Any]:
        """The documented object."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
