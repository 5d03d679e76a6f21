"""A round's betting as lists of steps for one traverser: what the kernels run through, once per block of hands.

A *block* is 16 hands; a row of a buffer holds one number for each of them, so places in buffers are 16 times the
number of a sequence, node or slot. Player p is the traverser, q the opponent:

- down: reach of q from sequence to sequence;
- lanes: q's sequences that end in a terminal, each once, in order: those that need totals (folds), those that need
  both totals and wins (a fold and a showdown, or a raked showdown), those that need wins; padded to whole strips of 16;
- up: values of p's decisions and q's, children before parents.

With D[h] = (opposing reach that h beats) - (that beats h) and T[h] = all opposing reach that goes with h, a fold is
worth T times what p wins or loses, and a showdown for ``stake`` with ``rake`` is worth
``(stake - rake / 2) * D - rake / 2 * T``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from solvers.exact.vector import HANDS, LANES
from solvers.forest import DECISION, FOLD, SHOWDOWN, Forest, Ints

Singles = np.ndarray
NO_LOCK = -1


class Program(NamedTuple):
    """Steps of a round for a traverser. Places are in elements of buffers whose rows have 16.

    down ``[step, 4]``: q's decision: actions, place of the sequence that leads to it, first slot, lock.
    up ``[step, 6]``: a decision: 1 if p's, actions, place of the node, place of its first child, first slot, lock.
    lanes ``[lane]``: place of q's sequence. Lanes below ``total_end`` need T, those from ``win_start`` on D; both are
        whole strips.
    wins, totals ``[leaf, 2]``: places of the node and of the lane; what D and T are multiplied with there. The first
        n_folds of the totals are folds, the rest raked showdowns.
    exits, exit_nodes ``[next root]``: place of q's sequence, padded to whole tiles of 8, and of the node.
    """

    n_roots: int
    n_root_lanes: int
    n_sequences: int
    n_nodes: int
    n_own_slots: int
    n_other_slots: int
    n_down: int
    down: Ints
    n_up: int
    up: Ints
    n_lanes: int
    lanes: Ints
    total_end: int
    win_start: int
    n_folds: int
    n_totals: int
    totals: Ints
    total_pay: Singles
    n_wins: int
    wins: Ints
    win_pay: Singles
    n_exits: int
    n_exit_lanes: int
    exits: Ints
    exit_nodes: Ints


def padded(n: int, to: int = LANES) -> int:
    """The next multiple.

    >>> padded(17), padded(16, 16), padded(0)
    (24, 16, 0)
    """
    return -(-n // to) * to


def program(forest: Forest, p: int, locked: dict[int, int]) -> Program:
    """The steps of traverser p; ``locked`` gives the number of a decision's lock."""
    a, q = forest.arrays, 1 - p
    decisions = np.flatnonzero(a.kind == DECISION)
    down = [
        (a.n_actions[n], HANDS * a.sequence[q, n], a.slot[n], locked.get(int(n), NO_LOCK))
        for n in decisions
        if a.player[n] == q
    ]
    up = [
        (
            a.player[n] == p,
            a.n_actions[n],
            HANDS * n,
            HANDS * a.first_child[n],
            a.slot[n],
            locked.get(int(n), NO_LOCK),
        )
        for n in decisions[::-1]
    ]
    folds, showdowns = (np.flatnonzero(a.kind == kind) for kind in (FOLD, SHOWDOWN))
    raked = showdowns[a.rake[showdowns] > 0]
    needs_total = set(a.sequence[q, folds].tolist()) | set(a.sequence[q, raked].tolist())
    needs_win = set(a.sequence[q, showdowns].tolist())
    order = (
        sorted(needs_total - needs_win) + sorted(needs_total & needs_win) + sorted(needs_win - needs_total)
    )
    lane = {sequence: number for number, sequence in enumerate(order)}
    lanes = np.zeros(padded(len(order), HANDS), dtype=np.int64)
    lanes[: len(order)] = HANDS * np.array(order, dtype=np.int64)
    gain = a.stake * (1 if p == 0 else -1)
    fold_pay = [gain[n] - (a.rake[n] if gain[n] > 0 else 0.0) for n in folds]
    total_pay = fold_pay + [-a.rake[n] / 2 for n in raked]
    totals = [(HANDS * n, HANDS * lane[int(a.sequence[q, n])]) for n in (*folds, *raked)]
    wins = [(HANDS * n, HANDS * lane[int(a.sequence[q, n])]) for n in showdowns]
    leaves = forest.chance_leaves
    exits = np.zeros(padded(len(leaves)), dtype=np.int64)
    exits[: len(leaves)] = HANDS * a.sequence[q, leaves]
    return Program(
        n_roots=forest.n_roots,
        n_root_lanes=padded(forest.n_roots),
        n_sequences=max(forest.n_sequences(q), padded(forest.n_roots)),
        n_nodes=forest.n_nodes,
        n_own_slots=forest.n_slots[p],
        n_other_slots=forest.n_slots[q],
        n_down=len(down),
        down=_table(down, 4),
        n_up=len(up),
        up=_table(up, 6),
        n_lanes=len(lanes),
        lanes=lanes,
        total_end=padded(len(needs_total), HANDS),
        win_start=len(needs_total - needs_win) // HANDS * HANDS,
        n_folds=len(folds),
        n_totals=len(totals),
        totals=_table(totals, 2),
        total_pay=np.array(total_pay, dtype=np.float32),
        n_wins=len(wins),
        wins=_table(wins, 2),
        win_pay=(a.stake[showdowns] - a.rake[showdowns] / 2).astype(np.float32),
        n_exits=len(leaves),
        n_exit_lanes=len(exits),
        exits=exits,
        exit_nodes=HANDS * leaves,
    )


def _table(rows: Sequence[Sequence[Any]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)
