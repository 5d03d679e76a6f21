"""Dropped rounds: less on disk, EVs above as they were, chunks solved again where somebody looks."""

import json
import os
import shutil
import threading

import numpy as np
import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, spewy, write

from lockers import LockerFullError, open_store
from solvers.exact import ExactCfr
from solvers.reference.cfr import Cfr
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.look import dropped as dropped_rounds
from spewy.look.report import report
from spewy.look.solution import Solution
from spewy.records.caches import MarkedStore
from spewy.records.keys import LEAVES, REGRET, STRATEGY
from spewy.run.events import Checked
from spewy.run.session import Session

RIVER = "Qs 7h 2d 3c 5h"
LINES = ("cc/", "cr50c/", "r50c/")
FINE = "0.02%"

FLOP = """
name = "flop"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2d"
pot = 100
stack = 100
oop = "AhAd,KdQd,JcTc"
ip = "KhKc,8s7s"
[bets.flop]
bet = "50%"
[solve]
target = "0.2%"
"""


def solve(base, text, *settings):
    name = text.split('"')[1]
    job = write(base, text, f"{name}.toml")
    good("solve", job, "--out", base / name, *(part for s in settings for part in ("--set", s)))
    return base / name


def dropped(whole, to, name="river"):
    shutil.copytree(whole, to)
    good("drop", to, "--round", name)
    return to


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """A folder with all rounds, and one without the river."""
    base = tmp_path_factory.mktemp("drop")
    whole = solve(base, TURN, f"solve.target={FINE}")
    return whole, dropped(whole, base / "dropped")


@pytest.fixture(scope="module")
def flop(tmp_path_factory):
    """A folder with the flop, the turns and the rivers."""
    return solve(tmp_path_factory.mktemp("flop"), FLOP)


@pytest.fixture(autouse=True)
def _nothing_is_kept(turn):
    """Each test solves dropped chunks itself."""
    shutil.rmtree(turn[1] / "solved_again", ignore_errors=True)


def close(a, b, tolerance):
    """Whether two objects of show --json are the same but for rounding."""
    assert a.keys() == b.keys()
    assert a["hands"].keys() == b["hands"].keys()
    for hand, row in a["hands"].items():
        for name, value in row.items():
            np.testing.assert_allclose(value, b["hands"][hand][name], atol=tolerance)


def test_what_drop_says_and_leaves(turn, tmp_path):
    folder = tmp_path / "f"
    shutil.copytree(turn[0], folder)
    before = size_of(folder)
    found = good_json("drop", folder, "--round", "river")
    after = size_of(folder)
    assert found == {"name": "turn", "dropped": ["river"], "bytes_before": before, "bytes_after": after}
    assert after < before / 2
    assert good("check", folder).endswith(": healthy\n")
    with open_store(folder, read_only=True) as store:
        for locker in (REGRET, STRATEGY):
            assert {key[:2] for key in store.keys(locker)} == {b"2."}
        assert len(list(store.keys(LEAVES))) == 1
    assert good_json("drop", folder, "--round", "river") == found | {"bytes_before": after}
    text = good("drop", folder, "--round", "river")
    assert [line.split()[0] for line in text.splitlines()] == ["job", "dropped", "freed"]


def size_of(folder):
    return sum(path.stat().st_size for path in folder.glob("*.mdb"))


@pytest.mark.parametrize("line", ["", "c", "cr50", "r50"])
def test_rounds_above_are_what_they_were(turn, line):
    whole, small = (good_json("show", folder, "--line", line) for folder in turn)
    close(whole, small, 1e-4)


