"""Names of made hands, draws and blockers by plain loops: the twin of `spewy.game.ranges.hand_kinds`."""

from itertools import combinations

from naive_cards import category_name, strength_key

BEST_FIVE = {
    "straight": "straight",
    "flush": "flush",
    "full house": "full house",
    "four of a kind": "quads",
    "straight flush": "straight flush",
}
RUNS = [{(top - k) % 13 for k in range(5)} for top in range(3, 13)]


def ranks(cards):
    return {card // 4 for card in cards}


def suited(cards, suit):
    return [card for card in cards if card % 4 == suit]


def straight(cards):
    """The number of the highest straight among the ranks of cards, or -1."""
    return max((number for number, run in enumerate(RUNS) if run <= ranks(cards)), default=-1)


def highest_other(board, suit):
    return max(card for card in range(suit, 52, 4) if card not in board)


def made(board, hand):
    low, high = sorted(card // 4 for card in hand)
    without = "ace high" if high == 12 else "king high" if high == 11 else "nothing"
    if not board:
        return "pocket pair" if low == high else without
    category = category_name(board + hand)
    if category in BEST_FIVE:
        return BEST_FIVE[category]
    pairs = []
    for rank in {low, high}:
        if low == high or rank in ranks(board):
            counting = max(combinations(board + hand, 5), key=lambda five: strength_key(list(five)))
            if sum(card // 4 == rank for card in counting) > 1:
                pairs.append(rank)
    if not pairs:
        return without
    if category == "three of a kind":
        return "set" if low == high else "trips"
    if len(pairs) == 2:
        return "two pair"
    above = sum(rank > pairs[0] for rank in ranks(board))
    if low == high:
        return ["overpair", "pocket below top", "underpair"][min(above, 2)]
    return ["top pair", "second pair", "low pair"][min(above, 2)]


def draws(board, hand):
    """All names, whatever order."""
    if len(board) not in (3, 4):
        return set()
    name = made(board, hand)
    found = set()
    if name in ("nothing", "king high", "ace high") and min(ranks(hand)) > max(ranks(board)):
        found.add("overcards")
    order = ["flush", "full house", "quads", "straight flush"]
    if name not in order:
        for suit in range(4):
            mine, all_ = suited(hand, suit), suited(board + hand, suit)
            if len(all_) == 4 and mine:
                found.add("flush draw")
                if highest_other(board, suit) in hand:
                    found.add("nut flush draw")
            if len(board) == 3 and len(all_) == 3 and len(mine) == 2:
                found.add("backdoor flush draw")
    if name not in ("straight", *order):
        outs = {r for r in range(13) if straight([*board, *hand, 4 * r]) > straight([*board, 4 * r])}
        have = ranks(board + hand)
        sides = [
            r
            for r in range(-1, 8)
            if r % 13 in outs and r + 5 in outs and {r + 1, r + 2, r + 3, r + 4} <= have
        ]
        if outs:
            found.add("gutshot" if len(outs) == 1 else "OESD" if sides else "double gutshot")
        elif len(board) == 3 and len(ranks(hand)) == 2:
            own = ranks(hand)
            if any(own <= run and (ranks(board) - own) & run for run in RUNS):
                found.add("backdoor straight draw")
    return found


def blockers(board, hand):
    name = made(board, hand)
    found = set()
    if not board:
        return found
    flushes = ("flush", "full house", "quads", "straight flush")
    if name not in flushes:
        for suit in range(4):
            if len(suited(board, suit)) >= 3 and highest_other(board, suit) in hand:
                found.add("nut flush blocker")
    if name not in ("straight", *flushes):
        possible = [run for run in RUNS if len(run & ranks(board)) >= 3]
        if possible and (possible[-1] - ranks(board)) & ranks(hand):
            found.add("nut straight blocker")
    return found
