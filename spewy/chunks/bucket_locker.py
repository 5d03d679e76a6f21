"""The bucket locker on disk, which holds merge trees of boards, and abstractions of games.

The first job that needs a merge tree or an abstraction computes and stores it; later jobs read it. All jobs and
processes of a user share one folder: ``$SPEWY_BUCKETS``, by default a folder in the user's cache. The folder only saves
time: a solve also works without it (`BucketCache`).

A merge tree records in which order the clustering merges the hands on a board into larger buckets. It depends only on
the cards of the board and the game. It is stored in the lockers ``children``, ``distances`` and ``means`` under the key
of the canonical board and takes 16 bytes per hand, 19 KB for a flop.

The locker ``abstraction`` holds the arrays of `buckets.abstraction.Abstraction` under keys that consist of the
specification and the name of the array. The locker ``features`` holds the features of boards that the clustering uses.
They depend only on the game's cards, so a second abstraction of the same game takes less time.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction import Abstraction, AbstractionSpec, BoardTree, MergeTree, canonical_board
from buckets.abstraction.build import ARRAYS, METHOD, feature_names
from buckets.cards import Deck, canonical_flops, cards_name
from lockers import LockerError, Store, Transaction, open_store
from spewy.errors import PeerError, one_line, shown
from spewy.system.processes import Parent, WorkerPool

CHILDREN, DISTANCES, MEANS = "children", "distances", "means"
MANIFEST = {"buckets": 1, "cost": "equation 1"}
FAMILIES = {"flops": 3, "turns": 4}
"""Sets of boards whose merge trees can be computed in advance, with the number of cards of such a board."""
ENVIRONMENT = "SPEWY_BUCKETS"
PORTION = 8  # boards in one task of a worker

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class BucketLocker:
    """The bucket locker: a store of merge trees, which record how the hands on a board cluster into buckets.

    A missing tree is computed and stored when it is requested.

    In the methods, ``hole`` is the number of hole cards, and ``n_board`` is the number of public cards on the last
    round. The defaults are those of hold'em.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def open(cls, folder: Path | None = None, *, read_only: bool = False) -> Self:
        """Open the bucket locker in a folder; None: the user's (`default_folder`).

        A missing folder is created unless ``read_only``.

        Raises:
            lockers.LockerError: the folder is not a bucket locker, is damaged, or cannot be written.
        """
        return cls(open_store(folder or default_folder(), MANIFEST, read_only=read_only))

    def tree(
        self, board: Sequence[int], deck: Deck | None = None, hole: int = 2, n_board: int = 5
    ) -> BoardTree:
        """Read the merge tree of a board, or compute it; a new tree is stored unless the locker is read-only."""
        deck = deck or Deck()
        cards = canonical_board(board, deck)
        key = _tree_key(cards, deck, hole, n_board)
        children, distances, means = (self.store.get(name, key) for name in (CHILDREN, DISTANCES, MEANS))
        if children is not None and distances is not None and means is not None:
            n_distinct = len(means) - int(np.argmax(distances > 0)) if distances.any() else 1
            merges = MergeTree(children.astype(np.int64), distances.astype(np.float64), n_distinct)
            return BoardTree(cards, deck, hole, merges, means)
        tree = BoardTree.of(cards, deck, hole, n_board)
        if not self.store.read_only:
            self._keep(key, tree)
        return tree

    def _keep(self, key: bytes, tree: BoardTree) -> None:
        def put(transaction: Transaction) -> None:
            transaction.put(CHILDREN, key, tree.tree.children.astype(np.uint16))
            transaction.put(DISTANCES, key, tree.tree.distances.astype(np.float32))
            transaction.put(MEANS, key, tree.means)

        self.store.transact(put)

    def labels(
        self, board: Sequence[int], k: int, deck: Deck | None = None, hole: int = 2, n_board: int = 5
    ) -> NDArray[np.int32]:
        """Return the bucket of each hand on a board, of at most ``k`` buckets; see `BoardTree.labels`."""
        return self.tree(board, deck, hole, n_board).labels(board, k)

    def missing(self, n_cards: int) -> list[tuple[int, ...]]:
        """List the canonical hold'em boards of `n_cards` cards whose merge trees are not stored."""
        boards = [tuple(row) for row in canonical_flops(n_cards=n_cards)[0].tolist()]
        stored = set(self.store.keys(MEANS))
        return [board for board in boards if _tree_key(board, Deck(), 2, 5) not in stored]

    def precompute(self, n_cards: int, pool: WorkerPool, progress: Callable[[int], object]) -> list[float]:
        """Compute and store all missing trees of hold'em boards; after an interruption, another call continues.

        Args:
            n_cards: number of cards of the boards.
            pool: the workers that compute trees; it is closed at the end.
            progress: called with the number of new trees after each task.

        Returns:
            Peak memory of each worker in MiB, ascending.
        """
        boards = self.missing(n_cards)
        portions = [boards[start : start + PORTION] for start in range(0, len(boards), PORTION)]
        peaks: dict[str, float] = {}
        with closing(pool):
            for message in pool.results(_trees, ((portion,) for portion in portions)):
                if message is not None:
                    trees, process, peak = message.value
                    portion = portions[message.task]
                    if [tree.board for tree in trees] != portion:
                        raise PeerError(
                            f"worker {shown(process)}: expected the trees of boards {cards_name(portion[0])} to "
                            f"{cards_name(portion[-1])}, found trees of other boards"
                        )
                    for board, tree in zip(portion, trees, strict=True):
                        self._keep(_tree_key(board, Deck(), 2, 5), tree)
                    peaks[process] = max(peak, peaks.get(process, 0.0))
                    progress(len(trees))
        return sorted(peaks.values())

    def close(self) -> None:
        self.store.close()


