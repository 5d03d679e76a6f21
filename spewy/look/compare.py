"""Compare two solves, or two batches, at one decision: frequencies, EVs, and the largest differences.

Hands are matched by their cards, actions by their labels, and decisions by their lines. The share of hand h that plays
differently is ``moved[h] = 1/2 Σ_a |s_B[a, h] - s_A[a, h]|`` with the frequencies ``s_A`` and ``s_B``; an action that
one solve lacks has frequency 0 there. EVs are shares of the pot, in the unit of both jobs.

Batches (jobs solved on many boards) are compared on each common board and on average. The average of each batch is that
of its report (`spewy.look.report`) over the common boards. The average of the share that plays differently weighs a
board by the mean of its weights in both batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from buckets.cards import cards_name
from lockers import open_store
from solvers.tree import Floats
from spewy.chunks.locate import Place, read_cards
from spewy.chunks.problem import Problem
from spewy.errors import InputError, NotSolvedError, path_text, shown
from spewy.game.amounts import CHIPS
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Line, Node, line_as_written
from spewy.job.job import Job
from spewy.look.chunk import NodeTotals
from spewy.look.dropped import Note
from spewy.look.folder import BoardFolders, find_boards, stored_job, strategy_folder
from spewy.look.grid import class_means
from spewy.look.node import NodeView
from spewy.look.report import board_weight, shares_of, stands_for, weighted_mean
from spewy.look.view import SolveView

if TYPE_CHECKING:
    import pandas as pd

Two: TypeAlias = tuple[float, float]
"""A pair of numbers: one of solve A, one of solve B."""
SIDES = ("a", "b")
MOST_LINES = 200
"""Largest number of decisions that are compared; the decisions with the largest reach come first."""
SORTS = ("ev", "moved", "reach", "hand")


class Side(Protocol):
    """A solve that `compare` reads: a `SolveView`, or a solve of another program, whose EVs may be NaN."""

    @property
    def job(self) -> Job: ...
    @property
    def problem(self) -> Problem: ...
    def decision(self, line: str, cards: Sequence[int] | None = None) -> Place: ...
    def node(self, line: Place, *, ev: bool = True) -> NodeView: ...
    def totals(self, line: Place) -> NodeTotals: ...
    def pot_at(self, node: Node) -> float: ...


@dataclass(frozen=True)
class LineChange:
    """Difference between two solves, A and B, at one decision.

    Attributes:
        line: betting since the root of both solves.
        moved: share of the acting range that plays differently.
        likely: in A and in B, probability that play comes here from the decision at which the comparison
            begins, without card removal.
        place: the decision in A.
    """

    line: str
    player: int
    moved: float
    likely: Two
    place: Place = field(repr=False, compare=False)


@dataclass(frozen=True)
class AlignedHands:
    """One decision in two solves, for the hands that both solves have and the actions of either solve.

    Attributes:
        hands: names of the hands that the acting player can have in both solves.
        reach: ``[solve, hand]``, weight of each hand in the acting range.
        strategy: ``[solve, action, hand]``, frequency of each action.
        ev: ``[solve, hand]``, expected share of the pot.
    """

    hands: tuple[str, ...]
    reach: Floats
    strategy: Floats
    ev: Floats

    @property
    def range_moved(self) -> float:
        """Share of the acting range that plays differently in A and in B; 0 if no hand reaches the decision."""
        weight = self.reach.sum(axis=0)
        return float(weight @ self.moved / weight.sum()) if weight.any() else 0.0

    @property
    def moved(self) -> Floats:
        """Share of each hand that plays differently in A and in B: an array ``[hand]`` of numbers from 0 to 1.

        A share is half the sum, over all actions, of the absolute differences of the frequencies.
        """
        moved: Floats = np.abs(self.strategy[1] - self.strategy[0]).sum(axis=0) / 2
        return moved


@dataclass(frozen=True)
class Comparison(AlignedHands):
    """Comparison of two solves, A and B, at one decision.

    Attributes:
        line: betting since the root of both solves.
        boards: public cards in A and in B.
        pots: pot at the decision in A and in B.
        actions: labels of all actions: those of A, then those that only B has.
        frequencies: ``[solve, action]``, share of the acting range that takes each action.
        totals: frequencies, EVs and equities of both whole ranges, in A and in B.
        lines: differences at this decision and at later decisions of its round that both solves have, at most
            `MOST_LINES`. They are sorted by the share that plays differently times the probability to reach the
            decision, the largest first.
        only: lines of later decisions of this round that only A has, and those that only B has.
        words: the line in words.
    """

    line: str
    boards: tuple[tuple[int, ...], tuple[int, ...]]
    player: int
    pots: Two
    actions: tuple[str, ...]
    frequencies: Floats
    totals: tuple[NodeTotals, NodeTotals]
    lines: tuple[LineChange, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    unit: str = CHIPS.name
    words: str = ""

    @property
    def ev_difference(self) -> Floats:
        """EV of each hand in solve B minus its EV in solve A: an array ``[hand]``."""
        difference: Floats = self.ev[1] - self.ev[0]
        return difference

    def by_class(self, values: Floats) -> Floats:
        """Average values ``[hand]`` over hand classes of hold'em, weighted by the reach in both solves.

        Returns:
            Means ``[row, column]`` of the grid; NaN if no hand of a class has both reach and a value.
        """
        return class_means(self.hands, self.reach.sum(axis=0), values)

    def order(self, column: str) -> list[int]:
        """Return the indices of the hands, sorted by a column.

        Args:
            column: ``"ev"``, the absolute difference of both EVs; ``"moved"``, the share of the hand that plays
                differently; ``"reach"``, the sum of both weights in the range; or ``"hand"``, the name of the hand.
                Numbers are sorted with the largest first, names alphabetically.
        """
        if column not in SORTS:
            raise InputError(f"column {shown(column)}: expected one of {', '.join(SORTS)}")
        if column == "hand":
            return sorted(range(len(self.hands)), key=lambda h: self.hands[h])
        values = {"ev": np.abs(self.ev_difference), "moved": self.moved, "reach": self.reach.sum(axis=0)}
        order = np.argsort(-np.nan_to_num(values[column], nan=-1.0), kind="stable")
        return [int(h) for h in order]

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each hand, with the columns of ``spewy compare --csv``."""
        import pandas as pd

        columns: dict[str, Any] = {"hand": np.array(self.hands, dtype=object)}
        for name, values in (("reach", self.reach), ("ev", self.ev)):
            columns |= {f"{name}_{side}": values[i] for i, side in enumerate(SIDES)}
        columns |= {"ev_difference": self.ev_difference, "moved": self.moved}
        for a, action in enumerate(self.actions):
            columns |= {f"frequency_{action}_{side}": self.strategy[i, a] for i, side in enumerate(SIDES)}
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as the JSON object that ``spewy compare --json`` prints."""
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


def compare(
    a: SolveView, b: Side, line: str | Place = "", board: str | Sequence[int] | None = None
) -> Comparison:
    """Compare two solves at a decision.

    ``line`` may also be a place of either solve. With ``board`` None, each solve has the board of its own root.

    Raises:
        InputError: the games differ, a solve lacks the line, different players act, or no hand is in both ranges.
    """
    _require_comparable(a, b)
    if isinstance(line, Place):
        board, line = line.cards, Line(line.line)
    cards = None if board is None else read_cards("board", "Qs Jh 2h", board)
    sides: tuple[Side, Side] = (a, b)
    places = [_decision(solution, line, cards, name) for solution, name in zip(sides, "AB", strict=True)]
    seats = [place.node.player for place in places]
    if seats[0] != seats[1]:
        players = " and ".join(SEAT_NAMES[seat] for seat in seats if seat is not None)
        raise InputError(
            f"line {line_as_written(line)!r}: expected the same player to act in A and B, found {players}"
        )
    first, second = (solution.node(place) for solution, place in zip(sides, places, strict=True))
    actions = tuple(dict.fromkeys((*first.actions, *second.actions)))
    aligned = _aligned(first, second, actions)
    if not len(aligned.hands):
        raise InputError(f"line {line_as_written(line)!r}: A and B have no hand in common")
    return Comparison(
        **vars(aligned),
        line=first.line,
        boards=(first.board, second.board),
        player=first.player,
        pots=(a.pot_at(places[0].node), b.pot_at(places[1].node)),
        actions=actions,
        frequencies=np.array([_spread(node.frequencies, node.actions, actions) for node in (first, second)]),
        totals=(a.totals(places[0]), b.totals(places[1])),
        lines=_changes(a, b, places),
        only=_only(a, b, places),
        unit=a.job.amounts.name,
        words=a.words(places[0].node),
    )


def _aligned(a: NodeView, b: NodeView, actions: Sequence[str]) -> AlignedHands:
    numbers = [{hand: h for h, hand in enumerate(node.hands)} for node in (a, b)]
    hands = tuple(hand for hand in a.hands if hand in numbers[1])
    columns = [np.array([number[hand] for hand in hands], dtype=np.int64) for number in numbers]
    pairs = list(zip((a, b), columns, strict=True))
    return AlignedHands(
        hands,
        np.array([node.reach[column] for node, column in pairs]),
        np.array([_spread(node.strategy[:, column], node.actions, actions) for node, column in pairs]),
        np.array([node.ev[column] for node, column in pairs]),
    )


def _spread(values: Floats, of: Sequence[str], actions: Sequence[str]) -> Floats:
    """Extend ``values``, ``[action, ...]``, from the actions ``of`` to ``actions``, with 0 for new actions."""
    out = np.zeros((len(actions), *values.shape[1:]))
    out[[actions.index(action) for action in of]] = values
    return out


def _changes(a: Side, b: Side, places: Sequence[Place]) -> tuple[LineChange, ...]:
    """Compare a decision and the later decisions of its round, the largest difference first."""
    out: list[LineChange] = []
    queue = [(-2.0, places[0].line, places[0].node, places[1].node, (1.0, 1.0))]
    while queue and len(out) < MOST_LINES:
        _, _, x, y, likely = heappop(queue)
        place = Place(x, places[0].cards)
        first = a.node(place, ev=False)
        second = b.node(Place(y, places[1].cards), ev=False)
        aligned = _aligned(first, second, tuple(dict.fromkeys((*first.actions, *second.actions))))
        out.append(LineChange(first.line, first.player, aligned.range_moved, likely, place))
        shares = [np.nan_to_num(node.frequencies).tolist() for node in (first, second)]
        for i, action in enumerate(first.actions):
            if action not in second.actions:
                continue
            j = second.actions.index(action)
            child, other = x.children[i], y.children[j]
            if child.kind == other.kind == "decision" and child.round == other.round == places[0].round:
                both = (likely[0] * shares[0][i], likely[1] * shares[1][j])
                heappush(queue, (-sum(both), child.line, child, other, both))
    return tuple(sorted(out, key=lambda change: -change.moved * sum(change.likely)))


def _only(a: Side, b: Side, places: Sequence[Place]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = (
        [solution.job.amounts.line_text(line) for line in _following(place.node)]
        for solution, place in zip((a, b), places, strict=True)
    )
    return tuple(x for x in first if x not in set(second)), tuple(x for x in second if x not in set(first))


def _following(node: Node) -> list[str]:
    out, stack = [], [node]
    while stack:
        here = stack.pop()
        if here.kind == "decision" and here.round == node.round:
            out.append(here.line)
            stack += reversed(here.children)
    return out


def _decision(solution: Side, line: str, cards: Sequence[int] | None, name: str) -> Place:
    try:
        return solution.decision(line, cards)
    except InputError as error:
        raise InputError(f"solve {name}: {error}") from None


def _require_comparable(a: Side, b: Side) -> None:
    games = [solution.job.rules for solution in (a, b)]
    for name in ("deck", "num_hole_cards", "num_board_cards", "num_rounds"):
        values = [getattr(game, name) for game in games]
        if values[0] != values[1]:
            words = name.removeprefix("num_").replace("_", " ")
            raise InputError(
                f"solves A and B: expected games with the same {words}, found {values[0]} and {values[1]}"
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


@dataclass(frozen=True)
class BoardChange:
    """Comparison of two batches, A and B, on one board.

    Attributes:
        stands_for: number of boards that this board represents in A.
        weight: share of the board in the average of A and in that of B (`spewy.look.report`).
        frequencies: ``[batch, action]``, share of the acting range that takes each action, in A and in B.
        moved: share of the acting range that plays differently in A and in B.
        ev: EV of the player who acts, in A and in B.
    """

    board: tuple[int, ...]
    stands_for: float
    weight: Two
    frequencies: Floats
    moved: float
    ev: Two


@dataclass(frozen=True)
class BoardsComparison:
    """Comparison of two batches, A and B, at one decision.

    Attributes:
        line: betting since the root of each solve.
        rows: comparisons on the boards that both batches have, by `BoardChange.moved`, the largest first.
        only: names of boards that only A has, and of those that only B has.
    """

    line: str
    player: int
    actions: tuple[str, ...]
    rows: tuple[BoardChange, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    unit: str

    @property
    def average(self) -> BoardChange:
        weights = [[row.weight[i] for row in self.rows] for i in (0, 1)]
        both = [(first + second) / 2 for first, second in zip(*weights, strict=True)]
        (moved,) = weighted_mean(both, [[row.moved] for row in self.rows])
        a, b = (
            weighted_mean(weights[i], [[row.ev[i], *row.frequencies[i]] for row in self.rows]) for i in (0, 1)
        )
        stand_for = sum(row.stands_for for row in self.rows)
        total = sum(weights[0]), sum(weights[1])
        return BoardChange(
            (), stand_for, total, np.array([a[1:], b[1:]]), float(moved), (float(a[0]), float(b[0]))
        )

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {
            "board": [cards_name(row.board) for row in self.rows],
            "stands_for": [row.stands_for for row in self.rows],
            **{f"weight_{side}": [row.weight[i] for row in self.rows] for i, side in enumerate(SIDES)},
            "moved": [row.moved for row in self.rows],
        }
        for i, side in enumerate(SIDES):
            columns[f"ev_{side}"] = [row.ev[i] for row in self.rows]
        columns["ev_difference"] = [row.ev[1] - row.ev[0] for row in self.rows]
        for a, action in enumerate(self.actions):
            for i, side in enumerate(SIDES):
                columns[f"frequency_{action}_{side}"] = [row.frequencies[i, a] for row in self.rows]
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "player": self.player,
            "actions": self.actions,
            "boards": {cards_name(row.board): _row_json(row) for row in self.rows},
            "average": _row_json(self.average),
            "only": self.only,
        }


def compare_boards(
    a: Path,
    b: Path,
    line: str = "",
    target: str | None = None,
    note: Note = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> BoardsComparison:
    """Compare two batches at a decision, on every board that both have.

    Args:
        target: accuracy to which dropped rounds are re-solved; None for the target of each solve's last run.
        note: called with a line of text for each re-solved subgame, and for each board that is not solved yet.
        progress: called with the numbers of boards that are done, and of all boards.
    """
    batches = [find_boards([folder]) for folder in (a, b)]
    sides = [{_board_of(folder): folder for folder in batch.folders} for batch in batches]
    common = [board for board in sides[0] if board in sides[1]]
    rows: list[BoardChange] = []
    comparison: Comparison | None = None
    unsolved: set[Path] = set()
    for done, board in enumerate(common, 1):
        with ExitStack() as stack:
            pair = []
            for side in sides:
                try:
                    pair.append(stack.enter_context(SolveView.open(side[board], target, note)))
                except NotSolvedError:
                    note(f"folder {path_text(side[board])}: not solved yet; the comparison is without it")
                    unsolved.add(side[board])
            if len(pair) == 2:
                actions = comparison and comparison.actions
                comparison = compare(pair[0], pair[1], line)
                if actions not in (None, comparison.actions):
                    raise InputError(
                        f"folder {path_text(a)}: expected the same actions on all boards, found different ones"
                    )
                rows.append(_row(comparison, batches, pair))
        if progress is not None:
            progress(done, len(common))
    if comparison is None:
        raise InputError(
            f"folders {path_text(a)} and {path_text(b)}: no board is solved in both; compare batches with equal boards"
        )
    shares = zip(*(shares_of([row.weight[i] for row in rows]) for i in (0, 1)), strict=True)
    rows = [replace(row, weight=weight) for row, weight in zip(rows, shares, strict=True)]
    rows.sort(key=lambda row: -row.moved)
    only = [
        tuple(
            folder.name
            for board, folder in own.items()
            if folder not in unsolved and (board not in other or other[board] in unsolved)
        )
        for own, other in (sides, sides[::-1])
    ]
    return BoardsComparison(
        comparison.line,
        comparison.player,
        comparison.actions,
        tuple(rows),
        (only[0], only[1]),
        comparison.unit,
    )


def _board_of(folder: Path) -> tuple[int, ...]:
    with open_store(strategy_folder(folder), read_only=True) as store:
        job = stored_job(store, folder)
    if job.spot is None:
        raise InputError(f"folder {path_text(folder)}: expected a spot, found a whole game")
    return tuple(sorted(job.board))


def _row(comparison: Comparison, batches: Sequence[BoardFolders], pair: Sequence[SolveView]) -> BoardChange:
    """Make the row of a board, with weights that are not yet divided by their sums over all boards."""
    first, second = (
        board_weight(batch, solution, totals)
        for batch, solution, totals in zip(batches, pair, comparison.totals, strict=True)
    )
    a, b = (totals.ev[comparison.player] for totals in comparison.totals)
    return BoardChange(
        pair[0].job.board,
        stands_for(batches[0], pair[0].job),
        (first, second),
        comparison.frequencies,
        comparison.range_moved,
        (a, b),
    )


def _row_json(row: BoardChange) -> dict[str, Any]:
    return {
        "stands_for": row.stands_for,
        "weight": row.weight,
        "frequencies": row.frequencies,
        "moved": row.moved,
        "ev": row.ev,
        "ev_difference": row.ev[1] - row.ev[0],
    }
