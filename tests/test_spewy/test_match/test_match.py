"""Duplicate matches: cards, bots that fail, logs that go on, and sums told by hand."""

import math
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from match_tables import StandIn, entrants, logs, play
from stand_ins import Rule, call, fail, failing, illegal, looping, raiser

from buckets.cards import cards_name
from spewy.errors import InputError, SpewyError
from spewy.game.gamefile import load_game
from spewy.match.match import Match, Run
from spewy.match.match import play_match as match_of_words
from spewy.match.score import Result, Score
from spewy.match.table import BotError, Seat, deals, play_hand

LIMIT = load_game("holdem.limit.2p.reverse_blinds")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
LEDUC = load_game("leduc")
TESTS = Path(__file__).resolve().parents[2]


def told(dealt):
    return "|".join(cards_name(cards) for cards in dealt.hole) + "/" + cards_name(dealt.board)


@pytest.mark.parametrize(
    ("seed", "hands"),
    [
        (0, ["5d5c|9hQd/8dAs8s4h6d", "6sKs|5dJd/2sTh2hQh8h"]),
        (1, ["8s2h|Kd5c/7hAdTd4sKc"]),
        (42, ["7d3d|2hAc/5sKs7s9s6h"]),
    ],
)
def test_the_cards_are_the_reference_dealers(seed, hands):
    found = deals(LIMIT, seed)
    assert [told(next(found)) for _ in hands] == hands


def one_hand(game, first, second, seconds=None):
    return play_hand(next(deals(game, 0)), (Seat(first(game), seconds), Seat(second(game))), game, (1, 2))


def test_a_bot_that_fails_folds_and_is_noted():
    played = one_hand(LIMIT, failing, raiser)
    assert played.hand.betting.line == "rf"
    assert [fault.player for fault in played.faults] == [0]
    assert "SpewyError: by chance" in played.faults[0].text
    played = one_hand(LIMIT, failing, failing)
    assert (played.hand.betting.line, played.hand.net()) == ("f", (5, -5))


def test_what_a_bot_raises_is_told_without_control_characters():
    def clearing(game):
        return Rule(game, lambda hand: fail(SpewyError(chr(27) + "[2J")))

    played = one_hand(LIMIT, clearing, raiser)
    assert played.faults[0].text == r"act: expected an answer, found SpewyError: \x1b[2J"


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_bots_program_ends_the_match(tmp_path, monkeypatch, workers):
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=":")
    match = Match(LIMIT, entrants("crashing", "raiser"), 4, (1,), aivat=False)
    with pytest.raises(BotError, match="crashing, act: expected an answer, found ZeroDivisionError") as found:
        play(match, tmp_path, workers)
    if workers == 2:  # the worker process is gone; the error's notes have its trace
        assert "in crashing" not in str(found.value)
        assert "stand_ins.py" in "".join(found.value.__notes__)


def test_an_illegal_answer_is_a_call():
    played = one_hand(LIMIT, illegal, illegal)
    assert played.hand.betting.line == "cc/cc/cc/cc"
    assert len(played.faults) == 8
    assert "action after '': expected f, c, r, found 'x'" in {fault.text for fault in played.faults}


def test_a_bot_that_thinks_forever_is_asked_once():
    table = (Seat(looping(LIMIT), 0.2), Seat(raiser(LIMIT)))
    lines = [play_hand(dealt, table, LIMIT, (1, 2)) for dealt in islice(deals(LIMIT, 0), 3)]
    assert [played.hand.betting.line for played in lines] == ["rf"] * 3
    assert [len(played.faults) for played in lines] == [1, 0, 0]
    assert lines[0].faults[0].text == "act: expected an answer within 0.2 s, found none"


@pytest.mark.parametrize("stops", [0, 1], ids=["before the clock stops", "after"])
def test_an_answer_that_comes_as_time_runs_out_counts_and_the_clock_stops(monkeypatch, stops):
    before, stop = signal.getsignal(signal.SIGALRM), signal.setitimer

    def ring(timer, seconds, again=0.0):
        if not seconds and stops == 0:
            signal.raise_signal(signal.SIGALRM)
        stop(timer, seconds, again)
        if not seconds and stops == 1:
            signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr(signal, "setitimer", ring)
    assert one_hand(LIMIT, raiser, call, 60.0).faults == ()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.parametrize("seconds", [0.0, 1e10])
def test_a_match_without_time_is_refused(seconds):
    """A timer of 0 seconds never rings, and there is none of 300 years."""
    with pytest.raises(InputError, match=r"seconds: expected more than 0 and at most 1,000,000,000, found"):
        replace(MATCH, seconds=seconds)


def test_a_wrong_raise_is_moved_to_the_nearest():
    played = one_hand(NO_LIMIT, call, lambda game: Rule(game, lambda hand: "r120"))
    assert played.hand.betting.rounds[0] == ("r200", "c")
    assert "expected f, c, r200 to r20000, found 'r120'" in played.faults[0].text


