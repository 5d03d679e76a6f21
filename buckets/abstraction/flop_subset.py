"""Weighted subsets of hold'em's 1,755 flops whose average equities are nearly those of all flops.

The features of a flop come from sixty random pairs of sixteen random ranges. Each pair gives twenty features: the
equity of one range against the other, and for each equity of 1/20, 2/20, ..., 19/20 the share of the range's hands
with a lower equity; each minus its average over all flops. The features of all pairs are projected on their 64 longest
principal axes and rounded. `benchmarks.studies.flop_subsets` computes the features, and `representatives` chooses the
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
"""File with the features of all flops: ``[flop, axis]``, in the order of `buckets.cards.canonical_flops`."""


class FlopSubset(NamedTuple):
    """Flops that represent all flops.

    Attributes:
        flops: ``[flop, card]``, the cards of each flop ascending.
        counts: ``[flop]``, number of hold'em's 22,100 flops that each flop represents.
    """

    flops: NDArray[np.int64]
    counts: NDArray[np.int64]

    def named(self) -> dict[str, int]:
        """Return the number of flops that each flop represents, by the flop's name with high cards first."""
        names = (cards_name(flop[::-1]) for flop in self.flops.tolist())
        return dict(zip(names, self.counts.tolist(), strict=True))


def flop_subset(n: int) -> FlopSubset:
    """Return a subset of `n` flops; it is the same on every machine.

    Raises:
        BoardError: `n` is less than 1 or more than 1,755.

    >>> flop_subset(25).counts.sum()
    np.int64(22100)
    """
    if not 1 <= n <= N_FLOPS:
        raise BoardError(f"subset of flops: expected 1 to {N_FLOPS:,} flops, found {n:,}")
    flops, counts = canonical_flops()
    chosen = representatives(flop_features(), counts, n, _tree())
    return FlopSubset(flops[chosen.samples], chosen.weights)


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
