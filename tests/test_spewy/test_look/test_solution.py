"""The front of Python: one `Solution` of every job, in a folder and in memory, and batches of them."""

import gc
import weakref

import numpy as np
import pytest
from cli_runs import TURN, write
from dealt_jobs import DEALT_LEDUC

import spewy
from spewy.errors import InputError

CARDS = [rank + suit for rank in "AKQ" for suit in "hs"]


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    job = spewy.Job.load(write(folder, DEALT_LEDUC)).replace(max_sweeps=200)
    with spewy.solve(job, folder / "out") as stored, spewy.solve(job) as memory:
        yield stored, memory


def test_a_whole_game_in_memory_is_that_of_its_folder(leduc):
    stored, memory = leduc
    assert stored.result.exploitability_mbb == pytest.approx(memory.result.exploitability_mbb)
    for line, board in (("", None), ("cc/", "Kh"), ("crc/r", "Qs")):
        np.testing.assert_array_equal(stored.node(line, board).strategy, memory.node(line, board).strategy)
    gap = memory.exploitability()
    assert gap.exploitability_mbb == pytest.approx(stored.exploitability(workers=1).exploitability_mbb)
    assert gap.sample.flops == 6
    for arguments, message in (
        ({"workers": 2}, "workers has no effect in memory"),
        ({"seed": 2}, "seed has no effect without flops"),
    ):
        with pytest.raises(InputError, match=message):
            memory.exploitability(**arguments)


@pytest.mark.parametrize("kind", ["whole game", "spot"])
def test_a_closed_solution_leaves_nothing_in_memory(kind, leduc, tmp_path):
    """Its memory is freed without a search for cycles, which Python makes seldom in the server of the pages."""
    folder = leduc[0].folder
    if kind == "spot":
        folder = tmp_path / "turn"
        spewy.solve(spewy.Job.load(write(tmp_path, TURN)).replace(max_sweeps=2), folder).close()
    solution = spewy.Solution.open(folder)
    view = solution.node()
    reads, policy = weakref.ref(solution.reads), weakref.ref(solution.reads.policy)
    gc.disable()
    try:
        solution.close()
        del solution, view
        assert reads() is None
        assert policy() is None
    finally:
        gc.enable()


def test_a_trace_is_a_frame_of_the_checks(leduc):
    for solution in leduc:
        frame = solution.trace()
        assert list(frame) == ["sweeps", "seconds", "exploitability", "exploitability_mbb"]
        assert frame["sweeps"].iloc[-1] == 200
        assert frame["exploitability_mbb"].iloc[-1] == pytest.approx(solution.result.exploitability_mbb)


def test_cards_follow_with_the_frequency_that_both_ranges_leave(leduc):
    """Of each deal of two cards, the four others follow alike."""
    steps = leduc[0].children("cc")
    assert sorted(step.name for step in steps) == sorted(CARDS)
    assert sum(step.frequency for step in steps) == pytest.approx(1)
    expected = dict.fromkeys(CARDS, 0.0)
    deals = [(a, b) for a in CARDS for b in CARDS if a != b]
    node, after = leduc[0].node(), leduc[0].node("c")
    first = {hand: node.action_probabilities(hand)["check"] for hand in CARDS}
    second = {hand: after.action_probabilities(hand)["check"] for hand in CARDS}
    for a, b in deals:
        for card in CARDS:
            if card not in (a, b):
                expected[card] += first[a] * second[b]
    total = sum(expected.values())
    for step in steps:
        assert step.frequency == pytest.approx(expected[step.name] / total)


def test_a_report_of_a_whole_game_weighs_cards_alike(leduc):
    report = leduc[0].report("cc")
    steps = {step.name: step.frequency for step in leduc[0].children("cc")}
    assert {row.name: pytest.approx(row.weight) for row in report.rows} == steps
    assert sum(report.average.equity) == pytest.approx(1)
    assert sum(report.average.ev) == pytest.approx(2)


def test_a_whole_game_is_compared_with_itself(leduc):
    comparison = leduc[0].compare(leduc[1], "cc/", "Kh")
    assert comparison.range_moved == 0
    np.testing.assert_array_equal(comparison.ev[0], comparison.ev[1])


def test_what_takes_a_solve_without_board_buckets_says_so(leduc):
    with pytest.raises(spewy.InputError, match="chunk: expected a job that visits all boards"):
        leduc[0].chunk()
    with pytest.raises(
        spewy.InputError, match="decisions on all boards: expected a job that visits all boards"
    ):
        next(leduc[0].frames())


def test_a_batch_is_solved_read_and_reported(tmp_path):
    job = spewy.Job.load(write(tmp_path, TURN)).replace(max_sweeps=10)
    boards = ["Qs 7h 2d 3c", "Qs 7h 2d 4c"]
    batch = spewy.solve_batch(job, boards, tmp_path / "set", jobs=1)
    frame = batch.frame()
    assert list(frame["board"]) == ["Qs7h2d3c", "Qs7h2d4c"]
    assert list(frame["sweeps"]) == [10, 10]
    assert [row.name for row in batch.report().rows] == ["Qs7h2d3c", "Qs7h2d4c"]
    with batch.solution("Qs7h2d4c") as solution:
        assert solution.sweeps == 10
    again = spewy.solve_batch(job, boards, tmp_path / "set")
    assert all(outcome.skipped for outcome in again.outcomes)
    with pytest.raises(spewy.InputError, match="board '2c': expected one of Qs7h2d3c, Qs7h2d4c"):
        batch.solution("2c")
