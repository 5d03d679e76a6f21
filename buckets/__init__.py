"""Cards, hands, suit symmetry and strength: everything about cards, nothing about betting or storage."""

from typing import TYPE_CHECKING

from buckets.abstraction import Abstraction, Dealt
from buckets.agglomeration import MergeTree, merge_tree
from buckets.board_tree import BoardTree, canonical_board
from buckets.cards import Deck, card_name, cards_name, parse_card, parse_cards
from buckets.categories import CATEGORIES
from buckets.cut import cut_labels
from buckets.equity import equities, range_equity
from buckets.errors import BoardError, BucketError, CardError, RangeError
from buckets.flop_subset import FlopSubset, flop_subset
from buckets.grouping import GROUPINGS, Grouping
from buckets.hands import blocked, hand_index, hand_name, hands, parse_hand, preflop_classes
from buckets.making import Wish
from buckets.outcomes import outcomes
from buckets.strength import category, strength, strengths
from buckets.symmetry import (
    Deal,
    History,
    Perms,
    canonical,
    canonical_flops,
    deals,
    hand_kinds,
    hand_permutation,
    permute_cards,
    permute_history,
    range_symmetries,
    stabilizer,
    suit_permutations,
)

if TYPE_CHECKING:
    from buckets.board_classes import BoardClustering
    from buckets.clustering import OutcomeClustering

__all__ = [
    "CATEGORIES",
    "GROUPINGS",
    "Abstraction",
    "BoardClustering",
    "BoardError",
    "BoardTree",
    "BucketError",
    "CardError",
    "Deal",
    "Dealt",
    "Deck",
    "FlopSubset",
    "Grouping",
    "History",
    "MergeTree",
    "OutcomeClustering",
    "Perms",
    "RangeError",
    "Wish",
    "blocked",
    "canonical",
    "canonical_board",
    "canonical_flops",
    "card_name",
    "cards_name",
    "category",
    "cut_labels",
    "deals",
    "equities",
    "flop_subset",
    "hand_index",
    "hand_kinds",
    "hand_name",
    "hand_permutation",
    "hands",
    "merge_tree",
    "outcomes",
    "parse_card",
    "parse_cards",
    "parse_hand",
    "permute_cards",
    "permute_history",
    "preflop_classes",
    "range_equity",
    "range_symmetries",
    "stabilizer",
    "strength",
    "strengths",
    "suit_permutations",
]


if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load an estimator only when it is asked for: scikit-learn takes longer to load than most solves take."""
        if name == "BoardClustering":
            from buckets.board_classes import BoardClustering

            return BoardClustering
        if name == "OutcomeClustering":
            from buckets.clustering import OutcomeClustering

            return OutcomeClustering
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, loaded or not."""
    return sorted(__all__)
