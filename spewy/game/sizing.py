"""The amounts that a player may bet or raise to at a decision of a no-limit tree.

All amounts here are *street totals*: chips that a player has put in on this round. With ``faced`` the
opponent's street total, ``pot`` the chips in the middle once the player to act has called it, ``low`` and
``high`` the smallest and largest legal totals, and ``round`` half away from zero:

    X%   faced + round(pot · X / 100)
    Nx   round(faced · N)
    Nc   faced + N
    e    faced + round(pot · ((2 · behind / pot + 1)^(1/n) - 1) / 2),  behind = high - faced,
         n = rounds left, less one for every raise before this one on the street, at least 1
    a    high

Then, in this order:

1. all-in joins where ``high <= faced + round(pot · add_allin)``;
2. each amount is clamped to ``[low, high]``, and becomes all-in where
   ``high <= amount + round((pot + 2 · (amount - faced)) · force_allin)``;
3. doubles go, and of close sizes the larger stays: from the top down an amount is kept when, with ``x`` its
   share ``(amount - faced) / pot`` and ``y`` that of the last one kept, ``x < (y - merge) / (1 + merge)``.
"""

import math
from dataclasses import dataclass

from spewy.game.sizes import Size

__all__ = ["Stake", "Thresholds", "bet_amounts", "round_half_up"]

RATIO_EPSILON = 1e-12


@dataclass(frozen=True)
class Stake:
    """The chips at a decision, as street totals."""

    pot: int
    """Chips in the middle after a call."""
    faced: int
    low: int
    high: int
    rounds_left: int
    """Number of remaining rounds, with this round."""
    bets_before: int
    """Number of bets and raises on this street so far."""


@dataclass(frozen=True)
class Thresholds:
    """The parameters of the rules 1 to 3, as shares of the pot."""

    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0


def bet_amounts(sizes: tuple[Size, ...], stake: Stake, thresholds: Thresholds) -> list[int]:
    """Compute the street totals to bet or raise to, ascending; a total of `stake.high` is all-in.

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
    """Round a number that is not negative, halves away from zero.

    >>> round_half_up(2.5), round_half_up(0.49999999999999994)
    (3, 0)
    """
    below = math.floor(value)
    # floor(value + 0.5) would be wrong: the sum itself can round up.
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
    """Round at most to all-in; the value may be infinite."""
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
