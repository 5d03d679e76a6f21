"""Categories of made hands, and where the number of a strength holds them."""

from buckets.cards.cards import RANKS

#: Names by category number. The last four belong to three cards, where their order is another one.
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "flush",
    "straight",
    "three of a kind",
    "straight flush",
)
N_RANKS = len(RANKS)
CATEGORY_SHIFT = 2 * N_RANKS
