"""Abstractions of games in the bucket locker: the first job computes an abstraction, and later jobs read it.

The locker ``abstraction`` holds the arrays of `buckets.abstraction.Abstraction` under keys that consist of the
specification and the name of the array. The locker ``features`` holds the features of boards that the clustering uses.
They depend only on the game's cards, so a second abstraction of the same game takes less time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import NDArray

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.abstraction.build import ARRAYS, METHOD, feature_names
from spewy.chunks.bucket_trees import BucketCache, shared_cache

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
        spec: the specification of the abstraction.
        progress: called with the numbers of finished boards and of all boards if the abstraction is computed.
        cache: the bucket locker; None: the locker in the user's cache folder.
    """
    cache = cache or shared_cache()
    keys = [_key(spec, name) for name in ARRAYS]
    arrays = cache.arrays(ABSTRACTION, keys)
    if arrays is not None:
        return Abstraction(spec.deck, spec.hole, spec.board_sizes, dict(zip(ARRAYS, arrays, strict=True)))
    features = _Features(cache, spec)
    try:
        built = Abstraction.build(spec, progress, features)
    finally:
        features.keep()
    cache.keep(ABSTRACTION, {_key(spec, name): built.arrays[name] for name in ARRAYS})
    return built


def kept_sizes(spec: AbstractionSpec, cache: BucketCache | None = None) -> Sizes | None:
    """Read the numbers of board buckets and rows of a stored abstraction; None if the bucket locker does not have it.

    Args:
        spec: the specification of the abstraction.
        cache: the bucket locker; None: the locker in the user's cache folder.
    """
    sizes = (cache or shared_cache()).arrays(ABSTRACTION, [_key(spec, "n_classes"), _key(spec, "n_rows")])
    return None if sizes is None else (tuple(sizes[0].tolist()), tuple(sizes[1].tolist()))


def _key(spec: AbstractionSpec, name: str) -> bytes:
    """Return the key of an array of an abstraction.

    An example is ``13x4.2.0-3-1-1.all-100-200-400.169-40-40-40.0.1|rows``: ranks and suits of the deck, hole cards,
    board sizes, board buckets, rows, seed, version of the clustering, and name of the array.
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
    """Arrays of board features by name, which the clustering reads and extends.

    At first it has the features that the bucket locker has stored for the game.
    """

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
