"""All boards that can follow the root, up to suit symmetry, and both players' hands and strategy rows on each board.

A player's hands on a board are the hands of the initial range that the board does not block. On the last round they are
sorted by strength, and on earlier rounds by number.

With symmetry, one solved board represents all boards that differ from it only by suits. A `Branch` lists these boards,
each with the suit permutation that maps it onto the solved board. Only permutations that leave the root's board, both
initial ranges and all locks unchanged are used, so symmetry does not change the solution, except for ties between two
actions, where rounding decides (measured: it changes exploitability by hundred-thousandths of its value).

The job's section ``[rows]`` determines the rows of hands. With ``weights = "uniform"``, all hands that the board does
not block have the same weight, and both players share the buckets; those of the clustering "equation-1" come from the
bucket locker. With ``weights = "ranges"``, each player's buckets are computed for the player's own initial range, and
hands outside of the range have no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction import GROUPINGS, outcomes
from buckets.cards import (
    NUM_CARDS,
    CanonicalBoard,
    Deal,
    History,
    Members,
    Perms,
    blocked,
    board_levels,
    deals,
    hand_orbits,
    hand_permutation,
    preflop_classes,
    strengths,
)
from buckets.cards.rank_sets import board_strength
from buckets.cards.showdown import MAX_BOARDS
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.bucket_locker import shared_cache
from spewy.chunks.problem import Problem, Shorts
from spewy.game.ranges.range import NUM_HANDS

BOARDS_AT_ONCE = 512
"""Number of boards whose hands are listed at once; limits the memory of temporary arrays."""
LEVELS_AT_ONCE = 256
"""Number of boards on which hands with equal outcomes are counted at once; limits memory."""
PREFLOP_CLASSES = 169
LOCKED = "equation-1"
"""The clustering whose merge trees are in the bucket locker."""
TREES = (LOCKED, "ward")
"""Clusterings that give hands with different outcomes different rows, if there are enough rows."""
NO_STRENGTH = np.iinfo(np.int32).max
"""Sort key of hands that the board blocks, above every strength."""


@dataclass(frozen=True)
class BoardHands:
    """One player's hands on one board; `live_game` packs the hands of all boards into `solvers.game.Hands`.

    Attributes:
        numbers: ``[hand]``, each hand's number among all hands of the deck.
        strength: ``[hand]``, the hand's strength in a showdown; 0 before the last round.
        row: ``[hand]``, the hand's row in the strategy: its bucket, or a row of its own.
        weight: ``[hand]``, the hand's weight in the initial range.
        n_rows: number of rows of the strategy.
    """

    numbers: Shorts
    strength: NDArray[np.int32]
    row: Shorts
    weight: Floats
    n_rows: int


@dataclass(frozen=True)
class Branch:
    """A solved board of the next round, and the dealt cards that lead to it.

    Attributes:
        child: the number of the solved board.
        members: the deals that give the solved board up to suits, each with the suit permutation that maps the dealt
            board onto the solved board.
    """

    child: int
    members: Members


@dataclass(frozen=True)
class Board:
    """A board that is solved; it represents all boards that are equal to it up to suits.

    Attributes:
        history: the public cards by round.
        parent: number of the board in the round before from which this board follows; -1 at the root.
        entry: number of the branch of `parent` that leads to this board; -1 at the root.
        hands: both players' hands.
        entries: the branches to the boards of the next round.
    """

    history: History
    parent: int
    entry: int
    hands: tuple[BoardHands, BoardHands]
    entries: tuple[Branch, ...]

    @property
    def cards(self) -> tuple[int, ...]:
        """All public cards, in the order of the rounds."""
        return tuple(card for group in self.history for card in group)


@dataclass(frozen=True)
class BoardRound:
    """All solved boards of one round.

    Attributes:
        probability: probability of each single deal of the next round's cards, given the board and both hands.
    """

    round: int
    boards: tuple[Board, ...]
    probability: float

    @cached_property
    def numbers(self) -> dict[History, int]:
        """The number of each solved board by its public cards."""
        return {board.history: b for b, board in enumerate(self.boards)}


def board_rounds(
    problem: Problem,
    progress: Callable[[int], None] | None = None,
    *,
    counted: bool = False,
    start: tuple[int, History] | None = None,
) -> list[BoardRound]:
    """Enumerate the boards to solve round by round, one for all boards that are equal up to suits.

    Args:
        progress: called with 1 after each board.
        counted: whether to only count the buckets (`row_counts`). The rows of hands are then arbitrary.
        start: the round and the public cards of the solved board to begin with; None: the root.
    """
    game = problem.game
    first, history = (problem.first_round, problem.history) if start is None else start
    levels = list(
        board_levels(
            game.deck, game.num_board_cards[first + 1 : game.num_rounds], problem.symmetries, history
        )
    )
    left = len(game.deck) - sum(len(group) for group in history) - 2 * game.num_hole_cards
    rounds: list[BoardRound] = []
    for i, level in enumerate(levels):
        t, last = first + i, i == len(levels) - 1
        dealt = 0 if last else game.num_board_cards[t + 1]
        branches = [[] for _ in level] if last else _branches(len(level), levels[i + 1])
        hands = _hands_of_level(problem, t, [board.history for board in level], last, counted)
        boards: list[Board] = []
        for board, pair, entries in zip(level, hands, branches, strict=True):
            boards.append(Board(board.history, board.parent, board.entry, pair, tuple(entries)))
            if progress is not None:
                progress(1)
        rounds.append(BoardRound(t, tuple(boards), 1.0 / comb(left, dealt)))
        left -= dealt
    return rounds


def following_deals(problem: Problem, t: int, history: History) -> list[Deal]:
    """List the deals that can follow a solved board of round ``t``, one for all deals that are equal up to suits."""
    return deals(history, problem.game.num_board_cards[t + 1], problem.game.deck, problem.symmetries)


def _branches(n_boards: int, below: Sequence[CanonicalBoard]) -> list[list[Branch]]:
    branches: list[list[Branch]] = [[] for _ in range(n_boards)]
    for b, board in enumerate(below):
        branches[board.parent].append(Branch(b, board.members))
    return branches


def _hands_of_level(
    problem: Problem, t: int, histories: Sequence[History], last: bool, counted: bool
) -> Iterator[tuple[BoardHands, BoardHands]]:
    if problem.rows[t] is None:
        for first in range(0, len(histories), BOARDS_AT_ONCE):
            yield from _unbucketed_hands(problem, histories[first : first + BOARDS_AT_ONCE], last)
        return
    strength = _strengths(problem, histories) if last else None
    counts = row_counts(problem, t, histories, strength) if counted else None
    for b, history in enumerate(histories):
        own = None if strength is None else strength[b]
        if counts is None:
            yield board_hands(problem, t, history, own)
        else:
            yield _counted_hands(problem, history, own, counts[b])


def _unbucketed_hands(
    problem: Problem, histories: Sequence[History], last: bool
) -> Iterator[tuple[BoardHands, BoardHands]]:
    boards = _cards(histories)
    public = np.zeros((len(boards), NUM_CARDS), dtype=bool)
    board = np.arange(len(boards))[:, None]
    public[board, boards] = True
    strength = _strengths(problem, histories) if last else None
    players, all_hands = [], problem.hands
    for weights in problem.ranges:
        own = np.flatnonzero(weights > 0)
        dead = np.zeros((len(boards), len(own)), dtype=bool)
        for card in all_hands[own].T:
            dead |= public[:, card]
        # blocked hands come last
        value = np.where(dead, NO_STRENGTH, 0 if strength is None else strength[:, own])
        order = np.argsort(value, axis=1, kind="stable")
        numbers = own[order].astype(np.int16)
        arrays = numbers, value[board, order].astype(np.int32), weights[numbers]
        players.append((arrays, np.arange(len(own), dtype=np.int16), (~dead).sum(axis=1).tolist()))
    for b in range(len(boards)):
        first, second = (
            BoardHands(numbers[b, : n[b]], own[b, : n[b]], row[: n[b]], weight[b, : n[b]], n[b])
            for (numbers, own, weight), row, n in players
        )
        yield first, second


def board_hands(
    problem: Problem, t: int, history: History, strength: NDArray[np.int32] | None = None
) -> tuple[BoardHands, BoardHands]:
    """Compute both players' hands on one board.

    If the board is not a solved board, the rows can differ from those of stored strategies. ``strength`` has the
    strengths of all hands of the deck in the last round, ``[hand]``; None: compute them.
    """
    last = t == problem.game.num_rounds - 1
    if problem.rows[t] is None:
        return next(_unbucketed_hands(problem, [history], last))
    cards = [card for group in history for card in group]
    if strength is None and last:
        strength = board_strength(np.array(cards, dtype=np.int64), problem.hands)
    groups = board_groups(problem, t, history)
    assert groups is not None  # the hands of the round are in buckets
    pair = []
    for p, live in enumerate(_live_hands(problem, cards)):
        if strength is not None:
            live = live[np.argsort(strength[live], kind="stable")]
        pair.append(_hands(problem, p, live, strength, groups[p].labels[live], groups[p].n_rows))
    return pair[0], pair[1]


def _counted_hands(
    problem: Problem, history: History, strength: NDArray[np.int32] | None, counts: tuple[int, int]
) -> tuple[BoardHands, BoardHands]:
    """Return both players' hands on a board, unsorted, in ``counts`` arbitrary rows instead of buckets."""
    pair = []
    for p, live in enumerate(_live_hands(problem, [card for group in history for card in group])):
        row = np.arange(len(live)) % max(counts[p], 1)
        pair.append(_hands(problem, p, live, strength, row, counts[p]))
    return pair[0], pair[1]


