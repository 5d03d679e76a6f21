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
from compiled.transpose import transpose8_to
from compiled.vector import TILE, WIDTH, fill16, int32_at, int64_at, load16, store
from solvers.exact.totals import cards_of
from solvers.exact.views import N_CARDS, Cursor

_ZERO: Any = np.float32(0)


@inlined
def terminal_values(c: Cursor, block: int, row: int, last: bool) -> None:
    """Fill ``work.value`` at folds and showdowns for the 16 hands from ``row`` on; padding rows get 0."""
    x, s, program = c.round, c.work, c.round.program
    n_lanes, total_end = program.n_lanes, program.total_end
    win_start = program.win_start if last else n_lanes
    n_real = min(WIDTH, int64_at(x.own.count, c.board) - row)
    for i in range(n_real, WIDTH):
        store(s.rows_total, WIDTH * i, fill16(_ZERO))
        store(s.rows_win, WIDTH * i, fill16(_ZERO))
    for lane in range(0, n_lanes, WIDTH):
        by_card, total = N_CARDS * lane, load16(s.total, lane)
        fold_pay, win_pay = load16(program.fold_pay, lane), load16(program.win_pay, lane)
        for i in range(n_real):
            h = WIDTH * block + i
            a, b = cards_of(x.own, h)
            rest = total - (load16(s.by_card, by_card + a) + load16(s.by_card, by_card + b))
            compatible = rest
            if lane < total_end:
                compatible = rest + load16(s.theirs, n_lanes * int32_at(x.own.same_cards, h) + lane)
                store(s.rows_total, WIDTH * i, compatible * fold_pay)
            if lane >= win_start:
                won = (load16(s.wins, (row + i) * n_lanes + lane) - rest) * win_pay
                if program.raked:
                    won = won + compatible * load16(program.rake_pay, lane)
                store(s.rows_win, WIDTH * i, won)
        for half in range(0, WIDTH, TILE):
            for part in range(0, WIDTH, TILE):
                start = WIDTH * half + part
                if lane < total_end:
                    transpose8_to(s.rows_total, start, WIDTH, s.value, program.folds, lane + part, half)
                if lane >= win_start:
                    transpose8_to(s.rows_win, start, WIDTH, s.value, program.showdowns, lane + part, half)
