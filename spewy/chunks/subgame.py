"""Layouts of subgames. A subgame is a chunk with everything that can follow it.

The chunks of a subgame have the same keys in lockers as in the layout of the whole problem.
"""

from __future__ import annotations

from dataclasses import replace

from buckets.cards import History
from spewy.chunks.boards import board_rounds
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import game_locks
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import betting_rounds
from spewy.game.tree import BettingTree


def subgame_of_line(layout: Layout, t: int, r: int) -> Layout:
    """Return the layout of the subgame that line r of round t enters, on all boards of the round.

    Args:
        layout: the layout of the whole problem.
        t: the round, counted from the root's.
        r: number of the line among the lines that enter the round.
    """
    tree = layout.problem.tree.below(layout.tree(t, r).nodes[0])
    betting = betting_rounds(tree)
    return Layout(_with_locks_of(layout.problem, tree), betting, layout.boards[t : t + len(betting)])


def subgame_at(problem: Problem, t: int, history: History, line: str) -> Layout:
    """Return the layout of the subgame that a betting line enters on one solved board.

    Args:
        problem: the problem.
        t: the round of the game in which the subgame begins.
        history: the public cards of the solved board.
        line: the betting line from the root of the solve.
    """
    tree = problem.tree.below(problem.tree.find(line))
    betting, boards = betting_rounds(tree), board_rounds(problem, start=(t, history))
    return Layout(_with_locks_of(problem, tree), betting, boards[: len(betting)])


def _with_locks_of(problem: Problem, tree: BettingTree) -> Problem:
    """Return the problem with only those locks that apply to decisions of a tree."""
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
        """Return the layout of the subgame that begins with chunk (t, b, r): round t, board b and line r."""
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
