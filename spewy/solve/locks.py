"""Node locks: hands that play given frequencies at a decision of the betting tree, on one board or on all.

A :class:`NodeLock` speaks of lines, boards and hands; :func:`game_locks` finds their nodes, boards and rows. Boards
that are the same up to suits are solved once only by permutations that leave every lock as it is (:func:`keeping`), so
a lock that names suits or a board may make a solve larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import Deck
from buckets.symmetry import History, Perms, range_symmetries, stabilizer
from solvers.live import Lock

if TYPE_CHECKING:
    from spewy.solve.boards import BoardRound
    from spewy.solve.problem import Floats, Problem
    from spewy.solve.rounds import BettingRound


@dataclass(frozen=True)
class NodeLock:
    """What hands do at one decision.

    Attributes:
        line, player, round: the decision, who acts there, and its round of the game.
        history: the public cards where it applies; None: on every board.
        frequencies: ``[action, hand]`` over all hands of the deck, summing to 1 over the actions; NaN: free.
    """

    line: str
    player: int
    round: int
    history: History | None
    frequencies: Floats


def keeping(locks: Iterable[NodeLock], deck: Deck, hole_cards: int, perms: Perms) -> Perms:
    """Those of ``perms`` that leave each lock's board and frequencies unchanged, in their order."""
    for lock in locks:
        if lock.history is not None:
            perms = stabilizer(lock.history, perms)
        for frequencies in np.nan_to_num(lock.frequencies, nan=-1.0):
            perms = range_symmetries(frequencies, deck, hole_cards, perms)
    return perms


def game_locks(
    problem: Problem, betting: Sequence[BettingRound], boards: Sequence[BoardRound]
) -> tuple[Lock, ...]:
    """The problem's locks in the rounds of a live game, one for each node; none where their boards are not."""
    found: dict[tuple[int, int], Lock] = {}
    for lock in problem.locks:
        t = lock.round - boards[0].round
        if not 0 <= t < len(betting):
            continue
        n = next(
            n for n, node in enumerate(betting[t].nodes) if node.kind == "decision" and node.line == lock.line
        )
        width = max(len(board.rows[lock.player].hands) for board in boards[t].boards)
        blank = np.full((len(boards[t].boards), len(lock.frequencies), width), np.nan)
        there = found.setdefault((t, n), Lock(t, lock.player, n, blank)).frequencies
        for b, board in enumerate(boards[t].boards):
            if lock.history in (None, board.history):
                given = lock.frequencies[:, board.rows[lock.player].hands]
                mine = there[b, :, : given.shape[1]]
                np.copyto(mine, given, where=~np.isnan(given))
    return tuple(lock for lock in found.values() if not np.isnan(lock.frequencies).all())
