"""Regret matching in vector instructions, for `solvers.exact` and `solvers.sampled`.

`solvers.reference.kernels.match` does regret matching in plain loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import load_as
from compiled.several import load_each_as, positive_each, stepped, store_each, total_each, where_each
from compiled.vector import WIDTH, Address, fill16, load16, maximum, store, where_positive
from solvers.state import FLOOR

TWO, THREE = (0, 0), (0, 0, 0)
"""Tuples of two and of three zeros: their lengths tell `stepped` how many offsets to return."""
_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
_FLOOR: Any = np.float32(FLOOR)


@inlined
def matched(kind: Any, regrets: Address, at: Any, entering):  # type: ignore[no-untyped-def]
    """Return the reach after each action of a decision by regret matching, ``entering · x_a⁺ / Σ x⁺``, as vectors.

    x are the regrets of the actions, which lie at the offsets ``at`` of ``regrets`` in the precision ``kind``
    (`SINGLE` or `HALF`); ``entering`` is the reach before the decision.
    Where ``Σ x⁺`` is at most `FLOOR`, every action gets the same share.
    """
    weights = positive_each(load_each_as(kind, regrets, at))
    total = total_each(weights)
    even = entering * (_ONE / np.float32(len(at)))
    return where_each(total - fill16(_FLOOR), weights * (entering / total), even)


@inlined
def regret_match(
    kind: Any, regrets: Address, at: int, n_actions: int, reach: Address, parent: int, child: int
) -> None:
    """Compute the reach after each action of a decision by regret matching.

    The decision's regrets begin at offset ``at`` of ``regrets``, whose precision is ``kind`` (see
    `compiled.precision`). The reach before the decision lies at offset ``parent`` of ``reach``. The reach after the
    first action goes to offset ``child``, and the other actions follow. Decisions with two or three actions, which are
    nearly all, are computed in registers.
    """
    entering = load16(reach, parent)
    if n_actions == 2:
        shares = matched(kind, regrets, stepped(TWO, at, WIDTH), entering)
        store_each(reach, stepped(TWO, child, WIDTH), shares)
    elif n_actions == 3:
        three_shares = matched(kind, regrets, stepped(THREE, at, WIDTH), entering)
        store_each(reach, stepped(THREE, child, WIDTH), three_shares)
    else:
        total = fill16(_ZERO)
        for a in range(n_actions):
            total = total + _positive(kind, regrets, at + WIDTH * a)
        scaled, above = entering / total, total - fill16(_FLOOR)
        even = entering * (_ONE / np.float32(n_actions))
        for a in range(n_actions):
            share = _positive(kind, regrets, at + WIDTH * a) * scaled
            store(reach, child + WIDTH * a, where_positive(above, share, even))


@inlined
def _positive(kind: Any, regrets: Address, at: int):  # type: ignore[no-untyped-def]
    return maximum(load_as(kind, regrets, at), fill16(_ZERO))
