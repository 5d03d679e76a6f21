"""Passes over boards: the opponent's reach goes down from board to board, and values come up.

`walk` processes boards in depth-first order; a board's values are complete when all boards that follow it are done.
`learn_paths` learns from deals, in one pass for each player. A deal has one board per round, and all its rounds have
the hands that are possible on the full board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel, part
from compiled.precision import DITHER_STEPS
from compiled.records import Packed, record_at, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int32_at, int64_at, load16, put_int64, store
from solvers.discount import Discount
from solvers.reference.kernels import BEST, EVALUATE, UPDATE
from solvers.sampled.answer import answer, mirror_down
from solvers.sampled.folds import clear_values, fold_values, own_weights
from solvers.sampled.links import Parent, ParentLink, enter_round, hand_up, hands_up, link_of, parent_of
from solvers.sampled.reach import other_reach, own_reach, prefetch_row, update_averages
from solvers.sampled.respond import respond, respond_last
from solvers.sampled.segments import (
    find_rows,
    find_segments,
    gather_rows,
    gather_segments,
    in_level,
    level_end,
    one_tie,
)
from solvers.sampled.showdowns import advance_level, begin_mixed, ending_totals, showdown_values
from solvers.sampled.update import update_regrets
from solvers.sampled.views import (
    BLOCK,
    Cursor,
    RoundView,
    VisitFactors,
    all_hands,
    board_view,
    cards_of,
    cursor,
)

GOLDEN = (5**0.5 - 1) / 2
BELOW_ONE: Any = np.nextafter(np.float32(1), np.float32(0))
_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


class Walk(NamedTuple):
    """Settings and buffers of a pass over boards.

    Attributes:
        mode: `UPDATE` learns, `BEST` computes best responses, `EVALUATE` follows the strategy.
        best_from: first round with best responses; in earlier rounds a `BEST` pass follows the strategy.
        discount: discount of earlier visits of a board bucket.
        cfr_br: share, from 0 to 1, of the best response in the opponent's strategy on the last round (CFR-BR).
        views: `RoundView` of each round for the traverser; and of each round for the opponent as traverser.
        works: `Workspace` of each round for the traverser; and of each round for the opponent's best response.
        boards: the boards, see `Boards`.
        n_rounds: number of rounds of the game.
        out: array ``[batch][hand][lane]`` for the values of the hands on the first board, for batches of 16 lines.
    """

    mode: int
    best_from: int
    discount: Discount
    cfr_br: float
    views: tuple[Packed, Packed]
    works: tuple[Packed, Packed]
    boards: Packed
    n_rounds: int
    out: Address


@kernel
def walk(w: Walk, first: int, last: int, dither: int, depth: int, ends: bool) -> int:
    """Process boards ``first`` to ``last - 1`` of a pass, depth first; the pass begins with a board of the first round.

    Args:
        w: settings and buffers.
        first: number of the first board.
        last: number of the first board that is not processed.
        dither: rounding of 16-bit numbers, see `compiled.precision`.
        depth: result of the previous call for this pass; -1 for the first call.
        ends: whether this is the last call for this pass.

    Returns:
        The round of the last board, whose values are not yet complete; -1 after the last call.
    """
    return _walk(w, first, last, dither, depth, ends)


@part
def _walk(w: Walk, first: int, last: int, dither: int, depth: int, ends: bool) -> int:
    """Process boards, as `walk` describes."""
    all_boards = unpack(w.boards)
    for number in range(first, last + ends):
        t = record_at(all_boards.nodes, number).round if number < last else 0
        while depth >= t:
            _go_up(w, depth, dither)
            depth -= 1
        if number == last:
            break
        depth = t
        put_int64(unpack_at(w.works[0], t).open, 0, number)
        if t < w.n_rounds - 1:
            _go_down(w, t, dither)
            if _answers(w):
                mirror_down(w.views[1], w.works[1], w.boards, t)
    return depth


@inlined
def _answers(w: Walk) -> bool:
    """Whether the opponent's strategy is mixed with a best response (CFR-BR), which computes the traverser's reach."""
    return w.mode == UPDATE and w.cfr_br > 0


@inlined
def _mode_of(w: Walk, t: int) -> int:
    """Mode of a pass in round t: `EVALUATE` for a `BEST` pass before round ``w.best_from``, else ``w.mode``."""
    return EVALUATE if w.mode == BEST and t < w.best_from else w.mode


@kernel
def learn_paths(w: Walk, first: int, last: int, number: int) -> None:
    """Learn from deals ``first`` to ``last - 1``, on each deal for one player and then for the other player.

    Args:
        w: settings and buffers, with the views of player 0 as traverser.
        first: number of the first deal in ``w.boards``.
        last: number of the first deal that is left out.
        number: number of deal 0 of ``w.boards``, counted from the start of the solve. A deal's number in the solve
            determines which player learns first on it, and how 16-bit numbers are rounded.
    """
    for deal in range(first, last):
        start = deal * w.n_rounds
        for turn in range(2):
            p = (number + deal + turn) & 1
            dither = (((2 * (number + deal) + p) * 2654435761) >> 8) & (DITHER_STEPS - 1)
            views = w.views if p == 0 else (w.views[1], w.views[0])
            job = Walk(UPDATE, 0, w.discount, w.cfr_br, views, w.works, w.boards, w.n_rounds, w.out)
            _walk(job, start, start + w.n_rounds, dither, -1, True)


@inlined
def share(visit: int, gamma: float) -> float:
    """Weight of visit n = 1, 2, ... in the average over visits 1 to n: ``(γ + 1) / (n + γ)``.

    In the average over many visits, visit k then weighs ``k (k + 1) .. (k + γ - 1)``, which grows like ``k ** γ`` (O.
    Shamir and T. Zhang 2013). Averages of numbers in [0, 1] stay in [0, 1], however many visits there are.
    """
    return (gamma + 1.0) / (visit + gamma)


@inlined
def rounding(visits: int) -> np.floating[Any]:
    """Number in [0, 1) to add to an average before it is rounded down; over the visits these numbers spread evenly."""
    return min(np.float32(visits * GOLDEN % 1.0), BELOW_ONE)


@inlined
def _factors(discount: Discount, x: RoundView, board_bucket: int, dither: int) -> VisitFactors:
    """Weights of the next visit of a board bucket; ``dither`` is the rounding of 16-bit regrets."""
    visits = int64_at(x.visits, board_bucket)
    keep = _retained(visits, discount.alpha)
    sink = 0.0 if discount.clip else _retained(visits, discount.beta)
    part = np.float32(share(visits + 1, discount.gamma))
    factors: VisitFactors = VisitFactors(keep, np.float32(sink), part, dither, rounding(visits))
    return factors


@inlined
def _retained(visits: int, power: float) -> float:
    """Factor of earlier regrets after n visits: ``n^p / (n^p + 1)``, and 1 for p = ∞."""
    if power == np.inf:
        return 1.0
    weight = np.float64(visits) ** power
    return weight / (weight + 1.0)


@part
def _go_down(w: Walk, t: int, dither: int) -> None:
    """Process round t's current board on the way down: compute reach, update averages, and clear buffers for values.

    ``dither`` is the rounding of 16-bit numbers, see `compiled.precision`.
    """
    views, works, mode = w.views[0], w.works[0], _mode_of(w, t)
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board = board_view(all_boards, int64_at(work.open, 0))
    f = _factors(w.discount, x, board.board_bucket, dither)
    learns = mode == UPDATE and int64_at(x.ahead, board.board_bucket) == 0
    find_rows(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, False)
        enter_round(views, works, all_boards, t, c)
        other_reach(c)
        if learns:
            _sum_rows(c)
            update_averages(c, f)
        if mode != BEST:
            if not _answers(w):
                own_reach(c)
            for n in range(0, WIDTH * board.n_hands, WIDTH):
                store(work.hand_exits, c.at_hands + n, fill16(_ZERO))
            for n in range(0, work.n_ends, WIDTH):
                store(work.row_exits, c.at_exits + n, fill16(_ZERO))
    if mode == BEST:
        for leaf in range(x.program.n_exits):
            for n in range(0, WIDTH * board.n_hands, WIDTH):
                store(work.continuation, WIDTH * leaf * work.n_most + n, fill16(_ZERO))


@inlined
def _sum_rows(c: Cursor) -> None:
    """Fill ``work.row_reach``: the opponent's reach at the start of the round, summed over each row's hands."""
    for row in range(c.round.program.n_rows):
        store(c.work.row_reach, WIDTH * row, fill16(_ZERO))
    for h in range(c.board.n_hands):
        row = WIDTH * int32_at(c.board.rows, h)
        reach = load16(c.work.reach, c.at_hands + WIDTH * h)
        store(c.work.row_reach, row, load16(c.work.row_reach, row) + reach)


@part
def _go_up(w: Walk, t: int, dither: int) -> None:
    """Process round t's current board on the way up: compute values and update regrets.

    The values come from folds and showdowns and, before the last round, from the boards of the next round. They are
    added to the board of the previous round. ``dither`` is the rounding of 16-bit numbers, see `compiled.precision`.
    """
    views, works, mode, mode_above = w.views[0], w.works[0], _mode_of(w, t), _mode_of(w, t - 1)
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board, last, above = board_view(all_boards, int64_at(work.open, 0)), t == w.n_rounds - 1, max(t - 1, 0)
    f = _factors(w.discount, x, board.board_bucket, dither)
    learns = mode == UPDATE and int64_at(x.ahead, board.board_bucket) == 0
    n_groups = find_segments(work, board, x.program.n_rows) if last else 0
    parent = parent_of(unpack_at(views, above), all_boards, unpack_at(works, above), mode_above)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, last)
        link = link_of(c, parent, t == 0)
        if last:
            if not link.aligned:
                enter_round(views, works, all_boards, t, c)
            other_reach(c)
            gather_segments(c, parent, link, n_groups, True)
            if learns:
                update_averages(c, f)
            if _answers(w):
                answer(w.cfr_br, w.views[1], w.works[1], w.boards, t, number, n_groups, work.other)
            ending_totals(c)
            if mode == BEST:
                _respond_last(c, parent, link, n_groups)
            else:
                if not _answers(w):
                    own_reach(c)
                _follow_last(c, parent, link, n_groups)
        else:
            if c.batch.n_folds > 0:
                gather_rows(c)
                ending_totals(c)
            if mode == BEST:
                _respond(c, parent, link)
            else:
                _follow(c, parent, link)
        if learns:
            update_regrets(c, f)
        if t == 0:
            for h in range(board.n_hands):
                store(w.out, WIDTH * (number * work.n_most + h), load16(work.hand_values, WIDTH * h))
        elif not link.aligned:
            hands_up(c, parent)
    if learns:
        put_int64(x.visits, board.board_bucket, int64_at(x.visits, board.board_bucket) + 1)
    elif mode == UPDATE:
        put_int64(x.ahead, board.board_bucket, max(0, int64_at(x.ahead, board.board_bucket) - 1))


@inlined
def _respond_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Compute best responses of all hands on a board of the last round, for one batch of lines.

    The values are added to the board of the previous round. ``n_groups`` is the number of the board's segments (runs of
    hands of one row, in order of strength).
    """
    work = c.work
    g = h = 0
    while g < n_groups:
        end = level_end(work, g, n_groups)
        advance_level(c, g, end)
        while g < end:
            stop, row = int64_at(work.segment_end, g), int64_at(work.segment_row, g)
            while h < stop:
                n = min(BLOCK, stop - h)
                respond_last(c, h, n, row, one_tie(work, g))
                _responses_up(c, parent, link, h, n)
                h += n
            g += 1


