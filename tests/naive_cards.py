"""Slow, obvious twins of what `buckets` computes."""

from collections import Counter
from itertools import combinations, permutations

RANKS = "23456789TJQKA"
SUITS = "cdhs"

FIVE_CARD_ORDER = [
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
]
THREE_CARD_ORDER = ["high card", "pair", "flush", "straight", "three of a kind", "straight flush"]


def strength_key(cards):
    """(category number, tie-breaking ranks), to be compared as tuples."""
    if len(cards) < 5:
        return _key(cards, THREE_CARD_ORDER)
    return max(_key(five, FIVE_CARD_ORDER) for five in combinations(cards, 5))


def category_name(cards):
    return (FIVE_CARD_ORDER if len(cards) >= 5 else THREE_CARD_ORDER)[strength_key(cards)[0]]


def _key(cards, order):
    counts = Counter(card // 4 for card in cards)
    by_count = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    flush = len(cards) >= 3 and len({card % 4 for card in cards}) == 1
    straight = False
    if len(cards) >= 3 and len(counts) == len(cards):
        straight = by_count[0] - by_count[-1] == len(cards) - 1
        if by_count == [12, *range(len(cards) - 2, -1, -1)]:
            straight, by_count = True, [*range(len(cards) - 2, -1, -1), -1]
    if straight and flush:
        name = "straight flush"
    elif shape[0] == 4:
        name = "four of a kind"
    elif shape[:2] == [3, 2]:
        name = "full house"
    elif flush:
        name = "flush"
    elif straight:
        name = "straight"
    elif shape[0] == 3:
        name = "three of a kind"
    elif shape[:2] == [2, 2]:
        name = "two pair"
    else:
        name = "pair" if shape[0] == 2 else "high card"
    return order.index(name), by_count


def equities(board, hands, opp_weights, deck_cards, n_board):
    """Equity of each hand, None where there is none."""
    out = []
    for hand in hands:
        won = met = 0.0
        if not set(hand) & set(board):
            for opponent, weight in zip(hands, opp_weights, strict=True):
                if weight == 0 or set(opponent) & (set(hand) | set(board)):
                    continue
                left = [card for card in deck_cards if card not in (*board, *hand, *opponent)]
                for more in combinations(left, n_board - len(board)):
                    ours, theirs = (strength_key((*hole, *board, *more)) for hole in (hand, opponent))
                    met += weight
                    won += weight * (1.0 if ours > theirs else 0.5 if ours == theirs else 0.0)
        out.append(won / met if met else None)
    return out


def range_equity(board, hands, weights, opp_weights, deck_cards, n_board):
    """Equity of a range: one pair of hands after another."""
    won = met = 0.0
    for hand, weight in zip(hands, weights, strict=True):
        for opponent, opp_weight in zip(hands, opp_weights, strict=True):
            pair = [hand, opponent]
            equity = equities(board, pair, [0.0, weight * opp_weight], deck_cards, n_board)[0]
            if equity is None:
                continue
            won += weight * opp_weight * equity
            met += weight * opp_weight
    return won / met


def rename(cards, perm):
    return tuple(sorted(card - card % 4 + perm[card % 4] for card in cards))


def orbits(history, n_cards, deck_cards):
    """Deals after a history as a set of sets: alike if a renaming of suits maps one whole onto the other."""
    suits = sorted({card % 4 for card in deck_cards})
    perms = []
    for images in permutations(suits):
        perm = dict(zip(suits, images, strict=True))
        if all(rename(dealt, perm) == tuple(sorted(dealt)) for dealt in history):
            perms.append(perm)
    seen = [card for dealt in history for card in dealt]
    left = [card for card in deck_cards if card not in seen]
    return {frozenset(rename(deal, perm) for perm in perms) for deal in combinations(left, n_cards)}


def parse_range(text):
    """Weights by hand, (low card, high card), of a range such as ``QQ+,A5s-A2s:0.5,KTo``."""
    out = {}
    for group in text.split(","):
        tokens, _, weight = group.partition(":")
        for name in _expand(tokens):
            first, second, kind = RANKS.index(name[0]), RANKS.index(name[1]), name[2:]
            for a in range(4):
                for b in range(4):
                    if (first == second and a < b) or (first != second and (a == b) == (kind == "s")):
                        out[tuple(sorted((4 * first + a, 4 * second + b)))] = float(weight or 1)
    return out


def _expand(tokens):
    top, _, bottom = tokens.partition("-")
    first, second, kind = top[0], RANKS.index(top[1]), top[2:].rstrip("+")
    if top.endswith("+"):
        low, high = second, 12 if first == top[1] else RANKS.index(first) - 1
    else:
        low, high = RANKS.index(bottom[1]) if bottom else second, second
    pair = first == top[1]
    return [(RANKS[rank] if pair else first) + RANKS[rank] + kind for rank in range(low, high + 1)]


def outcomes(board, hand, deck_cards, n_board, key=strength_key):
    """Sorted outcomes of one hand: one final board after another, one opposing hand after another."""
    left = [card for card in deck_cards if card not in (*board, *hand)]
    out = []
    for more in combinations(left, n_board - len(board)):
        final = (*board, *more)
        ours = key((*hand, *final))
        theirs = [
            key((*other, *final)) for other in combinations([c for c in left if c not in more], len(hand))
        ]
        out.append(sum(1.0 if ours > x else 0.5 if ours == x else 0.0 for x in theirs) / len(theirs))
    return sorted(out)
