"""Passes over all boards of a game, shared by threads, with the same result for any number of threads.

A pass computes the values of one player, the *traverser*; `solvers.exact.board` has its steps on one board. First all
threads together compute the opponent's reach on the first round's single board. Then each thread takes *tasks*, which
are groups of boards after the first deal. Finally all threads together compute the values on the first board. The
number of tasks does not depend on the threads. Each task adds up its values in a fixed order, and the results of the
tasks are added in a fixed order. So every number has the same bits whichever thread computes it.

The *deal* of a round is the list of links from its boards to the boards of the next round, as in `solvers.game.Deal`;
tables call a link an *entry*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel
from compiled.mapped import release_pages
from compiled.precision import size_of
from compiled.records import Packed, unpack, unpack_at
from compiled.threads import ASKED, CALLED_OFF, CLAIMS, JUDGED, STOP, look, meet, now, take
from compiled.vector import (
    TILE,
    WIDTH,
    Address,
    fill8,
    float32_at,
    int32_at,
    int64_at,
    load8,
    put_float64,
    store,
)
from solvers.exact.board import (
    Cursor,
    Entry,
    PassFactors,
    RoundView,
    Workspace,
    backward_values,
    forward_reach,
    opposing_totals,
    showdown_totals,
)
from solvers.exact.tables import DealTable
from solvers.game import BEST, UPDATE
from solvers.steps import ZERO


class Deals(NamedTuple):
    """Maps between the boards of two consecutive rounds, for one traverser.

    Attributes:
        own: the map of the traverser's rows, by which values are passed back to the previous round.
        other: the map of the opponent's rows, by which reach is passed on to the next round.
    """

    own: DealTable
    other: DealTable


class GameView(NamedTuple):
    """The arrays of a game as kernels read them when one player is the traverser.

    A kernel gets four of these tuples: with strategies from regrets for traverser 0 and 1, then with strategies from
    sums for traverser 0 and 1.

    Attributes:
        entry: the opponent's initial range.
        deals: `Deals` from each round to the next round.
    """

    entry: Entry
    rounds: tuple[RoundView, ...]
    deals: tuple[Deals, ...]


class Plan(NamedTuple):
    """Passes that one call of a kernel does: a pass for traverser 0, a pass for traverser 1, and so on.

    Attributes:
        mode: `UPDATE` changes regrets; `BEST` and `EVALUATE` measure, in a plan of one iteration.
        every: number of iterations between two measurements of both best responses, the last of them after the last
            iteration; 0: no measurements.
        numbers: ``[iteration, 6]``, the fields positive, negative, decay, ahead, tremble and gain of `PassFactors`.
        dither: ``[iteration]``, the fraction of the last bit that is added before 16-bit numbers are rounded.
        clip: whether negative regrets become 0.
        predicted: weight of the instantaneous regrets, which strategies add to the regrets.
        target: exploitability in chips at which a measurement ends the plan.
        measured: ``[measurement, 4]``, results: both best responses in chips, the time, and the seconds that measuring
            took.
        kept: in games of three rounds, output: each traverser's values at the chance leaves of the second round, before
            they are multiplied by the probability of a board. Flat ``[board, traverser's row, chance leaf]`` for
            traverser 0, then for traverser 1.
        kept_second: offset of traverser 1's values in ``kept``; -1: ``kept`` is not used.
        groups: number of groups of boards of the last round. An `UPDATE` iteration visits one group, which stands for
            all boards, so the last round has a ``groups``-th of the iterations of the others; 1: it visits all boards.
        done: index in ``numbers`` of the plan's first iteration.
    """

    mode: int
    n_iterations: int
    every: int
    numbers: Address
    dither: Address
    clip: bool
    predicted: float
    target: float
    measured: Address
    kept: Address
    kept_second: int
    groups: int
    done: int


class Ranges(NamedTuple):
    """Both players' initial ranges, by which a measurement weights the values at the root.

    Attributes:
        reach0, reach1: ``[row]``, the initial ranges of players 0 and 1.
        scale: 1 / the summed weight of all pairs of hands.
    """

    reach0: Address
    n_rows0: int
    reach1: Address
    n_rows1: int
    scale: float


class Thread(NamedTuple):
    """The number of a thread, with the tasks and counters that it shares with the other threads.

    Attributes:
        tasks: flat ``[task, traverser's row, chance leaf]``, values that each task computes.
        n_tasks: number of tasks (groups of boards after the first deal).
        n_in_memory: number of tasks whose boards of the last round stay in memory; memory of other boards is released.
        counters: counters of `compiled.threads`, common to all threads.
    """

    tasks: Address
    n_tasks: int
    n_in_memory: int
    counters: Address
    n_threads: int
    number: int


class Desk(NamedTuple):
    """Buffers, ranges and tasks of one thread.

    Attributes:
        work: buffers of each round for either traverser. In the first round, buffers with a row for each hand are
            shared by all threads.
    """

    work: tuple[tuple[Workspace, Workspace], ...]
    ranges: Ranges
    thread: Thread


def _runner(n_rounds: int) -> Callable[[Plan, Packed, Packed], int]:
    """Make the kernel for games of ``n_rounds`` rounds; a kernel for all games would take longer to compile."""

    @kernel
    def run(plan: Plan, views: Packed, packed: Packed) -> int:
        """Run one thread's part of the passes of a plan; return the number of passes that were run.

        ``views`` holds the four tuples that `GameView` describes, and ``packed`` the thread's `Desk`.
        """
        desk = unpack(packed)
        ranges, thread, work = desk.ranges, desk.thread, desk.work
        n_passes, began = _n_passes(plan), 0.0
        met = meet(thread.counters, thread.n_threads, 0)
        if met == CALLED_OFF:
            return 0
        for i in range(n_passes):
            p, f = i % 2, _factors(plan, i, n_passes)
            if f.mode == BEST and p == 0:
                began = now()
            last = _of_last_round(plan, f)
            view = unpack_at(views, p if f.mode == UPDATE else 2 + p)
            top = Cursor(view.rounds[0], work[0][p], f, 0, thread.number, thread.n_threads)
            forward_reach(top, view.entry)
            met = meet(thread.counters, thread.n_threads, met)
            if n_rounds == 1:
                showdown_totals(top)
                met = meet(thread.counters, thread.n_threads, met)
                backward_values(top, ZERO, True)
            else:
                opposing_totals(top)
                met = meet(thread.counters, thread.n_threads, met)
                n_values = _n_values(top)
                task = _claim(thread, i)
                while task < thread.n_tasks:
                    to = task * n_values
                    _clear_values(thread.tasks, to, n_values)
                    first, end = _entries(thread, task, view.deals[0].other.n_entries)
                    for e in range(first, end):
                        if n_rounds == 2 and _skipped(plan, f, e):
                            continue
                        of_round = last if n_rounds == 2 else f
                        next_ = _next_board(view.rounds[1], work[1][p], of_round, view.deals[0], e)
                        if n_rounds == 2:
                            _last_board(top, next_, view.deals[0], e)
                        else:
                            _middle_board(plan, top, next_, view, work[2][p], e, last)
                            if plan.kept_second >= 0:
                                _keep(plan, p, next_)
                        _collect(view.deals[0].own, e, top, next_, thread.tasks, to)
                    if task >= thread.n_in_memory:
                        child = view.deals[0].other.child
                        start, stop = int64_at(child, first), int64_at(child, end - 1)
                        if n_rounds == 3:
                            below = view.deals[1].other
                            start, stop = int64_at(below.first, start), int64_at(below.first, stop + 1)
                            start, stop = int64_at(below.child, start), int64_at(below.child, stop - 1)
                        _release(view.rounds[n_rounds - 1], start, stop)
                    task = _claim(thread, i)
                met = _add_tasks(thread, work[0][p].continuation, n_values, met)
                stands_for = _stands_for(plan, f) if n_rounds == 2 else 1
                probability: Any = np.float32(view.deals[0].own.probability * stands_for)
                backward_values(top, probability, False)
            if thread.number == 0 and look(thread.counters, ASKED):
                take(thread.counters, STOP)
            met = meet(thread.counters, thread.n_threads, met)
            if f.mode == BEST and p == 1:
                met = _measure(plan, ranges, view.rounds[0], work[0], thread, met, began)
            if look(thread.counters, STOP):
                return i + 1
        return n_passes

    return run


RUNNERS = tuple(_runner(n_rounds) for n_rounds in (1, 2, 3))
"""Kernels for games of one, two and three rounds."""


@inlined
def _stands_for(plan: Plan, f: PassFactors) -> int:
    """Number of groups of the last round's boards for which the group that a pass visits stands."""
    return plan.groups if f.mode == UPDATE else 1


@inlined
def _skipped(plan: Plan, f: PassFactors, e: int) -> bool:
    """Whether a pass skips the board of the last round to which link e of its deal leads."""
    return f.mode == UPDATE and (f.iteration + e) % plan.groups != 0


@inlined
def _of_last_round(plan: Plan, f: PassFactors) -> PassFactors:
    """Return the factors of a pass on boards of the last round, whose iterations are fewer if there are groups."""
    return _numbered(plan, f.mode, f.iteration // plan.groups if f.mode == UPDATE else f.iteration)


@inlined
def _next_board(x: RoundView, work: Workspace, f: PassFactors, deals: Deals, e: int) -> Cursor:
    return Cursor(x, work, f, int64_at(deals.other.child, e), 0, 1)


@inlined
def _entry(above: Cursor, deals: Deals, e: int) -> Entry:
    parent_row = deals.other.parent_row + 4 * int64_at(deals.other.first_row, e)
    return Entry(above.work.exits, above.round.program.exit_width, parent_row)


@inlined
def _last_board(above: Cursor, c: Cursor, deals: Deals, e: int) -> None:
    forward_reach(c, _entry(above, deals, e))
    showdown_totals(c)
    backward_values(c, ZERO, True)


@inlined
def _middle_board(
    plan: Plan, above: Cursor, c: Cursor, view: GameView, work: Workspace, entry: int, last: PassFactors
) -> None:
    """Do all steps of a pass on a second-round board, and on all boards that follow it, in a game of three rounds."""
    forward_reach(c, _entry(above, view.deals[0], entry))
    opposing_totals(c)
    _clear_values(c.work.continuation, 0, _n_values(c))
    deals = view.deals[1]
    for e in range(int64_at(deals.other.first, c.board), int64_at(deals.other.first, c.board + 1)):
        if _skipped(plan, c.factors, e):
            continue
        next_ = _next_board(view.rounds[2], work, last, deals, e)
        _last_board(c, next_, deals, e)
        _collect(deals.own, e, c, next_, c.work.continuation, 0)
    probability: Any = np.float32(deals.own.probability * _stands_for(plan, c.factors))
    backward_values(c, probability, False)


@inlined
def _keep(plan: Plan, p: int, c: Cursor) -> None:
    """Copy traverser p's values at a second-round board's chance leaves to ``plan.kept``, in a game of three rounds."""
    start = WIDTH * int64_at(c.round.own.first_block, c.board) * c.round.program.exit_width
    start += plan.kept_second * p
    for at in range(0, _n_values(c), TILE):
        store(plan.kept, start + at, load8(c.work.continuation, at))


@inlined
def _measure(
    plan: Plan,
    ranges: Ranges,
    x: RoundView,
    work: tuple[Workspace, Workspace],
    thread: Thread,
    met: int,
    began: float,
) -> int:
    """Compute both best-response values in thread 0, and signal all threads to stop if the plan's target is reached.

    The values are written to a row of ``plan.measured``. NaN also stops the plan; the caller reports it as an error.
    Threads meet at barrier ``met``; the function returns the number of the next barrier.
    """
    if thread.number == 0:
        stride = x.program.root_width
        first = ranges.scale * _dot(ranges.reach0, work[0].roots, stride, ranges.n_rows0)
        second = ranges.scale * _dot(ranges.reach1, work[1].roots, stride, ranges.n_rows1)
        number, ended = take(thread.counters, JUDGED), now()
        put_float64(plan.measured, 4 * number, first)
        put_float64(plan.measured, 4 * number + 1, second)
        put_float64(plan.measured, 4 * number + 2, ended)
        put_float64(plan.measured, 4 * number + 3, ended - began)
        if not (first + second) / 2 > plan.target:
            take(thread.counters, STOP)
    return meet(thread.counters, thread.n_threads, met)


@inlined
def _dot(weights: Address, values: Address, stride: int, n: int) -> float:
    """Return ``Σ weights[row] · values[row · stride]`` over n rows, in double precision."""
    total = 0.0
    for row in range(n):
        total += float32_at(weights, row) * np.float64(float32_at(values, row * stride))
    return total


@inlined
def _n_passes(plan: Plan) -> int:
    n = plan.n_iterations
    return 2 * n if plan.every == 0 else 2 * (n + (n + plan.every - 1) // plan.every)


@inlined
def _factors(plan: Plan, i: int, n_passes: int) -> PassFactors:
    at, mode = i // 2, plan.mode
    if plan.every > 0:
        n_measured = i // (2 * plan.every + 2)
        if i - n_measured * (2 * plan.every + 2) >= 2 * plan.every or i >= n_passes - 2:
            mode = BEST
        at = min(at - n_measured, plan.n_iterations - 1)
    return _numbered(plan, mode, plan.done + at)


@inlined
def _numbered(plan: Plan, mode: int, at: int) -> PassFactors:
    """Return the factors of the iteration with the index ``at`` in the plan's numbers."""
    predicted: Any = np.float32(plan.predicted)
    return PassFactors(
        mode,
        at,
        float32_at(plan.numbers, 6 * at),
        float32_at(plan.numbers, 6 * at + 1),
        plan.clip,
        float32_at(plan.numbers, 6 * at + 2),
        float32_at(plan.numbers, 6 * at + 5),
        int32_at(plan.dither, at),
        float32_at(plan.numbers, 6 * at + 3),
        predicted,
        float32_at(plan.numbers, 6 * at + 4),
    )


@inlined
def _claim(thread: Thread, i: int) -> int:
    """Claim the next task of pass i for a thread; ``thread.n_tasks`` or more means that no task remains.

    The counter runs on from pass to pass: in each pass every thread makes one claim that gets no task.
    """
    claimed: int = take(thread.counters, CLAIMS)
    return claimed - i * (thread.n_tasks + thread.n_threads)


@inlined
def _entries(thread: Thread, task: int, n_entries: int) -> tuple[int, int]:
    """Return the links of the first deal that belong to a task: its first link, and the first link of the next task.

    A task is a group of boards after the first deal; each of the ``n_entries`` links leads to one of these boards.
    """
    return task * n_entries // thread.n_tasks, (task + 1) * n_entries // thread.n_tasks


@inlined
def _release(x: RoundView, first: int, last: int) -> None:
    """Release the memory of file-mapped regrets and sums of boards ``first`` to ``last``; the files keep them."""
    n_bytes = WIDTH * size_of(x.kind)
    own, other = n_bytes * x.program.n_own_slots, n_bytes * x.program.n_other_slots
    start, stop = int64_at(x.own.first_block, first), int64_at(x.own.first_block, last + 1)
    release_pages(x.own_current, own * start, own * stop)
    release_pages(x.own_regrets, own * start, own * stop)
    start, stop = int64_at(x.other.first_block, first), int64_at(x.other.first_block, last + 1)
    release_pages(x.other_current, other * start, other * stop)
    release_pages(x.other_sums, other * start, other * stop)


@inlined
def _n_values(c: Cursor) -> int:
    """Number of the traverser's values at a board's chance leaves: rows times chance leaves, both with padding."""
    first = int64_at(c.round.own.first_block, c.board)
    n_blocks: int = int64_at(c.round.own.first_block, c.board + 1) - first
    return WIDTH * n_blocks * c.round.program.exit_width


@inlined
def _clear_values(values: Address, start: int, n: int) -> None:
    for at in range(start, start + n, TILE):
        store(values, at, fill8(ZERO))


@inlined
def _collect(deal: DealTable, entry: int, above: Cursor, c: Cursor, values: Address, start: int) -> None:
    """Add a board's root values to the values at the chance leaves from which the board is dealt.

    The link that leads to the board stands for one or several dealt boards that are equal up to suits; the values are
    added once for each dealt board. ``values`` is flat ``[row of the previous round, chance leaf]`` from ``start`` on.
    """
    count, stride = int64_at(above.round.own.count, above.board), above.round.program.exit_width
    for m in range(int64_at(deal.first_image, entry), int64_at(deal.first_image, entry + 1)):
        for h in range(count):
            row = int32_at(deal.child_row, m * deal.child_row_width + h)
            if row >= 0:
                to = start + h * stride
                for leaf in range(0, stride, TILE):
                    store(
                        values, to + leaf, load8(values, to + leaf) + load8(c.work.roots, row * stride + leaf)
                    )


@inlined
def _add_tasks(thread: Thread, total: Address, n: int, met: int) -> int:
    """Wait for all threads, then add up the n values of all tasks into ``total``; each thread adds its share of them.

    ``met`` is the number of the next barrier; the function returns this number after its own two barriers.
    """
    met = meet(thread.counters, thread.n_threads, met)
    n_tiles = n // TILE
    first, end = (
        thread.number * n_tiles // thread.n_threads,
        (thread.number + 1) * n_tiles // thread.n_threads,
    )
    for tile in range(first, end):
        at = TILE * tile
        value = load8(thread.tasks, at)
        for task in range(1, thread.n_tasks):
            value = value + load8(thread.tasks, task * n + at)
        store(total, at, value)
    return meet(thread.counters, thread.n_threads, met)
