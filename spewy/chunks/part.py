"""Chunks with all that follows them, on a board or on all, as layouts of their own with the same keys."""

from __future__ import annotations

from dataclasses import replace

from buckets.cards import History
from spewy.chunks.boards import board_rounds
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import game_locks
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import betting_rounds
from spewy.game.tree import BettingTree


def chunk_layout(layout: Layout, t: int, r: int) -> Layout:
    """Root r of round t on all boards, and what follows: it has one root line, and the same keys in the lockers."""
    tree = layout.problem.tree.below(layout.tree(t, r).nodes[0])
    betting = betting_rounds(tree)
    return Layout(_locked(layout.problem, tree), betting, layout.boards[t : t + len(betting)])


def part_at(problem: Problem, t: int, history: History, line: str) -> Layout:
    """The chunk that a line enters on a solved board of round t of the game, and what follows; no other is laid out."""
    tree = problem.tree.below(problem.tree.find(line))
    betting, boards = betting_rounds(tree), board_rounds(problem, start=(t, history))
    return Layout(_locked(problem, tree), betting, boards[: len(betting)])


def _locked(problem: Problem, tree: BettingTree) -> Problem:
    """The problem with the locks of a part of its tree."""
    lines = {below.line for below in tree.nodes()}
    return replace(problem, locks=tuple(lock for lock in problem.locks if lock.line in lines))


class Parts:
    """Single chunks, each on its board, with all that follows them there.

    Betting is cut once for each line; cards once for each board, as long as chunks of the same board are asked for.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._lines: dict[tuple[int, int], Layout] = {}
        self._board: tuple[tuple[int, int], Layout] | None = None

    def of(self, t: int, b: int, r: int) -> Layout:
        """Chunk (t, b, r), which is chunk (0, 0, 0) of its part, and what follows."""
        line = self._lines.get((t, r))
        if line is None:
            line = self._lines[t, r] = chunk_layout(self.layout, t, r)
        if self._board is None or self._board[0] != (t, b):
            self._board = (t, b), self.layout.below(t, b)
        cards, n = self._board[1], line.n_rounds
        part = Layout(line.problem, line.betting, cards.boards[:n])
        rounds = [replace(cards.live.rounds[i], forest=bets.forest) for i, bets in enumerate(line.betting)]
        rounds[-1] = replace(rounds[-1], deal=None)
        locks = game_locks(line.problem, line.betting, part.boards)
        part.live = replace(cards.live, rounds=rounds, locks=locks)
        return part
