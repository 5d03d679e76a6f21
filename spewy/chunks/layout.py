"""All public chunks of a problem: chunk (t, b, r) is root r of round t's forest on board b, t counted from the root.

A layout is made from the problem alone and holds no results; every process makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import Perms
from solvers.game import LiveGame, Strategies
from spewy.chunks.boards import Board, BoardRound, board_rounds, row_image
from spewy.chunks.live_game import live_game
from spewy.chunks.place import Place
from spewy.chunks.problem import Ints, Problem
from spewy.chunks.rounds import BettingRound, ChunkTree, betting_rounds

if TYPE_CHECKING:
    from solvers.matrix.leaves import Hands

Image = tuple[Ints, Ints]
"""Per player: the row elsewhere of each row, -1 where a deal takes it."""


@dataclass
class Layout:
    """Betting and boards of a problem, round by round from its root."""

    problem: Problem
    betting: list[BettingRound]
    boards: list[BoardRound]
    made: bool = True
    """Whether buckets, if there are any, hold the hands that belong there."""
    _images: dict[tuple[int, int, int, int], Image] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Lay out a problem. ``progress`` is told of each finished board."""
        betting = betting_rounds(problem.tree)
        return cls(problem, betting, board_rounds(problem, progress)[: len(betting)])

    @classmethod
    def counted(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Lay out a problem for what its solve costs: buckets are counted, not made (`groups.row_counts`)."""
        betting, made = betting_rounds(problem.tree), all(k is None for k in problem.rows)
        boards = board_rounds(problem, progress, counted=True)
        return cls(problem, betting, boards[: len(betting)], made)

    def with_buckets(self, progress: Callable[[int], None] | None = None) -> Layout:
        """The same with buckets that are made."""
        return Layout(self.problem, self.betting, board_rounds(self.problem, progress)[: self.n_rounds])

    @property
    def n_rounds(self) -> int:
        """Rounds from the root's to the last that betting reaches."""
        return len(self.betting)

    @cached_property
    def live(self) -> LiveGame:
        """The same chunks as a live game."""
        return live_game(self.problem, self.betting, self.boards)

    def forget_live(self) -> None:
        """Let the live game go; it is made anew where it is asked for again."""
        self.__dict__.pop("live", None)

    def below(self, t: int, b: int) -> Layout:
        """Board b of round t and all that follows it, with all lines that reach it."""
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
        """(t, b) of all boards, round by round."""
        return [(t, b) for t in range(self.n_rounds) for b in range(len(self.boards[t].boards))]

    def chunks(self, t: int) -> Iterator[tuple[int, int]]:
        """(b, r) of all chunks of a round."""
        for b in range(len(self.boards[t].boards)):
            for r in range(len(self.betting[t].chunks)):
                yield b, r

    def board(self, t: int, b: int) -> Board:
        """Board b of round t."""
        return self.boards[t].boards[b]

    def tree(self, t: int, r: int) -> ChunkTree:
        """The betting of the chunks (t, ·, r)."""
        return self.betting[t].chunks[r]

    def n_rows(self, t: int, b: int) -> tuple[int, int]:
        """Rows of the players' strategies on a board."""
        rows = self.board(t, b).rows
        return rows[0].n_groups, rows[1].n_groups

    def place_of(self, t: int, b: int, r: int) -> Place:
        """The chunk's address."""
        return Place(self.boards[t].round, self.board(t, b).history, self.tree(t, r).line)

    def key(self, t: int, b: int, r: int) -> bytes:
        """The chunk's key in the lockers."""
        return self.place_of(t, b, r).key(self.n_rows(t, b))

    def hands(self, t: int, b: int, p: int) -> Hands:
        """Player p's hands on a board, as the matrix kernels take them."""
        from solvers.matrix.leaves import Hands  # which loads kernels, as layouts otherwise do not

        live, rows = self.live.rounds[t].rows[p], self.board(t, b).rows[p]
        n = len(rows.hands)
        return Hands(live.blockers[b, :n], rows.strength, live.twin[b, :n], rows.group, rows.n_groups)

    def image(self, t: int, b: int, e: int, member: int = 0) -> Image:
        """Where a member of entry e of a board takes its rows; the first one is the child board itself."""
        found = self._images.get((t, b, e, member))
        if found is None:
            entry = self.board(t, b).entries[e]
            found = self._moved(self.board(t, b), self.board(t + 1, entry.child), entry.members[member][1])
            self._images[t, b, e, member] = found
        return found

    def mirrored(self, t: int, b: int, perm: Sequence[int]) -> Image:
        """Where a permutation of suits that leaves a board as it is takes its rows."""
        return self._moved(self.board(t, b), self.board(t, b), np.array(perm, dtype=np.int8))

    def _moved(self, board: Board, to: Board, perm: Perms) -> Image:
        return (
            row_image(self.problem, board.rows[0], to.rows[0], perm),
            row_image(self.problem, board.rows[1], to.rows[1], perm),
        )

    def place(self, into: Strategies, t: int, b: int, r: int, arrays: tuple[np.ndarray, np.ndarray]) -> None:
        """Put a chunk's arrays ``[slot, row]`` where they belong among those of the live game."""
        for p in (0, 1):
            into[t][p][b][self.tree(t, r).slots[p], : arrays[p].shape[1]] = arrays[p]

    def take(
        self, board: tuple[np.ndarray, np.ndarray], t: int, b: int, r: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """A chunk's arrays ``[slot, row]`` from those of its board, ``[slot of the round, row]``."""
        rows, slots = self.n_rows(t, b), self.tree(t, r).slots
        return board[0][slots[0], : rows[0]], board[1][slots[1], : rows[1]]
