"""Solves on a Dask cluster of several processes: what one process learns, whoever comes and goes."""

import os
import shutil
import signal
import socket
import threading
import time
import tomllib
from contextlib import ExitStack, closing, contextmanager, suppress

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy, write
from dealt_jobs import DEALT_FLOP, DEALT_LEDUC, exploitability_of, numbers_in, visits_in

distributed = pytest.importorskip("distributed", reason="no dask.distributed: pip install 'spewy[dask]'")

import pool_tasks  # noqa: E402
from dask_cluster import PATIENCE, DaskCluster, wait_until  # noqa: E402
from distributed.comm import CommClosedError  # noqa: E402

from buckets.cards import parse_cards  # noqa: E402
from spewy.chunks.bucket_locker import BucketLocker, abstraction  # noqa: E402
from spewy.chunks.rounds import line_forests  # noqa: E402
from spewy.errors import PeerError, shown  # noqa: E402
from spewy.job.job import Job  # noqa: E402
from spewy.learn import flop_share  # noqa: E402
from spewy.learn.flop_engine import (  # noqa: E402
    FlopEngine,
    owner_of,
    require_learnt,
)
from spewy.learn.flop_share import averaged, part_of  # noqa: E402
from spewy.run.events import Noted, Stated  # noqa: E402
from spewy.run.sampled_plan import spec_of  # noqa: E402
from spewy.run.session import Session  # noqa: E402
from spewy.system import cluster as cluster_module  # noqa: E402
from spewy.system import local_cluster  # noqa: E402
from spewy.system.cluster import Attempts, Cluster  # noqa: E402
from spewy.system.dask_pool import DaskPool  # noqa: E402

SHORT = DEALT_LEDUC.replace("3000", "300")
FOUR_ROUNDS = """
name = "four"
[game]
text = '''
GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 5 10
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 2 1 1 1
numSuits = 2
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
'''
[boards]
flop = 3
turn = 6
river = 6
remember = true
[rows]
flop = 4
turn = 4
river = 3
[solve]
target = "0 mbb"
max_sweeps = 50
workers = "dask"
"""
"""A small hold'em, whose turn and river remember the bucket of the flop; its kernels are those of hold'em."""
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


class Noting:
    """Remembers what is told."""

    def __init__(self):
        self.notes = []

    def __call__(self, event):
        if isinstance(event, Noted):
            self.notes.append(event.text)


@contextmanager
def set_at_last(event):
    """Set an event after a long time, so that a solve ends whose listener hears nothing."""
    timer = threading.Timer(PATIENCE, event.set)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@pytest.mark.parametrize("share", [pytest.param(0, marks=pytest.mark.slow), 0.5])
def test_one_share_at_a_time_is_what_one_thread_learns_bit_for_bit(leduc, tmp_path, share):
    rivals = ("--set", f"solve.cfr_br={share}")
    good("solve", leduc, "--out", tmp_path / "dask", "--set", "dask.workers=1", *rivals)
    plain = write(tmp_path, SHORT, "plain.toml")
    good("solve", plain, "--out", tmp_path / "here", *rivals)
    assert numbers_in(tmp_path / "dask") == numbers_in(tmp_path / "here")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.5])
def test_three_workers_learn_the_game_and_the_same_twice(leduc, tmp_path, share):
    fixed = ("--set", "dask.workers=3", "--set", "dask.interval=20", "--set", f"solve.cfr_br={share}")
    told = good_json("solve", leduc, "--out", tmp_path / "once", *fixed)
    good("solve", leduc, "--out", tmp_path / "twice", *fixed)
    assert numbers_in(tmp_path / "once") == numbers_in(tmp_path / "twice")
    assert told["sweeps"] == 300
    assert 0 < told["exploitability"] < 0.5
    assert exploitability_of(tmp_path / "once", "leduc") == pytest.approx(told["exploitability"], abs=0.01)
    assert visits_in(tmp_path / "once") == {0: [300, 300], 1: [300, 300]}


