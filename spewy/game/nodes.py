"""Nodes and actions of a betting tree, and the search for the node at a line.

`Action.amount` is a *street total*: the chips that the player has put in on this round, without antes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.names import ROUND_NAMES

__all__ = [
    "Action",
    "ActionKind",
    "Label",
    "Line",
    "Node",
    "NodeKind",
    "choices",
    "entry_line",
    "find_node",
    "line_as_written",
    "no_action_error",
    "path_to",
    "require_decision",
    "sized_words",
]

ActionKind = Literal["fold", "check", "call", "bet", "raise", "allin"]
NodeKind = Literal["decision", "fold", "showdown", "chance"]

_WORDS: dict[str, str] = {"allin": "all-in", "raise": "raise to"}


class Label(str):
    """An action in words: ``check``, ``bet 120``, ``raise to 336``, ``all-in 780``; in big blinds ``bet 1.2``.

    Attributes:
        share: size of a bet or raise as a share of the pot, where the pot of a raise includes the call; None for other
            actions and in limit games.
    """

    share: float | None

    def __new__(cls, text: str, share: float | None = None) -> Label:
        self = super().__new__(cls, text)
        self.share = share
        return self


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a player can take at a decision."""

    kind: ActionKind
    amount: int
    """Chips that the player has put in on this round after a bet, raise or all-in; 0 for fold, check and call."""
    acpc: str
    """The action in a betting string: ``f``, ``c``, or ``r120`` with the total since the root; ``r`` in limit games."""
    unit: Unit = CHIPS
    """Unit of the amount in `label`."""
    share: float | None = field(default=None, compare=False)
    """Size of a bet or raise as in `Label`."""

    def __repr__(self) -> str:
        return self.label

    @property
    def label(self) -> Label:
        words = _WORDS.get(self.kind, self.kind)
        return Label(f"{words} {self.unit.text(self.amount)}" if self.amount else words, self.share)

    @property
    def total(self) -> int | None:
        """Total since the root after a bet or raise, in chips; None for other actions and in limit games."""
        return int(self.acpc[1:]) if len(self.acpc) > 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node of a betting tree. Two nodes are equal only if they are the same object."""

    kind: NodeKind
    player: int | None
    """The player who acts at a decision, or who folded at a fold; None elsewhere."""
    round: int
    """The round of the game; at a chance node, the round that has just ended."""
    put_in: tuple[int, int]
    """Chips that each player has put in since the tree's root."""
    actions: tuple[Action, ...]
    children: tuple[Node, ...]
    line: str
    """ACPC betting string from the root. A chance node's line does not end with ``/``, but its child's line does."""


class Line(str):
    """A line as an ACPC betting string, whose amounts are totals in chips since the root.

    Attributes:
        written: the text that the user wrote for the line, which error messages quote.
    """

    written: str

    def __new__(cls, line: str, written: str | None = None) -> Line:
        self = super().__new__(cls, line)
        self.written = line if written is None else written
        return self


def line_as_written(line: str) -> str:
    """Return the text that the user wrote for a line, or the line itself if there is no such text."""
    return line.written if isinstance(line, Line) else line


def sized_words(label: str) -> str:
    """Add the size in % of the pot to the label of a bet, if the label knows the size; return other labels unchanged.

    >>> sized_words(Label("bet 120", 0.6)), sized_words("bet 120"), sized_words(Label("raise to 300", 0.41))
    ('bet 60 % (120)', 'bet 120', 'raise to 300')
    """
    share = label.share if isinstance(label, Label) else None
    if share is None or not label.startswith("bet "):
        return str(label)
    return f"bet {100 * share:.0f} % ({label[4:]})"


def entry_line(line: str) -> str:
    """Return the part of a line up to the start of its last round.

    >>> entry_line("cr120c/cr336"), entry_line("cr120c/"), entry_line("cr120")
    ('cr120c/', 'cr120c/', '')
    """
    if not isinstance(line, str):
        raise InputError(f"line: expected a betting string such as 'cr120c/', found {shown(line)}")
    return line[: line.rfind("/") + 1]


def require_decision(node: Node, line: str) -> None:
    """Check that somebody acts at a node; an error quotes the line that led there."""
    if node.kind != "decision":
        kind = {"fold": "a fold", "showdown": "a showdown", "chance": "a deal of cards"}[node.kind]
        goes_on = node.kind == "chance" and node.children[0].kind == "decision"
        hint = f"; add the {ROUND_NAMES[node.round + 1]} to the board (--board)" if goes_on else ""
        raise InputError(f"line {line_as_written(line)!r}: expected a decision, found {kind}{hint}")


def find_node(root: Node, line: str) -> Node:
    """Find the node to which a line leads."""
    node = root
    for above, number in path_to(root, line):
        node = above.children[number]
    return node


def path_to(root: Node, line: str) -> Iterator[tuple[Node, int]]:
    """Yield the nodes along a line, from the root on, each with the number of the child that comes next.

    The node at the end of the line is not yielded.
    """
    node, position = root, 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        token = match.group() if match else line[position]
        number = 0
        if node.kind != "chance" or token != "/":
            numbers = [i for i, action in enumerate(node.actions) if action.acpc == token]
            if not numbers:
                raise no_action_error(
                    f"line {shown(line)}, position {position}", node, token, _distance(token)
                )
            number = numbers[0]
        yield node, number
        node = node.children[number]
        position += len(token)


_TOKEN = re.compile(r"[fc/]|r[0-9]*")


def _distance(token: str) -> Callable[[Action], float] | None:
    """Return a function that measures an action's distance in chips from ``r120``; None if ``token`` is no raise."""
    total = int(token[1:]) if re.fullmatch(r"r[0-9]{1,18}", token) else None
    return None if total is None else lambda action: abs((action.total or 0) - total)


def no_action_error(
    subject: str, node: Node, text: str, distance: Callable[[Action], float] | None = None, why: str = ""
) -> InputError:
    """Make the error for a text that names no action of a node; its message lists the actions and the nearest one.

    ``distance`` measures how far an action is from the amount in the text (None: the text has no amount). The message
    gives the reason ``why`` in place of the nearest action.
    """
    near = _nearest(node, text, distance)
    hint = "" if near is None or len(node.actions) < 2 else f", nearest to {_choice(near)}"
    hint = f", but {why}" if why else hint
    return InputError(f"{subject}: expected {choices(node)}; found {shown(text)}{hint}")


def choices(node: Node) -> str:
    """List the actions of a node for error messages."""
    if node.kind == "chance":
        return "'/' (the round is over)"
    if node.kind != "decision":
        return f"the end of the line (a {node.kind})"
    return "one of " + ", ".join(map(_choice, node.actions))


def _choice(action: Action) -> str:
    return f"{action.label} ({action.unit.line_text(action.acpc)})"


def _nearest(node: Node, text: str, distance: Callable[[Action], float] | None) -> Action | None:
    sized = [action for action in node.actions if action.amount]
    if distance is not None and sized:
        return min(sized, key=distance)
    names: dict[str, Action] = {action.kind: action for action in reversed(node.actions)}
    names |= {name: action for action in node.actions if action.acpc == "c" for name in ("check", "call")}
    close = get_close_matches(re.sub(r"[^a-z]", "", text.lower()), names, n=1)
    return names[close[0]] if close else None
