"""Tasks for a worker pool, in a module that its workers can import."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

from spewy.system.children import Outsider
from spewy.system.processes import LocalPool


def square(parent, number):
    return number * number


def large():
    """In a process of its own: have a pool return large results."""
    with closing(LocalPool(2)) as pool:
        assert sum(m is not None for m in pool.results(die_at, [(bytes(3 * 2**20), None)] * 3)) == 3


def environment(parent, name):
    return os.environ.get(name)


def where_from(parent, module):
    return getattr(__import__(module), "__file__", None)


def process(parent):
    return os.getpid()


def die_at(parent, number, fatal):
    if number == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def when(parent, seconds):
    """Take some time; tell from when to when."""
    begun = time.monotonic()
    time.sleep(seconds)
    return begun, time.monotonic()


def die_twice(parent, attempts):
    """Die in the first two attempts; tell whether the last one knows that others have reported."""
    with attempts.open("a") as file:
        file.write("x")
    heard = parent.heard
    parent.tell("news")
    if attempts.stat().st_size < 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return heard


def too_late(*args):
    """Stand in for a task that raises a `TimeoutError` of its own."""
    raise TimeoutError("the disk")


def nothing(*args):
    """Stand in for a task that returns None, as a worker does that lacks the numbers to go on from."""


def nonsense_for_one(parent, text, *args):
    """Solve remotely, but for a job whose board has the queen of spades."""
    from spewy.batch.work import solve_remotely

    return None if "Qs" in text else solve_remotely(parent, text, *args)


class UnsendableError(Exception):
    def __init__(self, subject, found):
        super().__init__(f"{subject}: found {found}")


def fail(parent, portable):
    raise ValueError("seven") if portable else UnsendableError("seven", "eight")


def killed(parent, *args):
    """Stand in for a task whose process the system kills."""
    os.kill(os.getpid(), signal.SIGKILL)


def until_told(parent, number):
    parent.tell(f"{number} begins")
    while not parent.is_set():
        time.sleep(0.01)
    return f"{number} stopped"


def with_programs(parent):
    """Tell the numbers of a program of its own and of one that has left its group, and never end."""
    program = Outsider(["sh", "-c", "setsid sleep 600 & echo $!; exec sleep 600"], stdout=subprocess.PIPE)
    parent.tell((program.pid, int(program.stdout.readline())))
    time.sleep(600)


def programs_forever():
    """In a process of its own: a worker with programs, whose numbers are written to stdout."""
    for message in LocalPool(1).work(with_programs, [()]):
        if message is not None:
            sys.stdout.write(f"{message.value[0]} {message.value[1]}\n")
            sys.stdout.flush()


def with_a_pool(parent):
    """Tell the numbers of this process and of one of its own, and never end."""
    with closing(LocalPool(1)) as pool:
        for message in pool.work(until_told, [(0,)]):
            if message is not None:
                (worker,) = pool.workers
                parent.tell((os.getpid(), worker))


def run_forever():
    """In a process of its own: a pool with a pool, whose numbers are written to stdout."""
    for message in LocalPool(2).work(with_a_pool, [()]):
        if message is not None:
            sys.stdout.write(f"{message.value[0]} {message.value[1]}\n")
            sys.stdout.flush()


def fail_with_causes(parent, way):
    """Raise an error whose cause cannot be pickled, and has a cause itself."""
    try:
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            raise UnsendableError("disk", "full") from error
    except UnsendableError as error:
        if way == "from":
            raise ValueError("seven") from error
        if way == "from none":
            raise ValueError("seven") from None
        raise ValueError("seven")  # noqa: B904 - the context is what is tested


def hang_once(parent, attempts):
    """In the first attempt wait for ever; in a later attempt wait until the parent asks to return early."""
    with open(attempts, "a") as file:
        file.write("x")
    first = os.path.getsize(attempts) == 1
    while first or not parent.is_set():
        time.sleep(0.01)
    return "stopped"


def write_a_file(folder):
    """In a worker: leave a file that is named after the process."""
    with open(os.path.join(folder, str(os.getpid())), "w"):
        pass
