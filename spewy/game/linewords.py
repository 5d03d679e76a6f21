"""Betting in words, for titles: ``check, bet 120, call / check``."""

from __future__ import annotations

from spewy.game.tree import Node, way

_WORDS = {"AllIn": "all-in", "Raise": "raise to"}


def action_words(label: str) -> str:
    """An action's label in words.

    >>> action_words("Check"), action_words("Bet(120)"), action_words("Raise(336)"), action_words("AllIn(900)")
    ('check', 'bet 120', 'raise to 336', 'all-in 900')
    """
    name, _, amount = label.rstrip(")").partition("(")
    return f"{_WORDS.get(name, name.lower())} {amount}".rstrip()


def line_words(root: Node, line: str) -> str:
    """A line from a node on in words, rounds apart; nothing for the node itself.

    Raises:
        InputError: no such line.
    """
    rounds: dict[int, list[str]] = {}
    for node, taken in way(root, line):
        if node.kind == "decision":
            rounds.setdefault(node.round, []).append(action_words(node.actions[taken].label))
    return " / ".join(", ".join(words) for words in rounds.values())