def _live_hands(problem: Problem, cards: Sequence[int]) -> list[Shorts]:
    free = ~blocked(problem.hands, cards)
    return [np.flatnonzero(free & (weights > 0)).astype(np.int16) for weights in problem.ranges]


def _hands(
    problem: Problem, p: int, live: Shorts, strength: NDArray[np.int32] | None, row: Ints, n_rows: int
) -> BoardHands:
    own = np.zeros(len(live), dtype=np.int32) if strength is None else strength[live].astype(np.int32)
    return BoardHands(live, own, row.astype(np.int16), problem.ranges[p][live], n_rows)


def hand_map(problem: Problem, hands: BoardHands, child: BoardHands, perm: Perms) -> Shorts:
    """Map a player's hands on a board to the same hands on a solved board of the next round.

    The result is an array ``[hand]`` of indices into ``child``, the hands on the solved board; -1 if the dealt cards
    block the hand. ``perm`` is the suit permutation from the dealt board onto the solved board.
    """
    position = np.full(len(problem.hands), -1, dtype=np.int16)
    position[child.numbers] = np.arange(len(child.numbers))
    moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
    return position[moved[hands.numbers]]


def _cards(histories: Sequence[History]) -> Ints:
    """Return the public cards of several boards of a round as an array ``[board, card]``."""
    cards = np.array([[c for group in history for c in group] for history in histories], dtype=np.int64)
    return cards.reshape(len(histories), -1)


