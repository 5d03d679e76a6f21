"""Hands as files: PHH by a reader of others, and back; logs of the ACPC's dealer."""

import re
from dataclasses import replace
from itertools import islice

import pytest
from stand_ins import Told
from test_match import one_hand

from buckets.cards import parse_cards
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import LoggedHand, parse_logged
from spewy.match.log import read_log
from spewy.match.phh import phh_text, read_phh
from spewy.match.table import Seat, deals, play_hand

LIMIT = load_game("holdem.limit.2p.reverse_blinds")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
DOYLE = load_game("doyle")
GAMES = [LIMIT, NO_LIMIT, DOYLE]


def random_hands(game, number):
    bots = tuple(Seat(Told(game, player)) for player in (0, 1))
    for i, dealt in enumerate(islice(deals(game, 7), number)):
        yield LoggedHand(i, play_hand(dealt, bots, game, (2 * i, 2 * i + 1)).hand, ("Alice", 'B "b"'))


@pytest.fixture(scope="module", params=GAMES, ids=lambda game: game.name)
def played(request):
    return request.param, list(random_hands(request.param, 40))


def test_what_is_written_is_read(played):
    """Boards come back in the order of their names, which is high cards first on the flop."""
    game, hands = played
    named = [
        replace(each, hand=replace(each.hand, board=game.board_order(each.hand.board))) for each in hands
    ]
    assert list(read_phh(game, phh_text(hands))) == named


def test_another_program_reads_the_same_hands(played, tmp_path):
    pokerkit = pytest.importorskip("pokerkit")
    hands = played[1]
    (tmp_path / "hands.phhs").write_text(phh_text(hands))
    with (tmp_path / "hands.phhs").open("rb") as file:
        found = list(pokerkit.HandHistory.load_all(file))
        for hand, history in zip(hands, found, strict=True):
            *_, last = history
            start = history.starting_stacks
            net = tuple(int(stack - begun) for stack, begun in zip(last.stacks, start, strict=True))
            assert net == hand.hand.net(), hand.text


def one(game=LIMIT):
    return phh_text(random_hands(game, 1))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda t: t.replace('"FT"', '"NT"'), "variant: expected FT, found 'NT'"),
        (lambda t: t.replace("[5, 10]", "[4, 10]"), r"blinds_or_straddles: expected \[5, 10\]"),
        (lambda t: t.replace('"p2 ', '"p1 ', 1), "actions: expected f, cc or cbr of p2"),
        (
            lambda t: t.replace('"actions"', '"other"').replace("actions =", "other ="),
            "actions: expected a list",
        ),
        (lambda t: t.replace("d dh p1 ", "d dh p1 2x"), "actions: "),
        (lambda t: t.replace("small_bet = 10", "small_bet = 20"), "small_bet: expected 10, found 20"),
        (lambda t: t.replace("[0, 0]", "[1, 1]"), r"antes: expected \[0, 0\], found \[1, 1\]"),
        (lambda t: t.replace("[5, 10]", "[nan, 10]"), "blinds_or_straddles: expected an amount, found NaN"),
        (
            lambda t: t.replace("[5, 10]", "[5, 10, 20]"),
            r"blinds_or_straddles: expected two players, found 3",
        ),
        (
            lambda t: t.replace("[5, 10]", "[5, 1e-99999]"),
            "blinds_or_straddles: expected an amount, found 1E-99999",
        ),
        (lambda t: t.replace("d dh p1 ", "d dh p1 2c3d"), "actions: expected two cards, found 'd dh p1 2c3d"),
    ],
)
def test_a_hand_that_cannot_be_read_is_named_and_the_others_are_read(change, text):
    before, fault, after = read_phh(
        LIMIT, one() + change(one()).replace("[1]", "[2]") + one().replace("[1]", "[3]")
    )
    assert before.hand == after.hand
    assert re.match(text, fault.reason)


def test_sections_that_are_not_toml_are_named_and_the_others_are_read():
    faults = "[2]\n= =\n[3]\nx = " + "9" * 5000 + "\n[4]\n" + "a." * 20_000 + "a = 1\n"
    first, second, third, fourth, again = read_phh(
        LIMIT, one() + faults + one()
    )  # both hands have the name [1]
    assert first.hand == again.hand
    assert second.reason.startswith("section 2: expected TOML")
    assert third.reason == "section 3: expected numbers of a few digits, found a number of thousands"
    assert fourth.reason.startswith("section 4: expected keys of at most 16 names")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("= =", r"history: expected TOML, found: Invalid statement \(at line 1, column 1\): '= ='"),
        ("a." * 20_000 + "a = 1", "history: expected keys of at most 16 names"),
        ("x = " + "9" * 5000, "history: expected numbers of a few digits, found a number of thousands"),
    ],
)
def test_a_text_that_is_not_toml_is_refused(text, reason):
    with pytest.raises(InputError, match=reason):
        list(read_phh(LIMIT, text))


HEADS_UP = """
variant = "NT"
antes = [{ante}, {ante}]
blinds_or_straddles = [0.05, 0.10]
min_bet = 0.1
starting_stacks = [{stacks}]
rake = 0.02
actions = [{actions}]
"""


