"""Abstractions of games in the bucket locker: made when first asked for, read by every later job.

In the locker ``abstraction`` lie the arrays of `buckets.Abstraction`, raw, under what decides them and their name; in
``features`` those of boards, under the cards that decide them, so that another number of classes takes less time.
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
"""Classes and rows of each round."""


def abstraction(
    spec: AbstractionSpec,
    progress: Callable[[int, int], object] = lambda done, of: None,
    cache: BucketCache | None = None,
) -> Abstraction:
    """An abstraction from the locker, or made and put there.

    Interrupted, what was found of boards' features stays.

    Args:
        spec: the game's cards, and what is asked for.
        progress: told (boards done, boards in all), if any are to be done.
        cache: the locker; None: the user's.
    """
    cache = cache or shared_cache()
    keys = [_key(spec, name) for name in ARRAYS]
    found = cache.arrays(ABSTRACTION, keys)
    if found is not None:
        return Abstraction(spec.deck, spec.hole, spec.board_sizes, dict(zip(ARRAYS, found, strict=True)))
    features = _Features(cache, spec)
    try:
        made = Abstraction.build(spec, progress, features)
    finally:
        features.keep()
    cache.keep(ABSTRACTION, {_key(spec, name): made.arrays[name] for name in ARRAYS})
    return made


def kept_sizes(spec: AbstractionSpec, cache: BucketCache | None = None) -> Sizes | None:
    """How many classes and rows each round has of an abstraction that is in the locker, to be read; None: it is not."""
    found = (cache or shared_cache()).arrays(ABSTRACTION, [_key(spec, "n_classes"), _key(spec, "n_rows")])
    return None if found is None else (tuple(found[0].tolist()), tuple(found[1].tolist()))


def _key(spec: AbstractionSpec, name: str) -> bytes:
    """``13x4.2.0-3-1-1.all-100-200-400.169-40-40-40.0.1|rows``: all that decides an array, and its name."""
    sizes, classes, rows = ("-".join(map(str, part)) for part in (spec.board_sizes, spec.classes, spec.rows))
    how = f"{spec.seed}{'.remember' if spec.remember else ''}.{METHOD}"
    return f"{_deck(spec)}.{sizes}.{classes}.{rows}.{how}|{name}".encode()


def _deck(spec: AbstractionSpec) -> str:
    return f"{spec.deck.num_ranks}x{spec.deck.num_suits}.{spec.hole}"


class _Features(dict[str, NDArray[Any]]):
    """Features of a game's boards, by name, as far as they are in the locker."""

    def __init__(self, cache: BucketCache, spec: AbstractionSpec) -> None:
        self._cache = cache
        self._start = f"{_deck(spec)}.{spec.n_board}.{METHOD}"
        for name in feature_names(spec.board_sizes):
            if found := cache.arrays(FEATURES, [self._key(name)]):
                self[name] = found[0]
        self._there = set(self)

    def keep(self) -> None:
        """Put what is new into the locker."""
        for name in self.keys() - self._there:
            self._cache.keep(FEATURES, {self._key(name): self[name]})

    def _key(self, name: str) -> bytes:
        return f"{self._start}|{name}".encode()
