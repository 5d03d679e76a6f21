"""All boards that can follow the root, up to suit symmetry, and the rows that both players hold on each.

Rows of a board are the hands of the initial range that the board leaves. They are in order of strength on the last
round (ties by hand number), in order of hand number before. With symmetry a board stands for several: an *entry* of
the board above lists them as members, each with the suit permutation that turns it into the one that is solved.
Only permutations that leave the root's board, both initial ranges and all locks unchanged are used, so this is exact,
but for ties: where two actions are worth exactly the same, rounding may pick different ones for hands that mirror each
other, and the merged walk takes one for the other (measured: parts in a hundred thousand of the exploitability).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.cards import History, Perms, blocked, deals, hand_permutation, strengths
from buckets.cards.rank_sets import board_strength
from solvers.tree import Floats
from spewy.chunks.groups import board_groups, row_counts
from spewy.chunks.problem import Ints, Problem, Shorts


@dataclass(frozen=True)
class BoardRows:
    """One player's rows on one board: ``hands[row]`` numbers of the deck's hands, and their bucket or row number."""

    hands: Shorts
    strength: NDArray[np.int32]
    group: Shorts
    weight: Floats
    n_groups: int


@dataclass(frozen=True)
class Branch:
    """A board below: its number in the next round and the dealt boards that it stands for (cards, permutation)."""

    child: int
    members: tuple[tuple[tuple[int, ...], Perms], ...]


@dataclass(frozen=True)
class Board:
    """A public state's cards: where it comes from, what follows, and who can hold what."""

    history: History
    parent: int
    entry: int
    rows: tuple[BoardRows, BoardRows]
    entries: tuple[Branch, ...]

    @property
    def cards(self) -> tuple[int, ...]:
        """All public cards, in the order of the rounds."""
        return tuple(card for group in self.history for card in group)


@dataclass(frozen=True)
class BoardRound:
    """All boards of one round. ``probability`` is that of one dealt board of the next round, given both hands."""

    round: int
    boards: tuple[Board, ...]
    probability: float

    @cached_property
    def numbers(self) -> dict[History, int]:
        """The number of each board by its history."""
        return {board.history: b for b, board in enumerate(self.boards)}


def board_rounds(
    problem: Problem,
    progress: Callable[[int], None] | None = None,
    *,
    counted: bool = False,
    start: tuple[int, History] | None = None,
) -> list[BoardRound]:
    """Enumerate the boards round by round from the root, or from a later board.

    Args:
        problem: whose.
        progress: told of each finished board.
        counted: buckets are only counted, as `row_counts` does, and hands lie in any of them.
        start: a round of the game and a board that is solved in it; None: the root's.
    """
    game = problem.game
    first, history = (problem.first_round, problem.history) if start is None else start
    states: list[tuple[History, int, int]] = [(history, -1, -1)]
    out: list[BoardRound] = []
    for t in range(first, game.num_rounds):
        last = t == game.num_rounds - 1
        dealt = 0 if last else game.num_board_cards[t + 1]
        below: list[tuple[History, int, int]] = []
        all_entries: list[tuple[Branch, ...]] = []
        for b, (history, _, _) in enumerate(states):
            entries: list[Branch] = []
            if not last:
                for deal in following_deals(problem, t, history):
                    entries.append(Branch(len(below), deal[1]))
                    below.append((deal[0], b, len(entries) - 1))
            all_entries.append(tuple(entries))
        histories = [history for history, _, _ in states]
        power = _strengths(problem, histories) if last else None
        counts = row_counts(problem, t, histories, power) if counted else None
        left = len(game.deck) - sum(len(group) for group in states[0][0]) - 2 * game.num_hole_cards
        boards: list[Board] = []
        for b, (history, parent, entry) in enumerate(states):
            strong = None if power is None else power[b]
            if counts is None:
                rows = board_rows(problem, t, history, strong)
            else:
                rows = _counted_rows(problem, history, strong, counts[b])
            boards.append(Board(history, parent, entry, rows, all_entries[b]))
            if progress is not None:
                progress(1)
        out.append(BoardRound(t, tuple(boards), 1.0 / comb(left, dealt)))
        states = below
    return out


