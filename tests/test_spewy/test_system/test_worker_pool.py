"""A worker pool does what one process does, loses only what a dead worker held, and ends with its parent."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path

import pool_tasks
import pytest

from spewy.system import children
from spewy.system.children import HOME, Outsider, start_python
from spewy.system.failures import failure_text
from spewy.system.processes import THREADS, LocalPool

TESTS = Path(pool_tasks.__file__).parent
GONE_SECONDS = 20.0
"""It takes one or two; ten times that on a busy machine."""


@pytest.fixture(autouse=True)
def children_find_their_tasks(monkeypatch):
    paths = (os.fspath(TESTS), HOME, os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


@pytest.fixture
def pool():
    with closing(LocalPool(2)) as pool:
        yield pool


def values(messages):
    return {message.task: message.value for message in messages if message is not None}


def test_every_task_is_done_and_workers_are_kept(pool):
    assert values(pool.results(pool_tasks.square, [(i,) for i in range(7)])) == {i: i * i for i in range(7)}
    before = set(pool.workers)
    assert set(values(pool.results(pool_tasks.process, [()] * 5)).values()) <= before == set(pool.workers)
    assert len(before) == 2
    assert values(pool.results(pool_tasks.square, [])) == {}


def test_fewer_at_once(pool):
    (first, second) = sorted(values(pool.results(pool_tasks.when, [(1.0,)] * 2)).values())
    assert first[1] > second[0]
    one_by_one = sorted(values(pool.work(pool_tasks.when, [(0.1,)] * 3, at_once=1)).values())
    assert all(first[1] <= second[0] for first, second in pairwise(one_by_one))


def test_pools_in_several_threads_at_once():
    code = (
        "import os, pool_tasks; from concurrent.futures import ThreadPoolExecutor; from contextlib import closing\n"
        "from spewy.system.processes import LocalPool\n"
        "def squared(i):\n"
        "    with closing(LocalPool(1)) as pool:\n"
        "        return [m.value for m in pool.results(pool_tasks.square, [(i,)]) if m is not None]\n"
        "with ThreadPoolExecutor(4) as threads:\n"
        "    print(list(threads.map(squared, range(4))), os.environ.get('PYTHONWARNINGS'))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (told.stdout, told.stderr) == ("[[0], [1], [4], [9]] None\n", "")


def test_large_arguments_and_results(pool):
    data = bytes(3 * 2**20)
    assert values(pool.results(pool_tasks.die_at, [(data, None)] * 3)) == dict.fromkeys(range(3), data)


def test_nothing_is_left_in_shared_memory_and_in_the_scratch_folder(tmp_path):
    code = "import os, pool_tasks; print(os.getpid(), flush=True); pool_tasks.large()"
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join((HOME, os.fspath(TESTS))),
    }
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert told.stderr == ""
    assert list(tmp_path.iterdir()) == []
    wait_until(
        lambda: not shared_memory_of(told.stdout.strip())
    )  # the process that cleans up ends a moment later


def test_an_error_comes_with_its_place(pool):
    with pytest.raises(ValueError, match="seven") as raised:
        list(pool.results(pool_tasks.fail, [(True,)]))
    assert "pool_tasks.py" in "".join(raised.value.__notes__)
    assert pool.workers == []  # nobody works on for a caller who has left
    with pytest.raises(RuntimeError, match="UnsendableError: seven: found eight"):
        list(pool.results(pool_tasks.fail, [(False,)]))


@pytest.mark.parametrize("way", ["from", "from none", "during"])
def test_an_error_keeps_its_causes(pool, way):
    with pytest.raises(ValueError, match="seven") as raised:
        list(pool.results(pool_tasks.fail_with_causes, [(way,)]))
    error = raised.value
    cause = error.__cause__
    assert (type(cause), str(cause)) == (RuntimeError, "UnsendableError: disk: found full")
    assert isinstance(cause.__cause__, OSError)
    assert cause.__cause__.errno == errno.ENOSPC
    assert failure_text(error) == "seven"  # of a full disk, here as in the worker


@pytest.mark.slow
def test_a_task_that_kills_its_workers_fails_alone(pool):
    messages = [m for m in pool.work(pool_tasks.die_at, [(i, 2) for i in range(6)]) if m is not None]
    assert sorted(m.task for m in messages if m.kind == "done") == [0, 1, 3, 4, 5]
    assert [(m.task, m.kind) for m in messages if m.kind != "done"] == [(2, "died")]
    with pytest.raises(
        ChildProcessError, match=r"was ended by SIGKILL .killed from outside, or out of memory"
    ):
        list(pool.results(pool_tasks.die_at, [(0, 0)]))


def test_a_task_whose_worker_dies_is_submitted_again(pool, tmp_path):
    """The task knows that it has reported before."""
    attempts = tmp_path / "attempts"
    found = [m for m in pool.work(pool_tasks.die_twice, [(attempts,)]) if m is not None and m.kind != "news"]
    assert [(m.kind, m.value) for m in found] == [("done", True)]
    assert attempts.read_text() == "xxx"


def test_a_worker_that_dies_before_its_task_is_replaced(pool):
    values(pool.results(pool_tasks.square, [(1,)]))
    for worker in pool.workers:
        os.kill(worker, signal.SIGKILL)
    assert values(pool.results(pool_tasks.square, [(3,), (4,)])) == {0: 9, 1: 16}


def test_workers_that_never_begin_are_given_up(pool, monkeypatch):
    monkeypatch.setattr("spewy.system.processes.begin", pool_tasks.killed)
    with pytest.raises(ChildProcessError, match="a worker process was ended by SIGKILL"):
        values(pool.results(pool_tasks.square, [(1,)]))


def test_a_dead_worker_costs_its_task_and_no_other(pool):
    """The task of the dead worker begins again after the other one."""
    news, done, dead = [], [], None
    for message in pool.work(pool_tasks.until_told, [(0,), (1,)]):
        if message is not None:
            (done if message.kind == "done" else news).append(message.value)
        if len(news) == 2 and dead is None:
            dead = pool.workers[0]
            os.kill(dead, signal.SIGKILL)
        if dead is not None and dead not in pool.workers:
            pool.stop()
    assert sorted(done) == ["0 stopped", "1 stopped"]
    assert news == [*news[:2], done[1].replace("stopped", "begins")]


def test_news_and_a_stop(pool):
    news, done = set(), set()
    for message in pool.work(pool_tasks.until_told, [(0,), (1,)]):
        if message is not None:
            (done if message.kind == "done" else news).add(message.value)
        if len(news) == 2:
            pool.stop()
    assert news == {"0 begins", "1 begins"}
    assert done == {"0 stopped", "1 stopped"}
    assert values(pool.results(pool_tasks.square, [(3,)])) == {0: 9}  # the stop was for those two


def test_workers_ignore_signals_of_a_terminal_from_their_start(pool):
    messages = pool.work(pool_tasks.square, [(3,), (4,)])
    found = [next(messages)]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for worker in pool.workers:
            os.kill(worker, number)
    assert values([*found, *messages]) == {0: 9, 1: 16}


def test_threads_are_divided(monkeypatch):
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("joblib.cpu_count", lambda: 6)
    with closing(LocalPool(2)) as pool:
        assert values(pool.results(pool_tasks.environment, [(name,) for name in THREADS])) == dict.fromkeys(
            range(len(THREADS)), "3"
        )
    monkeypatch.setenv(THREADS[0], "2")
    with closing(LocalPool(4)) as pool:
        assert values(pool.results(pool_tasks.environment, [(THREADS[0],)])) == {0: "1"}


def test_programs_of_a_worker_end_with_it(pool):
    with closing(pool.work(pool_tasks.with_programs, [()])) as messages:
        programs = next(message.value for message in messages if message is not None)
        assert all(map(alive, programs))
    wait_until_gone(*programs)


def test_a_program_of_a_worker_hears_a_kill(pool):
    with closing(pool.work(pool_tasks.with_programs, [()])) as messages:
        program, _ = next(message.value for message in messages if message is not None)
        os.kill(program, signal.SIGTERM)
        wait_until_gone(program)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the worker ignores them as before
            os.kill(pool.workers[0], number)
        assert next(messages) is None


def test_a_program_of_another_user_is_waited_for_a_moment_only(monkeypatch):
    def refuse(*args):
        raise PermissionError

    program = Outsider(["sleep", "600"])
    with monkeypatch.context() as other:
        other.setattr(children, "END_SECONDS", 0.1)
        other.setattr(os, "kill", refuse)
        other.setattr(os, "killpg", refuse)
        program.end()
    assert program.poll() is None
    program.end()
    assert program.poll() == -signal.SIGKILL


def test_a_process_that_got_the_number_of_an_ended_program_lives_on():
    program, other = Outsider(["true"]), subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        program.wait()
        program.pid = other.pid
        program.end()
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1)
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("task", ["run_forever", "programs_forever"])
def test_workers_end_with_their_parent(task):
    """So do the workers of a worker and their programs, though nobody is left to end them; semaphores are deleted."""
    code = f"import pool_tasks; pool_tasks.{task}()"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    numbers = [int(number) for number in parent.stdout.readline().split()]
    assert shared_memory_of(parent.pid)
    parent.kill()
    rest, _ = parent.communicate(timeout=GONE_SECONDS)  # nobody holds its stdout either
    assert len(numbers) == 2
    assert rest == ""
    wait_until_gone(*numbers)
    wait_until(lambda: not shared_memory_of(parent.pid))


def shared_memory_of(number):
    """Names in shared memory of a process and its workers."""
    return list(Path("/dev/shm").glob(f"*-{number}-*"))


def wait_until_gone(*numbers):
    wait_until(lambda: not any(map(alive, numbers)))


def wait_until(holds):
    deadline = time.monotonic() + GONE_SECONDS
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert holds()


def alive(number):
    """Whether a process runs; one that ended and was not yet waited for does not."""
    with suppress(OSError):
        os.kill(number, 0)
        status = Path(f"/proc/{number}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_script_without_a_guard(tmp_path):
    """Its code is not run again in workers."""
    script = tmp_path / "plain.py"
    script.write_text(
        "import pool_tasks\nfrom contextlib import closing\nfrom spewy.system.processes import LocalPool\n"
        "with closing(LocalPool(2)) as pool:\n"
        "    messages = pool.results(pool_tasks.square, [(1,), (2,)])\n"
        "    print(sorted(message.value for message in messages if message is not None))\n"
    )
    result = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (result.stdout, result.stderr) == ("[1, 4]\n", "")


def test_children_search_no_current_folder(pool, tmp_path, monkeypatch):
    (tmp_path / "lockers.py").write_text("raise SystemExit('a file of somebody else')")
    (tmp_path / "buckets").mkdir()
    monkeypatch.chdir(tmp_path)
    assert start_python(["-c", "import lockers, buckets.cards"]).wait() == 0
    found = values(pool.results(pool_tasks.where_from, [("lockers",), ("buckets",)]))
    assert all(Path(path).parents[1] == Path(HOME) for path in found.values())


def test_a_child_ends_with_its_parent():
    """As the compiler of kernels does, which works for a minute without a message; also where it begins too late."""
    child = (
        "from spewy.system.children import end_with_parent as end; import sys, time; "
        "end(int(sys.argv[1])); time.sleep(60)"
    )
    parent = (
        "import os; from spewy.system.children import start_python\n"
        f"print(start_python(['-c', {child!r}, str(os.getpid())]).pid, flush=True); os._exit(0)"
    )
    told = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    wait_until_gone(int(told.stdout))
