"""The bucket locker: merge trees of boards on disk; the first job computes a tree, later jobs read it.

All jobs and processes of a user share one folder: ``$SPEWY_BUCKETS``, by default a folder in the user's cache. A tree
depends on the cards alone and stays valid until the algorithm changes, which changes the manifest. The key of a
canonical board has its ``children`` and ``distances`` (single precision) and the ``means`` of its leaves: 16 bytes a
hand, 19 KB for a flop.

The folder only saves time, so a solve works without it: see `BucketCache`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction import BoardTree, MergeTree, canonical_board
from buckets.cards import Deck, canonical_flops, cards_name
from lockers import LockerError, Store, Transaction, open_store
from spewy.errors import PeerError, one_line, shown
from spewy.system.worker import Parent
from spewy.system.worker_pool import WorkerPool

CHILDREN, DISTANCES, MEANS = "children", "distances", "means"
MANIFEST = {"buckets": 1, "cost": "equation 1"}
#: Boards that can be computed in advance, with their numbers of cards.
FAMILIES = {"flops": 3, "turns": 4}
ENVIRONMENT = "SPEWY_BUCKETS"
PORTION = 8  # boards in one task of a worker

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class BucketLocker:
    """Merge trees in a store; a missing tree is computed and stored."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def open(cls, folder: Path | None = None, *, read_only: bool = False) -> Self:
        """Open a folder, by default the user's; a missing folder is created unless `read_only`.

        Raises:
            lockers.LockerError: the folder is not a bucket locker, is damaged, or is not writable.
        """
        return cls(open_store(folder or default_folder(), MANIFEST, read_only=read_only))

    def tree(
        self, board: Sequence[int], deck: Deck | None = None, hole: int = 2, n_board: int = 5
    ) -> BoardTree:
        """Read the tree of a board, or compute it and store it unless the store is read-only."""
        deck = deck or Deck()
        cards = canonical_board(board, deck)
        key = _key(cards, deck, hole, n_board)
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
        """Return the bucket of each hand of the deck: see `BoardTree.labels`."""
        return self.tree(board, deck, hole, n_board).labels(board, k)

    def missing(self, n_cards: int) -> list[tuple[int, ...]]:
        """List hold'em's canonical boards of `n_cards` whose trees are not in the store."""
        boards = [tuple(row) for row in canonical_flops(n_cards=n_cards)[0].tolist()]
        here = set(self.store.keys(MEANS))
        return [board for board in boards if _key(board, Deck(), 2, 5) not in here]

    def precompute(self, n_cards: int, pool: WorkerPool, progress: Callable[[int], object]) -> list[float]:
        """Compute the missing trees of all boards of `n_cards` in a pool; `progress` is called with numbers of trees.

        Interrupted, it keeps what is done, and another call goes on. Returns the peak memory of each worker, MiB.
        """
        boards = self.missing(n_cards)
        portions = [boards[start : start + PORTION] for start in range(0, len(boards), PORTION)]
        peaks: dict[str, float] = {}
        with closing(pool):
            for message in pool.results(_trees, ((portion,) for portion in portions)):
                if message is not None:
                    trees, process, peak = message.value
                    asked = portions[message.task]
                    if [tree.board for tree in trees] != asked:
                        raise PeerError(
                            f"worker {shown(process)}: expected the trees of boards {cards_name(asked[0])} to "
                            f"{cards_name(asked[-1])}, found those of others"
                        )
                    for board, tree in zip(asked, trees, strict=True):
                        self._keep(_key(board, Deck(), 2, 5), tree)
                    peaks[process] = max(peak, peaks.get(process, 0.0))
                    progress(len(trees))
        return sorted(peaks.values())

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def default_folder() -> Path:
    """Folder of the bucket locker: ``$SPEWY_BUCKETS``, or a folder in the user's cache.

    Raises:
        lockers.LockerError: the variable is not set and the user has no cache.
    """
    folder = _user_folder()
    if folder is None:
        raise LockerError(
            f"bucket locker: expected a home directory or a folder in ${ENVIRONMENT}, found neither"
        )
    return folder


def _user_folder() -> Path | None:
    if os.environ.get(ENVIRONMENT):
        return Path(os.environ[ENVIRONMENT])
    from spewy.system.user_cache import user_cache

    return user_cache("buckets")


class BucketCache:
    """A bucket locker; if it fails, the solve continues without it.

    A folder that is not writable is only read. If it is not readable either, results are computed and not stored. Both
    cases log a warning of one line.

    Args:
        folder: the folder of the locker; None: the user's.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._locker: BucketLocker | None = None
        try:
            self._locker = BucketLocker.open(folder)
        except LockerError as error:
            self._do_without_writing(error)

    def labels(self, board: Sequence[int], k: int, deck: Deck, hole: int, n_board: int) -> NDArray[np.int32]:
        """Return the bucket of each hand of the deck: see `BucketLocker.labels`."""
        labels = self._tried(lambda locker: locker.labels(board, k, deck, hole, n_board))
        if labels is None:
            return BoardTree.of(canonical_board(board, deck), deck, hole, n_board).labels(board, k)
        return labels

    def arrays(self, locker: str, keys: Sequence[bytes]) -> list[NDArray[Any]] | None:
        """Read the arrays under some keys in one transaction; None unless all are there."""
        arrays = self._tried(lambda trees: trees.store.get_many(locker, keys)) or [None]
        present = [array for array in arrays if array is not None]
        return present if len(present) == len(arrays) else None

    def keep(self, locker: str, arrays: Mapping[bytes, NDArray[Any]]) -> None:
        """Store arrays under keys, if the locker is writable."""

        def put(transaction: Transaction) -> None:
            for key, array in arrays.items():
                transaction.put(locker, key, array)

        def tried(trees: BucketLocker) -> None:
            if not trees.store.read_only:
                trees.store.transact(put)

        self._tried(tried)

    def _tried(self, work: Callable[[BucketLocker], T]) -> T | None:
        """Run `work` on the locker; None if the locker is (or has become) unusable."""
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
            _warn("the bucket locker is only read, and nothing new is kept", error)

    def _do_without(self, error: LockerError) -> None:
        self._locker = None
        _warn("the bucket locker is not used, and its work is done anew", error)


def shared_cache() -> BucketCache:
    """Return this process's handle on the user's folder."""
    return _cache(_user_folder())


@lru_cache(maxsize=1)
def _cache(folder: Path | None) -> BucketCache:
    return BucketCache(folder)


def _warn(text: str, error: LockerError) -> None:
    _LOG.warning("%s: %s", text, one_line(str(error)))


def _trees(parent: Parent, boards: Sequence[tuple[int, ...]]) -> tuple[list[BoardTree], str, float]:
    """Compute the trees of boards in a worker; also return the process's number and its peak memory in MiB."""
    import resource

    trees = [BoardTree.of(canonical_board(board, Deck()), Deck(), 2, 5) for board in boards]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return trees, f"{os.uname().nodename} {os.getpid()}", peak


def _key(board: Sequence[int], deck: Deck, hole: int, n_board: int) -> bytes:
    """Write a key, such as ``7d2cKs|13x4.2.5``: the canonical board and the shape of the game."""
    return f"{cards_name(board)}|{deck.num_ranks}x{deck.num_suits}.{hole}.{n_board}".encode()
