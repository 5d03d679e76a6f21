"""Solves on a Dask cluster of several processes: what one process learns, whoever comes and goes."""

import shutil
import threading
import tomllib
from contextlib import closing

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy, write
from dealt_jobs import DEALT_LEDUC, exploitability_of, numbers_in, visits_in

distributed = pytest.importorskip("distributed", reason="no dask.distributed: pip install 'spewy[dask]'")

import pool_tasks  # noqa: E402
from dask_cluster import DaskCluster, wait_until  # noqa: E402

from buckets.cards import parse_cards  # noqa: E402
from spewy.chunks.bucket_trees import BucketLocker  # noqa: E402
from spewy.errors import PeerError, shown  # noqa: E402
from spewy.job.job import Job  # noqa: E402
from spewy.learn import deal_copy  # noqa: E402
from spewy.learn.cluster_engine import ClusterEngine, require_share  # noqa: E402
from spewy.learn.deal_shares import Interval  # noqa: E402
from spewy.run.reporter import Silent  # noqa: E402
from spewy.run.session import Session  # noqa: E402
from spewy.system import cluster as cluster_module  # noqa: E402
from spewy.system.cluster import Attempts, Cluster  # noqa: E402
from spewy.system.dask_pool import DaskPool  # noqa: E402

SHORT = DEALT_LEDUC.replace("3000", "300")
WHOLE = deal_copy.Asked(Interval(0, 10, 1), 0)
DASK = SHORT + 'workers = "dask"\n[dask]\n'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three workers."""
    with closing(DaskCluster(tmp_path_factory.mktemp("cluster"), 3)) as found:
        yield found


@pytest.fixture
def leduc(tmp_path, cluster):
    """Leduc on that cluster."""
    return write(tmp_path, f'{DASK}address = "{cluster.address}"\n')


class Noting(Silent):
    """Remembers what is told."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def test_one_share_at_a_time_is_what_one_thread_learns_bit_for_bit(leduc, tmp_path):
    good("solve", leduc, "--out", tmp_path / "dask", "--set", "dask.workers=1")
    plain = write(tmp_path, SHORT, "plain.toml")
    good("solve", plain, "--out", tmp_path / "here")
    assert numbers_in(tmp_path / "dask") == numbers_in(tmp_path / "here")


def test_three_workers_learn_the_game_and_the_same_twice(leduc, tmp_path):
    fixed = ("--set", "dask.workers=3", "--set", "dask.interval=20")
    told = good_json("solve", leduc, "--out", tmp_path / "once", *fixed)
    good("solve", leduc, "--out", tmp_path / "twice", *fixed)
    assert numbers_in(tmp_path / "once") == numbers_in(tmp_path / "twice")
    assert told["sweeps"] == 300
    assert 0 < told["exploitability"] < 1
    assert exploitability_of(tmp_path / "once", "leduc") == pytest.approx(told["exploitability"], abs=0.01)
    assert visits_in(tmp_path / "once") == {0: [300, 300], 1: [300, 300]}


def test_a_worker_that_dies_and_one_that_joins_change_no_count(leduc, tmp_path, cluster, monkeypatch):
    """The one dies as it is asked for its share, which is dealt again."""
    answers, asked = ClusterEngine._answers, []

    def dying(engine, *of_whom):
        asked.append(of_whom)
        if len(asked) == 5:
            cluster.kill_one()
            cluster.join()
        return answers(engine, *of_whom)

    monkeypatch.setattr(ClusterEngine, "_answers", dying)
    heard = Noting()
    with Session(Job.load(leduc, ["dask.workers=3"]), tmp_path / "out") as session:
        assert session.solve(heard).sweeps == 300
    assert any("has left, " in note for note in heard.notes)
    assert visits_in(tmp_path / "out") == {0: [300, 300], 1: [300, 300]}
    assert good("check", tmp_path / "out").endswith(": healthy\n")


@pytest.mark.slow
def test_a_cluster_that_shrinks_to_nothing_and_comes_back_is_waited_for(
    leduc, tmp_path, cluster, monkeypatch
):
    monkeypatch.setattr(cluster_module, "SPEAK_SECONDS", 0.1)
    answers, asked = ClusterEngine._answers, []
    heard = Noting()

    def come_back():
        wait_until(lambda: any("waiting for one" in note for note in heard.notes))
        for _ in range(3):
            cluster.join()

    def dying(engine, *of_whom):
        asked.append(of_whom)
        if len(asked) == 5:
            for _ in range(3):
                cluster.kill_one()
            threading.Thread(target=come_back, daemon=True).start()
        return answers(engine, *of_whom)

    monkeypatch.setattr(ClusterEngine, "_answers", dying)
    with Session(Job.load(leduc), tmp_path / "out") as session:
        assert session.solve(heard).sweeps == 300
    assert visits_in(tmp_path / "out") == {0: [300, 300], 1: [300, 300]}


