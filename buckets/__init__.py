"""Cards, hands, suit symmetry and strength: everything about cards, nothing about betting or storage."""

from .cards import Deck, card_name, cards_name, parse_card, parse_cards
from .equity import equities, range_equity
from .errors import BoardError, BucketError, CardError, RangeError
from .grouping import GROUPINGS, Grouping, equity_quantiles
from .hands import blocked, hand_index, hand_name, hands, parse_hand, preflop_classes
from .strength import CATEGORIES, category, strength, strengths
from .symmetry import (
    Deal,
    History,
    Perms,
    canonical,
    canonical_flops,
    deals,
    hand_permutation,
    permute_cards,
    permute_history,
    range_symmetries,
    stabilizer,
    suit_permutations,
)

__all__ = [
    "CATEGORIES",
    "GROUPINGS",
    "BoardError",
    "BucketError",
    "CardError",
    "Deal",
    "Deck",
    "Grouping",
    "History",
    "Perms",
    "RangeError",
    "blocked",
    "canonical",
    "canonical_flops",
    "card_name",
    "cards_name",
    "category",
    "deals",
    "equities",
    "equity_quantiles",
    "hand_index",
    "hand_name",
    "hand_permutation",
    "hands",
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
