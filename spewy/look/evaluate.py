"""Compute EVs of stored strategies that play against each other, with locked decisions and without solving again.

Each player follows a stored strategy, except at the decisions that are locked. The strategies of both players may come
from two solves of the same game, such as a solve with a node lock and one without. The EVs are exact: one traversal of
the whole game for each player.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import hand_name
from solvers.game import LiveGame, Strategies
from solvers.reference.walk import Walker
from solvers.tree import Floats
from spewy.chunks.boards import board_rounds
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import game_locks
from spewy.chunks.locate import Place
from spewy.chunks.problem import NodeLock
from spewy.chunks.rounds import betting_rounds, decision_slots
from spewy.errors import InputError, shown, size_text
from spewy.game.names import SEAT_NAMES
from spewy.job.locks import LockSection, node_locks
from spewy.job.texts import with_lock_texts
from spewy.records.chunks import Chunks
from spewy.records.policy import ChunkPolicy
from spewy.records.progress import require_whole
from spewy.run.cost import available_memory
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd

    from spewy.look.view import SolveView


@dataclass(frozen=True)
class HandEvs:
    """EVs of one player's hands at the root.

    Attributes:
        reach: ``[hand]``, weight of each hand in the range.
        stored: ``[hand]``, EV when both players follow the stored strategies of the evaluated solve.
        ev: ``[hand]``, EV when the players follow the strategies and locks to be evaluated. Both EVs are NaN
            for a hand that shares a card with every hand of the opponent's range.
    """

    hands: tuple[str, ...]
    reach: Floats
    stored: Floats
    ev: Floats

    @property
    def order(self) -> list[int]:
        """Indices of the hands, sorted by EV minus stored EV, the smallest first; hands without EVs come last."""
        changes = (self.ev - self.stored).tolist()
        return sorted(
            range(len(changes)), key=lambda h: (changes[h] != changes[h], changes[h], self.hands[h])
        )

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each hand, in the order of `order`."""
        import pandas as pd

        columns = {"reach": self.reach, "ev_stored": self.stored, "ev": self.ev}
        frame = pd.DataFrame({"hand": self.hands, **columns, "ev_difference": self.ev - self.stored})
        return frame.iloc[self.order].reset_index(drop=True)


@dataclass(frozen=True, repr=False)
class Evaluation(Printed):
    """EVs of two strategies that play against each other.

    Attributes:
        plays: name of the solve that each player's strategy comes from, oop first.
        stored: EVs of both players when both follow the stored strategies of the evaluated solve: shares of the pot
            for a spot, net amounts for a whole game.
        ev: EVs of both players when they follow the strategies and locks to be evaluated.
        hands: EVs of both players' hands at the root.
        locked: the player of the first lock; None if there are no locks.
    """

    plays: tuple[str, str]
    stored: tuple[float, float]
    ev: tuple[float, float]
    hands: tuple[HandEvs, HandEvs]
    unit: str
    locked: int | None = None

    @property
    def difference(self) -> tuple[float, float]:
        """EV of each player minus the player's EV if both play the stored strategies of the solve."""
        return self.ev[0] - self.stored[0], self.ev[1] - self.stored[1]

    def _table(self) -> Table:
        columns = ("", "strategy", f"stored EV ({self.unit})", f"EV ({self.unit})", "EV - stored")
        rows = zip(SEAT_NAMES, self.plays, self.stored, self.ev, self.difference, strict=True)
        return Table("evaluation", columns, tuple(rows))

    def to_json(self, player: int | None = None) -> dict[str, Any]:
        """Return the evaluation as a JSON object, with the hands of ``player``; None: without hands."""
        found: dict[str, Any] = {
            "plays": list(self.plays),
            "ev": list(self.ev),
            "difference": list(self.difference),
        }
        if player is not None:
            of = self.hands[player]
            rows = np.array([of.reach, of.stored, of.ev, of.ev - of.stored]).T.tolist()
            names = ("reach", "ev_stored", "ev", "ev_difference")
            found["player"] = player
            found["hands"] = {of.hands[h]: dict(zip(names, rows[h], strict=True)) for h in of.order}
        return found


def evaluate(
    solution: SolveView,
    locks: Sequence[str] = (),
    against: SolveView | None = None,
    player: int | None = None,
) -> tuple[Evaluation, ...]:
    """Compute EVs of stored strategies, with locked play at some decisions.

    Args:
        locks: texts such as ``"x b120 [QQ+]: call"``: at these decisions, these hands play as the lock says.
        against: another solve of the same game. One player follows ``solution`` and the other one ``against``; None:
            both follow ``solution``.
        player: the player who follows ``solution`` if there is ``against``; None: each player in turn.

    Returns:
        One evaluation; two with ``against`` and no ``player``: first oop follows ``solution``, then ip.
    """
    solves = (solution,) if against is None else (solution, against)
    for solve in solves:
        solve.job.require_walked(f"job {solve.job.name}")
        require_whole(solve.store, solve.job.rules.num_rounds, solve.job.name)
    if against is not None:
        _require_same_game(solution, against)
    elif player is not None:
        raise InputError("player has no effect without against; remove it")
    added = _locks(solution, locks)
    layout = _layout(solves, added)
    _require_memory(layout, len(solves))
    strategies = [_strategies(solve, layout) for solve in solves]
    names = [solve.job.name for solve in solves]
    pairs = [(0, 0)] if against is None else [(0, 1), (1, 0)]
    if against is not None and player is not None:
        pairs = [pairs[player]]
    stored = _Play(layout, solution, ()).values(strategies[0])
    play = _Play(layout, solution, added)
    evaluations = []
    for oop, ip in pairs:
        both = [(of_oop[0], of_ip[1]) for of_oop, of_ip in zip(strategies[oop], strategies[ip], strict=True)]
        found = play.values(both)
        hands = _hand_evs(solution, layout, stored, found)
        ev = (stored[0][0], stored[1][0]), (found[0][0], found[1][0])
        plays, unit = (names[oop], names[ip]), solution.job.amounts.name
        evaluations.append(Evaluation(plays, *ev, hands, unit, added[0].player if added else None))
    return tuple(evaluations)


