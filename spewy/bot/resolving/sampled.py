"""Solve a betting round at the table by sampling: each iteration deals the cards of all later rounds at random.

The boards that can follow a flop are too many to be solved exactly in seconds. The sampled engine (`solvers.sampled`)
needs only a few hundred of them. The round itself has a strategy row for each hand. In later rounds the boards and
hands share strategies as in the stored strategy, by board bucket and row, so what is learnt on one board serves the
others. The bot plays only the round's own strategy: when the next cards come, it solves a new subgame.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from buckets.abstraction import Abstraction
from buckets.cards import blocked, hands
from compiled.vector import WIDTH
from solvers.errors import SolverError
from solvers.game import compatible_sums
from solvers.sampled.batches import line_batches
from solvers.sampled.engine import Dealt, SampledCfr
from solvers.sampled.numbers import bucket_size
from solvers.tree import Floats, Ints
from spewy.bot.resolving.budget import OutOfTimeError, Pace
from spewy.bot.resolving.builder import FEWEST_DEALS, Root, SubgameBuilder
from spewy.bot.resolving.resolve import BATCH, Limits, played
from spewy.errors import InputError

FIRST_DEALS = 8
"""Number of deals of each thread before the clock is read for the first time."""
LOCKED = 1e12
"""Sum of the regrets at a decision that is locked: so large that no deal changes the frequencies."""


class _Deals(NamedTuple):
    """Boards and hands of several deals, from the subgame's round on; implements `solvers.sampled.engine.Dealt`."""

    board_buckets: Ints
    rows: Ints
    cards: Ints
    strength: Ints


class _Dealer:
    """Deals the cards of later rounds at random; ``row`` is the row of each hand of the deck in the first round.

    It has no reference to the `SampledRound` that uses it: a cycle would keep the memory of an unused `SampledRound`.
    """

    def __init__(
        self, abstraction: Abstraction, first_round: int, board: tuple[int, ...], seed: int, row: Ints
    ) -> None:
        self._abstraction, self._first_round, self._board = abstraction, first_round, board
        self._seed, self._row = seed, row

    def __call__(self, first: int, n: int) -> Dealt:
        dealt = self._abstraction.deal(self._seed, range(first, first + n), start=self._board)
        later = slice(self._first_round, None)
        buckets, rows = dealt.board_buckets[:, later], dealt.rows[:, later]
        buckets[:, 0], rows[:, 0] = 0, self._row[dealt.hands]
        return _Deals(buckets, rows, dealt.cards, dealt.strength)


