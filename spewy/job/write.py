"""Writes job files with comments, from a job's data or from the user's answers to a few questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from random import Random
from typing import Any

from buckets.cards import Deck, card_name, cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.job.load import override
from spewy.job.shipped import GivenRange, Preset

DOCS = (
    "docs/how-to/jobs.md explains lines, amounts and ranges; docs/reference/job-file.md explains every key."
)
KEYS = ("bet", "raise", "donk")
"""Keys of bet sizes in a section ``[bets.ROUND]``."""
FLOP = 3
FORCE_ALLIN = 0.2
"""New jobs turn a bet into an all-in if it leaves at most this share of the pot behind."""
DEEP, SHALLOW = 8, 2.5
"""Limits of the stack divided by the pot: above ``DEEP`` a new job gets the bet sizes of a single raised pot, below
``SHALLOW`` those of a 4-bet pot."""


@dataclass(frozen=True)
class Answers:
    """The answers that determine a new job; amounts are in big blinds.

    Attributes:
        name: name of the job.
        about: description of the job.
        board: three to five cards; empty for a subset of flops.
        drawn: the options that draw the random board again, for a comment; None if the user gave the board.
        pot, stack: pot and effective stack.
        ranges: ranges of both players, oop first.
        caller_checks: whether oop always checks to the player who raised before the flop.
        subset: number of flops that represent all flops, if there is no board.
        bet, raise_: bet and raise sizes on every round; None: the sizes depend on the depth of the stacks.
        sizes: bet, raise and donk sizes of single rounds, by key, such as ``flop.bet``.
        overrides: keys of the job with values, such as ``bets.flop.oop.bet=33%``, which replace all other values.
    """

    name: str
    about: str
    board: tuple[int, ...]
    drawn: str | None
    pot: float
    stack: float
    ranges: tuple[GivenRange, GivenRange]
    caller_checks: bool
    subset: int | None = None
    bet: str | None = None
    raise_: str | None = None
    sizes: Mapping[str, str] = field(default_factory=dict)
    overrides: Sequence[str] = ()

    @property
    def n_cards(self) -> int:
        """Number of cards of the board, or of each flop."""
        return len(self.board) or FLOP

    @classmethod
    def of(cls, preset: Preset, board: tuple[int, ...], drawn: str | None) -> Answers:
        """Make the answers from a preset, which gives pot, stacks and ranges."""
        return cls(
            f"{preset.name}-{cards_name(board)}" if board else preset.name,
            preset.about,
            board,
            drawn,
            preset.pot,
            preset.stack,
            preset.ranges,
            preset.raiser == "ip" and len(board) in (0, FLOP),
        )


def drawn_board(seed: int, n_cards: int) -> tuple[int, ...]:
    """Draw a random board of ``n_cards`` hold'em cards, in `Game.board_order`."""
    return load_game(HOLDEM).board_order(Random(seed).sample(Deck().cards, n_cards))


def job_text(answers: Answers, by: str = "spewy new") -> str:
    """Write the text of the job file; its first comment names ``by``, the command that writes it."""
    header = (answers.about, f"Written by {by}. {DOCS}")
    comments = {f"spot.{seat}": given.about for seat, given in zip(SEAT_NAMES, answers.ranges, strict=True)}
    if answers.drawn is not None:
        comments["spot.board"] = answers.drawn
    return write_job(job_data(answers), header, comments)


def job_data(answers: Answers) -> dict[str, Any]:
    """Return the new job as nested dictionaries, without comments."""
    oop, ip = (f"{given.text}\n" for given in answers.ranges)
    many = answers.subset is not None
    board = (
        {"boards": {"subset": answers.subset}} if many else {"board": " ".join(map(card_name, answers.board))}
    )
    workers = 1 if many else 2  # one thread for each flop is fastest if there are many flops
    solve: dict[str, Any] = {"target": "0.5%", "workers": workers}
    if answers.stack > DEEP * answers.pot:
        solve["precision"] = "16-bit"
    data = {
        "name": answers.name,
        "unit": "bb",
        "game": {"file": HOLDEM},
        "spot": board | {"pot": answers.pot, "stack": answers.stack, "oop": oop, "ip": ip},
        "bets": _bets(answers),
        "tree": {"add_allin": 1.0, "force_allin": FORCE_ALLIN, "min_bet": 1},
        "solve": solve | {"memory": "4 GiB"},
    }
    if many:
        data["save"] = {"rounds": "flop"}
    for text in answers.overrides:
        override(data, text)
    return data


def _bets(answers: Answers) -> dict[str, dict[str, Any]]:
    depth = answers.stack / answers.pot
    by_depth = _DEEP if depth > DEEP else _SHALLOW if depth < SHALLOW else _MIDDLE
    rounds: Sequence[tuple[str, str]] = tuple(zip(ROUND_NAMES[1:], by_depth, strict=True))
    raise_ = "60%" if answers.raise_ is None else answers.raise_
    bets: dict[str, dict[str, Any]] = {}
    for number, (name, bet) in enumerate(rounds[answers.n_cards - FLOP :]):
        bets[name] = {"bet": bet if answers.bet is None else answers.bet, "raise": raise_}
        if number:
            bets[name]["donk"] = ""
        bets[name] |= {
            key: sizes for key in KEYS if (sizes := answers.sizes.get(f"{name}.{key}")) is not None
        }
        if number == 0 and answers.caller_checks:
            bets[name]["oop"] = {"bet": ""}
    return bets


_DEEP, _MIDDLE, _SHALLOW = (
    ("33%, 75%", "66%", "66%"),
    ("33%, 66%", "60%", "60%, a"),
    ("25%, 50%", "50%, a", "a"),
)
"""Bet sizes on flop, turn and river, for deep, middle and shallow stacks."""


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
    "tree.allin_from": "makes a bet all-in if the player has then put in more than this share of the stack",
    "tree.short_allins": "false: nobody raises all-in by less than the smallest raise",
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
    if name != "bets" or not _are_tables(list(section.values())):
        yield f"[{name}]\n" + "".join(_lines(name, section, explained))
        return
    before = SIZES
    for key in sorted(section, key=lambda key: ROUND_NAMES.index(key) if key in ROUND_NAMES else 9):
        table = f"{name}.{_key(key)}"
        yield f"{before}[{table}]\n" + "".join(_lines(f"{name}.{key}", section[key], explained))
        before = ""


def _lines(table: str, section: Mapping[str, Any], explained: Mapping[str, str]) -> Iterator[str]:
    """Yield the TOML text of each key of a table; a comment stands beside a short value, and above a long value."""
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
    try:
        return len(parse_cards(board)) if isinstance(board, str) else 0
    except CardError:
        return 0


def _hands(text: object) -> str:
    if not isinstance(text, str):
        return ""
    try:
        return f"{parse_range(text).combos:,.1f} hands before the board blocks some"
    except InputError:
        return ""


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _are_tables(value: object) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _quoted(key)


def _value(value: object) -> str:
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
    return isinstance(value, str) and "\n" in value


def _long(text: str) -> str:
    lines = (_quoted(line)[1:-1] for line in text.split("\n"))
    return '"""\n' + "\n".join(lines) + '"""'
