"""Whole games that are solved with fewer board buckets first: results, interruptions, limits, folders, refusals."""

import gc
import threading
import time
import weakref
from contextlib import nullcontext

import pytest
from dealt_jobs import numbers_in

from spewy import Job, Session, open_policy, solve
from spewy.errors import InputError, NotSolvedError
from spewy.job import settings
from spewy.learn.sampled import SampledEngine
from spewy.look.status import status_of
from spewy.records.bucket_numbers import read_mark
from spewy.records.status import LOG, last_word
from spewy.run.events import Noted, Stated
from spewy.run.folder_state import STAGES, stage_folder
from spewy.run.sampled_plan import SampledPlan
from spewy.run.stores import Saving

BASE = {
    "name": "leduc-stages",
    "game": {"file": "leduc"},
    "boards": {"flop": 3},
    "rows": {"preflop": 3, "flop": 3},
    "solve": {"target": "0 mbb", "max_sweeps": 1000, "coarse_to_fine": True},
}


REAL = (settings._coarser, settings.STAGE_VISITS)


@pytest.fixture(scope="module", autouse=True)
def small_stages():
    """Leduc has three boards: stages with one and two buckets, which end at deals 200 and 400."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            settings, "_coarser", lambda board_buckets, rows: (((None, 1), (3, 2)), ((None, 2), (3, 3)))
        )
        patch.setattr(settings, "STAGE_VISITS", 200)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a solve with stages, and its result."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder)


def job(**keys):
    return Job.of(BASE | {"solve": BASE["solve"] | keys})


def run(folder, *, stop=None, listener=None, save_every=None, start_from=None, **keys):
    with Session(job(**keys), folder, save_every, start_from=start_from) as session:
        return session.solve(listener, stop)


class Stopping:
    """Sets a stop once the solve has a given number of deals."""

    def __init__(self, deals):
        self.deals, self.stop, self.notes = deals, threading.Event(), []

    def __call__(self, event):
        if isinstance(event, Noted):
            self.notes.append(event.text)
        elif isinstance(event, Stated) and event.status.deals >= self.deals:
            self.stop.set()


@pytest.fixture
def short_portions(monkeypatch):
    """A run looks at its stop after each seventh deal."""
    monkeypatch.setattr("spewy.learn.sampled.SampledEngine.next_portion", lambda *args: 7)
    monkeypatch.setattr("spewy.run.status_file.TELL_SECONDS", 0)


def test_stages_have_fewer_board_buckets_and_end_by_deals():
    stages = job().dealing.stages()
    assert [(each.board_buckets, each.rows, each.last_deal) for each in stages] == [
        ((None, 1), (3, 2), 200),
        ((None, 2), (3, 3), 400),
    ]
    assert [each.last_deal for each in job(max_sweeps=300).dealing.stages()] == [200, 300]
    assert job(coarse_to_fine=False).dealing.stages() == ()


def test_real_numbers_of_board_buckets_and_rows(monkeypatch):
    monkeypatch.setattr(settings, "_coarser", REAL[0])
    monkeypatch.setattr(settings, "STAGE_VISITS", REAL[1])
    boards = {"boards.flop": 100, "boards.turn": 200, "boards.river": 400}
    rows = {"rows.flop": 40, "rows.turn": 12, "rows.river": 3}
    sizes = [f"{key}={size}" for key, size in (boards | rows).items()]
    limit = Job.load("examples/limit-holdem.toml", ["solve.coarse_to_fine=true", *sizes])
    first, second, third = (
        ((None, 6, 12, 25), (169, 10, 5, 3)),
        ((None, 25, 50, 100), (169, 20, 6, 3)),
        ((None, 100, 200, 400), (169, 20, 6, 3)),
    )
    assert limit.dealing.coarse == (first, second, third)
    few = Job.load("examples/limit-holdem.toml", ["solve.coarse_to_fine=true", *sizes, "boards.river=60"])
    assert few.dealing.coarse == (((None, 25, 50, 15), second[1]), ((None, 100, 200, 60), second[1]))
    every = Job.load("examples/limit-holdem.toml", ["solve.coarse_to_fine=true", *sizes, "boards.turn=all"])
    assert every.dealing.coarse[1] == ((None, 25, None, 100), (169, 20, 12, 3))
    by_hand = Job.load("examples/flop-holdem.toml", ["solve.coarse_to_fine=true", "rows.flop=4"])
    assert by_hand.dealing.coarse == (((None, 25), (169, 4)), ((None, 100), (169, 4)))


def test_the_log_names_the_stages_and_the_folder_keeps_none(whole):
    folder, result = whole
    assert (result.sweeps, result.interrupted) == (1000, False)
    lines = [line.split(maxsplit=2)[2] for line in (folder / LOG).read_text().splitlines()]
    starts = [line for line in lines if line.startswith("start")]
    assert starts[0] == "start 0 deals, stage 1 of 3, 1 board buckets of 2 rows, to deal 200"
    assert starts[1] == "start 200 deals, stage 2 of 3, 2 board buckets of 3 rows, to deal 400"
    assert starts[2] == "start 400 deals, 1 thread, seed 0, starting from 400 deals of stage 2"
    assert [row[0] for row in result.trace] == [1000]
    assert not (folder / STAGES).exists()
    assert status_of(folder).stage is None


def test_a_stage_changes_the_result(whole, tmp_path):
    run(tmp_path, coarse_to_fine=False)
    assert numbers_in(whole[0]) != numbers_in(tmp_path)


@pytest.mark.parametrize("deals", [50, 230, 700])
def test_an_interrupted_solve_ends_with_the_same_numbers(deals, whole, tmp_path, short_portions):
    listener = Stopping(deals)
    first = run(tmp_path / "parts", stop=listener.stop, listener=listener)
    assert first.interrupted
    assert deals <= first.sweeps <= deals + 7
    assert last_word(tmp_path / "parts") == "interrupted"
    stage = 1 + (deals > 200) + (deals > 400)
    status = status_of(tmp_path / "parts")
    assert status.stage == ((stage, 3) if stage < 3 else None)
    assert status.saved_deals == first.sweeps
    with Session(job(), tmp_path / "parts") as session:
        assert (session.saved > 0) == (stage == 3)
    if stage < 3:
        with pytest.raises(NotSolvedError, match="a stage with fewer buckets"):
            open_policy(tmp_path / "parts")
    last = run(tmp_path / "parts")
    assert last.sweeps == 1000
    assert numbers_in(tmp_path / "parts") == numbers_in(whole[0])


class Killed(BaseException):
    pass


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_killed_solve_goes_on_in_the_right_stage(number, whole, tmp_path, monkeypatch, short_portions):
    """A solve that is killed before its nth finished save ends with the same numbers."""
    saves = []

    def finish(saving, *args):
        saves.append(args)
        if len(saves) == number:
            raise Killed
        return finished(saving, *args)

    finished = Saving.finish
    with monkeypatch.context() as patched:
        patched.setattr(Saving, "finish", finish)
        with pytest.raises(Killed) if number < 4 else nullcontext():
            run(tmp_path / "parts", save_every=0.01)
    assert run(tmp_path / "parts").sweeps == 1000
    assert numbers_in(tmp_path / "parts") == numbers_in(whole[0])
    assert not (tmp_path / "parts" / STAGES).exists()


def test_earlier_stages_go_once_the_next_has_saved(tmp_path, short_portions):
    listener = Stopping(230)
    run(tmp_path, stop=listener.stop, listener=listener)
    assert not stage_folder(tmp_path, 1).exists()
    assert stage_folder(tmp_path, 2).exists()
    with Session(job(), tmp_path, again=True):
        assert not (tmp_path / STAGES).exists()


def test_in_memory_the_numbers_are_those_of_a_folder(whole):
    with Session(job()) as session:
        assert session.solve().sweeps == 1000
        memory = {
            (locker, key): session.store.get(locker, key).tobytes()
            for locker in ("regret", "strategy", "visits")
            for key in session.store.keys(locker)
        }
    assert memory == numbers_in(whole[0])
    assert solve(job(max_sweeps=150)).result.sweeps == 150


def test_an_interruption_in_memory_keeps_the_stage(short_portions):
    listener = Stopping(230)
    with Session(job()) as session:
        assert session.solve(listener, listener.stop).interrupted
        assert session.saved == 0
        assert session.solve().sweeps == 1000


def test_an_interruption_keeps_the_unit(short_portions):
    for deals in (30, 450):  # in a stage, after all stages
        listener = Stopping(deals)
        with Session(Job.of(BASE | {"unit": "bb"})) as session:
            assert session.solve(listener, listener.stop).unit == "bb"


def test_cfr_br_and_sixteen_bits_have_stages(tmp_path):
    for name, keys in (("br", {"cfr_br": 0.5}), ("short", {"precision": "16-bit"})):
        assert run(tmp_path / name, **keys).sweeps == 1000


def test_time_of_stages_counts(tmp_path, monkeypatch, short_portions):
    """A solve whose time ends in its first stage still gets all its board buckets, without further deals."""
    monkeypatch.setattr(settings, "STAGE_VISITS", 10**6)
    begun = time.perf_counter()
    result = run(tmp_path, max_time="1 s", max_sweeps=None)
    assert not result.interrupted
    assert time.perf_counter() - begun >= 1
    with Session(job(), tmp_path) as session:
        assert session.saved == result.sweeps
        assert read_mark(session.store).seconds >= 1
    assert result.exploitability < 2


def test_most_deals_may_end_in_a_stage(tmp_path):
    assert run(tmp_path, max_sweeps=150).sweeps == 150
    assert run(tmp_path).sweeps == 1000  # the last stage goes on


def test_another_solve_replaces_the_stages(tmp_path):
    run(tmp_path / "other", coarse_to_fine=False, max_sweeps=30)
    listener = Stopping(10**9)
    run(tmp_path / "new", start_from=tmp_path / "other", listener=listener)
    assert "leduc-stages: starting from 30 deals of" in "".join(listener.notes)
    assert any("no stages with fewer board buckets and rows" in note for note in listener.notes)
    assert not (tmp_path / "new" / STAGES).exists()


def test_without_stages_left_ones_are_removed(tmp_path, short_portions):
    listener = Stopping(230)
    run(tmp_path, stop=listener.stop, listener=listener)
    assert run(tmp_path, coarse_to_fine=False).sweeps == 1000
    assert not (tmp_path / STAGES).exists()


def test_a_finished_stage_frees_its_numbers(tmp_path, monkeypatch):
    """The estimated memory has room for the numbers of a stage beside those of the stage before it, and no others."""
    numbers, alive = [], []
    save_to, start_from = SampledEngine.save_to, SampledEngine.start_from

    def saving(engine, *args):
        numbers.append(weakref.ref(engine.numbers))
        save_to(engine, *args)

    def starting(engine, *args, **keys):
        alive.append(sum(one() is not None for one in numbers))
        start_from(engine, *args, **keys)

    monkeypatch.setattr(SampledEngine, "save_to", saving)
    monkeypatch.setattr(SampledEngine, "start_from", starting)
    gc.disable()  # else the result would depend on when garbage was last collected
    try:
        run(tmp_path)
    finally:
        gc.enable()
    assert len(numbers) > 1
    assert not any(alive)


def test_the_cost_includes_the_stages():
    plain, stages = (SampledPlan.of(job(coarse_to_fine=value)).cost for value in (False, True))
    assert plain.disk_bytes < stages.disk_bytes < 4 * plain.disk_bytes
    assert plain.memory_bytes <= stages.memory_bytes
    assert plain.state_bytes == stages.state_bytes


def test_a_cluster_is_refused():
    with pytest.raises(InputError, match=r'solve.coarse_to_fine: expected .* found solve.workers = "dask"'):
        Job.of(BASE | {"boards": {}, "rows": {}, "solve": BASE["solve"] | {"workers": "dask"}})


def test_only_sampled_boards_have_stages():
    with pytest.raises(InputError, match=r"solve.coarse_to_fine has no effect without \[boards\]"):
        Job.of({"name": "leduc", "game": {"file": "leduc"}, "solve": {"coarse_to_fine": True}})
