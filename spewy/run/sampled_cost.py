"""The cost of a job whose boards are dealt: lines, board buckets, memory, disk and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from buckets.abstraction import AbstractionSpec
from buckets.abstraction.board_features import start_kinds
from buckets.cards import board_map, count_boards
from buckets.cards.boards import MAX_NUMBERS
from lockers import STORE_BYTES, DiskSize
from spewy.chunks.rounds import LineForest
from spewy.job.job import Job
from spewy.job.sections import SolveSection
from spewy.records.bucket_numbers import BYTES_AT_ONCE, PORTIONS
from spewy.records.disk import judged_size, with_class_bytes, with_class_numbers
from spewy.run.cost import Cost, Count
from spewy.run.memory import CLUSTERING_BYTES, PROCESS_BYTES

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches

ANSWERING = 1.5  # factor of the time of a deal with CFR-BR (measured)
SENT = 2
"""Number of copies of the state that a solve on a cluster needs, since a share is buffered until it is complete."""
MAKING = 6.5  # bytes of a hand on a final board, while board buckets and rows are made (measured)
MAKING_SECONDS = 1e-3  # rough seconds per final board
JUDGING = 60  # bytes of a hand on each board that can follow a first board, while that is measured
FOUND = 3  # factor of the findings of a check: board by board, and combined (measured)
COPIES = 3 * BYTES_AT_ONCE  # bytes of numbers that are being saved: plain, encoded, and in the transaction
SECONDS_PER_DEAL = 70e-6  # to deal the cards
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
            (sum(self.classes), "board bucket", "board buckets"),
            *super().counts,
        )


def sampled_cost(
    job: Job,
    spec: AbstractionSpec,
    rounds: Sequence[LineForest],
    classes: Sequence[int],
    rows: Sequence[int],
    *,
    made: bool,
) -> SampledCost:
    """Count a game's lines, board buckets and rows, and add up the bytes of their numbers.

    Args:
        job: the job.
        spec: the board buckets and rows that the job asks for.
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
    boards = _abstraction_bytes(spec, classes, rows)
    play_bytes, (judged, found) = play.total + boards + STORE_BYTES, _judged_bytes(spec, rounds, job.solve)
    tables = boards + _buffer_bytes(rounds, batches, rows, spec, job.solve) + found
    final = 0 if made else count_boards(spec.deck, spec.n_board)
    making = int(MAKING * final * comb(len(spec.deck), spec.hole))
    seconds = _seconds_per_deal(spec, batches) * (ANSWERING if job.solve.cfr_br > 0 else 1.0)
    memory = max(making, state * (SENT if job.solve.workers == "dask" else 1) + tables + COPIES)
    memory += 2 * state // PORTIONS  # two portions of a save: one is written while the next is copied
    clusters = not made and any(k not in ("all", "hands") for k in (*spec.classes, *spec.rows))
    rest = boards + STORE_BYTES + judged + STORE_BYTES
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


def n_classes(spec: AbstractionSpec) -> tuple[int, ...]:
    """Upper bound on the number of board buckets of each round."""
    numbers = []
    for t, asked in enumerate(spec.classes):
        groups = spec.groups(t)
        if asked != "all":
            numbers.append(asked)
        elif len(groups) < 2:
            numbers.append(count_boards(spec.deck, sum(groups)))
        else:
            numbers.append(_histories(spec, groups))
    return tuple(numbers)


def n_rows(spec: AbstractionSpec) -> tuple[int, ...]:
    """Upper bound on the number of rows of a board bucket of each round."""
    numbers = []
    for t, asked in enumerate(spec.rows):
        hands = comb(len(spec.deck) - spec.n_cards(t), spec.hole)
        if asked == "hands":
            numbers.append(hands)
        else:
            different = hands if spec.n_cards(t) else _n_kinds(spec)
            numbers.append(min(asked, different))
    return tuple(numbers)


def _n_kinds(spec: AbstractionSpec) -> int:
    """Number of hands before any board card, up to suits."""
    return int(start_kinds(spec.deck, spec.hole).max()) + 1


def _histories(spec: AbstractionSpec, groups: Sequence[int]) -> int:
    """Number of boards of several groups up to suits; a lower bound if there are too many to enumerate."""
    ways = prod(comb(len(spec.deck), size) for size in groups)
    return len(board_map(spec.deck, groups).boards) if ways <= MAX_NUMBERS else ways // 24