SeatEvs = tuple[float, Floats]
"""EV of a player's range, and the EVs ``[hand]`` of its hands."""


class _Play:
    def __init__(self, layout: Layout, solution: SolveView, locks: tuple[NodeLock, ...]) -> None:
        problem = replace(layout.problem, locks=locks)
        self._game: LiveGame = replace(layout.live, locks=game_locks(problem, layout.betting, layout.boards))
        self._solution = solution

    def values(self, strategies: Strategies) -> tuple[SeatEvs, SeatEvs]:
        """Return both players' EVs in the unit of the job: shares of the pot in a spot, net amounts in a whole game."""
        walker = Walker(self._game, self._solution.job.solve.threads)
        try:
            return self._of(walker, 0, strategies), self._of(walker, 1, strategies)
        finally:
            walker.close()

    def _of(self, walker: Walker, p: int, strategies: Strategies) -> SeatEvs:
        game = self._game
        share, chips = self._solution.problem.pot / 2, self._solution.job.amounts.chips
        values = walker.evaluate(p, strategies)[0].astype(np.float64)
        total = float(game.reach[p][0] @ values) / game.deal_weight
        return (total + share) / chips, (game.chips_of_hands(p, values) + share) / chips


def _hand_evs(
    solution: SolveView, layout: Layout, stored: tuple[SeatEvs, SeatEvs], found: tuple[SeatEvs, SeatEvs]
) -> tuple[HandEvs, HandEvs]:
    problem, sides = solution.problem, []
    for p, held in enumerate(layout.board(0, 0).hands):
        names = tuple(hand_name(cards) for cards in problem.hands[held.numbers])
        units = 1.0 if problem.units is None else problem.units[p][held.numbers]
        sides.append(HandEvs(names, held.weight * units, stored[p][1], found[p][1]))
    return sides[0], sides[1]


def _locks(solution: SolveView, texts: Sequence[str]) -> tuple[NodeLock, ...]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f'locks: expected a list of texts such as ["x: bet"], found {shown(texts)}')
    problem = solution.problem
    tables = with_lock_texts({"lock": list(texts)})["lock"]
    sections = [LockSection.model_validate(table) for table in tables]
    return node_locks(sections, problem.tree, problem.history, problem.ranges)


def _layout(solves: Sequence[SolveView], locks: tuple[NodeLock, ...]) -> Layout:
    """Make a layout with a row for each hand, whose suit symmetries leave the locks of all solves unchanged."""
    problem = replace(solves[0].problem, rows=(None,) * len(solves[0].problem.rows), locks=())
    every = (*locks, *(lock for solve in solves for lock in solve.problem.locks))
    symmetry = all(solve.problem.symmetry for solve in solves)
    betting = betting_rounds(problem.tree)
    boards = board_rounds(replace(problem, locks=every, symmetry=symmetry))
    return Layout(problem, betting, boards[: len(betting)])


def _strategies(solve: SolveView, layout: Layout) -> Strategies:
    """Read the strategies of a solve, on the boards of a layout.

    A solve with the layout's boards and a row for each hand is read at once, any other solve chunk by chunk.
    """
    own = solve.layout
    same = all(rows is None for rows in solve.problem.rows) and all(
        table.numbers.keys() == other.numbers.keys()
        for table, other in zip(own.boards, layout.boards, strict=True)
    )
    if same:
        return Chunks(own, solve.store).whole()
    strategies = layout.live.zeros()
    policy = ChunkPolicy(solve.problem, solve.store)
    for t in range(layout.n_rounds):
        for b, r in layout.chunks(t):
            board, root = layout.board(t, b), layout.tree(t, r).nodes[0]
            chunk = policy.chunk(Place(root, solve.job.rules.board_order(board.cards)))
            decisions, slots = decision_slots(chunk.nodes[0])
            arrays = tuple(np.zeros((slots[p], len(board.hands[p].numbers))) for p in (0, 1))
            for node, first in decisions.values():
                assert node.player is not None
                place = np.searchsorted(chunk.hands[node.player], board.hands[node.player].numbers)
                taken = chunk.frequencies[node.line][:, place]
                arrays[node.player][first : first + len(taken)] = taken
            layout.place(strategies, t, b, r, (arrays[0], arrays[1]))
    return strategies


def _require_same_game(first: SolveView, second: SolveView) -> None:
    a, b = first.problem, second.problem
    for what, same in (
        ("bet sizes, pot and stacks", first.job.tree_config == second.job.tree_config),
        ("board", a.history == b.history),
        *(
            (f"range of {seat}", np.array_equal(a.ranges[p], b.ranges[p]))
            for p, seat in enumerate(SEAT_NAMES)
        ),
    ):
        if not same:
            raise InputError(
                f"evaluate: expected the same {what} in {first.job.name} and {second.job.name}, found different ones"
            )


def _require_memory(layout: Layout, n_strategies: int) -> None:
    numbers = sum(
        slots * len(table.boards) * max(len(board.hands[p].numbers) for board in table.boards)
        for bets, table in zip(layout.betting, layout.boards, strict=True)
        for p, slots in enumerate(bets.forest.n_slots)
    )
    needed, available = 8 * numbers * n_strategies, available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"evaluate: the strategies of all boards need {size_text(needed)} of memory, and {size_text(available)} "
            "are available"
        )
