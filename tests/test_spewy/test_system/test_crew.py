"""A crew does what one process does, loses no more than what a dead worker held, and is gone when its parent is."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import crew_tasks
import pytest

from spewy.system import outsider
from spewy.system.child import HOME, start_python
from spewy.system.crew import THREADS, Crew
from spewy.system.outsider import Outsider

TESTS = Path(crew_tasks.__file__).parent
GONE_SECONDS = 20.0
"""It takes one or two; ten times that on a busy machine."""


@pytest.fixture(autouse=True)
def workers_find_their_tasks(monkeypatch):
    paths = (os.fspath(TESTS), os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


@pytest.fixture
def crew():
    with closing(Crew(2)) as crew:
        yield crew


def values(words):
    return {word.task: word.value for word in words if word is not None}


def test_every_task_is_done_and_workers_are_kept(crew):
    assert values(crew.results(crew_tasks.square, [(i,) for i in range(7)])) == {i: i * i for i in range(7)}
    first = set(values(crew.results(crew_tasks.process, [()] * 5)).values())
    assert first <= {worker.process.pid for worker in crew._workers}
    assert len(crew._workers) == 2
    assert values(crew.results(crew_tasks.square, [])) == {}


def test_fewer_at_once(crew):
    for _ in crew.work(crew_tasks.square, [(1,), (2,), (3,)], at_once=1):
        assert len(crew._workers) == 1


def test_large_arguments_and_results(crew):
    data = bytes(3 * 2**20)
    assert values(crew.results(crew_tasks.die_at, [(data, None)] * 3)) == dict.fromkeys(range(3), data)


def test_an_error_comes_with_its_place(crew):
    with pytest.raises(ValueError, match="seven") as raised:
        list(crew.results(crew_tasks.fail, [(True,)]))
    assert "crew_tasks.py" in "".join(raised.value.__notes__)
    assert crew._workers == []  # nobody works on for a caller who has left
    with pytest.raises(RuntimeError, match="UnsendableError: seven: found eight"):
        list(crew.results(crew_tasks.fail, [(False,)]))


def test_a_death_is_that_of_one_task(crew):
    words = [word for word in crew.work(crew_tasks.die_at, [(i, 2) for i in range(6)]) if word is not None]
    assert sorted(word.task for word in words if word.kind == "done") == [0, 1, 3, 4, 5]
    assert [(word.task, word.kind) for word in words if word.kind != "done"] == [(2, "died")]
    with pytest.raises(ChildProcessError, match="it was ended by SIGKILL: killed from outside"):
        list(crew.results(crew_tasks.die_at, [(0, 0)]))


def test_news_and_a_stop(crew):
    news, done = set(), set()
    for word in crew.work(crew_tasks.until_told, [(0,), (1,)]):
        if word is not None:
            (done if word.kind == "done" else news).add(word.value)
        if len(news) == 2:
            crew.stop()
    assert news == {"0 begins", "1 begins"}
    assert done == {"0 stopped", "1 stopped"}
    assert values(crew.results(crew_tasks.square, [(3,)])) == {0: 9}  # the stop was for those two


def test_workers_are_deaf_from_their_start(crew):
    words = crew.work(crew_tasks.square, [(3,), (4,)])
    found = [next(words)]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for worker in crew._workers:
            worker.process.send_signal(number)
    assert values([*found, *words]) == {0: 9, 1: 16}


def test_threads_are_divided(monkeypatch):
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("joblib.cpu_count", lambda: 6)
    with closing(Crew(2)) as crew:
        assert values(crew.results(crew_tasks.environment, [(name,) for name in THREADS])) == dict.fromkeys(
            range(3), "3"
        )
    monkeypatch.setenv(THREADS[0], "2")
    with closing(Crew(4)) as crew:
        assert values(crew.results(crew_tasks.environment, [(THREADS[0],)])) == {0: "1"}


def test_programs_of_a_worker_end_with_it(crew):
    with closing(crew.work(crew_tasks.with_programs, [()])) as words:
        programs = next(word.value for word in words if word is not None)
        assert all(map(alive, programs))
    wait_until_gone(*programs)


def test_a_program_of_a_worker_hears_a_kill(crew):
    with closing(crew.work(crew_tasks.with_programs, [()])) as words:
        program, _ = next(word.value for word in words if word is not None)
        os.kill(program, signal.SIGTERM)
        wait_until_gone(program)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the worker is as deaf as before
            crew._workers[0].process.send_signal(number)
        assert next(words) is None


def test_a_program_of_another_user_is_waited_for_a_moment_only(monkeypatch):
    def refuse(*args):
        raise PermissionError

    program = Outsider(["sleep", "600"])
    with monkeypatch.context() as other:
        other.setattr(outsider, "END_SECONDS", 0.1)
        other.setattr(os, "kill", refuse)
        other.setattr(os, "killpg", refuse)
        program.end()
    assert program.poll() is None
    program.end()
    assert program.poll() == -signal.SIGKILL


@pytest.mark.parametrize("task", ["run_forever", "programs_forever"])
def test_workers_end_with_their_parent(task):
    """The workers of a worker and their programs end, too, though nobody is left to end them."""
    code = f"import crew_tasks; crew_tasks.{task}()"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    numbers = [int(number) for number in parent.stdout.readline().split()]
    parent.kill()
    rest, _ = parent.communicate(timeout=GONE_SECONDS)  # nobody holds its stdout either
    assert len(numbers) == 2
    assert rest == ""
    wait_until_gone(*numbers)


def wait_until_gone(*numbers):
    deadline = time.monotonic() + GONE_SECONDS
    while any(map(alive, numbers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, numbers))


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
        "import crew_tasks\nfrom contextlib import closing\nfrom spewy.system.crew import Crew\n"
        "with closing(Crew(2)) as crew:\n"
        "    words = crew.results(crew_tasks.square, [(1,), (2,)])\n"
        "    print(sorted(word.value for word in words if word is not None))\n"
    )
    paths = os.pathsep.join((HOME, os.environ["PYTHONPATH"]))
    result = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert (result.stdout, result.stderr) == ("[1, 4]\n", "")


def test_children_search_no_current_folder(crew, tmp_path, monkeypatch):
    (tmp_path / "lockers.py").write_text("raise SystemExit('a file of somebody else')")
    (tmp_path / "buckets").mkdir()
    monkeypatch.chdir(tmp_path)
    assert start_python(["-c", "import lockers, buckets.cards"]).wait() == 0
    found = values(crew.results(crew_tasks.where_from, [("lockers",), ("buckets",)]))
    assert all(Path(path).parents[1] == Path(HOME) for path in found.values())


def test_a_child_ends_with_its_parent():
    """As the compiler of kernels does, which works for a minute without a word; also where it begins too late."""
    child = (
        "from spewy.system.child import end_with_parent as end; import sys, time; "
        "end(int(sys.argv[1])); time.sleep(60)"
    )
    parent = (
        "import os; from spewy.system.child import start_python\n"
        f"print(start_python(['-c', {child!r}, str(os.getpid())]).pid, flush=True); os._exit(0)"
    )
    told = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    wait_until_gone(int(told.stdout))