@pytest.mark.slow
def test_what_a_cluster_has_learnt_goes_on_here_and_the_other_way_round(leduc, tmp_path):
    out = ("--out", tmp_path / "out", "--set")
    good("solve", leduc, *out, "solve.max_sweeps=100")
    good("solve", write(tmp_path, SHORT, "plain.toml"), *out, "solve.max_sweeps=150")
    assert good_json("solve", leduc, *out, "solve.max_sweeps=200")["sweeps"] == 200
    assert visits_in(tmp_path / "out") == {0: [200, 200], 1: [200, 200]}


def test_ctrl_c_saves_whole_intervals(leduc, tmp_path):
    stop, seen = threading.Event(), []

    class Stopping(Noting):
        def status(self, status, threads):
            seen.append(threads)
            stop.set()

    with Session(Job.load(leduc, ["solve.max_sweeps=1000000"]), tmp_path / "out") as session:
        result = session.solve(Stopping(), stop)
    assert result.interrupted
    assert seen[0] == 3
    assert visits_in(tmp_path / "out") == {t: [result.sweeps] * 2 for t in (0, 1)}


def test_a_scheduler_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    job = write(tmp_path, DASK + 'address = "tcp://127.0.0.1:9"\n')
    told = refused("solve", job, "--out", tmp_path / "out")
    assert "dask.address: expected a Dask scheduler at 'tcp://127.0.0.1:9', found none" in told


@pytest.mark.parametrize("address", ["foo://x y", "foo", ""])
def test_an_address_that_is_none_is_refused(tmp_path, monkeypatch, address):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    job = write(tmp_path, DASK + f'address = "{address}"\n')
    assert f"expected a Dask scheduler at {shown(address)}" in refused(
        "solve", job, "--out", tmp_path / "out"
    )


def test_workers_of_another_version_are_refused(leduc, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "SOURCES", ("lockers",))
    told = refused("solve", leduc, "--out", tmp_path / "out")
    ours, theirs = told.split(": worker ")[1].split(": expected ")[1].split(", found ")
    assert ours.startswith("spewy of sources ")
    assert theirs.startswith("spewy of sources ")
    assert ours != theirs


def test_without_dask_the_extra_is_named(leduc, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "find_spec", lambda name: None)
    result = spewy("solve", leduc, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "pip install 'spewy[dask]'" in result.stderr.splitlines()[-1]


def test_a_cluster_that_nobody_asks_is_refused(tmp_path):
    job = write(tmp_path, SHORT + "[dask]\nworkers = 2\n")
    assert 'dask: expected none without solve.workers = "dask"' in refused("solve", job)


@pytest.fixture
def joined(cluster):
    with Cluster(cluster.address, 0, lambda note: None) as found:
        yield found


def test_a_crew_on_a_cluster_does_what_a_crew_does(joined):
    pool = DaskPool(joined)
    messages = [
        message
        for message in pool.results(pool_tasks.square, [(i,) for i in range(7)])
        if message is not None
    ]
    assert {message.task: message.value for message in messages} == {i: i * i for i in range(7)}
    with pytest.raises(ValueError, match="seven"):
        list(pool.results(pool_tasks.fail, [(True,)]))


def test_a_crew_on_a_cluster_tells_news_and_hears_that_it_shall_stop(joined):
    pool, heard = DaskPool(joined), []
    for message in pool.work(pool_tasks.until_told, [(0,), (1,)]):
        if message is not None:
            heard.append((message.kind, message.value))
        if len(heard) == 2:
            pool.stop()
    assert sorted(heard[:2]) == [("news", "0 begins"), ("news", "1 begins")]
    assert sorted(heard[2:]) == [("done", "0 stopped"), ("done", "1 stopped")]


def test_a_time_out_of_a_task_is_no_worker_that_was_lost(joined):
    (worker, *_) = joined.workers()
    with pytest.raises(PeerError, match="expected an answer, found TimeoutError: the disk"):
        list(joined.call([(worker, pool_tasks.too_late, ())]))


def test_a_crew_of_a_cluster_without_workers_lets_others_look_up(joined, monkeypatch):
    pool = DaskPool(joined)
    monkeypatch.setattr(joined, "_look", lambda: False)
    monkeypatch.setattr(joined, "_there", {})
    with closing(pool.work(pool_tasks.square, [(1,)])) as messages:
        assert [next(messages), next(messages)] == [None, None]


def test_a_cluster_that_is_started_here_listens_on_loopback_and_has_no_http_server():
    """The scheduler, which is in this process, and each worker have one socket."""
    psutil = pytest.importorskip("psutil")

    def listening(process):
        return {link.laddr for link in process.net_connections() if link.status == psutil.CONN_LISTEN}

    here = psutil.Process()
    before, children = listening(here), set(here.children(recursive=True))
    with Cluster(None, 2, lambda note: None) as cluster:
        wait_until(lambda: len(cluster.workers()) == 2)
        started = set(here.children(recursive=True)) - children
        sockets = [listening(here) - before, *map(listening, started)]
    assert len(started) == 2
    assert [len(found) for found in sockets] == [1, 1, 1]
    assert {address.ip for found in sockets for address in found} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("task", "work"),
    [
        ("learn", "a share of deals"),
        ("catch_up", "to catch up with the others"),
        ("judge", "to judge a flop"),
    ],
)
def test_workers_that_never_have_what_to_go_on_from_end_the_solve(leduc, tmp_path, monkeypatch, task, work):
    monkeypatch.setattr(deal_copy, task, pool_tasks.nothing)
    monkeypatch.setattr(cluster_module, "PAUSE_SECONDS", 0.0)
    result = spewy("solve", leduc, "--out", tmp_path / "out", "--set", "solve.max_sweeps=10")
    assert result.exit_code == 1
    assert f"no worker has finished {work} in 10 attempts in a row" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("task", ["learn", "catch_up", "judge"])
