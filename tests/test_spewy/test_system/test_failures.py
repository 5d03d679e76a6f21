"""Failures of the machine are one line and exit code 1; folders that cannot be made are bad input."""

import errno
import os
import resource
import shutil
import subprocess

import pytest
from cli_runs import COMMAND, LEDUC, POLARISED, good, process, refused, spewy, write
from dealt_jobs import DEALT_LEDUC

from buckets.errors import CardError
from lockers import DamagedLockerError, LockerError, LockerFullError, StorageError
from solvers.errors import SolverError
from spewy.batch.work import solve_job
from spewy.cli.app import expected
from spewy.errors import InputError, MissingError, PeerError, SolveError
from spewy.job.job import Job
from spewy.match.table import BotError
from spewy.run.walked_plan import WalkedPlan
from spewy.system.failures import failure_text


def caused(error, cause):
    """The error as it is after the other one was caught."""
    try:
        try:
            raise cause
        except type(cause):
            raise error from None
    except type(error) as found:
        return found


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "some/file"),
            "some/file: the machine lacks space, memory or open files (No space left on device)",
        ),
        (OSError(errno.EMFILE, "Too many open files"), "the operating system: the machine lacks space"),
        (OSError(errno.EIO, "Input/output error", "disk"), "disk: the machine lacks"),
        (LockerFullError("a folder: expected room"), "a folder: expected room"),
        (StorageError("a folder: expected files"), "a folder: expected files"),
        (caused(InputError("file x: expected"), OSError(errno.EDQUOT, "Quota")), "file x: expected"),
        (caused(InputError("x"), caused(InputError("y"), OSError(errno.EFBIG, "Large"))), "x"),
        (OSError(errno.ENOENT, "No such file"), None),
        (caused(InputError("x"), FileNotFoundError(errno.ENOENT, "No such file")), None),
        (LockerError("x"), None),
        (ZeroDivisionError(), None),
        (
            MemoryError("Unable to allocate 1 TiB"),
            "memory: there is not enough for this work (Unable",
        ),
        (MemoryError(), "memory: there is not enough for this work (out of memory)"),
        (RuntimeError("can't start new thread"), "memory: there is not enough"),
        (RuntimeError("x"), None),
        (ImportError("no such library"), None),
    ],
)
def test_what_is_a_failure(error, told):
    found = failure_text(error)
    assert found == told if told is None else found.startswith(told)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOENT])
def test_errors_that_are_each_others_cause(number):
    first, second = InputError("first"), InputError("second")
    first.__cause__, second.__cause__ = second, first
    alone = InputError("alone")
    alone.__cause__ = alone
    assert [failure_text(error) for error in (first, second, alone)] == [None] * 3
    second.__cause__ = OSError(number, "the disk")
    assert failure_text(first) == ("first" if number == errno.ENOSPC else None)


MAPS = "libx.so: failed to map segment from shared object"
NOT_FOUND = OSError("Could not find/load shared object file")


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (ImportError(MAPS), True),
        (OSError(MAPS), True),
        (caused(NOT_FOUND, OSError(MAPS)), True),
        (ImportError("libx.so: cannot allocate memory in static TLS block"), True),
        (ModuleNotFoundError("No module named 'dask'"), False),
        (TimeoutError("no answer"), False),
        (OSError("not a file of arrays"), False),
    ],
)
def test_what_is_a_lack_of_memory_under_a_limit(monkeypatch, error, is_memory):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1 << 40, 1 << 40))
    found = failure_text(error)
    assert (found is not None and found.startswith("memory: there is not enough")) == is_memory


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 2),
        (CardError("x"), 2),
        (SolverError("x"), 2),
        (LockerError("x"), 2),
        (DamagedLockerError("x"), 2),
        (StorageError("x"), 1),
        (PeerError("x"), 1),
        (SolveError("x"), 1),
        (MissingError("x"), 1),
        (BotError("a bug of a bot"), None),
        (ValueError("x"), None),
    ],
)
def test_the_exit_code_of_each_error(error, code):
    """None: unexpected, so that the command ends with 1 and a hint at the traceback."""
    assert getattr(expected(error), "exit_code", None) == code


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solved")
    good("solve", write(folder, LEDUC), "--out", folder / "out", "--set", "solve.max_sweeps=1")
    return folder / "out"