def test_bots_see_the_other_hand_after_a_showdown_only():
    first, second = call(LIMIT), call(LIMIT)
    dealt = next(deals(LIMIT, 0))
    play_hand(dealt, (Seat(first), Seat(second)), LIMIT, (1, 2))
    assert first.over[0].hole == dealt.hole
    first = call(LIMIT)
    play_hand(dealt, (Seat(first), Seat(failing(LIMIT))), LIMIT, (1, 2))
    assert first.over[0].hole == (dealt.hole[0], None)


def test_seats_are_swapped_and_the_button_goes_round():
    assert [Run(1, False).position(0, n) for n in range(3)] == [0, 1, 0]
    assert [Run(1, True).position(0, n) for n in range(3)] == [1, 0, 1]


def results_with(n_pairs, n_singles=0):
    """Results of pairs whose hands are alike, and of single hands; estimates without luck are half of the chips."""
    numbers = [(number, swapped) for swapped in (False, True) for number in range(n_pairs)]
    numbers += [(number, False) for number in range(n_pairs, n_pairs + n_singles)]
    return tuple(Result(1, swapped, n, 10.0 * (-1) ** n, 5.0 * (-1) ** n) for n, swapped in numbers)


@pytest.mark.parametrize(
    ("n_pairs", "n_singles", "name"),
    [
        (0, 0, None),
        (0, 1, None),
        (0, 9, "aivat"),
        (5, 90, "aivat"),
        (9, 0, "aivat_duplicate"),
        (30, 90, "aivat_duplicate"),
    ],
)
def test_the_narrowest_interval_that_holds_comes_first(n_pairs, n_singles, name):
    """Equal hands of a pair would make the interval of single hands too narrow."""
    score = Score(("a", "b"), LIMIT.big_blind, results_with(n_pairs, n_singles))
    assert (score.narrowest, next(iter(score.rows()))) == (name, name or "plain")


def test_duplicate_hands_are_scored_in_pairs():
    results = [
        Result(1, False, 0, 30),
        Result(1, False, 1, -10),
        Result(1, True, 0, -20),
        Result(1, True, 1, -10),
        Result(2, False, 0, 10),  # nobody has swapped yet
    ]
    found = Score(("a", "b"), LIMIT.big_blind, tuple(results))
    assert (found.plain.mean, found.plain.n) == (0, 5)
    assert found.plain.half == pytest.approx(1.959964 * 20 / math.sqrt(5) * 100)
    # Pairs: (30 - 20) / 2 = 5 and (-10 - 10) / 2 = -10 chips of a tenth of a big blind.
    assert found.duplicate.mean == pytest.approx(-250)
    assert found.duplicate.half == pytest.approx(1.959964 * 7.5 * math.sqrt(2) / math.sqrt(2) * 100)
    assert found.aivat is None


def test_a_score_without_luck_needs_estimates_of_all_hands():
    results = Result(1, False, 0, 30, 10.0), Result(1, True, 0, -20, None)
    found = Score(("a", "b"), LIMIT.big_blind, results)
    assert (found.aivat, found.aivat_duplicate) == (None, None)
    assert "2 hands, 0 and 0 faults" in repr(found)
    assert "2 hands so far, 0 and 0 faults" in repr(replace(found, complete=False))


def test_a_bot_against_itself_wins_nothing_in_duplicate(tmp_path):
    match = Match(LIMIT, entrants("raiser", "call"), 20, (1, 2), aivat=False)
    found = play(match, tmp_path)
    assert found.complete
    assert found.plain.n == 80
    same = play(replace(match, entrants=entrants("call", "call")), tmp_path / "same")
    assert (same.duplicate.mean, same.duplicate.half) == (0, 0)
    assert match.names == ("raiser", "call")
    assert "SCORE:" in (tmp_path / "same" / "seed-1.log").read_text()


def test_a_log_line_is_the_reference_dealers(tmp_path):
    match = Match(LIMIT, entrants("call", "call"), 2, (0,), aivat=False)
    play(match, tmp_path)
    assert (tmp_path / "seed-0.log").read_text().splitlines() == [
        "# name/game/hands/seed seed-0 holdem.limit.2p.reverse_blinds 2 0",
        "# seats call|call-2, without aivat",
        '# bot call {"bot": "call"}',
        '# bot call-2 {"bot": "call"}',
        "# answers without a limit",
        "STATE:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:10|-10:call|call-2",
        "STATE:1:cc/cc/cc/cc:6sKs|5dJd/2sTh2h/Qh/8h:10|-10:call-2|call",
        "SCORE:0|0:call|call-2",
    ]


class OtherStandIn(StandIn):
    @property
    def identity(self):
        return {"bot": self.name, "menu": "job"}


MATCH = Match(LEDUC, entrants("told", "other_told"), 30, (3, 4))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("match")
    return play(MATCH, folder), logs(folder)


