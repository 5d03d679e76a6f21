"""Convert a problem with its boards and betting to a `solvers.game.LiveGame`, which consists of arrays for solvers.

The lists of boards and of betting have an element for each round, the root's first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from buckets.cards import hand_permutation
from buckets.types import Ints
from solvers.game import Deal, Hands, LiveGame, Lock, Round
from solvers.tree import Floats
from spewy.chunks.boards import BoardRound
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import BettingRound

N_CARD_IDS = 4 * 13
BYTES_PER_HAND = 4 + 2 + 2 + 8  # strength, same_cards, row and weight; each card takes two bytes more
DEALS_AT_ONCE = 256
"""Number of deals whose hands are mapped at once; limits the memory of temporary arrays."""


def live_game(problem: Problem, betting: list[BettingRound], boards: list[BoardRound]) -> LiveGame:
    """Make the `LiveGame` of a problem, in which hands of one bucket share a strategy row but not their values."""
    rounds = []
    for i, (bets, table) in enumerate(zip(betting, boards, strict=False)):
        deal = _deal(problem, table, boards[i + 1]) if i + 1 < len(betting) else None
        hands = _packed_hands(problem, table, 0), _packed_hands(problem, table, 1)
        rounds.append(Round(bets.forest, hands, deal))
    first, second = boards[0].boards[0].hands
    reach = (first.weight[None, :].copy(), second.weight[None, :].copy())
    return LiveGame(rounds, reach, N_CARD_IDS, game_locks(problem, betting, boards))


def live_bytes(problem: Problem, boards: list[BoardRound]) -> int:
    """Compute the size in bytes of the arrays that `live_game` would make for these boards, without making them."""
    total = 0
    width_above = [0, 0]
    for i, table in enumerate(boards):
        width = [_width(table, p) for p in (0, 1)]
        total += len(table.boards) * sum(width) * (2 * problem.game.num_hole_cards + BYTES_PER_HAND)
        if i > 0:
            entries = [entry for board in boards[i - 1].boards for entry in board.entries]
            total += 2 * (
                len(entries) * sum(width) + sum(len(entry.members) for entry in entries) * sum(width_above)
            )
        width_above = width
    return total


def _width(table: BoardRound, p: int) -> int:
    return max(len(board.hands[p].numbers) for board in table.boards)


def with_ranges(game: LiveGame, ranges: tuple[Floats, Floats]) -> LiveGame:
    """Return a copy of a live game with other ranges at its start, ``[betting tree, hand]`` per player."""
    padded = []
    for p in (0, 1):
        out = np.zeros((ranges[p].shape[0], game.rounds[0].hands[p].row.shape[1]))
        out[:, : ranges[p].shape[1]] = ranges[p]
        padded.append(out)
    return replace(game, reach=(padded[0], padded[1]))


def _packed_hands(problem: Problem, table: BoardRound, p: int) -> Hands:
    own = [board.hands[p] for board in table.boards]
    numbers = _numbers(problem, table, p)
    present = numbers < len(problem.hands)
    cards = np.zeros((*numbers.shape, problem.game.num_hole_cards), dtype=np.int16)
    cards[present] = problem.hands[numbers[present]]
    strength, weight = np.zeros(numbers.shape, dtype=np.int32), np.zeros(numbers.shape)
    strength[present] = np.concatenate([hands.strength for hands in own])
    weight[present] = np.concatenate([hands.weight for hands in own])
    there = _positions(problem, _numbers(problem, table, 1 - p))
    same_cards = np.take_along_axis(there, numbers, axis=1).astype(np.int16)
    row = np.tile(np.arange(numbers.shape[1], dtype=np.int16), (len(own), 1))
    n_rows = numbers.shape[1]
    if problem.rows[table.round] is not None:
        row[:] = 0
        row[present] = np.concatenate([hands.row for hands in own])
        n_rows = max(hands.n_rows for hands in own)
    return Hands.of(present.sum(axis=1), cards, strength, same_cards, row, weight, n_rows)


def _numbers(problem: Problem, table: BoardRound, p: int) -> Ints:
    """Return the numbers of player p's hands, ``[board, hand]``; padding is the number of hands of the deck."""
    own = [board.hands[p].numbers for board in table.boards]
    present = np.arange(_width(table, p)) < np.array([len(numbers) for numbers in own])[:, None]
    out = np.full(present.shape, len(problem.hands), dtype=np.int64)
    out[present] = np.concatenate(own)
    return out


