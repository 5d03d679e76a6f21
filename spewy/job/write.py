"""Write a job as the text of a job file, with a comment for each key that needs an explanation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from buckets.cards import parse_cards
from buckets.errors import CardError
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.ranges import parse_range

__all__ = ["HOLDEM", "write_job"]

HOLDEM = "holdem.nolimit.2p.reverse_blinds"
"""Name of the game in new job files; its big blind has 100 chips."""
SECTIONS = ("game", "spot", "bets", "tree", "boards", "rows", "solve", "dask", "save")
"""Sections of a job file in the order in which they are written."""
SIZES = """\
# Sizes: 33% of the pot; 2.5x the bet faced (raises only); 2.5bb; a: all-in; e: the share of the pot that, bet on every
# remaining round, ends all-in. A raise of 60% adds 60% of the pot after a call.
# docs/reference/job-file.md explains all sizes.
"""
LOCKS = """\
# A lock fixes the frequencies of some hands at one decision; docs/how-to/rake-and-locks.md explains its keys.
"""
EXPLAINED = {
    "spot.stack": "effective stack: the smaller of both players' chips behind",
    "spot.rake": "the house takes this share of each pot, at most the cap",
    "tree.add_allin": "adds an all-in that is at most this share of the pot",
    "tree.force_allin": "makes a bet all-in that would leave at most this share of the pot behind",
    "tree.merge": "merges two bet sizes that differ by less than about this share of the pot",
    "tree.min_bet": "smallest bet",
    "tree.max_raises": "largest number of bets and raises in a round",
    "solve.target": "stops at this exploitability; a later solve with a lower target continues",
    "solve.memory": "memory limit; spewy estimate shows how much a solve needs",
    "save.rounds": "last round whose strategies are kept; spewy show solves later rounds again",
}
"""Comments that keys always get, whatever their values are."""
SHORT = 40
"""Largest number of characters of a key with its value whose comment stands in the same line."""
BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML writes without quotes."""


def write_job(
    data: Mapping[str, Any], header: Sequence[str] = (), comments: Mapping[str, str] | None = None
) -> str:
    """Write the text of a job file.

    Args:
        data: the job as nested dictionaries. The keys are not validated; a key with the value None is left out.
        header: lines of the comment at the top of the file.
        comments: comments by key, such as ``spot.board``, in addition to those that every job gets.

    >>> print(write_job({"name": "T1", "solve": {"target": "0.1%"}}), end="")
    name = "T1"
    <BLANKLINE>
    [solve]
    target = "0.1%"    # stops at this exploitability; a later solve with a lower target continues
    """
    explained = EXPLAINED | _comments(data)
    for key, comment in (comments or {}).items():
        explained[key] = "\n".join(filter(None, (explained.get(key), comment)))
    known = [name for name in SECTIONS if isinstance(data.get(name), Mapping)]
    other = {key: value for key, value in data.items() if key not in (*known, "lock")}
    locks: Sequence[Mapping[str, Any]] = data.get("lock") or ()
    if not _are_tables(locks):
        other, locks = other | {"lock": data.get("lock")}, ()
    top = "".join(f"# {line}\n" for line in header) + "".join(_lines("", other, explained))
    blocks = [top, *(block for name in known for block in _section(name, data[name], explained))]
    for number, lock in enumerate(locks):
        blocks.append(
            (LOCKS if number == 0 else "") + "[[lock]]\n" + "".join(_lines(f"lock.{number}", lock, {}))
        )
    return "\n".join(block for block in blocks if block)


def _section(name: str, section: Mapping[str, Any], explained: Mapping[str, str]) -> Iterator[str]:
    """Yield the TOML text of a section's tables; the section of bet sizes has a table for each round.

    ``explained`` has comments by key.
    """
    if name != "bets" or not _are_tables(list(section.values())):
        yield f"[{name}]\n" + "".join(_lines(name, section, explained))
        return
    before = SIZES
    for key in sorted(section, key=lambda key: ROUND_NAMES.index(key) if key in ROUND_NAMES else 9):
        table = f"{name}.{_key(key)}"
        yield f"{before}[{table}]\n" + "".join(_lines(f"{name}.{key}", section[key], explained))
        before = ""


