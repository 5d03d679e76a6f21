"""CFR over sampled boards: each iteration deals one full board and plays every betting line on it.

An iteration deals a board for every round and traverses the whole betting tree on it once for each player, with all
hands that are possible on the board (public chance sampling: M. Johanson et al. 2012). Boards of one bucket share rows,
and hands of one row share regrets. Negative regrets decay to 0 (N. Brown and T. Sandholm 2019). If they were set to 0
at once, as in CFR+, the evidence of one sample against an action would be lost before the next sample, and bad actions
would be played by chance. In the average strategy, later visits of a board bucket weigh more.

On each deal the second player learns against the strategy that the first player has just learnt on the same boards, as
if the first player had foreseen the boards. This biases the second player, so each player is the second on every other
deal. Separate boards for both players would avoid the bias, but they give worse results: a mistake that came from a
board is best corrected on the same board.

With CFR-BR each player learns against an opponent who partly plays as a rival, with best responses on the last round
(`solvers.sampled.learn`). Rivals have regrets, but no averages.

Threads share regrets and averages without locks: an update may undo a simultaneous update of another thread, which is
rare and does no harm (F. Niu et al., "Hogwild!", 2011). One thread gives the same bits for the same deals, however the
deals are cut into tasks.

`SampledCfr` deals boards and learns; a `Context` has the betting steps, the numbers and the buffers with which kernels
learn (`learn_paths`) or measure (`walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np

from compiled.precision import HALF, SINGLE
from compiled.records import Packed
from compiled.vector import WIDTH, aligned
from solvers.discount import Discount
from solvers.errors import SolverError
from solvers.sampled.batches import LineBatches, line_batches
from solvers.sampled.boards import paths
from solvers.sampled.learn import Deals, Packs, learn_paths
from solvers.sampled.numbers import Arrays, Numbers
from solvers.sampled.program import program, sizes
from solvers.sampled.respond import Walk, walk
from solvers.sampled.views import BLOCK, RoundView, Workspace
from solvers.stopping import Stopped, go_on, never
from solvers.tree import Floats, Forest, Ints

TASK_DEALS, TASKS_PER_THREAD = 16, 4
"""Largest number of deals that a thread takes at a time, and smallest number of such tasks per thread."""

LARGEST_SUM = 32768.0
"""Stored average of an action that is always taken, for a row that contains all hands."""

BOARDS_AT_ONCE = 8
"""Number of boards between two calls of ``stopped``; a board of hold'em takes up to a few hundredths of a second."""

DEFAULT_DISCOUNT = Discount(beta=0.5, gamma=2.0)
"""Default discount: positive regrets of earlier visits keep their weight, and negative regrets decay to 0."""


class Dealt(Protocol):
    """Boards of several deals, as `paths` takes them; the hands of each deal ascend by strength."""

    @property
    def board_buckets(self) -> Ints: ...

    @property
    def rows(self) -> Ints: ...

    @property
    def cards(self) -> Ints: ...

    @property
    def strength(self) -> Ints: ...


Dealer = Callable[[int, int], Dealt]
"""Function of ``first`` and ``n`` that returns deals ``first .. first + n - 1`` of an endless sequence.

Several threads may call the function at the same time.
"""


