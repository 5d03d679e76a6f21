"""A solved subgame: both players' average strategies, and best-response values against them."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from solvers.solver import Solver
from solvers.state import ChunkStrategy, normalised
from solvers.tree import Floats
from spewy.bot.resolving.builder import Root, SubgameBuilder, strategy_size
from spewy.chunks.layout import Layout
from spewy.errors import SolveError

BOARDS_KEPT = 4
"""Number of boards for which strategy sums and regrets are cached."""

_Numbers = tuple[ChunkStrategy, ChunkStrategy]


class Resolved:
    """A subgame that was solved on all boards, with its average strategies and best-response values.

    Args:
        builder: the builder of the subgame.
        root: betting at the root.
        layout: boards and betting.
        solver: the solver after its iterations; it must still be open.
        responding: players to compute best responses for.
        warm_start: number of iterations that the solver's warm start counts as.

    Attributes:
        iterations: number of iterations, without the warm start.
    """

    def __init__(
        self,
        builder: SubgameBuilder,
        root: Root,
        layout: Layout,
        solver: Solver,
        responding: tuple[int, ...] = (0, 1),
        warm_start: int = 0,
    ) -> None:
        self._builder, self.root, self._layout, self._solver = builder, root, layout, solver
        self.iterations = solver.iteration - warm_start
        self._best_values = {player: best_values(builder, layout, solver, player) for player in responding}
        self._numbers = OrderedDict[tuple[int, int], _Numbers]()  # `lru_cache` would keep the solver alive

    @property
    def n_bytes(self) -> int:
        """Memory in bytes of regrets and strategy sums."""
        return self._solver.state_bytes

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """Return the average strategy after a line of the subgame, ``[action, hand of the deck]``.

        A hand that never reaches the decision plays by its regrets. Hands that the board blocks have frequencies 0.

        Raises:
            KeyError: the subgame does not have the line or the board.
        """
        decision = self._builder.decision(self.root, line)
        if decision is None:
            raise KeyError(line)
        t, first, node = decision
        p, n = node.player, len(node.actions)
        assert p is not None
        b = self._layout.boards[t].numbers[self._builder.game.cut(board)]
        hands = self._layout.board(t, b).hands[p].numbers
        sums, regrets = self._read(t, b)
        strategy = sums[p][first : first + n, : len(hands)].astype(np.float64)
        absent = ~(strategy.sum(axis=0) > 0)
        strategy[:, absent] = regrets[p][first : first + n, : len(hands)][:, absent]
        if not np.isfinite(strategy).all():
            raise SolveError(f"subgame, line {line!r}: the strategy has values that are not finite")
        out = np.zeros((n, self._builder.n_hands))
        out[:, hands] = normalised(strategy)
        return out

    def regrets(self, t: int, b: int) -> ChunkStrategy:
        """Return both players' regrets ``[slot, row]`` on board ``b`` of the subgame's round ``t``."""
        return self._solver.read("regrets", t, b)

    def best_values(self, player: int) -> Floats:
        """Return a player's best-response value of each hand against the opponent's average strategy.

        The values are counterfactual: they are weighted by the opponent's range, scaled to a largest weight of 1.

        Returns:
            The values ``[hand of the deck]``.

        Raises:
            KeyError: the player's best response was not computed.
        """
        return self._best_values[player]

    def _read(self, t: int, b: int) -> _Numbers:
        """Return strategy sums and regrets of board ``b`` in round ``t`` (0: the root's); the latest are cached."""
        if (t, b) not in self._numbers:
            self._numbers[t, b] = self._solver.read("sums", t, b), self._solver.read("regrets", t, b)
        self._numbers.move_to_end((t, b))
        while len(self._numbers) > BOARDS_KEPT:
            self._numbers.popitem(last=False)
        return self._numbers[t, b]


def best_values(
    builder: SubgameBuilder, layout: Layout, solver: Solver, player: int, *, average: bool = False
) -> Floats:
    """Compute a player's best-response value of each hand against the opponent's average strategy in a solver.

    Args:
        builder: the builder of the subgame.
        layout: boards and betting of the subgame.
        solver: the solver.
        player: the player.
        average: whether the player follows the player's average strategy in place of the best response.

    Returns:
        The values ``[hand of the deck]``.

    Raises:
        SolveError: a value is not finite.
    """
    hands = layout.board(0, 0).hands[player].numbers
    out = np.zeros(builder.n_hands)
    with builder.pace.timed("judge", strategy_size(layout)):
        values = solver.average_values(player) if average else solver.best_values(player)
        out[hands] = values[: len(hands)]
    if not np.isfinite(out).all():
        raise SolveError("subgame: a value of a hand is infinite or not a number")
    return out