def test_show_solves_a_dropped_chunk(turn):
    whole, small = turn
    result = spewy("show", small, "--line", "cc/", "--board", RIVER, "--json")
    assert result.exit_code == 0
    told = [line for line in result.stderr.splitlines() if line.startswith("river Qs7h2d3c5h after cc/")]
    assert len(told) == 2
    assert told[0].endswith(f"was dropped: solving it from the played-down ranges to {FINE}")
    found, before = json.loads(result.stdout), good_json("show", whole, "--line", "cc/", "--board", RIVER)
    assert found.keys() == before.keys()
    assert found["actions"] == before["actions"]
    for hand, row in found["hands"].items():
        assert row["reach"] == pytest.approx(before["hands"][hand]["reach"])
        assert row["equity"] == pytest.approx(before["hands"][hand]["equity"])
        assert np.dot(row["strategy"], row["action_ev"]) == pytest.approx(row["ev"])
        assert sum(row["strategy"]) == pytest.approx(1)


@pytest.mark.parametrize("line", LINES)
def test_values_are_those_that_were_dropped(turn, line):
    """Strategies may be another equilibrium's; what both ranges win on each card is not, within both targets."""
    with Solution.open(turn[0]) as whole, Solution.open(turn[1]) as small:
        before, after = report(whole, line), report(small, line)
        assert len({row.ev for row in after.rows}) <= small.reads.n_solved <= len(after.rows)
    for a, b in zip(before.rows, after.rows, strict=True):
        assert a.cards == b.cards
        assert a.weight == pytest.approx(b.weight)
        assert np.array(a.ev) == pytest.approx(np.array(b.ev), abs=0.005 * before.pot)
        assert sum(b.ev) == pytest.approx(before.pot)
    assert np.array(before.average.ev) == pytest.approx(np.array(after.average.ev), abs=0.001 * before.pot)


def test_a_lower_target_takes_longer(turn):
    said = {}
    for target in ("5%", "0.5 chips", "0.01%"):
        result = spewy("show", turn[1], "--line", "cc/", "--board", RIVER, "--target", target)
        line = result.stderr.splitlines()[-1]
        said[target] = float(line.split("exploitability ")[1].split("%")[0].split(" ")[0])
        assert said[target] <= float(target.strip("% chips"))
        assert "which misses the target" not in line
    assert said["0.01%"] < said["5%"]


def test_a_target_out_of_reach_ends(turn, monkeypatch):
    monkeypatch.setattr(dropped_rounds, "MAX_ITERATIONS", 20)
    result = spewy("show", turn[1], "--line", "cc/", "--board", RIVER, "--target", "0%")
    assert result.exit_code == 0
    assert ", which misses the target after 20 iterations" in result.stderr


def test_a_solution_solves_each_chunk_once(turn):
    told = []
    with Solution.open(turn[1], FINE, told.append) as solution:
        first = solution.node("cc/", RIVER)
        solution.node("cc/c", RIVER)
        assert len(told) == 2
        again = solution.node("cc/", RIVER)
        solution.node("cr50c/", RIVER)
        assert len(told) == 4
        np.testing.assert_array_equal(first.strategy, again.strategy)
        np.testing.assert_array_equal(first.ev, again.ev)
        np.testing.assert_array_equal(first.strategy, solution.node("cc/", RIVER).strategy)


def test_what_needs_all_rounds_says_so(turn, tmp_path):
    _, small = turn
    for args in (("exploit", small), ("export", small, tmp_path / "x.csv")):
        said = refused(*args)
        assert "found river dropped" in said
        assert "--again" in said
    assert list(tmp_path.iterdir()) == []


def test_bad_input(turn, tmp_path):
    whole, small = turn
    for name, found in (("turn", "turn"), ("flop", "flop"), ("ocean", "ocean")):
        assert f"round: expected river, found {found}" in refused("drop", whole, "--round", name)
    assert "holds no solve" in refused("drop", tmp_path, "--round", "river")
    assert "target: expected a number" in refused("show", small, "--target", "good")
    assert "expected % of the pot or chips for a spot, found mbb" in refused(
        "report", small, "--line", "cc/", "--target", "1 mbb"
    )
    assert spewy("drop", whole).exit_code == 2
    with open_store(tmp_path / "other", {"a": 1}) as store:
        store.compact()
    assert "found a manifest without a job" in refused("drop", tmp_path / "other", "--round", "river")