def test_ctrl_c_ends_attempts_that_bring_nothing(leduc, tmp_path, monkeypatch, task):
    stop, ended = threading.Event(), Attempts.ended

    def stopping(attempts, *, fruitful):
        if not fruitful:
            stop.set()
        ended(attempts, fruitful=fruitful)

    monkeypatch.setattr(Attempts, "ended", stopping)
    monkeypatch.setattr(deal_copy, task, pool_tasks.nothing)
    with Session(Job.load(leduc, ["solve.max_sweeps=10"]), tmp_path / "out") as session:
        assert session.solve(Noting(), stop).interrupted


@pytest.fixture(scope="module")
def share():
    """A copy's engine, and what it learns of ten deals."""
    from spewy.chunks.abstractions import abstraction
    from spewy.chunks.rounds import line_forests
    from spewy.run.sampled_plan import spec_of

    job = Job.of(tomllib.loads(SHORT))
    found = abstraction(spec_of(job.rules, job.dealing))
    setup = deal_copy.Setup("x", job.rules, line_forests(job.betting_tree), found, 0, False, 0.0)
    with deal_copy.Copy(setup, 1) as copy, deal_copy.Copy(setup, 1) as other:
        yield copy.learn(WHOLE), copy.shares.cut(WHOLE.interval), other.numbers


def test_a_share_is_what_was_asked_for(share):
    found, cut, numbers = share
    require_share(found, WHOLE, cut, numbers, "w")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda share: None, "expected what was learnt of them, found None"),
        (lambda share: share._replace(asked=WHOLE._replace(share=1)), "expected what was learnt"),
        (lambda share: share._replace(parts=share.parts[:-1]), "expected 10 visits of round"),
        (lambda share: share._replace(parts=share.parts + share.parts[:1]), "expected 10 visits of round"),
        (
            lambda share: share._replace(parts=[_spoilt(part) for part in share.parts]),
            "expected finite numbers",
        ),
        (
            lambda share: share._replace(parts=[_halved(part) for part in share.parts]),
            "expected finite numbers",
        ),
        (
            lambda share: share._replace(parts=[_moved(part) for part in share.parts]),
            "expected finite numbers",
        ),
        (lambda share: share._replace(parts=[(1, 2)]), "expected finite numbers"),
        (lambda share: share._replace(parts=[part._replace(t=7) for part in share.parts]), "finite numbers"),
    ],
)
def test_a_worker_that_answers_nonsense_or_half_of_it_is_refused(share, change, told):
    found, cut, numbers = share
    with pytest.raises(PeerError, match=told) as raised:
        require_share(change(found), WHOLE, cut, numbers, "tcp://x")
    assert str(raised.value).startswith("Dask worker tcp://x, share 1 of 1 of the deals 0 to 10: ")
    assert "\n" not in str(raised.value)


def _spoilt(part):
    regrets = tuple(np.full_like(array, np.nan) for array in part.regrets)
    return part._replace(regrets=regrets)


def _halved(part):
    return part._replace(sums=tuple(array[:, ::2] for array in part.sums))


def _moved(part):
    return part._replace(classes=part.classes + 999)


def test_a_cluster_judges_flops_as_processes_here_do(leduc, tmp_path, cluster):
    good("solve", leduc, "--out", tmp_path / "out", "--set", "solve.max_sweeps=20")
    there = good_json("exploit", tmp_path / "out", "--dask", cluster.address)
    shutil.rmtree(tmp_path / "out/judged")
    here = good_json("exploit", tmp_path / "out", "--workers", 1)
    assert there["core_seconds"] > 0
    assert {**there, "core_seconds": 0} == {**here, "core_seconds": 0}
    told = refused("exploit", tmp_path / "out", "--dask", cluster.address, "--workers", 2)
    assert "--dask: expected no --workers beside it" in told


def test_a_cluster_fills_the_bucket_locker(tmp_path, joined, monkeypatch):
    few = [parse_cards(board) for board in ("2c2d2h", "2c2d3c")]
    monkeypatch.setattr(BucketLocker, "missing", lambda self, n_cards: few)
    locker, done = BucketLocker.open(tmp_path / "trees"), []
    locker.precompute(3, DaskPool(joined), done.append)
    assert sum(done) == 2
    assert len(list(locker.store.keys("means"))) == 2
    locker.close()
