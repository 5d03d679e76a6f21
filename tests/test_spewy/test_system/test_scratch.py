"""Folders of what is needed only while a process runs: they go, also those that killed processes left."""

import subprocess
import sys
import tempfile

import pytest

from spewy.cli.folders import logs_folder
from spewy.system.folders import scratch_folder

HOLD = """
from spewy.system.folders import scratch_folder

with scratch_folder("test") as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def holder():
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_a_folder_goes_at_the_end(tmp_path):
    with scratch_folder("test") as folder:
        (folder / "large").write_text("x")
        assert list(tmp_path.iterdir()) == [folder]
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(tmp_path, holder):
    theirs = tmp_path / holder.stdout.readline().strip()
    others = [tmp_path / "spewy-other-1", tmp_path / "spewy-test-file"]
    others[0].mkdir()
    others[1].touch()
    with scratch_folder("test") as folder:
        assert sorted(tmp_path.iterdir()) == sorted([theirs, folder, *others])
    holder.kill()
    holder.wait()
    assert theirs.exists()
    with scratch_folder("test") as folder:
        assert sorted(tmp_path.iterdir()) == sorted([folder, *others])


def test_logs_of_a_killed_match_go(tmp_path):
    left = tmp_path / "spewy-match-left"
    left.mkdir()
    (left / "seed-1.log").write_text("x")
    with logs_folder(None, "match") as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert not list(tmp_path.iterdir())