@pytest.mark.parametrize("save_every", [None, pytest.param(0.01, marks=pytest.mark.slow)])
def test_a_worker_that_dies_and_one_that_joins_change_no_count(
    leduc, tmp_path, cluster, monkeypatch, save_every
):
    """The one dies as it is asked for its deals, which are dealt again from the last save on."""
    answers, asked = FlopEngine._ask, []

    def dying(engine, *of_whom):
        asked.append(of_whom)
        if len(asked) == 5:
            cluster.kill_one()
            cluster.join()
        return answers(engine, *of_whom)

    monkeypatch.setattr(FlopEngine, "_ask", dying)
    heard = Noting()
    with Session(Job.load(leduc, ["dask.workers=3"]), tmp_path / "out", save_every) as session:
        assert session.solve(heard).sweeps == 300
    assert any("has left, " in note for note in heard.notes)
    assert visits_in(tmp_path / "out") == {0: [300, 300], 1: [300, 300]}
    assert good("check", tmp_path / "out").endswith(": healthy\n")


@pytest.mark.slow
def test_a_cluster_that_shrinks_to_nothing_and_comes_back_is_waited_for(
    leduc, tmp_path, cluster, monkeypatch
):
    monkeypatch.setattr(cluster_module, "SPEAK_SECONDS", 0.1)
    answers, asked = FlopEngine._ask, []
    heard = Noting()

    def come_back():
        wait_until(lambda: any("waiting for a worker" in note for note in heard.notes))
        for _ in range(3):
            cluster.join()

    def dying(engine, *of_whom):
        asked.append(of_whom)
        if len(asked) == 5:
            for _ in range(3):
                cluster.kill_one()
            threading.Thread(target=come_back, daemon=True).start()
        return answers(engine, *of_whom)

    monkeypatch.setattr(FlopEngine, "_ask", dying)
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

    def listen(event):
        if isinstance(event, Stated):
            seen.append(event.threads)
            stop.set()

    job = Job.load(leduc, ["solve.max_sweeps=1000000"])
    with Session(job, tmp_path / "out") as session, set_at_last(stop):
        result = session.solve(listen, stop)
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


GIGABYTES = {
    "silent": b"",
    "silent after half a message": (200).to_bytes(8, "little"),
    "sends gigabytes": b"\x01" * (1 << 20),
    "sends gigabytes after a length": (1000).to_bytes(8, "little") + b"\xff" * (1 << 20),
}


