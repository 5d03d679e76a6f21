"""Best responses of single hands: values of each hand at all leaves, and the best action at each decision.

The values at the leaves also give the value of each hand when the traverser follows its own strategy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.records import record_at
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
from compiled.vector import WIDTH, fill16, int64_at, load16
from solvers.sampled.folds import FOUR
from solvers.sampled.views import BLOCK, Cursor, all_hands, other_width, own_width

_ZERO: Any = np.float32(0)


@inlined
def respond(c: Cursor, first: int, n: int, own: bool) -> None:
    """Compute best responses of ``n <= BLOCK`` hands from hand ``first`` on, in a round before the last.

    Each hand's value at the start of the round is written to the beginning of ``work.nodes``, and with ``own`` its
    value when the traverser follows its strategy to ``work.own_values``.
    """
    work, batch, program = c.work, c.batch, c.round.program
    hands = clamped(stepped(FOUR, first, 1), first + n - 1)
    a, b = _card_offsets(c, hands)
    number = int32_each(c.board.rows, hands)
    rows = shifted(scaled(number, other_width(c)), c.at_rows)
    own_rows = shifted(scaled(number, own_width(c)), c.at_rows)
    at_hands = shifted(scaled(hands, WIDTH), c.at_hands)
    total = fill_each(FOUR, _ZERO)
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
    """Compute best responses of ``n <= BLOCK`` hands of one row from hand ``first`` on, in the last round.

    `advance_level` must be called first, for the segment (run of hands of one row) to which the hands belong. The
    values are written where `respond` writes them. ``tied`` says whether all hands of the segment have equal strength.
    """
    hands = clamped(stepped(FOUR, first, 1), first + n - 1)
    within = fill_each(FOUR, _ZERO)
    if not tied:
        within = load_each(c.work.within, scaled(hands, WIDTH))
    total = _leaves(c, hands, row, True, within, own)
    total = total + _leaves(c, hands, row, False, load_each(c.work.reach, scaled(hands, WIDTH)), own)
    if own:
        store_each(c.work.own_values, scaled(hands, WIDTH), total)
    _best_up(c)


@inlined
def _leaves(c: Cursor, hands: Any, row: int, shown: bool, beside: Any, own: bool) -> Any:
    """Write the values of four hands of one row at showdowns (if ``shown``) or at folds into ``work.nodes``.

    The totals by card leave out some of the opponent's reach at the start of the round that a hand meets: ``beside``
    has it for each hand. At folds it is the reach with the hand's own two cards, which `_met` subtracts twice; at
    showdowns it is ``within``, the result against the hands of the same segment.

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
    total = fill_each(FOUR, _ZERO)
    for k in range(n_leaves):
        leaf, sigma = record_at(program.leaves, leaves + k), fill16(_ZERO)
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
    """Return the total of all opposing hands minus the totals of a hand's two cards, for each of four hands.

    Args:
        c: batch of lines on a board.
        a: offsets of the hands' first cards.
        b: offsets of their second cards.
        ending: index in ``work.totals`` of an opposing sequence that ends in folds or showdowns.
    """
    totals, d = c.work.totals, ending * c.board.stride
    of_cards = load_each(totals, shifted(a, d)) + load_each(totals, shifted(b, d))
    return load16(totals, d + all_hands(c.board)) - of_cards


@inlined
def _best_up(c: Cursor) -> None:
    """Compute the values of all decisions for `BLOCK` hands from the values of leaves, in ``work.nodes``.

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
