"""Best responses: of rows on the last round (a rival's answer), of single hands on one board, and over trees of boards.

Nothing is dealt after the last round, so there a player's best response to an opponent's strategy is known on the dealt
board: at each decision the player takes the action with the highest value, summed over the hands of a row (`answer`) or
for each hand alone (`respond_last`). The values of single hands at the leaves also give the value of each hand when the
traverser follows its own strategy.

A pass over a tree of boards (`walk`) computes best responses to average strategies, and the values of these strategies.
The opponent's reach goes down from board to board, and values come up. Boards are processed in depth-first order; a
board's values are complete when all boards that follow it are done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from compiled import inlined, kernel, part
from compiled.records import Packed, record_at, unpack, unpack_at
from compiled.several import (
    clamped,
    fill_each,
    int32_each,
    larger_each,
    load_each,
    scaled,
    shifted,
    stepped,
    store_each,
)
from compiled.vector import (
    WIDTH,
    Address,
    fill16,
    int32_at,
    int64_at,
    load16,
    maximum,
    put_int64,
    store,
    where_positive,
)
from solvers.sampled.boards import (
    HAND,
    LEAF,
    ROW_AND_HAND,
    Parent,
    ParentLink,
    enter_round,
    hand_up,
    hands_up,
    link_of,
    parent_of,
)
from solvers.sampled.decisions import leaf_values, other_reach, own_reach
from solvers.sampled.segments import (
    find_rows,
    find_segments,
    gather_rows,
    gather_segments,
    level_end,
    one_tie,
)
from solvers.sampled.terminals import (
    advance_level,
    clear_exits,
    clear_values,
    ending_totals,
    fold_values,
    follow,
    open_level,
    showdown_values,
)
from solvers.sampled.views import BLOCK, Cursor, all_hands, board_view, cursor, other_width, own_width
from solvers.steps import FOUR, ONE, ZERO, regret_match


@part
def answer(c: Cursor, n_groups: int) -> None:
    """Fill `Workspace.own` for a batch of lines of the last round: the reach of the traverser's best response.

    Call `ending_totals` first. The function changes the totals of showdowns; `restart_totals` restores them.
    ``n_groups`` is the number of the board's segments.
    """
    work = c.work
    clear_values(c)
    for g in range(n_groups):
        fold_values(c, g, int64_at(work.segment_row, g), False)
    g = 0
    while g < n_groups:
        end = open_level(c, g, n_groups)
        alone = end == g + 1
        while g < end:
            showdown_values(c, g, int64_at(work.segment_row, g), alone, False)
            g += 1
    for row in range(c.round.program.n_rows):
        if int32_at(work.row_hands, row) != 0:
            _choose(c, row)


@inlined
def _choose(c: Cursor, row: int) -> None:
    """Write the reach of the traverser's best response, for one row, into `Workspace.own`.

    If all actions of a decision have equal values, which they have where the opponent has no reach, the traverser
    follows its regrets.
    """
    x, work, batch, program = c.round, c.work, c.batch, c.round.program
    to = row * own_width(c)
    numbers = c.board.board_bucket * program.own_size + batch.own_first + WIDTH * row * batch.own_slots
    leaf_values(c, row)
    for k in range(batch.up, batch.up + batch.n_up):
        step = record_at(program.value_steps, k)
        value = load16(work.node, step.child)
        for a in range(1, step.n_actions):
            other = load16(work.node, step.child + WIDTH * a)
            value = maximum(value, other) if step.own == 1 else value + other
        store(work.node, step.node, value)
    store(work.own, to, fill16(ONE))
    down = batch.own_down
    for k in range(
        batch.up + batch.n_up - 1, batch.up - 1, -1
    ):  # parents first: in the order of the reach steps
        step = record_at(program.value_steps, k)
        if step.own == 0:
            continue
        parent = to + record_at(program.reach_steps, down).parent
        down += 1
        first = to + WIDTH * (1 + step.slot)
        regret_match(x.kind, x.own, numbers + WIDTH * step.slot, step.n_actions, work.own, parent, first)
        best, rest = load16(work.node, step.node), load16(work.own, parent)
        worst = best
        for a in range(step.n_actions):
            other = load16(work.node, step.child + WIDTH * a)
            worst = where_positive(worst - other, other, worst)
        for a in range(step.n_actions):
            value = load16(work.node, step.child + WIDTH * a)
            chosen = where_positive(best - value, fill16(ZERO), rest)
            rest = rest - chosen
            matched = load16(work.own, first + WIDTH * a)
            store(work.own, first + WIDTH * a, where_positive(best - worst, chosen, matched))


@inlined
def respond(c: Cursor, first: int, n: int, own: bool) -> None:
    """Compute best responses of n hands (at most 4) from hand ``first`` on, in a round before the last.

    Each hand's value at the start of the round goes to the beginning of `Workspace.nodes`. With ``own``, the hand's
    value when the traverser follows its strategy goes to `Workspace.own_values`.
    """
    work, batch, program = c.work, c.batch, c.round.program
    hands = clamped(stepped(FOUR, first, 1), first + n - 1)
    a, b = _card_offsets(c, hands)
    number = int32_each(c.board.rows, hands)
    rows = shifted(scaled(number, other_width(c)), c.at_rows)
    own_rows = shifted(scaled(number, own_width(c)), c.at_rows)
    at_hands = shifted(scaled(hands, WIDTH), c.at_hands)
    total = fill_each(FOUR, ZERO)
    if own:
        total = load_each(work.hand_exits, at_hands)
    pay = batch.pay + WIDTH * batch.n_show_leaves
    for k in range(batch.n_fold_leaves):
        leaf = record_at(program.leaves, batch.fold_leaves + k)
        met = _met(c, a, b, leaf.ending)
        if c.board.two:
            sigma = load_each(
                work.other, shifted(rows, int64_at(program.endings, batch.endings + leaf.ending))
            )
            met = met + sigma * load_each(work.reach, at_hands)
        value = met * load16(program.pay, pay)
        store_each(work.nodes, stepped(FOUR, BLOCK * leaf.node, WIDTH), value)
        if own:
            total = total + value * load_each(work.own, shifted(own_rows, leaf.own_sequence))
        pay += WIDTH
    for e in range(batch.n_exits):
        to = BLOCK * int64_at(program.exit_nodes, batch.exit_nodes + e)
        at = scaled(shifted(hands, (batch.first_exit + e) * work.n_most), WIDTH)
        store_each(work.nodes, stepped(FOUR, to, WIDTH), load_each(work.continuation, at))
    if own:
        store_each(work.own_values, scaled(hands, WIDTH), total)
    _best_up(c)


@inlined
def respond_last(c: Cursor, first: int, n: int, row: int, tied: bool, own: bool) -> None:
    """Compute best responses of n hands (at most 4) of one row from hand ``first`` on, in the last round.

    Call `advance_level` first, for the level (the run of segments that ties link) of the hands' segment. The values go
    to `Workspace.nodes` and, with ``own``, to `Workspace.own_values`. ``tied`` says whether all hands of the segment
    have equal strength.
    """
    hands = clamped(stepped(FOUR, first, 1), first + n - 1)
    within = fill_each(FOUR, ZERO)
    if not tied:
        within = load_each(c.work.within, scaled(hands, WIDTH))
    total = _leaves(c, hands, row, True, within, own)
    total = total + _leaves(c, hands, row, False, load_each(c.work.reach, scaled(hands, WIDTH)), own)
    if own:
        store_each(c.work.own_values, scaled(hands, WIDTH), total)
    _best_up(c)


@inlined
def _leaves(c: Cursor, hands: Any, row: int, shown: bool, beside: Any, own: bool) -> Any:
    """Write the values of four hands of one row at showdowns (if ``shown``) or at folds into `Workspace.nodes`.

    A value is the chips at the leaf times the sum of two numbers: the total of all opposing hands minus the totals of
    the hand's two cards (`_met`), and ``beside`` times the opponent's reach within the round. At folds ``beside`` is
    the opponent's reach at the start of the round with the hand's own two cards, which `_met` subtracts twice; at
    showdowns ``beside`` is `Workspace.within`, the result against the hands of the same segment.

    Returns:
        With ``own`` the sum of the values, each multiplied by the traverser's reach; otherwise zeros.
    """
    work, batch, program = c.work, c.batch, c.round.program
    leaves = batch.show_leaves if shown else batch.fold_leaves
    n_leaves = batch.n_show_leaves if shown else batch.n_fold_leaves
    pay = batch.pay if shown else batch.pay + WIDTH * batch.n_show_leaves
    first = batch.endings + (batch.n_folds if shown else 0)
    totals = (
        batch.n_folds + 2 * batch.n_shows if shown else 0
    )  # `advance_level` writes D two areas further on
    sigmas, own_row, (a, b) = row * other_width(c), row * own_width(c), _card_offsets(c, hands)
    total = fill_each(FOUR, ZERO)
    for k in range(n_leaves):
        leaf, sigma = record_at(program.leaves, leaves + k), fill16(ZERO)
        if shown or c.board.two:
            sigma = load16(work.other, sigmas + int64_at(program.endings, first + leaf.ending))
        value = (_met(c, a, b, totals + leaf.ending) + beside * sigma) * load16(program.pay, pay + WIDTH * k)
        store_each(work.nodes, stepped(FOUR, BLOCK * leaf.node, WIDTH), value)
        if own:
            total = total + value * load16(work.own, own_row + leaf.own_sequence)
    return total


@inlined
def _card_offsets(c: Cursor, hands: Any) -> Any:
    """Offsets of the two cards of each of four hands in the totals by card, ``[card, lane]``."""
    places = scaled(hands, 2)
    return (
        scaled(int32_each(c.board.cards, places), WIDTH),
        scaled(int32_each(c.board.cards, shifted(places, 1)), WIDTH),
    )


@inlined
def _met(c: Cursor, a: Any, b: Any, ending: int) -> Any:
    """Return, for each of four hands, the total of all opposing hands minus the totals of the hand's two cards.

    ``a`` and ``b`` are the offsets of the cards; ``ending`` is the number of the totals in `Workspace.totals`.
    """
    totals, d = c.work.totals, ending * c.board.stride
    of_cards = load_each(totals, shifted(a, d)) + load_each(totals, shifted(b, d))
    return load16(totals, d + all_hands(c.board)) - of_cards


@inlined
def _best_up(c: Cursor) -> None:
    """Compute the values of all decisions for 4 hands from the values of leaves, in `Workspace.nodes`.

    A decision of the traverser has the value of its best action, and a decision of the opponent the sum over its
    actions.
    """
    nodes, batch = c.work.nodes, c.batch
    for k in range(batch.up, batch.up + batch.n_up):
        step = record_at(c.round.program.value_steps, k)
        child = stepped(FOUR, BLOCK * step.child, WIDTH)
        value = load_each(nodes, child)
        for a in range(1, step.n_actions):
            other = load_each(nodes, shifted(child, WIDTH * BLOCK * a))
            value = larger_each(value, other) if step.own == 1 else value + other
        store_each(nodes, stepped(FOUR, BLOCK * step.node, WIDTH), value)


class Walk(NamedTuple):
    """Settings and buffers of a pass over boards.

    Attributes:
        best_from: first round in which the traverser plays best responses; in earlier rounds it follows its strategy.
        own: whether to compute also the values when the traverser follows its strategy in all rounds; only if
            ``best_from`` is 0.
        views, works: `RoundView` and `Workspace` of each round.
        out: array ``[batch][hand][lane]`` for the values of the hands on the first board, for batches of 16 lines.
    """

    best_from: int
    own: bool
    views: Packed
    works: Packed
    boards: Packed
    n_rounds: int
    out: Address


@kernel
def walk(w: Walk, first: int, last: int, depth: int, ends: bool) -> int:
    """Process boards ``first`` to ``last - 1`` of a pass, depth first; the pass begins with a board of the first round.

    ``depth`` is the result of the pass's previous call (-1 for the first call): the round of the last board, whose
    values are not yet complete. ``ends`` says whether this is the last call, which returns -1.
    """
    all_boards = unpack(w.boards)
    for number in range(first, last + ends):
        t = record_at(all_boards.nodes, number).round if number < last else 0
        while depth >= t:
            _go_up(w, depth)
            depth -= 1
        if number == last:
            break
        depth = t
        put_int64(unpack_at(w.works, t).open, 0, number)
        if t < w.n_rounds - 1:
            _go_down(w, t)
    return depth


@part
def _go_down(w: Walk, t: int) -> None:
    """Process round t's current board on the way down: compute reach, and clear buffers for values."""
    views, works = w.views, w.works
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board = board_view(all_boards, int64_at(work.open, 0))
    find_rows(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, False)
        enter_round(views, works, all_boards, t, c)
        other_reach(c)
        if t < w.best_from or w.own:
            own_reach(c)
            clear_exits(c)
    if t >= w.best_from:
        for leaf in range(x.program.n_exits):
            for n in range(0, WIDTH * board.n_hands, WIDTH):
                store(work.continuation, WIDTH * leaf * work.n_most + n, fill16(ZERO))