@pytest.mark.parametrize("kind", GIGABYTES)
def test_an_address_where_something_else_listens_is_refused_soon(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with suppress(OSError):
                while GIGABYTES[kind]:
                    connection.sendall(GIGABYTES[kind])
                    if len(GIGABYTES[kind]) < 100:
                        break
            over.wait()
            connection.close()

        over = threading.Event()
        thread = threading.Thread(target=serve)
        thread.start()
        begun = time.monotonic()
        job = write(tmp_path, f'{DASK}address = "tcp://127.0.0.1:{server.getsockname()[1]}"\n')
        told = refused("solve", job, "--out", tmp_path / "out")
        assert time.monotonic() - begun < 10
        over.set()
        thread.join()
    assert "expected a Dask scheduler at" in told


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


def test_a_silent_worker_does_not_block_what_all_are_told(tmp_path, monkeypatch):
    """The other worker is told nevertheless."""
    monkeypatch.setattr(cluster_module, "TELL_SECONDS", 1.0)
    with closing(DaskCluster(tmp_path, 2)) as started, Cluster(started.address, 0, print) as cluster:
        wait_until(lambda: len(cluster.there()) == 2)
        silent, awake = started.workers
        silent.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        cluster.tell_all(pool_tasks.write_a_file, os.fspath(tmp_path))
        assert time.monotonic() - begun < 5.0
        wait_until(lambda: (tmp_path / str(awake.pid)).exists())
        assert not (tmp_path / str(silent.pid)).exists()


@pytest.mark.slow
def test_a_worker_that_joins_after_a_stop_is_asked_to_stop(tmp_path):
    """Dask gives it the task of a worker that has been lost since the stop."""
    attempts = tmp_path / "attempts"
    with closing(DaskCluster(tmp_path, 1)) as started, Cluster(started.address, 0, print) as cluster:
        pool, answers, stopped = DaskPool(cluster), [], False
        for message in pool.work(pool_tasks.hang_once, [(attempts,)]):
            if message is not None:
                answers.append((message.kind, message.value))
            elif attempts.exists() and not stopped:
                stopped = True
                pool.stop()
                started.join()
                wait_until(lambda: len(cluster.client.scheduler_info(n_workers=-1)["workers"]) == 2)
                started.workers.reverse()
                started.kill_one()
    assert answers == [("done", "stopped")]
    assert attempts.read_text() == "xx"


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


@pytest.mark.slow
def test_a_paused_worker_that_was_started_here_is_replaced(monkeypatch):
    monkeypatch.setattr(local_cluster, "STOPPED_SECONDS", 3.0)
    with Cluster(None, 1, lambda note: None) as cluster:
        (first,) = cluster.workers()
        os.kill(cluster._local._workers[0].pid, signal.SIGSTOP)
        wait_until(lambda: cluster.there() and first not in cluster.there())


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_a_worker_that_is_paused(tmp_path, monkeypatch):
    """Ctrl-C ends the solve long before a paused worker would be given up."""
    monkeypatch.setattr(local_cluster, "STOPPED_SECONDS", 60.0)
    started, stop, begun = [], threading.Event(), []

    class Recording(cluster_module.LocalCluster):
        def __init__(self, *args):
            started.append(self)
            super().__init__(*args)

    def listen(event):
        if isinstance(event, Stated) and event.status.deals > 5 and event.threads == 2 and not begun:
            os.kill(started[0]._workers[0].pid, signal.SIGSTOP)
            threading.Timer(0.5, stop.set).start()
            begun.append(time.monotonic() + 0.5)

    monkeypatch.setattr(cluster_module, "LocalCluster", Recording)
    job = Job.load(write(tmp_path, DASK), ["solve.max_sweeps=1000000", "dask.workers=2"])
    lost = suppress(PeerError)  # the deals of the paused worker may be gone
    with Session(job, tmp_path / "out") as session, set_at_last(stop), lost:
        assert session.solve(listen, stop).interrupted
    assert time.monotonic() - begun[0] < 20.0
    assert good("check", tmp_path / "out").endswith(": healthy\n")


@pytest.mark.slow
def test_workers_that_die_one_after_another_cost_no_transfer():
    """The scheduler, which is in this process, tries to send to a worker of whose death it does not know yet."""
    with Cluster(None, 3, lambda note: None) as cluster:
        for k in range(6):
            wait_until(lambda: len(cluster.workers()) == 3)
            cluster._local._workers[k % 3].kill()
            given = cluster.given(np.arange(1000), everywhere=True)
            assert given.result().sum() == 499_500


@pytest.mark.parametrize(
    "error", [OSError("Timed out"), CommClosedError("closed"), KeyError("worker")], ids=str
)
def test_a_worker_that_dies_during_a_transfer_is_no_lost_scheduler(joined, monkeypatch, error):
    monkeypatch.setattr(cluster_module, "PAUSE_SECONDS", 0.0)
    scatter, failures = joined.client.scatter, [error, error]

    def failing(*args, **options):
        if failures:
            raise failures.pop()
        return scatter(*args, **options)

    monkeypatch.setattr(joined.client, "scatter", failing)
    assert joined.given(7, everywhere=True).result() == 7
    failures += [error] * 20
    with pytest.raises(PeerError, match="no worker has finished the transfer of data in 10 attempts"):
        joined.given(7)


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
    [("learn", "its deals"), ("changed", "the transfer of its flops"), ("flops", "a measurement of a flop")],
)
def test_workers_that_never_have_what_to_go_on_from_end_the_solve(leduc, tmp_path, monkeypatch, task, work):
    monkeypatch.setattr(flop_share.FlopShare, task, pool_tasks.nothing)
    monkeypatch.setattr(cluster_module, "PAUSE_SECONDS", 0.0)
    result = spewy("solve", leduc, "--out", tmp_path / "out", "--set", "solve.max_sweeps=10")
    assert result.exit_code == 1
    assert f"no worker has finished {work} in 10 attempts in a row" in result.stderr.splitlines()[-1]


