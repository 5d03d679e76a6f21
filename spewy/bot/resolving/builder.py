"""Betting trees and solvers of subgames, with the actual bets and a row for each hand.

A subgame is built like a spot of the round in which the subgame begins: its lines start with the round, and amounts in
its lines are chips put in since the start of the round. A subgame ends with the hand. The builder caches the latest
betting trees and lists of boards, because they recur from hand to hand.

The *menu* of a subgame has the bet sizes that a re-solve considers besides the bets that were really made. A few sizes
are enough: a further size makes iterations 1.1 to 1.7 times as long (`docs/research/re-solving.md`). If a menu takes
too much memory or time, the bot uses the next smaller menu. Each menu has a bet, since a bot that can only check and
call plays worse than the stored strategy.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import Literal

import numpy as np

from buckets.cards import hands
from solvers.discount import DEFAULT_VARIANT, variant
from solvers.exact import ExactCfr, supports
from solvers.game import LiveGame, Lock
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from solvers.tree import Floats, Forest, Ints
from spewy.bot.resolving.budget import Pace
from spewy.chunks.boards import BoardRound, board_rounds
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound, betting_rounds
from spewy.errors import InputError
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree, tree_after
from spewy.game.treeconfig import PlayerSizes, TreeConfig, player_sizes
from spewy.records.policy import Stacked
from spewy.run.cost import available_memory

LOG = logging.getLogger(__name__)
Menu = Literal["job", "lean", "all-in"]
"""Name of a menu.

- ``job``: the bet sizes of the job file with which the stored strategy was solved.
- ``lean``: bets of the pot and all-in; raises all-in.
- ``all-in``: bets and raises all-in.
"""
MENUS: tuple[Menu, ...] = ("job", "lean", "all-in")
"""All menus, the largest first."""
FORCE_ALLIN = 0.25
"""Value of `TreeConfig.force_allin` in the menus ``lean`` and ``all-in``."""
_SIZES: dict[Menu, PlayerSizes] = {
    "lean": player_sizes("100%, a", "a"),
    "all-in": player_sizes("a", "a"),
}
FEW_BETS = player_sizes("100%", "a")
"""Bets of later rounds in a subgame with few bets (`docs/research/re-solved-flops.md`)."""
EVERY_ALLIN = 1e9
"""Value of `TreeConfig.add_allin` that adds an all-in at each decision."""
FEWEST = 10
"""Number of iterations that a solve must be able to do in its time; if it cannot, the next smaller menu is used."""
FEWEST_DEALS = 400
"""Smallest number of deals of a sampled solve that the bot plays, unless its limits ask for fewer.

