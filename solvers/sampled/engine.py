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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np

from compiled.records import Packed
from solvers.discount import Discount
from solvers.sampled.batches import line_batches
from solvers.sampled.boards import paths
from solvers.sampled.context import Context
from solvers.sampled.numbers import Numbers
from solvers.tree import Floats, Forest, Ints

TASK_DEALS, TASKS_PER_THREAD = 16, 4
"""Largest number of deals that a thread takes at a time, and smallest number of such tasks per thread."""

DEFAULT_DISCOUNT = Discount(beta=0.5, gamma=2.0)
"""Default discount: positive regrets of earlier visits keep their weight, and negative regrets decay to 0."""


class Dealt(Protocol):
    """Boards of several deals, as `paths` takes them; the hands of each deal ascend by strength."""

    @property
    def board_buckets(self) -> Ints:
        """Board bucket of each deal in each round: ``[deal, round]``."""
        ...

    @property
    def rows(self) -> Ints:
        """Row of each hand in each round: ``[deal, round, hand]``."""
        ...

    @property
    def cards(self) -> Ints:
        """Cards of each hand, numbered among the cards that are not on the board: ``[deal, hand, 2]``."""
        ...

    @property
    def strength(self) -> Ints:
        """Strength of each hand on the full board: ``[deal, hand]``."""
        ...


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
        deal: function that deals the boards.
        discount: discount of earlier visits.
        cfr_br: share of the opponents' play that is a rival's (CFR-BR), 0 to 1.
        threads: number of threads.
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
        self._discount, self._cfr_br = discount, cfr_br
        self._buffers = [context.packed_workspaces(rivals=cfr_br > 0) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def threads(self) -> int:
        """Number of threads."""
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
        """Stop the threads."""
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
