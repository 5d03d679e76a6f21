"""Computes the arrays of an abstraction, round by round: see `buckets.abstraction.abstraction`."""

import warnings
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.board_features import board_features, start_kinds
from buckets.abstraction.board_pairs import Pairs, board_pairs, require_pairs, shared_out
from buckets.abstraction.board_tree import BoardTree
from buckets.abstraction.percentiles import Percentiles
from buckets.abstraction.row_kinds import BY_BOARD, BY_GRADE, BY_HAND, NO_ROW
from buckets.abstraction.spec import AbstractionSpec
from buckets.cards.boards import BoardMap, board_map, board_numbers
from buckets.errors import BoardError
from buckets.types import Array, Ints

Arrays: TypeAlias = dict[str, Array]
Cache: TypeAlias = MutableMapping[str, Array]
Progress: TypeAlias = Callable[[int, int], object]

ARRAYS = (
    *("groups", "kinds", "starts", "canonical", "perm_of", "classes", "rows"),
    *("memory", "pairs", "n_classes", "n_rows"),
)
"""Names of the arrays of an abstraction."""

METHOD = 1
"""Version of the algorithm; increase it when a specification gives other buckets, rows or features than before."""

BEFORE = np.float32(1.5)
"""Weight of the features of the board before the last deal against those of the board, if the order of cards counts."""

N_POINTS = 23
"""Largest number of points of the curves from which rows are made; 23 divides hold'em's 46 and 1,081 outcomes."""


class _Round(NamedTuple):
    """One round of an abstraction.

    If the round remembers the flop (see `board_pairs`), a *pair* is a canonical board with a board bucket of flops.

    Attributes:
        map: index of the boards of the round.
        kind: how rows are looked up: `BY_BOARD`, `BY_GRADE` or `BY_HAND`, see `row_kinds`.
        board_buckets: ``[canonical board or pair]``, the board bucket.
        rows: ``[canonical board or pair, hand]`` or ``[board bucket, grade]``.
        n_rows: number of rows of each board bucket.
        pairs: numbers of the pairs as in `Pairs`; empty if the round does not remember the flop.
    """

    map: BoardMap
    kind: int
    board_buckets: NDArray[np.int32]
    rows: NDArray[np.uint8]
    n_rows: int
    pairs: NDArray[np.int32]


def build_arrays(spec: AbstractionSpec, progress: Progress, cache: Cache) -> Arrays:
    """Compute the arrays of an abstraction, by the names in `ARRAYS`; `kernels.dealing.Maps` describes them.

    Args:
        spec: the specification.
        progress: called with (finished boards, all boards).
        cache: features of boards by name; the function adds missing features.

    Raises:
        BoardError: there are too few boards for the board buckets, or too many boards.
    """
    builder = _Builder(spec, progress, cache)
    builder.check()
    rounds = builder.rounds()
    sizes = [(len(r.map.canonical), len(r.board_buckets), r.rows.size) for r in rounds]
    groups = np.zeros((len(rounds), max(len(rounds), 1)), dtype=np.int64)
    for t, r in enumerate(rounds):
        groups[t, : len(r.map.groups)] = r.map.groups
    return {
        "groups": groups,
        "kinds": np.array([r.kind for r in rounds], dtype=np.int64),
        "starts": np.cumsum([(0, 0, 0), *sizes[:-1]], axis=0, dtype=np.int64),
        "canonical": np.concatenate([r.map.canonical for r in rounds]),
        "perm_of": np.concatenate([r.map.perm_of for r in rounds]),
        "classes": np.concatenate([r.board_buckets for r in rounds]),
        "rows": np.concatenate([r.rows.ravel() for r in rounds]),
        "memory": np.array(
            [
                (
                    len(r.map.boards) if spec.remembers(t) else 0,
                    sum(len(before.pairs) for before in rounds[:t]),
                )
                for t, r in enumerate(rounds)
            ],
            dtype=np.int64,
        ),
        "pairs": np.concatenate([r.pairs for r in rounds]),
        "n_classes": np.array([r.board_buckets.max() + 1 for r in rounds], dtype=np.int64),
        "n_rows": np.array([r.n_rows for r in rounds], dtype=np.int64),
    }


def feature_names(board_sizes: Sequence[int]) -> list[str]:
    """List the names under which a cache stores the board features that abstractions of a game may need."""
    return [_feature_name(n) for n in sorted(set(np.cumsum(board_sizes).tolist())) if n]


def _feature_name(n_cards: int) -> str:
    return f"board-{n_cards}"