def _positions(problem: Problem, numbers: Ints) -> Shorts:
    """Return the index of each hand of the deck among the hands of each board: ``[board, hand of the deck]``.

    -1: the board lacks the hand. ``numbers[board, hand]`` are the boards' hands, as indices into the deck's hands.
    """
    n = len(problem.hands)
    out = np.full((len(numbers), n + 1), -1, dtype=np.int16)
    out[np.arange(len(numbers))[:, None], numbers] = np.arange(numbers.shape[1], dtype=np.int16)
    out[:, n] = -1
    return out


def _deal(problem: Problem, table: BoardRound, below: BoardRound) -> Deal:
    entries = [(b, entry) for b, board in enumerate(table.boards) for entry in board.entries]
    members = [(b, entry.child, perm) for b, entry in entries for _, perm in entry.members]
    of_board = [len(board.entries) for board in table.boards]
    of_entry = [len(entry.members) for _, entry in entries]
    first, first_image = (np.concatenate([[0], np.cumsum(n)]).astype(np.int64) for n in (of_board, of_entry))
    parent, child = (np.array([member[i] for member in members], dtype=np.int64) for i in (0, 1))
    names = [tuple(np.asarray(perm).tolist()) for _, _, perm in members]
    known = {name: k for k, name in enumerate(dict.fromkeys(names))}
    deck, hole, n = problem.game.deck, problem.game.num_hole_cards, len(problem.hands)
    moved = np.array([np.append(hand_permutation(deck, hole, name), n) for name in known])
    perms = np.array([known[name] for name in names])
    maps = [
        _maps(
            _numbers(problem, table, p),
            _positions(problem, _numbers(problem, below, p)),
            parent,
            child,
            moved,
            perms,
        )
        for p in (0, 1)
    ]
    origins = [_origins(images[first_image[:-1]], _width(below, p)) for p, images in enumerate(maps)]
    return Deal(
        first,
        np.array([entry.child for _, entry in entries], dtype=np.int64),
        (origins[0], origins[1]),
        first_image,
        (maps[0], maps[1]),
        table.probability,
    )


def _maps(numbers: Ints, positions: Shorts, parent: Ints, child: Ints, moved: Ints, perms: Ints) -> Shorts:
    """Map a player's hands to the same hands on the board of the next round: ``[deal, hand]``; -1: blocked or no hand.

    Args:
        numbers: ``[board, hand]``, the player's hands on the boards of the round.
        positions: ``[board, hand of the deck]``, the index of each hand on the boards of the next round.
        parent: ``[deal]``, the board of the round.
        child: ``[deal]``, the solved board of the next round.
        moved: ``[suit permutation, hand of the deck]``, the hand that each hand becomes.
        perms: ``[deal]``, the suit permutation from the dealt board onto the solved board.
    """
    out = np.empty((len(parent), numbers.shape[1]), dtype=np.int16)
    for start in range(0, len(parent), DEALS_AT_ONCE):
        batch = slice(start, start + DEALS_AT_ONCE)
        become = moved[perms[batch, None], numbers[parent[batch]]]
        out[batch] = positions[child[batch, None], become]
    return out


def _origins(images: Shorts, width: int) -> Shorts:
    """Invert maps ``[branch, hand]`` to hands of the next round: ``[branch, hand of next round]``; padding is 0."""
    out = np.zeros((len(images), width), dtype=np.int16)
    entry, hand = np.nonzero(images >= 0)
    out[entry, images[entry, hand]] = hand
    return out


def game_locks(
    problem: Problem, betting: Sequence[BettingRound], boards: Sequence[BoardRound]
) -> tuple[Lock, ...]:
    """Convert the node locks of a problem to locks of the live game, one for each locked decision.

    Locks on boards or rounds that the live game lacks are left out.
    """
    locks: dict[tuple[int, int], Lock] = {}
    for lock in problem.locks:
        t = lock.round - boards[0].round
        if not 0 <= t < len(betting):
            continue
        n = next(
            n for n, node in enumerate(betting[t].nodes) if node.kind == "decision" and node.line == lock.line
        )
        width = _width(boards[t], lock.player)
        blank = np.full((len(boards[t].boards), len(lock.frequencies), width), np.nan)
        frequencies = locks.setdefault((t, n), Lock(t, lock.player, n, blank)).frequencies
        for b, board in enumerate(boards[t].boards):
            numbers = board.hands[lock.player].numbers
            lock.write(frequencies[b, :, : len(numbers)], board.history, numbers)
    return tuple(lock for lock in locks.values() if not np.isnan(lock.frequencies).all())
