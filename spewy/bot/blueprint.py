"""The stored strategy of a whole game, read one decision at a time for all hands of the deck."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from buckets.abstraction import Abstraction
from buckets.cards import hands
from lockers import LockerError
from solvers.tree import Floats
from spewy.chunks.locate import Place
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.nodes import Line, Node
from spewy.records.policy import BucketPolicy, Policy, Stacked

LOG = logging.getLogger(__name__)


class Blueprint:
    """Reads the average strategies of a whole game from its store, which a running solve may still update.

    Args:
        policy: the stored strategy of a whole game; that of a spot is refused.
    """

    def __init__(self, policy: Policy) -> None:
        self.config = policy.problem.tree.config
        if self.config.is_spot:
            raise InputError("a bot needs the strategy of a whole game, and found that of a spot")
        self._policy = policy
        self.game: Game = self.config.game
        self.smallest_stack = None if self.game.stacks is None else min(self.game.stacks)
        """The smaller of both players' stacks at the deal; None if stacks are unlimited."""
        self.hands = hands(self.game.deck, self.game.num_hole_cards)

    @property
    def abstraction(self) -> Abstraction | None:
        """Board buckets and rows of the stored strategy; None if it has no board buckets."""
        policy = self._policy
        abstraction = policy.abstraction if isinstance(policy, BucketPolicy) else None
        return abstraction if isinstance(abstraction, Abstraction) else None

    def node(self, line: str) -> Node:
        return self._policy.node(Line(line))

    def initial_range(self, player: int) -> Floats:
        """Return a player's range at the deal, ``[hand of the deck]``."""
        problem = self._policy.problem
        weights = problem.ranges[player]
        return weights if problem.units is None else weights * problem.units[player]

    def strategy(self, node: Node, board: tuple[int, ...]) -> Floats:
        """Return the strategy at a decision, ``[action, hand of the deck]``.

        Hands that the board blocks get equal frequencies.
        """
        decision = self._policy.decision(Place(node, self.game.board_order(board)))
        out = np.full((len(decision.actions), len(self.hands)), 1.0 / len(decision.actions))
        out[:, decision.hands] = decision.frequencies
        return out

    def strategies(self, lines: Sequence[str], board: tuple[int, ...]) -> Stacked:
        """Return the strategies at several decisions of one player and round, faster than calls of `strategy`."""
        return self._policy.stacked([*map(Line, lines)], board)

    def strategy_if_readable(self, node: Node | None, board: tuple[int, ...]) -> Floats | None:
        """Return the strategy at a decision; None without a decision, or if it cannot be read (the log says why)."""
        if node is None:
            return None
        try:
            return self.strategy(node, board)
        except (InputError, LockerError) as error:
            LOG.warning("line %r: the stored strategy cannot be read: %s", node.line, error)
            return None

    def close(self) -> None:
        self._policy.close()
