"""The lock by which a single process works in a folder: solves of spots and whole games, `drop`, and logs."""

import errno
import fcntl
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write
from dealt_jobs import DEALT_LEDUC
from running import started
from without_rights import without_rights

from lockers import LOCK
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.run import folder_state
from spewy.run.session import Session
from spewy.system.folders import FolderLock, is_locked

BOARDS = TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Qs 7h 2d 3c", "Kh 9d 6s 2c"]')
HOLDING = (
    "import sys, time; from pathlib import Path; from spewy.system.folders import FolderLock\n"
    "lock = FolderLock(Path(sys.argv[1]), 'solve'); print('held', flush=True); time.sleep(600)"
)
FOREVER = ("--set", "solve.target=0 chips", "--set", "solve.max_sweeps=100000000")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    return {"spot": write(folder, TURN, "spot.toml"), "game": write(folder, DEALT_LEDUC, "game.toml")}


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(folder)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"held\n"
        yield folder, child
        child.kill()


def test_a_folder_is_one_process_s_until_that_is_killed(elsewhere):
    folder, child = elsewhere
    with pytest.raises(InputError, match="out is in use by another `spewy solve`"):
        FolderLock(folder, "solve")
    with pytest.raises(InputError, match="out is in use by `spewy solve`"):
        FolderLock(folder, "drop")
    assert is_locked(folder)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not is_locked(folder)
    with FolderLock(folder, "solve"):
        assert is_locked(folder)
    assert list(folder.iterdir()) == []


def test_a_folder_that_was_made_for_nothing_goes_again(tmp_path):
    lock = FolderLock(tmp_path / "a" / "b", "solve")
    lock.close()
    lock.close()
    assert list(tmp_path.iterdir()) == []
    with FolderLock(tmp_path / "a" / "b", "solve"):
        (tmp_path / "a" / "notes").write_text("")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["notes"]
    with pytest.raises(InputError, match="nothing: expected a folder of a solve, found none"):
        FolderLock(tmp_path / "nothing", "drop", make=False)


def test_a_forked_child_neither_holds_a_folder_nor_lets_go_of_it(tmp_path):
    lock = FolderLock(tmp_path, "solve")
    child = multiprocessing.get_context("fork").Process(target=lock.close)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert is_locked(tmp_path)
    waiting = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    waiting.start()
    lock.close()
    assert not is_locked(tmp_path)
    waiting.kill()
    waiting.join()


def test_a_lock_whose_file_was_removed_is_taken_anew(tmp_path):
    """A process that waits for the lock has the same file open that the holder removes."""
    with FolderLock(tmp_path, "solve"):
        (tmp_path / LOCK).unlink()
        with FolderLock(tmp_path, "solve"):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["there", "gone", "gone/further"])
def test_a_lock_that_is_a_link_is_not_followed(tmp_path, target):
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "there").write_text("kept")
    (folder / LOCK).symlink_to(tmp_path / target)
    for make in (True, False):
        with pytest.raises(InputError, match=r"out/\.lock: expected a regular file, found a symbolic link"):
            FolderLock(folder, "solve", make=make)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["out", "there"]
    assert (tmp_path / "there").read_text() == "kept"


def test_a_lock_that_is_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises(InputError, match="expected a regular file, found a special file"):
        FolderLock(tmp_path, "solve")


def test_a_folder_that_cannot_stay_is_not_tried_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "mkdir", failing(errno.ENOENT))
    with pytest.raises(InputError, match="found: No such file or directory"):
        FolderLock(tmp_path / "out", "solve")


def test_root_without_rights_on_a_file_system_locks_there(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", failing(errno.EPERM))
    with FolderLock(tmp_path, "solve"):
        assert is_locked(tmp_path)


def failing(number):
    def call(*args, **options):
        raise OSError(number, os.strerror(number))

    return call


def test_a_file_system_without_locks_keeps_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))
    with FolderLock(tmp_path, "solve"), FolderLock(tmp_path, "solve"):
        assert not is_locked(tmp_path)


def test_a_folder_that_may_not_be_locked_is_not_used_unlocked(tmp_path, monkeypatch):
    def work():
        for command in ("match", "solve"):
            with pytest.raises(
                InputError, match="expected a folder and files that can be written, found: Perm"
            ):
                FolderLock(tmp_path / "logs", command)

    (tmp_path / "logs").mkdir()
    without_rights(tmp_path / "logs", work)
    monkeypatch.setattr(fcntl, "flock", failing(errno.EIO))
    with pytest.raises(InputError, match="found: Input/output error"):
        FolderLock(tmp_path, "solve")


