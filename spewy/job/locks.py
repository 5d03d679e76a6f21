"""Node locks, the entries ``[[lock]]`` of the job file: decisions where hands play fixed frequencies.

A lock applies to the whole range (``strategy``), to groups of hands (``hands``), or to both; then ``hands`` overrides
``strategy``. Frequencies are a list in the order of the actions, or a table by action in which a missing action has
frequency 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from pydantic import Field, model_validator

from buckets.cards import History, blocked, cards_name, hand_name, hands, parse_cards
from buckets.errors import CardError
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.problem import NodeLock
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.lines import read_action, read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Node
from spewy.game.ranges import parse_range
from spewy.game.ranges.range import NUM_HANDS
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import TreeConfig
from spewy.job.sections import BoardText, Section

Frequencies: TypeAlias = list[float] | dict[str, float]

TOLERANCE = 1e-6  # largest distance of a lock's sum of frequencies from 1; the frequencies are normalised


class LockSection(Section):
    """Node lock: a decision at which the range, or some hands, play given frequencies."""

    line: str
    """Line that leads to the decision, such as "cr120c/", or labels such as "check, bet 120, call /"."""
    board: BoardText | None = None
    """Public cards at the decision; default: all boards."""
    strategy: Frequencies | None = None
    """Frequencies of the whole range: a list in the order of the actions, or a table such as { Check = 1 }."""
    hands: dict[str, Frequencies] = Field(default_factory=dict)
    """Frequencies of groups of hands, such as { "QQ+" = { Check = 1 } }; they override the key strategy."""

    @model_validator(mode="after")
    def _some(self) -> LockSection:
        if self.strategy is None and not self.hands:
            raise ValueError("expected strategy, hands or both")
        return self


def node_locks(
    sections: Sequence[LockSection], tree: BettingTree, root: History, ranges: tuple[Floats, Floats]
) -> tuple[NodeLock, ...]:
    """Convert the entries ``[[lock]]`` of a job file to `NodeLock`.

    ``root`` is the public cards at the root, and ``ranges`` has the initial weights per player, ``[hand]``.
    """
    locks = [_node_lock(i, section, tree, root, ranges) for i, section in enumerate(sections, 1)]
    deck, hole = tree.config.game.deck, tree.config.game.num_hole_cards
    for (i, first), (j, other) in combinations(enumerate(locks, 1), 2):
        boards_differ = None not in (first.history, other.history) and first.history != other.history
        if first.line != other.line or boards_differ:
            continue
        both = np.flatnonzero(~np.isnan(first.frequencies[0]) & ~np.isnan(other.frequencies[0]))
        if len(both):
            hand = hand_name(hands(deck, hole)[both[0]])
            raise InputError(
                f"lock {j}, line {shown(sections[j - 1].line)}: expected hands that no other lock at this line names; "
                f"lock {i} names {hand} too"
            )
    return tuple(locks)


def _node_lock(
    number: int, section: LockSection, tree: BettingTree, root: History, ranges: tuple[Floats, Floats]
) -> NodeLock:
    node, lock = _decision(number, section.line, tree), f"lock {number}, line {shown(section.line)}"
    game, player = tree.config.game, node.player
    assert player is not None
    history = None if section.board is None else _history(lock, section.board, node, game, root)
    dead = [card for group in history or root for card in group]
    held = (ranges[player] > 0) & ~blocked(hands(game.deck, game.num_hole_cards), dead)
    frequencies = np.full((len(node.actions), len(held)), np.nan)
    if section.strategy is not None:
        frequencies[:, held] = _frequencies(f"{lock}, strategy", section.strategy, node, tree.config)[:, None]
    named: dict[int, str] = {}
    for text, given in section.hands.items():
        subject = f"{lock}, hands {text}"
        chosen = _hands(subject, text, game, dead)
        chosen = chosen[held[chosen]]
        if not len(chosen):
            raise InputError(
                f"{subject}: expected hands of the range of {SEAT_NAMES[player]}"
                f"{'' if history is None else f' on {section.board}'}, found none"
            )
        for hand in chosen.tolist():
            if hand in named:
                name = hand_name(hands(game.deck, game.num_hole_cards)[hand])
                raise InputError(f"{subject}: expected each hand once, found {name} in {named[hand]} too")
            named[hand] = text
        frequencies[:, chosen] = _frequencies(subject, given, node, tree.config)[:, None]
    return NodeLock(node.line, player, node.round, history, frequencies)


def _decision(number: int, line: str, tree: BettingTree) -> Node:
    try:
        node = tree.alone(read_line(tree, line))
    except InputError as error:
        raise InputError(f"lock {number}, {error}") from None
    if node.kind != "decision":
        hint = f" (the round that follows is {line + '/'!r})" if node.kind == "chance" else ""
        raise InputError(
            f"lock {number}, line {shown(line)}: expected a decision, found a {node.kind} node{hint}"
        )
    return node


def _history(lock: str, text: str, node: Node, game: Game, root: History) -> History:
    try:
        cards = parse_cards(text)
    except CardError as error:
        raise InputError(f"{lock}, board: {error}") from None
    needed = sum(game.num_board_cards[: node.round + 1])
    if len(cards) != needed:
        raise InputError(
            f"{lock}, board: expected {needed} cards, those at this line, found {len(cards)} ({text})"
        )
    foreign = [card for card in cards if card not in game.deck.cards]
    if foreign:
        raise InputError(f"{lock}, board: expected cards of the game's deck, found {cards_name(foreign)}")
    history = game.cut(cards)
    if history[: len(root)] != root:
        begin = cards_name(game.board_order([card for group in root for card in group]))
        raise InputError(f"{lock}, board: expected to begin with {begin}, found {text}")
    return history


def _hands(subject: str, text: str, game: Game, dead: Sequence[int]) -> Ints:
    """Return the indices of the hands that a range group names; outside of hold'em the text names a single hand.

    Hands with a card in ``dead`` (hold'em only) are left out.
    """
    every = hands(game.deck, game.num_hole_cards)
    if len(every) == NUM_HANDS:
        try:
            weights = parse_range(text, dead).weights
        except InputError as error:
            raise InputError(f"{subject}: {error}") from None
        if np.any((weights > 0) & (weights < 1)):
            raise InputError(f"{subject}: expected hands without weights, found a weight below 1; remove it")
        return np.flatnonzero(weights)
    try:
        return np.array([game.hand_number(parse_cards(text))])
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None


def _frequencies(subject: str, given: Frequencies, node: Node, config: TreeConfig) -> Floats:
    if isinstance(given, Mapping):
        frequencies = np.zeros(len(node.actions))
        named: dict[int, str] = {}
        for text, frequency in given.items():
            action = read_action(config, node, text, subject)
            if action in named:
                raise InputError(f"{subject}: expected each action once, found {named[action]} and {text}")
            named[action], frequencies[action] = text, frequency
    else:
        frequencies = np.array(given, dtype=np.float64)
        if len(frequencies) != len(node.actions):
            labels = ", ".join(action.label for action in node.actions)
            raise InputError(
                f"{subject}: expected {len(node.actions)} frequencies ({labels}), found {len(frequencies)}"
            )
    if not np.all(frequencies >= 0):
        raise InputError(f"{subject}: expected frequencies of at least 0, found {frequencies.tolist()}")
    if not abs(frequencies.sum() - 1) <= TOLERANCE:
        raise InputError(f"{subject}: expected frequencies that sum to 1, found {frequencies.sum():g}")
    normalised: Floats = frequencies / frequencies.sum()
    return normalised
