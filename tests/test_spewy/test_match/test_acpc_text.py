"""The ACPC's protocol as text: states, replies and log lines, and whatever else may come over a wire."""

from contextlib import suppress
from random import Random

import pytest
from acpc_tables import (
    DOYLE,
    LIMIT,
    LIMIT_HAND,
    LIMIT_LOG,
    NO_LIMIT,
    NO_LIMIT_HAND,
    NO_LIMIT_LOG,
    random_action,
    script,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.acpc_text import (
    FinalScore,
    LoggedHand,
    check_name,
    is_comment,
    parse_logged,
    parse_state,
    parse_version,
    read_action,
    read_reply,
    state_text,
)

GAMES = [load_game(n) for n in ("kuhn", "leduc", "rhode-island", "upac", "flop-holdem")] + [
    LIMIT,
    NO_LIMIT,
    DOYLE,
]
PARSERS = (
    lambda line: parse_state(LIMIT, line),
    lambda line: parse_state(NO_LIMIT, line),
    lambda line: parse_logged(NO_LIMIT, line),
    parse_version,
)


def random_hand(game, rng):
    """Hands of a game at all their states, with cards and free folds now and then."""
    cards = rng.sample(game.deck.cards, 2 * game.num_hole_cards + sum(game.num_board_cards))
    size = game.num_hole_cards
    hand, coming = Hand.start(game, (tuple(cards[:size]), tuple(cards[size : 2 * size]))), cards[2 * size :]
    while True:
        while hand.to_deal:
            hand, coming = hand.deal(coming[: hand.to_deal]), coming[hand.to_deal :]
        yield hand
        if hand.is_over:
            return
        hand = hand.given_up() if rng.random() < 0.03 else hand.apply(random_action(hand, rng))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_what_is_written_is_read(game):
    rng = Random(game.name)
    for number in range(30):
        for hand in random_hand(game, rng):
            for position in (0, 1):
                text = state_text(hand, position, number)
                state = parse_state(game, text)
                assert (state.position, state.number, state.text) == (position, number, text)
                assert state.hand.betting == hand.betting
                assert state.hand.board == hand.board
                assert state.is_asking == (hand.to_act == position)
                shown = hand.is_over and hand.betting.folded is None
                assert state.hand.hole[1 - position] == (hand.hole[1 - position] if shown else None)
                assert parse_state(game, text.encode()) == state
        logged = LoggedHand(number, hand, ("Alice", "Bob"))
        assert parse_logged(game, logged.text) == logged


@pytest.mark.parametrize(
    ("game", "transcript", "log"), [(LIMIT, LIMIT_HAND, LIMIT_LOG), (NO_LIMIT, NO_LIMIT_HAND, NO_LIMIT_LOG)]
)
def test_transcripts_are_read(game, transcript, log):
    lines = script(transcript)
    for (who, text), (after, answer) in zip(lines, [*lines[1:], ("S", "")], strict=True):
        if who == "S":
            state = parse_state(game, text)
            assert state.is_asking == (after == "C")
            if state.is_asking:
                assert state.reply(answer.rsplit(":")[-1]) == answer
                assert read_reply(text, answer.encode()) == answer.rsplit(":")[-1]
    assert parse_logged(game, log).text == log


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "expected MATCHSTATE:position:hand:betting:cards"),
        ("MATCHSTATE:0:0::", "hole cards as cards|cards, found ''"),
        ("MATCHSTATE:2:0::AsKs|", "position: expected 0 or 1, found 2"),
        ("MATCHSTATE:x:0::AsKs|", "position: expected a whole number, found 'x'"),
        ("MATCHSTATE:0:-1::AsKs|", "hand: expected a whole number, found '-1'"),
        ("MATCHSTATE:0:0::|AsKs", "expected the cards of player 0"),
        ("MATCHSTATE:0:0::AsAs|", "expected each card once"),
        ("MATCHSTATE:0:0::AsKs|AsQs", "expected cards left in the deck, found As"),
        ("MATCHSTATE:0:0::AsKsQs|", "hole cards of oop: expected 2, found 3"),
        ("MATCHSTATE:0:0::As Ks|", "expected MATCHSTATE:0:0::AsKs|, found MATCHSTATE:0:0::As Ks|"),
        ("MATCHSTATE:0:007::AsKs|", "expected MATCHSTATE:0:7::AsKs|"),
        ("MATCHSTATE:0:0:c:AsKs|/2c3c4c", "expected cards of 0 rounds on the board, found 1"),
        ("MATCHSTATE:0:0:cc/:AsKs|", "expected cards of 1 rounds on the board, found 0"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2c3c", "expected 3, found 2"),
        ("MATCHSTATE:0:0:cc:AsKs|", "expected 'cc/', found 'cc'"),
        ("MATCHSTATE:0:0:crr:AsKs|", "match state: action 'r' after 'c': expected c, r200 to r20000"),
        ("MATCHSTATE:0:0:r0200:AsKs|", "expected 'r200', found 'r0200'"),
        ("MATCHSTATE:0:0:r100:AsKs|", "action 'r100'"),
        ("MATCHSTATE:0:0:ccc:AsKs|", "expected 3 public cards first"),
        ("MATCHSTATE:0:0:fc:AsKs|", "the hand is over"),
        ("MATCHSTATE:0:0:x:AsKs|", "expected f, c or r, found 'x'"),
        ("MATCHSTATE:0:0:cc////:AsKs|/2c3c4c/5c/6c/", "expected"),
        ("MATCHSTATE:0:0:" + "c" * 4000 + ":AsKs|", "expected 3 public cards first"),
        ("MATCHSTATE:0:0::AsKs|:c", "expected MATCHSTATE:position"),
        ("matchstate:0:0::AsKs|", "expected MATCHSTATE"),
        ("MATCHSTATE:0:٣::AsKs|", "plain ASCII"),
    ],
)
def test_states_that_are_none(line, told):
    with pytest.raises(InputError) as error:
        parse_state(NO_LIMIT, line)
    assert told in str(error.value)
    assert len(str(error.value)) < 700


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("STATE:0:c:AsKs|QsJs:0|0:A|B", "expected a hand that is over"),
        (
            LIMIT_LOG.replace("90|-90", "-90|90"),
            "expected STATE:0:rc/rc/rrc/rc:5d5c|9hQd/8dAs8s/4h/6d:90|-90",
        ),
        (LIMIT_LOG.replace("5d5c|", "|"), "expected the hole cards of oop to be shown"),
        (LIMIT_LOG.replace("|Bob", ""), "expected two names"),
        ("SCORE:1|-1:A|B", "expected STATE:hand"),
    ],
)
def test_log_lines_that_are_none(line, told):
    with pytest.raises(InputError) as error:
        parse_logged(LIMIT, line)
    assert told in str(error.value)


