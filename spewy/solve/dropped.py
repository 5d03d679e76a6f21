"""What is known of a folder whose last rounds were dropped: which, and what it is worth to go there.

``spewy drop`` deletes the strategies of the last rounds. Of each chunk of the last round that stays it keeps, in the
locker ``leaves``, what the strategies below were worth: the counterfactual values ``[exit, hand]`` of its chance
leaves, player 0's and then player 1's, flat, in single precision. They depend on strategies only, which stand still,
so EVs in the rounds that stay are what they were.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lockers import Reads
from solvers.forest import Floats
from solvers.walk import Known
from spewy.errors import InputError, SpewyError
from spewy.job import ROUND_NAMES
from spewy.solve.keys import DROPPED_KEY, LEAVES, META
from spewy.solve.layout import Layout
from spewy.solve.problem import Problem


def first_dropped(store: Reads) -> int | None:
    """The first dropped round of the game, all later ones went with it; None where nothing was dropped."""
    array = store.get(META, DROPPED_KEY)
    return None if array is None else int(array)


def dropped_names(first: int, n_rounds: int) -> tuple[str, ...]:
    """The names of the dropped rounds.

    >>> dropped_names(2, 4)
    ('turn', 'river')
    """
    return ROUND_NAMES[first:n_rounds]


def require_whole(store: Reads, n_rounds: int, subject: str) -> None:
    """Refuse what takes the strategies of all rounds.

    Raises:
        InputError: some were dropped.
    """
    first = first_dropped(store)
    if first is not None:
        names = dropped_names(first, n_rounds)
        raise InputError(
            f"{subject}: expected the strategies of all rounds, found {' and '.join(names)} dropped; "
            '"spewy show" and "spewy report" solve dropped chunks where they look, '
            '"spewy solve JOB.toml --again" solves everything from the beginning'
        )


def by_hand(problem: Problem, first: int | None) -> Problem:
    """The problem with a row per hand in dropped rounds, where buckets have nothing to save any more."""
    if first is None:
        return problem
    rows = tuple(None if t >= first else k for t, k in enumerate(problem.rows))
    return replace(problem, rows=rows)


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