def write_logs(folder, texts, change=lambda text: text):
    for name, text in texts.items():
        (folder / name).write_bytes(change(text))


@pytest.mark.parametrize("cut", [0, 20, 130, 700, -1])
def test_a_match_goes_on_to_the_same_bytes(whole, tmp_path, cut):
    write_logs(tmp_path, whole[1], lambda text: text[:cut])
    assert (play(MATCH, tmp_path), logs(tmp_path)) == whole


def test_processes_play_the_same_match(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=":")
    assert (play(MATCH, tmp_path, workers=2), logs(tmp_path)) == whole


def test_luck_is_taken_out(whole):
    found = whole[0]
    assert found.aivat.n == found.plain.n == 120
    assert found.aivat.half < 0.7 * found.plain.half


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"hands": 31}, r"leduc 31 3', found '.* leduc 30 3'; choose another folder"),
        ({"aivat": False}, r"without aivat', found '# seats .*, with aivat'"),
        ({"seconds": 9.0}, r"expected the line '# answers at most 9 s', found '# answers without"),
        (
            {"entrants": tuple(OtherStandIn(bot.name) for bot in MATCH.entrants)},
            "hands of another bot: told had menu None, and has menu 'job'; choose",
        ),
    ],
    ids=["hands", "aivat", "seconds", "bots"],
)
def test_another_match_in_the_folder_is_refused(whole, tmp_path, changes, told):
    write_logs(tmp_path, whole[1])
    with pytest.raises(InputError, match=told):
        play(replace(MATCH, **changes), tmp_path)
    assert logs(tmp_path) == whole[1]


def without_bots(text):
    """A log of earlier versions, which had no lines of the bots."""
    lines = text.splitlines(keepends=True)
    return b"".join(lines[:2] + lines[5:])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without_bots, r"seed-3\.log does not say which bots played its hands, as logs of earlier"),
        (lambda text: text.replace(b"STATE:7:", b"STATE:8:"), "expected hand 7 of"),
    ],
    ids=["no bots", "damaged"],
)
def test_logs_that_are_not_of_this_match_are_refused(whole, tmp_path, change, told):
    write_logs(tmp_path, whole[1], change)
    with pytest.raises(InputError, match=told):
        play(MATCH, tmp_path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"hands": 0}, "hands: expected"),
        ({"seeds": ()}, "seeds: "),
        ({"seeds": (1, 1)}, "no seed twice"),
        ({"seeds": (-1,)}, "0 to"),
    ],
)
def test_impossible_matches(change, text):
    with pytest.raises(InputError, match=text):
        replace(MATCH, **change)


def test_ctrl_c_loses_no_hand(tmp_path, whole):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from match_tables import *; from spewy.match.match import *; from spewy.game.gamefile import load_game\n"
        "def tell(done, total): print(done, flush=True)\n"
        "match = Match(load_game('leduc'), entrants('told', 'other_told'), 30, (3, 4))\n"
        "run_match(match, Path(sys.argv[2]), tell, 1)"
    )
    command, pipes = [sys.executable, "-c", code, TESTS, tmp_path], {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as child:
        for line in child.stdout:
            if int(line) == 40:
                child.send_signal(2)
                break
        child.stdout.read()
    assert child.returncode != 0
    assert logs(tmp_path) != whole[1]
    assert (play(MATCH, tmp_path), logs(tmp_path)) == whole


def test_a_match_from_python(tmp_path):
    match = {"game": "leduc", "hands": 5, "seeds": (1, 2), "workers": 1}
    score = match_of_words("call", "mine=raise", folder=tmp_path, **match)
    assert (score.names, score.complete, score.faults) == (("call", "mine"), True, ((), ()))
    assert score.plain.n == len(score.results) == 20
    assert score.duplicate.n == 10
    assert (score.aivat, score.sources) == (None, ({}, {}))
    frame = score.frame()
    assert list(frame.columns) == ["seed", "swapped", "number", "chips", "aivat"]
    assert frame.chips.sum() == sum(result.chips for result in score.results)
    names = {f"seed-{seed}{swapped}.log" for seed in (1, 2) for swapped in ("", "-swapped")}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert match_of_words("call", "mine=raise", **match) == score


@pytest.mark.parametrize(
    ("bots", "options", "told"),
    [
        (("call", "raise"), {}, "no game is given, and no bot plays from a folder"),
        (("call", "nobody"), {"game": "leduc"}, "expected one of random, call"),
        (
            ("call", "random"),
            {"game": "leduc", "resolvee": "always"},
            r"bot: unknown option 'resolvee' \(nearest: resolve\)",
        ),
        (
            ("call", "random"),
            {"game": "leduc", "resolve": "always", "menu": "job"},
            r"resolve, menu: no bot is the folder of a solve, .* remove resolve, menu",
        ),
    ],
)
def test_words_and_options_that_make_no_match_are_refused(bots, options, told):
    with pytest.raises(InputError, match=told):
        match_of_words(*bots, **options)
