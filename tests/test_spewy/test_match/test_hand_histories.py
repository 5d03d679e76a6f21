"""Hands as files: PHH by a reader of others, and back; logs of the ACPC's dealer."""

from dataclasses import replace
from itertools import islice

import pytest
from stand_ins import Told
from test_match import one_hand

from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import LoggedHand, parse_logged
from spewy.match.cards import deals
from spewy.match.log import read_log
from spewy.match.phh import phh_text, read_phh
from spewy.match.seat import Seat
from spewy.match.table import play_hand

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
        (lambda t: t.replace('"FT"', '"NT"'), "hand 1: variant: expected FT, found 'NT'"),
        (lambda t: t.replace("[5, 10]", "[4, 10]"), r"blinds_or_straddles: expected \[5, 10\]"),
        (lambda t: t.replace('"p2 ', '"p1 ', 1), "expected f, cc or cbr of p2"),
        (
            lambda t: t.replace('"actions"', '"other"').replace("actions =", "other ="),
            "actions: expected a list",
        ),
        (lambda t: "a." * 20_000 + "a = 1", "expected keys of at most 16 names"),
        (lambda t: "= =", r"expected TOML, found: Invalid statement \(at line 1, column 1\): '= ='"),
        (lambda t: "x = 3", "expected a table, found 3"),
        (lambda t: t.replace("d dh p1 ", "d dh p1 2x"), "actions: "),
        (lambda t: t + f"x = {'9' * 5000}", "expected numbers of a few digits, found a number of thousands"),
        (lambda t: t.replace("small_bet = 10", "small_bet = 20"), "small_bet: expected 10, found 20"),
    ],
)
def test_what_is_no_hand_is_refused(change, text):
    with pytest.raises(InputError, match=text):
        list(read_phh(LIMIT, change(one())))


def test_cards_that_are_shown_are_those_that_were_dealt():
    head = 'variant = "FT"\nantes = [0, 0]\nblinds_or_straddles = [5, 10]\n'
    dealt = head + 'actions = ["d dh p1 AsAh", "p2 f", "p1 sm {}"]'
    (hand,) = read_phh(LIMIT, dealt.format("AhAs"))
    assert hand.hand.hole == ((50, 51), None)
    with pytest.raises(InputError, match="expected AsAh of p1 again, found 'p1 sm AsKh'"):
        list(read_phh(LIMIT, dealt.format("AsKh")))


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