@part
def _go_up(w: Walk, t: int) -> None:
    """Process round t's current board on the way up: compute values, and add them to the previous round's board."""
    views, works = w.views, w.works
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board, last, above = board_view(all_boards, int64_at(work.open, 0)), t == w.n_rounds - 1, max(t - 1, 0)
    n_groups = find_segments(work, board, x.program.n_rows) if last else 0
    parent = parent_of(unpack_at(views, above), all_boards, unpack_at(works, above))
    into = LEAF if t > w.best_from else ROW_AND_HAND
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, last)
        link = link_of(c, parent, t == 0)
        if last:
            if not link.aligned:
                enter_round(views, works, all_boards, t, c)
            other_reach(c)
            gather_segments(c, parent, link, n_groups)
            ending_totals(c)
            if w.own:
                own_reach(c)
            _respond_last(c, parent, link, n_groups, into, w.own)
        else:
            if c.batch.n_folds > 0:
                gather_rows(c)
                ending_totals(c)
            if t >= w.best_from:
                _respond(c, parent, link, into, w.own)
            else:
                follow(c, parent, link)
        if t == 0:
            for h in range(board.n_hands):
                store(w.out, WIDTH * (number * work.n_most + h), load16(work.hand_values, WIDTH * h))
        elif not link.aligned:
            hands_up(c, parent, work.hand_values, into)
            if w.own:
                hands_up(c, parent, work.own_values, HAND)


