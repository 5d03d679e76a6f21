"""Spots from hands: pot, stacks, bets and ranges, and the jobs that a review asks for."""

import json
import tomllib

import pytest
from cli_runs import good, good_json, refused, spewy

from spewy.bridges.from_hand import Origin, ranges_of, spot_of_hand
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.job.job import Job
from spewy.match.room_text import read_rooms

GAME = load_game("holdem.nolimit.2p.reverse_blinds")
HAND = """\
PokerStars Hand #{number}:  Hold'em No Limit ($0.50/$1.00 USD) - 2026/01/02 3:04:05 ET
Table 'T' 2-max Seat #1 is the button
Seat 1: Ann ($100 in chips)
Seat 2: Bob (${stack} in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Ann [{cards}]
{before}
*** FLOP *** [{board}]
Bob: checks
Ann: bets $2
Bob: calls $2
*** TURN *** [{board}] [9h]
Bob: bets $7
Ann: folds
Uncalled bet ($7) returned to Bob
Bob collected $9 from pot
*** SUMMARY ***
"""
RAISED = "Ann: raises $1.50 to $2.50\nBob: calls $1.50"
BOARD = "7c 4d 2s"
LIMP_RAISED = "hu-50bb-bb-raises-limp hu-50bb-btn-limp-calls-raise"


def text(number=1, *, stack="90", cards="Ah Kd", before=RAISED, board=BOARD):
    return HAND.format(number=number, stack=stack, cards=cards, before=before, board=board)


def hand(**changes):
    (found,) = read_rooms(GAME, text(**changes))
    return found


def test_the_spot_of_a_hand_has_its_pot_stacks_and_bets_first():
    found = spot_of_hand(hand()).answers
    assert (found.pot, found.stack, found.caller_checks) == (5, 87.5, True)
    assert found.sizes == {"flop.bet": "40%, 75%", "turn.donk": "77.8%"}  # 2 of 5, and 7 of 9
    assert [each.about for each in found.ranges] == [
        "Heads-up, 100 big blinds: the button raises to 2.5, the big blind calls.",
        "Heads-up, 100 big blinds: the button raises to 2.5.",
    ]


def test_a_spot_may_begin_on_the_turn():
    found = spot_of_hand(hand(), "turn")
    assert (found.answers.pot, found.answers.stack, len(found.answers.board)) == (9, 85.5, 4)
    assert found.answers.sizes == {"turn.bet": "77.8%"}
    assert "does not narrow them" in found.notes[1]
    with pytest.raises(InputError, match="hand 1 has no decision on the river; choose an earlier street"):
        spot_of_hand(hand(), "river")


def test_a_bet_into_the_raiser_opens_the_first_decision():
    lead = text().replace("Bob: checks\nAnn: bets $2\nBob: calls $2", "Bob: bets $2\nAnn: calls $2")
    (found,) = read_rooms(GAME, lead)
    assert spot_of_hand(found).answers.overrides == ("bets.flop.oop.bet=40%",)


def test_a_bet_that_leaves_little_behind_stays_a_bet():
    deep, short = (spot_of_hand(hand(stack=stack)).answers for stack in ("90", "15"))
    assert (deep.overrides, short.overrides) == ((), ("tree.force_allin=0",))
    assert short.sizes["turn.donk"] == "77.8%"  # 3.50 stay behind, 15 % of the pot of 23


def test_cards_outside_of_a_range_are_added_to_it():
    found = spot_of_hand(
        hand(cards="7h 2c", before="Ann: raises $1.50 to $2.50\nBob: raises $7 to $9.50\nAnn: calls $7")
    )
    assert found.answers.ranges[1].text.endswith("\n7h2c")
    assert "7h2c is not in the range of ip; the spot has it in addition" in found.notes


@pytest.mark.parametrize(
    ("players", "positions", "actions", "depth", "names", "exact"),
    [
        (2, "BB BTN", "BTN call", 40, "hu-50bb-bb-checks hu-50bb-btn-limps", True),
        (2, "BB BTN", "BTN call, BB raise, BTN call", 9, "hu-10bb-bb-raises-limp hu-10bb-btn-limp-calls-raise", True),
        (2, "BB BTN", "BTN raise, BB call", 150, "hu-200bb-bb-calls-raise hu-200bb-btn-raises", True),
        (2, "BB BTN", "BTN raise, BB raise, BTN call", 25, "hu-20bb-bb-3bets hu-20bb-btn-calls-3bet", True),
        # ten and twenty big blinds have no 4-bet that is called
        (2, "BB BTN", "BTN raise, BB raise, BTN raise, BB call", 20, "hu-100bb-bb-calls-4bet hu-100bb-btn-4bets", True),
        (2, "BB BTN", "BTN call, BB raise, BTN raise, BB call", 50, LIMP_RAISED, False),
        (6, "BB BTN", "BTN raise, BB call", 100, "6max-bb-calls-btn 6max-btn-opens", True),
        (6, "SB BTN", "BTN raise, SB raise, BTN call", 100, "6max-sb-3bets-btn 6max-btn-calls-sb-3bet", True),
        (6, "BB HJ", "HJ raise, BB call", 100, "6max-bb-calls-co 6max-co-opens", False),
        (6, "SB BB", "SB call", 100, "hu-100bb-btn-limps hu-100bb-bb-checks", False),
        (9, "BB UTG+2", "UTG+2 raise, BB call", 100, "6max-bb-calls-utg 6max-utg-opens", True),
    ],
)  # fmt: skip
def test_ranges_are_those_of_the_line_before_the_flop(players, positions, actions, depth, names, exact):
    told = tuple((*each.split(), 1.0) for each in actions.split(", "))
    found = ranges_of(Origin(tuple(positions.split()), depth, told, (0, 0), players))
    assert found.names == tuple(names.split())
    assert ("nearest" not in found.why) == exact, found.why
    if "raise" in actions:
        last = [seat for seat, kind, _ in told if kind == "raise"][-1]
        assert found.raiser == ("oop", "ip")[positions.split().index(last)]


