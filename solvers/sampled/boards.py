"""Boards in the order in which passes of the sampled engine visit them, and links from a board to the previous round's.

A board has a round, a board bucket, hands (the same for both players) and a row for each hand. Cards are numbered from
0 among the cards that are not on the board. Hands of the last round are sorted by strength, then by row. `paths` makes
boards for learning: each deal is one board per round, and all its rounds have the hands that are possible on the full
board. `tree` makes boards for best responses: each board has hands of its own, and it may stand for several dealt
boards that are equal up to suits.

A link brings a board its reach from the previous round, and passes the board's values back. The opponent's reach with
hand h at the start of a round is

    reach[parent of h] · σ[row of the parent][the opponent's sequence at the chance leaf]

where the parent is the same hand on the board of the previous round, with its reach at the start of that round, and σ
is the product of action frequencies within that round. A link has the offsets of a chance leaf in the buffers of the
previous round. A batch of 16 lines needs one link if its lanes continue the lanes of one chance leaf in order: then the
batch is *aligned* with the leaf. Otherwise each *run* of neighbouring lanes has a link of its own, and kernels move the
lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compiled import inlined
from compiled.records import Packed, Records, record_at, unpack_at
from compiled.vector import (
    WIDTH,
    Address,
    fill16,
    float32_at,
    int32_at,
    int64_at,
    load16,
    put_int64,
    store,
    where_positive,
)
from solvers.errors import SolverError
from solvers.sampled.program import Program
from solvers.sampled.views import BoardNode, Boards, BoardView, Cursor, RoundView, Workspace, board_view
from solvers.steps import ZERO
from solvers.tree import Ints


@dataclass(frozen=True)
class Board:
    """A board of a tree of boards, with the hands that are possible on it.

    Attributes:
        round: number of the round, from 0.
        board_bucket: number of the board bucket in the round.
        cards: ``[hand, 2]``, the cards of each hand, numbered from 0 among the cards that are not on the board; the
            second card of one-card hands is n_cards.
        n_cards: number of cards that are not on the board.
        rows: ``[hand]``, the row of each hand.
        strength: ``[hand]``, used in the last round only.
        parent_hand: ``[dealt board, hand]``, number of the hand on the board of the previous round, for each dealt
            board that this board stands for.
    """

    round: int
    board_bucket: int
    cards: Ints
    n_cards: int
    rows: Ints
    strength: Ints
    parent_hand: Ints


def paths(board_buckets: Ints, rows: Ints, cards: Ints, strength: Ints, n_cards: int) -> Boards:
    """Make the boards of some deals, for learning.

    In a game of R rounds, board ``R * d + t`` is the board of round t in deal d.

    Args:
        board_buckets: ``[deal, round]``.
        rows: ``[deal, round, hand]``.
        cards: ``[deal, hand, 2]``, as in `Board`, for the full board.
        strength: ``[deal, hand]``, ascending.
        n_cards: number of cards that are not on a full board.
    """
    n_deals, n_rounds, n_hands = rows.shape
    number = np.arange(n_deals * n_rounds)
    nodes = np.zeros((n_deals * n_rounds, len(BoardNode._fields)), dtype=np.int64)
    deal, t = number // n_rounds, number % n_rounds
    for column, values in enumerate(
        (t, board_buckets.ravel(), n_hands, deal * n_hands, number * n_hands, n_cards, -1, 1)
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        _cards(cards, n_cards),
        rows.astype(np.int32).ravel(),
        strength.astype(np.int32).ravel(),
        np.zeros(1, dtype=np.int32),
    )


def tree(boards: Sequence[Board]) -> Boards:
    """Make the arrays of a tree of boards, for best responses.

    ``boards`` begins with one board of the first round and is in depth-first order.
    """
    nodes = np.zeros((len(boards), len(BoardNode._fields)), dtype=np.int64)
    n_hands = np.array([len(board.rows) for board in boards])
    first_hand = np.concatenate([[0], np.cumsum(n_hands)])
    n_images = np.array([len(board.parent_hand) for board in boards])
    first_parent = np.concatenate([[0], np.cumsum(n_hands * n_images)])
    numbers = np.array([(board.round, board.board_bucket, board.n_cards) for board in boards])
    for column, values in enumerate(
        (
            numbers[:, 0],
            numbers[:, 1],
            n_hands,
            first_hand[:-1],
            first_hand[:-1],
            numbers[:, 2],
            first_parent[:-1],
            n_images,
        )
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        np.concatenate([_cards(board.cards, board.n_cards) for board in boards]),
        np.concatenate([board.rows for board in boards]).astype(np.int32),
        np.concatenate([board.strength for board in boards]).astype(np.int32),
        np.concatenate([board.parent_hand.ravel() for board in boards] + [[0]]).astype(np.int32),
    )


def _cards(cards: Ints, n_cards: int) -> Ints:
    """Return the cards of hands as a flat array ``[hand, 2]``, for the kernels' totals of reach by card.

    In these totals element n_cards is the total of all hands. So the missing second card of one-card hands, which is
    n_cards in ``cards``, becomes n_cards + 1.
    """
    if cards.size and int(cards.max()) > n_cards:
        raise SolverError(f"cards: expected numbers from 0 to {n_cards}, found {int(cards.max())}")
    out: Ints = np.where(cards == n_cards, n_cards + 1, cards).astype(np.int32).ravel()
    return out


ROW_AND_HAND, HAND, LEAF = range(3)
"""The buffers of the previous round to which a hand's value is added.

