"""The referee of the HIGC: play one match between two players, whatever lines they send.

By the competition's rules the referee replaces an illegal action by a random legal action. It shuts a player down after
three illegal actions, three unrequested lines or one late answer, and when the player has disconnected. From then on
the referee chooses this player's actions at random.

Where the rules say nothing, this referee does the following. Faults count within one match. The first answer may take
the time for preparing in addition to the time for an answer. A line that is not the number of an action is an illegal
action. The players do not see the last state.

The protocol has two forms, called dialects: ``rules`` and ``older``. In the dialect ``older`` the referee counts all
faults together, and plays at random for a player from the fourth fault on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

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
from spewy.match.connection import Channel, wait_for_any

Kind = Literal["illegal", "stray", "late", "gone", "stayed", "silent"]
"""Kinds of faults: an illegal action, a line that the referee did not ask for, no answer within the time limit, the
player disconnected, its process did not end after the match, a word of the older dialect is missing."""

MOST_STATES = 1_000_000
"""Largest number of states in a match; a longer match is an error."""
SEND_SECONDS = 5.0
"""Seconds within which a player must read a line."""


@dataclass(frozen=True)
class Limits:
    """Time limits of a match in seconds, and the numbers of faults that shut a player down.

    Attributes:
        chance: seconds for which the referee waits at each chance node before it draws the outcome.
        prepare: additional seconds for the first answer or, in the older dialect, seconds until a player must be ready.
        leave: seconds within which a player's process must end after the match.
        word: seconds within which a player must send ``start`` or ``ponder``, in the older dialect.
        illegal: number of illegal actions that shuts a player down.
        stray: number of unrequested lines that shuts a player down.
        faults: number of faults of any kind that the older dialect tolerates.
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
    """Something that a player did wrong in a match, such as an illegal action or a late answer.

    Attributes:
        state: number of the state in the match, from 1; 0 before the first state.
    """

    seat: int
    kind: Kind
    state: int
    text: str


@dataclass(frozen=True)
class Played:
    """A finished match: its actions, both players' results, and their faults.

    Attributes:
        history: OpenSpiel's numbers of all actions, including those of chance.
        out: whether each player was shut down, so that the referee chose its actions.
        slowest: seconds of each player's slowest answer.
    """

    history: tuple[int, ...]
    returns: tuple[float, float]
    faults: tuple[Fault, ...]
    out: tuple[bool, bool]
    slowest: tuple[float, float]

    @property
    def late(self) -> tuple[bool, bool]:
        """Whether player 0, and whether player 1, broke the time limit for an answer."""
        seats = {fault.seat for fault in self.faults if fault.kind == "late"}
        return 0 in seats, 1 in seats


def greet(channels: Sequence[Channel], game: SpielGame, limits: Limits) -> list[Fault]:
    """Send the players the game and their numbers; in the older dialect, also wait until they are ready.

    Returns:
        The faults that the players have made.
    """
    players = [_Player(seat, channel, limits) for seat, channel in enumerate(channels)]
    for player in players:
        player.send(game.name)
        player.send(str(player.seat))
    if limits.dialect == "older":
        _expect_word(players, READY, limits.prepare)
    return [fault for player in players for fault in player.faults]


def play(
    game: SpielGame, channels: Sequence[Channel], limits: Limits, seed: int, before: Iterable[Fault] = ()
) -> Played:
    """Play one match with players that `greet` has greeted; ``before`` are the faults that it returned."""
    return _Match(game, channels, limits, seed, before).play()


class _Player:
    def __init__(self, seat: int, channel: Channel, limits: Limits) -> None:
        self.seat, self.channel, self.limits = seat, channel, limits
        self.faults: list[Fault] = []
        self.is_out = False
        self.slowest = 0.0
        self.answered = False
        self.state = 0

    def send(self, line: str) -> None:
        if not self.is_out:
            try:
                self.channel.send(line, time.monotonic() + SEND_SECONDS)
            except PeerError as error:
                self.fault("gone", str(error))

    def line(self) -> str | None:
        """Return the next line that the player has already sent; None if there is none."""
        if self.is_out:
            return None
        try:
            line = self.channel.poll()
            if line is None and self.channel.ended:
                raise self.channel.gone("to be there")
        except PeerError as error:
            self.fault("gone", str(error))
            return None
        return None if line is None else line.decode("ascii", errors="backslashreplace")

    def strays(self) -> None:
        while (line := self.line()) is not None:
            self.fault("stray", f"expected no line, found {shown(line)}")

    def fault(self, kind: Kind, text: str) -> None:
        self.faults.append(Fault(self.seat, kind, self.state, one_line(text)))
        kinds = [fault.kind for fault in self.faults]
        if self.limits.dialect == "older":
            self.is_out = kind == "gone" or len(kinds) > self.limits.faults
        elif kind in ("late", "gone"):
            self.is_out = True
        elif kind in ("illegal", "stray"):
            most = self.limits.illegal if kind == "illegal" else self.limits.stray
            self.is_out = kinds.count(kind) >= most

    def action(self, line: str, menu: Sequence[int], seconds: float) -> int | None:
        """Return the action that a player's line names; if it names no legal action, record a fault and return None."""
        self.slowest = max(self.slowest, seconds)
        action = parse_answer(line)
        if action in menu:
            return action
        self.fault("illegal", f"expected a legal action, found {shown(line)}")
        return None


