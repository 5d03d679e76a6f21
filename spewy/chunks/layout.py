"""All chunks of a problem: chunk (t, b, r) is line r of round t on board b, where t counts from the root's round.

A layout is computed from the problem alone and holds no results; each process computes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buckets.cards import Perms
from buckets.types import Ints
from solvers.game import Hands, LiveGame, Strategies
from spewy.chunks.boards import Board, BoardRound, board_rounds, hand_map
from spewy.chunks.live_game import live_game
from spewy.chunks.place import Place
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound, ChunkTree, betting_rounds

RowMaps = tuple[Ints, Ints]
"""Per player ``[row]``: the row on another board of each row; -1: the dealt cards block the hand."""


@dataclass
class Layout:
    """Betting and boards of a problem, round by round from its root.

    Attributes:
        problem: the problem.
        betting: ``[t]``, the betting of each round.
        boards: ``[t]``, the boards of each round.
        bucketed: whether buckets hold their hands; False: buckets are only counted.
    """

    problem: Problem
    betting: list[BettingRound]
    boards: list[BoardRound]
    bucketed: bool = True
    _live: LiveGame | None = field(default=None, repr=False)
    _images: dict[tuple[int, int, int, int], RowMaps] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Lay out a problem; `progress` is called with the number of each finished board."""
        betting = betting_rounds(problem.tree)
        return cls(problem, betting, board_rounds(problem, progress)[: len(betting)])

    @classmethod
    def counted(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Lay out a problem to estimate its costs: buckets are counted (`groups.row_counts`), not computed."""
        betting = betting_rounds(problem.tree)
        boards = board_rounds(problem, progress, counted=True)
        return cls(problem, betting, boards[: len(betting)], all(k is None for k in problem.rows))

    def with_buckets(self, progress: Callable[[int], None] | None = None) -> Layout:
        """Return the same layout with computed buckets."""
        return Layout(self.problem, self.betting, board_rounds(self.problem, progress)[: self.n_rounds])

    @property
    def n_rounds(self) -> int:
        """Number of rounds from the root's to the last one in which somebody bets."""
        return len(self.betting)

    @property
    def live(self) -> LiveGame:
        """The layout as a live game, computed at first use."""
        if self._live is None:
            self._live = live_game(self.problem, self.betting, self.boards)
        return self._live

    def forget_live(self) -> None:
        """Free the memory of the live game; `live` computes it again."""
        self._live = None

    def below(self, t: int, b: int) -> Layout:
        """Return the layout of board b of round t and all boards that follow it, with all lines that reach it."""
        tables, numbers = [], [b]
        arrived: list[tuple[int, int, int]] = []
        for i in range(t, self.n_rounds):
            boards: list[Board] = []
            following: list[tuple[int, int, int]] = []
            for position, number in enumerate(numbers):
                board = self.board(i, number)
                entries = tuple(
                    replace(entry, child=len(following) + e) for e, entry in enumerate(board.entries)
                )
                following += [(position, e, entry.child) for e, entry in enumerate(board.entries)]
                boards.append(replace(board, entries=entries))
            if i > t:
                boards = [
                    replace(board, parent=parent, entry=e)
                    for board, (parent, e, _) in zip(boards, arrived, strict=True)
                ]
            tables.append(replace(self.boards[i], boards=tuple(boards)))
            arrived, numbers = following, [child for _, _, child in following]
        return Layout(self.problem, self.betting[t:], tables)

    def every_board(self) -> list[tuple[int, int]]:
        """List (t, b) of all boards, round by round."""
        return [(t, b) for t in range(self.n_rounds) for b in range(len(self.boards[t].boards))]

    def chunks(self, t: int) -> Iterator[tuple[int, int]]:
        """Yield (b, r) of all chunks of a round."""
        for b in range(len(self.boards[t].boards)):
            for r in range(len(self.betting[t].chunks)):
                yield b, r

    def board(self, t: int, b: int) -> Board:
        """Return board b of round t."""
        return self.boards[t].boards[b]

    def tree(self, t: int, r: int) -> ChunkTree:
        """Return the betting tree of the chunks (t, b, r) of all boards b."""
        return self.betting[t].chunks[r]

    def n_rows(self, t: int, b: int) -> tuple[int, int]:
        """Count the rows of both players' strategies on a board."""
        first, second = self.board(t, b).hands
        return first.n_rows, second.n_rows

    def place_of(self, t: int, b: int, r: int) -> Place:
        """Return the address of a chunk."""
        return Place(self.boards[t].round, self.board(t, b).history, self.tree(t, r).line)

    def key(self, t: int, b: int, r: int) -> bytes:
        """Return the key of a chunk in the lockers."""
        return self.place_of(t, b, r).key(self.n_rows(t, b))

    def hands(self, t: int, b: int, p: int) -> Hands:
        """Return player p's hands on a board, without a board axis."""
        return self.live.rounds[t].hands[p].on(b, self.n_rows(t, b)[p])

    def image(self, t: int, b: int, e: int, member: int = 0) -> RowMaps:
        """Map the rows of a board to those of the board that is solved for a member of entry e.

        Member 0 is the solved board itself, with the identity as its permutation.
        """
        maps = self._images.get((t, b, e, member))
        if maps is None:
            entry = self.board(t, b).entries[e]
            maps = self._moved(self.board(t, b), self.board(t + 1, entry.child), entry.members[member][1])
            self._images[t, b, e, member] = maps
        return maps

    def mirrored(self, t: int, b: int, perm: Sequence[int]) -> RowMaps:
        """Map the rows of a board by a suit permutation that fixes the board."""
        return self._moved(self.board(t, b), self.board(t, b), np.array(perm, dtype=np.int8))

    def _moved(self, board: Board, to: Board, perm: Perms) -> RowMaps:
        return (
            hand_map(self.problem, board.hands[0], to.hands[0], perm),
            hand_map(self.problem, board.hands[1], to.hands[1], perm),
        )

    def place(self, into: Strategies, t: int, b: int, r: int, arrays: tuple[np.ndarray, np.ndarray]) -> None:
        """Write the arrays ``[slot, row]`` of a chunk into the arrays of the live game."""
        for p in (0, 1):
            into[t][p][b][self.tree(t, r).slots[p], : arrays[p].shape[1]] = arrays[p]

    def take(
        self, board: tuple[np.ndarray, np.ndarray], t: int, b: int, r: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut the arrays ``[slot, row]`` of a chunk out of the arrays ``[slot of the round, row]`` of its board."""
        rows, slots = self.n_rows(t, b), self.tree(t, r).slots
        return board[0][slots[0], : rows[0]], board[1][slots[1], : rows[1]]