def test_ctrl_c_ends_attempts_that_bring_nothing(leduc, tmp_path, monkeypatch):
    """What was saved last is there; nothing was."""
    stop, ended = threading.Event(), Attempts.ended

    def stopping(attempts, *, fruitful):
        if not fruitful:
            stop.set()
        ended(attempts, fruitful=fruitful)

    monkeypatch.setattr(Attempts, "ended", stopping)
    monkeypatch.setattr(flop_share.FlopShare, "learn", pool_tasks.nothing)
    with (
        Session(Job.load(leduc, ["solve.max_sweeps=10"]), tmp_path / "out") as session,
        pytest.raises(PeerError, match="the last save is complete"),
    ):
        session.solve(Noting(), stop)


@pytest.mark.slow
def test_two_workers_come_as_near_to_an_equilibrium_as_one_process(tmp_path, cluster):
    """Leduc has three flops, so that each worker's first round learns from one or two: no game is harder for shares."""
    for text, deals, most in ((DEALT_LEDUC, 3000, 4.0), (DEALT_FLOP, 2000, 1.3)):
        job = write(tmp_path, text)
        options = ("--set", f"solve.max_sweeps={deals}", "--set", "dask.workers=2")
        address = ("--set", 'solve.workers="dask"', "--set", f'dask.address="{cluster.address}"')
        here = good_json("solve", job, "--out", tmp_path / f"here-{deals}", *options[:2])
        there = good_json("solve", job, "--out", tmp_path / f"there-{deals}", *options, *address)
        assert there["exploitability"] < most * here["exploitability"]
        assert visits_in(tmp_path / f"there-{deals}") == visits_in(tmp_path / f"here-{deals}")


def test_buckets_that_forget_the_flop_are_refused(tmp_path, cluster):
    job = write(tmp_path, FOUR_ROUNDS.replace("remember = true", "remember = false"))
    told = refused("solve", job, "--out", tmp_path / "out", "--set", f'dask.address="{cluster.address}"')
    assert "set boards.remember = true, or a number of workers" in told


def setup_of(text):
    job = Job.of(tomllib.loads(text))
    made = abstraction(spec_of(job.rules, job.dealing))
    return flop_share.Setup("x", job.rules, line_forests(job.betting_tree), made, 7, False, 0.0)


@pytest.mark.parametrize("text", [DEALT_LEDUC, DEALT_FLOP, FOUR_ROUNDS], ids=["leduc", "flop", "four rounds"])
def test_each_bucket_belongs_to_the_bucket_of_its_flop(text):
    made = setup_of(text).abstraction
    dealt = made.classes_of_deals(3, 0, 5000)
    for t in range(made.first, made.n_rounds):
        assert (owner_of(made, 7, t)[dealt[:, t]] == dealt[:, made.first]).all()


def test_shares_do_each_deal_once_and_no_bucket_below_the_flop_is_of_two():
    setup, owners = setup_of(FOUR_ROUNDS), np.array([0, 1, 1])
    with ExitStack() as stack:
        shares = [stack.enter_context(flop_share.FlopShare(setup, i, owners, 1, 0)) for i in range(2)]
        before = [part_of(shares[0].numbers, 0, np.zeros(1, dtype=np.int64))]
        for share in shares:
            share.learn(before, 0, 40)
        visits = [[counts[0] for counts in share.numbers.visits] for share in shares]
    for mine, theirs in zip(*visits, strict=True):
        assert mine.sum() + theirs.sum() == 40
        assert len(mine) == 1 or not (mine.astype(bool) & theirs.astype(bool)).any()


