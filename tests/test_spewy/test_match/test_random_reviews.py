"""Random hands, dealt by PokerKit, reviewed against five spots; another arithmetic finds sizes and values.

``pytest -m slow tests/test_spewy/test_match/test_random_reviews.py -s`` reviews 2,000 hands and prints the counts.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from random import Random
from types import SimpleNamespace

import pytest
from cli_runs import good, spewy, write

from spewy.look.solution import Solution

pokerkit = pytest.importorskip("pokerkit")

SPOT = """
name = "{name}"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "{board}"
pot = {pot}
stack = {stack}
oop = "{oop}"
ip = "{ip}"
{bets}
[solve]
max_sweeps = {sweeps}
target = "0.01%"
"""
SPOTS = {
    # sizes that round to equal chips in a small pot; an all-in below the smallest full raise
    "sizes": ("Qs Jh 2h 8c 3d", 200, 450, {"river": ("33%, 34%, 100%, 200%", "2.5x, a")}, 50),
    # an all-in far above the only other size
    "deep": ("9h Qd Qh 5s 2c", 200, 900, {"river": ("25%, a", "a")}, 50),
    "turn": ("Ks 7h 2d 3c", 18, 91, {"turn": ("50%, a", "2x, a"), "river": ("30%, 75%", "2x, a")}, 10),
    "flop": (
        "Ts 6s 3d",
        10,
        26,
        {"flop": ("50%", "a"), "turn": ("60%, a", "a"), "river": ("75%, a", "a")},
        4,
    ),
    # a flop without a raise, and with all bets of the turn all-in
    "bare": ("Ac Kc 4d", 26, 40, {"flop": ("33%, 100%", ""), "turn": ("a", ""), "river": ("100%", "")}, 4),
}
RANGES = "AA,QJs:0.5,T9s,76s", "KK,AQs,JTs,98s:0.3"
STAKES = ("1 2", "5 10", "50 100", "0.05 0.10", "0.5 1", "0.01 0.02", "2 5", "1 3", "0.25 0.50")
RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = [rank + suit for rank in RANKS for suit in SUITS]
TOLERANCE = Fraction(1, 20)
NO_STACK = 'variant = "NT"\nblinds_or_straddles = [5, 10]\nactions = ["p2 f"]\n'
THREE_PLAYERS = (
    'variant = "NT"\nantes = [0, 0, 0]\nblinds_or_straddles = [5, 10, 0]\nmin_bet = 10\n'
    'starting_stacks = [1000, 1000, 1000]\nactions = ["d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p3 f", "p1 f"]\n'
)
UNREADABLE = (
    THREE_PLAYERS.replace('"NT"', '"PO"'),
    NO_STACK,
    NO_STACK + "antes = [0, 10]\nstarting_stacks = [100, 100]\n",
    NO_STACK + "starting_stacks = [100, 1e-400]\n",
    "variant = \n",
)


@dataclass
class Solved:
    """A spot, and what a test needs to know of it."""

    name: str
    solution: Solution
    board: list[str]
    pot: int
    stack: int
    hands: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass
class Dealt:
    """A random hand, the text of its history, and what its review must be."""

    spot: Solved
    suits: dict
    text: str = ""
    holes: list[str] = field(default_factory=list)
    known: list[bool] = field(default_factory=lambda: [True, True])
    ratio: Fraction = Fraction(0)
    big_blind: Fraction = Fraction(0)
    moves: list = field(default_factory=list)


@pytest.fixture(scope="module")
def spots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spots")
    found = []
    for name, (board, pot, stack, bets, sweeps) in SPOTS.items():
        rounds = "\n".join(
            f'[bets.{t}]\nbet = "{bet}"' + (f'\nraise = "{raises}"' if raises else "")
            for t, (bet, raises) in bets.items()
        )
        text = SPOT.format(
            name=name,
            board=board,
            pot=pot,
            stack=stack,
            oop=RANGES[0],
            ip=RANGES[1],
            bets=rounds,
            sweeps=sweeps,
        )
        good("solve", write(folder, text, f"{name}.toml"), "--out", folder / "solves" / name)
        solution = Solution.open(folder / "solves" / name)
        hands = solution.node("", ev=False).hands, solution.waiting("", ev=False).hands
        found.append(Solved(name, solution, board.split(), pot, stack, hands))
    yield folder / "solves", found
    for spot in found:
        spot.solution.close()


def deal(rng, spot):
    """Play a random hand that comes to a spot's board in random suits, with almost the spot's ratio of stack to pot."""
    suits = dict(zip(SUITS, rng.sample(SUITS, 4), strict=True))
    dealt = Dealt(spot, suits)
    small, big = map(Fraction, rng.choice(STAKES).split())
    step = Fraction(1, 100) if small.denominator > 1 or rng.random() < 0.2 else Fraction(1)
    ante = big / 5 if rng.random() < 0.1 and (big / 5 / step).denominator == 1 else Fraction(0)
    first, put_in = _preflop(rng, big, step)
    plans, put_in = [first], put_in + ante
    for _ in range(len(spot.board) - 3):
        size = _grid(rng.uniform(float(big), float(2 * put_in)), step) if rng.random() < 0.5 else Fraction(0)
        size = 0 if size < big else size
        plans.append(rng.choice([[size, "c"], ["c", size, "c"]]) if size else ["c", "c"])
        put_in += size
    off = rng.choice((0, 0, rng.uniform(-0.045, 0.045), rng.uniform(-0.045, 0.045), rng.uniform(-0.2, 0.2)))
    behind = max(step, _grid(float(2 * put_in * spot.stack / spot.pot) * (1 + off), step))
    more = rng.choice((Fraction(0), step, _grid(rng.uniform(0, float(3 * put_in + behind)), step)))
    stacks = [put_in + behind, put_in + behind + more]
    rng.shuffle(stacks)
    dealt.ratio = behind / (2 * put_in) / Fraction(spot.stack, spot.pot) - 1
    dealt.big_blind = big * Fraction(spot.pot) / (2 * put_in)
    board = [_renamed(card, suits) for card in spot.board]
    _holes(rng, dealt, board)
    game = pokerkit.NoLimitTexasHoldem(_automations(), True, (ante, ante), (small, big), big)
    state = game(tuple(stacks), 2)
    for hole in dealt.holes:
        state.deal_hole(hole)
    _play(rng, dealt, state, plans, board, step)
    dealt.text = _text(rng, dealt, pokerkit.HandHistory.from_game_state(game, state), ante)
    return dealt


def _automations():
    names = "ANTE_POSTING BET_COLLECTION BLIND_OR_STRADDLE_POSTING HOLE_CARDS_SHOWING_OR_MUCKING HAND_KILLING"
    names += " CHIPS_PUSHING CHIPS_PULLING"
    return tuple(getattr(pokerkit.Automation, name) for name in names.split())


def _grid(amount, step):
    return Fraction(round(amount / float(step))) * step


def _renamed(card, suits):
    return card[0] + suits[card[1]]


def _preflop(rng, big, step):
    """Draw the actions before the flop, and the chips that each player puts in."""
    kind = rng.randrange(4)
    if kind == 0:
        return ["c", "c"], big
    first = max(2 * big, _grid(float(big) * rng.uniform(2, 6), step))
    if kind == 1:
        return [first, "c"], first
    second = max(2 * first - big, _grid(float(first) * rng.uniform(2, 4), step))
    if kind == 2:
        return [first, second, "c"], second
    return ["c", first, "c"], first


def _holes(rng, dealt, board):
    """Draw two hands, mostly from the ranges, and which of them the history shows."""
    while not dealt.holes:
        holes = [
            "".join(rng.sample(DECK, 2))
            if rng.random() < 0.07
            else "".join(_renamed(hand[at : at + 2], dealt.suits) for at in (0, 2))
            for hand in (rng.choice(dealt.spot.hands[player]) for player in (0, 1))
        ]
        cards = [hole[at : at + 2] for hole in holes for at in (0, 2)] + board
        if len(set(cards)) == len(cards):
            dealt.holes = holes
    dealt.known = [rng.random() < 0.85 for _ in (0, 1)]


def _play(rng, dealt, state, plans, board, step):
    """Play the planned actions up to the spot, and random ones from there on, which are noted."""
    used = {*board, *(hole[at : at + 2] for hole in dealt.holes for at in (0, 2))}
    left = [card for card in DECK if card not in used]
    cards = board + rng.sample(left, 5 - len(board))
    queue = [action for plan in plans for action in plan]
    assert state.actor_index == 1
    while state.status:
        if state.can_burn_card():
            state.burn_card("??")
        elif state.can_deal_board():
            size = 3 if not list(state.get_board_cards(0)) else 1
            state.deal_board("".join(cards[:size]))
            cards = cards[size:]
        elif queue:
            action = queue.pop(0)
            if action == "c":
                state.check_or_call()
            else:
                state.complete_bet_or_raise_to(action)
        else:
            shown = ["".join(map(repr, each)) for each in state.board_cards]
            dealt.moves.append(_random_move(rng, state, step, shown))


def _random_move(rng, state, step, shown):
    """Take a random action; return the player, its kind, its share of the pot, whether it is all-in, and the board."""
    player = state.actor_index
    highest, own = max(state.bets), state.bets[player]
    lowest, most = (
        state.min_completion_betting_or_raising_to_amount,
        state.max_completion_betting_or_raising_to_amount,
    )
    can_raise = lowest is not None and state.can_complete_bet_or_raise_to(most)
    kind = rng.choice("cr" if highest == own else "ffcccrr")
    if kind == "r" and not can_raise:
        kind = "c"
    move = SimpleNamespace(player=player, kind=kind, share=None, is_allin=False, board=shown)
    if kind == "f":
        state.fold()
    elif kind == "c":
        state.check_or_call()
    else:
        pot = state.total_pot_amount + highest - own
        share = rng.choice((0.25, 0.33, 0.335, 0.34, 0.5, 0.6, 0.75, 1, 2, rng.uniform(0, 3)))
        amount = rng.choice((lowest, most, *[_grid(float(highest) + share * float(pot), step)] * 5))
        amount = min(max(amount, lowest), most)
        effective = min(amount, state.bets[1 - player] + state.stacks[1 - player])
        move.share = Fraction(effective - highest) / Fraction(pot)
        move.is_allin = effective in (
            state.bets[1 - player] + state.stacks[1 - player],
            own + state.stacks[player],
        )
        state.complete_bet_or_raise_to(amount)
    return move


def _text(rng, dealt, history, ante):
    """Write the history, now and then in odd spellings."""
    actions = []
    for action in history.actions:
        for player, hole in enumerate(dealt.holes):
            if not dealt.known[player]:
                hidden = rng.choice(("????", hole[:2] + "??", "??" + hole[2:]))
                action = action.replace(f"d dh p{player + 1} {hole}", f"d dh p{player + 1} {hidden}")
                action = re.sub(rf"p{player + 1} sm .*", f"p{player + 1} sm", action)
        flop = re.fullmatch(r"d db (..)(..)(..)", action)
        amount = re.fullmatch(r"(p[12]) cbr (.*)", action)
        if flop and rng.random() < 0.2:
            actions += [f"d db {card}" for card in flop.groups()]
        elif amount:
            actions.append(f"{amount[1]} cbr {_number(rng, Fraction(amount[2]))}")
        else:
            actions.append(action + rng.choice(("", "", "", " # thinks")))
    small_first = [_number(rng, Fraction(each)) for each in sorted(history.blinds_or_straddles)]
    fields = {
        "variant": '"NT"',
        "antes": f"[{_number(rng, ante)}, {_number(rng, ante)}]",
        "blinds_or_straddles": f"[{', '.join(small_first)}]",
        "min_bet": _number(rng, Fraction(history.min_bet)),
        "starting_stacks": f"[{', '.join(_number(rng, Fraction(each)) for each in history.starting_stacks)}]",
        "actions": json.dumps(actions),
        "currency": '"USD"',
        "rake": "0.03",
    }
    return "".join(f"{key} = {value}\n" for key, value in fields.items())


def _number(rng, amount):
    """Write an amount, with more decimals than needed now and then."""
    whole = f"{float(amount):.2f}"
    assert Fraction(whole) == amount
    if amount.denominator == 1 and rng.random() < 0.8:
        return str(amount)
    return whole + rng.choice(("", "", "0"))


def expected(dealt):
    """Yield what each reviewed decision must be, by the sizes and values that `Solution.node` gives.

    The last value is a text where the rest of the hand must be skipped.
    """
    spot, back = dealt.spot, {new: old for old, new in dealt.suits.items()}
    line, pot, behind = "", Fraction(spot.pot), spot.stack
    bets, before, farthest, n_actions, over = [0, 0], 0, Fraction(0), 0, False
    in_range = [
        any(
            {_renamed(h[:2], dealt.suits), _renamed(h[2:], dealt.suits)} == {hole[:2], hole[2:]}
            for h in hands
        )
        for hole, hands in zip(dealt.holes, spot.hands, strict=True)
    ]
    reviewed = [fits or not known for fits, known in zip(in_range, dealt.known, strict=True)]
    for move in dealt.moves if any(reviewed) else ():
        if over:
            yield "ends the betting in the spot"
            return
        board = [_renamed(card, back) for card in move.board]
        node = spot.solution.node(line, " ".join(board), ev=False)
        labels = {label: re.fullmatch(r"\D+ (\d+)", label) for label in node.actions}
        totals = {label: int(match[1]) for label, match in labels.items() if match}
        called, distance = max(bets), Fraction(0)
        if move.kind == "r":
            if not totals:
                yield "the spot's tree has no bet or raise"
                return
            shares = {label: (total - called) / (pot + 2 * called) for label, total in totals.items()}
            all_in = [label for label, total in totals.items() if move.is_allin and total == behind]
            off = {label: (abs(share - move.share), share) for label, share in shares.items()}
            label = all_in[0] if all_in else min(off, key=off.get)
            distance = move.share - shares[label]
            acpc = f"r{before + totals[label]}"
        else:
            acpc = move.kind
            label = "fold" if acpc == "f" else "call" if max(bets) > bets[move.player] else "check"
        if reviewed[move.player]:
            yield (
                label,
                SimpleNamespace(line=line, action=acpc, distance=distance, farthest=farthest, move=move),
            )
        farthest = max(farthest, abs(distance))
        line, n_actions = line + acpc, n_actions + 1
        if acpc == "c" and (n_actions > 1):
            paid = max(bets)
            pot, before, behind = pot + 2 * paid, before + paid, behind - paid
            over = behind == 0
            bets, n_actions, line = [0, 0], 0, line if over else line + "/"
        elif acpc[0] == "r":
            bets[move.player] = totals[label]
    if not all(reviewed):
        yield "is not in the range"


def check(spots, tmp_path, number, seed):
    """Review random hands; return the counts of what was compared."""
    folder, solved = spots
    rng, counts = Random(seed), Counter()
    dealt = {}
    texts = []
    for n in range(1, number + 1):
        if rng.random() < 0.03:
            text = rng.choice((THREE_PLAYERS, *UNREADABLE))  # three players can be read, but are no spot
            texts.append(f"[{n}]\n{text}")
            counts["no spot" if text == THREE_PLAYERS else "not readable"] += 1
        else:
            dealt[n] = deal(rng, rng.choice(solved))
            texts.append(f"[{n}]\n{dealt[n].text}")
    (tmp_path / "hands.phhs").write_text("\n".join(texts))
    result = spewy("review", tmp_path / "hands.phhs", "--lockers", folder, "--json")
    assert result.exit_code == 0, result.stderr
    review = json.loads(result.stdout)
    decisions, skipped = {}, {each["number"]: each for each in review["skipped"]}
    for each in review["decisions"]:
        decisions.setdefault(each["number"], []).append(each)
    assert counts["not readable"] == sum(not each["read"] for each in skipped.values())
    for n, hand in dealt.items():
        assert skipped.get(n, {"read": True})["read"], (skipped[n], hand.text)
        if abs(hand.ratio) > TOLERANCE:
            assert "the ratio of stack to pot" in skipped[n]["reason"]
            counts["other ratio"] += 1
            continue
        _compare(hand, decisions.get(n, []), skipped.get(n), counts)
    return counts


def _compare(hand, found, skipped, counts):
    counts[f"in {hand.spot.name}"] += 1
    places = list(expected(hand))
    assert (skipped is not None) == any(isinstance(each, str) for each in places), (skipped, hand.text)
    for each in places:
        if isinstance(each, str):
            assert each in skipped["reason"], (skipped, hand.text)
            counts[each] += 1
    places = [each for each in places if not isinstance(each, str)]
    assert [each["line"] for each in found] == [place.line for _, place in places], hand.text
    for decision, (label, place) in zip(found, places, strict=True):
        player = place.move.player
        assert decision["name"] == f"player {player + 1}"
        assert decision["action"] == place.action, (decision, hand.text)
        assert decision["board"] == _ordered(place.move.board)
        fit = decision["fit"]
        assert fit["ratio"] == pytest.approx(float(hand.ratio))
        assert fit["distance"] == pytest.approx(float(place.distance), abs=1e-12)
        assert fit["line_distance"] == pytest.approx(float(place.farthest), abs=1e-12)
        assert fit["size"] == (None if place.move.share is None else pytest.approx(float(place.move.share)))
        assert decision["big_blind"] == pytest.approx(float(hand.big_blind))
        counts["decisions"] += 1
        counts["bets of other sizes"] += place.distance != 0
        if not hand.known[player]:
            assert decision["values"] is None
            continue
        shown = list(_shown(hand, place, label))
        counts["costs"] += shown[0][2] is not None
        reviewed = tuple(decision[key] for key in ("frequencies", "values", "cost"))
        assert any(_same(reviewed, each) for each in shown), (reviewed, shown, hand.text)


def _shown(hand, place, label):
    """Yield frequencies, EVs and cost of a decision that `Solution.node` gives, for all suits that fit the board.

    They differ by rounding errors of the solve, which has a strategy for each of the hands that are equal up to suits.
    """
    spot = hand.spot
    hole = [hand.holes[place.move.player][at : at + 2] for at in (0, 2)]
    for suits in permutations(SUITS):
        back = dict(zip(SUITS, suits, strict=True))
        board = [_renamed(card, back) for card in place.move.board]
        if _ordered(board[: len(spot.board)]) != _ordered(spot.board):
            continue
        node = spot.solution.node(place.line, " ".join(board))
        names = {_renamed(card, back) for card in hole}
        (row,) = (i for i, name in enumerate(node.hands) if {name[:2], name[2:]} == names)
        values, ev = node.action_ev[:, row].tolist(), float(node.ev[row])
        is_known = not any(map(math.isnan, [*values, ev]))
        cost = ev - values[node.actions.index(label)]
        yield node.strategy[:, row].tolist(), values if is_known else None, cost if is_known else None


def _same(reviewed, shown):
    return all(
        one is two is None or (None not in (one, two) and one == pytest.approx(two, abs=1e-9))
        for one, two in zip(reviewed, shown, strict=True)
    )


def _ordered(board):
    value = {card: (RANKS.index(card[0]), SUITS.index(card[1])) for card in board}
    flop = sorted(board[:3], key=value.get, reverse=True)
    return "".join(flop + board[3:])


def test_random_hands_are_reviewed_like_the_spots_that_they_reach(spots, tmp_path):
    counts = check(spots, tmp_path, 60, 1)
    assert counts["costs"] > 60
    assert {f"in {name}" for name in SPOTS} <= set(counts)


@pytest.mark.slow
def test_two_thousand_random_hands(spots, tmp_path):
    counts = check(spots, tmp_path, 2000, 2)
    print("\n" + "\n".join(f"{count:6,}  {name}" for name, count in sorted(counts.items())))  # noqa: T201
    assert counts["costs"] > 2000
