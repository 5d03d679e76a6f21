"""Commands that look at a folder that the user may only read, also while another process writes there."""

import multiprocessing
import shutil
from itertools import count

import numpy as np
import pytest
from cli_runs import LEDUC, good, refused, write
from without_rights import listing, without_rights

from lockers import LmdbStore


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looking")
    job = write(folder, LEDUC)
    good("solve", job, "--out", folder / "out", "--set", "solve.max_sweeps=3")
    return job, folder / "out"


BUSY = [b"%d|busy" % number for number in range(64)]
LOOKS = [
    ["show", "--json"],
    ["show", "--line", "cc/", "--board", "Kh"],
    ["report", "--line", "cc/", "--json"],
    ["exploit", "--json"],
    ["check"],
]


def test_looking_changes_nothing(solved, tmp_path):
    folder = shutil.copytree(solved[1], tmp_path / "out")
    out = tmp_path / "tables"
    out.mkdir()
    expected = [good(command, folder, *options) for command, *options in LOOKS]
    good("export", folder, out / "before.csv")
    before = listing(folder)

    def work():
        assert [good(command, folder, *options) for command, *options in LOOKS] == expected
        good("export", folder, out / "after.csv")

    without_rights(folder, work)
    assert (out / "after.csv").read_text() == (out / "before.csv").read_text()
    assert listing(folder) == before


def test_looking_without_a_lock_file_changes_no_other_file(solved, tmp_path):
    folder = shutil.copytree(solved[1], tmp_path / "out")
    (folder / "lockers.mdb-lock").unlink()
    before = listing(folder)
    for command, *options in LOOKS:
        good(command, folder, *options)
    after = listing(folder)
    assert after.keys() - before.keys() == {str(folder / "lockers.mdb-lock")}
    assert {path: after[path] for path in before if path != str(folder)} == {
        path: found for path, found in before.items() if path != str(folder)
    }


def test_what_changes_the_folder_is_refused(solved, tmp_path):
    job, folder = solved[0], shutil.copytree(solved[1], tmp_path / "out")
    before = listing(folder)

    def work():
        for args in (
            ["solve", job, "--out", folder],
            ["solve", job, "--out", folder, "--again"],
            ["drop", folder, "--round", "flop"],
        ):
            assert "that can be written, found: " in refused(*args)

    without_rights(folder, work)
    assert listing(folder) == before


def write_for_ever(folder):
    with LmdbStore(folder) as store:
        for number in count():
            for key in BUSY:
                store.transact(lambda txn, key=key, n=number: txn.put("busy", key, np.full(3000, n)))


def test_looking_while_a_solve_writes(solved, tmp_path):
    folder = shutil.copytree(solved[1], tmp_path / "out")
    expected = [good(command, folder, *options) for command, *options in LOOKS[:-1]]
    writer = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(folder,))
    writer.start()

    def work():
        assert [good(command, folder, *options) for command, *options in LOOKS[:-1]] == expected

    try:
        with LmdbStore(folder, read_only=True) as store:
            while store.get("busy", BUSY[-1]) is None:
                pass
        without_rights(folder, work)
    finally:
        writer.kill()
        writer.join()