`HAND`: ``hand_exits``, the hand's value over all chance leaves, multiplied by the traverser's reach. `ROW_AND_HAND`:
``hand_exits``, and ``row_exits`` with the value of the hand's row at the leaf, from which the row's regrets follow.
`LEAF`: ``continuation``, the hand's value at the leaf, from which the hand's best response follows.
"""


class Parent(NamedTuple):
    """The board of the previous round from which the current board was dealt, with that round's steps and buffers."""

    program: Program
    work: Workspace
    board: BoardView


class ParentLink(NamedTuple):
    """Offsets of one chance leaf of the previous round in the buffers (`Workspace`) of that round.

    Attributes:
        aligned: whether the link serves all 16 lanes of a batch; otherwise it serves one run of neighbouring lanes.
        other_width, own_width: number of elements per row in ``other`` and in ``own``.
        exits_width: number of elements per row in ``row_exits``.
        hands: offset in ``reach`` and ``hand_exits``.
        other, own: offsets in ``other`` and ``own``.
        exits: offset in ``row_exits``.
        continuation: offset in ``continuation``.
    """

    aligned: bool
    other_width: int
    own_width: int
    exits_width: int
    hands: int
    other: int
    own: int
    exits: int
    continuation: int


@inlined
def parent_of(x: RoundView, boards: Boards, work: Workspace) -> Parent:
    return Parent(x.program, work, board_view(boards, int64_at(work.open, 0)))


@inlined
def link_to(parent: Parent, leaf: int, lane: int, aligned: bool) -> ParentLink:
    """Make the link to chance leaf ``leaf`` of the previous round, beginning at the leaf's lane ``lane``."""
    work, exit_ = parent.work, record_at(parent.program.exits, leaf)
    batch = record_at(parent.program.batches, exit_.batch)
    wide = exit_.batch * work.n_wide + lane
    return ParentLink(
        aligned,
        WIDTH * (1 + batch.other_slots),
        WIDTH * (1 + batch.own_slots),
        WIDTH * batch.n_exits,
        WIDTH * exit_.batch * work.n_most + lane,
        wide + exit_.other_sequence,
        wide + exit_.own_sequence,
        exit_.batch * work.n_ends + WIDTH * exit_.number + lane,
        WIDTH * leaf * work.n_most + lane,
    )


@inlined
def link_of(c: Cursor, parent: Parent, first: bool) -> ParentLink:
    """Make the link of a batch whose 16 lanes continue those of one chance leaf of the previous round in order.

    Such a batch is *aligned*, see `solvers.sampled`. For other batches, only the field ``aligned`` of the result has a
    meaning. ``first`` says whether the batch belongs to the first round, which follows no chance leaf.
    """
    leaf = -1 if first else c.batch.aligned
    return link_to(parent, max(leaf, 0), 0, leaf >= 0)


@inlined
def enter_round(views: Packed, works: Packed, boards: Boards, t: int, c: Cursor) -> None:
    """Fill `Workspace.reach` of a batch of lines: the opponent's reach at the start of round t.

    In the first round this reach is the weight of the hand's row in the opponent's range. In later rounds it comes from
    the board of the previous round.
    """
    if t == 0:
        for h in range(c.board.n_hands):
            weight = float32_at(c.round.range, int32_at(c.board.rows, h))
            store(c.work.reach, c.at_hands + WIDTH * h, fill16(weight))
        return
    parent = parent_of(unpack_at(views, t - 1), boards, unpack_at(works, t - 1))
    if c.batch.aligned >= 0:
        link = link_to(parent, c.batch.aligned, 0, True)
        for h in range(c.board.n_hands):
            store(c.work.reach, c.at_hands + WIDTH * h, entering_reach(link, parent, c.board, h))
        return
    _enter_by_runs(c, parent)


