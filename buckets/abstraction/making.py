"""How an abstraction is made, round by round: see `buckets.abstraction`."""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.board_features import board_features, start_kinds
from buckets.abstraction.board_pairs import Pairs, board_pairs, require_pairs, shared_out
from buckets.abstraction.board_tree import BoardTree
from buckets.abstraction.percentiles import Percentiles
from buckets.abstraction.row_kinds import BY_BOARD, BY_GRADE, BY_HAND, MAX_ROWS, NO_ROW
from buckets.cards.boards import BoardMap, board_map
from buckets.cards.cards import Deck
from buckets.cards.strength import CARD_COUNTS
from buckets.errors import BoardError

Classes: TypeAlias = int | Literal["all"]
Rows: TypeAlias = int | Literal["hands"]
Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
Kept: TypeAlias = MutableMapping[str, Array]
Progress: TypeAlias = Callable[[int, int], object]

ARRAYS = (
    *("groups", "kinds", "starts", "canonical", "perm_of", "classes", "rows"),
    *("memory", "pairs", "n_classes", "n_rows"),
)
"""Names of the arrays of an abstraction."""

METHOD = 1
"""To be counted up whenever the same wish gives other classes, rows or features than before."""

N_POINTS = 23
"""Points of the curves that rows are made of, at most: this divides hold'em's 46 and 1,081 outcomes."""


@dataclass(frozen=True)
class Wish:
    """What is asked for, as `Abstraction.make` takes it."""

    deck: Deck
    hole: int
    board_sizes: tuple[int, ...]
    classes: tuple[Classes, ...]
    rows: tuple[Rows, ...]
    seed: int = 0
    remember: bool = False

    def __post_init__(self) -> None:
        n_rounds, n_cards = len(self.board_sizes), self.hole + sum(self.board_sizes)
        for name, asked in (("classes", self.classes), ("rows", self.rows)):
            if len(asked) != n_rounds:
                raise BoardError(f"{name}: expected one for each of {n_rounds} rounds, got {len(asked)}")
        if n_cards not in CARD_COUNTS:
            raise BoardError(f"hole and board cards: expected one of {CARD_COUNTS} together, got {n_cards}")
        if n_cards + self.hole > len(self.deck):
            raise BoardError(
                f"deck: expected cards for two hands and a board, {n_cards + self.hole}, got {len(self.deck)}"
            )
        for t in range(n_rounds):
            self._check_round(t)

    def _check_round(self, t: int) -> None:
        classes, rows = self.classes[t], self.rows[t]
        if classes != "all" and classes < 1:
            raise BoardError(f"classes of round {t}: expected at least 1, or 'all', got {classes}")
        if rows != "hands" and not 1 <= rows <= MAX_ROWS:
            raise BoardError(f"rows of round {t}: expected 1 to {MAX_ROWS}, or 'hands', got {rows}")
        if rows == "hands" and classes != "all" and self.n_cards(t):
            raise BoardError(
                f"rows of round {t}: expected a number, or all classes, got 'hands' of {classes}"
            )

    def remembers(self, t: int) -> bool:
        """Whether classes of a round remember that of the first board."""
        return self.remember and self.classes[t] != "all" and t > self.first

    @property
    def first(self) -> int:
        """The first round with a card; as many rounds as there are, if there is none."""
        return first_dealt(self.board_sizes)

    def n_cards(self, t: int) -> int:
        """Cards of the board in a round."""
        return sum(self.board_sizes[: t + 1])

    @property
    def n_board(self) -> int:
        """Cards of a full board."""
        return sum(self.board_sizes)

    def groups(self, t: int) -> tuple[int, ...]:
        """Groups of cards that a board of a round is made of: one, but for all classes, which know the rounds."""
        groups = self.board_sizes[: t + 1] if self.classes[t] == "all" else (self.n_cards(t),)
        return tuple(size for size in groups if size)


class _Round(NamedTuple):
    """One round of an abstraction: how rows are found, of how many; class of each canonical board, or pair."""

    map: BoardMap
    kind: int
    classes: NDArray[np.int32]
    rows: NDArray[np.uint8]
    n_rows: int
    pairs: NDArray[np.int32]


