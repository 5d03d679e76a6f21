"""All chunks of a problem, by numbers: chunk (t, b, r) belongs to round t, board b of the round, and line r.

Rounds t count from the root's round, which is 0. A line enters each chunk, and r is the number of this line among the
lines that enter the round. A layout depends only on the problem and holds no results. A *subgame* is a chunk with
everything that can follow it; it has a layout of its own, in which chunks have the same keys in lockers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from buckets.cards import History, Perms, cards_name
from solvers.game import Hands, LiveGame, Strategies
from spewy.chunks.boards import Board, BoardRound, board_rounds, hand_map
from spewy.chunks.live_game import game_locks, live_game
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import BettingRound, ChunkTree, betting_rounds
from spewy.game.tree import BettingTree

RowMaps = tuple[Shorts, Shorts]
"""Per player ``[hand]``: the position of each hand of a board on another board; -1: the dealt cards block the hand."""
MOST_IMAGES = 4096
"""Largest number of row maps that a layout keeps in memory; in hold'em they take at most 20 MB."""


@dataclass(frozen=True)
class ChunkAddress:
    """The address of a chunk.

    Attributes:
        history: the public cards of the solved board, in one group for each round that dealt any.
        line: the betting line that leads into the chunk: an ACPC betting string from the root of the solve.
    """

    round: int
    history: History
    line: str

    def key(self, rows: tuple[int, int]) -> bytes:
        """Return the key under which lockers store the chunk's arrays; ``rows`` has each player's number of rows."""
        return f"{self.round}.{_text(self.history)}|{self.line}|{rows[0]}x{rows[1]}".encode()


@lru_cache(maxsize=1 << 14)
def _text(history: History) -> str:
    return "/".join(cards_name(group) for group in history)


