"""Named tuples that the sampled engine's kernels read: boards, a round's arrays, buffers, and the current batch.

The *traverser* is the player whose values a pass computes. A *sequence* is a player's own actions in the round up to a
point of a betting line. Kernels process the 16 lines of a batch side by side, each line in a *lane*.

Both players have the same hands on a board; in the last round the hands are sorted by strength. The N cards that are
not on the board are numbered from 0. An array of totals by card has N + 2 elements on its axis *card*: one for each
card; element N, the total of all hands; and element N + 1, which stays 0, for the missing second card of one-card
hands.

A *group* of hands is a row; in the last round it is a *segment*: a run of hands of one row, in order of strength. A
*level* is a run of segments that are compared as one, since ties (hands of equal strength) link them.

`Workspace` says what each buffer holds. The table has the shapes of one thread's buffers, their sizes for the river of
limit hold'em (1,081 hands, 40 rows, 36 batches of 16 lines, about 30 segments whose hands hold 15 cards each), and the
processor cache that should hold each. In the shapes, H is the number of hands, X of rows, G of groups, P of totals by
card (49), S of a player's sequences (14), E of chance leaves of a batch, and L of the opponent's sequences that end in
folds or in showdowns (at most 9). ``totals`` has a part for folds and three parts for showdowns, hence 4 L; ``values``
and ``weights`` have one part for each. BLOCK is 4. The last axis of 16 is the lanes.

| buffer | shape | size | cache |
|---|---|---|---|
| reach | [batch][H][16] | 68 KiB a batch | L2 |
| within, hand_values, own_values | [H][16] | 68 KiB each | L2 |
| other, own | [batch][X][S][16] | 35 KiB each a batch | L2 |
| groups, mixed | [G][P][16] | 90 KiB each, a third of it used | L1, L2 |
| totals | [4 L][P][16] | 3 KiB a sequence; the part for folds fits into L1 | L1 |
| counts, places, holders | [G][P] | 6 KiB each | L1 |
| values, weights | [X][2 L][16] | 45 KiB each | L2 |
| node | [node][16] | 2 KiB | L1 |
| nodes | [node][BLOCK][16] | 9 KiB | L1 |
| row_exits, hand_exits | [batch][X][E][16], [batch][H][16] | as other and reach | L2 |
| continuation | [chance leaf][H][16] | 68 KiB a leaf | L2, L3 |

Buffers with a batch axis hold all batches at once in rounds that another round follows, and one batch in the last
round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.records import Records, record_at
from compiled.vector import WIDTH, Address, int32_at
from solvers.sampled.program import BatchSteps, Program

BLOCK = 4
"""Number of hands whose best responses are computed at the same time."""


class VisitFactors(NamedTuple):
    """Weights of one visit of a board bucket.

    Attributes:
        keep: factor of earlier regrets, before the regrets of this visit are added.
        sink: factor of regrets that are negative after the addition.
        share: how far averages move toward this visit's reach times strategy: 0 is not at all, 1 is all the way.
        dither: rounding of 16-bit regrets, see `compiled.precision`.
        rounding: number in [0, 1) that is added to an average, in units of its last bit, before it is rounded down.
    """

    keep: float
    sink: np.floating[Any]
    share: np.floating[Any]
    dither: int
    rounding: np.floating[Any]


class BoardNode(NamedTuple):
    """A board of a pass, as a row of the table `Boards.nodes`.

    Attributes:
        first_hand: index of the board's first hand in `Boards.cards` and `Boards.strength`.
        first_row: index of the board's first hand in `Boards.rows`.
        n_cards: number of cards that are not on the board.
        parent: index of the board's first element in `Boards.parent_hand`; -1 if every hand has the same number on the
            board of the previous round.
        n_images: number of dealt boards that the board stands for.
    """

    round: int
    board_bucket: int
    n_hands: int
    first_hand: int
    first_row: int
    n_cards: int
    parent: int
    n_images: int


class Boards(NamedTuple):
    """Arrays of all boards that a pass visits, in the order of the visits; see `solvers.sampled.boards`.

    Attributes:
        nodes: table of `BoardNode`.
        cards: ``[hand, 2]``, the cards of each hand.
        rows, strength: ``[hand]``, row and strength of each hand.
        parent_hand: ``[dealt board, hand]``, number of the hand on the board of the previous round.
    """

    nodes: Records
    cards: Address
    rows: Address
    strength: Address
    parent_hand: Address


class BoardView(NamedTuple):
    """A board of a pass (`BoardNode`), with its part of the arrays of `Boards`.

    Attributes:
        same_hands: whether every hand has the same number on the board of the previous round; ``parent_hand`` is then
            undefined.
        n_places: number of totals by card that one sequence has: one for each card, and one for all hands.
        stride: distance between the totals by card of two sequences in the array of totals. It is an odd multiple of
            16, so that the totals of one card spread over the processor's cache.
        two: whether hands have two cards.
    """

    board_bucket: int
    n_hands: int
    cards: Address
    rows: Address
    strength: Address
    parent_hand: Address
    same_hands: bool
    n_places: int
    stride: int
    two: bool
    n_images: int


class RoundView(NamedTuple):
    """Arrays of a round, as a pass for one traverser needs them: betting steps, regrets and averages.

    Regrets and averages are flat arrays ``[board bucket][batch][row][slot][lane]``.

    Attributes:
        kind: precision of regrets and averages: `SINGLE` or `HALF`.
        own_gain: factor by which a visit's regrets are multiplied before they are added.
        sum_scale: factor by which reach is multiplied before it enters an average.
        own, other: regrets (or averages) of the traverser and of the opponent, from which a pass takes the strategies.
        other_sums: averages of the opponent's reach times strategy; a pass that learns changes them.
        visits: ``[board bucket]``, number of updates of the traverser's regrets.
        ahead: ``[board bucket]``, number of coming visits that the regrets already include; such a visit learns
            nothing.
        probability: probability of a board of this round given both hands and the previous board; 1 for drawn boards.
        range: ``[row]``, weight of the opponent's hands by row at the start of the first round; unused in later rounds.
    """

    program: Program
    kind: np.signedinteger[Any]
    own_gain: np.floating[Any]
    sum_scale: np.floating[Any]
    own: Address
    other: Address
    other_sums: Address
    visits: Address
    ahead: Address
    probability: np.floating[Any]
    range: Address


class Workspace(NamedTuple):
    """Flat buffers of a thread for a round, of which kernels get the addresses.

    A *terminal sequence* is a sequence of the opponent that ends in folds or showdowns. A *group* of hands is a row, in
    the last round a segment. An axis *card* has an element for each card, and one for all hands.

    Attributes:
        n_most: largest number of hands.
        n_wide: size of ``own`` and of ``other`` for one batch of lines.
        n_ends: size of ``row_exits`` for one batch of lines.
        n_groups: largest number of groups.
        reach: ``[batch][hand][lane]``, opponent's reach at the start of the round.
        groups: ``[group][card][lane]``, opponent's reach at the start of the round, summed over the group's hands.
        other, own: ``[batch][row][sequence][lane]``, reach of the opponent and of the traverser within the round.
        row_reach: ``[row][lane]``, opponent's reach at the start of the round, summed over the row's hands.
        totals: ``[terminal sequence][card][lane]``, opponent's reach: folds, then showdowns, then two more parts for
            showdowns, see `advance_level`.
        counts, places, n_places, holders, n_holders: cards of groups, see `segments.list_cards`.
        held: scratch space of `segments.list_cards`.
        group_of: ``[hand]``, the segment of each hand, in the last round.
        row_hands: ``[row]``, number of hands; kernels skip rows without hands.
        edge: ``[hand]``, weight of the opponent's hand in ``within_sums``, see `segments`.
        values: ``[row][terminal sequence][lane]``, values for a stake of 1 chip, summed over the row's hands.
        node, nodes: ``[node][lane]`` and ``[node][BLOCK][lane]``, values for one row and for 4 hands (`BLOCK`).
        mixed: ``[group][card][lane]``, ``totals`` weighted by the traverser's chips and reach.
        same: ``[group][lane]``, opponent's reach within the round, weighted by the traverser's chips and reach.
        within: ``[hand][lane]``, opponent's reach in the segment that is weaker than the hand, plus the reach that is
            weaker or equal; only in segments with hands of several strengths.
        within_sums: ``[segment][lane]``, opponent's reach in the segment weighted by ``edge``.
        inside: ``[segment][lane]``, factor of ``within`` in a hand's value.
        weights: ``[row][terminal sequence][lane]``, chips times the traverser's reach.
        row_exits: ``[batch][row][chance leaf][lane]``, values from the boards of the next round, summed over the row's
            hands.
        hand_exits: ``[batch][hand][lane]``, values from the boards of the next round when the traverser follows its own
            strategy.
        hand_values: ``[hand][lane]``, values for a batch of lines that is not aligned with a chance leaf.
        own_values: ``[hand][lane]``, values when the traverser follows its strategy, beside those of best responses.
        continuation: ``[chance leaf][hand][lane]``, values from the boards of the next round in best responses.
        segment_end, segment_level: ``[segment]``, first hand after the segment, and number of the level (the run of
            segments that ties link).
        segment_row: ``[group]``, row of the group.
        tie_end: ``[hand]``, the first stronger hand.
        open: number of the current board.
        offsets: scratch space of the links to the previous round.
    """

    n_most: int
    n_wide: int
    n_ends: int
    n_groups: int
    reach: Address
    groups: Address
    other: Address
    own: Address
    row_reach: Address
    totals: Address
    counts: Address
    held: Address
    group_of: Address
    row_hands: Address
    edge: Address
    places: Address
    n_places: Address
    holders: Address
    n_holders: Address
    values: Address
    node: Address
    nodes: Address
    mixed: Address
    same: Address
    within: Address
    within_sums: Address
    inside: Address
    weights: Address
    row_exits: Address
    hand_values: Address
    own_values: Address
    hand_exits: Address
    continuation: Address
    segment_end: Address
    segment_row: Address
    segment_level: Address
    tie_end: Address
    open: Address
    offsets: Address


class Cursor(NamedTuple):
    """The batch of 16 betting lines that a kernel processes, its board, and the arrays to read and write.

    Attributes:
        number: number of the batch.
        at_hands: offset of the batch in `Workspace.reach` and `Workspace.hand_exits`.
        at_rows: offset of the batch in `Workspace.own` and `Workspace.other`.
        at_exits: offset of the batch in `Workspace.row_exits`.
    """

    round: RoundView
    work: Workspace
    board: BoardView
    batch: BatchSteps
    number: int
    at_hands: int
    at_rows: int
    at_exits: int


@inlined
def board_view(boards: Boards, number: int) -> BoardView:
    node = record_at(boards.nodes, number)
    return BoardView(
        node.board_bucket,
        node.n_hands,
        boards.cards + 8 * node.first_hand,
        boards.rows + 4 * node.first_row,
        boards.strength + 4 * node.first_hand,
        boards.parent_hand + 4 * node.parent,
        node.parent < 0,
        node.n_cards + 1,
        WIDTH * ((node.n_cards + 2) | 1),
        int32_at(boards.cards, 2 * node.first_hand + 1) <= node.n_cards,
        node.n_images,
    )


@inlined
def cursor(x: RoundView, work: Workspace, board: BoardView, number: int, last: bool) -> Cursor:
    """Make the `Cursor` of batch ``number`` on a board; the last round's buffers have room for one batch only."""
    kept = 0 if last else number
    batch = record_at(x.program.batches, number)
    return Cursor(
        x, work, board, batch, number, WIDTH * kept * work.n_most, kept * work.n_wide, kept * work.n_ends
    )


@inlined
def own_width(c: Cursor) -> int:
    """Number of elements in one row of `Workspace.own`: 16 lanes for each of the traverser's sequences."""
    return WIDTH * (1 + c.batch.own_slots)


@inlined
def other_width(c: Cursor) -> int:
    """Number of elements in one row of `Workspace.other`: 16 lanes for each of the opponent's sequences."""
    return WIDTH * (1 + c.batch.other_slots)


@inlined
def all_hands(board: BoardView) -> int:
    """Offset of the total of all hands in the totals by card, ``[card, lane]``."""
    return WIDTH * (board.n_places - 1)