def heads_up(*actions, ante="0", stacks="10.00, 7.35"):
    text = HEADS_UP.format(ante=ante, stacks=stacks, actions=", ".join(f'"{each}"' for each in actions))
    (hand,) = read_phh(NO_LIMIT, text, own_stakes=True)
    return hand


def test_decimals_are_read_exactly():
    hand = heads_up("p2 cbr 0.25", "p1 cbr 1.000", "p2 cc", "d db 9hQdQh", "p1 cbr .5", "p2 f").reason
    assert hand == "actions: expected f, cc or cbr of p1, found 'p1 cbr .5'"
    hand = heads_up("p2 cbr 0.25", "p1 cbr 1.000", "p2 cc", "d db 9hQdQh", "p1 cbr 0.505", "p2 f")
    game, betting = hand.hand.game, hand.hand.betting
    assert (game.stacks, game.blinds, hand.big_blind) == ((2000, 1470), (20, 10), 20)  # in units of 0.005
    assert (betting.line, betting.spent) == ("r50r200c/r301f", (301, 200))
    assert hand.hand.net() == (200, -200)


def test_antes_are_put_in_before_the_blinds():
    hand = heads_up("p2 cbr 0.2", "p1 cc", "d db 9hQdQh", "p1 cbr 0.10", "p2 f", ante="0.02")
    assert (hand.big_blind, hand.hand.betting.line) == (10, "r22c/r32f")
    too_small = heads_up("p2 cbr 0.19", "p1 f", ante="0.02").reason
    assert too_small == "actions: expected cbr 0.2 to cbr 7.33, found 'p2 cbr 0.19'"


def test_odd_notations_of_cards():
    """Half-known cards are unknown; cards come singly, at once, or together after an all-in."""
    dealt = "d dh p1 Ah??", "d dh p2 Kd", "d dh p2 Ks", "p2 cc", "p1 cc # thinks", "# a comment"
    hand = heads_up(*dealt, "d db 9h", "d db Qd", "d db Qh", "p1 f", "p2 sm")
    assert hand.hand.hole == (None, tuple(parse_cards("KsKd")))
    assert hand.hand.board == tuple(parse_cards("9hQdQh"))
    hand = heads_up(*dealt, "d db 9hQdQh", "p1 cbr 8", "p2 cc", "d db 2c3c", "p1 sm Ac??", "p2 sm KsKd")
    assert (hand.hand.hole[0], hand.hand.betting.line) == (tuple(parse_cards("AcAh")), "cc/r162c//")
    assert heads_up(*dealt, "d db 9h", "p1 f").reason == "actions: expected 3 public cards, found 'p1 f'"
    assert (
        heads_up("p2 cc", "d db 9h", "p1 cc").reason
        == "actions: expected no public cards now, found 'd db 9h'"
    )


def test_a_blind_that_is_all_in_has_no_action():
    runout = "d db 9hQdQh2c3c"
    assert heads_up(runout, stacks="10, 0.03").hand.betting.line == "c///"
    assert heads_up(runout, stacks="0.04, 10").hand.betting.line == "c///"
    assert heads_up("p2 cc", runout, stacks="0.07, 10").hand.betting.spent == (7, 7)


def test_a_hand_of_the_game_in_another_unit_is_read_in_the_game_s_chips():
    text = HEADS_UP.format(ante=0, stacks="20, 20.0", actions='"p2 cbr 0.25", "p1 f"')
    (hand,) = read_phh(NO_LIMIT, text)
    assert (hand.hand.game, hand.hand.betting.line) == (NO_LIMIT, "r250f")
    (other,) = read_phh(NO_LIMIT, text.replace("20.0", "19.99"))
    assert other.reason == "starting_stacks: expected [20, 20], found [20, 19.99]"
    (small,) = read_phh(NO_LIMIT, text.replace("0.25", "0.2505"))
    assert small.reason == "actions: expected cbr 0.2 to cbr 20, found 'p2 cbr 0.2505'"


def test_cards_that_are_shown_are_those_that_were_dealt():
    head = 'variant = "FT"\nantes = [0, 0]\nblinds_or_straddles = [5, 10]\n'
    dealt = head + 'actions = ["d dh p1 AsAh", "p2 f", "p1 sm {}"]'
    (hand,) = read_phh(LIMIT, dealt.format("AhAs"))
    assert hand.hand.hole == ((50, 51), None)
    (other,) = read_phh(LIMIT, dealt.format("AsKh"))
    assert other.reason == "actions: expected AsAh of p1 again, found 'p1 sm AsKh'"


def test_games_without_a_name_are_refused():
    kuhn = load_game("kuhn")
    hand = LoggedHand(0, one_hand(kuhn, Told, Told).hand, ("a", "b"))
    with pytest.raises(InputError, match="game 'kuhn': the hand history format has no code"):
        phh_text([hand])


def test_a_log_names_the_line_that_is_wrong():
    text = "# comment\n\nSTATE:0:f:AsAh|KsKh:10|-10:a|b\n"
    with pytest.raises(InputError, match=r"log, line 3: log line: expected STATE:0:f:AsAh\|KsKh:5\|-5:a\|b"):
        list(read_log(LIMIT, text.splitlines()))
    line = "STATE:0:f:AsAh|KsKh:5|-5:a|b"
    assert list(read_log(LIMIT, [line, "SCORE:5|-5:a|b"])) == [parse_logged(LIMIT, line)]
