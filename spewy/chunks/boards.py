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

from buckets.hands import blocked
from buckets.strength import strengths
from buckets.symmetry import (
    History,
    Perms,
    deals,
    hand_permutation,
    range_symmetries,
    stabilizer,
    suit_permutations,
)
from solvers.forest import Floats
from spewy.chunks.groups import board_groups, row_counts
from spewy.chunks.locks import keeping
from spewy.chunks.problem import Ints, Problem, Shorts
from spewy.game.gamefile import Game


@dataclass(frozen=True)
class BoardRows:
    """One player's rows on one board: ``hands[row]`` numbers of the deck's hands, and their bucket or row number."""

    hands: Shorts
    strength: NDArray[np.int32]
    group: Shorts
    weight: Floats
    n_groups: int


@dataclass(frozen=True)
class Entry:
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
    entries: tuple[Entry, ...]

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


def symmetries(problem: Problem) -> Perms:
    """Suit permutations that leave the root's board, both initial ranges and all locks unchanged; identity first."""
    game = problem.game
    if not problem.symmetry:
        return suit_permutations(game.deck)[:1]
    perms = root_symmetries(game, problem.history, problem.ranges)
    return keeping(problem.locks, game.deck, game.num_hole_cards, perms)


def root_symmetries(game: Game, history: History, ranges: tuple[Floats, Floats]) -> Perms:
    """Suit permutations that leave the root's board and both initial ranges unchanged; identity first."""
    perms = suit_permutations(game.deck)
    for weights in ranges:
        perms = range_symmetries(weights, game.deck, game.num_hole_cards, perms)
    return stabilizer(history, perms)


def board_rounds(
    problem: Problem, progress: Callable[[int], None] | None = None, *, counted: bool = False
) -> list[BoardRound]:
    """Enumerate the boards round by round from the root.

    Args:
        problem: whose.
        progress: told of each finished board.
        counted: buckets are only counted, as `row_counts` does, and hands lie in any of them.
    """
    game = problem.game
    perms = symmetries(problem)
    states: list[tuple[History, int, int]] = [(problem.history, -1, -1)]
    out: list[BoardRound] = []
    for t in range(problem.first_round, game.num_rounds):
        last = t == game.num_rounds - 1
        dealt = 0 if last else game.num_board_cards[t + 1]
        below: list[tuple[History, int, int]] = []
        all_entries: list[tuple[Entry, ...]] = []
        for b, (history, _, _) in enumerate(states):
            entries: list[Entry] = []
            if not last:
                for deal in _deals(problem, history, dealt, perms):
                    entries.append(Entry(len(below), deal[1]))
                    below.append((deal[0], b, len(entries) - 1))
            all_entries.append(tuple(entries))
        rows = _rows_of_round(problem, t, [history for history, _, _ in states], last, progress, counted)
        left = len(game.deck) - sum(len(group) for group in states[0][0]) - 2 * game.num_hole_cards
        boards = tuple(
            Board(history, parent, entry, rows[b], all_entries[b])
            for b, (history, parent, entry) in enumerate(states)
        )
        out.append(BoardRound(t, boards, 1.0 / comb(left, dealt)))
        states = below
    return out


def row_image(problem: Problem, rows: BoardRows, child: BoardRows, perm: Perms) -> Ints:
    """``out[row]``: the child's row of each row after the member's permutation; -1 where the deal takes the hand."""
    position = np.full(len(problem.hands), -1, dtype=np.int64)
    position[child.hands] = np.arange(len(child.hands))
    moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
    return position[moved[rows.hands]]


Members = tuple[tuple[tuple[int, ...], Perms], ...]


def _deals(problem: Problem, history: History, dealt: int, perms: Perms) -> list[tuple[History, Members]]:
    if dealt == 0:  # a round that deals nothing: the same board, another betting round
        return [(history, (((), np.arange(4, dtype=np.int8)),))]
    return [
        (deal.history, tuple((tuple(cards), np.asarray(perm)) for cards, perm in deal.members))
        for deal in deals(history, dealt, problem.game.deck, perms)
    ]


def _rows_of_round(
    problem: Problem,
    t: int,
    histories: Sequence[History],
    last: bool,
    progress: Callable[[int], None] | None,
    counted: bool,
) -> list[tuple[BoardRows, BoardRows]]:
    boards = np.array([[c for group in h for c in group] for h in histories], dtype=np.int64)
    boards = boards.reshape(len(histories), -1)
    power = strengths(boards, problem.hands) if last else None
    counts = row_counts(problem, t, histories, power) if counted else None
    out = []
    for b, history in enumerate(histories):
        groups = None if counted else board_groups(problem, t, history)
        free = ~blocked(problem.hands, boards[b].tolist())
        pair = []
        for p in (0, 1):
            live = np.flatnonzero(free & (problem.ranges[p] > 0)).astype(np.int16)
            strength = np.zeros(len(live), dtype=np.int32)
            if power is not None:
                if counts is None:
                    live = live[np.argsort(power[b, live], kind="stable")]
                strength = power[b, live].astype(np.int32)
            weight = problem.ranges[p][live]
            if counts is not None:
                n_groups = counts[b][p]
                group = np.arange(len(live)) % max(n_groups, 1)
            elif groups is None:
                group, n_groups = np.arange(len(live)), len(live)
            else:
                group, n_groups = groups[p].labels[live], groups[p].n_groups
            pair.append(BoardRows(live, strength, group.astype(np.int16), weight, n_groups))
        out.append((pair[0], pair[1]))
        if progress is not None:
            progress(1)
    return out
