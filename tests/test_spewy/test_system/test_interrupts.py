"""Ctrl-C, SIGTERM and SIGHUP at any moment: exit code 130, everything saved, and nothing on stderr that frightens."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_runs import COMMAND, LEDUC, good, good_json, process, write
from process_groups import assert_ended

from spewy.system.interrupts import SIGNALS, interrupted_by_signals, interruptible

STORED = ["--set", "solve.workers=2", "--set", "solve.max_sweeps=100000"]


def start(*args, **options):
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


@pytest.mark.parametrize(
    "number", [SIGNALS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in SIGNALS[1:])]
)
def test_while_workers_start(number, tmp_path):
    """All of the group get the signal, as from a terminal, as soon as there is a worker; none of them is left."""
    folder = tmp_path / "out"
    with start("solve", write(tmp_path, LEDUC), "--out", folder, "--json", *STORED) as running:
        wait_for_a_child(running)
        os.killpg(running.pid, number)
        running.wait(60)
        assert_ended(running.pid)
        said, err = running.communicate()
    assert running.returncode == 130, err
    assert json.loads(said)["interrupted"] is True
    assert err.endswith("everything is saved, the same command continues\n")
    assert "Traceback" not in err
    assert good("check", folder).endswith(": healthy\n")
    assert good_json("solve", tmp_path / "job.toml", "--out", folder, "--set", "solve.max_sweeps=1")


def wait_for_a_child(running):
    """Wait until a process has started another one."""
    for line in running.stderr:
        if "information sets" in line:
            break
    tasks = Path(f"/proc/{running.pid}/task")
    while not any((task / "children").read_text() for task in tasks.iterdir()):
        assert running.poll() is None


def test_while_it_imports(tmp_path):
    """A package in the middle of its import would make something else of the exception."""
    (tmp_path / "click.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    pass\n"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = process("--version", env={**os.environ, "PYTHONPATH": path})
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.fixture
def handlers():
    """The handlers of before, which come back."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield before
    for number, handler in before.items():
        signal.signal(number, handler)


def exit_code(body):
    """The exit code of a command that does this."""
    with pytest.raises(SystemExit) as ended, interrupted_by_signals():
        body()
    return ended.value.code


@pytest.mark.parametrize("number", SIGNALS)
def test_in_any_command(number, handlers):
    """What is made of the exception on its way does not matter."""

    def aborted():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        sys.exit(1)

    assert exit_code(lambda: signal.raise_signal(number)) == 130
    assert exit_code(aborted) == 130
    assert exit_code(lambda: sys.exit(2)) == 2


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_is_an_event_and_the_second_breaks_off(number, handlers):
    with interruptible() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert {each: signal.getsignal(each) for each in SIGNALS} == handlers


def test_a_hang_up_that_is_ignored_stays_ignored():
    """This is how `nohup` starts a process."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as stop:
            signal.raise_signal(signal.SIGHUP)
        assert not stop.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_signals_alone():
    found = []

    def run():
        with interruptible() as stop:
            found.append(stop.is_set())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [False]


def test_the_current_folder_is_not_searched(tmp_path):
    """A file of somebody else with the name of one of our packages, or a folder of that name, harms nothing."""
    for name in ("lockers", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of somebody else')")
    (tmp_path / "buckets").mkdir()
    job = write(tmp_path, LEDUC)
    options = ["--set", "solve.max_sweeps=2", "--set", "solve.workers=2"]
    solved = process("solve", job, "--out", tmp_path / "out", *options, cwd=tmp_path)
    assert solved.returncode == 0, solved.stderr
    checked = process("check", tmp_path / "out", cwd=tmp_path)
    assert checked.stdout.endswith(": healthy\n"), checked.stderr
