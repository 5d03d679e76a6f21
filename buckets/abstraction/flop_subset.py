"""Weighted subsets of hold'em's 1,755 flops with nearly the average equities of all flops.

The features of a flop come from sixty random pairs of sixteen usual ranges: one range's equity against the other, and
the distribution of equity over its hands in twentieths, each less its average over all flops, projected on the 64
longest principal axes and rounded. `benchmarks.studies.flop_subsets` makes the table; `representatives` chooses the
flops.
"""

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree
from buckets.abstraction.representatives import representatives, ward_tree
from buckets.cards.cards import cards_name
from buckets.cards.symmetry import canonical_flops
from buckets.errors import BoardError

N_FLOPS = 1755

TABLE = files("buckets") / "data" / "flops.npy"
"""``[flop, axis]``, in the order of `buckets.cards.canonical_flops`."""


class FlopSubset(NamedTuple):
    """Flops that represent all flops.

    Attributes:
        flops: ``[flop, card]``, ascending.
        counts: ``[flop]``, how many of the 22,100 flops each flop represents.
    """

    flops: NDArray[np.int64]
    counts: NDArray[np.int64]

    def named(self) -> dict[str, int]:
        """Return how many flops each flop represents, by its name with high cards first."""
        names = (cards_name(flop[::-1]) for flop in self.flops.tolist())
        return dict(zip(names, self.counts.tolist(), strict=True))


def flop_subset(n: int) -> FlopSubset:
    """Return the subset of `n` flops, the same on every machine.

    Raises:
        BoardError: `n` is not from 1 to 1,755.

    >>> flop_subset(25).counts.sum()
    np.int64(22100)
    """
    if not 1 <= n <= N_FLOPS:
        raise BoardError(f"subset of flops: expected 1 to {N_FLOPS:,} of them, found {n:,}")
    flops, counts = canonical_flops()
    found = representatives(flop_features(), counts, n, _tree())
    return FlopSubset(flops[found.samples], found.weights)


@lru_cache(maxsize=1)
def flop_features() -> NDArray[np.int16]:
    """Return the features of all flops: ``[flop, axis]``."""
    with TABLE.open("rb") as file:
        table: NDArray[np.int16] = np.load(file, allow_pickle=False)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=1)
def _tree() -> MergeTree:
    return ward_tree(flop_features().astype(np.int64), canonical_flops()[1])
