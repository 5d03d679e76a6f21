"""How a solve stands, told from another terminal; and the log in its folder."""

import dataclasses
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from class_numbers import ClassSums
from cli_runs import LEDUC, POLARISED, TURN, good, good_json, refused, spewy, write

from lockers import LOCK, LockerError, open_store
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.records.status import (
    LOG,
    STATUS,
    Judged,
    Status,
    forget_status,
    last_word,
    read_status,
    running,
    write_status,
)
from spewy.run.events import Checked
from spewy.run.session import Session
from spewy.run.status_file import LogFile
from spewy.system.failures import failure_text
from spewy.system.folders import FolderLock

LIMIT = Job.of(
    {"name": "limit", "game": {"file": "holdem.limit.2p.reverse_blinds"}, "boards": {"river": 400}}
)
JUDGED = Judged(146.2, "mbb", 15.9, 5, 54_000, 1.7e9)
STANDS = Status(
    name="limit",
    deals=60_000,
    saved_deals=54_000,
    per_second=212.5,
    seconds=300.0,
    seconds_left=3600.0,
    visits=((60_000, 60_000.0), (2, 7.5), (3, 8.0), (0, 1.0)),
    value=-112.4,
    judged=JUDGED,
    target="100 mbb",
    at=1.7e9,
)


@pytest.fixture
def folder(tmp_path):
    with open_store(tmp_path / "limit", LIMIT.manifest()):
        pass
    return tmp_path / "limit"


@pytest.mark.parametrize(
    "status",
    [STANDS, replace(STANDS, judged=None, value=None, at=None, per_second=None, checking=(2, 5))],
)
def test_what_is_written_is_read(folder, status):
    write_status(folder, STANDS)
    write_status(folder, status)
    assert read_status(folder) == status
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_status_tells_all_of_it(folder):
    write_status(folder, replace(STANDS, at=time.time() - 3, judged=replace(JUDGED, at=time.time() - 600)))
    with FolderLock(folder, "solve"):
        text = good("status", folder)
    told = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert told["job"] == "limit"
    assert told["state"].startswith("running; ")
    assert told["deals"] == "60,000, 212.5 per second, 54,000 of them saved"
    assert told["time"] == "5:00 min, about 1:00 h left"
    assert told["visits"].startswith("60,000 / 60,000; 2 / 8; 3 / 8; 0 / 1 (fewest / median")
    assert told["value"] == "-112.4 mbb per hand for player 0"
    assert told["exploitability"].startswith("146.200 +- 15.9 mbb on 5 flops after 54,000, 10:")
    assert told["exploitability"].endswith("ago (target 100 mbb)")
    assert "disk" in told


def test_status_as_json(folder):
    write_status(folder, STANDS)
    told = good_json("status", folder)
    assert told["running"] is None  # nobody ever kept a log
    assert told["disk_bytes"] > 0
    assert told["judged"] == dataclasses.asdict(JUDGED)
    assert (told["deals"], told["visits"][3], told["ended"]) == (60_000, [0, 1.0], None)


def test_a_check_is_told_while_it_runs(folder):
    write_status(folder, replace(STANDS, checking=(2, 5)))
    with FolderLock(folder, "solve"):
        assert "running, measured on 2 of 5 flops; " in good("status", folder)
        assert good_json("status", folder)["checking"] == [2, 5]
    assert good_json("status", folder)["checking"] is None


def test_a_status_of_an_earlier_version_is_read(folder):
    write_status(folder, STANDS)
    found = json.loads((folder / STATUS).read_text())
    del found["checking"], found["judged"]["seconds"]
    (folder / STATUS).write_text(json.dumps(found | {"ended": "interrupted"}))
    assert read_status(folder) == STANDS


def test_a_solve_that_failed_before_it_told_anything(folder):
    with LogFile(folder) as log:
        log.write("stop", "failed, StorageError: no room")
    told = good_json("status", folder)
    assert (told["name"], told["deals"], told["ended"]) == ("limit", 0, "failed, StorageError: no room")