def made_arrays(wish: Wish, progress: Progress, kept: Kept) -> Arrays:
    """The arrays of an abstraction, by the names in `ARRAYS`: of `kernels.dealing.Maps`, and how many there are."""
    maker = _Maker(wish, progress, kept)
    maker.check()
    rounds = maker.rounds()
    sizes = [(len(one.map.canonical), len(one.classes), one.rows.size) for one in rounds]
    groups = np.zeros((len(rounds), max(len(rounds), 1)), dtype=np.int64)
    for t, one in enumerate(rounds):
        groups[t, : len(one.map.groups)] = one.map.groups
    return {
        "groups": groups,
        "kinds": np.array([one.kind for one in rounds], dtype=np.int64),
        "starts": np.cumsum([(0, 0, 0), *sizes[:-1]], axis=0, dtype=np.int64),
        "canonical": np.concatenate([one.map.canonical for one in rounds]),
        "perm_of": np.concatenate([one.map.perm_of for one in rounds]),
        "classes": np.concatenate([one.classes for one in rounds]),
        "rows": np.concatenate([one.rows.ravel() for one in rounds]),
        "memory": np.array(
            [
                (
                    len(one.map.boards) if wish.remembers(t) else 0,
                    sum(len(above.pairs) for above in rounds[:t]),
                )
                for t, one in enumerate(rounds)
            ],
            dtype=np.int64,
        ),
        "pairs": np.concatenate([one.pairs for one in rounds]),
        "n_classes": np.array([one.classes.max() + 1 for one in rounds], dtype=np.int64),
        "n_rows": np.array([one.n_rows for one in rounds], dtype=np.int64),
    }


def first_dealt(board_sizes: Sequence[int]) -> int:
    """The first round with a card; as many rounds as there are, if there is none."""
    return next((t for t, size in enumerate(board_sizes) if size), len(board_sizes))


def feature_names(board_sizes: Sequence[int]) -> list[str]:
    """Names of all features that abstractions of a game may be made of."""
    return [_feature_name(n) for n in sorted(set(np.cumsum(board_sizes).tolist())) if n]


def _feature_name(n_cards: int) -> str:
    return f"board-{n_cards}"


