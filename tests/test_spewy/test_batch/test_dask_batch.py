"""Batches on a Dask cluster whose workers share no folder: what processes here solve, whoever comes and goes."""

import errno
import gc
import json
import signal
import threading
import weakref
from contextlib import closing
from pathlib import Path

import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write
from dealt_jobs import numbers_in

distributed = pytest.importorskip("distributed", reason="no dask.distributed: pip install 'spewy[dask]'")

import pool_tasks  # noqa: E402
from dask_cluster import DaskCluster, wait_until  # noqa: E402

from spewy.batch.batch import Batch, bring_back  # noqa: E402
from spewy.batch.solve_batch import _Remotely, run_batch  # noqa: E402
from spewy.batch.work import packed, unpack  # noqa: E402
from spewy.cli.options import on_cluster  # noqa: E402
from spewy.cli.solve import BatchLines  # noqa: E402
from spewy.errors import InputError, PeerError  # noqa: E402
from spewy.system.cluster import Cluster  # noqa: E402
from spewy.system.dask_pool import DaskPool  # noqa: E402

BOARDS = ("Qs 7h 2d 3c", "Kh 9d 6s 2c", "Jh 9d 6s 2c")
BATCH = TURN.replace('board = "Qs 7h 2d 3c"', f"boards = {list(BOARDS)}")
EXACT = ("--set", "solve.target=0 chips", "--set", "solve.max_sweeps=60")
FOLDERS = tuple("".join(board.split()) for board in BOARDS)


def told(rows):
    """What a batch tells, but for times and places."""
    changing = {"seconds", "peak_rss_mib", "process_mib", "trace", "folder"}
    return [{key: value for key, value in row.items() if key not in changing} for row in rows]


def test_a_cluster_leaves_the_folders_that_processes_here_leave(cluster, tmp_path):
    job = write(tmp_path, BATCH)
    here = good_json("solve", job, "--out", tmp_path / "here", *EXACT)
    there = good_json("solve", job, "--out", tmp_path / "there", *EXACT, "--dask", cluster.address)
    assert told(there) == told(here)
    assert [row["sweeps"] for row in there] == [60, 60, 60]
    for folder in FOLDERS:
        assert numbers_in(tmp_path / "there" / folder) == numbers_in(tmp_path / "here" / folder)
        assert good("check", tmp_path / "there" / folder).endswith(": healthy\n")
    again = good_json("solve", job, "--out", tmp_path / "there", *EXACT, "--dask", cluster.address)
    assert all(row["skipped"] for row in again)


@pytest.mark.slow
def test_what_was_solved_here_goes_on_there(cluster, tmp_path):
    job = write(tmp_path, BATCH)
    out = ("--out", tmp_path / "out")
    good("solve", job, *out, *EXACT, "--set", "solve.max_sweeps=20")
    good("solve", job, *out, *EXACT, "--dask", cluster.address)
    good("solve", job, "--out", tmp_path / "whole", *EXACT)
    for folder in FOLDERS:
        assert numbers_in(tmp_path / "out" / folder) == numbers_in(tmp_path / "whole" / folder)


class Telling(BatchLines):
    """Does something once, when this many jobs have reported a check."""

    def __init__(self, batch, then, jobs=1):
        super().__init__(batch)
        self.then, self.jobs, self.reported = then, jobs, set()

    def checked(self, number, check):
        self.reported.add(number)
        if len(self.reported) == self.jobs:
            then, self.then = self.then, lambda: None
            then()


def run(cluster, folder, sweeps, then, jobs=1):
    """The outcomes of a batch on a cluster; `then` is called once, when so many jobs have reported a check."""
    settings = ["solve.target=0 chips", f"solve.max_sweeps={sweeps}"]
    batch = Batch.load([write(folder, BATCH)], settings, folder / "out")
    with on_cluster(cluster.address, None):
        return run_batch(batch, Telling(batch, then, jobs))


