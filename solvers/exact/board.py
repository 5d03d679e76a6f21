"""Kernels for one board and one traverser: their arrays, and the four steps of a pass in the order of the formulas.

Each step is a function of a `Cursor`; `solvers.reference.kernels` has slow, plain versions. The words of the package
(block, leaf pair, sequence) are explained in `solvers.exact`.

1. `forward_reach` computes the opponent's reach, from the previous round down to folds, showdowns and chance leaves,
   for 16 hands at a time. With σ_a the frequency of action a, for hand h,

       reach[child a, h] = reach[decision, h] · σ_a[h]
       sum[slot, h] ← decay · sum[slot, h] + gain · reach[slot, h]

   The reach at leaves is transposed to a row of 16 leaves for each hand, as later steps need it.

2. `opposing_totals`, in the last round `showdown_totals`, add up ``total = Σ reach`` and ``by_card[c] = Σ reach of
   hands with card c`` at folds and showdowns. In the last round also

       wins[h] = Σ reach of weaker hands + Σ reach of weaker and equal hands

   where both sums leave out hands that share a card with h. Wins are computed by inclusion and exclusion (Johanson et
   al. 2011): hands of equal strength form groups, the groups are processed in ascending order, and a group reads the
   totals before and after its own opposing hands are added.

3. `terminal_values`, a part of step 4, computes the values of folds and showdowns from the chips ``fold_pay``,
   ``win_pay`` and ``rake_pay`` of `solvers.exact.tables.Program`. With
   ``rest[h] = total − by_card[a] − by_card[b]`` for a hand h of cards a and b,

       T[h] = rest[h] + reach of the opponent's hand with the same two cards
       D[h] = wins[h] − rest[h]
       fold = fold_pay · T
       showdown = win_pay · D + rake_pay · T

   T is the opposing reach compatible with h, and D the opposing reach that h beats minus the reach that beats h.

4. `backward_values` carries values up the betting tree, for 16 of the traverser's hands at a time:

       v = Σ_a σ_a v_a at the traverser's decisions (max_a v_a in a best response), v = Σ_a v_a at the opponent's
       R_a ← R_a · discount + (v_a − v), at least 0 with ``clip``
       v ← v + ahead · (Σ_a σ'_a v_a − v), if the variant looks ahead

   Here v is the value of a decision, v_a the value after action a, σ_a the action's frequency, R_a its regret, and σ'_a
   its frequency after the update.

The table lists one thread's buffers, with sizes in bytes for a river with 400 hands on each side, and the processor
cache that each buffer is meant for. H and H' are the numbers of hands of the traverser and of the opponent on a board,
N of nodes, S of the opponent's sequences, E of chance leaves and R of betting lines that enter the round. L is the
number (40) of leaf pairs. An axis of 16 is a block of 16 hands, or a batch of 16 leaf pairs.

| buffer | shape | bytes | written by, read by | cache |
|---|---|---|---|---|
| reach | [S][16] | 64 S, 6 KiB | step 1, for one block of hands at a time | L1 |
| value | [N + 1][16] | 64 N, 8 KiB | steps 3 and 4, for one block at a time | L1 |
| rows_win, rows_total | [16][16] | 1 KiB each | step 3, one batch of leaf pairs at a time | L1 |
| by_card | [L / 16][53][16] | 212 L, 8 KiB | steps 2, 3 | L1 |
| total | [L] | 4 L | steps 2, 3 | L1 |
| theirs | [L / 16][H' + 1][16] | 4 H' L, 64 KiB | steps 1, 2, 3 | L2 |
| wins | [L / 16][H][16] | 4 H L, 64 KiB | steps 2, 3 | L2 |
| exits | [H' + 1][E] | 4 H' E | step 1, boards of the next round | L2 |
| continuation | [H][E] | 4 H E | boards of the next round, step 4 | L2 |
| roots | [H][R] | 4 H R | step 4, boards of the previous round | L2 |

Regrets and sums, ``[block][slot][16]``, are read and written once per pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.precision import load_as, prefetch_as, store_as
from compiled.records import record_at
from compiled.several import (
    chain,
    fill_each,
    larger_each,
    load_each,
    load_each_as,
    positive_each,
    prefetch_each,
    scaled,
    shifted,
    stepped,
    store_each,
    store_each_as,
    total_each,
)
from compiled.vector import (
    TILE,
    WIDTH,
    Address,
    fill16,
    int32_at,
    int64_at,
    load16,
    maximum,
    put_int64,
    store,
    transpose8,
    transpose8_even,
    transpose16,
    transpose16_to,
    where_number,
)
from solvers.exact.tables import ClassTable, HandTable, Program
from solvers.game import BEST, UPDATE
from solvers.steps import (
    LEAST,
    ONE,
    THREE,
    TWO,
    ZERO,
    ReachStep,
    ValueStep,
    cards_of,
    matched,
    regret_match,
)

N_CARDS = 53
"""53: the number of cards of a deck, and one more for padding rows."""
AHEAD = 2 * WIDTH
"""Distance at which kernels prefetch, in array elements per slot: two blocks of 16 hands."""


class PassFactors(NamedTuple):
    """Mode of a pass, and weights of its iteration.

    Attributes:
        mode: `UPDATE`, `BEST` or `EVALUATE`: what the pass does at the traverser's decisions.
        iteration: index of the iteration in the plan's numbers.
        positive, negative: factors of earlier positive and of earlier negative regrets.
        clip: whether negative regrets become 0.
        decay, gain: factor of the earlier strategy sum, and factor of the reach that is added to it.
        dither: rounding of 16-bit numbers, see `compiled.precision`.
        ahead: weight of the strategy after the update in the values that an `UPDATE` pass carries up the tree.
        predicted: weight of the instantaneous regrets, which strategies add to the regrets.
        tremble: probability with which the opponent takes an action at random at each decision of an `UPDATE` pass.
    """

    mode: int
    iteration: int
    positive: float
    negative: float
    clip: bool
    decay: float
    gain: float
    dither: int
    ahead: float
    predicted: float
    tremble: float


class RoundView(NamedTuple):
    """Arrays of a round, as a pass for one traverser needs them: betting, both players' hands, regrets and sums.

    Regrets and sums are flat arrays ``[block, slot, 16 hands]``; `solvers.exact` explains blocks and slots.

    Attributes:
        kind: precision of regrets and sums: `SINGLE` or `HALF`.
        own_gain: factor by which instantaneous regrets are multiplied before they are added to stored regrets.
        own_current, other_current: regrets, predicted regrets or sums of the traverser and of the opponent, from which
            a pass takes the strategies; an `UPDATE` pass changes ``own_current``.
        own_regrets: the traverser's regrets, if ``own_current`` has predicted regrets.
        other_sums: the opponent's strategy sums, which an `UPDATE` pass increases.
        own_locks, other_locks: frequencies ``[block, action, 16 hands]`` of one lock after another; NaN for hands that
            are not locked.
        own_lock_first, other_lock_first: offset of each lock's frequencies.
    """

    program: Program
    own: HandTable
    other: HandTable
    classes: ClassTable
    kind: np.signedinteger[Any]
    own_gain: np.floating[Any]
    own_current: Address
    own_regrets: Address
    other_current: Address
    other_sums: Address
    own_locks: Address
    own_lock_first: Address
    other_locks: Address
    other_lock_first: Address


class Workspace(NamedTuple):
    """Flat buffers of a thread for a round, of which kernels get the addresses.

    A *leaf pair* is a fold, a showdown, or one of each after the same sequence of the opponent's actions; see
    `solvers.exact`.

    Attributes:
        reach: ``[opponent's sequence][16 hands]``, the opponent's reach.
        value: ``[node][16 hands]``, the traverser's values.
        theirs: ``[batch][opponent's row][16 leaf pairs]``, the opponent's reach.
        wins: ``[batch][traverser's row][16 leaf pairs]``, reach of weaker hands plus reach of weaker and equal hands.
        total: ``[leaf pair]``, the opponent's whole reach.
        by_card: ``[batch][card][16 leaf pairs]``, the opponent's reach with each card.
        rows_win, rows_total: ``[16 hands][16 leaf pairs]``, values of showdowns and of folds, before they are
            transposed into ``value``.
        exits: ``[opponent's row][chance leaf]``, the opponent's reach.
        continuation: ``[traverser's row][chance leaf]``, values from the boards of the next round.
        leaf_values: ``[chance leaf][16 hands]``, the values of ``continuation``, transposed for 16 hands.
        roots: ``[traverser's row][betting line]``, values at the start of the round.
        places: ``[16 hands]``, offset in `Entry.reach` of the row with the reach of each hand.
    """

    reach: Address
    value: Address
    theirs: Address
    wins: Address
    total: Address
    by_card: Address
    rows_win: Address
    rows_total: Address
    exits: Address
    continuation: Address
    leaf_values: Address
    roots: Address
    places: Address


class Entry(NamedTuple):
    """The opponent's reach at the start of a round on a board, as rows of the previous round's board.

    Attributes:
        reach: flat ``[row of the previous board, betting line that enters this round]``.
        stride: number of elements in a row of ``reach``.
        parent_row: ``[row of this board]``, the row of ``reach`` with the same hand, 32-bit.
    """

    reach: Address
    stride: int
    parent_row: Address


class Cursor(NamedTuple):
    """The board that a thread processes in a pass, and the thread's share of each step on it.

    Attributes:
        part, n_parts: the thread does part ``part`` of ``n_parts`` equal parts of each step.
    """

    round: RoundView
    work: Workspace
    factors: PassFactors
    board: int
    part: int
    n_parts: int


@inlined
def share(c: Cursor, n: int) -> tuple[int, int]:
    """Range of the n items of a step that a thread processes: the first item, and the item after the last."""
    return c.part * n // c.n_parts, (c.part + 1) * n // c.n_parts


@inlined
def blocks_of(hands: HandTable, board: int) -> tuple[int, int]:
    """First block (of 16 hands) of a board, and number of the board's blocks."""
    first = int64_at(hands.first_block, board)
    return first, int64_at(hands.first_block, board + 1) - first


@inlined
def theirs_at(c: Cursor, leaf_pair: int) -> int:
    """Offset in `Workspace.theirs` of the batch of leaf pairs that begins with ``leaf_pair``."""
    _, n_blocks = blocks_of(c.round.other, c.board)
    return leaf_pair * (WIDTH * n_blocks + 1)


@inlined
def wins_at(c: Cursor, leaf_pair: int) -> int:
    """Offset in `Workspace.wins` of the batch of leaf pairs that begins with ``leaf_pair``."""
    _, n_blocks = blocks_of(c.round.own, c.board)
    return leaf_pair * WIDTH * n_blocks


@inlined
def forward_reach(c: Cursor, entry: Entry) -> None:
    """Step 1: compute the opponent's reach at all leaves of a board, from the reach at the start of the round.

    The reach goes into `Workspace.theirs` at folds and showdowns, and into `Workspace.exits` at chance leaves. An
    `UPDATE` pass also adds the reach to the opponent's strategy sums.
    """
    x, work, program = c.round, c.work, c.round.program
    first_block, n_blocks = blocks_of(x.other, c.board)
    start, stop = share(c, n_blocks)
    for i in range(start, stop):
        block, row = first_block + i, WIDTH * i
        for h in range(WIDTH):
            put_int64(work.places, h, int32_at(entry.parent_row, row + h) * entry.stride)
        for root in range(0, program.n_roots, TILE):
            for half in range(0, WIDTH, TILE):
                transpose8(entry.reach, work.places, half, root, work.reach, WIDTH * root + half, WIDTH)
        for k in range(program.n_down):
            step = record_at(program.down, k)
            at = WIDTH * (block * program.n_other_slots + step.slot)
            child = WIDTH * (program.n_roots + step.slot)
            if step.n_actions == 2:
                _play(c, step, stepped(TWO, at, WIDTH), stepped(TWO, child, WIDTH))
            elif step.n_actions == 3:
                _play(c, step, stepped(THREE, at, WIDTH), stepped(THREE, child, WIDTH))
            else:
                regret_match(x.kind, x.other_current, at, step.n_actions, work.reach, step.parent, child)
                entering = load16(work.reach, step.parent)
                for a in range(step.n_actions):
                    taken = _trembled(
                        c, load_each(work.reach, (child + WIDTH * a,)), entering, step.n_actions
                    )
                    store_each(work.reach, (child + WIDTH * a,), taken)
                    _grow_sums(c, (at + WIDTH * a,), taken)
            if step.lock >= 0:
                _impose_lock(c, step, block, child)
        for batch in range(0, program.n_leaf_pairs, WIDTH):
            to = theirs_at(c, batch) + WIDTH * row
            for half in range(0, WIDTH, TILE):
                transpose16(work.reach, program.leaf_pairs, batch + half, work.theirs, to + half, WIDTH)
        for leaf in range(0, program.exit_width, TILE):
            to = row * program.exit_width + leaf
            transpose16(work.reach, program.exits, leaf, work.exits, to, program.exit_width)
    zero_row = WIDTH * n_blocks
    for batch in range(0, program.n_leaf_pairs, WIDTH):
        store(work.theirs, theirs_at(c, batch) + WIDTH * zero_row, fill16(ZERO))
    for leaf in range(program.exit_width):
        store(work.exits, zero_row * program.exit_width + leaf, ZERO)


@inlined
def _play(c: Cursor, step: ReachStep, at: Any, children: Any) -> None:
    """Compute the reach of 16 opposing hands after each action of a decision; an `UPDATE` pass adds it to the sums.

    ``at`` has the actions' offsets in regrets and sums, and ``children`` their offsets in `Workspace.reach`.
    """
    x, reach = c.round, c.work.reach
    entering = load16(reach, step.parent)
    shares = _trembled(c, matched(x.kind, x.other_current, at, entering), entering, len(at))
    store_each(reach, children, shares)
    _grow_sums(c, at, shares)


@inlined
def _trembled(c: Cursor, shares, entering, n_actions: int):  # type: ignore[no-untyped-def]
    """Return the reach after actions of a decision; an `UPDATE` pass mixes it with random play if the variant trembles.

    ``shares`` is the reach without trembles, ``entering`` the reach before the decision of ``n_actions`` actions.
    """
    f = c.factors
    if f.mode == UPDATE and f.tremble > ZERO:
        return shares + (shares * (-ONE) + entering * (ONE / np.float32(n_actions))) * f.tremble
    return shares


@inlined
def _grow_sums(c: Cursor, at: Any, reach) -> None:  # type: ignore[no-untyped-def]
    """In an `UPDATE` pass, discount the sums at offsets ``at`` and add ``reach``; prefetch a later block's numbers."""
    x, f = c.round, c.factors
    ahead = shifted(at, AHEAD * x.program.n_other_slots)
    prefetch_each(x.kind, x.other_current, ahead)
    if f.mode == UPDATE and f.gain > ZERO:
        prefetch_each(x.kind, x.other_sums, ahead)
        sums = load_each_as(x.kind, x.other_sums, at) * f.decay + reach * f.gain
        store_each_as(x.kind, x.other_sums, at, sums, f.dither)


@inlined
def _impose_lock(c: Cursor, step: ReachStep, block: int, child: int) -> None:
    """Replace the reach of locked hands after a locked decision by their reach with the locked frequencies.

    The strategy sums keep the reach without locks, because nothing uses the sums of locked hands.
    """
    x, work = c.round, c.work
    lock = int64_at(x.other_lock_first, step.lock) + WIDTH * block * step.n_actions
    entering = load16(work.reach, step.parent)
    for a in range(step.n_actions):
        frequency, free = load16(x.other_locks, lock + WIDTH * a), load16(work.reach, child + WIDTH * a)
        store(work.reach, child + WIDTH * a, where_number(frequency, frequency * entering, free))


@inlined
def opposing_totals(c: Cursor) -> None:
    """Step 2 in a round before the last: fill ``total`` and ``by_card`` of `Workspace`."""
    first, last = share(c, c.round.program.n_leaf_pairs // WIDTH)
    for batch in range(first, last):
        _add_all(c, WIDTH * batch)


@inlined
def showdown_totals(c: Cursor) -> None:
    """Step 2 in the last round: fill ``wins``, ``total`` and ``by_card`` of `Workspace`."""
    program = c.round.program
    batch, last = share(c, program.n_leaf_pairs // WIDTH)
    while batch < last and WIDTH * batch < program.win_start:
        _add_all(c, WIDTH * batch)
        batch += 1
    while (
        batch + 1 < last
    ):  # two batches at a time: additions to one card's totals need not wait for each other
        _count_wins(c, (WIDTH * batch, WIDTH * batch + WIDTH))
        batch += 2
    if batch < last:
        _count_wins(c, (WIDTH * batch,))


@inlined
def _add_all(c: Cursor, leaf_pair: int) -> None:
    """Fill ``total`` and ``by_card`` of `Workspace` for 16 leaf pairs from number ``leaf_pair`` on."""
    x, first = c.round, WIDTH * int64_at(c.round.other.first_block, c.board)
    leaf_pairs = (leaf_pair,)
    total, theirs = _clear(c, leaf_pairs), (theirs_at(c, leaf_pair),)
    for row in range(int64_at(x.other.count, c.board)):
        total = _add_hand(c, first, row, leaf_pairs, theirs, total)
    store_each(c.work.total, leaf_pairs, total)


@inlined
def _count_wins(c: Cursor, leaf_pairs: Any) -> None:
    """Fill ``wins``, ``total``, ``by_card`` of `Workspace` for the batches that begin at leaf pairs ``leaf_pairs``."""
    x, work = c.round, c.work
    wins, theirs = scaled(leaf_pairs, wins_at(c, 1)), scaled(leaf_pairs, theirs_at(c, 1))
    own = WIDTH * int64_at(x.own.first_block, c.board)
    other = WIDTH * int64_at(x.other.first_block, c.board)
    total = _clear(c, leaf_pairs)
    h = o = 0
    for k in range(int64_at(x.classes.first, c.board), int64_at(x.classes.first, c.board + 1)):
        h_end, o_end = int32_at(x.classes.ends, 2 * k), int32_at(x.classes.ends, 2 * k + 1)
        for row in range(h, h_end):
            weaker = total - _sharing_a_card(c, own, row, leaf_pairs)
            store_each(work.wins, shifted(wins, WIDTH * row), weaker)
        for row in range(o, o_end):
            total = _add_hand(c, other, row, leaf_pairs, theirs, total)
        for row in range(h, h_end):
            weaker_or_equal = total - _sharing_a_card(c, own, row, leaf_pairs)
            at = shifted(wins, WIDTH * row)
            store_each(work.wins, at, load_each(work.wins, at) + weaker_or_equal)
        h, o = h_end, o_end
    store_each(work.total, leaf_pairs, total)


@inlined
def _clear(c: Cursor, leaf_pairs: Any):  # type: ignore[no-untyped-def]
    """Set `Workspace.by_card` to 0 for one or two batches of leaf pairs; return zeros to start the totals with."""
    nothing = fill_each(leaf_pairs, ZERO)
    for card in range(N_CARDS):
        store_each(c.work.by_card, _of_card(leaf_pairs, WIDTH * card), nothing)
    return nothing


@inlined
def _add_hand(c: Cursor, first: int, row: int, leaf_pairs: Any, theirs: Any, total):  # type: ignore[no-untyped-def]
    """Add the reach of one opposing hand to the totals by card; return ``total`` plus this reach.

    ``first`` is the number in the round of the board's first opposing row, and ``row`` the hand's row on the board.
    ``theirs`` has the offset of each batch in `Workspace.theirs`.
    """
    by_card = c.work.by_card
    reach = load_each(c.work.theirs, shifted(theirs, WIDTH * row))
    a, b = cards_of(c.round.other, first + row)
    at_a, at_b = _of_card(leaf_pairs, a), _of_card(leaf_pairs, b)
    store_each(by_card, at_a, load_each(by_card, at_a) + reach)
    store_each(by_card, at_b, load_each(by_card, at_b) + reach)
    return total + reach


@inlined
def _sharing_a_card(c: Cursor, first: int, row: int, leaf_pairs: Any):  # type: ignore[no-untyped-def]
    """Return the opposing reach with the first card of a traverser's hand plus the reach with its second card."""
    a, b = cards_of(c.round.own, first + row)
    return load_each(c.work.by_card, _of_card(leaf_pairs, a)) + load_each(
        c.work.by_card, _of_card(leaf_pairs, b)
    )


@inlined
def _of_card(leaf_pairs: Any, card: int) -> Any:
    """Offsets in `Workspace.by_card` for each batch of 16 leaf pairs, given a card's offset within a batch."""
    return shifted(scaled(leaf_pairs, N_CARDS), card)


@inlined
def terminal_values(c: Cursor, block: int, row: int, last: bool) -> None:
    """Step 3: write the values of 16 of the traverser's hands at folds and showdowns to `Workspace.value`; padding: 0.

    ``block`` is the number of the hands' block in the round, and ``row`` the block's first row on the board.
    """
    x, s, program = c.round, c.work, c.round.program
    win_start = program.win_start if last else program.n_leaf_pairs
    n_real = min(WIDTH, int64_at(x.own.count, c.board) - row)
    for i in range(n_real, WIDTH):
        store(s.rows_total, WIDTH * i, fill16(ZERO))
        store(s.rows_win, WIDTH * i, fill16(ZERO))
    for leaf_pair in range(0, program.n_leaf_pairs, WIDTH):
        needs_total, needs_win = leaf_pair < program.total_end, leaf_pair >= win_start
        if not needs_win:  # constants, for a loop over hands without conditions
            _rows_of_values(c, block, row, n_real, leaf_pair, True, False)
        elif not needs_total:
            _rows_of_values(c, block, row, n_real, leaf_pair, False, True)
        else:
            _rows_of_values(c, block, row, n_real, leaf_pair, True, True)
        for half in range(0, WIDTH, TILE):
            if needs_total:
                transpose16_to(s.rows_total, half, WIDTH, s.value, program.folds, leaf_pair + half)
            if needs_win:
                transpose16_to(s.rows_win, half, WIDTH, s.value, program.showdowns, leaf_pair + half)


@inlined
def _rows_of_values(
    c: Cursor, block: int, row: int, n_hands: int, leaf_pair: int, needs_total: bool, needs_win: bool
) -> None:
    """Write the values of ``n_hands`` hands at 16 folds (``needs_total``) and 16 showdowns (``needs_win``) into rows.

    The folds and showdowns belong to the leaf pairs from number ``leaf_pair`` on.
    """
    x, s, program = c.round, c.work, c.round.program
    by_card, total = N_CARDS * leaf_pair, load16(s.total, leaf_pair)
    theirs, wins = theirs_at(c, leaf_pair), wins_at(c, leaf_pair) + WIDTH * row
    fold_pay, win_pay = load16(program.fold_pay, leaf_pair), load16(program.win_pay, leaf_pair)
    for i in range(n_hands):
        h = WIDTH * block + i
        a, b = cards_of(x.own, h)
        rest = total - (load16(s.by_card, by_card + a) + load16(s.by_card, by_card + b))
        compatible = rest
        if needs_total:
            compatible = rest + load16(s.theirs, theirs + WIDTH * int32_at(x.own.same_cards, h))
            store(s.rows_total, WIDTH * i, compatible * fold_pay)
        if needs_win:
            won = (load16(s.wins, wins + WIDTH * i) - rest) * win_pay
            if needs_total and program.raked:
                won = won + compatible * load16(program.rake_pay, leaf_pair)
            store(s.rows_win, WIDTH * i, won)


@inlined
def backward_values(c: Cursor, probability: float, last: bool) -> None:
    """Steps 3 and 4: compute the traverser's values at the start of a round; an `UPDATE` pass also updates the regrets.

    The values go into `Workspace.roots`, ``[row, betting line that enters the round]``. ``probability`` is a factor of
    the values at chance leaves, which come from `Workspace.continuation`; ``last`` says whether this is the last round.
    """
    x, work, program = c.round, c.work, c.round.program
    n_roots = program.root_width
    first_block, n_blocks = blocks_of(x.own, c.board)
    start, stop = share(c, n_blocks)
    for i in range(start, stop):
        block, row = first_block + i, WIDTH * i
        terminal_values(c, block, row, last)
        _continue(c, row, probability)
        for k in range(program.n_up):
            step = record_at(program.up, k)
            if step.own == 0:
                _add_values(c, step)
            elif c.factors.mode == UPDATE:
                _update_regrets(c, step, block)
            else:
                _respond(c, step, block)
        for root in range(0, n_roots, TILE):
            for half in range(0, WIDTH, TILE):
                to = (row + half) * n_roots + root
                transpose8_even(work.value, WIDTH * root + half, WIDTH, work.roots, to, n_roots)


@inlined
def _continue(c: Cursor, row: int, probability: float) -> None:
    """Write the values at chance leaves of the 16 hands from ``row`` on into `Workspace.value`."""
    work, program, n_exits = c.work, c.round.program, c.round.program.exit_width
    for leaf in range(0, n_exits, TILE):
        for half in range(0, WIDTH, TILE):
            at, to = (row + half) * n_exits + leaf, WIDTH * leaf + half
            transpose8_even(work.continuation, at, n_exits, work.leaf_values, to, WIDTH)
    for leaf in range(program.n_exits):
        value = load16(work.leaf_values, WIDTH * leaf) * probability
        store(work.value, int64_at(program.exit_nodes, leaf), value)


@inlined
def _add_values(c: Cursor, step: ValueStep) -> None:
    value = c.work.value
    if step.n_actions == 2:
        total = total_each(load_each(value, stepped(TWO, step.child, WIDTH)))
    elif step.n_actions == 3:
        total = total_each(load_each(value, stepped(THREE, step.child, WIDTH)))
    else:
        total = load16(value, step.child)
        for a in range(1, step.n_actions):
            total = total + load16(value, step.child + WIDTH * a)
    store(value, step.node, total)


@inlined
def _update_regrets(c: Cursor, step: ValueStep, block: int) -> None:
    at = WIDTH * (block * c.round.program.n_own_slots + step.slot)
    if step.n_actions == 2 and step.lock < 0:
        _learn(c, step, stepped(TWO, at, WIDTH), stepped(TWO, step.child, WIDTH))
    elif step.n_actions == 3 and step.lock < 0:
        _learn(c, step, stepped(THREE, at, WIDTH), stepped(THREE, step.child, WIDTH))
    else:
        _learn_any(c, step, block, at)


@inlined
def _learn(c: Cursor, step: ValueStep, at: Any, children: Any) -> None:
    """Compute the value of a traverser's decision without a lock, and update its regrets, in registers.

    ``at`` has the actions' offsets in the regrets, and ``children`` their offsets in `Workspace.value`.
    """
    x, f, value = c.round, c.factors, c.work.value
    later = shifted(at, AHEAD * x.program.n_own_slots)
    prefetch_each(x.kind, x.own_current, later)
    regrets, values = load_each_as(x.kind, x.own_current, at), load_each(value, children)
    mean = _matched_mean(regrets, values, at)
    gained = (values - mean) * x.own_gain
    if f.predicted > ZERO:
        prefetch_each(x.kind, x.own_regrets, later)
        regrets = load_each_as(x.kind, x.own_regrets, at)
    # not a choice between two factors: with AVX2, LLVM would pack and unpack 16 comparisons for it
    regrets = regrets * f.negative + positive_each(regrets) * (f.positive - f.negative) + gained
    if f.clip:
        regrets = positive_each(regrets)
    if f.predicted > ZERO:
        store_each_as(x.kind, x.own_regrets, at, regrets, f.dither)
        regrets = regrets + gained * f.predicted
    store_each_as(x.kind, x.own_current, at, regrets, f.dither)
    if f.ahead > ZERO:
        mean = mean + (_matched_mean(regrets, values, at) - mean) * f.ahead
    store(value, step.node, mean)


@inlined
def _matched_mean(regrets, values, at: Any):  # type: ignore[no-untyped-def]
    """Mean of the actions' ``values``, weighted by positive regrets; ``at`` has as many elements as actions."""
    weights = larger_each(regrets, fill_each(at, LEAST))
    return chain(fill16(ZERO), weights, values) / total_each(weights)


@inlined
def _learn_any(c: Cursor, step: ValueStep, block: int, at: int) -> None:
    """Compute the value of any of the traverser's decisions, and update its regrets, which begin at offset ``at``."""
    x, work, child = c.round, c.work, step.child
    mean = _mean(c, step, at)
    if step.lock >= 0:
        mean = _locked_mean(c, step, block, mean)
    if c.factors.ahead > ZERO:
        total, after = fill16(ZERO), fill16(ZERO)
        for a in range(step.n_actions):
            regret, value = (
                load_as(x.kind, x.own_current, at + WIDTH * a),
                load16(work.value, child + WIDTH * a),
            )
            weight = maximum(_add_regret(c, at, a, regret, value - mean), fill16(LEAST))
            total, after = total + weight, after + weight * value
        after = after / total
        if step.lock >= 0:
            after = _locked_mean(c, step, block, after)
        mean = mean + (after - mean) * c.factors.ahead
    else:
        for a in range(step.n_actions):
            regret, value = (
                load_as(x.kind, x.own_current, at + WIDTH * a),
                load16(work.value, child + WIDTH * a),
            )
            _add_regret(c, at, a, regret, value - mean)
    store(work.value, step.node, mean)


@inlined
def _respond(c: Cursor, step: ValueStep, block: int) -> None:
    """Compute the value of a traverser's decision for 16 hands, in a best response or by the traverser's strategy."""
    best = load16(c.work.value, step.child)
    if c.factors.mode == BEST:
        for a in range(1, step.n_actions):
            best = maximum(best, load16(c.work.value, step.child + WIDTH * a))
    else:
        best = _mean(c, step, WIDTH * (block * c.round.program.n_own_slots + step.slot))
    if step.lock >= 0:
        best = _locked_mean(c, step, block, best)
    store(c.work.value, step.node, best)


@inlined
def _regret(c: Cursor, at: int, a: int):  # type: ignore[no-untyped-def]
    """Load the regrets of action ``a`` for 16 hands, and prefetch those of a later block of hands."""
    x = c.round
    later = at + AHEAD * x.program.n_own_slots + WIDTH * a
    prefetch_as(x.kind, x.own_current, later)
    if c.factors.predicted > ZERO:
        prefetch_as(x.kind, x.own_regrets, later)
    return load_as(x.kind, x.own_current, at + WIDTH * a)


@inlined
def _add_regret(c: Cursor, at: int, a: int, regret, gained):  # type: ignore[no-untyped-def]
    """Discount the regrets of action ``a`` for 16 hands, add the regrets of this iteration, and store the sums.

    ``regret`` and the result are the regrets, or the predicted regrets, that strategies follow.
    """
    x, f = c.round, c.factors
    gained = gained * x.own_gain
    if f.predicted > ZERO:
        regret = load_as(x.kind, x.own_regrets, at + WIDTH * a)
    regret = regret * f.negative + maximum(regret, fill16(ZERO)) * (f.positive - f.negative) + gained
    if f.clip:
        regret = maximum(regret, fill16(ZERO))
    if f.predicted > ZERO:
        store_as(x.kind, x.own_regrets, at + WIDTH * a, regret, f.dither)
        regret = regret + gained * f.predicted
    store_as(x.kind, x.own_current, at + WIDTH * a, regret, f.dither)
    return regret


@inlined
def _mean(c: Cursor, step: ValueStep, at: int):  # type: ignore[no-untyped-def]
    """Value of one of the traverser's decisions by regret matching: ``Σ x_a⁺ v_a / Σ x_a⁺``, with x_a the regrets.

    The decision's regrets begin at offset ``at``. Weights below `FLOOR` are raised to `FLOOR`: where no x_a is
    positive the result is the plain mean, and elsewhere the change is smaller than the rounding.
    """
    total = fill16(ZERO)
    mean = fill16(ZERO)
    for a in range(step.n_actions):
        weight = maximum(_regret(c, at, a), fill16(LEAST))
        total = total + weight
        mean = mean + weight * load16(c.work.value, step.child + WIDTH * a)
    return mean / total


@inlined
def _locked_mean(c: Cursor, step: ValueStep, block: int, free):  # type: ignore[no-untyped-def]
    """Value of one of the traverser's decisions by locked frequencies; hands without a lock keep the value ``free``."""
    x, value = c.round, c.work.value
    lock = int64_at(x.own_lock_first, step.lock) + WIDTH * block * step.n_actions
    frequency = load16(x.own_locks, lock)
    mean = frequency * load16(value, step.child)
    for a in range(1, step.n_actions):
        mean = mean + load16(x.own_locks, lock + WIDTH * a) * load16(value, step.child + WIDTH * a)
    return where_number(frequency, mean, free)
