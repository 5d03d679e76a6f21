"""One chunk of a job, taken apart: CFR and the LP agree on it, and inputs are refused by name."""

import shutil

import numpy as np
import pytest
from cli_runs import KUHN, LEDUC, POLARISED, TURN, good, write
from jobs import example, solved, toy

from spewy.errors import InputError
from spewy.job.job import Job
from spewy.look.chunk_game import one_chunk
from spewy.look.solution import Solution
from spewy.records.progress import saved_sweeps
from spewy.run.session import Session


def test_lp_and_cfr_agree_on_a_river_chunk():
    chunk = one_chunk(example("R1", "rows.river=6"))
    by_lp, by_cfr = chunk.by_lp(), chunk.by_cfr()
    assert by_cfr.value == pytest.approx(by_lp.value, abs=0.05)
    assert chunk.chunk.n_rows == (6, 6)
    assert by_lp.payoffs.shape[-2:] == (6, 6)
    assert np.all(np.isfinite(by_lp.payoffs))


@pytest.mark.parametrize(
    ("line", "board", "said"),
    [
        ("zz", None, "zz"),
        ("", "Td 9d", "cards"),
        ("", "Td 9d 6h Qc Ah", "begin"),
        ("r20", None, "round starts"),
    ],
)
def test_bad_places(line, board, said):
    with pytest.raises(InputError, match=said):
        one_chunk(example("R1", "rows.river=6"), line, board)


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if not path.name.endswith("-lock")}


def test_a_folder_is_only_read(small, tmp_path):
    shutil.copytree(small / "leduc", tmp_path / "out")
    before = files(tmp_path / "out")
    with Solution.open(tmp_path / "out") as solution:
        solution.chunk("cc/", "Kh").payoff_frame()
    assert files(tmp_path / "out") == before


@pytest.mark.parametrize("text", [KUHN, LEDUC, POLARISED, TURN], ids=["kuhn", "leduc", "river", "turn"])
def test_the_root_is_worth_what_the_solve_says(text, tmp_path):
    """Whichever engine solved it: payoffs are worked out from average strategies."""
    job = Job.load(write(tmp_path, text))
    session = Session(job)
    result = session.solve()
    with Solution(job, session.store) as solution:
        chunk = solution.chunk()
    expected = result.value if result.ev is None else result.ev[0] - job.pot / 2
    assert chunk.average.value == pytest.approx(expected, abs=2e-3 * max(job.pot, 1))
    assert not chunk.estimated


def test_a_chunk_further_down_starts_from_the_ranges_that_get_there():
    _, solution = solved(toy("leduc", max_sweeps=60))
    chunk = solution.chunk("crc/", "Kh")
    view, waiting = solution.node("crc/", "Kh"), solution.waiting("crc/", "Kh")
    for player, seen in enumerate((view, waiting)):
        reach = dict(zip(seen.hands, seen.reach, strict=True))
        assert dict(zip(chunk.labels[player], chunk.ranges[player], strict=True)) == pytest.approx(reach)
    shares = chunk.strategy_at(chunk.average, chunk.find("crc/"))
    rows = [chunk.labels[view.player].index(hand) for hand in view.hands]
    assert pytest.approx(view.strategy) == shares[:, rows]


def test_payoffs_are_named_by_hands():
    _, solution = solved(toy("leduc", max_sweeps=60))
    chunk = solution.chunk("crc/", "Kh")
    frame = chunk.payoff_frame("crc/cc")
    assert (frame.index.name, frame.columns.name) == ("oop", "ip")
    assert frame.loc["Ks", "Qs"] == pytest.approx(3)
    assert frame.loc["Qs", "Ks"] == pytest.approx(-3)
    assert frame.loc["Qh", "Qs"] == pytest.approx(0)
    assert np.isnan(frame.loc["Qs", "Qs"])
    assert chunk.payoff_frame().loc["Ks", "Qs"] > 0
    assert "<td" in chunk._repr_html_()


def test_a_bucket_is_named_by_its_number_and_its_heaviest_hand():
    _, solution = solved(example("R1", "rows.river=6", "solve.max_sweeps=20"))
    labels = solution.chunk().labels[0]
    assert len(labels) == 6
    assert all(label.startswith(f"{row}: ") and label.endswith(" more") for row, label in enumerate(labels))


