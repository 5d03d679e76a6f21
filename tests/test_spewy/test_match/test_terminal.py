"""A person at a table with a bot: words, hands as they are told, what is said afterwards, and how one leaves."""

import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from acpc_tables import LIMIT, NO_LIMIT, Seat
from cli_runs import CliRunner, main, refused

from buckets.cards import blocked, hands
from spewy.bot import agent
from spewy.bot.bot import Mix
from spewy.bot.tally import Failure, Tally
from spewy.errors import InputError
from spewy.game.betting import Betting, parse_line
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import parse_logged
from spewy.match.contest import GameContest, action_text, parse_words
from spewy.match.hand_review import Decided, Judged
from spewy.match.sitting import Sitting, play_in_words

KUHN = load_game("kuhn")


class Tells(Seat):
    """A bot that checks and calls, and calls and raises half of the time each as far as it tells."""

    closed = False

    def act(self, hand):
        assert hand.hole[1 - hand.to_act] is None
        return "c"

    def strategy(self, hand):
        assert hand.hole == (None, None)
        deck = hands(hand.game.deck, hand.game.num_hole_cards)
        left = np.flatnonzero(~blocked(deck, hand.board))
        bounds = hand.betting.raise_bounds()
        raises = () if bounds is None else ("r" if hand.game.limit else f"r{bounds[0]}",)
        actions = ("c", *raises)
        return Mix(actions, left, np.full((len(actions), len(left)), 1 / len(actions)))

    def close(self):
        self.closed = True


def sat(bot, lines, seed=0, review=None):
    """What a person reads who says these lines and then no more, and the sitting."""
    told, logged, rest = [], [], iter(lines)
    contest = GameContest(bot, seed)
    if review is not None:
        contest.judge = review
    sitting = Sitting(contest, log=lambda hand: logged.append(hand.text))
    play_in_words(sitting, lambda prompt: told.append(prompt) or next(rest, None), told.append)
    return told, logged, sitting


@pytest.mark.parametrize(
    ("line", "words", "action"),
    [
        ("", "fold", "f"),
        ("", " F ", "f"),
        ("", "call", "c"),
        ("c", "check", "c"),
        ("c", "", "c"),
        ("c", "k", "c"),
        ("", "raise 300", "r300"),
        ("", "raise to 300", "r300"),
        ("", "R300", "r300"),
        ("", "raise", "r300"),
        ("cc/", "b 300", "r300"),
        ("cc/", "bet", "r300"),
        ("cc/", "r", "r300"),
        ("cc/", "x", "c"),
        ("r300r19999", "raise", "r20000"),
        ("r300r19999", "r", "r20000"),
        ("c", "all in", "r20000"),
        ("", "all-in", "r20000"),
        ("r300", "r", "r900"),
    ],
)
def test_words(line, words, action):
    assert parse_words(parse_line(NO_LIMIT, line), words) == action


@pytest.mark.parametrize(
    "words",
    ["", "check", "raise 100", "raise 99999", "raise -3", "r3e2", "hello", "f 3", "r" + "9" * 50, "٣"],
)
def test_words_that_mean_nothing_legal(words):
    with pytest.raises(InputError, match="expected fold, call, raise 200 to 20000"):
        parse_words(Betting.start(NO_LIMIT), words)


