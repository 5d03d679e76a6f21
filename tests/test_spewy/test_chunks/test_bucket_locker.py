import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from cli_runs import TURN, good, good_json, process, refused, spewy, write
from running import started, wait_for
from without_rights import listing, without_rights

from buckets.abstraction import BoardTree
from buckets.cards import Deck, canonical_flops, hands, parse_cards
from lockers import (
    DamagedLockerError,
    LmdbStore,
    LockerError,
    LockerFullError,
    open_store,
)
from spewy.chunks.boards import board_groups, counted_exactly
from spewy.chunks.bucket_locker import MANIFEST, BucketCache, BucketLocker
from spewy.chunks.layout import Layout
from spewy.errors import InputError, PeerError
from spewy.job.job import Job
from spewy.look.buckets import BoardBuckets
from spewy.run.session import Session
from spewy.run.walked_plan import WalkedPlan
from spewy.system.processes import LocalPool, Message, WorkerPool

RAINBOW_RIVERS = ("Ks7d2c9h3s", "AsKsQsJsTs", "2c2d2h2s3c")


@pytest.fixture
def locker(tmp_path):
    locker = BucketLocker.open(tmp_path / "trees")
    yield locker
    locker.close()


@pytest.mark.parametrize("board", [*RAINBOW_RIVERS, "Ks7d2c9h"])
def test_what_is_kept_is_what_was_computed(locker, board):
    cards = parse_cards(board)
    fresh = BoardTree.of(cards)
    first, kept = locker.tree(cards), locker.tree(cards)
    for tree in (first, kept):
        np.testing.assert_array_equal(tree.tree.children, fresh.tree.children)
        np.testing.assert_allclose(tree.tree.distances, fresh.tree.distances, rtol=1e-6)
        assert tree.tree.n_distinct == fresh.tree.n_distinct
        for k in (1, 4, 40, 2000):
            np.testing.assert_array_equal(tree.labels(cards, k), fresh.labels(cards, k))


def test_like_boards_share_a_tree(locker):
    locker.labels(parse_cards("Ks7d2c9h"), 10)
    locker.labels(parse_cards("9sKc7h2d"), 20)
    assert len(list(locker.store.keys("means"))) == 1
    assert locker.store.check() == []


def test_games_do_not_share_trees(locker):
    leduc = locker.labels(parse_cards("Qh"), 3, Deck(3, 2), 1, 1)
    assert leduc.tolist() == [-1, 2, 0, 0, 1, 1]
    assert locker.labels((), 3, Deck(3, 1), 1, 0).tolist() == [0, 1, 2]
    assert len(list(locker.store.keys("means"))) == 2


def test_another_folder_is_refused(tmp_path):
    open_store(tmp_path / "job", {"job": 1}).close()
    with pytest.raises(LockerError, match="buckets"):
        BucketLocker.open(tmp_path / "job")


def test_missing_flops(locker):
    missing = locker.missing(3)
    assert len(missing) == 1755
    locker.tree(missing[7])
    assert len(locker.missing(3)) == 1754
    assert missing == [tuple(flop) for flop in canonical_flops()[0].tolist()]


def test_precompute_fills_what_is_missing_in_other_processes(locker, monkeypatch):
    few = [parse_cards(board) for board in ("2c2d2h", "2c2d3c", "2c2d3h")]
    monkeypatch.setattr(BucketLocker, "missing", lambda self, n_cards: few)
    done = []
    peaks = locker.precompute(3, LocalPool(2), done.append)
    assert sum(done) == 3
    assert all(peak > 10 for peak in peaks)
    assert len(list(locker.store.keys("means"))) == 3


@pytest.mark.slow
def test_trees_of_boards_that_nobody_asked_for_are_refused(locker, monkeypatch):
    few = [parse_cards("2c2d2h"), parse_cards("2c2d3c")]
    monkeypatch.setattr(BucketLocker, "missing", lambda self, n_cards: few)

    class Swapping(WorkerPool):
        """A pool whose single worker computes trees in the wrong order."""

        size = 1

        def _work(self, function, tasks, at_once):
            for number, (portion,) in tasks:
                yield Message(number, "done", function(None, portion[::-1]))

        def stop(self):
            """Nothing runs in the background."""

        def close(self):
            """No workers to end."""

    with pytest.raises(
        PeerError, match="expected the trees of boards 2c2d2h to 2c2d3c, found trees of other boards"
    ):
        locker.precompute(3, Swapping(), lambda done: None)
    assert list(locker.store.keys("means")) == []