def test_a_chunk_is_read_while_another_process_may_write(tmp_path):
    file = write(tmp_path, LEDUC)
    good("solve", file, "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    with Session(Job.load(file), tmp_path / "out") as session, Solution.open(tmp_path / "out") as solution:
        before = solution.chunk()
        assert saved_sweeps(session.store) == 1
        session.solve()
        assert not np.allclose(solution.chunk().played[0], before.played[0])


def test_what_the_last_visits_left_is_there_too():
    _, solution = solved(toy("leduc", max_sweeps=60, integrate="average"))
    stored, averaged = solution.chunk(payoffs="stored"), solution.chunk()
    assert stored.average.value == pytest.approx(averaged.average.value, abs=0.05)
    assert not stored.estimated
    _, live = solved(toy("leduc", max_sweeps=60, leaves="live"))
    assert live.chunk(payoffs="stored").estimated


def test_dropped_rounds_are_solved_again_or_named(small, tmp_path):
    shutil.copytree(small / "turn", tmp_path / "out")
    good("drop", tmp_path / "out", "--round", "river")
    with Solution.open(tmp_path / "out") as solution:
        assert solution.chunk("cc/", "Qs 7h 2d 3c 5h").average.local_exploitability_pct < 2
        with pytest.raises(InputError, match=r"after line '' need all later rounds, but some were dropped"):
            solution.chunk()


def test_too_much_work_and_odd_words_are_refused(monkeypatch):
    _, solution = solved(toy("leduc", max_sweeps=1))
    monkeypatch.setattr("spewy.look.chunk_game.MOST_BELOW", 10)
    with pytest.raises(InputError, match="at most 10 later chunks to compute payoffs from, found 30"):
        solution.chunk()
    with pytest.raises(InputError, match="payoffs: expected one of average, stored, found 'odd'"):
        solution.chunk(payoffs="odd")


def test_a_leaf_with_its_own_payoffs_changes_nothing():
    _, solution = solved(toy("leduc", max_sweeps=60))
    chunk = solution.chunk("crc/", "Kh")
    same = chunk.with_leaf_payoffs({n: chunk.leaf_payoffs(n) for n in chunk.leaves})
    assert same.by_lp().value == pytest.approx(chunk.by_lp().value, abs=1e-12)
    assert np.allclose(same.average.payoffs, chunk.average.payoffs, equal_nan=True, atol=1e-12)
    assert same.average.local_exploitability == pytest.approx(chunk.average.local_exploitability, abs=1e-12)


def test_other_payoffs_at_a_leaf_count_as_often_as_the_leaf_is_reached():
    _, solution = solved(toy("kuhn", max_sweeps=60))
    chunk = solution.chunk()
    n = chunk.find("cc")
    others = np.random.default_rng(5).normal(size=(3, 3))
    changed = chunk.with_leaf_payoffs({n: others})
    checks = [chunk.strategy_at(chunk.average, chunk.find(line))[0] for line in ("", "c")]
    difference = sum(
        checks[0][i] * checks[1][j] * (others - chunk.leaf_payoffs(n))[i, j] / 6
        for i in range(3)
        for j in range(3)
        if i != j
    )
    assert abs(difference) > 1e-3
    assert changed.average.value - chunk.average.value == pytest.approx(difference, abs=1e-12)
    raised = chunk.find("crc")
    assert np.allclose(changed.leaf_payoffs(raised), chunk.leaf_payoffs(raised), equal_nan=True)


def test_odd_payoffs_of_leaves_are_refused():
    _, solution = solved(toy("kuhn", max_sweeps=1))
    chunk = solution.chunk()
    n = chunk.find("cc")
    with pytest.raises(InputError, match="expected a leaf, found a decision"):
        chunk.with_leaf_payoffs({chunk.find("c"): np.zeros((3, 3))})
    with pytest.raises(InputError, match=r"expected a matrix of \(3, 3\), found \(3, 2\)"):
        chunk.with_leaf_payoffs({n: np.zeros((3, 2))})
    with pytest.raises(InputError, match="NaN for rows that have two compatible hands"):
        chunk.with_leaf_payoffs({n: np.full((3, 3), np.nan)})


def test_best_responses_of_rows_add_up_to_the_local_exploitability():
    _, solution = solved(toy("leduc", max_sweeps=5))
    chunk = solution.chunk("crc/", "Kh")
    gains = []
    for player in (0, 1):
        weight = chunk.joint_weight
        weight = weight @ chunk.chunk.entering[1] if player == 0 else weight.sum(axis=0)
        best = chunk.best_response_values(chunk.played, player)
        assert best.shape == chunk.ranges[player].shape
        gains.append(best @ weight / weight.sum())
    assert sum(gains) / 2 == pytest.approx(chunk.average.local_exploitability, abs=1e-12)
    assert chunk.average.local_exploitability > 1e-3


def test_rows_outside_of_the_range_have_no_best_response():
    _, solution = solved(example("R1", "rows.river=40", "solve.max_sweeps=5"))
    chunk = solution.chunk()
    for player in (0, 1):
        missing = np.isnan(chunk.best_response_values(chunk.played, player))
        assert np.array_equal(missing, chunk.ranges[player] == 0)
        assert 0 < missing.sum() < 40