@pytest.mark.parametrize(
    ("line", "words", "message"),
    [
        ("", "bet", "'bet': expected fold, call, raise 200 to 20000; there is a bet to raise"),
        ("", "b300", "'b300': expected fold, call, raise 200 to 20000; there is a bet to raise"),
        ("c", "bet 300", "'bet 300': expected check, raise 200 to 20000; there is a bet to raise"),
        ("cc/r300", "bet 20000", "expected fold, call, raise 500 to 20000; there is a bet to raise"),
        ("cc/", "raise", "'raise': expected check, bet 200 to 20000; there is no bet to raise"),
        ("cc/", "raise to 20000", "expected check, bet 200 to 20000; there is no bet to raise"),
        ("cc/", "call", "'call': expected check, bet 200 to 20000"),
        ("r300", "check", "expected fold, call, raise 500 to 20000; there is a bet to call"),
        ("r9000c/", "bet", "'bet': by the pot you would be all-in; type all-in, or bet and an amount"),
        ("r9000", "r", "'r': by the pot you would be all-in; type all-in, or raise and an amount"),
    ],
)
def test_a_bet_is_no_raise_and_neither_is_all_in_unless_it_is_the_only_one(line, words, message):
    with pytest.raises(InputError) as error:
        parse_words(parse_line(NO_LIMIT, line), words)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("line", "words", "told"),
    [
        ("", "raise 20", "type raise alone"),
        ("", "all-in", "expected fold, call, raise, or"),
        ("", "bet", r"'bet': expected fold, call, raise; there is a bet to raise$"),
        ("cc/", "raise", r"'raise': expected check, bet; there is no bet to raise$"),
        ("rrr", "r", r"'r': expected fold, call$"),
        ("c", "fold", r"'fold': expected check, raise$"),  # the big blind is a bet
        ("cc/", "fold", r"'fold': expected check, bet$"),
    ],
)
def test_words_of_a_limit_game(line, words, told):
    with pytest.raises(InputError, match=told):
        parse_words(parse_line(LIMIT, line), words)
    assert parse_words(Betting.start(LIMIT), "raise") == "r"


@pytest.mark.parametrize(
    ("line", "action", "text"),
    [
        ("cc/", "c", "checks"),
        ("cc/", "r200", "bets 100 (to 200)"),
        ("c", "r300", "raises to 300"),
        ("cc/r200", "f", "folds"),
        ("cc/r200", "c", "calls"),
        ("cc/r200", "r500", "raises to 500"),
    ],
)
def test_what_actions_are_called(line, action, text):
    assert action_text(parse_line(NO_LIMIT, line), action) == text


def test_a_hand_is_told_and_reviewed():
    told, logged, table = sat(Tells(LIMIT), ["what", "?", "r", "", "bet", "c", "fold"], seed=0)
    text = "\n".join(told)
    assert told[0] == "\nHand 1: on the button, with 9hQd"
    assert told[1] == "Pot 15, 5 to call; fold, call, raise > "
    assert "'what': expected fold, call, raise, or ? for help" in told
    assert "raise 300  raise so that you have put 300 chips" in text
    for line in (
        "You: raises to 20",
        "The bot: calls",
        "Flop: As8s8d, pot 40",
        "Turn: As8s8d4h, pot 40",
        "You: bets 20 (to 40)",
        "River: As8s8d4h6d, pot 80",
        "The bot shows 5d5c. You lose 40; -40 after 1 hand",
        "\nHand 2: out of position, with 6sKs",
    ):
        assert line in told, line
    for line in (
        "  preflop (first): raises to 20; the strategy calls 50%, raises to 20 50%; cost ",
        "  turn rc/cc/c: bets 20 (to 40); the strategy checks 50%, bets 20 (to 40) 50%; cost ",
    ):
        assert any(one.startswith(line) for one in told), line
    hand = parse_logged(LIMIT, logged[0])
    assert (hand.names, hand.hand.net()) == (("Bot", "You"), (40, -40))
    assert (table.hands, table.total, len(logged)) == (1, -40, 1)


def test_costs_are_told_where_somebody_works_them_out():
    decided = (
        Decided(1, "", (), "f", ("c", "r"), (0.2, 0.8), None, 1.25),
        Decided(1, "", (), "f", ("f", "r"), (0.2, 0.8), None, -0.001),
    )
    told, _, _ = sat(Tells(LIMIT), ["f"], review=lambda *hand, **how: Judged(decided, np.zeros(1326)))
    done = "  preflop (first): folds (an action that the strategy lacks)"
    assert f"{done}; the strategy calls 20%, raises to 20 80%; cost 1.25 chips" in told
    assert "  preflop (first): folds; the strategy folds 20%, raises to 20 80%; cost 0.00 chips" in told


