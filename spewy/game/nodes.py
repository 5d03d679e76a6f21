"""A betting tree's nodes and actions, and what a text that names none of them is told.

`Action.amount` is a *street total*, chips put in on the round (antes, that is equal blinds, do not count).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit

__all__ = ["Action", "ActionKind", "Line", "Node", "NodeKind", "choices_text", "refusal", "told_line"]

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
    """What the label tells the amount in."""

    @property
    def label(self) -> str:
        """Text for people: ``Check``, ``Bet(120)``, ``AllIn(780)``; in big blinds ``Bet(1.2)``."""
        name = _NAMES[self.kind]
        return f"{name}({self.unit.text(self.amount)})" if self.amount else name

    @property
    def total(self) -> int | None:
        """The total of the ACPC's text, if it has one."""
        return int(self.acpc[1:]) if len(self.acpc) > 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A public state of the betting. Nodes are compared by identity."""

    kind: NodeKind
    player: int | None
    """Decision: who acts; fold: who folded; else None."""
    round: int
    """The game's round; for a chance node the round that has just ended."""
    put_in: tuple[int, int]
    actions: tuple[Action, ...]
    children: tuple[Node, ...]
    line: str
    """ACPC betting string from the root. A chance node's line lacks its child's last ``/``."""


class Line(str):
    """A canonical line: an ACPC betting string from the root, amounts in chips put in since then.

    Attributes:
        told: what the user wrote for it, which messages tell.
    """

    told: str

    def __new__(cls, line: str, told: str | None = None) -> Line:
        """Keep both."""
        made = super().__new__(cls, line)
        made.told = line if told is None else told
        return made


def told_line(line: str) -> str:
    """What the user wrote for a line."""
    return line.told if isinstance(line, Line) else line


def choices_text(node: Node) -> str:
    """What may follow a node, as messages tell it."""
    if node.kind == "chance":
        return "'/' (the round is over)"
    if node.kind != "decision":
        return f"the end of the line (a {node.kind})"
    return "one of " + ", ".join(map(_choice, node.actions))


def refusal(subject: str, node: Node, found: str, off: Callable[[Action], float] | None = None) -> InputError:
    """The error that a text is no action of a node: what there is, and what comes nearest.

    Args:
        subject: of the message.
        node: where the text stands.
        found: the text.
        off: how far a bet or raise is from the text, which names an amount; None: it names none.
    """
    near = _nearest(node, found, off)
    told = "" if near is None or len(node.actions) < 2 else f", nearest to {_choice(near)}"
    return InputError(f"{subject}: expected {choices_text(node)}; found {shown(found)}{told}")


def _choice(action: Action) -> str:
    return f"{action.unit.line_text(action.acpc)} ({action.label})"


def _nearest(node: Node, found: str, off: Callable[[Action], float] | None) -> Action | None:
    sized = [action for action in node.actions if action.amount]
    if off is not None and sized:
        return min(sized, key=off)
    names = {re.sub(r"\W.*", "", action.label).lower(): action for action in reversed(node.actions)}
    names |= {name: action for action in node.actions if action.acpc == "c" for name in ("check", "call")}
    close = get_close_matches(re.sub(r"[^a-z]", "", found.lower()), names, n=1)
    return names[close[0]] if close else None
