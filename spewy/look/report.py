"""Reports over all next cards: what both ranges do and are worth at one line, card by card, and on average.

EV is the expected share of the pot from the decision on, as in `spewy.look.chunk_view`; equity the chance
to win if betting stopped (ties half). ``realisation = EV / (equity · pot)`` says how much of the equity betting turns
into chips. A card's weight is the probability that it is dealt, given that both players come to the decision:
``weight_c = W_c / Σ_c W_c`` with ``W_c = Σ_{i, j} r0[i] r1[j] compat(i, j)`` over the reaches on that board. For a
round's first decision EVs and equities, weighted by it, average to those before the deal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from buckets.cards import cards_name
from buckets.symmetry import permute_cards
from spewy.chunks.boards import following_deals
from spewy.chunks.locate import board_cards, solved_board
from spewy.errors import InputError
from spewy.game.amounts import CHIPS, Unit
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.tree import Node, entry
from spewy.look.chunk_view import NodeTotals
from spewy.look.solution import Solution

if TYPE_CHECKING:
    import pandas as pd

Pair: TypeAlias = tuple[float, float]
"""Something of oop and of ip."""

AVERAGE = "all"
"""What stands for a card's name in the row of averages."""


@dataclass(frozen=True)
class CardRow:
    """One deal, or the average of all: weight, action frequencies of the acting range, and (oop, ip) figures.

    NaN: what a range that never comes here does and is worth.
    """

    cards: tuple[int, ...]
    weight: float
    frequencies: tuple[float, ...]
    ev: Pair
    equity: Pair
    realisation: Pair

    @property
    def name(self) -> str:
        """The cards dealt, or "all"."""
        return cards_name(self.cards) or AVERAGE


@dataclass(frozen=True)
class Report:
    """A line on all next cards, high cards first.

    Attributes:
        line: from the solve's root to the decision, the deal included.
        board: public cards before the deal.
        player: who acts, None if nobody can any more (all-in).
        actions: what that player can do; ``rows[c].frequencies`` are in this order.
        pot: chips in the middle at the decision.
        rows: one per deal; symmetric ones each have their own.
        average: the rows weighted by their weights; the realisation is that of the averages.
        unit: of amounts.
    """

    line: str
    board: tuple[int, ...]
    player: int | None
    actions: tuple[str, ...]
    pot: float
    rows: tuple[CardRow, ...]
    average: CardRow
    unit: str = "chips"

    def in_unit(self, unit: Unit) -> Report:
        """The same, whose line and amounts are in chips, in another unit; actions have been told in it."""
        if unit == CHIPS:
            return self
        rows = tuple(replace(row, ev=unit.worth(*row.ev)) for row in self.rows)
        average = replace(self.average, ev=unit.worth(*self.average.ev))
        line, pot = unit.line_text(self.line), self.pot / unit.chips
        return replace(self, line=line, pot=pot, rows=rows, average=average, unit=unit.name)

    def frame(self) -> pd.DataFrame:
        """One row per card and the averages last: the columns of ``spewy report --csv``."""
        import pandas as pd

        rows = (*self.rows, self.average)
        columns: dict[str, Any] = {
            "board": cards_name(self.board),
            "line": self.line,
            "card": [row.name for row in rows],
            "player": self.player,
            "weight": [row.weight for row in rows],
        }
        for name in ("ev", "equity", "realisation"):
            for p, seat in enumerate(SEAT_NAMES):
                columns[f"{name}_{seat}"] = [getattr(row, name)[p] for row in rows]
        for a, action in enumerate(self.actions):
            columns[f"frequency_{action}"] = [row.frequencies[a] for row in rows]
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """The object that ``spewy report --json`` prints."""
        return {
            "line": self.line,
            "board": cards_name(self.board),
            "player": self.player,
            "actions": self.actions,
            "pot": self.pot,
            **({} if self.unit == CHIPS.name else {"unit": self.unit}),
            "cards": {row.name: _row_json(row) for row in self.rows},
            "average": _row_json(self.average),
        }


