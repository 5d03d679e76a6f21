"""The cost of a job whose boards are dealt: lines, board buckets, memory, disk and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from buckets.abstraction import Wish
from buckets.abstraction.board_features import start_kinds
from buckets.cards import board_map, count_boards
from buckets.cards.boards import MAX_NUMBERS
from lockers import SHARD_BYTES, DiskSize
from spewy.chunks.rounds import LineForest
from spewy.job.job import Job
from spewy.job.sections import SolveSection
from spewy.records.bucket_numbers import BYTES_AT_ONCE, PORTIONS
from spewy.records.disk import judged_size, with_class_bytes, with_class_numbers
from spewy.run.cost import Cost, Count
from spewy.run.memory import CLUSTERING_BYTES, PROCESS_BYTES

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches

ANSWERING = 1.5  # times as long a deal takes with answers (measured)
SENT = 3  # times the state, where all of it is sent to a cluster while some comes back
MAKING = 6.5  # bytes of a hand on a final board, while classes and rows are made (measured)
MAKING_SECONDS = 1e-3  # of a final board, roughly
JUDGING = 60  # bytes of a hand on each board that can follow a first one, while that is judged
FOUND = 3  # times what a check found: board by board, and put together (measured)
COPIES = 3 * BYTES_AT_ONCE  # bytes of numbers that are being saved: plain, encoded, and in the transaction
SECONDS_PER_DEAL = 70e-6  # to be dealt
SECONDS_PER_HAND = (
    37e-9,
    30e-9,
    3.6e-9,
)  # of a batch, of a run of its lanes, of a slot (measured on five games)


@dataclass(frozen=True, kw_only=True)
class SampledCost(Cost):
    """Counts and sizes of a job whose boards are dealt.

    Attributes:
        lines: number of lines that enter each round.
        classes: number of board buckets, per round.
        rows: number of rows of a board bucket, per round.
        play_bytes: the part of the folder that is the strategy locker.
        judged_bytes: the part of the folder that judging keeps.
        seconds_per_deal: rough seconds of one core for a deal.
        making_seconds: rough seconds before the first deal for making board buckets and rows; 0 if they are there.
    """

    lines: tuple[int, ...]
    classes: tuple[int, ...]
    rows: tuple[int, ...]
    play_bytes: int
    judged_bytes: int
    seconds_per_deal: float
    making_seconds: float

    @property
    def counts(self) -> tuple[Count, ...]:
        """Lines, board buckets and information sets."""
        return (
            (sum(self.lines), "line", "lines"),
            (sum(self.classes), "class of boards", "classes of boards"),
            *super().counts,
        )


def sampled_cost(
    job: Job,
    wish: Wish,
    rounds: Sequence[LineForest],
    classes: Sequence[int],
    rows: Sequence[int],
    *,
    made: bool,
) -> SampledCost:
    """Count a game's lines, board buckets and rows, and add up the bytes of their numbers.

    Args:
        job: the job.
        wish: the board buckets and rows that the job asks for.
        rounds: the betting.
        classes: number of board buckets per round.
        rows: number of rows per round.
        made: whether board buckets and rows are there already.
    """
    from solvers.sampled.batches import line_batches
    from solvers.sampled.numbers import class_size

    batches = line_batches([one.forest for one in rounds])
    sizes = [[class_size(s, p, k) for p in (0, 1)] for s, k in zip(batches, rows, strict=True)]
    item = itemsize(job)
    state = 2 * item * int(np.dot(classes, [sum(pair) for pair in sizes]))
    disk, play = DiskSize(), DiskSize()
    for t, (n, pair, s, k) in enumerate(zip(classes, sizes, batches, rows, strict=True)):
        disk = with_class_numbers(disk, t, n, [item * size for size in pair])
        play = with_class_bytes(play, t, n, s, k)
    boards = _abstraction_bytes(wish, classes, rows)
    play_bytes, (judged, found) = play.total + boards + SHARD_BYTES, _judged_bytes(wish, rounds, job.solve)
    tables = boards + _buffer_bytes(rounds, batches, rows, wish, job.solve) + found
    final = 0 if made else count_boards(wish.deck, wish.n_board)
    making = int(MAKING * final * comb(len(wish.deck), wish.hole))
    seconds = _seconds_per_deal(wish, batches) * (ANSWERING if job.solve.cfr_br > 0 else 1.0)
    memory = max(making, state * (SENT if job.solve.workers == "dask" else 1) + tables + COPIES)
    memory += 2 * state // PORTIONS  # two portions of a save: one is written while the next is copied
    clusters = not made and any(k not in ("all", "hands") for k in (*wish.classes, *wish.rows))
    rest = boards + SHARD_BYTES + judged + SHARD_BYTES
    return SampledCost(
        lines=tuple(len(one.lines) for one in rounds),
        classes=tuple(classes),
        rows=tuple(rows),
        information_sets=sum(
            n * k * sum(one.decisions) for n, k, one in zip(classes, rows, job.tree_count.rounds, strict=True)
        ),
        state_bytes=state,
        table_bytes=tables,
        memory_bytes=memory,
        process_bytes=memory + PROCESS_BYTES + CLUSTERING_BYTES * clusters,
        disk_bytes=disk.total + play.total + rest,
        most_disk_bytes=disk.again(BYTES_AT_ONCE) + play.again(BYTES_AT_ONCE) + rest,
        play_bytes=play_bytes,
        judged_bytes=judged,
        seconds_per_deal=seconds,
        making_seconds=MAKING_SECONDS * final,
    )


def n_classes(wish: Wish) -> tuple[int, ...]:
    """Classes of each round, at most."""
    found = []
    for t, asked in enumerate(wish.classes):
        groups = wish.groups(t)
        if asked != "all":
            found.append(asked)
        elif len(groups) < 2:
            found.append(count_boards(wish.deck, sum(groups)))
        else:
            found.append(_histories(wish, groups))
    return tuple(found)


def n_rows(wish: Wish) -> tuple[int, ...]:
    """Rows of a class of each round, at most."""
    found = []
    for t, asked in enumerate(wish.rows):
        hands = comb(len(wish.deck) - wish.n_cards(t), wish.hole)
        if asked == "hands":
            found.append(hands)
        else:
            different = hands if wish.n_cards(t) else _n_kinds(wish)
            found.append(min(asked, different))
    return tuple(found)


def _n_kinds(wish: Wish) -> int:
    """Hands before any card, up to suits."""
    return int(start_kinds(wish.deck, wish.hole).max()) + 1


def _histories(wish: Wish, groups: Sequence[int]) -> int:
    """Boards of several groups up to suits; a lower bound where there are too many to be numbered."""
    ways = prod(comb(len(wish.deck), size) for size in groups)
    return len(board_map(wish.deck, groups).boards) if ways <= MAX_NUMBERS else ways // 24


def itemsize(job: Job) -> int:
    """Bytes of a regret or sum in memory."""
    return 2 if job.solve.short else 4


def _seconds_per_deal(wish: Wish, batches: Sequence[LineBatches]) -> float:
    """Of one core, roughly: batches are walked over with all hands, for either player."""
    hands = comb(len(wish.deck) - wish.n_board, wish.hole)
    shapes = [s.shape_of(i) for s in batches for i in range(len(s))]
    runs = sum(map(len, chain.from_iterable(s.runs for s in batches)))
    counts = len(shapes), runs, sum(sum(shape.n_slots) for shape in shapes)
    return SECONDS_PER_DEAL + hands * sum(n * one for n, one in zip(counts, SECONDS_PER_HAND, strict=True))


def _abstraction_bytes(wish: Wish, classes: Sequence[int], rows: Sequence[int]) -> int:
    """Maps from boards to classes, and rows by board and hand, of class and grade or none."""
    hands, total, last = comb(len(wish.deck), wish.hole), 0, len(classes) - 1
    for t, k in enumerate(wish.rows):
        groups = wish.groups(t)
        ways = prod(comb(len(wish.deck), size) for size in groups)
        boards = classes[t] if len(groups) > 1 else count_boards(wish.deck, sum(groups))
        total += 5 * ways + 4 * boards  # a canonical number and a permutation; a class
        if k != "hands":
            total += 256 * classes[t] if t == last and wish.n_cards(t) else boards * hands
    return total


def _buffer_bytes(
    rounds: Sequence[LineForest],
    batches: Sequence[LineBatches],
    rows: Sequence[int],
    wish: Wish,
    solve: SolveSection,
) -> int:
    """Bytes that threads walk with, dealing and judging, measured on a game of no classes."""
    from solvers.sampled.context import Context
    from solvers.sampled.engine import TASK_DEALS
    from solvers.sampled.numbers import Numbers

    forests = [one.forest for one in rounds]
    n, left = len(rounds), len(wish.deck) - wish.n_board
    hands = comb(left, wish.hole)
    nothing = Numbers.zeros(batches, [0] * n, rows, short=False)
    context = Context(forests, batches, rows, nothing, [hands] * n, left, [1.0] * n, [1.0] * n)
    parts = context.workspaces()
    held = sum(array.nbytes for part in parts for array in part if isinstance(array, np.ndarray))
    dealt = TASK_DEALS * hands * (2 * (2 * n + 4 * n) + 4 * (2 + 2 + 1 + 1 + 1))
    views = 3 if solve.cfr_br > 0 else 2
    return solve.threads * (views * held + dealt + JUDGING * hands * _below_first(wish))


def _judged_bytes(wish: Wish, rounds: Sequence[LineForest], solve: SolveSection) -> tuple[int, int]:
    """Bytes that judging keeps of all first boards on disk, and a check in memory of those that it draws.

    Suits that rows tell apart are walked one by one.
    """
    from spewy.learn.real_game import FEW_BOARDS

    t = int(len(rounds) > 1 and not wish.board_sizes[0])
    lines, cards = len(rounds[t].lines), wish.board_sizes[t]
    if "hands" in wish.rows:
        boards, kinds = comb(len(wish.deck), cards), comb(len(wish.deck), wish.hole)
    else:
        boards, kinds = count_boards(wish.deck, cards), _n_kinds(wish)
    last, left = boards, len(wish.deck) - cards
    for more in wish.board_sizes[t + 1 :]:
        last, left = last * comb(left, more), left - more
    size = judged_size(boards, lines, kinds)
    drawn = boards if last <= FEW_BOARDS else min(boards, solve.check_flops)
    return size.total + SHARD_BYTES, FOUND * size.total * drawn // boards


def _below_first(wish: Wish) -> int:
    """Boards that can follow a first one, all rounds together."""
    left, ways, total = len(wish.deck), 1, 0
    dealt = [size for size in wish.board_sizes if size]
    for t, size in enumerate(dealt):
        ways *= comb(left, size) if t else 1
        left -= size
        total += ways
    return total