`docs/research/re-solved-flops.md` has the measurements.
"""
LEAST_MEMORY = 1 << 30
"""Memory in bytes that a subgame may take on any machine."""
RESOLVING_VARIANT = "dcfr-steep"
"""Variant of CFR for subgames. Variants that look ahead are not tested together with gadget ranges."""
TREES, BOARDS = 64, 4
"""Number of cached betting trees, and of root boards with cached later boards (some 5 MB for a turn)."""

PlayerStrategy = Callable[[list[str], tuple[int, ...]], Stacked]
"""Function of (lines of a player's decisions in one round, board) that returns the frequencies at these decisions."""


@dataclass(frozen=True)
class Root:
    """The betting at the root of a subgame.

    A subgame of round 0 is that round alone; its amounts are chips put in since the hand began.

    Attributes:
        put_in_before: chips that each player had put in before the round.
        stack: the smaller of both players' stacks in chips when the round began; None: unlimited.
        actions: ACPC actions from the start of the round to the root; amounts are chips put in since the round began.
        extra_bets: bets of the round in addition to the menu's, each as the line from the root to the bet: ``"r150"``,
            or ``"cr150"`` for a bet after a check; amounts as in ``actions``.
        donk: whether the player who starts the round called the last bet of the previous round.
        few_bets: whether later rounds have one bet, and all-in as the raise, in place of the menu's bets.
    """

    round: int
    put_in_before: int
    stack: int | None
    actions: tuple[str, ...] = ()
    extra_bets: tuple[str, ...] = ()
    donk: bool = False
    menu: Menu = "job"
    few_bets: bool = False

    @property
    def pot(self) -> int:
        """Chips in the middle when the round began."""
        return 2 * self.put_in_before


@dataclass(frozen=True)
class _Tree:
    tree: BettingTree
    betting: list[BettingRound]
    slots: dict[str, tuple[int, int, Node]]
    """By line: round of the decision, counted from the root's round; index of its first action; its node."""


class SubgameBuilder:
    """Builds the subgames of a whole game.

    Args:
        config: betting of the whole game, whose bet sizes are those of the menu "job".
        most_bytes: largest memory of a subgame's regrets and strategy sums, in bytes; None: a quarter of the memory
            that is available now, but at least `LEAST_MEMORY`.
    """

    def __init__(self, config: TreeConfig, most_bytes: int | None = None) -> None:
        self.config, self.game = config, config.game
        self.most_bytes = (
            max(LEAST_MEMORY, (available_memory() or 0) // 4) if most_bytes is None else most_bytes
        )
        self.pace = Pace()
        self.n_hands = len(hands(self.game.deck, self.game.num_hole_cards))
        self._tree = lru_cache(TREES)(self._built)
        self._boards = lru_cache(BOARDS)(self._tables)

    def forget(self) -> None:
        """Release the memory of cached trees and boards; they are built again when they are needed."""
        self._tree.cache_clear()
        self._boards.cache_clear()

    def tree(self, root: Root) -> BettingTree:
        return self._tree(root).tree

    def fitting(
        self, root: Root, made: Sequence[str], menu: Menu, seconds: float | None, *, sampled: bool = False
    ) -> Root:
        """Choose the bet sizes of a subgame, and return its root with this menu and with all bets that were made.

        An exact solve must fit into the memory, and at least `FEWEST` iterations into the time; a sampled solve must
        have time for `FEWEST_DEALS` deals. The result has the largest menu that fits, or else the smallest menu. The
        log names each menu that was too large.

        Args:
            root: the root without extra bets.
            made: the actions of the round from the root on, written like `Root.actions`.
            menu: the largest menu.
        """
        menus = ("job",) if self.game.limit else MENUS[MENUS.index(menu) :]
        for each in menus:
            found = self.with_bets(replace(root, menu=each), made)
            problem = (self._too_few_deals if sampled else self._does_not_fit)(found, seconds)
            if problem is None or each == menus[-1]:
                return found
            LOG.warning(
                "round %s after %r: the menu %r %s; a smaller one takes its place",
                root.round,
                "".join(made),
                each,
                problem,
            )
        raise AssertionError("there is no menu")

    def _does_not_fit(self, root: Root, seconds: float | None) -> str | None:
        size = self.size(root)
        if 8 * size > self.most_bytes:
            return f"needs {8 * size / 2**20:,.0f} MiB of at most {self.most_bytes / 2**20:,.0f} MiB"
        if seconds is not None and self.pace.iterations(size, seconds) < FEWEST:
            return f"needs more than {seconds:g} s for {FEWEST} iterations"
        return None

    def _too_few_deals(self, root: Root, seconds: float | None) -> str | None:
        needed = FEWEST_DEALS * self.pace.seconds("deal", self.n_actions(root))
        if seconds is not None and needed > seconds:
            return f"needs more than {seconds:g} s for {FEWEST_DEALS} deals"
        return None

    def with_bets(self, root: Root, made: Sequence[str]) -> Root:
        """Add to a root those bets of the round that its tree lacks."""
        for n, action in enumerate(made):
            before = "".join(made[:n])
            decision = self.decision(root, before)
            lacked = decision is None or action not in [each.acpc for each in decision[2].actions]
            if lacked and action[0] == "r" and not self.game.limit:
                root = replace(root, extra_bets=(*root.extra_bets, before + action))
        self.tree(root)
        return root

    def size(self, root: Root) -> int:
        """Number of entries in both players' strategies of a subgame: hands times actions, on all boards.

        This method counts the boards without listing them. If the subgame's `Layout` exists, use `strategy_size`.
        """
        total, n_boards, seen = 0, 1, self.game.board_sizes[root.round]
        for t, bets in enumerate(self._tree(root).betting, root.round):
            if t > root.round:
                n_boards *= comb(len(self.game.deck) - seen, self.game.num_board_cards[t])
                seen = self.game.board_sizes[t]
            rows = comb(len(self.game.deck) - seen, self.game.num_hole_cards)
            total += n_boards * rows * sum(bets.forest.n_slots)
        return total

    def held_size(self, root: Root, ranges: tuple[Floats, Floats]) -> int:
        """Estimate `size` if each player holds only the hands of a range, ``[hand of the deck]``."""
        return round(self.size(root) * float(np.mean([(each > 0).mean() for each in ranges])))

    def n_actions(self, root: Root) -> int:
        return sum(sum(forest.n_slots) for forest in self.forests(root))

    def forests(self, root: Root) -> list[Forest]:
        return [bets.forest for bets in self.betting(root)]

    def betting(self, root: Root) -> list[BettingRound]:
        return self._tree(root).betting

    def decision(self, root: Root, line: str) -> tuple[int, int, Node] | None:
        """Find the decision at a line of a subgame.

        Returns:
            The decision's round, counted from the root's round; the index of its first action among all actions of its
            player in this round; and its node. None if the subgame has no decision at the line.
        """
        return self._tree(root).slots.get(line)

    def decisions(self, root: Root, t: int, player: int) -> tuple[list[str], Ints]:
        """List a player's decisions in round ``t``, counted from the root's round.

        Returns:
            The decisions' lines, and the indices of their actions among all actions of the player in this round.
        """
        lines, slots = list[str](), [np.zeros(0, dtype=np.int64)]
        for line, (at, first, node) in self._tree(root).slots.items():
            if at == t and node.player == player:
                lines.append(line)
                slots.append(first + np.arange(len(node.actions)))
        return lines, np.concatenate(slots)

    def layout(self, root: Root, board: tuple[int, ...]) -> Layout:
        tree = self._tree(root)
        boards = self._boards(root.round, board)[: len(tree.betting)]
        return self._checked(
            Layout(self._problem(tree.tree, root.round, board, root.pot), tree.betting, boards), root
        )

    def layout_of(self, root: Root, board: tuple[int, ...], ranges: tuple[Floats, Floats]) -> Layout:
        """Make the layout of the hands of two ranges, each ``[hand of the deck]``; nothing of it is cached."""
        problem = self._problem(self._tree(root).tree, root.round, board, root.pot, ranges)
        return self._checked(Layout.of(problem), root)

    def _checked(self, layout: Layout, root: Root) -> Layout:
        size = 8 * strategy_size(layout)
        if size > self.most_bytes:
            raise InputError(
                f"subgame after {''.join(root.actions)!r} in round {root.round}: expected at most "
                f"{self.most_bytes / 2**20:,.0f} MiB, found {size / 2**20:,.0f} MiB"
            )
        return layout

    def _built(self, root: Root) -> _Tree:
        if root.round == 0:
            config = _first_round(self.config)
        elif root.put_in_before < 1:
            raise InputError(f"subgame in round {root.round}: the pot at its root is empty")
        else:
            config = replace(
                self.config,
                start_round=root.round,
                pot=root.pot,
                stack=root.stack,
                sizes=self.config.sizes[root.round :],
                min_bet=self.config.min_bet or self.game.big_blind,
            )
            config = _with_menu(config, root.menu)
            if root.few_bets:
                later = ((FEW_BETS, FEW_BETS),) * (len(config.sizes) - 1)
                config = replace(config, sizes=(config.sizes[0], *later))
        tree = tree_after(config, root.actions, root.extra_bets, donk=root.donk)
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

    def _problem(
        self,
        tree: BettingTree,
        t: int,
        board: tuple[int, ...],
        pot: float,
        ranges: tuple[Floats, Floats] | None = None,
    ) -> Problem:
        """Make the problem of a subgame; ``ranges`` None: both players hold all hands."""
        all_hands = np.ones(self.n_hands)
        history = self.game.cut(board)
        rows = (None,) * self.game.num_rounds
        return Problem(
            self.game, tree, history, pot, ranges or (all_hands, all_hands), rows, "", symmetry=False
        )


def _with_menu(config: TreeConfig, menu: Menu) -> TreeConfig:
    """Return a tree's settings with the bet sizes of a menu; limit games always have the sizes of the game."""
    if menu == "job" or config.game.limit:
        return config
    sizes = (_SIZES[menu], _SIZES[menu])
    return replace(
        config,
        sizes=(sizes,) * len(config.sizes),
        add_allin=0.0,
        force_allin=FORCE_ALLIN,
        merge=0.0,
        allin_from=1.0,
        short_allins=True,
    )


def _first_round(config: TreeConfig) -> TreeConfig:
    """Return the settings of a tree that ends with the first round, with the job's bets and all-in at each decision."""
    game = config.game
    alone = replace(
        game,
        num_rounds=1,
        raise_sizes=game.raise_sizes[:1],
        first_player=game.first_player[:1],
        max_raises=game.max_raises[:1],
        num_board_cards=game.num_board_cards[:1],
    )
    return replace(config, game=alone, sizes=config.sizes[:1], add_allin=EVERY_ALLIN)


def strategy_size(layout: Layout) -> int:
    """Count the entries of both players' strategies in a subgame: hands times actions, on all boards."""
    return sum(
        slots * len(table.boards) * len(table.boards[0].hands[p].numbers)
        for bets, table in zip(layout.betting, layout.boards, strict=True)
        for p, slots in enumerate(bets.forest.n_slots)
    )


def live_game(
    layout: Layout, ranges: tuple[Floats, Floats], kept: Mapping[str, Floats] | None = None
) -> LiveGame:
    """Convert a subgame to the arrays that a solver reads.

    Args:
        ranges: both players' ranges, each ``[hand of the deck]``; they are scaled to a largest weight of 1.
        kept: fixed frequencies ``[action, hand of the deck]`` of decisions of the first round, by line; NaN: not fixed.
    """
    scaled = []
    for rows, weights in zip(layout.board(0, 0).hands, ranges, strict=True):
        here = weights[rows.numbers]
        scaled.append(here[None] / max(float(here.max(initial=0.0)), 1e-300))
    game = replace(with_ranges(layout.live, (scaled[0], scaled[1])), locks=tuple(_locks(layout, kept or {})))
    game.deal_weight  # noqa: B018 - raises an error if no pair of hands is possible
    return game


def _locks(layout: Layout, kept: Mapping[str, Floats]) -> Iterator[Lock]:
    for n, node in enumerate(layout.betting[0].nodes):
        if node.kind == "decision" and node.line in kept:
            assert node.player is not None
            hands_here = layout.board(0, 0).hands[node.player].numbers
            frequencies = kept[node.line][:, hands_here]
            blank = np.full(
                (1, len(frequencies), layout.live.rounds[0].hands[node.player].row.shape[1]), np.nan
            )
            blank[0, :, : len(hands_here)] = frequencies
            yield Lock(0, node.player, n, blank)


def new_solver(
    game: LiveGame, threads: int = 1, *, name: str = RESOLVING_VARIANT, short: bool = False
) -> Solver:
    """Make a solver: an `ExactCfr`, perhaps with numbers of 16 bits, or a `Cfr` for hands of one card."""
    if supports(game):
        return ExactCfr(game, variant(name), threads=threads, short=short)
    return Cfr(game, variant(DEFAULT_VARIANT), threads=threads)


def add_chips(line: str, chips: int) -> str:
    """Add chips to each amount in a line.

    >>> add_chips("cr120c/r300", 100), add_chips("rrc/", 100)
    ('cr220c/r400', 'rrc/')
    """
    parts = re.split(r"(\d+)", line)
    for i in range(1, len(parts), 2):
        parts[i] = str(int(parts[i]) + chips)
    return "".join(parts)


def split_actions(line: str) -> tuple[str, ...]:
    """Split the line of one round into its actions.

    >>> split_actions("cr120c"), split_actions("rr"), split_actions("")
    (('c', 'r120', 'c'), ('r', 'r'), ())
    """
    return tuple(re.findall(r"[fc]|r\d*", line))
