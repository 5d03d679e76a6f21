"""Values in a job file that are texts: targets, sizes of memory, times, and boards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from buckets.cards import card_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError
from spewy.game.gamefile import Game


def parse_target(text: str) -> tuple[float, Literal["%", "mbb", "bb", "chips"]]:
    """Read a target: ``"0.3%"`` of the pot, ``"1 mbb"`` per hand, ``"0.01 bb"`` or ``"0.005 chips"``."""
    for unit in ("%", "mbb", "bb", "chips"):
        if text.endswith(unit):
            try:
                number = float(text.removesuffix(unit))
            except ValueError:
                break
            if 0 <= number < float("inf"):
                return number, unit
    raise ValueError(
        'expected a number of at least 0 and a unit: "0.3%", "1 mbb", "0.01 bb" or "0.005 chips"'
    )


def unit_chips(game: Game, pot: float, unit: str) -> float:
    """Return the number of chips in one unit of a target.

    Args:
        game: the rules.
        pot: pot of the spot in chips; 0 for a whole game.
        unit: "%", "mbb", "bb" or "chips".

    Raises:
        InputError: the unit is % for a whole game, or mbb for a spot.
    """
    if unit == "%":
        if not pot:
            raise InputError("solve.target: expected mbb or chips for a whole game, found %")
        return pot / 100
    if unit == "mbb":
        if pot:
            raise InputError("solve.target: expected % of the pot or chips for a spot, found mbb")
        return game.big_blind / 1000
    return float(game.big_blind) if unit == "bb" else 1.0


SHARE: dict[str, Any] = {
    "anyOf": [
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        {"type": "string", "pattern": r"^\s*[0-9]{1,2}(\.[0-9]{0,12})?\s*%\s*$"},
    ]
}
"""JSON schema of a value that `share` accepts."""


def share(value: object) -> float:
    """Return a share of the pot below 1 that is given as a number, or as a text such as ``"5%"``."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]{1,2}(?:\.[0-9]{0,12})?)\s*%\s*", value)
        if match is None:
            raise ValueError('expected a percentage below 100%, such as "5%"')
        return float(Fraction(match[1]) / 100)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError('expected a share of the pot such as 0.05 or "5%"')
    if value >= 1:
        percent = f'; for {value:g}% write {value / 100:g} or "{value:g}%"' if value < 100 else ""
        raise ValueError(f"expected a share of the pot below 1{percent}")
    return value


def parse_memory(text: str) -> int:
    """Read a size of memory such as ``"2 GiB"`` or ``"500 MiB"``, and return it in bytes."""
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    return int(_amount(text, units, '"500 MiB" or "2 GiB"'))


def parse_duration(text: str) -> float:
    """Read a time such as ``"90 s"``, ``"30 min"`` or ``"8 h"``, and return it in seconds."""
    return _amount(text, {"min": 60, "s": 1, "h": 3600}, '"90 s", "30 min" or "8 h"')


def _amount(text: str, units: Mapping[str, int], examples: str) -> float:
    """Read a positive number with a unit, and multiply it by the size of the unit.

    Args:
        text: the number and its unit.
        units: the size of each unit.
        examples: examples for the error message.
    """
    for unit, size in units.items():
        if text.endswith(unit):
            try:
                number = float(text.removesuffix(unit)) * size
            except ValueError:
                break
            if 0 < number < float("inf"):
                return number
    raise ValueError(f"expected a positive number and a unit: {examples}")


def board_text(text: str) -> str:
    """Write the cards of a board in the spelling ``Qs Jh 2h``; a text in this spelling, or without cards, stays."""
    try:
        parse_cards(text, strict=True)
    except CardError:
        try:
            return " ".join(map(card_name, parse_cards(text)))
        except CardError:
            return text  # `SpotJob.board` says what is wrong
    return text
