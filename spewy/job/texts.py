"""Values in a job file that are texts: targets, sizes of memory, times, boards, and node locks.

`spewy solve --lock` and the key ``lock`` of a job read a node lock in one line of text:

=================================  ===========================================================================
``x: bet``                         after a check, the whole range bets
``x: bet 120=0.3, check=70%``      frequencies from 0 to 1 or in percent; an action that is not named is never taken
``x: bet 120=0.3, check``          one action without a frequency: it takes the rest
``: check``, ``root: check``       the first decision
``x b120 [QQ+, AKs]: call``        these hands only; the other hands stay free, or follow a lock of the same line
``x x / @QsJh2h8c3d: check``       on this board only
=================================  ===========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from buckets.cards import card_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
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
    """Return the number of chips in one unit of a target; ``pot`` is that of the spot, and 0 for a whole game."""
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


_LOCK = re.compile(
    r"(?P<line>[^\[\]@:]*)(?:\[(?P<hands>[^\[\]@:]*)\]\s*)?(?:@(?P<board>[^\[\]@:]*))?:(?P<strategy>[^\[\]@:]*)"
)
_EXPECTED = 'a line and actions, such as "x: bet", or also hands, such as "x b120 [QQ+]: call=0.8, fold"'
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(%?)")
_ROOT = "root"
MOST_OF_NAME = 80
"""Largest number of characters that locks add to the name of a job."""


def with_lock_texts(data: dict[str, Any]) -> dict[str, Any]:
    """Replace the texts among a job's locks by tables, one for each betting line and board that the texts name."""
    locks = data.get("lock")
    if isinstance(locks, str):
        locks = [locks]
    if not isinstance(locks, list) or not any(isinstance(lock, str) for lock in locks):
        return data
    tables: list[Any] = []
    by_place: dict[tuple[str, str | None], dict[str, Any]] = {}
    for lock in locks:
        if not isinstance(lock, str):
            tables.append(lock)
            continue
        read = read_lock(lock)
        place = (" ".join(read["line"].lower().split()), read.get("board"))
        if place in by_place:
            _merge(by_place[place], read, lock)
        else:
            by_place[place] = read
            tables.append(read)
    return data | {"lock": tables}


def read_lock(text: str) -> dict[str, Any]:
    """Read the text of a lock, and return it as a table with the keys of ``[[lock]]``.

    >>> read_lock("x b120 [QQ+]: call=80%, fold")
    {'line': 'x b120', 'hands': {'QQ+': {'call': 0.8, 'fold': 0.2}}}
    """
    match = _LOCK.fullmatch(text)
    if match is None:
        raise InputError(f"lock {shown(text)}: expected {_EXPECTED}")
    line = match["line"].strip()
    table: dict[str, Any] = {"line": "" if line.lower() == _ROOT else line}
    if match["board"] is not None:
        table["board"] = match["board"].strip()
    strategy = _strategy(match["strategy"], f"lock {shown(text)}")
    if match["hands"] is None:
        return table | {"strategy": strategy}
    return table | {"hands": {match["hands"].strip(): strategy}}


def lock_name(texts: Sequence[str]) -> str:
    """Return the suffix that these locks add to the name of a job, and so to the folder of its solve.

    >>> lock_name(["x: bet 120=0.3, check"]), lock_name(["x b120 [QQ+]: call", ": check"])
    ('-lock-x-bet-120-0.3-check', '-lock-x-b120-QQ+-call-root-check')
    """
    rooted = (f"{_ROOT}{text}" if text.lstrip().startswith(("[", "@", ":")) else text for text in texts)
    name = "-".join(re.findall(r"[A-Za-z0-9.+%]+", " ".join(rooted)))
    return f"-lock-{name[:MOST_OF_NAME]}"


def _strategy(text: str, subject: str) -> dict[str, float]:
    """Read actions with frequencies; one action may lack a frequency and takes the rest."""
    strategy: dict[str, float] = {}
    rest: str | None = None
    for part in text.split(","):
        action, equals, number = part.rpartition("=") if "=" in part else (part, "", "")
        action = action.strip()
        if not action or action in strategy or action == rest:
            problem = f"{action} twice" if action else "no action"
            raise InputError(f"{subject}: expected {_EXPECTED}; found {problem}")
        if equals:
            strategy[action] = _frequency(number.strip(), f"{subject}, {action}")
        elif rest is not None:
            raise InputError(
                f"{subject}: expected frequencies of all actions but one, such as {rest}=0.3, found none of {action}"
            )
        else:
            rest = action
    if rest is not None:
        strategy[rest] = max(round(1 - sum(strategy.values()), 12), 0.0)
    return strategy


def _frequency(text: str, subject: str) -> float:
    match = _NUMBER.fullmatch(text)
    frequency = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= frequency <= 1:
        raise InputError(f"{subject}: expected a frequency such as 0.3 or 30%, found {shown(text)}")
    return frequency


def _merge(table: dict[str, Any], other: dict[str, Any], text: str) -> None:
    """Add the hands or the strategy of a lock to ``table``, a lock of the same line and board, in place."""
    if "strategy" in table and "strategy" in other:
        raise InputError(f"lock {shown(text)}: expected one lock of the whole range at this line, found two")
    if "strategy" in other:
        table["strategy"] = other["strategy"]
        return
    hands = table.setdefault("hands", {})
    for group, strategy in other["hands"].items():
        if group in hands:
            raise InputError(f"lock {shown(text)}: expected one lock of {group} at this line, found two")
        hands[group] = strategy
