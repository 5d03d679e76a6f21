"""Report a line over all next cards, or over several boards: frequencies, EVs and equities of both ranges.

EV is the expected share of the pot from the decision on, as in `spewy.look.chunk`. Equity is the chance to win without
further betting, with half of the ties. ``realisation = EV / (equity · pot)`` says which share of the equity becomes EV.

The weight of card c is the probability that it is dealt, given that both players reach the decision:
``weight_c = W_c / Σ_c W_c``. Here ``W_c = Σ_{i, j} r0[i] r1[j] compat(i, j)`` with the ranges ``r0`` and ``r1`` at
the decision after card c; ``compat`` is 1 for two hands without a common card, else 0. At the first decision of a
round, the weighted means of EVs and equities are the EVs and equities before the deal.

The weight of board f of a batch is ``n_f W_f / Σ_f n_f W_f``, here and in a comparison of batches
(`spewy.look.compare`). Here ``n_f`` is the number of boards that f stands for: it is in the file of weights
(`spewy.look.folder.WEIGHTS_FILE`), or else it is the number of boards that equal f up to suits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from buckets.cards import cards_name, permute_cards, suit_permutations
from solvers.tree import Floats
from spewy.chunks.boards import following_deals
from spewy.chunks.locate import Place, board_cards, solved_board
from spewy.errors import InputError, NotSolvedError, path_text, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Line, Node, entry_line, line_as_written
from spewy.job.job import Job
from spewy.look.chunk import Cards, NodeTotals
from spewy.look.dropped import Note
from spewy.look.folder import BoardFolders, find_boards
from spewy.look.view import SolveView
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd

Pair: TypeAlias = tuple[float, float]
"""A pair of numbers: one for oop, one for ip."""
MOST_COMPARED = 60
"""Largest number of deals for which a report on a game with board buckets computes equities.

The equities of one flop take some tenths of a second.
"""
AVERAGE = "all"
"""Name of the report's row with the averages."""
MUST_AGREE = ("unit", "game", "pot", "stack", "oop", "ip", "rake", "bets", "tree")
"""Keys of the job file that must be equal in all solves of a report."""


@dataclass(frozen=True)
class BoardSolve:
    """Facts about the solve of one board in a report over boards.

    Attributes:
        stands_for: number of boards that this board represents.
        exploitability_pct: exploitability of the saved strategies in % of the pot; NaN if it was not measured.
    """

    stands_for: float
    sweeps: int
    exploitability_pct: float


@dataclass(frozen=True)
class CardRow:
    """One row of a report: a deal of cards, a board, or the average of all rows.

    Numbers are NaN if no hands reach the decision after these cards.

    Attributes:
        cards: the dealt cards or the board; empty for the average.
        weight: weight of the row in the average.
        frequencies: share of the acting range that takes each action.
        ev: expected shares of the pot of oop and ip.
        equity: chances of oop and ip to win without further betting.
        realisation: EV as a share of equity times pot, for oop and ip.
        solve: facts about the solve of a board; None for a deal and for the average.
    """

    cards: tuple[int, ...]
    weight: float
    frequencies: tuple[float, ...]
    ev: Pair
    equity: Pair
    realisation: Pair
    solve: BoardSolve | None = None

    @classmethod
    def of(
        cls,
        cards: tuple[int, ...],
        weight: float,
        totals: NodeTotals,
        pot: float,
        solve: BoardSolve | None = None,
    ) -> CardRow:
        """Make a row, and compute the equity realisation; the EVs and ``pot`` are in one unit."""
        shares = zip(totals.ev, totals.equity, strict=True)
        earned = [e / (share * pot) if share * pot > 0 else np.nan for e, share in shares]
        frequencies = tuple(float(share) for share in totals.frequencies)
        return cls(cards, weight, frequencies, totals.ev, totals.equity, (earned[0], earned[1]), solve)

    @property
    def name(self) -> str:
        """Names of the cards, or "all" for the average."""
        return cards_name(self.cards) or AVERAGE

    def __repr__(self) -> str:
        return f"CardRow({self.name!r}, EV {self.ev[0]:.4g} and {self.ev[1]:.4g})"

    def to_json(self) -> dict[str, Any]:
        known = {} if self.solve is None else asdict(self.solve)
        return known | {
            "weight": self.weight,
            "frequencies": self.frequencies,
            "ev": self.ev,
            "equity": self.equity,
            "realisation": self.realisation,
        }