@pytest.fixture
def session(tmp_path):
    """Twelve hands on two flops, and one that nobody can read."""
    boards = [BOARD, "7d 4c 2s", "Ks Qs Js"]  # the first two are equal up to suits
    texts = [text(100 + i, board=boards[i % 3], stack=str(89 + i % 2)) for i in range(12)]
    file = tmp_path / "session.txt"
    file.write_text("\n\n\n".join([*texts, text(200).replace("Bob: checks", "Bob: passe")]))
    return file


def test_a_job_from_a_hand_at_the_command_line(session, tmp_path):
    run = spewy(
        "new", tmp_path / "job.toml", "--from-hand", session, "--hand", 101, "--set", "tree.add_allin=0.5"
    )
    job = Job.load(tmp_path / "job.toml")
    assert (job.name, job.spot.pot, job.spot.stack) == ("hand-101-7d4c2s", 5, 87.5)
    assert "hand 200 not readable: line" in run.stderr
    assert "ranges: BTN against BB, single raised pot, 90 big blinds deep" in run.stderr
    assert tomllib.loads((tmp_path / "job.toml").read_text())["bets"]["flop"]["bet"] == "40%, 75%"
    listed = good("new", "--from-hand", session, "--list").splitlines()
    assert len(listed) == 12
    assert listed[0].startswith("100  Bob (BB) ?, Ann (BTN) ")
    by_place = good("new", "--from-hand", session, "--hand", 2, "--bet", "50%")
    assert 'name = "hand-101-7d4c2s"' in by_place
    assert '[bets.flop]\nbet = "50%"' in by_place


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--hand", 13), "has no hand 13; it has 100 to 111"),
        ((), "has 12 hands; choose one with --hand N"),
        (("--hand", 100, "--street", "river"), "hand 100 has no decision on the river"),
        (("--hand", 100, "--board", "Ks 7h 2d"), "--from-hand gives the board"),
        (("--hand", 100, "--preset", "srp-btn-bb"), "--from-hand gives the board"),
    ],
)
def test_wrong_options_are_refused(session, options, error):
    assert error in refused("new", "--from-hand", session, *options)


def test_hand_and_street_need_a_file():
    assert "belong to --from-hand" in refused("new", "--hand", 3)


def test_a_review_names_the_spots_that_are_missing_and_writes_their_jobs(session, tmp_path):
    folder = tmp_path / "missing"
    found = good_json("review", session, "--missing", folder, "--json")
    (spot,) = found["missing"]
    assert (spot["name"], len(spot["hands"]), spot["boards"]) == (
        "hu-100bb-srp",
        12,
        ["7c 4d 2s", "Ks Qs Js"],
    )
    data = tomllib.loads((folder / "hu-100bb-srp.toml").read_text())
    assert data["spot"]["boards"] == spot["boards"]
    assert data["spot"]["stack"] / data["spot"]["pot"] == pytest.approx((86.5 + 87.5) / 2 / 5)
    assert json.loads(json.dumps(data["save"])) == {"rounds": "flop"}
    run = spewy("review", session, "--missing", folder)
    assert "12 hands on 2 flops: BTN against BB, single raised pot" in run.stderr
    assert "1 hand not readable (200): line" in run.stderr


def test_another_job_is_not_overwritten(session, tmp_path):
    (tmp_path / "hu-100bb-srp.toml").write_text("mine")
    assert "exists and has another job; give another folder" in refused(
        "review", session, "--missing", tmp_path
    )
    assert "cannot be made: " in refused("review", session, "--missing", session / "below")
    assert (tmp_path / "hu-100bb-srp.toml").read_text() == "mine"


def test_hands_far_apart_in_stacks_are_two_spots(tmp_path):
    file = tmp_path / "hands.txt"
    file.write_text("\n\n".join(text(i, stack=stack) for i, stack in enumerate(("100", "70", "98"))))
    found = good_json("review", file, "--missing", tmp_path, "--json")["missing"]
    assert [each["hands"] for each in found] == [[2, 0], [1]]
    assert [each["name"] for each in found] == ["hu-100bb-srp", "hu-50bb-srp"]


def test_a_review_needs_a_folder():
    assert "give --lockers FOLDER, or --missing FOLDER" in spewy("review", "x.txt").stderr