def _strengths(problem: Problem, histories: Sequence[History]) -> NDArray[np.int32]:
    """Compute the strength of all hands of the deck on the boards of the last round: ``[board, hand]``."""
    boards = _cards(histories)
    if len(boards) == 1:  # a start with one board is faster without the kernel for many boards
        return board_strength(boards[0], problem.hands)[None]
    return strengths(boards, problem.hands)


@dataclass(frozen=True)
class Groups:
    """The strategy rows of one player's hands on one board.

    Attributes:
        labels: ``[hand of the deck]``, the row of each hand; -1: the hand has no row.
    """

    labels: Ints
    n_rows: int


def board_groups(problem: Problem, t: int, history: History) -> tuple[Groups, Groups] | None:
    """Compute the strategy rows of both players' hands on a board; None if each hand has a row of its own."""
    k = problem.rows[t]
    if k is None:
        return None
    if k == PREFLOP_CLASSES and not history and len(problem.hands) == NUM_HANDS:
        groups = Groups(preflop_classes()[0].astype(np.int64), k)
        return groups, groups
    board = [card for group in history for card in group]
    if problem.range_weights:
        return _own(problem, k, board, problem.ranges[0]), _own(problem, k, board, problem.ranges[1])
    deck, hole, n_board = problem.game.deck, problem.game.num_hole_cards, sum(problem.game.num_board_cards)
    if problem.grouping == LOCKED:
        labels = shared_cache().labels(board, k, deck, hole, n_board)
    else:
        weights = np.ones(len(problem.hands))
        labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board)
    groups = Groups(labels.astype(np.int64), int(labels.max()) + 1)
    return groups, groups


