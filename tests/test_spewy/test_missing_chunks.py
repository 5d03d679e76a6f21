"""Chunks that every sweep visits are in the lockers, or the lockers are damaged: never uniform play in their place."""

import numpy as np
import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, write

from lockers import open_store
from spewy.records.keys import STRATEGY


@pytest.fixture(params=["live", "stored"])
def solved(request, tmp_path):
    text = {"live": TURN, "stored": LEDUC}[request.param]
    job = write(tmp_path, text)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=3")
    return job, tmp_path / "out"


def change(folder, array):
    """Put another array in the place of the root's strategy, or none."""
    with open_store(folder) as store:
        key = min(store.keys(STRATEGY))

        def body(txn):
            if array is None:
                txn.delete(STRATEGY, key)
            else:
                txn.put(STRATEGY, key, array)

        store.transact(key, body)


@pytest.mark.parametrize(("array", "found"), [(None, "found none"), (np.zeros(2), "found 2")])
def test_a_chunk_that_is_missing_is_damage(solved, array, found, tmp_path):
    job, folder = solved
    change(folder, array)
    for command in (["show", folder], ["exploit", folder], ["export", folder, tmp_path / "x.csv"]):
        line = refused(*command)
        assert line.startswith("Error: locker 'strategy', key ")
        assert f"{found}: the lockers are damaged" in line
    assert found in refused("solve", job, "--out", folder, "--set", "solve.max_sweeps=5")


def test_a_folder_without_a_sweep_has_no_chunks_to_miss(tmp_path):
    job = write(tmp_path, LEDUC)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    with open_store(tmp_path / "out") as store:
        store.transact(b"sweep|", lambda txn: txn.delete("meta", b"sweep|"))
        for key in list(store.keys(STRATEGY)):
            store.transact(key, lambda txn, key=key: txn.delete(STRATEGY, key))
    assert good_json("exploit", tmp_path / "out")["sweeps"] == 0


@pytest.mark.parametrize("command", ["solve", "drop"])
def test_nothing_is_written_into_damaged_pages(command, tmp_path):
    """LMDB would end the process, or go on with what is left."""
    job, folder = write(tmp_path, TURN), tmp_path / "out"
    good("solve", job, "--out", folder, "--set", "solve.max_sweeps=3")
    path = folder / "shard-000.mdb"
    pages = [path.read_bytes()[at : at + 4096] for at in range(0, path.stat().st_size, 4096)]
    before = b"".join([*pages[:2], *reversed(pages[2:])])
    path.write_bytes(before)
    arguments = {"solve": ["solve", job, "--out", folder], "drop": ["drop", folder, "--round", "river"]}
    assert "shard-000.mdb: expected sound LMDB pages, found: " in refused(*arguments[command])
    assert path.read_bytes() == before
