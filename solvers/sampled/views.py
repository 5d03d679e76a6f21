"""Records for the sampled engine's kernels: boards, a round for one traverser, a thread's buffers, and a cursor.

On a board both players may hold the same hands h, which the last round sorts by strength; x(h) is the row of hand h.
Cards are numbered 0 .. N-1 on a board. Totals by card have N + 2 *places*: place N is the total of all hands, place
N + 1 the second card of hands of one card, whose total stays 0.

A *group* is a row; in the last round a *segment*: hands of one row that are neighbours in strength. A *level* is a run
of segments that are compared as one, since a tie joins them.

Buffers of one thread, with bytes for the river of limit hold'em (1,081 hands, 40 rows, 36 batches of lines, some 100
segments) and the cache that each is meant for. H hands, X rows, G groups, P places (47), L lanes (10 for folds, 12 for
showdowns), S sequences (20), E chance leaves of a batch:

| buffer | shape | bytes | cache |
|---|---|---|---|
| reach | [batch][H][16] | 68 KiB a batch | L2 |
| within, hand_values | [H][16] | 68 KiB each | L2 |
| other, own | [batch][X][S][16] | 50 KiB each a batch | L2 |
| groups, mixed | [G][P][16] | 300 KiB each, two thirds of it used | L2 |
| totals | [4 L][P][16] | 3 KiB a lane; one kind of lanes at a time fills L1 | L1 |
| counts, places, holders | [G][P] | 19 KiB each | L1, L2 |
| values, weights | [X][2 L][16] | 56 KiB each | L2 |
| node | [node][16] | 2 KiB | L1 |
| nodes | [node][BLOCK][16] | 18 KiB | L1 |
| row_exits, hand_exits | [batch][X][E][16], [batch][H][16] | as other and reach | L2 |
| continuation | [chance leaf][H][16] | 68 KiB a leaf | L2, L3 |

Buffers with [batch] hold all batches at once in rounds that boards follow, and one batch in the last round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.records import Records, record_at
from compiled.vector import WIDTH, Address, int32_at
from solvers.sampled.program import BatchSteps, Program

BLOCK = 8
"""Number of hands whose best responses are computed at once, a multiple of 4."""


class VisitFactors(NamedTuple):
    """The weights of one visit of a class.

    Regrets become ``keep · regret + gain``, and negative results are multiplied by ``sink``. Averages move the fraction
    ``share`` of the way to own reach times strategy.

    Attributes:
        dither: rounding of 16-bit regrets, see `compiled.precision`.
        rounding: part of a quantum, in [0, 1), that is added to an average before it is rounded down.
    """

    keep: float
    sink: np.floating[Any]
    share: np.floating[Any]
    dither: int
    rounding: np.floating[Any]


class BoardNode(NamedTuple):
    """A board among the boards of a walk.

    Attributes:
        round: number of the round.
        class_: number of the board's class in the round.
        n_hands: number of hands.
        first_hand: first hand in `Boards.cards` and `Boards.strength`.
        first_row: first hand in `Boards.rows`.
        n_cards: cards that the board leaves.
        parent: offset in `Boards.parent_hand`; -1: every hand has the same number on the board above.
        n_images: dealt boards that the board stands for.
    """

    round: int
    class_: int
    n_hands: int
    first_hand: int
    first_row: int
    n_cards: int
    parent: int
    n_images: int


class Boards(NamedTuple):
    """Arrays of all boards that a pass visits, in the order of the visits; see `solvers.sampled.boards`.

    Attributes:
        nodes: `BoardNode` of each board.
        cards: ``[hand, 2]``.
        rows, strength: ``[hand]``.
        parent_hand: ``[dealt board, hand]``: index of the hand on the parent board.
        direct: whether each board has one child, with the same hands.
    """

    nodes: Records
    cards: Address
    rows: Address
    strength: Address
    parent_hand: Address
    direct: bool


class BoardView(NamedTuple):
    """One board.

    Attributes:
        number: among the boards of the walk.
        class_: number of its class.
        n_hands: number of hands.
        cards, rows, strength: as in `Boards`, of this board's hands.
        parent_hand: as in `Boards`, of this board's images.
        same_hands: whether every hand has the same number on the board above.
        n_places: cards, and the place of all hands: N + 1.
        stride: numbers between the totals of two lanes; an odd number of places, so that the totals of one card do not
            crowd one part of the cache.
        two: whether hands have two cards.
        n_images: dealt boards that the board stands for.
    """

    number: int
    class_: int
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
    """A round for a traverser p: steps, and the numbers of all classes ``[class][batch][row][slot][16]``.

    Attributes:
        program: steps of the betting.
        kind: precision of the numbers.
        own_gain: factor of instantaneous regrets.
        sum_scale: factor of averages.
        own, other: numbers of p and of the opponent q that strategies are matched from.
        other_sums: q's averages of own reach times strategy, which a pass moves.
        visits: ``[class]``: how often p's numbers were updated.
        ahead: ``[class]``: coming visits that the numbers include already; a pass learns nothing from these visits.
        probability: probability of a board of this round, given both hands and the board above; 1 for drawn boards.
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


