"""Sub-games: what can follow a public state with the actual bets, a row per hand, ready to be solved or judged.

A sub-game is a spot of its own round: its lines begin with the round, and its amounts count from there. It goes to the
end of the hand. Betting trees and tables of boards recur from hand to hand, and the latest are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from buckets.cards import hands
from solvers.discount import DEFAULT_VARIANT, EXACT_VARIANT, variant
from solvers.exact import ExactCfr, supports
from solvers.game import LiveGame
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from solvers.tree import Floats, Ints
from spewy.bot.pace import Pace
from spewy.chunks.boards import BoardRound, board_rounds
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound, betting_rounds
from spewy.errors import InputError
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree, tree_after
from spewy.game.treeconfig import TreeConfig

TREES, BOARDS = 64, 4
"""Betting trees and root boards that are kept; all boards that can follow a turn take some 5 MB."""


@dataclass(frozen=True)
class Root:
    """The betting at the root of a sub-game.

    Attributes:
        round: of the game.
        base: what each player had put in before the round.
        stack: chips behind when the round began, the smaller of both; None: unlimited.
        actions: done in the round so far, with totals since the round began.
        more: bets at the root beside those of the job's sizes.
        donk: whether who starts the round called the last bet of the one before.
    """

    round: int
    base: int
    stack: int | None
    actions: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    donk: bool = False

    @property
    def pot(self) -> int:
        """Chips in the middle when the round began."""
        return 2 * self.base


@dataclass(frozen=True)
class _Tree:
    tree: BettingTree
    betting: list[BettingRound]
    slots: dict[str, tuple[int, int, Node]]
    """By line: round from the root's, first slot of the player, decision."""


class SubGames:
    """Makes sub-games of a whole game.

    Args:
        config: betting of the whole game; its sizes hold in sub-games too.
        most_bytes: largest size of a sub-game's regrets and sums.

    Attributes:
        pace: predicts how long the stages of a solve take.
    """

    def __init__(self, config: TreeConfig, most_bytes: int = 1 << 30) -> None:
        self.config, self.game = config, config.game
        self.most_bytes, self.pace = most_bytes, Pace()
        self.n_hands = len(hands(self.game.deck, self.game.num_hole_cards))
        self._tree = lru_cache(TREES)(self._built)
        self._boards = lru_cache(BOARDS)(self._tables)

    def tree(self, root: Root) -> BettingTree:
        """The betting.

        Raises:
            InputError: nothing was put in before, or the root's actions are not legal.
        """
        return self._tree(root).tree

    def decision(self, root: Root, line: str) -> tuple[int, int, Node] | None:
        """Of the decision at a line: the round from the root's, its player's first slot, its node; None: no such."""
        return self._tree(root).slots.get(line)

    def decisions(self, root: Root, t: int, player: int) -> tuple[list[str], Ints]:
        """The lines of a player's decisions in round t, counted from the root's, and all their slots."""
        slots = self._tree(root).slots.items()
        found = [
            (line, first + np.arange(len(node.actions)))
            for line, (at, first, node) in slots
            if at == t and node.player == player
        ]
        lines, places = [line for line, _ in found], [each for _, each in found]
        return lines, np.concatenate([np.zeros(0, dtype=np.int64), *places])

    def of(self, root: Root, board: tuple[int, ...]) -> Layout:
        """All that can follow on a board.

        Raises:
            InputError: as `tree`, or it is too large.
        """
        found = self._tree(root)
        boards = self._boards(root.round, board)[: len(found.betting)]
        layout = Layout(self._problem(found.tree, root.round, board, root.pot), found.betting, boards)
        size = 8 * numbers(layout)
        if size > self.most_bytes:
            raise InputError(
                f"sub-game after {''.join(root.actions)!r} in round {root.round}: expected at most "
                f"{self.most_bytes / 2**20:,.0f} MiB, found {size / 2**20:,.0f} MiB"
            )
        return layout

    def _built(self, root: Root) -> _Tree:
        if root.base < 1:
            raise InputError(f"sub-game in round {root.round}: expected chips in the middle, found none")
        config = replace(
            self.config,
            start_round=root.round,
            pot=root.pot,
            stack=root.stack,
            sizes=self.config.sizes[root.round :],
            min_bet=self.config.min_bet or self.game.big_blind,
        )
        tree = tree_after(config, root.actions, root.more, donk=root.donk)
        betting = betting_rounds(tree)
        slots = {}
        for t, bets in enumerate(betting):
            for n, node in enumerate(bets.nodes):
                if node.kind == "decision":
                    slots[node.line] = t, int(bets.forest.arrays.slot[n]), node
        return _Tree(tree, betting, slots)

    def _tables(self, t: int, board: tuple[int, ...]) -> list[BoardRound]:
        problem = self._problem(BettingTree(replace(self.config, start_round=t)), t, board, 1)
        return board_rounds(problem)

    def _problem(self, tree: BettingTree, t: int, board: tuple[int, ...], pot: float) -> Problem:
        everything = np.ones(self.n_hands)
        history = self.game.cut(board)
        rows = (None,) * self.game.num_rounds
        return Problem(self.game, tree, history, pot, (everything, everything), rows, "", symmetry=False)


def numbers(layout: Layout) -> int:
    """Count the numbers in both players' strategies: hands times actions, on all boards."""
    return sum(
        slots * len(table.boards) * len(table.boards[0].hands[p].numbers)
        for bets, table in zip(layout.betting, layout.boards, strict=True)
        for p, slots in enumerate(bets.forest.n_slots)
    )


def entered(layout: Layout, ranges: tuple[Floats, Floats]) -> LiveGame:
    """A sub-game entered with ranges ``[hand of the deck]``, the largest weight of each scaled to 1.

    Raises:
        InputError: no hand of one goes with a hand of the other.
    """
    mine = []
    for rows, weights in zip(layout.board(0, 0).hands, ranges, strict=True):
        here = weights[rows.numbers]
        mine.append(here[None] / max(float(here.max(initial=0.0)), 1e-300))
    game = with_ranges(layout.live, (mine[0], mine[1]))
    game.deal_weight  # noqa: B018 - which is an error where no pair of hands is possible
    return game


def solver_of(game: LiveGame, threads: int = 1) -> Solver:
    """What solves a sub-game: the exact engine, or for hands of one card the general one."""
    if supports(game, variant(EXACT_VARIANT)):
        return ExactCfr(game, variant(EXACT_VARIANT), threads=threads)
    return Cfr(game, variant(DEFAULT_VARIANT), threads=threads)


def shifted(line: str, chips: int) -> str:
    """A line whose totals are so many chips more.

    >>> shifted("cr120c/r300", 100), shifted("rrc/", 100)
    ('cr220c/r400', 'rrc/')
    """
    return re.sub(r"r(\d+)", lambda found: f"r{int(found[1]) + chips}", line)


def tokens(line: str) -> tuple[str, ...]:
    """The actions of one round.

    >>> tokens("cr120c"), tokens("rr"), tokens("")
    (('c', 'r120', 'c'), ('r', 'r'), ())
    """
    return tuple(re.findall(r"[fc]|r\d*", line))