class SampledCfr:
    """A solve by CFR over sampled boards, in progress.

    Args:
        forests: the betting of each round.
        n_board_buckets: number of board buckets, per round.
        n_rows: number of rows of a board bucket, per round.
        n_hands: number of hands that are possible on a full board.
        n_cards: number of cards that are not on a full board.
        cfr_br: share of the opponents' play that is a rival's (CFR-BR), 0 to 1.
        short: whether regrets and averages have 16 bits instead of 32.
        numbers: regrets and averages to continue from, with those of rivals if ``cfr_br`` > 0; None: start with zeros.
        ranges: both players' ranges at the start of the first round, each ``[row]``: the weight of each hand of a row;
            None: all weights are 1.

    Attributes:
        iteration: number of deals that are done, which is also the number of the next deal.
        numbers: regrets, averages and visit counts.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        n_board_buckets: Sequence[int],
        n_rows: Sequence[int],
        n_hands: int,
        n_cards: int,
        deal: Dealer,
        *,
        discount: Discount = DEFAULT_DISCOUNT,
        cfr_br: float = 0.0,
        threads: int = 1,
        short: bool = False,
        numbers: Numbers | None = None,
        ranges: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.batches = line_batches(forests)
        self.numbers = numbers or Numbers.zeros(
            self.batches, n_board_buckets, n_rows, short=short, rivals=cfr_br > 0
        )
        self.iteration = 0
        n_rounds = len(forests)
        context = Context(
            forests,
            self.batches,
            n_rows,
            self.numbers,
            [n_hands] * n_rounds,
            n_cards,
            [1.0] * n_rounds,
            gains(forests, n_rows, n_hands),
            ranges,
        )
        self._context, self._deal, self._n_cards = context, deal, n_cards
        self._discount, self._cfr_br = discount, float(cfr_br)  # an int would compile the kernel once more
        self._buffers = [context.packed_workspaces(rivals=cfr_br > 0) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def threads(self) -> int:
        return len(self._buffers)

    def run(self, n: int) -> None:
        """Learn from the next n deals."""
        tasks = tasks_of(self.iteration, n, self.threads)
        if self._pool is None:
            self._work(0, tasks)
        else:
            waiting = iter(tasks)  # the thread that is free next takes the next task
            jobs: list[Future[None]] = []
            try:
                for thread in range(self.threads):
                    jobs.append(self._pool.submit(self._work, thread, waiting))
                for job in jobs:
                    job.result()
            finally:  # also after an error, no thread learns once this method has returned
                for _ in waiting:
                    pass
                wait(jobs)
        self.iteration += n

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _work(self, thread: int, tasks: Iterable[tuple[int, int]]) -> None:
        for first, n in tasks:
            dealt = self._deal(first, n)
            boards = paths(dealt.board_buckets, dealt.rows, dealt.cards, dealt.strength, self._n_cards)
            self._context.learn(self._discount, self._cfr_br, self._buffers[thread], Packed(boards), n, first)


def tasks_of(first: int, n: int, threads: int) -> list[tuple[int, int]]:
    """Split deals into tasks (first deal, number of deals), so that no thread waits long for another.

    >>> tasks_of(10, 5, 2), tasks_of(0, 40, 1)
    ([(10, 1), (11, 1), (12, 1), (13, 1), (14, 1)], [(0, 10), (10, 10), (20, 10), (30, 10)])
    """
    size, end = max(1, min(TASK_DEALS, n // (TASKS_PER_THREAD * threads))), first + n
    return [(begin, min(size, end - begin)) for begin in range(first, end, size)]


def gains(forests: Sequence[Forest], n_rows: Sequence[int], n_hands: int) -> list[float]:
    """Return the scale factor of regrets in each round, with which a visit changes a regret by a few hundred at most.

    Without the factor, regrets are in chips, summed over the hands of a row and over the opponent's hands.
    """
    most = max(float(np.abs(forest.arrays.stake).max(initial=0.0)) for forest in forests)
    return [256.0 * n / (max(most, 1e-9) * n_hands * n_hands) for n in n_rows]


class Context:
    """Runs passes over boards of one game, with one set of regrets and averages.

    Args:
        n_rows: number of rows of a board bucket, per round.
        numbers: regrets and averages to learn or to measure.
        most_hands: largest number of hands that are possible on a board, per round.
        most_cards: largest number of cards that are not on a board.
        probabilities: probability of a board given both hands and the previous board, per round; 1 if boards are drawn.
        gains: factor of instantaneous regrets, per round.
        ranges: both players' ranges at the start of the first round, each ``[row]``; None: all weights are 1.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        n_rows: Sequence[int],
        numbers: Numbers,
        most_hands: Sequence[int],
        most_cards: int,
        probabilities: Sequence[float],
        gains: Sequence[float],
        ranges: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.n_rounds = len(forests)
        self._sizes = [sizes(s) for s in batches]
        self._n_rows, self._most_hands, self._most_cards = n_rows, most_hands, most_cards
        programs = [
            [program(f, s, n, p) for p in (0, 1)] for f, s, n in zip(forests, batches, n_rows, strict=True)
        ]
        kind = HALF if numbers.short else SINGLE
        even = np.ones(n_rows[0])
        weights = [np.array(weights, dtype=np.float32) for weights in ranges or (even, even)]

        def views(p: int, own: Sequence[Arrays], other: Sequence[Arrays], counted: int) -> Packed:
            q = 1 - p
            return Packed(
                tuple(
                    RoundView(
                        programs[t][p],
                        kind,
                        np.float32(gains[t]),
                        np.float32(LARGEST_SUM / max(most_hands)),
                        own[t][p],
                        other[t][q],
                        numbers.sums[t][q],
                        numbers.visits[t][counted],
                        numbers.ahead[t][counted],
                        np.float32(probabilities[t]),
                        weights[q],
                    )
                    for t in range(self.n_rounds)
                )
            )

        regrets, sums = numbers.regrets, numbers.sums
        rivals = [arrays[2:] or arrays for arrays in regrets]  # on the last round rivals need no regrets
        self._learning = views(0, regrets, regrets, 0), views(1, regrets, regrets, 1)
        self._rivals = views(0, rivals, regrets, 1), views(1, rivals, regrets, 0)
        self._judging = views(0, sums, sums, 0), views(1, sums, sums, 1)
        self._n_batches = [len(s) for s in batches]

    def packed_workspaces(self, *, rivals: bool = False) -> Packs:
        """Allocate one thread's buffers to learn from deals; with ``rivals``, also those of a rival."""
        parts = self.workspaces()
        packed = Packed(parts)
        if not rivals:
            return packed, packed
        return packed, Packed(tuple(self._rivals_workspace(t, part) for t, part in enumerate(parts)))

    def workspaces(self) -> tuple[Workspace, ...]:
        """Allocate one thread's buffers of each round, as arrays."""
        return tuple(self._workspace(t) for t in range(self.n_rounds))

    def out(self) -> np.ndarray:
        """Allocate a flat array ``[batch][hand][lane]`` for the values of the hands on a board of the first round."""
        return aligned(WIDTH * self._n_batches[0] * self._most_hands[0])

    def learn(
        self,
        discount: Discount,
        cfr_br: float,
        works: Packs,
        boards: Packed,
        n: int,
        number: int,
    ) -> None:
        """Update regrets and averages from n deals; ``boards`` comes from `paths`, ``works`` from `packed_workspaces`.

        ``number`` is the number of the first deal, counted from the start of the solve.
        """
        views = self._learning, self._rivals
        job = Deals(discount, cfr_br, *views, works, boards, self.n_rounds)
        learn_paths(job, 0, n, number)

    def values(
        self,
        p: int,
        works: Packed,
        boards: Packed,
        n_boards: int,
        out: np.ndarray,
        *,
        best_from: int = 0,
        own: bool = False,
        stopped: Stopped = never,
    ) -> Floats:
        """Counterfactual values of player p's hands on the first board against the opponent's average strategy.

        From round ``best_from`` on player p plays a best response, and in earlier rounds p's own average strategy. With
        ``own`` the pass also computes the values when p follows its average strategy throughout. These are left in the
        first round's `Workspace`: ``own_values`` has the values at the start of the round (of the last batch of lines
        only), and ``hand_exits`` the values at the chance leaves to the second round, multiplied by p's reach.

        Returns:
            An array ``[batch, hand, lane]``: the value of each hand on each line, for batches of 16 lines.
        """
        if best_from >= self.n_rounds or (own and best_from > 0):
            raise SolverError(
                f"best_from: expected a round from which best responses begin, found {best_from}"
            )
        job = Walk(best_from, own, self._judging[p], works, boards, self.n_rounds, out.ctypes.data)
        depth = -1
        for first in range(0, n_boards, BOARDS_AT_ONCE):
            go_on(stopped)
            last = min(first + BOARDS_AT_ONCE, n_boards)
            depth = walk(job, first, last, depth, last == n_boards)
        return out.reshape(-1, self._most_hands[0], WIDTH).astype(np.float64)

    def _rivals_workspace(self, t: int, players: Workspace) -> Workspace:
        """Allocate a rival's buffers of round t; some arrays are shared with the player's buffers ``players``."""
        board = (
            *(
                "counts",
                "held",
                "places",
                "n_places",
                "holders",
                "n_holders",
                "group_of",
                "row_hands",
                "edge",
            ),
            *("segment_end", "segment_row", "segment_level", "tie_end", "open"),
        )
        shared = {
            name: getattr(players, name)
            for name in (*board, "nodes", "hand_values", "own_values", "continuation")
        }
        return self._workspace(t)._replace(other=players.own, **shared)

    def _workspace(self, t: int) -> Workspace:
        size, n_hands, n_rows = self._sizes[t], self._most_hands[t], self._n_rows[t]
        last = t == self.n_rounds - 1
        n_groups, n_batches = (max(n_rows, n_hands), 1) if last else (n_rows, self._n_batches[t])
        places = (self._most_cards + 2) | 1
        hands, rows, n_endings = WIDTH * n_hands, WIDTH * n_rows, 2 * size.n_endings
        n_wide, n_ends = rows * size.n_sequences, rows * size.n_batch_exits

        def longs(n: int) -> np.ndarray:
            return np.zeros(n, dtype=np.int64)

        def ints(n: int) -> np.ndarray:
            return np.zeros(n, dtype=np.int32)

        return Workspace(
            n_most=n_hands,
            n_wide=n_wide,
            n_ends=n_ends,
            n_groups=n_groups,
            reach=_padded(n_batches * hands),
            groups=aligned(WIDTH * n_groups * places + WIDTH),
            other=_padded(n_batches * n_wide),
            own=_padded(n_batches * n_wide),
            row_reach=aligned(rows),
            totals=aligned(WIDTH * (4 * size.n_endings + 8) * places),
            counts=aligned(n_groups * places),
            held=ints(n_groups * places),
            group_of=ints(n_hands),
            row_hands=ints(n_rows),
            edge=aligned(n_hands),
            places=ints(n_groups * places),
            n_places=ints(n_groups),
            holders=ints(n_groups * places),
            n_holders=ints(places),
            values=aligned(rows * n_endings),
            node=aligned(WIDTH * size.n_nodes),
            nodes=aligned(WIDTH * BLOCK * size.n_nodes),
            mixed=aligned(WIDTH * n_groups * places),
            same=aligned(WIDTH * n_groups),
            within=aligned(hands),
            within_sums=aligned(WIDTH * n_groups),
            inside=aligned(WIDTH * n_groups),
            weights=aligned(rows * n_endings),
            row_exits=aligned(n_batches * n_ends),
            hand_values=_padded(hands),
            own_values=_padded(hands),
            hand_exits=aligned(n_batches * hands),
            continuation=aligned(hands * size.n_exits),
            segment_end=longs(n_groups),
            segment_row=longs(n_groups),
            segment_level=longs(n_groups),
            tie_end=ints(n_hands),
            open=longs(1),
            offsets=longs(3 * WIDTH),
        )


def _padded(size: int) -> np.ndarray:
    """Allocate zeros with 16 spare numbers on both sides, since kernels read vectors that reach beyond the array."""
    return aligned(size + 2 * WIDTH)[WIDTH : WIDTH + size]