@inlined
def _enter_by_runs(c: Cursor, parent: Parent) -> None:
    """Fill `Workspace.reach` of a batch that is not aligned: shift lanes of the previous round, `Run` by `Run`."""
    work, program, above = c.work, c.round.program, parent.work
    first, n_runs = c.batch.runs, c.batch.n_runs
    for k in range(n_runs):
        run = record_at(program.runs, first + k)
        link = link_to(parent, run.exit, run.above - run.here, False)
        put_int64(work.offsets, 3 * k, link.hands)
        put_int64(work.offsets, 3 * k + 1, link.other)
        put_int64(work.offsets, 3 * k + 2, link.other_width)
    for h in range(c.board.n_hands):
        o = _parent_hand(c.board, h)
        row, came = int32_at(parent.board.rows, o), fill16(ZERO)
        for k in range(n_runs):
            at = int64_at(work.offsets, 3 * k + 1) + int64_at(work.offsets, 3 * k + 2) * row
            reach = load16(above.reach, int64_at(work.offsets, 3 * k) + WIDTH * o) * load16(above.other, at)
            came = where_positive(load16(program.run_lanes, WIDTH * 2 * (first + k)), reach, came)
        store(work.reach, c.at_hands + WIDTH * h, came)


@inlined
def entering_reach(link: ParentLink, parent: Parent, board: BoardView, h: int):  # type: ignore[no-untyped-def]
    """Opponent's reach with hand h at the start of the round, on the 16 lines of an aligned batch."""
    o = _parent_hand(board, h)
    sigma = load16(parent.work.other, link.other + link.other_width * int32_at(parent.board.rows, o))
    return load16(parent.work.reach, link.hands + WIDTH * o) * sigma


@inlined
def _parent_hand(board: BoardView, h: int) -> int:
    return h if board.same_hands else int32_at(board.parent_hand, h)


@inlined
def hand_up(c: Cursor, parent: Parent, link: ParentLink, h: int, value, into: int) -> None:  # type: ignore[no-untyped-def]
    """Add hand h's value on 16 lines to buffers of the previous round, which ``into`` chooses.

    With `HAND` a buffer gets the hand's value times the traverser's reach, with `ROW_AND_HAND` another buffer also gets
    the value of the hand's row, and with `LEAF` a buffer gets the hand's value at the chance leaf. If the batch is not
    aligned, `Workspace.hand_values` stores the value until `hands_up` adds it.
    """
    if link.aligned:
        _pass_up(c, parent, link, h, value, into)
    else:
        store(c.work.hand_values, WIDTH * h, value)


@inlined
def hands_up(c: Cursor, parent: Parent, values: Address, into: int) -> None:
    """Add the values ``[hand][lane]`` of a batch to buffers of the previous round; `hand_up` explains ``into``."""
    program, first = c.round.program, c.batch.runs
    for k in range(first, first + c.batch.n_runs):
        run = record_at(program.runs, k)
        link = link_to(parent, run.exit, 0, False)
        inside = load16(program.run_lanes, WIDTH * (2 * k + 1))
        for h in range(c.board.n_hands):
            value = load16(values, WIDTH * h + run.here - run.above)
            _pass_up(c, parent, link, h, where_positive(inside, value, fill16(ZERO)), into)


@inlined
def _pass_up(c: Cursor, parent: Parent, link: ParentLink, h: int, value, into: int) -> None:  # type: ignore[no-untyped-def]
    """Add a hand's value to the previous round's buffers, once for each dealt board that this board stands for."""
    board, above = c.board, parent.work
    worth = value * c.round.probability
    for image in range(board.n_images):
        o = h if board.same_hands else int32_at(board.parent_hand, image * board.n_hands + h)
        if into == LEAF:
            at = link.continuation + WIDTH * o
            store(above.continuation, at, load16(above.continuation, at) + worth)
            continue
        row, at = int32_at(parent.board.rows, o), link.hands + WIDTH * o
        own_reach = load16(above.own, link.own + link.own_width * row)
        store(above.hand_exits, at, load16(above.hand_exits, at) + worth * own_reach)
        if into == ROW_AND_HAND:
            at = link.exits + link.exits_width * row
            store(above.row_exits, at, load16(above.row_exits, at) + worth)
