"""Named tuples that kernels of `solvers.exact.passes` receive: the passes to do, the game, and each thread's share."""

from __future__ import annotations

from typing import NamedTuple

from compiled.vector import Address
from solvers.exact.tables import DealTable
from solvers.exact.views import Entry, RoundView, Workspace


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
        rounds: `RoundView` of each round.
        deals: `Deals` from each round to the next round.
    """

    entry: Entry
    rounds: tuple[RoundView, ...]
    deals: tuple[Deals, ...]


class Plan(NamedTuple):
    """Passes that one call of a kernel does: a pass for traverser 0, a pass for traverser 1, and so on.

    Attributes:
        mode: `UPDATE` changes regrets; `BEST` and `EVALUATE` measure, in a plan of one iteration.
        n_iterations: number of iterations.
        every: number of iterations between two measurements of both best responses, with one more measurement at the
            end; 0: no measurements.
        numbers: ``[iteration, 5]``, the fields positive, negative, decay, ahead and gain of `PassFactors`.
        dither: ``[iteration]``, the fraction of the last bit that is added before 16-bit numbers are rounded.
        clip: whether negative regrets become 0.
        target: exploitability in chips at which a measurement ends the plan.
        measured: ``[measurement, 4]``, results: both best responses in chips, the time, and the seconds that measuring
            took.
        kept: in games of three rounds, output: each traverser's values at the chance leaves of the second round, before
            they are multiplied by the probability of a board. Flat ``[board, traverser's row, chance leaf]`` for
            traverser 0, then for traverser 1.
        kept_second: offset of traverser 1's values in ``kept``; -1: ``kept`` is not used.
    """

    mode: int
    n_iterations: int
    every: int
    numbers: Address
    dither: Address
    clip: bool
    target: float
    measured: Address
    kept: Address
    kept_second: int


class Ranges(NamedTuple):
    """Both players' initial ranges, by which a measurement weights the values at the root.

    Attributes:
        reach0, reach1: ``[row]``, the initial ranges of players 0 and 1.
        n_rows0, n_rows1: number of rows of each range.
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
        n_threads: number of threads.
        number: number of this thread.
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
        ranges: weights of the values at the root.
        thread: number and tasks of the thread among all threads.
    """

    work: tuple[tuple[Workspace, Workspace], ...]
    ranges: Ranges
    thread: Thread