def default_folder() -> Path:
    """Return the folder of the user's bucket locker: ``$SPEWY_BUCKETS``, or a folder in the user's cache."""
    folder = _user_folder()
    if folder is None:
        raise LockerError(
            f"bucket locker: expected a home directory, or a folder in ${ENVIRONMENT}; found neither"
        )
    return folder


def _user_folder() -> Path | None:
    if os.environ.get(ENVIRONMENT):
        return Path(os.environ[ENVIRONMENT])
    from spewy.system.folders import user_cache

    return user_cache("buckets")


class BucketCache:
    """A bucket locker that never stops a solve: if it fails, results are computed without it.

    A folder that cannot be written is only read. A folder that cannot be read is not used. In both cases a warning of
    one line is logged.

    Args:
        folder: the folder of the locker; None: the user's (`default_folder`).
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._locker: BucketLocker | None = None
        try:
            self._locker = BucketLocker.open(folder)
        except LockerError as error:
            self._do_without_writing(error)

    def labels(self, board: Sequence[int], k: int, deck: Deck, hole: int, n_board: int) -> NDArray[np.int32]:
        labels = self._tried(lambda locker: locker.labels(board, k, deck, hole, n_board))
        if labels is None:
            return BoardTree.of(canonical_board(board, deck), deck, hole, n_board).labels(board, k)
        return labels

    def arrays(self, locker: str, keys: Sequence[bytes]) -> list[NDArray[Any]] | None:
        """Read the arrays under some keys of a locker; None if one of the arrays is missing."""
        arrays = self._tried(lambda trees: trees.store.get_many(locker, keys)) or [None]
        present = [array for array in arrays if array is not None]
        return present if len(present) == len(arrays) else None

    def keep(self, locker: str, arrays: Mapping[bytes, NDArray[Any]]) -> None:
        """Store arrays under keys of a locker, if the folder can be written."""

        def put(transaction: Transaction) -> None:
            for key, array in arrays.items():
                transaction.put(locker, key, array)

        def tried(trees: BucketLocker) -> None:
            if not trees.store.read_only:
                trees.store.transact(put)

        self._tried(tried)

    def _tried(self, work: Callable[[BucketLocker], T]) -> T | None:
        """Run `work` on the bucket locker and return its result; None if the locker cannot be used."""
        while self._locker is not None:
            try:
                return work(self._locker)
            except LockerError as error:
                self._do_with_less(self._locker, error)
        return None

    def _do_with_less(self, locker: BucketLocker, error: LockerError) -> None:
        locker.close()
        if locker.store.read_only:
            self._do_without(error)
        else:
            self._do_without_writing(error)

    def _do_without_writing(self, error: LockerError) -> None:
        try:
            self._locker = BucketLocker.open(self._folder, read_only=True)
        except LockerError:
            self._do_without(error)
        else:
            _warn("the bucket locker is only read, and new results are not stored", error)

    def _do_without(self, error: LockerError) -> None:
        self._locker = None
        _warn("the bucket locker is not used, and its results are computed again", error)


def shared_cache() -> BucketCache:
    """Return the user's bucket locker, which all solves of this process share."""
    return _cache(_user_folder())