def test_scores():
    for totals, text in (((90, -90), "90|-90"), ((0, 0), "0|0")):
        score = FinalScore(totals, ("Alice", "Bob"))
        assert score.text == f"SCORE:{text}:Alice|Bob"


def test_versions_and_comments():
    assert parse_version(b"VERSION:2.0.0") == "VERSION:2.0.0"
    for wrong in (b"", b"VERSION", b"VERSION:2.0", b"VERSION:a.b.c", b"\xff\xfe"):
        with pytest.raises(InputError, match="first line of a client: expected "):
            parse_version(wrong)
    assert all(is_comment(line) for line in (b"", b" ", b"#x", b";GUI", b"  # x"))
    assert not is_comment(b"MATCHSTATE:0:0::AsKs|")


@pytest.mark.parametrize("name", ["", "a:b", "a|b", "a b", "ä", "x" * 101])
def test_names_that_no_log_can_hold(name):
    with pytest.raises(InputError, match="player's name: expected"):
        check_name(name)
    assert check_name("Alice_2.0/x-y") == "Alice_2.0/x-y"


SENT = "MATCHSTATE:1:0:rc/r:|9hQd/8dAs8s"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (f"{SENT}:c", "c"),
        (f"{SENT}:r20:x", "r20:x"),
        (SENT, ""),
        (f"{SENT}:", ""),
        ("MATCHSTATE:1:0:rc/r:5d5c|9hQd/8dAs8s:c", "c"),  # the field of the opponent's cards is not compared
        ("MATCHSTATE:1:0:rc/r:|9hQh/8dAs8s:c", None),
        ("MATCHSTATE:1:0:rc/r:|9hQd/8dAs8c:c", None),
        ("MATCHSTATE:1:0:rc/r:|9hQd:c", None),
        ("MATCHSTATE:0:0:rc/r:|9hQd/8dAs8s:c", None),
        ("MATCHSTATE:1:1:rc/r:|9hQd/8dAs8s:c", None),
        ("MATCHSTATE:1:0:rc/:|9hQd/8dAs8s:c", None),
        ("MATCHSTATE:1:0:rc/r:9hQd/8dAs8s:c", None),
        ("", None),
        ("hello", None),
    ],
)
def test_what_a_reply_answers_to(line, answer):
    assert read_reply(SENT, line.encode()) == answer