class Workspace(NamedTuple):
    """One thread's buffers for a round; the module's text has their shapes.

    Attributes:
        n_most: hands at most.
        n_wide: numbers of a batch in ``own`` and ``other``.
        n_ends: numbers of a batch in ``row_exits``.
        n_groups: groups at most.
        reach: q's reach at the roots, by hand.
        groups: q's reach at the roots, by group and place.
        other, own: reach inside the round ``[batch][row][sequence]``.
        row_reach: ``[row]``, q's reach at the roots.
        totals: ``[lane][place]``: folds, then showdowns, then two areas of showdowns for `advance_level`.
        counts, held, places, n_places, holders, n_holders: cards of segments, see `find_segments`.
        values: ``[row][lane]``, sums over the hands of a row.
        node, nodes: values of nodes, for a row and for `BLOCK` hands.
        mixed: ``[group][place]``, totals weighted by p's own reach.
        same: ``[group]``, the same of q's reach inside the round.
        within, within_sums: reach that a hand beats less reach that beats it, in its own segment; the sum of a segment.
        weights: ``[row][lane]``, p's own reach times chips.
        row_exits, hand_exits: values of the boards below, by row, and by hand under p's own strategy.
        hand_values: ``[hand]``, values of a batch that is not aligned.
        continuation: values of the boards below by chance leaf, in best responses.
        segment_end, segment_row, segment_level: ``[segment]``.
        tie_end: ``[hand]``, the hand behind the last one of equal strength.
        open: number of the board at hand.
        offsets: scratch.
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
    weights: Address
    row_exits: Address
    hand_values: Address
    hand_exits: Address
    continuation: Address
    segment_end: Address
    segment_row: Address
    segment_level: Address
    tie_end: Address
    open: Address
    offsets: Address


class Cursor(NamedTuple):
    """One batch of betting lines on one board.

    Attributes:
        round: the round for the traverser.
        work: the thread's buffers.
        board: the board.
        batch: steps of the batch.
        number: number of the batch.
        at_hands: offset of the batch in ``work.reach`` and ``work.hand_exits``.
        at_rows: offset of the batch in ``work.own`` and ``work.other``.
        at_exits: offset of the batch in ``work.row_exits``.
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
    """Board ``number`` of a walk."""
    node = record_at(boards.nodes, number)
    return BoardView(
        number,
        node.class_,
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
    """Batch ``number``, whose place in buffers is 0 in the last round."""
    kept = 0 if last else number
    batch = record_at(x.program.batches, number)
    return Cursor(
        x, work, board, batch, number, WIDTH * kept * work.n_most, kept * work.n_wide, kept * work.n_ends
    )


@inlined
def own_width(c: Cursor) -> int:
    """Numbers in a row of ``work.own``."""
    return WIDTH * (1 + c.batch.own_slots)


@inlined
def other_width(c: Cursor) -> int:
    """Numbers in a row of ``work.other``."""
    return WIDTH * (1 + c.batch.other_slots)


@inlined
def cards_of(board: BoardView, h: int) -> tuple[int, int]:
    """Offsets of a hand's two cards among the places of a lane."""
    return WIDTH * int32_at(board.cards, 2 * h), WIDTH * int32_at(board.cards, 2 * h + 1)


@inlined
def all_hands(board: BoardView) -> int:
    """Offset of the place that stands for all hands."""
    return WIDTH * (board.n_places - 1)
