"""UPAC's protocol as text: the sample log from both sides, hands of few chips, and whatever else may be said."""

from random import Random

import pytest
from upac_tables import sample_rounds

from spewy.competitions.upac.runtime.protocol import Table

HOLE = "PREFLOP As Kd"


def hear(*lines):
    """The last thing heard, of a table of its own; each question before it is answered as ``> C`` says."""
    table, heard = Table(), None
    for line in lines:
        if line.startswith("> "):
            table.answered(heard.spot, line[2:])
        else:
            heard = table.hear(line)
    return heard


@pytest.mark.parametrize("seat", ["Defender", "Challenger"])
def test_the_sample_log_is_understood_line_by_line(seat):
    """The labels of START are wrong in it, and nobody is misled."""
    table, rounds = Table(), sample_rounds()
    for lines in rounds:
        small = next(line.split()[0] for line in lines if "STACK 1" in line)
        heard = None
        for line in lines:
            who, mark, text = line.split(" ", 2)
            if who != seat:
                continue
            if mark == ">":
                table.answered(heard.spot, text)
                continue
            heard = table.hear(text)
            assert not heard.wrong
            assert heard.asked == text.startswith("STACK")
            if heard.asked:
                assert heard.spot.button == (seat == small)
                assert heard.spot.rounds is not None
                assert " ".join(["STACK", *map(str, interleaved(heard.spot))]) == text
    assert table.hands == 4


def interleaved(spot):
    """The four numbers of a question."""
    return spot.pushed[0], spot.stacks[0], spot.pushed[1], spot.stacks[1]


def test_actions_are_read_from_what_was_pushed():
    spot = hear("START SB", HOLE, "STACK 1 50 2 50", "> R4", "STACK 6 50 14 50").spot
    assert spot.rounds == (("r6", "r14"),)
    assert (spot.button, spot.to_call, spot.effective) == (True, 8, 50)
    lines = ["START BB", HOLE, "STACK 2 50 2 50", "> C", "FLOP 2c 3c 4c", "STACK 2 50 2 50", "> C"]
    assert hear(*lines, "STACK 2 50 6 50").spot.rounds == (("c", "c"), ("c", "r6"))
    assert hear(*lines, "TURN 5c", "STACK 2 50 2 50").spot.rounds == (("c", "c"), ("c", "c"), ())
    lines = ["START SB", HOLE, "STACK 1 50 2 50", "> R2", "FLOP 2c 3c 4c", "STACK 4 50 10 50", "> R6"]
    assert hear(*lines, "TURN 5c", "STACK 16 50 16 50").spot.rounds == (
        ("r4", "c"),
        ("r10", "r16", "c"),
        ("c",),
    )


@pytest.mark.parametrize("label", ["SB", "BB"])
def test_who_has_the_small_blind_is_told_by_the_first_question(label):
    assert hear(f"START {label}", HOLE, "STACK 1 50 2 50").spot.button
    assert not hear(f"START {label}", HOLE, "STACK 2 50 2 50").spot.button
    assert not hear(f"START {label}", HOLE, "STACK 2 50 6 50").spot.button


@pytest.mark.parametrize("question", ["STACK 1 1 2 99", "STACK 1 99 1 1", "STACK 1 1 1 99", "STACK 2 99 1 1"])
def test_a_stack_of_one_chip_leaves_nothing_to_decide(question):
    spot = hear("START SB", HOLE, question).spot
    assert spot.is_settled
    assert spot.to_call == 0


def test_questions_go_on_when_all_is_pushed():
    lines = ["START SB", HOLE, "STACK 1 50 2 50", "> R48", "FLOP 2c 3c 4c", "STACK 50 50 50 50"]
    spot = hear(*lines).spot
    assert spot.is_settled
    assert spot.rounds == (("r50", "c"), ("c",))
    assert hear(*lines, "> C", "TURN 7d", "STACK 50 50 50 50").spot.rounds[2:] == (("c",),)


def test_a_raise_is_cut_to_the_smaller_stack():
    lines = ["START BB", HOLE, "STACK 2 90 4 10", "> R80", "FLOP 2c 3c 4c", "STACK 10 90 10 10"]
    assert hear(*lines).spot.rounds == (("r4", "r10", "c"), ())


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["HELLO"], "expected START, PREFLOP"),
        (["START XX"], "expected START SB or START BB"),
        (["START"], "expected START SB or START BB"),
        (["START SB", "PREFLOP As As"], "2 cards that were not dealt yet"),
        (["START SB", "PREFLOP As"], "2 cards"),
        (["START SB", HOLE, "FLOP As 2c 3c"], "3 cards that were not dealt yet"),
        (["START SB", HOLE, "TURN 2c"], "TURN after 3 board cards"),
        (["START SB", "STACK 1 50 2 50"], "expected PREFLOP before it"),
        (["START SB", HOLE, "STACK 1 50 2"], "four numbers"),
        (["START SB", HOLE, "STACK 1 -50 2 50"], "four numbers"),
        (["START SB", HOLE, "STACK 60 50 2 50"], "four numbers"),
        (["START SB", HOLE, "STACK 1 0 2 50"], "four numbers"),
        (["START SB", HOLE, "STACK 1 9999999 2 50"], "four numbers"),
        (["START SB", HOLE, "STACK 1 50 2 50", "> C", "STACK 7 50 9 50"], "2 own chips"),
        (["START SB", HOLE, "STACK 1 50 2 50", "> R9", "STACK 11 50 4 50"], "more than 11 chips"),
        (["START SB", HOLE, "FLOP 2c 3c 4c", "STACK 1 50 2 50"], "first question before the flop"),
    ],
)
def test_what_is_not_of_the_protocol_is_told(lines, wrong):
    heard = hear(*lines)
    assert wrong in heard.wrong
    assert heard.asked == lines[-1].startswith("STACK")
    assert heard.spot is None or heard.spot.rounds is None


def test_start_twice_begins_anew():
    spot = hear("START SB", "PREFLOP 2c 2d", "START SB", HOLE, "STACK 1 50 2 50").spot
    assert (spot.number, spot.hole, spot.rounds) == (2, (45, 51), ((),))


WORDS = ["START", "SB", "BB", "PREFLOP", "FLOP", "TURN", "RIVER", "STACK", "END", "FOLD", "As", "2c", "Zz"]
NUMBERS = ["", "0", "1", "2", "50", "-1", "1.5", "99999999999999999999", "٣", "\x00", "é"]


def odd_lines(seed):
    """Lines of right and wrong words, and mutilated right ones."""
    rng = Random(seed)
    right = [line.split(" ", 2)[2] for lines in sample_rounds() for line in lines if " < " in line]
    for _ in range(rng.randint(1, 40)):
        line = rng.choice(right)
        kind = rng.randrange(4)
        if kind == 0:
            line = " ".join(rng.choice(WORDS + NUMBERS) for _ in range(rng.randrange(8)))
        elif kind == 1:
            line = "".join(chr(rng.randrange(1, 0x250)) for _ in range(rng.randrange(60)))
        elif kind == 2:
            words = line.split()
            words[rng.randrange(len(words))] = rng.choice(WORDS + NUMBERS)
            line = " ".join(words)
        yield line


@pytest.mark.parametrize("seed", range(300))
def test_odd_lines_never_raise(seed):
    table, rng = Table(), Random(seed)
    for line in odd_lines(seed):
        heard = table.hear(line)
        if heard.spot is not None and rng.random() < 0.8:
            table.answered(heard.spot, rng.choice(["C", "F", "R0", "R3", "R1000000"]))
