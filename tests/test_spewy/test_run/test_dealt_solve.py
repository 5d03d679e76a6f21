"""Whole games solved by dealt boards: from start to end, resumed, interrupted, looked at meanwhile, refused."""

import os
import shutil
import signal
import threading
import time
from dataclasses import replace

import dealt_jobs
import numpy as np
import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write
from dealt_jobs import (
    DEALT_FLOP,
    DEALT_LEDUC,
    deals_saved,
    exploitability_of,
    numbers_in,
    visits_by_bucket,
    visits_in,
)
from jobs import EXAMPLES

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.cards import Deck
from lockers import LmdbStore, StorageError, holds_store, open_store
from spewy.errors import SolveError
from spewy.job.job import Job
from spewy.learn import background_saves
from spewy.learn.real_game import Finding
from spewy.learn.sampled import SampledEngine
from spewy.look.folder import open_policy
from spewy.look.status import disk_bytes, status_of
from spewy.records.caches import FlopFinding, ResponseCache
from spewy.records.progress import read_trace, saved_sweeps
from spewy.records.status import LOG, STATUS, read_status
from spewy.records.strategy_locker import StrategyLocker
from spewy.run.events import Stated
from spewy.run.sampled_plan import SampledPlan, _pair_table_bytes
from spewy.run.session import Session
from spewy.system.folders import FolderLock


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    return write(folder, DEALT_LEDUC), folder / "out"


@pytest.fixture(scope="module")
def solved(leduc):
    return good_json("solve", leduc[0], "--out", leduc[1]), leduc[1]


def solve(job, folder, *settings, save_every=None):
    with Session(Job.load(job, settings), folder, save_every) as session:
        return session.solve()


@pytest.fixture
def copied(solved, tmp_path):
    """A solved folder that a test may change."""
    return shutil.copytree(solved[1], tmp_path / "out")


def raising(error):
    raise error


def log_lines(folder):
    return [line.split(maxsplit=2)[2] for line in (folder / LOG).read_text().splitlines()]


@pytest.fixture
def unjudged():
    with dealt_jobs.unjudged():
        yield


def test_leduc_is_learnt_and_told(solved):
    told, folder = solved
    expected = {"name": "leduc-dealt", "sweeps": 3000, "interrupted": False, "converged": False}
    assert told.items() >= expected.items()
    assert told["exploitability_mbb"] == 1000 * told["exploitability"]
    assert [row[0] for row in told["trace"]] == [3000]
    assert told["value"] == pytest.approx(-0.0856, abs=0.05)
    assert told["seconds"].keys() == {"build", "solve", "best_response", "total"}
    assert 0 < told["exploitability"] < 0.15
    # strategies are rounded in the play locker, which OpenSpiel sees and the solve's own judge does not
    assert exploitability_of(folder, "leduc") == pytest.approx(told["exploitability"], abs=0.01)


def test_a_folder_is_whole_and_tells_how_the_solve_stands(solved):
    _, folder = solved
    for store in (folder, folder / "play"):
        assert good("check", store).endswith(": healthy\n")
    told = good_json("status", folder)
    expected = {"deals": 3000, "saved_deals": 3000, "ended": "all deals made", "running": False}
    assert told.items() >= expected.items()
    assert told["visits"][0] == [3000, 3000.0]
    assert sum(1 for line in log_lines(folder) if line.startswith("stop")) == 1
    with StrategyLocker.open(folder / "play") as play:
        assert play.saved.deals == 3000


@pytest.fixture(scope="module")
def flop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flop")
    job = write(folder, DEALT_FLOP)
    with dealt_jobs.unjudged():
        good("solve", job, "--out", folder / "coarse", "--set", "solve.max_sweeps=300")
    return job, folder / "coarse"


@pytest.mark.slow
def test_more_classes_start_from_what_fewer_have_learnt(flop, tmp_path):
    job, coarse = flop
    finer = ("--set", "boards.flop=6", "--set", "rows.flop=8", "--set", "solve.max_sweeps=301")
    told = good_json("solve", job, "--out", tmp_path / "fine", "--start-from", coarse, *finer)
    nothing = good_json("solve", job, "--out", tmp_path / "new", *finer[:-1], "solve.max_sweeps=1")
    before = good_json("exploit", coarse, "--flops", "all")
    assert told["sweeps"] == 301
    assert told["exploitability"] < 1.1 * before["exploitability"] < nothing["exploitability"]
    again = good_json("solve", job, "--out", tmp_path / "fine", "--start-from", coarse, *finer)
    assert again["trace"] == told["trace"]  # it goes on from itself


def test_a_solve_starts_from_its_own_game_only(flop, leduc, solved, tmp_path):
    job, coarse = flop
    start = ("solve", job, "--out", tmp_path / "out", "--start-from")
    assert "found another [game]" in refused(*start, solved[1])
    assert "nowhere" in refused(*start, tmp_path / "nowhere")
    folder = tmp_path / "empty"
    with Session(Job.load(job), folder):
        pass
    assert "no deals are saved there" in refused(*start, folder)
    assert "only a job with [boards] can start from another solve" in refused(
        "solve", write(tmp_path, 'name = "leduc"\n[game]\nfile = "leduc"\n'), "--start-from", coarse
    )
    assert "--start-from works for one job only" in refused("solve", job, leduc[0], "--start-from", coarse)
    assert not (tmp_path / "out").exists()  # nor are board buckets and rows looked for, which takes minutes