@lru_cache(maxsize=1)
def _cache(folder: Path | None) -> BucketCache:
    return BucketCache(folder)


def _warn(text: str, error: LockerError) -> None:
    _LOG.warning("%s: %s", text, one_line(str(error)))


def _trees(parent: Parent, boards: Sequence[tuple[int, ...]]) -> tuple[list[BoardTree], str, float]:
    """Compute merge trees in a worker; return the trees, the worker's machine and process number, and peak MiB."""
    import resource

    trees = [BoardTree.of(canonical_board(board, Deck()), Deck(), 2, 5) for board in boards]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return trees, f"{os.uname().nodename} {os.getpid()}", peak


def _tree_key(board: Sequence[int], deck: Deck, hole: int, n_board: int) -> bytes:
    """Return the key of a board's merge tree.

    An example is ``2c7dKh|13x4.2.5``: the canonical board, ranks and suits of the deck, and the numbers of hole cards
    and of public cards.
    """
    return f"{cards_name(board)}|{deck.num_ranks}x{deck.num_suits}.{hole}.{n_board}".encode()


ABSTRACTION, FEATURES = "abstraction", "features"
Sizes: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Number of board buckets in each round, and number of hand rows in each round."""


def abstraction(
    spec: AbstractionSpec,
    progress: Callable[[int, int], object] = lambda done, of: None,
    cache: BucketCache | None = None,
) -> Abstraction:
    """Read an abstraction from the bucket locker, or compute it and store it there.

    If the computation is interrupted, the features computed so far are stored.

    Args:
        progress: called with the numbers of finished boards and of all boards if the abstraction is computed.
        cache: the bucket locker; None: the locker in the user's cache folder.
    """
    cache = cache or shared_cache()
    keys = [_array_key(spec, name) for name in ARRAYS]
    arrays = cache.arrays(ABSTRACTION, keys)
    if arrays is not None:
        return Abstraction(spec.deck, spec.hole, spec.board_sizes, dict(zip(ARRAYS, arrays, strict=True)))
    features = _Features(cache, spec)
    try:
        built = Abstraction.build(spec, progress, features)
    finally:
        features.keep()
    cache.keep(ABSTRACTION, {_array_key(spec, name): built.arrays[name] for name in ARRAYS})
    return built


def kept_sizes(spec: AbstractionSpec, cache: BucketCache | None = None) -> Sizes | None:
    """Read an abstraction's numbers of board buckets and of rows in each round; None if the bucket locker lacks it."""
    sizes = (cache or shared_cache()).arrays(
        ABSTRACTION, [_array_key(spec, "n_classes"), _array_key(spec, "n_rows")]
    )
    return None if sizes is None else (tuple(sizes[0].tolist()), tuple(sizes[1].tolist()))


def _array_key(spec: AbstractionSpec, name: str) -> bytes:
    """Return the key of an array of an abstraction.

    An example is ``13x4.2.0-3-1-1.all-100-200-400.169-40-40-40.0.1|rows``: ranks and suits of the deck, hole cards,
    public cards dealt by each round, board buckets, rows, seed (followed by the specification's ``remember`` if that is
    set), version of the clustering, and name of the array.
    """
    sizes, board_buckets, rows = (
        "-".join(map(str, part)) for part in (spec.board_sizes, spec.board_buckets, spec.rows)
    )
    remember = {False: "", True: ".remember", "order": ".order"}[spec.remember]
    how = f"{spec.seed}{remember}.{METHOD}"
    return f"{_deck(spec)}.{sizes}.{board_buckets}.{rows}.{how}|{name}".encode()


def _deck(spec: AbstractionSpec) -> str:
    return f"{spec.deck.num_ranks}x{spec.deck.num_suits}.{spec.hole}"


class _Features(dict[str, NDArray[Any]]):
    """Arrays of board features by name, which the clustering reads and extends; at first those of the bucket locker."""

    def __init__(self, cache: BucketCache, spec: AbstractionSpec) -> None:
        self._cache = cache
        self._start = f"{_deck(spec)}.{spec.n_board}.{METHOD}"
        for name in feature_names(spec.board_sizes):
            if features := cache.arrays(FEATURES, [self._key(name)]):
                self[name] = features[0]
        self._stored = set(self)

    def keep(self) -> None:
        """Write to the bucket locker the features that were added since this object was made."""
        for name in self.keys() - self._stored:
            self._cache.keep(FEATURES, {self._key(name): self[name]})

    def _key(self, name: str) -> bytes:
        return f"{self._start}|{name}".encode()