@dataclass
class _Maker:
    """Makes the rounds of an abstraction, with what they share."""

    wish: Wish
    progress: Progress
    kept: Kept
    done: int = 0
    maps: dict[tuple[int, ...], BoardMap] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what there are not enough boards for, before anything takes time."""
        wish = self.wish
        for t, n_classes in enumerate(wish.classes):
            n_boards = len(self._map(wish.groups(t)).boards)
            if n_classes != "all" and n_classes > n_boards:
                raise BoardError(
                    f"classes of round {t}: expected 1 to its {n_boards:,} boards, got {n_classes:,}"
                )
            if wish.remembers(t):
                asked = wish.classes[wish.first]
                n_first = len(self._map(wish.groups(wish.first)).boards) if asked == "all" else asked
                require_pairs(n_first, n_boards)
                if n_classes != "all" and n_classes < n_first:
                    raise BoardError(
                        f"classes of round {t}: expected at least 1 for each of {n_first:,} classes that are "
                        f"remembered, got {n_classes:,}"
                    )

    def rounds(self) -> list[_Round]:
        """Make all rounds."""
        made: list[_Round] = []
        for t in range(len(self.wish.board_sizes)):
            made.append(self._round(t, made))
        return made

    def _round(self, t: int, before: Sequence[_Round]) -> _Round:
        """Make one round, after those before it."""
        wish = self.wish
        found, k = self._map(wish.groups(t)), wish.rows[t]
        boards, counts, pairs = found.boards, found.counts, np.empty(0, dtype=np.int32)
        if wish.remembers(t):
            above = before[wish.first]
            every = board_pairs(wish.deck, above.map, above.classes, found)
            boards, counts, pairs = found.boards[every.board], every.counts, every.numbers
            classes = self._classes_of_pairs(t, found, every)
        else:
            classes = self._classes(t, found)
        if k == "hands":
            n_rows = comb(len(wish.deck) - wish.n_cards(t), wish.hole)
            return _Round(found, BY_HAND, classes, np.empty(0, dtype=np.uint8), n_rows, pairs)
        kind = BY_BOARD
        if not wish.n_cards(t):
            rows = self._start_rows(k)
        elif t < len(wish.board_sizes) - 1:
            rows = self._clustered(t, k, boards, counts, classes, len(found.boards))
        else:
            kind = BY_GRADE
            from buckets.abstraction.class_rows import interval_rows

            rows = interval_rows(self._percentiles.seen(boards, counts, classes), k)
        return _Round(found, kind, classes, rows, int(rows[rows != NO_ROW].max()) + 1, pairs)

    @cached_property
    def total(self) -> int:
        """Boards that will be told of: of the table of final boards, of features and of rows."""
        features, n_rows, tabled = {}, 0, False
        for t, (k, rows) in enumerate(zip(self.wish.classes, self.wish.rows, strict=True)):
            n_boards, n_cards = len(self._map(self.wish.groups(t)).boards), self.wish.n_cards(t)
            if k not in ("all", n_boards) and _feature_name(n_cards) not in self.kept:
                features[n_cards] = n_boards
            if n_cards and rows != "hands":
                tabled = True
                n_rows += n_boards * (t < len(self.wish.board_sizes) - 1)
        return sum(features.values()) + n_rows + bool(features or tabled) * len(self._finals.boards)

    @cached_property
    def _percentiles(self) -> Percentiles:
        return Percentiles.of(self.wish.deck, self.wish.hole, self._finals, self._tell)

    @property
    def _finals(self) -> BoardMap:
        return self._map((self.wish.n_board,) if self.wish.n_board else ())

    def _map(self, groups: tuple[int, ...]) -> BoardMap:
        if groups not in self.maps:
            self.maps[groups] = board_map(self.wish.deck, groups)
        return self.maps[groups]

    def _classes(self, t: int, found: BoardMap) -> NDArray[np.int32]:
        """The class of each canonical board."""
        n_classes, n_boards = self.wish.classes[t], len(found.boards)
        if n_classes == "all" or n_classes == n_boards:
            return np.arange(n_boards, dtype=np.int32)
        return self._alike(self._features(found), found.counts, n_classes)

    def _classes_of_pairs(self, t: int, found: BoardMap, pairs: Pairs) -> NDArray[np.int32]:
        """The class of each pair: classes of the first board one after the other, each with a share of the classes."""
        features, n_classes = self._features(found), self.wish.classes[t]
        assert n_classes != "all"
        shares = shared_out(n_classes, np.bincount(pairs.first, weights=pairs.counts))
        classes, n_before = np.empty(len(pairs.board), dtype=np.int32), 0
        for first, n in enumerate(shares.tolist()):
            mine = pairs.first == first
            classes[mine] = n_before + self._alike(features[pairs.board[mine]], pairs.counts[mine], n)
            n_before = int(classes[mine].max()) + 1
        return classes

    def _alike(self, features: Array, counts: Array, n_classes: int) -> NDArray[np.int32]:
        """Classes of boards that are alike."""
        from buckets.abstraction.board_clustering import BoardClustering

        n_distinct = len(np.unique(features, axis=0))
        model = BoardClustering(min(n_classes, n_distinct), random_state=self.wish.seed)
        return model.fit(features, sample_weight=counts).labels_

    def _features(self, found: BoardMap) -> NDArray[Any]:
        """Features of boards that are sets, made where they are not kept."""
        name = _feature_name(found.boards.shape[1])
        if name not in self.kept:
            made = board_features(self._percentiles, found.boards, found.counts, self._tell)
            self.kept[name] = made.values
        return self.kept[name]

    def _start_rows(self, n_rows: int) -> NDArray[np.uint8]:
        """``[0, hand]``: rows before the first card."""
        deck, hole = self.wish.deck, self.wish.hole
        kinds = start_kinds(deck, hole)
        if n_rows > kinds.max():
            return kinds.astype(np.uint8)[None]
        tree = BoardTree.of((), deck, hole, self.wish.n_board)
        return tree.labels((), n_rows).astype(np.uint8)[None]

    def _clustered(
        self, t: int, n_rows: int, boards: Array, counts: Array, classes: NDArray[np.int32], n_told: int
    ) -> NDArray[np.uint8]:
        """Rows of hands on boards, or pairs, of an earlier round; the progress of all is told as that of so many."""
        from buckets.abstraction.class_rows import clustered_rows

        order = np.argsort(classes, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(classes))[:-1])
        n_points = min(N_POINTS, self._percentiles.n_outcomes(self.wish.n_cards(t)))
        done = told = 0

        def tell(n: int) -> None:
            nonlocal done, told
            done += n
            self._tell(done * n_told // len(boards) - told)
            told = done * n_told // len(boards)

        seed = self.wish.seed
        return clustered_rows(self._percentiles, boards, counts, members, n_rows, n_points, seed, tell)

    def _tell(self, n: int) -> None:
        """So many boards more are done."""
        self.done += n
        self.progress(self.done, self.total)
