"""Stored chunks that a Dask cluster's workers visit, who have no lockers: what one process here leaves, to the bit."""

import itertools
from contextlib import closing
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from cli_runs import LEDUC, good, good_json, refused, write
from jobs import EXAMPLES
from naive_chunks import three_rounds

distributed = pytest.importorskip("distributed", reason="no dask.distributed: pip install 'spewy[dask]'")


from lockers import MemoryStore, open_store  # noqa: E402
from spewy.chunks.layout import Layout, Subgames  # noqa: E402
from spewy.errors import PeerError  # noqa: E402
from spewy.learn.engine import Goal  # noqa: E402
from spewy.learn.remote_visits import RemoteVisits, do_remote_task  # noqa: E402
from spewy.learn.stored import StoredEngine  # noqa: E402
from spewy.learn.visit import Visitor, VisitSettings  # noqa: E402
from spewy.records.chunks import Kind, Visit  # noqa: E402
from spewy.system.cluster import Cluster  # noqa: E402
from spewy.system.processes import Message  # noqa: E402

T1 = (EXAMPLES / "T1.toml", "--set", "rows.turn=7", "--set", "rows.river=5", "--set", "solve.target=0 chips")
WAYS = {
    "regret": VisitSettings(),
    "predictive": VisitSettings(variant="pcfr+", iterations=2),
    "average": VisitSettings("average", iterations=3),
    "rivers live": VisitSettings(first_live=2),
    "turns live": VisitSettings(first_live=1),
}


def joined(cluster):
    return Cluster(cluster.address, 0, lambda note: None)


@pytest.fixture(scope="module")
def layout():
    return Layout.of(three_rounds(1, held=(7, 5), rows=True)[1])


def everything(store):
    """All that a store holds, but for when it was written."""
    lockers = ("regret", "strategy", "guess", "payoff")
    arrays = {(name, key): store.get(name, key).tobytes() for name in lockers for key in store.keys(name)}
    return arrays, {key: store.visits(key) for _, key in arrays}


def sweep(engine, last, stop, progress=lambda *told: None):
    while engine.done < last and not stop.is_set():
        engine.run(Goal(0.0, last), stop, progress)


def swept(layout, settings, cluster=None, sweeps=3, order="bottom-up"):
    store = MemoryStore({})
    with closing(StoredEngine(layout, store, settings, order, cluster=cluster)) as engine:
        sweep(engine, sweeps, Event())
    return everything(store)


@pytest.mark.parametrize(
    "way", ["average", *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS if way != "average")]
)
def test_a_cluster_leaves_what_one_process_leaves(way, layout, cluster):
    order = "top-down" if way == "average" else "bottom-up"
    there = swept(layout, WAYS[way], joined(cluster), order=order)
    assert there == swept(layout, WAYS[way], order=order)
    assert set(there[1].values()) <= {(3, 3), (0, 0)}


@pytest.mark.slow
def test_a_job_on_a_cluster_is_the_job_here(cluster, tmp_path):
    there = ("--set", 'solve.workers="dask"', "--set", f'dask.address="{cluster.address}"')
    traces = []
    for sweeps in (4, 5):  # the second goes on, in either way
        more = ("solve.leaves=stored", "solve.check_every=2", f"solve.max_sweeps={sweeps}")
        sets = [part for setting in more for part in ("--set", setting)]
        for name, where in (("here", ()), ("there", there)):
            traces.append(good_json("solve", *T1, *sets, *where, "--out", tmp_path / name)["trace"])
        with (
            open_store(tmp_path / "here", read_only=True) as one,
            open_store(tmp_path / "there", read_only=True) as two,
        ):
            assert everything(one) == everything(two)
    assert traces[1][0][2] == traces[0][0][2]
    assert good("check", tmp_path / "there").endswith(": healthy\n")


@pytest.mark.slow
def test_a_worker_that_dies_and_one_that_joins_change_nothing(layout, cluster, monkeypatch):
    pack, packed = RemoteVisits.pack, itertools.count()

    def dying(remote_visits, *what):
        if next(packed) == 5:
            cluster.kill_one()
            cluster.join()
        return pack(remote_visits, *what)

    monkeypatch.setattr(RemoteVisits, "pack", dying)
    assert swept(layout, WAYS["regret"], joined(cluster)) == swept(layout, WAYS["regret"])
    assert next(packed) > 6


@pytest.fixture
def losing(monkeypatch):
    """A cluster that loses all visits of a level as often as is asked for."""

    def made(often):
        levels = itertools.count()

        class WorkerPool:
            def __init__(self, cluster):
                self._lost = next(levels) < often

            def work(self, function, tasks):
                for i, arguments in enumerate(tasks):
                    if self._lost:
                        yield Message(i, "died", "left the cluster")
                    else:
                        yield Message(i, "done", function(Event(), *arguments))

            def close(self):
                pass

        monkeypatch.setattr("spewy.learn.stored.DaskPool", WorkerPool)
        monkeypatch.setattr("spewy.system.cluster.PAUSE_SECONDS", 0.0)
        return SimpleNamespace(
            threads=2,
            name="cluster",
            workers=lambda stop: {},
            given=lambda layout: layout,
            close=lambda: None,
        )

    return made