@pytest.mark.slow
def test_precompute_goes_on_after_an_interruption(tmp_path):
    folder = tmp_path / "trees"

    def kept():
        if not (folder / "manifest.json").exists():
            return 0
        with open_store(folder, MANIFEST, read_only=True) as store:
            return len(list(store.keys("means")))

    environment = {**os.environ, "SPEWY_BUCKETS": str(folder)}
    with started("buckets", "--precompute", "flops", env=environment) as running:
        wait_for(lambda: kept() >= 20, running)
        os.killpg(running.pid, signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 130
    locker = BucketLocker.open(folder)
    assert 20 <= 1755 - len(locker.missing(3)) < 1755
    assert locker.store.check() == []
    locker.close()


def job(**rows):
    data = {
        "name": "turn",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {"board": "Qs7h2d3c", "pot": 100, "stack": 100, "oop": "66+,AJs+", "ip": "22-TT,KJs+:0.5"},
        "bets": {"turn": {"bet": "50%"}},
        "rows": rows,
    }
    return Job.of(data)


def test_uniform_rows_are_the_board_tree_cut():
    problem = job(turn=12, river=9).problem
    history = problem.history
    oop, ip = board_groups(problem, 2, history)
    expected = BoardTree.of(parse_cards("Qs7h2d3c")).labels(parse_cards("Qs7h2d3c"), 12)
    np.testing.assert_array_equal(oop.labels, expected)
    assert oop is ip
    assert board_groups(job(turn=12).problem, 3, (*history, (0,))) is None


@pytest.mark.parametrize("clustering", ["equation-1", "equity-quantiles"])
def test_range_rows_are_each_players_own(clustering):
    problem = job(turn=5, weights="ranges", clustering=clustering).problem
    groups = board_groups(problem, 2, problem.history)
    for own, weights in zip(groups, problem.ranges, strict=True):
        held = own.labels >= 0
        np.testing.assert_array_equal(held, (weights > 0) & held)
        assert own.n_rows == 5
        assert set(own.labels[held].tolist()) == set(range(5))
    aces, tens = (np.flatnonzero((hands(Deck(), 2) >> 2 == rank).all(axis=1)) for rank in (12, 8))
    assert (groups[0].labels[aces] >= groups[0].labels[tens]).all()
    assert (groups[1].labels[aces] == -1).all()


@pytest.mark.parametrize(
    "rows",
    [
        {"turn": 12, "river": 9},
        {"turn": 400, "river": 300},  # more than there are kinds of hands
        {"turn": 200, "river": 150, "clustering": "ward"},
        {"turn": 30, "river": 20, "weights": "ranges"},
        {"turn": 300, "river": 100, "clustering": "equity-quantiles"},
    ],
)
@pytest.mark.parametrize("leaves", ["stored", "live"])
def test_rows_are_counted_without_making_them(rows, leaves):
    solve = {"leaves": leaves}
    one = Job.of(job().model_dump(by_alias=True, exclude_none=True) | {"rows": rows, "solve": solve})
    made, counted = Layout.of(one.problem), Layout.counted(one.problem)
    assert made.bucketed
    assert not counted.bucketed
    found, expected = (
        np.array([layout.n_rows(t, b) for t in (0, 1) for b in range(len(made.boards[t].boards))])
        for layout in (counted, made)
    )
    assert (found >= expected).all()
    if counted_exactly(one.problem):
        np.testing.assert_array_equal(found, expected)
        costs = [WalkedPlan.on(one, layout, streaming=True).cost for layout in (counted, made)]
        assert costs[0] == costs[1]
    buckets = WalkedPlan.of(one, streaming=True).layout.boards[1].boards[3].hands[0]
    np.testing.assert_array_equal(buckets.row, made.boards[1].boards[3].hands[0].row)


def test_costs_and_refusals_make_no_buckets(tmp_path, monkeypatch):
    monkeypatch.setattr("spewy.chunks.boards.board_groups", lambda *args: pytest.fail("buckets were made"))
    file, rows = write(tmp_path, TURN), ("--set", "rows.turn=4", "--set", "rows.river=4")
    needed = good_json("estimate", file, *rows)["memory_bytes"]
    small = (*rows, "--set", f"solve.memory={(needed - 1) / 2**30:.12f} GiB")
    assert not good_json("estimate", file, *small)["fits"]
    assert "solve.memory: this job needs" in refused("solve", file, *small, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_refused_for_a_bound_on_its_rows(tmp_path, monkeypatch):
    options = ["rows.turn=3", "rows.river=3", "rows.weights=ranges"]
    file = write(tmp_path, TURN)
    one = Job.load(file, options)
    needed = WalkedPlan.on(one, Layout.of(one.problem), streaming=True).cost.memory_bytes
    monkeypatch.setattr(
        "spewy.chunks.boards.row_counts", lambda problem, t, boards, _: [(9, 9)] * len(boards)
    )
    assert WalkedPlan.on(one, Layout.counted(one.problem), streaming=True).cost.memory_bytes > needed
    enough = Job.load(file, [*options, f"solve.memory={(needed + 1) / 2**10:.6f} KiB"])
    assert WalkedPlan.of(enough, streaming=True).layout.bucketed
    with pytest.raises(InputError, match=r"solve\.memory"):
        Session(Job.load(file, [*options, f"solve.memory={(needed - 1) / 2**10:.6f} KiB"]), tmp_path / "out")


def test_preflop_has_169_rows():
    data = {
        "name": "x",
        "game": {"file": "doyle"},
        "bets": {name: {"bet": "a", "raise": "a"} for name in ("preflop", "flop", "turn", "river")},
        "rows": {"preflop": 169, "flop": 2, "turn": 2, "river": 2},
    }
    groups = board_groups(Job.of(data).problem, 0, ())
    assert groups[0].n_rows == 169


@pytest.mark.slow
def test_fewer_kinds_than_rows_is_said(tmp_path):
    job = (write(tmp_path, TURN), "--set", "rows.river=2000")
    assert good_json("estimate", *job)["short_boards"] == [0, 48]
    assert "48 with fewer different hands" in good("estimate", *job)
    run = spewy("solve", *job, "--out", tmp_path / "out")
    assert "48 boards with fewer different hands than rows asked for" in run.stderr


def warnings_of(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "spewy.chunks.bucket_locker"]


def no_folder(path):
    path.write_text("no folder")


def another_version(path):
    open_store(path, {**MANIFEST, "buckets": 0}).close()


def damaged(path):
    BucketLocker.open(path).close()
    (path / "lockers.mdb").write_bytes(b"no pages")


def strangers(path):
    path.mkdir()
    (path / "thesis.tex").write_text("years of work")


@pytest.mark.parametrize("spoil", [no_folder, another_version, damaged, strangers])
def test_a_solve_does_without_a_locker_that_is_of_no_use(tmp_path, monkeypatch, caplog, spoil):
    problem = job(turn=4).problem
    expected = board_groups(problem, 2, problem.history)[0].labels
    assert warnings_of(caplog) == []
    spoil(tmp_path / "trees")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setenv("SPEWY_BUCKETS", str(tmp_path / "trees"))
    np.testing.assert_array_equal(board_groups(problem, 2, problem.history)[0].labels, expected)
    (warning,) = warnings_of(caplog)
    assert warning.startswith(
        f"the bucket locker is not used, and its results are computed again: {tmp_path / 'trees'}"
    )
    assert "expected" in warning
    assert "found" in warning
    assert sorted(tmp_path.rglob("*")) == before


def test_a_solve_without_a_home(tmp_path, monkeypatch, caplog):
    for name in ("SPEWY_BUCKETS", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        "os.path.expanduser", lambda path: path
    )  # as for a user whom the system does not know
    monkeypatch.chdir(tmp_path)
    assert board_groups(job(turn=4).problem, 2, job().problem.history)[0].n_rows == 4
    (warning,) = warnings_of(caplog)
    assert "expected a home directory, or a folder in $SPEWY_BUCKETS; found neither" in warning
    assert list(tmp_path.iterdir()) == []


def test_the_warning_is_one_line_on_stderr(tmp_path):
    (tmp_path / "trees").write_text("no folder")
    environment = {**os.environ, "SPEWY_BUCKETS": str(tmp_path / "trees")}
    few = ("--set", "rows.turn=4", "--set", "solve.max_sweeps=1")
    run = process("solve", write(tmp_path, TURN), *few, "--out", tmp_path / "out", "--json", env=environment)
    assert run.returncode == 0
    assert json.loads(run.stdout)["name"] == "turn"
    (line,) = [line for line in run.stderr.splitlines() if "bucket locker" in line]
    assert line.startswith("the bucket locker is not used")


def test_a_locker_that_may_only_be_read_is_read(tmp_path, monkeypatch, caplog):
    folder, deck = tmp_path / "trees", Deck()
    kept, other = parse_cards("Ks7d2c9h"), parse_cards("Ks7d2c8h")
    with BucketLocker.open(folder).store as store:
        expected = BucketLocker(store).labels(kept, 7)
    before = listing(folder)
    fresh, made = BoardTree.of, []
    monkeypatch.setattr(BoardTree, "of", lambda *args: made.append(args) or fresh(*args))

    def work():
        cache = BucketCache(folder)
        np.testing.assert_array_equal(cache.labels(kept, 7, deck, 2, 5), expected)
        assert made == []
        np.testing.assert_array_equal(cache.labels(other, 7, deck, 2, 5), fresh(other).labels(other, 7))
        assert len(made) == 1
        (warning,) = warnings_of(caplog)
        assert warning.startswith("the bucket locker is only read, and new results are not stored: ")

    without_rights(folder, work)
    assert listing(folder) == before


def test_a_locker_that_fails_on_the_way(tmp_path, monkeypatch, caplog):
    def full(self, *args):
        raise LockerFullError("a disk: expected room, found none")

    def broken(self, *args):
        raise DamagedLockerError("a tree: expected a checksum, found another")

    cards, deck = parse_cards("Ks7d2c9h"), Deck()
    expected = BoardTree.of(cards).labels(cards, 7)
    cache = BucketCache(tmp_path / "trees")
    monkeypatch.setattr(LmdbStore, "transact", full)
    for fails in (
        "only read, and new results are not stored: a disk",
        "not used, and its results are computed again: a tree",
    ):
        np.testing.assert_array_equal(cache.labels(cards, 7, deck, 2, 5), expected)
        np.testing.assert_array_equal(cache.labels(cards, 7, deck, 2, 5), expected)
        assert warnings_of(caplog)[-1].startswith(f"the bucket locker is {fails}")
        monkeypatch.setattr(LmdbStore, "get", broken)
        cache.labels(cards, 7, deck, 2, 5)
    assert len(warnings_of(caplog)) == 2


def test_view():
    buckets = BoardBuckets.of("Qs Jh 2h 8c", rows=9)
    assert buckets.n_rows == 9
    means = buckets.curves.mean(axis=1)
    assert (np.diff(means) > 0).all()
    assert sum(len(buckets.members(row)) for row in range(9)) == 1128
    assert "QsQh" not in buckets.members(8)
    assert "QdQc" in buckets.members(8)
    for row in range(9):
        assert buckets.histogram(row).sum() == pytest.approx(1)


def test_buckets_json():
    found = good_json("buckets", "Ks 7d 2c 9h", "--rows", 6, "--range", "QQ+,AKs:0.5")
    assert (found["board"], found["rows"], found["asked"]) == ("Ks7d2c9h", 6, 6)
    assert [list(bucket) for bucket in found["buckets"]] == [
        ["hands", "weight", "mean", "spread", "histogram"]
    ] * 6
    assert sum(bucket["weight"] for bucket in found["buckets"]) == 6 + 3 + 6 + 0.5 * 3
    json.dumps(found)


def test_buckets_of_one_kind_of_hand():
    said = good("buckets", "AsKsQsJsTs")
    assert "1 bucket of --rows 40: the board has no more different hands" in said


@pytest.mark.parametrize(
    ("board", "suffix"),
    [("Ks7d2c9h3s", "png"), pytest.param("Ks7d2c9h", "svg", marks=pytest.mark.slow)],
)
def test_plot(tmp_path, suffix, board):
    file = tmp_path / f"board.{suffix}"
    good("buckets", board, "--plot", file)
    assert file.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["Ks 7d"], "expected 0, 3, 4 or 5 cards, found 2"),
        (["Ks 7d Ks"], "expected each card once"),
        (["Ks 7d 1c"], "1c"),
        (["Ks 7d 2c 9h", "--range", "KsKd"], "the board blocks every hand of it"),
        (["Ks 7d 2c 9h", "--range", "XX"], "XX"),
        (["Ks 7d 2c 9h", "--clustering", "magic"], "equation-1"),
        (["Ks 7d 2c 9h", "--rows", "0"], "--rows"),
        (["Ks 7d 2c 9h", "--plot", "x.gif"], ".png"),
        (["Ks 7d 2c 9h", "--plot", "no/such/folder.png"], "file in a folder that exists"),
        (["Ks 7d 2c 9h", "--precompute", "flops"], "remove the board"),
        ([], "a BOARD is missing"),
        (["--precompute", "rivers"], "rivers"),
    ],
)
def test_bad_arguments(args, named):
    assert named in refused("buckets", *args)


def test_a_locker_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SPEWY_BUCKETS", str(tmp_path / "file" / "trees"))
    refused("buckets", "Ks 7d 2c 9h")


def test_help_needs_no_numpy():
    code = "import sys; import spewy.cli.buckets; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
