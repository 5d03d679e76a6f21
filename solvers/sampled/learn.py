"""Learning from deals; each deal has one board per round, and all its rounds have the hands possible on the full board.

A player learns against the other player or, with CFR-BR (M. Johanson, N. Bard, N. Burch and M. Bowling 2012), partly
against its rival. Boards of one bucket share strategies. An opponent who follows the bucket's strategy cannot punish
mistakes on single boards, so an equilibrium of the abstract game loses much in the real game (K. Waugh et al. 2009). A
player's *rival* is an opponent who learns only how to beat this player. On the last round it plays a best response on
the dealt board (`respond.answer`), for which it needs no buckets. In earlier rounds it has the same buckets as the
player who sits in its seat, but regrets of its own, which count what the best responses win (the "hybrid" of Johanson
et al.). So a rival also reaches later rounds with hands that the players themselves would fold before, and the player
learns to play against such hands. Rivals' averages are of no interest and not computed.

The player's opponent plays in each round partly as the rival and partly as the other player. A player who meets only
its rival learns to lose little to whoever knows its strategy, but wins less from everybody else.

Player and rival learn from one pass over a deal. The rival's opponent is the player: the reach that the player computes
for its own play is what the rival reads as the opponent's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import inlined, kernel, part
from compiled.precision import DITHER_STEPS
from compiled.records import Packed, unpack, unpack_at
from compiled.vector import WIDTH, int64_at, load16, put_int64, store
from solvers.discount import Discount
from solvers.sampled.boards import ROW_AND_HAND, Parent, enter_round, hands_up, link_of, parent_of
from solvers.sampled.decisions import (
    count_visit,
    learns,
    other_reach,
    own_reach,
    sum_rows,
    update_averages,
    update_regrets,
    visit_factors,
)
from solvers.sampled.respond import answer
from solvers.sampled.segments import find_rows, find_segments, gather_rows, gather_segments
from solvers.sampled.terminals import clear_exits, ending_totals, follow, follow_last, restart_totals
from solvers.sampled.views import (
    BoardView,
    Cursor,
    RoundView,
    VisitFactors,
    Workspace,
    board_view,
    cursor,
    other_width,
)
from solvers.steps import ONE

Packs = tuple[Packed, Packed]


class Deals(NamedTuple):
    """Settings and buffers with which a thread learns from deals.

    Attributes:
        cfr_br: share of the opponents' play that is a rival's, 0 to 1.
        views: `RoundView` of each round, for each player against the other player.
        rivals: `RoundView` of each round, for the rival in each player's seat against the other player.
        works: `Workspace` of each round, for the traverser and for its rival.
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

    The number of deal 0 of ``w.boards`` in the solve is ``number``. A deal's number in the solve determines which
    player learns first on it, and how 16-bit numbers are rounded.
    """
    for deal in range(first, last):
        start, of_solve = deal * w.n_rounds, number + deal
        for turn in range(2):
            p = (of_solve + turn) & 1
            dither = (((2 * of_solve + p) * 2654435761) >> 8) & (DITHER_STEPS - 1)
            of_player, of_rival = (w.views[0], w.rivals[1]) if p == 0 else (w.views[1], w.rivals[0])
            lesson = Lesson(w.discount, w.cfr_br, (of_player, of_rival), w.works, w.boards, w.n_rounds)
            learn(lesson, start, dither)


class Lesson(NamedTuple):
    """Settings and buffers with which a player learns from a deal.

    In functions of a `Lesson`, ``learner`` is 0 for the player and 1 for its rival.

    Attributes:
        share: share of the opponent's play that is the rival's, 0 to 1; at 0 the rival neither plays nor learns.
        views: `RoundView` of each round for the player, and for the rival, whose opponent is the player.
        works: `Workspace` of each round for the player and for the rival. The rival's ``other`` is the player's
            ``own``.
    """

    discount: Discount
    share: float
    views: tuple[Packed, Packed]
    works: tuple[Packed, Packed]
    boards: Packed
    n_rounds: int


@part
def learn(w: Lesson, first: int, dither: int) -> None:
    """Update the regrets of the player and of its rival, and one player's averages, from one deal.

    With a rival, the player's own averages are updated, otherwise the averages of the other player.
    ``first`` is the number of the deal's board of the first round.
    """
    for t in range(w.n_rounds):
        put_int64(unpack_at(w.works[0], t).open, 0, first + t)
        if t < w.n_rounds - 1:
            _go_down(w, t, dither)
    _go_up_last(w, dither)
    for t in range(w.n_rounds - 2, -1, -1):
        _go_up(w, t, dither)


@part
def _go_down(w: Lesson, t: int, dither: int) -> None:
    """Compute reach on the board of round t, not the last round; update averages, and clear buffers for values."""
    x, y, work, rival, board = _views(w, t)
    boards = unpack(w.boards)
    f, learning = visit_factors(w.discount, x, board.board_bucket, dither), learns(x, board.board_bucket)
    find_rows(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c, d = cursor(x, work, board, number, False), cursor(y, rival, board, number, False)
        enter_round(w.views[0], w.works[0], boards, t, c)
        clear_exits(c)
        if w.share > 0.0:
            own_reach(d)
            _mix(w, c, d)
            enter_round(w.views[1], w.works[1], boards, t, d)
            _opponent_plays(d, f, learning)
            clear_exits(d)
        else:
            _opponent_plays(c, f, learning)
            own_reach(c)


@part
def _opponent_plays(c: Cursor, f: VisitFactors, learning: bool) -> None:
    other_reach(c)
    if learning:
        sum_rows(c)
        update_averages(c, f)


@part
def _go_up_last(w: Lesson, dither: int) -> None:
    """Compute values on the board of the last round, and update averages and the player's regrets."""
    t = w.n_rounds - 1
    x, y, work, rival, board = _views(w, t)
    f, learning = visit_factors(w.discount, x, board.board_bucket, dither), learns(x, board.board_bucket)
    n_groups = find_segments(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c, d = cursor(x, work, board, number, True), cursor(y, rival, board, number, True)
        if w.share > 0.0:
            _enter_last(w, 1, d, n_groups)
            other_reach(d)
            if learning:
                update_averages(d, f)
            ending_totals(d)
            answer(d, n_groups)
            _mix(w, c, d)
            if t > 0:
                restart_totals(d)
                _follow_up(w, 1, t, d, n_groups)
            _enter_last(w, 0, c, n_groups)
        else:
            other_reach(c)
            _enter_last(w, 0, c, n_groups)
            if learning:
                update_averages(c, f)
            own_reach(c)
        ending_totals(c)
        _follow_up(w, 0, t, c, n_groups)
        if learning:
            update_regrets(c, f)
    count_visit(x, board.board_bucket, learning)


@part
def _go_up(w: Lesson, t: int, dither: int) -> None:
    """Compute values on the board of a round before the last, and update the regrets of the player and its rival."""
    x, y, work, rival, board = _views(w, t)
    f, learning = visit_factors(w.discount, x, board.board_bucket, dither), learns(x, board.board_bucket)
    for number in range(x.program.n_batches):
        if w.share > 0.0:
            _values_up(w, 1, t, cursor(y, rival, board, number, False), f, learning)
        _values_up(w, 0, t, cursor(x, work, board, number, False), f, learning)
    count_visit(x, board.board_bucket, learning)


@part
def _values_up(w: Lesson, learner: int, t: int, c: Cursor, f: VisitFactors, learning: bool) -> None:
    """Compute the learner's values for a batch of lines of a round before the last, and update its regrets."""
    if c.batch.n_folds > 0:
        gather_rows(c)
        ending_totals(c)
    _follow_up(w, learner, t, c, 0)
    if learning:
        update_regrets(c, f)


@inlined
def _views(w: Lesson, t: int) -> tuple[RoundView, RoundView, Workspace, Workspace, BoardView]:
    work = unpack_at(w.works[0], t)
    board = board_view(unpack(w.boards), int64_at(work.open, 0))
    return unpack_at(w.views[0], t), unpack_at(w.views[1], t), work, unpack_at(w.works[1], t), board


@part
def _mix(w: Lesson, c: Cursor, d: Cursor) -> None:
    """Mix the rival's reach (cursor d) with the other player's; write it to `Workspace.other` of cursor c."""
    share, first = np.float32(w.share), c.at_rows
    if share < ONE:
        other_reach(c)
    for at in range(first, first + other_width(c) * c.round.program.n_rows, WIDTH):
        played = load16(d.work.own, at)
        if share < ONE:
            played = played * share + load16(c.work.other, at) * (ONE - share)
        store(c.work.other, at, played)


@part
def _enter_last(w: Lesson, learner: int, c: Cursor, n_groups: int) -> None:
    """Compute the reach of the learner's opponent at the start of the last round."""
    t, boards = w.n_rounds - 1, unpack(w.boards)
    parent = _parent(w, learner, t)
    link = link_of(c, parent, t == 0)
    if not link.aligned:
        enter_round(w.views[learner], w.works[learner], boards, t, c)
    gather_segments(c, parent, link, n_groups)


@part
def _follow_up(w: Lesson, learner: int, t: int, c: Cursor, n_groups: int) -> None:
    """Compute the learner's values of all hands for a batch of lines, and add them to the board of the previous round.

    Call `ending_totals` first.
    """
    parent = _parent(w, learner, t)
    link = link_of(c, parent, t == 0)
    if t == w.n_rounds - 1:
        follow_last(c, parent, link, n_groups)
    else:
        follow(c, parent, link)
    if t > 0 and not link.aligned:
        hands_up(c, parent, c.work.hand_values, ROW_AND_HAND)


@inlined
def _parent(w: Lesson, learner: int, t: int) -> Parent:
    above = max(t - 1, 0)
    work = unpack_at(w.works[learner], above)
    return parent_of(unpack_at(w.views[learner], above), unpack(w.boards), work)