@dataclass(frozen=True, repr=False)
class Report(Printed):
    """Frequencies, EVs and equities of both ranges after a line, on all next cards (high cards first) or on boards.

    Attributes:
        line: betting since the root of the solve up to the decision, including the deal.
        board: public cards before the deal; empty in a report over boards.
        player: the player who acts; None after an all-in.
        actions: labels of the player's actions, in the order of the frequencies in ``rows``.
        pot: pot at the decision, in ``unit``.
        rows: a row for each possible deal, also for deals that are equal up to suits; or a row for each board.
        average: weighted mean of the rows; its realisation is computed from the mean EV and the mean equity.
        by: what a row stands for: a dealt ``"card"`` or a ``"board"``.
        not_solved: folders without a saved strategy, which a report over boards leaves out.
    """

    line: str
    board: tuple[int, ...]
    player: int | None
    actions: tuple[str, ...]
    pot: float
    rows: tuple[CardRow, ...]
    average: CardRow
    by: Literal["card", "board"] = "card"
    unit: str = CHIPS.name
    words: str = ""
    not_solved: tuple[str, ...] = ()

    def in_unit(self, unit: Unit) -> Report:
        """Convert the line, the pot and EVs from chips to another unit; labels of actions are already in that unit."""
        if unit == CHIPS:
            return self
        rows = tuple(replace(row, ev=unit.worth(*row.ev)) for row in self.rows)
        average = replace(self.average, ev=unit.worth(*self.average.ev))
        line, pot = unit.line_text(self.line), self.pot / unit.chips
        return replace(self, line=line, pot=pot, rows=rows, average=average, unit=unit.name)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Columns of `frame` by which the rows can be sorted: the values of all rows, by the name of the column.

        Columns with the same value in all rows, such as ``line``, are left out.
        """
        return {name: values[:-1] for name, values in self._columns().items() if isinstance(values, list)}

    def sorted(self, column: str, *, ascending: bool = False) -> Report:
        """Return the report with its rows sorted by a column; undefined values come last."""
        if column not in self.columns:
            names = ", ".join(self.columns)
            raise InputError(f"column {shown(column)}: expected one of {names}")
        values = [row.cards for row in self.rows] if column == self.by else self.columns[column]
        known = [i for i, value in enumerate(values) if value == value]
        known.sort(key=lambda i: values[i], reverse=not ascending)
        order = known + [i for i, value in enumerate(values) if value != value]
        return replace(self, rows=tuple(self.rows[i] for i in order))

    def _table(self) -> Table:
        board = f" on {cards_name(self.board)}" if self.board else ""
        turn = "all-in" if self.player is None else f"{SEAT_NAMES[self.player]} to act"
        columns = (
            self.by,
            "weight",
            *(f"{name} {seat}" for name in ("EV", "equity") for seat in SEAT_NAMES),
            *self.actions,
        )
        rows = (
            (row.name, row.weight, *row.ev, *row.equity, *row.frequencies)
            for row in (self.average, *self.rows)
        )
        after = f" after {self.words or self.line}" if self.line else ""
        title = f"{turn}{board}{after}: {len(self.rows):,} {self.by}s, pot {self.pot:g} {self.unit}"
        return Table(title, columns, tuple(rows))

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each card or board, and the averages in the last row.

        The columns are those of ``spewy report --csv``.
        """
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        rows = (*self.rows, self.average)
        columns: dict[str, Any] = {"board": cards_name(self.board), "line": self.line}
        columns[self.by] = [row.name for row in rows]
        columns["player"] = self.player
        if self.by == "board":
            for field in fields(BoardSolve):
                columns[field.name] = [getattr(row.solve, field.name, None) for row in rows]
        columns["weight"] = [row.weight for row in rows]
        for name in ("ev", "equity", "realisation"):
            for p, seat in enumerate(SEAT_NAMES):
                columns[f"{name}_{seat}"] = [getattr(row, name)[p] for row in rows]
        for a, action in enumerate(self.actions):
            columns[f"frequency_{action}"] = [row.frequencies[a] for row in rows]
        return columns

    def to_json(self) -> dict[str, Any]:
        """Return the report as the JSON object that ``spewy report --json`` prints."""
        board = {} if self.by == "board" else {"board": cards_name(self.board)}
        return {
            "line": self.line,
            **board,
            "player": self.player,
            "actions": self.actions,
            "pot": self.pot,
            **({} if self.unit == CHIPS.name else {"unit": self.unit}),
            f"{self.by}s": {row.name: row.to_json() for row in self.rows},
            "average": self.average.to_json(),
            **({"not_solved": self.not_solved} if self.by == "board" else {}),
        }