CHECKED = Hand.start(NO_LIMIT).apply("c").apply("c").deal((0, 5, 10))
BET = CHECKED.apply("r4351")
ALL_IN = CHECKED.apply("r20000")
LIMIT_START = Hand.start(LIMIT)


@pytest.mark.parametrize(
    ("hand", "answer", "action", "warned"),
    [
        (BET, "c", "c", False),
        (BET, "k", "c", False),
        (BET, "Krest", "c", False),
        (BET, "F", "f", False),
        (CHECKED, "f", "c", True),
        (BET, "B9000", "r9000", False),
        (BET, "r8601", "r8602", True),
        (BET, "r8602and more", "r8602", False),
        (BET, "r99999", "r20000", True),
        (BET, f"r{'9' * 5000}", "r20000", True),
        (BET, "r-5", "r8602", True),
        (BET, "r", "c", True),
        (BET, "rx", "c", True),
        (ALL_IN, "r20000", "c", True),
        (BET, "x", "c", True),
        (BET, "", "c", True),
        (LIMIT_START, "r20", "r", False),
        (LIMIT_START, "b", "r", False),
        (Hand.start(NO_LIMIT), "r120", "r200", True),
    ],
)
def test_what_the_dealer_takes_an_answer_for(hand, answer, action, warned):
    assert read_action(hand, answer)[0] == action
    assert (read_action(hand, answer)[1] is not None) == warned
    hand.apply(action)


def test_folds_are_free_under_the_rules_of_2007():
    assert read_action(CHECKED, "f", free_folds=True) == ("f", None)
    assert CHECKED.given_up().net() == (-100, 100)
    state = parse_state(NO_LIMIT, "MATCHSTATE:1:3:cc/f:|AsKs/2c3d4h")
    assert state.hand.is_over


def test_a_reply_with_an_illegal_action_is_refused():
    with pytest.raises(InputError, match="action 'f' after 'cc/'"):
        parse_state(NO_LIMIT, "MATCHSTATE:0:3:cc/:AsKs|/2c3d4h").reply("f")


def judged(line):
    """Try everything that reads lines from outside on one."""
    for parse in PARSERS:
        with suppress(InputError):
            parse(line)
    is_comment(line)
    answer = read_reply(SENT, line)
    for hand in (BET, CHECKED, LIMIT_START):
        action, _ = read_action(hand, line.decode("ascii", errors="replace") if answer is None else answer)
        hand.apply(action)


def garbled(rng):
    """A line that is nearly one of the protocol's."""
    lines = [text for _, text in script(LIMIT_HAND) + script(NO_LIMIT_HAND)]
    line = bytearray(
        rng.choice([*lines, LIMIT_LOG, NO_LIMIT_LOG, "SCORE:1|-1:A|B", "VERSION:2.0.0"]).encode()
    )
    for _ in range(rng.randint(0, 4)):
        place, kind = rng.randrange(len(line) + 1), rng.randrange(5)
        if kind == 0:
            del line[place:]
        elif kind == 1:
            line[place:place] = rng.choice(lines).encode()[: rng.randint(0, 60)]
        elif kind == 2:
            line[place:place] = bytes(
                rng.choices(b"fcrbk0123456789:/|AKQJT98cdhs \xff\x00", k=rng.randint(1, 9))
            )
        elif kind == 3:
            line[place : place + 1] = bytes([rng.randrange(256)])
        else:
            line[place:place] = bytes([rng.randrange(256)]) * rng.choice((1, 40, 4000))
    return bytes(line)


@pytest.mark.parametrize("n_lines", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_garbled_lines_raise_nothing_else(n_lines):
    rng = Random(1)
    for _ in range(n_lines):
        judged(garbled(rng))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_raise_nothing_else(line):
    judged(line)
