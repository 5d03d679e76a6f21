"""Hands of several players that two of them played after the flop.

From the flop on such a hand has two players: the chips of the players who folded are part of the pot. Only the pot and
the chips behind count after the flop, so the betting before the flop is added up, not judged: straddles, antes, and
blinds of new players need no rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from spewy.errors import InputError, shown
from spewy.match.acpc_text import NotTwoPlayersError

_ACTION = re.compile(r"p([0-9]{1,2}) (f|cc|cbr ([0-9]{1,12}(?:\.[0-9]{1,12})?))")
_CARDS = re.compile(r"(?:d dh p([0-9]{1,2}) (?:[2-9TJQKA?][cdhs?])+|p([0-9]{1,2}) sm(?: \S+)?)")
_PLAYER = re.compile(r"p[0-9]{1,2}\b")


class PlacedAction(str):
    """An action in the notation of the Poker Hand History format, with the line that it was read from.

    Attributes:
        place: the line's number and text, for error messages.
    """

    __slots__ = ("place",)
    place: str

    @classmethod
    def at(cls, action: str, place: str) -> PlacedAction:
        placed = cls(action)
        placed.place = place
        return placed


@dataclass(frozen=True)
class AtTable:
    """Players and forced bets of a hand, in the order in which the players act after the flop; amounts are the file's.

    Attributes:
        dead: antes, and posted chips that are no part of a player's bet.
        live: blinds, straddles, and other posted chips that are part of a player's bet.
        positions: seats at the table, such as "SB"; None: the usual seats for the number of players (`position_names`).
        drop: chips that the poker room adds to the pot.
    """

    names: tuple[str, ...]
    stacks: tuple[Fraction, ...]
    dead: tuple[Fraction, ...]
    live: tuple[Fraction, ...]
    big_blind: Fraction
    positions: tuple[str, ...] | None = None
    drop: Fraction = Fraction(0)


@dataclass(frozen=True)
class FromFlop:
    """A hand from the flop on, for its two players, oop first; amounts are the file's.

    Attributes:
        actions: the actions from the flop on, and the players' cards; oop is called ``p1``, ip ``p2``.
        before: calls and raises before the flop, as in `Origin.actions`.
        depth: the smaller stack at the deal, in big blinds.
    """

    names: tuple[str, str]
    positions: tuple[str, str]
    pot: Fraction
    behind: tuple[Fraction, Fraction]
    put_in: tuple[Fraction, Fraction]
    depth: Fraction
    before: tuple[tuple[str, str, float], ...]
    actions: list[str]


def from_the_flop(table: AtTable, actions: Sequence[str]) -> FromFlop:
    """Add up the betting before the flop.

    Args:
        actions: the whole hand, in the notation of the Poker Hand History format.

    Raises:
        NotTwoPlayersError: the hand ended before the flop, or another number of players than two saw it.
    """
    n, positions = len(table.names), table.positions or position_names(len(table.names))
    if not table.big_blind:
        raise InputError("expected a big blind")
    live, folded, before = list(table.live), set[int](), list[tuple[str, str, float]]()
    room = [stack - dead for stack, dead in zip(table.stacks, table.dead, strict=True)]
    live = [min(bet, most) for bet, most in zip(live, room, strict=True)]
    flop = next((i for i, action in enumerate(actions) if action.startswith("d db ")), None)
    for action in actions[:flop]:
        match = _ACTION.fullmatch(action)
        if match is None:
            if _CARDS.fullmatch(action):
                continue
            raise InputError(f"{_place(action)}actions: expected f, cc or cbr, found {shown(str(action))}")
        player = int(match[1]) - 1
        if not 0 <= player < n or player in folded:
            raise InputError(f"{_place(action)}actions: expected a player in the hand, found {shown(action)}")
        if match[2] == "f":
            folded.add(player)
            continue
        highest = max(live)
        total = min(highest, room[player]) if match[2] == "cc" else Fraction(match[3])
        if total > room[player] or total < live[player]:
            raise InputError(
                f"{_place(action)}actions: expected at most the player's chips, found {shown(action)}"
            )
        if total > live[player]:
            kind = "raise" if total > highest else "call"
            before.append((positions[player], kind, float(total / table.big_blind)))
        live[player] = total
    left = [player for player in range(n) if player not in folded]
    many = f"{n} players at the table" if n > 2 else "straddles or uneven antes"
    if flop is None or len(left) < 2:
        raise NotTwoPlayersError(f"{many}, and the hand ended before the flop")
    if len(left) > 2:
        raise NotTwoPlayersError(f"{len(left)} players saw the flop; only a flop of two players is a spot")
    oop, ip = left
    put_in = [dead + bet for dead, bet in zip(table.dead, live, strict=True)]
    behind = (table.stacks[oop] - put_in[oop], table.stacks[ip] - put_in[ip])
    if not min(behind):
        raise NotTwoPlayersError("a player is all-in before the flop")
    if live[oop] != live[ip]:
        raise InputError("actions: expected equal bets of both players before the flop")
    return FromFlop(
        (table.names[oop], table.names[ip]),
        (positions[oop], positions[ip]),
        sum(put_in) + table.drop,
        behind,
        (put_in[oop], put_in[ip]),
        min(table.stacks[oop], table.stacks[ip]) / table.big_blind,
        tuple(before),
        _of_two(actions, flop, oop, ip),
    )


def position_names(n: int) -> tuple[str, ...]:
    """Return the names of the seats of ``n`` players, in the order in which they act after the flop.

    >>> position_names(2), position_names(6)
    (('BB', 'BTN'), ('SB', 'BB', 'UTG', 'HJ', 'CO', 'BTN'))
    """
    if n == 2:
        return "BB", "BTN"
    late = ("HJ", "CO", "BTN")[max(0, 5 - n) :]
    early = tuple("UTG" if i == 0 else f"UTG+{i}" for i in range(n - 2 - len(late)))
    return ("SB", "BB", *early, *late)


def _of_two(actions: Sequence[str], flop: int, oop: int, ip: int) -> list[str]:
    """Return the actions from number ``flop`` on, and the cards; ``oop`` and ``ip`` become ``p1`` and ``p2``."""
    names, out = {oop + 1: "p1", ip + 1: "p2"}, list[str]()
    for number, action in enumerate(actions):
        cards = _CARDS.fullmatch(action)
        if number < flop and cards is None:
            continue
        player = _PLAYER.search(action)
        if player is None:
            out.append(action)
            continue
        name = names.get(int(player[0][1:]))
        if name is None and cards is not None:
            continue
        renamed = action[: player.start()] + (name or player[0]) + action[player.end() :]
        out.append(PlacedAction.at(renamed, action.place) if isinstance(action, PlacedAction) else renamed)
    return out


def _place(action: str) -> str:
    return f"{action.place}: " if isinstance(action, PlacedAction) and action.place else ""
