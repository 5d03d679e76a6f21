"""Machine code lies in a folder of the user's cache that changed sources do not share."""

import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from cli_runs import TURN, good, write

import buckets
import solvers
from compiled import folder, stamp
from spewy.cli.app import Compiling

SOURCE = """
from compiled import inlined, kernel
from mine.below import below

@inlined
def twice(x):
    return 2 * x

@kernel
def answer(x):
    return twice(x) + below(x)
"""
BELOW = """
from compiled import kernel

@kernel
def below(x):
    return x + {added}
"""
RUN = """
import logging
logging.basicConfig(format="%(message)s", level=logging.INFO)
logging.getLogger("numba").setLevel(logging.WARNING)
from mine.answer import answer
print(answer(20))
"""


def package(where: Path, added: int) -> Path:
    (where / "mine").mkdir(parents=True, exist_ok=True)
    (where / "mine" / "__init__.py").touch()
    (where / "mine" / "answer.py").write_text(textwrap.dedent(SOURCE))
    (where / "mine" / "below.py").write_text(textwrap.dedent(BELOW.format(added=added)))
    return where


def run(where: Path, kernels: Path) -> tuple[int, list[str]]:
    path = os.pathsep.join([str(where), str(Path(__file__).parents[2])])
    env = os.environ | {"SPEWY_KERNELS": str(kernels), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True)
    return int(done.stdout), [line for line in done.stderr.splitlines() if line.startswith("compiling")]


def test_what_was_compiled_is_loaded_by_the_next_process_and_by_copies_until_a_file_changes(tmp_path):
    kernels = tmp_path / "kernels"
    assert run(package(tmp_path / "one", 2), kernels)[0] == 62
    assert run(tmp_path / "one", kernels) == (62, [])
    assert run(package(tmp_path / "two", 2), kernels) == (62, [])
    assert not list((tmp_path / "one" / "mine").glob("__pycache__/*.nb?"))
    found, compiled = run(package(tmp_path / "two", 3), kernels)  # below.py changes, not the kernel's file
    assert found == 63
    assert compiled


@pytest.mark.slow
def test_damaged_machine_code_is_compiled_again(tmp_path):
    kernels = tmp_path / "kernels"
    run(package(tmp_path, 2), kernels)
    for file in kernels.rglob("*.nb[ic]"):
        file.write_bytes(file.read_bytes()[:50])
    assert run(tmp_path, kernels)[0] == 62
    assert run(tmp_path, kernels) == (62, [])


def test_processes_save_machine_code_one_after_the_other(tmp_path):
    """Each process adds an entry to the index of the same function; without the lock, the index had one entry."""
    code = """
import sys, time
import numba.core.caching as caching
from mine.answer import answer
load = caching.IndexDataCacheFile._load_index
def slowly(self):
    index = load(self)
    time.sleep(1)
    return index
caching.IndexDataCacheFile._load_index = slowly
answer({"int": 20, "float": 2.5}[sys.argv[1]])
"""
    package(tmp_path, 2)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    env = os.environ | {"SPEWY_KERNELS": str(tmp_path / "kernels"), "PYTHONPATH": path}
    running = [subprocess.Popen([sys.executable, "-c", code, kind], env=env) for kind in ("int", "float")]
    assert [process.wait() for process in running] == [0, 0]
    check = RUN + "answer(2.5)\n"
    done = subprocess.run([sys.executable, "-c", check], env=env, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr.count("compiling")) == ("62\n", 0)


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path):
    (tmp_path / "file").touch()
    assert run(package(tmp_path, 2), tmp_path / "file" / "kernels")[0] == 62


def test_folders_that_nobody_uses_go(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEWY_KERNELS", str(tmp_path))
    old, new = tmp_path / "solvers-old", tmp_path / "solvers-new"
    for path in (old, new):
        path.mkdir()
    os.utime(old, (1e9, 1e9))
    folder.cache_clear()
    try:
        found = folder(package(tmp_path / "sources", 1) / "mine")
        assert stamp(tmp_path / "sources" / "mine", "2").parent == found
    finally:
        folder.cache_clear()
    assert new.exists()
    assert not old.exists()


def test_compiling_is_told_once(capsys):
    log, handler = logging.getLogger("compiled"), Compiling()
    for name in ("one", "two"):
        handler.handle(log.makeRecord("compiled", logging.INFO, "", 0, f"compiling {name}", (), None))
    assert capsys.readouterr().err.splitlines() == [
        "compiling functions, once: a few seconds up to half a minute"
    ]


@pytest.mark.slow
def test_what_compiles_announces_it_and_looking_does_not(tmp_path):
    good("solve", write(tmp_path, TURN), "--out", tmp_path / "out")
    env = os.environ | {"SPEWY_KERNELS": str(tmp_path / "kernels")}

    def told(command):
        args = [sys.executable, "-m", "spewy", command, str(tmp_path / "out")]
        return subprocess.run(args, env=env, capture_output=True, text=True, check=True)

    assert told("show").stderr == ""
    first, second = told("exploit"), told("exploit")
    assert first.stderr.startswith("compiling functions, once")
    assert second.stderr == ""
    assert first.stdout == second.stdout


@pytest.mark.parametrize("package", [buckets, solvers])
def test_folders_are_named_after_the_package(package):
    assert folder(Path(package.__file__).parent).name.startswith(f"{package.__name__}-")
