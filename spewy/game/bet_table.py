"""`sizing.bet_amounts` of many decisions at once; `count` goes through a tree with it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spewy.game.sizes import Size
from spewy.game.sizing import RATIO_EPSILON, Thresholds

__all__ = ["Stakes", "bet_table"]

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Stakes:
    """The chips at decisions of one round, as arrays of equal length; each is as in `sizing.Stake`."""

    pot: Ints
    faced: Ints
    low: Ints
    high: Ints
    rounds_left: int
    bets_before: Ints


def bet_table(sizes: tuple[Size, ...], stakes: Stakes, thresholds: Thresholds) -> tuple[Ints, Flags]:
    """Street totals ``[decision, place]``, and which of the places are amounts; those ascend in each row.

    The arithmetic is that of `bet_amounts`, operation by operation, so that roundings are the same.
    """
    with np.errstate(over="ignore"):  # what is above all-in anyhow may be infinite
        return _bet_table(sizes, stakes, thresholds)


def _bet_table(sizes: tuple[Size, ...], stakes: Stakes, thresholds: Thresholds) -> tuple[Ints, Flags]:
    columns = [_settled(_amount(size, stakes), stakes, thresholds.force_allin) for size in sizes]
    joins = stakes.high <= stakes.faced + _rounded(stakes.pot * thresholds.add_allin, stakes)
    columns.append(np.where(joins, stakes.high, -1))
    amounts = np.sort(np.stack(columns, axis=1), axis=1)
    kept = np.zeros(amounts.shape, dtype=bool)
    bound = np.full(len(amounts), np.inf)
    for place in reversed(range(amounts.shape[1])):
        share = (amounts[:, place] - stakes.faced) / stakes.pot
        kept[:, place] = (amounts[:, place] >= 0) & (share < bound)
        below = (share - thresholds.merge) / (1 + thresholds.merge) * (1 - RATIO_EPSILON)
        bound = np.where(kept[:, place], below, bound)
    return amounts, kept


def _amount(size: Size, stakes: Stakes) -> Ints:
    match size.kind:
        case "pot":
            by = stakes.pot * (size.value / 100)
        case "times":
            return _rounded(stakes.faced * size.value, stakes)
        case "chips":
            by = np.full(len(stakes.pot), float(size.value))
        case "geometric":
            by = stakes.pot * _geometric_ratio(size, stakes)
        case "allin":
            return stakes.high
    return stakes.faced + _rounded(by, stakes)


def _rounded(value: Floats, stakes: Stakes) -> Ints:
    """`sizing.round_half_up` of what is at most all-in."""
    value = np.minimum(value, stakes.high)
    below = np.floor(value)
    return below.astype(np.int64) + (value - below >= 0.5)


def _geometric_ratio(size: Size, stakes: Stakes) -> Floats:
    rounds = size.rounds or stakes.rounds_left
    steps = np.maximum(rounds - np.maximum(stakes.bets_before - 1, 0), 1)
    behind_to_pot = (stakes.high - stakes.faced) / stakes.pot
    growth = zip((2 * behind_to_pot + 1).tolist(), (1 / steps).tolist(), strict=True)
    ratio = (
        np.array([base**power for base, power in growth]) - 1
    ) / 2  # NumPy's powers may differ in the last bit
    return np.minimum(ratio, size.value / 100) if size.value else ratio


def _settled(amount: Ints, stakes: Stakes, force_allin: float) -> Ints:
    amount = np.minimum(np.maximum(amount, stakes.low), stakes.high)
    pot_after = stakes.pot + 2 * (amount - stakes.faced)
    forced = stakes.high <= amount + _rounded(pot_after * force_allin, stakes)
    return np.where(forced, stakes.high, amount)
