"""The lockers of a whole game as a bot reads them: a decision as one array over all hands of the deck."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from buckets.cards import hands
from lockers import LockerError
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.nodes import Line, Node
from spewy.records.policy import Decision, Policy, Stacked

LOG = logging.getLogger(__name__)


class Book:
    """Average strategies, while a job may be improving them.

    Args:
        policy: of a whole game.

    Raises:
        InputError: it is a spot's.
    """

    def __init__(self, policy: Policy) -> None:
        self.config = policy.problem.tree.config
        if self.config.is_spot:
            raise InputError("lockers: expected those of a whole game, found those of a spot")
        self._policy = policy
        self.hands = hands(self.game.deck, self.game.num_hole_cards)

    @property
    def game(self) -> Game:
        """The rules."""
        return self.config.game

    @property
    def smallest_stack(self) -> int | None:
        """Of both players at the deal; None: unlimited."""
        return None if self.game.stacks is None else min(self.game.stacks)

    def node(self, line: str) -> Node:
        """The decision at a line of the tree."""
        return self._policy.node(Line(line))

    def start(self, player: int) -> Floats:
        """``[hand of the deck]``: the range at the deal."""
        problem = self._policy.problem
        weights = problem.ranges[player]
        return weights if problem.units is None else weights * problem.units[player]

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """``[action, hand of the deck]``: what is stored; even where a hand cannot be held.

        Raises:
            InputError: nothing is stored.
            lockers.LockerError: what is stored is damaged.
        """
        return self._of_deck(self._policy.decision(Line(line), board))

    def several(self, lines: Sequence[str], board: tuple[int, ...]) -> Stacked:
        """Some decisions of one player and round, which takes less time than one by one.

        Raises:
            InputError, lockers.LockerError: as `frequencies`.
        """
        return self._policy.stacked([Line(line) for line in lines], board)

    def found(self, line: str | None, board: tuple[int, ...]) -> Floats | None:
        """The same; None, which is logged: nothing can be read."""
        if line is None:
            return None
        try:
            return self.frequencies(line, board)
        except (InputError, LockerError) as error:
            LOG.warning("line %r of the tree: the locker has no answer: %s", line, error)
            return None

    def close(self) -> None:
        """Close the lockers."""
        self._policy.close()

    def _of_deck(self, found: Decision) -> Floats:
        out = np.full((len(found.actions), len(self.hands)), 1.0 / len(found.actions))
        out[:, found.hands] = found.frequencies
        return out
