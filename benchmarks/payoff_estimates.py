"""Estimates of the payoff matrices of chunks from the stored matrices of other chunks, for studies.

- *Closest*, the paper's "closest situation": the stored matrix of another chunk on the same board (or in the same board
  bucket), scaled to the pot. Both chunks must have the same betting tree, except for the bet sizes.
- *Regression*: gradient boosted trees are trained on stored matrices. They predict how much player 0 wins beyond the
  all-in equity of a pair of rows.

Payoffs are chips that player 0 wins in the whole hand, ``[row of player 0, row of player 1]``.
``docs/research/leaf-estimates.md`` compares both with `spewy.learn.payoffs.NoMoreBetting`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from solvers.tree import Floats
from spewy.chunks.rounds import BettingRound
from spewy.errors import InputError

Matrices = Callable[[int, int, int], Floats]
"""Function of a chunk's (round, board or board bucket, entering line) that returns its payoffs."""
StoredMatrix = Callable[[int, int, int], Floats | None]
"""Function of a chunk's (round, board or board bucket, entering line) that returns its stored payoffs, or None."""
Share = Callable[[int, int], Floats]
"""Function of (round, board or board bucket) that returns all-in equities ``[row of player 0, row of player 1]``.

An equity runs from -1 (player 0 always loses) to 1 (player 0 always wins).
"""

MOST_SAMPLES = 200_000
"""Largest number of pairs of rows that a regression is trained on."""


class ClosestLine:
    """Estimates payoffs by the stored matrix of a similar chunk on the same board, scaled to the pot.

    Chunks are similar if their betting trees differ only in bet sizes. Of these, the chunk with the most similar pot is
    used. If pots are equal, a chunk with the same aggressor in the previous round is preferred.

    Args:
        lines: features of the betting lines that enter chunks.
        stored: reads stored matrices.
        otherwise: estimates the payoffs of a chunk for which no similar chunk is stored.
    """

    def __init__(self, lines: Lines, stored: StoredMatrix, otherwise: Matrices) -> None:
        self._lines, self._stored, self._otherwise = lines, stored, otherwise
        self._order = lru_cache(None)(self._closest)

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Estimate the payoffs of the chunk that line r enters on board b of round t.

        Returns:
            Payoffs ``[matrix, row of player 0, row of player 1]``: two matrices, for the regrets of player 0 and of
            player 1, or a single matrix for both.
        """
        for other in self._order(t, r):
            stored = self._stored(t, b, other)
            if stored is not None:
                return stored * (self._lines.stake(t, r) / self._lines.stake(t, other))
        return self._otherwise(t, b, r)

    def _closest(self, t: int, r: int) -> list[int]:
        """Return the numbers of the other lines into round t that lead to a betting tree of the same shape as line r.

        Lines with the most similar pot come first; among equal pots, lines with the same aggressor.
        """
        lines = self._lines
        chips, aggressor, shape = lines.stake(t, r), lines.bets(t, r).aggressor, lines.shape(t, r)

        def distance(other: int) -> tuple[float, bool, int]:
            """Return a line's sort key: how its pot and aggressor differ from those of line r, and its number."""
            return abs(log(lines.stake(t, other) / chips)), lines.bets(t, other).aggressor != aggressor, other

        same = [n for n in range(lines.number(t)) if n != r and lines.shape(t, n) == shape]
        return sorted(same, key=distance)


