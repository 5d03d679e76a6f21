"""Betting trees as JSON and as text.

In JSON a decision is ``{"actions": {label: node}, "put_in": [a, b]}``, where a and b are the chips that players 0 and 1
have put in since the root. A decision that starts a round below the root also has ``"new_street": true``. A fold, a
showdown or an all-in call is the text ``"terminal"``. A tree in big blinds has the entry ``"unit": "bb"``.
"""

from __future__ import annotations

from typing import Any

from spewy.game.amounts import CHIPS, Unit
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree

__all__ = ["tree_json", "tree_text"]


def tree_json(tree: BettingTree) -> dict[str, Any]:
    """Return a tree as nested dictionaries for JSON, in a form that other solvers read."""
    unit = tree.config.unit
    return {**unit.key, "betting_nodes": tree.count(), "root": _node_json(tree.root, unit)}


def tree_text(tree: BettingTree) -> str:
    """Write a tree as text, with an indented line for each decision, fold and showdown.

    At the first decision of a round the line names the round.
    """
    unit, round_names = tree.config.unit, tree.config.game.round_names
    lines = [] if unit == CHIPS else [f"amounts in {unit.name}"]
    pending = [("", tree.root, 0, True)]
    while pending:
        label, node, depth, starts_round = pending.pop()
        if node.kind == "chance" and node.children[0].kind == "decision":
            node, starts_round = node.children[0], True
        where = f"{round_names[node.round]}, " if starts_round else ""
        lines.append(f"{'  ' * depth}{label}{where}{_describe(node, unit)}")
        pending.extend(
            (f"{action.label}: ", child, depth + 1, False)
            for action, child in zip(reversed(node.actions), reversed(node.children), strict=False)
        )
    return "\n".join(lines) + "\n"


def _node_json(node: Node, unit: Unit, new_street: bool = False) -> dict[str, Any] | str:
    """Return a node as nested dictionaries for JSON; `new_street`: whether it starts a round below the root."""
    if node.kind == "chance":
        return _node_json(node.children[0], unit, True)
    if node.kind != "decision":
        return "terminal"
    actions = {
        action.label: _node_json(child, unit)
        for action, child in zip(node.actions, node.children, strict=True)
    }
    form: dict[str, Any] = {"actions": actions, "put_in": [unit.number(chips) for chips in node.put_in]}
    if new_street:
        form["new_street"] = True
    return form


def _describe(node: Node, unit: Unit) -> str:
    chips = f"put in {unit.text(node.put_in[0])} and {unit.text(node.put_in[1])}"
    match node.kind:
        case "decision":
            return f"player {node.player} to act, {chips}"
        case "fold":
            return f"player {node.player} folded, {chips}"
        case "showdown":
            return f"showdown, {chips}"
        case "chance":
            return f"all-in, the board is run out, {chips}"
