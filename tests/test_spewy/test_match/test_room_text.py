"""Hand histories of rooms: random hands dealt by PokerKit and written by a naive writer, and oddities by hand.

``pytest -m slow tests/test_spewy/test_match/test_room_text.py -s`` reads 2,000 random hands and prints the counts.
"""

import warnings
from collections import Counter
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from itertools import islice
from random import Random

import pytest
from bot_games import NO_LIMIT_GAME, folder_of
from cli_runs import good, refused
from stand_ins import Told

from spewy.cli.bots import write_hands
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import LoggedHand, UnreadHand
from spewy.match.hand_files import read_hands, read_hands_text
from spewy.match.phh import phh_text
from spewy.match.room_text import pokerstars_text, read_rooms
from spewy.match.table import Seat, deals, play_hand

pokerkit = pytest.importorskip("pokerkit")

GAME = load_game("holdem.nolimit.2p.reverse_blinds")
RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = [rank + suit for rank in RANKS for suit in SUITS]
WHEN = datetime(2026, 11, 28, 12)
POSITIONS = {2: "BB BTN", 3: "SB BB BTN", 4: "SB BB CO BTN", 5: "SB BB HJ CO BTN", 6: "SB BB UTG HJ CO BTN"}


def money(cents, is_gg):
    """A room's way to write an amount: GGPoker leaves zeros out, and groups thousands."""
    text = f"{cents / 100:,.2f}" if is_gg else f"{cents / 100:.2f}"
    return "$" + (text.rstrip("0").rstrip(".") if is_gg else text)