def row_counts(
    problem: Problem, t: int, histories: Sequence[History], power: NDArray[np.int32] | None
) -> list[tuple[int, int]] | None:
    """Count both players' strategy rows on each board of a round, without computing the buckets.

    Hands with equal outcomes (`buckets.abstraction.outcomes`) share a row. So a board has the job's number of rows or,
    if it is smaller, the number of different outcomes. The counts are upper bounds unless `counted_exactly` is true.
    The result is None if each hand has a row of its own. ``power`` has the strength of each hand on the last round,
    ``[board, hand]``; None on other rounds.
    """
    k = problem.rows[t]
    if k is None:
        return None
    of_boards = (_kinds(problem, history) for history in histories)
    kinds = of_boards if power is None else _last_kinds(problem, power)
    if not problem.range_weights:
        return [(n, n) for n in (min(k, _different(of)) for of in kinds)]
    first, second = (weights > 0 for weights in problem.ranges)
    return [(min(k, _different(of[first])), min(k, _different(of[second]))) for of in kinds]


def counted_exactly(problem: Problem) -> bool:
    """Whether `row_counts` returns exact numbers of rows instead of upper bounds."""
    bucketed = any(k is not None for k in problem.rows[problem.first_round :])
    return not bucketed or (problem.grouping in TREES and not problem.range_weights)


def _different(kinds: Ints) -> int:
    return int(np.count_nonzero(np.bincount(kinds[kinds >= 0])))


def _kinds(problem: Problem, history: History) -> Ints:
    """Number the hands on a board: ``[hand]``, equal for hands with equal outcomes; -1: the board blocks the hand."""
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    board = [card for group in history for card in group]
    final = comb(len(deck) - len(board), n_board - len(board))
    if final > MAX_BOARDS:  # outcomes are sampled; hands that differ only by suits share a sample
        kinds = hand_orbits(board, problem.hands, deck)
    else:
        seen: dict[bytes, int] = {}  # a dictionary is ten times faster here than sorting
        curves = outcomes(board, problem.hands, deck, n_board)
        kinds = np.array([seen.setdefault(curve.tobytes(), len(seen)) for curve in curves])
    return np.where(blocked(problem.hands, board), -1, kinds)


def _last_kinds(problem: Problem, power: NDArray[np.int32]) -> Iterator[Ints]:
    """Yield `_kinds` of each board of the last round; ``power[board, hand]`` is the strength of each hand."""
    from buckets.kernels.showdowns import fill_levels

    for start in range(0, len(power), LEVELS_AT_ONCE):
        part = power[start : start + LEVELS_AT_ONCE]
        levels = np.empty(part.shape, dtype=np.int16)
        fill_levels(part, problem.hands, levels)
        yield from levels.astype(np.int64)


def _own(problem: Problem, k: int, board: list[int], weights: Floats) -> Groups:
    """Cluster the hands of a player's range ``weights``, ``[hand]``, into ``k`` rows; drop rows without a hand."""
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board).astype(np.int64)
    held = (weights > 0) & ~blocked(problem.hands, board)
    used, renumbered = np.unique(labels[held], return_inverse=True)
    out = np.full(len(labels), -1, dtype=np.int64)
    out[held] = renumbered
    return Groups(out, len(used))
