"""Costs of reviewed decisions by street and by kind of mistake: what was done, and what the best action was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spewy.game.names import ROUND_NAMES
from spewy.match.hand_review import Decided
from spewy.match.review import Reviewed
from spewy.match.score import MBB

_STREETS = {0: 0, 3: 1, 4: 2, 5: 3}


@dataclass(frozen=True)
class Mistakes:
    """The decisions of one street with the same played and best action.

    Attributes:
        street: name of the round, such as "flop".
        played: what the player did: "fold", "check", "call", "bet" or "raise".
        best: the action with the highest EV; "the same": the played one; "another size": another bet or raise.
        decisions: number of decisions.
        cost: sum of their costs in mbb (thousandths of a big blind).
    """

    street: str
    played: str
    best: str
    decisions: int
    cost: float


def mistakes(reviewed: Iterable[Reviewed]) -> list[Mistakes]:
    """Sum the costs of decisions by street, played action and best action; on each street the costliest first.

    Decisions whose cost is unknown are left out.
    """
    sums: dict[tuple[int, str, str], list[float]] = {}
    for each in reviewed:
        decided = each.decided
        if decided.cost is not None and decided.values is not None:
            # The line of a spot begins at its root, and other games than hold'em have other boards.
            street = _STREETS.get(len(decided.board), decided.line.count("/"))
            costs = sums.setdefault((street, *_kind(decided)), [])
            costs.append(MBB * decided.cost / each.big_blind)
    rows = [
        (street, Mistakes(ROUND_NAMES[street], played, best, len(costs), sum(costs)))
        for (street, played, best), costs in sums.items()
    ]
    rows.sort(key=lambda row: (row[0], -row[1].cost))
    return [row for _, row in rows]


def _kind(decided: Decided) -> tuple[str, str]:
    assert decided.values is not None
    best = decided.actions[max(range(len(decided.values)), key=decided.values.__getitem__)]
    faces_bet = "f" in decided.actions
    played = _word(decided.action, faces_bet)
    if best == decided.action:
        return played, "the same"
    word = _word(best, faces_bet)
    return played, "another size" if word == played else word


def _word(action: str, faces_bet: bool) -> str:
    return {"f": "fold", "c": "call" if faces_bet else "check"}.get(action, "raise" if faces_bet else "bet")