@dataclass
class _Builder:
    """Builds the rounds of an abstraction, and keeps the tables that the rounds share.

    Attributes:
        spec: the specification.
        progress: called with (finished boards, all boards).
        cache: features of boards by name.
        done: number of finished boards.
        maps: a `BoardMap` for each tuple of the numbers of cards of a board's groups.
    """

    spec: AbstractionSpec
    progress: Progress
    cache: Cache
    done: int = 0
    maps: dict[tuple[int, ...], BoardMap] = field(default_factory=dict)

    def check(self) -> None:
        """Check that the specification asks for no more board buckets than there are boards.

        Raises:
            BoardError: there are too few boards for the board buckets, or too many boards.
        """
        spec = self.spec
        for t, n_board_buckets in enumerate(spec.board_buckets):
            n_boards = len(self._map(spec.groups(t)).boards)
            if n_board_buckets != "all" and n_board_buckets > n_boards:
                raise BoardError(
                    f"board buckets of round {t}: expected 1 to {n_boards:,}, the number of its boards, "
                    f"got {n_board_buckets:,}"
                )
            if spec.remembers(t):
                n_flop = spec.board_buckets[spec.first]
                if n_flop == "all":
                    n_flop = len(self._map(spec.groups(spec.first)).boards)
                require_pairs(n_flop, n_boards)
                if n_board_buckets != "all" and n_board_buckets < n_flop:
                    raise BoardError(
                        f"board buckets of round {t}: expected at least 1 for each of {n_flop:,} board buckets of the "
                        f"flop that are remembered, got {n_board_buckets:,}"
                    )

    def rounds(self) -> list[_Round]:
        """Compute the board buckets and rows of all rounds, in order."""
        rounds: list[_Round] = []
        for t in range(len(self.spec.board_sizes)):
            rounds.append(self._round(t, rounds))
        return rounds

    def _round(self, t: int, before: Sequence[_Round]) -> _Round:
        """Compute the board buckets and rows of round t; `before` are the rounds before it."""
        spec = self.spec
        table, k = self._map(spec.groups(t)), spec.rows[t]
        boards, counts, pairs = table.boards, table.counts, np.empty(0, dtype=np.int32)
        if spec.remembers(t):
            flop = before[spec.first]
            all_pairs = board_pairs(spec.deck, flop.map, flop.board_buckets, table)
            boards, counts, pairs = table.boards[all_pairs.board], all_pairs.counts, all_pairs.numbers
            board_buckets = self._classes_of_pairs(t, table, all_pairs)
        else:
            board_buckets = self._classes(t, table)
        if k == "hands":
            n_rows = comb(len(spec.deck) - spec.n_cards(t), spec.hole)
            return _Round(table, BY_HAND, board_buckets, np.empty(0, dtype=np.uint8), n_rows, pairs)
        kind = BY_BOARD
        if not spec.n_cards(t):
            rows = self._start_rows(k)
        elif t < len(spec.board_sizes) - 1:
            rows = self._clustered(t, k, boards, counts, board_buckets, len(table.boards))
        else:
            kind = BY_GRADE
            from buckets.abstraction.class_rows import interval_rows

            rows = interval_rows(self._percentiles.seen(boards, counts, board_buckets), k)
        return _Round(table, kind, board_buckets, rows, int(rows[rows != NO_ROW].max()) + 1, pairs)

    @cached_property
    def total(self) -> int:
        """Number of steps of the progress: a step computes the grades, the features or the rows on one board."""
        features, n_rows, tabled = {}, 0, False
        for t, (k, rows) in enumerate(zip(self.spec.board_buckets, self.spec.rows, strict=True)):
            groups, n_cards = self.spec.groups(t), self.spec.n_cards(t)
            n_boards = len(self._map(groups).boards)
            for n in {n_cards, *groups[:1]} if k not in ("all", n_boards) else ():
                if _feature_name(n) not in self.cache:
                    features[n] = len(self._map((n,)).boards)
            if n_cards and rows != "hands":
                tabled = True
                n_rows += n_boards * (t < len(self.spec.board_sizes) - 1)
        return sum(features.values()) + n_rows + bool(features or tabled) * len(self._finals.boards)

    @cached_property
    def _percentiles(self) -> Percentiles:
        return Percentiles.of(self.spec.deck, self.spec.hole, self._finals, self._tell)

    @property
    def _finals(self) -> BoardMap:
        return self._map((self.spec.n_board,) if self.spec.n_board else ())

    def _map(self, groups: tuple[int, ...]) -> BoardMap:
        if groups not in self.maps:
            self.maps[groups] = board_map(self.spec.deck, groups)
        return self.maps[groups]

    def _classes(self, t: int, table: BoardMap) -> NDArray[np.int32]:
        """Return the board bucket of each canonical board of round t; ``table`` is the index of the round's boards."""
        n_board_buckets, n_boards = self.spec.board_buckets[t], len(table.boards)
        if n_board_buckets == "all" or n_board_buckets == n_boards:
            return np.arange(n_boards, dtype=np.int32)
        return self._alike(self._features(table), table.counts, n_board_buckets)

    def _classes_of_pairs(self, t: int, table: BoardMap, pairs: Pairs) -> NDArray[np.int32]:
        """Return a board bucket of round t for each pair (board bucket of the flop, canonical board of round t).

        ``table`` is the index of the round's boards.
        The boards are clustered separately for each board bucket of flops. Each board bucket of flops gets a number of
        board buckets in proportion to the number of deals that lead through it.
        """
        features, n_board_buckets = self._features(table), self.spec.board_buckets[t]
        assert n_board_buckets != "all"
        shares = shared_out(n_board_buckets, np.bincount(pairs.first, weights=pairs.counts))
        board_buckets, n_before = np.empty(len(pairs.board), dtype=np.int32), 0
        for first, n in enumerate(shares.tolist()):
            own = pairs.first == first
            board_buckets[own] = n_before + self._alike(features[pairs.board[own]], pairs.counts[own], n)
            n_before = int(board_buckets[own].max()) + 1
        return board_buckets

    def _alike(self, features: Array, counts: Array, n_board_buckets: int) -> NDArray[np.int32]:
        """Cluster boards by their features ``[board, axis]``; return the cluster of each board.

        ``counts[board]`` are the weights of the boards.
        """
        from sklearn.exceptions import ConvergenceWarning

        from buckets.abstraction.board_clustering import BoardClustering

        model = BoardClustering(n_board_buckets, random_state=self.spec.seed)
        with warnings.catch_warnings():
            # boards with equal features share a bucket, so there can be fewer buckets
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(features, sample_weight=counts).labels_

    def _features(self, table: BoardMap) -> NDArray[Any]:
        """Return the features ``[board, axis]`` of the canonical boards of an index.

        If the index has the last cards in a group of their own, the features of a board are followed by those of the
        board before these cards, times `BEFORE`.
        """
        n_cards, n_before = int(table.groups.sum()), int(table.groups[0])
        own = self._features_of_sets(table.boards)
        if n_before == n_cards:
            return own
        return np.concatenate([own, BEFORE * self._features_of_sets(table.boards[:, :n_before])], axis=1)

    def _features_of_sets(self, boards: Ints) -> NDArray[np.float32]:
        """Return features ``[board, axis]`` of boards ``[board, card]``, whose order of cards does not count.

        The features come from the cache; if the cache lacks them, they are computed and stored there.
        """
        sets = self._map((boards.shape[1],))
        name = _feature_name(boards.shape[1])
        if name not in self.cache:
            self.cache[name] = board_features(self._percentiles, sets.boards, sets.counts, self._tell).values
        features: NDArray[np.float32] = self.cache[name][
            sets.canonical[board_numbers(self.spec.deck, boards)]
        ]
        return features

    def _start_rows(self, n_rows: int) -> NDArray[np.uint8]:
        """Return the row, one of at most ``n_rows``, of each hand before the flop, as an array ``[1, hand]``."""
        deck, hole = self.spec.deck, self.spec.hole
        kinds = start_kinds(deck, hole)
        if n_rows > kinds.max():
            return kinds.astype(np.uint8)[None]
        tree = BoardTree.of((), deck, hole, self.spec.n_board)
        return tree.labels((), n_rows).astype(np.uint8)[None]

    def _clustered(
        self, t: int, n_rows: int, boards: Array, counts: Array, board_buckets: NDArray[np.int32], n_told: int
    ) -> NDArray[np.uint8]:
        """Compute the row of each hand on each board of a round: ``[board, hand]``.

        Args:
            t: the round, which is not the last.
            n_rows: largest number of rows of a board bucket.
            boards: canonical boards; if the round remembers the flop, the board of each pair (see `_Round`).
            counts: ``[board]``, number of deals that each board stands for.
            board_buckets: ``[board]``, the board bucket.
            n_told: number of boards that count as progress: the canonical boards, each of which can be in several
                pairs.
        """
        from buckets.abstraction.class_rows import clustered_rows

        order = np.argsort(board_buckets, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(board_buckets))[:-1])
        n_points = min(N_POINTS, self._percentiles.n_outcomes(self.spec.n_cards(t)))
        done = told = 0

        def tell(n: int) -> None:
            nonlocal done, told
            done += n
            self._tell(done * n_told // len(boards) - told)
            told = done * n_told // len(boards)

        seed = self.spec.seed
        return clustered_rows(self._percentiles, boards, counts, members, n_rows, n_points, seed, tell)

    def _tell(self, n: int) -> None:
        """Report that n more boards are finished."""
        self.done += n
        self.progress(self.done, self.total)