def test_a_river_has_nothing_to_drop(tmp_path):
    text = TURN.replace("Qs 7h 2d 3c", RIVER).replace("bets.turn", "bets.river")
    folder = solve(tmp_path, text)
    assert "round: no round follows the river, with which this solve begins" in refused(
        "drop", folder, "--round", "river"
    )


def test_a_solve_begins_again(tmp_path):
    whole = solve(tmp_path, TURN)
    job = tmp_path / "turn.toml"
    first = good_json("exploit", whole)
    good("drop", whole, "--round", "river")
    assert "found river dropped" in refused("solve", job, "--out", whole)
    (whole / "notes.txt").write_text("mine")
    other = write(tmp_path, TURN.replace("stack = 100", "stack = 90"), "other.toml")
    assert "another job" in refused("solve", other, "--out", whole, "--again")
    assert "found river dropped" in refused("exploit", whole)  # nothing was removed
    result = good_json("solve", job, "--out", whole, "--again")
    assert result["trace"][0][0] == 10
    assert good_json("exploit", whole) == first
    assert (whole / "notes.txt").read_text() == "mine"


def test_a_batch_begins_again(tmp_path):
    first = write(tmp_path, TURN, "a.toml")
    second = write(tmp_path, TURN.replace('"turn"', '"other"'), "b.toml")
    args = ("solve", first, second, "--out", tmp_path / "out", "--jobs", "1")
    before = good_json(*args)
    good("drop", tmp_path / "out" / "turn", "--round", "river")
    assert [row["skipped"] for row in good_json(*args)] == [True, True]  # what was found of it stays true
    further = spewy(*args, "--set", "solve.target=0.1%")
    assert further.exit_code == 1
    assert "turn: folder" in further.stderr
    assert "found river dropped" in further.stderr
    after = good_json(*args, "--again", "--save-every", "0")
    assert [row["skipped"] for row in after] == [False, False]
    assert [row["exploitability"] for row in after] == [row["exploitability"] for row in before]


def told(folder, *args):
    """Return the JSON that `spewy report` prints for a folder, and the names of the boards that it solves again."""
    result = spewy("report", folder, *args, "--json")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    return json.loads(result.stdout), [
        line.partition(" after ")[0] for line in lines if "was dropped" in line
    ]


def test_what_a_report_solved_is_kept(flop, tmp_path):
    """Each turn is solved once; rivers behind a kept turn are solved when somebody looks at them."""
    small = dropped(flop, tmp_path / "small", "turn")
    turn = ("--line", "cc/", "--board", "Qs 7h 2d 3c", "--json")
    first, solved = told(small, "--line", "cc")
    again, nothing = told(small, "--line", "cc")
    assert first == again
    assert len(solved) > 20
    assert nothing == []
    result = spewy("show", small, *turn)
    assert "was dropped" not in result.stderr
    river = spewy("show", small, "--line", "cc/cc/", "--board", "Qs 7h 2d 3c 5h", "--json")
    assert "turn Qs7h2d3c after cc/ was dropped" in river.stderr
    assert sum(json.loads(river.stdout)["hands"]["AhAd"]["strategy"]) == pytest.approx(1)
    other = spewy("show", small, *turn, "--target", "1%")
    assert "solving it from the played-down ranges to 1%" in other.stderr