@pytest.mark.parametrize("kind", ["spot", pytest.param("game", marks=pytest.mark.slow)])
def test_whoever_writes_in_a_folder_keeps_all_others_out(jobs, tmp_path, kind):
    folder, job = tmp_path / "out", Job.load(jobs[kind], ["solve.max_sweeps=20"])
    solve = ("solve", jobs[kind], "--out", folder)
    with Session(job, folder) as session:
        session.solve()
        for command in (solve, (*solve, "--again")):
            assert "out is in use by another `spewy solve`" in refused(*command)
        drop = ("--round", "river") if kind == "spot" else ("--regrets",)
        assert "out is in use by `spewy solve`" in refused("drop", folder, *drop)
        good("show", folder)
        good("exploit", folder, *(("--workers", 1) if kind == "game" else ()))
        good("check", folder)
    assert is_locked(folder) is False
    good(*solve, "--set", "solve.max_sweeps=30")
    assert not (folder / LOCK).exists()


@pytest.mark.parametrize("kind", ["spot", pytest.param("game", marks=pytest.mark.slow)])
def test_again_holds_the_folder_from_the_removal_to_the_end(jobs, tmp_path, kind, monkeypatch):
    """A second solve with --again finds the folder taken, while the first one removes the old lockers and later."""
    folder, job = tmp_path / "out", Job.load(jobs[kind], ["solve.max_sweeps=20"])
    solve = ("solve", jobs[kind], "--out", folder, "--set", "solve.max_sweeps=20", "--again")
    good(*solve)
    remove, refusals = folder_state.remove_store, []

    def removing(store):
        remove(store)
        with pytest.raises(InputError, match="in use by another"):
            Session(job, folder, again=True)
        refusals.append(store)

    monkeypatch.setattr(folder_state, "remove_store", removing)
    with Session(job, folder, again=True) as session:
        assert folder in refusals
        with pytest.raises(InputError, match="in use by another"):
            Session(job, folder)
        assert session.solve().sweeps == 20
    assert good("check", folder).endswith(": healthy\n")


@pytest.mark.parametrize("kind", ["spot", pytest.param("game", marks=pytest.mark.slow)])
def test_of_solves_that_begin_at_once_one_solves(jobs, tmp_path, kind):
    """Two solves with --again begin at once; one of them gets the folder, the other ends with one line."""
    folder, last = tmp_path / "out", ("--set", "solve.max_sweeps=5")
    good("solve", jobs[kind], "--out", folder, *last)
    command = ("solve", jobs[kind], "--out", folder, "--again", *FOREVER)
    with started(*command) as first, started(*command) as second:
        deadline = time.monotonic() + 60
        while first.poll() is second.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (ended,) = [each for each in (first, second) if each.poll() is not None]
        assert ended.returncode == 2
        told = ended.stderr.read().splitlines()[-1]
        assert told.endswith(f"folder {folder} is in use by another `spewy solve`")
    assert good("check", folder).endswith(": healthy\n")
    assert good_json("solve", jobs[kind], "--out", folder, *last)["sweeps"] >= 0


@pytest.mark.slow
def test_a_member_of_a_batch_whose_folder_is_taken_fails_alone(tmp_path):
    job, out = write(tmp_path, BOARDS), tmp_path / "out"
    batch = ("solve", job, "--out", out, "--set", "solve.max_sweeps=5", "--set", "solve.target=0%")
    first = good_json(*batch)
    for again in ((), ("--again", "--jobs", "2")):
        with FolderLock(out / "Qs7h2d3c", "solve"):
            result = spewy(*batch, *again, "--set", "solve.max_sweeps=9", "--json")
        assert result.exit_code == 1
        taken, other = json.loads(result.stdout)
        assert taken["error"].endswith("Qs7h2d3c is in use by another `spewy solve`")
        assert taken["sweeps"] == first[0]["sweeps"] == 5
        assert (other["error"], other["sweeps"]) == (None, 9)
    assert [one["sweeps"] for one in good_json(*batch, "--again")] == [5, 5]


def test_a_session_that_is_forgotten_lets_go(jobs, tmp_path):
    Session(Job.load(jobs["spot"]), tmp_path / "out")
    assert not is_locked(tmp_path / "out")
