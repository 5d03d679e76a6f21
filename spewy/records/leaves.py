"""Stored values at the chance leaves of chunks.

With these values the EVs at a decision can be computed from its own chunk, and later rounds can be dropped. For each
chunk with chance leaves, the locker ``leaves`` holds counterfactual values ``[chance leaf, hand]`` under the average
strategies, player 0's and then player 1's, in single precision. The opponent's hands weigh as in the initial ranges.

A solve with live leaves writes the values together with its strategies, and records the number of sweeps so far. The
values count as unknown once the store has more sweeps. ``spewy drop`` writes the values of the last round that stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lockers import Reads, Store, Transaction
from lockers.codec import Array
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.errors import SpewyError
from spewy.records.finite import require_finite
from spewy.records.keys import LEAVES, LEAVES_KEY, META
from spewy.records.progress import first_dropped, saved_sweeps

if TYPE_CHECKING:
    from solvers.reference.walk import Known

Pair = tuple[Floats, Floats]
"""Values ``[chance leaf, hand]`` of both players."""


def are_kept(store: Reads, t: int) -> bool:
    """Whether a store has values at the chance leaves of all chunks in round t of the game."""
    if first_dropped(store) == t + 1:
        return True
    mark = store.get(META, LEAVES_KEY)
    return mark is not None and int(mark) == saved_sweeps(store)


def read_leaves(store: Reads, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair:
    """Read the values at a chunk's chance leaves, which are stored if `are_kept` is true for the round.

    Args:
        store: the store to read.
        key: key of the chunk.
        n_exits: number of chance leaves.
        n_hands: number of hands of each player.

    Raises:
        SpewyError: the values are missing, or have another size.
    """
    array = store.get(LEAVES, key)
    size = n_exits * sum(n_hands)
    if array is None or array.size != size:
        found = "none" if array is None else f"{array.size:,}"
        raise SpewyError(
            f"chunk {key.decode()}: expected the {size:,} values of its chance leaves, found {found}"
        )
    return split_leaves(array, n_exits, n_hands)


def split_leaves(array: Array, n_exits: int, n_hands: tuple[int, int]) -> Pair:
    """Split a stored array into each player's values ``[chance leaf, hand]``."""
    cut = n_exits * n_hands[0]
    return array[:cut].reshape(n_exits, n_hands[0]), array[cut:].reshape(n_exits, n_hands[1])


def join_leaves(values: Pair) -> Array:
    """Join both players' values into one flat array, which `split_leaves` splits again."""
    return np.concatenate([player_values.ravel() for player_values in values]).astype(np.float32)


def known_leaves(layout: Layout, store: Reads, p: int) -> Known | None:
    """Read player p's values at the chance leaves that lead to dropped rounds.

    Returns:
        A function of a round and a board of the layout: in the last kept round it returns values ``[line, hand]`` for
        all lines that enter the next round, and in earlier rounds None. If no line of the layout leads from a kept
        round to a dropped round, the result is None and not a function.

    Raises:
        SpewyError: a chunk of the last kept round has no values.
    """
    first = first_dropped(store)
    if first is None or layout.boards[0].round >= first:
        return None
    t = first - 1 - layout.boards[0].round
    if t >= layout.n_rounds - 1:  # no line of this layout reaches the dropped rounds
        return None
    width = max(len(board.hands[p].numbers) for board in layout.boards[t].boards)
    values = np.zeros((len(layout.boards[t].boards), layout.betting[t + 1].forest.n_roots, width))
    for b, r in layout.chunks(t):
        exits = layout.tree(t, r).exits
        if len(exits):
            chunk_values = read_leaves(store, layout.key(t, b, r), len(exits), hands_on(layout, t, b))[p]
            values[b, exits, : chunk_values.shape[1]] = chunk_values

    def known(i: int, b: int) -> Floats | None:
        return values[b] if i == t else None

    return known


def hands_on(layout: Layout, t: int, b: int) -> tuple[int, int]:
    """Return the number of hands of each player on board b of round t."""
    rows = layout.board(t, b).hands
    return len(rows[0].numbers), len(rows[1].numbers)


def put_leaves(txn: Transaction, layout: Layout, t: int, b: int, values: Pair) -> None:
    """Store the values at all chance leaves on board b of round t.

    ``values`` are ``[line, hand]`` for each player, with all lines that enter the next round.
    """
    hands = hands_on(layout, t, b)
    for r, chunk in enumerate(layout.betting[t].chunks):
        if len(chunk.exits):
            joined = join_leaves((values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]))
            require_finite(f"values of the chance leaves of board {b} of round {t}", joined)
            txn.put(LEAVES, layout.key(t, b, r), joined)


def write_leaves(layout: Layout, store: Store, t: int, b: int, values: Pair) -> None:
    """Store the values at all chance leaves on a board in one transaction: see `put_leaves`."""
    store.transact(lambda txn: put_leaves(txn, layout, t, b, values))
