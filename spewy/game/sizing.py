"""The amounts to which a player may bet or raise at a decision of a no-limit tree.

All amounts in this module are *street totals*: chips that a player has put in on this round. In the formulas ``faced``
is the opponent's street total, ``pot`` is the chips in the middle after a call, ``low`` and ``high`` are the smallest
and the largest legal street total, and ``round`` rounds halves away from zero:

    X%   faced + round(pot · X / 100)
    Nx   round(faced · N)
    Nc   faced + N
    e    faced + round(pot · ((2 · behind / pot + 1)^(1/n) - 1) / 2),  behind = high - faced,
         n = rounds left, less one for every earlier raise in this round, at least 1
    a    high

Then, in this order:

1. all-in is added if ``high <= faced + round(pot · add_allin)``;
2. each amount is limited to ``[low, high]``, and becomes all-in if
   ``high <= amount + round((pot + 2 · (amount - faced)) · force_allin)``;
3. equal amounts are merged, and close amounts are merged into the larger one. Amounts are compared in descending order.
   Let ``x`` be the amount's share of the pot, ``(amount - faced) / pot``, and ``y`` the share of the last amount that
   was kept. The amount is kept if ``x < (y - merge) / (1 + merge)``.
"""

import math
from dataclasses import dataclass

from spewy.game.sizes import Size

__all__ = ["Stake", "Thresholds", "bet_amounts", "round_half_up"]

RATIO_EPSILON = 1e-12


@dataclass(frozen=True)
class Stake:
    """The chips at a decision. `faced`, `low` and `high` are street totals: chips put in on this round."""

    pot: int
    """Chips in the middle after a call."""
    faced: int
    """The opponent's street total."""
    low: int
    """Smallest legal bet or raise."""
    high: int
    """Largest legal bet or raise."""
    rounds_left: int
    """Number of remaining rounds, including this round."""
    bets_before: int
    """Number of bets and raises in this round so far."""


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of bet sizes, as shares of the pot; the module's description has the rules that use them."""

    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0


def bet_amounts(sizes: tuple[Size, ...], stake: Stake, thresholds: Thresholds) -> list[int]:
    """Compute the bets and raises of some sizes, as ascending street totals; `stake.high` is all-in.

    >>> from spewy.game.sizes import parse_sizes
    >>> bet_amounts(parse_sizes("60%, e, a"), Stake(200, 0, 1, 900, 2, 0), Thresholds(1.5, 0.15, 0.1))
    [120, 216, 900]
    """
    wanted = [_amount(size, stake) for size in sizes]
    if stake.high <= stake.faced + _capped_round(stake.pot * thresholds.add_allin, stake):
        wanted.append(stake.high)
    settled = {_settle(amount, stake, thresholds.force_allin) for amount in wanted}
    return _merged(sorted(settled), stake, thresholds.merge)


def round_half_up(value: float) -> int:
    """Round a number of at least 0 to the nearest integer, and halves up.

    >>> round_half_up(2.5), round_half_up(0.49999999999999994)
    (3, 0)
    """
    below = math.floor(value)
    # math.floor(value + 0.5) would be wrong, because the sum is rounded, too.
    return below + (value - below >= 0.5)


def _amount(size: Size, stake: Stake) -> int:
    match size.kind:
        case "pot":
            by = stake.pot * (size.value / 100)
        case "times":
            return _capped_round(stake.faced * size.value, stake)
        case "chips":
            by = size.value
        case "geometric":
            by = stake.pot * _geometric_ratio(size, stake)
        case "allin":
            return stake.high
    return stake.faced + _capped_round(by, stake)


def _capped_round(value: float, stake: Stake) -> int:
    """Round an amount, which may be infinite, and limit it to all-in."""
    return round_half_up(min(value, float(stake.high)))


def _geometric_ratio(size: Size, stake: Stake) -> float:
    rounds = size.rounds or stake.rounds_left
    steps = max(rounds - max(stake.bets_before - 1, 0), 1)
    behind_to_pot = (stake.high - stake.faced) / stake.pot
    ratio: float = ((2 * behind_to_pot + 1) ** (1 / steps) - 1) / 2
    return min(ratio, size.value / 100) if size.value else ratio


def _settle(amount: int, stake: Stake, force_allin: float) -> int:
    amount = min(max(amount, stake.low), stake.high)
    pot_after = stake.pot + 2 * (amount - stake.faced)
    return stake.high if stake.high <= amount + _capped_round(pot_after * force_allin, stake) else amount


def _merged(amounts: list[int], stake: Stake, merge: float) -> list[int]:
    kept: list[int] = []
    bound = math.inf
    for amount in reversed(amounts):
        share = (amount - stake.faced) / stake.pot
        if share < bound:
            kept.append(amount)
            bound = (share - merge) / (1 + merge) * (1 - RATIO_EPSILON)
    return kept[::-1]
