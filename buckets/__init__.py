"""Cards, hands, suit symmetry and strength: everything about cards, nothing about betting or storage."""

from typing import TYPE_CHECKING

from .agglomeration import MergeTree, merge_tree
from .board_tree import BoardTree, canonical_board
from .cards import Deck, card_name, cards_name, parse_card, parse_cards
from .cut import cut_labels
from .equity import equities, range_equity
from .errors import BoardError, BucketError, CardError, RangeError
from .grouping import GROUPINGS, Grouping
from .hands import blocked, hand_index, hand_name, hands, parse_hand, preflop_classes
from .outcomes import outcomes
from .strength import CATEGORIES, category, strength, strengths
from .symmetry import (
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
    from .clustering import OutcomeClustering

__all__ = [
    "CATEGORIES",
    "GROUPINGS",
    "BoardError",
    "BoardTree",
    "BucketError",
    "CardError",
    "Deal",
    "Deck",
    "Grouping",
    "History",
    "MergeTree",
    "OutcomeClustering",
    "Perms",
    "RangeError",
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
        """Load the estimator only when it is asked for: scikit-learn takes longer to load than most solves take."""
        if name == "OutcomeClustering":
            from .clustering import OutcomeClustering

            return OutcomeClustering
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, loaded or not."""
    return sorted(__all__)