def test_only_root_chunks_of_subgames_are_kept_in_memory(flop, tmp_path, monkeypatch):
    """A report over turns reads the chunk of each turn, not the rivers that follow."""
    small = dropped(flop, tmp_path / "small", "turn")
    with Solution.open(small) as solution:
        before = report(solution, "cc")
        reads = solution.reads
        assert len(reads._whole) == 1
        assert reads.store.nbytes < 1 << 20
        turns, solved = len(reads._roots) + 1, reads.n_solved
        assert turns == solved > 20
        after = report(solution, "cc")
        assert (after, reads.n_solved) == (before, solved)
        rivers = [("cc/cc/", f"Qs 7h 2d {turn} 5h") for turn in ("3c", "4c", "9s", "Td")]
        shown = [solution.node(*place).frame() for place in rivers]
        assert reads.n_solved == solved + 4
        for place, frame in zip(rivers, shown, strict=True):
            assert solution.node(*place).frame().equals(frame)
        assert reads.n_solved == solved + 4  # these are kept whole
        monkeypatch.setattr(dropped_rounds, "MOST_BYTES", 0)
        solution.node("cc/cc/", "Qs 7h 2d Ad 5h")
        assert len(reads._whole) == 1
        assert solution.node(*rivers[0]).frame().equals(shown[0])
        assert reads.n_solved == solved + 6


def spoiled(cache, kind):
    """Damage a cache in one way."""
    data = cache / "lockers.mdb"
    content = bytearray(data.read_bytes())
    if kind == "no manifest":
        (cache / "manifest.json").unlink()
    elif kind == "not a manifest":
        (cache / "manifest.json").write_text("{")
    elif kind == "another job's":
        other = solve(cache.parent.parent, LEDUC, "solve.max_sweeps=1")
        shutil.copy(other / "manifest.json", cache)
    elif kind == "cut off":
        data.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        data.write_bytes(b"")
    elif kind == "zeroes":
        data.write_bytes(bytes(len(content)))
    else:
        for end in range(3 * 4096, len(content) + 1, 4096):  # LMDB fills pages of entries from their ends
            content[end - 8 : end] = bytes(byte ^ 1 for byte in content[end - 8 : end])
        data.write_bytes(content)


@pytest.mark.parametrize(
    "kind",
    ["no manifest", "not a manifest", "another job's", "cut off", "empty", "zeroes", "values"],
)
def test_a_damaged_cache_is_made_anew(turn, tmp_path, kind):
    folder = tmp_path / "f"
    shutil.copytree(turn[1], folder)
    command = ("show", folder, "--line", "cc/", "--board", RIVER)
    expected = good(*command)
    assert "was dropped" not in spewy(*command).stderr
    spoiled(folder / "solved_again", kind)
    result = spewy(*command)
    assert (result.exit_code, result.stdout) == (0, expected)
    assert "was dropped" in result.stderr
    assert "--again" not in result.stderr
    assert "was dropped" not in spewy(*command).stderr
    assert good("check", folder).endswith(": healthy\n")


def test_a_full_disk_stops_no_look(turn, tmp_path, monkeypatch):
    folder = tmp_path / "f"
    shutil.copytree(turn[1], folder)
    command = ("show", folder, "--line", "cc/", "--board", RIVER)

    def full(*args):
        raise LockerFullError("solved_again: expected room to write, found 0 bytes free")

    with monkeypatch.context() as patch:
        patch.setattr(MarkedStore, "put", full)
        result = spewy(*command)
    assert result.exit_code == 0
    assert "chunks that are solved again are not kept on disk: solved_again: expected room" in result.stderr
    assert result.stdout == good(*command)


def test_a_folder_that_cannot_be_written_keeps_nothing(turn, tmp_path, monkeypatch):
    shutil.copytree(turn[1], tmp_path / "f", ignore=shutil.ignore_patterns("solved_again"))
    folder, allowed = tmp_path / "f", os.access
    monkeypatch.setattr(
        os, "access", lambda path, *how, **more: path != folder and allowed(path, *how, **more)
    )
    for _ in range(2):
        result = spewy("show", tmp_path / "f", "--line", "cc/", "--board", RIVER)
        assert "was dropped" in result.stderr
    assert not (tmp_path / "f/solved_again").exists()