def failed(run):
    """The one line on stderr of a command that has failed."""
    assert run.returncode == 1, run.stderr
    assert "Traceback" not in run.stderr
    lines = [line for line in run.stderr.splitlines() if line.startswith("Error: ")]
    assert run.stderr.splitlines()[-1:] == lines
    return lines[0]


def limited(kind, limit):
    def limit_process():
        resource.setrlimit(kind, (limit, limit))

    return {"preexec_fn": limit_process}


def test_too_many_open_files(tmp_path):
    few = limited(resource.RLIMIT_NOFILE, 7)  # Python takes four, a store two
    run = process("solve", write(tmp_path, LEDUC), "--out", tmp_path / "out", **few)
    assert "Too many open files" in failed(run)


def test_a_limit_on_file_sizes(solved, tmp_path):
    small = limited(resource.RLIMIT_FSIZE, 20_000)
    assert "EFBIG" in failed(process("solve", write(tmp_path, LEDUC), "--out", tmp_path / "out", **small))
    table = tmp_path / "x.csv"
    assert "File too large" in failed(process("export", solved, table, **small))
    assert not table.exists()


@pytest.mark.parametrize("arguments", [("show", "SOLVED", "--json"), ("--help",), ("show", "--help")])
def test_a_full_pipe_of_results(solved, arguments):
    command = [*COMMAND, *(str(solved) if word == "SOLVED" else word for word in arguments)]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "No space left on device" in failed(run)


def test_a_failure_within_a_command(monkeypatch, tmp_path):
    def fails(*args, **options):
        raise OSError(errno.ENFILE, "Too many open files in system", "somewhere")

    monkeypatch.setattr("spewy.run.session.Session.__init__", fails)
    job = write(tmp_path, LEDUC)
    result = spewy("solve", job, "--out", tmp_path / "out")
    told = "somewhere: the machine lacks space, memory or open files (Too many open files in system)"
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, f"Error: {told}")
    # and in a batch, which goes on
    found = Job.load(job)
    cost = WalkedPlan.counted(found, streaming=True).cost
    outcome = solve_job(found, tmp_path / "out", lambda check: None, NeverSet(), None, cost)
    assert (outcome.error, outcome.details) == (told, "")


class NeverSet:
    def is_set(self):
        return False


@pytest.mark.parametrize(
    "below", ["file", "file/a", "file/a/b", "n" * 300, f"a/{'n' * 300}/b", "nowhere", "loop"]
)
def test_a_folder_that_cannot_be_made(tmp_path, below):
    (tmp_path / "file").write_text("")
    (tmp_path / "nowhere").symlink_to(tmp_path / "file" / "a")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    job = write(tmp_path, POLARISED)
    for args in (["solve", job, "--out"], ["solve", job, job, "--out"], ["show"], ["check"], ["exploit"]):
        told = refused(*args, tmp_path / below)
        assert str(tmp_path / below)[:200] in told
        known = "is too long" in told or "does not exist" in told or "holds no solve" in told
        assert known or ("expected" in told and "found" in told)
        assert "LMDB" not in told


def test_a_folder_where_none_can_be(tmp_path):
    """Below a device, which no user, root included, can make a folder in."""
    told = refused("solve", write(tmp_path, POLARISED), "--out", f"{os.devnull}/none/out")
    assert f"{os.devnull}/none/out: expected a folder that is there or can be made, found: " in told


@pytest.mark.parametrize("mib", [250, 420, pytest.param(600, marks=pytest.mark.slow)])
def test_too_little_address_space_is_told_in_a_line(tmp_path, mib):
    """LLVM and the C library abort without memory, so a solve that could come to that is refused before it begins."""
    for text in (DEALT_LEDUC, POLARISED):
        job = write(tmp_path, text)
        limited = process(
            "solve",
            job,
            "--out",
            tmp_path / f"out-{mib}",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)),
        )
        assert "Traceback" not in limited.stderr
        if text == POLARISED and mib == 600:
            assert limited.returncode == 0, limited.stderr
            return
        assert limited.returncode == 1, limited.stderr
        (told,) = [line for line in limited.stderr.splitlines() if line.startswith("Error: ")]
        assert "memory" in told
        assert not list((tmp_path / f"out-{mib}").glob(".lock"))
        shutil.rmtree(tmp_path / f"out-{mib}", ignore_errors=True)
