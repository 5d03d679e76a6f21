"""Learn from deals; each deal has one board per round, and all its rounds have the hands possible on the full board."""

from __future__ import annotations

from typing import NamedTuple

from compiled import kernel
from compiled.precision import DITHER_STEPS
from compiled.records import Packed
from solvers.discount import Discount
from solvers.sampled.learn import Lesson, learn

Packs = tuple[Packed, Packed]


class Deals(NamedTuple):
    """Settings and buffers with which a thread learns from deals.

    Attributes:
        discount: discount of earlier visits of a board bucket.
        cfr_br: share of the opponents' play that is a rival's, 0 to 1.
        views: `RoundView` of each round, for each player against the other player.
        rivals: `RoundView` of each round, for the rival in each player's seat against the other player.
        works: `Workspace` of each round, for the traverser and for its rival.
        boards: the boards of the deals, see `Boards`.
        n_rounds: number of rounds of the game.
    """

    discount: Discount
    cfr_br: float
    views: Packs
    rivals: Packs
    works: Packs
    boards: Packed
    n_rounds: int


@kernel
def learn_paths(w: Deals, first: int, last: int, number: int) -> None:
    """Learn from deals ``first`` to ``last - 1``, on each deal for one player and then for the other player.

    Args:
        w: settings and buffers.
        first: number of the first deal in ``w.boards``.
        last: number of the first deal that is left out.
        number: number of deal 0 of ``w.boards``, counted from the start of the solve. A deal's number in the solve
            determines which player learns first on it, and how 16-bit numbers are rounded.
    """
    for deal in range(first, last):
        start, of_solve = deal * w.n_rounds, number + deal
        for turn in range(2):
            p = (of_solve + turn) & 1
            dither = (((2 * of_solve + p) * 2654435761) >> 8) & (DITHER_STEPS - 1)
            of_player, of_rival = (w.views[0], w.rivals[1]) if p == 0 else (w.views[1], w.rivals[0])
            lesson = Lesson(w.discount, w.cfr_br, (of_player, of_rival), w.works, w.boards, w.n_rounds)
            learn(lesson, start, dither)