def test_a_start_from_a_folder_whose_name_is_no_utf_8(leduc, solved, tmp_path):
    old, new = (tmp_path / os.fsdecode(name) for name in (b"\xff", b"new\xff"))
    shutil.copytree(solved[1], old)
    call = ("solve", leduc[0], "--out", new, "--start-from", old)
    first = spewy(*call, "--set", "solve.max_sweeps=3010")
    assert (first.exit_code, "no effect" in first.stderr) == (0, False)
    assert f"starting from 3,000 deals of {tmp_path}/\\udcff" in log_lines(new)[0]
    assert good_json("status", new)["deals"] == 3010
    assert "so --start-from has no effect" in spewy(*call, "--set", "solve.max_sweeps=3020").stderr


def test_show_plays_what_was_saved(solved):
    view = good_json("show", solved[1])
    assert view["player"] == 0
    assert len(view["hands"]) == 6
    flop = ("--board", "Kh")
    assert good("show", solved[1], "--line", "cc", *flop) == good("show", solved[1], "--line", "cc/", *flop)


@pytest.mark.parametrize(
    ("settings", "pauses"),
    [
        ([], [1000]),
        ([], [1, 17, 1234]),
        (["solve.cfr_br=0.5"], [1, 17]),
        pytest.param(["solve.precision=16-bit"], [1, 300, 1234], marks=pytest.mark.slow),
    ],
)
def test_one_thread_that_was_stopped_learns_what_one_learns_that_never_was(
    solved, leduc, tmp_path, settings, pauses
):
    whole = solved[1]
    if settings:
        whole = tmp_path / "whole"
        solve(leduc[0], whole, *settings)
    for n in (*pauses, 3000):
        assert solve(leduc[0], tmp_path / "out", *settings, f"solve.max_sweeps={n}").sweeps == n
    assert numbers_in(tmp_path / "out") == numbers_in(whole)
    assert (numbers_in(whole) == numbers_in(solved[1])) is not bool(settings)


def test_rivals_begin_with_what_the_players_have_learnt(leduc, tmp_path):
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=300")
    before = numbers_in(tmp_path / "out")
    assert not rivals_in(tmp_path / "out")
    job = Job.load(leduc[0], ["solve.cfr_br=1"])
    with (
        Session(job, tmp_path / "out") as session,
        session.plan.engine(session.stores, None, print) as engine,
    ):
        first, last = engine.numbers.regrets
        assert len(first) == 4
        assert len(last) == 2
        for rival, player in zip(first[2:], first[:2], strict=True):
            assert player.any()
            np.testing.assert_array_equal(rival, player)
    solve(leduc[0], tmp_path / "out", "solve.cfr_br=1", "solve.max_sweeps=600")
    rivals = rivals_in(tmp_path / "out")
    assert len(rivals) == 2
    assert not set(rivals.values()) & set(before.values())
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=900")
    assert not rivals_in(tmp_path / "out")  # the players went on without them


def rivals_in(folder):
    return {key: array for key, array in numbers_in(folder).items() if key[1].endswith((b"|2", b"|3"))}


@pytest.mark.slow
def test_answers_help_where_classes_are_few(tmp_path):
    job = write(tmp_path, DEALT_FLOP.replace("flop = 5", "flop = 20").replace("flop = 3", "flop = 50"))
    found = []
    for share in ("0", "0.25"):
        solve(job, tmp_path / share, f"solve.cfr_br={share}", "solve.max_sweeps=16384")
        found.append(good_json("exploit", tmp_path / share, "--flops", "all")["exploitability_mbb"])
    plain, answered = found
    assert answered < 0.9 * plain


