"""Small whole games that bots play, solved in a second or two, and hands of them dealt at random."""

from random import Random

from cli_runs import good, write

from spewy.game.hand import Hand

LIMIT_GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 2 1 2 2
numSuits = 3
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
NO_LIMIT_GAME = (
    LIMIT_GAME.replace("\nlimit", "\nnolimit\nstack = 400 400")
    .replace("raiseSize = 10 10 20 20\n", "")
    .replace("maxRaises = 2 1 2 2\n", "")
)
SHORT_GAME = NO_LIMIT_GAME.replace("400 400", "11 11")
GAMES = {"limit": LIMIT_GAME, "no-limit": NO_LIMIT_GAME, "a chip behind": SHORT_GAME}

JOB = """
name = "small"
[game]
file = "{file}"
{bets}[boards]
flop = 4
turn = 5
river = 6
[rows]
preflop = 20
flop = 12
turn = 12
river = 12
[solve]
target = "0 mbb"
max_sweeps = {deals}
"""
BETS = """[bets.preflop]
bet = "100%"
raise = "100%"
[bets.flop]
bet = "50%, a"
raise = "100%"
[bets.turn]
bet = "60%, a"
raise = "a"
"""


def folder_of(path, game, deals=300):
    """The folder of a small game that was dealt a few hundred boards."""
    file = write(path, game, "small.game")
    job = JOB.format(file=file, bets="" if "\nlimit" in game else BETS, deals=deals)
    good("solve", write(path, job), "--out", path / "out")
    return path / "out"


def dealt(game, rng):
    """A hand with both players' cards, and the public cards that come."""
    cards = rng.sample(game.deck.cards, 2 * game.num_hole_cards + sum(game.num_board_cards))
    n = game.num_hole_cards
    return Hand.start(game, (tuple(cards[:n]), tuple(cards[n : 2 * n]))), cards[2 * n :]


def limped(game, board, hole=(None, None)):
    """A hand in which both call and check until a board is dealt."""
    hand = Hand.start(game, hole)
    while len(hand.board) < len(board):
        hand = hand.deal(board[len(hand.board) :][: hand.to_deal]) if hand.to_deal else hand.apply("c")
    return hand


def any_action(hand, rng):
    """Some legal action: in no-limit any amount, all-in and the smallest raise more often than others."""
    choices = ["c", "f"] if hand.betting.can_fold else ["c"]
    bounds = hand.betting.raise_bounds()
    if bounds is not None:
        total = rng.choice((bounds[0], bounds[1], rng.randint(*bounds), rng.randint(*bounds)))
        choices += ["r" if hand.game.limit else f"r{total}"] * 2
    return rng.choice(choices)


def seen_by(hand, seat):
    """The hand as one player may know it."""
    hole = (hand.hole[0], None) if seat == 0 else (None, hand.hole[1])
    return Hand(hand.betting, hole, hand.board)


def played_out(hand, coming, choose):
    """The hand at its end, and each state in which somebody acted with the action of ``choose(hand)``."""
    done = []
    while not hand.is_over:
        if hand.to_deal:
            new, coming = coming[: hand.to_deal], coming[hand.to_deal :]
            hand = hand.deal(new)
        else:
            done.append((hand, choose(hand)))
            hand = hand.apply(done[-1][1])
    return hand, done


def play(bot, seat, seed):
    """A whole hand of a bot against random actions."""
    rng = Random(seed)
    hand, coming = dealt(bot.game, rng)
    bot.new_hand(seen_by(hand, seat), seat, seed)

    def choose(hand):
        return bot.act(seen_by(hand, seat)) if hand.to_act == seat else any_action(hand, rng)

    hand, done = played_out(hand, coming, choose)
    bot.hand_over(hand)
    return hand, done
