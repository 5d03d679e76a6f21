"""Two solves at one decision: frequencies, EVs, and the largest differences.

Hands are compared by their cards, actions by their labels, lines as they are written. How often a hand does something
else is ``moved[h] = 1/2 Σ_a |s_B[a, h] - s_A[a, h]|``; an action that one solve lacks is never taken there. EVs are
shares of the pot in the unit of both jobs, of the player to act hand by hand, and of both players over both ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from buckets.cards import cards_name
from solvers.tree import Floats
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Line, Node, line_as_written
from spewy.look.chunk import NodeTotals
from spewy.look.node import NodeView
from spewy.look.view import SolveView

if TYPE_CHECKING:
    import pandas as pd

Two: TypeAlias = tuple[float, float]
"""Pair of a value of solve A and a value of solve B."""

SIDES = ("a", "b")
MOST_LINES = 200
"""Largest number of decisions that are compared, the likeliest first."""
SORTS = ("ev", "moved", "reach", "hand")


@dataclass(frozen=True)
class LineChange:
    """A decision that both solves have.

    Attributes:
        line: from both roots.
        player: who acts.
        moved: how often the range does something else.
        likely: how often play goes on so from the decision compared, hand removal left out.
    """

    line: str
    player: int
    moved: float
    likely: Two


@dataclass(frozen=True)
class Comparison:
    """Two solves at one decision.

    Attributes:
        line: from both roots.
        boards: of A and of B.
        player: who acts.
        pots: in the middle at the decision.
        actions: of A, and then those of B alone.
        frequencies: ``[solve, action]``, of the range.
        totals: what the decision is worth in each.
        hands: that both ranges may hold there.
        reach: ``[solve, hand]``.
        strategy: ``[solve, action, hand]``.
        ev: ``[solve, hand]``.
        lines: this decision and those after it in its round that both have; first where those who come move most.
        only: lines of this round after the decision that A alone has, and that B alone has.
        unit: of amounts.
        words: the line in words.
    """

    line: str
    boards: tuple[tuple[int, ...], tuple[int, ...]]
    player: int
    pots: Two
    actions: tuple[str, ...]
    frequencies: Floats
    totals: tuple[NodeTotals, NodeTotals]
    hands: tuple[str, ...]
    reach: Floats
    strategy: Floats
    ev: Floats
    lines: tuple[LineChange, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    unit: str = CHIPS.name
    words: str = ""

    @property
    def range_moved(self) -> float:
        """Share of the range that plays differently in A and in B."""
        return _mean_moved(self.reach, self.strategy)

    @property
    def moved(self) -> Floats:
        """``[hand]``: share of each hand that plays differently in A and in B."""
        return _moved(self.strategy)

    @property
    def ev_difference(self) -> Floats:
        """``[hand]``: EV in B minus EV in A."""
        difference: Floats = self.ev[1] - self.ev[0]
        return difference

    def order(self, column: str) -> list[int]:
        """Sort hands by ``"ev"`` (absolute difference), ``"moved"``, ``"reach"`` (in both solves) or ``"hand"``.

        Raises:
            InputError: no such column.
        """
        if column not in SORTS:
            raise InputError(f"column {shown(column)}: expected one of {', '.join(SORTS)}")
        if column == "hand":
            return sorted(range(len(self.hands)), key=lambda h: self.hands[h])
        values = {"ev": np.abs(self.ev_difference), "moved": self.moved, "reach": self.reach.sum(axis=0)}
        order = np.argsort(-np.nan_to_num(values[column], nan=-1.0), kind="stable")
        return [int(h) for h in order]

    def frame(self) -> pd.DataFrame:
        """One row per hand: the columns of ``spewy compare --csv``."""
        import pandas as pd

        columns: dict[str, Any] = {"hand": np.array(self.hands, dtype=object)}
        for name, values in (("reach", self.reach), ("ev", self.ev)):
            columns |= {f"{name}_{side}": values[i] for i, side in enumerate(SIDES)}
        columns |= {"ev_difference": self.ev_difference, "moved": self.moved}
        for a, action in enumerate(self.actions):
            columns |= {f"frequency_{action}_{side}": self.strategy[i, a] for i, side in enumerate(SIDES)}
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``spewy compare --json`` prints."""
        moved, difference = self.moved, self.ev_difference
        return {
            "line": self.line,
            "boards": [cards_name(board) for board in self.boards],
            "player": self.player,
            "pot": self.pots,
            **({} if self.unit == CHIPS.name else {"unit": self.unit}),
            "actions": self.actions,
            "frequencies": self.frequencies,
            "ev": [totals.ev for totals in self.totals],
            "equity": [totals.equity for totals in self.totals],
            "hands": {
                hand: {
                    "reach": self.reach[:, h],
                    "strategy": self.strategy[:, :, h],
                    "ev": self.ev[:, h],
                    "ev_difference": difference[h],
                    "moved": moved[h],
                }
                for h, hand in enumerate(self.hands)
            },
            "lines": {
                change.line: {"player": change.player, "moved": change.moved, "likely": change.likely}
                for change in self.lines
            },
            "only": self.only,
        }