def test_the_first_save_comes_soon(leduc, tmp_path, monkeypatch):
    """The first save does not wait for five minutes, so a solve that is killed soon keeps what it has learnt."""
    monkeypatch.setattr("spewy.run.stores.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("spewy.run.status_file.TELL_SECONDS", 0.0)
    saved = []

    def hear(event):
        if isinstance(event, Stated):
            saved.append(event.status.saved_deals)

    with Session(Job.load(leduc[0]), tmp_path / "out") as session:
        session.solve(hear)
    assert 0 < saved[-1] < 3000
    assert len(set(saved) - {0}) == 1  # a second save would wait for five minutes


def test_background_saves_leave_nothing_out(solved, leduc, tmp_path):
    solve(leduc[0], tmp_path / "out", save_every=0.0)
    assert sum(line.startswith("save") for line in log_lines(tmp_path / "out")) > 1
    assert numbers_in(tmp_path / "out") == numbers_in(solved[1])


def test_the_time_of_all_runs_is_added_up(leduc, tmp_path):
    settings = ["solve.max_sweeps=1000000000", "solve.max_time=0.4 s"]
    first = solve(leduc[0], tmp_path / "out", *settings)
    assert not first.interrupted
    assert solve(leduc[0], tmp_path / "out", *settings).sweeps == first.sweeps
    longer = f"solve.max_time={read_status(tmp_path / 'out').seconds + 0.5} s"
    assert solve(leduc[0], tmp_path / "out", settings[0], longer).sweeps > first.sweeps
    assert status_of(tmp_path / "out").ended == "time is up"


def test_time_for_the_last_check_is_left(leduc, tmp_path, monkeypatch):
    """The last check's expected time is that of the check before, which may belong to an earlier run."""
    judge, took = SampledEngine.judge, 0.6

    def slow(*asked):
        time.sleep(took)
        return judge(*asked)

    monkeypatch.setattr(SampledEngine, "judge", slow)
    first = solve(leduc[0], tmp_path / "out", "solve.max_sweeps=100")

    def go_on(more):
        until = read_status(tmp_path / "out").seconds + more
        result = solve(leduc[0], tmp_path / "out", "solve.max_sweeps=1000000000", f"solve.max_time={until} s")
        return result, read_status(tmp_path / "out").seconds - until

    took = read_status(tmp_path / "out").judged.seconds
    same, over = go_on(took - 0.1)  # too short for another check
    assert (same.sweeps, same.trace) == (first.sweeps, first.trace)
    assert over < 0
    more, over = go_on(took + 0.2)
    assert len(more.trace) == 2
    assert more.sweeps > first.sweeps
    assert over < took - 0.1
    assert status_of(tmp_path / "out").ended == "time is up"


def test_a_target_in_mbb_is_reached_and_a_lower_one_gone_on_to(leduc, tmp_path):
    settings = ["solve.check_every=0.05 s", "solve.max_sweeps=1000000"]
    first = solve(leduc[0], tmp_path / "out", "solve.target=150 mbb", *settings)
    assert first.converged
    assert first.exploitability_mbb <= 150
    assert solve(leduc[0], tmp_path / "out", "solve.target=150 mbb", *settings).sweeps == first.sweeps
    lower = f"solve.target={first.exploitability_mbb / 2} mbb"
    second = solve(leduc[0], tmp_path / "out", lower, *settings)
    assert second.converged
    assert second.exploitability_mbb <= first.exploitability_mbb / 2
    assert second.sweeps > first.sweeps
    assert second.trace[: len(first.trace)] == first.trace


@pytest.mark.parametrize("damaged", ["lockers.mdb", "play/lockers.mdb"])
def test_again_replaces_damaged_lockers(damaged, leduc, tmp_path):
    folder = tmp_path / "out"
    call = ("solve", leduc[0], "--out", folder, "--set", "solve.max_sweeps=20")
    solve(leduc[0], folder, "solve.max_sweeps=50")
    path = folder / damaged
    os.truncate(path, path.stat().st_size // 2)
    line = refused(*call)
    assert f"{damaged}: expected " in line
    assert "the file was cut off" in line
    assert line.endswith("(`spewy check FOLDER` lists all damage; `spewy solve --again` solves anew)")
    other = write(tmp_path, DEALT_FLOP)
    assert "holds" in refused("solve", other, "--out", folder, "--again")  # another job's
    assert good_json(*call, "--again")["sweeps"] == 20
    assert spewy("check", folder).exit_code == 0


def test_again_removes_nothing_for_a_job_that_is_refused_or_unknown(leduc, tmp_path):
    """Weeks may lie there."""
    folder, nowhere = tmp_path / "out", tmp_path / "nowhere"
    solve(leduc[0], folder, "solve.max_sweeps=50")
    again = ("solve", leduc[0], "--out", folder, "--again")
    assert "solve.memory: " in refused(*again, "--set", "solve.memory=1 KiB")
    assert "expected the folder of another solve" in refused(*again, "--start-from", nowhere)
    assert "start from a copy of the folder" in refused(*again, "--start-from", folder)
    with FolderLock(folder, "solve"):  # the lock of a solve that runs there
        assert "is in use by another `spewy solve`" in refused(*again)
    assert deals_saved(folder) == 50
    assert solve(leduc[0], folder, "solve.max_sweeps=60").sweeps == 60
    manifest = folder / "manifest.json"
    manifest.write_text("{}")
    assert "manifest.json: expected a JSON object" in refused(*again)
    manifest.unlink()
    manifest.mkdir()
    assert "manifest.json: expected to be able to read it, found: Is a directory" in refused(*again)
    assert holds_store(folder / "play")


def test_cards_before_the_first_action(tmp_path, unjudged):
    """There is no one first action to be told."""
    text = """name = "first"
[game]
text = \"\"\"
GAMEDEF
limit
numPlayers = 2
numRounds = 1
blind = 1 1
raiseSize = 2
firstPlayer = 1
maxRaises = 2
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 1
END GAMEDEF
\"\"\"
[boards]
[solve]
target = "0 mbb"
max_sweeps = 20
"""
    told = good("solve", write(tmp_path, text), "--out", tmp_path / "out")
    assert "sweeps          20\n" in told
    assert "first action" not in told


def test_a_game_of_pairs_of_cards_in_few_classes(tmp_path, unjudged):
    job = write(tmp_path, DEALT_FLOP)
    told = good_json("solve", job, "--out", tmp_path / "out", "--set", "solve.workers=2")
    assert told["sweeps"] == 100
    with open_policy(tmp_path / "out") as policy:
        assert policy.strategies.saved.board_buckets == (1, 3)
        frequencies = policy.decision("rc/", "Qs Jh 3h").frequencies
    np.testing.assert_allclose(frequencies.sum(axis=0), 1)


def test_classes_that_no_deal_has_met_are_played_at_random(tmp_path, unjudged):
    job = write(tmp_path, DEALT_FLOP.replace("flop = 3", 'flop = "all"'))
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    with open_policy(tmp_path / "out") as policy:
        for board in ("Qs Jh 3h", "2s 3s 7d", "Ah Ad Ac"):
            assert policy.decision("rc/", board).frequencies.shape[0] == 2


@pytest.fixture
def unmade(tmp_path, monkeypatch):
    """An empty bucket locker, as on another machine, and nobody makes board buckets and rows."""
    monkeypatch.setenv("SPEWY_BUCKETS", str(tmp_path / "empty"))
    monkeypatch.setattr(Abstraction, "build", lambda *asked: pytest.fail("they were made"))


def test_classes_and_rows_of_a_folder_are_not_made_again(leduc, copied, unmade):
    told = good_json("solve", leduc[0], "--out", copied, "--set", "solve.max_sweeps=3001")
    assert told["sweeps"] == 3001
    with Session(Job.load(leduc[0]), copied) as session:
        assert session.plan.cost.making_seconds == 0
        assert session.policy().decision("cc/", "Qh").frequencies.shape[0] == 2


@pytest.mark.usefixtures("unmade")
def test_classes_that_lack_a_part_are_damage(leduc, copied):
    with open_store(copied / "play") as store:
        store.transact(lambda txn: txn.delete("classes", b"rows"))
    assert "locker 'classes': expected groups, " in refused("solve", leduc[0], "--out", copied)
    assert "found no rows" in refused("show", copied)


# Checks


@pytest.fixture
def judge_of(monkeypatch):
    """Makes the judge find these exploitabilities, one after the other; when it was asked, and on how many flops."""

    def make(*found):
        asked, coming = [], iter(found)

        def judge(engine, flops, stop, tell):
            asked.append((engine.done, flops))
            mean = next(coming)
            return Finding(mean, 0.1, mean, mean, (mean, mean), -0.05, 0.1, flops, 1.0)

        monkeypatch.setattr(SampledEngine, "judge", judge)
        return asked

    return make


def test_what_is_judged_is_told_and_kept(leduc, tmp_path, judge_of):
    asked = judge_of(*[0.5] * 1000)
    result = solve(leduc[0], tmp_path / "out", "solve.check_every=0.001 s", "solve.check_flops=7")
    assert asked[-1] == (3000, 7)
    assert [row[0] for row in result.trace] == [deals for deals, _ in asked]
    assert (result.exploitability, result.exploitability_mbb, result.value) == (0.5, 500.0, -0.05)
    with open_store(tmp_path / "out", read_only=True) as store:
        assert [tuple(row) for row in read_trace(store)] == list(result.trace)
    status = read_status(tmp_path / "out")
    assert (status.judged.exploitability, status.judged.stderr, status.judged.flops) == (500, 100, 7)
    assert status.value == -50
    lines = log_lines(tmp_path / "out")
    assert any(
        line.startswith("check 3000 deals, exploitability 500 +- 100 mbb on 7 flops") for line in lines
    )
    judge_of()
    again = solve(leduc[0], tmp_path / "out")  # nothing is dealt, and nothing judged
    assert (again.exploitability, again.value, again.trace) == (0.5, -0.05, result.trace)


def test_a_target_that_is_reached_with_the_standard_error_ends_it(leduc, tmp_path, judge_of):
    asked = judge_of(0.5, 0.1, 0.01)  # each with a standard error of 0.1
    settings = ["solve.check_every=0.001 s", "solve.target=120 mbb", "solve.max_sweeps=1000000000"]
    result = solve(leduc[0], tmp_path / "out", *settings)
    assert result.converged
    assert len(asked) == 3
    assert status_of(tmp_path / "out").ended == "target reached"


def test_an_exploitability_that_is_no_number_fails(leduc, tmp_path, judge_of):
    judge_of(float("nan"))
    with pytest.raises(SolveError, match="deal 3000: expected a finite exploitability, found nan"):
        solve(leduc[0], tmp_path / "out")
    assert log_lines(tmp_path / "out")[-1].startswith("stop  failed, SolveError: leduc-dealt, deal 3000")
    assert "not running: failed, SolveError: leduc-dealt, deal 3000" in good("status", tmp_path / "out")


def test_a_solve_tells_that_it_checks(leduc, tmp_path, monkeypatch):
    told, judge = [], SampledEngine.judge

    def looked_at(engine, flops, stop, tell):
        def tell_and_look(done, total):
            tell(done, total)
            told.append((good_json("status", tmp_path / "out")["checking"], [done, total]))

        return judge(engine, flops, stop, tell_and_look)

    monkeypatch.setattr(SampledEngine, "judge", looked_at)
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=10")
    assert [found for found, _ in told] == [expected for _, expected in told] == [[n, 6] for n in range(7)]
    assert good_json("status", tmp_path / "out")["checking"] is None


@pytest.mark.parametrize("deals", [0, 100])
@pytest.mark.usefixtures("unjudged")
def test_a_solve_that_failed_tells_how_it_ended(leduc, tmp_path, monkeypatch, deals):
    """A disk without room, before anything was saved or later."""
    folder = tmp_path / "out"
    if deals:
        solve(leduc[0], folder, f"solve.max_sweeps={deals}")
    full = StorageError(f"{folder}: expected room on the disk, found none")
    monkeypatch.setattr("spewy.learn.background_saves.write_buckets", lambda *asked: raising(full))
    with pytest.raises(StorageError):
        solve(leduc[0], folder, "solve.max_sweeps=200")
    told = good_json("status", folder)
    assert (told["running"], told["saved_deals"]) == (False, deals)
    assert told["ended"] == f"failed, StorageError: {folder}: expected room on the disk, found none"


def test_a_resumed_solve_remembers_its_last_check(leduc, tmp_path, judge_of):
    judge_of(0.5)
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=100")
    before = read_status(tmp_path / "out")
    judge_of()
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=100")
    told = read_status(tmp_path / "out")
    assert (told.judged.exploitability, told.judged.deals) == (500, 100)
    assert (told.judged, told.value) == (before.judged, before.value)  # error, flops and time too
    (tmp_path / "out" / STATUS).write_text("{")
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=100")
    assert read_status(tmp_path / "out").judged == replace(
        before.judged, stderr=None, flops=None, at=None, seconds=None
    )


def test_sums_that_are_no_numbers_fail_and_are_not_saved(leduc, tmp_path, monkeypatch):
    solve(leduc[0], tmp_path / "out", "solve.max_sweeps=100")
    before, run = numbers_in(tmp_path / "out"), SampledEngine.deal

    def spoilt(engine, n, stop):
        run(engine, n, stop)
        engine.numbers.sums[0][0][0] = np.nan

    monkeypatch.setattr(SampledEngine, "deal", spoilt)
    monkeypatch.setattr(SampledEngine, "judge", lambda engine, *asked: None)
    with pytest.raises(
        SolveError, match="round 0, board bucket 0: expected finite numbers, found infinities or NaN"
    ):
        solve(leduc[0], tmp_path / "out", "solve.max_sweeps=200")
    assert numbers_in(tmp_path / "out") == before


# Interruptions


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize("in_background", [False, True], ids=["the last save", "a save in the background"])
def test_a_second_interruption_breaks_a_save_off(leduc, solved, tmp_path, monkeypatch, in_background):
    """What was saved before is kept: the board buckets that the save has written come again."""
    folder, every = tmp_path / "out", "0" if in_background else "1000"
    solve(leduc[0], folder, "solve.max_sweeps=500")
    run, write = SampledEngine.deal, background_saves.write_buckets

    def run_and_interrupt(engine, n, stop):
        run(engine, n, stop)
        signal.raise_signal(signal.SIGINT)

    def write_and_interrupt(store, board_buckets):
        write(store, board_buckets)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.2)

    with monkeypatch.context() as patch:
        patch.setattr(SampledEngine, "deal", run_and_interrupt)
        patch.setattr(background_saves, "write_buckets", write_and_interrupt)
        patch.setattr(background_saves, "BYTES_AT_ONCE", 1)
        result = spewy("solve", leduc[0], "--out", folder, "--save-every", every)
    assert result.exit_code == 130
    assert result.stderr.endswith("interrupted; everything that was saved is kept\n")
    assert status_of(folder).ended == "stopped at once by an interruption"
    assert deals_saved(folder) == 500
    assert good("check", folder).endswith(": healthy\n")
    assert sum(map(sum, visits_in(folder).values())) > 4 * 500  # two rounds, two players
    assert solve(leduc[0], folder, "solve.max_sweeps=510").sweeps == 510
    solve(leduc[0], folder, "solve.max_sweeps=1000")
    solve(leduc[0], tmp_path / "whole", "solve.max_sweeps=1000")
    assert visits_by_bucket(folder) == visits_by_bucket(tmp_path / "whole")  # each visit counts once


# Dropped regrets


@pytest.fixture
def played_only(copied):
    """A solved folder from which regrets and sums were dropped, and what the command told."""
    return copied, good_json("drop", copied, "--regrets")


def test_dropped_regrets_give_the_disk_back(solved, played_only):
    folder, told = played_only
    assert (told["name"], told["dropped"]) == ("leduc-dealt", ["regrets", "sums"])
    sizes = [sum(path.stat().st_size for path in f.glob("*.mdb")) for f in (solved[1], folder)]
    assert [told["bytes_before"], told["bytes_after"]] == sizes
    assert told["bytes_after"] < told["bytes_before"] / 2
    assert numbers_in(folder) == {}
    assert good_json("drop", folder, "--regrets") == told | {"bytes_before": told["bytes_after"]}


def test_what_plays_and_looks_needs_no_regrets(solved, played_only):
    folder, _ = played_only
    for command in (("show",), ("exploit", "--workers", 1)):
        name, *rest = command
        assert good(name, folder, *rest) == good(name, solved[1], *rest)
    told = good_json("status", folder)
    assert (told["deals"], told["running"], told["ended"]) == (3000, False, "regrets and sums dropped")
    assert good("check", folder).endswith(": healthy\n")


def test_a_solve_whose_regrets_were_dropped_says_so(leduc, played_only):
    folder, _ = played_only
    settings = ("--set", "solve.max_sweeps=50")
    line = refused("solve", leduc[0], "--out", folder, *settings)
    assert "out: expected regrets and sums to continue with, found them dropped; " in line
    assert good_json("solve", leduc[0], "--out", folder, *settings, "--again")["sweeps"] == 50
    assert good_json("solve", leduc[0], "--out", folder, "--set", "solve.max_sweeps=60")["sweeps"] == 60


def test_a_play_locker_is_not_solved_into(leduc, solved, tmp_path):
    alone = shutil.copytree(solved[1] / "play", tmp_path / "alone")
    before = sorted(path.name for path in alone.iterdir())
    for options in (("--out", alone), ("--out", tmp_path / "out", "--start-from", alone)):
        line = refused("solve", leduc[0], "--set", "solve.max_sweeps=3010", *options)
        assert "alone: expected regrets and sums to continue with, found a strategy locker alone" in line
    assert sorted(path.name for path in alone.iterdir()) == before


def test_a_drop_that_was_killed_is_finished(leduc, copied, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("spewy.records.chunks.DELETED_AT_ONCE", 1)
        patch.setattr(LmdbStore, "keys", lambda *asked: raising(KeyboardInterrupt()))
        assert spewy("drop", copied, "--regrets").exit_code == 130
    assert "found them dropped" in refused("solve", leduc[0], "--out", copied)
    good("drop", copied, "--regrets")
    assert numbers_in(copied) == {}


def test_regrets_that_are_needed_are_not_dropped(solved, copied, tmp_path):
    with FolderLock(copied, "solve"):
        assert "is in use by `spewy solve`" in refused("drop", copied, "--regrets")
    shutil.rmtree(copied / "play")
    assert "the strategy locker is missing" in refused("drop", copied, "--regrets")
    assert numbers_in(copied) == numbers_in(solved[1])
    good("solve", write(tmp_path, LEDUC), "--out", tmp_path / "walked", "--set", "solve.max_sweeps=1")
    assert "only whole games with [boards] can do without their regrets" in refused(
        "drop", tmp_path / "walked", "--regrets"
    )
    for options in ((), ("--regrets", "--round", "flop")):
        assert "give either --round or --regrets" in refused("drop", copied, *options)


@pytest.mark.parametrize("within", ["play", "judged"])
def test_an_audit_finds_damage_in_all_that_a_folder_holds(copied, within):
    good("exploit", copied, "--workers", 1)
    assert good("check", copied).endswith(": healthy\n")
    os.truncate(copied / within / "lockers.mdb", 9000)
    told = spewy("check", copied)
    assert (told.exit_code, "healthy" in told.stdout) == (1, False)
    assert f"out/{within}/lockers.mdb: expected" in told.stdout


# Refusals


def test_a_folder_of_other_classes(leduc, solved):
    for change in ("boards.flop=2", "rows.flop=2", "solve.precision=16-bit", "game.file=kuhn"):
        more = ("--set", "rows.flop=3") if change == "boards.flop=2" else ()
        line = refused("solve", leduc[0], "--out", solved[1], "--set", change, *more)
        assert "holds the lockers of another job" in line or "boards.flop" in line


def test_classes_that_were_made_in_another_way(leduc, solved, tmp_path, monkeypatch):
    import buckets.abstraction.build

    monkeypatch.setattr(buckets.abstraction.build, "METHOD", buckets.abstraction.build.METHOD + 1)
    assert "abstraction" in refused("solve", leduc[0], "--out", solved[1])


RAISES = '[bets.preflop]\nraise = "2x, 3x, 4x, 5x"\n'


@pytest.mark.parametrize(
    ("text", "memory", "told"),
    [
        (DEALT_FLOP, "1 MiB", 'with solve.precision = "16-bit", found 1 MiB'),
        (
            DEALT_FLOP.replace("flop-holdem", "holdem.nolimit.2p.reverse_blinds") + RAISES,
            "100 MiB",
            "lines by round",
        ),
        (DEALT_LEDUC, "1 KiB", "needs at least 8.9 KiB"),
    ],
    ids=["numbers", "lines", "little"],
)
def test_too_little_memory_is_told_before_anything_is_there(tmp_path, monkeypatch, text, memory, told):
    if told == "lines by round":
        monkeypatch.setattr("spewy.run.sampled_plan.line_forests", lambda tree: pytest.fail("it was built"))
    line = refused(
        "solve", write(tmp_path, text), "--out", tmp_path / "out", "--set", f"solve.memory={memory}"
    )
    assert line.startswith("Error: solve.memory: this job needs ")
    assert told in line
    assert not (tmp_path / "out").exists()


def test_too_little_room_is_told_before_anything_is_there(leduc, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    assert "of disk space, and 1000 B are free" in refused("solve", leduc[0], "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_solve_in_memory_is_the_one_in_a_folder(solved, leduc):
    told, folder = solved
    with Session(Job.load(leduc[0])) as session:
        result = session.solve()
        assert (result.sweeps, result.exploitability) == (told["sweeps"], told["exploitability"])
        found = session.policy().frequencies("", None, "Kh").tolist()
        assert saved_sweeps(session.store) == 3000
        again = session.solve()  # which has nothing to do
        assert again.trace == result.trace
        with open_policy(folder) as policy:
            assert policy.frequencies("", None, "Kh").tolist() == found


def test_a_solve_in_memory_starts_from_a_folder_and_gives_it_its_own_memory(solved, leduc, monkeypatch):
    """A folder does not keep its job's memory."""
    planned, of = [], SampledPlan.of

    def noted(job, **options):
        planned.append(job.solve.memory)
        return of(job, **options)

    monkeypatch.setattr(SampledPlan, "of", noted)
    job = Job.load(leduc[0], ["solve.memory=3 GiB", "solve.max_sweeps=3010"])
    with Session(job, start_from=solved[1]) as session:
        assert set(planned) == {"3 GiB"}
        assert session.solve().sweeps == 3010


def test_what_is_written_to_is_looked_at_before(leduc, copied, monkeypatch):
    """A write into damaged pages can end the process."""
    looked_at, require_sound = [], LmdbStore.require_sound

    def noted(store):
        looked_at.append(store.folder)
        require_sound(store)

    monkeypatch.setattr(LmdbStore, "require_sound", noted)
    good("solve", leduc[0], "--out", copied, "--set", "solve.max_sweeps=3001")
    assert looked_at == [copied, copied / "play"]
    good("exploit", copied, "--workers", 1)
    assert looked_at[2:] == [copied / "judged"]


@pytest.mark.parametrize(
    ("locker", "key", "value"),
    [
        ("regret", b"1.2|0", None),
        ("strategy", b"1.2|1", np.zeros(3, np.float32)),
        ("visits", b"0.0|", np.array([-1, 2])),
        ("visits", b"0.0|", None),
    ],
)
def test_damage_that_a_solve_finds_is_its_last_word(leduc, copied, locker, key, value):
    with open_store(copied) as store:
        store.transact(lambda txn: txn.delete(locker, key) if value is None else txn.put(locker, key, value))
    line = refused("solve", leduc[0], "--out", copied, "--set", "solve.max_sweeps=4000")
    assert f"locker '{locker}'" in line
    told, (error, _, _) = (
        good_json("status", copied),
        line.removeprefix("Error: ").partition(" (`spewy check"),
    )
    assert (told["ended"], told["deals"]) == (f"failed, DamagedLockerError: {error}", 3000)


def test_a_play_locker_that_was_taken_away_is_written_again(leduc, copied):
    shutil.rmtree(copied / "play")
    good("solve", leduc[0], "--out", copied, "--set", "solve.max_sweeps=3001")
    with open_policy(copied) as policy:
        assert policy.strategies.saved.deals == 3001
        policy.decision("cc/", "Qh")


def test_several_jobs_at_once_are_not_for_dealt_boards(leduc, tmp_path):
    result = spewy("solve", leduc[0], write(tmp_path, DEALT_FLOP), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "expected a job that visits all boards, found one with [boards]" in result.stderr


# Estimates


def test_an_estimate_tells_what_is_needed(tmp_path):
    told = good_json("estimate", write(tmp_path, DEALT_FLOP))
    assert told.items() >= {"lines": [1, 7], "board_buckets": [1, 3], "rows": [169, 5], "fits": True}.items()
    assert told["state_bytes"] == 2 * 4 * (169 * 16 * (10 + 11) + 3 * 5 * 16 * (13 + 13))
    assert told["disk_bytes"] > told["play_bytes"] > 0
    assert told["seconds_per_deal"] > 0


def test_an_estimate_counts_what_a_check_finds():
    """Of 1,755 flops, 7 lines and 169 kinds of hands, for both players: three times, when all are drawn."""
    all_flops = 3 * 1755 * 2 * 7 * 169 * 8
    few, many = (
        good_json("estimate", EXAMPLES / "limit-holdem.toml", "--set", f"solve.check_flops={flops}")
        for flops in (1, 1755)
    )
    assert many["memory_bytes"] - few["memory_bytes"] == pytest.approx(all_flops, rel=0.1)
    ends_with_the_flop = good_json("estimate", EXAMPLES / "flop-holdem.toml")  # judged on all in any case
    assert ends_with_the_flop["table_bytes"] > all_flops


def test_an_estimate_counts_the_tables_of_pairs():
    """A table has four bytes for each board bucket of flops and each board of the turn or river."""
    spec = AbstractionSpec(Deck(5, 3), 2, (0, 2, 1), ("all", 4, 12), (50, 6, 5), remember=True)
    pairs = Abstraction.build(spec).arrays["pairs"]
    assert sum(_pair_table_bytes(spec, t, (1, 4, 12)) for t in range(3)) == pairs.nbytes > 0
    few_rows = ("rows.flop=2", "rows.turn=2", "rows.river=2", "boards.turn=200", "boards.river=200")
    settings = ("--set=boards.remember=true", *(f"--set={setting}" for setting in few_rows))
    few, many = (
        good_json("estimate", EXAMPLES / "limit-holdem.toml", *settings, f"--set=boards.flop={flops}")
        for flops in (20, 200)
    )
    tables = 4 * 180 * (16_432 + 134_459)
    assert many["table_bytes"] - few["table_bytes"] == pytest.approx(tables, rel=1e-3)
    # Here most memory is needed while board buckets are computed, at the end with two copies of the tables.
    assert many["memory_bytes"] - few["memory_bytes"] == pytest.approx(2 * tables, rel=1e-3)


def test_an_estimate_counts_the_buffers_and_the_time_of_answers(tmp_path):
    job = write(tmp_path, DEALT_FLOP)
    plain, answered = (good_json("estimate", job, "--set", f"solve.cfr_br={share}") for share in (0, 0.25))
    assert answered["state_bytes"] > plain["state_bytes"]
    assert answered["memory_bytes"] > plain["memory_bytes"]
    assert answered["seconds_per_deal"] > plain["seconds_per_deal"]


def test_an_estimate_of_disk_is_what_is_written(tmp_path, unjudged):
    job = write(tmp_path, DEALT_FLOP.replace("flop = 3", "flop = 60"))
    told = good_json("estimate", job)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=600")
    written = good_json("status", tmp_path / "out")["disk_bytes"]
    assert written == pytest.approx(told["disk_bytes"] - told["judged_bytes"], rel=0.2)


@pytest.mark.parametrize(
    ("rows", "boards", "kinds", "part"),
    [("", 1755, 169, 50), ('preflop = "hands"', 22_100, 1326, 500)],
    ids=["kinds of hands", "hands"],
)
def test_an_estimate_of_disk_counts_what_judging_keeps(tmp_path, rows, boards, kinds, part):
    """A part of all findings is written."""
    job = write(tmp_path, DEALT_FLOP.replace("[rows]", f"[rows]\n{rows}"))
    told = good_json("estimate", job, "--set", "solve.memory=100 GiB")
    assert told["disk_bytes"] > told["judged_bytes"] > told["play_bytes"]
    finding = FlopFinding(np.random.default_rng(0).random((2, 7, kinds)), 0.0, 1.0)
    with ResponseCache.of(tmp_path, {"any": "job"}) as kept:
        kept.begin("0" * 24)
        for first in range(boards // part):
            kept.keep(first, finding)
    assert disk_bytes(tmp_path / "judged") == pytest.approx(told["judged_bytes"] / part, rel=0.2)


TWELVE_CARDS = """
name = "twelve"
[game]
text = \"\"\"
GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 10 5
raiseSize = 10 10
firstPlayer = 2 1
maxRaises = 1 1
numSuits = 2
numRanks = 6
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
\"\"\"
[boards]
[solve]
max_sweeps = 1
target = "0 mbb"
"""


def test_an_estimate_knows_no_more_rows_than_hands_and_in_the_end_those_that_there_are(tmp_path, unjudged):
    job = write(tmp_path, TWELVE_CARDS)
    before = good_json("estimate", job)
    assert before["rows"] == [36, 36]  # six pairs and thirty others up to suits; two of nine cards
    good("solve", job, "--out", tmp_path / "out")
    with StrategyLocker.open(tmp_path / "out" / "play") as found:
        rows = found.arrays()["n_rows"].tolist()
    assert good_json("estimate", job)["rows"] == rows == [36, 21]
    with Session(Job.load(job), tmp_path / "out") as session:
        assert session.plan.cost.rows == tuple(rows)


def test_an_estimate_in_words(tmp_path):
    job = write(tmp_path, DEALT_FLOP)
    text = good("estimate", job, "--set", "solve.memory=1 MiB")
    assert "7 lines, 3 board buckets, 5 rows" in text
    assert "MORE THAN the 1 MiB allowed" in text
    assert 'rows.flop: expected "hands" or at most 255 rows with [boards], found 256' in refused(
        "estimate", job, "--set", "rows.flop=256"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
def test_16_bits_do_not_drift_to_uniform_play(leduc, tmp_path):
    settings = ("solve.precision=16-bit", "solve.max_sweeps=800000")
    solve(leduc[0], tmp_path / "out", *settings)
    assert exploitability_of(tmp_path / "out", "leduc") < 0.01


@pytest.mark.usefixtures("unjudged")
def test_a_first_save_that_was_broken_off_is_nothing_to_go_on_from(leduc, solved, tmp_path, monkeypatch):
    """Also where the solve began with what another has learnt, whose deals do not come again."""
    folder, write = tmp_path / "out", background_saves.write_buckets

    def write_and_break_off(store, board_buckets):
        write(store, board_buckets)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(background_saves, "write_buckets", write_and_break_off)
        with (
            pytest.raises(KeyboardInterrupt),
            Session(Job.load(leduc[0], ["solve.max_sweeps=3100"]), folder, start_from=solved[1]) as session,
        ):
            session.solve()
    assert deals_saved(folder) == 0
    assert visits_in(folder)
    solve(leduc[0], folder, "solve.max_sweeps=50")
    solve(leduc[0], tmp_path / "whole", "solve.max_sweeps=50")
    assert visits_by_bucket(folder) == visits_by_bucket(tmp_path / "whole")
    assert numbers_in(folder) == numbers_in(tmp_path / "whole")
