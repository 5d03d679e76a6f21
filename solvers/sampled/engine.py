"""CFR by sampled boards: one deal of the whole board after another, every line of the betting on each.

An iteration deals a board for every round and walks the whole betting tree on it once for either player, with all
hands that the board leaves (public chance sampling: M. Johanson et al. 2012). Boards of a class share rows, hands of a
row share regrets. Regrets below 0 sink back to it (N. Brown and T. Sandholm 2019): floored there at once, as in CFR+,
what one sample has against an action is forgotten before the next speaks for it, and bad actions are played by chance.
The average strategy weighs later visits of a class more.

Who is second on a deal learns against what the first has just learnt of the same boards, as if these were foreseen,
and would give up too much if it always were the same player: they take turns. Boards of their own for either player
would do without that, and are worse: too much that is made of a board is best answered on that board.

Learning may be *against answers*: the opponent's play on the last round is then, in part, what it would best do on the
dealt board (`solvers.sampled.answer`). That is learnt from and never saved.

Threads share regrets and sums without locks: an update of one may undo a simultaneous one of another, which is rare
and does no harm (F. Niu et al., "Hogwild!", 2011). One thread gives the same numbers, bit for bit, whenever it is given
the same deals in portions of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np

from compiled.records import Packed
from solvers.discount import Discount
from solvers.sampled.boards import paths
from solvers.sampled.context import Context
from solvers.sampled.numbers import Numbers
from solvers.sampled.strips import all_strips
from solvers.tree import Forest, Ints

PORTION, TURNS = 16, 4
"""Deals that a thread is given at once, at most; and how often each is given some, at least, where they are enough."""

DEFAULT_DISCOUNT = Discount(beta=0.5, gamma=2.0)
"""Earlier visits of a class are not discounted, but negative regrets sink back to 0."""


class Dealt(Protocol):
    """Deals as `paths` takes them; hands ascend by strength."""

    @property
    def classes(self) -> Ints:
        """``[deal, round]``."""
        ...

    @property
    def rows(self) -> Ints:
        """``[deal, round, hand]``."""
        ...

    @property
    def cards(self) -> Ints:
        """``[deal, hand, 2]``: numbers among the cards that the board leaves."""
        ...

    @property
    def strength(self) -> Ints:
        """``[deal, hand]``."""
        ...


Dealer = Callable[[int, int], Dealt]
"""Gives deals ``first .. first + n - 1`` of an endless sequence; asked by several threads at once."""


class SampledCfr:
    """A solve by sampled boards in progress.

    Args:
        forests: the betting, round by round.
        n_classes: per round.
        n_rows: per round, of every class.
        n_hands: that a deal leaves.
        n_cards: that a deal leaves.
        deal: the deals.
        discount: how much earlier visits count.
        cfr_br: share of the opponent's play on the last round that is its best answer, see `solvers.sampled.answer`.
        threads: how many walk at once.
        short: whether numbers are kept in 16 bits.
        numbers: what was learnt before, which goes on growing; None: nothing.

    Attributes:
        iteration: deals that are done; the next one's number.
        numbers: what is learnt.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        n_classes: Sequence[int],
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
    ) -> None:
        self.strips = all_strips(forests)
        self.numbers = numbers or Numbers.zeros(self.strips, n_classes, n_rows, short=short)
        self.iteration = 0
        n_rounds = len(forests)
        context = Context(
            forests,
            self.strips,
            n_rows,
            self.numbers,
            [n_hands] * n_rounds,
            n_cards,
            [1.0] * n_rounds,
            gains(forests, n_rows, n_hands),
        )
        self._context, self._deal, self._n_cards = context, deal, n_cards
        self._discount, self._cfr_br = discount, cfr_br
        self._buffers = [
            (context.packed_workspaces(mirrored=cfr_br > 0), context.out()) for _ in range(threads)
        ]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def threads(self) -> int:
        """How many walk at once."""
        return len(self._buffers)

    def run(self, n: int) -> None:
        """Do so many deals more."""
        portions = portions_of(self.iteration, n, self.threads)
        if self._pool is None:
            self._work(0, portions)
        else:
            waiting = iter(portions)  # whoever is free takes the next one
            jobs: list[Future[None]] = []
            try:
                for thread in range(self.threads):
                    jobs.append(self._pool.submit(self._work, thread, waiting))
                for job in jobs:
                    job.result()
            finally:  # after an error, too, no thread goes on learning when this method returns
                for _ in waiting:
                    pass
                wait(jobs)
        self.iteration += n

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _work(self, thread: int, portions: Iterable[tuple[int, int]]) -> None:
        works, out = self._buffers[thread]
        for first, n in portions:
            dealt = self._deal(first, n)
            boards = paths(dealt.classes, dealt.rows, dealt.cards, dealt.strength, self._n_cards)
            self._context.learn(self._discount, self._cfr_br, works, Packed(boards), n, out, first)


def portions_of(first: int, n: int, threads: int) -> list[tuple[int, int]]:
    """Cut deals into portions, first deal and number of each, such that no thread waits long for another.

    >>> portions_of(10, 5, 2), portions_of(0, 40, 1)
    ([(10, 1), (11, 1), (12, 1), (13, 1), (14, 1)], [(0, 10), (10, 10), (20, 10), (30, 10)])
    """
    few, end = max(1, min(PORTION, n // (TURNS * threads))), first + n
    return [(begin, min(few, end - begin)) for begin in range(first, end, few)]


def gains(forests: Sequence[Forest], n_rows: Sequence[int], n_hands: int) -> list[float]:
    """What regrets are scaled by, per round: so that the most that a visit can change one by is some hundreds.

    A row's values are sums over its hands and over the opposing ones, in chips.
    """
    most = max(float(np.abs(forest.arrays.stake).max(initial=0.0)) for forest in forests)
    return [256.0 * n / (max(most, 1e-9) * n_hands * n_hands) for n in n_rows]
