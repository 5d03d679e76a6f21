"""A copy of a solve by deals, in a worker of a cluster: it learns for an interval, apart from the others.

What goes back and forth are classes of boards (`spewy.learn.exchange`): those that others have changed come before an
interval, those that the copy has visited go after it. A worker keeps its copy between intervals, so that only what is
new is sent; one that is asked to go on from what it does not have says so, and is sent everything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.sampled.engine import Dealt
from solvers.sampled.numbers import Numbers
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.game.gamefile import Game
from spewy.learn.deal_shares import Interval, Shares
from spewy.learn.engine import Stop
from spewy.learn.exchange import Part, added, copied, put
from spewy.learn.sampled import SampledEngine
from spewy.records.response_cache import FlopFinding

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

MOST_COPIES = 2
"""That a worker keeps, of as many solves; the one that was used longest ago goes."""
NOTHING = 0
"""The exchange after which copies have learnt nothing."""


@dataclass(frozen=True)
class Setup:
    """What a copy is opened with.

    Attributes:
        solve: its name, of no other solve.
        game, rounds, abstraction, seed, short, cfr_br: as `SampledEngine` takes them.
    """

    solve: str
    game: Game
    rounds: Sequence[LineForest]
    abstraction: Abstraction
    seed: int
    short: bool
    cfr_br: float


class Asked(NamedTuple):
    """What a copy is to learn: a share of an interval, or one of several parts of it, in turn.

    Attributes:
        interval, share: of which deals.
        step, steps: which of so many equal parts. All but the last tell the rounds of a single class alone, which
            every deal visits; the last tells all that has been learnt of the others since the first.
    """

    interval: Interval
    share: int
    step: int = 0
    steps: int = 1


class Share(NamedTuple):
    """What a copy has learnt.

    Attributes:
        asked: what it was asked for.
        parts: of the classes that were visited, as `spewy.learn.exchange.added` tells them.
        seconds: that learning took.
    """

    asked: Asked
    parts: list[Part]
    seconds: float


class Order(NamedTuple):
    """What a copy is to be before it begins.

    Attributes:
        solve: whose.
        before: the exchange after which it stands.
        after: the exchange after which it stands with the parts that come with this.
    """

    solve: str
    before: int
    after: int


class Copy(SampledEngine):
    """A copy of a solve."""

    def __init__(self, setup: Setup, threads: int) -> None:
        super().__init__(
            setup.game,
            setup.rounds,
            setup.abstraction,
            setup.seed,
            threads=threads,
            short=setup.short,
            cfr_br=setup.cfr_br,
            opened=None,
        )
        self.stands = NOTHING
        self.shares = Shares(setup.abstraction, setup.seed)
        self._deals, self._first = np.zeros(0, dtype=np.int64), 0
        self._before: list[list[Part]] = []
        self._seen: list[Ints] = []
        self._done: Asked | None = None
        self._lock = threading.Lock()

    def catch_up(self, order: Order, parts: Sequence[Part]) -> bool:
        """Take what others have changed; whether it could."""
        if order.before == NOTHING:
            for whole in _arrays(self.numbers):
                whole.fill(0)
        elif self.stands != order.before:
            return False
        for part in parts:
            put(self.numbers, part)
        self.stands = order.after
        return True

    def learn(self, asked: Asked) -> Share | None:
        """Do the deals of a share, or of a part; what they have brought. None: it has not done the part before."""
        begun = time.perf_counter()
        interval, share, step, steps = asked
        if step == 0:
            self._cut = self.shares.cut(interval)
            self._deals, self._first = self._cut.deals(share), interval.first
            self._before = [[] for _ in self.numbers.visits]
            self._seen = [np.zeros(visits.shape[1], dtype=np.bool_) for visits in self.numbers.visits]
        elif self._done != asked._replace(step=step - 1):
            return None
        first, last = (i * len(self._deals) // steps for i in (step, step + 1))
        self._cfr.iteration = self._first + first
        self._cfr.run(last - first)
        self._done = asked
        parts = []
        for t, seen in enumerate(self._seen):
            if step < steps - 1 and len(seen) > 1:
                continue
            seen[:] = False
            while self._before[t]:
                before = self._before[t].pop()
                after = copied(self.numbers, t, before.classes)
                parts.append(added(before, after, self.discount, alone=self._cut.alone[t][before.classes]))
        return Share(asked, parts, time.perf_counter() - begun)

    def _dealt(self, first: int, n: int) -> Dealt:
        """Of the deals of the share; their classes are remembered as they were before anybody has visited them."""
        dealt = self._abstraction.deal(self._seed, self._deals[first - self._first :][:n])
        with self._lock:
            for t, seen in enumerate(self._seen):
                classes = np.unique(dealt.classes[:, t])
                new = classes[~seen[classes]].astype(np.int64)
                if len(new):
                    seen[new] = True
                    self._before[t].append(copied(self.numbers, t, new))
        return dealt

    def flop(self, first: int, stop: Stop) -> FlopFinding:
        """Judge the averages on one first board.

        Raises:
            StoppedError: ``stop`` was set.
        """
        return self._real_game.flop(first, self._real_game.desk(), stop.is_set)


_copies: dict[str, Copy] = {}


def ordered(
    setup: Setup, order: Order, parts: Sequence[Part], own: Sequence[Part], threads: int
) -> Copy | None:
    """This worker's copy as it is ordered; None: it has none to go on from.

    Args:
        setup: what a new one is opened with.
        order: what it is to be.
        parts: what several copies visit, and some lack.
        own: what it lacks beside them.
        threads: that it learns with.
    """
    copy = _copies.pop(order.solve, None)
    if copy is None or copy.threads != threads:
        if order.before != NOTHING:
            return None
        while len(_copies) >= MOST_COPIES:
            _copies.pop(next(iter(_copies))).close()
        copy = Copy(setup, threads)
    _copies[order.solve] = copy
    return copy if copy.catch_up(order, [*parts, *own]) else None


def learn(
    setup: Setup,
    order: Order,
    parts: Sequence[Part],
    own: Sequence[Part],
    threads: int,
    asked: Asked,
) -> Share | None:
    """In a worker: do a share of an interval on a copy; None: it has none to go on from."""
    copy = ordered(setup, order, parts, own, threads)
    return None if copy is None else copy.learn(asked)


def catch_up(
    setup: Setup, order: Order, parts: Sequence[Part], own: Sequence[Part], threads: int
) -> bool | None:
    """In a worker: take what others have changed; None: there is nothing to go on from."""
    return None if ordered(setup, order, parts, own, threads) is None else True


def judge(parent: Stop, order: Order, first: int) -> FlopFinding | None:
    """Judge the averages on one first board, in a worker; None if the worker's copy does not have these averages."""
    copy = _copies.get(order.solve)
    return copy.flop(first, parent) if copy is not None and copy.stands == order.after else None


def forget(solve: str) -> None:
    """In a worker: let go of a copy."""
    copy = _copies.pop(solve, None)
    if copy is not None:
        copy.close()


def _arrays(numbers: Numbers) -> list[np.ndarray]:
    return [*(whole for pair in (*numbers.regrets, *numbers.sums) for whole in pair), *numbers.visits]