def _lines(table: str, section: Mapping[str, Any], explained: Mapping[str, str]) -> Iterator[str]:
    """Yield the TOML text of each key of a table, with the key's comment in ``explained`` if there is one.

    A comment stands beside a short value, and above a long value.
    """
    path = f"{table}." if table else ""
    rows = [(f"{path}{key}", f"{_key(key)} = ", value) for key, value in section.items() if value is not None]
    texts = [start + (_long(value) if _is_long(value) else _value(value)) for _, start, value in rows]
    short = [len(text) for (key, _, _), text in zip(rows, texts, strict=True) if key in explained]
    width = max((length for length in short if length <= SHORT), default=0)
    for (key, _, _), text in zip(rows, texts, strict=True):
        comment = explained.get(key)
        if comment is None:
            yield f"{text}\n"
        elif len(text) > SHORT or "\n" in comment:
            yield "".join(f"# {line}\n" for line in comment.split("\n")) + f"{text}\n"
        else:
            yield f"{text:<{width}}    # {comment}\n"


def _comments(data: Mapping[str, Any]) -> dict[str, str]:
    """Return comments that depend on the values in a job, by key."""
    found: dict[str, str] = {}
    if data.get("unit") == "bb":
        chips = '; "chips": hundredths of a big blind' if _table(data, "game").get("file") == HOLDEM else ""
        found["unit"] = f"all amounts are in big blinds{chips}"
    spot, solve = _table(data, "spot"), _table(data, "solve")
    several = "boards" in spot
    if _table(spot, "boards").keys() == {"subset"}:
        found["spot.boards"] = "flops that represent all 1,755; each gets a folder"
    cards = 3 if several else _cards(spot.get("board"))
    if 3 <= cards <= 5:
        found["spot.pot"] = f"pot when the {ROUND_NAMES[cards - 2]} is dealt"
    for seat, when in zip(SEAT_NAMES, ("first to act", "last to act"), strict=True):
        about = _hands(spot.get(seat))
        if about:
            found[f"spot.{seat}"] = f"{seat}, {when}: {about}"
    for name, sizes in _table(data, "bets").items():
        if isinstance(sizes, Mapping):
            if sizes.get("donk") == "":
                found[f"bets.{name}.donk"] = (
                    'oop never bets into the last aggressor of the round before; try "50%"'
                )
            if sizes.get("oop") == {"bet": ""}:
                found[f"bets.{name}.oop"] = "oop always checks first; without this line oop may bet, too"
    if solve.get("precision") == "16-bit":
        found["solve.precision"] = "takes half the memory of single precision"
    if "workers" in solve:
        each = "threads for each board; spewy solve solves a board on each core"
        found["solve.workers"] = each if several else "threads"
    return found


def _cards(board: object) -> int:
    """Count the cards of a board; 0 if it is not a board."""
    try:
        return len(parse_cards(board)) if isinstance(board, str) else 0
    except CardError:
        return 0


def _hands(text: object) -> str:
    """Describe the number of hands in the text of a range; an empty text if it is not a range."""
    if not isinstance(text, str):
        return ""
    try:
        return f"{parse_range(text).combos:,.1f} hands before the board blocks some"
    except InputError:
        return ""


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a section of a job; an empty one if the job has no such section."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _are_tables(value: object) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _quoted(key)


def _value(value: object) -> str:
    """Write a value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        inner = (f"{_key(key)} = {_value(each)}" for key, each in value.items() if each is not None)
        return f"{{ {', '.join(inner)} }}" if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _number(number: float) -> str:
    """Write a number without an exponent."""
    if not isfinite(number):
        return str(number)
    text = f"{number:.9f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _quoted(text: str) -> str:
    """Write a text between quotes; JSON's escapes are TOML's, too, except for the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_long(value: object) -> bool:
    """Whether a value is a text of several lines."""
    return isinstance(value, str) and "\n" in value


def _long(text: str) -> str:
    """Write a text of several lines between triple quotes; each line of the text is a line of the job file."""
    lines = (_quoted(line)[1:-1] for line in text.split("\n"))
    return '"""\n' + "\n".join(lines) + '"""'
