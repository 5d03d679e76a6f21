"""The referee of the HIGC: one match of a game between two players, whatever these do.

By the rules of the competition: an action that is not legal is replaced by one drawn at random, and who has three of
them, or three lines that nobody asked for, or one answer too late, is shut down; so is who is gone. For it actions are
drawn to the end of the match. Where the rules say nothing: the counts are a match's own; the seconds for preparing are
added to those for the first answer; a line that names no action is an illegal one; the last state is not shown.

The older dialect's referee counts every fault together, and plays at random from the fourth one on.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from spewy.competitions.higc.peers import Peer
from spewy.competitions.higc.spiel import SpielGame, SpielState, drawn_action, legal, with_actions
from spewy.competitions.higc.text import (
    OVER,
    PONDER,
    READY,
    START,
    Dialect,
    over_text,
    parse_answer,
    state_text,
)
from spewy.errors import InputError, PeerError, one_line, shown

Kind = Literal["illegal", "stray", "late", "gone", "stayed", "silent"]
"""Faults: an action that is not legal, a line that nobody asked for, an answer too late, an end, no end, no word."""

MOST_STATES = 1_000_000
"""Of a match, which a game that never ends would go beyond."""


@dataclass(frozen=True)
class Limits:
    """What players may do.

    Attributes:
        dialect: which is spoken.
        act: seconds for an answer.
        chance: seconds that a state takes where chance acts.
        prepare: seconds before the first answer, or to say that one is ready.
        leave: seconds for a process to end after the match.
        word: seconds for words of the older dialect: that a match starts, that one ponders.
        illegal, stray: so many of them are too many.
        faults: more than so many of all kinds are too many in the older dialect.
    """

    dialect: Dialect = "rules"
    act: float = 5.0
    chance: float = 0.2
    prepare: float = 5.0
    leave: float = 5.0
    word: float = 0.2
    illegal: int = 3
    stray: int = 3
    faults: int = 3


@dataclass(frozen=True)
class Fault:
    """Something that a player did wrong.

    Attributes:
        seat: which player it was.
        kind: what it is.
        state: the number of the state of the match.
        text: in words.
    """

    seat: int
    kind: Kind
    state: int
    text: str


@dataclass(frozen=True)
class Played:
    """A match that is over.

    Attributes:
        history: OpenSpiel's actions, chance's too.
        returns: what each player won.
        faults: what was done wrong.
        out: for whom actions were drawn at the end.
        slowest: seconds of each player's slowest answer.
    """

    history: tuple[int, ...]
    returns: tuple[float, float]
    faults: tuple[Fault, ...]
    out: tuple[bool, bool]
    slowest: tuple[float, float]

    @property
    def late(self) -> tuple[bool, bool]:
        """Who broke the time limit."""
        found = {fault.seat for fault in self.faults if fault.kind == "late"}
        return 0 in found, 1 in found


def greet(peers: Sequence[Peer], game: SpielGame, limits: Limits) -> list[Fault]:
    """Tell players what they play and who they are; in the older dialect they get ready."""
    chairs = [_Chair(seat, peer, limits) for seat, peer in enumerate(peers)]
    for chair in chairs:
        chair.tell(game.name)
        chair.tell(str(chair.seat))
    if limits.dialect == "older":
        _words(chairs, READY, limits.prepare)
    return [fault for chair in chairs for fault in chair.faults]


def play(
    game: SpielGame, peers: Sequence[Peer], limits: Limits, seed: int, before: Iterable[Fault] = ()
) -> Played:
    """Play one match with players that were greeted.

    Args:
        game: what is played.
        peers: players 0 and 1; they stay open.
        limits: what they may do.
        seed: of chance, and of actions that are drawn for players.
        before: faults that their greeting found.

    Raises:
        InputError: the match has no end.
    """
    return _Match(game, peers, limits, seed, before).played()


class _Chair:
    """A player in a match: its faults, and whether it still plays."""

    def __init__(self, seat: int, peer: Peer, limits: Limits) -> None:
        self.seat, self.peer, self.limits = seat, peer, limits
        self.faults: list[Fault] = []
        self.is_out = False
        self.slowest = 0.0
        self.answered = False
        self.state = 0

    def tell(self, line: str) -> None:
        """Say a line to who still plays."""
        if not self.is_out:
            try:
                self.peer.tell(line)
            except PeerError as error:
                self.fault("gone", str(error))

    def line(self) -> str | None:
        """The next line that it said."""
        if self.is_out:
            return None
        try:
            return self.peer.line()
        except PeerError as error:
            self.fault("gone", str(error))
            return None

    def strays(self) -> None:
        """Lines that nobody asked for."""
        while (line := self.line()) is not None:
            self.fault("stray", f"expected no line, found {shown(line)}")

    def fault(self, kind: Kind, text: str) -> None:
        """Note a fault; whether it was one too many."""
        self.faults.append(Fault(self.seat, kind, self.state, one_line(text)))
        counts = [fault.kind for fault in self.faults]
        if self.limits.dialect == "older":
            self.is_out = kind == "gone" or len(counts) > self.limits.faults
        elif kind in ("late", "gone"):
            self.is_out = True
        elif kind in ("illegal", "stray"):
            self.is_out = counts.count(kind) >= (
                self.limits.illegal if kind == "illegal" else self.limits.stray
            )

    def acted(self, line: str, menu: Sequence[int], seconds: float) -> int | None:
        """The legal action that a line names; None where it names none."""
        self.slowest = max(self.slowest, seconds)
        action = parse_answer(line)
        if action in menu:
            return action
        self.fault("illegal", f"expected a legal action, found {shown(line)}")
        return None


@dataclass
class _Match:
    game: SpielGame
    peers: Sequence[Peer]
    limits: Limits
    seed: int
    before: Iterable[Fault] = ()
    number: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._rng = Random(self.seed)
        self._chairs = [_Chair(seat, peer, self.limits) for seat, peer in enumerate(self.peers)]
        for fault in self.before:
            self._chairs[fault.seat].fault(fault.kind, fault.text)

    def played(self) -> Played:
        state = self.game.start()
        if self.limits.dialect == "older":
            _words(self._chairs, START, self.limits.word)
        while not state.is_terminal():
            self._step(state)
        for chair in self._chairs:
            chair.strays()
            chair.tell(over_text(state.returns()[chair.seat], self.limits.dialect))
        self._end()
        first, second = self._chairs
        return Played(
            tuple(state.history()),
            (float(state.returns()[0]), float(state.returns()[1])),
            tuple(sorted((*first.faults, *second.faults), key=lambda fault: fault.state)),
            (first.is_out, second.is_out),
            (first.slowest, second.slowest),
        )

    def _step(self, state: SpielState) -> None:
        """Show a state, wait for answers, and go on to the next one."""
        self.number += 1
        if self.number > MOST_STATES:
            raise InputError(f"game {self.game.name!r}: expected an end, found {MOST_STATES:,} states")
        menus = [legal(state, seat) for seat in (0, 1)]
        for chair, menu in zip(self._chairs, menus, strict=True):
            chair.state = self.number
            chair.strays()
            chair.tell(state_text(self.game.tensors(state, chair.seat), menu, self.limits.dialect))
        begun = time.monotonic()
        if self.limits.dialect == "older":
            _words([chair for chair in self._chairs if not menus[chair.seat]], PONDER, self.limits.word)
        if state.is_chance_node():
            time.sleep(max(begun + self.limits.chance - time.monotonic(), 0.0))
            state.apply_action(drawn_action(state.chance_outcomes(), self._rng.random()))
            return
        actions = self._answers(menus, begun)
        for seat, menu in enumerate(menus):
            if menu and actions[seat] is None:
                actions[seat] = self._rng.choice(menu)
        with_actions(state, actions)

    def _answers(self, menus: Sequence[Sequence[int]], begun: float) -> list[int | None]:
        """What the acting players do; None for who did nothing that is legal."""
        found: list[int | None] = [None, None]
        waiting = [chair for chair in self._chairs if menus[chair.seat] and not chair.is_out]
        ends = {chair.seat: begun + self._seconds(chair) for chair in waiting}
        while waiting:
            for chair in list(waiting):
                line = chair.line()
                if line is not None:
                    chair.answered = True
                    found[chair.seat] = chair.acted(line, menus[chair.seat], time.monotonic() - begun)
                elif time.monotonic() >= ends[chair.seat] and not chair.is_out:
                    chair.fault("late", f"expected an answer within {self._seconds(chair):g} s, found none")
                if line is not None or chair.is_out or time.monotonic() >= ends[chair.seat]:
                    waiting.remove(chair)
            _wait(waiting, min((ends[chair.seat] for chair in waiting), default=begun))
        return found

    def _seconds(self, chair: _Chair) -> float:
        first = self.limits.dialect == "rules" and not chair.answered
        return self.limits.act + (self.limits.prepare if first else 0.0)

    def _end(self) -> None:
        """Processes end with the match, or have heard that it is over."""
        if self.limits.dialect == "older":
            _words(self._chairs, OVER["older"], self.limits.prepare)
            return
        for chair in self._chairs:
            was_out = chair.is_out
            if not chair.peer.leave(0.0 if was_out else self.limits.leave) and not was_out:
                chair.fault("stayed", f"expected to end within {self.limits.leave:g} s, found that it stays")


def _words(chairs: Sequence[_Chair], word: str, seconds: float) -> None:
    """Hear a word of the older dialect from players."""
    deadline = time.monotonic() + seconds
    waiting = [chair for chair in chairs if not chair.is_out]
    while waiting:
        for chair in list(waiting):
            line = chair.line()
            if line is not None and line.strip() != word:
                chair.fault("stray", f"expected {word!r}, found {shown(line)}")
            if line is None and time.monotonic() >= deadline and not chair.is_out:
                chair.fault("silent", f"expected {word!r} within {seconds:g} s, found no line")
            if line is not None or chair.is_out or time.monotonic() >= deadline:
                waiting.remove(chair)
        _wait(waiting, deadline)


def _wait(chairs: Sequence[_Chair], deadline: float) -> None:
    """Wait until one of these players says something, or until a deadline."""
    files = [chair.peer.file for chair in chairs if chair.peer.file is not None]
    left = deadline - time.monotonic()
    if files and len(files) == len(chairs) and left > 0:
        select.select(files, [], [], left)