def itemsize(job: Job) -> int:
    """Bytes of a regret or sum in memory."""
    return 2 if job.solve.short else 4


def _seconds_per_deal(spec: AbstractionSpec, batches: Sequence[LineBatches]) -> float:
    """Rough seconds of one core for a deal, which walks over all line batches with all hands, for either player."""
    hands = comb(len(spec.deck) - spec.n_board, spec.hole)
    shapes = [s.shape_of(i) for s in batches for i in range(len(s))]
    runs = sum(map(len, chain.from_iterable(s.runs for s in batches)))
    counts = len(shapes), runs, sum(sum(shape.n_slots) for shape in shapes)
    return SECONDS_PER_DEAL + hands * sum(
        n * seconds for n, seconds in zip(counts, SECONDS_PER_HAND, strict=True)
    )


def _abstraction_bytes(spec: AbstractionSpec, classes: Sequence[int], rows: Sequence[int]) -> int:
    """Bytes of the maps from boards to buckets, and of the rows of hands."""
    hands, total, last = comb(len(spec.deck), spec.hole), 0, len(classes) - 1
    for t, k in enumerate(spec.rows):
        groups = spec.groups(t)
        ways = prod(comb(len(spec.deck), size) for size in groups)
        boards = classes[t] if len(groups) > 1 else count_boards(spec.deck, sum(groups))
        total += 5 * ways + 4 * boards  # a canonical number and a permutation; a bucket
        if k != "hands":
            total += 256 * classes[t] if t == last and spec.n_cards(t) else boards * hands
    return total


def _buffer_bytes(
    rounds: Sequence[LineForest],
    batches: Sequence[LineBatches],
    rows: Sequence[int],
    spec: AbstractionSpec,
    solve: SolveSection,
) -> int:
    """Bytes of the buffers of threads for deals and checks, measured on a game without board buckets."""
    from solvers.sampled.context import Context
    from solvers.sampled.engine import TASK_DEALS
    from solvers.sampled.numbers import Numbers

    forests = [betting.forest for betting in rounds]
    n, left = len(rounds), len(spec.deck) - spec.n_board
    hands = comb(left, spec.hole)
    nothing = Numbers.zeros(batches, [0] * n, rows, short=False)
    context = Context(forests, batches, rows, nothing, [hands] * n, left, [1.0] * n, [1.0] * n)
    parts = context.workspaces()
    n_bytes = sum(array.nbytes for part in parts for array in part if isinstance(array, np.ndarray))
    dealt = TASK_DEALS * hands * (2 * (2 * n + 4 * n) + 4 * (2 + 2 + 1 + 1 + 1))
    views = 3 if solve.cfr_br > 0 else 2
    return solve.threads * (views * n_bytes + dealt + JUDGING * hands * _below_first(spec))


def _judged_bytes(
    spec: AbstractionSpec, rounds: Sequence[LineForest], solve: SolveSection
) -> tuple[int, int]:
    """Bytes on disk of the responses on all first boards, and bytes in memory of the responses of a check.

    Suits that rows tell apart are walked one by one.
    """
    from spewy.learn.real_game import FEW_BOARDS

    t = int(len(rounds) > 1 and not spec.board_sizes[0])
    lines, cards = len(rounds[t].lines), spec.board_sizes[t]
    if "hands" in spec.rows:
        boards, kinds = comb(len(spec.deck), cards), comb(len(spec.deck), spec.hole)
    else:
        boards, kinds = count_boards(spec.deck, cards), _n_kinds(spec)
    last, left = boards, len(spec.deck) - cards
    for more in spec.board_sizes[t + 1 :]:
        last, left = last * comb(left, more), left - more
    size = judged_size(boards, lines, kinds)
    drawn = boards if last <= FEW_BOARDS else min(boards, solve.check_flops)
    return size.total + STORE_BYTES, FOUND * size.total * drawn // boards


def _below_first(spec: AbstractionSpec) -> int:
    """Number of later boards that can follow a first board."""
    left, ways, total = len(spec.deck), 1, 0
    dealt = [size for size in spec.board_sizes if size]
    for t, size in enumerate(dealt):
        ways *= comb(left, size) if t else 1
        left -= size
        total += ways
    return total