def test_visits_that_are_all_lost_are_made_again(layout, losing):
    assert swept(layout, WAYS["regret"], losing(2)) == swept(layout, WAYS["regret"])


def test_visits_that_are_lost_again_and_again_end_the_solve(layout, losing):
    with pytest.raises(PeerError, match="no worker has finished any visits in 3 attempts in a row"):
        swept(layout, WAYS["regret"], losing(3))


def test_a_sweep_that_is_interrupted_goes_on_where_it_stopped(layout, cluster):
    store, stop = MemoryStore({}), Event()

    def progress(number, done, total):
        if number == 2 and 0 < done < total:
            stop.set()

    with closing(StoredEngine(layout, store, WAYS["regret"], cluster=joined(cluster))) as engine:
        sweep(engine, 3, stop, progress)
        assert engine.done == 1
    assert {number for number, _ in everything(store)[1].values()} == {1, 2}
    with closing(StoredEngine(layout, store, WAYS["regret"], cluster=joined(cluster))) as engine:
        sweep(engine, 3, Event())
    assert everything(store) == swept(layout, WAYS["regret"])


def test_live_leaves_have_nothing_for_a_cluster(tmp_path):
    job = write(tmp_path, LEDUC.replace('"stored"', '"live"'))
    told = refused("solve", job, "--set", 'solve.workers="dask"', "--out", tmp_path / "out")
    assert (
        'solve.workers: expected a number of threads for live leaves, found "dask", which is for stored chunks'
        in told
    )


@pytest.fixture(scope="module")
def swept_once(layout):
    """A store that holds one sweep."""
    store, settings = MemoryStore({}), VisitSettings()
    visitor = Visitor(layout, store, settings)
    for t in reversed(range(layout.n_rounds)):
        for b, r in layout.chunks(t):
            visitor.visit(t, b, r, 1)
    return store


@pytest.fixture
def task(layout, swept_once):
    """RemoteVisits of a store that holds one sweep, one of them, and what it brings back."""
    store, settings = MemoryStore({}), VisitSettings()
    store._values.update(swept_once._values)
    remote_visits = RemoteVisits(Subgames(layout), store, settings)
    one = remote_visits.pack(1, next(remote_visits.portions(1, 2, 1)))
    return remote_visits, one, do_remote_task(Event(), "x", layout, settings, one), store


def test_what_comes_back_is_written_once(task):
    remote_visits, one, found, store = task
    assert remote_visits.commit(one, 2, found, "w") == len(one.places)
    before = everything(store)
    assert remote_visits.commit(one, 2, found, "w") == 0
    assert everything(store) == before


def test_nothing_else_is_taken_along(task):
    _, one, _, _ = task
    with pytest.raises(KeyError):
        one.read.get("regret", b"elsewhere")


def test_a_portion_is_no_heavier_than_asked_unless_it_is_a_single_visit(task, monkeypatch):
    remote_visits, _, _, _ = task
    places = list(itertools.chain.from_iterable(remote_visits.portions(1, 2, 1)))
    monkeypatch.setattr("spewy.learn.remote_visits.MOST_BYTES", 1)
    assert list(remote_visits.portions(1, 2, 1)) == [[place] for place in places]
    assert not list(remote_visits.portions(1, 1, 1))


def spoilt(change):
    return lambda found: [change(found[0]), *found[1:]]


def every(array_of):
    return spoilt(
        lambda visit: Visit(
            {
                key: {k: tuple(map(array_of, pair)) for k, pair in kinds.items()}
                for key, kinds in visit.arrays.items()
            },
            visit.payoffs,
        )
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda found: None,
        lambda found: found[:-1],
        lambda found: [*found, found[0]],
        spoilt(lambda visit: 7),
        spoilt(lambda visit: replace(visit, payoffs=None)),
        spoilt(lambda visit: replace(visit, payoffs=visit.payoffs[:, :-1])),
        spoilt(lambda visit: replace(visit, payoffs=visit.payoffs * np.nan)),
        spoilt(lambda visit: replace(visit, arrays={})),
        spoilt(lambda visit: replace(visit, arrays=dict.fromkeys(visit.arrays))),
        spoilt(lambda visit: replace(visit, arrays={key: {Kind.SUMS: 1} for key in visit.arrays})),
        every(lambda array: array[:-1]),
        every(lambda array: np.full_like(array, np.inf)),
        every(lambda array: array.astype(np.float32)),
        every(lambda array: array.tolist()),
    ],
)
def test_nonsense_or_half_an_answer_is_refused_and_nothing_written(change, task):
    remote_visits, one, found, store = task
    before = everything(store)
    with pytest.raises(PeerError, match=r"^w, \d+ visits from chunk .* on: expected .*, found ") as raised:
        remote_visits.commit(one, 2, change(found), "w")
    assert "\n" not in str(raised.value)
    assert everything(store) == before
