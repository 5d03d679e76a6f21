"""What a chunk is worth where no payoff matrix is stored: three guesses, ``[row of player 0, row of player 1]``.

`NoMoreBetting`: both players check to the end, the paper's choice. `ClosestLine`: what another line of the same betting
shape is worth in the same class of boards, rescaled to the pot, the paper's "closest situation". `Regressed`: what a
regression makes of the first of these, the rows' strengths and the betting so far, trained on the matrices that are
there. All of them are net chips of player 0 over the whole hand, as `spewy.learn.class_matrices` has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from math import log
from typing import Any

import numpy as np

from solvers.matrix.leaves import row_matrices
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.learn.class_boards import ClassBoard, ClassGame, Drawn
from spewy.learn.leaves import Estimated, per_pair

Stored = Callable[[int, int, int], Floats | None]
"""(t, class, line) → the matrix that is stored; None: there is none."""
Estimate = Callable[[int, int, int], Floats]
"""(t, class, line) → a matrix."""

MOST_SAMPLES = 200_000
"""Pairs of rows that a regression is trained on, at most."""
SHARES = 4096
"""Classes whose shares are kept."""


class NoMoreBetting:
    """All-in equity: what is in the middle goes to the better hand when all cards are there.

    Args:
        game: whose chunks.
        boards: (t, class) → boards of the class, of the last two rounds.
    """

    def __init__(self, game: ClassGame, boards: Callable[[int, int], Drawn]) -> None:
        self._game, self._boards = game, boards
        self.share = lru_cache(SHARES)(self._share)

    def __call__(self, t: int, class_: int, r: int) -> Floats:
        """The matrix of a chunk."""
        return stake(self._game, t, r) * self.share(t, class_)

    def _share(self, t: int, class_: int) -> Floats:
        """``[row, row]``: what player 0 wins of a stake of 1, in the mean over the boards of a class."""
        if t < self._game.n_rounds - 2:
            raise InputError(f"round {t}: expected one of the last two, found an earlier one")
        total = joint = np.zeros(())
        for cards, times in self._boards(t, class_):
            shares, weight = _board_share(self._game.board(t, cards), t)
            total, joint = total + times * weight * shares, joint + times * weight
        return per_pair(total, joint)


def _board_share(board: ClassBoard, t: int) -> tuple[Floats, Floats]:
    """What player 0 wins of a stake of 1 on a board, and the joint weight, ``[row, row]``."""
    layout = board.layout
    own, other = layout.hands(t, 0, 0), layout.hands(t, 0, 1)
    first, second = layout.board(t, 0).hands
    joint = row_matrices(own, other, first.weight, second.weight, layout.live.n_ids)[0]
    return Estimated(layout)(t, 0, 0)[0] / min(layout.tree(t, 0).nodes[0].put_in), joint


class ClosestLine:
    """The stored chunk of the same class and betting shape that lies closest, rescaled to the pot.

    Close are pots of a like size; of these, lines with the same aggressor in the round before.

    Args:
        game: whose chunks.
        stored: matrices.
        otherwise: where no such chunk is stored.
    """

    def __init__(self, game: ClassGame, stored: Stored, otherwise: Estimate) -> None:
        self._game, self._stored, self._otherwise = game, stored, otherwise
        self._order = lru_cache(None)(self._closest)

    def __call__(self, t: int, class_: int, r: int) -> Floats:
        """The matrix of a chunk."""
        for other in self._order(t, r):
            found = self._stored(t, class_, other)
            if found is not None:
                return found * (stake(self._game, t, r) / stake(self._game, t, other))
        return self._otherwise(t, class_, r)

    def _closest(self, t: int, r: int) -> list[int]:
        """Other lines of the same shape, the closest first."""
        chips, aggressor = stake(self._game, t, r), Bets.of(self._game, t, r).aggressor
        shape = _shape(self._game, t, r)

        def far(other: int) -> tuple[float, bool, int]:
            bets = Bets.of(self._game, t, other)
            return abs(log(stake(self._game, t, other) / chips)), bets.aggressor != aggressor, other

        lines = range(len(self._game.betting[t].chunks))
        return sorted((n for n in lines if n != r and _shape(self._game, t, n) == shape), key=far)


class Regressed:
    """Gradient boosted trees over pairs of rows, trained on the matrices of one round.

    Args:
        game: whose chunks.
        t: the round.
        plain: what is made better.
        seed: of the pairs that are learnt from.
    """

    def __init__(self, game: ClassGame, t: int, plain: NoMoreBetting, seed: int = 0) -> None:
        self._game, self._t, self._plain, self._seed = game, t, plain, seed

    def fit(self, chunks: Iterable[tuple[int, int]], stored: Stored) -> Regressed:
        """Learn from stored chunks (class, line); what is learnt is payoffs in stakes beside those of no more betting.

        Raises:
            InputError: none of them is stored.
        """
        inputs, targets = [], []
        for class_, r in chunks:
            found = stored(self._t, class_, r)
            if found is not None:
                inputs.append(self._inputs(class_, r))
                beside = found / stake(self._game, self._t, r) - self._plain.share(self._t, class_)
                targets.append(beside.ravel())
        if not inputs:
            raise InputError(f"round {self._t}: expected stored payoff matrices to learn from, found none")
        x, y = np.concatenate(inputs), np.concatenate(targets)
        if len(y) > MOST_SAMPLES:
            some = np.random.default_rng(self._seed).choice(len(y), MOST_SAMPLES, replace=False)
            x, y = x[some], y[some]
        self._model.fit(x, y)
        return self

    def __call__(self, t: int, class_: int, r: int) -> Floats:
        """The matrix of a chunk of the round."""
        share = self._plain.share(t, class_)
        beside = self._model.predict(self._inputs(class_, r)).reshape(share.shape)
        out: Floats = stake(self._game, t, r) * (share + beside)
        return out

    @cached_property
    def _model(self) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=150, random_state=self._seed)

    def _inputs(self, class_: int, r: int) -> Floats:
        """``[pair of rows, feature]``."""
        share, bets = self._plain.share(self._t, class_), Bets.of(self._game, self._t, r)
        k, m = share.shape
        own, other = share.mean(axis=1)[:, None], share.mean(axis=0)[None]
        line = log(stake(self._game, self._t, r)), *bets.counts, bets.aggressor
        columns = [share, own + 0 * share, other + 0 * share, *(np.full((k, m), one) for one in line)]
        return np.stack([column.ravel() for column in columns], axis=1)


class Bets:
    """The betting before a round.

    Attributes:
        counts: bets and raises of both players.
        aggressor: of the round before: 1 player 0, -1 player 1, 0 nobody.
    """

    def __init__(self, counts: tuple[int, int], aggressor: int) -> None:
        self.counts, self.aggressor = counts, aggressor

    @classmethod
    def of(cls, game: ClassGame, t: int, r: int) -> Bets:
        """Of line r that enters round t."""
        line, counts, last, at = game.betting[t].chunks[r].line, [0, 0], 0, ""
        players = game.players
        for token in re.findall(r"[fc/]|r\d*", line):
            if token == "/":
                last = last if at + token == line else 0
            elif token[0] == "r":
                counts[players[at]] += 1
                last = 1 - 2 * players[at]
            at += token
        return cls((counts[0], counts[1]), last)


def stake(game: ClassGame, t: int, r: int) -> float:
    """What either player has put in before the chunk that line r enters."""
    return float(min(game.betting[t].chunks[r].nodes[0].put_in))


def _shape(game: ClassGame, t: int, r: int) -> bytes:
    """The same for chunks whose betting differs by amounts only."""
    a = game.betting[t].chunks[r].forest.arrays
    return bytes(np.stack([a.kind, a.player, a.n_actions]).astype(np.int8).tobytes())
