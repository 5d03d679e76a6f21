"""Step 3 of a pass, first half: values of folds and showdowns for 16 of the traverser's hands.

With ``rest[h] = total − by_card[a] − by_card[b]`` for a hand h of cards a and b,

    T[h] = rest[h] + reach of the opponent's hand with the same two cards
    D[h] = wins[h] − rest[h]
    fold = fold_pay · T
    showdown = win_pay · D + rake_pay · T

``total`` is the opponent's whole reach and ``by_card[c]`` the reach of the hands with card c; ``wins`` is explained in
`solvers.exact.totals`. T is the opposing reach compatible with h, and D the opposing reach that h beats minus the reach
that beats h. Slow, plain version: `solvers.reference.kernels.terminal_values`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.vector import TILE, WIDTH, fill16, int32_at, int64_at, load16, store, transpose8_to
from solvers.exact.totals import cards_of
from solvers.exact.views import N_CARDS, Cursor

_ZERO: Any = np.float32(0)


@inlined
def terminal_values(c: Cursor, block: int, row: int, last: bool) -> None:
    """Write the values of 16 of the traverser's hands at all folds and showdowns into ``work.value``.

    Padding rows get 0.

    Args:
        c: the board.
        block: number of the block of 16 hands in the round.
        row: the block's first row on the board.
        last: whether the round is the last, which has showdowns.
    """
    x, s, program = c.round, c.work, c.round.program
    n_leaf_pairs, total_end = program.n_leaf_pairs, program.total_end
    win_start = program.win_start if last else n_leaf_pairs
    n_real = min(WIDTH, int64_at(x.own.count, c.board) - row)
    for i in range(n_real, WIDTH):
        store(s.rows_total, WIDTH * i, fill16(_ZERO))
        store(s.rows_win, WIDTH * i, fill16(_ZERO))
    for leaf_pair in range(0, n_leaf_pairs, WIDTH):
        by_card, total = N_CARDS * leaf_pair, load16(s.total, leaf_pair)
        fold_pay, win_pay = load16(program.fold_pay, leaf_pair), load16(program.win_pay, leaf_pair)
        for i in range(n_real):
            h = WIDTH * block + i
            a, b = cards_of(x.own, h)
            rest = total - (load16(s.by_card, by_card + a) + load16(s.by_card, by_card + b))
            compatible = rest
            if leaf_pair < total_end:
                compatible = rest + load16(s.theirs, n_leaf_pairs * int32_at(x.own.same_cards, h) + leaf_pair)
                store(s.rows_total, WIDTH * i, compatible * fold_pay)
            if leaf_pair >= win_start:
                won = (load16(s.wins, (row + i) * n_leaf_pairs + leaf_pair) - rest) * win_pay
                if program.raked:
                    won = won + compatible * load16(program.rake_pay, leaf_pair)
                store(s.rows_win, WIDTH * i, won)
        for half in range(0, WIDTH, TILE):
            for part in range(0, WIDTH, TILE):
                start = WIDTH * half + part
                if leaf_pair < total_end:
                    transpose8_to(s.rows_total, start, WIDTH, s.value, program.folds, leaf_pair + part, half)
                if leaf_pair >= win_start:
                    transpose8_to(
                        s.rows_win, start, WIDTH, s.value, program.showdowns, leaf_pair + part, half
                    )
