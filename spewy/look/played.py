"""A decision of a whole game as it is looked at: the range played down to it from the deal, by what is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spewy.chunks.locate import board_cards
from spewy.game.nodes import Line
from spewy.game.tree import entry, way
from spewy.look.node_view import NodeView
from spewy.records.policy import Decides


def played(policy: Decides, line: str = "", board: str | Sequence[int] | None = None) -> NodeView:
    """The decision after ``line`` on ``board``, hand by hand; EV and equity, which take both ranges, are NaN.

    The reach of a hand is its initial weight times its frequencies of its player's actions on the way. These decisions
    are read one by one, on the public cards of their time.

    Raises:
        InputError: as `Decides.decision`.
    """
    found = policy.decision(line, board)
    problem, p = policy.problem, found.player
    reach = problem.ranges[p][found.hands]
    if problem.units is not None:
        reach = reach * problem.units[p][found.hands]
    sizes = np.cumsum(problem.game.num_board_cards)
    line = found.line
    for node, action in way(problem.tree.entered(entry(line)), line):
        if node.kind == "decision" and node.player == p:
            cards = board_cards(problem, node.round, found.board[: sizes[node.round]])
            earlier = policy.decision(Line(node.line), cards)
            reach = reach * earlier.frequencies[action, np.searchsorted(earlier.hands, found.hands)]
    order = np.lexsort((np.array(found.names), -reach))
    unknown = np.full(len(found.hands), np.nan)
    return NodeView(
        p,
        line,
        found.board,
        tuple(action.label for action in found.actions),
        tuple(found.names[h] for h in order),
        reach[order],
        found.frequencies[:, order],
        unknown,
        np.full(found.frequencies.shape, np.nan),
        unknown,
    ).in_unit(problem.tree.config.unit)