class SampledRound:
    """A betting round that is solved by sampling the cards of later rounds; implements `subgame.Solution`.

    Args:
        abstraction: board buckets and rows of later rounds.
        seed: seed of the deals, below 2 ** 63.
        threads: number of threads; with one thread, equal solves give identical results.
        kept: fixed frequencies ``[action, hand of the deck]`` of decisions, by line; NaN: not fixed.
    """

    def __init__(
        self,
        builder: SubgameBuilder,
        abstraction: Abstraction,
        root: Root,
        board: tuple[int, ...],
        ranges: tuple[Floats, Floats],
        seed: int,
        threads: int = 1,
        kept: Mapping[str, Floats] | None = None,
    ) -> None:
        self._builder, self._root, self._board = builder, root, board
        deck = hands(builder.game.deck, builder.game.num_hole_cards)
        self._hands: Ints = np.flatnonzero(~blocked(deck, board))
        self._row = np.zeros(len(deck), dtype=np.int16)
        self._row[self._hands] = np.arange(len(self._hands))
        forests, later = builder.forests(root), slice(root.round + 1, None)
        buckets = (1, *abstraction.n_board_buckets[later])
        rows = (len(self._hands), *abstraction.n_rows[later])
        batches = line_batches(forests)
        self._n_bytes = 8 * sum(
            n * bucket_size(each, p, k)
            for n, each, k in zip(buckets, batches, rows, strict=True)
            for p in (0, 1)
        )
        if self._n_bytes > builder.most_bytes:
            raise InputError(
                f"sampled subgame in round {root.round}: expected at most {builder.most_bytes / 2**20:,.0f} MiB, found "
                f"{self._n_bytes / 2**20:,.0f} MiB"
            )
        weights = [reach[self._hands] for reach in ranges]
        cards, n_left = deck[self._hands], len(abstraction.deck) - sum(abstraction.board_sizes)
        if (
            not weights[0]
            @ compatible_sums(cards, cards, weights[1], weights[1], max(builder.game.deck.cards) + 1)
            > 0
        ):
            raise SolverError("sampled subgame: every pair of hands in the two ranges shares a card")
        first, second = (each / each.max() for each in weights)
        self._cfr = SampledCfr(
            forests,
            buckets,
            rows,
            abstraction.n_hands,
            n_left,
            _Dealer(abstraction, root.round, board, seed, self._row),
            threads=threads,
            ranges=(first, second),
        )
        self._n_slots = forests[0].n_slots
        for line, frequencies in (kept or {}).items():
            self._lock(line, frequencies[:, self._hands])

    @property
    def iterations(self) -> int:
        return self._cfr.iteration

    @property
    def n_bytes(self) -> int:
        return self._n_bytes

    def run(self, n: int) -> None:
        """Make n more deals; each deal updates the regrets and strategy sums of both players."""
        self._cfr.run(n)

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        if board != self._board:
            raise KeyError(board)
        player, slots = self._slots(line)
        sums, regrets = (self._numbers(part, player)[:, slots].T for part in ("sums", "regrets"))
        out = np.zeros((len(sums), len(self._row)))
        out[:, self._hands] = played(sums, regrets, line)
        return out

    def best_values(self, player: int) -> Floats:
        raise KeyError(player)  # a best response would take as long as an exact solve

    def close(self) -> None:
        """Stop the threads; the strategy stays readable."""
        self._cfr.close()

    def _numbers(self, part: str, player: int) -> np.ndarray:
        """Return a view of a player's regrets or strategy sums in the first round, ``[hand, slot]``."""
        pairs = self._cfr.numbers.regrets if part == "regrets" else self._cfr.numbers.sums
        whole: np.ndarray = pairs[0][player].reshape(len(self._hands), self._n_slots[player], WIDTH)[:, :, 0]
        return whole

    def _slots(self, line: str) -> tuple[int, slice]:
        decision = self._builder.decision(self._root, line)
        if decision is None or decision[0] > 0:
            raise KeyError(line)
        _, first, node = decision
        assert node.player is not None
        return node.player, slice(first, first + len(node.actions))

    def _lock(self, line: str, frequencies: Floats) -> None:
        """Fix the strategy after a line of the first round, ``[action, hand]``; hands with NaN stay free."""
        player, slots = self._slots(line)
        fixed = ~np.isnan(frequencies).any(axis=0)
        self._numbers("regrets", player)[fixed, slots] = LOCKED * frequencies[:, fixed].T


def sample(
    builder: SubgameBuilder,
    abstraction: Abstraction,
    root: Root,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    seed: int,
    limits: Limits,
    kept: Mapping[str, Floats] | None = None,
    fewest: int = FEWEST_DEALS,
) -> SampledRound:
    """Solve a betting round for both players by sampling, until a limit is reached; an iteration is a deal.

    ``ranges`` are those at the root, each ``[hand of the deck]``; `SampledRound` explains ``abstraction``, ``seed`` and
    ``kept``. Without time for ``fewest`` deals the solve fails.
    """
    pace, size = builder.pace, builder.n_actions(root)
    pace.require(limits.deadline, size * min(fewest, limits.iterations), "deal")
    with pace.spending("lay"):
        solution = SampledRound(builder, abstraction, root, board, ranges, seed, limits.threads, kept)
    try:
        _run(solution, limits, pace, size, fewest)
        return solution
    finally:
        solution.close()


def _run(solution: SampledRound, limits: Limits, pace: Pace, size: int, fewest: int) -> None:
    """Make deals until a limit is reached, in smaller batches as time runs out."""
    done, last, most = 0, 0.0, limits.iterations
    while done < most:
        batch = min(most - done, max(done, FIRST_DEALS * limits.threads))
        if limits.deadline is not None:
            remaining = limits.deadline - time.monotonic()
            fitting = remaining / max(pace.seconds("deal", size), last, 1e-9)
            batch = min(batch, int(BATCH * fitting))
            if batch < limits.threads:
                break
        began = time.monotonic()
        solution.run(batch)
        seconds = time.monotonic() - began
        done, last = done + batch, seconds / batch
        pace.took("deal", size * batch, seconds)
    if done < min(fewest, most):
        raise OutOfTimeError(f"there was time for {done} of {fewest} deals")
