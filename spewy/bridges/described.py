"""A spot as the text of another program describes it, line by line, until it becomes the data of a job.

A line that cannot be read is noted with its number and left out; so is a line that has no counterpart in a job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from buckets.cards import card_name, cards_name, parse_cards
from buckets.errors import CardError
from spewy.bridges.bets import Bets, Rule, TooManyBetsError, bets_of, lines_of
from spewy.errors import InputError, short, shown
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.ranges import format_range, parse_range
from spewy.game.ranges.text import number_list
from spewy.game.sizes import parse_sizes
from spewy.game.treeconfig import TreeConfig
from spewy.job.job import Job, SpotJob
from spewy.job.write import HOLDEM

ROUNDS = ROUND_NAMES[1:]
NEEDED = {
    "board": "the board",
    "pot": "the pot",
    "stack": "the stack",
    "oop": "oop's range",
    "ip": "ip's range",
}
"""Keys of ``[spot]`` that a job must have, with their names for people."""
UNCOMPARED = "the tree is too large to compare its bets with those of the text"
"""Note on a text that was written for a large tree."""
MOST_NOTED = 5
"""Largest number of notes that an error quotes."""
_SIZE = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)?(?P<kind>%|x|c|e|a|ai|allin)?(?P<limit>\d+\.?\d*|\.\d+)?%?")


@dataclass
class Described:
    """A spot as a text of another program describes it.

    Attributes:
        program: name of the program that writes such texts.
        ranges: ranges by seat, ``oop`` and ``ip``.
        amounts: ``pot``, ``stack``, ``min_bet`` and ``cap`` (of the rake) as decimal numbers.
        sizes: bet sizes in the spelling of jobs, by round, seat, and ``bet``, ``raise`` or ``donk``. A bet
            without sizes does not exist, except donk bets if ``donks`` is False.
        donks: whether donk bets have sizes of their own; otherwise they have those of bets.
        rate: rake as a share of the pot.
        thresholds: given the pot and the stack, returns the keys of ``[tree]`` that depend on them.
        rule: given a tree's configuration, returns the program's own rule for bets; None: keys of a job express it.
        exact: given a tree's configuration, returns all bets of the tree; None: the text does not list them.
        notes: what has no counterpart, and what could not be read.
    """

    program: str
    ranges: dict[str, str] = field(default_factory=dict)
    board: tuple[int, ...] = ()
    amounts: dict[str, Decimal] = field(default_factory=dict)
    sizes: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    donks: bool = True
    rate: float = 0.0
    tree: dict[str, Any] = field(default_factory=dict)
    solve: dict[str, Any] = field(default_factory=dict)
    thresholds: Callable[[float, float], dict[str, float]] | None = None
    rule: Callable[[TreeConfig], Rule] | None = None
    exact: Callable[[TreeConfig], Bets] | None = None
    notes: list[str] = field(default_factory=list)
    _lines: dict[str, tuple[int, str]] = field(default_factory=dict)

    def note(self, line: int, text: str) -> None:
        """Add a note for the user about a line of the text; line 0: about the whole text."""
        self.notes.append(f"line {line}: {text}" if line else text)

    def trying(self, line: int, read: Callable[[], None]) -> None:
        """Call a function that reads a line; note why the line cannot be read."""
        try:
            read()
        except InputError as error:
            self.note(line, f"{error}; left out")

    def said(self, line: int, key: str, value: str) -> None:
        """Record that a line gives a key a value; note if an earlier line gave another value. The later line counts."""
        before, earlier = self._lines.get(key, (0, value))
        if earlier != value:
            self.note(
                line,
                f"{key} is {short(value, 40)} here, and {short(earlier, 40)} on line {before}; this line counts",
            )
        self._lines[key] = (line, value)

    def line_of(self, key: str) -> int:
        """Return the number of the line that counts for a key; 0 if there is none."""
        return self._lines.get(key, (0, ""))[0]

    def set_board(self, line: int, key: str, text: str) -> None:
        try:
            cards = parse_cards(text.replace(",", " "))
        except CardError as error:
            raise InputError(f"{key}: {error}") from None
        if not 3 <= len(cards) <= 5:
            raise InputError(f"{key}: expected three to five cards, found {len(cards)} ({short(text)})")
        self.said(line, key, cards_name(cards))
        self.board = cards

    def set_range(self, line: int, key: str, seat: str, text: str) -> None:
        try:
            held = parse_range(text)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
        listed = number_list(text) is not None
        written = format_range(held) if listed else text.strip().strip(",")
        if seat in self.ranges and (parse_range(self.ranges[seat]).weights == held.weights).all():
            return  # groups are easier to read than numbers, and the range is the same
        self.said(line, f"the range of {seat}", written)
        self.ranges[seat] = written

    def set_amount(self, line: int, key: str, name: str, text: str) -> None:
        """Read an amount of at least 0 into ``amounts[name]``; ``key`` is the amount's name in the text."""
        amount = decimal(key, text)
        self.said(line, key, text.strip())
        self.amounts[name] = amount

    def set_sizes(self, line: int, key: str, place: tuple[str, str, str], sizes: Sequence[str]) -> None:
        self.said(line, key, ", ".join(sizes) or "empty")
        self.sizes[place] = list(sizes)

    def sizes_in(
        self, line: int, key: str, text: str, *, times: str = "x", raises: bool = False
    ) -> list[str]:
        """Read sizes such as ``33, 75 2.5x a``; note those that cannot be read, and leave them out.

        Args:
            times: what jobs write in place of the text's ``x`` after a number: ``x`` or ``xc``.
            raises: whether the sizes are raises, which may be multiples of the bet faced.
        """
        sizes = []
        for word in re.split(r"[\s,;]+", text.strip().lower()):
            if not word or re.fullmatch(r"0*\.?0*%?", word):
                continue
            size = _size(word, times)
            try:
                parse_sizes(size, raises=raises)
            except InputError:
                expected = f"a size such as 33, {'2.5x, ' if raises else ''}20c, e or a"
                self.note(line, f"{key}: expected {expected}, found {shown(word)}; left out")
                continue
            sizes.append(size)
        return sizes

    def job_data(
        self, subject: str, changes: Mapping[str, Any] | None = None, name: str | None = None
    ) -> dict[str, Any]:
        """Return the spot as the data of a job, nested dictionaries.

        Args:
            subject: how errors begin.
            changes: values of ``[spot]`` that replace those of the text.
            name: name of the job; None: made of the board.

        Raises:
            InputError: something that a job needs is neither in the text nor in the changes.
        """
        given = {**self._spot(), **(changes or {})}
        missing = [words for key, words in NEEDED.items() if given.get(key) in (None, "")]
        if missing:
            quoted = self.notes[:MOST_NOTED]
            reasons = f" ({'; '.join(quoted)})" if quoted else ""
            raise InputError(f"{subject}: expected {', '.join(missing)}, found none{reasons}")
        pot, stack = float(given["pot"]), float(given["stack"])
        if not (pot > 0 and stack > 0):
            raise InputError(f"{subject}: expected a pot and a stack above 0, found {pot:g} and {stack:g}")
        whole = pot.is_integer() and stack.is_integer()
        whole = whole and all(amount == int(amount) for key, amount in self.amounts.items() if key != "cap")
        cards = parse_cards(given["board"]) if isinstance(given["board"], str) else ()
        tree = self.tree | ({} if self.thresholds is None else self.thresholds(pot, stack))
        if "min_bet" in self.amounts:
            tree["min_bet"] = number(self.amounts["min_bet"])
        data = {
            "name": name or f"spot-{cards_name(cards)}",
            **({} if whole else {"unit": "bb"}),
            "game": {"file": HOLDEM},
            "spot": given,
            "bets": self._bets(len(cards), whole),
            **({"tree": tree} if tree else {}),
            **({"solve": self.solve} if self.solve else {}),
        }
        return self._with_own_bets(data, subject)

    def _spot(self) -> dict[str, Any]:
        spot: dict[str, Any] = {}
        if self.board:
            spot["board"] = " ".join(map(card_name, self.board))
        spot |= {key: number(self.amounts[key]) for key in ("pot", "stack") if key in self.amounts}
        spot |= {seat: self.ranges[seat] for seat in SEAT_NAMES if seat in self.ranges}
        if self.rate:
            cap = self.amounts.get("cap")
            spot["rake"] = {"rate": self.rate, **({} if cap is None else {"cap": float(cap)})}
        return spot

    def _bets(self, n_cards: int, whole: bool) -> dict[str, dict[str, Any]]:
        """Return a job's ``[bets]`` from the root's round on: ip's sizes, and oop's sizes that differ from them.

        ``n_cards`` is the number of board cards. Amounts are in chips if ``whole`` is true, else in big blinds.
        """
        bets: dict[str, dict[str, Any]] = {}
        for later, name in enumerate(ROUNDS[max(n_cards - 3, 0) :]):
            oop, ip = (
                {kind: self._size_text(name, seat, kind, whole) for kind in ("bet", "raise")}
                for seat in SEAT_NAMES
            )
            own = {kind: sizes for kind, sizes in oop.items() if sizes != ip[kind]}
            if later and self.donks:
                donk = self._size_text(name, "oop", "donk", whole)
                if donk != oop["bet"]:
                    ip["donk"] = donk
            bets[name] = {**ip, **({"oop": own} if own else {})}
        return bets

    def _size_text(self, name: str, seat: str, kind: str, whole: bool) -> str:
        sizes = self.sizes.get((name, seat, kind), [])
        if not whole:
            sizes = [re.sub(r"^([\d.]+)c$", r"\1bb", size) for size in sizes]
        return ", ".join(dict.fromkeys(sizes))

    def _with_own_bets(self, data: dict[str, Any], subject: str) -> dict[str, Any]:
        """Return a job's data, with ``tree.lines`` if the program's tree has other bets than the job's sizes give."""
        job = Job.of(data, subject)
        own = self.exact or (None if self.rule is None else _by_rule(self.rule))
        if own is None:
            return data
        if data.get("unit") == "bb":
            self.note(0, f"bets are exact to a hundredth here; {self.program} rounds them in its own way")
            return data
        config = job.tree_config
        try:
            wanted, sized = own(config), bets_of(config)
        except TooManyBetsError:
            self.note(0, f"the tree is too large to compare its bets with those of {self.program}")
            return data
        if wanted == sized:
            return data
        decisions = wanted.keys() | sized.keys()
        differ = sum(wanted.get(line) != sized.get(line) for line in decisions)
        self.note(
            0,
            f"no bet sizes say the tree of {self.program}: they differ at {differ:,} of {len(decisions):,} decisions "
            "with bets; the job lists its bets in tree.lines",
        )
        kept = {key: value for key, value in data.get("tree", {}).items() if key == "min_bet"}
        rest = {key: value for key, value in data.items() if key not in ("bets", "solve")}
        listed = {**rest, "tree": {**kept, "lines": lines_of(wanted)}}
        return {**listed, **({"solve": data["solve"]} if "solve" in data else {})}


