"""Convert a problem with its boards and betting to a `solvers.game.LiveGame`, which consists of arrays for solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from buckets.types import Ints
from solvers.game import Deal, Hands, LiveGame, Lock, Round
from solvers.tree import Floats
from spewy.chunks.boards import Board, BoardRound, hand_map
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import BettingRound

N_CARD_IDS = 4 * 13
BYTES_PER_HAND = 4 + 2 + 2 + 8  # strength, same_cards, row and weight; each card takes two bytes more


def live_game(problem: Problem, betting: list[BettingRound], boards: list[BoardRound]) -> LiveGame:
    """Make the `LiveGame` of a problem, in which hands of one bucket share a strategy row but not their values.

    Args:
        problem: the problem.
        betting: the betting of each round, from the root's on.
        boards: the boards of each round, from the root's on.
    """
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
    """Return a copy of a live game with other ranges at its roots.

    Args:
        game: the live game.
        ranges: per player ``[root, hand]``, the weights of the hands at the root of each betting tree of the first
            round.
    """
    padded = []
    for p in (0, 1):
        out = np.zeros((ranges[p].shape[0], game.rounds[0].hands[p].row.shape[1]))
        out[:, : ranges[p].shape[1]] = ranges[p]
        padded.append(out)
    return replace(game, reach=(padded[0], padded[1]))


def _packed_hands(problem: Problem, table: BoardRound, p: int) -> Hands:
    """Pack player p's hands on all boards of a round into arrays."""
    boards = table.boards
    width = _width(table, p)
    shape = (len(boards), width)
    n_hands = np.array([len(board.hands[p].numbers) for board in boards], dtype=np.int64)
    cards = np.zeros((*shape, problem.game.num_hole_cards), dtype=np.int16)
    strength, same_cards = np.zeros(shape, dtype=np.int32), np.full(shape, -1, dtype=np.int16)
    row = np.tile(np.arange(width, dtype=np.int16), (len(boards), 1))
    weight = np.zeros(shape)
    bucketed = problem.rows[table.round] is not None
    for b, board in enumerate(boards):
        hands, n = board.hands[p], n_hands[b]
        cards[b, :n] = problem.hands[hands.numbers]
        strength[b, :n], weight[b, :n] = hands.strength, hands.weight
        same_cards[b, :n] = _same_cards(problem, board, p)
        if bucketed:
            row[b, :n], row[b, n:] = hands.row, 0
    n_rows = max(board.hands[p].n_rows for board in boards) if bucketed else width
    return Hands.of(n_hands, cards, strength, same_cards, row, weight, n_rows)


def _same_cards(problem: Problem, board: Board, p: int) -> Ints:
    """Return ``[hand]``: the position of the opponent's hand with the same cards as player p's hand; -1: none."""
    position = np.full(len(problem.hands), -1, dtype=np.int64)
    other = board.hands[1 - p].numbers
    position[other] = np.arange(len(other))
    return position[board.hands[p].numbers]


def _deal(problem: Problem, table: BoardRound, below: BoardRound) -> Deal:
    """Make the maps between the hands on the boards of a round and the hands on the boards of the next round.

    Args:
        problem: the problem.
        table: the boards of the round.
        below: the boards of the next round.
    """
    children, first, first_image = [], [0], [0]
    images: tuple[list[Shorts], list[Shorts]] = ([], [])
    origins: tuple[list[Shorts], list[Shorts]] = ([], [])
    upper, lower = ([_width(where, p) for p in (0, 1)] for where in (table, below))
    for board in table.boards:
        for entry in board.entries:
            child = below.boards[entry.child]
            children.append(entry.child)
            for m, (_, perm) in enumerate(entry.members):
                for p in (0, 1):
                    image = hand_map(problem, board.hands[p], child.hands[p], perm)
                    images[p].append(_padded(image, upper[p], -1))
                    if m == 0:
                        unblocked = np.flatnonzero(image >= 0)
                        origin = np.zeros(len(child.hands[p].numbers), dtype=np.int64)
                        origin[image[unblocked]] = unblocked
                        origins[p].append(_padded(origin, lower[p], 0))
            first_image.append(len(images[0]))
        first.append(len(children))
    return Deal(
        np.array(first, dtype=np.int64),
        np.array(children, dtype=np.int64),
        (np.array(origins[0]), np.array(origins[1])),
        np.array(first_image, dtype=np.int64),
        (np.array(images[0]), np.array(images[1])),
        table.probability,
    )


def _padded(rows: Ints, width: int, fill: int) -> Shorts:
    out = np.full(width, fill, dtype=np.int16)
    out[: len(rows)] = rows
    return out


def game_locks(
    problem: Problem, betting: Sequence[BettingRound], boards: Sequence[BoardRound]
) -> tuple[Lock, ...]:
    """Convert the node locks of a problem to locks of the live game, one for each locked decision.

    Locks that apply only to other boards or rounds are left out.

    Args:
        problem: the problem.
        betting: the betting of each round.
        boards: the boards of each round.
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