class Regression:
    """Estimates payoffs by gradient boosted trees, trained on the stored matrices of one round.

    Args:
        lines: features of the betting lines that enter chunks.
        t: the round.
        share: computes all-in equities, from -1 to 1.
        seed: seed of the random choice of training data.
    """

    def __init__(self, lines: Lines, t: int, share: Share, seed: int = 0) -> None:
        self._lines, self._t, self._share, self._seed = lines, t, share, seed
        self._model = HistGradientBoostingRegressor(max_iter=150, random_state=seed)

    def fit(self, chunks: Iterable[tuple[int, int]], stored: StoredMatrix) -> Regression:
        """Train the regression trees on stored matrices of some chunks, and return this object.

        The trees learn the payoff divided by half the pot, minus the all-in equity (-1 to 1).

        Args:
            chunks: pairs (board or board bucket, entering line).
            stored: reads stored matrices.

        Raises:
            InputError: no chunk has a stored matrix.
        """
        inputs, targets = [], []
        for b, r in chunks:
            matrix = stored(self._t, b, r)
            if matrix is not None:
                inputs.append(self._inputs(b, r))
                targets.append((matrix / self._lines.stake(self._t, r) - self._share(self._t, b)).ravel())
        if not inputs:
            raise InputError(f"round {self._t}: no payoff matrices are stored to train a regression")
        x, y = np.concatenate(inputs), np.concatenate(targets)
        if len(y) > MOST_SAMPLES:
            sample = np.random.default_rng(self._seed).choice(len(y), MOST_SAMPLES, replace=False)
            x, y = x[sample], y[sample]
        self._model.fit(x, y)
        return self

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Estimate the payoffs of the chunk that line r enters on board b of round t, which must be the trained round.

        Returns:
            Payoffs ``[row of player 0, row of player 1]``.
        """
        share = self._share(t, b)
        gain = self._model.predict(self._inputs(b, r)).reshape(share.shape)
        out: Floats = self._lines.stake(t, r) * (share + gain)
        return out

    def _inputs(self, b: int, r: int) -> Floats:
        """Return the features of each pair of rows in the chunk that line r enters on board b of the trained round.

        Returns:
            Features ``[pair of rows, feature]``; the pairs are in the order of a flattened payoff matrix.
        """
        share, bets = self._share(self._t, b), self._lines.bets(self._t, r)
        k, m = share.shape
        own, other = share.mean(axis=1)[:, None], share.mean(axis=0)[None]
        line = log(self._lines.stake(self._t, r)), *bets.counts, bets.aggressor
        columns = [share, own + 0 * share, other + 0 * share, *(np.full((k, m), feature) for feature in line)]
        return np.stack([column.ravel() for column in columns], axis=1)


class Bets(NamedTuple):
    """The bets and raises in a betting line before it enters a round.

    Attributes:
        counts: number of bets and raises of each player in the line.
        aggressor: who bet or raised last in the previous round: 1 for player 0, -1 for player 1, 0 for nobody.
    """

    counts: tuple[int, int]
    aggressor: int


class Lines:
    """Computes features of the betting lines that enter chunks.

    Args:
        betting: betting of all rounds.
        pot: chips in the middle at the root of a spot; 0 for whole games.
    """

    def __init__(self, betting: Sequence[BettingRound], pot: float) -> None:
        self._betting, self._pot = betting, pot

    def number(self, t: int) -> int:
        """Number of betting lines that enter round t."""
        return len(self._betting[t].chunks)

    def stake(self, t: int, r: int) -> float:
        """Half of the pot in chips when line r enters round t."""
        return self._pot / 2 + float(min(self._betting[t].chunks[r].nodes[0].put_in))

    def bets(self, t: int, r: int) -> Bets:
        """Count the bets and raises in line r before it enters round t, and find the last aggressor."""
        line, counts, aggressor, at = self._betting[t].chunks[r].line, [0, 0], 0, ""
        for token in re.findall(r"[fc/]|r\d*", line):
            if token == "/":
                aggressor = aggressor if at + token == line else 0
            elif token[0] == "r":
                player = self._players[at]
                counts[player] += 1
                aggressor = 1 - 2 * player
            at += token
        return Bets((counts[0], counts[1]), aggressor)

    def shape(self, t: int, r: int) -> bytes:
        """Return a key for the betting tree after line r of round t, equal for trees that differ only in bet sizes."""
        a = self._betting[t].chunks[r].forest.arrays
        return bytes(np.stack([a.kind, a.player, a.n_actions]).astype(np.int8).tobytes())

    @cached_property
    def _players(self) -> dict[str, int]:
        nodes = [node for bets in self._betting for node in bets.nodes]
        return {node.line: node.player for node in nodes if node.player is not None and node.actions}