def test_one_share_leaves_what_it_has_made_and_averages_weigh_by_visits():
    setup = setup_of(DEALT_FLOP)
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(flop_share.FlopShare(setup, i, np.array([0, 1, 1]), 1, 0)) for i in range(2)
        )
        before = [part_of(one.numbers, 0, np.zeros(1, dtype=np.int64))]
        (first,), (second,) = (share.learn(before, 0, 60).parts for share in (one, two))
    assert averaged(before[0], [first], 2.0) is first
    both = averaged(before[0], [first, second], 2.0)
    made = np.array([first.visits[0, 0], second.visits[0, 0]]) / 60
    assert (both.visits == 60).all()
    assert both.sums[0] == pytest.approx(made[0] * first.sums[0] + made[1] * second.sums[0], rel=1e-5)
    raised = (first.regrets[0] >= 0) & (second.regrets[0] >= 0)
    assert both.regrets[0][raised] == pytest.approx((first.regrets[0] + second.regrets[0])[raised], rel=1e-5)


@pytest.fixture(scope="module")
def learnt():
    """What a share has learnt of ten deals, the numbers before, and an engine of the same solve."""
    setup = setup_of(DEALT_LEDUC)
    with ExitStack() as stack:
        share, other = (
            stack.enter_context(flop_share.FlopShare(setup, 0, np.zeros(3, dtype=np.int64), 1, 0))
            for _ in range(2)
        )
        before = [part_of(other.numbers, 0, np.zeros(1, dtype=np.int64))]
        yield share.learn(before, 0, 10), before, other.numbers


def test_what_a_share_has_learnt_is_taken(learnt):
    answer, before, numbers = learnt
    require_learnt(answer, 0, before, numbers, "tcp://x")


def changed(**fields):
    return lambda answer: answer._replace(parts=[part._replace(**fields) for part in answer.parts])


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: None,
        lambda answer: answer._replace(share=1),
        lambda answer: answer._replace(parts=[]),
        lambda answer: answer._replace(parts=[(1, 2)]),
        lambda answer: answer._replace(
            parts=[part._replace(regrets=tuple(a * np.nan for a in part.regrets)) for part in answer.parts]
        ),
        lambda answer: answer._replace(
            parts=[part._replace(sums=tuple(a[:, ::2] for a in part.sums)) for part in answer.parts]
        ),
        changed(buckets=np.array([999])),
        changed(t=7),
        changed(visits=np.full((2, 1), -1)),
    ],
)
def test_a_worker_that_answers_nonsense_is_refused(learnt, change):
    answer, before, numbers = learnt
    with pytest.raises(
        PeerError, match="expected finite regrets and strategy sums of share 1 of the flops"
    ) as raised:
        require_learnt(change(answer), 0, before, numbers, "tcp://x")
    assert str(raised.value).startswith("Dask worker tcp://x: ")
    assert "\n" not in str(raised.value)


def test_a_cluster_judges_flops_as_processes_here_do(leduc, tmp_path, cluster):
    good("solve", leduc, "--out", tmp_path / "out", "--set", "solve.max_sweeps=20")
    there = good_json("exploit", tmp_path / "out", "--dask", cluster.address)
    shutil.rmtree(tmp_path / "out/judged")
    here = good_json("exploit", tmp_path / "out", "--workers", 1)
    assert there["core_seconds"] > 0
    assert {**there, "core_seconds": 0} == {**here, "core_seconds": 0}
    told = refused("exploit", tmp_path / "out", "--dask", cluster.address, "--workers", 2)
    assert "--workers has no effect with --dask" in told


def test_a_cluster_fills_the_bucket_locker(tmp_path, joined, monkeypatch):
    few = [parse_cards(board) for board in ("2c2d2h", "2c2d3c")]
    monkeypatch.setattr(BucketLocker, "missing", lambda self, n_cards: few)
    locker, done = BucketLocker.open(tmp_path / "trees"), []
    locker.precompute(3, DaskPool(joined), done.append)
    assert sum(done) == 2
    assert len(list(locker.store.keys("means"))) == 2
    locker.close()