def board_rows(
    problem: Problem, t: int, history: History, power: NDArray[np.int32] | None = None
) -> tuple[BoardRows, BoardRows]:
    """Both players' rows on one board.

    Args:
        problem: whose ranges.
        t: the round of the game.
        history: the public cards dealt until then; as solved, where rows are to be those in the lockers.
        power: ``[hand]``, the strength of all hands of the deck in the last round, where it is known already.
    """
    cards = [card for group in history for card in group]
    if power is None and t == problem.game.num_rounds - 1:
        power = board_strength(np.array(cards, dtype=np.int64), problem.hands)
    groups = board_groups(problem, t, history)
    pair = []
    for p, live in enumerate(_live_hands(problem, cards)):
        if power is not None:
            live = live[np.argsort(power[live], kind="stable")]
        if groups is None:
            group, n_groups = np.arange(len(live)), len(live)
        else:
            group, n_groups = groups[p].labels[live], groups[p].n_groups
        pair.append(_rows(problem, p, live, power, group, n_groups))
    return pair[0], pair[1]


def _counted_rows(
    problem: Problem, history: History, power: NDArray[np.int32] | None, counts: tuple[int, int]
) -> tuple[BoardRows, BoardRows]:
    """Rows in place of those of `board_rows`: as many hands, in any order, in any of so many buckets."""
    pair = []
    for p, live in enumerate(_live_hands(problem, [card for group in history for card in group])):
        group = np.arange(len(live)) % max(counts[p], 1)
        pair.append(_rows(problem, p, live, power, group, counts[p]))
    return pair[0], pair[1]


def _live_hands(problem: Problem, cards: Sequence[int]) -> list[Shorts]:
    """Both players' hands that the cards leave, by number."""
    free = ~blocked(problem.hands, cards)
    return [np.flatnonzero(free & (weights > 0)).astype(np.int16) for weights in problem.ranges]


def _rows(
    problem: Problem, p: int, live: Shorts, power: NDArray[np.int32] | None, group: Ints, n_groups: int
) -> BoardRows:
    strong = np.zeros(len(live), dtype=np.int32) if power is None else power[live].astype(np.int32)
    return BoardRows(live, strong, group.astype(np.int16), problem.ranges[p][live], n_groups)


def row_image(problem: Problem, rows: BoardRows, child: BoardRows, perm: Perms) -> Ints:
    """``out[row]``: the child's row of each row after the member's permutation; -1 where the deal takes the hand."""
    position = np.full(len(problem.hands), -1, dtype=np.int64)
    position[child.hands] = np.arange(len(child.hands))
    moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
    return position[moved[rows.hands]]


Members = tuple[tuple[tuple[int, ...], Perms], ...]


def following_deals(problem: Problem, t: int, history: History) -> list[tuple[History, Members]]:
    """The boards that are solved after a board of round t: each with the dealt cards that it stands for."""
    dealt, perms = problem.game.num_board_cards[t + 1], problem.symmetries
    if dealt == 0:  # a round that deals nothing: the same board, another betting round
        return [(history, (((), np.arange(4, dtype=np.int8)),))]
    return [
        (deal.history, tuple((tuple(cards), np.asarray(perm)) for cards, perm in deal.members))
        for deal in deals(history, dealt, problem.game.deck, perms)
    ]


def _strengths(problem: Problem, histories: Sequence[History]) -> NDArray[np.int32]:
    """``[board, hand]``: strength of all hands on the boards of the last round."""
    boards = np.array([[c for group in h for c in group] for h in histories], dtype=np.int64)
    return strengths(boards.reshape(len(histories), -1), problem.hands)
