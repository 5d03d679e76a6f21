"""Units of amounts that people read and write: chips, or big blinds.

In the program every amount is a whole number of chips. If the big blind of a game is 100 chips, amounts in big blinds
have up to two decimals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from spewy.errors import InputError, shown
from spewy.game.gamefile import MAX_CHIPS, Game

__all__ = ["CHIPS", "Unit", "UnitName", "game_unit"]

UnitName = Literal["chips", "bb"]
MOST_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in which people read and write amounts: chips, or big blinds of a game."""

    name: UnitName = "chips"
    chips: int = 1
    """Chips in one unit: a divisor of a power of ten, so that every amount is a finite decimal number."""

    def text(self, chips: int) -> str:
        """Write a number of chips in this unit, without rounding.

        >>> Unit("bb", 100).text(550), Unit("bb", 100).text(2_000), Unit().text(120)
        ('5.5', '20', '120')
        """
        whole, rest = divmod(chips, self.chips)
        decimals = f"{rest * 10**MOST_DECIMALS // self.chips:0{MOST_DECIMALS}d}".rstrip("0")
        return f"{whole}.{decimals}" if rest else str(whole)

    def number(self, chips: int) -> int | float:
        """Convert a number of chips to this unit; the result is an int if it is whole."""
        return chips // self.chips if chips % self.chips == 0 else chips / self.chips

    def worth(self, first: float, second: float) -> tuple[float, float]:
        """Convert an amount of player 0 and an amount of player 1 from chips to this unit."""
        return first / self.chips, second / self.chips

    def read(self, amount: float | str, subject: str) -> int:
        """Convert an amount in this unit to chips; an error begins with ``subject``.

        >>> Unit("bb", 100).read(5.55, "spot.pot"), Unit().read("120", "spot.pot")
        (555, 120)
        """
        exact = Fraction(str(amount)) * self.chips
        if exact.denominator != 1:
            hint = ', or unit = "bb" in the job' if self == CHIPS else ""
            raise InputError(f"{subject}: expected {self.multiple}{hint}, found {amount}")
        if exact > MAX_CHIPS:
            raise InputError(
                f"{subject}: expected at most {self.text(MAX_CHIPS)} {self.name}, found {amount}"
            )
        return exact.numerator

    @property
    def key(self) -> dict[str, str]:
        """The entry ``{"unit": ...}`` for JSON output; an empty dictionary for chips, the default unit."""
        return {} if self == CHIPS else {"unit": self.name}

    @property
    def multiple(self) -> str:
        """A description of valid amounts, for error messages."""
        if self.name == "chips":
            return "a whole number of chips"
        return f"a multiple of {self.text(1)} bb (a chip of this game, whose big blind is {self.chips})"

    def line_text(self, line: str) -> str:
        """Convert the amounts of a betting string from chips to this unit.

        >>> Unit("bb", 100).line_text("cr180c/"), Unit().line_text("cr180c/")
        ('cr1.8c/', 'cr180c/')
        """
        return line if self.chips == 1 else _AMOUNT.sub(lambda match: self.text(int(match.group())), line)


_AMOUNT = re.compile(r"[0-9]+")
CHIPS = Unit()


def game_unit(name: UnitName, game: Game) -> Unit:
    """Return the unit "chips" or "bb" of a game."""
    if name == "chips":
        return CHIPS
    if 10**MOST_DECIMALS % game.big_blind:
        raise InputError(
            'unit: expected "chips", or "bb" in a game whose big blind is 1, 2, 5, 10, 100, ... chips; '
            f"found {shown(name)} and a big blind of {game.big_blind}"
        )
    return Unit(name, game.big_blind)