class Fails(Tells):
    """Is wrong wherever it may be."""

    def act(self, hand):
        return "r1"

    def strategy(self, hand):
        raise KeyError("lost")


def test_a_bot_that_fails_does_not_end_the_evening():
    told, logged, _ = sat(Fails(LIMIT), ["r", "r", "r", "r"])
    assert any(text.startswith("WARNING: the bot failed: InputError: action 'r1'") for text in told)
    assert "WARNING: no review: KeyError: 'lost'" in told
    assert logged[0].startswith("STATE:0:rf:")


def test_small_games_are_played_too():
    for name in ("kuhn", "leduc", "rhode-island", "doyle"):
        _, logged, table = sat(Tells(load_game(name)), ["c"] * 30)
        assert table.hands == len(logged) >= 5


def run(monkeypatch, bot, text, *args):
    monkeypatch.setattr(agent, "open_bot", lambda *args, **options: bot)
    return CliRunner().invoke(main, ["play", "terminal", "--lockers", "x", *map(str, args)], input=text)


def test_the_command_plays_so_many_hands_and_logs_them(monkeypatch, tmp_path):
    bot, log = Tells(KUHN), tmp_path / "mine.log"
    for _ in range(2):
        result = run(monkeypatch, bot, "c\n" * 20, "--hands", 3, "--seed", 1, "--log", log)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("x, seed 1\n")
        assert "\n3 hands, " in result.stdout
    lines = log.read_text().splitlines()
    assert lines[:3] == lines[3:]
    assert [parse_logged(KUHN, line).number for line in lines[:3]] == [0, 1, 2]
    assert bot.closed


def test_what_the_bots_decisions_came_from_is_told_at_the_end(monkeypatch):
    bot = Tells(KUHN)
    bot.tally = Tally(Counter(stored=2, fallback=1), [Failure("SolveError", "line 'cc/': no such luck")])
    told = run(monkeypatch, bot, "c\n" * 20, "--hands", 3).stdout.splitlines()
    assert told[-2:] == ["decisions of the bot: 2 stored, 1 fallback", "failed of the bot: 1 SolveError"]


@pytest.mark.parametrize("text", ["", "c\n", b"\xff\xfe\n" * 3, "x" * 100_000])
def test_the_end_of_input_is_no_error(monkeypatch, text):
    result = run(monkeypatch, Tells(KUHN), text)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(" chips")


def test_the_end_of_a_line_that_is_too_long_is_no_action(monkeypatch):
    result = run(monkeypatch, Tells(KUHN), "x" * 3000 + "c\n", "--hands", "1")
    assert result.stdout.count("(1,000 characters): expected check, bet") == 1
    assert "You: " not in result.stdout


def test_ctrl_c_leaves(tmp_path):
    code = (
        "import sys; sys.path[:0] = ['tests', 'tests/test_spewy/test_match']\n"
        "from spewy.bot import agent\nfrom test_terminal import KUHN, Tells\n"
        "agent.open_bot = lambda *args, **options: Tells(KUHN)\n"
        "from spewy.__main__ import main\nsys.argv = ['spewy', 'play', 'terminal', '--lockers', 'x']\nmain()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes, bufsize=0) as child:
        said = b""
        while not said.endswith(b" > ") and (letter := child.stdout.read(1)):
            said += letter
        child.send_signal(signal.SIGINT)
        out, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert out == b"\n0 hands, +0 chips\n"
    assert b"interrupted" in told
    assert b"Traceback" not in told


def test_what_cannot_be_asked_for():
    assert "'--seed'" in refused("play", "terminal", "--lockers", "x", "--seed", "-1")
    assert "'--hands'" in refused("play", "terminal", "--lockers", "x", "--hands", "0")