def test_the_job_of_a_worker_that_dies_is_solved_by_another(cluster, tmp_path):
    def die():
        cluster.kill_one()
        cluster.join()

    assert all(outcome.done for outcome in run(cluster, tmp_path, 2000, die))


@pytest.mark.slow
def test_jobs_are_solved_by_workers_that_join_when_all_others_have_left(cluster, tmp_path):
    def leave():
        for _ in range(2):
            cluster.kill_one()
        joining.start()

    def join():
        for _ in range(2):
            cluster.join()

    joining = threading.Timer(5.0, join)
    outcomes = run(cluster, tmp_path, 2000, leave)
    joining.join()
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert all(outcome.done for outcome in outcomes)


def test_ctrl_c_brings_back_what_was_solved(cluster, tmp_path):
    """Ctrl-C comes when two jobs have reported a check: one of them is running then, another may have no sweep yet."""
    outcomes = run(cluster, tmp_path, 10_000_000, lambda: signal.raise_signal(signal.SIGINT), jobs=2)
    stopped = [i for i, outcome in enumerate(outcomes) if outcome.result and outcome.result.interrupted]
    left = Batch.load([tmp_path / "job.toml"], ["solve.target=0 chips"], tmp_path / "out").stored
    assert any(outcomes[i].result.sweeps > 0 for i in stopped)
    assert all(left[i].sweeps == outcomes[i].result.sweeps for i in stopped)


@pytest.mark.slow
def test_a_worker_that_joins_gets_a_job(tmp_path):
    """The batch ends only if a second job reports a check while the first is running."""
    job = write(tmp_path, BATCH)
    batch = Batch.load([job], ["solve.target=0 chips", "solve.max_sweeps=10000000"], tmp_path / "out")
    with closing(DaskCluster(tmp_path, 1)) as found:

        class Joining(Telling):
            def checked(self, number, check):
                if not self.reported:
                    found.join()
                super().checked(number, check)

        with on_cluster(found.address, None):
            run_batch(batch, Joining(batch, lambda: signal.raise_signal(signal.SIGINT), jobs=2))
    assert len(found.workers) == 2