def compare(a: SolveView, b: SolveView, line: str = "", board: str | None = None) -> Comparison:
    """Compare two solves at a decision.

    Args:
        a: what is compared.
        b: with what.
        line: of both, as people write it.
        board: all public cards, of both; None: each solve's own root's.

    Raises:
        InputError: the games differ, one lacks the line, another player acts there, or no hand is in both.
    """
    _require_comparable(a, b)
    sides = (a, b)
    nodes = [_decision(solution, line, board, name) for solution, name in zip(sides, "AB", strict=True)]
    seats = [node.player for node in nodes]
    if seats[0] != seats[1]:
        told = " and ".join(SEAT_NAMES[seat] for seat in seats if seat is not None)
        raise InputError(
            f"line {line_as_written(line)!r}: expected the same player to act in A and B, found {told}"
        )
    first, second = (solution.node(line, board) for solution in sides)
    actions = tuple(dict.fromkeys((*first.actions, *second.actions)))
    found = _aligned(first, second, actions)
    if not len(found.hands):
        raise InputError(
            f"line {line_as_written(line)!r}: expected hands that are in both ranges, found none"
        )
    return Comparison(
        first.line,
        (first.board, second.board),
        first.player,
        (_pot(a, nodes[0]), _pot(b, nodes[1])),
        actions,
        np.array([_spread(view.frequencies, view.actions, actions) for view in (first, second)]),
        (a.totals(line, board), b.totals(line, board)),
        found.hands,
        found.reach,
        found.strategy,
        found.ev,
        _changes(a, b, nodes, board),
        _only(a, b, nodes),
        a.job.amounts.name,
        a.words(nodes[0]),
    )


@dataclass(frozen=True)
class _Aligned:
    """Two views, aligned on the union of their hands and actions."""

    hands: tuple[str, ...]
    reach: Floats
    strategy: Floats
    ev: Floats


def _aligned(a: NodeView, b: NodeView, actions: Sequence[str]) -> _Aligned:
    places = [{hand: h for h, hand in enumerate(view.hands)} for view in (a, b)]
    hands = tuple(hand for hand in a.hands if hand in places[1])
    picks = [np.array([place[hand] for hand in hands], dtype=np.int64) for place in places]
    pairs = list(zip((a, b), picks, strict=True))
    return _Aligned(
        hands,
        np.array([view.reach[pick] for view, pick in pairs]),
        np.array([_spread(view.strategy[:, pick], view.actions, actions) for view, pick in pairs]),
        np.array([view.ev[pick] for view, pick in pairs]),
    )


def _spread(values: Floats, of: Sequence[str], actions: Sequence[str]) -> Floats:
    """Place values by action in the rows of all actions; missing actions get 0."""
    out = np.zeros((len(actions), *values.shape[1:]))
    out[[actions.index(action) for action in of]] = values
    return out


