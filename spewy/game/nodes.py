"""Nodes and actions of a betting tree, and how a line leads to a node.

`Action.amount` is a *street total*: chips that the player has put in on this round (antes, that is equal blinds, do not
count).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit

__all__ = [
    "Action",
    "ActionKind",
    "Line",
    "Node",
    "NodeKind",
    "choices",
    "decision_at",
    "entry_line",
    "find_node",
    "line_as_written",
    "no_action_error",
    "path_to",
]

ActionKind = Literal["fold", "check", "call", "bet", "raise", "allin"]
NodeKind = Literal["decision", "fold", "showdown", "chance"]

_NAMES = {"fold": "Fold", "check": "Check", "call": "Call", "bet": "Bet", "raise": "Raise", "allin": "AllIn"}


@dataclass(frozen=True, slots=True)
class Action:
    """One choice at a decision."""

    kind: ActionKind
    amount: int
    """Street total of the player after a bet, raise or all-in; 0 for fold, check and call."""
    acpc: str
    """The ACPC's text, with the total put in since the root: ``f``, ``c``, ``r120``; ``r`` in limit games."""
    unit: Unit = CHIPS
    """The unit of the amount in the label."""

    @property
    def label(self) -> str:
        """The action's name for people: ``Check``, ``Bet(120)``, ``AllIn(780)``; in big blinds ``Bet(1.2)``."""
        name = _NAMES[self.kind]
        return f"{name}({self.unit.text(self.amount)})" if self.amount else name

    @property
    def total(self) -> int | None:
        """The total in the ACPC's text; None if the text has no total."""
        return int(self.acpc[1:]) if len(self.acpc) > 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A public state of the betting. Two nodes are equal only if they are the same object."""

    kind: NodeKind
    player: int | None
    """The player who acts at a decision, or who folded at a fold; None elsewhere."""
    round: int
    """The round of the game; at a chance node the round that has just ended."""
    put_in: tuple[int, int]
    """Chips of both players since the tree's root."""
    actions: tuple[Action, ...]
    children: tuple[Node, ...]
    line: str
    """ACPC betting string from the root. A chance node's line lacks its child's last ``/``."""


class Line(str):
    """A canonical line: an ACPC betting string from the root, amounts in chips put in since then.

    Attributes:
        written: the text that the user wrote for the line, which error messages quote.
    """

    written: str

    def __new__(cls, line: str, written: str | None = None) -> Line:
        """Keep a canonical line together with the text that the user wrote; None: the line itself."""
        self = super().__new__(cls, line)
        self.written = line if written is None else written
        return self


def line_as_written(line: str) -> str:
    """Return the text that the user wrote for a line."""
    return line.written if isinstance(line, Line) else line


def entry_line(line: str) -> str:
    """Return the part of a line up to the start of its last round.

    >>> entry_line("cr120c/cr336"), entry_line("cr120c/"), entry_line("cr120")
    ('cr120c/', 'cr120c/', '')

    Raises:
        InputError: the line is not text.
    """
    if not isinstance(line, str):
        raise InputError(f"line: expected a betting string such as 'cr120c/', found {shown(line)}")
    return line[: line.rfind("/") + 1]


def decision_at(root: Node, line: str) -> Node:
    """Find the decision at a line; the tree has at least the round in which the line ends.

    Raises:
        InputError: the line is not text, leaves the tree, or ends at another kind of node.
    """
    entry_line(line)
    node = find_node(root, line)
    if node.kind != "decision":
        kind = {"fold": "a fold", "showdown": "a showdown", "chance": "a deal of cards"}[node.kind]
        raise InputError(f"line {line_as_written(line)!r}: expected a decision, found {kind}")
    return node


def find_node(root: Node, line: str) -> Node:
    """Find the node at a line.

    Raises:
        InputError: the line leaves the tree; the message lists the actions of the last node that it reaches.
    """
    node = root
    for above, number in path_to(root, line):
        node = above.children[number]
    return node


def path_to(root: Node, line: str) -> Iterator[tuple[Node, int]]:
    """Yield each node above the node at a line, with the number of the child on the way.

    Raises:
        InputError: as `find_node`.
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
    """Return a function for the distance of actions from a bet in the ACPC's text; None if the text has no total."""
    total = int(token[1:]) if re.fullmatch(r"r[0-9]{1,18}", token) else None
    return None if total is None else lambda action: abs((action.total or 0) - total)


def no_action_error(
    subject: str, node: Node, text: str, distance: Callable[[Action], float] | None = None
) -> InputError:
    """Make the error that a text names no action of a node; its message lists the actions and the nearest one.

    Args:
        subject: how the message begins.
        node: the node at which the text stands.
        text: what the user wrote.
        distance: the distance of a bet or raise from the amount in the text; None: the text has no amount.
    """
    near = _nearest(node, text, distance)
    hint = "" if near is None or len(node.actions) < 2 else f", nearest to {_choice(near)}"
    return InputError(f"{subject}: expected {choices(node)}; found {shown(text)}{hint}")


def choices(node: Node) -> str:
    """List the actions of a node for error messages."""
    if node.kind == "chance":
        return "'/' (the round is over)"
    if node.kind != "decision":
        return f"the end of the line (a {node.kind})"
    return "one of " + ", ".join(map(_choice, node.actions))


def _choice(action: Action) -> str:
    return f"{action.unit.line_text(action.acpc)} ({action.label})"


def _nearest(node: Node, text: str, distance: Callable[[Action], float] | None) -> Action | None:
    sized = [action for action in node.actions if action.amount]
    if distance is not None and sized:
        return min(sized, key=distance)
    names = {re.sub(r"\W.*", "", action.label).lower(): action for action in reversed(node.actions)}
    names |= {name: action for action in node.actions if action.acpc == "c" for name in ("check", "call")}
    close = get_close_matches(re.sub(r"[^a-z]", "", text.lower()), names, n=1)
    return names[close[0]] if close else None
