"""Chunks that every sweep visits are in the lockers, or the lockers are damaged: never uniform play in their place."""

import numpy as np
import pytest
from cli_runs import LEDUC, TURN, good, refused, write
from dealt_jobs import DEALT_LEDUC

from lockers import open_store
from spewy import open_policy
from spewy.errors import InputError, NotSolvedError
from spewy.job.job import Job
from spewy.records.keys import STRATEGY
from spewy.run.session import Session


@pytest.fixture(params=["live", "stored"])
def solved(request, tmp_path):
    text = {"live": TURN, "stored": LEDUC}[request.param]
    job = write(tmp_path, text)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=3")
    return job, tmp_path / "out"


def change(folder, array):
    with open_store(folder) as store:
        key = min(store.keys(STRATEGY))
        store.transact(
            lambda txn: txn.delete(STRATEGY, key) if array is None else txn.put(STRATEGY, key, array)
        )


@pytest.mark.parametrize(("array", "found"), [(None, "found none"), (np.zeros(2), "found 2")])
def test_a_chunk_that_is_missing_is_damage(solved, array, found, tmp_path):
    job, folder = solved
    change(folder, array)
    for command in (["show", folder], ["exploit", folder], ["export", folder, tmp_path / "x.csv"]):
        line = refused(*command)
        assert line.startswith("Error: locker 'strategy', key ")
        assert f"{found}: the lockers are damaged" in line
    told = f"numbers that every finished sweep leaves, {found}: the lockers"
    with open_policy(folder) as policy, pytest.raises(InputError, match=told):
        policy.decision()
    assert found in refused("solve", job, "--out", folder, "--set", "solve.max_sweeps=5")


@pytest.mark.parametrize("text", [LEDUC, TURN, DEALT_LEDUC], ids=["whole game", "spot", "dealt"])
def test_a_folder_that_was_never_saved_is_no_result(text, tmp_path):
    """A solve that is killed before its first save leaves a folder without a saved strategy."""
    job, folder = Job.load(write(tmp_path, text)), tmp_path / "out"
    Session(job, folder).close()
    commands = [["show", folder], ["exploit", folder]]
    if not job.sampled:
        commands += [["export", folder, tmp_path / "x.csv"], ["compare", folder, folder]]
        commands.append(["report", folder, "--line", "cc/"])
    for command in commands:
        assert refused(*command).startswith(f"Error: folder {folder}: not solved yet, it holds no saved")
    with pytest.raises(NotSolvedError, match="not solved yet"):
        open_policy(folder)
    assert list(tmp_path.glob("*.csv")) == []


@pytest.mark.parametrize("command", ["solve", "drop"])
def test_nothing_is_written_into_damaged_pages(command, tmp_path):
    """LMDB would end the process, or go on with what is left."""
    job, folder = write(tmp_path, TURN), tmp_path / "out"
    good("solve", job, "--out", folder, "--set", "solve.max_sweeps=3")
    path = folder / "lockers.mdb"
    pages = [path.read_bytes()[at : at + 4096] for at in range(0, path.stat().st_size, 4096)]
    before = b"".join([*pages[:2], *reversed(pages[2:])])
    path.write_bytes(before)
    arguments = {"solve": ["solve", job, "--out", folder], "drop": ["drop", folder, "--round", "river"]}
    assert "lockers.mdb: expected sound LMDB pages, found: " in refused(*arguments[command])
    assert path.read_bytes() == before