def report(
    solution: SolveView,
    line: str | Place,
    board: str | Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Report the decision after a line for every card that can be dealt to a board: see `spewy.Solution.report`."""
    if isinstance(line, Place):
        place = solution.at(line, board)
        node = _after_deal(solution, place.node, place.line)
        cards = place.cards[: solution.job.rules.board_sizes[node.round - 1]]
    else:
        node = _after_deal(solution, *_node_after(solution, line))
        cards = board_cards(solution.problem, node.round - 1, board)
    deals = _deals(solution, node, cards, progress)
    pot = solution.problem.pot + sum(node.put_in)
    weights = np.array([totals.weight for _, totals in deals])
    weights = weights / weights.sum() if weights.any() else np.full(len(deals), np.nan)
    rows = tuple(
        CardRow.of(dealt, float(weight), totals, pot)
        for (dealt, totals), weight in zip(deals, weights, strict=True)
    )
    actions = tuple(action.label for action in node.actions)
    words = solution.words(node)
    in_chips = Report(node.line, cards, node.player, actions, pot, rows, average(rows, pot), words=words)
    return in_chips.in_unit(solution.job.amounts)


def line_totals(solution: SolveView, line: str) -> tuple[Node, NodeTotals]:
    """Compute frequencies, EVs in chips and equities of both ranges after a line on the board of the root.

    If the line contains a deal, these are weighted means over all cards of the deal; it contains at most one.
    """
    problem = solution.problem
    node, written = _node_after(solution, line)
    if node.kind == "decision" and node.round == problem.first_round:
        return node, solution.chunk_view(Place(node, solution.job.board)).totals(node)
    node = _after_deal(solution, node, written)
    if node.round > problem.first_round + 1:
        raise InputError(
            f"line {line_as_written(written)!r}: expected a line of the first two rounds, found a later round"
        )
    by_deal = [totals for _, totals in _deals(solution, node, solution.job.board, None)]
    weight = sum(totals.weight for totals in by_deal)
    rows = [CardRow.of((), totals.weight / weight if weight else 0.0, totals, 1.0) for totals in by_deal]
    mean = average(rows, 1.0)
    return node, NodeTotals(weight, np.array(mean.frequencies), mean.ev, mean.equity)


def _deals(
    solution: SolveView,
    node: Node,
    cards: Cards,
    progress: Callable[[int, int], None] | None,
) -> list[tuple[Cards, NodeTotals]]:
    """Compute frequencies, EVs and equities of both ranges at a node after each possible deal, high cards first.

    Deals that are equal up to suits are computed once. In a whole game with board buckets each single card is computed,
    since hand rows can depend on suits. ``cards`` is the board before the deal; the result has the cards of each deal.
    """
    problem, t = solution.problem, node.round
    history, perm = solved_board(problem, t - 1, cards)
    back, deals = np.argsort(perm), following_deals(problem, t - 1, history)
    apart = solution.reads.suits_matter and problem.game.num_board_cards[t] == 1
    out: list[tuple[Cards, NodeTotals]] = []
    for done, (following, members) in enumerate(deals, 1):
        names = [tuple(sorted(permute_cards(dealt, back).tolist(), reverse=True)) for dealt, _ in members]
        solved = tuple(card for group in following for card in group)
        for alike in ([name] for name in names) if apart else [names]:
            after = problem.game.board_order((*cards, *alike[0]) if apart else solved)
            chunk = solution.chunk_view(Place(node, after), equity=len(deals) <= MOST_COMPARED)
            totals = chunk.totals(node)
            out += ((name, totals) for name in alike)
        if progress is not None:
            progress(done, len(deals))
    out.sort(key=lambda pair: pair[0], reverse=True)
    return out


def _node_after(solution: SolveView, line: str) -> tuple[Node, Line]:
    tree = solution.problem.tree
    written = read_line(tree, line)
    return tree.alone(written), written


def _after_deal(solution: SolveView, node: Node, line: str) -> Node:
    """Find the node of a report: the node after ``line`` or, if cards are dealt after the line, after the deal."""
    problem = solution.problem
    if not line or line != entry_line(line):  # else it enters a round
        if node.kind == "chance":
            node = problem.tree.alone(f"{node.line}/")
        elif node.kind != "decision" or node.round == problem.first_round:
            ends = {
                "decision": "a decision of the first round",
                "fold": "a fold",
                "showdown": "a showdown",
            }
            raise InputError(
                f"line {line_as_written(line)!r}: expected a line that ends a round or continues after a deal; "
                f"this line leads to {ends[node.kind]}"
            )
    if not problem.game.num_board_cards[node.round]:
        raise InputError(
            f"line {line_as_written(line)!r}: expected a deal of public cards, but no cards are dealt in that round"
        )
    return node


def average(rows: Sequence[CardRow], pot: float) -> CardRow:
    """Average some rows of a report by their weights; the result has NaN if no row has weight."""
    weights = [row.weight for row in rows]
    frequencies = weighted_mean(weights, [row.frequencies for row in rows])
    ev = weighted_mean(weights, [row.ev for row in rows])
    equity = weighted_mean(weights, [row.equity for row in rows])
    pairs = [(float(x), float(y)) for x, y in (ev, equity)]
    total = sum(weight for weight in weights if weight > 0)
    return CardRow.of((), total or np.nan, NodeTotals(total, frequencies, pairs[0], pairs[1]), pot)


def weighted_mean(weights: Sequence[float], values: Sequence[Sequence[float]]) -> Floats:
    """Return ``Σ_i weights[i] values[i]`` over the rows with weight; NaN if no row has weight.

    The weights sum to 1. A row without weight may have NaN as values.
    """
    known = np.array(weights) > 0
    if not known.any():
        return np.full(len(values[0]), np.nan)
    mean: Floats = np.array(weights)[known] @ np.array(values, dtype=np.float64)[known]
    return mean


def report_boards(
    paths: Sequence[str | Path],
    line: str = "",
    target: str | None = None,
    note: Note = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Report one line over solves of several boards.

    The report leaves out folders that hold no saved strategy yet, and names them.

    Args:
        paths: folders of solves, or folders that contain them.
        line: line of a decision in the first round; or a line with one deal, and then a board's row in the report is
            the mean over all cards of the deal.
        target: exploitability, such as "0.1%", to which rounds are solved again whose strategies were deleted; None for
            the target of each solve's last run.
        note: called with a line of text for each re-solved subgame, and for boards that are missing or not solved yet.
        progress: called with the numbers of boards that are done, and of all boards.
    """
    boards = find_boards(paths)
    if boards.missing:
        n, first = len(boards.missing), boards.missing[0]
        note(f"{n} of {len(boards.weights)} boards are missing, such as {first}; the average is without them")
    rows: dict[tuple[int, ...], CardRow] = {}
    jobs: list[Job] = []
    solved: list[Path] = []
    unsolved: list[str] = []
    for done, folder in enumerate(boards.folders, 1):
        try:
            opened = SolveView.open(folder, target, note)
        except NotSolvedError:
            if done == len(boards.folders) and not solved:
                raise
            note(f"folder {path_text(folder)}: not solved yet; the average is without it")
            unsolved.append(path_text(folder))
            continue
        with closing(opened) as solution:
            job = solution.job
            solved.append(folder)
            require_same(job, folder, jobs[0] if jobs else job, solved[0])
            cards = tuple(sorted(job.board))
            if cards in rows:
                name = cards_name(job.board)
                raise InputError(
                    f"folder {path_text(folder)}: another folder has the board {name}, too; omit one"
                )
            node, totals = line_totals(solution, line)
            pot, words = solution.problem.pot + sum(node.put_in), solution.words(node)
            weight = board_weight(boards, solution, totals)
            solve = BoardSolve(stands_for(boards, job), solution.sweeps, solution.checked_pct)
            rows[cards] = CardRow.of(job.board, weight, totals, pot, solve)
            jobs.append(job)
        if progress is not None:
            progress(done, len(boards.folders))
    weights = shares_of([row.weight for row in rows.values()])
    shares = tuple(replace(row, weight=weight) for row, weight in zip(rows.values(), weights, strict=True))
    actions = tuple(action.label for action in node.actions)
    mean = average(shares, pot)
    report = Report(
        node.line,
        (),
        node.player,
        actions,
        pot,
        shares,
        mean,
        by="board",
        words=words,
        not_solved=tuple(unsolved),
    )
    return report.in_unit(jobs[0].amounts)


def board_weight(boards: BoardFolders, solution: SolveView, totals: NodeTotals) -> float:
    """Weight of a board in a report: number of boards it stands for, times the weight of all pairs in ``totals``."""
    return stands_for(boards, solution.job) * totals.weight * _unit(solution)


def shares_of(weights: Sequence[float]) -> list[float]:
    """Divide weights by their sum; NaN if the sum is 0."""
    total = sum(weights)
    return [weight / total if total > 0 else np.nan for weight in weights]


def stands_for(boards: BoardFolders, job: Job) -> float:
    """Number of boards that the board of a job represents in a batch."""
    return boards.weights.get(tuple(sorted(job.board))) or alike_boards(job)


def alike_boards(job: Job) -> int:
    """Count the boards that equal the board of a job up to suits, including the board itself."""
    perms = suit_permutations(job.rules.deck)
    return len({tuple(sorted(permute_cards(job.board, perm).tolist())) for perm in perms})


def _unit(solution: SolveView) -> float:
    """Factor from the weight of a pair of hands in the solve to the pair's weight in the job file's ranges."""
    problem = solution.problem
    if problem.units is None:
        return 1.0
    positive = (units[weights > 0] for units, weights in zip(problem.units, problem.ranges, strict=True))
    # The minimum, since only hands that no opposing hand is compatible with have larger factors.
    return float(np.prod([units.min() for units in positive]))


def require_same(job: Job, folder: Path, first_job: Job, first: Path) -> None:
    """Check that two solves of a batch are spots that agree in all keys of `MUST_AGREE`."""
    if job.spot is None:
        raise InputError(
            f"folder {path_text(folder)}: expected a spot, which has a board, found a whole game"
        )
    for name in MUST_AGREE:
        if _part(job, name) != _part(first_job, name):
            raise InputError(
                f"folder {path_text(folder)}: expected the same {name} as in {path_text(first)}, found another"
            )


def _part(job: Job, name: str) -> object:
    return getattr(job.spot, name) if hasattr(job.spot, name) else getattr(job, name)
