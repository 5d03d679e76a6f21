"""Small solved spots to play in, and a naive enumeration of everything that can be dealt and played there."""

from itertools import permutations

from cli_runs import good, good_json, write

from buckets.cards import cards_name
from spewy.match.table import Dealt

RIVER = """
name = "river"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs Jh 2h 8c 3d"
pot = 200
stack = 900
oop = "AhAs,7h6h:0.5,QcJc,AsKs:0.25"
ip = "KhKc,JcTc,AsQd:0.75"
rake = { rate = 0.05, cap = 40 }
[bets.river]
bet = "50%, a"
raise = "a"
[solve]
target = "0.2%"
"""
"""The ranges share cards, and the pot is raked."""

BOARDS = ("QsJh2h8c3d", "Ah9h5h4h2h", "Kd9s6s5d4s")
"""Boards of a batch."""


def unraked(board):
    """The river without rake on another board."""
    return RIVER.replace("Qs Jh 2h 8c 3d", board).replace("rake = { rate = 0.05, cap = 40 }\n", "")


SMALL_TURN = """
name = "turn"
unit = "bb"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2d 3c"
pot = 1
stack = 1.5
oop = "AhAd,KdQd"
ip = "KhKc,8s7s"
[bets.turn]
bet = "50%"
[solve]
target = "0.5%"
"""
"""Amounts are in big blinds of 100 chips."""


def solve(folder, text, out):
    """Solve the text of a job file in a folder's subfolder ``out``."""
    job = write(folder, text, f"{out}.toml")
    good("solve", job, "--out", folder / out)
    job.unlink()
    return folder / out


def shown_row(folder, line, board, hole):
    """The output of `spewy show` at a decision, and its row of a hand."""
    shown = good_json("show", folder, "--line", line, "--board", board)
    cards = {hole[:2], hole[2:]}
    return shown, next(row for name, row in shown["hands"].items() if {name[:2], name[2:]} == cards)


def enumerate_pairs(spot):
    """Each pair of hands that can be dealt, with its probability: by a loop over all pairs."""
    held = [
        {tuple(spot.problem.hands[i].tolist()): weights[i] for i in weights.nonzero()[0]}
        for weights in spot.problem.ranges
    ]
    pairs = {
        (first, second): held[0][first] * held[1][second]
        for first in held[0]
        for second in held[1]
        if len({*first, *second, *spot.board}) == 4 + len(spot.board)
    }
    total = sum(pairs.values())
    return {pair: float(weight / total) for pair, weight in pairs.items()}


def enumerate_deals(spot):
    """Each deal of both hands and of all later cards, with its probability."""
    n_later = spot.game.board_sizes[-1] - len(spot.board)
    for (first, second), chance in enumerate_pairs(spot).items():
        left = [card for card in spot.game.deck.cards if card not in {*first, *second, *spot.board}]
        boards = list(permutations(left, n_later))
        for later in boards:
            yield Dealt((first, second), (*spot.board, *later)), chance / len(boards)


def enumerate_hands(spot, policy):
    """Every way to play every deal: finished hands and their probabilities.

    ``policy(spot, hand, cards)`` gives pairs of an ACPC action and its probability for the player to act.
    """
    for dealt, chance in enumerate_deals(spot):
        yield from ends(spot, spot.table(dealt).hand, dealt, chance, policy)


def ends(spot, hand, dealt, chance, policy):
    if hand.to_deal:
        dealt_now = dealt.board[len(hand.board) : len(hand.board) + hand.to_deal]
        yield from ends(spot, hand.deal(dealt_now), dealt, chance, policy)
    elif hand.to_act is None:
        yield hand, chance
    else:
        for action, share in policy(spot, hand, hand.hole[hand.to_act]):
            if share > 0:
                yield from ends(spot, hand.apply(action), dealt, chance * share, policy)


def solved(spot, hand, cards):
    """Return the action that the strategy plays."""
    actions, frequencies = spot.strategy(hand, cards)
    return [(action.acpc, share) for action, share in zip(actions, frequencies.tolist(), strict=True)]


def names(pair):
    return tuple(cards_name(sorted(cards, reverse=True)) for cards in pair)
