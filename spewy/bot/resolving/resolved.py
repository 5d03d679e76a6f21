"""A solved subgame: its average strategies, and the values of best responses to them."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from solvers.matrix.chunk import ChunkStrategy
from solvers.solver import Solver
from solvers.state import normalised
from solvers.tree import Floats
from spewy.bot.resolving.builder import Root, SubgameBuilder, strategy_size
from spewy.chunks.layout import Layout
from spewy.errors import SolveError

BOARDS_KEPT = 4
"""Number of boards whose numbers are cached unpacked."""

_Numbers = tuple[ChunkStrategy, ChunkStrategy]


class Resolved:
    """A solved subgame.

    Args:
        builder: the builder of the subgame.
        root: betting at the root.
        layout: boards and betting.
        solver: the solver, which has done its iterations and is not closed yet.
        responding: players whose best responses are computed.
        warm_start: number of iterations that the solver's start counts as.

    Attributes:
        iterations: number of iterations that were done.
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
        """Memory of regrets and sums in bytes."""
        return self._solver.state_bytes

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """Return ``[action, hand of the deck]`` of the average strategy after a line of the subgame.

        A hand that its player never brings here plays by its regrets. Hands that the board blocks have frequencies 0.

        Raises:
            KeyError: no such line or board.
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

    def best_values(self, player: int) -> Floats:
        """Return ``[hand of the deck]``, values of a player's best response to the opponent's average strategy.

        The values are counterfactual against the opponent's range with its largest weight scaled to 1.

        Raises:
            KeyError: the player's best response was not computed.
        """
        return self._best_values[player]

    def _read(self, t: int, b: int) -> _Numbers:
        """Read sums and regrets of a board, with a cache of the latest boards."""
        if (t, b) not in self._numbers:
            self._numbers[t, b] = self._solver.read("sums", t, b), self._solver.read("regrets", t, b)
        self._numbers.move_to_end((t, b))
        while len(self._numbers) > BOARDS_KEPT:
            self._numbers.popitem(last=False)
        return self._numbers[t, b]


def best_values(builder: SubgameBuilder, layout: Layout, solver: Solver, player: int) -> Floats:
    """Values ``[hand of the deck]`` of a player's best response to the opponent's average strategy in a solver.

    Raises:
        SolveError: a value is not finite.
    """
    hands = layout.board(0, 0).hands[player].numbers
    out = np.zeros(builder.n_hands)
    with builder.pace.timed("judge", strategy_size(layout)):
        out[hands] = solver.best_values(player)[: len(hands)]
    if not np.isfinite(out).all():
        raise SolveError("subgame: a value of a best response is infinite or not a number")
    return out