@pytest.mark.slow
def test_two_rounds(flop, tmp_path):
    """The river, then the turn too: what one look at a river solves is the whole chunk of the turn above it."""
    small = dropped(flop, tmp_path / "river")
    smaller = dropped(small, tmp_path / "turn", "turn")
    direct = dropped(flop, tmp_path / "both", "turn")
    board, river = "Qs 7h 2d 3c", "Qs 7h 2d 3c 5h"
    for line, cards in (("", "Qs 7h 2d"), ("r50", "Qs 7h 2d"), ("cc/", board), ("cc/c", board)):
        before = good_json("show", flop, "--line", line, "--board", cards)
        close(before, good_json("show", small, "--line", line, "--board", cards), 1e-4)
        if "/" not in line:
            close(before, good_json("show", smaller, "--line", line), 1e-4)
            close(before, good_json("show", direct, "--line", line), 1e-4)
    assert good_json("drop", smaller, "--round", "river")["dropped"] == ["turn", "river"]
    said = spewy("show", smaller, "--line", "cc/cc/", "--board", river).stderr.splitlines()
    assert [line.partition(" ")[0] for line in said if " after cc/ was dropped" in line] == ["turn"]
    with Solution.open(flop) as a, Solution.open(small) as b, Solution.open(smaller, "0.1%") as c:
        for line, cards in (("cc/", "Qs 7h 2d"), ("cc/cc/", board)):
            reports = [report(solution, line, cards) for solution in (a, b, c)]
            assert np.array(reports[1].average.ev) == pytest.approx(np.array(reports[0].average.ev), abs=0.5)
        upper = [report(solution, "cc/", "Qs 7h 2d") for solution in (a, c)]
        assert np.array(upper[0].average.ev) == pytest.approx(np.array(upper[1].average.ev), abs=1.0)
        # Each turn once for its chunk, and one again for its rivers.
        assert c.reads.n_solved == len(c.layout.boards[1].boards) + 1
    assert good("check", smaller).endswith(": healthy\n")


@pytest.mark.slow
def test_buckets_are_hands_where_they_were_dropped(tmp_path):
    whole = solve(tmp_path, TURN, "rows.river=2", "solve.max_sweeps=50")
    small = dropped(whole, tmp_path / "small")
    close(good_json("show", whole), good_json("show", small), 1e-4)
    before, after = (good_json("show", f, "--line", "cc/", "--board", RIVER) for f in (whole, small))
    assert before["hands"].keys() == after["hands"].keys()
    assert good("check", small).endswith(": healthy\n")


@pytest.mark.slow
def test_a_whole_game(tmp_path, monkeypatch):
    """One hole card, stored leaves, a target of nothing: the plain walks solve it as far as they get."""
    monkeypatch.setattr(dropped_rounds, "MAX_ITERATIONS", 200)
    whole = solve(tmp_path, LEDUC, "solve.max_sweeps=300")
    small = dropped(whole, tmp_path / "small", "flop")
    assert good("check", small).endswith(": healthy\n")
    close(good_json("show", whole), good_json("show", small), 1e-5)
    with Solution.open(whole) as a, Solution.open(small) as b:
        before, after = report(a, "cc/"), report(b, "cc/")
    for row, other in zip(before.rows, after.rows, strict=True):
        assert np.array(row.ev) == pytest.approx(np.array(other.ev), abs=0.02)


def test_locks_hold_in_a_dropped_round(tmp_path):
    lock = f'\n[[lock]]\nline = "cc/"\nboard = "{RIVER}"\nhands = {{ AhAd = {{ Check = 1 }} }}\n'
    whole = solve(tmp_path, TURN + lock)
    small = dropped(whole, tmp_path / "small")
    for folder in (whole, small):
        found = good_json("show", folder, "--line", "cc/", "--board", RIVER)
        assert found["hands"]["AhAd"]["strategy"] == [1, 0]
    close(good_json("show", whole), good_json("show", small), 1e-4)