@dataclass
class Layout:
    """The betting and the boards of a problem, round by round from its root.

    Attributes:
        bucketed: whether the buckets were computed; False: only the number of buckets on each board was counted
            (`row_counts`), and which hands share a row is arbitrary.
    """

    problem: Problem
    betting: list[BettingRound]
    boards: list[BoardRound]
    bucketed: bool = True
    _live: LiveGame | None = field(default=None, repr=False)
    _images: dict[tuple[int, int, int, int], RowMaps] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Make the layout of a problem; `progress` is called with 1 after each board."""
        betting = betting_rounds(problem.tree)
        return cls(problem, betting, board_rounds(problem, progress)[: len(betting)])

    @classmethod
    def counted(cls, problem: Problem, progress: Callable[[int], None] | None = None) -> Layout:
        """Make the layout of a problem for an estimate of its cost: buckets are counted and not computed."""
        betting = betting_rounds(problem.tree)
        boards = board_rounds(problem, progress, counted=True)
        return cls(problem, betting, boards[: len(betting)], all(k is None for k in problem.rows))

    def with_buckets(self, progress: Callable[[int], None] | None = None) -> Layout:
        """Return the layout of the same problem with computed buckets."""
        return Layout(self.problem, self.betting, board_rounds(self.problem, progress)[: self.n_rounds])

    @property
    def n_rounds(self) -> int:
        """Number of rounds from the root's round to the last round that the betting reaches."""
        return len(self.betting)

    @property
    def live(self) -> LiveGame:
        """The problem as a live game: the arrays that solvers read (`solvers.game.LiveGame`), made at first use."""
        if self._live is None:
            self._live = live_game(self.problem, self.betting, self.boards)
        return self._live

    def forget_live(self) -> None:
        """Free the memory of the live game; the next use of `live` computes it again."""
        self._live = None

    def below(self, t: int, b: int) -> Layout:
        """Return a layout that begins with board b of round t, and has all lines and all boards that can follow."""
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
        return [(t, b) for t in range(self.n_rounds) for b in range(len(self.boards[t].boards))]

    def chunks(self, t: int) -> Iterator[tuple[int, int]]:
        """Yield the numbers (board, line) of all chunks of round t."""
        for b in range(len(self.boards[t].boards)):
            for r in range(len(self.betting[t].chunks)):
                yield b, r

    def board(self, t: int, b: int) -> Board:
        return self.boards[t].boards[b]

    def tree(self, t: int, r: int) -> ChunkTree:
        """Return the betting of the chunk that line r of round t enters; it is the same on all boards."""
        return self.betting[t].chunks[r]

    def n_rows(self, t: int, b: int) -> tuple[int, int]:
        """Return the numbers of rows of both players' strategies on board b of round t."""
        first, second = self.board(t, b).hands
        return first.n_rows, second.n_rows

    def address(self, t: int, b: int, r: int) -> ChunkAddress:
        return ChunkAddress(self.boards[t].round, self.board(t, b).history, self.tree(t, r).line)

    def key(self, t: int, b: int, r: int) -> bytes:
        return self.address(t, b, r).key(self.n_rows(t, b))

    def hands(self, t: int, b: int, p: int) -> Hands:
        """Return player p's hands on board b of round t, as arrays without a board axis."""
        return self.live.rounds[t].hands[p].on(b, self.n_rows(t, b)[p])

    def image(self, t: int, b: int, e: int, member: int = 0) -> RowMaps:
        """Map the hands on board b of round t to the same hands on a solved board of the next round.

        The result is, per player ``[hand]``, an index into the hands on the solved board; -1: the deal blocks the hand.

        Args:
            t, b: the round and the board.
            e: number of the branch that leads to the solved board.
            member: index of the deal in `Branch.members`; the first deal is that of the solved board's own cards.
        """
        maps = self._images.get((t, b, e, member))
        if maps is None:
            entry = self.board(t, b).entries[e]
            maps = self._moved(self.board(t, b), self.board(t + 1, entry.child), entry.members[member][1])
            if len(self._images) >= MOST_IMAGES:
                self._images.clear()
            self._images[t, b, e, member] = maps
        return maps

    def mirrored(self, t: int, b: int, perm: Sequence[int]) -> RowMaps:
        """Map each hand on board b of round t to the hand that it becomes under a suit permutation, as indices.

        The result is per player ``[hand]``. The permutation must leave the board as it is.
        """
        return self._moved(self.board(t, b), self.board(t, b), np.array(perm, dtype=np.int8))

    def _moved(self, board: Board, to: Board, perm: Perms) -> RowMaps:
        return (
            hand_map(self.problem, board.hands[0], to.hands[0], perm),
            hand_map(self.problem, board.hands[1], to.hands[1], perm),
        )

    def place(self, into: Strategies, t: int, b: int, r: int, arrays: tuple[np.ndarray, np.ndarray]) -> None:
        """Write both players' arrays of a chunk, ``[slot, row]``, into arrays of the whole live game, in place."""
        for p in (0, 1):
            into[t][p][b][self.tree(t, r).slots[p], : arrays[p].shape[1]] = arrays[p]

    def take(
        self, board: tuple[np.ndarray, np.ndarray], t: int, b: int, r: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut a chunk's arrays, ``[slot, row]`` per player, out of arrays ``[slot of the round, row]`` of a board."""
        rows, slots = self.n_rows(t, b), self.tree(t, r).slots
        return board[0][slots[0], : rows[0]], board[1][slots[1], : rows[1]]


def subgame_of_line(layout: Layout, t: int, r: int) -> Layout:
    """Return the layout of the subgame that line r of round t enters, on all boards of the round."""
    tree = layout.problem.tree.below(layout.tree(t, r).nodes[0])
    betting = betting_rounds(tree)
    return Layout(_with_locks_of(layout.problem, tree), betting, layout.boards[t : t + len(betting)])


def subgame_at(problem: Problem, t: int, history: History, line: str) -> Layout:
    """Return the layout of the subgame that a betting line enters on one solved board.

    Here, ``t`` is the round of the game in which the subgame begins.
    """
    tree = problem.tree.below(problem.tree.find(line))
    betting, boards = betting_rounds(tree), board_rounds(problem, start=(t, history))
    return Layout(_with_locks_of(problem, tree), betting, boards[: len(betting)])


def _with_locks_of(problem: Problem, tree: BettingTree) -> Problem:
    lines = {node.line for node in tree.nodes()}
    return replace(problem, locks=tuple(lock for lock in problem.locks if lock.line in lines))


class Subgames:
    """Makes the layouts of subgames, each of which begins with one chunk of a layout.

    The betting after each line is cached. The boards that can follow a board are cached only for the board of the last
    call.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._lines: dict[tuple[int, int], Layout] = {}
        self._board: tuple[tuple[int, int], Layout] | None = None

    def of(self, t: int, b: int, r: int) -> Layout:
        """Return the layout of the subgame that begins with chunk (t, b, r)."""
        line = self._lines.get((t, r))
        if line is None:
            line = self._lines[t, r] = subgame_of_line(self.layout, t, r)
        if self._board is None or self._board[0] != (t, b):
            self._board = (t, b), self.layout.below(t, b)
        cards, boards = self._board[1], self._board[1].boards[: line.n_rounds]
        rounds = [replace(cards.live.rounds[i], forest=bets.forest) for i, bets in enumerate(line.betting)]
        rounds[-1] = replace(rounds[-1], deal=None)
        locks = game_locks(line.problem, line.betting, boards)
        return Layout(
            line.problem, line.betting, boards, _live=replace(cards.live, rounds=rounds, locks=locks)
        )
