"""From boards and betting rounds to the solvers' live game: cards become row numbers, blocker ids and strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from solvers.game import Deal, LiveGame, Lock, Round, Rows
from solvers.tree import Floats
from spewy.chunks.boards import Board, BoardRound, row_image
from spewy.chunks.problem import Ints, Problem, Shorts
from spewy.chunks.rounds import BettingRound

BYTES_PER_ROW = 4 + 2 + 2 + 8  # strength, twin, group and weight, beside two for each blocker


def live_game(problem: Problem, betting: list[BettingRound], boards: list[BoardRound]) -> LiveGame:
    """The problem as a game of live chunks; hands of one bucket share strategy rows but keep their own values."""
    rounds = []
    for i, (bets, table) in enumerate(zip(betting, boards, strict=False)):
        deal = _deal(problem, table, boards[i + 1]) if i + 1 < len(betting) else None
        rows = _rows(problem, table, 0), _rows(problem, table, 1)
        rounds.append(Round(bets.forest, rows, deal))
    root = boards[0].boards[0]
    reach = (root.rows[0].weight[None, :].copy(), root.rows[1].weight[None, :].copy())
    return LiveGame(rounds, reach, 4 * 13, game_locks(problem, betting, boards))


def live_bytes(problem: Problem, boards: list[BoardRound]) -> int:
    """Bytes of what `live_game` makes of boards, without making it."""
    total = 0
    width_above = [0, 0]
    for i, table in enumerate(boards):
        width = [_width(table, p) for p in (0, 1)]
        total += len(table.boards) * sum(width) * (2 * problem.game.num_hole_cards + BYTES_PER_ROW)
        if i > 0:
            entries = [entry for board in boards[i - 1].boards for entry in board.entries]
            total += 2 * (
                len(entries) * sum(width) + sum(len(entry.members) for entry in entries) * sum(width_above)
            )
        width_above = width
    return total


def _width(table: BoardRound, p: int) -> int:
    return max(len(board.rows[p].hands) for board in table.boards)


def with_ranges(game: LiveGame, ranges: tuple[Floats, Floats]) -> LiveGame:
    """The game entered by all its root lines with the given ranges ``[root, hand]``."""
    padded = []
    for p in (0, 1):
        width = game.rounds[0].rows[p].group.shape[1]
        out = np.zeros((ranges[p].shape[0], width))
        out[:, : ranges[p].shape[1]] = ranges[p]
        padded.append(out)
    return replace(game, reach=(padded[0], padded[1]))


def _rows(problem: Problem, table: BoardRound, p: int) -> Rows:
    boards = table.boards
    width = _width(table, p)
    shape = (len(boards), width)
    count = np.array([len(board.rows[p].hands) for board in boards], dtype=np.int64)
    blockers = np.zeros((*shape, problem.game.num_hole_cards), dtype=np.int16)
    strength, twin = np.zeros(shape, dtype=np.int32), np.full(shape, -1, dtype=np.int16)
    group = np.tile(np.arange(width, dtype=np.int16), (len(boards), 1))
    weight = np.zeros(shape)
    bucketed = problem.rows[table.round] is not None
    for b, board in enumerate(boards):
        mine, n = board.rows[p], count[b]
        blockers[b, :n] = problem.hands[mine.hands]
        strength[b, :n], weight[b, :n] = mine.strength, mine.weight
        twin[b, :n] = _twins(problem, board, p)
        if bucketed:
            group[b, :n], group[b, n:] = mine.group, 0
    n_groups = max(board.rows[p].n_groups for board in boards) if bucketed else width
    return Rows(count, blockers, strength, twin, group, weight, n_groups)


def _twins(problem: Problem, board: Board, p: int) -> Ints:
    position = np.full(len(problem.hands), -1, dtype=np.int64)
    other = board.rows[1 - p].hands
    position[other] = np.arange(len(other))
    return position[board.rows[p].hands]


def _deal(problem: Problem, table: BoardRound, below: BoardRound) -> Deal:
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
                    image = row_image(problem, board.rows[p], child.rows[p], perm)
                    images[p].append(_padded(image, upper[p], -1))
                    if m == 0:
                        there = np.flatnonzero(image >= 0)
                        origin = np.zeros(len(child.rows[p].hands), dtype=np.int64)
                        origin[image[there]] = there
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
    """The problem's locks in the rounds of a live game, one for each node; none where their boards are not."""
    found: dict[tuple[int, int], Lock] = {}
    for lock in problem.locks:
        t = lock.round - boards[0].round
        if not 0 <= t < len(betting):
            continue
        n = next(
            n for n, node in enumerate(betting[t].nodes) if node.kind == "decision" and node.line == lock.line
        )
        width = max(len(board.rows[lock.player].hands) for board in boards[t].boards)
        blank = np.full((len(boards[t].boards), len(lock.frequencies), width), np.nan)
        there = found.setdefault((t, n), Lock(t, lock.player, n, blank)).frequencies
        for b, board in enumerate(boards[t].boards):
            rows = board.rows[lock.player].hands
            lock.write(there[b, :, : len(rows)], board.history, rows)
    return tuple(lock for lock in found.values() if not np.isnan(lock.frequencies).all())
