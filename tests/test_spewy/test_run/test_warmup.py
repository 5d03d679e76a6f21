"""Kernels are compiled in processes of their own, several at the same time; here other processes stand for them."""

import subprocess
import sys

import pytest

from spewy.run import warmup
from spewy.run.warmup import Kernels, warm_up

TWO = [Kernels("exact", 1), Kernels("exact", 3, short=True)]
MEET = """
import sys, time
from pathlib import Path

own, other = map(Path, sys.argv[1:])
own.touch()
while not other.exists():
    time.sleep(0.02)
"""
"""A process that ends once the other process runs, too."""


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Python programs by kernels, which tests set, and the processes that were started for them."""
    programs, processes = {}, {}

    def start(kernels):
        code, *arguments = programs[kernels]
        processes[kernels] = subprocess.Popen([sys.executable, "-c", code, *arguments])
        return processes[kernels]

    monkeypatch.setattr(warmup, "_compiler", start)
    monkeypatch.setattr(warmup, "stamp", lambda package, mark: tmp_path / mark)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    return programs, processes


def test_kernels_are_compiled_at_the_same_time_once(started, tmp_path):
    programs, processes = started
    files = [str(tmp_path / "one"), str(tmp_path / "two")]
    programs |= {TWO[0]: (MEET, *files), TWO[1]: (MEET, *reversed(files))}
    notes = []
    warm_up([*TWO, TWO[0]], notes.append)
    names = "games of 1 round and games of 3 rounds in 16 bits"
    assert notes[0] == f"compiling the kernels for {names}, once: some 12 seconds or more"
    assert sorted(note.rsplit(" after ")[0] for note in notes[1:]) == [
        f"compiled the kernels for {name}" for name in names.split(" and ")
    ]
    assert {file.name for file in tmp_path.iterdir()} == {"one", "two", "1", "3s"}
    processes.clear()
    warm_up(TWO, notes.append)
    assert len(notes) == 3
    assert not processes


def test_little_memory_compiles_one_after_the_other(started, monkeypatch):
    programs, processes = started
    programs |= dict.fromkeys(TWO, ("",))
    monkeypatch.setattr(warmup, "available_memory", lambda: 10)
    notes = []
    warm_up(TWO, notes.append)
    assert notes[0].endswith("once: some 18 seconds or more")
    assert len(processes) == 2


def test_kernels_that_do_not_compile_are_left_to_the_solve(started, tmp_path):
    programs, _ = started
    programs |= {TWO[0]: ("raise SystemExit(1)",), TWO[1]: ("",)}
    warm_up(TWO, print)
    assert [file.name for file in tmp_path.iterdir()] == ["3s"]


def test_an_interruption_ends_the_processes(started):
    programs, processes = started
    programs |= {TWO[0]: ("import time; time.sleep(60)",), TWO[1]: ("",)}

    def note(text):
        if text.startswith("compiled"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        warm_up(TWO, note)
    assert all(process.returncode is not None for process in processes.values())
