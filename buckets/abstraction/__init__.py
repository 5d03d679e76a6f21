"""Groups of boards that play alike, and of hands that play alike on a board.

`OutcomeClustering` and `BoardClustering`, which need scikit-learn, are imported at their first use: loading
scikit-learn takes longer than most solves.
"""

from typing import TYPE_CHECKING

from buckets.abstraction.abstraction import Abstraction, Dealt
from buckets.abstraction.agglomeration import MergeTree, cut_labels, merge_tree
from buckets.abstraction.flop_subset import FlopSubset, flop_features, flop_subset
from buckets.abstraction.grouping import GROUPINGS, BoardTree, Grouping, canonical_board
from buckets.abstraction.outcomes import outcomes
from buckets.abstraction.spec import AbstractionSpec

if TYPE_CHECKING:
    from buckets.abstraction.clustering import BoardClustering, OutcomeClustering

__all__ = [
    "GROUPINGS",
    "Abstraction",
    "AbstractionSpec",
    "BoardClustering",
    "BoardTree",
    "Dealt",
    "FlopSubset",
    "Grouping",
    "MergeTree",
    "OutcomeClustering",
    "canonical_board",
    "cut_labels",
    "flop_features",
    "flop_subset",
    "merge_tree",
    "outcomes",
]


if not TYPE_CHECKING:  # otherwise a type checker would believe that the module has every name

    def __getattr__(name: str) -> object:
        if name in ("BoardClustering", "OutcomeClustering"):
            from buckets.abstraction import clustering

            return getattr(clustering, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