@inlined
def _respond_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int, into: int, own: bool) -> None:
    """Compute all hands' best responses in the last round; add their values to the board of the previous round."""
    work = c.work
    g = h = 0
    while g < n_groups:
        end = level_end(work, g, n_groups)
        advance_level(c, g, end)
        while g < end:
            stop, row = int64_at(work.segment_end, g), int64_at(work.segment_row, g)
            while h < stop:
                n = min(BLOCK, stop - h)
                respond_last(c, h, n, row, one_tie(work, g), own)
                _responses_up(c, parent, link, h, n, into, own)
                h += n
            g += 1


@inlined
def _respond(c: Cursor, parent: Parent, link: ParentLink, into: int, own: bool) -> None:
    """Compute all hands' best responses before the last round; add their values to the board of the previous round."""
    for h in range(0, c.board.n_hands, BLOCK):
        n = min(BLOCK, c.board.n_hands - h)
        respond(c, h, n, own)
        _responses_up(c, parent, link, h, n, into, own)


@inlined
def _responses_up(
    c: Cursor, parent: Parent, link: ParentLink, first: int, n: int, into: int, own: bool
) -> None:
    for h in range(first, first + n):
        hand_up(c, parent, link, h, load16(c.work.nodes, WIDTH * (h - first)), into)
        if own and link.aligned:
            hand_up(c, parent, link, h, load16(c.work.own_values, WIDTH * h), HAND)
