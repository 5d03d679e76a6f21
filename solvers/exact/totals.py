"""Step 2 of a pass: totals of the opponent's reach, overall and by card, at folds and showdowns.

Before the last round the totals are ``total = Σ reach`` and ``by_card[c] = Σ reach of hands with card c``. In the last
round also

    wins[h] = Σ reach of weaker hands + Σ reach of weaker and equal hands

where both sums leave out hands that share a card with h. Wins are computed by inclusion and exclusion (Johanson et al.
2011): hands of equal strength form groups, the groups are processed in ascending order, and a group reads the totals
before and after its own opposing hands are added. Slow, plain version:
`solvers.reference.kernels.terminal_values`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.several import fill_each, load_each, scaled, shifted, store_each
from compiled.vector import WIDTH, int32_at, int64_at
from solvers.exact.tables import HandTable
from solvers.exact.views import N_CARDS, Cursor, share

_ZERO: Any = np.float32(0)


@inlined
def opposing_totals(c: Cursor) -> None:
    """Compute totals of the opponent's reach on a board before the last round: ``work.total`` and ``work.by_card``."""
    first, last = share(c, c.round.program.n_leaf_pairs // WIDTH)
    for batch in range(first, last):
        _add_all(c, WIDTH * batch)


@inlined
def showdown_totals(c: Cursor) -> None:
    """Compute totals of the opponent's reach on a board of the last round: ``work.wins``, ``total``, ``by_card``.

    Leaf pairs (a fold, a showdown, or one of each, all after the same sequence of the opponent) are processed in
    batches of 16, two batches at a time, so that additions to the totals of one card need not wait for each other.
    """
    program = c.round.program
    batch, last = share(c, program.n_leaf_pairs // WIDTH)
    while batch < last and WIDTH * batch < program.win_start:
        _add_all(c, WIDTH * batch)
        batch += 1
    while batch + 1 < last:
        _count_wins(c, (WIDTH * batch, WIDTH * batch + WIDTH))
        batch += 2
    if batch < last:
        _count_wins(c, (WIDTH * batch,))


@inlined
def _add_all(c: Cursor, leaf_pair: int) -> None:
    """Sum the reach of all opposing hands, overall and by card, for 16 leaf pairs from number ``leaf_pair`` on.

    A leaf pair is a fold, a showdown, or one of each, all after the same sequence of the opponent. The sums go into
    ``work.total`` and ``work.by_card``.
    """
    x, first = c.round, WIDTH * int64_at(c.round.other.first_block, c.board)
    leaf_pairs = (leaf_pair,)
    total = _clear(c, leaf_pairs)
    for row in range(int64_at(x.other.count, c.board)):
        total = _add_hand(c, first, row, leaf_pairs, total)
    store_each(c.work.total, leaf_pairs, total)


@inlined
def _count_wins(c: Cursor, leaf_pairs: Any) -> None:
    """Compute the reach that loses to each hand (``work.wins``), the whole reach and the reach with each card.

    The docstring of the module has the formulas. The function processes one or two batches of 16 leaf pairs.

    A leaf pair is a fold, a showdown, or one of each, all after the same sequence of the opponent.

    Args:
        c: the board.
        leaf_pairs: number of the first leaf pair of each batch.
    """
    x, work, n_leaf_pairs = c.round, c.work, c.round.program.n_leaf_pairs
    own = WIDTH * int64_at(x.own.first_block, c.board)
    other = WIDTH * int64_at(x.other.first_block, c.board)
    total = _clear(c, leaf_pairs)
    h = o = 0
    for k in range(int64_at(x.classes.first, c.board), int64_at(x.classes.first, c.board + 1)):
        h_end, o_end = int32_at(x.classes.ends, 2 * k), int32_at(x.classes.ends, 2 * k + 1)
        for row in range(h, h_end):
            weaker = total - _sharing_a_card(c, own, row, leaf_pairs)
            store_each(work.wins, shifted(leaf_pairs, row * n_leaf_pairs), weaker)
        for row in range(o, o_end):
            total = _add_hand(c, other, row, leaf_pairs, total)
        for row in range(h, h_end):
            weaker_or_equal = total - _sharing_a_card(c, own, row, leaf_pairs)
            at = shifted(leaf_pairs, row * n_leaf_pairs)
            store_each(work.wins, at, load_each(work.wins, at) + weaker_or_equal)
        h, o = h_end, o_end
    store_each(work.total, leaf_pairs, total)


@inlined
def _clear(c: Cursor, leaf_pairs: Any):  # type: ignore[no-untyped-def]
    """Set ``work.by_card`` to 0 for one or two batches of 16 leaf pairs; return zeros to start the overall totals with.

    ``leaf_pairs`` has the number of each batch's first leaf pair.
    """
    nothing = fill_each(leaf_pairs, _ZERO)
    for card in range(N_CARDS):
        store_each(c.work.by_card, _of_card(leaf_pairs, WIDTH * card), nothing)
    return nothing


@inlined
def _add_hand(c: Cursor, first: int, row: int, leaf_pairs: Any, total):  # type: ignore[no-untyped-def]
    """Add the reach of one opposing hand to the totals by card; return ``total`` plus this reach.

    Args:
        c: the board.
        first: number in the round of the board's first opposing row.
        row: the hand's row on the board.
        leaf_pairs: number of the first leaf pair of each batch of 16.
        total: the overall totals so far, a vector for each batch.
    """
    by_card = c.work.by_card
    reach = load_each(c.work.theirs, shifted(leaf_pairs, row * c.round.program.n_leaf_pairs))
    a, b = cards_of(c.round.other, first + row)
    at_a, at_b = _of_card(leaf_pairs, a), _of_card(leaf_pairs, b)
    store_each(by_card, at_a, load_each(by_card, at_a) + reach)
    store_each(by_card, at_b, load_each(by_card, at_b) + reach)
    return total + reach


@inlined
def _sharing_a_card(c: Cursor, first: int, row: int, leaf_pairs: Any):  # type: ignore[no-untyped-def]
    """Return the opposing reach with the first card of a traverser's hand plus the reach with the hand's second card.

    Args:
        c: the board.
        first: number in the round of the traverser's first row on the board.
        row: the hand's row on the board.
        leaf_pairs: number of the first leaf pair of each batch of 16.
    """
    a, b = cards_of(c.round.own, first + row)
    return load_each(c.work.by_card, _of_card(leaf_pairs, a)) + load_each(
        c.work.by_card, _of_card(leaf_pairs, b)
    )


@inlined
def cards_of(hands: HandTable, row: int) -> tuple[int, int]:
    """Offsets of a hand's two cards in the totals by card, ``[card, 16 leaf pairs]``."""
    return WIDTH * int32_at(hands.cards, 2 * row), WIDTH * int32_at(hands.cards, 2 * row + 1)


@inlined
def _of_card(leaf_pairs: Any, card: int) -> Any:
    """Offsets in ``work.by_card`` for each batch of 16 leaf pairs, given a card's offset within a batch."""
    return shifted(scaled(leaf_pairs, N_CARDS), card)