def test_a_line_that_nobody_takes(tmp_path):
    lock = '\n[[lock]]\nline = ""\nstrategy = { Check = 1 }\n'
    small = dropped(solve(tmp_path, TURN + lock), tmp_path / "small")
    result = spewy("show", small, "--line", "r50c/", "--board", RIVER, "--json")
    assert result.exit_code == 0
    assert "no hands reach it" in result.stderr
    assert all(row["reach"] == 0 for row in json.loads(result.stdout)["hands"].values())


def test_more_than_the_memory_allows(tmp_path):
    small = dropped(solve(tmp_path, TURN), tmp_path / "small")
    with Solution.open(small) as solution:
        tight = solution.job.solve.model_copy(update={"memory": "0.1 KiB"})
        job = solution.job.model_copy(update={"solve": tight})
        with pytest.raises(InputError, match=r"solve.memory: solving river Qs7h2d3c5h after cc/"):
            Solution(job, solution.store).node("cc/", RIVER)


def test_killed_between_the_mark_and_the_deletions(turn, tmp_path, monkeypatch):
    """What is still there is not believed, and the same command continues."""
    import spewy.run.drop as drop

    shutil.copytree(turn[0], tmp_path / "f")

    def breaks(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(drop, "delete_rounds", breaks)
        assert spewy("drop", tmp_path / "f", "--round", "river").exit_code == 130
    assert "was dropped" in spewy("show", tmp_path / "f", "--line", "cc/", "--board", RIVER).stderr
    found = good_json("drop", tmp_path / "f", "--round", "river")
    assert found["bytes_after"] < found["bytes_before"] / 2
    close(good_json("show", turn[1]), good_json("show", tmp_path / "f"), 1e-9)


def test_a_chunk_that_single_precision_leaves_without_finite_numbers_is_solved_in_double(turn, monkeypatch):
    command = ("show", turn[1], "--line", "cc/", "--board", RIVER)
    expected = good(*command)
    shutil.rmtree(turn[1] / "solved_again")
    monkeypatch.setattr(ExactCfr, "finite", lambda self: False)
    found = spewy(*command)
    assert found.exit_code == 0
    assert "numbers overflowed in single precision; solving in double precision" in found.stderr
    assert found.stdout.splitlines()[:4] == expected.splitlines()[:4]
    monkeypatch.setattr(Cfr, "finite", lambda self: False)
    shutil.rmtree(turn[1] / "solved_again")
    failed = spewy(*command)
    assert failed.exit_code == 1
    assert failed.stderr.endswith(
        "which was dropped: its solve gave infinite numbers, also in double precision\n"
    )
    assert failed.stdout == ""


class Interrupting:
    """Interrupts a solve as soon as it hears of a check."""

    def __init__(self):
        self.stop = threading.Event()

    def __call__(self, event):
        if isinstance(event, Checked):
            self.stop.set()


def test_an_interruption_during_the_last_check_leaves_a_result(tmp_path):
    job = Job.load(write(tmp_path, TURN), ["solve.target=1000%", 'save.rounds="turn"'])
    listener = Interrupting()
    with Session(job, tmp_path / "out") as session:
        first = session.solve(listener, listener.stop)
    assert (first.converged, first.interrupted) == (True, False)
    with Session(job, tmp_path / "out") as session:
        assert session.solve().exploitability == first.exploitability


def test_a_missing_manifest_is_found_beside_rounds_that_were_solved_again(tmp_path):
    small = dropped(solve(tmp_path, TURN), tmp_path / "small")
    assert spewy("show", small, "--line", "cc/", "--board", RIVER).exit_code == 0
    assert (small / "solved_again").is_dir()
    (small / "manifest.json").unlink()
    assert spewy("check", small).exit_code == 1
    assert "expected manifest.json beside lockers.mdb" in spewy("show", small).stderr
