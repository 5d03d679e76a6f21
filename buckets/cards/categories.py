"""Names of the categories of made hands. The highest bits of a strength are the number of the hand's category."""

from buckets.cards.cards import RANKS

#: Names by category number. The last four are categories of three cards, which rank in another order.
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