@inlined
def _respond(c: Cursor, parent: Parent, link: ParentLink) -> None:
    """Compute best responses of all hands on a board before the last round, for one batch of lines.

    The values are added to the board of the previous round.
    """
    for h in range(0, c.board.n_hands, BLOCK):
        n = min(BLOCK, c.board.n_hands - h)
        respond(c, h, n)
        _responses_up(c, parent, link, h, n)


@inlined
def _responses_up(c: Cursor, parent: Parent, link: ParentLink, first: int, n: int) -> None:
    """Add the best-response values of hands ``first`` to ``first + n - 1`` to the board of the previous round."""
    for i in range(n):
        hand_up(c, parent, link, first + i, load16(c.work.nodes, WIDTH * i))


@inlined
def _follow_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Compute the values of all hands on a board of the last round when the traverser follows its own strategy.

    The values are added to the board of the previous round. ``n_groups`` is the number of the board's segments (runs of
    hands of one row, in order of strength).
    """
    work, n_rows = c.work, c.round.program.n_rows
    own_weights(c)
    clear_values(c)
    for g in range(n_groups):  # before all showdowns, since the totals of folds alone fill the L1 cache
        row = int64_at(work.segment_row, g)
        begin_mixed(c, g, row, one_tie(work, g) and not in_level(work, g, n_groups))
        fold_values(c, g, row, True)
    g = h = 0
    while g < n_groups:
        end = level_end(work, g, n_groups)
        alone = end == g + 1
        if not alone and c.batch.n_shows > 0:
            advance_level(c, g, end)
        while g < end:
            stop, inside = int64_at(work.segment_end, g), load16(work.inside, WIDTH * g)
            showdown_values(c, g, int64_at(work.segment_row, g), alone, True)
            if c.number + 1 < c.round.program.n_batches:
                for row in range(g * n_rows // n_groups, (g + 1) * n_rows // n_groups):
                    prefetch_row(c, row)
            if one_tie(work, g):
                while h < stop:
                    hand_up(c, parent, link, h, _mixed_value(c, g, h))
                    h += 1
            while h < stop:
                value = _mixed_value(c, g, h) + inside * load16(work.within, WIDTH * h)
                hand_up(c, parent, link, h, value)
                h += 1
            g += 1


@inlined
def _mixed_value(c: Cursor, g: int, h: int):  # type: ignore[no-untyped-def]
    """Value of hand h of group g at folds and showdowns, except for comparisons within the group."""
    work, first, (a, b) = c.work, g * c.board.stride, cards_of(c.board, h)
    met = load16(work.mixed, first + all_hands(c.board)) - (
        load16(work.mixed, first + a) + load16(work.mixed, first + b)
    )
    return met + load16(work.same, WIDTH * g) * load16(work.reach, c.at_hands + WIDTH * h)


@inlined
def _follow(c: Cursor, parent: Parent, link: ParentLink) -> None:
    """Compute the values of all hands on a board before the last round when the traverser follows its own strategy.

    The values are added to the board of the previous round.
    """
    own_weights(c)
    clear_values(c)
    for row in range(c.round.program.n_rows):
        if int32_at(c.work.row_hands, row) != 0:
            begin_mixed(c, row, row, False)
            fold_values(c, row, row, True)
    for h in range(c.board.n_hands):
        value = _mixed_value(c, int32_at(c.board.rows, h), h)
        hand_up(c, parent, link, h, value + load16(c.work.hand_exits, c.at_hands + WIDTH * h))
