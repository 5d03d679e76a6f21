"""What is known of a folder whose last rounds were dropped: which, and what it is worth to go there.

``spewy drop`` deletes the strategies of the last rounds. Of each chunk of the last round that stays it keeps, in the
locker ``leaves``, what the strategies below were worth: the counterfactual values ``[exit, hand]`` of its chance
leaves, player 0's and then player 1's, flat, in single precision. They depend on strategies only, which stand still,
so EVs in the rounds that stay are what they were.
"""

from __future__ import annotations

import numpy as np

from lockers import Reads, Store, Transaction
from solvers.forest import Floats
from solvers.walk import Known
from spewy.chunks.layout import Layout
from spewy.errors import SpewyError
from spewy.records.keys import LEAVES
from spewy.records.progress import first_dropped


def leaf_values(layout: Layout, store: Reads, p: int) -> Known | None:
    """Player p's values at the chance leaves that lead to dropped rounds, for walks through the rounds that stay.

    Raises:
        SpewyError: a chunk has none.
    """
    first = first_dropped(store)
    if first is None or layout.boards[0].round >= first:
        return None
    t = first - 1 - layout.boards[0].round
    if t >= layout.n_rounds - 1:  # no line of this layout reaches the dropped rounds
        return None
    width = max(len(board.rows[p].hands) for board in layout.boards[t].boards)
    values = np.zeros((len(layout.boards[t].boards), layout.betting[t + 1].forest.n_roots, width))
    chunks = list(layout.chunks(t))
    found = store.get_many(LEAVES, [layout.key(t, b, r) for b, r in chunks])
    for (b, r), array in zip(chunks, found, strict=True):
        exits = layout.tree(t, r).exits
        if not len(exits):
            continue
        if array is None:
            raise SpewyError(
                f"chunk {layout.key(t, b, r).decode()}: expected the values of its dropped leaves, found none"
            )
        n = len(layout.board(t, b).rows[p].hands)
        cut = len(exits) * len(layout.board(t, b).rows[0].hands)
        mine = array[:cut] if p == 0 else array[cut:]
        values[b, exits, :n] = mine.reshape(len(exits), n)

    def known(i: int, b: int) -> Floats | None:
        return values[b] if i == t else None

    return known


def write_leaf_values(layout: Layout, store: Store, t: int, b: int, values: tuple[Floats, Floats]) -> None:
    """Keep what the chance leaves of board b of round t are worth, per player ``[root of the next round, hand]``."""

    def write(txn: Transaction) -> None:
        for r, chunk in enumerate(layout.betting[t].chunks):
            if len(chunk.exits):
                flat = np.concatenate([mine[chunk.exits].ravel() for mine in values])
                txn.put(LEAVES, layout.key(t, b, r), flat.astype(np.float32))

    store.transact(layout.key(t, b, 0), write)