class _Match:
    def __init__(
        self, game: SpielGame, channels: Sequence[Channel], limits: Limits, seed: int, before: Iterable[Fault]
    ) -> None:
        self.game, self.limits, self.number = game, limits, 0
        self._rng = Random(seed)
        self._players = [_Player(seat, each, limits) for seat, each in enumerate(channels)]
        for fault in before:
            self._players[fault.seat].fault(fault.kind, fault.text)

    def play(self) -> Played:
        state = self.game.start()
        if self.limits.dialect == "older":
            _expect_word(self._players, START, self.limits.word)
        while not state.is_terminal():
            self._step(state)
        for player in self._players:
            player.strays()
            player.send(over_text(state.returns()[player.seat], self.limits.dialect))
        self._end()
        first, second = self._players
        return Played(
            tuple(state.history()),
            (float(state.returns()[0]), float(state.returns()[1])),
            tuple(sorted((*first.faults, *second.faults), key=lambda fault: fault.state)),
            (first.is_out, second.is_out),
            (first.slowest, second.slowest),
        )

    def _step(self, state: SpielState) -> None:
        self.number += 1
        if self.number > MOST_STATES:
            raise InputError(f"game {self.game.name!r}: the match did not end within {MOST_STATES:,} states")
        menus = [legal(state, seat) for seat in (0, 1)]
        for player, menu in zip(self._players, menus, strict=True):
            player.state = self.number
            player.strays()
            player.send(state_text(self.game.tensors(state, player.seat), menu, self.limits.dialect))
        begun = time.monotonic()
        if self.limits.dialect == "older":
            _expect_word([each for each in self._players if not menus[each.seat]], PONDER, self.limits.word)
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
        """Wait for the action of each player; None for a player who is not to act or has given no legal answer."""
        actions: list[int | None] = [None, None]
        waiting = [player for player in self._players if menus[player.seat]]
        limits = {player.seat: self._seconds(player) for player in waiting}
        for player, line in _lines(waiting, {seat: begun + limit for seat, limit in limits.items()}):
            seat = player.seat
            if line is None:
                player.fault("late", f"expected an answer within {limits[seat]:g} s, found none")
                continue
            player.answered = True
            actions[seat] = player.action(line, menus[seat], time.monotonic() - begun)
        return actions

    def _seconds(self, player: _Player) -> float:
        is_first = self.limits.dialect == "rules" and not player.answered
        return self.limits.act + (self.limits.prepare if is_first else 0.0)

    def _end(self) -> None:
        if self.limits.dialect == "older":
            _expect_word(self._players, OVER["older"], self.limits.prepare)
            return
        for player in self._players:
            was_out = player.is_out
            if not player.channel.leave(0.0 if was_out else self.limits.leave) and not was_out:
                player.fault("stayed", f"the process did not end within {self.limits.leave:g} s")


def _expect_word(players: Sequence[_Player], word: str, seconds: float) -> None:
    """Wait up to ``seconds`` for ``word`` from each player (older dialect); another line, or no line, is a fault."""
    deadline = time.monotonic() + seconds
    for player, line in _lines(players, {player.seat: deadline for player in players}):
        if line is None:
            player.fault("silent", f"expected {word!r} within {seconds:g} s, found no line")
        elif line.strip() != word:
            player.fault("stray", f"expected {word!r}, found {shown(line)}")


def _lines(players: Sequence[_Player], ends: Mapping[int, float]) -> Iterator[tuple[_Player, str | None]]:
    """Yield each player still in play with its next line, or None after the player's deadline (``ends``, by seat)."""
    waiting = [player for player in players if not player.is_out]
    while waiting:
        for player in list(waiting):
            line, is_late = player.line(), time.monotonic() >= ends[player.seat]
            if line is not None or player.is_out or is_late:
                waiting.remove(player)
                if not player.is_out:
                    yield player, line
        if waiting:
            wait_for_any([each.channel for each in waiting], min(ends[each.seat] for each in waiting))