def _moved(strategy: Floats) -> Floats:
    moved: Floats = np.abs(strategy[1] - strategy[0]).sum(axis=0) / 2
    return moved


def _mean_moved(reach: Floats, strategy: Floats) -> float:
    """Mean of `_moved` over both ranges; 0 if neither range reaches the decision."""
    weight = reach.sum(axis=0)
    return float(weight @ _moved(strategy) / weight.sum()) if weight.any() else 0.0


def _changes(a: SolveView, b: SolveView, nodes: Sequence[Node], board: str | None) -> tuple[LineChange, ...]:
    """Differences between two nodes and their later decisions in the round, the largest first, weighted by reach."""
    out: list[LineChange] = []
    left = [(-2.0, nodes[0].line, nodes[0], nodes[1], (1.0, 1.0))]
    while left and len(out) < MOST_LINES:
        _, _, x, y, likely = heappop(left)
        first, second = (
            solution.node(Line(node.line), board, ev=False) for solution, node in ((a, x), (b, y))
        )
        found = _aligned(first, second, tuple(dict.fromkeys((*first.actions, *second.actions))))
        moved = _mean_moved(found.reach, found.strategy)
        out.append(LineChange(first.line, first.player, moved, likely))
        shares = [np.nan_to_num(view.frequencies).tolist() for view in (first, second)]
        for i, action in enumerate(first.actions):
            if action not in second.actions:
                continue
            j = second.actions.index(action)
            child, other = x.children[i], y.children[j]
            if child.kind == other.kind == "decision" and child.round == other.round == nodes[0].round:
                both = (likely[0] * shares[0][i], likely[1] * shares[1][j])
                heappush(left, (-sum(both), child.line, child, other, both))
    return tuple(sorted(out, key=lambda change: -change.moved * sum(change.likely)))


def _only(a: SolveView, b: SolveView, nodes: Sequence[Node]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines of later decisions in the round that only one of two nodes has, per solve."""
    mine, theirs = (
        [solution.job.amounts.line_text(line) for line in _following(node)]
        for solution, node in zip((a, b), nodes, strict=True)
    )
    return tuple(x for x in mine if x not in set(theirs)), tuple(x for x in theirs if x not in set(mine))


def _following(node: Node) -> list[str]:
    """Lines of a decision and of all later decisions of its round."""
    out, left = [], [node]
    while left:
        here = left.pop()
        if here.kind == "decision" and here.round == node.round:
            out.append(here.line)
            left += reversed(here.children)
    return out


def _decision(solution: SolveView, line: str, board: str | Sequence[int] | None, name: str) -> Node:
    try:
        return solution.reads.policy.node(line, board)
    except InputError as error:
        raise InputError(f"solve {name}: {error}") from None


def _pot(solution: SolveView, node: Node) -> float:
    return (solution.problem.pot + sum(node.put_in)) / solution.job.amounts.chips


def _require_comparable(a: SolveView, b: SolveView) -> None:
    """Refuse solves whose hands, rounds or roots mean different things."""
    games = [solution.job.rules for solution in (a, b)]
    for name in ("deck", "num_hole_cards", "num_board_cards", "num_rounds"):
        found = [getattr(game, name) for game in games]
        if found[0] != found[1]:
            told = name.removeprefix("num_").replace("_", " ")
            raise InputError(
                f"solves A and B: expected games with the same {told}, found {found[0]} and {found[1]}"
            )
    units = [solution.job.amounts.name for solution in (a, b)]
    if units[0] != units[1]:
        raise InputError(
            f"solves A and B: expected amounts in the same unit, found {units[0]} and {units[1]}"
        )
    problems = [solution.problem for solution in (a, b)]
    roots = [ROUND_NAMES[p.first_round] + (" spot" if p.is_spot else ", whole game") for p in problems]
    if roots[0] != roots[1]:
        raise InputError(f"solves A and B: expected the same kind of root, found {roots[0]} and {roots[1]}")
