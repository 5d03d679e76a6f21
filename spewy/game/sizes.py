"""Bet sizes as text: ``60%, 2.5x, 100c, e, a``.

========  =================================================================================================
``60%``   60 % of the pot after a call; a raise adds this to the bet faced
``2.5x``  a raise to 2.5 times the bet faced (raises only)
``100c``  a bet of 100 chips, or a raise by 100 chips; ``2.5bb`` if amounts are in big blinds
``e``     geometric: the share of the pot that, bet in every remaining round, ends all-in; ``3e``: in three
          rounds; ``e200%``: at most 200 % of the pot
``a``     all-in
========  =================================================================================================

`spewy.game.sizing` computes the amounts of bet sizes at a decision.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit

__all__ = ["Size", "SizeKind", "format_sizes", "parse_sizes"]

SizeKind = Literal["pot", "times", "chips", "geometric", "allin"]

_NUMBER = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_POT = re.compile(_NUMBER + "%")
_TIMES = re.compile(_NUMBER + "x")
_AMOUNT = re.compile(_NUMBER + "(c|bb)")
_GEOMETRIC = re.compile(rf"([0-9]{{0,3}})e(?:{_NUMBER}%)?")


@dataclass(frozen=True)
class Size:
    """One bet size; ``str(size)`` is its text."""

    kind: SizeKind
    value: float = 0.0
    """Percent of the pot, factor, or chips; for a geometric size, the limit in percent of the pot; 0: no limit."""
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
            case "chips":
                return f"{number}c"
            case "geometric":
                return f"{self.rounds or ''}e" + (f"{number}%" if self.value else "")
            case "allin":
                return "a"


def parse_sizes(
    text: str, *, raises: bool = False, key: str = "bet sizes", unit: Unit = CHIPS
) -> tuple[Size, ...]:
    """Read bet sizes; an empty text has none. Positions in error messages count from 0.

    Args:
        text: the sizes, separated by commas.
        raises: whether these are sizes of raises, so that ``2.5x`` is allowed.
        key: how error messages begin.
        unit: the unit of amounts.

    >>> [size.kind for size in parse_sizes("60%, e, a")]
    ['pot', 'geometric', 'allin']

    Raises:
        InputError: the text is not a list of bet sizes.
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
    """Read one bet size.

    Raises:
        ValueError: the text is not a bet size; the message says what was expected.
    """
    if token == "a":
        return Size("allin")
    if match := _POT.fullmatch(token):
        return Size("pot", _positive(match.group(1), "a share of the pot above 0%"))
    if match := _TIMES.fullmatch(token):
        if not raises:
            raise ValueError("a bet size (x is for raises only)")
        factor = float(match.group(1))
        if factor <= 1:
            raise ValueError("a factor above 1x")
        return Size("times", factor)
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
    """Convert an amount with a suffix to chips.

    Raises:
        ValueError: the suffix is not that of the job's unit, or the amount is not a whole number of chips.
    """
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