def test_a_folder_where_a_file_should_be_is_told(folder):
    (folder / LOG).mkdir()
    assert f"{LOG}: expected a file, found a folder" in refused("status", folder)
    with pytest.raises(InputError, match=f"{LOG}: expected a file, found a folder"):
        LogFile(folder)
    (folder / STATUS).mkdir()
    for can_be, use in (
        ("written", lambda: write_status(folder, STANDS)),
        ("removed", lambda: forget_status(folder)),
    ):
        told = f"{STATUS}: expected a file that can be {can_be}, found: Is a directory"
        with pytest.raises(InputError, match=told):
            use()


def test_a_status_for_which_there_is_no_room_is_a_failure_of_the_machine(folder, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(Path, "write_text", lambda *args, **options: (_ for _ in ()).throw(full))
    with pytest.raises(InputError) as error:
        write_status(folder, STANDS)
    assert f"{STATUS}: expected a file that can be written, found: No space left" in failure_text(error.value)


@pytest.mark.parametrize("lines", [[], ["check  2 deals"], ["stop  time is up", "start  5 deals"]])
def test_a_log_whose_last_line_is_no_end_has_no_last_word(folder, lines):
    with LogFile(folder) as log:
        for line in lines:
            log.write(*line.split("  "))
    assert last_word(folder) is None
    with LogFile(folder) as log:
        log.write("stop", "failed, StorageError: " + "no room " * 10)
    assert last_word(folder) == ("failed, StorageError: " + "no room " * 10).strip()


def test_whether_it_runs_is_known_after_it_was_killed(folder):
    write_status(folder, STANDS)
    code = (
        "import sys, time; from pathlib import Path\n"
        "from spewy.run.status_file import LogFile; from spewy.system.folders import FolderLock\n"
        "lock, log = FolderLock(Path(sys.argv[1]), 'solve'), LogFile(Path(sys.argv[1]))\n"
        "print('open', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"open\n"
        assert running(folder) is True
        child.kill()
        child.wait()
    assert running(folder) is False
    assert "not running; the last run was killed, or ended without a log" in good("status", folder)
    with LogFile(folder) as log:
        log.write("stop", "interrupted")
    assert "not running: interrupted" in good("status", folder)


def test_a_log_is_added_to_line_by_line(folder):
    with LogFile(folder) as log:
        log.write("start", "0 deals")
        log.write("check", "two\nlines")
    with LogFile(folder) as log:
        log.write("stop")
    lines = (folder / LOG).read_text().splitlines()
    assert [line[20:] for line in lines] == ["start 0 deals", "check two lines", "stop"]
    assert all(time.strptime(line[:19], "%Y-%m-%d %H:%M:%S") for line in lines)


def test_a_full_disk_names_the_log(folder, monkeypatch):
    with LogFile(folder) as log:
        monkeypatch.setattr(
            os, "write", lambda *args: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left"))
        )
        with pytest.raises(OSError, match="No space left") as error:
            log.write("save")
    assert error.value.filename == str(folder / LOG)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"version": 1}', '{"version": 2}', "[" * 100_000],
)
def test_a_file_that_is_no_status(folder, text):
    (folder / STATUS).write_text(text)
    assert f"{STATUS}: expected" in refused("status", folder)


@pytest.mark.parametrize(
    "change",
    [
        {"judged": {"mbb": 1}},
        {"judged": 3},
        {"visits": 1},
        {"visits": [[1]]},
        {"checking": 1},
        {"checking": [1]},
        {"new": 1},
    ],
)
def test_a_status_with_something_else_in_it(folder, change):
    write_status(folder, STANDS)
    found = json.loads((folder / STATUS).read_text())
    (folder / STATUS).write_text(json.dumps(found | change))
    assert "expected a status of version 1, found" in refused("status", folder)


