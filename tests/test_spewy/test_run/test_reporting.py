"""What becomes of reports never decides what becomes of a solve."""

import json
import logging
import os
import subprocess
import sys

import pytest
from cli_runs import COMMAND, KUHN, TURN, process, write
from jobs import EXAMPLES, example

from lockers import open_store
from spewy.batch.batch import Batch
from spewy.batch.solve_batch import JobBegan, JobChecked, run_batch
from spewy.cli.progress import check_text
from spewy.records.progress import saved_sweeps
from spewy.run.events import Advanced, Began, Checked, Ended, Noted, Stated
from spewy.run.session import Session
from spewy.run.stopping import forecast

FAR = ["--set", "solve.target=0%", "--set", "solve.max_sweeps=400"]


class Failing:
    """A listener that fails at events of one class, and remembers the classes of all events."""

    def __init__(self, kind, error=RuntimeError("no ink")):
        self.kind, self.error, self.told = kind, error, []

    def __call__(self, event):
        self.told.append(type(event))
        if type(event) is self.kind:
            raise self.error


@pytest.mark.parametrize("kind", [Began, Advanced, Checked, Ended])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_listener_that_fails_is_called_no_more(kind, precision, tmp_path, caplog):
    job = example("R1", "solve.target=0%", "solve.max_sweeps=20", f"solve.precision={precision}")
    listener = Failing(kind)
    with Session(job, tmp_path / "out") as session:
        assert (session.solve(listener).sweeps, saved_sweeps(session.store)) == (20, 20)
    assert listener.told.count(kind) == 1
    assert listener.told[-1] is kind
    assert [record.getMessage() for record in caplog.records] == [
        "the listener failed, so no more progress is reported: RuntimeError: no ink"
    ]


def test_a_closed_pipe_is_no_news(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    with Session(example("R1", "solve.max_sweeps=20"), tmp_path / "out") as session:
        assert session.solve(Failing(Checked, BrokenPipeError())).sweeps == 20
    assert not [record for record in caplog.records if record.name.startswith("spewy")]


@pytest.mark.parametrize(("kind", "at_once"), [(Advanced, 1), (JobBegan, 1), (JobChecked, 2)])
def test_a_batch_goes_on_too(kind, at_once, tmp_path, caplog):
    files = [write(tmp_path, text, name) for name, text in (("a.toml", KUHN), ("b.toml", TURN))]
    batch = Batch.load(files, (), tmp_path / "out")
    listener = Failing(kind)
    assert [outcome.done for outcome in run_batch(batch, listener, at_once)] == [True, True]
    assert listener.told[-1] is kind
    assert len(caplog.records) == 1


@pytest.mark.parametrize("target", [1e-300, 5e-324])
def test_a_forecast_beyond_all_numbers(target):
    trace = [(100, 1.0, 10.0), (200, 2.0, 9.0)]
    left = forecast(trace, target)
    assert left > 1e100
    assert check_text(1.0, "%", left) == "exploitability 1%, more than 99 days left"


def closed(*args, streams):
    """Run a command with streams closed."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *COMMAND, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_stderr_closed_from_the_start(tmp_path):
    result = closed("solve", EXAMPLES / "R1.toml", "--out", tmp_path / "out", "--json", *FAR, streams="2>&-")
    assert result.returncode == 0
    assert json.loads(result.stdout)["sweeps"] == 400
    assert closed("solve", tmp_path / "nothing.toml", streams="2>&-").returncode == 2


def test_stderr_closed_on_the_way(tmp_path):
    """As by ``2>&1 | head``: the solve goes on, and its result stands on a stdout of its own."""
    command = [*COMMAND, "solve", EXAMPLES / "R1.toml", "--out", tmp_path / "out", "--json", *FAR]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stderr.readline()
        running.stderr.close()
        said = running.stdout.read()
    assert running.returncode == 0
    assert json.loads(said)["sweeps"] == 400


@pytest.mark.parametrize(
    ("streams", "told"),
    [
        (">&-", "Error: stdout is closed, and results are printed there; open stdout\n"),
        (">&- 2>&-", ""),
    ],
)
def test_stdout_closed(tmp_path, streams, told):
    """There is nowhere to put the result, which is said before anything starts."""
    result = closed("solve", write(tmp_path, KUHN), "--out", tmp_path / "out", streams=streams)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", told)
    assert not (tmp_path / "out").exists()


def test_a_pipe_of_both_that_is_closed(tmp_path):
    """``spewy solve ... 2>&1 | head -1``: everything is saved; the exit code is that of a closed pipe."""
    ours, theirs = os.pipe()
    command = [*COMMAND, "solve", EXAMPLES / "R1.toml", "--out", tmp_path / "out", *FAR]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        assert os.read(ours, 1)
        os.close(ours)
    assert running.returncode == 1
    with open_store(tmp_path / "out", read_only=True) as store:
        assert saved_sweeps(store) == 400


def test_a_console_script_does_as_the_module():
    code = "from spewy.__main__ import main; main()"
    found = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, check=True)
    assert found.stdout.decode() == process("--version").stdout


class Noting:
    def __init__(self):
        self.notes, self.left = [], []

    def __call__(self, event):
        if isinstance(event, Noted):
            self.notes.append(event.text)
        elif isinstance(event, Checked):
            self.left.append(event.seconds_left)


def test_long_work_before_and_after_the_sweeps_is_announced(tmp_path, monkeypatch):
    monkeypatch.setattr("spewy.run.stores.LARGE", 2**20)
    monkeypatch.setattr("spewy.run.session.LARGE", 2**20)
    job, noting = example("T1", "solve.max_sweeps=12"), Noting()
    with Session(job, tmp_path / "T1") as session:
        session.solve(noting)
    assert "T1: making tables and arrays" in noting.notes
    assert noting.notes[-1] == "T1: saving 17.7 MiB after sweep 12"
    with Session(example("T1", "solve.max_sweeps=14"), tmp_path / "T1") as session:
        session.solve(noting)
    assert "T1: making tables and arrays, and reading the last save" in noting.notes
    in_memory = Noting()
    with Session(job) as session:
        session.solve(in_memory)
    assert not any("saving" in note for note in in_memory.notes)


def test_who_has_arrived_has_no_time_left():
    noting = Noting()
    with Session(example("R1")) as session:
        assert session.solve(noting).converged
    assert noting.left[-1] == 0.0
    assert check_text(0.5, "%", noting.left[-1]) == "exploitability 0.5%"


@pytest.mark.parametrize("target", ["0.1%", "0%"])
def test_the_largest_number_of_sweeps_is_no_estimate_of_the_time_to_a_target(target, monkeypatch):
    monkeypatch.setattr("spewy.run.status_file.TELL_SECONDS", 0.0)
    told, checks = [], []

    def listen(event):
        if isinstance(event, Checked):
            checks.append(event.seconds_left)
        elif isinstance(event, Stated) and event.status.deals:
            told.append((len(checks), event.status.seconds_left))

    with Session(example("T1", f"solve.target={target}", "solve.max_sweeps=60")) as session:
        session.solve(listen)
    early = [left for n, left in told if n < 2]
    late = [left for n, left in told[:-1] if n >= 2]
    assert early
    assert late
    assert all((left is None) == (target == "0.1%") for left in early)
    assert all(left is not None for left in late)
