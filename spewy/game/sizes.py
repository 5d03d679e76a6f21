"""Bet sizes: their text, such as ``60%, 2.5x, 100c, e, a``, and the amounts that they stand for at a decision.

========  =================================================================================================
``60%``   60 % of the pot after a call; a raise adds this to the bet faced
``2.5x``  a raise to 2.5 times the bet faced (raises only)
``3xc``   a raise by 2 times the smallest raise (raises only); ``2xc`` is the smallest raise. The player puts in three
          times the chips of a call
``100c``  a bet of 100 chips, or a raise by 100 chips; ``2.5bb`` if amounts are in big blinds
``e``     geometric: the share of the pot that, bet in every remaining round, ends all-in; ``3e``: in three
          rounds; ``e200%``: at most 200 % of the pot
``a``     all-in; ``a300%``: all-in if it is at most 300 % of the pot, otherwise no bet
========  =================================================================================================

Amounts are *street totals*: chips that a player has put in on this round. In the formulas ``faced``
is the opponent's street total, ``pot`` is the chips in the middle after a call, ``low`` and ``high`` are the smallest
and the largest legal street total, and ``round`` rounds halves away from zero:

    X%   faced + round(pot · X / 100)
    Nx   round(faced · N)
    Nxc  faced + round((low - faced) · (N - 1))
    Nc   faced + N
    e    faced + round(pot · ((2 · behind / pot + 1)^(1/n) - 1) / 2),  behind = high - faced,
         n = rounds left, less one for every earlier raise in this round, at least 1
    a    high;  aX%: only if high <= faced + round(pot · X / 100)

Then, in this order:

1. all-in is added if ``high <= faced + round(pot · add_allin)``;
2. each amount is limited to ``[low, high]``, and becomes all-in if
   ``high <= amount + round((pot + 2 · (amount - faced)) · force_allin)``, or if
   ``before + amount > allin_from · (before + high)``, where ``before`` is what the player had put in before the round;
3. equal amounts are merged, and close amounts are merged into the larger one. Amounts are compared in descending order.
   Let ``x`` be the amount's share of the pot, ``(amount - faced) / pot``, and ``y`` the share of the last amount that
   was kept. The amount is kept if ``x < (y - merge) / (1 + merge)``.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit

__all__ = [
    "Size",
    "SizeKind",
    "Stake",
    "Thresholds",
    "bet_amounts",
    "format_sizes",
    "parse_sizes",
    "round_half_up",
]

SizeKind = Literal["pot", "times", "steps", "chips", "geometric", "allin"]
RAISES_ONLY: tuple[SizeKind, ...] = ("times", "steps")
"""Kinds of sizes that depend on the bet faced."""

_NUMBER = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_POT = re.compile(_NUMBER + "%")
_TIMES = re.compile(_NUMBER + "(xc?)")
_ALLIN = re.compile(rf"a(?:{_NUMBER}%)?")
_AMOUNT = re.compile(_NUMBER + "(c|bb)")
_GEOMETRIC = re.compile(rf"([0-9]{{0,3}})e(?:{_NUMBER}%)?")


class Size(NamedTuple):
    """One bet size; ``str(size)`` is its text."""

    kind: SizeKind
    value: float = 0.0
    """Percent of the pot, factor, or chips; for a geometric size and all-in, the limit in percent of the pot; 0: no
    limit."""
    rounds: int = 0
    """Number of rounds of a geometric size; 0: all remaining rounds."""

    def __str__(self) -> str:
        # No exponent, because the letter e stands for a geometric size.
        number = format(Decimal(repr(self.value)), "f").removesuffix(".0")
        match self.kind:
            case "pot":
                return f"{number}%"
            case "times":
                return f"{number}x"
            case "steps":
                return f"{number}xc"
            case "chips":
                return f"{number}c"
            case "geometric":
                return f"{self.rounds or ''}e" + (f"{number}%" if self.value else "")
            case "allin":
                return "a" + (f"{number}%" if self.value else "")


def parse_sizes(
    text: str, *, raises: bool = False, key: str = "bet sizes", unit: Unit = CHIPS
) -> tuple[Size, ...]:
    """Read bet sizes; an empty text has none. Positions in error messages count from 0.

    Args:
        text: the sizes, separated by commas.
        raises: whether these are sizes of raises, so that ``2.5x`` is allowed.
        key: how error messages begin.
    >>> [size.kind for size in parse_sizes("60%, e, a")]
    ['pot', 'geometric', 'allin']
    """
    if not text.strip():
        return ()
    sizes = []
    position = 0
    for part in text.split(","):
        token = part.strip()
        start = position + len(part) - len(part.lstrip()) if token else position
        try:
            sizes.append(_parse_size(token.lower(), raises, unit))
        except ValueError as error:
            raise InputError(f"{key}, position {start}: expected {error}, found {shown(token)}") from None
        position += len(part) + 1
    return tuple(sizes)


def format_sizes(sizes: tuple[Size, ...]) -> str:
    """Write bet sizes as text; `parse_sizes` reads the same sizes from it.

    >>> format_sizes(parse_sizes("60%,2.50x,a", raises=True))
    '60%, 2.5x, a'
    """
    return ", ".join(map(str, sizes))


def _parse_size(token: str, raises: bool, unit: Unit) -> Size:
    """Read one bet size; the message of a `ValueError` says what was expected."""
    if match := _ALLIN.fullmatch(token):
        return Size("allin", _positive(match[1], "a limit above 0%") if match[1] else 0.0)
    if match := _POT.fullmatch(token):
        return Size("pot", _positive(match.group(1), "a share of the pot above 0%"))
    if match := _TIMES.fullmatch(token):
        if not raises:
            raise ValueError("a bet size (x is for raises only)")
        factor = float(match.group(1))
        if factor <= 1:
            raise ValueError("a factor above 1x")
        return Size("times" if match.group(2) == "x" else "steps", factor)
    if match := _AMOUNT.fullmatch(token):
        return Size("chips", _chips(match[1], match[2], unit))
    if match := _GEOMETRIC.fullmatch(token):
        rounds, cap = match.groups()
        if rounds and int(rounds) == 0:
            raise ValueError("at least 1 round before e")
        return Size("geometric", _positive(cap, "a cap above 0%") if cap else 0.0, int(rounds or 0))
    share = f' ("{token}%" is {token} % of the pot)' if re.fullmatch(_NUMBER, token) else ""
    raise ValueError(f"a size such as 60%, {'2.5x, ' if raises else ''}{_EXAMPLES[unit.name]}, e or a{share}")


_EXAMPLES = {"chips": "100c", "bb": "2.5bb"}


def _chips(number: str, suffix: str, unit: Unit) -> float:
    if (suffix == "bb") != (unit.name == "bb"):
        raise ValueError(f'an amount in {unit.name}, such as {_EXAMPLES[unit.name]} (unit = "{unit.name}")')
    expected = f"{unit.multiple} above 0"
    if _positive(number, expected) * unit.chips == float("inf"):
        raise ValueError(expected)
    exact = Fraction(number) * unit.chips
    if exact.denominator != 1:
        raise ValueError(expected)
    return float(exact)


def _positive(number: str, expected: str) -> float:
    value = float(number)
    if value <= 0 or value == float("inf"):
        raise ValueError(expected)
    return value


RATIO_EPSILON = 1e-12


class Stake(NamedTuple):
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
    before: int = 0
    """Chips that each player had put in before this round, since the root."""


class Thresholds(NamedTuple):
    """Thresholds for adding all-in, for raising bets to all-in and for merging bets: see the module's three steps.

    All but ``allin_from`` are shares of the pot.
    """

    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0
    allin_from: float = 1.0
    """A share of the stack at the root; 1: no effect."""


def bet_amounts(sizes: tuple[Size, ...], stake: Stake, thresholds: Thresholds) -> list[int]:
    """Compute the bets and raises of some sizes, as ascending street totals; `stake.high` is all-in.

    >>> from spewy.game.sizes import parse_sizes
    >>> bet_amounts(parse_sizes("60%, e, a"), Stake(200, 0, 1, 900, 2, 0), Thresholds(1.5, 0.15, 0.1))
    [120, 216, 900]
    """
    wanted = [_amount(size, stake) for size in sizes if _offered(size, stake)]
    if _within(stake, thresholds.add_allin):
        wanted.append(stake.high)
    settled = {_settle(amount, stake, thresholds) for amount in wanted}
    return _merged(sorted(settled), stake, thresholds.merge)


def round_half_up(value: float) -> int:
    """Round a number of at least 0 to the nearest integer, and halves up.

    >>> round_half_up(2.5), round_half_up(0.49999999999999994)
    (3, 0)
    """
    below = math.floor(value)
    # math.floor(value + 0.5) would be wrong, because the sum is rounded, too.
    return below + (value - below >= 0.5)


def _offered(size: Size, stake: Stake) -> bool:
    return size.kind != "allin" or not size.value or _within(stake, size.value / 100)


def _within(stake: Stake, share: float) -> bool:
    """Whether all-in exceeds the bet faced by at most a share of the pot."""
    return stake.high <= stake.faced + _capped_round(stake.pot * share, stake)


def _amount(size: Size, stake: Stake) -> int:
    match size.kind:
        case "pot":
            by = stake.pot * (size.value / 100)
        case "times":
            return _capped_round(stake.faced * size.value, stake)
        case "steps":
            by = (stake.low - stake.faced) * (size.value - 1)
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


def _settle(amount: int, stake: Stake, thresholds: Thresholds) -> int:
    amount = min(max(amount, stake.low), stake.high)
    most = thresholds.allin_from * (stake.before + stake.high) * (1 + RATIO_EPSILON)
    if thresholds.allin_from < 1 and stake.before + amount > most:
        return stake.high
    if not thresholds.force_allin:
        return amount
    pot_after = stake.pot + 2 * (amount - stake.faced)
    left = _capped_round(pot_after * thresholds.force_allin, stake)
    return stake.high if stake.high <= amount + left else amount


def _merged(amounts: list[int], stake: Stake, merge: float) -> list[int]:
    kept: list[int] = []
    bound = math.inf
    for amount in reversed(amounts):
        share = (amount - stake.faced) / stake.pot
        if share < bound:
            kept.append(amount)
            bound = (share - merge) / (1 + merge) * (1 - RATIO_EPSILON)
    return kept[::-1]