def test_a_status_is_what_the_lockers_hold(tmp_path):
    """A killed solve has saved and measured since it wrote its status file; a lost disk cache has lost a save."""
    out = tmp_path / "out"
    good("solve", write(tmp_path, TURN), "--out", out)
    held = good_json("status", out)
    file = read_status(out)
    for saved in (3, held["saved_deals"] + 20):
        early = replace(file.judged, deals=1, exploitability=50.0)
        write_status(out, replace(file, deals=saved + 1, saved_deals=saved, seconds=1e-6, judged=early))
        found = good_json("status", out)
        assert found["saved_deals"] == held["saved_deals"]
        assert found["deals"] == max(saved + 1, held["deals"])
        assert found["seconds"] > 1e-3
        assert found["judged"]["deals"] == held["judged"]["deals"]
        assert found["judged"]["exploitability"] == pytest.approx(held["judged"]["exploitability"])


def test_a_play_locker_alone_tells_what_it_holds(tmp_path):
    job = Job.of({"name": "small", "game": {"file": "leduc"}, "boards": {"flop": 2}, "rows": {"flop": 3}})
    sums = ClassSums(job.betting_tree, (1, 2), (6, 3))
    with sums.create(tmp_path / "copy" / "play", job.manifest()) as store:
        sums.write(store, deals=1234)
    for folder in (tmp_path / "copy", tmp_path / "copy" / "play"):
        told = good_json("status", folder)
        expected = {"name": "small", "deals": 1234, "saved_deals": 1234, "judged": None}
        assert told.items() >= expected.items()
    assert "deals           1,234, 1,234 of them saved" in good("status", tmp_path / "copy")


def test_no_folder(tmp_path):
    assert "does not exist" in refused("status", tmp_path / "nothing")


class Asking:
    """A listener that asks `spewy status` for the folder at each check."""

    def __init__(self, folder):
        self.folder, self.told = folder, []

    def __call__(self, event):
        if isinstance(event, Checked):
            self.told.append((event.done, good_json("status", self.folder)))


def test_a_spot_that_runs_tells_its_sweeps(tmp_path, monkeypatch):
    monkeypatch.setattr("spewy.run.status_file.WRITE_SECONDS", 0.0)
    job = Job.load(write(tmp_path, TURN), ["solve.max_sweeps=30", "solve.target=0%"])
    folder, asking = tmp_path / "out", Asking(tmp_path / "out")
    with Session(job, folder, save_every=0) as session:  # with 0 each check is reported at once
        session.solve(asking)
    (_, first), *later = asking.told
    assert first["running"]
    for sweep, told in later:
        assert (told["running"], told["ended"], told["visits"]) == (True, None, None)
        # the status is written before the check has a result
        assert (told["deals"], told["judged"]["deals"]) == (sweep, sweep - 10)
        assert (told["judged"]["unit"], told["target"]) == ("%", "0%")
    told = good_json("status", folder)
    assert (told["running"], told["ended"], told["deals"]) == (False, "all sweeps made", 30)
    assert "sweeps          30, " in good("status", folder)