def report(
    solution: Solution,
    line: str,
    board: str | Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """What happens at ``line`` on every card that can follow ``board`` (default: the root's).

    The line has just closed a round (``cc`` or ``cc/``), or goes on to a later decision of the next round (``cc/c``);
    the cards are those of the deal between. ``progress(done, total)`` is told of each board computed.

    Raises:
        InputError: no such line, no deal on it, or a board that cannot be there before the deal.
    """
    problem, node = solution.problem, _after_deal(solution, line)
    t = node.round
    cards = board_cards(problem, t - 1, solution.job.board if board is None else board)
    history, perm = solved_board(problem, t - 1, cards)
    back, deals = np.argsort(perm), following_deals(problem, t - 1, history)
    found: list[tuple[tuple[int, ...], NodeTotals]] = []
    for done, (following, members) in enumerate(deals, 1):
        totals = _totals(solution, node, tuple(card for group in following for card in group))
        for dealt, _ in members:
            named = sorted(permute_cards(dealt, back).tolist(), reverse=True)
            found.append((tuple(named), totals))
        if progress is not None:
            progress(done, len(deals))
    found.sort(key=lambda pair: pair[0], reverse=True)
    pot = problem.pot + sum(node.put_in)
    weights = np.array([totals.weight for _, totals in found])
    weights = weights / weights.sum() if weights.any() else np.full(len(found), np.nan)
    rows = tuple(
        _row(dealt, float(weight), totals.frequencies.tolist(), totals.ev, totals.equity, pot)
        for (dealt, totals), weight in zip(found, weights, strict=True)
    )
    actions = tuple(action.label for action in node.actions)
    found_there = Report(node.line, cards, node.player, actions, pot, rows, _average(rows, pot))
    return found_there.in_unit(solution.job.amounts)


def _totals(solution: Solution, node: Node, cards: tuple[int, ...]) -> NodeTotals:
    """Both ranges at a node on one board."""
    solution.reads.require(entry(node.line), cards)
    return solution.reads.views.of(entry(node.line), cards).totals(node.line)


def _after_deal(solution: Solution, line: str) -> Node:
    """The node that a report on ``line`` is about: below a deal of cards."""
    problem = solution.problem
    line = read_line(problem.tree, line)
    node = problem.tree.alone(line)
    if not line or line != entry(line):  # else it enters a round
        if node.kind == "chance":
            node = problem.tree.alone(f"{line}/")
        elif node.kind != "decision" or node.round == problem.first_round:
            found = {"decision": "the first round's betting", "fold": "a fold", "showdown": "a showdown"}
            raise InputError(
                f"line {line!r}: expected one that a deal of cards follows or that goes on after a deal, "
                f"found {found[node.kind]}"
            )
    if not problem.game.num_board_cards[node.round]:
        raise InputError(f"line {line!r}: expected a deal of public cards before it, found a round without")
    return node


def _row(
    cards: tuple[int, ...], weight: float, frequencies: Sequence[float], ev: Pair, equity: Pair, pot: float
) -> CardRow:
    earned = [e / (share * pot) if share * pot > 0 else np.nan for e, share in zip(ev, equity, strict=True)]
    return CardRow(cards, weight, tuple(frequencies), ev, equity, (earned[0], earned[1]))


def _average(rows: Sequence[CardRow], pot: float) -> CardRow:
    """The rows that carry weight, weighted; NaN if none does."""
    kept = [row for row in rows if row.weight > 0]
    if not kept:
        nothing = (np.nan, np.nan)
        return _row((), np.nan, [np.nan for _ in rows[0].frequencies], nothing, nothing, pot)
    weights = np.array([row.weight for row in kept])
    frequencies = weights @ np.array([row.frequencies for row in kept])
    ev = weights @ np.array([row.ev for row in kept])
    equity = weights @ np.array([row.equity for row in kept])
    pairs = [(float(x), float(y)) for x, y in (ev, equity)]
    return _row((), float(weights.sum()), frequencies.tolist(), pairs[0], pairs[1], pot)


def _row_json(row: CardRow) -> dict[str, Any]:
    return {
        "weight": row.weight,
        "frequencies": row.frequencies,
        "ev": row.ev,
        "equity": row.equity,
        "realisation": row.realisation,
    }