def test_a_folder_goes_there_and_back_without_its_locks(tmp_path):
    folder = tmp_path / "a"
    (folder / "play").mkdir(parents=True)
    (folder / "lockers.mdb").write_bytes(b"1")
    (folder / "lockers.mdb-lock").write_bytes(b"2")
    (folder / "play" / "lockers.mdb").write_bytes(b"3")
    files = packed(folder)
    assert files == {"lockers.mdb": b"1", "play/lockers.mdb": b"3"}
    unpack(files | {"manifest.json": b"{}"}, folder)
    assert packed(folder) == files | {"manifest.json": b"{}"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert packed(tmp_path / "nothing") == {}


def test_files_of_any_name_go_there_and_back(tmp_path):
    files = {"my notes.txt": b"1", "Müller/~a+b": b"2"}
    unpack(files, tmp_path / "a")
    assert packed(tmp_path / "a") == files


@pytest.mark.parametrize("taken", [False, True])
def test_a_folder_that_cannot_be_replaced_is_kept(tmp_path, monkeypatch, taken):
    """Another process has made it anew between the two names that are changed; it stays there, or leaves again."""
    folder, rename = tmp_path / "a", Path.rename
    unpack({"kept": b"0"}, folder)

    def renamed(path, target):
        if path.name == "new":
            if taken:
                folder.mkdir()
                (folder / "lock").write_bytes(b"")
            raise OSError(errno.ENOTEMPTY, "not empty")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises(
        InputError if taken else OSError, match="move its old content back from" if taken else "not empty"
    ):
        unpack({"new": b"1"}, folder)
    (kept,) = tmp_path.rglob("kept")
    assert kept.read_bytes() == b"0"
    assert (kept.parent == folder) is not taken


def test_a_kill_between_two_renames_loses_nothing(tmp_path, monkeypatch):
    """The next batch finds the old solve again, and nothing else takes it for a board of its own."""
    folder, rename = tmp_path / "out" / "a-b", Path.rename
    files = {"manifest.json": b"1", "play/lockers.mdb": b"2"}
    unpack(files, folder)

    def killed(path, target):
        rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", killed)
    monkeypatch.setattr("spewy.batch.work._put_back", lambda *folders: None)
    with pytest.raises(KeyboardInterrupt):
        unpack({"manifest.json": b"{}"}, folder)
    monkeypatch.undo()
    assert not folder.exists()
    bring_back(tmp_path / "out" / "a")
    bring_back(folder)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a-b"]
    assert packed(folder) == files


@pytest.mark.parametrize(
    "files",
    [
        {"../outside": b"1"},
        {"play/../../outside": b"1"},
        {"/outside": b"1"},
        {"": b"1"},
        {"a//b": b"1"},
        {"a\0b": b"1"},
        {"./a": b"1"},
        {"a/": b"1"},
        {3: b"1"},
        {"a": "text"},
        ["a"],
    ],
)
def test_files_that_a_worker_names_stay_in_their_folder(tmp_path, files):
    folder = tmp_path / "in" / "a"
    unpack({"kept": b"0"}, folder)
    with pytest.raises(PeerError, match="files of a solve, received from a worker of a cluster"):
        unpack(files, folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept"]


def test_a_worker_that_answers_nonsense_for_a_job_is_named(cluster, tmp_path, monkeypatch):
    """The other jobs go on."""
    monkeypatch.setattr(_Remotely, "function", staticmethod(pool_tasks.nonsense_for_one))
    out = tmp_path / "out"
    result = spewy("solve", write(tmp_path, BATCH), "--out", out, *EXACT, "--dask", cluster.address, "--json")
    assert result.exit_code == 1
    errors = [row["error"] for row in json.loads(result.stdout)]
    assert "expected an outcome and files, found None" in errors[0]
    assert errors[1:] == [None, None]


def test_a_cluster_lives_as_long_as_its_client(cluster):
    client = distributed.Client(cluster.address)
    found = Cluster.of_client(client)
    assert Cluster.of_client(client) is found
    alive = weakref.ref(found)
    client.close()
    del client, found
    gc.collect()
    assert alive() is None


def test_a_closed_cluster_is_not_found_again(cluster):
    with distributed.Client(cluster.address) as client:
        found = Cluster.of_client(client)
        found.close()
        assert Cluster.of_client(client) is not found
        wait_until(lambda: len(Cluster.of_client(client).workers()) == 2)


def test_ctrl_c_ends_a_batch_whose_workers_have_left(cluster, monkeypatch):
    stop = threading.Event()
    tasks = ((number,) for number in range(3) if not stop.is_set())
    with Cluster(cluster.address, 0, lambda note: None) as found:
        monkeypatch.setattr(found, "_look", lambda: False)
        monkeypatch.setattr(found, "_there", {})
        pool = DaskPool(found)
        for n, message in enumerate(pool.work(pool_tasks.square, tasks)):
            assert message is None
            assert n < 20
            if not stop.is_set():
                stop.set()
                pool.stop()


def test_what_a_cluster_does_not_take_is_refused(cluster, tmp_path):
    one, many = write(tmp_path, TURN), write(tmp_path, BATCH, "many.toml")
    address = ("--dask", cluster.address)
    assert "--dask divides several jobs or boards among workers" in refused("solve", one, *address)
    for option, value in (("--jobs", 2), ("--save-every", 5)):
        result = spewy("solve", many, *address, option, value)
        assert result.exit_code == 2
        assert f"{option} has no effect with --dask" in result.stderr
    assert "expected a Dask scheduler" in refused("solve", many, "--dask", "tcp://127.0.0.1:1")
