"""A decision of a whole game as it is looked at: the range played down to it from the deal, by what is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buckets.cards import blocked, hand_name
from solvers.tree import Floats
from spewy.chunks.locate import board_cards
from spewy.chunks.problem import Ints
from spewy.game.nodes import Line, entry_line, path_to
from spewy.look.grid import is_holdem
from spewy.look.node import NodeView
from spewy.records.policy import Decision, Policy


def played(policy: Policy, line: str = "", board: str | Sequence[int] | None = None) -> NodeView:
    """The decision after ``line`` on ``board``, hand by hand; EV and equity, which take both ranges, are NaN.

    The reach of a hand is its initial weight times its frequencies of its player's actions on the way. These decisions
    are read one by one, on the public cards of their time.

    Raises:
        InputError: as `Policy.decision`.
    """
    found = policy.decision(line, board)
    actions = tuple(action.label for action in found.actions)
    return _view(policy, found, found.player, found.hands, actions, found.frequencies)


def waiting(policy: Policy, line: str = "", board: str | Sequence[int] | None = None) -> NodeView:
    """The range of the player who does not act at a decision: a view without actions.

    Raises:
        InputError: as `Policy.decision`.
    """
    found = policy.decision(line, board)
    player = 1 - found.player
    left = (policy.problem.ranges[player] > 0) & ~blocked(found.deck, found.board)
    hands = np.flatnonzero(left)
    return _view(policy, found, player, hands, (), np.empty((0, len(hands))))


def _view(
    policy: Policy, found: Decision, player: int, hands: Ints, actions: tuple[str, ...], frequencies: Floats
) -> NodeView:
    """A player's hands at a decision with the reach that they get there with."""
    problem, line = policy.problem, found.line
    reach = problem.ranges[player][hands]
    if problem.units is not None:
        reach = reach * problem.units[player][hands]
    sizes = np.cumsum(problem.game.num_board_cards)
    for node, action in path_to(problem.tree.entered(entry_line(line)), line):
        if node.kind == "decision" and node.player == player:
            cards = board_cards(problem, node.round, found.board[: sizes[node.round]])
            earlier = policy.decision(Line(node.line), cards)
            reach = reach * earlier.frequencies[action, np.searchsorted(earlier.hands, hands)]
    names = tuple(hand_name(cards) for cards in found.deck[hands])
    order = np.lexsort((np.array(names), -reach))
    unknown = np.full(len(hands), np.nan)
    return NodeView(
        player,
        line,
        found.board,
        actions,
        tuple(names[h] for h in order),
        reach[order],
        frequencies[:, order],
        unknown,
        np.full(frequencies.shape, np.nan),
        unknown,
        holdem=is_holdem(problem.game),
    ).in_unit(problem.tree.config.unit)