def _by_rule(rule: Callable[[TreeConfig], Rule]) -> Callable[[TreeConfig], Bets]:
    return lambda config: bets_of(config, rule(config))


def decimal(key: str, text: str) -> Decimal:
    """Read a number of at least 0 that is written without an exponent; errors begin with ``key``."""
    if not re.fullmatch(r"\s*(\d{1,12}(\.\d{0,9})?|\.\d{1,9})\s*", text):
        raise InputError(f"{key}: expected a number of at least 0, found {shown(text)}")
    return Decimal(text.strip())


def number(amount: Decimal) -> int | float:
    return int(amount) if amount == int(amount) else float(amount)


def full_ranges(job: SpotJob) -> dict[str, str]:
    """Return the ranges of a job by seat, as groups of hands, which include the hands that the board blocks."""
    return {
        seat: format_range(parse_range(text))
        for seat, text in zip(SEAT_NAMES, (job.spot.oop, job.spot.ip), strict=True)
    }


def plain(value: float) -> str:
    """Write a number without an exponent and without zeros at its end.

    >>> plain(33.0), plain(66.5)
    ('33', '66.5')
    """
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _size(word: str, times: str) -> str:
    """Write a size in the spelling of jobs; a word that is no size stays as it is."""
    match = _SIZE.fullmatch(word)
    if match is None:
        return word
    amount, kind, limit = match.groups()
    if kind in ("a", "ai", "allin"):
        return "a" if amount is None and limit is None else word
    if kind == "e":
        return f"{amount or ''}e" + (f"{limit}%" if limit else "")
    if amount is None or limit is not None:
        return word
    return f"{amount}{times}" if kind == "x" else f"{amount}c" if kind == "c" else f"{amount}%"