class Dealt:
    """A random hand that PokerKit deals, and its text."""

    def __init__(self, rng, number):
        self.is_gg, self.number = rng.random() < 0.5, number
        n = rng.choice((2, 2, 2, 3, 4, 6))
        big = rng.choice((2, 5, 10, 50, 100, 1000))
        small = rng.choice([part for part in (1, 2, 5, 25, 50, 400, 500) if part < big])
        ante = rng.choice((0, 0, 0, max(1, big // 10)))
        self.big = big
        self.stacks = [rng.randrange(3 * big, 130 * big) for _ in range(n)]
        self.names = [f"P {i}: x" if i == 1 else f"player{i}" for i in range(n)]
        names = pokerkit.Automation
        automations = tuple(
            each for each in names if each.name not in ("HOLE_DEALING", "BOARD_DEALING", "CARD_BURNING")
        )
        game = pokerkit.NoLimitTexasHoldem(automations, True, ante, (small, big), big)
        self.state = game(tuple(self.stacks), n)
        deck = rng.sample(DECK, 2 * n + 5)
        self.board, self.holes = deck[:5], [deck[5 + 2 * i : 7 + 2 * i] for i in range(n)]
        self.at_flop = None
        self.lines = list(self.head(small, big, ante, rng))
        for hole in self.holes:
            self.state.deal_hole("".join(hole))
        self.play(rng, big)
        self.lines.append("*** SUMMARY ***")
        self.lines += [f"Total pot {self.money(0)} | Rake {self.money(0)}", *self.shown(n)]

    def money(self, cents):
        return money(cents, self.is_gg)

    def head(self, small, big, ante, rng):
        stakes = f"{self.money(small)}/{self.money(big)}"
        if self.is_gg:
            inner = f"({self.money(ante)})" if ante else ""
            yield f"Poker Hand #HD{self.number}: Hold'em No Limit ({stakes}{inner}) - 2026/01/02 03:04:05"
        else:
            yield f"PokerStars Hand #{self.number}:  Hold'em No Limit ({stakes} USD) - 2026/01/02 3:04:05 ET"
        n = len(self.names)
        # PokerKit's players begin with the small blind, or in heads-up hands with the big blind.
        shift = rng.randrange(n)
        seats = {i: (i + shift) % n + 1 for i in range(n)}
        yield f"Table 'Some Table' 6-max Seat #{seats[n - 1]} is the button"
        for i in sorted(seats, key=seats.get):
            yield f"Seat {seats[i]}: {self.names[i]} ({self.money(self.stacks[i])} in chips) "
        self.seats = seats
        if ante:
            for name in self.names:
                yield f"{name}: posts the ante {self.money(ante)}"
        sb, bb = (1, 0) if n == 2 else (0, 1)
        yield f"{self.names[sb]}: posts small blind {self.money(small)}"
        yield f"{self.names[bb]}: posts big blind {self.money(big)}"
        yield "*** HOLE CARDS ***"
        yield f"Dealt to {self.names[0]} [{' '.join(self.holes[0])}]"
        if self.is_gg:
            yield from (f"Dealt to {name} " for name in self.names[1:])

    def play(self, rng, big):
        state, streets = self.state, iter((("FLOP", 3), ("TURN", 4), ("RIVER", 5)))
        told = 0
        while state.status:
            player = state.actor_index
            if player is None:
                street, size = next(streets)
                cards = (
                    f"[{' '.join(self.board[:told])}] [{self.board[size - 1]}]"
                    if told
                    else f"[{' '.join(self.board[:3])}]"
                )
                self.lines.append(f"*** {street} *** {cards}")
                if not told:
                    active = [i for i in range(len(self.names)) if state.statuses[i]]
                    self.at_flop = active, state.total_pot_amount, tuple(state.stacks)
                state.burn_card("??")
                state.deal_board("".join(self.board[told:size]))
                told = size
                continue
            self.act(rng, player, big, bool(told))

    def act(self, rng, player, big, after_flop):
        state, name = self.state, self.names[player]
        low, high = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
        highest, bet = max(state.bets), state.bets[player]
        what = rng.random()
        if low is not None and what < 0.35:
            total = high if rng.random() < 0.1 else min(high, max(low, rng.randrange(low, low + 6 * big)))
            verb = "bets" if not highest else f"raises {self.money(total - highest)} to"
            state.complete_bet_or_raise_to(total)
            text = f"{verb} {self.money(total)}"
        elif state.can_fold() and highest > bet and what < (0.5 if after_flop else 0.75):
            state.fold()
            self.lines.append(f"{name}: folds")
            return
        else:
            more = state.checking_or_calling_amount
            state.check_or_call()
            text = f"calls {self.money(more)}" if more else "checks"
        self.lines.append(f"{name}: {text}" + (" and is all-in" if not state.stacks[player] else ""))
        if rng.random() < 0.05:
            self.lines.append(f'{self.names[0]} said, "{name}: folds"')

    def shown(self, n):
        """The cards of a showdown, in the summary."""
        if sum(self.state.statuses) > 1 or self.at_showdown():
            for i in range(n):
                yield f"Seat {self.seats[i]}: {self.names[i]} showed [{' '.join(self.holes[i])}] and lost with nothing"

    def at_showdown(self):
        return (
            not any("folds" in line and "said" not in line for line in self.lines) or len(self.active()) > 1
        )

    def active(self):
        folded = {line.rpartition(": folds")[0] for line in self.lines if line.endswith(": folds")}
        return [name for name in self.names if name not in folded]

    def net(self):
        return dict(
            zip(self.names, (b - a for a, b in zip(self.stacks, self.state.stacks, strict=True)), strict=True)
        )


def judge(dealt, found):
    """Compare what was read with PokerKit's hand; return a word for it."""
    n = len(dealt.names)
    if n > 2:
        flop = dealt.at_flop
        is_spot = flop is not None and len(flop[0]) == 2 and all(flop[2][i] for i in flop[0])
        if not is_spot:
            assert isinstance(found, UnreadHand), dealt.lines
            assert found.read, (found, dealt.lines)
            return "no flop of two"
    assert isinstance(found, LoggedHand), (found, dealt.lines)
    hand, net = found.hand, dealt.net()
    unit = Fraction(found.big_blind, dealt.big)
    if found.won() is not None:
        for name, won in zip(found.names, found.won(), strict=True):
            assert abs(won / unit - net[name]) < 1, dealt.lines  # PokerKit splits no chip
    if dealt.at_flop is not None and len(hand.betting.rounds[1]) > 0:
        active, pot, stacks = dealt.at_flop
        spent = hand.betting.spent
        post = [spent[i] - _before_flop(hand) for i in (0, 1)]
        assert 2 * _before_flop(hand) == pot * unit
        behind = [hand.game.stacks[i] - spent[i] + post[i] for i in (0, 1)]
        assert behind == [stacks[i] * unit for i in active], dealt.lines
        assert found.names == tuple(dealt.names[i] for i in active)
        if n > 2:
            assert found.origin.positions == tuple(POSITIONS[n].split()[i] for i in active)
    if dealt.names[0] in found.names:
        assert hand.hole[found.names.index(dealt.names[0])] is not None
    return "heads-up" if n == 2 else "flop of two"


def _before_flop(hand):
    """Chips of each player in the pot at the flop."""
    state = replace(hand, betting=type(hand.betting).start(hand.game, hand.betting.min_bet), board=())
    for action in hand.betting.rounds[0]:
        state = state.apply(action)
    return max(state.betting.spent)


def read_random(seed, number):
    rng = Random(seed)
    dealt = [Dealt(rng, 1000 + i) for i in range(number)]
    text = "\ufeff" + "\n\n\n".join("\n".join(each.lines) for each in dealt)
    found = list(read_hands_text(GAME, text, "test", own_stakes=True))
    assert [each.number for each in found] == [each.number for each in dealt]
    return Counter(judge(one, other) for one, other in zip(dealt, found, strict=True))


def test_random_hands_are_read_as_pokerkit_plays_them():
    counts = read_random(1, 120)
    assert min(counts[kind] for kind in ("heads-up", "flop of two", "no flop of two")) > 10


@pytest.mark.slow
def test_2000_random_hands_are_read_as_pokerkit_plays_them():
    print(dict(read_random(2, 2000)))  # noqa: T201


def random_hands(number):
    bots = tuple(Seat(Told(GAME, player)) for player in (0, 1))
    for i, dealt in enumerate(islice(deals(GAME, 7), number)):
        names = ("Alice", "Bob") if i % 2 else ("Bob", "Alice")
        hand = play_hand(dealt, bots, GAME, (2 * i, 2 * i + 1)).hand
        yield LoggedHand(i, replace(hand, board=GAME.board_order(hand.board)), names)


def test_written_hands_are_read_by_pokerkit_and_by_the_reader():
    hands = list(random_hands(60))
    text = pokerstars_text(hands, WHEN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PokerKit warns of fields that it fills itself
        found = list(pokerkit.HandHistory.from_pokerstars(text, error_status=True))
    for hand, other in zip(hands, found, strict=True):
        *_, last = other
        won = {
            name: stack - start
            for name, start, stack in zip(other.players, other.starting_stacks, last.stacks, strict=True)
        }
        assert won == dict(zip(hand.names, hand.hand.net(), strict=True))
    for hand, read in zip(hands, read_rooms(GAME, text), strict=True):
        assert (read.hand, read.names) == (hand.hand, hand.names)


def test_a_match_writes_its_hands_for_trackers(tmp_path):
    file = tmp_path / "hands.txt"
    options = ("--game", GAME.name, "--hands", 6, "--out", tmp_path / "match", "--pokerstars", file)
    good("match", "call", "raise", *options)
    hands = list(read_hands(GAME, file))
    logs = [each for log in sorted((tmp_path / "match").glob("*.log")) for each in read_hands(GAME, log)]
    assert len(hands) == 12
    written, logged = (sorted((each.hand.net(), each.names) for each in found) for found in (hands, logs))
    assert written == logged
    assert "expected a name that ends in .txt" in refused("match", "call", "raise", "--pokerstars", "x.csv")


def test_a_game_in_the_terminal_writes_its_hands(tmp_path):
    hands, phh, room = list(random_hands(4)), tmp_path / "h.phhs", tmp_path / "h.txt"
    write_hands(hands, phh, room, "Alice")
    for file in (phh, room):
        assert [each.hand.betting for each in read_hands(GAME, file)] == [each.hand.betting for each in hands]
    folder = folder_of(tmp_path, NO_LIMIT_GAME, deals=5)
    options = ("--lockers", folder, "--hands", 1)
    for option, file in (("--pokerstars", room), ("--phh", phh)):
        assert "the hand history format has no code for it" in refused(
            "play", "terminal", *options, option, file
        )


def test_broken_texts_are_never_an_unexpected_error():
    rng, lines = Random(3), "\n\n".join([HAND, THREE, HAND.replace("#77", "#78")]).splitlines()
    letters = "0123456789$.,:[]()*#& AhsxT€é"
    read = Counter()
    for _ in range(300):
        broken = list(lines)
        for _ in range(rng.randrange(1, 4)):
            place, way = rng.randrange(len(broken)), rng.randrange(4)
            line = broken[place]
            cut = rng.randrange(len(line) + 1)
            broken[place] = (
                (line[:cut] + rng.choice(letters) + line[cut + way :]) if way < 3 else rng.choice(lines)
            )
        try:
            read.update(
                type(each).__name__ for each in read_hands_text(GAME, "\n".join(broken), "x", own_stakes=True)
            )
        except InputError:
            read["error"] += 1
    assert min(read["LoggedHand"], read["UnreadHand"]) > 50


def test_a_hero_sees_only_the_own_cards_and_those_of_a_showdown():
    text = pokerstars_text(random_hands(40), WHEN, "Alice")
    assert "Dealt to Bob" not in text
    for hand, read in zip(random_hands(40), read_rooms(GAME, text), strict=True):
        place = hand.names.index("Bob")
        seen = hand.hand.hole[place] if hand.hand.betting.folded is None else None
        assert read.hand.hole[place] == seen


HAND = """\
PokerStars Hand #77:  Hold'em No Limit ($0.50/$1.00 USD) - 2026/01/02 3:04:05 ET
Table 'T' 2-max Seat #1 is the button
Seat 1: Ann ($100 in chips)
Seat 2: Bob ($90.50 in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Ann [Ah Kd]
Ann: raises $1.50 to $2.50
Bob: calls $1.50
*** FLOP *** [7c 4d 2s]
Bob: checks
Ann: bets $2.50
Bob: folds
Uncalled bet ($2.50) returned to Ann
Ann collected $4.75 from pot
*** SUMMARY ***
Total pot $5 | Rake $0.25
Board [7c 4d 2s]
Seat 1: Ann (button) (small blind) collected ($4.75)
Seat 2: Bob (big blind) folded on the Flop
"""


def one(old="", new="", text=HAND):
    assert old in text
    (hand,) = read_rooms(GAME, text.replace(old, new, 1))
    return hand


def test_a_hand_with_cents_is_a_hand_of_two():
    hand = one()
    assert (hand.number, hand.names, hand.origin) == (77, ("Bob", "Ann"), None)
    assert (hand.hand.betting.line, hand.hand.game.stacks, hand.big_blind) == ("r5c/cr10f", (181, 200), 2)
    assert hand.won() == (-5, 5)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Bob: checks", "Bob: passe", "line 12 (Bob: passe): expected folds, checks, calls, bets or raises"),
        ("Bob: checks", "Ann: checks", "line 12 (Ann: checks): actions: expected f, cc or cbr of p1"),
        ("calls $1.50", "calls $1,50", None),  # the amount of a call is not needed
        ("to $2.50", "to $2,50", "line 9 (Ann: raises $1.50 to $2,50): expected an amount such as $1,234.50"),
        ("[7c 4d 2s]", "[7c 4d 7c]", "line 11 (*** FLOP *** [7c 4d 7c]): actions: "),
        ("to $2.50", "to $1.20", "line 9 (Ann: raises $1.50 to $1.20): actions: expected cbr 2 to cbr 100"),
        ("Hold'em No Limit", "Omaha Pot Limit", "line 1: expected Hold'em No Limit, found 'Omaha Pot Limit"),
        ("Hold'em No Limit", "6+ Hold'em No Limit", "line 1: expected Hold'em No Limit"),
        ("($0.50/$1.00 USD)", "", "line 1: expected blinds such as ($0.50/$1.00)"),
        ("Bob: folds\n", "", "actions: expected a hand that is over"),
        ("PokerStars Hand #77:", "Main PokerStars n° 123456789 :", "line 1: expected a hand in English"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(old, new, reason):
    hand = one(old, new)
    if reason is None:
        assert hand.hand == one().hand
    else:
        assert isinstance(hand, UnreadHand)
        assert not hand.read
        assert hand.reason.startswith(reason)


def test_one_bad_hand_of_many_is_named_and_the_rest_goes_on(tmp_path):
    bad = HAND.replace("#77", "#78").replace("Bob: checks", "Bob: passe")
    (tmp_path / "hands.txt").write_text("\n\n".join((HAND, bad, HAND.replace("#77", "#79"))))
    first, second, third = read_hands(GAME, tmp_path / "hands.txt", own_stakes=True)
    assert (first.number, second.number, third.number) == (77, 78, 79)
    assert first.hand == third.hand
    assert second.reason.startswith("line 35 (Bob: passe)")
    (tmp_path / "hands.txt").write_text(bad)
    with pytest.raises(InputError, match=r"hands.txt: hand 78: line 12 \(Bob: passe\)"):
        list(read_hands(GAME, tmp_path / "hands.txt", own_stakes=True))


def test_a_straddle_is_money_in_the_pot():
    text = HAND.replace("*** HOLE", "Ann: posts straddle $2\n*** HOLE").replace(
        "Ann: raises $1.50 to $2.50\nBob: calls $1.50", "Bob: calls $1\nAnn: checks"
    )
    hand = one(text=text)
    assert hand.origin.positions == ("BB", "BTN")
    assert hand.origin.actions == (("BB", "call", 2.0),)
    assert hand.hand.betting.line == "cc/cr9f"  # a pot of 4 dollars, 4 units each; then the bet of 2.50
    assert hand.won() == (-4, 4)


def test_a_cap_is_the_end_of_the_stacks():
    """A player who has reached the cap is all-in, whatever lies behind it."""
    text = HAND.replace("/$1.00 USD", "/$1.00 - $20 Cap -  USD").replace(
        "Bob: folds", "Bob: raises $15 to $17.50 and has reached the $20 cap\nAnn: folds"
    )
    hand = one(text=text)
    assert hand.hand.game.stacks == (40, 40)
    assert hand.hand.betting.line == "r5c/cr10r40f"
    assert hand.won() == (10, -10)


def test_posted_blinds_count_not_those_of_the_first_line():
    """Tournaments of GGPoker name the blinds of another level there."""
    assert one("($0.50/$1.00 USD)", "Level3 ($0.80/$1.60)") == one()
    hand = one("($0.05/$0.1($0.01))", "($0.08/$0.16($0.01))", text=THREE)
    assert (hand.origin.depth, hand.origin.actions) == (100, (("BTN", "raise", 2.5), ("BB", "call", 2.5)))


def test_a_hand_in_capitals_is_a_hand_too():
    assert one("PokerStars Hand #77:  Hold'em No Limit", "POKERSTARS GAME #77:  HOLD'EM NO LIMIT") == one()


def test_a_board_that_is_dealt_twice_counts_once_and_the_result_is_unknown():
    runs = "Ann: bets $2.50\nBob: raises $85.50 to $88 and is all-in\nAnn: calls $85.50\n"
    runs += "*** FIRST TURN *** [7c 4d 2s] [Th]\n"
    runs += "*** FIRST RIVER *** [7c 4d 2s Th] [3h]\n*** SECOND TURN *** [7c 4d 2s] [Jh]\n"
    runs += "*** SECOND RIVER *** [7c 4d 2s Jh] [5h]\n*** FIRST SHOW DOWN ***\nBob: shows [7h 7d] (three of a kind)\n"
    hand = one("Ann: bets $2.50\nBob: folds\nUncalled bet ($2.50) returned to Ann\n", runs)
    assert len(hand.hand.board) == 5
    assert None not in hand.hand.hole
    assert hand.won() is None


THREE = """\
Poker Hand #RC99: Hold'em No Limit ($0.05/$0.1($0.01)) - 2026/01/02 03:04:05
Table 'RushAndCash1' 6-max Seat #1 is the button
Seat 1: Hero ($10 in chips)
Seat 2: abc ($12.5 in chips)
Seat 3: def ($1,009 in chips)
Hero: posts the ante $0.01
abc: posts the ante $0.01
def: posts the ante $0.01
abc: posts small blind $0.05
def: posts big blind $0.1
*** HOLE CARDS ***
Dealt to Hero [Ah Kd]
Dealt to abc 
Dealt to def 
Hero: raises $0.15 to $0.25
abc: folds
def: calls $0.15
*** FLOP *** [7c 4d 2s]
def: bets $0.3
Hero: folds
Uncalled bet ($0.3) returned to def
def collected $0.58 from pot
*** SUMMARY ***
Total pot $0.58 | Rake $0 | Jackpot $0
"""  # noqa: W291


def test_a_flop_of_two_has_the_money_of_all_in_the_pot():
    hand = one(text=THREE)
    assert (hand.names, hand.origin.positions) == (("def", "Hero"), ("BB", "BTN"))
    assert hand.origin.actions == (("BTN", "raise", 2.5), ("BB", "call", 2.5))
    assert hand.origin.depth == 100
    spent, big_blind = hand.hand.betting.spent, hand.big_blind
    assert Fraction(2 * spent[1], big_blind) == Fraction(58, 10)
    assert Fraction(hand.hand.game.stacks[1] - spent[1], big_blind) == Fraction(974, 10)
    assert [Fraction(won, big_blind) for won in hand.won()] == [Fraction(32, 10), Fraction(-26, 10)]


def test_a_flop_of_two_with_limits_has_the_bets_of_the_first_line():
    """A pot of $9.50: a raise to $4 between the button and the big blind, with a small blind of $1 and a bet of $2."""
    text = (
        THREE.replace("No Limit ($0.05/$0.1($0.01))", "Limit ($2/$4)")
        .replace("abc: posts small blind $0.05", "abc: posts small blind $1")
        .replace("def: posts big blind $0.1", "def: posts big blind $2")
        .replace("raises $0.15 to $0.25", "raises $2 to $4")
        .replace(
            "def: bets $0.3\nHero: folds",
            "def: bets $2\nHero: calls $2\n*** TURN *** [7c 4d 2s] [Ts]\ndef: bets $4\nHero: folds",
        )
    )
    text = "".join(line for line in text.splitlines(keepends=True) if "ante" not in line)
    game = load_game("holdem.limit.2p.reverse_blinds")
    (hand,) = read_rooms(game, text)
    unit = Fraction(hand.big_blind, 2)
    assert hand.hand.game.raise_sizes == tuple(each * unit for each in (2, 2, 4, 4))
    assert [won / unit for won in hand.won()] == [7, -6]
    (phh,) = read_hands_text(game, PHH_LIMIT, "test", own_stakes=True)
    assert [won / Fraction(phh.big_blind, 2) for won in phh.won()] == [7, -6]


PHH_LIMIT = """
variant = "FT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
small_bet = 2
big_bet = 4
starting_stacks = [12.5, 1009, 10]
players = ["abc", "def", "Hero"]
actions = [
  "d dh p3 AhKd", "p3 cbr 4", "p1 f", "p2 cc",
  "d db 7c4d2s", "p2 cbr 2", "p3 cc", "d db Ts", "p2 cbr 4", "p3 f",
]
"""


def test_three_players_on_the_flop_are_no_spot():
    hand = one("abc: folds", "abc: calls $0.2", text=THREE)
    assert hand == UnreadHand(99, "3 players saw the flop; only a flop of two players is a spot", True)


def test_a_poker_hand_history_of_three_is_read_from_the_flop_too():
    text = """
variant = "NT"
antes = [1, 1, 1]
blinds_or_straddles = [5, 10, 0]
min_bet = 10
starting_stacks = [1250, 100900, 1000]
players = ["abc", "def", "Hero"]
actions = ["d dh p3 AhKd", "p3 cbr 25", "p1 f", "p2 cc", "d db 7c4d2s", "p2 cbr 30", "p3 f"]
"""
    (hand,) = read_hands_text(GAME, text, "test", own_stakes=True)
    room = one(text=THREE)
    assert (hand.hand, hand.names, hand.origin) == (room.hand, room.names, room.origin)


def test_formats_are_recognised_by_their_content(tmp_path):
    hands = list(random_hands(3))
    texts = pokerstars_text(hands, WHEN), phh_text(hands), "\n".join(each.text for each in hands)
    for text in texts:
        (tmp_path / "session").write_text(text)
        assert [each.hand for each in read_hands(GAME, tmp_path / "session")] == [each.hand for each in hands]


def test_a_hand_in_the_record_of_slumbot_that_has_no_line_of_its_own_is_named():
    (hand,) = random_hands(1)
    other, found = read_hands_text(GAME, f"# hand 3:b200b300f\n{hand.text}", "record")
    assert other == UnreadHand(3, "line 1: a raise below the smallest legal raise")
    assert found.hand == hand.hand