def test_the_first_save_comes_with_the_first_check(tmp_path, monkeypatch):
    monkeypatch.setattr("spewy.run.status_file.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("spewy.run.stores.FIRST_SHARE", 0.0)
    job = Job.load(write(tmp_path, TURN), ["solve.max_sweeps=40", "solve.target=0%"])
    asking = Asking(tmp_path / "out")
    with Session(job, tmp_path / "out", save_every=1000) as session:
        session.solve(asking)
    assert [told["saved_deals"] for _, told in asking.told[1:]] == [10, 10, 10]


def test_a_spot_whose_status_cannot_be_written_is_refused(tmp_path):
    job, folder = write(tmp_path, TURN), tmp_path / "out"
    good("solve", job, "--out", folder, "--set", "solve.max_sweeps=10")
    (folder / STATUS).unlink()
    (folder / STATUS).mkdir()
    told = refused("solve", job, "--out", folder)
    assert told.endswith(f"{STATUS}: expected a file that can be written, found: Is a directory")


def test_a_folder_of_several_boards_has_a_line_for_each(tmp_path):
    boards = TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Qs 7h 2d 3c", "9s 6h 2c Td"]')
    out = tmp_path / "out"
    good("solve", write(tmp_path, boards), "--out", out, "--jobs", 1)
    (out / "boards.csv").write_text("board,weight\nQs7h2d3c,1\n9s6h2cTd,1\nAs7h2d3c,2\n")
    head, *lines = good("status", out).splitlines()
    assert head.split() == ["folder", "state", "done", "saved", "exploitability"]
    assert [line.split()[0] for line in lines] == ["9s6h2cTd", "Qs7h2d3c", "As7h2d3c"]
    assert "not running: target reached; " in lines[0]
    assert lines[-1].split()[1:] == ["not", "begun"]
    told = good_json("status", out)
    assert [each["folder"] for each in told] == [str(out / "9s6h2cTd"), str(out / "Qs7h2d3c")]
    alone = good_json("status", out / "Qs7h2d3c")
    assert told[1] == {"folder": str(out / "Qs7h2d3c"), **alone}


def test_names_of_folders_are_no_markup(tmp_path):
    first, second = tmp_path / "out" / "a[wet]:fire:", tmp_path / "out" / "b[bold]"
    good("solve", write(tmp_path, TURN), "--out", first, "--set", "solve.max_sweeps=1")
    shutil.copytree(first, second)
    lines = good("status", tmp_path / "out").splitlines()
    assert [line.split()[0] for line in lines[1:]] == [first.name, second.name]


def test_solves_that_write_no_status_are_told_from_their_lockers(tmp_path):
    """A folder may be a copy of the lockers alone."""
    good("solve", write(tmp_path, POLARISED), "--out", tmp_path / "river", "--set", "solve.max_sweeps=100")
    (tmp_path / "river" / STATUS).unlink()
    (tmp_path / "river" / LOG).unlink()
    told = good_json("status", tmp_path / "river")
    expected = {"name": "polarised", "deals": 100, "saved_deals": 100, "ended": "finished"}
    assert told.items() >= (expected | {"target": "0.001%", "running": None}).items()
    assert (told["judged"]["unit"], told["judged"]["deals"]) == ("%", 100)
    good("solve", write(tmp_path, LEDUC), "--out", tmp_path / "leduc", "--set", "solve.max_sweeps=5")
    text = good("status", tmp_path / "leduc")
    assert "not running: all sweeps made" in text
    assert re.search(r" chips after 5, .* s ago \(target 0 chips\)", text)


def test_solving_again_leaves_nothing_of_what_was_there(tmp_path):
    job = write(tmp_path, POLARISED)
    good("solve", job, "--out", tmp_path / "river", "--set", "solve.max_sweeps=100")
    with open_store(tmp_path / "river" / "play", {"any": 1}):
        pass
    write_status(tmp_path / "river", STANDS)
    good("solve", job, "--out", tmp_path / "river", "--again", "--set", "solve.max_sweeps=100")
    assert (read_status(tmp_path / "river").name, read_status(tmp_path / "river").deals) == ("polarised", 100)
    with pytest.raises(LockerError, match=r"found no manifest\.json"):
        open_store(tmp_path / "river" / "play")


@pytest.mark.parametrize("name", [LOG, LOCK, STATUS, "manifest.json", "lockers.mdb"])
def test_a_pipe_among_the_files_keeps_nobody_waiting(folder, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    results = []
    thread = threading.Thread(target=lambda: results.append(spewy("status", folder)), daemon=True)
    thread.start()
    thread.join(60)
    (result,) = results
    assert "unexpected" not in result.stderr
    assert result.exit_code == (0 if name == LOCK else 2), result.stderr
